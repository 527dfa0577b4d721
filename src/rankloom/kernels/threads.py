"""Query blocks over threads, with the same bits for any number of threads.

Kernels hold no GIL, so plain Python threads run them side by side. Work is cut into blocks by the data alone,
never by the number of threads, and results come back in block order: a sum over blocks is one fixed sum.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Item = TypeVar("Item")
Result = TypeVar("Result")

ROWS_PER_BLOCK = 1 << 16
MAX_BLOCKS = 256

_lock = Lock()
_pool: tuple[int, int, ThreadPoolExecutor] | None = None


def thread_count(threads: int | None = None) -> int:
    """How many threads to use: the argument, else RANKLOOM_THREADS, else the cores this process may run on."""
    if threads is None:
        setting = os.environ.get("RANKLOOM_THREADS", "").strip()
        if not setting:
            return _usable_cores()
        if not setting.isdecimal() or int(setting) < 1:
            raise ValueError(f"RANKLOOM_THREADS must be a whole number from 1, got {setting!r}")
        return int(setting)
    if threads < 1:
        raise ValueError(f"threads must be a whole number from 1 (or None for all cores), got {threads!r}")
    return int(threads)


def _usable_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def query_blocks(offsets: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Cut queries into runs of about equal rows: `(first, last)` pairs, last excluded. Depends on offsets alone."""
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
    """Like `map`, over the shared threads: results in order, at most twice as many items under way as threads.

    With one thread, everything runs in the caller's. If one call fails or the caller stops, what is under way
    is waited for, so that nobody writes to a buffer that its owner has let go.
    """
    count = thread_count(threads)
    if count == 1:
        yield from map(function, items)
        return
    pool = _shared_pool(count)
    waiting: list[Future[Result]] = []
    try:
        for item in items:
            waiting.append(pool.submit(function, item))
            if len(waiting) > 2 * count:
                yield waiting.pop(0).result()
        while waiting:
            yield waiting.pop(0).result()
    finally:
        for future in waiting:
            future.cancel()
        for future in waiting:
            if not future.cancelled():
                future.exception()


def _shared_pool(count: int) -> ThreadPoolExecutor:
    """One pool a process and size; a forked child makes its own."""
    global _pool
    with _lock:
        if _pool is None or _pool[:2] != (os.getpid(), count):
            _pool = (os.getpid(), count, ThreadPoolExecutor(count, thread_name_prefix="rankloom"))
        return _pool[2]


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
