"""Arrays that are filled from the front, of a length known only at the end.

Memory is reserved generously and costs nothing until it is touched, so that growing seldom copies; `finish`
gives the rest back.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Growing:
    """A one-dimensional array with room behind its end."""

    def __init__(self, dtype: Any, expected: int) -> None:
        self.length = 0
        self._array = _reserve(max(expected, 1024), np.dtype(dtype))

    def extend(self, count: int) -> NDArray[Any]:
        """`count` new entries at the end, for the caller to fill."""
        end = self.length + count
        if end > len(self._array):
            larger = np.empty(max(end, len(self._array) * 3 // 2), dtype=self._array.dtype)
            larger[: self.length] = self._array[: self.length]
            self._array = larger
        room = self._array[self.length : end]
        self.length = end
        return room

    def shorten(self, count: int) -> None:
        """Take back the last `count` entries."""
        self.length -= count

    def append(self, values: Any) -> None:
        """Copy values to the end."""
        self.extend(len(values))[:] = values

    def filled(self) -> NDArray[Any]:
        """What has been filled so far, over the same memory."""
        return self._array[: self.length]

    def finish(self) -> NDArray[Any]:
        """The filled array; the room behind it is given back. Nothing may be added afterwards."""
        array = self._array
        del self._array
        array.resize(self.length, refcheck=False)
        return array


def _reserve(count: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    try:
        return np.empty(count, dtype=dtype)
    except MemoryError:
        return np.empty(min(count, 1 << 20), dtype=dtype)


def physical_memory() -> int:
    """Bytes of memory in this machine; 8 GiB where it does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return 8 << 30
