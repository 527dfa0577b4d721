"""The store at several sizes: `python benchmarks/store.py [FOLDER] [--sizes 10 100 1000]`.

For each size in MB, dense and sparse data is saved, and then, each in a process of its own that has imported
the package:

    first     the first load_store of the process, the imports it still needs included
    open      another load_store
    peer      np.load of each file: reading the arrays, the least that a format that is not mapped must do
    walk      blocks of 65,536 rows one after the other, the values of each added up
    verify    load_store(verify=True): every byte read, checksums compared

Times are CPU / wall in milliseconds, the least of several runs; files are in the page cache.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from rankloom.data.ranking_data import RankingData
from rankloom.data.store import save_store

FEATURES = 136
ROWS_A_QUERY = 120
VALUES_A_ROW = 75

CHILD = """
import json, sys, time
import numpy as np
import rankloom, rankloom.data.ranking_data

folder, task, runs = sys.argv[1], sys.argv[2], int(sys.argv[3])

def timed(function):
    cpu, wall = time.process_time(), time.perf_counter()
    function()
    return (time.process_time() - cpu) * 1e3, (time.perf_counter() - wall) * 1e3

def load(**options):
    from rankloom.data.store import load_store
    return load_store(folder, **options)

def peer():
    import pathlib
    return [np.load(path) for path in pathlib.Path(folder).glob("*.npy")]

def walk():
    return sum(float(block.values.sum()) for block in load().blocks(1 << 16))

if task == "first":
    print(json.dumps(timed(load)))
else:
    function = {"open": load, "peer": peer, "walk": walk, "verify": lambda: load(verify=True)}[task]
    function()
    times = [timed(function) for _ in range(runs)]
    print(json.dumps([min(t[0] for t in times), min(t[1] for t in times)]))
"""


def dense(megabytes: int) -> RankingData:
    """Dense data with about so many MB of features."""
    n_rows = megabytes * 1_000_000 // (4 * FEATURES)
    generator = np.random.default_rng(0)
    X = generator.random((n_rows, FEATURES), dtype=np.float32)
    return RankingData(X, generator.integers(0, 5, n_rows), np.arange(n_rows) // ROWS_A_QUERY)


def sparse(megabytes: int) -> RankingData:
    """Sparse data with about so many MB of values and columns, with doc ids and qids that are strings."""
    n_rows = megabytes * 1_000_000 // (8 * VALUES_A_ROW)
    generator = np.random.default_rng(0)
    columns = generator.integers(0, 600, (n_rows, VALUES_A_ROW), dtype=np.uint32).cumsum(
        axis=1, dtype=np.uint32
    )
    columns += np.arange(VALUES_A_ROW, dtype=np.uint32)
    values = generator.random(columns.size, dtype=np.float32)
    edges = np.arange(n_rows + 1) * VALUES_A_ROW
    qids = np.char.add("q", (np.arange(n_rows) // ROWS_A_QUERY).astype(str))
    return RankingData.from_csr(
        values, columns.reshape(-1), edges, 50_000, generator.integers(0, 2, n_rows), qids, trusted=True,
        doc_ids=np.arange(n_rows).astype(str),
    )  # fmt: skip


def child(folder: Path, task: str, runs: int) -> tuple[float, float]:
    """CPU and wall milliseconds of a task in a new process; of `first`, the least of several processes."""
    found = []
    for _ in range(runs if task == "first" else 1):
        arguments = [sys.executable, "-c", CHILD, str(folder), task, str(runs)]
        found.append(json.loads(subprocess.run(arguments, capture_output=True, check=True, text=True).stdout))
    return min(cpu for cpu, _ in found), min(wall for _, wall in found)


def measure(name: str, data: RankingData, folder: Path, runs: int) -> list[Any]:
    """One row of the table."""
    place = folder / f"{name}.store"
    start = time.perf_counter()
    save_store(data, place)
    seconds = time.perf_counter() - start
    size = sum(path.stat().st_size for path in place.iterdir()) / 1e6
    del data
    times = [child(place, task, runs) for task in ("first", "open", "peer", "walk", "verify")]
    shutil.rmtree(place)
    return [
        name,
        f"{size:,.0f}",
        f"{size / seconds:,.0f}",
        *(f"{cpu:,.1f} / {wall:,.1f}" for cpu, wall in times),
    ]


def main() -> None:
    """Print a table of all sizes and kinds."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "folder", type=Path, nargs="?", help="where stores are written; a temporary one if not given"
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=[10, 100, 1000], help="in MB")
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    print("| store | MB | saved, MB/s | first, ms | open, ms | peer, ms | walk, ms | verify, ms |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        for make in (dense, sparse):
            for size in options.sizes:
                row = measure(f"{make.__name__} {size}", make(size), folder, options.runs)
                print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
