"""`rankloom local-optimum`: are a model's weights a local maximum of a measure?"""

from __future__ import annotations

from typing import Any

import click

from rankloom.cli import options
from rankloom.cli.mix import check_outputs, write_svg
from rankloom.cli.output import print_json
from rankloom.errors import InputError

DEFAULT_MEASURES = ("ndcg@10",)

_TESTING = [
    click.option("--confidence", type=float, default=0.99, help="Of the random directions (0.99)."),
    click.option("--share", type=float, default=0.01, help="The part of all that may go unseen (0.01)."),
    click.option(
        "--directions", type=click.IntRange(min=0), help="How many random ones (459, from the two above)."
    ),
    click.option(
        "--coordinates", type=click.IntRange(min=0), help="How many weights to change alone (all of them)."
    ),
    click.option("--tolerance", type=float, help="How much better counts (a quarter standard error)."),
    click.option("--seed", type=click.IntRange(min=0), default=0, help="Of the random directions (0)."),
    click.option("--svg", metavar="FILE", help="Draw the measure along the directions."),
    click.option("--force", is_flag=True, help="Overwrite FILE if it is there."),
]


@click.command()
@click.argument("model")
@click.argument("data")
@options.all_of(_TESTING)
@options.measures
@options.as_json
@options.column_options
@options.threads
def command(
    model: str,
    data: str,
    confidence: float,
    share: float,
    directions: int | None,
    coordinates: int | None,
    tolerance: float | None,
    seed: int,
    svg: str | None,
    force: bool,
    measures: tuple[str, ...],
    as_json: bool,
    **reading: Any,
) -> None:
    """Say whether a model's weights are a local maximum of a measure.

    MODEL is a linear model or a plain net, DATA what it was trained on. Weights are changed one by one, up
    and down, and in random directions; yes means that no step makes the measure better by more than queries
    vary, and with what confidence few directions do.

    \b
    Examples:
      rankloom local-optimum model.rank train.txt
      rankloom local-optimum model.rank train.txt -m map --svg around.svg
      rankloom local-optimum model.rank train.txt --confidence 0.95 --share 0.02 --json
    """
    from rankloom.cli.judging import judged_rows
    from rankloom.cli.scoring import load_model
    from rankloom.measures.measure import Measure
    from rankloom.rankers.local_optimum import local_optimum

    names = options.names_of_measures(measures, DEFAULT_MEASURES)
    if len(names) > 1:
        raise InputError(f"a maximum is of one measure, got {', '.join(names)}; ask for one at a time")
    check_outputs((model, data), (svg,), force)
    loaded, measure = load_model(model), Measure.parse(names[0])
    with judged_rows(loaded, data, reading, False) as rows:
        found = local_optimum(
            loaded,
            rows,
            measure,
            confidence=confidence,
            share=share,
            directions=directions,
            coordinates=coordinates,
            tolerance=tolerance,
            seed=seed,
            threads=reading["threads"],
        )
    write_svg(svg, found)
    if as_json:
        print_json({"model": model, "data": data, **found.to_dict()})
    else:
        click.echo(str(found))
