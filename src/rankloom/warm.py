"""Compile every kernel ahead of its first use: for images, services, and tests in several processes.

Nothing is registered anywhere. A small round of ordinary work goes through every kernel, with exactly the
types that ordinary work has; a test walks all kernels and fails if this round leaves one out.
"""

from __future__ import annotations

import importlib
import io
import json
import pkgutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from rankloom.data.ranking_data import RankingData


class Warmed(NamedTuple):
    """One kernel after `warm_up`: whether it had to be compiled (or was on disk), and for how long."""

    name: str
    compiled: bool
    seconds: float


def warm_up(workers: int = 1) -> list[Warmed]:
    """Have every kernel compiled and on disk, and say what was done. Without the JIT, nothing is.

    With several workers, as many processes go through the rounds, each a part of them.
    """
    kernels = find_kernels()
    seconds = _here() if workers == 1 else _in_processes(min(workers, len(_ROUNDS)))
    return [Warmed(name, name in seconds, seconds.get(name, 0.0)) for name in sorted(kernels)]


def is_warm() -> bool:
    """Whether there is a file on disk for each kernel; a look, without loading them."""
    from rankloom.kernels.compile import jit_disabled

    kernels = find_kernels()
    if jit_disabled():
        return True
    folders = {Path(kernel.stats.cache_path) for kernel in kernels.values() if kernel.stats.cache_path}
    kept = {file.name.partition("-")[0] for folder in folders for file in folder.glob("*.nbi")}
    return set(kernels) <= kept


def _here() -> dict[str, float]:
    with _compile_times() as seconds:
        for work in _ROUNDS:
            work()
    return seconds


def _in_processes(workers: int) -> dict[str, float]:
    """Each process takes the next round when it is through with one."""
    places = count()
    with ThreadPoolExecutor(workers) as pool:
        found = list(pool.map(lambda _: _by_one(places), range(workers)))
    seconds: dict[str, float] = {}
    for each in found:
        seconds.update(each)
    return seconds


def _by_one(places: Iterator[int]) -> dict[str, float]:
    """What one process compiles, told which round is next until there are none."""
    code = f"import sys; sys.path[:] = {sys.path!r}; from rankloom.warm import _serve; _serve()"
    seconds: dict[str, float] = {}
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        while (place := next(places)) < len(_ROUNDS):
            process.stdin.write(f"{place}\n")
            process.stdin.flush()
            answer = process.stdout.readline()
            if not answer:
                raise RuntimeError(f"a process that compiles kernels ended with code {process.wait()}")
            seconds.update(json.loads(answer))
    return seconds


def _serve() -> None:
    """In a process of its own: do the rounds that are asked for, and say what was compiled."""
    for line in sys.stdin:
        with _compile_times() as seconds:
            _ROUNDS[int(line)]()
        print(json.dumps(seconds), flush=True)  # noqa: T201


def find_kernels() -> dict[str, Any]:
    """Every kernel that Python calls: those of `rankloom.kernels` that no other kernel calls, nor inlines."""
    import rankloom.kernels

    found, helpers = {}, set[str]()
    for module_info in pkgutil.iter_modules(rankloom.kernels.__path__):
        module = importlib.import_module(f"rankloom.kernels.{module_info.name}")
        for name, value in vars(module).items():
            function = getattr(value, "py_func", None)
            if function is None or function.__module__ != module.__name__:
                continue
            helpers.update(set(function.__code__.co_names) - {name})
            if not value.targetoptions.get("forceinline"):
                found[f"{module_info.name}.{name}"] = value
    return {name: value for name, value in found.items() if name.rpartition(".")[2] not in helpers}


@contextmanager
def _compile_times() -> Iterator[dict[str, float]]:
    """Seconds by kernel, for those compiled inside the block; what a kernel calls counts as its own."""
    from numba.core import event

    seconds: dict[str, float] = {}
    running: list[float] = []

    class Listener(event.Listener):
        def on_start(self, _event: Any) -> None:
            running.append(time.perf_counter())

        def on_end(self, seen: Any) -> None:
            function = seen.data["dispatcher"].py_func
            room, _, module = function.__module__.rpartition(".")
            taken = time.perf_counter() - running.pop()
            if room == "rankloom.kernels":
                seconds[f"{module}.{function.__name__}"] = taken

    with event.install_listener("numba:compile", Listener()):
        yield seconds


def _dense() -> RankingData:
    from rankloom.data.generate import make_letor

    return make_letor(100).data


def _sparse() -> RankingData:
    from rankloom.data.generate_topics import make_rcv1

    return make_rcv1(30, n_features=40).data


def _generate() -> None:
    """Data of every kind that a kernel makes."""
    from rankloom.data.generate import make_mslr

    make_mslr(2)
    _sparse()


def _look_at(data: RankingData, layout: str) -> None:
    """Write as text, read again, inspect."""
    from rankloom.data.inspect import inspect
    from rankloom.data.text import read_text
    from rankloom.data.text_writer import write_text

    text = io.BytesIO()
    write_text(data, text)
    inspect(read_text(io.BytesIO(text.getvalue()), layout=layout))


def _join(data: RankingData) -> None:
    """Write a run, read it again, find its documents."""
    from rankloom.data.trec import read_run
    from rankloom.data.trec_join import run_scores
    from rankloom.data.trec_writer import write_run

    text = io.BytesIO()
    write_run(np.arange(data.n_rows), data, text)
    run_scores(read_run(io.BytesIO(text.getvalue())), data)


def _score(data: RankingData) -> None:
    """By a linear model, and by a net."""
    from rankloom.models.linear import LinearModel
    from rankloom.models.net import NetModel

    LinearModel(np.ones(data.n_features)).predict(data)
    NetModel([(np.ones((data.n_features, 1)), np.ones(1))]).predict(data)


def _learn(data: RankingData) -> None:
    """By stochastic descent, from pairs and from rows, and by lambdas: the same kernels for all choices."""
    from rankloom.rankers.crr import CRR
    from rankloom.rankers.lambdarank import LambdaRank
    from rankloom.rankers.spd import SPD

    for ranker in (SPD(steps=10), CRR(steps=10), LambdaRank(epochs=1)):
        ranker.fit(data)
    _grow_tree(data)


def _grow_tree(data: RankingData) -> None:
    """A symmetric tree of two levels."""
    from rankloom.rankers.bins import cut
    from rankloom.rankers.symmetric import Search, Setting

    bins, one = cut(data, 255), np.ones(data.n_rows, dtype=np.float32)
    rows, features = np.arange(data.n_rows, dtype=np.uint32), np.arange(data.n_features)
    Search(bins, Setting(4, 0.1, 1, 1.0, 1.0, 1.0, 255, 0)).questions(rows, features, one, one)


def _scale(data: RankingData, kinds: tuple[str, ...]) -> None:
    """Over all rows, and by query."""
    from rankloom.models.scaling import PER, learned_scaling

    for kind in kinds:
        for per in PER:
            learned_scaling(kind, per, data).applied(data)


def _learn_exactly(data: RankingData) -> None:
    """RankSVM with both losses, on queries and as one large query."""
    from rankloom.data.ranking_data import RankingData
    from rankloom.rankers import pair_problem
    from rankloom.rankers.newton import newton
    from rankloom.rankers.objective import objective
    from rankloom.rankers.ranksvm import RankSVM

    model = RankSVM().fit(data).model_
    RankSVM(loss="l1", tol=0.1).fit(data)
    objective(model, data)
    problem = pair_problem.PairProblem(RankingData(data.X, data.y), cache=1)
    problem.evaluate(np.ones(data.n_features))
    problem.product(np.ones(data.n_features))
    newton(problem, 1.0, None, 0.1, 1)


def _learn_online(data: RankingData) -> None:
    """Query by query: from labels and from pairs, by all forms of learners, which share a kernel."""
    from rankloom.data.feedback import Feedback
    from rankloom.rankers.committee import CommitteePerceptron
    from rankloom.rankers.solar import SOLAR

    for ranker in (SOLAR(covariance="low-rank"), CommitteePerceptron()):
        ranker.fit(data).decision_function(data)
        ranker.learn_one_query(np.eye(2, data.n_features), Feedback.preferences([(0, 1)]))


def _measure(data: RankingData) -> None:
    """Every measure that has a kernel."""
    from rankloom.measures.conventions import row_gains
    from rankloom.measures.evaluate import evaluate
    from rankloom.measures.measure import Measure
    from rankloom.measures.presets import FIELDS, NEEDS_CUTOFF, POINTS

    names = [f"{name}@5" if name in NEEDS_CUTOFF else name for name in FIELDS if name not in POINTS]
    evaluate(np.arange(data.n_rows), data, measures=[*names, "ndcg@5:ties=average"])
    row_gains(Measure.parse(names[0]), np.asarray(data.y), data.offsets)


def _compare(data: RankingData) -> None:
    """Two rankings, compared and mixed."""
    from rankloom.measures.compare import compare
    from rankloom.rankers.mix import mix

    first, second = np.random.default_rng(0).random((2, data.n_rows))
    compare(first, second, data, resamples=100)
    mix(first, second, data)


def _on_both(work: Callable[..., None]) -> Callable[[], None]:
    """Work on dense and on sparse rows."""

    def both() -> None:
        for data in (_dense(), _sparse()):
            work(data)

    return both


# Ordinary work that together calls every kernel: what takes longest to compile first.
_ROUNDS: list[Callable[[], None]] = [
    _on_both(_learn_exactly),
    lambda: _measure(_dense()),
    _on_both(_learn),
    lambda: _learn_online(_dense()),
    lambda: _look_at(_dense(), "dense"),
    lambda: _compare(_dense()),
    lambda: _scale(_dense(), ("minmax", "rank")),
    _generate,
    lambda: _look_at(_sparse(), "sparse"),
    _on_both(_score),
    lambda: _join(_dense()),
    lambda: _scale(_sparse(), ("maxabs",)),
]
