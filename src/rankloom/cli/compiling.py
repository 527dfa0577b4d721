"""A word to the user while kernels are compiled: once a process, and only when it really happens."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rankloom.cli.failures import tell


@contextmanager
def telling_of_compiling() -> Iterator[None]:
    """Inside the block, the first kernel that is not on disk yet makes the user know why it takes a while."""
    from numba.core import event

    class Listener(event.Listener):
        told = False

        def on_start(self, _event: Any) -> None:
            if not self.told:
                self.told = True
                tell("compiling kernels: once on this machine, some seconds (rankloom warmup does it ahead)")

        def on_end(self, _event: Any) -> None:
            """Nothing to say."""

    with event.install_listener("numba:compile", Listener()):
        yield
