"""How values and ranking trade against each other as alpha goes from 0 to 1 (Sculley 2010, Figure 1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from rankloom.data.ranking_data import RankingData
from rankloom.errors import InputError
from rankloom.measures.measure import Measure
from rankloom.measures.presets import LOSSES, POINTS
from rankloom.models.linear import LinearModel
from rankloom.rankers.crr import CRR

ALPHAS = (0.0, 0.01, 0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.95, 0.99, 1.0)


class SweepPoint(NamedTuple):
    """One alpha: what was learned with it, and how good that is."""

    alpha: float
    values: Mapping[str, float]
    model: LinearModel


class Sweep(Sequence[SweepPoint]):
    """The curve, alphas rising: `sweep[i]` is a point, `sweep.curve("mse")` one number per alpha."""

    def __init__(self, points: Sequence[SweepPoint], measures: Sequence[Measure]) -> None:
        self._points, self.measures = list(points), tuple(measures)

    def __len__(self) -> int:
        return len(self._points)

    def __getitem__(self, place: Any) -> Any:
        return self._points[place]

    def __iter__(self) -> Iterator[SweepPoint]:
        return iter(self._points)

    @property
    def alphas(self) -> list[float]:
        """The alphas, rising."""
        return [point.alpha for point in self]

    def curve(self, measure: str | Measure) -> list[float]:
        """The values of a measure, one per alpha."""
        name = str(self._known(measure))
        return [point.values[name] for point in self]

    def best(self, measure: str | Measure) -> SweepPoint:
        """The point that is best by a measure: least where it is a loss, largest else."""
        known = self._known(measure)
        values = np.array(self.curve(known))
        place = values.argmin() if known.name in LOSSES else values.argmax()
        return self._points[int(place)]

    def _known(self, measure: str | Measure) -> Measure:
        asked = Measure.parse(measure)
        if asked not in self.measures:
            known = ", ".join(str(one) for one in self.measures)
            raise InputError(f"the sweep has measured {known}, not {asked}; name it in measures=")
        return asked

    def __str__(self) -> str:
        """A table, one line per alpha."""
        names = [str(measure) for measure in self.measures]
        lines = ["alpha  " + "  ".join(f"{name:>8}" for name in names)]
        for point in self:
            values = "  ".join(f"{point.values[name]:>{max(8, len(name))}.4f}" for name in names)
            lines.append(f"{point.alpha:<5g}  {values}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"Sweep({len(self)} alphas, {', '.join(str(measure) for measure in self.measures)})"


def alpha_sweep(
    ranker: CRR,
    train: RankingData,
    test: RankingData,
    *,
    alphas: Sequence[float] = ALPHAS,
    measures: Sequence[str | Measure] = ("mse", "ndcg@10"),
) -> Sweep:
    """Learn with each alpha on `train`, measure each on `test`.

    Measures of values (mse, logloss, ece) measure `predict`, all others the scores that rank: ndcg, map,
    auc-loss, pairwise. Everything but alpha is as in `ranker`, which itself is left alone.
    """
    if not isinstance(ranker, CRR):
        raise InputError(f"alpha_sweep needs a CRR, which has an alpha, got {type(ranker).__name__}")
    if not len(alphas):
        raise InputError("alphas must name at least one number from 0 to 1, got none")
    parsed = [Measure.parse(measure) for measure in measures]
    points = [_point(ranker, float(alpha), train, test, parsed) for alpha in sorted(set(alphas))]
    return Sweep(points, parsed)


def _point(
    ranker: CRR, alpha: float, train: RankingData, test: RankingData, measures: list[Measure]
) -> SweepPoint:
    from rankloom.measures.evaluate import evaluate

    model = clone(ranker).set_params(alpha=alpha, warm_start=False).fit(train).model_
    found: dict[str, float] = {}
    scores = model.decision_function(test)
    for given, wanted in ((model.values_of(scores), True), (scores, False)):
        mine = [measure for measure in measures if (measure.name in POINTS) == wanted]
        if mine:
            result = evaluate(given, test, measures=mine)
            found |= {str(measure): float(result[measure]) for measure in mine}
    return SweepPoint(alpha, found, model)
