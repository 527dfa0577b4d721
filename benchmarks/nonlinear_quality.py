"""Quality where the truth is known and not linear: `python benchmarks/nonlinear_quality.py [--set terms]`.

Two generated sets. `terms` is made here: products, thresholds, a feature of the query that decides which
other one counts, an exclusive or, bumps; graded labels by quantiles of the truth plus noise. `mslr` is
`rl.make_mslr`. Each method has the same budget: the four settings of its grid on the training part, trees or
epochs and the setting by ndcg@10 of the validation part. The table is of a test part that nothing was chosen
by; "truth" ranks by the truth itself, which no ranker can beat but by luck. p is of a paired randomisation
test over its queries, once against CatBoost, once against the best peer (by ndcg@10) whose trees grow leaf by
leaf, as ours do unless they are symmetric. `--how '{"noise": 0.7, "leaves": 31, "learning_rate": 0.1}'` adds
LambdaMART with parameters of one's own, in one setting or, without leaves and learning rate, in the four.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import numpy as np

import rankloom as rl
from mq2008_lambdamart import Trained, catboost, lambdamart, lightgbm, xgboost

MEASURES = ("ndcg@10", "map", "err")
LEAF_BY_LEAF = ("LightGBM", "XGBoost", "CatBoost, leaf by leaf")
SYMMETRIC = ("CatBoost",)
GRID = [{"leaves": leaves, "learning_rate": rate} for leaves in (7, 31) for rate in (0.05, 0.1)]
SHAKEN: dict[str, Any] = {"trees": "symmetric", "noise": 0.7, "draws": 10}
NETS = [{"hidden": hidden, "rate": rate} for hidden in ((64,), (64, 32)) for rate in (0.001, 0.003)]
LINEAR = [{"rate": rate, "batch": batch} for rate in (0.003, 0.01) for batch in (8, 32)]
PENALTIES = [{"C": 10.0**power} for power in (-6, -4, -2, 0)]


def terms(n_queries: int, seed: int) -> tuple[rl.RankingData, np.ndarray]:
    """About 40 rows a query, 24 features, of which 14 matter and one is of the query."""
    rng = np.random.default_rng(seed)
    lengths = np.clip(np.exp(rng.normal(3.6, 0.5, n_queries)), 5, 200).astype(int)
    query = np.repeat(np.arange(n_queries), lengths)
    X = rng.normal(size=(len(query), 24)).astype(np.float32)
    X[:, 18:] = rng.exponential(size=(len(query), 6)) ** 2
    kind = rng.random(n_queries).astype(np.float32)[query]
    X[:, 0] = kind
    a, b, c, d, e, f, g, h, i, j, k = X[:, 1:12].astype(float).T
    truth = 0.8 * a * b + 1.2 * (c > 0.5) * d + np.where(kind > 0.5, e, f)
    truth += 0.7 * np.sign(g * h) + 1.5 * np.exp(-2.0 * i * i) + 0.5 * np.maximum(j, k)
    truth += 0.4 * np.log1p(X[:, 18]) * (X[:, 19] < 1.0) + 0.3 * np.tanh(X[:, 20] - 1.0)
    noisy = truth / truth.std() + rng.normal(0.0, 0.6, len(query)) + rng.normal(0.0, 0.7, n_queries)[query]
    y = np.searchsorted(np.quantile(noisy, (0.5, 0.8, 0.93, 0.98)), noisy)
    return rl.RankingData(X, y, query), truth


def mslr(n_queries: int, seed: int) -> tuple[rl.RankingData, np.ndarray]:
    """136 features, 120 rows a query."""
    made = rl.make_mslr(n_queries, seed=seed)
    return made.data, made.truth


SETS = {"terms": (terms, (500, 250, 1500)), "mslr": (mslr, (300, 150, 800))}


def watched(cls: Any, **how: Any) -> Callable[..., Trained]:
    """A ranker that keeps its best epoch on the validation part."""

    def train(data: rl.RankingData, valid: rl.RankingData, setting: dict[str, Any]) -> Trained:
        ranker = cls(patience=8, **how, **setting).fit(data, valid=valid)
        return float(ranker.curve_.max()), ranker.decision_function

    return train


def ranksvm(data: rl.RankingData, valid: rl.RankingData, setting: dict[str, Any]) -> Trained:
    """rl.RankSVM on standardised features."""
    ranker = rl.RankSVM(scale="standard", **setting).fit(data)
    return ranker.score(valid), ranker.decision_function


METHODS: dict[str, tuple[Callable[..., Trained], list[dict[str, Any]]]] = {
    "LightGBM": (lightgbm, GRID),
    "XGBoost": (xgboost, GRID),
    "CatBoost": (catboost, GRID),
    "CatBoost, leaf by leaf": (partial(catboost, symmetric=False), GRID),
    "LambdaMART ndcg@10": (lambdamart("ndcg@10"), GRID),
    "LambdaMART ndcg@10, noise": (lambdamart("ndcg@10", noise=0.5), GRID),
    "LambdaMART ndcg@10, lambda_l2=0": (lambdamart("ndcg@10", lambda_l2=0.0), GRID),
    "LambdaMART ndcg": (lambdamart("ndcg", stop_measure="ndcg@10"), GRID),
    "LambdaMART ndcg, noise": (lambdamart("ndcg", stop_measure="ndcg@10", noise=0.5), GRID),
    "LambdaMART ndcg, LightGBM's normalisation": (
        lambdamart("ndcg", stop_measure="ndcg@10", normalisation="lightgbm"),
        GRID,
    ),
    "LambdaMART ndcg@10, symmetric": (lambdamart("ndcg@10", trees="symmetric"), GRID),
    "LambdaMART ndcg@20, symmetric, noise": (lambdamart("ndcg@20", stop_measure="ndcg@10", **SHAKEN), GRID),
    "LambdaRank, net": (watched(rl.LambdaRank), NETS),
    "RankNet, net": (watched(rl.RankNet), NETS),
    "LambdaRank, linear": (watched(rl.LambdaRank), LINEAR),
    "RankSVM": (ranksvm, PENALTIES),
}


def parts(make: Callable[[int, int], Any], sizes: tuple[int, int, int], seed: int) -> tuple[Any, Any]:
    """Training, validation and test data of one draw, and the truth of the last."""
    data, truth = make(sum(sizes), seed)  # queries are in the order of their numbers
    edges = np.cumsum((0, *sizes))
    cut = [data.take(slice(int(a), int(b))) for a, b in pairwise(edges)]
    return cut, truth[data.offsets[edges[2]] :]


def told(how: str) -> tuple[Callable[..., Trained], list[dict[str, Any]]]:
    """LambdaMART with these parameters, and the settings that are left to choose from."""
    given = {"measure": "ndcg@10", "stop_measure": "ndcg@10", **json.loads(how)}
    setting = {name: given.pop(name) for name in ("leaves", "learning_rate") if name in given}
    return lambdamart(**given), [setting] if setting else GRID


def main() -> None:
    """All methods on one set, or on both."""
    warnings.simplefilter("ignore")
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--set", dest="sets", nargs="*", default=list(SETS), choices=list(SETS))
    options.add_argument("--methods", nargs="*", default=list(METHODS), choices=list(METHODS))
    options.add_argument("--how", nargs="*", default=[], metavar="JSON", help="further LambdaMARTs")
    options.add_argument("--seed", type=int, default=0)
    asked = options.parse_args()
    methods = {name: METHODS[name] for name in asked.methods} | {how: told(how) for how in asked.how}
    for name in asked.sets:
        make, sizes = SETS[name]
        (train, valid, test), truth = parts(make, sizes, asked.seed)
        print(f"{name}: {train!r}", file=sys.stderr)
        found = {"truth": rl.evaluate(truth, test, measures=MEASURES)}
        chosen = {}
        for method, (learn, grid) in methods.items():
            begin = time.process_time()
            trained = [learn(train, valid, setting) for setting in grid]
            best = max(range(len(grid)), key=lambda at: trained[at][0])
            chosen[method] = trained[best][0], grid[best]
            found[method] = rl.evaluate(trained[best][1](test), test, measures=MEASURES)
            seconds = time.process_time() - begin
            print(f"{method}: {chosen[method]}, {seconds:.0f} s of CPU", file=sys.stderr, flush=True)
        show(name, found, chosen)


def show(name: str, found: dict[str, Any], chosen: dict[str, Any]) -> None:
    """The table."""
    bases = []
    for peers in (SYMMETRIC, LEAF_BY_LEAF):
        there = [method for method in peers if method in found]
        bases += [max(there, key=lambda method: found[method]["ndcg@10"])] if there else []
    print(f"\n{name}: p against {' / '.join(bases)}\n")
    print("| method | validation | " + " | ".join(f"{measure} | p" for measure in MEASURES) + " |")
    print("| --- |" + " ---: |" * (1 + 2 * len(MEASURES)))
    for method, values in found.items():
        cells = [f"{chosen[method][0]:.4f}" if method in chosen else "-"]
        for measure in MEASURES:
            own = values.per_query(measure)
            tests = [
                "-"
                if method == base
                else f"{rl.compare_values(own, found[base].per_query(measure))[0].p_randomisation:.3f}"
                for base in bases
            ]
            cells += [f"{values[measure]:.4f}", " / ".join(tests)]
        print(f"| {method} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
