"""A progress bar on standard error, for long work watched by a person; nothing where nobody watches."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

PATIENCE = 0.5  # seconds before a bar is shown

Tick = Callable[[int, int | None], None]


@contextmanager
def progress(what: str, counted: bool = False) -> Iterator[Tick | None]:
    """Give a function to be called with what is done and what is to do in all (None: unknown), or None.

    What is done are bytes, or things to be counted.
    """
    if not sys.stderr.isatty():
        yield None
        return
    bar = _Bar(what, counted)
    try:
        yield bar.tick
    finally:
        bar.stop()


class _Bar:
    """Shows itself only when the work takes longer than a moment."""

    def __init__(self, what: str, counted: bool) -> None:
        self._counted = counted
        self._what, self._begin = what, time.monotonic()
        self._shown: Any = None
        self._task: Any = None

    def tick(self, done: int, total: int | None) -> None:
        if self._shown is None:
            if time.monotonic() - self._begin < PATIENCE:
                return
            self._show(total)
        self._shown.update(self._task, completed=done, total=total)

    def _show(self, total: int | None) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            DownloadColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeRemainingColumn,
        )

        done = MofNCompleteColumn() if self._counted else DownloadColumn()
        columns = (TextColumn("{task.description}"), BarColumn(), done, TimeRemainingColumn())
        self._shown = Progress(*columns, console=Console(stderr=True), transient=True)
        self._shown.start()
        self._task = self._shown.add_task(self._what, total=total)

    def stop(self) -> None:
        if self._shown is not None:
            self._shown.stop()
