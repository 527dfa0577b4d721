"""Writing SVMlight text, beside scikit-learn: `python benchmarks/write.py [--rows N] [--repeat N]`.

    write_text      shortest text that reads back the same float32, one thread and two
    6 decimals      write_text(decimals=6)
    scikit-learn    dump_svmlight_file (%.16g), on a part of the rows, as it takes long
    repr            Python's own shortest text of the same values, joined: what one would write by hand
    floor           writing the same bytes to the same disk, nothing formatted

Times are the least of several runs; MB are those of the text written.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from rankloom.data.generate import make_mslr
from rankloom.data.generate_topics import make_rcv1
from rankloom.data.ranking_data import RankingData
from rankloom.data.text_writer import write_text


def best(function: Callable[[], object], repeat: int) -> tuple[float, float]:
    """Least wall and CPU seconds."""
    walls, cpus = [], []
    for _ in range(repeat):
        wall, cpu = time.perf_counter(), time.process_time()
        function()
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
    return min(walls), min(cpus)


def by_repr(data: RankingData, target: Path) -> None:
    """One line at a time, with str of NumPy's float32."""
    texts = data.values.reshape(-1).astype(str).tolist()
    edges = data.row_offsets if data.is_sparse else np.arange(data.n_rows + 1) * data.n_features
    columns = data.columns.tolist() if data.is_sparse else list(range(data.n_features)) * data.n_rows
    with target.open("w") as file:
        for row in range(data.n_rows):
            span = range(edges[row], edges[row + 1])
            file.write(" ".join([f"{data.y[row]:g}", *(f"{columns[i] + 1}:{texts[i]}" for i in span)]) + "\n")


def compare(name: str, data: RankingData, folder: Path, repeat: int) -> None:
    """Print a table for one data set."""
    from sklearn.datasets import dump_svmlight_file

    target = folder / "out.txt"
    some = RankingData(data.X[:2000], data.y[:2000])
    ways: list[tuple[str, Callable[[], object], int]] = [
        ("write_text, 1 thread", lambda: write_text(data, target, threads=1), repeat),
        ("write_text, 2 threads", lambda: write_text(data, target, threads=2), repeat),
        ("6 decimals, 1 thread", lambda: write_text(data, target, decimals=6, threads=1), repeat),
        (
            "scikit-learn, 2,000 rows",
            lambda: dump_svmlight_file(some.X, some.y, str(target), zero_based=False),
            1,
        ),
        ("repr, 2,000 rows", lambda: by_repr(some, target), 1),
    ]
    print(f"\n{name}: {data}")
    print(f"{'':26}{'wall s':>9}{'CPU s':>9}{'MB':>9}{'MB per CPU s':>14}{'values per CPU s':>18}")
    for title, function, times in ways:
        function()
        wall, cpu = best(function, times)
        size = target.stat().st_size / 1e6
        values = (some if "2,000" in title else data).nnz
        print(f"{title:26}{wall:9.2f}{cpu:9.2f}{size:9.1f}{size / cpu:14.0f}{values / cpu / 1e6:16.2f} M")
    write_text(data, target)
    text = target.read_bytes()
    wall, cpu = best(lambda: target.write_bytes(text), repeat)
    size = len(text) / 1e6
    print(f"{'floor: bytes to the disk':26}{wall:9.2f}{cpu:9.2f}{size:9.1f}{size / cpu:14.0f}")


def main() -> None:
    """Dense raw features, and sparse normalised ones."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        compare("dense, like MSLR", make_mslr(options.rows // 120).data, Path(folder), options.repeat)
        compare("sparse, like RCV1", make_rcv1(options.rows).data, Path(folder), options.repeat)


if __name__ == "__main__":
    main()
