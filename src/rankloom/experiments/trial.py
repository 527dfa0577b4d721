"""One trial: learn with some settings, measure on rows that were held out."""

from __future__ import annotations

import inspect
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from sklearn.base import clone

from rankloom.data.ranking_data import RankingData
from rankloom.errors import InputError, RankloomError
from rankloom.experiments.material import Material, Pair
from rankloom.measures.evaluate import evaluate
from rankloom.measures.measure import Measure
from rankloom.measures.presets import LOSSES, POINTS
from rankloom.models.base import Model

COMPLETE, PRUNED, FAILED = "complete", "pruned", "failed"
BEGUN = "begun"  # some folds are done, and more are to come


class Job(NamedTuple):
    """Settings to try on one fold, one after the other: one, or several along a path."""

    settings: Sequence[Mapping[str, Any]]
    path: str | None = None
    floors: Mapping[int, float] = {}
    """At each step, the value below which the best so far is not worth going on; larger is better."""
    watched: bool = False
    """Whether values on the way are wanted."""
    fold: int = 0


class Outcome(NamedTuple):
    """What came of one trial; as the answer to a job, of one fold of it."""

    state: str
    value: float | None = None
    folds: Sequence[float] = ()
    curve: Sequence[tuple[int, float]] = ()
    seconds: float = 0.0
    error: str | None = None


def sign_of(measure: Measure) -> float:
    """1 where more is better, -1 where less is."""
    return -1.0 if measure.name in LOSSES else 1.0


def quality(model: Model, data: RankingData, measure: Measure) -> float:
    """A measure of the ranking by a model's scores; of its values for mse, logloss and ece."""
    scores = model.decision_function(data)
    given = model.values_of(scores) if measure.name in POINTS else scores
    return float(evaluate(given, data, measures=measure)[measure])


def run(job: Job, ranker: Any, material: Material, measure: Measure) -> list[Outcome]:
    """All trials of a job on its fold. What goes wrong with settings is an outcome, not an error."""
    begin = time.perf_counter()
    try:
        pair = material.pair(job.fold)
        if job.path is not None:
            found = _along(job, clone(ranker), pair, measure)
        else:
            (settings,) = job.settings
            found = [_one(job, clone(ranker).set_params(**settings), pair, measure, material.n_folds == 1)]
    except Exception as error:
        found = [Outcome(FAILED, error=_said(error))] * len(job.settings)
    each = (time.perf_counter() - begin) / len(found)
    return [outcome._replace(seconds=round(each, 4)) for outcome in found]


def gathered(
    folds: Sequence[float], n_folds: int, job: Job, measure: Measure, seconds: float = 0.0
) -> Outcome:
    """What the folds done so far make of a trial; given up where others were better at this point."""
    watch = Watch(job, measure)
    for done in range(1, min(len(folds) + 1, n_folds)):
        if job.watched and watch.sees(done, _mean(folds[:done])):
            return Outcome(PRUNED, watch.last, folds[:done], watch.curve, seconds)
    if len(folds) < n_folds:
        return Outcome(BEGUN, None, folds, watch.curve, seconds)
    return Outcome(COMPLETE, _mean(folds), folds, watch.curve, seconds)


def _said(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return (
        text if isinstance(error, RankloomError) and text else f"{type(error).__name__}: {text}".rstrip(": ")
    )


def _one(job: Job, ranker: Any, pair: Pair, measure: Measure, alone: bool) -> Outcome:
    """One pair, looked at on the way and stopped by validation data where it is the only one."""
    train, valid = pair
    watch = Watch(job, measure)
    if alone and job.watched:
        watch.over(ranker, valid)
    fit(ranker, train, valid if alone else None)
    if watch.gave_up:
        return Outcome(PRUNED, watch.last, (), watch.curve)
    return Outcome(COMPLETE, _defined(quality(ranker.model_, valid, measure), measure), (), watch.curve)


def _along(job: Job, ranker: Any, pair: Pair, measure: Measure) -> list[Outcome]:
    """All values of one parameter, each model begun where the one before ended."""
    train, valid = pair
    name = str(job.path)
    ranker.set_params(**{key: value for key, value in job.settings[0].items() if key != name})
    wanted = [settings[name] for settings in job.settings]
    found = {
        getattr(point, name): _defined(quality(point.model, valid, measure), measure)
        for point in ranker.path(train, **{f"{name}s": sorted(wanted)})
    }
    return [Outcome(COMPLETE, found[value]) for value in wanted]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _defined(value: float, measure: Measure) -> float:
    if not math.isfinite(value):
        raise InputError(f"{measure} is not defined on the rows held out")
    return value


def fit(ranker: Any, train: RankingData, valid: RankingData | None) -> None:
    """Learn; a ranker that stops by validation data is given them."""
    if valid is not None and "valid" in inspect.signature(ranker.fit).parameters:
        ranker.fit(train, valid=valid)
    else:
        ranker.fit(train)


def can_watch(ranker: Any) -> bool:
    """Whether a ranker tells on the way how far it is, and nobody else listens."""
    parameters = ranker.get_params(deep=False)
    return "callback" in parameters and parameters["callback"] is None


class Watch:
    """Looks at a trial on its way: what it is worth so far, and whether it is worth going on."""

    def __init__(self, job: Job, measure: Measure) -> None:
        self._floors, self._measure, self._sign = job.floors, measure, sign_of(measure)
        self._best = -math.inf
        self.curve: list[tuple[int, float]] = []
        self.gave_up = False

    @property
    def last(self) -> float:
        """The newest value."""
        return self.curve[-1][1]

    def over(self, ranker: Any, valid: RankingData) -> None:
        """Have the ranker call back, if it can."""
        if can_watch(ranker):
            ranker.set_params(
                callback=lambda step, model: self._called(step, quality(model, valid, self._measure))
            )

    def _called(self, step: int, value: float) -> bool:
        self.gave_up = self.sees(step, value)
        return self.gave_up

    def sees(self, step: int, value: float) -> bool:
        """Note a value; True where even the best so far is below the floor of this step."""
        self.curve.append((int(step), float(value)))
        if math.isfinite(value):
            self._best = max(self._best, self._sign * value)
        return self._best < self._floors.get(step, -math.inf)


def steps_of(outcomes: Sequence[Outcome]) -> Iterator[tuple[int, list[float]]]:
    """For each step that whole trials have passed: their values there."""
    passed: dict[int, list[float]] = {}
    for outcome in outcomes:
        if outcome.state == COMPLETE:
            for step, value in outcome.curve:
                passed.setdefault(step, []).append(value)
    yield from passed.items()
