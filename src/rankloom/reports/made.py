"""How a run was made: the command, and tables of its data, settings, versions and machine."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from rankloom.reports.cells import setting
from rankloom.reports.parts import Table


def when_and_how_long(run: Mapping[str, Any]) -> str:
    """When a run ended, and what it took."""
    parts = [_when(run.get("made"))]
    seconds = run.get("seconds")
    if isinstance(seconds, (int, float)):
        parts.append(f"took {duration(float(seconds))}")
    return ", ".join(part for part in parts if part)


def _when(made: Any) -> str:
    try:
        return f"{datetime.fromisoformat(str(made)):%Y-%m-%d %H:%M} UTC"
    except ValueError:
        return ""


def duration(seconds: float) -> str:
    """Seconds as people say them."""
    if seconds < 60:
        return f"{seconds:.3g} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


def made_of(run: Mapping[str, Any]) -> tuple[str, list[Table]]:
    """The command, and the tables that have something to say."""
    tables = [
        Table(
            ["data", "rows", "queries", "features", "fingerprint"],
            [[name, *(_fact(facts, key) for key in ("rows", "queries", "features", "fingerprint"))]
             for name, facts in run["data"].items()],
            "Data; the fingerprint is a hash of their content",
        ),
        _pairs("setting", run["settings"], "Settings"),
        _pairs("what", {**run["versions"], **run["machine"]}, "Versions and machine"),
    ]  # fmt: skip
    return str(run.get("command") or ""), [table for table in tables if table.rows]


def _pairs(what: str, facts: Mapping[str, Any], caption: str) -> Table:
    return Table([what, "value"], [[name, setting(value)] for name, value in facts.items()], caption)


def _fact(facts: Any, key: str) -> Any:
    found = facts.get(key) if isinstance(facts, Mapping) else None
    return found if isinstance(found, (int, float, str)) else None
