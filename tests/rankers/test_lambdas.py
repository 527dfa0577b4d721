"""Lambdas, beside every pair swapped and measured; beside numerical gradients; beside LightGBM's own."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import lightgbm
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankloom import InputError, make_letor
from rankloom.rankers.lambdas import Lambdas
from twins import lambdas_twin
from twins.lightgbm_twin import LightGBMLambdas

# Each Z, and the twin's name and convention of it.
MEASURES: dict[str, tuple[str, dict[str, Any]] | None] = {
    "ranknet": None,
    "ndcg": ("ndcg", {}),
    "ndcg@3": ("ndcg", {"k": 3}),
    "ndcg@5:gain=linear": ("ndcg", {"k": 5, "gain": "linear"}),
    "ndcg@5:gain=0,1,3,5,9": ("ndcg", {"k": 5, "gain": (0, 1, 3, 5, 9)}),
    "ndcg@4:discount=letor": ("ndcg", {"k": 4, "discount": "letor"}),
    "dcg@6": ("dcg", {"k": 6}),
    "map": ("map", {}),
    "map@4": ("map", {"k": 4}),
    "map@4:denominator=reachable": ("map", {"k": 4, "denominator": "reachable"}),
    "map:threshold=2": ("map", {"relevant": lambda label: label >= 2}),
    "mrr": ("mrr", {}),
    "mrr@2": ("mrr", {"k": 2}),
    "err": ("err", {}),
    "err@3": ("err", {"k": 3}),
    "err:gain=linear": ("err", {"gain": "linear"}),
    "p@3": ("p", {"k": 3}),
    "p@30:short=pad": ("p", {"k": 30, "short": "pad"}),
    "r@3": ("r", {"k": 3}),
    "auc": ("auc", {}),
}
SIZES = st.lists(st.integers(0, 14), min_size=1, max_size=4)


def example(sizes: list[int], seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labels, offsets and scores with ties."""
    rng = np.random.default_rng(seed)
    offsets = np.concatenate(([0], np.cumsum(sizes)))
    n = int(offsets[-1])
    return rng.integers(0, 5, n).astype(float), offsets, rng.normal(size=n).round(1)


def expected(name: str, labels: Any, offsets: Any, scores: Any, **how: Any) -> tuple[np.ndarray, np.ndarray]:
    found = MEASURES[name]
    measure = None if found is None else lambdas_twin.measured(found[0], **found[1])
    weights, queries = how.pop("weights", None), how.pop("query_weights", None)
    pull, bend = np.zeros(len(labels)), np.zeros(len(labels))
    for query, (start, end) in enumerate(pairwise(offsets)):
        own = None if weights is None else weights[start:end]
        parts = lambdas_twin.lambdas(labels[start:end], scores[start:end], measure, weights=own, **how)
        scale = 1.0 if queries is None else queries[query]
        pull[start:end], bend[start:end] = scale * parts[0], scale * parts[1]
    return pull, bend


def assert_close(found: Any, wanted: Any, rtol: float = 3e-6) -> None:
    for got, right in zip(found, wanted, strict=True):
        np.testing.assert_allclose(got, right, rtol=rtol, atol=rtol * max(1e-9, np.abs(right).max(initial=0)))


@pytest.mark.jit_free
@pytest.mark.bounds
@pytest.mark.parametrize("name", MEASURES)
@settings(max_examples=15, deadline=None)
@given(SIZES, st.integers(0, 999), st.sampled_from([None, 1, 4]), st.booleans())
def test_every_z_is_every_pair_swapped_and_measured(
    name: str, sizes: list[int], seed: int, truncation: int | None, weighted: bool
) -> None:
    labels, offsets, scores = example(sizes, seed)
    rng = np.random.default_rng(seed)
    how: dict[str, Any] = {"sigma": 1.5, "truncation": truncation}
    if weighted:
        how |= {"weights": rng.random(len(labels)).round(1), "query_weights": rng.random(len(sizes)).round(1)}
    objective = Lambdas(labels, offsets, name, **how)
    assert_close(objective.gradients(scores), expected(name, labels, offsets, scores, **how))
    moved = (scores + 0.3 * rng.normal(size=len(scores))).round(1)  # from the last order to the next
    assert_close(objective.gradients(moved), expected(name, labels, offsets, moved, **how))


@pytest.mark.parametrize("name", ["ranknet", "ndcg@10", "ndcg", "map", "mrr", "err", "p@10"])
def test_queries_of_all_lengths(name: str) -> None:
    labels, offsets, scores = example([1, 2, 33, 64, 67], 3)
    MEASURES.setdefault("ndcg@10", ("ndcg", {"k": 10}))
    MEASURES.setdefault("p@10", ("p", {"k": 10}))
    assert_close(Lambdas(labels, offsets, name).gradients(scores), expected(name, labels, offsets, scores))


def test_err_of_a_swap_far_below_the_top() -> None:
    """Labels in ranked order 2, 0, 1, 3, so R = 3/16, 0, 1/16, 7/16. Swapping places 2 and 4 changes ERR by
    13/16 times what a reader finds from there on: 7/16 / 2 + 9/16 1/16 / 3 after, 1/16 / 3 + 15/16 7/16 / 4
    before. With one relevant row, at the end, a swap with place p changes it by 7/16 (1/p - 1/4).
    """
    err = lambdas_twin.measured("err")
    change = err([2, 3, 1, 0]) - err([2, 0, 1, 3])
    by_hand = 13 / 16 * (7 / 16 / 2 + 9 / 16 / 16 / 3) - 13 / 16 * (1 / 16 / 3 + 15 / 16 * 7 / 16 / 4)
    assert change == pytest.approx(by_hand)
    labels, scores = np.array([0.0, 0, 0, 3]), np.array([0.4, 0.3, 0.2, 0.1])
    found = Lambdas(labels, [0, 4], "err").gradients(scores).lambdas
    changes = [7 / 16 * (1 / place - 1 / 4) for place in (1, 2, 3)]
    rho = [1 / (1 + np.exp(0.1 - score)) for score in (0.4, 0.3, 0.2)]
    assert found[3] == pytest.approx(-np.dot(changes, rho), rel=1e-6)


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 9), st.integers(0, 999), st.sampled_from(["ranknet", "ndcg", "err", "map"]))
def test_lambdas_are_the_gradient_of_the_cost_at_a_fixed_order(n: int, seed: int, name: str) -> None:
    """For RankNet at any order: its cost has no order."""
    labels, offsets, scores = example([n], seed)
    scores = scores + 0.01 * np.arange(n)  # no ties, so that the order stays
    found = MEASURES[name]
    measure = None if found is None else lambdas_twin.measured(found[0], **found[1])
    order = np.argsort(-scores, kind="stable").tolist()
    gradients, step = Lambdas(labels, offsets, name, sigma=0.7).gradients(scores), 1e-4
    for row in range(n):
        up, down = scores.copy(), scores.copy()
        up[row] += step
        down[row] -= step
        costs = [lambdas_twin.cost(labels, s, measure, order, 0.7) for s in (up, scores, down)]
        assert gradients.lambdas[row] == pytest.approx((costs[0] - costs[2]) / (2 * step), abs=1e-5)
        curve = (costs[0] - 2 * costs[1] + costs[2]) / step**2
        assert gradients.weights[row] == pytest.approx(curve, abs=1e-5)


@settings(max_examples=20, deadline=None)
@given(st.integers(2, 7), st.integers(0, 999), st.sampled_from(["ranknet", "ndcg", "mrr", "err"]))
def test_the_jacobian_is_symmetric_at_a_fixed_order(n: int, seed: int, name: str) -> None:
    """Section 4.3: then the lambdas are a gradient (Poincare). Steps too small to change the order."""
    labels, offsets, _ = example([n], seed)
    scores = np.random.default_rng(seed).permutation(n) * 0.5
    objective, step = Lambdas(labels, offsets, name), 0.05
    jacobian = np.zeros((n, n))
    for row in range(n):
        up, down = scores.copy(), scores.copy()
        up[row] += step
        down[row] -= step
        change = objective.gradients(up).lambdas.astype(float) - objective.gradients(down).lambdas
        jacobian[:, row] = change / (2 * step)
    np.testing.assert_allclose(jacobian, jacobian.T, atol=2e-5)
    np.testing.assert_allclose(jacobian.sum(axis=0), 0.0, atol=2e-5)


def test_a_function_of_ones_own_is_swapped_and_measured() -> None:
    labels, offsets, scores = example([9, 0, 1, 12], 5)

    def first_two(ranked: np.ndarray) -> float:
        return float(sum(ranked[:2]))

    found = Lambdas(labels, offsets, first_two, sigma=2.0, truncation=5).gradients(scores)
    pulls = [
        lambdas_twin.lambdas(labels[a:b], scores[a:b], first_two, sigma=2.0, truncation=5)
        for a, b in pairwise(offsets)
    ]
    assert_close(found, [np.concatenate(parts) for parts in zip(*pulls, strict=True)])
    with pytest.raises(InputError, match="must return a number"):
        Lambdas(labels, offsets, lambda ranked: None).gradients(scores)
    with pytest.raises(InputError, match="a finite number, got nan"):
        Lambdas(labels, offsets, lambda ranked: float("nan")).gradients(scores)


def test_lightgbm_grows_the_same_trees_from_its_own_lambdas_and_from_ours() -> None:
    """The twin, with LightGBM's table of sigmoids, gives its scores to the last bit. Ours has no table, and
    differs by as much as the table differs from the sigmoid: the twin without the table says so.
    """
    data = make_letor(60, seed=3).data
    X, y, offsets = np.asarray(data.X), data.y, data.offsets
    shared = {"num_leaves": 8, "verbose": -1, "num_threads": 1, "seed": 0, "min_data_in_leaf": 10}
    own = {"objective": "lambdarank", "lambdarank_truncation_level": 10}

    def grown(gradients: Any = None) -> tuple[np.ndarray, str]:
        params = {**shared, **(own if gradients is None else {"objective": "custom"})}
        booster = lightgbm.Booster(params, lightgbm.Dataset(X, y, group=data.lengths, params=params))
        for _ in range(6):
            booster.update() if gradients is None else booster.update(fobj=gradients)
        splits = [line for line in booster.model_to_string().splitlines() if line.startswith("split_feature")]
        return booster.predict(X, raw_score=True), "\n".join(splits)

    native, native_splits = grown()
    exact, exact_splits = grown(LightGBMLambdas(y, offsets, 10))
    assert np.array_equal(native, exact)
    assert native_splits == exact_splits
    objective = Lambdas(y, offsets, "ndcg", truncation=10, normalisation="lightgbm")
    ours, our_splits = grown(lambda scores, _: objective.gradients(scores))
    assert our_splits == native_splits
    without_table, _ = grown(LightGBMLambdas(y, offsets, 10, use_table=False))
    gap = np.abs(without_table - native).max()
    assert 0.0 < gap < 2e-5
    assert np.abs(ours - without_table).max() < 0.2 * gap


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_the_same_bits_for_any_number_of_threads_and_any_history(threads: int) -> None:
    rng = np.random.default_rng(0)
    lengths = rng.integers(1, 200, 1500)
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    labels, scores = rng.integers(0, 3, offsets[-1]), rng.normal(size=offsets[-1]).round(2)
    once = Lambdas(labels, offsets, "ndcg@10", threads=1).gradients(scores)
    objective = Lambdas(labels, offsets, "ndcg@10", threads=threads)
    objective.gradients(rng.normal(size=len(scores)))
    again = objective.gradients(scores)
    assert once.lambdas.tobytes() == again.lambdas.tobytes()
    assert once.weights.tobytes() == again.weights.tobytes()


def test_great_scores_and_small_gaps_keep_their_digits() -> None:
    labels, scores = np.array([0.0, 1, 2]), np.array([1e6, 1e6 + 0.5, 1e6 - 0.25])
    found = Lambdas(labels, [0, 3], "ndcg").gradients(scores)
    same = Lambdas(labels, [0, 3], "ndcg").gradients(scores - 1e6)
    assert_close(found, same)
    extreme = Lambdas(labels, [0, 3], "ndcg").gradients([1e300, -1e300, 0.0])
    assert np.isfinite([extreme.lambdas, extreme.weights]).all()


def test_a_report_counts_pairs_and_shows_who_pulls() -> None:
    """Query 0 has labels 0 1 1 2: 5 pairs. In the order 3 2 1 0, two places reach all but the pair (1, 0)."""
    labels, offsets = [0, 1, 1, 2, 1, 1, 3], [0, 4, 6, 7]
    objective = Lambdas(labels, offsets, "ndcg@2")
    scores = np.array([0.0, 1, 2, 3, 0, 0, 0])
    report, found = objective.report(scores), objective.gradients(scores)
    assert report.rows.tolist() == [4, 2, 1]
    assert report.pairs.tolist() == [5, 0, 0]
    assert report.counted.tolist() == [4, 0, 0]
    assert report.silent.tolist() == [1, 2]
    assert report.share_of_loudest == 1.0
    assert report.norm[0] == pytest.approx(np.linalg.norm(found.lambdas.astype(float)))
    assert report.largest[0] == np.abs(found.lambdas).max()
    assert report.weight[0] == pytest.approx(found.weights.sum(dtype=float))
    assert "5 pairs with different labels, 4 counted\n2 queries say nothing" in str(report)
    assert Lambdas(labels, offsets, "ranknet").report(scores).counted.tolist() == [5, 0, 0]
    assert Lambdas(labels, offsets, "ranknet", truncation=1).report(scores).counted.tolist() == [3, 0, 0]


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"measure": "mse"}, "lambdas can be made from ranknet, ndcg"),
    ({"measure": "map:denominator=found"}, "lambdas can be made from ranknet, ndcg"),
    ({"measure": "err:max_grade=1"}, "a label must not be above max_grade 1 for err, got 2"),
    ({"sigma": 0}, "sigma must be a number > 0, got 0"),
    ({"truncation": 0}, "truncation must be a whole number from 1, got 0"),
    ({"normalisation": "xgboost"}, "normalisation must be None or lightgbm"),
    ({"measure": "map", "normalisation": "lightgbm"}, 'normalisation="lightgbm" is for ndcg, not for map'),
    ({"measure": "ndcg@5", "normalisation": "lightgbm"}, 'normalisation="lightgbm" cuts ndcg by its trunc'),
    ({"weights": [1.0]}, "weights must be 3 finite numbers from 0"),
    ({"query_weights": [-1.0]}, "query_weights must be 1 finite numbers from 0"),
    ({"labels": [0, np.nan, 1]}, "a label must be a finite number"),
]


@pytest.mark.parametrize(("options", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_what_means_nothing_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        Lambdas(options.pop("labels", [0, 2, 1]), [0, 3], **options)
    assert str(caught.value).startswith(message)


def test_scores_that_are_none_are_refused() -> None:
    for scores, message in (([1.0], "one number per row"), ([1.0, np.nan, 0.0], "a finite number")):
        with pytest.raises(InputError, match=message):
            Lambdas([0, 1, 2], [0, 3]).gradients(scores)
