"""Sums over short vectors that LLVM does not find by itself: written in its own vector types.

    masked_sums     out[first + c] += sum over j < n of values[first + j] where bit c of masks[at + j] is set
    running_sums    tile[r + 1, c] = tile[r, c] + values[o + items[first + r]] where digits[first + r] >= c

for c < 32, and for r < n and c < width (8, 16 or 32). A caller owns 32 places of out from the first on;
nothing is bounds-checked. A leaf of 32 rows took 28 ns so, and 470 as the loop that says the same.

    dots_4, dots_1  z[place[row] - base] = row of X . v            for the rows listed[k], listed[k + 1], ...
    add_8, add_1    sums += sum over these rows of u[place[row] - base] times the row

Both take a row by 8 columns, and at its end the last 8, of which some have been taken: v and sums are
`packed`, v with 0 in the places of those. So a row has no tail of single columns, and at least 8.
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
def _emit_masked_sums(
    _typing: Any,
    masks: Any,
    at: Any,  # noqa: ARG001
    n: Any,  # noqa: ARG001
    values: Any,
    first: Any,  # noqa: ARG001
    out: Any,
) -> Any:
    """Emit a loop of one masked addition a row."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        masks, values, out = (_data(context, builder, signature, arguments, i) for i in (0, 3, 5))
        at, n, first = arguments[1], arguments[2], arguments[4]
        wide, bits = ir.VectorType(ir.DoubleType(), LANES), ir.VectorType(ir.IntType(1), LANES)
        index = ir.IntType(64)
        place = builder.bitcast(builder.gep(out, [first]), wide.as_pointer())
        # two sums, so that an addition need not wait for the one before
        before = builder.load(place, align=8)
        sums = [cgutils.alloca_once_value(builder, x) for x in (before, ir.Constant(wide, [0.0] * LANES))]

        def add(j: Any, total: Any) -> None:
            value = _everywhere(builder, builder.load(builder.gep(values, [builder.add(first, j)])), wide)
            mask = builder.bitcast(builder.load(builder.gep(masks, [builder.add(at, j)])), bits)
            had = builder.load(total)
            builder.store(builder.select(mask, builder.fadd(had, value), had), total)

        with cgutils.for_range(builder, builder.udiv(n, index(2))) as loop:
            j = builder.mul(loop.index, index(2))
            add(j, sums[0])
            add(builder.add(j, index(1)), sums[1])
        odd = builder.and_(n, index(1))
        with builder.if_then(builder.icmp_unsigned("!=", odd, index(0))):
            add(builder.sub(n, index(1)), sums[0])
        found = builder.fadd(*[builder.load(total) for total in sums])
        builder.store(found, place, align=8)
        return context.get_dummy_value()

    index = types.uint64
    return types.void(masks, index, index, values, index, out), generate


def _running(width: int) -> Any:
    """The intrinsic of one width."""

    @intrinsic
    def emit(
        _typing: Any,
        tile: Any,
        n: Any,  # noqa: ARG001
        values: Any,
        o: Any,  # noqa: ARG001
        items: Any,
        digits: Any,
        first: Any,  # noqa: ARG001
    ) -> Any:
        """Emit a loop that adds and stores a row, and keeps it for the next."""

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            tile, values, items, digits = (
                _data(context, builder, signature, arguments, i) for i in (0, 2, 4, 5)
            )
            n, o, first = arguments[1], arguments[3], arguments[6]
            wide, index = ir.VectorType(ir.DoubleType(), width), ir.IntType(64)
            columns = ir.Constant(ir.VectorType(index, width), list(range(width)))

            def place(at: Any) -> Any:
                return builder.bitcast(builder.gep(tile, [at]), wide.as_pointer())

            row = cgutils.alloca_once_value(builder, builder.load(place(index(0)), align=8))
            with cgutils.for_range(builder, n) as loop:
                item, digit = (
                    builder.zext(builder.load(builder.gep(data, [builder.add(first, loop.index)])), index)
                    for data in (items, digits)
                )
                value = builder.load(builder.gep(values, [builder.add(o, item)]))
                reached = builder.icmp_unsigned(">=", _everywhere(builder, digit, columns.type), columns)
                added = builder.select(
                    reached, _everywhere(builder, value, wide), ir.Constant(wide, [0.0] * width)
                )
                found = builder.fadd(builder.load(row), added)
                builder.store(found, row)
                after = builder.mul(builder.add(loop.index, index(1)), index(width))
                builder.store(found, place(after), align=8)
            return context.get_dummy_value()

        index = types.uint64
        return types.void(tile, index, values, index, items, digits, index), generate

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
        self,
        builder: Any,
        values: Any,
        listed: Any,
        place: Any,
        first: Any,
        width: Any,
        base: Any,
        count: int,
    ) -> None:
        index = ir.IntType(64)
        self.builder, self.values, self.width = builder, values, width
        self.narrow = ir.VectorType(ir.FloatType(), BLOCK)
        self.wide = ir.VectorType(ir.DoubleType(), BLOCK)

        def at(data: Any, offset: Any) -> Any:
            return builder.zext(builder.load(builder.gep(data, [offset])), index)

        rows = [at(listed, builder.add(first, index(r))) for r in range(count)]
        self.starts = [builder.mul(row, width) for row in rows]
        self.places = [builder.sub(at(place, row), base) for row in rows]

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
        """Emit work(column of the row, place in a packed vector) for whole blocks, then for the last ones."""
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
        place: Any,
        base: Any,  # noqa: ARG001
        v: Any,
        z: Any,
    ) -> Any:
        """Emit a loop over columns with a vector of sums for each row."""

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            values, listed, place, v, z = (
                _data(context, builder, signature, arguments, i) for i in (0, 1, 4, 6, 7)
            )
            k, width, base = arguments[2], arguments[3], arguments[5]
            rows = _Rows(builder, values, listed, place, k, width, base, count)
            zero = ir.Constant(rows.wide, [0.0] * BLOCK)
            sums = [cgutils.alloca_once_value(builder, zero) for _ in range(count)]

            def add(column: Any, at: Any) -> None:
                of_v = rows.load(v, at)
                for r, total in enumerate(sums):
                    found = rows.multiply_add(rows.values_of(r, column), of_v, builder.load(total))
                    builder.store(found, total)

            rows.each_block(add)
            found = [builder.load(total) for total in sums]
            dots = _added_up_each(builder, found) if count == 4 else [_added_up(builder, found[0])]
            for dot, there in zip(dots, rows.places, strict=True):
                builder.store(dot, builder.gep(z, [there]))
            return context.get_dummy_value()

        index = types.uint64
        return types.void(values, listed, index, index, place, index, v, z), generate

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
        place: Any,
        base: Any,  # noqa: ARG001
        u: Any,
        sums: Any,
    ) -> Any:
        """Emit a loop over columns that loads and stores the sums once for all rows."""

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            values, listed, place, u, sums = (
                _data(context, builder, signature, arguments, i) for i in (0, 1, 4, 6, 7)
            )
            k, width, base = arguments[2], arguments[3], arguments[5]
            rows = _Rows(builder, values, listed, place, k, width, base, count)
            scales = [
                _everywhere(builder, builder.load(builder.gep(u, [there])), rows.wide)
                for there in rows.places
            ]

            def add(column: Any, at: Any) -> None:
                parts = [rows.load(sums, at), ir.Constant(rows.wide, [0.0] * BLOCK)]
                for r, scale in enumerate(scales):  # two chains: an addition waits for the one before
                    parts[r % 2] = rows.multiply_add(rows.values_of(r, column), scale, parts[r % 2])
                builder.store(builder.fadd(*parts), rows.of_packed(sums, at), align=8)

            rows.each_block(add)
            return context.get_dummy_value()

        index = types.uint64
        return types.void(values, listed, index, index, place, index, u, sums), generate

    return emit


def _plain_dots(count: int) -> Any:
    def run(values: Any, listed: Any, k: Any, width: Any, place: Any, base: Any, v: Any, z: Any) -> None:
        """`dots_4` where kernels run as plain Python."""
        width, columns = int(width), packed_places(int(width))
        for row in listed[int(k) : int(k) + count].astype(np.int64):
            z[int(place[row]) - int(base)] = values[row * width : (row + 1) * width] @ v[columns]

    return run


def _plain_add(count: int) -> Any:
    def run(values: Any, listed: Any, k: Any, width: Any, place: Any, base: Any, u: Any, sums: Any) -> None:
        """`add_8` where kernels run as plain Python."""
        width, columns = int(width), packed_places(int(width))
        for row in listed[int(k) : int(k) + count].astype(np.int64):
            sums[columns] += u[int(place[row]) - int(base)] * values[row * width : (row + 1) * width]

    return run


def _plain_masked_sums(masks: Any, at: Any, n: Any, values: Any, first: Any, out: Any) -> None:
    """`masked_sums` where kernels run as plain Python."""
    at, n, first = int(at), int(n), int(first)
    bits = (masks[at : at + n, None] >> np.arange(LANES, dtype=np.uint32)) & np.uint32(1)
    out[first : first + LANES] += values[first : first + n] @ bits.astype(np.float64)


def _plain_running(width: int) -> Any:
    def run(tile: Any, n: Any, values: Any, o: Any, items: Any, digits: Any, first: Any) -> None:
        """`running_sums` where kernels run as plain Python."""
        o, first = int(o), int(first)
        for r in range(int(n)):
            before, after = r * width, (r + 1) * width
            added = values[o + int(items[first + r])] * (int(digits[first + r]) >= np.arange(width))
            tile[after : after + width] = tile[before : before + width] + added

    return run


masked_sums: Any = _plain_masked_sums if jit_disabled() else _emit_masked_sums
running_sums_8: Any = (_plain_running if jit_disabled() else _running)(8)
running_sums_16: Any = (_plain_running if jit_disabled() else _running)(16)
running_sums_32: Any = (_plain_running if jit_disabled() else _running)(32)
dots_4: Any = (_plain_dots if jit_disabled() else _dots)(4)
dots_1: Any = (_plain_dots if jit_disabled() else _dots)(1)
add_8: Any = (_plain_add if jit_disabled() else _add)(8)
add_1: Any = (_plain_add if jit_disabled() else _add)(1)
