"""Tests, intervals and Holm's correction: against scipy, all sign flips written down, and pencil."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from rankloom.measures import significance as s
from twins import resampling_twin as twin

FEW = st.lists(st.integers(-6, 6), min_size=1, max_size=9)
MANY = st.lists(st.integers(-20, 20), min_size=2, max_size=60)
RANDOM = {"resamples": 2000, "seed": 0}


@pytest.fixture(autouse=True)
def _no_silent_nan() -> None:
    """A test that divides 0 by 0 is a defect here."""
    np.seterr(divide="raise", invalid="raise")


def array(values: Sequence[float]) -> np.ndarray:
    return np.asarray(values, dtype=np.float64)


def spread(n: int, seed: int = 0) -> np.ndarray:
    """Differences as rankings have them: many zeros, some values again and again."""
    rng = np.random.default_rng(seed)
    sizes = np.array([0, 0, 0, 0.1309, 0.3691, 0.5, 0.63, 1])
    return rng.choice(sizes, n) * rng.choice([-1, 1], n)


class TestDifferences:
    def test_rounding_makes_no_winner(self) -> None:
        a, b = array([0.1 + 0.2, 1e9 + 1e-3, 1e-20]), array([0.3, 1e9 + 1.1e-3, 2e-20])
        assert (b - a).all()
        assert s.differences(a, b).tolist() == [0, 0, 1e-20]

    def test_what_should_be_equal_sizes_are(self) -> None:
        """.7 - .4 and .4 - .7 and .3 - 0 differ in the last bit."""
        clean = s.differences(array([0.4, 0.7, 0.0, 0.0]), array([0.7, 0.4, 0.3, 0.9]))
        assert clean[0] == -clean[1] == clean[2]
        assert clean == pytest.approx([0.3, -0.3, 0.3, 0.9])

    @given(st.lists(st.tuples(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6)), max_size=30))
    def test_nothing_moves_by_more_than_noise(self, pairs: list[tuple[float, float]]) -> None:
        a, b = array([x for x, _ in pairs]), array([y for _, y in pairs])
        tolerance = len(pairs) * 1e-12 * max((max(abs(x), abs(y)) for x, y in pairs), default=0)
        assert np.abs(s.differences(a, b) - (b - a)).max(initial=0) <= tolerance
        assert s.differences(b, a).tolist() == (-s.differences(a, b)).tolist()


class TestStudent:
    @given(MANY)
    def test_scipy(self, values: list[int]) -> None:
        difference = array(values)
        p = s.t_test(difference)
        if len(set(values)) == 1:
            assert p == (None if values[0] else 1.0)
        else:
            assert p == pytest.approx(stats.ttest_rel(difference, np.zeros(len(values))).pvalue, rel=1e-9)

    @pytest.mark.jit_free
    def test_by_hand(self) -> None:
        """Mean 1, deviation 1, n = 3: t = sqrt(3); with 2 degrees of freedom p = 1 - t / sqrt(2 + t^2)."""
        assert s.t_test(array([0, 1, 2])) == pytest.approx(1 - math.sqrt(3 / 5))

    @pytest.mark.parametrize("scale", [1e-200, 1e90])
    def test_any_scale(self, scale: float) -> None:
        assert s.t_test(array([0, 1, 2]) * scale) == pytest.approx(1 - math.sqrt(3 / 5))


class TestWilcoxon:
    @given(FEW)
    def test_all_signs_written_down(self, values: list[int]) -> None:
        p = s.wilcoxon_test(array(values))
        assert p == (pytest.approx(float(twin.wilcoxon_p(values)), rel=1e-12) if any(values) else 1.0)

    @pytest.mark.parametrize("n", [1, 2, 9, 25, 50])
    def test_scipys_exact_distribution_where_there_are_no_ties(self, n: int) -> None:
        difference = np.arange(1, n + 1) * np.random.default_rng(n).choice([-1, 1], n) / 7
        assert s.wilcoxon_test(difference) == pytest.approx(stats.wilcoxon(difference, method="exact").pvalue)

    @pytest.mark.parametrize("seed", range(5))
    def test_scipys_normal_approximation_above_fifty(self, seed: int) -> None:
        difference = spread(300, seed)
        expected = stats.wilcoxon(difference, method="approx", correction=False).pvalue
        assert s.wilcoxon_test(difference) == pytest.approx(expected, rel=1e-9)

    def test_exact_and_normal_agree_where_they_meet(self) -> None:
        for seed in range(8):
            rng = np.random.default_rng(seed)
            fifty = (rng.integers(1, 9, 50) * rng.choice([-1, 1], 50)).astype(float)
            normal = stats.wilcoxon(fifty, method="approx", correction=False).pvalue
            assert s.wilcoxon_test(fifty) == pytest.approx(normal, rel=0.15, abs=0.003)

    def test_by_hand(self) -> None:
        """1, 2, 3 all above 0: of 8 sign patterns two are as far out. A zero changes nothing."""
        assert s.wilcoxon_test(array([1, 2, 3])) == 0.25
        assert s.wilcoxon_test(array([1, 0, 2, 3, 0])) == 0.25


class TestRandomisation:
    @pytest.mark.jit_free
    @given(FEW)
    def test_all_flips_written_down(self, values: list[int]) -> None:
        p = s.randomisation_test(array(values), None, **RANDOM)
        assert p == pytest.approx(float(twin.randomisation_p(values)), rel=1e-12)

    @settings(max_examples=25)
    @given(st.lists(st.tuples(st.integers(-6, 6), st.integers(1, 5)), min_size=1, max_size=8))
    def test_weights_multiply_differences(self, pairs: list[tuple[int, int]]) -> None:
        values, weights = zip(*pairs, strict=True)
        expected = twin.randomisation_p([v * w for v, w in pairs])
        p = s.randomisation_test(array(values), array(weights), **RANDOM)
        assert p == pytest.approx(float(expected), rel=1e-12)

    def test_scipys_exact_test(self) -> None:
        difference = spread(14, 3)
        found = stats.permutation_test(
            (difference,), np.mean, permutation_type="samples", n_resamples=np.inf, vectorized=True
        )
        assert s.randomisation_test(difference, None, **RANDOM) == pytest.approx(found.pvalue, rel=1e-12)

    def test_many_few_equal_flips_are_all_counted(self) -> None:
        """32 differences of 0.1, 21 of them above 0: |sum| >= 1 is a matter of the binomial distribution."""
        difference = array([0.1] * 21 + [-0.1] * 11)
        expected = 2 * stats.binom(32, 0.5).sf(20)
        assert s.randomisation_test(difference, None, **RANDOM) == pytest.approx(expected, rel=1e-12)

    def test_random_flips_come_near_the_exact_p(self) -> None:
        """33 differences of equal size: the first number that is not enumerated; 100,000 flips."""
        difference = array([0.1] * 21 + [-0.1] * 12)
        expected = 2 * stats.binom(33, 0.5).sf(20)
        p = s.randomisation_test(difference, None, resamples=100_000, seed=1)
        assert p == pytest.approx(expected, abs=4 * math.sqrt(expected / 100_000))
        assert p != expected

    @pytest.mark.parametrize("seed", range(3))
    def test_scipys_random_test(self, seed: int) -> None:
        difference = spread(80, seed)
        found = stats.permutation_test(
            (difference,), np.mean, permutation_type="samples", n_resamples=20_000, vectorized=True, rng=seed
        )
        p = s.randomisation_test(difference, None, resamples=20_000, seed=seed)
        assert p == pytest.approx(found.pvalue, abs=0.017)  # 5 deviations at p = 0.5, both random

    def test_a_random_p_is_never_0(self) -> None:
        assert s.randomisation_test(np.ones(200), None, resamples=999, seed=0) == 1 / 1000

    def test_zeros_cost_and_change_nothing(self) -> None:
        difference = spread(30, 1)
        with_zeros = np.concatenate((np.zeros(500), difference, np.zeros(500)))
        assert s.randomisation_test(with_zeros, None, **RANDOM) == s.randomisation_test(
            difference, None, **RANDOM
        )

    def test_seeds_differ_and_repeat(self) -> None:
        p = [s.randomisation_test(spread(99, 1), None, resamples=500, seed=seed) for seed in (0, 1, 2, 0)]
        assert len(set(p)) == 3
        assert p[0] == p[3]

    @pytest.mark.parametrize("threads", [1, 2, 3, 7])
    def test_the_same_bits_for_any_number_of_threads(self, threads: int) -> None:
        difference, weights = spread(333), np.arange(1.0, 334.0)
        for weight in (None, weights):
            alone = s.randomisation_test(difference, weight, resamples=5000, seed=4, threads=1)
            assert alone == s.randomisation_test(difference, weight, resamples=5000, seed=4, threads=threads)
            means = s.bootstrap_means(difference, weight, resamples=5000, seed=4, threads=threads)
            assert (
                means.tobytes()
                == s.bootstrap_means(difference, weight, resamples=5000, seed=4, threads=1).tobytes()
            )


class TestBootstrap:
    @pytest.mark.jit_free
    def test_resampled_means_are_the_twins(self) -> None:
        difference, weights = spread(11), np.arange(1.0, 12.0)
        place = int(s._stream(9, s._QUERIES))
        for weight in (None, weights):
            means = s.bootstrap_means(difference, weight, resamples=20, seed=9, threads=1)
            values = difference if weight is None else difference * weight
            slow = [
                twin.resampled_mean(values, () if weight is None else weight, place, r) for r in range(20)
            ]
            assert means == pytest.approx(slow, rel=1e-12)

    def test_flips_and_queries_are_drawn_independently(self) -> None:
        places = {int(s._stream(seed, use)) for seed in range(100) for use in (s._FLIPS, s._QUERIES)}
        assert len(places) == 200

    @pytest.mark.parametrize("method", ["percentile", "bca"])
    @pytest.mark.parametrize("n", [10, 40, 200])
    def test_scipy_at_the_widened_confidence(self, method: str, n: int) -> None:
        """Ours is scipy's interval with tails of Phi(-sqrt(n / (n - 1)) t)."""
        difference = spread(n, n) + np.random.default_rng(n).exponential(0.1, n)
        tail = NormalDist().cdf(math.sqrt(n / (n - 1)) * float(stats.t(n - 1).ppf(0.025)))
        assert tail < 0.025
        found = stats.bootstrap(
            (difference,), np.mean, n_resamples=20_000, confidence_level=1 - 2 * tail, method=method, rng=5
        ).confidence_interval
        ours = s.bootstrap_interval(difference, method=method, resamples=20_000, seed=5)
        assert ours is not None
        error = 0.06 * difference.std() / math.sqrt(n)  # both random, near the ends
        assert ours == pytest.approx((found.low, found.high), abs=error * (3 if n == 10 else 1.5))

    @pytest.mark.jit_free
    def test_how_far_the_tails_move_outwards(self) -> None:
        """Weights 1, 1, 1, 1, 2 are worth 36 / 8 = 4.5 queries, equal ones as many as there are."""
        for weights, n in ((None, 5.0), (np.ones(5), 5.0), (array([1, 1, 1, 1, 2]), 4.5)):
            expected = stats.norm.cdf(math.sqrt(n / (n - 1)) * stats.t(n - 1).ppf(0.025))
            assert s._widened_tail(0.025, np.zeros(5), weights) == pytest.approx(expected)
            assert expected < 0.011

    def test_the_mean_of_normal_values_gets_students_interval(self) -> None:
        """What the widening is for: for values without a skew, the interval is that of the t-test."""
        difference = stats.norm.ppf((np.arange(12) + 0.5) / 12)
        interval = s.bootstrap_interval(difference, resamples=100_000)
        half = stats.t(11).ppf(0.975) * difference.std(ddof=1) / math.sqrt(12)
        assert interval == pytest.approx((-half, half), rel=0.04)

    @pytest.mark.jit_free
    def test_bca_moves_tails_by_twice_the_bias(self) -> None:
        """Four resamples of ten below the mean, no skew: Phi(2 z0 + z), z0 = Phi^-1(.4)."""
        means, difference = array([-1] * 4 + [1] * 6), array([-1, 1])
        z0 = stats.norm.ppf(0.4)
        expected = stats.norm.cdf([2 * z0 - 1.96, 2 * z0 + 1.96])
        tails = float(stats.norm.cdf(-1.96)), float(stats.norm.cdf(1.96))
        assert s._corrected_tails(tails, means, 0.0, difference, None) == pytest.approx(tuple(expected))

    @pytest.mark.jit_free
    def test_acceleration_is_a_sixth_of_the_skewness_of_the_mean(self) -> None:
        difference = array([0, 0, 0, 1, 5])
        expected = stats.skew(difference) / (6 * math.sqrt(5))
        assert s._acceleration(difference, None) == pytest.approx(expected)

    def test_weights_are_copies(self) -> None:
        """Weights 1, 2, 3 move the centre as 1, 2 and 3 copies do, but make no new queries for the width."""
        difference, weights = spread(60, 2), np.tile([1.0, 2.0, 3.0], 20)
        interval = s.bootstrap_interval(difference, weights, resamples=20_000)
        assert interval is not None
        copies = np.repeat(difference, weights.astype(int))
        assert np.mean(interval) == pytest.approx(copies.mean(), abs=0.01)
        residual = weights * (difference - copies.mean())
        deviation = math.sqrt((residual**2).sum()) / weights.sum()  # of a ratio of sums
        assert interval.high - interval.low == pytest.approx(2 * 2.0 * deviation, rel=0.06)

    def test_equal_weights_are_no_weights(self) -> None:
        difference = spread(50, 1)
        for method in ("percentile", "bca"):
            assert s.bootstrap_interval(difference, np.ones(50), method=method) == pytest.approx(
                s.bootstrap_interval(difference, None, method=method)
            )

    @pytest.mark.parametrize("confidence", [0.5, 0.8, 0.99])
    def test_more_confidence_is_wider(self, confidence: float) -> None:
        narrow = s.bootstrap_interval(spread(50), confidence=confidence)
        wide = s.bootstrap_interval(spread(50), confidence=(confidence + 1) / 2)
        assert narrow is not None
        assert wide is not None
        assert wide.low < narrow.low < narrow.high < wide.high

    def test_bca_leans_to_the_long_tail(self) -> None:
        """One query of 60 gains 1, ten gain a little: the upper end reaches further out than the lower."""
        difference = array([1.0] + [0.05] * 10 + [0.0] * 49)
        percentile = s.bootstrap_interval(difference)
        bca = s.bootstrap_interval(difference, method="bca")
        assert percentile is not None
        assert bca is not None
        assert bca.high > percentile.high
        assert bca.low > percentile.low

    @pytest.mark.parametrize("method", ["percentile", "bca"])
    @pytest.mark.parametrize(
        ("difference", "weights"),
        [([0, 1], None), ([-1, 1], [1.0, 1e-9]), ([1e-200, 3e-200, 0], None), ([1e90, -3e90, 0], None)],
        ids=str,
    )
    def test_two_queries_great_weights_and_scales(
        self, method: str, difference: list[float], weights: list[float] | None
    ) -> None:
        values = array(difference)
        interval = s.bootstrap_interval(values, None if weights is None else array(weights), method=method)
        assert interval is not None
        assert values.min() <= interval.low <= interval.high <= values.max()


class TestNothingToTest:
    @pytest.mark.jit_free
    @pytest.mark.parametrize("n", [1, 2, 50])
    def test_nothing_differs(self, n: int) -> None:
        zeros = np.zeros(n)
        assert (s.t_test(zeros), s.wilcoxon_test(zeros)) == (1.0, 1.0)
        assert s.randomisation_test(zeros, None, **RANDOM) == 1.0
        assert s.bootstrap_interval(zeros) == (None if n == 1 else (0.0, 0.0))

    @pytest.mark.jit_free
    def test_no_queries(self) -> None:
        none = np.zeros(0)
        assert s.t_test(none) is s.wilcoxon_test(none) is None
        assert s.randomisation_test(none, None, **RANDOM) is s.bootstrap_interval(none) is None
        assert math.isnan(s.weighted_mean(none, None))

    def test_one_query(self) -> None:
        one = np.ones(1)
        assert s.t_test(one) is s.bootstrap_interval(one) is None
        assert s.wilcoxon_test(one) == s.randomisation_test(one, None, **RANDOM) == 1.0

    def test_the_same_difference_everywhere(self) -> None:
        """No spread for t; 2 of 2^10 sign patterns are as far out."""
        constant = np.full(10, 0.3)
        assert s.t_test(constant) is None
        assert s.wilcoxon_test(constant) == s.randomisation_test(constant, None, **RANDOM) == 2**-9
        assert s.bootstrap_interval(constant) == pytest.approx((0.3, 0.3))

    def test_a_sum_of_0_has_nothing_to_show(self) -> None:
        assert s.randomisation_test(array([0.1, 0.2, -0.3]), None, **RANDOM) == 1.0


class TestHolm:
    @pytest.mark.jit_free
    @pytest.mark.parametrize(
        ("p", "adjusted"),
        [
            ([], []),
            ([0.03], [0.03]),
            (
                [0.01, 0.04, 0.03, 0.005],
                [0.03, 0.06, 0.06, 0.02],
            ),  # 3 x .01, max(1 x .04, .06), 2 x .03, 4 x .005
            ([0.5, 0.6], [1.0, 1.0]),
            ([0.02, 0.02, 0.02], [0.06, 0.06, 0.06]),
            ([0.01, None, 0.04], [0.03, None, 0.08]),  # what has no answer found nothing, and counts
            ([None], [None]),
        ],
    )
    def test_by_hand(self, p: list[float | None], adjusted: list[float | None]) -> None:
        found = s.holm(p)
        assert [x is None for x in found] == [x is None for x in adjusted]
        assert [x for x in found if x is not None] == pytest.approx([x for x in adjusted if x is not None])

    @given(st.lists(st.floats(0, 1), max_size=8))
    def test_steps_down_as_holm_wrote_it(self, p: list[float]) -> None:
        """Reject the smallest while p_(j) <= alpha / (m - j + 1); stop at the first that is not."""
        adjusted = s.holm(p)
        for alpha in (0.01, 0.05, 0.3):
            ordered = enumerate(sorted(p))
            passed = itertools.takewhile(lambda jp, alpha=alpha: (len(p) - jp[0]) * jp[1] <= alpha, ordered)
            assert sum(x is not None and x <= alpha for x in adjusted) == len(list(passed))
