"""The fingerprint changes with what learning depends on, and with nothing else."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from rankloom.data import fingerprint as module
from rankloom.data.ranking_data import RankingData

PARTS = {
    "X": np.eye(3),
    "y": [0, 1, 2],
    "qid": [1, 1, 2],
    "weights": None,
    "query_weights": None,
    "feature_names": None,
}
CHANGES = {
    "X": np.eye(3) * 2,
    "y": [0, 1, 3],
    "qid": [1, 2, 2],
    "weights": [1, 1, 1],
    "query_weights": [1, 1],
    "feature_names": list("abc"),
}


def test_each_part_counts():
    seen = {RankingData(**PARTS).fingerprint()}
    seen |= {RankingData(**{**PARTS, name: value}).fingerprint() for name, value in CHANGES.items()}
    seen |= {RankingData(**{**PARTS, "qid": ["1", "1", "2"]}).fingerprint()}
    seen |= {
        RankingData(**{**PARTS, "y": None}).fingerprint(),
        RankingData(**{**PARTS, "X": sp.eye_array(3)}).fingerprint(),
    }
    seen |= {
        RankingData(**{**PARTS, "feature_names": names}).fingerprint()
        for names in (["ab", "c", ""], ["a", "bc", ""])
    }
    assert len(seen) == 12


def test_where_rows_came_from_and_what_they_are_called_does_not():
    shuffled = RankingData(
        np.eye(3)[[0, 2, 1]], [0, 2, 1], [1, 2, 1], doc_ids=list("abc"), comments=list("abc")
    )
    assert shuffled.fingerprint() == RankingData(**PARTS).fingerprint()


def test_this_value_for_this_data():
    """A fingerprint kept beside a model must be the same in the next version."""
    assert RankingData(**PARTS).fingerprint() == "f2e1057772b9e178404b755f21bf2206"


@pytest.mark.parametrize("size", [1, 7, 1 << 24])
def test_threads_do_not_matter(monkeypatch, size):
    monkeypatch.setattr(module, "_BYTES_PER_STEP", size)
    found = set()
    for threads in ("1", "3"):
        monkeypatch.setenv("RANKLOOM_THREADS", threads)
        found.add(RankingData(**PARTS).fingerprint())
    assert len(found) == 1
