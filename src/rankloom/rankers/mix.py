"""The best linear combination of two rankers for any measure, exactly (Burges 2010, section 7.1).

score = alpha a + (1 - alpha) b        a measure of rankings changes only where two rows' scores cross
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankloom.data.ranking_data import RankingData
from rankloom.errors import InputError
from rankloom.measures.inputs import judged
from rankloom.measures.measure import Measure
from rankloom.measures.walk import Interval, Walked, walk
from rankloom.models.mixed import MixedModel, mixed_scores

Numbers = NDArray[np.float64]

# Where in an interval alpha is tried: in the very middle, scores may tie at a crossing that changes nothing.
_PLACES = (0.5, 0.382, 0.618, 0.29, 0.71)
_AGREES = 1e-9


class Mix:
    """What the walk found.

    Attributes:
        alpha: the best share of a: the middle of the widest of the best intervals, or 0 or 1.
        value: the measure at alpha, as `evaluate` has it.
        value_a: the measure of a alone (alpha = 1).
        value_b: the measure of b alone (alpha = 0).
        interval: the alphas around the best one between which nothing changes.
        measure: what was looked at.
        alphas: the borders of the intervals, rising from 0 to 1.
        values: the measure in each interval.
        crossings: at how many alphas something changes.
        scales: what scores of a and b are divided by.
        model: the two models as one, if two models were given.
    """

    def __init__(
        self,
        best: tuple[float, float, tuple[float, float]],
        ends: tuple[float, float],
        walked: Walked,
        measure: Measure,
        scales: tuple[float, float],
    ) -> None:
        self.alpha, self.value, self.interval = best
        self.value_b, self.value_a = ends
        self.alphas, self.values, self.crossings = walked.edges, walked.values, walked.crossings
        self.measure, self.scales = measure, scales
        self.model: MixedModel | None = None

    def scores(self, a: Any, b: Any) -> Numbers:
        """Other scores of the two rankers, combined in the same way."""
        return mixed_scores(np.asarray(a, float), np.asarray(b, float), self.alpha, self.scales)

    def merged(self, a: Any, b: Any) -> MixedModel:
        """Two models as one that scores so."""
        about = {"method": "mix", "mixed_for": self.to_dict()}
        return MixedModel(a, b, self.alpha, scales=self.scales, about=about)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and texts."""
        return {
            "measure": str(self.measure),
            "alpha": self.alpha,
            "value": self.value,
            "a": self.value_a,
            "b": self.value_b,
            "interval": list(self.interval),
            "scales": list(self.scales),
            "crossings": self.crossings,
        }

    def svg(self) -> str:
        """The measure for every alpha, as the text of an SVG figure."""
        from rankloom.measures.figure import Line, Mark, chart, steps

        line = Line(*steps(self.alphas, self.values))
        marks = [
            Mark(0.0, self.value_b, "b", "#333"),
            Mark(1.0, self.value_a, "a", "#333"),
            Mark(self.alpha, self.value, f"{self.value:.4f} at {self.alpha:.4g}"),
        ]
        title = f"{self.measure} of alpha a + (1 - alpha) b"
        return chart([line], title=title, x_label="alpha", y_label=str(self.measure), marks=marks)

    def __str__(self) -> str:
        return (
            f"{self.measure} is best, {self.value:.4f}, at alpha = {self.alpha:.6g} (the same from "
            f"{self.interval[0]:.6g} to {self.interval[1]:.6g}); a alone has {self.value_a:.4f}, b alone "
            f"{self.value_b:.4f}; {self.crossings:,} crossings change it"
        )

    def __repr__(self) -> str:
        return f"Mix({self.measure} {self.value:.4f} at alpha {self.alpha:.4g})"


def mix(
    a: Any,
    b: Any,
    y: Any,
    *,
    qid: Any = None,
    measure: str | Measure = "ndcg@10",
    scale: bool = False,
    query_weights: Any = None,
    doc_ids: Any = None,
    threads: int | None = None,
) -> Mix:
    """The alpha for which alpha a + (1 - alpha) b ranks best, of all from 0 to 1.

    Args:
        a: scores, one a row; or a model or a fitted ranker, if y is a RankingData.
        b: as a.
        y: labels, or a RankingData, which knows the queries.
        qid: the query of each row; None is one query over everything.
        measure: any measure of rankings, with its convention.
        scale: divide scores by their standard deviation first, so that alpha says what each ranker weighs.
            The best value is the same.
        query_weights: one per query, in the order in which queries first appear.
        doc_ids: for measures with ties="docid".
        threads: how many; the result is the same.

    Between two crossings of scores nothing changes, so no alpha is better than the one found, except for
    those at which scores tie by chance: they are not looked at, since the last bit decides what a tie is
    worth. At 0 and 1 ties count as the measure says.
    """
    parsed, models = Measure.parse(measure), [_model_of(one) for one in (a, b)]
    columns = [
        one if model is None else _scored(model, y, threads)
        for one, model in zip((a, b), models, strict=True)
    ]
    rows = [judged(column, y, qid, query_weights, doc_ids) for column in columns]
    for name, one in zip("ab", rows, strict=True):
        one.refuse(~np.isfinite(one.scores), f"scores of {name} must be finite to be mixed", one.scores)
    scales = (_scale(rows[0].scores, "a"), _scale(rows[1].scores, "b")) if scale else (1.0, 1.0)
    first, second = (one.scores / by for one, by in zip(rows, scales, strict=True))
    walked = walk(first, second, rows[1], parsed, threads)

    def value(alpha: float) -> float:
        return _value(mixed_scores(rows[0].scores, rows[1].scores, alpha, scales), rows[1], parsed, threads)

    ends = value(0.0), value(1.0)
    best = _best(walked, ends, value, -1.0 if parsed.lower_is_better else 1.0)
    found = Mix(best, ends, walked, parsed, scales)
    if models[0] is not None and models[1] is not None:
        found.model = found.merged(*models)
    return found


def _model_of(given: Any) -> Any:
    """The model that was given, or that a ranker has learned; None for scores."""
    if hasattr(given, "model_"):
        return given.model_
    if hasattr(given, "decision_function"):
        if hasattr(given, "content"):
            return given
        raise InputError(f"a {type(given).__name__} has learned nothing yet; call fit first")
    return None


def _scored(model: Any, data: Any, threads: int | None) -> Numbers:
    if not isinstance(data, RankingData):
        raise InputError("models need features to score: mix(model_a, model_b, data), data a RankingData")
    scores: Numbers = model.decision_function(data, threads)
    return scores


def _scale(scores: Numbers, name: str) -> float:
    spread = float(np.std(scores)) if len(scores) else 0.0
    if not spread > 0.0 or not np.isfinite(spread):
        raise InputError(f"the scores of {name} are all alike, so they have no scale; leave out scale")
    return spread


def _value(scores: Numbers, rows: Any, measure: Measure, threads: int | None) -> float:
    """The measure of these scores, rows as they are grouped."""
    from rankloom.measures.evaluate import evaluate

    query = np.repeat(np.arange(len(rows.qids)), np.diff(rows.offsets))
    weights = rows.query_weights
    found = evaluate(
        scores, rows.labels, qid=query, measures=measure, query_weights=weights, doc_ids=rows.doc_ids,
        threads=threads,
    )  # fmt: skip
    return found[measure]


def _best(
    walked: Walked, ends: tuple[float, float], value: Any, sign: float
) -> tuple[float, float, tuple[float, float]]:
    """The best alpha, what the measure is there, and the interval around it.

    Each interval is measured before it is believed: one narrower than scores can tell apart is passed over.
    """
    found = (0.0, ends[0], (0.0, 0.0))
    if sign * ends[1] > sign * ends[0]:
        found = (1.0, ends[1], (1.0, 1.0))
    for interval in walked.best:
        if sign * interval.value < sign * found[1] - _AGREES:
            break
        for alpha, got in _tried(interval, value):
            if abs(got - interval.value) <= _AGREES and sign * got >= sign * found[1] - 1e-12:
                return alpha, got, (interval.low, interval.high)
            if sign * got > sign * found[1] + 1e-12:
                found = (alpha, got, (interval.low, interval.high))
    return found


def _tried(interval: Interval, value: Any) -> Any:
    """Alphas within an interval, and the measure at each."""
    for place in _PLACES:
        alpha = interval.low + place * (interval.high - interval.low)
        yield alpha, value(alpha)
