"""Many texts as one blob of bytes: text i is blob[starts[i]:ends[i]], decoded when somebody looks at it.

A million doc ids are three arrays this way, which can lie in a file, and not a million objects.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray


class Texts(Sequence[str]):
    """A sequence of str over bytes. Bytes that are not UTF-8 come back as they were (surrogateescape)."""

    __slots__ = ("blob", "ends", "starts")

    def __init__(self, blob: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64]) -> None:
        self.blob, self.starts, self.ends = blob, starts, ends

    @classmethod
    def from_strings(cls, strings: Sequence[str]) -> Texts:
        """Pack strings into one blob."""
        encoded = [text.encode("utf-8", "surrogateescape") for text in strings]
        edges = np.zeros(len(encoded) + 1, dtype=np.int64)
        np.cumsum([len(text) for text in encoded], out=edges[1:])
        return cls(np.frombuffer(b"".join(encoded), dtype=np.uint8), edges[:-1], edges[1:])

    def __len__(self) -> int:
        return len(self.starts)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Texts: ...
    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return Texts(self.blob, self.starts[index], self.ends[index])
        return _decode(self.blob[self.starts[index] : self.ends[index]].tobytes())

    def __iter__(self) -> Iterator[str]:
        for start, end in zip(self.starts.tolist(), self.ends.tolist(), strict=True):
            yield _decode(self.blob[start:end].tobytes())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence | np.ndarray) or isinstance(other, str):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        array = np.empty(len(self), dtype=object)
        array[:] = list(self)
        return array if dtype is None else array.astype(dtype)

    def __repr__(self) -> str:
        shown = ", ".join(repr(text) for text in self[:3])
        return f"Texts([{shown}{', ...' if len(self) > 3 else ''}], {len(self):,} in all)"

    def take(self, rows: Any) -> Texts:
        """The texts of these rows, in this order, over the same blob."""
        return Texts(self.blob, self.starts[rows], self.ends[rows])


def _decode(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")
