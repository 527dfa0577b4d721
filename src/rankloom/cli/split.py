"""`rankloom split`: data cut by query into parts to learn from, to choose by and to test on."""

from __future__ import annotations

from typing import Any

import click

from rankloom.cli import options
from rankloom.cli.convert import check_output
from rankloom.cli.failures import tell
from rankloom.cli.output import counted, print_json
from rankloom.errors import InputError

_SHARES = {2: (0.75, 0.25), 3: (0.6, 0.2, 0.2)}


@click.command()
@click.argument("source", metavar="DATA")
@click.argument("outputs", nargs=-1, required=True, metavar="OUT...")
@click.option(
    "--shares",
    metavar="A,B,...",
    help="The part of the queries for each OUT (0.75,0.25 for two, 0.6,0.2,0.2 for three, else equal).",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, help="Other numbers make other parts (0).")
@click.option("--force", is_flag=True, help="Overwrite what is there.")
@options.as_json
@options.reading_options
@options.threads
def command(
    source: str,
    outputs: tuple[str, ...],
    shares: str | None,
    seed: int,
    force: bool,
    as_json: bool,
    **reading: Any,
) -> None:
    """Cut data by query into parts: to learn from, to choose by, to test on.

    Queries are shuffled, and each goes whole to one part. Formats go by names, as for rankloom convert; each
    OUT appears whole or not at all.

    \b
    Examples:
      rankloom split judged.txt train.txt test.txt
      rankloom split judged.csv train.csv vali.csv test.csv --shares 0.7,0.15,0.15 --seed 1
      rankloom split clicks.parquet train.store test.store --qid session --label clicked
    """
    from rankloom.cli.reading import read
    from rankloom.data.read import write
    from rankloom.data.splits import split

    parts = _parts(shares, len(outputs))
    _check(source, outputs, force)
    data = read((source,), reading)
    cut = split(data, parts, seed=seed)
    for part, output in zip(cut, outputs, strict=True):
        write(part, output)
    sizes: list[dict[str, Any]] = [{"output": output, "queries": part.n_queries, "rows": part.n_rows}
             for part, output in zip(cut, outputs, strict=True)]  # fmt: skip
    if as_json:
        print_json({"data": source, "seed": seed, "parts": sizes})
    for size in sizes:
        tell(f"wrote {size['output']}: {counted(size['queries'], 'query')}, {counted(size['rows'], 'row')}")


def _parts(shares: str | None, count: int) -> list[float]:
    """The share of each part."""
    if count < 2:
        raise InputError("split needs two parts or more: rankloom split DATA train.txt test.txt")
    if shares is None:
        return list(_SHARES.get(count, [1.0 / count] * count))
    try:
        given = [float(text) for text in shares.split(",")]
    except ValueError as error:
        raise InputError(f"--shares must be numbers with commas between, got {shares!r:.60}") from error
    if len(given) != count:
        raise InputError(f"--shares must have a number for each OUT, {count} of them, got {len(given)}")
    return given


def _check(source: str, outputs: tuple[str, ...], force: bool) -> None:
    options.check_standard_input(source)
    for place, output in enumerate(outputs):
        if output == "-":
            raise InputError(
                "split writes several files, none of them to standard output; give names for all"
            )
        if output in outputs[:place]:
            raise InputError(f"{output} is named twice; each part needs a name of its own")
        check_output((source,), output, force)
