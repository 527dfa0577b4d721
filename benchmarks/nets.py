"""Time of an epoch: `python benchmarks/nets.py [--queries 200] [--allrank FOLDER]`.

The same net (64 and 32 hidden units, Adam, 8 queries a step, one thread) by rankloom's RankNet and
LambdaRank, by PyTorch alone through every pair of a query, by the losses of allRank (from its unpacked wheel,
if a folder is given: it asks for PyTorch 1.8 at most and does not install beside a newer one), and with a
gradient that is known already: the floor. CPU seconds, the least of three epochs.
"""

from __future__ import annotations

import argparse
import sys
import time
import types
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import torch

import rankloom as rl
from rankloom.rankers.net_ranker import Net
from rankloom.rankers.net_training import new_net

WIDTH, BATCH = (64, 32), 8


def generated(queries: int, length: int) -> rl.RankingData:
    """Lists of one length, five grades, 136 features."""
    draw = np.random.default_rng(0)
    X = draw.normal(size=(queries * length, 136)).astype(np.float32)
    y = np.clip(np.round(X[:, :5].sum(axis=1) / 2 + draw.normal(size=len(X))), 0, 4)
    return rl.RankingData(X, y, np.repeat(np.arange(queries), length))


def epoch(data: rl.RankingData, step: Callable[[Any, Any, np.ndarray], None]) -> float:
    """CPU seconds of one epoch, the least of three."""
    net = new_net(136, WIDTH, "relu", 0)
    X, adam = torch.from_numpy(np.array(data.X)), torch.optim.Adam(net.parameters(), lr=1e-3)
    groups = np.array_split(np.arange(data.n_queries), max(1, data.n_queries // BATCH))
    taken = []
    for _ in range(3):
        begin = time.process_time()
        for group in groups:
            adam.zero_grad(set_to_none=True)
            rows = slice(int(data.offsets[group[0]]), int(data.offsets[group[-1] + 1]))
            step(net(X[rows])[:, 0], data.y[rows], np.diff(data.offsets)[group])
            adam.step()
        taken.append(time.process_time() - begin)
    return min(taken)


def by_pairs(scores: Any, y: np.ndarray, lengths: np.ndarray) -> None:
    """The cost of every pair, and PyTorch's own gradient of it."""
    labels, cost = torch.tensor(y), 0.0
    for first, last in pairwise(np.concatenate(([0], np.cumsum(lengths))).tolist()):
        own, s = labels[first:last], scores[first:last]
        i, j = torch.nonzero(own[:, None] > own[None, :], as_tuple=True)
        cost = cost + torch.nn.functional.softplus(s[j] - s[i]).sum()
    cost.backward()


def known(scores: Any, _y: np.ndarray, _lengths: np.ndarray) -> None:
    """A gradient that costs nothing."""
    scores.backward(torch.ones_like(scores))


def by_allrank(folder: str, which: str) -> Callable[[Any, np.ndarray, np.ndarray], None]:
    """allRank's loss of lists of one length."""
    sys.path.insert(0, folder)
    wanted = {  # all that its losses want of its readers
        "allrank.data": {},
        "allrank.data.dataset_loading": {"PADDED_Y_VALUE": -1},
        "allrank.utils.file_utils": {"is_gs_path": None, "copy_file_to_local": None},
    }
    for name, values in wanted.items():
        sys.modules[name] = types.ModuleType(name)
        vars(sys.modules[name]).update(values)
    from allrank.models import losses

    def step(scores: Any, y: np.ndarray, lengths: np.ndarray) -> None:
        shape = len(lengths), int(lengths[0])
        s, labels = scores.reshape(shape), torch.from_numpy(y.astype(np.float32)).reshape(shape)
        if which == "ranknet":
            losses.rankNet(s, labels).backward()
        else:
            losses.lambdaLoss(s, labels, weighing_scheme="lambdaRank_scheme", k=10).backward()

    return step


def ours(data: rl.RankingData, objective: str) -> float:
    """As `epoch`, with the batches that rankloom makes."""
    ranker = rl.RankNet(WIDTH, batch=BATCH)
    batches = Net(ranker, objective).query_batches(data)
    net = new_net(136, WIDTH, "relu", 0)
    X, adam = torch.from_numpy(np.array(data.X)), torch.optim.Adam(net.parameters(), lr=1e-3)
    taken = []
    for _ in range(3):
        begin = time.process_time()
        for batch in batches:
            adam.zero_grad(set_to_none=True)
            scores = net(X[torch.from_numpy(batch.rows)])[:, 0]
            gradient = batch.gradient(scores.detach().double().numpy())
            scores.backward(torch.from_numpy(gradient))
            adam.step()
        taken.append(time.process_time() - begin)
    return min(taken)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--allrank", metavar="FOLDER")
    given = parser.parse_args()
    torch.set_num_threads(1)
    print("| rows a query | method | s an epoch | over the floor |\n| --- | --- | --- | --- |")
    for length in (20, 120, 1000):
        queries = max(16, given.queries * 120 // max(length, 120))
        data = generated(queries, length)
        floor = epoch(data, known)
        found = {
            "gradient known: the floor": floor,
            "rankloom RankNet": ours(data, "ranknet"),
            "rankloom LambdaRank, ndcg@10": ours(data, "ndcg@10"),
            "PyTorch, every pair": epoch(data, by_pairs),
        }
        if given.allrank:
            for name in ("ranknet", "lambdarank"):
                if length <= 120 or name == "lambdarank":
                    found[f"allRank, {name}"] = epoch(data, by_allrank(given.allrank, name))
        for name, seconds in found.items():
            print(f"| {length:,} | {name} | {seconds:.3f} | {seconds / floor:.1f} |", flush=True)


if __name__ == "__main__":
    main()
