"""What can be wrong in SVMlight / LETOR text, in words that say what to do."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankloom.data.sources import Block
from rankloom.errors import ParseError

_NEWLINE = 10
_LARGEST = float(np.finfo(np.float32).max)
_TOKEN = re.compile(rb"[^\s#]+")

# Kinds of faults beyond those that the kernel finds (numbered from 0 in kernels/text.py).
BAD_LABEL, BAD_VALUE, NOT_FINITE, LABEL_NOT_FINITE, MIXED_QIDS, LOW_INDEX, HIGH_INDEX = range(100, 107)


class Fault(NamedTuple):
    """What is wrong, and at which byte of the block. `feature` is the index to blame, where one is."""

    kind: int
    at: int
    feature: int = -1


def check_token(
    token: bytes, at: int, is_label: bool, allow_missing: bool, allow_infinite: bool
) -> tuple[float, Fault | None]:
    """Read a number as NumPy does: (value, what is wrong with it)."""
    from rankloom.kernels.text import TOO_LARGE

    try:
        value = float(token)
    except ValueError:
        return 0.0, Fault(BAD_LABEL if is_label else BAD_VALUE, at)
    if np.isnan(value) and not allow_missing:
        return value, Fault(LABEL_NOT_FINITE if is_label else NOT_FINITE, at)
    spelt_out = b"inf" in token.lower()
    if spelt_out and not allow_infinite:
        return value, Fault(LABEL_NOT_FINITE if is_label else NOT_FINITE, at)
    if not spelt_out and (np.isinf(value) if is_label else not _fits_float32(value)):
        return value, Fault(TOO_LARGE, at)
    return value, None


def _fits_float32(value: float) -> bool:
    with np.errstate(over="ignore"):
        return not np.isinf(np.float32(value))


def raise_fault(fault: Fault, block: Block, lines_before: int, n_features: int | None = None) -> None:
    """Raise a ParseError with the file, the line, the column and the reason."""
    from rankloom.kernels.text import DUPLICATE

    text, at = block.text, fault.at
    line_start = _line_start(text, block.start, at)
    line = lines_before + 1 + int(np.count_nonzero(text[block.start : line_start] == _NEWLINE))
    if fault.kind in (DUPLICATE, LOW_INDEX, HIGH_INDEX):
        at, fault = _blame_feature(fault, text, line_start)
    token = _token_at(text, at)
    raise ParseError(_reason(fault, token, n_features), block.name, line, at - line_start + 1)


def _line_start(text: NDArray[np.uint8], start: int, at: int) -> int:
    while at > start and text[at - 1] != _NEWLINE:
        at -= 1
    return at


def _line(text: NDArray[np.uint8], start: int) -> bytes:
    stop = start
    while text[stop] != _NEWLINE:
        stop += 1
    return text[start:stop].tobytes()


def _token_at(text: NDArray[np.uint8], at: int) -> str:
    found = _TOKEN.match(_line(text, at))
    token = found.group().decode("utf-8", "backslashreplace") if found else ""
    return repr(token if len(token) <= 40 else token[:37] + "...")


def _blame_feature(fault: Fault, text: NDArray[np.uint8], line_start: int) -> tuple[int, Fault]:
    """The place of the feature to blame in a line: the second of its index, or the first out of range."""
    from rankloom.kernels.text import DUPLICATE

    seen: set[int] = set()
    for found in list(_TOKEN.finditer(_line(text, line_start).split(b"#")[0]))[1:]:
        number = found.group().split(b":")[0]
        if not number.lstrip(b"+").isdigit():
            continue
        index = int(number)
        blamed = index in seen if fault.kind == DUPLICATE else index == fault.feature
        if blamed:
            return line_start + found.start(), fault._replace(feature=index)
        seen.add(index)
    return line_start, fault


def _reason(fault: Fault, token: str, n_features: int | None) -> str:
    from rankloom.kernels import text as kernels

    if fault.kind == BAD_LABEL:
        return _label_reason(token)
    if fault.kind == kernels.BAD_INDEX:
        return _index_reason(token)
    reasons = {
        kernels.NO_COLON: f"expected index:value, got {token}",
        kernels.BIG_INDEX: f"a feature's index must be at most 2147483647, got {token}",
        kernels.NO_VALUE: "a feature's value is missing after the colon; write index:value, without blanks",
        kernels.TOO_LARGE: f"{token} is too large: features are float32, to {_LARGEST:.7g}, labels float64",
        kernels.DUPLICATE: f"feature {fault.feature} comes twice in this line; keep one of them",
        kernels.TWO_QIDS: "a second qid in one line; keep one",
        kernels.EMPTY_QID: "the query id after qid: is missing; write qid:1 or leave all qids out",
        BAD_VALUE: f"a feature's value must be a number, got {token}",
        NOT_FINITE: f"a feature's value must be finite, got {token}; "
        "allow_missing=True accepts nan, allow_infinite=True accepts inf",
        LABEL_NOT_FINITE: f"a label must be a finite number, got {token}",
        MIXED_QIDS: "some lines have a qid and some have none, this one being the first to differ; "
        "give all lines a qid, or none",
        LOW_INDEX: "the index 0 is below index_base=1; use index_base=0 (or 'auto')",
        HIGH_INDEX: f"the index {fault.feature} is beyond n_features={n_features}; "
        "raise n_features, or leave it out to have as many as there are",
    }
    return reasons[fault.kind]


def _label_reason(token: str) -> str:
    inner = token[1:-1]
    if inner.startswith("qid:"):
        return "the label is missing: the line starts with its qid; write label qid:Q index:value ..."
    if "," in inner:
        return f"one label a line is read, got the list {token}; write one file for each label"
    if ":" in inner:
        return f"the label is missing: the line starts with {token}; write label index:value ..."
    if "\\x00" in inner or inner.startswith("\\\\xff\\\\xfe"):
        return "this is not ASCII or UTF-8 (binary files and UTF-16 look like this); convert it first"
    return f"a label must be a number, got {token}"


def _index_reason(token: str) -> str:
    inner = token[1:-1]
    if ":" not in inner:
        return f"expected index:value, got {token}"
    return f"a feature's index must be a whole number from 0, got {token}"
