"""Is a model at a local maximum of a measure? The empirical test of Burges (2010), section 4.2.

One coordinate at a time: no step of any weight, up or down, makes the measure higher. And n random
directions, uniform on the sphere: if p is the part of all directions that lead up, none of n does so with
probability (1 - p)^n, so that n >= log(delta) / log(1 - p0) leave a confidence of 1 - delta that p <= p0
(equation 9).

Seen from near, every curve is made of little steps. "Higher" means: by more than a tolerance, a part of what
the measure would vary by with other queries, and by more than chance in the queries that there are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankloom.data.ranking_data import RankingData
from rankloom.errors import InputError
from rankloom.measures.evaluate import evaluate
from rankloom.measures.measure import Measure
from rankloom.measures.presets import POINTS
from rankloom.models.linear import LinearModel
from rankloom.models.net import NetModel, dense_block
from rankloom.models.scoring import row_blocks
from rankloom.rankers.checks import number, whole

Numbers = NDArray[np.float64]
STEPS = (0.01, 0.02, 0.05, 0.1, 0.2)
TOLERANCE = 0.25  # standard errors of the measure's mean over queries
_MOST_DRAWN = 60


class Direction(NamedTuple):
    """The measure along one line through the model's weights.

    `name` is a feature or parameter, or None for a random direction. `steps` are parts of the length of all
    weights, `values` the measure there, `rise` by how much the best of them is better.
    """

    name: str | None
    steps: Numbers
    values: Numbers
    rise: float
    leads_up: bool


class LocalOptimum:
    """What the test found; true where no direction leads up.

    Attributes:
        value: the measure at the model's weights.
        measure: which.
        coordinates: a Direction per weight, both ways.
        random: a Direction per random one.
        confidence: 1 - delta of the random directions.
        share: at the confidence, at most this part of all directions lead up.
        tolerance: by how much a step had to be better to count.
        level: how unlikely chance had to be besides.
    """

    def __init__(
        self,
        value: float,
        measure: Measure,
        coordinates: Sequence[Direction],
        random: Sequence[Direction],
        confidence: float,
        tolerance: float,
        level: float,
    ) -> None:
        self.value, self.measure = value, measure
        self.coordinates, self.random = list(coordinates), list(random)
        self.confidence, self.tolerance, self.level = confidence, tolerance, level
        self.share = upper_share(self.up_random, len(self.random), confidence)

    @property
    def up_coordinates(self) -> int:
        """How many weights lead up when they are changed alone."""
        return sum(one.leads_up for one in self.coordinates)

    @property
    def up_random(self) -> int:
        """How many random directions lead up."""
        return sum(one.leads_up for one in self.random)

    @property
    def steepest(self) -> Direction:
        """The direction that leads furthest up."""
        every = [*self.coordinates, *self.random]
        return max([one for one in every if one.leads_up] or every, key=lambda one: one.rise)

    def __bool__(self) -> bool:
        return not (self.up_coordinates or self.up_random)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and texts."""
        best = self.steepest
        return {
            "local_maximum": bool(self),
            "measure": str(self.measure),
            "value": self.value,
            "coordinates": {"tested": len(self.coordinates), "lead_up": self.up_coordinates},
            "random": {"tested": len(self.random), "lead_up": self.up_random},
            "confidence": self.confidence,
            "share": self.share,
            "tolerance": self.tolerance,
            "level": self.level,
            "steepest": {"name": best.name, "rise": best.rise},
        }

    def __str__(self) -> str:
        tested = f"{len(self.coordinates):,} weights one by one and {len(self.random):,} random directions"
        if self:
            sure = f"with {self.confidence:.0%} confidence, at most {self.share:.2%} of all directions do"
            told = f"none leads up by more than {self.tolerance:.4f}; {sure}"
            return f"yes, a local maximum: {self.measure} is {self.value:.4f}, and of {tested} {told}"
        best = self.steepest
        where = "a random direction" if best.name is None else best.name
        return (
            f"no: {self.measure} is {self.value:.4f}, and of {tested}, {self.up_coordinates:,} and "
            f"{self.up_random:,} lead up by more than {self.tolerance:.4f}, {where} by {best.rise:.4f}"
        )

    def __repr__(self) -> str:
        return f"LocalOptimum({bool(self)}, {self.measure} {self.value:.4f})"

    def svg(self) -> str:
        """The measure along coordinates (both ways) and random directions, as the text of an SVG figure."""
        from rankloom.measures.figure import Line, Mark, chart

        lines = [
            Line(one.steps, one.values, "#c0392b" if one.leads_up else colour, 1.0, 0.6)
            for directions, colour in ((self.random, "#7f8c8d"), (self.coordinates, "#1f4e79"))
            for one in _spread(directions)
        ]
        names = [("random directions", "#7f8c8d"), ("one weight", "#1f4e79")]
        if not self:
            names.append(("leads up", "#c0392b"))
        at = [0.0], [self.value]
        lines += [Line(*at, colour, 2.0, 1.0, name) for name, colour in names]
        return chart(
            lines,
            title=f"{self.measure} around the model's weights",
            x_label="step, as a part of the length of all weights",
            y_label=str(self.measure),
            marks=[Mark(0.0, self.value, f"{self.value:.4f}", "#111")],
        )


def local_optimum(
    model: Any,
    data: RankingData,
    measure: str | Measure = "ndcg@10",
    *,
    confidence: float = 0.99,
    share: float = 0.01,
    directions: int | None = None,
    coordinates: int | None = None,
    steps: Sequence[float] = STEPS,
    level: float = 0.05,
    tolerance: float | None = None,
    seed: int = 0,
    threads: int | None = None,
) -> LocalOptimum:
    """Test whether a linear model or a plain net is at a local maximum of a measure, on the data given.

    Args:
        model: a LinearModel, a NetModel, or a ranker that has learned one.
        data: labelled rows, best those that the model was trained on.
        measure: any measure of rankings.
        confidence: with none of the random directions leading up, how sure it is that at most `share` do.
        share: the part of all directions that may go unseen.
        directions: how many random ones; None is as many as confidence and share ask for: 459.
        coordinates: how many weights to change one by one, drawn at random; None is all of them.
        steps: how far to go, as parts of the length of all weights.
        level: a step counts as better only where a one-sided paired test over queries is below this.
        tolerance: and only where it is better by more than this; None is a quarter of the standard error of
            the measure's mean over queries.
        seed: of the random directions.
        threads: how many; the result is the same.

    The weights of a linear model are looked at as weights of features of standard deviation 1, so that a
    direction means the same whatever a feature is measured in; the biases of its last layer move no ranking.
    """
    parsed = Measure.parse(measure)
    if parsed.name in POINTS:
        raise InputError(f"{parsed} measures values, not rankings; name a measure of rankings: ndcg@10")
    if not isinstance(data, RankingData) or data.y is None:
        raise InputError("data must be a RankingData with labels")
    number("confidence", confidence, 0.0, 1.0 - 1e-12)
    n = directions_needed(confidence, share) if directions is None else whole("directions", directions, 0)
    reach = _checked_steps(steps)
    number("level", level, 0.0, 0.5)
    space = _space_of(getattr(model, "model_", model), data, threads)
    size = len(space.names)
    judge = _Judge(data, parsed, level, tolerance, space.scores(np.zeros(size)), threads)
    both = np.concatenate((-reach[::-1], reach)) * space.length
    draw, alone, random = np.random.default_rng(whole("seed", seed, 0)), [], []
    for place in _places(size, coordinates, draw):
        line = space.line(np.eye(1, size, place)[0])
        alone.append(judge.along(space.names[place], line, both, space.length))
    for _ in range(n):
        vector = draw.normal(size=size)
        line = space.line(vector / np.linalg.norm(vector))
        random.append(judge.along(None, line, reach * space.length, space.length))
    return LocalOptimum(judge.value, parsed, alone, random, confidence, judge.tolerance, level)


def _places(size: int, wanted: int | None, draw: Any) -> list[int]:
    """Which weights to change one by one."""
    if wanted is None or whole("coordinates", wanted, 0) >= size:
        return list(range(size))
    places: list[int] = np.sort(draw.choice(size, wanted, replace=False)).tolist()
    return places


def directions_needed(confidence: float = 0.99, share: float = 0.01) -> int:
    """How many random directions, none leading up, leave this confidence that at most `share` of all do.

    n >= log(delta) / log(1 - p0): 459 for 99 % at 0.01 (equation 9).
    """
    delta = 1.0 - number("confidence", confidence, 0.0, 1.0 - 1e-12)
    p0 = number("share", share, 0.0, 1.0 - 1e-12)
    return math.ceil(math.log(delta) / math.log1p(-p0) - 1e-9)


def upper_share(found: int, n: int, confidence: float) -> float:
    """The largest part of all directions that may lead up, if `found` of n do, at this confidence.

    For none it is 1 - delta^(1/n); else as Clopper and Pearson have it.
    """
    if found >= n:
        return 1.0  # none tested, or all of them
    if found == 0:
        return float(-np.expm1(np.log1p(-confidence) / n))
    from scipy.special import betaincinv

    return float(betaincinv(found + 1, n - found, confidence))


class _Space(NamedTuple):
    """The weights that are moved: their names and length, and scores for a move of them."""

    names: list[str]
    length: float
    line: Callable[[Numbers], Callable[[float], Numbers]]

    def scores(self, vector: Numbers) -> Numbers:
        return self.line(vector)(0.0)


def _space_of(model: Any, data: RankingData, threads: int | None) -> _Space:
    if isinstance(model, LinearModel):
        return _linear_space(model, data, threads)
    if isinstance(model, NetModel):
        return _net_space(model, data, threads)
    raise InputError(
        f"local_optimum needs a model with weights to move, a LinearModel or a NetModel, got a "
        f"{type(model).__name__}"
    )


def _linear_space(model: LinearModel, data: RankingData, threads: int | None) -> _Space:
    """A move v of weights for features of standard deviation 1: scores are those before plus t X v."""
    spread = _spreads(data)
    moved = np.flatnonzero(spread > 0.0)
    length = float(np.linalg.norm(model.weights * spread))
    if length <= 0.0:
        raise InputError("all weights of the model are 0, so that steps have no length")
    before = model.decision_function(data, threads)

    def line(vector: Numbers) -> Callable[[float], Numbers]:
        weights = np.zeros(model.n_features)
        weights[moved] = vector / spread[moved]
        change = LinearModel(weights).decision_function(data, threads) if vector.any() else 0.0
        return lambda t: before + t * change

    names = model.feature_names
    return _Space([f"column {j}" if names is None else names[j] for j in moved.tolist()], length, line)


def _net_space(model: NetModel, data: RankingData, threads: int | None) -> _Space:
    """A move of all weights and biases but the last layer's bias, which moves no ranking."""
    parameters = model.parameters
    names = [
        f"layer {place}, {what}"
        for place, (weights, biases) in enumerate(model.layers, start=1)
        for what in (
            *(f"{i} to {o}" for i in range(weights.shape[0]) for o in range(weights.shape[1])),
            *(f"bias {o}" for o in range(len(biases))),
        )
    ][:-1]
    length = float(np.linalg.norm(parameters[:-1]))

    def line(vector: Numbers) -> Callable[[float], Numbers]:
        move = np.append(vector, 0.0)
        return lambda t: model.with_parameters(parameters + t * move).decision_function(data, threads)

    return _Space(names, length, line)


def _spreads(data: RankingData) -> Numbers:
    """The standard deviation of each feature."""
    total, squares, features = np.zeros(data.n_features), np.zeros(data.n_features), data.features
    blocks = row_blocks(features)
    for start, stop in blocks:
        total += dense_block(features.rows(start, stop)).sum(axis=0, dtype=np.float64)
    for start, stop in blocks:
        away = dense_block(features.rows(start, stop)) - total / data.n_rows
        squares += (away * away).sum(axis=0)
    return np.sqrt(squares / data.n_rows)


class _Judge:
    """Compares the measure of moved scores with that of the model's, query by query."""

    def __init__(
        self,
        data: RankingData,
        measure: Measure,
        level: float,
        tolerance: float | None,
        scores: Numbers,
        threads: int | None,
    ) -> None:
        self._data, self._measure, self._threads = data, measure, threads
        self._needed = NormalDist().inv_cdf(1.0 - level)
        self.value, self._before = self._measured(scores)
        if math.isnan(self.value):
            raise InputError(f"{measure} is defined for no query of the data; name a measure that is")
        weights = np.ones(data.n_queries) if data.query_weights is None else data.query_weights
        known = ~np.isnan(self._before)
        self._share = np.where(known, weights, 0.0) / weights[known].sum()
        self._known = known
        if tolerance is None:
            self.tolerance = TOLERANCE * self._error(np.where(known, self._before, 0.0), self.value)
        else:
            self.tolerance = number("tolerance", tolerance, 0.0, open_low=False)

    def _measured(self, scores: Numbers) -> tuple[float, Numbers]:
        found = evaluate(scores, self._data, measures=self._measure, threads=self._threads)
        return found[self._measure], found.per_query(self._measure)

    def along(
        self, name: str | None, line: Callable[[float], Numbers], steps: Numbers, length: float
    ) -> Direction:
        """The measure at each step, and whether one is higher by more than chance."""
        found = [self._measured(line(float(step))) for step in steps]
        rises = [self._rise(after) for _, after in found]
        values = np.array([value for value, _ in found])
        at = np.concatenate((steps / length, [0.0]))
        order = np.argsort(at)
        up = any(is_up for _, is_up in rises)
        best = max(rise for rise, is_up in rises if is_up == up)
        return Direction(name, at[order], np.append(values, self.value)[order], best, up)

    def _rise(self, after: Numbers) -> tuple[float, bool]:
        """By how much the measure is better, and whether that counts."""
        sign = -1.0 if self._measure.lower_is_better else 1.0
        rises = np.where(self._known, sign * (after - self._before), 0.0)
        mean = float(self._share @ rises)
        return mean, mean > max(self.tolerance, self._needed * self._error(rises, mean))

    def _error(self, values: Numbers, mean: float) -> float:
        """The standard error of the mean over queries."""
        away = np.where(self._known, values - mean, 0.0)
        return float(np.sqrt(np.sum((self._share * away) ** 2)))


def _checked_steps(steps: Any) -> Numbers:
    found = np.unique(np.asarray(steps, dtype=np.float64))
    if not len(found) or found.ndim != 1 or not (np.isfinite(found) & (found > 0.0)).all():
        raise InputError(f"steps must be numbers > 0, such as {STEPS}, got {steps!r:.60}")
    return found


def _spread(directions: Sequence[Direction]) -> list[Direction]:
    """Some of many directions, those that lead up among them."""
    if len(directions) <= _MOST_DRAWN:
        return list(directions)
    ranked = sorted(directions, key=lambda one: one.rise)
    return [ranked[place] for place in np.linspace(0, len(ranked) - 1, _MOST_DRAWN).astype(int).tolist()]
