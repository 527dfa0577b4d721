"""Ranking data of every kind, for hypothesis; and queries as a dictionary of lists."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.sparse import csr_array

from rankloom.data.ranking_data import RankingData

floats32 = st.floats(width=32, allow_nan=False, allow_infinity=False)
labels = st.floats(allow_nan=False, allow_infinity=False)
texts = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), max_size=6)
qid_values = st.one_of(
    st.lists(st.integers(-3, 5), max_size=30),
    st.lists(st.integers(-(2**63), 2**63 - 1), max_size=10),
    st.lists(texts.filter(bool), max_size=30),
)


def queries_twin(qids: list[object]) -> dict[object, list[int]]:
    """Rows of each query, queries in order of first appearance: a dictionary of lists."""
    found: dict[object, list[int]] = {}
    for row, qid in enumerate(qids):
        found.setdefault(qid, []).append(row)
    return found


@st.composite
def matrices(draw: st.DrawFn, n_rows: int) -> object:
    """Dense or sparse features."""
    width = draw(st.integers(0, 5))
    table = draw(hnp.arrays(np.float32, (n_rows, width), elements=floats32))
    return csr_array(table) if draw(st.booleans()) else table


@st.composite
def ranking_data(draw: st.DrawFn, dense: bool = False, grouped: bool = False) -> RankingData:
    """Data with or without each thing that it may have."""
    qids = draw(qid_values.filter(bool))
    n_rows = len(qids)
    X = (
        draw(hnp.arrays(np.float32, (n_rows, draw(st.integers(1, 5))), elements=floats32))
        if dense
        else draw(matrices(n_rows))
    )
    maybe = lambda strategy: draw(st.one_of(st.none(), strategy))  # noqa: E731
    weights = st.floats(0, 1e300)
    n_queries = len(queries_twin(qids))
    data = RankingData(
        X,
        maybe(hnp.arrays(np.float64, n_rows, elements=labels)),
        qids,
        doc_ids=maybe(st.lists(texts, min_size=n_rows, max_size=n_rows)),
        comments=maybe(st.lists(texts, min_size=n_rows, max_size=n_rows)),
        weights=maybe(hnp.arrays(np.float64, n_rows, elements=weights)),
        query_weights=maybe(hnp.arrays(np.float64, n_queries, elements=weights)),
        feature_names=maybe(st.just([f"x{j}" for j in range(X.shape[1])])),
    )
    return data.take(slice(None)) if grouped else data
