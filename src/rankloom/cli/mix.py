"""`rankloom mix`: the best linear combination of two rankers, exactly."""

from __future__ import annotations

from typing import Any

import click

from rankloom.cli import options
from rankloom.cli.failures import tell
from rankloom.cli.output import print_json
from rankloom.errors import InputError

DEFAULT_MEASURES = ("ndcg@10",)

_RESULTS = [
    click.option("--model", "target", metavar="OUT", help="Two models: where the one that holds both goes."),
    click.option("--svg", metavar="FILE", help="Draw the measure for every alpha."),
    click.option("--scale", is_flag=True, help="Divide scores by their standard deviation first."),
    click.option("--force", is_flag=True, help="Overwrite OUT and FILE if they are there."),
]


@click.command()
@click.argument("a")
@click.argument("b")
@click.argument("data")
@options.all_of(_RESULTS)
@options.measures
@options.complete
@options.as_json
@options.column_options
@options.threads
def command(
    a: str,
    b: str,
    data: str,
    target: str | None,
    svg: str | None,
    scale: bool,
    force: bool,
    measures: tuple[str, ...],
    complete: bool,
    as_json: bool,
    **reading: Any,
) -> None:
    """Find the alpha for which alpha A + (1 - alpha) B ranks best, of all from 0 to 1.

    A and B are models, or files with one score a line in the order of DATA's rows, or TREC runs. DATA is as
    for rankloom evaluate; choose alpha on data that neither ranker was trained on. A measure changes only
    where two rows' scores cross, and every crossing is looked at: no alpha is better than the one found.

    \b
    Examples:
      rankloom mix spd.rank trees.rank vali.txt --model both.rank
      rankloom mix old.txt new.txt vali.txt -m map --svg mix.svg
      rankloom mix old.rank new.txt vali.txt --scale --json
    """
    from rankloom.cli.judging import judge
    from rankloom.cli.scoring import is_model, load_model
    from rankloom.measures.measure import Measure
    from rankloom.rankers.mix import mix

    names = options.names_of_measures(measures, DEFAULT_MEASURES)
    if len(names) > 1:
        raise InputError(f"alpha is best for one measure, got {', '.join(names)}; ask for one at a time")
    measure = Measure.parse(names[0])
    check_outputs((a, b, data), (target, svg), force)
    if target is not None and not (is_model(a) and is_model(b)):
        raise InputError("--model needs two models, and scores are none; leave it out")
    with judge((a, b), data, reading, complete, [str(measure)]) as (scores, labels, more):
        first, second = scores
        found = mix(first, second, labels, measure=measure, scale=scale, threads=reading["threads"], **more)
    if target is not None:
        found.merged(load_model(a), load_model(b)).save(target)
        tell(f"wrote {target}: {found.alpha:.6g} of {a}, {1.0 - found.alpha:.6g} of {b}")
    write_svg(svg, found)
    if as_json:
        print_json({"scores": [a, b], "data": data, "model": target, **found.to_dict()})
    else:
        click.echo(str(found))


def check_outputs(inputs: tuple[str, ...], outputs: tuple[str | None, ...], force: bool) -> None:
    """Files that are to be written: none of the inputs, and not there yet."""
    from rankloom.cli.convert import check_output

    for output in outputs:
        if output == "-":
            raise InputError("--model and --svg need the name of a file, got -")
        if output is not None:
            check_output(inputs, output, force)


def write_svg(name: str | None, found: Any) -> None:
    """The figure of a result, whole or not at all."""
    from rankloom.data.files import atomic_path

    if name is not None:
        with atomic_path(name) as temporary:
            temporary.write_text(found.svg())
        tell(f"wrote {name}")
