"""Which texts are equal: by hash, over their bytes, without making a Python string of any."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankloom.data.texts import Texts


def as_texts(values: Any) -> Texts:
    """Texts over one blob, from Texts or any sequence of strings."""
    return values if isinstance(values, Texts) else Texts.from_strings([str(value) for value in values])


def chained(parts: list[Texts]) -> Texts:
    """Several Texts as one."""
    shifts = np.cumsum([0] + [len(part.blob) for part in parts])
    return Texts(
        np.concatenate([part.blob for part in parts]),
        np.concatenate([part.starts + shift for part, shift in zip(parts, shifts[:-1], strict=True)]),
        np.concatenate([part.ends + shift for part, shift in zip(parts, shifts[:-1], strict=True)]),
    )


def first_place(texts: Texts, groups: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
    """For each text the first place where the same text stands, in the same group: itself if it is new."""
    from rankloom.kernels.compile import as_kernel
    from rankloom.kernels.fields import first_equal

    count = len(texts)
    first = np.empty(count, dtype=np.int64)
    table = np.full(1 << (2 * count + 1).bit_length(), -1, dtype=np.int64)
    first_equal(
        as_kernel(texts.blob, np.uint8),
        as_kernel(texts.starts, np.int64),
        as_kernel(texts.ends, np.int64),
        as_kernel(np.zeros(count) if groups is None else groups, np.int64),
        table,
        first,
    )
    return first


def numbered(texts: Texts) -> tuple[Texts, NDArray[np.int64]]:
    """The distinct texts in order of first appearance, and which of them each text is."""
    first = first_place(texts)
    is_new = first == np.arange(len(texts))
    numbers = np.cumsum(is_new) - 1
    return texts.take(np.flatnonzero(is_new)), numbers[first]
