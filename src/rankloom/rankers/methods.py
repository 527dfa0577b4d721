"""The rankers that have a name as a METHOD: on the command line, in tuning, in experiments."""

from __future__ import annotations

import importlib
from typing import Any, NamedTuple


class Method(NamedTuple):
    """Where a ranker lives, and what it is."""

    module: str
    name: str
    summary: str


METHODS = {
    "spd": Method("rankloom.rankers.spd", "SPD", "stochastic pairwise descent"),
    "crr": Method("rankloom.rankers.crr", "CRR", "combined regression and ranking"),
}


def ranker_class(method: str) -> Any:
    """The class of a method; imports it, and scikit-learn with it."""
    found = METHODS[method]
    return getattr(importlib.import_module(found.module), found.name)
