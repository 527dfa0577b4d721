"""Blocks over threads: the same results in the same order, whatever happens."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankloom.kernels import threads as house
from rankloom.kernels.threads import (
    MAX_BLOCKS,
    ROWS_PER_BLOCK,
    block_sum,
    ordered_map,
    query_blocks,
    run_blocks,
    thread_count,
)

LENGTHS = st.lists(st.one_of(st.integers(0, 50), st.integers(0, 5 * ROWS_PER_BLOCK)), max_size=40)
COUNTS = [1, 2, 3, 7]


def offsets_of(lengths: list[int], start: int = 0) -> np.ndarray:
    return start + np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)


@given(LENGTHS, st.integers(0, 10**9))
def test_blocks_cover_all_queries_once_and_are_of_about_equal_rows(lengths: list[int], start: int) -> None:
    blocks = query_blocks(offsets_of(lengths, start))
    assert [query for first, last in blocks for query in range(first, last)] == list(range(len(lengths)))
    assert all(first < last for first, last in blocks)
    fair = max(ROWS_PER_BLOCK, -(-sum(lengths) // MAX_BLOCKS))
    for first, last in blocks:
        assert sum(lengths[first:last]) <= fair + max(lengths[first:last])


def test_there_are_not_too_many_blocks() -> None:
    assert len(query_blocks(offsets_of([1000] * 10))) == 1
    assert len(query_blocks(offsets_of([ROWS_PER_BLOCK] * 40))) == 40
    assert len(query_blocks(offsets_of([ROWS_PER_BLOCK] * 4000))) == MAX_BLOCKS


def test_no_queries_and_queries_without_rows() -> None:
    assert query_blocks(offsets_of([])) == []
    assert query_blocks(offsets_of([0, 0, 0])) == [(0, 3)]
    assert run_blocks(lambda first, last: last, offsets_of([])) == []


@pytest.mark.parametrize("count", COUNTS)
def test_the_same_bits_for_any_number_of_threads(count: int) -> None:
    values = np.random.default_rng(1).normal(size=50 * 20_000)
    offsets = offsets_of([20_000] * 50)
    sums = run_blocks(lambda first, last: values[offsets[first] : offsets[last]].sum(), offsets, count)
    alone = [values[offsets[first] : offsets[last]].sum() for first, last in query_blocks(offsets)]
    assert len(alone) > 7
    assert sums == alone
    assert block_sum(sums) == block_sum(alone)


@pytest.mark.parametrize("count", COUNTS)
def test_results_come_in_order_though_the_first_is_the_slowest(count: int) -> None:
    def slow_first(item: int) -> int:
        time.sleep(0.02 if item == 0 else 0)
        return item * item

    assert list(ordered_map(slow_first, range(30), count)) == [item * item for item in range(30)]


def test_two_threads_are_at_work_at_once() -> None:
    """Each waits for the other; alone, one would wait in vain."""
    meeting = threading.Barrier(2, timeout=20)
    assert sorted(ordered_map(lambda _: meeting.wait(), range(2), 2)) == [0, 1]


def test_one_thread_is_the_callers_own() -> None:
    names = set(ordered_map(lambda _: threading.current_thread().name, range(5), 1))
    assert names == {threading.current_thread().name}


def test_items_are_taken_only_as_they_are_needed() -> None:
    taken: list[int] = []

    def items() -> Iterator[int]:
        for item in range(100):
            taken.append(item)
            yield item

    results = ordered_map(lambda item: item, items(), 3)
    assert next(results) == 0
    assert len(taken) <= 6
    assert list(results) == list(range(1, 100))


@pytest.mark.parametrize("count", COUNTS)
def test_an_exception_reaches_the_caller_when_nobody_is_at_work_any_more(count: int) -> None:
    started, ended = [], []

    def fail_at_three(item: int) -> None:
        started.append(item)
        if item == 3:
            raise KeyError(item)
        time.sleep(0.005)
        ended.append(item)

    with pytest.raises(KeyError):
        list(ordered_map(fail_at_three, range(50), count))
    assert sorted(started) == sorted([*ended, 3])
    assert len(started) < 20


def test_an_exception_of_the_items_waits_too() -> None:
    started, ended = [], []

    def work(item: int) -> None:
        started.append(item)
        time.sleep(0.02)
        ended.append(item)

    def items() -> Iterator[int]:
        yield from range(3)
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="gone"):
        list(ordered_map(work, items(), 4))
    assert sorted(started) == sorted(ended)


def test_a_caller_that_stops_early_waits_for_what_is_under_way() -> None:
    started, ended = [], []

    def work(item: int) -> int:
        started.append(item)
        time.sleep(0.02)
        ended.append(item)
        return item

    results = ordered_map(work, range(100), 2)
    assert next(results) == 0
    results.close()
    assert sorted(started) == sorted(ended)
    assert len(started) <= 5


def test_what_waits_in_the_queue_does_not_begin_once_the_caller_has_stopped() -> None:
    """Of four items under way for two threads, 1 and 2 have begun when the caller stops, 3 has not."""
    gate, begun, started = threading.Event(), threading.Semaphore(0), []

    def work(item: int) -> int:
        started.append(item)
        if item:
            begun.release()
            gate.wait(20)
        return item

    results = ordered_map(work, range(100), 2)
    assert next(results) == 0
    assert begun.acquire(timeout=20)
    assert begun.acquire(timeout=20)
    threading.Timer(0.2, gate.set).start()
    results.close()
    time.sleep(0.05)
    assert sorted(started) == [0, 1, 2]


def test_work_within_work_does_not_wait_for_itself() -> None:
    """More outer calls than threads, each with inner calls: in one queue, all would wait for ever."""

    def outer(item: int) -> list[int]:
        return list(ordered_map(lambda inner: item * inner, range(4), 2))

    assert list(ordered_map(outer, range(6), 2)) == [
        [item * inner for inner in range(4)] for item in range(6)
    ]


def test_several_callers_share_the_threads() -> None:
    results: dict[int, list[int]] = {}

    def caller(number: int) -> None:
        count = 2 + number % 2  # pools of two sizes take turns
        results[number] = list(ordered_map(lambda item: item + number, range(50), count))

    callers = [threading.Thread(target=caller, args=(number,)) for number in range(6)]
    for one in callers:
        one.start()
    for one in callers:
        one.join()
    assert results == {number: list(range(number, 50 + number)) for number in range(6)}


def run_program(program: str) -> str:
    """What a program prints that may take no more than a minute."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


INTERRUPTED = """
import os, signal, time
from rankloom.kernels.threads import ordered_map
started, ended = [], []
def work(item):
    started.append(item)
    if item == 1:
        os.kill(os.getpid(), signal.SIGINT)
    time.sleep(0.3)
    ended.append(item)
try:
    list(ordered_map(work, range(100), 2))
except KeyboardInterrupt:
    print(len(started) < 10, sorted(started) == sorted(ended))
"""


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_ctrl_c_stops_soon_and_leaves_nobody_at_work() -> None:
    assert run_program(INTERRUPTED) == "True True"


FORKED = """
import os
from rankloom.kernels import threads
def squares():
    return list(threads.ordered_map(lambda item: item * item, range(20), 2))
expected = squares()
threads._lock.acquire()
child = os.fork()
if child == 0:
    os._exit(0 if squares() == expected else 1)
threads._lock.release()
_, status = os.waitpid(child, 0)
print(os.waitstatus_to_exitcode(status), squares() == expected)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_a_forked_child_has_its_own_threads() -> None:
    """The parent's do not come along, and the lock may be held at that moment."""
    assert run_program(FORKED) == "0 True"


def test_how_many_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RANKLOOM_THREADS", raising=False)
    assert thread_count() >= 1
    assert thread_count(3) == 3
    assert thread_count(np.int64(3)) == 3
    monkeypatch.setenv("RANKLOOM_THREADS", " 5 ")
    assert thread_count() == 5
    assert thread_count(2) == 2


@pytest.mark.parametrize("wrong", [0, -1, 2.5, "2"])
def test_a_number_of_threads_that_is_none(wrong: object) -> None:
    with pytest.raises(ValueError, match="whole number from 1"):
        thread_count(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", ["0", "-1", "two", "1.5"])
def test_a_setting_that_is_none(wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANKLOOM_THREADS", wrong)
    with pytest.raises(ValueError, match="RANKLOOM_THREADS"):
        thread_count()


def test_without_affinity_the_cores_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RANKLOOM_THREADS", raising=False)
    monkeypatch.delattr(house.os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(house.os, "cpu_count", lambda: None)
    assert thread_count() == 1


def test_sums_of_blocks_are_in_their_order() -> None:
    assert block_sum([1e16, 1.0, 1.0]) == (1e16 + 1.0) + 1.0
    assert block_sum(np.array([[1, 2], [3, 4]])).tolist() == [4, 6]
    assert block_sum([]) is None
