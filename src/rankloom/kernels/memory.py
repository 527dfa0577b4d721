"""What one machine instruction does and Numba has no name for: prefetch, wide loads, the position of a bit.

The loads are not bounds-checked: a caller of `load_eight` and `no_digits` owns 8 and 64 readable bytes from
`at`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from rankloom.kernels.compile import jit_disabled


@intrinsic
def _emit_prefetch(_typing: Any, array: Any, index: Any) -> Any:
    """Emit llvm.prefetch for the line of array[index]: to read, into all caches; no index can fault."""
    if not isinstance(array, types.Array) or array.ndim != 1 or array.layout != "C":
        return None
    if not isinstance(index, types.Integer):
        return None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        struct = context.make_array(signature.args[0])(context, builder, arguments[0])
        place = context.cast(builder, arguments[1], signature.args[1], types.intp)  # gep takes all as signed
        pointer = builder.gep(struct.data, [place])
        byte = ir.IntType(8).as_pointer()
        flag = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, flag, flag, flag])
        llvm = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        read, keep, data = flag(0), flag(3), flag(1)
        builder.call(llvm, [builder.bitcast(pointer, byte), read, keep, data])
        return context.get_dummy_value()

    return types.void(array, index), generate


def _no_prefetch(array: Any, index: int) -> None:
    """Stands in for `prefetch` where kernels run as plain Python."""


prefetch: Any = _no_prefetch if jit_disabled() else _emit_prefetch


@intrinsic
def _emit_load_eight(_typing: Any, text: Any, at: Any) -> Any:
    """Emit one unaligned load of text[at : at + 8]."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        struct = context.make_array(signature.args[0])(context, builder, arguments[0])
        pointer = builder.gep(struct.data, [arguments[1]])
        return builder.load(builder.bitcast(pointer, ir.IntType(64).as_pointer()), align=1)

    return types.uint64(text, at), generate


@intrinsic
def _emit_no_digits(_typing: Any, text: Any, at: Any) -> Any:
    """Emit the comparison of text[at : at + 64] with the digits, all bytes at once."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        struct = context.make_array(signature.args[0])(context, builder, arguments[0])
        pointer = builder.gep(struct.data, [arguments[1]])
        byte, vector = ir.IntType(8), ir.VectorType(ir.IntType(8), 64)
        loaded = builder.load(builder.bitcast(pointer, vector.as_pointer()), align=1)
        zeros, nines = (ir.Constant(vector, [ir.Constant(byte, value)] * 64) for value in (48, 9))
        others = builder.icmp_unsigned(">", builder.sub(loaded, zeros), nines)
        return builder.bitcast(others, ir.IntType(64))

    return types.uint64(text, at), generate


@intrinsic
def _emit_trailing_zeros(_typing: Any, _bits: Any) -> Any:
    """Emit the count of zero bits below the lowest one; undefined for 0."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(types.uint64), generate


def _plain_load_eight(text: Any, at: int) -> Any:
    """The eight bytes from `at` as one little-endian number."""
    return np.uint64(int.from_bytes(text[int(at) : int(at) + 8].tobytes(), "little"))


def _plain_no_digits(text: Any, at: int) -> Any:
    """One bit for each of the 64 bytes from `at`, set where it is no ASCII digit."""
    window = text[int(at) : int(at) + 64].tolist()
    return np.uint64(sum(1 << i for i, byte in enumerate(window) if not 48 <= byte <= 57))


def _plain_trailing_zeros(bits: int) -> Any:
    """How many zero bits stand below the lowest one bit."""
    return np.uint64((int(bits) & -int(bits)).bit_length() - 1)


load_eight: Any = _plain_load_eight if jit_disabled() else _emit_load_eight
no_digits: Any = _plain_no_digits if jit_disabled() else _emit_no_digits
trailing_zeros: Any = _plain_trailing_zeros if jit_disabled() else _emit_trailing_zeros
