"""compare: what it is given, what it answers, and that it is honest."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from scipy import stats

from rankloom.data.ranking_data import RankingData
from rankloom.errors import InputError
from rankloom.measures import significance
from rankloom.measures.compare import LOWER_IS_BETTER, compare, compare_values
from rankloom.measures.comparison import Comparison
from rankloom.measures.evaluate import evaluate
from rankloom.measures.presets import FIELDS


@pytest.fixture(autouse=True)
def _no_silent_nan() -> None:
    np.seterr(divide="raise", invalid="raise")


Judged = tuple[np.ndarray, np.ndarray, np.ndarray]


def judged(n_queries: int, length: int = 10, noise: tuple[float, float] = (2.0, 2.0), seed: int = 0) -> Any:
    """Labels mostly 0, and two systems that see them through noise: (labels, qid, scores, scores)."""
    rng = np.random.default_rng(seed)
    shape = n_queries * length
    y = rng.choice([0.0, 1.0, 2.0], shape, p=[0.8, 0.15, 0.05])
    a, b = (y + rng.normal(0, deviation, shape) for deviation in noise)
    return y, np.repeat(np.arange(n_queries), length), a, b


class TestAnswer:
    def test_by_hand(self) -> None:
        """Differences 2, 0, -1, 3: mean 1, and |sum| >= 4 in 4 of the 8 flips (6, 4 and their opposites)."""
        comparison = compare_values([1, 1, 2, 0], [3, 1, 1, 3], measure="dcg")
        (row,) = comparison
        assert (row.measure, row.a, row.b) == ("dcg", "A", "B")
        assert (row.mean_a, row.mean_b, row.difference) == (1.0, 2.0, 1.0)
        assert (row.wins, row.ties, row.losses, row.n_queries, row.n_skipped) == (2, 1, 1, 4, 0)
        assert row.p_randomisation == 0.5
        assert row.p_wilcoxon == 0.5  # ranks 2, 1, 3: sums of 5 or more, or 1 or less, in 4 of 8
        assert row.p_t == pytest.approx(stats.ttest_rel([3, 1, 1, 3], [1, 1, 2, 0]).pvalue)
        assert row.low is not None
        assert row.high is not None
        assert -1 <= row.low < 1 < row.high <= 3

    def test_changing_sides_changes_signs_only(self) -> None:
        a, b = np.random.default_rng(1).random((2, 40))
        (one,), (other,) = compare_values(a, b), compare_values(b, a)
        assert (one.difference, one.wins, one.losses) == (-other.difference, other.losses, other.wins)
        assert (one.p_t, one.p_wilcoxon) == pytest.approx((other.p_t, other.p_wilcoxon))
        assert one.p_randomisation == other.p_randomisation
        assert (one.low, one.high) == pytest.approx((-other.high, -other.low))

    def test_queries_without_a_value_are_dropped_in_pairs_and_counted(self) -> None:
        nan = math.nan
        dropped = compare_values([nan, 1, 2, 3, nan], [0, nan, 3, 5, nan])[0]
        kept = compare_values([2, 3], [3, 5])[0]
        assert dropped.n_skipped == 3
        assert dropped.n_queries == 2
        assert (dropped.mean_a, dropped.mean_b, dropped.p_t) == (kept.mean_a, kept.mean_b, kept.p_t)

    @pytest.mark.jit_free
    @pytest.mark.parametrize(
        ("a", "b", "says"),
        [
            ([], [], "no query could be compared (0 skipped)"),
            ([math.nan], [1], "no query could be compared (1 skipped)"),
            ([1], [2], "one query is too few for an interval or a test"),
            ([1], [1], "score the same on the one query"),
            ([1, 2, 3], [1, 2, 3], "score the same on each of the 3 queries"),
            ([1, 2, 3], [2, 3, 4], "equal, so the interval has no width and there is no t-test"),
            ([1, 2, 3], [2, 2, 2], "too few queries differ (2)"),
        ],
    )  # fmt: skip
    def test_little_to_compare_is_said_plainly(self, a: list[float], b: list[float], says: str) -> None:
        comparison = compare_values(a, b, resamples=100, threads=1)
        assert says in str(comparison)
        assert "nan" not in str(comparison)
        assert not comparison.significant(comparison[0])
        json.dumps(comparison.to_dict(), allow_nan=False)
        for p in (comparison[0].p_t, comparison[0].p_wilcoxon, comparison[0].p_randomisation):
            assert p is None or 0 < p <= 1

    def test_five_queries_cannot_reach_five_percent_and_six_can(self) -> None:
        five, six = (compare_values(np.zeros(n), np.arange(1.0, n + 1)) for n in (5, 6))
        assert five[0].p_randomisation == five[0].p_wilcoxon == 2 / 2**5
        assert "with 6 they could reach 0.05" in five[0].note
        assert six[0].p_randomisation == 2 / 2**6
        assert six[0].note == ""
        assert six.significant(six[0])

    def test_holm_goes_over_all_rows_test_by_test(self) -> None:
        rng = np.random.default_rng(3)
        base = rng.random(50)
        systems = {
            name: base + rng.normal(shift, 0.1, 50) for name, shift in (("p", 0), ("q", 0.05), ("r", 0.02))
        }
        comparison = compare_values(systems, all_pairs=True)
        assert [(row.a, row.b) for row in comparison] == [("p", "q"), ("p", "r"), ("q", "r")]
        for test in ("t", "wilcoxon", "randomisation"):
            assert [row.holm(test) for row in comparison] == significance.holm(
                [row.p(test) for row in comparison]
            )
        assert comparison.to_dict()["tests"] == 3

    def test_several_systems_meet_the_first_or_the_one_that_is_named(self) -> None:
        systems = {name: np.arange(5.0) for name in "abc"}
        assert [(row.a, row.b) for row in compare_values(systems)] == [("a", "b"), ("a", "c")]
        assert [(row.a, row.b) for row in compare_values(systems, baseline="b")] == [("b", "a"), ("b", "c")]

    def test_where_lower_is_better_winners_are_below(self) -> None:
        a, b = np.arange(10.0) + 5, np.arange(10.0) + np.tile([0, 1], 5)
        comparison = compare_values(a, b, measure="loss", lower_is_better=True)
        (row,) = comparison
        assert (row.wins, row.losses) == (10, 0)
        assert row.difference == -4.5
        assert row.gain == 4.5
        assert "B is better than A by 4.5000 loss (lower is better)" in comparison.summary()

    def test_students_interval_can_be_asked_for(self) -> None:
        a, b = np.random.default_rng(5).random((2, 20))
        row = compare_values(a, b, interval="t", confidence=0.9)[0]
        found = stats.ttest_rel(b, a).confidence_interval(0.9)
        assert (row.low, row.high) == pytest.approx((found.low, found.high))
        assert compare_values([1], [2], interval="t")[0].low is None
        assert compare_values([1, 1], [1, 1], interval="t")[0].low == 0.0

    def test_the_same_bits_for_any_number_of_threads_and_other_bits_for_other_seeds(self) -> None:
        a, b = np.random.default_rng(5).random((2, 3000))
        first, *others = (compare_values(a, b, threads=threads).to_dict() for threads in (1, 2, 3, 7))
        assert all(other == first for other in others)
        assert compare_values(a, b, seed=1)[0].low != first["rows"][0]["low"]


class TestWeights:
    def test_means_and_differences_are_weighted(self) -> None:
        row = compare_values([0, 0, 0], [1, 2, 6], weights=[1, 2, 5])[0]
        assert row.mean_b == row.difference == pytest.approx(35 / 8)
        assert row.weighted
        assert row.p_randomisation == 0.25
        assert row.p_t is row.p_wilcoxon is None

    @pytest.mark.parametrize("test", ["t", "wilcoxon"])
    def test_a_test_that_knows_no_weights_says_so(self, test: str) -> None:
        with pytest.raises(InputError, match=r'knows no query weights: use test="randomisation"'):
            compare_values([0, 0], [1, 2], weights=[1, 2], test=test)

    def test_nor_does_students_interval(self) -> None:
        with pytest.raises(InputError, match="Student's interval knows no query weights"):
            compare_values([0, 0], [1, 2], weights=[1, 2], interval="t")

    def test_equal_weights_are_no_weights(self) -> None:
        a, b = np.random.default_rng(1).random((2, 9))
        plain, weighted = (
            compare_values(a, b, test="t"),
            compare_values(a, b, weights=np.full(9, 3.0), test="t"),
        )
        assert plain == weighted

    def test_a_query_of_weight_0_is_left_out(self) -> None:
        row = compare_values([0, 0, 9], [1, 2, 0], weights=[2, 1, 0])[0]
        assert (row.n_queries, row.n_skipped, row.losses) == (2, 1, 0)

    @pytest.mark.parametrize(
        ("weights", "says"),
        [
            ([1, 2], "one a query: 3, got 2"),
            ([1, 2, -1], "0 or more, got -1.0 at position 2"),
            ([1, 2, math.nan], "0 or more, got nan at position 2"),
            ([1, math.inf, 2], "finite"),
            ([0, 0, 0], "not all be 0"),
        ],
    )
    def test_weights_that_cannot_be_used(self, weights: list[float], says: str) -> None:
        with pytest.raises(InputError, match=says):
            compare_values([1, 2, 3], [3, 2, 1], weights=weights)


class TestFromScores:
    def test_rows_are_those_of_evaluate(self) -> None:
        y, qid, a, b = judged(60, noise=(3, 1))
        measures = ["ndcg@10", "map", "pairwise", "mrr/trec"]
        comparison = compare(a, b, y, qid=qid, measures=["ndcg@10", "map", "pairwise"], names=("old", "new"))
        evaluations = [evaluate(scores, y, qid=qid, measures=measures[:3]) for scores in (a, b)]
        for row in comparison:
            old, new = (evaluation[row.measure] for evaluation in evaluations)
            assert (row.mean_a, row.mean_b) == pytest.approx((old, new))
            values = [evaluation.per_query(row.measure) for evaluation in evaluations]
            assert row.n_skipped == np.isnan(values[0]).sum()
            assert row.p_t == pytest.approx(stats.ttest_rel(*values, nan_policy="omit").pvalue)
        assert [row.measure for row in comparison] == measures[:3]
        assert comparison[2].n_skipped > 0  # a query without a pair
        assert comparison.systems == ("old", "new")

    def test_a_mapping_data_and_their_weights(self) -> None:
        y, qid, a, b = judged(30)
        shuffled = np.random.default_rng(0).permutation(len(y))
        weights = np.linspace(1, 2, 30)
        data = RankingData(np.zeros((len(y), 1)), y, qid, query_weights=weights)
        expected = compare(a, b, y, qid=qid, query_weights=weights, names=("a", "b"))
        assert compare({"a": a, "b": b}, data) == expected
        assert compare({"a": a, "b": b}, y=data) == expected
        order = np.array(list(dict.fromkeys(qid[shuffled].tolist())))
        mixed = RankingData(np.zeros((len(y), 1)), y[shuffled], qid[shuffled], query_weights=weights[order])
        other = compare(a[shuffled], b[shuffled], mixed, names=("a", "b"))
        assert other[0].difference == pytest.approx(expected[0].difference)

    @pytest.mark.parametrize("measure", ["mse", "logloss"])
    def test_measures_of_points_weigh_queries_by_rows(self, measure: str) -> None:
        rng = np.random.default_rng(0)
        qid = np.repeat(np.arange(40), rng.integers(1, 30, 40))
        y = (rng.random(len(qid)) < 0.4).astype(float)
        a, b = (rng.uniform(0.1, 0.9, len(qid)) for _ in range(2))
        for weights in (None, rng.uniform(1, 3, 40)):
            (row,) = compare(a, b, y, qid=qid, measures=measure, query_weights=weights)
            for mean, scores in ((row.mean_a, a), (row.mean_b, b)):
                told = evaluate(scores, y, qid=qid, measures=measure, query_weights=weights)
                assert mean == pytest.approx(told[measure])

    @pytest.mark.parametrize("name", [name for name in FIELDS if name != "ece"])
    def test_in_every_measure_the_better_ranking_is_called_better(self, name: str) -> None:
        """Scores equal to the labels, against scores that are wrong everywhere: the latter must lose."""
        y, qid = np.tile([1.0, 0.0, 0.0, 1.0, 0.0], 12), np.repeat(np.arange(12), 5)
        right, wrong = 0.1 + 0.8 * y, 0.9 - 0.8 * y
        measure = f"{name}@1" if name in ("p", "r", "mrr") else name
        comparison = compare(right, wrong, y, qid=qid, measures=measure)
        assert (comparison[0].wins, comparison[0].losses) == (0, 12)
        assert comparison.summary().startswith("A is better than B")
        assert comparison[0].lower_is_better is (name in LOWER_IS_BETTER)

    def test_default_is_one_measure(self) -> None:
        y, qid, a, b = judged(10)
        assert [row.measure for row in compare(a, b, y, qid=qid)] == ["ndcg@10"]
        assert len(compare(a, b, y, qid=qid, measures=["map", "ap", "map"])) == 1

    def test_one_list_is_one_query(self) -> None:
        y, _, a, b = judged(10)
        (row,) = compare(a, b, y, measures="auc")
        assert (row.n_queries, row.p_randomisation, row.low) == (1, 1.0, None)
        assert "too few" in row.note


Y, QID, A, B = judged(6)
WRONG_CALLS: dict[str, tuple[Callable[[], Any], str]] = {
    "one system": (lambda: compare(A, y=Y, qid=QID), "one system only"),
    "a mapping of one": (lambda: compare({"a": A}, Y, qid=QID), "two systems or more, got 1"),
    "a mapping and a system": (lambda: compare({"a": A, "b": B}, B, Y), "call compare\\(systems, y\\)"),
    "no labels": (lambda: compare(A, B), "labels are missing"),
    "a NaN score": (lambda: compare(A, np.where(QID == 3, np.nan, B), Y, qid=QID), "system B: .*query 3"),
    "too few scores": (lambda: compare(A, B[:-1], Y, qid=QID), "system B: scores"),
    "an unknown measure": (
        lambda: compare(A, B, Y, qid=QID, measures="nodcg"),
        "^no measure is called|nodcg",
    ),
    "no measure": (lambda: compare(A, B, Y, qid=QID, measures=[]), "at least one measure"),
    "ece": (lambda: compare(A, B, Y, qid=QID, measures=["ndcg@5", "ece"]), "ece is one number"),
    "equal names": (lambda: compare(A, B, Y, qid=QID, names=("A", "A")), "two different names"),
    "a name for both": (lambda: compare(A, B, Y, qid=QID, names="AB"), "two different names"),
    "an unknown baseline": (lambda: compare({"a": A, "b": B}, Y, baseline="c"), "one of a, b, got 'c'"),
    "all pairs and a baseline": (
        lambda: compare({"a": A, "b": B}, Y, baseline="a", all_pairs=True),
        "leave baseline out",
    ),
    "an unknown test": (lambda: compare_values([1], [2], test="z"), "randomisation, t, wilcoxon, got 'z'"),
    "an unknown interval": (lambda: compare_values([1], [2], interval="z"), "percentile, bca, t, got 'z'"),
    "confidence in percent": (lambda: compare_values([1], [2], confidence=95), "confidence .* got 95"),
    "few resamples": (lambda: compare_values([1], [2], resamples=10), "resamples .* from 100"),
    "half a resample": (lambda: compare_values([1], [2], resamples=1e4), "resamples .* whole number"),
    "a negative seed": (lambda: compare_values([1], [2], seed=-1), "seed must be"),
    "no threads": (lambda: compare_values([1], [2], threads=0), "threads must be"),
    "resamples too few for so many tests": (
        lambda: compare_values({f"s{i}": [1, 2] for i in range(12)}, resamples=200),
        "at least 220 for 11 tests .* got 200",
    ),
    "true resamples": (lambda: compare_values([1], [2], resamples=True), "resamples must be"),
    "values of other queries": (lambda: compare_values([1, 2], [1]), "2 for A and 1 for B"),
    "a table": (lambda: compare_values([[1, 2]], [[1, 2]]), "2 dimensions"),
    "words": (lambda: compare_values(["x"], ["y"]), "values of A must be numbers"),
    "infinity": (lambda: compare_values([1, 2], [1, math.inf]), "values of B must be finite .* position 1"),
    "a mapping and an array": (lambda: compare_values({"a": [1], "b": [2]}, [1]), "not both"),
}


@pytest.mark.parametrize("call", WRONG_CALLS)
def test_what_cannot_be_compared_is_said(call: str) -> None:
    run, says = WRONG_CALLS[call]
    with pytest.raises(InputError, match=says):
        run()


class TestHonesty:
    """Simulated with a fixed seed. Bounds are those of the binomial distribution: a right test passes them in
    all but one of 10,000 seeds.
    """

    TRIALS = 1500

    def trials(self, n: int, noise: tuple[float, float], seed: int) -> Iterator[np.ndarray]:
        """Differences in ndcg@10 of two noisy rankers: many zeros, few values, as in real data."""
        y, qid, a, b = judged(n * self.TRIALS, length=6, noise=noise, seed=seed)
        values = [evaluate(scores, y, qid=qid, measures="ndcg@10").per_query("ndcg@10") for scores in (a, b)]
        return iter(significance.differences(*values).reshape(self.TRIALS, n))

    def rejections(self, trials: Iterator[np.ndarray]) -> dict[str, int]:
        found = {"t": 0, "wilcoxon": 0, "randomisation": 0}
        for difference in trials:
            p = {
                "t": significance.t_test(difference),
                "wilcoxon": significance.wilcoxon_test(difference),
                "randomisation": significance.randomisation_test(difference, None, resamples=999, seed=3),
            }
            for test, value in p.items():
                found[test] += value is not None and value <= 0.05
        return found

    @pytest.mark.parametrize("n", [12, 80])
    def test_where_nothing_differs_one_in_twenty_is_called_a_difference(self, n: int) -> None:
        """Twelve queries are enumerated, eighty drawn. Exact tests of few values reject less often."""
        low, high = stats.binom(self.TRIALS, 0.05).interval(1 - 1e-4)
        for test, rejected in self.rejections(self.trials(n, (2.0, 2.0), seed=n)).items():
            assert rejected <= high, test
            assert rejected >= (low if n == 80 else 0.4 * low), test

    def test_a_known_difference_is_found(self) -> None:
        """Half a grade of noise against two: a difference of a deviation and more, over 30 queries."""
        for test, rejected in self.rejections(self.trials(30, (2.0, 0.5), seed=1)).items():
            assert rejected > 0.9 * self.TRIALS, test

    @pytest.mark.parametrize("noise", [(2.0, 2.0), (2.0, 1.0)])
    def test_the_interval_covers_the_true_difference(self, noise: tuple[float, float]) -> None:
        trials = np.array(list(self.trials(40, noise, seed=2)))
        truth = trials.mean() if noise[0] != noise[1] else 0.0
        low, high = stats.binom(self.TRIALS, 0.95).interval(1 - 1e-4)
        for method in ("percentile", "bca"):
            intervals = [
                significance.bootstrap_interval(trial, method=method, resamples=1000, seed=7)
                for trial in trials
            ]
            covered = sum(
                interval is not None and interval.low <= truth <= interval.high for interval in intervals
            )
            assert low - 0.01 * self.TRIALS <= covered <= high, method

    def test_over_many_measures_one_family_in_twenty_sees_a_false_alarm(self) -> None:
        """Five independent comparisons without a difference: uncorrected, one in four families would."""
        rng = np.random.default_rng(0)
        families = rng.normal(size=(500, 5, 20))
        p = [[significance.t_test(difference) for difference in family] for family in families]
        plain = sum(min(x for x in family if x is not None) <= 0.05 for family in p)
        alarms = sum(min(x for x in significance.holm(family) if x is not None) <= 0.05 for family in p)
        assert plain > 80
        assert alarms <= stats.binom(500, 0.05).ppf(1 - 1e-4)


def test_a_comparison_is_a_value() -> None:
    one, other = (compare_values([1, 2, 3], [2, 2, 5]) for _ in range(2))
    assert one == other
    assert hash(one) == hash(other)
    assert isinstance(one, Comparison)
    assert (len(one), list(one), one[0]) == (1, list(one.rows), one.rows[0])
    with pytest.raises(AttributeError):
        one.seed = 3  # type: ignore[misc]
