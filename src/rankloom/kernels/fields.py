"""Lines of blank-separated fields, their numbers, and which texts are equal: what TREC's files are read with.

The text ends with a newline, and every loop over it stops at one: that is the whole bounds check.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankloom.kernels.compile import kernel

_NEWLINE, _SPACE = 10, 32
_OFFSET = np.uint64(0xCBF29CE484222325)
_PRIME = np.uint64(0x100000001B3)
_MINUS, _PLUS, _POINT = 45, 43, 46
_TENS = 10.0 ** np.arange(23)
_EXACT = np.uint64(1 << 53)


@kernel(inline=True, allocates=False)
def _is_blank(byte: Any) -> Any:
    return byte == _SPACE or (byte >= 9 and byte <= 13 and byte != _NEWLINE)


@kernel(allocates=False)
def split_fields(
    text: NDArray[np.uint8],
    n_fields: int,
    wanted: NDArray[np.int64],
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
    lines: NDArray[np.int64],
    outcome: NDArray[np.int64],
) -> int:
    """Where the wanted fields of each line lie: starts[w, row] and ends[w, row]; the number of rows.

    `wanted` says for each field which w it goes to, or -1. Blank lines are passed over; `lines` holds
    each row's number of line, from 1. A line with another number of fields ends the work: its number and
    theirs go to `outcome`.
    """
    at = row = np.int64(0)
    line = np.int64(1)
    while at < text.size:
        field = 0
        while True:
            while _is_blank(text[at]):
                at += 1
            if text[at] == _NEWLINE:
                break
            start = at
            while text[at] != _NEWLINE and not _is_blank(text[at]):
                at += 1
            if field < n_fields and wanted[field] >= 0:
                starts[wanted[field], row] = start
                ends[wanted[field], row] = at
            field += 1
        at += 1
        if field == n_fields:
            lines[row] = line
            row += 1
        elif field > 0:
            outcome[0] = line
            outcome[1] = field
            return int(row)
        line += 1
    return int(row)


@kernel(allocates=False)
def read_numbers(
    text: NDArray[np.uint8],
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
    values: NDArray[np.float64],
    slow: NDArray[np.int64],
) -> int:
    """Read [+-] digits [. digits] [e [+-] digits] from text[start:end]; the number of texts left for Python.

    m * 10^e with m <= 2^53 and |e| <= 22 is one correctly rounded operation on exact doubles (Clinger, 1990).
    Whatever else there is, longer numbers and no numbers, is left: its place goes to `slow`.
    """
    n_slow = 0
    for i in range(starts.size):
        at, end = starts[i], ends[i]
        is_negative = at < end and text[at] == _MINUS
        if at < end and (text[at] == _MINUS or text[at] == _PLUS):
            at += 1
        mantissa = np.uint64(0)
        digits = 0
        exponent = np.int64(0)
        point = False
        while at < end:
            digit = np.int64(text[at]) - 48
            if digit >= 0 and digit <= 9:
                mantissa = mantissa * np.uint64(10) + np.uint64(digit)
                digits += 1
                exponent -= 1 if point else 0
            elif text[at] == _POINT and not point:
                point = True
            else:
                break
            at += 1
        given, at = _exponent(text, at, end)
        exponent += given
        if at < end or digits == 0 or digits > 18 or mantissa > _EXACT or exponent < -22 or exponent > 22:
            slow[n_slow] = i
            n_slow += 1
            continue
        value = np.float64(np.int64(mantissa))
        value = value * _TENS[exponent] if exponent >= 0 else value / _TENS[-exponent]
        values[i] = -value if is_negative else value
    return n_slow


@kernel(inline=True, allocates=False)
def _exponent(text: Any, at: Any, end: Any) -> Any:
    """Read e [+-] digits: (the exponent, the place after it); the place stays where there is none."""
    if at + 1 >= end or (text[at] | 32) != 101:
        return 0, at
    place = at + 1
    is_negative = text[place] == _MINUS
    if text[place] == _MINUS or text[place] == _PLUS:
        place += 1
    if place >= end or end - place > 3:
        return 0, at
    exponent = np.int64(0)
    while place < end:
        digit = np.int64(text[place]) - 48
        if digit < 0 or digit > 9:
            return 0, at
        exponent = exponent * 10 + digit
        place += 1
    return (-exponent if is_negative else exponent), place


@kernel(inline=True, allocates=False)
def _hash(text: Any, start: Any, end: Any, group: Any) -> Any:
    """A hash of text[start:end] and its group (after Fowler, Noll & Vo)."""
    value = (_OFFSET ^ np.uint64(group)) * _PRIME
    for i in range(start, end):
        value = (value ^ np.uint64(text[i])) * _PRIME
    return value ^ (value >> np.uint64(29))


@kernel(inline=True, allocates=False)
def _is_same(text: Any, start: Any, end: Any, other: Any, other_end: Any) -> Any:
    if end - start != other_end - other:
        return False
    for i in range(end - start):
        if text[start + i] != text[other + i]:
            return False
    return True


@kernel(allocates=False)
def first_equal(
    text: NDArray[np.uint8],
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
    groups: NDArray[np.int64],
    table: NDArray[np.int64],
    first: NDArray[np.int64],
) -> None:
    """first[i]: the first place with the group and the text of place i, itself if there is none before.

    `table` has a power of two of slots, all -1, at least one more than there are texts.
    """
    mask = np.uint64(table.size - 1)
    for i in range(starts.size):
        slot = _hash(text, starts[i], ends[i], groups[i]) & mask
        while True:
            there = table[slot]
            if there < 0:
                table[slot] = i
                first[i] = i
                break
            if groups[there] == groups[i] and _is_same(text, starts[i], ends[i], starts[there], ends[there]):
                first[i] = there
                break
            slot = (slot + np.uint64(1)) & mask
