"""What commands cost whole, from start to end: `python benchmarks/mq2008_commands.py MQ2008 [--runs 5]`.

CPU seconds (and by the clock) of the process: starting Python, importing, reading text, working, leaving. On
fold 1 of MQ2008: `rankloom train`, `predict` and `evaluate`, as a person types them one after the other, and
a script with scikit-learn that reads the same text, learns RankSVM from explicit pairs and prints NDCG@10.
"Cold" is with an empty folder of compiled kernels, once; "warm" is the least of several runs.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

PEER = """
import sys
import numpy as np
from sklearn.datasets import load_svmlight_files
from sklearn.metrics import ndcg_score
from sklearn.svm import LinearSVC

X, y, q, V, v, r = load_svmlight_files(sys.argv[1:3], query_id=True)
X, V, rows = X.toarray(), V.toarray(), []
for query in np.unique(q):
    own = np.flatnonzero(q == query)
    a, b = np.nonzero(y[own][:, None] > y[own][None])
    rows.append(X[own[a]] - X[own[b]])
pairs = np.concatenate(rows)
sides = np.where(np.arange(len(pairs)) % 2, 1.0, -1.0)
model = LinearSVC(C=1e-2, fit_intercept=False).fit(pairs * sides[:, None], sides)
scores, found = V @ model.coef_[0], []
for query in np.unique(r):
    own = r == query
    gains = 2.0 ** v[own] - 1.0
    found.append(ndcg_score([gains], [scores[own]], k=10) if own.sum() > 1 and gains.any() else 0.0)
print(f"ndcg@10 {np.mean(found):.4f}")
"""


class Cost(NamedTuple):
    """What a process took, and its last words."""

    cpu: float
    clock: float
    said: str


def run(command: list[str], cache: Path) -> Cost:
    """One process from start to end."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    clock, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(cpu, clock, done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    given = parser.parse_args()
    train, test = (str(given.folder / "Fold1" / f"{part}.txt") for part in ("train", "test"))
    with tempfile.TemporaryDirectory() as made:
        model, scores, script = (str(Path(made) / name) for name in ("m.rank", "scores.txt", "peer.py"))
        Path(script).write_text(PEER)
        rankloom = [sys.executable, "-m", "rankloom"]
        commands = {
            "rankloom train spd": [*rankloom, "train", "spd", train, "--model", model, "--force"],
            "rankloom predict": [*rankloom, "predict", model, test, "--out", scores, "--force"],
            "rankloom evaluate": [*rankloom, "evaluate", scores, test, "-m", "ndcg@10"],
            "scikit-learn, one script": [sys.executable, script, train, test],
        }
        cache = Path(made) / "kernels"
        print("| command | cold: CPU s (clock) | warm: CPU s (clock) |\n| --- | --- | --- |")
        words = ""
        for name, command in commands.items():
            cold = run(command, cache)
            warm = min(run(command, cache) for _ in range(given.runs))
            print(f"| {name} | {cold.cpu:.2f} ({cold.clock:.2f}) | {warm.cpu:.2f} ({warm.clock:.2f}) |")
            words += warm.said if "evaluate" in name or "scikit" in name else ""
        print(words)


if __name__ == "__main__":
    main()
