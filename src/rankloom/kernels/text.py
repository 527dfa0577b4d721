"""SVMlight / LETOR text to numbers, one block of whole lines at a time.

    line    = [label [qid:Q] {index:value}] [# comment]
    number  = [+-] digits [. digits] [e [+-] digits]

Where numbers end is found 64 bytes at a time, as a mask of the bytes that are no digits, so that no number
waits for the one before it. The shape that nearly all features have (up to 8 digits, a colon, up to 8 digits,
perhaps a dot and up to 8 digits, 15 in all) is read by three loads of 8 bytes; any other goes digit by digit.
What the grammar does not cover (nan, inf, underscores, garbage) is a slow token, left to Python to read or to
refuse.

A number m x 10^e with m < 2^53 and |e| <= 22 is one correctly rounded operation on two exact doubles (Clinger
1990, "How to read floating point numbers accurately"). Any other is computed with a relative error below
2^-50; where both ends of that interval round to one float32, so does the exact value, and where they do not,
the token is a slow one. So a float32 here is always what NumPy gives for the same text.

Positions are unsigned: an index that cannot be negative needs no test for wrapping around.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankloom.kernels.compile import kernel
from rankloom.kernels.memory import load_eight, no_digits, trailing_zeros

# Columns of the row table: where the row's values end, its query id, its comment and its first byte.
END, QID_KIND, QID, QID_START, QID_STOP, COMMENT_START, COMMENT_STOP, START = range(8)
ROW_FIELDS = 8

NO_QID, INTEGER_QID, TEXT_QID = range(3)

# Places in the outcome.
POSITION, ROWS, VALUES, SLOW, LINES, ERROR, ERROR_AT, LOWEST, HIGHEST = range(9)
OUTCOME_FIELDS = 9

# ERROR: nothing, a table is full (empty it or take a larger one, and go on), or what is wrong at ERROR_AT.
NOTHING, FULL, NO_COLON, BAD_INDEX, BIG_INDEX, NO_VALUE, TOO_LARGE, DUPLICATE, TWO_QIDS, EMPTY_QID = range(10)

MAX_INDEX = 2**31 - 1
PADDING = 64  # bytes that a block's owner keeps readable before its start and after its stop

_NEWLINE, _SPACE, _HASH, _PLUS, _MINUS, _DOT, _COLON = 10, 32, 35, 43, 45, 46, 58

_TENS = np.array([float(f"1e{e}") for e in range(-290, 291)])
_ONE = 290  # the place of 10^0
_FLOAT_TENS = np.array([10.0**e for e in range(16)])  # exact
_BELOW, _ABOVE = 1.0 - 2.0**-50, 1.0 + 2.0**-50
_KEPT_DIGITS = 19  # 10^19 < 2^64

_0, _1, _3, _4, _7, _8, _10, _16, _32, _64 = (np.uint64(n) for n in (0, 1, 3, 4, 7, 8, 10, 16, 32, 64))
_ZERO_BYTES = np.uint64(0x3030303030303030)
_PAIRS, _TO_FOURS, _TO_EIGHT, _WORD = (
    np.uint64(n) for n in (0x000000FF000000FF, 0x000F424000000064, 0x0000271000000001, 0xFFFFFFFF)
)


@kernel(inline=True, allocates=False)
def _few_digits(text: NDArray[np.uint8], first: Any, count: Any) -> Any:
    """The number that text[first : first + count] is, 1 <= count <= 8: by pairs, fours and eight."""
    digits = (load_eight(text, first) ^ _ZERO_BYTES) << (_64 - (count << _3))
    pairs = digits * _10 + (digits >> _8)
    return ((((pairs & _PAIRS) * _TO_FOURS) + (((pairs >> _16) & _PAIRS) * _TO_EIGHT)) >> _32) & _WORD


@kernel(inline=True, allocates=False)
def _next_other(text: NDArray[np.uint8], window: Any, mask: Any) -> Any:
    """The next byte that is no digit: (its position, window, mask of those after it)."""
    while mask == _0:
        window += _64
        mask = no_digits(text, window)
    return window + trailing_zeros(mask), window, mask & (mask - _1)


@kernel(allocates=False)
def _common_features(
    text: NDArray[np.uint8],
    first: Any,
    columns: NDArray[np.uint32],
    values: NDArray[np.float32],
    n_values: Any,
) -> Any:
    """Features of the common shape, one blank after each: (start of the first other token, n_values)."""
    window, mask = first, no_digits(text, first)
    while n_values < np.uint64(len(columns)):
        colon, window, mask = _next_other(text, window, mask)
        if text[colon] != _COLON or colon - first > _8 or colon == first:
            break
        start = colon + _1
        last, window, mask = _next_other(text, window, mask)
        negative = last == start and text[start] == _MINUS
        if negative:
            start += _1
            last, window, mask = _next_other(text, window, mask)
        if last - start > _8 or last == start:
            break
        value = np.float32(_few_digits(text, start, last - start))
        if text[last] == _DOT:
            point, whole = last + _1, _few_digits(text, start, last - start)
            last, window, mask = _next_other(text, window, mask)
            places = last - point
            if places > _8 or places == _0 or last - start > _16:
                break
            ten = _FLOAT_TENS[places]
            value = np.float32((np.float64(whole) * ten + np.float64(_few_digits(text, point, places))) / ten)
        if text[last] != _SPACE and text[last] != _NEWLINE:
            break
        columns[n_values] = np.uint32(_few_digits(text, first, colon - first))
        values[n_values] = -value if negative else value
        n_values += _1
        if text[last] == _NEWLINE:
            return last, n_values
        first = last + _1
    return first, n_values


@kernel(allocates=False)
def _many_digits(text: NDArray[np.uint8], at: Any, last: Any) -> Any:
    """The first 19 significant digits of a long mantissa: (digits, exponent that the rest leaves)."""
    mantissa, kept, exponent, fraction = _0, 0, 0, False
    while at < last and (text[at] == _DOT or np.uint8(text[at] - np.uint8(48)) <= 9):
        if text[at] == _DOT:
            fraction = True
        elif kept < _KEPT_DIGITS:
            mantissa = mantissa * _10 + np.uint64(text[at] - np.uint8(48))
            kept += 1 if mantissa > _0 else 0
            exponent -= 1 if fraction else 0
        else:
            exponent += 0 if fraction else 1
        at += _1
    return mantissa, exponent


@kernel(allocates=False)
def _scan_digits(text: NDArray[np.uint8], at: Any, last: Any, number: Any) -> Any:
    """Digits from `at`: (position after them, number x 10^count + digits, modulo 2^64)."""
    while at < last and np.uint8(text[at] - np.uint8(48)) <= 9:
        number = number * _10 + np.uint64(text[at] - np.uint8(48))
        at += _1
    return at, number


@kernel(allocates=False)
def _scan_exponent(text: NDArray[np.uint8], at: Any, last: Any) -> Any:
    """The exponent after an e: (whether it is one up to the token's end, exponent)."""
    negative = at < last and text[at] == _MINUS
    if at < last and (text[at] == _MINUS or text[at] == _PLUS):
        at += _1
    after, value = _scan_digits(text, at, last, _0)
    fine = after == last and after > at and after - at <= _4
    return fine, (-np.int64(value) if negative else np.int64(value))


@kernel(allocates=False)
def _scan_number(text: NDArray[np.uint8], first: Any, last: Any) -> Any:
    """The number that is the token: (whether it is one, mantissa, exponent, negative)."""
    at, negative, exponent = first, text[first] == _MINUS, np.int64(0)
    if text[at] == _MINUS or text[at] == _PLUS:
        at += _1
    start = at
    at, mantissa = _scan_digits(text, at, last, _0)
    digits = at - start
    if at < last and text[at] == _DOT:
        point = at + _1
        at, mantissa = _scan_digits(text, point, last, mantissa)
        exponent = -np.int64(at - point)
        digits += at - point
    if digits > np.uint64(_KEPT_DIGITS):
        mantissa, exponent = _many_digits(text, start, last)
    fine = at == last
    if at < last and (text[at] | 32) == 101:
        fine, shift = _scan_exponent(text, at + _1, last)
        exponent += shift
    return fine and digits > _0, mantissa, exponent, negative


@kernel(allocates=False)
def _read_double(text: NDArray[np.uint8], first: Any, last: Any) -> Any:
    """(value, how sure: 2 correctly rounded, 1 within 2^-50, 0 left to Python) of the token as a float64."""
    fine, mantissa, exponent, negative = _scan_number(text, first, last)
    value, sure = 0.0, 0
    if fine and (mantissa >> np.uint64(53)) == _0 and exponent >= -22 and exponent <= 22:
        size = np.float64(mantissa)
        value = size / _TENS[_ONE - exponent] if exponent < 0 else size * _TENS[_ONE + exponent]
        sure = 2
    elif fine and mantissa == _0:
        sure = 2
    elif fine and exponent >= -_ONE + 20 and exponent <= _ONE - 20:
        value, sure = np.float64(mantissa) * _TENS[_ONE + exponent], 1
    return (-value if negative else value), sure


@kernel(allocates=False)
def _read_float(text: NDArray[np.uint8], first: Any, last: Any) -> Any:
    """(value, whether it is sure) of the token as a float32."""
    double, sure = _read_double(text, first, last)
    if sure == 1 and np.float32(double * _BELOW) != np.float32(double * _ABOVE):
        sure = 0
    return np.float32(double), sure > 0


@kernel(allocates=False)
def _read_qid(text: NDArray[np.uint8], first: Any, last: Any, row: NDArray[np.int64]) -> None:
    """A query id into its row of the row table: as an integer of up to 18 digits, or as text."""
    start = first
    if text[first] == _MINUS or text[first] == _PLUS:
        start += _1
    after, value = _scan_digits(text, start, last, _0)
    integer = after == last and last > start and last - start <= np.uint64(18)
    row[QID_KIND] = INTEGER_QID if integer else TEXT_QID
    row[QID] = (-np.int64(value) if text[first] == _MINUS else np.int64(value)) if integer else 0
    row[QID_START], row[QID_STOP] = np.int64(first), np.int64(last)


@kernel(allocates=False)
def _odd_token(text: NDArray[np.uint8], first: Any, last: Any, row: NDArray[np.int64]) -> Any:
    """A token after the label that is no common feature: (error, place, index or -1 for a qid, value, sure).

    If `sure` is false, the value is left to Python, from that place on.
    """
    nothing, at = np.float32(0.0), first
    if last - first >= _4 and text[at] == 113 and text[at + _1] == 105 and text[at + _1 + _1] == 100:
        if text[at + _3] == _COLON:
            error = TWO_QIDS if row[QID_KIND] != NO_QID else EMPTY_QID if last - first == _4 else NOTHING
            if error == NOTHING:
                _read_qid(text, first + _4, last, row)
            return error, first, np.int64(-1), nothing, True
    if text[at] == _PLUS:
        at += _1
    start = at
    at, index = _scan_digits(text, at, last, _0)
    if at == start:
        return BAD_INDEX, first, np.int64(-1), nothing, True
    if at == last or text[at] != _COLON:
        return NO_COLON, first, np.int64(-1), nothing, True
    if at - start > np.uint64(18) or index > np.uint64(MAX_INDEX):
        return BIG_INDEX, first, np.int64(-1), nothing, True
    at += _1
    if at == last:
        return NO_VALUE, at, np.int64(-1), nothing, True
    value, sure = _read_float(text, at, last)
    return (TOO_LARGE if sure and np.isinf(value) else NOTHING), at, np.int64(index), value, sure


@kernel(allocates=False)
def _shell_sort(columns: NDArray[np.uint32], values: NDArray[np.float32], first: Any, last: Any) -> None:
    """Sort a row's features by index, in place."""
    gap = 1
    while gap < (last - first) // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(first + gap, last):
            column, value, k = columns[i], values[i], i
            while k >= first + gap and columns[k - gap] > column:
                columns[k], values[k] = columns[k - gap], values[k - gap]
                k -= gap
            columns[k], values[k] = column, value
        gap //= 3


@kernel(allocates=False)
def _find(columns: NDArray[np.uint32], first: Any, last: Any, column: Any) -> Any:
    """Where a column stands in a sorted row that has it."""
    while first < last - 1:
        middle = (first + last) // 2
        if columns[middle] <= column:
            first = middle
        else:
            last = middle
    return first


@kernel(allocates=False)
def _sort_row(
    columns: NDArray[np.uint32],
    values: NDArray[np.float32],
    slow: NDArray[np.int64],
    slow_range: Any,
    first: Any,
    last: Any,
) -> Any:
    """Sort one row's features by index, its slow tokens along; False where an index comes twice."""
    for i in range(slow_range[0], slow_range[1]):
        if slow[i, 2] >= 0:
            slow[i, 2] = np.int64(columns[slow[i, 2]])
    _shell_sort(columns, values, first, last)
    different = True
    for i in range(first + 1, last):
        different &= columns[i] != columns[i - 1]
    for i in range(slow_range[0], slow_range[1]):
        if slow[i, 2] >= 0:
            slow[i, 2] = _find(columns, first, last, slow[i, 2])
    return different


@kernel(inline=True, allocates=False)
def _is_blank(byte: Any) -> Any:
    """Space, tab, vertical tab, form feed or carriage return."""
    return byte == _SPACE or (byte >= 9 and byte <= 13 and byte != _NEWLINE)


@kernel(allocates=False)
def _token_end(text: NDArray[np.uint8], at: Any) -> Any:
    while not _is_blank(text[at]) and text[at] != _NEWLINE and text[at] != _HASH:
        at += _1
    return at


@kernel(allocates=False)
def _next_token(text: NDArray[np.uint8], at: Any) -> Any:
    while _is_blank(text[at]):
        at += _1
    return at


@kernel(allocates=False)
def _line_end(text: NDArray[np.uint8], at: Any) -> Any:
    while text[at] != _NEWLINE:
        at += _1
    return at


@kernel(allocates=False)
def _in_order(columns: NDArray[np.uint32], first: Any, last: Any) -> Any:
    rising = True
    for i in range(first + 1, last):
        rising &= columns[i - 1] < columns[i]
    return rising


@kernel(allocates=False)
def _parse_features(
    text: NDArray[np.uint8],
    at: Any,
    row: NDArray[np.int64],
    columns: NDArray[np.uint32],
    values: NDArray[np.float32],
    slow: NDArray[np.int64],
    n_values: Any,
    n_slow: Any,
) -> Any:
    """The rest of a line after its label: (where its newline or an error is, error, n_values, n_slow)."""
    while True:
        at = _next_token(text, at)
        at, n_unsigned = _common_features(text, at, columns, values, np.uint64(n_values))
        n_values = np.int64(n_unsigned)
        if text[at] == _NEWLINE:
            return at, NOTHING, n_values, n_slow
        if text[at] == _HASH:
            row[COMMENT_START] = np.int64(at) + 1
            return _line_end(text, at), NOTHING, n_values, n_slow
        if _is_blank(text[at]):
            continue
        if n_values == len(columns) or n_slow == len(slow):
            return at, FULL, n_values, n_slow
        last = _token_end(text, at)
        error, error_at, index, value, sure = _odd_token(text, at, last, row)
        if error != NOTHING:
            return error_at, error, n_values, n_slow
        if index >= 0:
            columns[n_values], values[n_values] = np.uint32(index), value
            if not sure:
                slow[n_slow, 0], slow[n_slow, 1], slow[n_slow, 2] = error_at, last, n_values
                n_slow += 1
            n_values += 1
        at = last


@kernel
def parse_lines(
    text: NDArray[np.uint8],
    start: int,
    stop: int,
    labels: NDArray[np.float64],
    rows: NDArray[np.int64],
    columns: NDArray[np.uint32],
    values: NDArray[np.float32],
    slow: NDArray[np.int64],
    outcome: NDArray[np.int64],
) -> None:
    """Parse the whole lines of text[start:stop], until a table is full or something is wrong.

    text[stop - 1] is a newline, and PADDING bytes on either side are the caller's. `slow` takes (start, stop,
    place) of the tokens left to Python: place is that of the value, or -1 - row for a label.
    """
    n_rows, n_values, n_slow, n_lines, error = 0, 0, 0, 0, NOTHING
    lowest, highest = np.int64(MAX_INDEX), np.int64(-1)
    line, at, end = np.uint64(start), np.uint64(start), np.uint64(stop)
    while line < end:
        at = _next_token(text, line)
        if text[at] == _NEWLINE or text[at] == _HASH:
            line = _line_end(text, at) + _1
            n_lines += 1
            continue
        if n_rows == len(labels) or n_slow == len(slow):
            error = FULL
            break
        row_values, row_slow, row = n_values, n_slow, rows[n_rows]
        row[QID_KIND], row[COMMENT_START], row[START] = NO_QID, -1, np.int64(line)
        last = _token_end(text, at)
        labels[n_rows], sure = _read_double(text, at, last)
        if sure < 2:
            slow[n_slow, 0], slow[n_slow, 1], slow[n_slow, 2] = at, last, -1 - n_rows
            n_slow += 1
        at, error, n_values, n_slow = _parse_features(
            text, last, row, columns, values, slow, n_values, n_slow
        )
        if error == NOTHING and not _in_order(columns, row_values, n_values):
            if not _sort_row(columns, values, slow, (row_slow, n_slow), row_values, n_values):
                error = DUPLICATE
        if error != NOTHING:
            n_values, n_slow = (row_values, row_slow) if error == FULL else (n_values, n_slow)
            break
        if n_values > row_values:
            lowest = min(lowest, np.int64(columns[row_values]))
            highest = max(highest, np.int64(columns[n_values - 1]))
        row[END], row[COMMENT_STOP] = n_values, np.int64(at)
        line = at + _1
        n_rows += 1
        n_lines += 1
    outcome[POSITION], outcome[ROWS], outcome[LINES] = np.int64(line), n_rows, n_lines
    outcome[VALUES], outcome[SLOW] = n_values, n_slow
    outcome[ERROR], outcome[ERROR_AT] = error, np.int64(at)
    outcome[LOWEST], outcome[HIGHEST] = lowest, highest


@kernel
def place_dense(
    columns: NDArray[np.uint32],
    values: NDArray[np.float32],
    ends: NDArray[np.int64],
    base: int,
    table: NDArray[np.float32],
) -> None:
    """Write rows of (column, value) into the rows of a dense table; what is not written is 0."""
    first, width = 0, table.shape[1]
    for i in range(len(ends)):
        last = ends[i]
        if last - first < width:
            table[i, :] = np.float32(0.0)
        for k in range(first, last):
            table[i, np.int64(columns[k]) - base] = values[k]
        first = last


@kernel
def gather_bytes(
    text: NDArray[np.uint8], spans: NDArray[np.int64], blob: NDArray[np.uint8], ends: NDArray[np.int64]
) -> None:
    """Copy text[start:stop] of each span to the blob, without blanks around it; (-1, any) is nothing."""
    at = 0
    for i in range(len(spans)):
        first, last = spans[i, 0], spans[i, 1]
        if first >= 0:
            while first < last and _is_blank(text[first]):
                first += 1
            while first < last and _is_blank(text[last - 1]):
                last -= 1
            blob[at : at + last - first] = text[first:last]
            at += last - first
        ends[i] = at


@kernel(allocates=False)
def _after_docid(blob: NDArray[np.uint8], at: int, end: int) -> Any:
    """Where the id starts if `docid = ` (any case, = or :) stands at `at`; else -1."""
    if end - at < 7:
        return -1
    name = (100, 111, 99, 105, 100)
    for i in range(5):
        if blob[at + i] | 32 != name[i]:
            return -1
    at += 5
    while at < end and _is_blank(blob[at]):
        at += 1
    if at == end or (blob[at] != 61 and blob[at] != _COLON):
        return -1
    at += 1
    while at < end and _is_blank(blob[at]):
        at += 1
    return at


@kernel(allocates=False)
def find_doc_ids(
    blob: NDArray[np.uint8], edges: NDArray[np.int64], starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> None:
    """The doc id in each comment, blob[edges[i]:edges[i + 1]]: the word after `docid =`, else the first."""
    for i in range(len(starts)):
        first, end = edges[i], edges[i + 1]
        for at in range(first, end):
            if at == first or _is_blank(blob[at - 1]):
                found = _after_docid(blob, at, end)
                if found >= 0:
                    first = found
                    break
        starts[i] = first
        while first < end and not _is_blank(blob[first]):
            first += 1
        ends[i] = first
