"""SciPy computes with what shares our memory, also when there are more values than int32 can count."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from rankloom.data import sparse
from rankloom.data.features import features_from


@pytest.mark.parametrize("largest", [sparse._LARGEST_32, 3])
def test_the_matrix_behaves_like_any_other(monkeypatch, largest):
    monkeypatch.setattr(sparse, "_LARGEST_32", largest)
    table = np.array([[0, 1.5, 0], [0, 0, 0], [2, 0, -3], [4, 5, 6]], dtype=np.float32)
    features = features_from(sp.csr_array(table))
    matrix = sparse.as_csr_array(features)
    assert matrix.indptr.dtype == (np.int64 if largest == 3 else np.int32)
    assert np.shares_memory(matrix.indices, features.columns)
    np.testing.assert_array_equal(matrix.toarray(), table)
    np.testing.assert_array_equal(matrix @ np.ones(3), table.sum(axis=1))
    np.testing.assert_array_equal(matrix[1:3].toarray(), table[1:3])
    np.testing.assert_array_equal(matrix.T.toarray(), table.T)
    matrix.check_format()


def test_dense_features_have_none():
    with pytest.raises(TypeError, match="dense features"):
        sparse.as_csr_array(features_from([[1.0]]))
