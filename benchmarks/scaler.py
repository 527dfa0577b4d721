"""Scaling features beside scikit-learn and the floor: `python benchmarks/scaler.py [--rows 300000]`.

A dense float32 table with 136 columns, in queries of 120 rows. CPU milliseconds of one thread, the least of
several runs, and how many times the floor that is: copying the table to new memory, which is what any scaler
must do that leaves its input alone.
scikit-learn's scalers know no queries; theirs are over all rows. They are also called query by query, on a
part of the table, as a loop over queries would.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import rankloom as rl
from rankloom.models.scaling import KINDS, learned_scaling

WIDTH, LENGTH, RUNS = 136, 120, 7


def milliseconds(work: Callable[[], Any], runs: int = RUNS) -> float:
    """Least CPU time of some runs, after one that compiles."""
    work()
    found = []
    for _ in range(runs):
        begin = time.thread_time()
        work()
        found.append(time.thread_time() - begin)
    return 1e3 * min(found)


def one_by_one(scaler: Any, table: Any, length: int) -> None:
    for start in range(0, len(table), length):
        scaler.fit_transform(table[start : start + length])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=int, default=300_000)
    n_rows = parser.parse_args().rows
    table = np.random.default_rng(0).random((n_rows, WIDTH), dtype=np.float32)
    data = rl.RankingData(table, qid=np.arange(n_rows) // LENGTH)
    floor = milliseconds(table.copy)
    print("| what | ms | times the floor |\n| --- | --- | --- |")
    print(f"| copy: the floor | {floor:.1f} | 1 |")
    for per in ("query", "all"):
        for kind in KINDS:
            if (kind, per) == ("rank", "all"):
                continue

            def work(kind: str = kind, per: str = per) -> None:
                learned_scaling(kind, per, data).values(data, threads=1)

            taken = milliseconds(work, 1 if kind == "rank" else RUNS)
            print(f"| {kind} per {per} | {taken:.1f} | {taken / floor:.1f} |")
    for scaler in (MinMaxScaler(), StandardScaler()):
        name = type(scaler).__name__
        taken = milliseconds(lambda scaler=scaler: scaler.fit_transform(table), 3)
        print(f"| scikit-learn, {name}, all rows | {taken:.1f} | {taken / floor:.1f} |")
        part = table[: n_rows // 20]
        taken = 20 * milliseconds(lambda scaler=scaler, part=part: one_by_one(scaler, part, LENGTH), 2)
        print(f"| scikit-learn, {name}, query by query | {taken:.1f} | {taken / floor:.1f} |")


if __name__ == "__main__":
    main()
