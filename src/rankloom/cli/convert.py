"""`rankloom convert`: data from one format to another."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rankloom.cli import options
from rankloom.cli.failures import tell
from rankloom.cli.output import counted, print_json
from rankloom.errors import InputError

if TYPE_CHECKING:
    from rankloom.data.ranking_data import RankingData


@click.command()
@click.argument("inputs", nargs=-1, required=True, metavar="IN...")
@click.argument("output", metavar="OUT")
@click.option("--force", is_flag=True, help="Overwrite OUT if it is there.")
@click.option("--write-base", type=click.Choice(["0", "1"]), help="Text: the index of the first feature (1).")
@click.option("--zeros/--no-zeros", default=None, help="Text: write features that are 0, or leave them out.")
@options.as_json
@options.reading_options
@options.threads
def command(
    inputs: tuple[str, ...],
    output: str,
    force: bool,
    write_base: str | None,
    zeros: bool | None,
    as_json: bool,
    **reading: Any,
) -> None:
    """Convert data from one format to another.

    IN and OUT go by their names: .parquet, .csv and .tsv are tables; a folder, or a name that ends in .store,
    is a store; everything else is text (SVMlight, LETOR), compressed if it ends in .gz, .bz2, .xz or .zst.
    - is text on standard input or output. Several inputs become one output. A store is opened in no time,
    whatever its size: convert to it what you read often.

    OUT appears whole or not at all.

    \b
    Examples:
      rankloom convert train.txt.gz train.store
      rankloom convert train.txt vali.txt both.txt.zst
      rankloom convert train.txt train.parquet
      rankloom convert clicks.csv train.txt --qid query --label clicked --no-zeros
      zcat train.txt.gz | rankloom convert - train.store --force
    """
    from rankloom.cli.reading import read
    from rankloom.data.read import write

    options.check_standard_input(*inputs)
    check_output(inputs, output, force)
    writing = _writing(write_base, zeros)
    data = read(inputs, reading)
    write(data, output, **writing)
    _report(inputs, output, data, as_json)


def check_output(inputs: tuple[str, ...], output: str, force: bool) -> None:
    """Nothing is overwritten unasked, and an input never."""
    if output == "-":
        return
    place = Path(output)
    if any(
        name != "-" and place.exists() and Path(name).exists() and place.samefile(name) for name in inputs
    ):
        raise InputError(f"{output} is one of the inputs; give another name for the output")
    if place.exists() and not place.is_char_device() and not force:
        raise InputError(f"{output} is there already; give another name, or --force to overwrite it")


def _writing(write_base: str | None, zeros: bool | None) -> dict[str, Any]:
    asked: dict[str, Any] = {"index_base": None if write_base is None else int(write_base), "zeros": zeros}
    return {name: value for name, value in asked.items() if value is not None}


def _report(inputs: tuple[str, ...], output: str, data: RankingData, as_json: bool) -> None:
    sizes = {"rows": data.n_rows, "queries": data.n_queries, "features": data.n_features}
    if as_json and output != "-":
        print_json({"inputs": list(inputs), "output": output, **sizes})
    nouns = ("row", "query", "feature")
    told = ", ".join(counted(size, noun) for size, noun in zip(sizes.values(), nouns, strict=True))
    tell(f"wrote {output}: {told}" if output != "-" else f"wrote {told}")
