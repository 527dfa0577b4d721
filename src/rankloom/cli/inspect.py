"""`rankloom inspect`: what a data set is, and what looks wrong with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from rankloom.cli import options
from rankloom.cli.output import count, counted, print_item, print_json, print_pairs, print_table

if TYPE_CHECKING:
    from rankloom.data.inspect import Inspection


@click.command()
@click.argument("data", nargs=-1, required=True)
@click.option("--features", is_flag=True, help="Show the statistics of every feature too.")
@options.as_json
@options.reading_options
@options.threads
def command(data: tuple[str, ...], features: bool, as_json: bool, **reading: Any) -> None:
    """Say what a data set is, and what looks wrong with it.

    DATA is text (SVMlight, LETOR, RankLib; plain, .gz, .bz2, .xz, .zst), Parquet, CSV, a store, or - for text
    on standard input. Several files are read as one.

    What looks wrong: features that never change or that dwarf the others, repeated documents, labels that
    measures stumble over, queries that carry no preference or have nothing relevant.

    \b
    Examples:
      rankloom inspect train.txt
      rankloom inspect train.txt.gz --features
      rankloom inspect Fold1/train.txt Fold1/vali.txt --json
      zstdcat day1.zst | rankloom inspect -
    """
    from rankloom.cli.reading import read
    from rankloom.data.inspect import inspect

    options.check_standard_input(*data)
    seen = inspect(read(data, reading), threads=reading["threads"])
    if as_json:
        print_json({"data": list(data), **seen.to_dict(features=features)})
        return
    print_pairs(summary(seen))
    click.echo()
    click.echo("What looks wrong" if seen.findings else "Nothing looks wrong.")
    for finding in seen.findings:
        print_item(finding.text)
    if seen.feature_names is None and any("column " in finding.text for finding in seen.findings):
        click.echo("\nColumns are counted from 0: column 5 is feature 6 of a text whose first feature is 1.")
    if features:
        click.echo()
        print_table(["feature", "min", "max", "mean", "std", "not 0", "missing"], feature_rows(seen))


def summary(seen: Inspection) -> list[tuple[str, str]]:
    """What it is, in a few lines."""
    kind = f"sparse, {count(seen.stored)} values stored" if seen.sparse else "dense"
    lines = [
        ("rows", count(seen.n_rows)),
        ("queries", count(seen.n_queries)),
        ("features", f"{count(seen.n_features)} ({kind}, {100 * seen.density:.3g} % not 0)"),
    ]
    if seen.lengths:
        lines.append(("rows a query", spread(seen.lengths)))
    if seen.labels is None:
        lines.append(("labels", "none"))
    elif "counts" in seen.labels:
        lines += _label_counts(seen.labels["counts"], seen.n_rows)
    else:
        lines.append(
            ("labels", f"{count(seen.labels['levels'])} levels, {spread(seen.labels['distribution'])}")
        )
    return lines


def _label_counts(counts: dict[str, int], n_rows: int) -> list[tuple[str, str]]:
    return [
        (f"label {level}", f"{counted(rows, 'row')} ({100 * rows / n_rows:.3g} %)")
        for level, rows in counts.items()
    ]


def spread(points: dict[str, float]) -> str:
    """A distribution in one line."""
    low, median, mean, tail, high = (short(points[name]) for name in ("min", "median", "mean", "p99", "max"))
    return low if low == high else f"{low} to {high}: median {median}, mean {mean}, 99 % up to {tail}"


def short(value: float) -> str:
    """Four digits, or all of a large whole part."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def feature_rows(seen: Inspection) -> list[list[str]]:
    """One row by feature, numbers with four digits."""
    keys = ("low", "high", "mean", "std")
    return [
        [str(row["name"]), *("-" if row[key] is None else f"{row[key]:.4g}" for key in keys),
         count(row["nonzero"]), count(row["missing"])]
        for row in seen.features()
    ]  # fmt: skip
