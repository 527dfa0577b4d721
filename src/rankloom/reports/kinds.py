"""Which module makes the page of which kind of run: each has `page(run)`, and is imported when asked for."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

from rankloom.errors import InputError
from rankloom.reports.parts import Page

KINDS = {
    "alpha": "rankloom.reports.alpha",
    "compare": "rankloom.reports.compare",
    "convergence": "rankloom.reports.convergence",
    "letor": "rankloom.reports.letor",
    "online": "rankloom.reports.online",
    "scaling": "rankloom.reports.scaling",
    "topics": "rankloom.reports.topics",
    "tune": "rankloom.reports.tune",
}


def builder(kind: str) -> Callable[[Mapping[str, Any]], Page]:
    """What makes a page of a run of this kind."""
    if kind not in KINDS:
        raise InputError(
            f"a run of kind {kind!r:.40} has no page; kinds are {', '.join(KINDS)}; a newer rankloom may know"
            " more"
        )
    found: Callable[[Mapping[str, Any]], Page] = importlib.import_module(KINDS[kind]).page
    return found
