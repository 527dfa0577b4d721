"""Features that are categories: whole numbers that stand for names, without an order among them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rankloom.data.features import Features
from rankloom.errors import InputError

# Further up, float32 cannot tell one whole number from the next.
MOST = 1 << 24


def check_categories(features: Features, columns: Sequence[int], names: Sequence[str] | None) -> None:
    """Refuse what is no category in one of these columns. Missing values (NaN) may be."""
    for column in columns:
        if features.columns is None:
            values = features.values[:, column]
        else:
            values = features.values[features.columns == column]
        good = np.isnan(values) | ((values >= 0) & (values < MOST) & (np.floor(values) == values))
        if not good.all():
            name = f"column {column}" if names is None else repr(names[column])
            raise InputError(
                f"{name} is a category, so its values must be whole numbers from 0 to {MOST - 1:,}, "
                f"got {values[int(good.argmin())]:.9g}; number the categories from 0, with NaN for unknown"
            )
