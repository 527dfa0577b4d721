"""Every step of every online learner beside its twin; the problems they solve; what must never be lost."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, sparse

from rankloom.kernels import online
from rankloom.kernels.online import Feedback, Recipe, State, Work, combined, learn
from rankloom.kernels.spd import Rows
from rankloom.rankers.sketch import BATCH, Held, joined, new_sketch, settle, weights_of
from twins import online_twin

NOTHING = np.empty(0)
seeds, layouts = st.integers(0, 10**6), st.booleans()


def rows_of(X: Any, is_sparse: bool) -> Rows:
    if not is_sparse:
        flat = np.ascontiguousarray(X, dtype=np.float32).ravel()
        return Rows(flat, np.empty(0, np.uint32), np.zeros(1, np.uint64), X.shape[1])
    table = sparse.csr_array(X.astype(np.float32))
    return Rows(table.data, table.indices.astype(np.uint32), table.indptr.astype(np.uint64), 0)


def state_of(form: int, d: int, size: int = 3) -> State:
    scalars = np.zeros(online.SCALARS)
    scalars[[online.SCALE, online.A]] = 1.0
    state = State(np.zeros(d), NOTHING, np.empty((0, 0)), NOTHING, scalars, np.array([1], np.uint64))
    if form == online.FULL:
        return state._replace(spread=np.eye(d)[np.tril_indices(d)])
    if form == online.DIAGONAL:
        return state._replace(spread=np.ones(d))
    if form == online.LOW_RANK:
        return new_sketch(state, d, size)
    if form == online.COMMITTEE:
        return state._replace(table=np.zeros((size, d)), small=np.zeros(size))
    return state._replace(small=np.zeros(size)) if form == online.PRANK else state


def work_of(d: int, n_pairs: int) -> Work:
    return Work(
        np.zeros(2 * d), np.zeros(2 * d, np.uint32), np.zeros(max(d, 64)), np.zeros(max(d, 64)),
        np.zeros(max(d, 64)), np.zeros(n_pairs, np.int64),
    )  # fmt: skip


def run(
    rows: Rows, state: State, recipe: Recipe, queries: list[Any], n_rows: int, weights: Any = NOTHING,
    levels: Any = NOTHING,
) -> Any:  # fmt: skip
    """Learn pairs, some a query; every query is about all rows. The scores each was ranked by."""
    d, found, at = len(state.v), [], 0
    for pairs in queries:
        table = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
        own = weights[at : at + len(table)] if len(weights) else NOTHING
        told = Feedback(np.array([0, len(table)]), table, np.ascontiguousarray(own), levels)
        scores = np.empty(n_rows)
        learn(rows, np.array([0, n_rows]), told, recipe, state, work_of(d, len(table)), scores)
        found.append(scores)
        at += len(table)
    return found


def example(seed: int, d: int = 5, n_rows: int = 12, n_pairs: int = 20) -> Any:
    """Rows of a float32 table, some of them empty or equal, and pairs of them, cut into queries."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, d)) * (rng.random((n_rows, d)) < 0.6)
    X[3], X[5] = 0, X[6]
    pairs = np.array([rng.choice(n_rows, 2, replace=False) for _ in range(n_pairs)])
    pairs[2] = 5, 6  # x = 0: nothing to learn
    weights = rng.choice([0.0, 0.5, 1.0, 3.0], n_pairs) if seed % 2 else NOTHING
    return X.astype(np.float32).astype(float), pairs, np.split(pairs, [1, 4, n_pairs // 2]), weights


def unpacked(packed: Any, d: int) -> Any:
    S = np.zeros((d, d))
    S[np.tril_indices(d)] = packed
    return S + np.tril(S, -1).T


def covariance(state: State, form: int) -> Any:
    """S, whole or its diagonal."""
    d, own = len(state.v), state.scalars[online.A] * state.spread
    if form == online.DIAGONAL:
        return own + state.scalars[online.B]
    return unpacked(own, d) + state.scalars[online.B] * np.eye(d)


@pytest.mark.jit_free
@pytest.mark.bounds
@settings(max_examples=25)
@given(seeds, layouts, st.sampled_from([1e-3, 0.5, 20.0]))
def test_solar_1_is_equations_5_and_6(seed: int, is_sparse: bool, C: float) -> None:
    X, pairs, queries, weights = example(seed)
    state, w, at = state_of(online.FIRST, 5), np.zeros(5), 0
    shown = run(rows_of(X, is_sparse), state, Recipe(online.FIRST, C, 1.0, 1.0), queries, len(X), weights)
    for query, scores in zip(queries, shown, strict=True):
        np.testing.assert_allclose(scores, X @ w, atol=1e-9)
        for a, b in query:
            w = online_twin.first_order(w, X[a] - X[b], C, weights[at] if len(weights) else 1.0)
            at += 1
    np.testing.assert_allclose(state.v, w, atol=1e-9)
    assert state.scalars[online.PAIRS_SEEN] == len(pairs)


SECOND = {online.FULL: online_twin.second_order, online.DIAGONAL: online_twin.diagonal}


@pytest.mark.jit_free
@pytest.mark.bounds
@settings(max_examples=25)
@given(
    seeds, layouts, st.sampled_from(list(SECOND)), st.sampled_from([1e-2, 1.0, 50.0]),
    st.sampled_from([1.0, 0.9, 0.02]), st.integers(1, 9),
)  # fmt: skip
def test_solar_2_is_equations_8_and_9(
    seed: int, is_sparse: bool, form: int, gamma: float, forget: float, d: int
) -> None:
    """In both forms, with forgetting, for any number of features: the triangle is read in fours."""
    X, _, queries, weights = example(seed, d)
    state, at = state_of(form, d), 0
    w, S = np.zeros(d), np.eye(d) if form == online.FULL else np.ones(d)
    shown = run(rows_of(X, is_sparse), state, Recipe(form, 1.0, gamma, forget), queries, len(X), weights)
    for query, scores in zip(queries, shown, strict=True):
        np.testing.assert_allclose(scores, X @ w, atol=1e-8)
        w, S = online_twin.forgotten(w, S, forget)
        for a, b in query:
            w, S = SECOND[form](w, S, X[a] - X[b], gamma, weights[at] if len(weights) else 1.0)
            at += 1
    np.testing.assert_allclose(state.v * state.scalars[online.SCALE], w, atol=1e-8)
    np.testing.assert_allclose(covariance(state, form), S, atol=1e-9)


@pytest.mark.jit_free
@pytest.mark.bounds
@settings(max_examples=15)
@given(seeds, layouts, st.sampled_from([0.1, 5.0]))
def test_low_rank_steps_and_what_joins_the_covariance(seed: int, is_sparse: bool, gamma: float) -> None:
    rank, d = 3, 9
    X, _, queries, weights = example(seed, d, n_pairs=40)
    state, w, at = state_of(online.LOW_RANK, d, rank), np.zeros(d), 0
    p, U, held = np.ones(d), np.zeros((d, rank)), Held.nothing()
    for query in queries:
        own = weights[at : at + len(query)] if len(weights) else np.ones(len(query))
        at += len(query)
        run(rows_of(X, is_sparse), state, Recipe(online.LOW_RANK, 1.0, gamma, 1.0), [query], len(X), own)
        S, learned = np.linalg.inv(np.diag(p) + U @ U.T), []
        for (a, b), weight in zip(query, own, strict=True):
            x = X[a] - X[b]
            if online_twin.loss(w, x) > 0 and x.any() and weight > 0:
                learned.append(np.sqrt(weight) * x)
            w = online_twin.second_order(w, S, x, gamma, weight)[0]
        np.testing.assert_allclose(weights_of(state), w, atol=1e-8)
        if not learned:
            continue
        waiting = sparse.csr_array(np.tile(np.array(learned), (BATCH // len(learned) + 1, 1))[:BATCH])
        state, held = settle(state, joined(held, waiting), gamma)
        assert len(held.offsets) == 1
        p, U = online_twin.sketched(p, U, waiting.toarray(), gamma)
        np.testing.assert_allclose(weights_of(state), w, atol=1e-8)
        np.testing.assert_allclose(1.0 / state.spread, p, rtol=1e-6)
        found = state.table / state.spread[:, None]
        np.testing.assert_allclose(found @ found.T, U @ U.T, rtol=1e-6, atol=1e-6 * np.abs(U).max() ** 2)


@pytest.mark.jit_free
@pytest.mark.bounds
@settings(max_examples=25)
@given(seeds, layouts)
def test_the_committee(seed: int, is_sparse: bool) -> None:
    X, _, queries, _ = example(seed, n_pairs=60)
    state, twin = state_of(online.COMMITTEE, 5), online_twin.Committee(5, 3)
    shown = run(rows_of(X, is_sparse), state, Recipe(online.COMMITTEE, 1.0, 1.0, 1.0), queries, len(X))
    for query, scores in zip(queries, shown, strict=True):
        np.testing.assert_allclose(scores, X @ twin.weights(), atol=1e-9)
        for a, b in query:
            twin.learn(X[a] - X[b])
    np.testing.assert_allclose(combined(state), twin.weights(), atol=1e-9)


@pytest.mark.jit_free
@pytest.mark.bounds
@settings(max_examples=25)
@given(seeds, layouts)
def test_prank_on_rows_and_on_pairs(seed: int, is_sparse: bool) -> None:
    X, _, queries, _ = example(seed)
    levels = np.random.default_rng(seed).integers(0, 4, len(X)).astype(float)
    state, w, b = state_of(online.PRANK, 5), np.zeros(5), np.zeros(3)
    rows = np.arange(len(X))
    how = Recipe(online.PRANK, 1.0, 1.0, 1.0)
    run(rows_of(X, is_sparse), state, how, [np.stack((rows, rows), axis=1)] * 3, len(X), levels=levels)
    for row in [*rows] * 3:
        w, b = online_twin.prank(w, b, X[row], int(levels[row]))
    np.testing.assert_allclose(state.v, w, atol=1e-9)
    np.testing.assert_allclose(state.small, b, atol=1e-9)
    assert (np.diff(state.small) >= 0).all()
    state, w = state_of(online.PERCEPTRON, 5), np.zeros(5)
    run(rows_of(X, is_sparse), state, Recipe(online.PERCEPTRON, 1.0, 1.0, 1.0), queries, len(X))
    for a, b in np.concatenate(queries):
        w = w + (X[a] - X[b]) * (w @ (X[a] - X[b]) <= 0)
    np.testing.assert_allclose(state.v, w, atol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_the_closed_form_solves_problem_4(seed: int) -> None:
    rng = np.random.default_rng(seed)
    w, x, C = rng.normal(size=4), rng.normal(size=4), 10.0 ** rng.uniform(-2, 1)

    def problem(new: Any) -> float:
        return 0.5 * float((new - w) @ (new - w)) + C * online_twin.loss(new, x) ** 2

    solved = optimize.minimize(problem, w + 0.1 * x, method="Nelder-Mead", options=EXACT).x
    np.testing.assert_allclose(online_twin.first_order(w, x, C), solved, atol=1e-4)


EXACT = {"xatol": 1e-9, "fatol": 1e-14, "maxiter": 20_000, "maxfev": 20_000}


@pytest.mark.parametrize("seed", range(5))
def test_the_closed_form_solves_problem_7(seed: int) -> None:
    """The divergence of two normal distributions, the loss and the confidence, over w and the root of S."""
    rng = np.random.default_rng(seed)
    root, w, x, gamma = (
        rng.normal(size=(3, 3)),
        rng.normal(size=3),
        rng.normal(size=3),
        10.0 ** rng.uniform(-1, 1),
    )
    S = root @ root.T + 0.1 * np.eye(3)
    inverse, (low, high) = np.linalg.inv(S), np.tril_indices(3)

    def problem(point: Any) -> float:
        new, L = point[:3], np.zeros((3, 3))
        L[low, high] = point[3:]
        now = L @ L.T
        away = 0.5 * (
            np.trace(inverse @ now) + (new - w) @ inverse @ (new - w) - 3
            - np.linalg.slogdet(now)[1] + np.linalg.slogdet(S)[1]
        )  # fmt: skip
        return float(away + (online_twin.loss(new, x) ** 2 + x @ now @ x) / (2 * gamma))

    begin = np.concatenate((w + 0.01 * x, np.linalg.cholesky(S)[low, high]))
    solved = optimize.minimize(problem, begin, method="BFGS", options={"gtol": 1e-9}).x
    L = np.zeros((3, 3))
    L[low, high] = solved[3:]
    wanted_w, wanted_S = online_twin.second_order(w, S, x, gamma)
    if online_twin.loss(w, x) > 0:
        np.testing.assert_allclose(wanted_w, solved[:3], atol=1e-4)
        np.testing.assert_allclose(wanted_S, L @ L.T, atol=1e-4)


@settings(max_examples=60)
@given(seeds, st.sampled_from([1e-4, 1e-2, 1.0, 100.0]))
def test_theorem_1(seed: int, C: float) -> None:
    """The losses on the way, against those of any u, also of the best one afterwards."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 4)) * rng.choice([0.1, 1.0, 5.0])
    pairs = rng.integers(0, 30, (80, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    X = X.astype(np.float32).astype(float)
    state, losses = state_of(online.FIRST, 4), 0.0
    rows, how = rows_of(X, False), Recipe(online.FIRST, C, 1.0, 1.0)
    for a, b in pairs:
        losses += online_twin.loss(state.v, X[a] - X[b]) ** 2
        run(rows, state, how, [[(a, b)]], len(X))
    x = X[pairs[:, 0]] - X[pairs[:, 1]]
    R2 = (x * x).sum(axis=1).max()

    def bound(u: Any) -> float:
        missed = (np.maximum(0.0, 1.0 - x @ u) ** 2).sum()
        return float((R2 + 1.0 / (2.0 * C)) * (u @ u + 2.0 * C * missed))

    best = optimize.minimize(bound, np.zeros(4), method="BFGS").x
    for u in (best, state.v, np.zeros(4), rng.normal(size=4)):
        assert losses <= bound(u) * (1 + 1e-9)


@pytest.mark.parametrize("form", [online.FULL, online.DIAGONAL])
@pytest.mark.parametrize("forget", [1.0, 0.999])
def test_nothing_positive_is_lost_in_a_long_run(form: int, forget: float) -> None:
    """100,000 updates with a small gamma over features that nearly repeat each other."""
    rng = np.random.default_rng(0)
    base = rng.normal(size=(200, 3))
    X = np.hstack((base, base + 1e-3 * rng.normal(size=(200, 3)), np.zeros((200, 1)))).astype(np.float32)
    state = state_of(form, 7)
    for _ in range(100):
        pairs = rng.integers(0, 200, (1000, 2))
        pairs = pairs[pairs[:, 0] != pairs[:, 1]]
        run(rows_of(X, False), state, Recipe(form, 1.0, 0.1, forget), [pairs], 200)
    assert state.scalars[online.UPDATES] > 50_000
    S = covariance(state, form)
    least = np.linalg.eigvalsh(S).min() if form == online.FULL else S.min()
    assert 0.0 < least < 0.1
    assert np.isfinite(state.v).all()
    assert (S[-1, -1] if form == online.FULL else S[-1]) == pytest.approx(1.0)  # nobody ever saw this one


@pytest.mark.parametrize("form", range(7))
@pytest.mark.parametrize("is_sparse", [False, True])
def test_in_one_call_or_in_many(form: int, is_sparse: bool) -> None:
    X, _, queries, weights = example(3, n_pairs=40)
    rows, how = rows_of(X, is_sparse), Recipe(form, 0.1, 2.0, 0.97 if form < online.LOW_RANK else 1.0)
    levels = np.arange(len(X)) % 4.0
    apart, together = state_of(form, 5), state_of(form, 5)
    scores = run(rows, apart, how, queries, len(X), weights, levels)
    stacked = np.concatenate([query + i * len(X) for i, query in enumerate(queries)])
    starts = np.cumsum([0, *(len(query) for query in queries)])
    offsets = np.arange(len(queries) + 1) * len(X)
    whole = np.empty(offsets[-1])
    told = Feedback(starts, stacked, weights, np.tile(levels, len(queries)))
    learn(
        rows_of(np.tile(X, (len(queries), 1)), is_sparse), offsets, told, how, together, work_of(5, 99), whole
    )
    assert whole.tobytes() == np.concatenate(scores).tobytes()
    assert all(a.tobytes() == b.tobytes() for a, b in zip(apart, together, strict=True))
