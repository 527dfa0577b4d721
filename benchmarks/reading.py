"""Reading text, beside its peers and the floor: `python benchmarks/reading.py FOLDER [--runs 3]`.

FOLDER has (or gets, from benchmarks/bigdata.py) mslr_like.txt, 400 MB and dense, and rcv1_like.txt, 900
MB and sparse. Every reading runs in a process of its own, warmed up on a small file; each figure is of
the run with the least CPU time, the one that others disturbed least.

    MB/CPU s   size / CPU time of all threads        MB/s      size / wall-clock time
    ratio      CPU time over rankloom's              memory    growth of the peak while reading

The floor reads the file block by block and adds up its bytes: what touching each byte once costs.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

WARM = "1 qid:1 1:1 2:0.5\n0 qid:1 1:2 2:1.25\n"
SLOW_PART = 60_000_000  # bytes of the file that slow readers are given


def floor(path: str, _threads: int) -> None:
    """Bring each byte in and add it up."""
    import numpy as np

    buffer = np.empty(1 << 19, dtype=np.uint8)
    total = 0
    with Path(path).open("rb", buffering=0) as file:
        while count := file.readinto(buffer.data):
            total += int(np.add.reduce(buffer[: count - count % 8].view(np.uint64)))


def rankloom(path: str, threads: int) -> Any:
    from rankloom.data.text import read_text

    data = read_text(path, threads=threads)
    parts = [data.values, data.columns, data.row_offsets, data.y, data.offsets]
    if data.comments is not None:  # its starts and ends overlap but for one number
        parts += [data.comments.blob, data.comments.starts, data.doc_ids.starts, data.doc_ids.ends]
    return sum(part.nbytes for part in parts if part is not None)


def scikit_learn(path: str, _threads: int) -> None:
    from sklearn.datasets import load_svmlight_file

    load_svmlight_file(path)


def scikit_learn_qid(path: str, _threads: int) -> None:
    from sklearn.datasets import load_svmlight_file

    load_svmlight_file(path, query_id=True)


def xgboost(path: str, threads: int) -> None:
    import xgboost

    xgboost.set_config(verbosity=0)
    xgboost.DMatrix(f"{path}?format=libsvm", nthread=threads)


def catboost(path: str, threads: int) -> None:
    import catboost

    catboost.Pool(f"libsvm://{path}", thread_count=threads)


def polars(path: str, _threads: int) -> None:
    """With the threads that POLARS_MAX_THREADS says."""
    import polars

    polars.read_csv(path, separator=" ", has_header=False, infer_schema=False)


READERS: dict[str, tuple[Callable[[str, int], Any], str]] = {
    "floor": (floor, "both"),
    "rankloom": (rankloom, "both"),
    "XGBoost": (xgboost, "both"),
    "CatBoost": (catboost, "mslr part"),
    "polars (CSV, strings)": (polars, "mslr"),
    "scikit-learn": (scikit_learn, "part"),
    "scikit-learn, query_id": (scikit_learn_qid, "mslr part"),
}


def measure_here(name: str, path: str, threads: int) -> dict[str, float]:
    """One reading in this process, after a small one."""
    import warnings

    warnings.simplefilter("ignore")
    reader = READERS[name][0]
    with tempfile.TemporaryDirectory() as folder:
        warm = Path(folder, "warm.txt")
        lines = WARM if "mslr" in path else WARM.replace(" qid:1", "")
        warm.write_text(lines * 50)
        reader(str(warm), threads)
    before = resource.getrusage(resource.RUSAGE_SELF)
    wall = time.perf_counter()
    arrays = reader(path, threads)
    wall = time.perf_counter() - wall
    after = resource.getrusage(resource.RUSAGE_SELF)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    peak = {"before": before.ru_maxrss / 1e3, "after": after.ru_maxrss / 1e3}
    return {"cpu": cpu, "wall": wall, "arrays": (arrays or 0) / 1e6, **peak}


def measure(name: str, path: Path, threads: int) -> dict[str, Any]:
    """One reading in a process of its own, with as many polars threads as asked for."""
    import os

    command = [sys.executable, __file__, str(path.parent), "--one", name, str(path), str(threads)]
    setting = {**os.environ, "POLARS_MAX_THREADS": str(threads)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=setting)
    if done.returncode:
        return {"error": (done.stderr.strip().splitlines() or ["failed"])[-1]}
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def first_part(path: Path) -> Path:
    """The first lines of a file without their comments: some readers are slow, CatBoost refuses comments."""
    part = path.with_name(f"{path.stem}_part.txt")
    if not part.exists():
        with path.open("rb") as file:
            raw = file.read(SLOW_PART)
        part.write_bytes(re.sub(rb" *#.*", b"", raw[: raw.rfind(b"\n") + 1]))
    return part


def best_of(name: str, path: Path, threads: int, runs: int) -> dict[str, Any]:
    """The run with the least CPU time."""
    found = [measure(name, path, threads) for _ in range(runs)]
    good = [one for one in found if "cpu" in one]
    return min(good, key=lambda one: one["cpu"]) if good else found[0]


def compare(path: Path, threads: int, runs: int) -> None:
    """One table: all readers of one file with so many threads."""
    size = path.stat().st_size / 1e6
    print(f"\n{path.name}, {size:,.0f} MB, {threads} thread{'s' * (threads > 1)}")
    print(f"{'reader':<24}{'MB/CPU s':>10}{'MB/s':>8}{'ratio':>8}  memory")
    ours: float | None = None
    for name, (_, where) in READERS.items():
        if ("mslr" in where and "mslr" not in path.name) or ("part" in where and threads > 1):
            continue
        given = first_part(path) if "part" in where else path
        found = best_of(name, given, threads, 1 if "part" in where else runs)
        if "error" in found:
            print(f"{name:<24}  {found['error'][:90]}")
            continue
        megabytes = given.stat().st_size / 1e6
        speed = megabytes / found["cpu"]
        ours = speed if name == "rankloom" else ours
        ratio = f"{ours / speed:8.1f}" if ours and name != "rankloom" else " " * 8
        note = f"  (first {megabytes:.0f} MB)" if given != path else ""
        grown = found["after"] - found["before"]
        if name == "rankloom":
            arrays = found["arrays"]
            note = f" for arrays of {arrays:,.0f} MB: {grown / arrays:.2f} times;"
            note += f" the whole process {found['after']:,.0f} MB"
        print(f"{name:<24}{speed:>10,.0f}{megabytes / found['wall']:>8,.0f}{ratio}  {grown:,.0f} MB{note}")


def main() -> None:
    """Make the files if they are missing, and print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--one", nargs=3, metavar=("READER", "FILE", "THREADS"), help="one reading, as JSON")
    options = parser.parse_args()
    if options.one:
        name, path, threads = options.one
        print(json.dumps(measure_here(name, path, int(threads))))
        return
    script = Path(__file__).with_name("bigdata.py")
    subprocess.run([sys.executable, str(script), str(options.folder)], check=True)
    for file in ("mslr_like.txt", "rcv1_like.txt"):
        for threads in (1, 2):
            compare(options.folder / file, threads, options.runs)


if __name__ == "__main__":
    main()
