"""Sums over short vectors that LLVM does not find by itself: written in its own vector types.

    masked_sums     out[c] = sum over j < 32 of values[j] where bit c of masks[at + j] is set
    running_sums    tile[at + (r + 1) width + c] = tile[at + r width + c] + values[k + r] where digit r >= c

for r < 4 rows and c < width (8, 16 or 32). A caller owns what is read: 32 masks and 32 values, 4 digits and 4
values. Nothing is bounds-checked. A leaf of 32 rows took 47 ns so, and 470 as the loop that says the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from rankloom.kernels.compile import jit_disabled

LANES = 32
_UNROLLED = 4
STEP = np.tri(LANES)  # STEP[d, c] = 1 where d >= c


def _data(context: Any, builder: Any, signature: Any, arguments: Any, place: int) -> Any:
    return context.make_array(signature.args[place])(context, builder, arguments[place]).data


def _everywhere(builder: Any, value: Any, kind: Any) -> Any:
    """A vector with the value in every lane."""
    index = ir.IntType(32)
    nothing = ir.Constant(kind, ir.Undefined)
    one = builder.insert_element(nothing, value, index(0))
    return builder.shuffle_vector(
        one, nothing, ir.Constant(ir.VectorType(index, kind.count), [0] * kind.count)
    )


@intrinsic
def _emit_masked_sums(_typing: Any, masks: Any, at: Any, values: Any, out: Any) -> Any:  # noqa: ARG001
    """Emit one masked addition a row."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        masks, values, out = (_data(context, builder, signature, arguments, i) for i in (0, 2, 3))
        wide, bits = ir.VectorType(ir.DoubleType(), LANES), ir.VectorType(ir.IntType(1), LANES)
        index = ir.IntType(64)
        zero = ir.Constant(wide, [0.0] * LANES)
        sums = [zero, zero]  # two, so that an addition need not wait for the one before
        for j in range(LANES):
            value = _everywhere(builder, builder.load(builder.gep(values, [index(j)])), wide)
            mask = builder.load(builder.gep(masks, [builder.add(arguments[1], index(j))]))
            chosen = builder.select(builder.bitcast(mask, bits), value, zero)
            sums[j % 2] = builder.fadd(sums[j % 2], chosen)
        builder.store(builder.fadd(*sums), builder.bitcast(out, wide.as_pointer()), align=8)
        return context.get_dummy_value()

    return types.void(masks, types.uint64, values, out), generate


def _running(width: int) -> Any:
    """The intrinsic of one width."""

    @intrinsic
    def emit(
        _typing: Any,
        tile: Any,
        at: Any,  # noqa: ARG001
        values: Any,
        k: Any,  # noqa: ARG001
        digits: Any,
        first: Any,  # noqa: ARG001
        step: Any,
    ) -> Any:
        """Emit four multiplications and additions, each row from the one before."""

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            tile, values, digits, step = (
                _data(context, builder, signature, arguments, i) for i in (0, 2, 4, 6)
            )
            at, k, first = arguments[1], arguments[3], arguments[5]
            wide, index = ir.VectorType(ir.DoubleType(), width), ir.IntType(64)

            def place(data: Any, offset: Any) -> Any:
                return builder.bitcast(builder.gep(data, [offset]), wide.as_pointer())

            row = builder.load(place(tile, at), align=8)
            for r in range(_UNROLLED):
                value = builder.load(builder.gep(values, [builder.add(k, index(r))]))
                digit = builder.load(builder.gep(digits, [builder.add(first, index(r))]))
                digit = builder.mul(builder.zext(digit, index), index(LANES))
                steps = builder.load(place(step, digit), align=8)
                added = builder.fmul(_everywhere(builder, value, wide), steps, flags=("contract",))
                row = builder.fadd(row, added, flags=("contract",))
                builder.store(row, place(tile, builder.add(at, index(width * (r + 1)))), align=8)
            return context.get_dummy_value()

        return types.void(tile, types.uint64, values, types.uint64, digits, types.uint64, step), generate

    return emit


def _plain_masked_sums(
    masks: NDArray[np.uint32], at: int, values: NDArray[np.float64], out: NDArray[np.float64]
) -> None:
    """`masked_sums` where kernels run as plain Python."""
    bits = (masks[int(at) : int(at) + LANES, None] >> np.arange(LANES, dtype=np.uint32)) & np.uint32(1)
    out[:LANES] = values[:LANES] @ bits.astype(np.float64)


def _plain_running(width: int) -> Any:
    def run(tile: Any, at: Any, values: Any, k: Any, digits: Any, first: Any, step: Any) -> None:
        """`running_sums` where kernels run as plain Python."""
        at, k, first = int(at), int(k), int(first)
        for r in range(_UNROLLED):
            before, after = at + r * width, at + (r + 1) * width
            steps = step[int(digits[first + r]), :width]
            tile[after : after + width] = tile[before : before + width] + values[k + r] * steps

    return run


masked_sums: Any = _plain_masked_sums if jit_disabled() else _emit_masked_sums
running_sums_8: Any = (_plain_running if jit_disabled() else _running)(8)
running_sums_16: Any = (_plain_running if jit_disabled() else _running)(16)
running_sums_32: Any = (_plain_running if jit_disabled() else _running)(32)
