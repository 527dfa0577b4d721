"""What the protocols' commands share: options, the run itself with its progress, and how it is shown."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from rankloom.cli import options
from rankloom.cli.compiling import telling_of_compiling
from rankloom.cli.failures import tell
from rankloom.cli.output import print_json, print_table
from rankloom.cli.progress import progress
from rankloom.cli.reporting import check_report, report_option, settings_asked, write_report


def count(text: Any) -> int:
    """A whole number from 1, also as 1e6 or 1,000,000: the type of an option."""
    try:
        number = float(str(text).replace(",", "").replace("_", ""))
    except ValueError:
        number = 0.0
    if not 1.0 <= number <= 1e18 or number != int(number):
        raise click.BadParameter(f"{text!r} is no whole number from 1, such as 20000 or 1e6")
    return int(number)


def several(kind: Callable[[str], Any] = str) -> Callable[[Any], tuple[Any, ...]]:
    """Values with commas between them: the type of an option."""

    def values(text: Any) -> tuple[Any, ...]:
        parts = [part.strip() for part in str(text).split(",") if part.strip()]
        if not parts:
            raise click.BadParameter("nothing is named; give one value or several, with commas")
        try:
            return tuple(kind(part) for part in parts)
        except ValueError as error:
            raise click.BadParameter(f"{text!r} must be numbers, with commas between them") from error

    return values


seed = click.option("--seed", type=click.IntRange(min=0), default=0, help="Of the random numbers (0).")
record = click.option(
    "--record", metavar="FILE", help="Keep what is done, for the same command to go on from."
)
_PARTS = [
    click.option("--test", metavar="FILE", help="The test part, where SOURCE is a file."),
    click.option("--vali", metavar="FILE", help="The validation part, where SOURCE is a file."),
    click.option("--fold", type=click.IntRange(min=0), help="Which fold of a folder (its first)."),
]
parts = options.all_of(_PARTS)
reporting = options.all_of([options.as_json, report_option])


def run(
    protocol: str, source: Any, counted: str, as_json: bool, report: str | None, given: Mapping[str, Any]
) -> None:
    """Run a protocol with the options that were given, print its table, and write its page."""
    from rankloom.experiments.protocols import experiment
    from rankloom.experiments.run import document

    inputs = [str(one) for one in (source, given.get("test"), given.get("vali")) if one is not None]
    check_report(report, inputs)
    wanted = {name: value for name, value in given.items() if value is not None}
    begin = time.perf_counter()
    with telling_of_compiling(), telling_of_record(given), progress(counted, True) as tick:
        found = experiment(protocol, source, progress=tick, **wanted)
    seconds = time.perf_counter() - begin
    if as_json:
        print_json({"protocol": protocol, "seconds": round(seconds, 3), **found.to_dict()})
    else:
        print_table(*found.table())
        if found.note:
            for line in found.note.splitlines():
                tell(line)
    if report is not None:
        told = document(
            protocol, found.to_dict(), settings=settings_asked(), data=found.data, seconds=seconds
        )
        write_report(report, told, inputs)


@contextmanager
def telling_of_record(given: Mapping[str, Any]) -> Iterator[None]:
    """Whoever stops it is told how to go on."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        if "record" not in given:
            raise
        kept = given["record"]
        if kept is None:
            tell("nothing of it is kept; with --record FILE, the same command goes on from where it stopped")
        elif Path(kept).exists():
            tell(f"what is done so far is in {kept}; the same command goes on from there")
        raise
