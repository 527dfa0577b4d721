"""Who runs the trials: this process, or several workers with one thread each over the same mapped data.

Workers are fresh programs, not copies of this one: they work alike wherever Python runs, in notebooks and
without a guard around the main program, and take from it only where modules are found. All are on one fold at
a time, so that together they look at one copy of the data.
"""

from __future__ import annotations

import json
import os
import pickle
import queue
import subprocess
import sys
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Hashable
from typing import Any, NamedTuple, Protocol

from rankloom.errors import InputError
from rankloom.experiments.material import Material, Place
from rankloom.experiments.trial import FAILED, Job, Outcome, run
from rankloom.experiments.worker import receive, send
from rankloom.measures.measure import Measure

_START = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from rankloom.experiments.worker import main
main()
"""
_THREADS = (
    "RANKLOOM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)  # fmt: skip
WORTH_WORKERS = 20.0  # seconds of trials for one process; starting workers takes two or three
_LOOKS = 2  # trials, of which the first may wait for kernels to be compiled
# What NumPy and others say on loading or in ordinary work; only words meant for users go on from workers.
_TOLD = UserWarning


class Work(NamedTuple):
    """What all trials of a search have in common."""

    ranker: Any
    measure: Measure


class Crew(Protocol):
    """Takes jobs, gives outcomes, in whatever order."""

    def submit(self, name: Hashable, job: Job) -> None:
        """Have a job done some time."""

    def next(self) -> tuple[Any, list[Outcome]]:
        """Wait for a job to be done: its name and outcomes."""


class Waiting:
    """Jobs that wait, given out fold by fold: one of another fold only when nobody is at work any more."""

    def __init__(self) -> None:
        self._jobs: dict[int, deque[tuple[Hashable, Job]]] = {}
        self._fold = 0

    def put(self, name: Hashable, job: Job) -> None:
        """One more."""
        self._jobs.setdefault(job.fold, deque()).append((name, job))

    def take(self, busy: bool) -> tuple[Hashable, Job] | None:
        """The oldest of this fold, or of the first that has any; None if somebody is busy with this one."""
        if not self._jobs.get(self._fold):
            others = [fold for fold, jobs in self._jobs.items() if jobs]
            if busy or not others:
                return None
            self._fold = min(others)
        return self._jobs[self._fold].popleft()

    def folds_left(self, n_folds: int) -> int:
        """How many folds these jobs will go through."""
        return sum(len(jobs) * (n_folds - fold) for fold, jobs in self._jobs.items())


class Solo:
    """This process, one job after the other."""

    def __init__(self, work: Work, material: Material) -> None:
        self._work, self._material = work, material
        self._fold = 0
        self.waiting = Waiting()

    def submit(self, name: Hashable, job: Job) -> None:
        """Remember a job."""
        self.waiting.put(name, job)

    def next(self) -> tuple[Any, list[Outcome]]:
        """Do the next job."""
        item = self.waiting.take(busy=False)
        assert item is not None
        name, job = item
        if job.fold != self._fold:
            self.close()
            self._fold = job.fold
        return name, run(job, self._work.ranker, self._material, self._work.measure)

    def close(self) -> None:
        """Hold nothing of the data."""
        self._material.let_go()

    @property
    def folds_left(self) -> int:
        """How many folds there are still to do, as far as is known."""
        return self.waiting.folds_left(self._material.n_folds)


class Growing:
    """This process first; workers, once it is seen that trials take longer than starting workers does."""

    def __init__(self, solo: Solo, hire: Callable[[], Crew]) -> None:
        self._solo, self._hire = solo, hire
        self._workers: Crew | None = None
        self._times: list[float] = []

    def submit(self, name: Hashable, job: Job) -> None:
        """Give it to whoever works."""
        (self._workers or self._solo).submit(name, job)

    def next(self) -> tuple[Any, list[Outcome]]:
        """The next outcome; now and then the first look at how long it will take."""
        if self._workers is None and len(self._times) >= _LOOKS:
            if min(self._times) * self._solo.folds_left < WORTH_WORKERS:
                self._times = self._times[-_LOOKS:]
            else:
                self._solo.close()
                self._workers = self._hire()
                while (item := self._solo.waiting.take(busy=False)) is not None:
                    self._workers.submit(*item)
        if self._workers is not None:
            return self._workers.next()
        begin = time.perf_counter()
        done = self._solo.next()
        self._times.append(time.perf_counter() - begin)
        return done


class Workers:
    """Processes, each with a thread here that hands it one job at a time."""

    def __init__(self, work: Work, place: Place, count: int) -> None:
        self._hello = _pickled((work.ranker, place, work.measure))
        self._waiting, self._busy = Waiting(), 0
        self._done: queue.SimpleQueue[tuple[Any, Any, Any]] = queue.SimpleQueue()
        self._processes: set[subprocess.Popen[bytes]] = set()
        self._closed = False
        self._lock = threading.Condition()  # of all that the threads share
        self._told: set[str] = set()
        self._threads = [threading.Thread(target=self._serve, daemon=True) for _ in range(count)]
        for thread in self._threads:
            thread.start()

    def submit(self, name: Hashable, job: Job) -> None:
        """Have a job wait for a worker."""
        with self._lock:
            self._waiting.put(name, job)
            self._lock.notify_all()

    def next(self) -> tuple[Any, list[Outcome]]:
        """Wait for any worker."""
        name, found, told = self._done.get()
        if isinstance(found, str):
            raise InputError(
                f"a worker cannot begin: {found}; put what it needs into a module, or take workers=1"
            )
        for category, message in told:
            if issubclass(category, _TOLD) and message not in self._told:
                self._told.add(message)
                warnings.warn(message, category, stacklevel=2)
        return name, found

    @property
    def pids(self) -> list[int]:
        """The processes that are there."""
        with self._lock:
            return [process.pid for process in self._processes]

    def close(self) -> None:
        """End all processes, in the middle of a trial or not."""
        with self._lock:
            self._closed = True
            for process in self._processes:
                process.kill()
            self._lock.notify_all()
        for thread in self._threads:
            thread.join()

    def _serve(self) -> None:
        """Start a process, give it jobs, start another when it died."""
        process = None
        while (item := self._taken()) is not None:
            name, job = item
            if process is None:
                started = self._started()
                if isinstance(started, str):
                    self._give(name, started, [])
                    continue
                process = started
            answer = _asked(process, job)
            if answer is None:
                self._give(name, [_lost(self._ended(process))] * len(job.settings), [])
                process = None
            else:
                self._give(name, *answer)
        if process is not None:
            self._ended(process)

    def _taken(self) -> tuple[Hashable, Job] | None:
        """Wait for a job; None at the end."""
        with self._lock:
            while not self._closed:
                item = self._waiting.take(busy=self._busy > 0)
                if item is not None:
                    self._busy += 1
                    return item
                self._lock.wait()
        return None

    def _give(self, name: Hashable, found: Any, told: Any) -> None:
        """Hand over what came of a job; the next fold may begin when this was the last."""
        with self._lock:
            self._busy -= 1
            self._done.put((name, found, told))
            self._lock.notify_all()

    def _started(self) -> subprocess.Popen[bytes] | str:
        """A process that has opened the data, or why there is none."""
        with self._lock:
            if self._closed:
                return "it was told to stop"
            process = subprocess.Popen(
                [sys.executable, "-c", _START, json.dumps(sys.path)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True,
                env={**os.environ, **dict.fromkeys(_THREADS, "1")},
            )  # fmt: skip
            self._processes.add(process)
        answer = _asked(process, self._hello)
        if answer is not None and answer[0] is None:
            return process
        code = self._ended(process)
        return f"it ended with code {code}" if answer is None else str(answer[0])

    def _ended(self, process: subprocess.Popen[bytes]) -> int:
        """Clear away a process."""
        with self._lock:
            self._processes.discard(process)
        for stream in (process.stdin, process.stdout):
            assert stream is not None
            try:
                stream.close()
            except OSError:  # what was still to be written to a process that is gone
                continue
        return process.wait()


def _pickled(hello: Any) -> Any:
    try:
        pickle.dumps(hello)
    except Exception as error:
        raise InputError(
            f"the ranker cannot be sent to a worker ({error}); put what it needs into a module, or take "
            "workers=1"
        ) from error
    return hello


def _asked(process: subprocess.Popen[bytes], message: Any) -> Any:
    """The answer to a message; None from a process that died."""
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        send(process.stdin, message)
        content = receive(process.stdout)
    except (OSError, ValueError):
        return None
    return None if content is None else pickle.loads(content)


def _lost(code: int) -> Outcome:
    why = " (killed: perhaps for want of memory)" if code == -9 else ""
    return Outcome(FAILED, error=f"its process ended with code {code}{why}")
