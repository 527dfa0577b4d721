"""`rankloom compare`: is one ranking better than another, by how much, and could it be chance?"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import click

from rankloom.cli import options
from rankloom.cli.output import print_item, print_json
from rankloom.cli.reporting import check_report, report_option, settings_asked, write_report
from rankloom.errors import InputError

INTERVALS = ("percentile", "bca")
TESTS = ("randomisation", "t", "wilcoxon")
DEFAULT_MEASURES = ("ndcg@10",)


_TUNING = [
    click.option(
        "--test", type=click.Choice(TESTS), default=TESTS[0], help="Which test decides (randomisation)."
    ),
    click.option("--confidence", type=float, default=0.95, help="Of the interval and the tests (0.95)."),
    click.option("--interval", type=click.Choice(INTERVALS), default=INTERVALS[0], help="Kind of bootstrap."),
    click.option("--resamples", type=int, default=10_000, help="For interval and randomisation (10000)."),
    click.option("--seed", type=click.IntRange(min=0), default=0, help="Of the random numbers (0)."),
    click.option("--all-pairs", is_flag=True, help="Compare every two, not all with the first."),
]


@click.command()
@click.argument("scores", nargs=-1, required=True)
@click.argument("data")
@options.measures
@options.all_of(_TUNING)
@options.complete
@report_option
@options.as_json
@options.column_options
@options.threads
def command(
    scores: tuple[str, ...],
    data: str,
    measures: tuple[str, ...],
    as_json: bool,
    report: str | None,
    **rest: Any,
) -> None:
    """Say whether a ranking is better than another, by how much, and whether it could be chance.

    SCORES are two files or more, each with one number a line in the order of DATA's rows, or a TREC run, or
    a model; all are compared with the first. DATA is as for rankloom evaluate.

    For each measure: the two means, how many queries each wins, an interval of the difference by the
    bootstrap, and three paired tests (Student's t, Wilcoxon's, randomisation). Over several measures or
    systems, p-values are corrected by Holm's method. Choose the measure and the test before you look.

    \b
    Examples:
      rankloom compare old.txt new.txt test.txt
      rankloom compare old.txt new.txt test.txt -m ndcg@10,map --test wilcoxon
      rankloom compare old.run new.run newer.run qrels.txt --all-pairs --json
    """
    from rankloom.cli.judging import judge
    from rankloom.experiments.run import document
    from rankloom.measures.compare import compare

    if len(scores) < 2:
        raise InputError(
            "compare needs two files of scores or more, then the data: rankloom compare A B DATA"
        )
    reading = {name: rest.pop(name) for name in ("label", "qid", "doc_id")} | {"threads": rest["threads"]}
    names = options.names_of_measures(measures, DEFAULT_MEASURES)
    complete = rest.pop("complete")
    check_report(report, (*scores, data))
    begin = time.perf_counter()
    with judge(scores, data, reading, complete, names) as (ranked, labels, more):
        systems = dict(zip(short_names(scores), ranked, strict=True))
        found = compare(systems, labels, measures=names, **rest, **more)
        if report is not None:
            facts = _facts(systems, labels, more)
            run = document(
                "compare", found.for_run(), settings=settings_asked(), data=facts,
                seconds=time.perf_counter() - begin,
            )  # fmt: skip
            write_report(report, run, (*scores, data))
    if as_json:
        print_json({"scores": list(scores), "data": data, **found.to_dict()})
        return
    show(found)


def hash_of(*columns: Any) -> str:
    """32 hexadecimal digits over numbers, or texts."""
    import hashlib

    hashed = hashlib.blake2b(digest_size=16)
    for column in columns:
        texts = "\n".join(map(repr, column.tolist()))
        hashed.update(f"{len(texts)}:{texts}".encode("utf-8", "surrogateescape"))
    return hashed.hexdigest()


def _facts(systems: dict[str, Any], labels: Any, more: dict[str, Any]) -> dict[str, Any]:
    """What the data and every system's scores are known by."""
    from rankloom.experiments.run import facts_of

    facts: dict[str, Any] = {}
    if hasattr(labels, "fingerprint"):
        facts["data"] = facts_of(labels)
    else:
        hashed = hash_of(labels, more["qid"])
        queries = len(set(more["qid"].tolist()))
        facts["judgements"] = {"rows": len(labels), "queries": queries, "fingerprint": hashed}
    for name, scores in systems.items():
        facts[f"scores of {name}"] = {"rows": len(scores), "fingerprint": hash_of(scores)}
    return facts


def show(found: Any) -> None:
    """A table of numbers, then what they say."""
    from rankloom.measures.comparison import table

    click.echo(table(found))
    click.echo()
    for row in found.summary().splitlines():
        print_item(row)


def short_names(files: tuple[str, ...]) -> list[str]:
    """What to call systems: their files without folder and ending, or with them where that is not enough."""
    names = [Path(file).name.split(".")[0] or file for file in files]
    if len(set(names)) == len(files):
        return names
    if len(set(files)) < len(files):
        raise InputError("compare needs different files, got the same one twice")
    return list(files)
