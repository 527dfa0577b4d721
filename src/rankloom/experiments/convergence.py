"""Convergence of stochastic pairwise descent (Sculley 2009, Section 6 and Figure 2).

    lam/2 |w|^2 + mean over pairs of max(0, 1 - <w, a - b>)        on train and on test, against the steps

for each learner with the paper's rate, 1 / (lam i), and with the bounded one, beside the exact optimum of
the training part, by RankSVM with hinges. lam is the one that RankSVM is best with on the validation part, by
MAP, unless it is given.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankloom.data.generate import make_letor
from rankloom.errors import InputError
from rankloom.experiments.findings import Findings, Table
from rankloom.experiments.kept import Kept
from rankloom.experiments.sources import Given, Parts, parts_of
from rankloom.rankers.checks import number, whole
from rankloom.rankers.objective import pair_objective
from rankloom.rankers.ranksvm import RankSVM
from rankloom.rankers.spd import SPD

LAMS = tuple(10.0**power for power in range(-5, 1))
LEARNERS = ("sgd", "pegasos", "passive-aggressive", "romma", "combined")
CAPS = (0.001, 0.1)
LAM = 0.001
_EARLY_C, _EARLY_STEPS = 0.1, 1_000
_POINTS_A_DECADE = 4
_BEYOND = 1e6


def convergence(
    source: Any = None,
    *,
    test: Any = None,
    vali: Any = None,
    fold: int | None = None,
    steps: int = 1_000_000,
    lam: float | None = None,
    learners: Sequence[str] = LEARNERS,
    caps: Sequence[float] = CAPS,
    seed: int = 0,
    n_features: int | None = None,
    record: Any = None,
    progress: Callable[[int, int | None], None] | None = None,
) -> Findings:
    """The objective of each learner as steps go by.

    Args:
        source: a folder of LETOR folds, a file, a RankingData, or None: 500 generated queries to learn from
            and 200 to test.
        test: the test part, of a file or RankingData; None is three queries in ten of the source.
        vali: the part by which lam is chosen.
        fold: which fold of a folder; None is its first.
        steps: how many steps; the paper has 10^8.
        lam: how much large weights cost; None is chosen on the validation part, or 0.001 where there is none.
        learners: of sgd, pegasos, passive-aggressive, romma, combined.
        caps: the largest steps of passive-aggressive, a curve each.
        seed: of the pairs that are drawn, of generated data and of the cut.
        n_features: how many columns text has.
        record: a file with every curve that is done; with one that is there, it goes on.
        progress: called with how many curves are done, and how many there are.
    """
    to = whole("steps", steps, 100)
    runs = _runs(learners, caps, to)
    parts = parts_of(Given(source, test, vali, fold, n_features), lambda: _made(seed), seed)
    head = {
        "data": {name: part.fingerprint() for name, part in parts.by_name().items()},
        "steps": to,
        "lam": lam,
        "seed": whole("seed", seed, 0),
    }
    kept = Kept(record, "convergence", head)
    cost = kept.made({"what": "lam"}, lambda: _cost(parts, lam))
    chosen = float(cost["lam"])
    optimum = kept.made({"what": "optimum"}, lambda: _optimum(parts, chosen))
    curves = []
    for done, (name, parameters) in enumerate(runs.items(), 1):
        make = _Curve(parts, chosen, to, seed, parameters)
        curves.append(kept.made({"learner": name, "parameters": parameters}, make))
        if progress is not None:
            progress(done, len(runs))
    facts = {
        "source": parts.name,
        "lam": chosen,
        "lam_chosen_by": cost["chosen_by"],
        "steps": to,
        "optimum": {name: optimum[name] for name in ("train", "test", "seconds", "iterations")},
        "curves": curves,
    }
    return Findings("convergence", facts, table, parts.by_name(), note(facts))


def _made(seed: int) -> Parts:
    data = make_letor(700, seed=seed).data
    return Parts(data.take(slice(0, 500)), data.take(slice(500, 700)), None, "generated lists")


def _runs(learners: Sequence[str], caps: Sequence[float], steps: int) -> dict[str, dict[str, Any]]:
    """Each curve's name, and what it sets of SPD."""
    for name in learners:
        if name not in LEARNERS:
            raise InputError(f"learners must be of {', '.join(LEARNERS)}, got {name!r:.40}")
    if not len(learners):
        raise InputError(f"learners must name at least one of {', '.join(LEARNERS)}")
    found: dict[str, dict[str, Any]] = {}
    for name in dict.fromkeys(learners):
        if name == "passive-aggressive":
            for cap in caps:
                C = number("caps", cap, 0.0)
                found[f"{name}, C={C:g}"] = {"learner": name, "C": C}
        elif name == "romma":
            found[name] = {"learner": name}
        else:
            own: dict[str, Any] = {"learner": name}
            if name == "combined":
                own |= {"C": _EARLY_C, "early": min(_EARLY_STEPS / steps, 1.0)}
            found[f"{name}, paper's rate"] = {**own, "rate": "pegasos"}
            found[name] = own
    return found


def _cost(parts: Parts, lam: float | None) -> dict[str, Any]:
    """lam as given, or the one that RankSVM is best with on the validation part."""
    if lam is not None or parts.vali is None:
        return {"lam": LAM if lam is None else number("lam", lam, 0.0), "chosen_by": None}
    ranker = RankSVM(loss="l1", normalize="pairs")
    path = ranker.path(parts.train, Cs=[1.0 / one for one in LAMS], valid=parts.vali, measures=["map"])
    values = [(1.0 / point.C, point.values["map"]) for point in path]
    best = max(values, key=lambda pair: pair[1])[0]
    chosen = min(LAMS, key=lambda one: abs(np.log(one / best)))
    return {"lam": chosen, "chosen_by": {"measure": "map", "values": values}}


def _optimum(parts: Parts, lam: float) -> dict[str, Any]:
    """The least objective that there is on the training part."""
    RankSVM(C=1e-9, loss="l1", normalize="pairs").fit(parts.train)  # compiles
    begin = time.process_time()
    ranker = RankSVM(C=1.0 / lam, loss="l1", normalize="pairs", tol=1e-5).fit(parts.train)
    seconds = time.process_time() - begin
    on = _values(parts, ranker.model_, lam)
    return {"train": on[0], "test": on[1], "seconds": seconds, "iterations": ranker.result_.iterations}


def _values(parts: Parts, model: Any, lam: float) -> tuple[float, float]:
    train, test = (pair_objective(data, model, "hinge", lam, False) for data in (parts.train, parts.test))
    return train, test


def marks(steps: int) -> NDArray[np.int64]:
    """Where the objective is looked at: four times a decade from 100, and at the end."""
    powers = np.arange(2.0, np.log10(steps) + 1e-9, 1.0 / _POINTS_A_DECADE)
    found: NDArray[np.int64] = np.unique([*np.round(10.0**powers).astype(np.int64), steps])
    return found


class _Curve:
    """One learner's curve."""

    def __init__(
        self, parts: Parts, lam: float, steps: int, seed: int, parameters: Mapping[str, Any]
    ) -> None:
        self._parts, self._lam, self._at, self._parameters = parts, lam, marks(steps), parameters
        self._steps, self._seed = steps, seed
        self._points: list[tuple[int, float, float, float]] = []
        self._begin = 0.0

    def __call__(self) -> dict[str, Any]:
        """Learn, looking at the objective on the way; that is not counted as time."""
        options = {"lam": self._lam, "seed": self._seed, **self._parameters}
        SPD(steps=10, **options).fit(self._parts.train)  # compiles
        ranker = SPD(steps=self._steps, callback=self._note, callback_at=self._at, **options)
        error = None
        self._begin = time.thread_time()
        try:
            ranker.fit(self._parts.train)
        except InputError as diverged:  # ROMMA's weights may grow beyond all numbers
            if not self._points:
                raise
            error = str(diverged)
        steps, train, test, seconds = zip(*self._points, strict=True)
        return {"steps": steps, "train": train, "test": test, "seconds": seconds, "error": error}

    def _note(self, step: int, model: Any) -> None:
        paused = time.thread_time()
        self._points.append((step, *_values(self._parts, model, self._lam), paused - self._begin))
        self._begin += time.thread_time() - paused


def table(facts: Mapping[str, Any]) -> Table:
    """Train and test objective at 1e2, 1e3, ... and the last step, a column a learner."""
    wanted = decades(facts["steps"])
    headers = ["steps", *(curve["learner"] for curve in facts["curves"])]
    points = [
        {step: (train, test) for step, train, test in zip(*_columns(curve), strict=True)}
        for curve in facts["curves"]
    ]
    rows = [[f"{step:,}", *(_cell(each.get(step)) for each in points)] for step in wanted]
    seconds = [curve["seconds"][-1] for curve in facts["curves"]]
    rows.append(["CPU s", *(f"{one:.3f}" for one in seconds)])
    return headers, rows


def decades(steps: int) -> list[int]:
    """100, 1,000, ... and the last step."""
    return sorted({*(10**power for power in range(2, 19) if 10**power <= steps), steps})


def _columns(curve: Mapping[str, Any]) -> tuple[Any, Any, Any]:
    return curve["steps"], curve["train"], curve["test"]


def _cell(pair: tuple[float | None, float | None] | None) -> str:
    """Both objectives, unless they are beyond all measure."""
    train, test = pair or (None, None)
    if train is None or test is None or max(train, test) > _BEYOND:
        return "above 1e6"
    return f"{train:.4f} / {test:.4f}"


def note(facts: Mapping[str, Any]) -> str:
    """What stands below the table."""
    how = "as chosen by MAP on the validation part" if facts["lam_chosen_by"] else "as given"
    best = facts["optimum"]
    return (
        f"{facts['source']}, lam = {facts['lam']:g}, {how}; train / test; the exact optimum is "
        f"{best['train']:.4f} / {best['test']:.4f} ({best['seconds']:.2f} CPU s)"
    )
