"""From measures to the tables that kernels read: sorted by the order they need, choices as small integers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankloom.measures.conventions import DISCOUNTS, discounts, gain_choice, own_tables, stack_tables
from rankloom.measures.measure import Measure
from rankloom.measures.presets import PAIRS, POINTS

_NO_CUTOFF = 2**31
_CREDIT = {"pessimistic": 0.0, "average": 0.5, "optimistic": 1.0}


@dataclass(frozen=True)
class Batch:
    """Measures of one kernel that need one order: their places among the measures, and their tables."""

    rule: str  # "file", "pessimistic", "optimistic" or "docid"
    pairs: bool
    places: NDArray[np.int64]
    choices: NDArray[np.int64]
    limits: NDArray[np.float64]


@dataclass(frozen=True)
class Plan:
    """What to compute for each block of queries."""

    measures: tuple[Measure, ...]
    batches: tuple[Batch, ...]
    points: tuple[int, ...]  # places of measures that need no order
    discounts: NDArray[np.float64]
    gains: NDArray[np.float64]


def make_plan(measures: Sequence[Measure], longest: int) -> Plan:
    """Group measures by kernel and order; `longest` is the length of the longest list."""
    tables = own_tables(measures)
    keys = sorted({_batch_key(m) for m in measures if m.name not in POINTS})
    batches = []
    for pairs, rule in keys:
        places = [
            i for i, m in enumerate(measures) if m.name not in POINTS and _batch_key(m) == (pairs, rule)
        ]
        if not pairs:
            places.sort(key=lambda i: _sum_key(measures[i]))
        rows = [_pair_row(measures[i]) if pairs else _list_row(measures[i], tables) for i in places]
        choices = np.array([row[0] for row in rows], dtype=np.int64)
        limits = np.array([row[1] for row in rows], dtype=np.float64)
        if not pairs:
            _mark_fresh([measures[i] for i in places], choices)
        batches.append(Batch(rule, pairs, np.array(places, dtype=np.int64), choices, limits))
    points = tuple(i for i, m in enumerate(measures) if m.name in POINTS)
    depth = _deepest(measures, longest)
    weights = np.stack([discounts(kind, depth) for kind in DISCOUNTS])
    return Plan(tuple(measures), tuple(batches), points, weights, stack_tables(tables))


def _batch_key(measure: Measure) -> tuple[bool, str]:
    """Which kernel, which order. Averages need groups of equal scores only, so any order does."""
    pairs = measure.name in PAIRS
    if measure.ties in ("file", "docid"):
        return pairs, measure.ties
    if pairs:
        return True, "optimistic"
    return False, "file" if measure.ties == "average" else str(measure.ties)


def _sum_key(measure: Measure) -> tuple[str, int]:
    """Measures that add up the same gains and discounts come together, the deepest of them first."""
    unscaled = measure.name == "dcg"
    shared = f"{measure.gain} {measure.discount} {measure.ties} {unscaled}" if measure.discount else "~"
    return shared, -(measure.k or _NO_CUTOFF)


def _mark_fresh(measures: Sequence[Measure], choices: NDArray[np.int64]) -> None:
    """Mark the first of each run of measures that share their sums."""
    from rankloom.kernels.measures import FRESH

    keys = [_sum_key(measure)[0] for measure in measures]
    choices[:, FRESH] = [i == 0 or keys[i] != keys[i - 1] for i in range(len(keys))]


def _list_row(measure: Measure, tables: list[Any]) -> tuple[list[int], list[float]]:
    from rankloom.kernels import measures as kernels

    kinds = {
        "ndcg": kernels.NDCG,
        "dcg": kernels.DCG,
        "mean-ndcg": kernels.MEAN_NDCG,
        "map": kernels.MAP,
        "mrr": kernels.MRR,
        "err": kernels.ERR,
        "p": kernels.PRECISION,
        "r": kernels.RECALL,
    }
    denominator = {
        "relevant": kernels.BY_RELEVANT,
        "reachable": kernels.BY_REACHABLE,
        "found": kernels.BY_FOUND,
    }
    short = {"truncate": kernels.TRUNCATE, "pad": kernels.PAD, "zero": kernels.ZERO}
    choices = [0] * kernels.CHOICES
    choices[kernels.KIND] = kinds[measure.name]
    choices[kernels.CUTOFF] = measure.k or _NO_CUTOFF
    choices[kernels.GAIN], choices[kernels.GAIN_ROW] = gain_choice(measure, tables)
    choices[kernels.DISCOUNT_ROW] = DISCOUNTS.index(measure.discount) if measure.discount else 0
    choices[kernels.AVERAGE] = measure.ties == "average"
    choices[kernels.DENOMINATOR] = denominator[measure.denominator or "relevant"]
    choices[kernels.SHORT] = short[measure.short or "truncate"] if measure.k else kernels.TRUNCATE
    limits = [0.0] * kernels.LIMITS
    limits[kernels.THRESHOLD] = measure.lowest_relevant or 0.0
    limits[kernels.MAX_GRADE] = measure.max_grade or 0.0
    return choices, limits


def _pair_row(measure: Measure) -> tuple[list[int], list[float]]:
    from rankloom.kernels import pairs as kernels

    kinds = {
        "pairwise": kernels.PAIRWISE,
        "tau": kernels.TAU,
        "auc": kernels.AUC,
        "auc-loss": kernels.AUC_LOSS,
    }
    choices = [0] * kernels.CHOICES
    choices[kernels.KIND] = kinds[measure.name]
    choices[kernels.TOTAL_ORDER] = measure.ties in ("file", "docid")
    limits = [0.0] * kernels.LIMITS
    limits[kernels.CREDIT] = _CREDIT.get(measure.ties or "average", 1.0)
    limits[kernels.THRESHOLD] = measure.lowest_relevant or 0.0
    return choices, limits


def _deepest(measures: Sequence[Measure], longest: int) -> int:
    """How many discounts anybody reads."""
    cutoffs = [m.k or longest for m in measures if m.discount is not None]
    return min(longest, max(cutoffs, default=1))
