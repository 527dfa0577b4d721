"""Compare rankers query by query: is one better, by how much, and could it be chance?

    d_q = value of B on query q - value of A on query q

Every row of the answer is one measure and one pair of systems: means, wins / ties / losses, a bootstrap
interval of the mean difference, three tests, and Holm's correction over all rows. The mathematics stands in
`significance.py`, the words in `comparison.py`.
"""

from __future__ import annotations

import itertools
import math
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rankloom.data.groups import group_rows
from rankloom.errors import InputError
from rankloom.measures import significance
from rankloom.measures.comparison import TESTS, Comparison, Difference
from rankloom.measures.detail import Detail, reliability_of
from rankloom.measures.pairing import Pair, pair_up

if TYPE_CHECKING:
    from rankloom.measures.evaluation import Evaluation
    from rankloom.measures.measure import Measure

INTERVALS = ("percentile", "bca", "t")
LOWER_IS_BETTER = ("auc-loss", "mse", "logloss")
BY_ROWS = ("mse", "logloss")


@dataclass(frozen=True, slots=True)
class Settings:
    """How to compare; says what is wrong with a setting before anything is computed."""

    test: str = "randomisation"
    confidence: float = 0.95
    interval: str = "percentile"
    resamples: int = 10_000
    seed: int = 0
    threads: int | None = None

    def __post_init__(self) -> None:
        _one_of("test", self.test, tuple(TESTS))
        _one_of("interval", self.interval, INTERVALS)
        _between("confidence", self.confidence, numbers.Real, 0.5, 1 - 1e-9)
        _between("resamples", self.resamples, numbers.Integral, 100, 10**9)
        _between("seed", self.seed, numbers.Integral, 0, 2**64 - 1)
        if self.threads is not None:
            _between("threads", self.threads, numbers.Integral, 1, 10**6)

    def check_reach(self, n_tests: int) -> None:
        """Random flips give no p below 1 / (resamples + 1): after Holm, that might never reach the level."""
        needed = math.ceil(n_tests / (1 - self.confidence))
        if self.test == "randomisation" and self.resamples < needed:
            raise InputError(
                f"resamples must be at least {needed} for {n_tests} tests at this confidence, since with "
                f"fewer nothing could be found after Holm's correction; got {self.resamples}"
            )


def _one_of(name: str, value: Any, allowed: Sequence[str]) -> None:
    if value not in allowed:
        raise InputError(f"{name} must be one of {', '.join(allowed)}, got {value!r}")


def _between(name: str, value: Any, kind: Any, least: float, most: float) -> None:
    if isinstance(value, bool) or not isinstance(value, kind) or not least <= value <= most:
        what = "a whole number" if kind is numbers.Integral else "a number"
        raise InputError(f"{name} must be {what} from {least} to {most}, got {value!r}")


def compare(
    scores_a: Any,
    scores_b: Any = None,
    y: Any = None,
    *,
    qid: Any = None,
    measures: Any = ("ndcg@10",),
    query_weights: Any = None,
    doc_ids: Any = None,
    names: Sequence[str] = ("A", "B"),
    baseline: str | None = None,
    all_pairs: bool = False,
    test: str = "randomisation",
    confidence: float = 0.95,
    interval: str = "percentile",
    resamples: int = 10_000,
    seed: int = 0,
    threads: int | None = None,
) -> Comparison:
    """Compare the rankings of two systems, `compare(scores_a, scores_b, y, qid=qid)`, or of several,
    `compare({"old": scores, "new": scores, ...}, y, qid=qid)`.

    Parameters
    ----------
    scores_a, scores_b, y, qid, doc_ids
        As for `evaluate`: one score a row for each system, labels (or a `RankingData`), and query ids.
    measures
        Measures or their names, one row each for every pair of systems. Squared error and log loss weigh a
        query by its rows, as `evaluate` does.
    query_weights
        One weight a query, in the order of `evaluate`. The mean difference, the randomisation test and the
        interval are then weighted; the t-test and Wilcoxon's know no weights, and are left out.
    names
        What to call the two systems (a mapping brings its own names).
    baseline, all_pairs
        With several systems: the one that all others are compared with (else the first), or all pairs.
    test
        The test that the summary goes by: "randomisation", "t" or "wilcoxon". Choose it before looking.
    confidence
        Of the interval; the tests' level is 1 - confidence.
    interval
        "percentile", or "bca" for differences that are mostly 0 with a long tail to one side, both of
        bootstrap resamples; or "t", Student's, which needs no resamples and knows no weights.
    resamples, seed
        Of the bootstrap and of the randomisation test. Same seed, same bits, for any number of threads.
    """
    settings = Settings(test, confidence, interval, resamples, seed, threads)
    systems, y = _systems(scores_a, scores_b, y, names)
    pairs = _pairs(tuple(systems), baseline, all_pairs)
    wanted = _measures(measures)
    settings.check_reach(len(wanted) * len(pairs))
    options = {"qid": qid, "query_weights": query_weights, "doc_ids": doc_ids, "threads": threads}
    evaluations = {name: _evaluate(name, scores, y, wanted, options) for name, scores in systems.items()}
    weights = {str(measure): _weights(measure, y, qid, query_weights) for measure in wanted}
    rows = []
    for measure, (a, b) in itertools.product(wanted, pairs):
        values_a, values_b = (evaluations[name].per_query(measure) for name in (a, b))
        pair = pair_up(values_a, values_b, weights[str(measure)], (a, b))
        rows.append(_row(pair, str(measure), (a, b), measure.name in LOWER_IS_BETTER, settings))
    values = {
        str(measure): {str(name): found.per_query(measure) for name, found in evaluations.items()}
        for measure in wanted
    }
    queries = next(iter(evaluations.values())).qids
    return _comparison(
        rows, tuple(systems), settings, Detail(values, weights, queries, reliability_of(systems, y))
    )


def compare_values(
    values_a: Any,
    values_b: Any = None,
    *,
    measure: str = "value",
    lower_is_better: bool = False,
    weights: Any = None,
    names: Sequence[str] = ("A", "B"),
    baseline: str | None = None,
    all_pairs: bool = False,
    test: str = "randomisation",
    confidence: float = 0.95,
    interval: str = "percentile",
    resamples: int = 10_000,
    seed: int = 0,
    threads: int | None = None,
) -> Comparison:
    """Like `compare`, from values that are there already: one a query and system, NaN where there is none.

    `compare_values(a, b)` for two systems, `compare_values({"old": a, "new": b, ...})` for several.
    """
    settings = Settings(test, confidence, interval, resamples, seed, threads)
    if isinstance(values_a, Mapping):
        if values_b is not None:
            raise InputError("compare_values takes a mapping of systems, or two arrays, not both")
        systems = dict(values_a)
    else:
        systems = _two(values_a, values_b, names)
    pairs = _pairs(tuple(systems), baseline, all_pairs)
    settings.check_reach(len(pairs))
    rows = [
        _row(pair_up(systems[a], systems[b], weights, (a, b)), measure, (a, b), lower_is_better, settings)
        for a, b in pairs
    ]
    values = {str(name): np.asarray(each, dtype=np.float64) for name, each in systems.items()}
    queries = np.arange(len(next(iter(values.values()))))
    return _comparison(
        rows, tuple(systems), settings, Detail({measure: values}, {measure: weights}, queries, {})
    )


def _measures(measures: Any) -> list[Measure]:
    """Different measures that have a value for each query, from one or several, by name or not."""
    from rankloom.measures.measure import Measure

    given = [measures] if isinstance(measures, str | Measure) else measures
    parsed = list(dict.fromkeys(Measure.parse(measure) for measure in given))
    if not parsed:
        raise InputError("measures must name at least one measure, got none")
    if "ece" in (measure.name for measure in parsed):
        raise InputError(
            "ece is one number for all rows: without a value per query, there is nothing to pair"
        )
    return parsed


def _evaluate(name: str, scores: Any, y: Any, measures: list[Measure], options: dict[str, Any]) -> Evaluation:
    """`evaluate`, saying which system it is whose scores cannot be used."""
    from rankloom.measures.evaluate import evaluate

    try:
        return evaluate(scores, y, measures=measures, **options)
    except InputError as error:
        raise InputError(f"system {name}: {error}") from error


def _weights(measure: Measure, y: Any, qid: Any, query_weights: Any) -> Any:
    """One weight a query, as `evaluate` has them: measures of points weigh a query by its rows too."""
    weights = getattr(y, "query_weights", None) if query_weights is None else query_weights
    if measure.name not in BY_ROWS:
        return weights
    lengths = np.diff(y.offsets if hasattr(y, "offsets") else group_rows(qid, len(y)).offsets)
    return lengths if weights is None else lengths * np.asarray(weights, dtype=np.float64)


def _systems(scores_a: Any, scores_b: Any, y: Any, names: Sequence[str]) -> tuple[dict[str, Any], Any]:
    """Names with scores, and the labels, from either way of calling `compare`."""
    if not isinstance(scores_a, Mapping):
        systems = _two(scores_a, scores_b, names)
    elif scores_b is not None and y is not None:
        raise InputError("with a mapping of systems, call compare(systems, y): there is no third argument")
    else:
        systems, y = dict(scores_a), y if scores_b is None else scores_b
    if y is None:
        raise InputError("labels are missing: give y, an array or a RankingData")
    return systems, y


def _two(a: Any, b: Any, names: Sequence[str]) -> dict[str, Any]:
    if b is None:
        raise InputError("there is one system only: give a second, or a mapping from names to several")
    if isinstance(names, str) or len(names) != 2 or names[0] == names[1]:
        raise InputError(f"names must be two different names, got {names!r}")
    return {str(names[0]): a, str(names[1]): b}


def _pairs(systems: tuple[str, ...], baseline: str | None, all_pairs: bool) -> list[tuple[str, str]]:
    """Which systems are compared, as (a, b)."""
    if len(systems) < 2:
        raise InputError(f"comparing takes two systems or more, got {len(systems)}")
    if baseline is not None and baseline not in systems:
        raise InputError(f"baseline must be one of {', '.join(map(str, systems))}, got {baseline!r}")
    if all_pairs:
        if baseline is not None:
            raise InputError("all_pairs compares every two systems: leave baseline out")
        return list(itertools.combinations(systems, 2))
    first = systems[0] if baseline is None else baseline
    return [(first, other) for other in systems if other != first]


def _row(
    pair: Pair, measure: str, names: tuple[str, str], lower_is_better: bool, settings: Settings
) -> Difference:
    """Every number of one row but Holm's."""
    difference, weights = pair.difference, pair.weights
    if weights is not None:
        _check_weightable(settings)
    interval = _interval(difference, weights, settings)
    above, below = int((difference > 0).sum()), int((difference < 0).sum())
    wins, losses = (below, above) if lower_is_better else (above, below)
    unweighted = weights is None
    row = Difference(
        measure=measure,
        a=names[0],
        b=names[1],
        lower_is_better=lower_is_better,
        n_queries=len(difference),
        n_skipped=pair.n_skipped,
        mean_a=_mean(pair.a, weights),
        mean_b=_mean(pair.b, weights),
        difference=_mean(difference, weights),
        low=interval.low if interval else None,
        high=interval.high if interval else None,
        wins=wins,
        ties=len(difference) - wins - losses,
        losses=losses,
        p_t=significance.t_test(difference) if unweighted else None,
        p_wilcoxon=significance.wilcoxon_test(difference) if unweighted else None,
        p_randomisation=significance.randomisation_test(difference, weights, **_sampling(settings)),
        weighted=not unweighted,
    )
    return replace(row, note=_note(row, settings))


def _sampling(settings: Settings) -> dict[str, Any]:
    return {"resamples": settings.resamples, "seed": settings.seed, "threads": settings.threads}


def _interval(difference: Any, weights: Any, settings: Settings) -> significance.Interval | None:
    if settings.interval == "t":
        return significance.student_interval(difference, settings.confidence)
    how: dict[str, Any] = {"confidence": settings.confidence, "method": settings.interval}
    return significance.bootstrap_interval(difference, weights, **how, **_sampling(settings))


def _check_weightable(settings: Settings) -> None:
    if settings.test != "randomisation":
        raise InputError(
            f'the {TESTS[settings.test]} knows no query weights: use test="randomisation", or leave them out'
        )
    if settings.interval == "t":
        raise InputError(
            'Student\'s interval knows no query weights: use interval="percentile", or leave them out'
        )


def _mean(values: Any, weights: Any) -> float | None:
    return significance.weighted_mean(values, weights) if len(values) else None


def _note(row: Difference, settings: Settings) -> str:
    """What a reader must know of a row whose numbers are fewer, or mean less, than usual."""
    if row.n_queries == 0:
        return ""
    if row.n_queries == 1:
        return "one query is too few for an interval or a test"
    differing, notes = row.wins + row.losses, []
    if row.low == row.high and differing:
        notes.append("all differences are equal, so the interval has no width and there is no t-test")
    least, alpha = 2.0 ** (1 - differing), 1 - settings.confidence
    if differing and least > alpha:
        enough = math.ceil(1 - math.log2(alpha))
        notes.append(
            f"too few queries differ ({differing}): the randomisation and Wilcoxon tests cannot go below "
            f"p = {least:g}; with {enough} they could reach {alpha:.4g}"
        )
    return "; ".join(notes)


def _comparison(
    rows: list[Difference], systems: tuple[str, ...], settings: Settings, detail: Detail
) -> Comparison:
    """The rows with Holm's correction over all of them, for each test on its own."""
    tests = ("t", "wilcoxon", "randomisation")
    columns = zip(*(significance.holm([row.p(test) for row in rows]) for test in tests), strict=True)
    corrected = tuple(
        replace(row, holm_t=t, holm_wilcoxon=wilcoxon, holm_randomisation=randomisation)
        for row, (t, wilcoxon, randomisation) in zip(rows, columns, strict=True)
    )
    return Comparison(
        corrected,
        tuple(map(str, systems)),
        settings.test,
        float(settings.confidence),
        settings.interval,
        int(settings.resamples),
        int(settings.seed),
        detail,
    )
