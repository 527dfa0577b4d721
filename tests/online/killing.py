"""Learn in a process that is killed at random moments: `python killing.py FOLDER KILLS SEED`.

The program is warm before it forks, so that a life costs milliseconds. Whoever is told that feedback is
learned writes its id into a pipe; the parent looks for it afterwards. Prints what it found as JSON.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import rankloom as rl

N_FEATURES = 6


def stream(n: int) -> list[tuple[str, Any, Any]]:
    """Feedback of every kind, the same in every process."""
    rng = np.random.default_rng(7)
    told = []
    for number in range(n):
        X = rng.normal(size=(int(rng.integers(2, 7)), N_FEATURES)).astype(np.float32)
        given: Any = rng.integers(0, 3, len(X)).astype(float)
        if number % 3 == 1:
            given = rl.Feedback.clicks(rng.integers(0, 2, len(X)), rng.permutation(len(X)), examined=1.0)
        if number % 3 == 2:
            given = rl.Feedback.preferences([(0, 1)], [0.5])
        told.append((f"feedback {number}", X, given))
    return told


def learner() -> Any:
    return rl.SOLAR(gamma=1.0, forget=0.99, max_pairs=4, window=5, seed=3)


def live(folder: Path, told: list[tuple[str, Any, Any]], pipe: int) -> None:
    """Learn all that is not learned yet."""
    with rl.OnlineLoop(folder, learner(), n_features=N_FEATURES, snapshot_every=5) as loop:
        for number, (name, X, given) in enumerate(told):
            if loop.learn(name, X, given) is not None:
                os.write(pipe, f"{number}\n".encode())
                if number % 23 == 22:
                    loop.compact()


def one_life(folder: Path, told: list[tuple[str, Any, Any]], seconds: float | None) -> tuple[set[int], bool]:
    """Fork, and kill after so many seconds: (what was said to be learned, whether it was killed)."""
    out, into = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(out)
        live(folder, told, into)
        os._exit(0)
    os.close(into)
    if seconds is not None:
        time.sleep(seconds)
        os.kill(child, signal.SIGKILL)
    with os.fdopen(out) as said:
        learned = {int(line) for line in said.read().split("\n") if line}
    return learned, os.WIFSIGNALED(os.waitpid(child, 0)[1])


def bits(folder: Path) -> tuple[list[str], int]:
    """Where the learner of a folder stands, and how much it has learned."""
    with rl.OnlineLoop(folder) as loop:
        mind, meter = loop.learner._mind, loop.learner._meter
        arrays = [*mind.state, *mind.extra.values(), meter.sums, meter.ring]
        return [array.tobytes().hex() for array in arrays], loop.number


def main() -> None:
    folder, kills, draw = Path(sys.argv[1]), int(sys.argv[2]), random.Random(int(sys.argv[3]))
    told, rounds, done, wrong = stream(60), 0, 0, []
    live(folder / "whole", told, os.open(os.devnull, os.O_WRONLY))
    wanted = bits(folder / "whole")
    while done < kills:
        place, said, lives = folder / f"round {rounds}", set[int](), 0
        for _ in range(25):
            learned, killed = one_life(place, told, draw.uniform(0.0, 0.03))
            if said & learned:
                wrong.append(f"round {rounds}: {sorted(said & learned)} were learned twice")
            said |= learned
            done, lives = done + killed, lives + 1
            if not killed or done >= kills:
                break
        learned, _ = one_life(place, told, None)
        if said & learned:
            wrong.append(f"round {rounds}: {sorted(said & learned)} were learned twice")
        if bits(place) != wanted:
            wrong.append(f"round {rounds}: other bits")
        rounds += 1
    found = {"kills": done, "rounds": rounds, "wrong": wrong, "learned": wanted[1]}
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
