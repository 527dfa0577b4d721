"""What is tried for each METHOD unless somebody says otherwise: one line each.

A range is written (low, high) or (low, high, points of the grid), a list is all there is. Several dicts are
for parameters that go with some value of another only. `path` names the parameter along which a method trains
faster, each model begun where the one before ended.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from rankloom.errors import InputError

Grids = Sequence[Mapping[str, Any]]


class Default(NamedTuple):
    """The spaces of a method, the parameter of its path, and what goes with the first space only."""

    spaces: Grids
    path: str | None = None
    first_only: Sequence[str] = ()


DEFAULTS = {
    "spd": Default([{"loss": ["hinge", "logistic"], "lam": (1e-6, 1e-1)}]),
    "crr": Default([{"alpha": [0.1, 0.5, 0.9], "lam": (1e-6, 1e-1)}]),
    "ranksvm": Default([{"C": [2.0**power for power in range(-15, 11)]}], path="C"),
    "lambdamart": Default(
        [
            {"trees": ["leaf-wise"], "leaves": [7, 15, 31], "learning_rate": [0.05, 0.1]},
            {
                "trees": ["symmetric"],
                "noise": [0.7],
                "draws": [10],
                "leaves": [8, 16, 32],
                "learning_rate": [0.05, 0.1],
            },
        ],
        first_only=("objective", "splits", "quantised", "monotone", "categorical", "params"),
    ),
    "lambdarank": Default([{"rate": (1e-3, 1e-1, 3), "lam": [0.0, 1e-4, 1e-2]}]),
    "ranknet": Default([{"rate": (1e-4, 1e-2, 3), "lam": [0.0, 1e-4, 1e-2]}]),
    "solar": Default([{"order": [1], "C": (1e-7, 1e-1)}, {"order": [2], "gamma": (1e0, 1e6)}]),
    "prank": Default([{"on": ["rows", "pairs"]}]),
    "committee": Default([{"experts": [5, 10, 20, 50]}]),
    "pointwise": Default(
        [
            {"regressor": ["ridge"], "lam": (1e-2, 1e4)},
            {"regressor": ["svr"], "C": (1e-4, 1e1)},
            {"regressor": ["forest"], "trees": [40, 200]},
            {"regressor": ["gbdt"], "depth": [3, 4, 6], "rate": [0.05, 0.1]},
        ]
    ),
}


def default_of(method: str) -> Default:
    """The line of a method."""
    if method not in DEFAULTS:
        raise InputError(f"{method} has no grid of its own; say what to search: space={{name: values}}")
    return DEFAULTS[method]
