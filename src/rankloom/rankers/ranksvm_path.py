"""RankSVM for many values of C, each begun at the weights of the one before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankloom.data.ranking_data import RankingData
from rankloom.errors import InputError
from rankloom.models.base import Model
from rankloom.models.scaled import with_scaling
from rankloom.rankers.checks import number

if TYPE_CHECKING:
    from rankloom.measures.measure import Measure
    from rankloom.rankers.ranksvm import RankSVM, Result

CS = tuple(2.0**power for power in range(-15, 11))


class PathPoint(NamedTuple):
    """One C: what was learned with it, how training ended, and how good it is."""

    C: float
    values: Mapping[str, float]
    model: Model
    result: Result


class RankSVMPath(Sequence[PathPoint]):
    """The models of all C, rising: `path[i]` is a point, `path.curve("ndcg@10")` one number per C."""

    def __init__(self, points: Sequence[PathPoint], measures: Sequence[Measure]) -> None:
        self._points, self.measures = list(points), tuple(measures)

    def __len__(self) -> int:
        return len(self._points)

    def __getitem__(self, place: Any) -> Any:
        return self._points[place]

    def __iter__(self) -> Iterator[PathPoint]:
        return iter(self._points)

    @property
    def Cs(self) -> list[float]:  # noqa: N802
        """The values of C, rising."""
        return [point.C for point in self]

    def curve(self, measure: Any) -> list[float]:
        """The values of a measure, one per C."""
        name = str(self._known(measure))
        return [point.values[name] for point in self]

    def best(self, measure: Any = None) -> PathPoint:
        """The point that is best by a measure (None is the first); of equals, the one with the smallest C."""
        from rankloom.measures.presets import LOSSES

        if measure is None and not self.measures:
            raise InputError("the path has measured nothing; pass valid= and measures=")
        known = self._known(self.measures[0] if measure is None else measure)
        values = np.array(self.curve(known))
        return self._points[int(values.argmin() if known.name in LOSSES else values.argmax())]

    def _known(self, measure: Any) -> Measure:
        from rankloom.measures.measure import Measure

        asked = Measure.parse(measure)
        if asked not in self.measures:
            known = ", ".join(str(one) for one in self.measures) or "nothing"
            raise InputError(f"the path has measured {known}, not {asked}; name it in measures=, with valid=")
        return asked

    def facts(self) -> list[dict[str, Any]]:
        """For each point, C, its measures, iterations and residual, as a table or a file takes them."""
        return [
            {
                "C": f"2^{power:g}" if (power := np.log2(point.C)).is_integer() else point.C,
                **point.values,
                "iterations": point.result.iterations,
                "residual": f"{point.result.residual:.1e}",
            }
            for point in self
        ]

    def __repr__(self) -> str:
        names = ", ".join(str(measure) for measure in self.measures)
        return f"RankSVMPath({len(self)} values of C{', ' if names else ''}{names})"


def walk(
    ranker: RankSVM, data: RankingData, Cs: Sequence[float] | None, valid: RankingData | None, measures: Any
) -> RankSVMPath:
    """The path; the ranker keeps the model that is best by the first measure, or else that of the last C."""
    from rankloom.measures.evaluate import evaluate
    from rankloom.measures.measure import Measure

    wanted = CS if Cs is None else tuple(sorted({number("Cs", C, 0.0) for C in Cs}))
    if not wanted:
        raise InputError("Cs must name at least one number > 0, got none")
    parsed = [Measure.parse(measure) for measure in measures] if valid is not None else []
    scaling = ranker._scaling(data)
    rows = data if scaling is None else scaling.applied(data)
    problem, start, points = ranker._problem(rows), None, []
    for C in wanted:
        model = ranker._solved(problem, rows, C, start)
        model = model if scaling is None else with_scaling(model, scaling)
        start, values = ranker._weights, {}
        if valid is not None and parsed:
            found = evaluate(model.decision_function(valid), valid, measures=parsed)
            values = {str(measure): float(found[measure]) for measure in parsed}
        points.append(PathPoint(C, values, model, ranker.result_))
    path = RankSVMPath(points, parsed)
    chosen = path.best() if parsed else path[-1]
    ranker.result_ = chosen.result
    facts = {**ranker.get_params(deep=False), "C": chosen.C}
    ranker._keep(chosen.model, data)
    ranker.model_ = ranker.model_.with_about(
        parameters={name: value for name, value in facts.items() if name in ranker.model_.about["parameters"]}
    )
    return path
