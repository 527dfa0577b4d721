"""The one decorator that every kernel wears, and the one border that every array crosses.

A kernel is compiled on its first call and kept on disk. Where no folder is writable, it still runs, compiled
anew in each process, and the user is told once how to mend that.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

import numba
import numpy as np
from numpy.typing import DTypeLike, NDArray

Function = TypeVar("Function", bound=Callable[..., Any])

# Lets sums be reordered and multiplications fused, so that loops vectorise.
# Without nnan and ninf: kernels look for NaN.
FAST_SUMS = {"reassoc", "contract", "arcp", "nsz"}

_told = False


def kernel(
    function: Function | None = None,
    *,
    fast_sums: bool = False,
    inline: bool = False,
    allocates: bool = True,
) -> Any:
    """Compile a function over arrays: no GIL, cached on disk, NumPy's division, sums in order.

    Use as `@kernel`, or `@kernel(fast_sums=True)` where a vectorised sum is worth a changed last bit, or
    `@kernel(inline=True)` for a few lines that LLVM should always put into their caller. `allocates=False`,
    on a kernel and its helpers that make no array (slices and views included), leaves out the counting of
    references at each call of a helper: a loop of small helpers over one buffer ran 7 times as fast.
    """

    def decorate(target: Function) -> Any:
        options: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
        if fast_sums:
            options["fastmath"] = FAST_SUMS
        if inline:
            options["forceinline"] = True
        if not allocates:
            options["_nrt"] = False
        try:
            return numba.njit(cache=True, **options)(target)
        except RuntimeError as error:
            if "cannot cache" not in str(error):
                raise
            _tell_no_cache()
            return numba.njit(**options)(target)

    return decorate if function is None else decorate(function)


def _tell_no_cache() -> None:
    global _told
    if not _told:
        _told = True
        warnings.warn(
            "no writable folder for compiled kernels, so each process compiles them anew (some seconds); "
            "set NUMBA_CACHE_DIR to a folder you can write to",
            UserWarning,
            stacklevel=4,
        )


def jit_disabled() -> bool:
    """True where NUMBA_DISABLE_JIT=1: kernels then run as plain Python."""
    return os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")


class _Exposed:
    """Memory offered as writable, so that Numba sees one array type for read-only and writable arrays."""

    def __init__(self, array: NDArray[Any]) -> None:
        self.base = array
        interface = dict(array.__array_interface__)
        interface["data"] = (interface["data"][0], False)
        self.__array_interface__ = interface


def as_kernel(array: Any, dtype: DTypeLike) -> NDArray[Any]:
    """`array` as a kernel takes it: this dtype, C-contiguous, aligned, and Numba's one (writable) array type.

    Copies only where dtype, layout or alignment ask for it. Kernels never write to what they are given to
    read.
    """
    ready = np.ascontiguousarray(array, dtype=dtype)
    if not ready.flags.aligned:
        ready = ready.copy()
    if ready.flags.writeable:
        return ready if type(ready) is np.ndarray else ready.view(np.ndarray)
    return np.asarray(_Exposed(ready))
