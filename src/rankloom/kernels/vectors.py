"""Sums over short vectors that LLVM does not find by itself: written in its own vector types.

    masked_sums     out[c] = sum over j < 32 of values[j] where bit c of masks[at + j] is set
    running_sums    tile[at + (r + 1) width + c] = tile[at + r width + c] + values[k + r] where digit r >= c

for r < 4 rows and c < width (8, 16 or 32). A caller owns what is read: 32 masks and 32 values, 4 digits and 4
values. Nothing is bounds-checked. A leaf of 32 rows took 47 ns so, and 470 as the loop that says the same.

    dots_4, dots_1  z[row - base] = row of X . v                   for the rows listed[k], listed[k + 1], ...
    add_8, add_1    sums += sum over these rows of u[row - base] times the row

Both take a row by 8 columns, and at its end the last 8, of which some have been taken: v and sums are `packed`,
with 0 in the places of those. So a row has no tail of single columns, and at least 8.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from rankloom.kernels.compile import jit_disabled

LANES = 32
BLOCK = 8
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


def packed_size(width: int) -> int:
    """How many places a packed vector has."""
    return -(-width // BLOCK) * BLOCK


def packed_places(width: int) -> NDArray[np.int64]:
    """Where the columns of a row are in a packed vector: the last ones at its end."""
    places = np.arange(width)
    full = width // BLOCK * BLOCK
    places[full:] += packed_size(width) - width
    return places


class _Rows:
    """What emits a pass over some rows, by blocks of columns."""

    def __init__(
        self, builder: Any, values: Any, listed: Any, first: Any, width: Any, base: Any, count: int
    ) -> None:
        index = ir.IntType(64)
        self.builder, self.values, self.width = builder, values, width
        self.narrow = ir.VectorType(ir.FloatType(), BLOCK)
        self.wide = ir.VectorType(ir.DoubleType(), BLOCK)
        places = [builder.gep(listed, [builder.add(first, index(r))]) for r in range(count)]
        rows = [builder.zext(builder.load(place), index) for place in places]
        self.starts = [builder.mul(row, width) for row in rows]
        self.places = [builder.sub(row, base) for row in rows]

    def load(self, data: Any, at: Any) -> Any:
        return self.builder.load(self.of_packed(data, at), align=8)

    def of_packed(self, data: Any, at: Any) -> Any:
        return self.builder.bitcast(self.builder.gep(data, [at]), self.wide.as_pointer())

    def values_of(self, r: int, column: Any) -> Any:
        """Eight columns of row r."""
        place = self.builder.gep(self.values, [self.builder.add(self.starts[r], column)])
        found = self.builder.load(self.builder.bitcast(place, self.narrow.as_pointer()), align=4)
        return self.builder.fpext(found, self.wide)

    def multiply_add(self, a: Any, b: Any, c: Any) -> Any:
        product = self.builder.fmul(a, b, flags=("contract",))
        return self.builder.fadd(product, c, flags=("contract",))

    def each_block(self, work: Any) -> None:
        """Emit work(column of the row, place in packed vectors) for whole blocks, and for the last columns."""
        builder, index = self.builder, ir.IntType(64)
        full = builder.and_(self.width, index(-BLOCK))
        with cgutils.for_range(builder, builder.udiv(self.width, index(BLOCK))) as loop:
            column = builder.mul(loop.index, index(BLOCK))
            work(column, column)
        with builder.if_then(builder.icmp_unsigned("!=", full, self.width)):
            work(builder.sub(self.width, index(BLOCK)), full)


def _added_up(builder: Any, wide: Any) -> Any:
    """The sum of 8 lanes."""
    kind = ir.IntType(32)
    while wide.type.count > 1:
        half = wide.type.count // 2
        low, high = (
            builder.shuffle_vector(
                wide, wide, ir.Constant(ir.VectorType(kind, half), list(range(first, first + half)))
            )
            for first in (0, half)
        )
        wide = builder.fadd(low, high)
    return builder.extract_element(wide, kind(0))


def _added_up_each(builder: Any, wide: list[Any]) -> list[Any]:
    """The sums of 8 lanes of each of four vectors: three additions less than one by one."""

    def pick(a: Any, b: Any, lanes: list[int]) -> Any:
        kind = ir.VectorType(ir.IntType(32), len(lanes))
        return builder.shuffle_vector(a, b, ir.Constant(kind, lanes))

    a, b, c, d = (builder.fadd(pick(x, x, [0, 1, 2, 3]), pick(x, x, [4, 5, 6, 7])) for x in wide)
    ab = builder.fadd(pick(a, b, [0, 4, 2, 6]), pick(a, b, [1, 5, 3, 7]))
    cd = builder.fadd(pick(c, d, [0, 4, 2, 6]), pick(c, d, [1, 5, 3, 7]))
    found = builder.fadd(pick(ab, cd, [0, 1, 4, 5]), pick(ab, cd, [2, 3, 6, 7]))
    return [builder.extract_element(found, ir.IntType(32)(r)) for r in range(4)]


def _dots(count: int) -> Any:
    """The intrinsic for so many rows, 1 or 4."""

    @intrinsic
    def emit(
        _typing: Any,
        values: Any,
        listed: Any,
        k: Any,  # noqa: ARG001
        width: Any,  # noqa: ARG001
        base: Any,  # noqa: ARG001
        v: Any,
        z: Any,
    ) -> Any:
        """Emit a loop over columns with a vector of sums for each row."""

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            values, listed, v, z = (_data(context, builder, signature, arguments, i) for i in (0, 1, 5, 6))
            rows = _Rows(builder, values, listed, *arguments[2:5], count)
            zero = ir.Constant(rows.wide, [0.0] * BLOCK)
            sums = [cgutils.alloca_once_value(builder, zero) for _ in range(count)]

            def add(column: Any, place: Any) -> None:
                of_v = rows.load(v, place)
                for r, total in enumerate(sums):
                    found = rows.multiply_add(rows.values_of(r, column), of_v, builder.load(total))
                    builder.store(found, total)

            rows.each_block(add)
            found = [builder.load(total) for total in sums]
            dots = _added_up_each(builder, found) if count == 4 else [_added_up(builder, found[0])]
            for dot, place in zip(dots, rows.places, strict=True):
                builder.store(dot, builder.gep(z, [place]))
            return context.get_dummy_value()

        index = types.uint64
        return types.void(values, listed, index, index, index, v, z), generate

    return emit


def _add(count: int) -> Any:
    """The intrinsic for so many rows."""

    @intrinsic
    def emit(
        _typing: Any,
        values: Any,
        listed: Any,
        k: Any,  # noqa: ARG001
        width: Any,  # noqa: ARG001
        base: Any,  # noqa: ARG001
        u: Any,
        sums: Any,
    ) -> Any:
        """Emit a loop over columns that loads and stores the sums once for all rows."""

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            values, listed, u, sums = (_data(context, builder, signature, arguments, i) for i in (0, 1, 5, 6))
            rows = _Rows(builder, values, listed, *arguments[2:5], count)
            scales = [
                _everywhere(builder, builder.load(builder.gep(u, [place])), rows.wide) for place in rows.places
            ]

            def add(column: Any, place: Any) -> None:
                parts = [rows.load(sums, place), ir.Constant(rows.wide, [0.0] * BLOCK)]
                for r, scale in enumerate(scales):  # two chains: an addition waits for the one before
                    parts[r % 2] = rows.multiply_add(rows.values_of(r, column), scale, parts[r % 2])
                builder.store(builder.fadd(*parts), rows.of_packed(sums, place), align=8)

            rows.each_block(add)
            return context.get_dummy_value()

        index = types.uint64
        return types.void(values, listed, index, index, index, u, sums), generate

    return emit


def _plain_dots(count: int) -> Any:
    def run(values: Any, listed: Any, k: Any, width: Any, base: Any, v: Any, z: Any) -> None:
        """`dots_4` where kernels run as plain Python."""
        width, places = int(width), packed_places(int(width))
        for row in listed[int(k) : int(k) + count].astype(np.int64):
            z[row - int(base)] = values[row * width : (row + 1) * width] @ v[places]

    return run


def _plain_add(count: int) -> Any:
    def run(values: Any, listed: Any, k: Any, width: Any, base: Any, u: Any, sums: Any) -> None:
        """`add_8` where kernels run as plain Python."""
        width, places = int(width), packed_places(int(width))
        for row in listed[int(k) : int(k) + count].astype(np.int64):
            sums[places] += u[row - int(base)] * values[row * width : (row + 1) * width]

    return run


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
dots_4: Any = (_plain_dots if jit_disabled() else _dots)(4)
dots_1: Any = (_plain_dots if jit_disabled() else _dots)(1)
add_8: Any = (_plain_add if jit_disabled() else _add)(8)
add_1: Any = (_plain_add if jit_disabled() else _add)(1)
