"""Prefetch: ask for a cache line before it is needed, so that the wait overlaps with work."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from rankloom.kernels.compile import jit_disabled


@intrinsic
def _emit_prefetch(typing_context: Any, array: Any, index: Any) -> Any:
    """Emit llvm.prefetch for the line of array[index]: for reading, into all caches; a wrong index cannot fault."""
    if not isinstance(array, types.Array) or array.ndim != 1 or not isinstance(index, types.Integer):
        return None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        struct = context.make_array(signature.args[0])(context, builder, arguments[0])
        pointer = builder.gep(struct.data, [arguments[1]])
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


prefetch = _no_prefetch if jit_disabled() else _emit_prefetch
