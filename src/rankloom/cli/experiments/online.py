"""`rankloom experiment online`: SOLAR, PRank and the committee over a stream of queries, and the cost."""

from __future__ import annotations

from typing import Any

import click

from rankloom.cli import options
from rankloom.cli.experiments.running import count, record, reporting, run, seed, several

SHORT = {
    "prank-rows": "PRank, rows", "prank-pairs": "PRank, pairs", "committee": "committee",
    "solar-1": "SOLAR-I", "solar-2": "SOLAR-II", "solar-2-diagonal": "SOLAR-II diagonal",
    "solar-2-low-rank": "SOLAR-II low-rank",
}  # fmt: skip
_OWN = [
    click.option(
        "--learners", type=several(), metavar="NAMES",
        help=f"Of {', '.join(SHORT)} (all but the last).",
    ),
    click.option("--orders", type=count, metavar="N", help="How many random orders (10, the paper's)."),
    click.option("--C", "C", type=float, help="Of SOLAR-I (1e-5, the paper's)."),
    click.option("--gamma", type=float, help="Of SOLAR-II (1e4, the paper's)."),
    click.option("--experts", type=click.IntRange(min=1), help="Of the committee (20, the paper's)."),
    click.option(
        "--points", type=click.IntRange(min=0), metavar="N",
        help="After how many of the queries RankSVM is trained anew; 0 is after each (20).",
    ),
    click.option("--queries", type=count, metavar="N", help="How many lists are generated (784)."),
]  # fmt: skip


@click.command()
@click.argument("source", required=False)
@options.all_of(_OWN)
@options.measures
@seed
@options.n_features
@record
@reporting
def command(
    source: str | None,
    learners: tuple[str, ...] | None,
    measures: tuple[str, ...],
    as_json: bool,
    report: str | None,
    **given: Any,
) -> None:
    """Rank each query before learning from it, and count the cost (Wang et al. 2015, Section 5).

    SOURCE is a folder of LETOR folds (all queries), a file, or nothing: 784 generated lists. NDCG and MAP
    over the stream (Table 2, Figure 2), and CPU time so far beside RankSVM trained anew (Figure 3).

    \b
    Examples:
      rankloom experiment online
      rankloom experiment online MQ2008 --points 0 --record o.json --report page.html
      rankloom experiment online train.txt --learners solar-1,solar-2 --orders 3 -m ndcg@10
    """
    given["learners"] = None if learners is None else tuple(SHORT.get(name, name) for name in learners)
    given["measures"] = options.names_of_measures(measures, ()) or None
    run("online", source, "learners and orders", as_json, report, given)
