"""`rankloom predict`: what a model says of data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from rankloom.cli import options
from rankloom.cli.failures import tell
from rankloom.cli.output import counted, print_json

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@click.command()
@click.argument("model")
@click.argument("data")
@click.option("--out", metavar="FILE", default="-", help="Where to write (standard output).")
@click.option(
    "--scores", is_flag=True, help="Write raw scores, not the values or probabilities they stand for."
)
@click.option("--force", is_flag=True, help="Overwrite FILE if it is there.")
@options.as_json
@options.column_options
@options.text_options
@options.threads
def command(
    model: str, data: str, out: str, scores: bool, force: bool, as_json: bool, **reading: Any
) -> None:
    """Write what a model predicts for each row of data, one number a line.

    MODEL was written by rankloom train, or by model.save in Python. DATA is text, Parquet, CSV or a store,
    or - for text on standard input; its labels are not used, and tables need none. The numbers are in the
    order of DATA's rows: the values of a model of values, probabilities of a model of probabilities.

    FILE appears whole or not at all; if its name ends in .gz, .bz2, .xz or .zst, it is compressed.

    \b
    Examples:
      rankloom predict model.rank test.txt > scores.txt
      rankloom predict model.rank test.txt --out scores.txt
      zcat test.txt.gz | rankloom predict model.rank - --scores
    """
    from rankloom.cli.convert import check_output
    from rankloom.data.trec_writer import write_scores

    check_output((model, data), out, force)
    found = predicted(model, data, scores, reading)
    summary = {"model": model, "data": data, "output": out, "rows": len(found)}
    if out == "-" and as_json:
        print_json({**summary, "scores" if scores else "values": found})
        return
    write_scores(found, out)
    if as_json:
        print_json(summary)
    if out != "-":
        tell(f"wrote {out}: {counted(len(found), 'row')}")


def predicted(name: str, data: str, raw: bool, reading: dict[str, Any]) -> NDArray[np.float64]:
    """The model's score or value of each row, in the order of the rows."""
    from rankloom.cli.compiling import telling_of_compiling
    from rankloom.cli.scoring import load_model, read_for

    model = load_model(name)
    with telling_of_compiling():
        rows = read_for(model, data, reading, labelled=False)
        score = model.decision_function if raw else model.predict
        found: NDArray[np.float64] = score(rows, reading["threads"])
    return found
