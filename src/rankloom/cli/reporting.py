"""`--report PAGE.html`, for every command whose run can be shown: the option, and how its files are written.

@report_option                            def command(report: str | None, ...)
check_report(report, inputs)              before the long work: everything that would stop the writing
write_report(report, document(...))       after it: PAGE.html, and the run beside it as PAGE.json
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable
from typing import Any

import click

from rankloom.cli.failures import tell
from rankloom.cli.main import COMMAND


def _ready(_context: click.Context, _parameter: click.Parameter, page: str | None) -> str | None:
    check_report(page)
    return page


report_option = click.option(
    "--report", metavar="PAGE.html", callback=_ready,
    help="Also write a page for a browser, and the run beside it as PAGE.json.",
)  # fmt: skip


def check_report(page: str | None, others: Iterable[str] = ()) -> None:
    """Find out before the long work whether a page can be written; `others` are files that must stay."""
    if page is None:
        return
    from rankloom.reports.files import check_page
    from rankloom.reports.needs import need_matplotlib

    check_page(page, others)
    need_matplotlib()


def write_report(page: str | None, run: dict[str, Any], others: Iterable[str] = ()) -> None:
    """Write PAGE.html and PAGE.json, each whole or not at all, and say so. Without a page, do nothing.

    The run comes first, so that a page can be made of it whatever happens. A command that is not known yet
    is the one being run.
    """
    if page is None:
        return
    from rankloom.reports.files import check_page, run_beside, write_run
    from rankloom.reports.make import write_page

    check_page(page, others)
    told = {**run, "command": run.get("command") or command_line()}
    beside = run_beside(page)
    write_run(beside, told)
    write_page(told, page)
    tell(f"wrote {page}, and the run to {beside}")


def command_line() -> str:
    """What was typed, as a shell would take it again."""
    context = click.get_current_context(silent=True)
    words = None if context is None else context.find_root().meta.get(COMMAND)
    return shlex.join(["rankloom", *(sys.argv[1:] if words is None else words)])


def settings_asked() -> dict[str, Any]:
    """Every argument and option of the command being run that has a value, as it is called there."""
    context = click.get_current_context(silent=True)
    found: dict[str, Any] = {}
    for parameter in [] if context is None else context.command.params:
        value = context.params.get(str(parameter.name)) if context else None
        if parameter.name in ("report", "as_json") or value is None or value is False or value == ():
            continue
        is_option = isinstance(parameter, click.Option)
        name = max(parameter.opts, key=len).lstrip("-") if is_option else str(parameter.name)
        found[name] = list(value) if isinstance(value, tuple) else value
    return found
