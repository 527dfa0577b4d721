"""A word about features of very different size, which linear learners take badly."""

from __future__ import annotations

import warnings

import numpy as np

from rankloom.data.ranking_data import RankingData
from rankloom.errors import RankloomWarning

_ROWS_LOOKED_AT = 1 << 10


def is_uneven(data: RankingData, times: float = 100.0, part: float = 0.25) -> bool:
    """Whether the largest feature is more than so many times as large as most.

    `part` says which feature stands for most: 0.5 is the one in the middle. Unless told, both are as steps
    have it, whose size the largest feature rules.
    """
    every = max(1, data.n_rows // _ROWS_LOOKED_AT)
    some = data.features.gather(np.arange(0, data.n_rows, every))
    sizes = np.zeros(data.n_features, dtype=np.float32)
    if some.columns is None:
        sizes = np.abs(some.values).max(axis=0, initial=0.0)
    else:
        np.maximum.at(sizes, some.columns, np.abs(some.values))
    sizes = sizes[sizes > 0.0]
    if len(sizes) < 2:
        return False
    return float(sizes.max()) > times * float(np.quantile(sizes, part, method="lower"))


def warn_of_scales(
    data: RankingData, name: str, stacklevel: int, times: float = 100.0, part: float = 0.25
) -> None:
    """Say so where features are uneven."""
    if is_uneven(data, times, part):
        warnings.warn(  # the same words for every fold of a search, which are then said once
            f"features differ in scale: some are more than {times:g} times as large as others; {name} "
            'learns faster and better from scaled ones: set scale="standard" (rl.QueryScaler does it, too)',
            RankloomWarning,
            stacklevel=stacklevel + 1,
        )
