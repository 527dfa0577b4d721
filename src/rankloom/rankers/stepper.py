"""What learns step by step: SPD and CRR start, go on, share steps among workers, and report the same way."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

from rankloom.data.ranking_data import RankingData
from rankloom.errors import InputError
from rankloom.models.linear import LinearModel
from rankloom.models.scaled import with_scaling
from rankloom.models.scaling import Scaling, spelled
from rankloom.rankers.base import Ranker
from rankloom.rankers.checks import flag, share, whole
from rankloom.rankers.descent import (
    Course,
    Material,
    Stage,
    advance,
    mean_weights,
    new_course,
    resumed,
    stops,
)
from rankloom.rankers.unscaled import warn_of_scales


class Reported(NamedTuple):
    """Where learning got to, and whether the callback put an end to it."""

    course: Course
    stopped: bool


class Stepper(Ranker):
    """What SPD and CRR share: steps from where they stand, seeds, workers, warm starts and callbacks."""

    model_: LinearModel
    steps: Any
    seed: Any
    n_jobs: Any
    average: Any
    warm_start: Any
    callback: Any
    callback_at: Any
    _course: Course
    _goes_on: bool
    _scaled_by: Scaling | None = None

    def _material(self, data: RankingData) -> Material:
        raise NotImplementedError

    def _stages(self, data: RankingData, course: Course, to: int) -> list[list[Stage]]:
        raise NotImplementedError

    def _linear_model(self, course: Course, data: RankingData) -> LinearModel:
        weights, bias = mean_weights(course)
        return LinearModel(weights, bias, feature_names=data.feature_names)

    def _averaged(self) -> float:
        """The last part of the steps over which weights are averaged."""
        return share("average", self.average)

    def _started(self, course: Course, material: Material) -> Course:  # noqa: ARG002
        """Where to begin, if not at 0."""
        return course

    def _fit(self, data: RankingData) -> LinearModel:
        if self.scale is None:
            warn_of_scales(data, type(self).__name__, stacklevel=5)
        return self._learn(data, self._course if self._again() else None)

    def _again(self) -> bool:
        return flag("warm_start", self.warm_start) and hasattr(self, "_course")

    def _scaling(self, data: RankingData) -> Scaling | None:
        """What `scale` asks for; with a warm start, what the weights so far were learned with."""
        known = self._scaled_by
        if not self._again():
            self._scaled_by = super()._scaling(data)
        elif (None if self.scale is None else spelled(self.scale)) != (known and (known.kind, known.per)):
            before = None if known is None else known.kind
            raise InputError(
                f"scale must stay what it was ({before!r}) while learning goes on, got "
                f"{self.scale!r:.60}; or "
                "fit anew, with warm_start=False"
            )
        return self._scaled_by

    def _refuse_scale(self, where: str) -> None:
        """Rows that come later are not known yet, so nobody knows their scale."""
        if self.scale is not None or self._scaled_by is not None:
            raise InputError(
                f"{where} cannot scale, since it does not know the rows to come; leave scale out, and scale "
                "rows before (rl.QueryScaler)"
            )

    def partial_fit(self, X: Any, y: Any = None, qid: Any = None, sample_weight: Any = None) -> Self:
        """Take `steps` more steps, on these data, from where learning stands; the count of steps goes on.

        Pairs are drawn within the data of this call only, so a query should come whole.
        """
        self._refuse_scale("partial_fit")
        data = self._training_data(X, y, qid, sample_weight)
        return self._keep(self._learn(data, getattr(self, "_course", None)), data)

    def _learn(self, data: RankingData, course: Course | None) -> LinearModel:
        steps = whole("steps", self.steps, 1)
        self._goes_on = course is not None
        material = self._material(data)
        self._goes_on = True  # what reports progress, too, stays with what this call began with
        begun = self._begun(course, material, data.n_features)
        self._course = self._take_steps(data, material, begun, begun.done + steps)
        return self._linear_model(self._course, data)

    def _begun(self, course: Course | None, material: Material, n_features: int) -> Course:
        """A new course, or the one to go on with."""
        average = self._averaged() > 0.0
        workers = whole("n_jobs", self.n_jobs, 1, " (the model depends on it, so it cannot be 'all')")
        if course is not None:
            self._check_resumable(course, n_features, workers)
            return resumed(course, material.mark, average)
        course = new_course(n_features, whole("seed", self.seed, 0), workers, average)
        return self._started(course._replace(mark=material.mark), material)

    def _take_steps(self, data: RankingData, material: Material, course: Course, to: int) -> Course:
        stages = self._stages(data, course, to)
        return self._reported(data, material, stages, course, to).course

    def _reported(
        self, data: RankingData, material: Material, stages: list[list[Stage]], course: Course, to: int
    ) -> Reported:
        """Steps up to `to`, with the callback called where it wants to be."""
        wanted = [] if self.callback is None else stops(course.done, to, self.callback_at)
        for stop in wanted:
            course = advance(material, stages, course, stop)
            if self.callback(stop, self._told(self._linear_model(course, data))):
                return Reported(course, True)
        return Reported(advance(material, stages, course, to), False)

    def _told(self, model: LinearModel) -> Any:
        """A model as others see it: for rows as they are."""
        return model if self._scaled_by is None else with_scaling(model, self._scaled_by)

    def _check_resumable(self, course: Course, n_features: int, workers: int) -> None:
        """Refuse to go on with other features or another number of workers."""
        known, name = len(course.states[0].v), type(self).__name__
        if known != n_features:
            raise InputError(
                f"X has {n_features} features, but {name} is expecting {known} features as input; give it "
                "those it has learned from so far, or fit anew"
            )
        if len(course.states) != workers:
            raise InputError(
                f"n_jobs must stay {len(course.states)} while learning goes on, got {workers}; or fit anew"
            )
