"""Rankers that can learn from a stream: windows of rows, each with the pair index of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, Self

from rankloom.data.ranking_data import RankingData
from rankloom.errors import InputError
from rankloom.rankers.checks import flag, number, share, whole
from rankloom.rankers.descent import (
    Course,
    Material,
    Stage,
    forget_look_ahead,
    material_of,
    new_course,
    resumed,
    wider,
)
from rankloom.rankers.stepper import Stepper
from rankloom.rankers.stream import (
    BUFFER,
    FOREVER,
    Window,
    is_text,
    pieces_of,
    refuse_no_pairs_seen,
    windows_of_data,
    windows_of_pieces,
    with_row_weights,
)

Stages = Callable[[RankingData, Course], list[list[Stage]]]


class Walked(NamedTuple):
    """Where learning got to, the last window, and how many rows came."""

    course: Course
    last: RankingData
    rows: int


class Streaming(Stepper):
    """A stepper with a buffer that rows go through."""

    sampler: Any
    buffer: Any

    def _take_steps(self, data: RankingData, material: Material, course: Course, to: int) -> Course:
        if self.sampler != "stream":
            return super()._take_steps(data, material, course, to)
        stages = self._stages(data, course, to)
        if len(material.truth.weights):
            data = with_row_weights(data, material.truth.weights)
        flow = windows_of_data(data, self._buffer(), course.done, to - course.done)
        return self._through(flow, lambda _data, _course: stages, course).course

    def fit_stream(
        self,
        source: Any,
        *,
        steps_per_row: float = 1.0,
        n_features: int | None = None,
        index_base: int | None = None,
        progress: Any = None,
    ) -> Self:
        """Learn from rows that come one after the other and are not kept: memory is bounded by the buffer.

        The parameter `steps` is not used: steps go with the rows. Rows of a query should come together; a
        query that fills more than half of the buffer is cut. With `warm_start`, learning goes on.

        Args:
            source: a path of SVMlight / LETOR text, "-" for standard input, an open binary file, a list of
                these, or batches: an iterable of RankingData or of tuples (X, y, qid, sample_weight), where
                the last two may be missing. Weights of rows are taken as they are.
            steps_per_row: how many steps to take for each row that comes.
            n_features: with text, how many features; None lets them grow with what comes.
            index_base: with text, the index of the first column, 0 or 1; None is as the first piece says.
            progress: with text, called with the bytes read and the bytes in all (None if not known).
        """
        per_row = number("steps_per_row", steps_per_row, 0.0)
        self._check_endless()
        self._refuse_scale("fit_stream")
        options = {"n_features": n_features, "index_base": index_base, "progress": progress}
        if is_text(source):
            options["index_base"] = "auto" if index_base is None else index_base
        pieces = pieces_of(type(self).__name__, source, self._buffer(), options)
        course = self._begun_stream()
        flow = windows_of_pieces(pieces, self._buffer(), course.done, per_row)
        made: list[list[list[Stage]]] = []

        def stages(data: RankingData, course: Course) -> list[list[Stage]]:
            if not made:
                made.append(self._stages(data, course, FOREVER))
            return made[0]

        walked = self._through(flow, stages, course)
        self._course = walked.course
        return self._keep_stream(walked)

    def _check_endless(self) -> None:
        """Refuse what only an end can give a meaning."""
        if self.sampler != "stream":
            raise InputError(f'fit_stream needs sampler="stream", got {self.sampler!r}')
        what = "average" if share("average", self.average) > 0.0 else ""
        if getattr(self, "learner", None) == "combined":
            what = 'learner="combined"'
        if what:
            raise InputError(f"{what} must know the last step, and a stream ends when it ends; leave it out")

    def _begun_stream(self) -> Course:
        workers = whole("n_jobs", self.n_jobs, 1, " (the model depends on it, so it cannot be 'all')")
        if not (flag("warm_start", self.warm_start) and hasattr(self, "_course")):
            return new_course(0, whole("seed", self.seed, 0), workers, False)
        course = self._course
        self._check_resumable(course, len(course.states[0].v), workers)
        return resumed(course, course.mark, False)

    def _buffer(self) -> int:
        return BUFFER if self.buffer is None else whole("buffer", self.buffer, 2)

    def _through(self, flow: Iterable[Window], stages: Stages, course: Course) -> Walked:
        """The steps of every window."""
        n_windows = empty = rows = 0
        last = RankingData([[0.0]])
        for window, to in flow:
            last, n_windows, rows = window, n_windows + 1, rows + window.n_rows
            material = material_of(window, row_weights=window.weights)
            if not len(material.pairs.cells):
                empty += 1
                continue
            course = wider(course, window.n_features)
            forget_look_ahead(course)
            course, stopped = self._reported(window, material, stages(window, course), course, to)
            if stopped:
                break
        refuse_no_pairs_seen(n_windows, empty, rows)
        return Walked(course, last, rows)

    def _keep_stream(self, walked: Walked) -> Self:
        model = self._linear_model(walked.course, walked.last)
        self._keep(model, walked.last)
        self.n_features_in_ = model.n_features
        self.model_ = self.model_.with_about(data={"rows": walked.rows, "features": model.n_features})
        return self
