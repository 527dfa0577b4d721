"""What learning online costs: `python benchmarks/online.py [--updates 10000000]`.

1. Updates a second, dense and sparse, beside the floor and beside NumPy; nanoseconds of CPU time, one thread,
   the least of several runs. The floor of a full covariance is to read and write its triangle; of the others,
   to score both rows and to write their weights.
2. Symmetry and positivity after so many updates of SOLAR-II.
3. Feedback a second with everything on the disk first, beside the same number of bare flushes, and SQLite.

What it costs to be up to date after each further query is in `rankloom experiment online`.
"""

from __future__ import annotations

import argparse
import os
import sqlite3
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import rankloom as rl
from rankloom.kernels import online
from rankloom.kernels.compile import kernel
from rankloom.kernels.online import Feedback, Recipe, Rows, State, Work, learn
from rankloom.online.loop import Told
from rankloom.rankers.sketch import new_sketch

NOTHING = np.empty(0)


@kernel(allocates=False)
def touch_all(s: Any, times: int) -> None:
    """Read and write what an update of a full covariance changes."""
    for _ in range(times):
        for j in range(np.uint64(len(s))):
            s[j] -= 1e-300


@kernel(allocates=False, fast_sums=True)
def touch_rows(rows: Rows, pairs: Any, w: Any) -> float:
    """Score both rows of each pair, then write their weights."""
    total = 0.0
    for k in range(len(pairs)):
        for side in range(2):
            row, n = np.uint64(pairs[k, side]), np.uint64(rows.width)
            if n > 0:
                for j in range(n):
                    total += w[j] * rows.values[row * n + j]
                for j in range(n):
                    w[j] += 1e-300 * rows.values[row * n + j]
            else:
                first, last = rows.offsets[row], rows.offsets[row + np.uint64(1)]
                for place in range(first, last):
                    total += w[rows.columns[place]] * rows.values[place]
                for place in range(first, last):
                    w[rows.columns[place]] += 1e-300 * rows.values[place]
    return total


def least(work: Callable[[], Any], runs: int = 5) -> float:
    """CPU seconds of the best run, after one that compiles."""
    work()
    found = []
    for _ in range(runs):
        begin = time.thread_time()
        work()
        found.append(time.thread_time() - begin)
    return min(found)


def state_of(form: int, d: int) -> State:
    scalars = np.zeros(online.SCALARS)
    scalars[[online.SCALE, online.A]] = 1.0
    state = State(np.zeros(d), NOTHING, np.empty((0, 0)), NOTHING, scalars, np.array([1], np.uint64))
    if form == online.FULL:
        return state._replace(spread=np.eye(d)[np.tril_indices(d)])
    if form == online.LOW_RANK:
        return new_sketch(state, d, 8)
    return state._replace(spread=np.ones(d)) if form == online.DIAGONAL else state


def rows_of(d: int, nnz: int, count: int, draw: np.random.Generator) -> Rows:
    if nnz == d:
        table = draw.normal(size=(count, d)).astype(np.float32)
        return Rows(table.ravel(), np.empty(0, np.uint32), np.zeros(1, np.uint64), d)
    columns = np.concatenate([np.sort(draw.choice(d, nnz, replace=False)) for _ in range(count)])
    values = draw.normal(size=count * nnz).astype(np.float32)
    return Rows(values, columns.astype(np.uint32), np.arange(count + 1, dtype=np.uint64) * np.uint64(nnz), 0)


def numpy_update(form: int, d: int, dense: bool, draw: np.random.Generator) -> Callable[[], Any]:
    """One update as NumPy has it, over a dense x or over the columns of a sparse one."""
    w, x = np.zeros(d), draw.normal(size=d if dense else 152)
    at: Any = slice(None) if dense else draw.choice(d, 152, replace=False)
    S = np.eye(d) if form == online.FULL else np.ones(d)

    def update() -> None:
        if form == online.FIRST:
            w[at] += (1.0 - w[at] @ x) / (x @ x + 5e4) * x
        elif form == online.DIAGONAL:
            moved = S[at] * x
            beta = moved @ x + 1e4
            w[at] += (1.0 - w[at] @ x) / beta * moved
            S[at] -= moved * moved / beta
        else:
            moved = S @ x
            beta = moved @ x + 1e4
            w[:] += (1.0 - w @ x) / beta * moved
            S[:] -= np.outer(moved, moved) / beta

    return update


NAMES = {
    online.FIRST: "SOLAR-I",
    online.DIAGONAL: "II diagonal",
    online.LOW_RANK: "II low-rank",
    online.FULL: "II full",
}


def updates(rounds: int) -> None:
    print("features   form           ns an update   updates/s     floor ns   x floor     NumPy ns   x NumPy")
    draw = np.random.default_rng(0)
    for d, nnz in ((46, 46), (136, 136), (700, 700), (47_236, 76)):
        forms = [*NAMES] if nnz == d else [online.FIRST, online.DIAGONAL, online.LOW_RANK]
        rows, count = rows_of(d, nnz, 200, draw), rounds // (d if nnz == d else 100)
        for form in forms:
            n = max(200, count // (d // 8) if form == online.FULL else count)
            pairs = draw.integers(0, 100, (n, 2))
            pairs[:, 1] += 100
            told = Feedback(np.array([0, n]), pairs, NOTHING, NOTHING)
            work = Work(
                np.zeros(max(d, 2 * nnz)), np.zeros(2 * nnz, np.uint32), np.zeros(max(d, 64)),
                np.zeros(max(d, 64)), np.zeros(max(d, 64)), np.zeros(n, np.int64),
            )  # fmt: skip
            how, scores = Recipe(form, 1e-5, 1e4, 1.0), np.empty(200)
            states = [state_of(form, d) for _ in range(6)]
            seconds = least(
                lambda told=told, how=how, states=states, work=work, rows=rows, scores=scores: learn(
                    rows, np.array([0, 200]), told, how, states.pop(), work, scores
                )
            )
            if form == online.FULL:
                changed = np.ones(d * (d + 1) // 2)
                floor = least(lambda changed=changed: touch_all(changed, 1000)) / 1000
            else:
                w = np.ones(d)
                floor = least(lambda rows=rows, pairs=pairs, w=w: touch_rows(rows, pairs, w)) / n
            cost = seconds / n
            line = f"{d:<10,} {NAMES[form]:<14}{cost * 1e9:13.0f}{1 / cost:14,.0f}{floor * 1e9:12.0f}"
            line += f"{cost / floor:10.1f}"
            if form != online.LOW_RANK:
                update = numpy_update(form, d, nnz == d, draw)
                plain = least(lambda update=update: [update() for _ in range(100)]) / 100
                line += f"{plain * 1e9:13.0f}{plain / cost:10.1f}"
            print(line)


def long_run(count: int) -> None:
    print(f"\nafter {count:,} updates of SOLAR-II, full, features in nearly equal halves (1e-3 apart)")
    draw = np.random.default_rng(1)
    for d, gamma in ((46, 1e4), (46, 1.0), (136, 1.0)):
        base = draw.normal(size=(1000, d // 2))
        X = np.hstack((base, base + 1e-3 * draw.normal(size=base.shape))).astype(np.float32)
        rows = Rows(X.ravel(), np.empty(0, np.uint32), np.zeros(1, np.uint64), d)
        state, scores = state_of(online.FULL, d), np.empty(1000)
        work = Work(*(np.zeros(d), np.zeros(2 * d, np.uint32), *np.zeros((3, d)), np.zeros(0, np.int64)))
        while state.scalars[online.UPDATES] < count:
            pairs = draw.integers(0, 500, (200_000, 2))
            pairs[:, 1] += 500
            told = Feedback(np.array([0, len(pairs)]), pairs, NOTHING, NOTHING)
            learn(rows, np.array([0, 1000]), told, Recipe(online.FULL, 1.0, gamma, 1.0), state, work, scores)
        S = np.zeros((d, d))
        S[np.tril_indices(d)] = state.spread
        values = np.linalg.eigvalsh(S)
        print(
            f"  {d} features, gamma {gamma:g}: {int(state.scalars[online.UPDATES]):,} updates, eigenvalues "
            f"{values[0]:.3g} to {values[-1]:.3g}; symmetric, as only one triangle is kept"
        )


def durability(count: int) -> None:
    data = rl.make_letor(count, seed=1).data
    queries = [data.take([q]) for q in range(count)]
    told = [(str(q), one.X, one.y) for q, one in enumerate(queries)]
    place = Path(tempfile.mkdtemp(dir="."))
    print(f"\nfeedback/s, wall time: {count} queries of {data.n_rows / count:.0f} rows, 46 features")
    learner = rl.SOLAR().begin(46)
    begin = time.perf_counter()
    for _, X, y in told:
        learner.learn_one_query(X, y)
    show("learning alone", count, begin)
    text = b"x" * int(np.mean([one.X.nbytes + 500 for one in queries]))
    begin = time.perf_counter()
    with (place / "floor").open("wb", buffering=0) as file:
        for _ in range(count):
            file.write(text)
            os.fdatasync(file.fileno())
    show(f"floor: {len(text):,} bytes and fdatasync", count, begin)
    for group in (1, 10, 100):
        with rl.OnlineLoop(place / f"loop {group}", rl.SOLAR(), n_features=46) as loop:
            begin = time.perf_counter()
            for first in range(0, count, group):
                loop.learn_group([Told(*one) for one in told[first : first + group]])
        show(f"the loop, {group} a flush", count, begin)
    base = sqlite3.connect(place / "base.sqlite", isolation_level=None)
    base.execute("pragma journal_mode=wal")
    base.execute("pragma synchronous=full")
    base.execute("create table journal (number integer primary key, id text unique, payload blob)")
    begin = time.perf_counter()
    for number in range(count):
        base.execute("insert into journal values (?, ?, ?)", (number, str(number), text))
    show("SQLite: insert and commit alone (WAL, full)", count, begin)
    base.close()
    import shutil

    shutil.rmtree(place)


def show(name: str, count: int, begin: float) -> None:
    seconds = time.perf_counter() - begin
    print(f"  {name:<48}{count / seconds:10,.0f}/s  {seconds / count * 1e6:8.0f} us each")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--updates", type=int, default=10_000_000, help="of the long run")
    parser.add_argument("--rounds", type=int, default=20_000_000, help="values touched, for each cost")
    parser.add_argument("--queries", type=int, default=2000, help="for durability")
    options = parser.parse_args()
    updates(options.rounds)
    durability(options.queries)
    long_run(options.updates)


if __name__ == "__main__":
    main()
