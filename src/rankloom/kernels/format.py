"""Numbers to decimal text, straight into a buffer: the shortest that reads back as the same float32.

A float32 is v = c * 2^q, and every decimal inside R = (c - 1/2, c + 1/2) * 2^q reads back as v. (With the
ends of R where c is even, as readers round halves to even; and R begins at c - 1/4 where v is a power of two,
since its lower neighbour is nearer.) Let k be the greatest integer such that 10^k is at most as wide as R.
Then R holds a multiple of 10^k and at most one multiple of 10^(k+1): the latter is the shortest if it is
there, else the multiple of 10^k nearest to v. Of v and the ends of R, times 4 * 10^-k, only the integer part
is needed and whether anything follows it: 64 bits of 10^-k are enough for that.

R. Giulietti, 2020, "The Schubfach way to render doubles".
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankloom.kernels.compile import kernel

# The longest features are like " 2147483647:-1234567800000000".
FEATURE_BYTES = 29
SHORTEST = -1  # in place of a number of decimals
MAX_DECIMALS = 9

_LOW = np.uint64(0xFFFFFFFF)
_32 = np.uint64(32)
_0 = np.uint64(0)
_1 = np.uint64(1)
_2 = np.uint64(2)
_4 = np.uint64(4)
_10 = np.uint64(10)
_100 = np.uint64(100)
_1000 = np.uint64(1000)
_10000 = np.uint64(10000)
_40 = np.uint64(40)
_SPACE, _COLON, _NEWLINE = 32, 58, 10
_MINUS, _POINT, _ZERO, _E = 45, 46, 48, 101
_N, _A, _I, _F = 110, 97, 105, 102
_TENS = (_ZERO + np.arange(100) // 10).astype(np.uint8)
_ONES = (_ZERO + np.arange(100) % 10).astype(np.uint8)
# The one float32 whose shortest text, 7.038531e-26, becomes its neighbour where a reader goes by way of
# float64, as NumPy and most others do: it gets a digit more. All others were tried.
_ROUNDED_TWICE = np.uint32(0x15AE43FD)
_SCALES = 10.0 ** np.arange(MAX_DECIMALS + 1)


class Powers(NamedTuple):
    """For each exponent of a float32, and again for powers of two: k, a shift, and 64 bits of 10^-k."""

    exponents: NDArray[np.int64]
    shifts: NDArray[np.uint64]
    tens: NDArray[np.uint64]


@functools.cache
def powers() -> Powers:
    """The tables of `shortest`, in exact integers."""
    rows = [_power(max(biased, 1) - 150, nearer) for nearer in (False, True) for biased in range(256)]
    exponents, shifts, tens = zip(*rows, strict=True)
    return Powers(np.array(exponents, np.int64), np.array(shifts, np.uint64), np.array(tens, np.uint64))


def _power(q: int, nearer: bool) -> tuple[int, int, int]:
    """k, shift and g, such that 4c * 2^q * 10^-k is (4c << shift) * g / 2^64, which has 32 bits."""
    width = (3, q - 2) if nearer else (1, q)
    k = -60
    while _at_most(10, k + 1, *width):
        k += 1
    # 10^-k = g * 2^(bits - 63), with g of 64 bits, rounded up.
    bits = _floor_log2_of_ten_to(-k)
    scale = 63 - bits
    top = 10 ** max(-k, 0) * (1 << max(scale, 0))
    bottom = 10 ** max(k, 0) * (1 << max(-scale, 0))
    return k, q + bits + 1, top // bottom + 1


def _at_most(base: int, power: int, times: int, exponent: int) -> bool:
    """Is base^power <= times * 2^exponent ?"""
    left = base ** max(power, 0) << max(-exponent, 0)
    right = times * base ** max(-power, 0) << max(exponent, 0)
    return bool(left <= right)


def _floor_log2_of_ten_to(power: int) -> int:
    if power >= 0:
        return int((10**power).bit_length()) - 1
    return -int((10**-power - 1).bit_length())


@kernel(inline=True, allocates=False)
def _scaled(g: Any, product: Any) -> Any:
    """The integer part of g * product / 2^64, its last bit set too where something follows."""
    low = (g & _LOW) * product
    high = (g >> _32) * product + (low >> _32)
    sticky = _1 if (high & _LOW) > _1 else _0
    return (high >> _32) | sticky


@kernel(inline=True, allocates=False)
def _shortest(bits: Any, exponents: Any, shifts: Any, tens: Any) -> Any:
    """(digits, exponent) of the shortest decimal for the float32 with these bits: finite, positive, not 0."""
    fraction = np.uint64(bits) & np.uint64(0x7FFFFF)
    biased = (np.int64(bits) >> 23) & 0xFF
    c = fraction
    if biased > 0:
        c = fraction | np.uint64(0x800000)
    row = biased
    nearer = _0
    if fraction == _0 and biased > 1:
        row += 256
        nearer = _1
    k = exponents[row]
    shift = shifts[row]
    g = tens[row]
    middle = _scaled(g, (_4 * c) << shift)
    lower = _scaled(g, (_4 * c - _2 + nearer) << shift)
    upper = _scaled(g, (_4 * c + _2) << shift)
    if c & _1:  # the ends of R do not read back as v
        lower += _1
        upper -= _1
    below = middle // _4
    coarse = middle // _40
    coarse_below = lower <= _40 * coarse
    coarse_above = _40 * coarse + _40 <= upper
    if below >= _10 and coarse_below != coarse_above:
        return (coarse + _1 if coarse_above else coarse), k + 1
    fine_below = lower <= _4 * below
    fine_above = _4 * below + _4 <= upper
    if fine_below != fine_above:
        return (below + _1 if fine_above else below), k
    half = _4 * below + _2
    if middle > half or (middle == half and (below & _1)):
        below += _1
    return below, k


@kernel(inline=True, allocates=False)
def _size(number: Any) -> Any:
    """How many digits a uint64 has."""
    size = 1
    while number >= _10000:
        number //= _10000
        size += 4
    if number >= _1000:
        return size + 3
    if number >= _100:
        return size + 2
    return size + 1 if number >= _10 else size


@kernel(inline=True, allocates=False)
def _put_digits(out: Any, at: Any, end: Any, number: Any) -> Any:
    """Write the last `end - at` digits of a uint64, leading zeros too; what is left of it."""
    while end - at >= 2:
        quotient = number // _100
        pair = number - quotient * _100
        out[end - 1] = _ONES[pair]
        out[end - 2] = _TENS[pair]
        number = quotient
        end -= 2
    if end > at:
        quotient = number // _10
        out[at] = np.uint8(number - quotient * _10) + np.uint8(_ZERO)
        number = quotient
    return number


@kernel(inline=True, allocates=False)
def _put_integer(out: Any, at: Any, number: Any) -> Any:
    """Write a uint64 in decimal; the place after it."""
    if number < _10:
        out[at] = np.uint8(number) + np.uint8(_ZERO)
        return at + 1
    end = at + _size(number)
    _put_digits(out, at, end, number)
    return end


@kernel(inline=True, allocates=False)
def _put_decimal(out: Any, at: Any, digits: Any, exponent: Any, least: Any) -> Any:
    """Write digits * 10^exponent, plain from 10^least up to 1e16, else like 1.5e-7; the place after it."""
    while digits // _10 * _10 == digits:
        digits //= _10
        exponent += 1
    size = _size(digits)
    leading = size + exponent - 1  # the power of ten of the first digit
    if leading < least or leading >= 16:
        return _put_scientific(out, at, digits, size, leading)
    if exponent >= 0:
        at = _put_integer(out, at, digits)
        for _ in range(exponent):
            out[at] = _ZERO
            at += 1
        return at
    point = at + max(leading, 0) + 1
    end = point + 1 - exponent
    whole = _put_digits(out, point + 1, end, digits)
    out[point] = _POINT
    _put_digits(out, at, point, whole)
    return end


@kernel(allocates=False)
def _put_scientific(out: Any, at: Any, digits: Any, size: Any, leading: Any) -> Any:
    """Write like 1.5e-7: a digit, the point, the others, e, the exponent; the place after it."""
    end = _put_integer(out, at + 1, digits)
    out[at] = out[at + 1]
    if size > 1:
        out[at + 1] = _POINT
        at = end
    else:
        at += 1
    out[at] = _E
    at += 1
    if leading < 0:
        out[at] = _MINUS
        at += 1
        leading = -leading
    return _put_integer(out, at, np.uint64(leading))


@kernel(inline=True, allocates=False)
def _put_float32(out: Any, at: Any, value: Any, bits: Any, decimals: Any, tables: Any) -> Any:
    """Write one float32, also nan, inf and -inf; the place after it."""
    if value != value:
        out[at], out[at + 1], out[at + 2] = _N, _A, _N
        return at + 3
    first = at
    if bits >> np.uint32(31):
        out[at] = _MINUS
        at += 1
    size = abs(np.float64(value))
    if size == np.inf:
        out[at], out[at + 1], out[at + 2] = _I, _N, _F
        return at + 3
    if size < 16777216.0:
        whole = np.uint64(size)
        if np.float64(whole) == size:
            return _put_integer(out, at, whole)
        if decimals >= 0:
            scaled = np.uint64(np.rint(size * _SCALES[decimals]))
            if scaled == _0:
                out[first] = _ZERO
                return first + 1
            return _put_decimal(out, at, scaled, -decimals, -MAX_DECIMALS)
    plain = bits & np.uint32(0x7FFFFFFF)
    if plain == _ROUNDED_TWICE:
        return _put_decimal(out, at, np.uint64(70385307), -33, -4)
    digits, exponent = _shortest(plain, tables[0], tables[1], tables[2])
    return _put_decimal(out, at, digits, exponent, -4)


@kernel(inline=True, allocates=False)
def _is_zero(value: Any, decimals: Any) -> Any:
    """Whether a value is 0, or is written as 0 with so many decimals."""
    return value == 0.0 or (decimals >= 0 and np.rint(abs(np.float64(value)) * _SCALES[decimals]) == 0.0)


@kernel(inline=True, allocates=False)
def _copy(out: Any, at: Any, source: Any, first: Any, last: Any) -> Any:
    """Write source[first:last]; the place after it."""
    for i in range(first, last):
        out[at] = source[i]
        at += 1
    return at


@kernel(allocates=False)
def write_rows(
    values: NDArray[np.float32],
    columns: NDArray[np.uint32],
    row_offsets: NDArray[np.int64],
    heads: NDArray[np.uint8],
    head_ends: NDArray[np.int64],
    tails: NDArray[np.uint8],
    tail_ends: NDArray[np.int64],
    settings: NDArray[np.int64],
    tables: Powers,
    out: NDArray[np.uint8],
) -> int:
    """Write lines: a row's head, ` column:value` for each feature, its tail; the number of bytes written.

    settings: the number of the first column; how many decimals, or SHORTEST; 1 to leave out zeros. With no
    `columns`, each row's features are counted from the first. Heads, and tails, lie one after the other.
    """
    base, decimals, without_zeros = settings[0], settings[1], settings[2] != 0
    counted = columns.size == 0
    bits = values.view(np.uint32)
    at = head = tail = np.int64(0)
    for row in range(row_offsets.size - 1):
        at = _copy(out, at, heads, head, head_ends[row])
        head = head_ends[row]
        first = row_offsets[row]
        for i in range(first, row_offsets[row + 1]):
            if without_zeros and _is_zero(values[i], decimals):
                continue
            column = i - first if counted else np.int64(columns[i])
            out[at] = _SPACE
            at = _put_integer(out, at + 1, np.uint64(column + base))
            out[at] = _COLON
            at = _put_float32(out, at + 1, values[i], bits[i], decimals, tables)
        at = _copy(out, at, tails, tail, tail_ends[row])
        tail = tail_ends[row]
        out[at] = _NEWLINE
        at += 1
    return int(at)
