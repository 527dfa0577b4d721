"""Query blocks over threads, with the same bits for any number of threads.

Kernels hold no GIL, so plain Python threads run them side by side. Work is cut into blocks by the data alone,
never by the number of threads, and results come back in block order: a sum over blocks is one fixed sum.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from numbers import Integral
from threading import Condition, Lock, local
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Item = TypeVar("Item")
Result = TypeVar("Result")

ROWS_PER_BLOCK = 1 << 16
MAX_BLOCKS = 256

_lock = Lock()
_this_thread = local()
_pool: tuple[int, int, ThreadPoolExecutor] | None = None


def thread_count(threads: int | None = None) -> int:
    """How many threads to use: the argument, else RANKLOOM_THREADS, else the cores that are ours."""
    if threads is None:
        setting = os.environ.get("RANKLOOM_THREADS", "").strip()
        if not setting:
            return _usable_cores()
        if not setting.isdecimal() or int(setting) < 1:
            raise ValueError(f"RANKLOOM_THREADS must be a whole number from 1, got {setting!r}")
        return int(setting)
    given: Any = threads
    if not isinstance(given, Integral) or int(given) < 1:
        raise ValueError(f"threads must be a whole number from 1 (or None for all cores), got {threads!r}")
    return int(threads)


def _usable_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def query_blocks(offsets: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Cut queries into runs of about equal rows, by offsets alone: `(first, last)` pairs, last excluded."""
    n_queries = len(offsets) - 1
    if n_queries <= 0:
        return []
    start, stop = int(offsets[0]), int(offsets[-1])
    wanted = min(MAX_BLOCKS, max(1, -(-(stop - start) // ROWS_PER_BLOCK)))
    rows = start + (stop - start) * np.arange(1, wanted) // wanted
    inner = np.searchsorted(offsets, rows, side="left")
    edges = np.unique(np.concatenate(([0], inner, [n_queries])))
    return list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))


def run_blocks(
    function: Callable[[int, int], Result], offsets: NDArray[np.int64], threads: int | None = None
) -> list[Result]:
    """Call `function(first_query, last_query)` for every block; the results in block order."""
    return list(ordered_map(lambda block: function(*block), query_blocks(offsets), threads))


def ordered_map(
    function: Callable[[Item], Result], items: Iterable[Item], threads: int | None = None
) -> Iterator[Result]:
    """Like `map`, over the shared threads: results in order, at most twice as many items under way as there
    are threads.

    With one thread, everything runs in the caller's; so it does within one of the shared threads, which would
    else wait for each other. If one call fails or the caller stops, what is under way is waited for, so that
    nobody writes to a buffer that its owner has let go.
    """
    count = thread_count(threads)
    if count == 1 or getattr(_this_thread, "is_shared", False):
        yield from map(function, items)
        return
    pool, crew = _shared_pool(count), _Crew()
    waiting: deque[Future[Result]] = deque()
    try:
        for item in items:
            waiting.append(pool.submit(crew.work, function, item))
            if len(waiting) == 2 * count:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        crew.dismiss()


class _Crew:
    """Who is at work for one caller, counted here: Ctrl-C may come before a submitted future is noted."""

    def __init__(self) -> None:
        self._change = Condition()
        self._at_work = 0
        self._dismissed = False

    def work(self, function: Callable[[Item], Result], item: Item) -> Result:
        """Call the function, unless nobody wants the result any more."""
        with self._change:
            if self._dismissed:
                raise CancelledError
            self._at_work += 1
        try:
            return function(item)
        finally:
            with self._change:
                self._at_work -= 1
                self._change.notify_all()

    def dismiss(self) -> None:
        """Let nobody begin, and wait for who has begun."""
        with self._change:
            self._dismissed = True
            self._change.wait_for(lambda: self._at_work == 0)


def _shared_pool(count: int) -> ThreadPoolExecutor:
    """One pool a process and size; a forked child makes its own."""
    global _pool
    with _lock:
        if _pool is None or _pool[:2] != (os.getpid(), count):
            _pool = (os.getpid(), count, ThreadPoolExecutor(count, "rankloom", _mark_as_shared))
        return _pool[2]


def _mark_as_shared() -> None:
    _this_thread.is_shared = True


def _forget_pool() -> None:
    """After a fork the child has neither the threads nor, perhaps, the lock."""
    global _pool, _lock
    _pool, _lock = None, Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pool)


def block_sum(parts: Iterable[Any]) -> Any:
    """Add results of blocks in their order."""
    total: Any = None
    for part in parts:
        total = part if total is None else total + part
    return total
