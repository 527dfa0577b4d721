"""What a step of stochastic pairwise descent costs, beside the floor: `python benchmarks/spd.py`.

Everything in nanoseconds of CPU time a step, one thread, the least of several runs, all in this one
process. The floor is a kernel that draws the same pairs and fetches the same rows, and only computes
both scores: two rows and the weights they touch are read, nothing is written. scikit-learn's
SGDClassifier learns from pairs written out before (not timed), one after the other in memory.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankloom.data.generate import make_letor, make_mslr
from rankloom.data.generate_topics import make_rcv1
from rankloom.data.ranking_data import RankingData
from rankloom.kernels import spd
from rankloom.kernels.compile import as_kernel, kernel
from rankloom.kernels.memory import prefetch
from rankloom.kernels.pair_index import PairIndex, build_pair_index
from rankloom.kernels.spd import Recipe, Rows, State, Truth, new_state, take_steps

LAM = 1e-4
LEARNERS = ("sgd", "pegasos", "passive-aggressive", "romma", "perceptron")
_STEP = np.uint64(1)


@kernel
def floor(rows: Rows, truth: Truth, index: PairIndex, recipe: Recipe, state: State, count: int) -> float:
    """Draw and fetch as `take_steps` does, and compute scores only."""
    ring, drawn, total = state.ring, np.uint64(0), 0.0
    for step in range(_STEP, np.uint64(count) + _STEP):
        while drawn < step + np.uint64(spd.AHEAD):
            drawn += _STEP
            slot = drawn & np.uint64(spd.RING - 1)
            ring[slot, 0], ring[slot, 1] = spd._draw(index, truth, recipe, state.random)
            if rows.width == 0:
                for side in range(2):
                    prefetch(rows.offsets, ring[slot, side])
        slot = (step + np.uint64(spd.NEAR)) & np.uint64(spd.RING - 1)
        for side in range(2):
            spd._fetch(rows, ring[slot, side])
        slot = step & np.uint64(spd.RING - 1)
        total += spd._dot(rows, ring[slot, 0], state.v) - spd._dot(rows, ring[slot, 1], state.v)
    return total


def parts(data: RankingData) -> tuple[Rows, Truth, PairIndex]:
    """Data as the kernel takes it; dense features standardised, so that steps are those of real work."""
    truth = Truth(as_kernel(data.y, np.float64), np.empty(0))
    index = build_pair_index(data.y, data.offsets)
    if data.is_sparse:
        offsets = as_kernel(data.row_offsets, np.int64).view(np.uint64)
        return (
            Rows(as_kernel(data.values, np.float32), as_kernel(data.columns, np.uint32), offsets, 0),
            truth,
            index,
        )
    table = standardised(data.values)
    return Rows(table.ravel(), np.empty(0, np.uint32), np.empty(0, np.uint64), data.n_features), truth, index


def standardised(table: NDArray[np.float32]) -> NDArray[np.float32]:
    """Mean 0 and deviation 1 in each column."""
    mean, deviation = table.mean(axis=0), table.std(axis=0)
    return np.ascontiguousarray((table - mean) / np.where(deviation > 0, deviation, 1), dtype=np.float32)


def recipe(learner: int) -> Recipe:
    """A plain one with the Pegasos rate."""
    return Recipe(spd.PAIRS, learner, spd.HINGE, spd.SIGN, LAM, 1.0, 1 / LAM, 0.0, 1.0, 0.0, 0.0, 0, 0.0)


def least(work: Callable[[], Any], runs: int = 5) -> float:
    """CPU seconds of the best run."""
    found = []
    for _ in range(runs):
        start = time.thread_time()
        work()
        found.append(time.thread_time() - start)
    return min(found)


def nanoseconds(work: Callable[[int], Any], steps: int) -> float:
    """A step of `work(steps)`, warm."""
    work(100)
    return least(lambda: work(steps)) / steps * 1e9


def scikit_learn(data: RankingData, rows: Rows, index: PairIndex, steps: int) -> float:
    """SGDClassifier over so many pairs, written out."""
    from sklearn.linear_model import SGDClassifier

    truth = Truth(as_kernel(data.y, np.float64), np.empty(0))
    state, pairs = new_state(data.n_features, 1), []
    for first in range(1, steps, 8):
        take_steps(rows, truth, index, recipe(spd.PERCEPTRON)._replace(margin=-1e300), state, first, 8)
        pairs += state.ring[np.arange(first, first + 8) % spd.RING].tolist()
    better, worse = np.array(pairs[:steps]).T
    X = data.X if data.is_sparse else rows.values.reshape(-1, data.n_features)
    differences = X[better] - X[worse]
    signs = np.where(np.arange(steps) % 2, 1, -1)
    table = differences.multiply(signs[:, None]).tocsr() if data.is_sparse else differences * signs[:, None]
    if data.is_sparse:
        table.indices, table.indptr = table.indices.astype(np.int32), table.indptr.astype(np.int32)
    model = SGDClassifier(alpha=LAM, max_iter=1, tol=None, fit_intercept=False, shuffle=False)
    return least(lambda: model.fit(table, signs), 3) / steps * 1e9


def steps_table(name: str, data: RankingData, steps: int) -> None:
    """One data set: floor, learners, scikit-learn, and the index."""
    rows, truth, index = parts(data)
    state = new_state(data.n_features, 1)
    state.v[:] = np.random.default_rng(0).normal(size=data.n_features)
    bottom = nanoseconds(lambda count: floor(rows, truth, index, recipe(spd.SGD), state, count), steps)
    print(f"\n{name}: {data!r}")
    print(f"  {'floor':<22}{bottom:7.0f} ns")
    for number, learner in enumerate(LEARNERS):
        how = recipe(number)
        cost = nanoseconds(
            lambda count, how=how: take_steps(
                rows, truth, index, how, new_state(data.n_features, 1), 1, count
            ),
            steps,
        )
        print(f"  {learner:<22}{cost:7.0f} ns  {cost / bottom:5.2f} x floor")
    cost = scikit_learn(data, rows, index, 20_000)
    print(f"  {'SGDClassifier':<22}{cost:7.0f} ns  {cost / bottom:5.2f} x floor")
    building = least(lambda: build_pair_index(data.y, data.offsets))
    whole = least(lambda: whole_training(data, rows, truth))
    print(f"  index {building * 1e3:.1f} ms; index and 100,000 Pegasos steps {whole * 1e3:.1f} ms")


def whole_training(data: RankingData, rows: Rows, truth: Truth) -> None:
    """What training costs once the data is there."""
    index = build_pair_index(data.y, data.offsets)
    take_steps(rows, truth, index, recipe(spd.PEGASOS), new_state(data.n_features, 1), 1, 100_000)


def sizes_table(steps: int) -> None:
    """A step at 1e4 to 1e7 rows of 46 features; and drawing alone, over one feature."""
    print("\nrows        index ms   a Pegasos step, 46 features   drawing a pair alone")
    rng = np.random.default_rng(0)
    for n_rows in (10_000, 100_000, 1_000_000, 10_000_000):
        y = rng.integers(0, 3, n_rows).astype(np.float64)
        offsets = np.arange(0, n_rows + 1, 20)
        table = rng.random((n_rows, 46), dtype=np.float32)
        truth = Truth(y, np.empty(0))
        building = least(lambda y=y, offsets=offsets: build_pair_index(y, offsets), 2)
        index, costs = build_pair_index(y, offsets), []
        for values, width in ((table.ravel(), 46), (np.zeros(n_rows, dtype=np.float32), 1)):
            rows = Rows(values, np.empty(0, np.uint32), np.empty(0, np.uint64), width)
            costs.append(
                nanoseconds(
                    lambda count, rows=rows, width=width, truth=truth, index=index: take_steps(
                        rows, truth, index, recipe(spd.PEGASOS), new_state(width, 1), 1, count
                    ),
                    steps,
                )
            )
        print(f"{n_rows:<12,}{building * 1e3:8.1f}{costs[0]:20.0f} ns{costs[1]:24.0f} ns")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=781_265, help="rows of the sparse set")
    parser.add_argument("--steps", type=int, default=300_000)
    options = parser.parse_args()
    steps_table("RCV1-like", make_rcv1(options.rows, topic=30, seed=1).data, options.steps)
    steps_table("MSLR-like", make_mslr(2_500, seed=1).data, options.steps)
    steps_table("LETOR-like", make_letor(784, seed=1).data, options.steps)
    sizes_table(options.steps)


if __name__ == "__main__":
    main()
