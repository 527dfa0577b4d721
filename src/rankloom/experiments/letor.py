"""LETOR's protocol: for each method and fold, settings chosen on the validation part, measured on the test.

    table = letor("MQ2008")          every method, and the peers that are installed
    print(table)

The mean over folds is LETOR's figure. Significance is over all test queries, each method against a baseline.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankloom.data.letor import Fold, read_folds
from rankloom.errors import InputError
from rankloom.experiments.grids import default_of
from rankloom.experiments.kept import Kept
from rankloom.experiments.peers import PEERS, installed
from rankloom.experiments.run import facts_of
from rankloom.experiments.space import grid
from rankloom.experiments.trial import sign_of
from rankloom.experiments.tune import tune
from rankloom.measures.compare import compare_values
from rankloom.measures.comparison import Difference
from rankloom.measures.evaluate import evaluate
from rankloom.measures.measure import Measure
from rankloom.measures.presets import POINTS
from rankloom.rankers.checks import whole
from rankloom.rankers.methods import METHODS

MEASURES = ("map/letor4", "mean-ndcg/letor4", "ndcg@10")
_SCULLEY = "Sculley 2010, Table 2"
# Figures that others published, by the number of queries and rows of all test parts.
PUBLISHED = {
    (784, 15_211): (
        "MQ2008",
        [
            ("RankSVM, as LETOR reports it", {"map/letor4": 0.470, "mean-ndcg/letor4": 0.483}, _SCULLEY),
            ("regression", {"map/letor4": 0.464, "mean-ndcg/letor4": 0.476}, _SCULLEY),
            ("ranking (SPD)", {"map/letor4": 0.479, "mean-ndcg/letor4": 0.490}, _SCULLEY),
            ("CRR", {"map/letor4": 0.479, "mean-ndcg/letor4": 0.489}, _SCULLEY),
        ],
    )
}


class Run(NamedTuple):
    """A method on a fold."""

    method: str
    fold: int
    parameters: Mapping[str, Any]
    chosen_by: float
    seconds: float
    values: Mapping[str, Sequence[float]]
    """For each measure, a value for each test query; NaN where there is none."""


class Row(NamedTuple):
    """A method over all folds."""

    method: str
    folds: Mapping[str, Sequence[float]]
    means: Mapping[str, float]
    p: Mapping[str, float | None]
    """Against the baseline, by a randomisation test, after Holm's correction over methods."""
    seconds: float
    parameters: Sequence[Mapping[str, Any]]


class Letor(Sequence[Row]):
    """The table: a row a method, the best by the first measure first. `data` are facts of all parts."""

    kind = run_kind = "letor"

    def __init__(
        self,
        runs: Sequence[Run],
        measures: Sequence[Measure],
        baseline: str,
        shape: Any,
        data: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        self.measures, self.baseline = [str(measure) for measure in measures], baseline
        self.data, self._lower = dict(data or {}), [sign_of(measure) < 0 for measure in measures]
        self.published = PUBLISHED.get(shape)
        methods = list(dict.fromkeys(run.method for run in runs))
        self._values = {name: _by_method(runs, name, methods) for name in self.measures}
        self._differences = [
            row for measure in measures for row in _tests(self._values[str(measure)], measure, baseline)
        ]
        found: dict[str, dict[str, float | None]] = {name: {} for name in self.measures}
        for row in self._differences:
            found[row.measure][row.b] = row.holm("randomisation")
        rows = [self._row(method, [run for run in runs if run.method == method], found) for method in methods]
        first, sign = self.measures[0], sign_of(measures[0])
        self._rows = sorted(rows, key=lambda row: -sign * row.means[first])

    def _row(self, method: str, runs: Sequence[Run], tests: Mapping[str, Mapping[str, float | None]]) -> Row:
        folds = {name: [float(np.nanmean(run.values[name])) for run in runs] for name in self.measures}
        return Row(
            method,
            folds,
            {name: float(np.mean(values)) for name, values in folds.items()},
            {name: tests[name].get(method) for name in self.measures},
            sum(run.seconds for run in runs),
            [run.parameters for run in runs],
        )

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, place: Any) -> Any:
        return self._rows[place]

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows)

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Headers and rows; what others published comes last."""
        headers = ["method", *(text for name in self.measures for text in (name, "p")), "seconds"]
        rows = [
            [
                row.method,
                *(text for name in self.measures for text in _cells(row, name)),
                f"{row.seconds:.1f}",
            ]
            for row in self
        ]
        for name, figures, source in self.published[1] if self.published else ():
            cells = [text for measure in self.measures for text in (_figure(figures.get(measure)), "")]
            rows.append([f"{name} ({source})", *cells, ""])
        return headers, rows

    def to_dict(self) -> dict[str, Any]:
        """All of it, as JSON can say it."""
        others = self.published[1] if self.published else []
        return {
            "baseline": self.baseline,
            "measures": self.measures,
            "methods": [row._asdict() for row in self],
            "published": [
                {"name": name, "figures": found, "source": source} for name, found, source in others
            ],
        }

    def for_run(self) -> dict[str, Any]:
        """All of it, and every method's value for every test query: what a report is made from."""
        return {
            **self.to_dict(),
            "lower_is_better": dict(zip(self.measures, self._lower, strict=True)),
            "differences": [asdict(row) for row in self._differences],
            "values": {
                name: {method: values.tolist() for method, values in methods.items()}
                for name, methods in self._values.items()
            },
        }

    def __str__(self) -> str:
        headers, rows = self.table()
        widths = [max(len(row[column]) for row in [headers, *rows]) for column in range(len(headers))]
        lines = [
            "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip()
            for row in [headers, *rows]
        ]
        return "\n".join([*lines, f"p: against {self.baseline}"])

    def __repr__(self) -> str:
        return f"Letor({', '.join(row.method for row in self)}; {', '.join(self.measures)})"


def _cells(row: Row, measure: str) -> tuple[str, str]:
    return f"{row.means[measure]:.4f}", _p(row.p[measure])


def _p(value: float | None) -> str:
    if value is None:
        return "-"
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def letor(
    folder: str | os.PathLike[str],
    methods: Sequence[str] | None = None,
    *,
    measures: Sequence[str] = MEASURES,
    baseline: str | None = None,
    workers: int | None = None,
    seed: int = 0,
    record: str | os.PathLike[str] | None = None,
    progress: Callable[[int, int | None], None] | None = None,
    **reading: Any,
) -> Letor:
    """Run the protocol over Fold1, Fold2, ... of a folder.

    Args:
        folder: as LETOR has it: Fold1/train.txt, vali.txt, test.txt, Fold2/ ...
        methods: names of methods, or lightgbm, xgboost, catboost; None is all there are.
        measures: settings are chosen by the first; all are measured on the test parts.
        baseline: the method that the others are tested against; None is lightgbm, or else the first.
        workers: as for `tune`.
        seed: of what draws at random.
        record: a file that has every method and fold that is done; with one that is there, it goes on.
        progress: called with how many of methods times folds are done, and how many there are.
        reading: how text is read: n_features, for instance.
    """
    names = list(METHODS) + installed() if methods is None else list(dict.fromkeys(methods))
    _check_names(names)
    parsed = _parsed(measures)
    against = baseline or ("lightgbm" if "lightgbm" in names else names[0])
    if against not in names:
        raise InputError(f"baseline must be one of the methods, {', '.join(names)}, got {against!r:.40}")
    folds = read_folds(folder, **reading)
    head = {"measures": [str(one) for one in parsed], "seed": whole("seed", seed, 0)}
    kept = Kept(record, "letor", head, {*Run._fields, "data"})
    shape = [0, 0]
    data: dict[str, Any] = {}
    done: list[Run] = []
    for place, fold in enumerate(folds):
        facts = [facts_of(part) for part in (fold.train, fold.vali, fold.test)]
        fingerprints = " ".join(fact["fingerprint"] for fact in facts)
        data |= zip((f"fold {fold.number} {part}" for part in ("train", "vali", "test")), facts, strict=True)
        shape = [shape[0] + fold.test.n_queries, shape[1] + fold.test.n_rows]
        for number, name in enumerate(names, 1):
            key = {"method": name, "fold": fold.number, "data": fingerprints, "tried": _tried(name)}
            run = partial(_run, name, fold, parsed, workers, seed)
            done.append(_as_run(kept.made(key, lambda run=run: run()._asdict())))  # type: ignore[misc]
            if progress is not None:
                progress(place * len(names) + number, len(folds) * len(names))
        for part in ("train", "vali", "test"):
            fold.__dict__.pop(part, None)  # one fold at a time is in memory
    return Letor(done, parsed, against, tuple(shape), data)


def _tried(name: str) -> Any:
    """What settings are chosen from: done with another grid, by another version, is not done."""
    return PEERS[name].grid if name in PEERS else default_of(name).spaces


def _check_names(names: Sequence[str]) -> None:
    known = [*METHODS, *PEERS]
    for name in names:
        if name not in known:
            raise InputError(f"methods must be of {', '.join(known)}, got {name!r:.40}")
    if not names:
        raise InputError(f"methods must name at least one of {', '.join(known)}")


def _parsed(measures: Sequence[str]) -> list[Measure]:
    parsed = [Measure.parse(measure) for measure in measures]
    for measure in parsed:
        if measure.name in POINTS:
            raise InputError(
                f"{measure} has no value for each query, and its values are no ranking; leave it out"
            )
    if not parsed:
        raise InputError("measures must name at least one")
    return parsed


def _run(name: str, fold: Fold, measures: Sequence[Measure], workers: int | None, seed: int) -> Run:
    """Tune on the validation part, measure on the test part."""
    begin = time.perf_counter()
    if name in PEERS:
        parameters, value, scores = _peer(name, fold, measures[0], seed)
    else:
        found = tune(name, fold.train, fold.vali, measure=measures[0], workers=workers, seed=seed)
        parameters, value = dict(found.best.parameters), float(found.best.value or 0.0)
        scores = found.best_model.decision_function(fold.test)
    result = evaluate(scores, fold.test, measures=list(measures))
    values = {str(measure): result.per_query(measure).tolist() for measure in measures}
    return Run(name, fold.number, parameters, value, round(time.perf_counter() - begin, 3), values)


def _peer(name: str, fold: Fold, measure: Measure, seed: int) -> tuple[dict[str, Any], float, Any]:
    """The same for another package's ranker."""
    peer, sign = PEERS[name], sign_of(measure)
    best: tuple[float, dict[str, Any], Any] | None = None
    for settings in grid([dict(peer.grid)]):
        scores = peer.learn(fold.train, settings, seed)
        value = float(evaluate(scores(fold.vali), fold.vali, measures=measure)[measure])
        if best is None or sign * value > sign * best[0]:
            best = value, settings, scores
    assert best is not None
    return best[1], best[0], best[2](fold.test)


def _by_method(runs: Sequence[Run], measure: str, methods: Sequence[str]) -> dict[str, NDArray[np.float64]]:
    """Each method's value for each test query of all folds."""
    return {
        method: np.concatenate(
            [np.asarray(run.values[measure], dtype=float) for run in runs if run.method == method]
        )
        for method in methods
    }


def _tests(
    values: Mapping[str, NDArray[np.float64]], measure: Measure, baseline: str
) -> Sequence[Difference]:
    """For each method but the baseline, how it differs over all test queries."""
    if len(values) < 2:
        return ()
    lower = sign_of(measure) < 0
    return compare_values(values, measure=str(measure), baseline=baseline, lower_is_better=lower).rows


def _as_run(entry: Mapping[str, Any]) -> Run:
    """A run from the record, where NaN is null."""
    return Run(**{**{field: entry[field] for field in Run._fields}, "values": _numbers(entry["values"])})


def _numbers(values: Mapping[str, Sequence[float | None]]) -> dict[str, list[float]]:
    return {key: [float("nan") if v is None else v for v in each] for key, each in values.items()}
