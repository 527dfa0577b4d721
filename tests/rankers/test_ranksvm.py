from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.svm import LinearSVC

import rankloom as rl
from rankloom.rankers.objective import pair_objective
from twins import ranksvm_twin as twin


@pytest.fixture(scope="module")
def data():
    return rl.make_letor(40, seed=2).data


def with_weights(data):
    draw = np.random.default_rng(0)
    weights, queries = draw.integers(0, 3, data.n_rows) / 2.0, draw.random(data.n_queries)
    qid = np.repeat(data.qids, data.lengths)
    return rl.RankingData(data.X, data.y, qid, weights=weights, query_weights=queries)


def value(data, w, C, power, adjacent=False):
    D, c = twin.differences(data, adjacent)
    return 0.5 * w @ w + C * c @ np.maximum(0.0, 1.0 - D @ w) ** power


def linear_svc(data, C, loss, dual, adjacent=False):
    """The same optimum by LIBLINEAR on the pairs written out, half of them turned round."""
    D, c = twin.differences(data, adjacent)
    D, c = D[c > 0], c[c > 0]
    signs = np.where(np.arange(len(D)) % 2, 1.0, -1.0)
    svc = LinearSVC(C=C, loss=loss, dual=dual, tol=1e-10, fit_intercept=False, max_iter=1_000_000)
    return svc.fit(D * signs[:, None], signs, sample_weight=c).coef_[0]


@pytest.mark.parametrize("dual", [True, False])
@pytest.mark.parametrize("C", [1e-3, 0.5])
@pytest.mark.parametrize("pairs", ["all", "adjacent"])
def test_the_optimum_is_liblinears_on_pairs(data, dual, C, pairs):
    weighted = with_weights(data)
    wanted = linear_svc(weighted, C, "squared_hinge", dual, pairs == "adjacent")
    ranker = rl.RankSVM(C, pairs=pairs, tol=1e-10).fit(weighted)
    np.testing.assert_allclose(ranker.model_.weights, wanted, rtol=1e-6, atol=1e-6 * abs(wanted).max())
    assert ranker.result_.converged
    assert ranker.result_.residual <= 1e-10


@pytest.mark.parametrize("C", [1e-3, 0.05])
def test_hinges_reach_liblinears_optimum(data, C):
    found = rl.RankSVM(C, loss="l1", tol=1e-5).fit(data)
    least = value(data, linear_svc(data, C, "hinge", True), C, 1)
    assert value(data, found.model_.weights, C, 1) == pytest.approx(least, rel=1e-5)
    assert found.result_.objective == pytest.approx(value(data, found.model_.weights, C, 1))
    assert found.result_.objective * (1.0 - found.result_.residual) <= least * (1.0 + 1e-9)


def test_one_pair_has_a_pencils_optimum():
    """minimise w^2/2 + C (1 - 2 w)^2: w = 4 C / (1 + 8 C)."""
    found = rl.RankSVM(0.5, tol=1e-12).fit([[3.0], [1.0]], [1, 0])
    assert found.model_.weights.tolist() == pytest.approx([0.4])
    assert found.result_.objective == pytest.approx(0.08 + 0.5 * 0.04)


def test_the_residual_is_the_gradients(data):
    """The KKT condition: w is what the active pairs pull it to."""
    ranker = rl.RankSVM(0.1).fit(data)
    D, c = twin.differences(data)
    w = ranker.model_.weights
    gradient = w - 0.2 * D.T @ (c * np.maximum(0.0, 1.0 - D @ w))
    at_zero = 0.2 * D.T @ c
    assert ranker.result_.residual == pytest.approx(np.linalg.norm(gradient) / np.linalg.norm(at_zero))
    assert ranker.result_.residual <= 1e-3
    assert ranker.model_.about["solver"]["residual"] == ranker.result_.residual


def test_the_objective_is_the_sum_over_all_pairs(data):
    weighted = with_weights(data)
    model = rl.LinearModel(np.random.default_rng(0).normal(size=data.n_features), bias=3.0)
    for loss, power in (("l2", 2), ("l1", 1)):
        for pairs in ("all", "adjacent"):
            found = rl.objective(model, weighted, C=0.3, loss=loss, pairs=pairs)
            assert found == pytest.approx(value(weighted, model.weights, 0.3, power, pairs == "adjacent"))
    plain = rl.RankSVM(0.3).fit(data)
    assert rl.objective(plain.model_, data, C=0.3) == pytest.approx(plain.result_.objective)


def test_normalised_costs_are_those_of_means(data):
    """With "pairs", C is shared by all pairs; lam of SPD's objective is 1 / C then."""
    n_pairs = len(twin.pairs_of(data)[0])
    plain = rl.RankSVM(2.0 / n_pairs, tol=1e-8).fit(data)
    shared = rl.RankSVM(2.0, normalize="pairs", tol=1e-8).fit(data)
    np.testing.assert_allclose(shared.model_.weights, plain.model_.weights, rtol=1e-5, atol=1e-8)
    mean_hinge = pair_objective(data, plain.model_, "hinge", 0.5, False)
    found = rl.objective(plain.model_, data, C=2.0, loss="l1", normalize="pairs")
    assert found == pytest.approx(2.0 * mean_hinge)


@pytest.mark.parametrize("loss", ["hinge", "squared", "logistic"])
@pytest.mark.parametrize("balanced", [False, True])
def test_spds_objective_is_the_mean_over_all_pairs(data, loss, balanced):
    weighted = with_weights(data)
    model = rl.LinearModel(np.random.default_rng(1).normal(size=data.n_features))
    better, worse, share = twin.pairs_of(weighted)
    if balanced:
        query = np.repeat(np.arange(data.n_queries), data.lengths)
        for place, (i, j) in enumerate(zip(better, worse, strict=True)):
            mine = data.y[query == query[i]]
            kinds = len(set(mine.tolist()))
            share[place] /= (mine == data.y[i]).sum() * (mine == data.y[j]).sum() * kinds * (kinds - 1) / 2
    p = model.decision_function(weighted)[better] - model.decision_function(weighted)[worse]
    losses = {
        "hinge": np.maximum(0.0, 1.0 - p),
        "squared": 0.5 * (1.0 - p) ** 2,
        "logistic": np.logaddexp(0.0, -p),
    }
    wanted = 0.05 * model.weights @ model.weights + share @ losses[loss] / share.sum()
    assert pair_objective(weighted, model, loss, 0.1, balanced) == pytest.approx(wanted)


def test_warm_starts_begin_where_the_last_fit_ended(data):
    ranker = rl.RankSVM(0.1, warm_start=True).fit(data)
    weights = ranker.model_.weights
    assert ranker.fit(data).result_.iterations == 0
    assert ranker.model_.weights.tolist() == weights.tolist()
    cold = rl.RankSVM(0.2, tol=1e-9).fit(data)
    ranker.set_params(C=0.2, tol=1e-9).fit(data)
    np.testing.assert_allclose(ranker.model_.weights, cold.model_.weights, rtol=1e-5, atol=1e-7)
    with pytest.raises(rl.InputError, match="warm_start goes on with 46 features, and these data have 2"):
        ranker.fit([[0.0, 1.0], [1.0, 2.0]], [0, 1])


def test_the_path_is_many_fits(data):
    ranker = rl.RankSVM(tol=1e-8)
    path = ranker.path(data, Cs=[1.0, 1e-3, 0.03], valid=data, measures=["ndcg@10", "pairwise"])
    assert path.Cs == [1e-3, 0.03, 1.0]
    for point in path:
        alone = rl.RankSVM(point.C, tol=1e-8).fit(data)
        np.testing.assert_allclose(point.model.weights, alone.model_.weights, rtol=1e-4, atol=1e-6)
        assert point.values["ndcg@10"] == pytest.approx(alone.score(data))
    best = path.best("pairwise")
    assert best.values["pairwise"] == max(path.curve("pairwise"))
    kept = path.best()
    assert ranker.model_.weights.tolist() == kept.model.weights.tolist()
    assert ranker.model_.about["parameters"]["C"] == kept.C
    assert path[0].result.converged
    assert repr(path) == "RankSVMPath(3 values of C, ndcg@10, pairwise)"
    assert rl.RankSVM().path(data, Cs=[0.1]).Cs == [0.1]
    with pytest.raises(rl.InputError, match="measured nothing"):
        rl.RankSVM().path(data, Cs=[0.1]).best()
    with pytest.raises(rl.InputError, match="measured ndcg@10, pairwise, not map"):
        path.curve("map")


def test_the_default_path_is_the_papers():
    from rankloom.rankers.ranksvm_path import CS

    assert (len(CS), CS[0], CS[-1]) == (26, 2.0**-15, 2.0**10)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"C": 0}, "C must be a number > 0, got 0"),
        ({"C": -1.0}, "C must be a number > 0, got -1"),
        ({"C": np.nan}, "C must be a number > 0, got nan"),
        ({"loss": "hinge"}, "loss must be one of l2, l1, got 'hinge'"),
        ({"pairs": "some"}, "pairs must be one of all, adjacent"),
        ({"normalize": "rows"}, "normalize must be one of pairs, query"),
        ({"tol": 0.0}, "tol must be a number > 0"),
        ({"max_iter": 0}, "max_iter must be a whole number from 1"),
        ({"n_jobs": 0}, "n_jobs must be a whole number from 1"),
        ({"warm_start": 2}, "warm_start must be True or False"),
    ],
)
def test_bad_parameters_are_named(data, parameters, message):
    with pytest.raises(rl.InputError, match=message):
        rl.RankSVM(**parameters).fit(data)


def test_data_without_pairs_are_refused():
    with pytest.raises(rl.InputError, match="nothing to learn a ranking from"):
        rl.RankSVM().fit([[1.0], [2.0], [3.0]], [1, 1, 2], qid=[1, 1, 2])
    with pytest.raises(rl.InputError, match="the weights leave no pair"):
        rl.RankSVM().fit([[1.0], [2.0], [3.0]], [1, 2, 2], sample_weight=[0.0, 1.0, 1.0])
    with pytest.raises(rl.InputError, match="all labels are equal"):
        rl.objective(rl.LinearModel([1.0]), [[1.0], [2.0]], [1, 1])
    with pytest.raises(rl.InputError, match="has weights"):
        rl.objective("a model", [[1.0], [2.0]], [1, 2])


def test_missing_values_are_refused():
    data = rl.RankingData([[1.0], [np.nan]], [0, 1], allow_missing=True)
    with pytest.raises(rl.InputError, match="missing values"):
        rl.RankSVM().fit(data)


def test_queries_of_one_row_change_nothing(data):
    X, y = np.asarray(data.X), np.asarray(data.y)
    qid = np.repeat(np.arange(data.n_queries), data.lengths)
    alone = 1000 + np.arange(5)
    more = rl.RankingData(np.vstack((X[:5], X)), np.append(y[:5] + 1, y), np.append(alone, qid))
    found = rl.RankSVM(0.1, tol=1e-9).fit(more).model_.weights
    wanted = rl.RankSVM(0.1, tol=1e-9).fit(data).model_.weights
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("scale", [1e-20, 1e15, 1e30])
def test_features_of_any_size_have_a_right_answer(scale):
    """w scales as 1 / scale where C does with 1 / scale^2: the same numbers in another unit."""
    X = np.random.default_rng(0).normal(size=(40, 3))
    y = (X @ [1.0, -2.0, 0.5] > 0.0).astype(int)
    wanted = rl.RankSVM(0.1, tol=1e-8).fit(X, y).model_.weights
    found = rl.RankSVM(0.1 / scale**2, tol=1e-8).fit(X * scale, y).model_.weights
    np.testing.assert_allclose(found * scale, wanted, rtol=1e-3)


def test_scores_that_overflow_are_an_error(data):
    with pytest.raises(rl.InputError, match="the scores overflow"):
        rl.RankSVM(1e300).fit(np.asarray(data.X) * 1e38, data.y, qid=np.repeat(data.qids, data.lengths))


@pytest.mark.parametrize("loss", ["l2", "l1"])
def test_not_converging_is_said_aloud(data, loss):
    with pytest.warns(rl.RankloomWarning, match="RankSVM stopped at C=100 after 1 iterations.*max_iter"):
        ranker = rl.RankSVM(100.0, loss=loss, max_iter=1).fit(data)
    assert not ranker.result_.converged


def test_unscaled_features_are_said_aloud(data):
    X = np.array(data.X)
    X[:, 0] *= 1e6
    qid = np.repeat(data.qids, data.lengths)
    for table in (X, csr_array(X)):
        with pytest.warns(rl.RankloomWarning, match=r"features differ in scale.*rl\.QueryScaler"):
            rl.RankSVM(1e-6, max_iter=2000).fit(table, data.y, qid=qid)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rl.RankSVM().fit(data)


def test_one_query_is_a_survival_svm():
    """Every death observed, no covariates but ours: FastSurvivalSVM's ranking objective with alpha = 2 C."""
    survival = pytest.importorskip("sksurv.svm")
    draw = np.random.default_rng(0)
    X, times = draw.normal(size=(120, 4)).astype(np.float32), draw.permutation(120) + 1.0
    y = np.array([(True, time) for time in times], dtype=[("event", bool), ("time", float)])
    theirs = survival.FastSurvivalSVM(alpha=0.02, rank_ratio=1.0, tol=1e-12, max_iter=500).fit(
        X.astype(float), y
    )
    ours = rl.RankSVM(0.01, tol=1e-10).fit(X, times).model_.weights
    np.testing.assert_allclose(ours, theirs.coef_, rtol=1e-6)


@pytest.mark.parametrize("scale", ["minmax", "standard", "rank", "minmax/query"])
def test_the_scaling_is_kept_in_the_model(scale):
    made = rl.make_mslr(12, seed=2).data  # raw features of every size
    kind, _, per = scale.partition("/")
    scaled = rl.QueryScaler(kind, per=per or "all").fit(made).transform(made)

    def centred(model, data):
        scores = model.decision_function(data)
        return scores - scores.mean()  # a shift of all scores ranks alike

    expected = centred(rl.RankSVM(C=1e-3).fit(scaled), scaled)
    ranker = rl.RankSVM(C=1e-3, scale=scale).fit(made)
    np.testing.assert_allclose(centred(ranker, made), expected, atol=1e-6)
    point = rl.RankSVM(scale=scale, tol=1e-6).path(made, Cs=[1e-4, 1e-3])[-1]
    exact = rl.RankSVM(C=1e-3, tol=1e-6).fit(scaled)
    assert point.result.objective == pytest.approx(exact.result_.objective, rel=1e-6)
    np.testing.assert_allclose(centred(point.model, made), centred(exact, scaled), atol=2e-3)


def test_a_warm_start_goes_on_at_the_scaled_weights():
    made = rl.make_mslr(12, seed=2).data
    ranker = rl.RankSVM(C=1e-3, scale="minmax", warm_start=True).fit(made)
    ranker.fit(made)
    assert ranker.result_.iterations == 0
