"""Compile every kernel ahead of its first use: for images, services, and tests in several processes.

Nothing is registered anywhere. A small round of ordinary work goes through every kernel, with exactly the
types that ordinary work has; a test walks all kernels and fails if this round leaves one out.
"""

from __future__ import annotations

import importlib
import pkgutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple


class Warmed(NamedTuple):
    """One kernel after `warm_up`: whether it had to be compiled (or was on disk), and for how long."""

    name: str
    compiled: bool
    seconds: float


def warm_up() -> list[Warmed]:
    """Have every kernel compiled and on disk, and say what was done. Without the JIT, nothing is."""
    kernels = find_kernels()
    with _compile_times() as seconds:
        for work in _rounds():
            work()
    return [Warmed(name, name in seconds, seconds.get(name, 0.0)) for name in sorted(kernels)]


def find_kernels() -> dict[str, Any]:
    """Every kernel that Python calls: all of `rankloom.kernels` that are not private nor inlined helpers."""
    import rankloom.kernels

    found = {}
    for module_info in pkgutil.iter_modules(rankloom.kernels.__path__):
        module = importlib.import_module(f"rankloom.kernels.{module_info.name}")
        for name, value in vars(module).items():
            function = getattr(value, "py_func", None)
            if function is None or function.__module__ != module.__name__:
                continue
            if not name.startswith("_") and not value.targetoptions.get("forceinline"):
                found[f"{module_info.name}.{name}"] = value
    return found


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


def _rounds() -> list[Any]:
    """Ordinary work that together calls every kernel."""
    return []
