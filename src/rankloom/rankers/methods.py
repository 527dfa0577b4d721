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
    "pointwise": Method("rankloom.rankers.pointwise", "Pointwise", "regression on labels"),
    "ranksvm": Method("rankloom.rankers.ranksvm", "RankSVM", "exact RankSVM over all pairs"),
    "solar": Method("rankloom.rankers.solar", "SOLAR", "online learning from pairs, first or second order"),
    "prank": Method("rankloom.rankers.prank", "PRank", "the perceptron that ranks, online"),
    "committee": Method(
        "rankloom.rankers.committee", "CommitteePerceptron", "perceptrons in committee, online"
    ),
    "lambdamart": Method("rankloom.rankers.lambdamart", "LambdaMART", "boosted trees that follow a measure"),
    "lambdarank": Method(
        "rankloom.rankers.lambdarank", "LambdaRank", "a linear model or a net that follows a measure"
    ),
    "ranknet": Method("rankloom.rankers.ranknet", "RankNet", "a net that learns from pairs"),
}


def ranker_class(method: str) -> Any:
    """The class of a method; imports it, and scikit-learn with it."""
    found = METHODS[method]
    return getattr(importlib.import_module(found.module), found.name)
