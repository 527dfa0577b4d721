"""Prefetch is compiled, harmless, and absent where kernels are plain Python; loads and bits are right."""

from __future__ import annotations

import re
from typing import Any

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba.core.errors import TypingError

from rankloom.kernels.compile import jit_disabled
from rankloom.kernels.memory import load_eight, no_digits, prefetch, trailing_zeros

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


@numba.njit
def read_eight(text: Any, at: Any) -> Any:
    return load_eight(text, at)


@numba.njit
def find_no_digits(text: Any, at: Any) -> Any:
    return no_digits(text, at)


@numba.njit
def count_zeros(bits: Any) -> Any:
    return trailing_zeros(bits)


BYTES = st.binary(min_size=72, max_size=80) | st.text("0123456789./: \n", min_size=80, max_size=80).map(
    str.encode
)


@pytest.mark.jit_free
@given(BYTES, st.integers(0, 8))
def test_wide_loads_read_the_bytes_that_are_there(content: bytes, at: int) -> None:
    text = np.frombuffer(content, np.uint8).copy()
    assert int(read_eight(text, at)) == int.from_bytes(content[at : at + 8], "little")
    expected = sum(1 << i for i, byte in enumerate(content[at : at + 64]) if not 48 <= byte <= 57)
    assert int(find_no_digits(text, at)) == expected


@pytest.mark.jit_free
@given(st.integers(0, 63), st.integers(0, 2**64 - 1))
def test_zeros_below_the_lowest_bit(lowest: int, above: int) -> None:
    bits = ((above | 1) << lowest) % 2**64
    assert int(count_zeros(np.uint64(bits))) == lowest
