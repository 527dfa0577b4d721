"""Small results of each kind, made once, for tests of their pages."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import rankloom as rl


@cache
def comparison() -> rl.Comparison:
    """Three systems on 40 queries of 5 rows whose scores may be probabilities; by ndcg@5 and logloss."""
    draw = np.random.default_rng(0)
    labels = draw.integers(0, 2, 200).astype(float)
    qid = np.repeat(np.arange(40), 5)
    systems = {
        name: np.clip(labels * knows + draw.random(200) * (1 - knows), 0.01, 0.99)
        for name, knows in (("old", 0.1), ("new", 0.6), ("<script>alert(1)</script>", 0.3))
    }
    return rl.compare(systems, labels, qid=qid, measures=["ndcg@5", "logloss"], resamples=500)


@cache
def data() -> tuple[rl.RankingData, rl.RankingData]:
    """30 queries to learn from, and 10 others."""
    whole = rl.make_letor(40, seed=1).data
    return whole.take(slice(0, 30)), whole.take(slice(30, 40))


@cache
def tuning() -> rl.Tuning:
    """Six trials of CRR, one of which fails."""
    train, valid = data()
    space = {"lam": [-1.0, 1e-3, 1e-1], "alpha": [0.2, 0.8]}
    return rl.tune(rl.CRR(steps=300), train, valid, space=space, workers=1)


def letor(folder: Path) -> rl.Letor:
    """Three methods over two folds."""
    made = rl.make_letor(40, seed=2).data
    for fold in (1, 2):
        place = folder / f"Fold{fold}"
        place.mkdir(parents=True)
        for part, first in (("train", 0), ("vali", 14), ("test", 27)):
            rl.write(made.take((np.arange(first, first + 13) + 13 * fold) % 40), place / f"{part}.txt")
    return rl.letor(folder, ["spd", "crr", "ranksvm"], measures=["ndcg@10", "map"], workers=1)


def run_of(found: Any) -> dict[str, Any]:
    """The run on record of a result, as if it had been read from its file."""
    from rankloom.experiments.run import document
    from rankloom.reports.files import plain

    made: dict[str, Any] = plain(document(found.run_kind, found.for_run(), command="rankloom <made>"))
    return made
