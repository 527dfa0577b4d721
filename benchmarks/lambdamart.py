"""LambdaMART beside LightGBM, XGBoost and CatBoost in one run: `python benchmarks/lambdamart.py`.

300,000 rows of 136 features in 2,500 queries (made as MSLR is), 100 trees of 31 leaves, two threads. The
whole training: from arrays to a model, bins included. Each is run several times, in turn, and its least CPU
time counts; threads wait without spinning (OMP_WAIT_POLICY=passive), so that CPU time is work. ndcg@10 is of
400 further queries.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from typing import Any

os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("RANKLOOM_THREADS", "2")

import numpy as np

import rankloom as rl

THREADS, DEPTH = 2, 30


def lightgbm(data: rl.RankingData, n_trees: int, **further: Any) -> Callable[[Any], Any]:
    """Its own lambdarank, at the same truncation."""
    import lightgbm

    params = {"objective": "lambdarank", "num_leaves": 31, "learning_rate": 0.1, "num_threads": THREADS}
    params |= {
        "lambdarank_truncation_level": DEPTH,
        "verbose": -1,
        "seed": 0,
        "force_row_wise": True,
        **further,
    }
    table = lightgbm.Dataset(data.values, data.y, group=data.lengths, params=params)
    return lightgbm.train(params, table, n_trees).predict


def xgboost(data: rl.RankingData, n_trees: int) -> Callable[[Any], Any]:
    """rank:ndcg on the pairs of the first 30."""
    import xgboost

    table = xgboost.QuantileDMatrix(data.values, data.y, group=data.lengths, nthread=THREADS)
    params = {"objective": "rank:ndcg", "tree_method": "hist", "grow_policy": "lossguide", "max_leaves": 31}
    params |= {"max_depth": 0, "eta": 0.1, "nthread": THREADS, "lambdarank_pair_method": "topk"}
    params |= {"lambdarank_num_pair_per_sample": DEPTH}
    booster = xgboost.train(params, table, n_trees)
    return lambda X: booster.predict(xgboost.DMatrix(X))


def catboost(data: rl.RankingData, n_trees: int) -> Callable[[Any], Any]:
    """LambdaMart on NDCG, trees of depth 5."""
    import catboost

    pool = catboost.Pool(data.values, data.y, group_id=np.repeat(np.arange(data.n_queries), data.lengths))
    how: dict[str, Any] = {"loss_function": "LambdaMart:metric=NDCG", "depth": 5, "learning_rate": 0.1}
    how |= {"iterations": n_trees, "thread_count": THREADS, "verbose": False, "allow_writing_files": False}
    return catboost.CatBoost(how).fit(pool).predict


def ours(data: rl.RankingData, n_trees: int, measure: str = "ndcg", **how: Any) -> Callable[[Any], Any]:
    """rl.LambdaMART."""
    if measure == "ndcg":
        how["truncation"] = DEPTH
    return rl.LambdaMART(measure, n_trees=n_trees, **how).fit(data).decision_function


METHODS: dict[str, Callable[[rl.RankingData, int], Callable[[Any], Any]]] = {
    "LightGBM": lightgbm,
    "rankloom": ours,
    "rankloom, LightGBM's normalisation": lambda d, n: ours(d, n, normalisation="lightgbm"),
    "rankloom, ndcg@10": lambda d, n: ours(d, n, "ndcg@10"),
    "rankloom, least squares": lambda d, n: ours(d, n, splits="least-squares"),
    "rankloom, symmetric": lambda d, n: ours(d, n, trees="symmetric"),
    "rankloom, symmetric, noise": lambda d, n: ours(d, n, trees="symmetric", noise=0.7, draws=10),
    "rankloom, quantised": lambda d, n: ours(d, n, quantised=True),
    "LightGBM, quantised": lambda d, n: lightgbm(
        d, n, use_quantized_grad=True, num_grad_quant_bins=16, quant_train_renew_leaf=True
    ),
    "XGBoost": xgboost,
    "CatBoost": catboost,
}


def main() -> None:
    """Run each method some times, in turn."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--queries", type=int, default=2500)
    options.add_argument("--trees", type=int, default=100)
    options.add_argument("--times", type=int, default=3)
    options.add_argument("--methods", nargs="*", default=list(METHODS), choices=list(METHODS))
    asked = options.parse_args()
    whole = rl.make_mslr(asked.queries + 400, seed=0).data
    data, test = whole.take(slice(0, asked.queries)), whole.take(slice(asked.queries, None))
    print(data)
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in asked.methods}
    quality = {}
    for _ in range(asked.times):
        for name in asked.methods:
            wall, cpu = time.perf_counter(), time.process_time()
            predict = METHODS[name](data, asked.trees)
            found[name].append((time.process_time() - cpu, time.perf_counter() - wall))
            print(f"{name}: {found[name][-1][0]:.2f} s of CPU", file=sys.stderr, flush=True)
            quality[name] = rl.evaluate(predict(test.values), test, measures="ndcg@10")["ndcg@10"]
    own = min(cpu for cpu, _ in found[asked.methods[0]])
    print(f"\n| method | CPU s | of {asked.methods[0]}'s | wall s | ndcg@10 |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for name, times in found.items():
        cpu, wall = min(cpu for cpu, _ in times), min(wall for _, wall in times)
        print(f"| {name} | {cpu:.2f} | {cpu / own:.2f} | {wall:.2f} | {quality[name]:.4f} |")


if __name__ == "__main__":
    main()
