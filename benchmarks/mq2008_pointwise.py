"""Pointwise baselines on MQ2008, by Lee & Lin's protocol: `python benchmarks/mq2008_pointwise.py FOLDER`.

Pairwise accuracy is over all pairs of the test part, ties counted as wrong, and mean NDCG that of LETOR 4.0.
C of both kinds of SVR is chosen from 2^-15 .. 2^10 on the validation part, once for each measure; forests and
boosted trees have the paper's fixed parameters. Fold 1, the mean of five folds, and the paper's figures for
fold 1. CPU seconds are of one training on fold 1; for an SVR, of the one with C = 1.

`--mini FOLDER` has a train.txt.gz, vali.txt.gz and test.txt.gz with raw features, scaled to [0, 1] here.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import rankloom as rl

MEASURES = ("pairwise:ties=pessimistic", "mean-ndcg/letor4")
CAPS = tuple(2.0**power for power in range(-15, 11))
# What, how, whether C is chosen, and the paper's pairwise accuracy and mean NDCG (Tables 5 to 7).
METHODS: tuple[tuple[str, dict[str, Any], bool, tuple[float, float] | None], ...] = (
    ("ridge", {}, False, None),
    ("SVR, L2 loss", {"regressor": "svr"}, True, (0.8217, 0.4450)),
    ("SVR, L1 loss", {"regressor": "svr-l1"}, True, (0.7772, 0.4153)),
    ("forest, 40 trees", {"regressor": "forest"}, False, (0.8036, 0.4541)),
    ("forest, 1,000 trees", {"regressor": "forest", "trees": 1000}, False, (0.8260, 0.4675)),
    ("GBDT, 100 trees", {"regressor": "gbdt"}, False, (0.8283, 0.4706)),
    ("GBDT, 1,000 trees", {"regressor": "gbdt", "trees": 1000}, False, (0.7978, 0.4491)),
)


class Part(NamedTuple):
    """What one fold gave: both measures, and seconds."""

    values: tuple[float, ...]
    seconds: float


def pairs_of(data: rl.RankingData) -> Any:
    """How many pairs each query has."""
    labels = [np.unique(data.y[a:b], return_counts=True)[1] for a, b in zip(data.offsets, data.offsets[1:])]  # noqa: B905
    return np.array([(counts.sum() ** 2 - (counts**2).sum()) / 2.0 for counts in labels])


def measured(model: Any, data: rl.RankingData) -> tuple[float, float]:
    """Over all pairs, and over all queries."""
    scores = model.decision_function(data)
    pairwise = rl.evaluate(scores, data, measures=MEASURES[0], query_weights=pairs_of(data))
    return pairwise[MEASURES[0]], rl.evaluate(scores, data, measures=MEASURES[1])[MEASURES[1]]


def learned(options: dict[str, Any], data: rl.RankingData) -> tuple[Any, float]:
    """A model, and how long it took."""
    begin = time.process_time()
    model = rl.Pointwise(**options).fit(data).model_
    return model, time.process_time() - begin


def one_fold(parts: tuple[rl.RankingData, ...], options: dict[str, Any], tuned: bool) -> Part:
    """The test part's measures, each with its own best C where one is chosen."""
    train, vali, test = parts
    if not tuned:
        model, seconds = learned(options, train)
        return Part(measured(model, test), seconds)
    models = [learned({**options, "C": C}, train) for C in CAPS]
    seen = np.array([measured(model, vali) for model, _ in models])
    best = [models[int(place)][0] for place in seen.argmax(axis=0)]
    return Part(tuple(measured(model, test)[at] for at, model in enumerate(best)), models[CAPS.index(1.0)][1])


def show(folds: list[tuple[rl.RankingData, ...]], extra: dict[str, Any], paper: bool, only: str) -> None:
    """One line per method."""
    learned({}, folds[0][0])  # imports
    heads = ["method", "pairwise", "NDCG", *(["mean of folds", "NDCG"] if len(folds) > 1 else [])]
    heads += [*(["paper", "NDCG"] if paper else []), "CPU s"]
    print("| " + " | ".join(heads) + " |\n|" + " --- |" * len(heads))
    for name, options, tuned, known in (method for method in METHODS if only in method[0]):
        parts = [one_fold(fold, {**options, **extra}, tuned) for fold in folds]
        rows = [parts[0].values]
        if len(folds) > 1:
            rows.append(tuple(np.mean([part.values for part in parts], axis=0)))
        cells = [cell for row in rows for cell in (f"{100 * row[0]:.2f} %", f"{row[1]:.4f}")]
        if paper:
            cells += ["-", "-"] if known is None else [f"{100 * known[0]:.2f} %", f"{known[1]:.4f}"]
        print("| " + " | ".join([name, *cells, f"{parts[0].seconds:.2f}"]) + " |", flush=True)


def folds_of(folder: str) -> Iterator[tuple[rl.RankingData, ...]]:
    for fold in rl.read_folds(folder):
        yield fold.train, fold.vali, fold.test


def main() -> None:
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", nargs="?")
    parser.add_argument("--mini")
    parser.add_argument("--only", default="", help="methods whose name has this in it")
    parser.add_argument("--folds", type=int, default=5, help="only the first so many")
    given = parser.parse_args()
    if given.folder:
        show(list(folds_of(given.folder))[: given.folds], {}, True, given.only)
    if given.mini:
        mini = Path(given.mini)
        names = ("train", "vali", "test")
        parts = tuple(rl.read(mini / f"{name}.txt.gz", n_features=136) for name in names)
        show([parts], {"scale": "minmax"}, False, given.only)


if __name__ == "__main__":
    main()
