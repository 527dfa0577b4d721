"""Options that several commands share, and how they become arguments of the readers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from rankloom.errors import InputError

Command = TypeVar("Command", bound=Callable[..., Any])

as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON document for a program.")
threads = click.option(
    "--threads", type=click.IntRange(min=1),
    help="How many threads (all cores, or RANKLOOM_THREADS); the results are the same.",
)  # fmt: skip
complete = click.option(
    "--complete", is_flag=True, help="Runs: a judged query that a run does not have counts, as nothing found."
)
measures = click.option(
    "-m", "--measure", "measures", multiple=True, metavar="NAME",
    help="What to measure: ndcg@10, map, err@20, ndcg@10/letor4 ...; repeat it, or separate names by commas.",
)  # fmt: skip

_COLUMNS = [
    click.option("--label", metavar="COLUMN", help="Parquet and CSV: the column of labels (label)."),
    click.option("--qid", metavar="COLUMN", help="Parquet and CSV: the column of query ids (qid)."),
    click.option("--doc-id", metavar="COLUMN", help="Parquet and CSV: the column of document ids."),
]
_TEXT = [
    click.option(
        "--index-base", type=click.Choice(["auto", "0", "1"]), help="Text: the index of the first feature."
    ),
    click.option(
        "--layout", type=click.Choice(["auto", "dense", "sparse"]), help="Text: how features are kept."
    ),
]
_MORE_TEXT = [
    click.option("--n-features", type=click.IntRange(min=0), help="Text: how many features there are."),
    click.option("--allow-missing", is_flag=True, help="Take nan as a feature's missing value."),
]


def all_of(options: Sequence[Any]) -> Callable[[Command], Command]:
    """Several options as one decorator, in their order."""

    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


column_options = all_of(_COLUMNS)
text_options = all_of(_TEXT)
reading_options = all_of([*_COLUMNS, *_TEXT, *_MORE_TEXT])
n_features = _MORE_TEXT[0]


def reader_arguments(options: dict[str, Any]) -> dict[str, Any]:
    """What was asked for, as the readers' arguments; what was not asked for is left to them."""
    given = {name: value for name, value in options.items() if value not in (None, False)}
    if given.get("index_base") in ("0", "1"):
        given["index_base"] = int(given["index_base"])
    return given


def names_of_measures(given: tuple[str, ...], default: tuple[str, ...]) -> tuple[str, ...]:
    """The measures asked for; a comma inside brackets, as in nDCG(gains={0:0,1:1}), separates nothing."""
    return tuple(name for text in given for name in _split(text)) or default


def _split(text: str) -> list[str]:
    names, depth = [""], 0
    for letter in text:
        depth += (letter in "({[") - (letter in ")}]")
        if letter == "," and depth == 0:
            names.append("")
        else:
            names[-1] += letter
    return [name.strip() for name in names if name.strip()]


def check_standard_input(*sources: str) -> None:
    """Standard input can be read once."""
    if sources.count("-") > 1:
        raise InputError("only one of the inputs can be - (standard input), got several")
