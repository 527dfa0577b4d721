"""SOLAR, PRank and the committee: one query or many, given up and gone on with, the same bits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import rankloom as rl
from rankloom.models.files import read_model, write_model
from rankloom.rankers.progress import Meter
from twins import online_twin

LEARNERS: dict[str, dict[str, Any]] = {
    "solar-1": {"order": 1, "C": 0.1},
    "solar-2": {"gamma": 2.0},
    "solar-forget": {"gamma": 2.0, "forget": 0.9},
    "solar-1-forget": {"order": 1, "C": 0.1, "forget": 0.9},
    "solar-diagonal": {"gamma": 2.0, "covariance": "diagonal", "forget": 0.99},
    "solar-low-rank": {"gamma": 2.0, "covariance": "low-rank", "rank": 3},
    "prank-rows": {},
    "prank-pairs": {"on": "pairs"},
    "committee": {"experts": 3},
}
every = pytest.mark.parametrize("name", LEARNERS)


def make(name: str, **more: Any) -> Any:
    cls = {"s": rl.SOLAR, "p": rl.PRank, "c": rl.CommitteePerceptron}[name[0]]
    return cls(**{"max_pairs": 15, **LEARNERS[name], **more})


@pytest.fixture(scope="module")
def data() -> rl.RankingData:
    return rl.make_letor(30, seed=5).data


def bits(learner: Any) -> list[bytes]:
    mind, meter = learner._mind, learner._meter
    return [array.tobytes() for array in (*mind.state, *mind.extra.values(), meter.sums, meter.ring)]


@every
def test_one_query_or_many_are_the_same_bits(name: str, data: rl.RankingData) -> None:
    many, one, parts = make(name), make(name), make(name)
    shown = many.learn_many(data)
    scores = [one.learn_one_query(query.X, query.y) for query in map(data.take, range(data.n_queries))]
    assert np.concatenate(scores).tobytes() == shown.tobytes()
    for first, last in ((0, 1), (1, 12), (12, 30)):
        parts.partial_fit(data.take(slice(first, last)))
    assert bits(one) == bits(many) == bits(parts) == bits(make(name).fit(data))
    assert one.model_ == many.model_
    assert one.progress_ == many.progress_


@every
def test_from_a_file_it_goes_on_bit_by_bit(name: str, data: rl.RankingData, tmp_path: Path) -> None:
    whole, begun = make(name).fit(data), make(name)
    begun.partial_fit(data.take(slice(0, 17)))
    begun.save_state(tmp_path / "a.state")
    resumed = rl.resume(tmp_path / "a.state")
    assert bits(resumed) == bits(begun)
    assert resumed.get_params() == begun.get_params()
    resumed.learn_many(data.take(slice(17, 30)))
    assert bits(resumed) == bits(whole)
    assert resumed.model_ == whole.model_
    assert resumed.progress_ == whole.progress_
    resumed.save_state(tmp_path / "b.state")
    whole.save_state(tmp_path / "c.state")
    assert (tmp_path / "b.state").read_bytes() == (tmp_path / "c.state").read_bytes()
    assert b"pickle" not in (tmp_path / "b.state").read_bytes()


@every
def test_ranking_is_what_the_model_says_and_changes_nothing(name: str, data: rl.RankingData) -> None:
    learner = make(name).fit(data)
    before, X = bits(learner), data.take([3]).X
    np.testing.assert_allclose(learner.rank_one_query(X), learner.model_.decision_function(X), atol=1e-9)
    assert bits(learner) == before
    np.testing.assert_array_equal(learner.learn_one_query(X, data.take([3]).y), learner_again(name, data, X))


def learner_again(name: str, data: rl.RankingData, X: Any) -> Any:
    return make(name).fit(data).rank_one_query(X)


def test_progress_is_equation_3(data: rl.RankingData) -> None:
    learner = rl.SOLAR(order=1, C=0.01, window=8)
    scores = learner.learn_many(data)
    found, progress = rl.evaluate(scores, data, measures=["ndcg", "ndcg@10", "map"]), learner.progress_
    for measure in ("ndcg", "ndcg@10", "map"):
        each = found.per_query(measure)
        assert progress.total[measure] == pytest.approx(each.mean())
        assert progress.window[measure] == pytest.approx(each[-8:].mean())
    assert (progress.queries, progress.window_queries) == (30, 8)
    assert str(progress).startswith(f"30 queries: ndcg {found['ndcg']:.4f} ndcg@10")


@given(st.lists(st.integers(0, 9), max_size=8), st.integers(1, 5), st.integers(0, 99))
def test_the_meter_does_not_mind_how_queries_come(cuts: list[int], window: int, seed: int) -> None:
    values = np.random.default_rng(seed).random((sum(cuts), 3))
    values[values[:, 0] < 0.2] = np.nan
    one, many = Meter(window), Meter(window)
    for value in values:
        one.add(value[None])
    for part in np.split(values, np.cumsum(cuts)):
        many.add(part)
    assert one.sums.tobytes() == many.sums.tobytes()
    assert one.ring.tobytes() == many.ring.tobytes()
    known = values[~np.isnan(values[:, 0])]
    if len(known):
        np.testing.assert_allclose(list(one.progress().window.values()), known[-window:].mean(axis=0))
    else:
        assert np.isnan(one.progress().total["map"])


def test_covariance_is_chosen_by_size_and_said() -> None:
    for n_features, kind in ((1000, "full"), (1001, "diagonal")):
        learner = rl.SOLAR().begin(n_features)
        assert learner.covariance_ == kind
        assert learner.model_.about["covariance"] == kind
    assert rl.SOLAR(covariance="low-rank").begin(2000).covariance_ == "low-rank"
    assert rl.SOLAR(order=1).begin(3).covariance_ is None
    assert "covariance" not in rl.SOLAR(order=1).begin(3).model_.about


def test_low_rank_is_as_the_full_one_where_there_are_directions_enough() -> None:
    """Four features, rank 4: nothing is cut off."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 4)), rng.integers(0, 2, 400)
    learner = rl.SOLAR(gamma=3.0, covariance="low-rank", rank=4, max_pairs=64)
    for first in range(0, 400, 40):
        learner.learn_one_query(X[first : first + 40], y[first : first + 40])
    state = learner._mind.state
    p, U = 1.0 / state.spread, state.table / state.spread[:, None]
    precise = np.diag(p) + U @ U.T
    assert np.diag(precise).min() > 10
    assert (np.linalg.eigvalsh(precise) > 1.0).all()


def test_what_a_pair_weighs_counts_in_the_low_rank_covariance_too() -> None:
    """Four times the weight, or the same pair in a problem with a fourth of gamma: the same."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(30, 5)).astype(np.float32)
    pairs = [(int(a), int(b)) for a, b in rng.integers(0, 30, (90, 2)) if a != b]
    heavy = rl.SOLAR(gamma=8.0, covariance="low-rank", rank=2)
    plain = rl.SOLAR(gamma=2.0, covariance="low-rank", rank=2)
    for _ in range(5):
        heavy.learn_one_query(X, rl.Feedback.preferences(pairs, np.full(len(pairs), 4.0)))
        plain.learn_one_query(X, rl.Feedback.preferences(pairs))
    np.testing.assert_allclose(heavy._mind.state.spread, plain._mind.state.spread)
    np.testing.assert_allclose(heavy.model_.weights, plain.model_.weights)
    assert heavy._mind.state.spread.max() < 0.2


def test_a_linear_model_to_start_from(data: rl.RankingData) -> None:
    known = rl.SPD(steps=1000).fit(data).model_
    for learner in (rl.SOLAR(start=known), rl.PRank(start=known), rl.CommitteePerceptron(start=known)):
        one = data.take([0])
        np.testing.assert_allclose(learner.learn_one_query(one.X, one.y), known.decision_function(one.X))
    with pytest.raises(rl.InputError, match="has 46 features, the data 3"):
        rl.SOLAR(start=known).begin(3)
    with pytest.raises(rl.InputError, match="start must be a linear model"):
        rl.SOLAR(start="model.rank").begin(3)


def test_clicks_and_pairs_are_learned_as_the_rules_say() -> None:
    X = np.eye(3, dtype=np.float32)
    by_clicks, by_pairs = rl.SOLAR(order=1, C=5.0), rl.SOLAR(order=1, C=5.0)
    by_clicks.learn_one_query(X, rl.Feedback.clicks([0, 1, 0], [2, 0, 1], examined=[1.0, 0.5, 0.25]))
    by_pairs.learn_one_query(X, rl.Feedback.preferences([(1, 2), (1, 0)], [4.0, 4.0]))
    assert by_clicks.model_.weights.tolist() == by_pairs.model_.weights.tolist()
    assert by_clicks.progress_.queries == 1
    assert by_pairs.progress_.queries == 0
    first = rl.SOLAR(order=1, C=5.0)
    first.learn_one_query(X, rl.Feedback.preferences([(1, 2)], [4.0]))
    wanted = online_twin.first_order(np.zeros(3), np.array([0, 1.0, -1.0]), 5.0, 4.0)
    np.testing.assert_allclose(first.model_.weights, wanted)


def test_weights_count_as_in_the_problem(data: rl.RankingData) -> None:
    one = data.take([2])
    heavy, alike = rl.SOLAR(order=1, C=0.1), rl.SOLAR(order=1, C=0.4)
    heavy.learn_one_query(one.X, one.y, np.full(one.n_rows, 2.0))
    alike.learn_one_query(one.X, one.y)
    assert heavy.model_.weights.tolist() == alike.model_.weights.tolist()
    by_rows = rl.SOLAR(order=1, C=0.1).fit(one.X, one.y, sample_weight=np.full(one.n_rows, 2.0))
    assert by_rows.model_.weights.tolist() == alike.model_.weights.tolist()


def test_prank_gives_grades(data: rl.RankingData) -> None:
    ranker = rl.PRank()
    for _ in range(20):
        ranker.partial_fit(data)
    assert ranker.levels_.tolist() == [0.0, 1.0, 2.0]
    assert (np.diff(ranker.thresholds_) >= 0).all()
    grades, scores = ranker.grades(data), ranker.decision_function(data)
    for level, below, above in ((0, -np.inf, 0), (1, 0, 1), (2, 1, np.inf)):
        edges = [*ranker.thresholds_, np.inf]
        low = -np.inf if below == -np.inf else edges[below]
        high = np.inf if above == np.inf else edges[above]
        assert ((grades == level) == ((scores >= low) & (scores < high))).all()
    assert (grades == data.y).mean() > 0.6
    assert ranker.model_.about["thresholds"] == ranker.thresholds_.tolist()
    with pytest.raises(AttributeError, match='levels_ is of on="rows"'):
        _ = rl.PRank("pairs").fit(data).levels_


def test_prank_meets_new_labels_on_the_way() -> None:
    ranker = rl.PRank(seed=1)
    X = np.array([[0.0], [1.0], [2.0], [3.0]], dtype=np.float32)
    for labels in ([1, 1, 1, 1], [1, 1, 5, 5], [-2, 1, 5, 9], [-2, 1, 5, 7.5]):
        ranker.learn_one_query(X, labels)
        levels = ranker.levels_
        assert len(ranker.thresholds_) == len(levels) - 1
        assert (np.diff(ranker.thresholds_) >= 0).all()
    assert levels.tolist() == [-2.0, 1.0, 5.0, 7.5, 9.0]


BAD = [
    ({"order": 3}, "order must be 1 .* or 2"),
    ({"order": 1, "gamma": 1.0}, "gamma needs order=2"),
    ({"C": 1.0}, "C needs order=1"),
    ({"order": 1, "C": 0.0}, "C must be a number > 0"),
    ({"gamma": -1.0}, "gamma must be a number > 0"),
    ({"covariance": "half"}, "covariance must be one of auto, full, low-rank, diagonal"),
    ({"order": 1, "covariance": "full"}, "covariance='full' needs order=2"),
    ({"covariance": "full", "rank": 3}, 'rank needs covariance="low-rank"'),
    ({"covariance": "low-rank", "rank": 0}, "rank must be a whole number from 1"),
    ({"covariance": "low-rank", "forget": 0.9}, "low-rank cannot forget"),
    ({"forget": 0.0}, "forget must be a number > 0 up to 1"),
    ({"forget": 1.1}, "forget must be a number > 0 up to 1"),
    ({"max_pairs": 0}, "max_pairs must be a whole number from 1, or None for all"),
    ({"window": 0}, "window must be a whole number from 1"),
    ({"seed": -1}, "seed must be a whole number from 0"),
]


@pytest.mark.parametrize(("parameters", "told"), BAD)
def test_parameters_that_cannot_be(parameters: dict[str, Any], told: str, data: rl.RankingData) -> None:
    with pytest.raises(rl.InputError, match=told):
        rl.SOLAR(**parameters).fit(data)
    with pytest.raises(rl.InputError, match=told):
        rl.SOLAR(**parameters).begin(3)


def test_data_that_cannot_be(data: rl.RankingData) -> None:
    ranker = rl.SOLAR().begin(3)
    X = np.zeros((2, 3))
    for bad, told in [
        ([0.0], "feedback must be on the 2 rows of the query, got 1"),
        ([0.0, np.inf], "labels must be finite"),
        (rl.Feedback.preferences([(0, 2)]), "below 2, got row 2"),
    ]:
        with pytest.raises(rl.InputError, match=told):
            ranker.learn_one_query(X, bad)
    with pytest.raises(rl.InputError, match="X must be finite"):
        ranker.learn_one_query([[0, 0, np.nan]], [1])
    with pytest.raises(rl.InputError, match="X has 2 features, but SOLAR is expecting 3"):
        ranker.learn_one_query(X[:, :2], [0, 1])
    with pytest.raises(rl.InputError, match="weights must be 2 numbers from 0"):
        ranker.learn_one_query(X, [0, 1], [1, -1])
    with pytest.raises(rl.InputError, match="PRank learns from labels, not from pairs"):
        rl.PRank().learn_one_query(X, rl.Feedback.preferences([(0, 1)]))
    with pytest.raises(rl.InputError, match="on must be one of rows, pairs"):
        rl.PRank("lists").fit(data)
    with pytest.raises(rl.InputError, match="on must stay 'rows' while learning goes on, got 'pairs'"):
        rl.PRank().fit(data).set_params(on="pairs").partial_fit(data)
    again = rl.PRank().fit(data).set_params(on="pairs").fit(data)
    assert again.model_.weights.tolist() == rl.PRank("pairs").fit(data).model_.weights.tolist()
    for learner, changed in (
        (rl.SOLAR(), {"order": 1}), (rl.SOLAR(), {"window": 3}), (rl.CommitteePerceptron(), {"experts": 3})
    ):  # fmt: skip
        with pytest.raises(rl.InputError, match=r"must stay .* while learning goes on"):
            learner.fit(data).set_params(**changed).partial_fit(data)
        learner.fit(data)
    with pytest.raises(rl.InputError, match="experts must be a whole number from 1"):
        rl.CommitteePerceptron(0).fit(data)


def test_state_files_that_are_none(data: rl.RankingData, tmp_path: Path) -> None:
    ranker = rl.SOLAR().fit(data)
    ranker.model_.save(tmp_path / "model.rank")
    with pytest.raises(rl.ModelError, match="is a linear model, no state of a learner"):
        rl.resume(tmp_path / "model.rank")
    ranker.save_state(tmp_path / "a.state")
    text = (tmp_path / "a.state").read_bytes()
    with pytest.raises(rl.ModelError, match="is of kind 'online-state'"):
        rl.load(tmp_path / "a.state")
    held = read_model(tmp_path / "a.state")
    for changed in ({"features": 45}, {"form": 2}, {"parameters": {"gamma": -1}}, {"parameters": {"x": 1}}):
        write_model(tmp_path / "b.state", held._replace(facts={**held.facts, **changed}))
        with pytest.raises(rl.ModelError, match="is damaged: it is no state of a learner"):
            rl.resume(tmp_path / "b.state")
    (tmp_path / "b.state").write_bytes(text[:-100])
    with pytest.raises(rl.ModelError, match="damaged"):
        rl.resume(tmp_path / "b.state")


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.booleans())
def test_max_pairs_bounds_a_query(seed: int, is_sparse: bool) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(20, 4)).astype(np.float32), rng.integers(0, 3, 20)
    most = int(rng.integers(1, 30))
    learner = rl.SOLAR(max_pairs=most)
    learner.learn_one_query(csr_array(X) if is_sparse else X, y)
    all_pairs = int((y[:, None] > y[None, :]).sum())
    assert learner.model_.about["learned"]["pairs"] == min(most, all_pairs)


def test_a_turn_of_taste_is_seen_in_the_window_and_followed_by_forgetting() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(700, 20, 20)).astype(np.float32)
    truth = np.where(np.arange(700) < 600, 1.0, -1.0)[:, None] * X.mean(axis=2)
    data = rl.RankingData(
        X.reshape(-1, 20), (truth.ravel() > 0.3).astype(float), np.repeat(np.arange(700), 20)
    )
    before, after = data.take(slice(0, 600)), data.take(slice(600, 700))
    found = {}
    for forget in (1.0, 0.99):
        learner = rl.SOLAR(gamma=10.0, forget=forget, window=30, max_pairs=20)
        learner.learn_many(before)
        assert learner.progress_.window["map"] > 0.8
        learner.learn_many(after)
        found[forget] = learner.progress_
    assert found[1.0].window["map"] < 0.4 < 0.7 < found[1.0].total["map"]
    assert found[0.99].window["map"] > 0.75
