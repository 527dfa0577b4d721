"""Click logs: who was shown what, and clicks as often as the truth says."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from rankloom.data.clicks import ClickLog, make_clicks
from rankloom.data.generate import make_letor
from rankloom.data.ranking_data import RankingData
from rankloom.errors import InputError

# Rows in the caller's order: queries a and b in turn.
SMALL = RankingData(np.zeros((5, 1)), [0, 2, 1, 0, 2], ["a", "b", "a", "b", "a"])


def sessions(log: ClickLog) -> list[slice]:
    edges = log.offsets.tolist()
    return [slice(first, last) for first, last in pairwise(edges)]


def test_the_log_shows_the_ranking() -> None:
    scores = [1.0, 5.0, 3.0, 6.0, 2.0]  # a: rows 2, 4, 0 of the caller; b: 3, 1
    log = make_clicks(SMALL, scores, n_sessions=50, shown=2)
    assert log.n_sessions == 50
    for session in sessions(log):
        query = log.query[session][0]
        assert (log.query[session] == query).all()
        assert SMALL.order[log.row[session]].tolist() == ([2, 4] if query == 0 else [3, 1])
        assert log.rank[session].tolist() == [1, 2]
    assert set(log.query.tolist()) == {0, 1}


def test_lists_shorter_than_what_is_shown() -> None:
    log = make_clicks(SMALL, n_sessions=30, shown=10, examined=np.linspace(1, 0.1, 10))
    assert set(np.diff(log.offsets).tolist()) == {2, 3}
    assert log.rank.max() == 3
    assert log.examined.tolist() == pytest.approx([1.0, 0.9, 0.8])


def test_attraction_follows_labels() -> None:
    log = make_clicks(SMALL, n_sessions=1, noise=0.1)
    by_label = {0: 0.1, 1: 0.1 + 0.9 * 1 / 3, 2: 1.0}
    assert log.attraction.tolist() == pytest.approx([by_label[label] for label in SMALL.y])


def test_attraction_can_be_given_in_the_callers_order() -> None:
    given = np.array([0.1, 0.2, 0.3, 0.4, 0.5])
    log = make_clicks(SMALL, n_sessions=1, attraction=given)
    assert np.array_equal(SMALL.in_caller_order(log.attraction), given)


@pytest.mark.parametrize("eta", [0.0, 1.0, 2.0])
def test_clicks_come_as_often_as_examination_times_attraction(eta: float) -> None:
    made = make_letor(50)
    log = make_clicks(made.data, made.truth, n_sessions=200_000, eta=eta)
    assert log.examined == pytest.approx(np.arange(1, 11.0) ** -eta)
    for rank in (1, 3, 8):
        there = log.rank == rank
        expected = log.attraction[log.row[there]] * rank**-eta
        error = np.sqrt((expected * (1 - expected)).sum())
        assert abs(log.clicked[there].sum() - expected.sum()) < 4 * error + 1e-9


def test_inverse_propensities_uncover_attraction() -> None:
    """The mean of click / examined(rank) over the sessions that show a row is its attraction."""
    log = make_clicks(SMALL, n_sessions=100_000, seed=2)
    weighted = np.bincount(log.row, log.clicked / log.examined[log.rank - 1], minlength=5)
    shown = np.bincount(log.row, minlength=5)
    assert weighted / shown == pytest.approx(log.attraction, abs=0.02)


def test_a_cascade_ends_at_the_first_click() -> None:
    attraction = np.array([0.5, 0.3, 0.5, 0.8, 0.25])
    log = make_clicks(SMALL, n_sessions=60_000, model="cascade", attraction=attraction)
    assert log.examined is None
    clicks = np.add.reduceat(log.clicked, log.offsets[:-1], dtype=np.int64)
    assert set(clicks.tolist()) == {0, 1}
    first_query = log.query == 0
    rates = [log.clicked[first_query & (log.rank == rank)].mean() for rank in (1, 2, 3)]
    assert rates == pytest.approx([0.5, 0.5 * 0.5, 0.5 * 0.5 * 0.25], abs=0.01)


def test_queries_are_searched_as_their_weights_say() -> None:
    weighted = RankingData(np.zeros((3, 1)), [0, 1, 2], [1, 2, 3], query_weights=[1, 0, 3])
    log = make_clicks(weighted, n_sessions=40_000)
    assert np.bincount(log.query) / 40_000 == pytest.approx([0.25, 0, 0.75], abs=0.01)


def test_the_same_seed_gives_the_same_log() -> None:
    first, second = (make_clicks(SMALL, n_sessions=200, seed=5) for _ in range(2))
    other = make_clicks(SMALL, n_sessions=200, seed=6)
    assert np.array_equal(first.clicked, second.clicked)
    assert np.array_equal(first.query, second.query)
    assert not np.array_equal(first.clicked, other.clicked)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": "dbn"}, "model must be one of position, cascade, got 'dbn'"),
        ({"n_sessions": 0}, "n_sessions must be a whole number from 1"),
        ({"shown": 0}, "shown must be a whole number from 1"),
        ({"eta": -1.0}, "eta must be a number, 0 or more"),
        ({"noise": 1.5}, "noise must be a probability"),
        ({"examined": [0.5]}, "one probability for each of the 10 ranks shown"),
        ({"examined": [2.0] * 10}, "examined must be probabilities, from 0 to 1, got 2 at 0"),
        ({"attraction": [0, 0, 0, 0, -1]}, "attraction must be probabilities"),
        ({"scores": [0, 0, np.nan, 0, 0]}, "scores must be numbers, got nan"),
        ({"scores": [0.0]}, "per_row"),
    ],
)
def test_arguments_that_mean_nothing(options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        make_clicks(SMALL, **options)


def test_data_that_nobody_can_click_on() -> None:
    with pytest.raises(InputError, match="the data has none; pass attraction"):
        make_clicks(RankingData(np.zeros((2, 1))))
    with pytest.raises(InputError, match="labels must be below 1024"):
        make_clicks(RankingData(np.zeros((2, 1)), [1, 2000]))
    with pytest.raises(InputError, match="the data has no queries"):
        make_clicks(RankingData(np.zeros((0, 1)), []))
    with pytest.raises(InputError, match="query_weights are all 0"):
        make_clicks(RankingData(np.zeros((2, 1)), [1, 2], query_weights=[0]))
