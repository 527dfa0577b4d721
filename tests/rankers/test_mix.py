"""mix: never below either ranker, never below a grid, and two models as one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankloom as rl

VALUES = st.integers(-5000, 5000).map(lambda n: n / 1024)
ROWS = st.lists(st.tuples(VALUES, VALUES, st.integers(0, 4), st.integers(0, 2)), min_size=2, max_size=30)


@pytest.fixture(scope="module")
def data():
    return rl.make_letor(60, seed=3).data


@pytest.fixture(scope="module")
def models(data):
    """Two that know the same, each with errors of its own."""
    weights = rl.SPD(steps=3000).fit(data).model_.weights
    draw = np.random.default_rng(0)
    return [rl.LinearModel(weights + draw.normal(size=len(weights)) * np.std(weights)) for _ in range(2)]


@pytest.mark.parametrize("measure", ["ndcg@10", "map", "err@5", "pairwise", "auc-loss"])
@given(rows=ROWS)
@settings(max_examples=25)
def test_nothing_on_a_grid_is_better(measure, rows):
    """A grid of odd fractions, which no tie of such scores falls on."""
    a, b, y, qid = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    try:
        found = rl.mix(a, b, y, qid=qid, measure=measure)
    except rl.InputError as error:
        assert "defined for no query" in str(error)  # noqa: PT017
        return
    sign = -1.0 if measure == "auc-loss" else 1.0
    grid = np.append((np.arange(97) + 0.61803398875) / 97.0, [0.0, 1.0])
    for alpha in grid:
        value = rl.evaluate(alpha * a + (1.0 - alpha) * b, y, qid=qid, measures=measure)[measure]
        assert sign * found.value >= sign * value - 1e-9
    mixed = rl.evaluate(found.scores(a, b), y, qid=qid, measures=measure)[measure]
    assert found.value == pytest.approx(mixed, abs=1e-12)
    assert sign * found.value >= max(sign * found.value_a, sign * found.value_b) - 1e-12


def test_two_models_become_one(data, models, tmp_path):
    found = rl.mix(*models, data, measure="ndcg@10")
    assert found.value > max(found.value_a, found.value_b)
    scores = [model.decision_function(data) for model in models]
    assert found.model.predict(data).tolist() == found.scores(*scores).tolist()
    assert rl.evaluate(found.model.predict(data), data, measures="ndcg@10")["ndcg@10"] == found.value
    found.model.save(tmp_path / "m.rank")
    assert rl.load(tmp_path / "m.rank") == found.model
    assert rl.mix(*scores, data).alpha == found.alpha


def test_scaling_changes_alpha_and_not_what_is_best(data, models):
    a, b = (model.decision_function(data) for model in models)
    plain, scaled = rl.mix(1000.0 * a, b, data), rl.mix(1000.0 * a, b, data, scale=True)
    assert scaled.value == pytest.approx(plain.value, abs=1e-9)
    assert plain.alpha < 0.1 < scaled.alpha
    assert scaled.scores(1000.0 * a, b).tolist() == pytest.approx(
        (scaled.alpha * 1000.0 * a / scaled.scales[0] + (1 - scaled.alpha) * b / scaled.scales[1]).tolist()
    )


def test_weights_of_queries_count(data, models):
    a, b = (model.decision_function(data) for model in models)
    weights = np.random.default_rng(0).random(data.n_queries)
    found = rl.mix(a, b, data, query_weights=weights)
    again = rl.evaluate(found.scores(a, b), data, measures="ndcg@10", query_weights=weights)["ndcg@10"]
    assert found.value == pytest.approx(again, abs=1e-12)


def test_rows_may_come_in_any_order(data, models):
    a, b = (model.decision_function(data) for model in models)
    qid = np.repeat(data.qids, data.lengths)
    order = np.argsort(np.random.default_rng(0).random(len(a)) + 1e-9)
    order = order[np.argsort(qid[order] == qid[0], kind="stable")]
    found = rl.mix(a[order], b[order], np.asarray(data.y)[order], qid=qid[order], measure="pairwise")
    assert found.value == pytest.approx(rl.mix(a, b, data, measure="pairwise").value, abs=1e-12)


def test_the_better_one_alone_may_be_best():
    y = [2.0, 1.0, 0.0]
    found = rl.mix([3.0, 2.0, 1.0], [1.0, 2.0, 3.0], y, measure="pairwise")
    assert (found.value, found.value_a, found.value_b) == (1.0, 1.0, 0.0)
    assert found.alpha == pytest.approx(0.75)
    assert found.interval == (0.5, 1.0)


def test_it_says_what_it_found(data, models):
    found = rl.mix(*models, data)
    text = str(found)
    assert f"{found.value:.4f}" in text
    assert "a alone has" in text
    assert found.to_dict()["alpha"] == found.alpha
    assert found.svg().startswith("<svg")
    assert f"{found.value:.4f}" in found.svg()
    assert len(found.values) == len(found.alphas) - 1
    assert found.values.max() == pytest.approx(found.value)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (([1.0, -np.inf], [1.0, 2.0], [1, 0]), "scores of a must be finite"),
        (([1.0, 2.0], [1.0, 2.0, 3.0], [1, 0]), "one entry per row"),
        ((rl.LinearModel([1.0]), [1.0, 2.0], [1, 0]), "models need features"),
        ((rl.SPD(), [1.0, 2.0], [1, 0]), "has learned nothing yet"),
    ],
)
def test_bad_input_is_named(arguments, complaint):
    with pytest.raises(rl.InputError, match=complaint):
        rl.mix(*arguments)


def test_scores_without_a_scale_are_refused():
    with pytest.raises(rl.InputError, match="scores of b are all alike"):
        rl.mix([1.0, 2.0], [1.0, 1.0], [1, 0], scale=True)
