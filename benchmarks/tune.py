"""Tuning beside scikit-learn's GridSearchCV: `python benchmarks/tune.py [--queries 2500] [--steps 1000000]`.

The same grid (12 settings of SPD) on the same rows, 136 dense features a row as MSLR has them: with held-out
queries, and with folds. Fits a second, model not refitted; and the peak of the memory of all processes
together, where what several of them map counts once (PSS), beside the bytes of the data: the peak less what
the same search with as many workers holds over next to no data, in copies of the data. Ours are given
stores, GridSearchCV arrays.

All processes stand still while they are looked at: a page that one of them maps before its turn and another
after it would count twice. The seconds leave that time out.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

import rankloom as rl

GRID = {"lam": [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1], "loss": ["hinge", "logistic"]}
RUNS = [
    ("ours", 0, 1),
    ("ours", 0, 2),
    ("theirs", 0, 2),
    ("ours", 0, 8),
    ("ours", 3, 1),
    ("ours", 3, 2),
    ("theirs", 3, 2),
    ("ours", 3, 8),
    ("ours", 5, 2),
    ("ours", 5, 8),
]  # who, how many folds (0: held-out queries), how many workers
MEGABYTE = 1 << 20


def ours(folder: Path, steps: int, workers: int, folds: int) -> None:
    given: dict[str, Any] = {"folds": folds} if folds else {"valid": folder / "valid.store"}
    train = folder / ("all.store" if folds else "train.store")
    space: Any = GRID
    rl.tune(rl.SPD(steps=steps), train, **given, space=space, workers=workers, refit=False)


def theirs(folder: Path, steps: int, workers: int, folds: int) -> None:
    import sklearn
    from sklearn.model_selection import GridSearchCV, GroupKFold, PredefinedSplit

    sklearn.set_config(enable_metadata_routing=True)
    data = rl.load_store(folder / "all.store")
    X, y, qid = np.array(data.X), np.array(data.y), np.repeat(data.qids, data.lengths)
    n_train = rl.load_store(folder / "train.store").n_rows
    held_out = PredefinedSplit(np.where(np.arange(data.n_rows) < n_train, -1, 0))
    del data
    cut: Any = GroupKFold(folds).set_split_request(groups="qid") if folds else held_out
    search = GridSearchCV(rl.SPD(steps=steps), GRID, cv=cut, n_jobs=workers, refit=False, error_score="raise")
    search.fit(X, y, qid=qid)


def family(root: int) -> list[int]:
    """A process and all that came from it."""
    parents: dict[int, list[int]] = {}
    for place in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((place / "stat").read_text().rsplit(")", 1)[1].split()[1])
        except OSError:
            continue
        parents.setdefault(parent, []).append(int(place.name))
    found = [root]
    for process in found:
        found += parents.get(process, [])
    return found


def shared_out(process: int) -> tuple[int, int]:
    """The memory of a process in bytes, what others map as well in parts: all of it, and what is its own."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()[1:]
    except OSError:
        return 0, 0
    sizes = {line.split(":")[0]: int(line.split()[1]) * 1024 for line in lines}
    return sizes.get("Pss", 0), sizes.get("Pss_Anon", 0)


def looked_at(root: int) -> tuple[int, int]:
    """The memory of a process and all that came from it, in bytes: all of it, and what is no file's."""
    processes = family(root)
    signalled(processes, signal.SIGSTOP)
    try:
        sizes = [shared_out(each) for each in processes]
    finally:
        signalled(processes, signal.SIGCONT)
    return sum(size for size, _ in sizes), sum(size for _, size in sizes)


def signalled(processes: list[int], what: signal.Signals) -> None:
    for each in processes:
        with suppress(ProcessLookupError):
            os.kill(each, what)


def measured(arguments: list[str]) -> tuple[float, int, int]:
    """Seconds by the clock, and the peak of all memory and of that which is no file's."""
    began, stood = time.perf_counter(), 0.0
    process = subprocess.Popen([sys.executable, __file__, *arguments])
    peak = own = 0
    while process.poll() is None:
        stopped = time.perf_counter()
        size, private = looked_at(process.pid)
        stood += time.perf_counter() - stopped
        peak, own = max(peak, size), max(own, private)
        time.sleep(0.05)
    if process.returncode:
        sys.exit(f"{arguments} ended with {process.returncode}")
    return time.perf_counter() - began - stood, peak, own


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--queries", type=int, default=2500)
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--run", nargs=4, metavar=("WHO", "FOLDER", "WORKERS", "FOLDS"))
    given = parser.parse_args()
    if given.run:
        who, folder, workers, folds = given.run
        run = {"ours": ours, "theirs": theirs}[who]
        run(Path(folder), given.steps, int(workers), int(folds))
        return
    with tempfile.TemporaryDirectory() as name:
        compare(Path(name), given.queries, given.steps)


def compare(folder: Path, queries: int, steps: int) -> None:
    data = rl.make_mslr(queries, seed=0).data
    size = data.values.nbytes
    part = int(0.75 * data.n_queries)
    rl.save_store(data, folder / "all.store")
    rl.save_store(data.take(slice(0, part)), folder / "train.store")
    rl.save_store(data.take(slice(part, data.n_queries)), folder / "valid.store")
    print(f"{data.n_rows:,} rows, {data.n_features} features, {size / MEGABYTE:.0f} MB; SPD, {steps:,} steps")
    del data
    small = tiny_data(folder)
    measured(["--steps", "1000", "--run", "ours", str(small), "1", "0"])  # compiles what is not yet
    floors: dict[tuple[str, int, int], int] = {}
    print("| who | by | workers | fits a second | peak MB | of it no file's | copies of the data |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for who, folds, workers in RUNS:
        alike = who, workers, min(folds, 3)
        if alike not in floors:
            idle = str(3_000_000 // max(alike[2], 1))  # steps: long enough for all workers to be there
            floors[alike] = measured(["--steps", idle, *run_of(who, small, *alike[1:])])[1]
        seconds, peak, own = measured(["--steps", str(steps), *run_of(who, folder, workers, folds)])
        fits = len(GRID["lam"]) * len(GRID["loss"]) * max(folds, 1)
        copies = (peak - floors[alike]) / size
        by = f"{folds} folds" if folds else "held-out"
        print(
            f"| {who} | {by} | {workers} | {fits / seconds:.2f} | {peak / MEGABYTE:.0f} | "
            f"{own / MEGABYTE:.0f} | {copies:.2f} |",
            flush=True,
        )


def run_of(who: str, folder: Path, workers: int, folds: int) -> list[str]:
    return ["--run", who, str(folder), str(workers), str(folds)]


def tiny_data(folder: Path) -> Path:
    """Next to no data: over them a search holds Python, libraries and kernels."""
    small = folder / "small"
    small.mkdir()
    data = rl.make_mslr(40, seed=0).data.take(slice(0, 40))
    rl.save_store(data, small / "all.store")
    rl.save_store(data.take(slice(0, 30)), small / "train.store")
    rl.save_store(data.take(slice(30, 40)), small / "valid.store")
    return small


if __name__ == "__main__":
    main()
