"""`rankloom evaluate`: how good a ranking is."""

from __future__ import annotations

import csv
import io
import math
from typing import TYPE_CHECKING, Any

import click

from rankloom.cli import options
from rankloom.cli.output import count, counted, print_json, print_table
from rankloom.errors import InputError

if TYPE_CHECKING:
    from rankloom.measures.evaluation import Evaluation


@click.command()
@click.argument("scores", metavar="MODEL_OR_SCORES")
@click.argument("data")
@options.measures
@click.option("--per-query", metavar="FILE", help="Write the values of every query to a CSV file too.")
@options.complete
@options.as_json
@options.column_options
@options.threads
def command(
    scores: str,
    data: str,
    measures: tuple[str, ...],
    per_query: str | None,
    complete: bool,
    as_json: bool,
    **reading: Any,
) -> None:
    """Say how good a ranking is, by measures whose convention has a name.

    SCORES has one number a line, in the order of DATA's rows; or is a run as TREC has it (query, Q0,
    document, rank, score, name). A MODEL is what rankloom train wrote; it scores DATA first. DATA is any
    data with labels (text, Parquet, CSV, a store), or, for a run, relevance judgements as TREC has them
    (query, 0, document, label). One of the two can be -, standard input.

    A measure is written like ndcg@10, map, err@20 or ndcg@10/letor4; what follows the stroke is whose
    convention: burges (ours), letor3, letor4, mslr, yahoo, lightgbm, xgboost, xgboost-, catboost, trec,
    sklearn, ranx. The names of ir_measures, like nDCG@10, are understood too.

    \b
    Examples:
      rankloom evaluate scores.txt test.txt
      rankloom evaluate model.rank test.txt
      rankloom evaluate scores.txt test.txt -m ndcg@10,map -m ndcg@10/letor4
      rankloom evaluate run.trec qrels.txt -m AP -m nDCG@20 --json
      rankloom evaluate scores.txt test.parquet --qid query --label grade
    """
    from rankloom.measures.evaluate import DEFAULT_MEASURES

    names = options.names_of_measures(measures, DEFAULT_MEASURES)
    found = measured(scores, data, names, reading, complete)
    if per_query is not None:
        write_per_query(found, per_query)
    if as_json:
        print_json({"scores": scores, "data": data, **found.to_dict()})
        return
    print_table(["measure", "mean"], list(found.items()))
    click.echo()
    click.echo(about(found))


def measured(
    scores: str, data: str, names: tuple[str, ...], reading: dict[str, Any], complete: bool
) -> Evaluation:
    """Measures of a model's ranking, or of scores or a run from a file."""
    from rankloom.cli.judging import judge, judged_rows
    from rankloom.cli.scoring import is_model, load_model, measure_model
    from rankloom.measures.evaluate import evaluate

    threads = reading["threads"]
    if is_model(scores):
        model = load_model(scores)
        with judged_rows(model, data, reading, complete) as rows:
            return measure_model(model, rows, names, threads)
    with judge([scores], data, reading, complete, names) as (ranked, labels, more):
        return evaluate(ranked[0], labels, measures=names, threads=threads, **more)


def about(found: Evaluation) -> str:
    """Over how many queries a mean was taken."""
    none = f"{count(found.n_empty)} of them without a relevant row"
    told = none if found.n_empty else "each with a relevant row"
    return f"{counted(found.n_queries, 'query')}, {told}; {counted(found.n_rows, 'row')}."


def write_per_query(found: Evaluation, target: str) -> None:
    """A CSV file: a line by query, a column by measure; nothing where a measure skips a query."""
    from rankloom.data.files import atomic_write

    if target == "-":
        raise InputError("--per-query needs the name of a file, got -")
    names = [str(measure) for measure in found.measures if measure.name != "ece"]
    values = [map(_cell, found.per_query(name).tolist()) for name in names]
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(["qid", *names])
    rows.writerows(zip(found.qids.tolist(), *values, strict=True))
    atomic_write(target, text.getvalue())


def _cell(value: float) -> str:
    return "" if math.isnan(value) else repr(value)
