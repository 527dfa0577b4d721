"""evaluate: means, weights, grouping, threads, what it refuses, and what must not change its answer."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankloom.errors import InputError
from rankloom.measures.evaluate import DEFAULT_MEASURES, evaluate
from rankloom.measures.measure import Measure

EVERYTHING = (
    "ndcg@3",
    "ndcg",
    "dcg@5",
    "mean-ndcg",
    "map",
    "mrr",
    "err@20",
    "p@3",
    "r@3",
    "pairwise",
    "tau",
    "auc",
    "auc-loss",
    "ndcg@3/catboost",
    "map/lightgbm",
    "ndcg@3:ties=average",
    "err@3:ties=average",
    "mse",
)
IN_UNIT_RANGE = tuple(m for m in EVERYTHING if m not in ("dcg@5", "tau", "mse"))


def queries(seed, n_queries=60, longest=30, levels=5):
    """Distinct scores, graded labels, string ids: rows of a query lie together."""
    random = np.random.default_rng(seed)
    lengths = random.integers(1, longest, n_queries)
    qid = np.repeat([f"q{number}" for number in random.permutation(n_queries)], lengths)
    labels = random.integers(0, levels, len(qid)) * (random.random(len(qid)) < 0.5)
    return random.permutation(len(qid)) / 8.0 - 20, labels.astype(float), qid


@pytest.mark.jit_free
def test_means_and_values_per_query():
    found = evaluate([2, 1, 1, 2, 5], [1, 0, 1, 0, 0], qid=["a", "a", "b", "b", "c"], measures=["mrr", "p@1"])
    assert found.qids.tolist() == ["a", "b", "c"]
    assert found.per_query("mrr").tolist() == [1, 0.5, 0]
    assert found["mrr"] == pytest.approx(1.5 / 3)
    assert found["p@1"] == pytest.approx(1 / 3)
    assert (found.n_rows, found.n_queries, found.n_empty) == (5, 3, 1)


@pytest.mark.jit_free
def test_it_is_a_mapping_that_knows_every_spelling():
    found = evaluate([2, 1], [1, 0], measures=["nDCG@10", "AP", "ndcg@10"])
    assert list(found) == ["ndcg@10", "map"]
    assert len(found) == 2
    assert found["NDCG@10"] == found[Measure("ndcg", 10)] == 1.0
    assert "map" in found
    assert "mrr" not in found
    assert "no such thing" not in found
    with pytest.raises(KeyError):
        found["mrr"]
    assert found.measures == (Measure("ndcg", 10), Measure("map"))


def test_the_usual_measures():
    found = evaluate([2, 1], [1, 0])
    assert tuple(found) == DEFAULT_MEASURES


@pytest.mark.jit_free
@pytest.mark.parametrize(
    ("empty", "mean", "per_query"),
    [("0", (0.5 + 0) / 2, [0.5, 0]), ("1", (0.5 + 1) / 2, [0.5, 1]), ("skip", 0.5, [0.5, math.nan])],
)
def test_empty_queries(empty, mean, per_query):
    found = evaluate([2, 1, 1], [0, 1, 0], qid=[1, 1, 2], measures=f"mrr:empty={empty}")
    name = next(iter(found))
    assert found[name] == mean
    assert np.array_equal(found.per_query(name), per_query, equal_nan=True)
    assert (found.empty(name), found.n_empty) == (1, 1)


def test_a_mean_over_nothing_is_nan_and_null_in_json():
    found = evaluate([2, 1], [0, 0], measures=["pairwise", "tau", "auc", "mrr:empty=skip", "ndcg"])
    assert [math.isnan(value) for value in found.values()] == [True] * 4 + [False]
    assert json.loads(json.dumps(found.to_dict()))["measures"] == {
        "pairwise": None,
        "tau": None,
        "auc": None,
        "mrr:empty=skip": None,
        "ndcg": 0.0,
    }


@pytest.mark.jit_free
def test_weights():
    scores, labels, qid = [2, 1, 1, 2, 3], [1, 0, 1, 0, 0], [7, 7, 3, 3, 5]
    told = {"qid": qid, "query_weights": [1, 3, 4]}
    found = evaluate(scores, labels, measures=["mrr", "mrr:empty=skip", "mse"], **told)
    assert found["mrr"] == pytest.approx((1 * 1 + 3 * 0.5 + 4 * 0) / 8)
    assert found["mrr:empty=skip"] == pytest.approx((1 * 1 + 3 * 0.5) / 4)
    assert found["mse"] == pytest.approx((1 * (1 + 1) + 3 * (0 + 4) + 4 * 9) / (1 * 2 + 3 * 2 + 4 * 1))


def test_weights_equal_repetition():
    scores, labels, qid = queries(4)
    ids = list(dict.fromkeys(qid))
    weights = np.random.default_rng(1).integers(0, 4, len(ids))
    copies = [
        (np.flatnonzero(qid == name), f"{name} again {i}")
        for name, weight in zip(ids, weights, strict=True)
        for i in range(weight)
    ]
    rows = np.concatenate([rows for rows, _ in copies])
    names = np.concatenate([[name] * len(rows) for rows, name in copies])
    weighted = evaluate(scores, labels, qid=qid, query_weights=weights, measures=EVERYTHING)
    repeated = evaluate(scores[rows], labels[rows], qid=names, measures=EVERYTHING)
    assert dict(weighted) == pytest.approx(dict(repeated))


@pytest.mark.parametrize("seed", range(3))
def test_order_of_rows_does_not_matter_without_ties(seed):
    scores, labels, qid = queries(seed)
    before = evaluate(scores, labels, qid=qid, measures=EVERYTHING)
    mixed = np.random.default_rng(seed).permutation(len(qid))
    after = evaluate(scores[mixed], labels[mixed], qid=qid[mixed], measures=EVERYTHING)
    assert dict(before) == pytest.approx(dict(after), rel=1e-12)
    place = {name: i for i, name in enumerate(after.qids)}
    for name in EVERYTHING:
        there = after.per_query(name)[[place[q] for q in before.qids]]
        assert np.allclose(before.per_query(name), there, rtol=1e-12, atol=0, equal_nan=True)


ROWS = st.lists(
    st.tuples(st.integers(0, 4), st.integers(-50, 50), st.integers(0, 3)), min_size=1, max_size=40
)


@given(ROWS, st.sampled_from([1.0, -3.0, 1024.0]), st.sampled_from([0.5, 1.0, 64.0]))
@settings(max_examples=60)
def test_only_the_order_of_scores_matters(rows, shift, scale):
    labels, scores, qid = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    ranked = EVERYTHING[:-1]
    before = evaluate(scores, labels, qid=qid, measures=ranked, threads=1)
    after = evaluate(scores * scale + shift, labels, qid=qid, measures=ranked, threads=1)
    assert np.array_equal(list(before.values()), list(after.values()), equal_nan=True)


@given(ROWS)
@settings(max_examples=60)
def test_measures_stay_within_their_bounds(rows):
    labels, scores, qid = zip(*rows, strict=True)
    found = evaluate(scores, labels, qid=qid, measures=EVERYTHING, threads=1)
    for name in IN_UNIT_RANGE:
        values = found.per_query(name)
        values = values[~np.isnan(values)]
        assert (values >= 0).all()
        assert (values <= 1 + 1e-12).all(), name
    tau = found.per_query("tau")
    assert (np.abs(tau[~np.isnan(tau)]) <= 1 + 1e-12).all()


@given(ROWS)
@settings(max_examples=60)
def test_the_ideal_order_is_worth_one(rows):
    labels, _, qid = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    names = [
        "ndcg:empty=1",
        "ndcg@3:empty=1",
        "mean-ndcg:empty=1",
        "map:empty=1",
        "mrr:empty=1",
        "pairwise:empty=1",
    ]
    found = evaluate(labels, labels, qid=qid, measures=[*names, "auc:empty=1"], threads=1)
    assert list(found.values()) == pytest.approx([1.0] * 7)


@given(ROWS)
@settings(max_examples=60)
def test_ties_are_bracketed(rows):
    labels, scores, qid = zip(*rows, strict=True)
    scores = [score // 25 for score in scores]
    for name in ("ndcg@3", "map", "mrr", "p@2", "r@2", "dcg", "mean-ndcg", "err@3", "pairwise", "auc"):
        rules = ("pessimistic", "file", "average", "optimistic")
        spelt = [f"{name}:ties={rule}" for rule in rules]
        found = evaluate(scores, labels, qid=qid, measures=spelt, threads=1)
        values = {rule: found.per_query(text) for rule, text in zip(rules, spelt, strict=True)}
        for rule in ("file", "average"):
            with np.errstate(invalid="ignore"):
                assert not (values["pessimistic"] > values[rule] + 1e-12).any(), (name, rule)
                assert not (values[rule] > values["optimistic"] + 1e-12).any(), (name, rule)


def test_together_is_the_same_as_one_by_one():
    """Measures share the sort and their sums; who shares with whom must not show."""
    random = np.random.default_rng(6)
    scores, qid = random.integers(0, 9, 600) / 4, random.integers(0, 40, 600)
    labels = random.choice([0, 1, 2, 3, 60], 600).astype(float)
    choices = [
        "",
        ":gain=linear",
        ":ties=average",
        ":ties=pessimistic",
        ":ties=optimistic",
        ":discount=letor",
    ]
    names = [
        f"{name}{choice}" for name in ("ndcg@5", "dcg@9", "ndcg", "ndcg@2", "mean-ndcg") for choice in choices
    ]
    names += [
        "map",
        "map@3:threshold=2",
        "map:ties=average",
        "mrr",
        "err@4:max_grade=60",
        "pairwise",
        "auc",
        "tau",
    ]
    together = evaluate(scores, labels, qid=qid, measures=names, threads=1)
    for name in names:
        alone = evaluate(scores, labels, qid=qid, measures=name, threads=1)
        assert np.array_equal(together.per_query(name), alone.per_query(name), equal_nan=True), name


def test_pairwise_accuracy_of_two_levels_is_auc():
    scores, labels, qid = queries(9, levels=2)
    found = evaluate(scores, labels, qid=qid, measures=["pairwise", "auc"])
    assert np.array_equal(found.per_query("pairwise"), found.per_query("auc"), equal_nan=True)


def test_threads_do_not_change_a_bit():
    random = np.random.default_rng(2)
    rows = 200_000
    qid = np.sort(random.integers(0, 2000, rows))
    labels, scores = random.integers(0, 5, rows).astype(float), random.integers(0, 5000, rows) / 16
    told = {"qid": qid, "measures": [*EVERYTHING, "ndcg@10:ties=pessimistic"]}
    one = evaluate(scores, labels, threads=1, **told)
    for threads in (2, 3):
        more = evaluate(scores, labels, threads=threads, **told)
        assert dict(one) == dict(more)
        for name in one:
            assert one.per_query(name).tobytes() == more.per_query(name).tobytes()


def test_one_query_over_everything():
    found = evaluate([3, 2, 1], [0, 1, 0], measures=["auc", "mrr"])
    assert found.n_queries == 1
    assert list(found.values()) == [0.5, 0.5]


def test_no_rows_at_all():
    found = evaluate([], [], measures=["ndcg", "auc", "mse", "ece"])
    assert (found.n_rows, found.n_queries, found.n_empty) == (0, 0, 0)
    assert all(math.isnan(value) for value in found.values())


@pytest.mark.parametrize("kind", ["list", "float32", "int", "pandas", "polars", "read-only", "strided"])
def test_any_column_will_do(kind):
    scores, labels, qid = [3, 1, 2, 5], [0, 1, 2, 0], ["a", "b", "a", "b"]
    wanted = dict(evaluate(scores, labels, qid=qid))
    if kind in ("pandas", "polars"):
        frames = pytest.importorskip(kind)
        scores, labels, qid = frames.Series(scores), frames.Series(labels), frames.Series(qid)
    elif kind == "read-only":
        scores = np.array(scores, dtype=float)
        scores.setflags(write=False)
    elif kind == "strided":
        scores = np.repeat(np.array(scores, dtype=float), 2)[::2]
    elif kind != "list":
        scores = np.array(scores, dtype=kind)
    assert dict(evaluate(scores, labels, qid=qid)) == wanted


def test_nothing_given_is_written_to():
    scores, labels, weights = np.array([1.0, -0.0, 0.0]), np.array([0.0, 1.0, 2.0]), np.array([1.0])
    kept = [column.copy() for column in (scores, labels, weights)]
    evaluate(scores, labels, query_weights=weights, measures=[*EVERYTHING, "ndcg:ties=pessimistic"])
    for column, before in zip((scores, labels, weights), kept, strict=True):
        assert column.tobytes() == before.tobytes()


def test_values_per_query_cannot_be_written_to():
    found = evaluate([1, 2], [0, 1], measures="mrr")
    with pytest.raises(ValueError, match="read-only"):
        found.per_query("mrr")[0] = 7


def test_infinite_scores_rank():
    found = evaluate([-np.inf, np.inf, 0], [0, 2, 1], measures=["ndcg", "tau", "pairwise"])
    assert list(found.values()) == pytest.approx([1.0, 1.0, 1.0])


@pytest.mark.jit_free
def test_what_was_not_found_counts_as_relevant_and_brings_nothing():
    """Three relevant rows, one of them not found; wherever it would rank."""
    scores, labels = [3, 2, -np.inf, 1], [1, 0, 1, 1]
    names = ["map", "r@4", "p@4", "mrr:threshold=2:empty=1", "dcg", "dcg:gain=1,1", "ndcg"]
    found = evaluate(scores, labels, measures=names)
    assert found["map"] == pytest.approx((1 / 1 + 2 / 3) / 3)
    assert found["r@4"] == pytest.approx(2 / 3)
    assert found["p@4"] == 2 / 4
    assert found["dcg"] == 1 + 1 / 2
    assert found["dcg:gain=1,1"] == pytest.approx(1 + 1 / math.log2(3) + 1 / 2)
    assert found["ndcg"] == pytest.approx((1 + 1 / 2) / (1 + 1 / math.log2(3) + 1 / 2))
    lost = evaluate([-np.inf], [1], measures=["map", "ndcg", "err"])
    assert (list(lost.values()), lost.n_empty) == ([0, 0, 0], 0)


def test_negative_labels_gain_nothing():
    found = evaluate([3, 2, 1], [-1, 1, -1], measures=["ndcg", "auc", "map", "ndcg:gain=0,2", "err"])
    second = 1 / math.log2(3)
    assert list(found.values()) == pytest.approx([second, 0.5, 0.5, second, 1 / 16 / 2])


class TestRankingData:
    """Labels, queries, ids and weights may come as one."""

    def data(self, **more):
        from rankloom.data.ranking_data import RankingData

        qid = ["b", "a", "b", "a", "c"]
        features = np.zeros((5, 1), dtype=np.float32)
        return RankingData(
            features, [0, 1, 1, 0, 2], qid, doc_ids=["d1", "d2", "d3", "d4", "d5"], **more
        ), qid

    scores = (1.0, 2.0, 1.0, 3.0, 0.0)

    def test_scores_come_in_the_callers_order(self):
        data, qid = self.data()
        names = ["ndcg", "ndcg/trec", "mrr", "mse", "pairwise:ties=docid"]
        ids = ["d1", "d2", "d3", "d4", "d5"]
        wanted = evaluate(self.scores, [0, 1, 1, 0, 2], qid=qid, doc_ids=ids, measures=names)
        found = evaluate(self.scores, data, measures=names)
        assert dict(found) == dict(wanted)
        assert found.qids.tolist() == ["b", "a", "c"]

    def test_its_weights_are_used_and_can_be_replaced(self):
        data, _ = self.data(query_weights=[1, 0, 0])
        assert evaluate(self.scores, data, measures="mrr")["mrr"] == 0.5
        assert evaluate(self.scores, data, measures="mrr", query_weights=[0, 0, 1])["mrr"] == 1.0

    def test_ids_beside_it_go_by_the_callers_rows(self):
        data, _ = self.data()
        assert evaluate(self.scores, data, measures="mrr:ties=docid").per_query("mrr:ties=docid")[0] == 1.0
        ids = ["z", "y", "x", "w", "v"]
        found = evaluate(self.scores, data, measures="mrr:ties=docid", doc_ids=ids)
        assert found.per_query("mrr:ties=docid")[0] == 0.5

    def test_what_is_given_twice_is_refused(self):
        data, qid = self.data()
        with pytest.raises(InputError, match="qid is given twice"):
            evaluate(self.scores, data, qid=qid)

    def test_a_bad_score_is_named_by_the_callers_row(self):
        data, _ = self.data()
        with pytest.raises(InputError, match="got nan in query a, row 3"):
            evaluate([1, 2, 3, math.nan, 5], data)

    def test_without_labels_there_is_nothing_to_measure(self):
        from rankloom.data.ranking_data import RankingData

        with pytest.raises(InputError, match="the data has no labels"):
            evaluate([1.0], RankingData(np.zeros((1, 1), dtype=np.float32)))


@pytest.mark.parametrize(
    ("scores", "labels", "more", "complaint"),
    [
        ([1, math.nan], [0, 1], {"qid": ["x", "y"]}, "a score must be a number, got nan in query y, row 1"),
        ([1, 2], [0, math.nan], {}, "a label must be a finite number, got nan in query 0, row 1"),
        ([1, 2], [0, math.inf], {}, "a label must be a finite number, got inf"),
        ([1, 2, 3], [0, 1], {}, "scores must have one entry per row, got 3 for 2 rows"),
        ([[1, 2]], [0, 1], {}, "one number per row, got an array of shape"),
        (["1", "2"], [0, 1], {}, "scores must be numbers, one per row"),
        ([1j, 2], [0, 1], {}, "scores must be numbers, one per row"),
        ([1, 2], None, {}, "y is missing"),
        ([1, 2], [0, 1], {"qid": [1]}, "qid"),
        ([1, 2], [0, 1], {"query_weights": [1, 2]}, "one weight per query, .* got 2 for 1"),
        ([1, 2], [0, 1], {"query_weights": [-1]}, "finite and not negative, got -1"),
        ([1, 2], [0, 1], {"query_weights": [math.nan]}, "finite and not negative, got nan"),
        ([1, 2], [0, 1], {"query_weights": [0]}, "must not all be zero"),
        ([1, 2], [0, 1], {"doc_ids": ["a"]}, "doc_ids must have one entry per row, got 1 for 2"),
        ([1, 2], [0, 1], {"measures": []}, "at least one measure"),
        ([1, 2], [0, 1], {"measures": ["ndcg@x"]}, "whole number, got 'x'"),
        ([1, math.inf], [0, 1], {"measures": "mse"}, "mse needs finite scores, got inf in query 0, row 1"),
        ([1, 2], [0, 1], {"measures": "logloss"}, "probabilities, from 0 to 1, got 2 in query 0, row 1"),
        ([1, 0], [0, 3], {"measures": "logloss"}, "labels from 0 to 1 .*logloss:threshold=1.*got 3"),
        ([1, 2], [0, 5], {"measures": "err"}, "max_grade=4 .*err:max_grade=10.*got 5 in query 0, row 1"),
        ([1, 2], [0, 3], {"measures": "ndcg:gain=0,1,3"}, "gains for labels 0 to 2 only, got 3"),
        ([1, 2], [0, 0.5], {"measures": "ndcg:gain=0,1,3"}, "gains for labels 0 to 2 only, got 0.5"),
        (np.zeros(70_000), np.zeros(70_000), {"measures": "err:ties=average"}, "give it a cutoff"),
    ],
)
def test_what_is_refused(scores, labels, more, complaint):
    with pytest.raises(InputError, match=complaint):
        evaluate(scores, labels, **more)


def test_the_named_row_is_the_callers():
    """Query b is rows 1 and 3; grouped, its NaN is row 3 of 4 anyway, query a's is not."""
    with pytest.raises(InputError, match="query a, row 2"):
        evaluate([1, 2, math.nan, 4], [0, 1, 0, 1], qid=["a", "b", "a", "b"])


def test_repr_says_what_there_is():
    found = evaluate([2, 1], [1, 0], measures=["mrr"])
    assert repr(found) == "Evaluation({mrr: 1.0000}, 1 queries, 0 without relevant rows)"


def test_evaluations_of_the_same_rows_can_be_joined():
    """Rankings by scores, values by probabilities: each as if measured alone, in the order asked for."""
    labels, qid = [1, 0, 1], [1, 1, 2]
    ranked = evaluate([2.0, 1.0, 5.0], labels, qid=qid, measures=["map", "p@1"])
    valued = evaluate([0.9, 0.1, 0.8], labels, qid=qid, measures=["mse", "ece"])
    wanted = [Measure.parse(name) for name in ("mse", "map", "ece", "p@1")]
    both = ranked.joined(valued, wanted)
    assert list(both) == ["mse", "map", "ece", "p@1"]
    assert dict(both) == {**ranked, **valued}
    assert both.per_query("map").tolist() == ranked.per_query("map").tolist()
    assert both.points == valued.points
    assert (both.n_rows, both.n_queries, both.n_empty) == (3, 2, 0)
    with pytest.raises(InputError, match="must be of the same rows"):
        ranked.joined(evaluate([1.0], [1]), wanted)
