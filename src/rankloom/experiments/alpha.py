"""Values against ranking as alpha goes from 0 to 1 (Sculley 2010, Section 4.2.2 and Figure 1).

    alpha L(rows) + (1 - alpha) L(pairs) + lam/2 |w|^2

A CRR is learned with each alpha, and measured on the test part: MSE of the values, AUC loss and NDCG of the
ranking. Where there are two labels, they stand for 0 and 1, and one alpha's values are also compared with
what was observed: a reliability diagram.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from rankloom.data.generate_topics import make_rcv1
from rankloom.data.ranking_data import RankingData
from rankloom.errors import InputError
from rankloom.experiments.findings import Findings, Table, figure
from rankloom.experiments.kept import Kept
from rankloom.experiments.sources import Given, Parts, parts_of, relabelled, rows_of
from rankloom.experiments.trial import sign_of
from rankloom.measures.curves import reliability_curve
from rankloom.measures.measure import Measure
from rankloom.rankers.checks import number, one_of, whole
from rankloom.rankers.crr import CRR
from rankloom.rankers.descent import labels_of
from rankloom.rankers.sweep import alpha_sweep

# Close together near both ends, where the trade-off is decided.
ALPHAS = (0.0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 0.5, 0.7, 0.9, 0.97, 0.99, 0.997, 0.999, 1.0)
TWO_LABELS = ("mse", "auc-loss", "ndcg")
GRADED = ("mse", "pairwise", "ndcg@10", "map")
ROWS, SHARE = 60_000, 0.01
_BINS = 10


class How(NamedTuple):
    """What is learned."""

    loss: str
    lam: float
    steps: int
    seed: int


def alpha(
    source: Any = None,
    *,
    test: Any = None,
    fold: int | None = None,
    alphas: Sequence[float] = ALPHAS,
    measures: Sequence[str] | None = None,
    at: float = 0.5,
    loss: str | None = None,
    lam: float = 1e-5,
    steps: int = 1_000_000,
    rows: int = ROWS,
    seed: int = 0,
    n_features: int | None = None,
    record: Any = None,
    progress: Callable[[int, int | None], None] | None = None,
) -> Findings:
    """The measures of each alpha.

    Args:
        source: a folder of LETOR folds, a file, a RankingData, or None: a generated topic with 1 % positives.
        test: the test part, of a file or RankingData; None is three in ten of the source's queries, or rows.
        fold: which fold of a folder; None is its first.
        alphas: from 0, ranking only, to 1, regression only.
        measures: None is mse, auc-loss and ndcg where there are two labels, else mse, pairwise, ndcg@10,
            map.
        at: the alpha of the reliability diagram.
        loss: "logistic", "squared" or "hinge"; None is logistic where there are two labels, else squared.
        lam: how much large weights cost.
        steps: how many steps for each alpha; the paper has a million.
        rows: how many rows are generated, where there is no source.
        seed: of the steps, of generated data and of the cut.
        n_features: how many columns text has.
        record: a file with every alpha that is done; with one that is there, it goes on.
        progress: called with how many alphas are done, and how many there are.
    """
    made = partial(_made, whole("rows", rows, 10), seed)
    parts, both = _zero_and_one(parts_of(Given(source, test, None, fold, n_features), made, seed))
    loss = ("logistic" if both else "squared") if loss is None else loss
    how = How(
        one_of("loss", loss, ("logistic", "squared", "hinge")),
        number("lam", lam, 0.0),
        whole("steps", steps, 1),
        whole("seed", seed, 0),
    )
    at = number("at", at, 0.0, 1.0, open_low=False)
    usual = TWO_LABELS if both else GRADED
    wanted = [Measure.parse(one) for one in (usual if measures is None else measures)]
    if not wanted:
        raise InputError("measures must name at least one")
    names = [str(one) for one in wanted]
    data = {name: part.fingerprint() for name, part in parts.by_name().items()}
    kept = Kept(record, "alpha", {**how._asdict(), "measures": names, "at": at, "data": data})
    every = _alphas(alphas, at if both else None)
    points = []
    for done, one in enumerate(every, 1):
        make = partial(_point, parts, one, names, how, both and one == at)
        points.append(kept.made({"alpha": one}, make))
        if progress is not None:
            progress(done, len(every))
    facts = _facts(parts, how, wanted, points)
    return Findings("alpha", facts, table, parts.by_name(), note(facts))


def _made(rows: int, seed: int) -> Parts:
    data = make_rcv1(rows, shares=(SHARE,), seed=seed).data
    edge = rows // 2
    first, second = (rows_of(data, np.arange(start, stop)) for start, stop in ((0, edge), (edge, rows)))
    return Parts(first, second, None, f"generated documents, {SHARE:.0%} positive")


def _zero_and_one(parts: Parts) -> tuple[Parts, bool]:
    """The parts with 0 for the lower and 1 for the higher of two labels; and whether there are just two."""
    labels = np.unique([*np.unique(labels_of(parts.train)), *np.unique(labels_of(parts.test))])
    if len(labels) != 2:
        return parts, False
    if labels.tolist() == [0.0, 1.0]:
        return parts, True
    higher = labels[1]
    train, test = (relabelled(part, labels_of(part) == higher) for part in (parts.train, parts.test))
    return parts._replace(train=train, test=test), True


def _alphas(given: Sequence[float], at: float | None) -> list[float]:
    if not len(given):
        raise InputError("alphas must name at least one number from 0 to 1, got none")
    found = {number("alphas", one, 0.0, 1.0, open_low=False) for one in given}
    return sorted(found if at is None else {*found, at})


def _point(parts: Parts, one: float, names: Sequence[str], how: How, reliable: bool) -> dict[str, Any]:
    """What one alpha is worth."""
    ranker = CRR(loss=how.loss, lam=how.lam, steps=how.steps, seed=how.seed)
    begin = time.process_time()
    (point,) = alpha_sweep(ranker, parts.train, parts.test, alphas=[one], measures=names)
    seconds = time.process_time() - begin
    found = {"values": point.values, "seconds": seconds, "reliability": None}
    if reliable:
        found["reliability"] = _reliability(point.model, parts.test)
    return found


def _reliability(model: Any, data: RankingData) -> dict[str, Any]:
    """What was predicted beside what was observed, in bins of equal width and of equal mass."""
    values = np.clip(model.predict(data), 0.0, 1.0)
    found = {}
    for binning in ("width", "mass"):
        curve = reliability_curve(values, data.in_caller_order(labels_of(data)), bins=_BINS, binning=binning)
        found[binning] = {**curve.to_dict(), "error": curve.error}
    return found


def _facts(
    parts: Parts, how: How, measures: Sequence[Measure], points: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    best = {}
    for measure in measures:
        values = [
            (sign_of(measure) * _known(point["values"][str(measure)]), point["alpha"]) for point in points
        ]
        best[str(measure)] = max(values, key=lambda pair: pair[0])[1]
    shown = next((point for point in points if point["reliability"] is not None), None)
    return {
        "source": parts.name,
        "rows": {name: part.n_rows for name, part in parts.by_name().items()},
        **how._asdict(),
        "measures": [str(measure) for measure in measures],
        "losses": [str(measure) for measure in measures if sign_of(measure) < 0],
        "points": [{name: point[name] for name in ("alpha", "values", "seconds")} for point in points],
        "best": best,
        "reliability": shown and {"alpha": shown["alpha"], **shown["reliability"]},
    }


def _known(value: float | None) -> float:
    if value is None:
        raise InputError("a measure is not defined on the test part: no query has rows of different labels")
    return value


def table(facts: Mapping[str, Any]) -> Table:
    """A row an alpha; the best of a column has a star."""
    rows = []
    for point in facts["points"]:
        cells = [f"{point['alpha']:g}"]
        for name in facts["measures"]:
            star = "*" if facts["best"][name] == point["alpha"] else ""
            cells.append(figure(point["values"][name]) + star)
        rows.append(cells)
    return ["alpha", *facts["measures"]], rows


def note(facts: Mapping[str, Any]) -> str:
    """What stands below the table."""
    seconds = sum(point["seconds"] for point in facts["points"])
    lines = [
        f"{facts['source']}, {facts['loss']} loss, lam = {facts['lam']:g}, {facts['steps']:,} steps each, "
        f"{seconds:.1f} CPU s in all"
    ]
    if facts["reliability"]:
        errors = facts["reliability"]
        lines.append(
            f"alpha {errors['alpha']:g}: calibration error {errors['width']['error']:.4f} with 10 bins of "
            f"equal width, "
            f"{errors['mass']['error']:.4f} with bins of equal mass"
        )
    return "\n".join(lines)
