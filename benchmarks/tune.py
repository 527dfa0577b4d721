"""Tuning beside scikit-learn's GridSearchCV: `python benchmarks/tune.py [--queries 2500] [--steps 1000000]`.

The same grid (12 settings of SPD) on the same rows, 136 dense features a row as MSLR has them: with held-out
queries, and with three folds. Fits a second, model not refitted; and the peak of the memory of all processes
together, where what several of them map counts once (PSS), beside the bytes of the data: the peak less what
the same processes held just before the data came, in copies of the data.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import rankloom as rl

GRID = {"lam": [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1], "loss": ["hinge", "logistic"]}
FOLDS = 3
MEGABYTE = 1 << 20


def ours(folder: Path, steps: int, workers: int, folds: bool) -> None:
    given: dict[str, Any] = {"folds": FOLDS} if folds else {"valid": folder / "valid.store"}
    train = folder / ("all.store" if folds else "train.store")
    space: Any = GRID
    rl.tune(rl.SPD(steps=steps), train, **given, space=space, workers=workers, refit=False)


def theirs(folder: Path, steps: int, workers: int, folds: bool) -> None:
    import sklearn
    from sklearn.model_selection import GridSearchCV, GroupKFold, PredefinedSplit

    sklearn.set_config(enable_metadata_routing=True)
    data = rl.load_store(folder / "all.store")
    X, y, qid = np.array(data.X), np.array(data.y), np.repeat(data.qids, data.lengths)
    n_train = rl.load_store(folder / "train.store").n_rows
    held_out = PredefinedSplit(np.where(np.arange(data.n_rows) < n_train, -1, 0))
    del data
    cut: Any = GroupKFold(FOLDS).set_split_request(groups="qid") if folds else held_out
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


def measured(arguments: list[str]) -> tuple[float, int, int, int]:
    """Seconds by the clock, peak of all memory and of that which is no file's, and how many processes."""
    began = time.perf_counter()
    process = subprocess.Popen([sys.executable, __file__, *arguments])
    peak = own = most = 0
    while process.poll() is None:
        sizes = [shared_out(each) for each in family(process.pid)]
        peak, own = max(peak, sum(size for size, _ in sizes)), max(own, sum(size for _, size in sizes))
        most = max(most, len(sizes))
        time.sleep(0.05)
    if process.returncode:
        sys.exit(f"{arguments} ended with {process.returncode}")
    return time.perf_counter() - began, peak, own, most


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--queries", type=int, default=2500)
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--run", nargs=4, metavar=("WHO", "FOLDER", "WORKERS", "FOLDS"))
    given = parser.parse_args()
    if given.run:
        who, folder, workers, folds = given.run
        run = {"ours": ours, "theirs": theirs}[who]
        run(Path(folder), given.steps, int(workers), folds == "folds")
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
    tiny = [tiny_memory(folder, who, workers) for who, workers in (("ours", 2), ("theirs", 2))]
    floors = dict(zip(("ours", "theirs"), tiny, strict=True))
    print("| who | by | workers | fits a second | peak MB | of it no file's | copies of the data |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    runs = [
        ("ours", "held-out", 1), ("ours", "held-out", 2), ("theirs", "held-out", 2),
        ("ours", "folds", 2), ("theirs", "folds", 2), ("ours", "held-out", 8),
    ]  # fmt: skip
    for who, by, workers in runs:
        arguments = ["--steps", str(steps), "--run", who, str(folder), str(workers), by]
        seconds, peak, own, count = measured(arguments)
        fits = len(GRID["lam"]) * len(GRID["loss"]) * (FOLDS if by == "folds" else 1)
        copies = (peak - floors[who] * count) / size
        print(
            f"| {who} | {by} | {workers} | {fits / seconds:.2f} | {peak / MEGABYTE:.0f} | "
            f"{own / MEGABYTE:.0f} | {copies:.2f} |"
        )


def tiny_memory(folder: Path, who: str, workers: int) -> float:
    """What one of the processes holds when the data are next to nothing: Python, libraries, kernels."""
    small = folder / "small"
    if not small.exists():
        small.mkdir()
        data = rl.make_mslr(40, seed=0).data.take(slice(0, 40))
        rl.save_store(data, small / "all.store")
        rl.save_store(data.take(slice(0, 30)), small / "train.store")
        rl.save_store(data.take(slice(30, 40)), small / "valid.store")
    arguments = ["--steps", "3000000", "--run", who, str(small), str(workers), "held-out"]
    _, peak, _, count = measured(arguments)
    return peak / count


if __name__ == "__main__":
    main()
