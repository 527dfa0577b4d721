"""A run on record: one JSON document that says what was done, with what, and what came of it.

    run = document("tune", found.to_dict(), settings={"method": "spd"}, data={"train": train}, seconds=1.2)

A report is made from such a document alone, today or later.
"""

from __future__ import annotations

import importlib.metadata
import os
import platform
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from rankloom import __version__
from rankloom.data.ranking_data import RankingData

FORMAT, VERSION = "rankloom-run", 1
_PACKAGES = (
    "numpy", "scipy", "numba", "scikit-learn", "lightgbm", "xgboost", "xgboost-cpu", "catboost", "torch",
    "optuna",
)  # fmt: skip


def document(
    kind: str,
    result: Mapping[str, Any],
    *,
    settings: Mapping[str, Any] | None = None,
    data: Mapping[str, RankingData | Mapping[str, Any]] | None = None,
    seconds: float | None = None,
    command: str | None = None,
) -> dict[str, Any]:
    """All that is to be known of a run, as JSON can say it. Data are given as such, or as `facts_of` them."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "kind": kind,
        "command": command,
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "seconds": seconds,
        "settings": dict(settings or {}),
        "data": {
            name: facts_of(rows) if isinstance(rows, RankingData) else dict(rows)
            for name, rows in (data or {}).items()
        },
        "versions": versions(),
        "machine": {"system": platform.system(), "processor": platform.machine(), "cores": os.cpu_count()},
        "result": dict(result),
    }


def facts_of(data: RankingData) -> dict[str, Any]:
    """How large data are, and by what they are known again."""
    return {
        "rows": data.n_rows,
        "queries": data.n_queries,
        "features": data.n_features,
        "fingerprint": data.fingerprint(),
    }


def versions() -> dict[str, str]:
    """Of rankloom, Python, and the packages beside it that are there."""
    found = {"rankloom": __version__, "python": ".".join(map(str, sys.version_info[:3]))}
    for name in _PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found
