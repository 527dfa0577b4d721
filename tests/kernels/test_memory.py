"""Prefetch is in the compiled code, harmless, and absent where kernels are plain Python."""

from __future__ import annotations

import re
from typing import Any

import numba
import numpy as np
import pytest
from numba.core.errors import TypingError

from rankloom.kernels.compile import jit_disabled
from rankloom.kernels.memory import prefetch

compiled_only = pytest.mark.skipif(jit_disabled(), reason="about compiled code")


@numba.njit
def ask_for(array: Any, index: Any) -> None:
    """Not kept on disk: code that comes from there cannot be inspected."""
    prefetch(array, index)


@compiled_only
def test_the_instruction_is_there() -> None:
    ask_for(np.zeros(8, np.float32), 3)
    (llvm,) = ask_for.inspect_llvm().values()
    assert re.search(r"call void @llvm\.prefetch\.p0\(\S+ .*, i32 0, i32 3, i32 1\)", llvm)
    (assembly,) = ask_for.inspect_asm().values()
    assert re.search(r"\bprefetch|\bprfm", assembly)


@compiled_only
@pytest.mark.parametrize(("kind", "extended"), [(np.uint32, "zext"), (np.int32, "sext")])
def test_a_narrow_index_keeps_its_sign(kind: type, extended: str) -> None:
    """LLVM takes every index as signed: an unsigned one above 2^31 must be widened first."""
    compiled = numba.njit(ask_for.py_func)
    compiled(np.zeros(8), kind(3))
    (llvm,) = compiled.inspect_llvm().values()
    assert re.search(rf"{extended}\b.* i32 %\S+ to i64", llvm)


@pytest.mark.jit_free
@pytest.mark.parametrize("index", [0, 7, 8, -1, 10**12, -(10**12)])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint32, np.int64, np.float32, np.float64])
def test_no_index_can_fault(dtype: type, index: int) -> None:
    array = np.ones(8, dtype)
    assert ask_for(array, index) is None
    assert (array == 1).all()


@compiled_only
@pytest.mark.parametrize(
    ("array", "index"), [(np.zeros((2, 2)), 0), (np.zeros(4)[::2], 0), (np.zeros(4), 0.5)], ids=str
)
def test_what_has_no_line_is_refused(array: Any, index: Any) -> None:
    with pytest.raises(TypingError):
        ask_for(array, index)
