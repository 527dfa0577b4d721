"""Rankers by lambdas on MQ2008 beside LightGBM, XGBoost and CatBoost.

    python benchmarks/mq2008_lambdamart.py MQ2008

Five folds. Each method has the same budget: the settings of its grid, each trained on the training part; the
best on the validation part (by the method's own measure, trees or epochs included) is measured on the test
part. p is of a paired randomisation test over the queries of all folds against LightGBM.

A second table has LambdaMART alone: what it was trained for beside what is measured, with p against the
trees that were trained for just that measure.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from typing import Any

os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import numpy as np

import rankloom as rl

MEASURES = ("ndcg@10", "map", "err", "mrr")
TREES, PATIENCE = 300, 50
GRID = [{"leaves": leaves, "learning_rate": rate} for leaves in (7, 15) for rate in (0.05, 0.1)]
LINEAR = [{"rate": rate, "batch": batch} for rate in (0.003, 0.01) for batch in (8, 32)]
Trained = tuple[float, Callable[[rl.RankingData], np.ndarray]]


def lambdamart(measure: str, **how: Any) -> Callable[..., Trained]:
    """rl.LambdaMART with a measure."""

    def train(data: rl.RankingData, valid: rl.RankingData, setting: dict[str, Any]) -> Trained:
        ranker = rl.LambdaMART(measure, n_trees=TREES, patience=PATIENCE, **how, **setting)
        return float(ranker.fit(data, valid=valid).curve_.max()), ranker.decision_function

    return train


def lambdarank(measure: str) -> Callable[..., Trained]:
    """rl.LambdaRank with a measure."""

    def train(data: rl.RankingData, valid: rl.RankingData, setting: dict[str, Any]) -> Trained:
        ranker = rl.LambdaRank(measure, **setting).fit(data, valid=valid)
        return float(ranker.curve_.max()), ranker.decision_function

    return train


def best_prefix(predict: Callable[[int], np.ndarray], valid: rl.RankingData, n: int) -> tuple[float, int]:
    """The number of trees, every fifth, that is best on the validation part."""
    values = [(rl.evaluate(predict(k), valid, measures="ndcg@10")["ndcg@10"], -k) for k in range(5, n + 1, 5)]
    value, k = max(values)
    return value, -k


def lightgbm(data: rl.RankingData, valid: rl.RankingData, setting: dict[str, Any]) -> Trained:
    """Its lambdarank."""
    import lightgbm

    params = {"objective": "lambdarank", "num_leaves": setting["leaves"], "verbose": -1, "num_threads": 1}
    params |= {"learning_rate": setting["learning_rate"], "seed": 0}
    booster = lightgbm.train(params, lightgbm.Dataset(data.values, data.y, group=data.lengths), TREES)
    value, k = best_prefix(lambda n: booster.predict(valid.values, num_iteration=n), valid, TREES)
    return value, lambda rows: booster.predict(rows.values, num_iteration=k)


def xgboost(data: rl.RankingData, valid: rl.RankingData, setting: dict[str, Any]) -> Trained:
    """Its rank:ndcg."""
    import xgboost

    params = {"objective": "rank:ndcg", "tree_method": "hist", "grow_policy": "lossguide", "nthread": 1}
    params |= {"max_leaves": setting["leaves"], "max_depth": 0, "eta": setting["learning_rate"]}
    booster = xgboost.train(params, xgboost.DMatrix(data.values, data.y, group=data.lengths), TREES)
    held_out = xgboost.DMatrix(valid.values)
    value, k = best_prefix(lambda n: booster.predict(held_out, iteration_range=(0, n)), valid, TREES)
    return value, lambda rows: booster.predict(xgboost.DMatrix(rows.values), iteration_range=(0, k))


def catboost(
    data: rl.RankingData, valid: rl.RankingData, setting: dict[str, Any], symmetric: bool = True
) -> Trained:
    """Its YetiRank: trees with one question a level, as deep as the leaves ask for, or leaf by leaf."""
    import catboost

    groups = np.repeat(np.arange(data.n_queries), data.lengths)
    how: dict[str, Any] = {
        "loss_function": "YetiRank",
        "iterations": TREES,
        "thread_count": 1,
        "verbose": False,
    }
    how |= {"depth": int(np.ceil(np.log2(setting["leaves"]))), "learning_rate": setting["learning_rate"]}
    if not symmetric:
        how |= {"grow_policy": "Lossguide", "max_leaves": setting["leaves"], "depth": 16}
    model = catboost.CatBoost({**how, "allow_writing_files": False, "random_seed": 0})
    model.fit(catboost.Pool(data.values, data.y, group_id=groups))
    value, k = best_prefix(lambda n: model.predict(valid.values, ntree_end=n), valid, TREES)
    return value, lambda rows: model.predict(rows.values, ntree_end=k)


METHODS: dict[str, tuple[Callable[..., Trained], list[dict[str, Any]]]] = {
    "LightGBM": (lightgbm, GRID),
    "XGBoost": (xgboost, GRID),
    "CatBoost": (catboost, GRID),
    "LambdaMART ndcg@10": (lambdamart("ndcg@10"), GRID),
    "LambdaMART ndcg@10, noise": (lambdamart("ndcg@10", noise=0.5), GRID),
    "LambdaMART ndcg": (lambdamart("ndcg", stop_measure="ndcg@10"), GRID),
    "LambdaMART ndcg, least squares": (
        lambdamart("ndcg", stop_measure="ndcg@10", splits="least-squares"),
        GRID,
    ),
    "LambdaMART ndcg@20, symmetric, noise": (
        lambdamart("ndcg@20", stop_measure="ndcg@10", trees="symmetric", noise=0.7, draws=10),
        GRID,
    ),
    "LambdaMART map": (lambdamart("map"), GRID),
    "LambdaMART err": (lambdamart("err"), GRID),
    "LambdaMART mrr": (lambdamart("mrr"), GRID),
    "LambdaMART ranknet": (lambdamart("ranknet"), GRID),
    "LambdaRank ndcg@10": (lambdarank("ndcg@10"), LINEAR),
    "LambdaRank map": (lambdarank("map"), LINEAR),
    "LambdaRank err": (lambdarank("err"), LINEAR),
    "RankNet, linear": (lambdarank("ranknet"), LINEAR),
}


def main() -> None:
    """All methods over all folds."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("folder", help="the folder of MQ2008, with Fold1 to Fold5")
    options.add_argument("--methods", nargs="*", default=list(METHODS), choices=list(METHODS))
    asked = options.parse_args()
    names = ["LightGBM", *(name for name in asked.methods if name != "LightGBM")]
    values: dict[str, list[np.ndarray]] = {name: [] for name in names}
    for fold in rl.read_folds(asked.folder):
        for name in names:
            train, grid = METHODS[name]
            trained = [train(fold.train, fold.vali, setting) for setting in grid]
            _, score = max(trained, key=lambda one: one[0])
            found = rl.evaluate(score(fold.test), fold.test, measures=MEASURES)
            values[name].append(np.stack([found.per_query(m) for m in MEASURES]))
    print("| method | " + " | ".join(f"{measure} | p" for measure in MEASURES) + " |")
    print("| --- |" + " ---: |" * (2 * len(MEASURES)))
    own = np.concatenate(values["LightGBM"], axis=1)
    for name in names:
        rows = np.concatenate(values[name], axis=1)
        cells = []
        for at, mine in enumerate(rows):
            test = None if name == "LightGBM" else rl.compare_values(mine, own[at])
            cells += [f"{mine.mean():.4f}", "-" if test is None else f"{test[0].p_randomisation:.2f}"]
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
    print_own({name: np.concatenate(found, axis=1) for name, found in values.items()})


def print_own(values: dict[str, np.ndarray]) -> None:
    """Each measure by what was trained for, and whether the trees trained for it are behind."""
    names = [name for name in values if name.removeprefix("LambdaMART ") in (*MEASURES, "ndcg", "ranknet")]
    print("\n| trained for | " + " | ".join(f"{measure} | p" for measure in MEASURES) + " |")
    print("| --- |" + " ---: |" * (2 * len(MEASURES)))
    for name in names:
        cells = []
        for at, measure in enumerate(MEASURES):
            own = f"LambdaMART {measure}"
            test = (
                None
                if name == own or own not in values
                else rl.compare_values(values[name][at], values[own][at])
            )
            cells += [
                f"{values[name][at].mean():.4f}",
                "-" if test is None else f"{test[0].p_randomisation:.2f}",
            ]
        print(f"| {name.removeprefix('LambdaMART ')} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
