"""Gain and discount as numbers: the one place that measures take them from, and training too.

    gain      what a label is worth      exp2: 2^y - 1        linear: y        a table: table[y]
    discount  what place i is worth      log2: 1/log2(i + 1)                   letor: 1/log2(max(2, i))

Who comes first, the third rule of a ranking, is in `rankloom.measures.order`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankloom.measures.measure import Measure

DISCOUNTS = ("log2", "letor")
_EXACT_POWERS = 54


def discounts(kind: str, n: int) -> NDArray[np.float64]:
    """What places 1..n are worth."""
    places = np.arange(1, n + 1, dtype=np.float64)
    return np.asarray(1.0 / np.log2(places + 1.0 if kind == "log2" else np.maximum(2.0, places)))


def row_gains(
    measure: Measure, labels: NDArray[np.float64], offsets: NDArray[np.int64]
) -> NDArray[np.float64]:
    """What each row is worth to a measure of gains.

    Where 2^y - 1 of a query would not be exact (a label above 53), all its gains are divided by 2^(greatest
    label): NDCG does not change, and nothing overflows.
    """
    from rankloom.kernels.compile import as_kernel
    from rankloom.kernels.measures import gain_block

    tables = own_tables([measure])
    gains = np.empty(len(labels))
    kind, row = gain_choice(measure, tables)
    table = stack_tables(tables)[row]
    gain_block(as_kernel(offsets, np.int64), as_kernel(labels, np.float64), kind, table, gains)
    return gains


def gain_choice(measure: Measure, tables: Sequence[Any]) -> tuple[int, int]:
    """A measure's gain as kernels take it: its kind, and the row of the table it reads."""
    from rankloom.kernels.measures import EXP2, LINEAR, TABLE

    if isinstance(measure.gain, tuple):
        return TABLE, tables.index(measure.gain)
    return (LINEAR if measure.gain == "linear" else EXP2), 0


def own_tables(measures: Sequence[Measure]) -> list[Any]:
    """The tables that measures bring along; the first place is kept for powers of two."""
    return [None, *dict.fromkeys(m.gain for m in measures if isinstance(m.gain, tuple))]


def stack_tables(tables: Sequence[Any]) -> NDArray[np.float64]:
    """Tables as rows of one array: first 2^y - 1 for whole y, then the others."""
    width = max([_EXACT_POWERS, *(len(table) for table in tables[1:])])
    stacked = np.zeros((len(tables), width))
    stacked[0] = 2.0 ** np.arange(width) - 1.0
    for row, table in enumerate(tables[1:], start=1):
        stacked[row, : len(table)] = table
    return stacked
