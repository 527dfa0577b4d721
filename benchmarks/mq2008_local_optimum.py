"""Does local_optimum know a maximum? `python benchmarks/mq2008_local_optimum.py FOLDER [--figures FOLDER]`.

On the training part of MQ2008's fold 1: linear LambdaRank for two measures, the same with its weights moved
at random by a part of their length (three times each), and RankNet. With a folder for figures, draws the
measure around a model, and a mix of two rankers on the validation part.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import rankloom as rl

MOVES, DRAWS = (0.1, 0.3, 0.5, 1.0), 3


def moved(model: rl.LinearModel, data: rl.RankingData, part: float, seed: int) -> rl.LinearModel:
    """Weights moved by a part of their length, as weights of features of standard deviation 1."""
    spread = np.asarray(data.X, dtype=float).std(axis=0)
    spread[spread == 0.0] = 1.0
    move = np.random.default_rng(seed).normal(size=len(spread))
    move *= part * np.linalg.norm(model.weights * spread) / np.linalg.norm(move)
    return rl.LinearModel(model.weights + move / spread)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--figures", metavar="FOLDER", type=Path)
    given = parser.parse_args()
    fold = next(iter(rl.read_folds(given.folder)))
    train, kept = fold.train, {}
    for measure in ("ndcg@10", "map"):
        model = rl.LambdaRank(measure, epochs=400, batch=500, rate=0.03).fit(train).model_
        found = kept[measure] = rl.local_optimum(model, train, measure)
        print(f"LambdaRank for {measure}: {found}")
        for part in MOVES:
            results = [
                rl.local_optimum(moved(model, train, part, seed), train, measure) for seed in range(DRAWS)
            ]
            print(f"  moved by {part:.0%}: a maximum in {sum(map(bool, results))} of {DRAWS}", flush=True)
            kept[f"{measure} {part}"] = results[0]
    ranknet = rl.RankNet((), rate=0.01, epochs=100).fit(train).model_
    print(f"RankNet: {rl.local_optimum(ranknet, train)}")
    if given.figures is None:
        return
    (given.figures / "local-optimum.svg").write_text(kept["ndcg@10"].svg())
    (given.figures / "local-optimum-moved.svg").write_text(kept["ndcg@10 0.5"].svg())
    a = rl.LambdaRank(rate=0.003).fit(train)
    b = rl.CRR(alpha=1.0, lam=1e-3).fit(train)
    found = rl.mix(a, b, fold.vali, scale=True)
    print(f"mix: {found}")
    (given.figures / "mix.svg").write_text(found.svg())


if __name__ == "__main__":
    main()
