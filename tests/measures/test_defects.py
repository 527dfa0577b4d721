"""Defects of other tools that ours must not share: what is right, worked out, and what the tool says."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

from rankloom.errors import InputError
from rankloom.measures.evaluate import evaluate

SECOND = 1 / math.log2(3)


class TestWeightsAndEmptyQueries:
    """Two queries of weights 1 and 10: the first has its relevant row at place 2, the second has none.

    A query without relevant rows counts as 1 in LightGBM and XGBoost. Weighted, the mean is then
    (1 * .6309 + 10 * 1) / 11 = .966; both add an unweighted 1 and divide by the sum of weights: .148.
    """

    scores, labels, qid, weights = [2.0, 1, 2, 1], [0, 1, 0, 0], [1, 1, 2, 2], [1.0, 10]
    right = (1 * SECOND + 10 * 1) / 11
    wrong = (1 * SECOND + 1) / 11

    def test_the_numbers(self):
        assert (round(self.right, 3), round(self.wrong, 3)) == (0.966, 0.148)

    @pytest.mark.parametrize("preset", ["lightgbm", "xgboost"])
    def test_ours(self, preset):
        told = {"qid": self.qid, "query_weights": self.weights, "measures": f"ndcg@10/{preset}"}
        found = evaluate(self.scores, self.labels, **told)
        assert found[f"ndcg@10/{preset}"] == pytest.approx(self.right)

    def test_lightgbm(self):
        lightgbm = pytest.importorskip("lightgbm")
        data = lightgbm.Dataset(
            np.zeros((4, 1)),
            label=self.labels,
            group=[2, 2],
            weight=np.repeat(self.weights, 2),
            init_score=self.scores,
            params={"verbosity": -1, "feature_pre_filter": False},
        )
        seen = {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            lightgbm.train(
                {"objective": "lambdarank", "metric": "ndcg", "eval_at": [10], "verbosity": -1},
                data,
                num_boost_round=1,
                valid_sets=[data],
                valid_names=["data"],
                callbacks=[lightgbm.record_evaluation(seen)],
            )
        assert seen["data"]["ndcg@10"][0] == pytest.approx(self.wrong)

    def test_xgboost(self):
        xgboost = pytest.importorskip("xgboost")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            data = xgboost.DMatrix(np.zeros((4, 1)), label=self.labels, base_margin=self.scores)
            data.set_group([2, 2])
            data.set_weight(self.weights)
            told = {"objective": "rank:ndcg", "eval_metric": "ndcg@10", "verbosity": 0}
            text = xgboost.train(told, data, num_boost_round=0).eval_set([(data, "data")])
        assert float(text.split(":")[-1]) == pytest.approx(self.wrong)


class TestChangeOfErrBySwap:
    """RankLib carries p <- p * (p * (1 - R)) down the list where p <- p * (1 - R) is meant.

    Labels 2 0 3 1 4, places 4 and 5 change: only the last two terms of ERR do, after a reader has got past
    R = 3/16, 0, 7/16 with probability 13/16 * 1 * 9/16.
    """

    labels = (2, 0, 3, 1, 4)

    def err(self, labels):
        return evaluate([5, 4, 3, 2, 1], labels, measures="err")["err"]

    def test_ours(self):
        past = (1 - 3 / 16) * 1 * (1 - 7 / 16)
        before = past * (1 / 16 / 4 + 15 / 16 * (15 / 16) / 5)
        after = past * (15 / 16 / 4 + 1 / 16 * (1 / 16) / 5)
        assert round(after - before, 4) == 0.02
        found = self.err((2, 0, 3, 4, 1)) - self.err(self.labels)
        assert found == pytest.approx(after - before)

    def test_ranklibs(self):
        """Its sum over places 4 and 5, with its own way past places 1 to 4."""
        stops = [(2**label - 1) / 16 for label in self.labels]
        past, p = [], 1.0
        for stop in stops:
            past.append(p * (1 - stop))
            p *= past[-1]
        change = past[2] * (stops[4] - stops[3]) / 4
        change += (past[3] * (1 - stops[4]) * stops[3] / (1 - stops[3]) - past[3] * stops[4]) / 5
        assert round(change, 4) == 0.0383


class TestErrOfRawLabels:
    """CatBoost's ERR takes the label itself as the probability to stop, and so can pass 1."""

    def test_catboost(self):
        utils = pytest.importorskip("catboost.utils")
        assert utils.eval_metric([4, 0], [2.0, 1.0], "ERR", group_id=[0, 0])[0] == 4.0

    def test_ours_refuses_what_is_no_probability(self):
        with pytest.raises(InputError, match=r"takes labels up to max_grade=1 .* got 4 in query 0, row 0"):
            evaluate([2, 1], [4, 0], measures="err/catboost")

    def test_ours_never_passes_one(self):
        assert evaluate([2, 1], [4, 0], measures="err")["err"] == 15 / 16
        assert evaluate([2, 1], [1, 0], measures="err/catboost")["err/catboost"] == 1.0


class TestHundredsOfLevels:
    """2^y overflows from y = 1024 on: inf / inf would make NDCG NaN, and the mean over queries."""

    labels = np.arange(1100.0)

    def test_ours(self):
        found = evaluate(self.labels, self.labels, measures=["ndcg", "ndcg@10", "mean-ndcg/letor4"])
        assert list(found.values()) == [1.0, 1.0, 1.0]

    def test_one_such_query_does_not_poison_the_mean(self):
        scores = [*self.labels, 1, 2]
        labels = [*self.labels, 1, 0]
        qid = [1] * 1100 + [2] * 2
        found = evaluate(scores, labels, qid=qid, measures="ndcg")
        assert found["ndcg"] == pytest.approx((1 + SECOND) / 2)

    def test_dcg_that_is_no_float_is_an_error(self):
        with pytest.raises(InputError, match=r"dcg of query 0 is too large .* gain=linear"):
            evaluate(self.labels, self.labels, measures="dcg")

    def test_err_asks_for_the_highest_grade(self):
        with pytest.raises(InputError, match="labels up to max_grade=4"):
            evaluate(self.labels, self.labels, measures="err@20")
        found = evaluate(self.labels[:900], self.labels[:900], measures="err@20:max_grade=900")
        # 1/2 at place 1, then half of the rest with half the probability, and so on.
        reading, wanted = 1.0, 0.0
        for place in range(1, 21):
            wanted += reading * 0.5**place / place
            reading *= 1 - 0.5**place
        assert next(iter(found.values())) == pytest.approx(wanted)


def test_weights_reach_every_measure():
    """CatBoost leaves group weights out of MAP, precision and recall."""
    scores, labels, qid, weights = [2, 1, 2, 1], [0, 1, 1, 0], [1, 1, 2, 2], [1, 3]
    found = evaluate(scores, labels, qid=qid, query_weights=weights, measures=["map", "p@1", "r@1"])
    assert list(found.values()) == pytest.approx([(1 * 1 / 2 + 3 * 1) / 4, 3 / 4, 3 / 4])
    utils = pytest.importorskip("catboost.utils")
    theirs = utils.eval_metric(labels, scores, "MAP", group_id=qid, group_weight=[1, 1, 3, 3])[0]
    assert theirs == (1 / 2 + 1) / 2


def test_pairs_of_equal_labels_are_no_pairs():
    """XGBoost's AUC of grouped data counts pairs of rows with equal labels, too."""
    scores, labels = [3.0, 2, 1], [1, 0, 0]
    assert evaluate(scores, labels, measures="pairwise")["pairwise"] == 1.0
    xgboost = pytest.importorskip("xgboost")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = xgboost.DMatrix(np.zeros((3, 1)), label=labels, base_margin=[3.0, 1, 2])
        data.set_group([3])
        told = {"objective": "rank:ndcg", "eval_metric": "auc", "verbosity": 0}
        text = xgboost.train(told, data, num_boost_round=0).eval_set([(data, "data")])
    assert float(text.split(":")[-1]) == pytest.approx(2 / 3)
