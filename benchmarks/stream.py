"""Learning from a text larger than memory: `python benchmarks/stream.py [MQ2008] [--gigabytes 3]`.

The training part of fold 1 of MQ2008 (without a folder: generated lists of that shape), written over and
over until the file is that large. `rankloom train spd --stream` learns from the file, and from a pipe, in a
process that is refused memory beyond a limit (`--limit`, 800 MB, RLIMIT_DATA); and without a limit from the
file and from an eighth of it, to see that the peak does not grow. Beside it: learning in memory, with as
many steps, from the text written once. NDCG@10 is of the test part.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import rankloom as rl

MEGABYTE = 1 << 20


def measured(command: list[str], limit: int | None, source: Path | None) -> str:
    """CPU time, time by the clock and peak of a process; with a limit in MB."""

    def limited() -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_DATA, (limit * MEGABYTE, limit * MEGABYTE))

    feeder = None if source is None else subprocess.Popen(["cat", str(source)], stdout=subprocess.PIPE)
    began = time.perf_counter()
    learner = subprocess.Popen(
        command,
        stdin=None if feeder is None else feeder.stdout,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        preexec_fn=limited,
    )
    complaints = learner.stderr.read() if learner.stderr else b""
    _, status, used = os.wait4(learner.pid, 0)
    clock = time.perf_counter() - began
    if feeder is not None:
        feeder.wait()
    if status:
        sys.exit(complaints.decode())
    return f"{used.ru_utime + used.ru_stime:.1f} ({clock:.1f}) | {used.ru_maxrss / 1024:.0f}"


def quality(model: Any, test: rl.RankingData) -> float:
    return float(rl.evaluate(model.decision_function(test), test, measures="ndcg@10")["ndcg@10"])


def repeated(text: bytes, target: Path, size: int) -> int:
    """Write the text until the file has that size; how many times."""
    times = max(1, round(size / len(text)))
    with target.open("wb") as file:
        for _ in range(times):
            file.write(text)
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", nargs="?")
    parser.add_argument("--gigabytes", type=float, default=3.0)
    parser.add_argument("--limit", type=int, default=800)
    given = parser.parse_args()
    if given.folder:
        fold = rl.read_folds(given.folder)[0]
        train, test = fold.train, fold.test
    else:
        made = rl.make_letor(700).data
        train, test = made.take(slice(0, 500)), made.take(slice(500, 700))
    with tempfile.TemporaryDirectory() as folder:
        once, large, part, model = (
            Path(folder) / name for name in ("once.txt", "large.txt", "part.txt", "m.rank")
        )
        rl.write(train, str(once))
        text = once.read_bytes()
        times = repeated(text, large, int(given.gigabytes * 1e9))
        repeated(text, part, int(given.gigabytes * 1e9 / 8))
        print(f"{large.stat().st_size / 1e9:.2f} GB, {times * train.n_rows:,} rows\n")
        print("| learned from | CPU s (clock) | peak MB | ndcg@10 |\n| --- | --- | --- | --- |")

        def show(name: str, work: Callable[[], str]) -> None:
            costs = work()
            print(f"| {name} | {costs} | {quality(rl.load(str(model)), test):.4f} |", flush=True)

        def command(source: str) -> list[str]:
            head = [sys.executable, "-m", "rankloom", "train", "spd", "--stream", source, "--force"]
            return [*head, "--model", str(model), "--set", "lam=0.001"]

        under = f"under a limit of {given.limit} MB"
        show(f"the file, {under}", lambda: measured(command(str(large)), given.limit, None))
        show(f"a pipe, {under}", lambda: measured(command("-"), given.limit, large))
        show("the file, no limit", lambda: measured(command(str(large)), None, None))
        show("an eighth of the file, no limit", lambda: measured(command(str(part)), None, None))
        steps = times * train.n_rows
        found = [quality(rl.SPD(lam=0.001, steps=steps, seed=seed).fit(train), test) for seed in range(5)]
        print(f"| in memory, as many steps, 5 seeds | | | {min(found):.4f} to {max(found):.4f} |")


if __name__ == "__main__":
    main()
