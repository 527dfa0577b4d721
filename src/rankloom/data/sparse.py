"""A SciPy view of sparse features, over the same memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankloom.data.features import Features

_LARGEST_32 = np.iinfo(np.int32).max


def as_csr_array(features: Features) -> Any:
    """A csr_array sharing values and columns; offsets become int32 where they fit, as SciPy wants both alike.

    The arrays are set one by one because csr_array's constructor would copy columns beside 64-bit offsets.
    """
    from scipy.sparse import csr_array

    if features.columns is None or features.row_offsets is None:
        raise TypeError("dense features have no CSR form of their own")
    matrix = csr_array((features.n_rows, features.n_features), dtype=np.float32)
    fits = len(features.values) <= _LARGEST_32
    matrix.data = features.values
    matrix.indices = features.columns.view(np.int32)
    matrix.indptr = features.row_offsets.astype(np.int32) if fits else features.row_offsets
    matrix.has_canonical_format = True
    return matrix
