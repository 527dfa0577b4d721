"""Lines of blank-separated fields, as TREC has them: where each field lies, and the numbers in it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankloom.data.sources import Buffers, line_blocks, source_names
from rankloom.data.texts import Texts
from rankloom.errors import InputError, ParseError


class Content(NamedTuple):
    """The whole text of one file, uncompressed and with a last newline, and the file's name."""

    text: NDArray[np.uint8]
    name: str

    def first_fields(self) -> list[bytes]:
        """The fields of the first line that is not blank."""
        return self.text[:_FIRST_BYTES].tobytes().lstrip().split(b"\n", 1)[0].split()


class Fields(NamedTuple):
    """The wanted fields of all lines that are not blank, and the number of each such line, from 1."""

    texts: tuple[Texts, ...]
    lines: NDArray[np.int64]
    name: str


_FIRST_BYTES = 1 << 16


def read_content(source: Any) -> Content:
    """Read one file as a whole."""
    sources = source_names(source)
    if len(sources) != 1:
        raise InputError(f"one file is read at a time here, got {len(sources)}")
    blocks = list(line_blocks(source, Buffers()))
    if not blocks:
        return Content(np.empty(0, dtype=np.uint8), str(sources[0]))
    text = np.concatenate([block.text[block.start : block.stop] for block in blocks])
    return Content(text, blocks[0].name)


def split_lines(content: Content, layout: str, wanted: tuple[str, ...]) -> Fields:
    """Cut lines into the fields that `layout` names, and keep the wanted ones."""
    from rankloom.kernels.fields import split_fields

    text, name = content
    names = layout.split()
    places = np.array([wanted.index(field) if field in wanted else -1 for field in names], dtype=np.int64)
    n_lines = int(np.count_nonzero(text == ord("\n")))
    starts, ends = np.empty((2, len(wanted), n_lines), dtype=np.int64)
    lines, outcome = np.empty(n_lines, dtype=np.int64), np.zeros(2, dtype=np.int64)
    rows = split_fields(text, len(names), places, starts, ends, lines, outcome)
    if outcome[0]:
        count = "1 field" if len(names) == 1 else f"{len(names)} fields"
        raise ParseError(f"a line here has {count} ({layout}), got {outcome[1]}", name, int(outcome[0]))
    texts = tuple(Texts(text, starts[i, :rows], ends[i, :rows]) for i in range(len(wanted)))
    return Fields(texts, lines[:rows], name)


def read_numbers(
    texts: Texts, what: str, lines: NDArray[np.int64], name: str, *, infinite: bool = False
) -> NDArray[np.float64]:
    """Each text as a float64, correctly rounded; one that is no number is an error that names its line."""
    from rankloom.kernels import fields
    from rankloom.kernels.compile import as_kernel

    values, slow = np.empty(len(texts)), np.empty(len(texts), dtype=np.int64)
    starts, ends = as_kernel(texts.starts, np.int64), as_kernel(texts.ends, np.int64)
    n_slow = fields.read_numbers(as_kernel(texts.blob, np.uint8), starts, ends, values, slow)
    if n_slow:
        left = slow[:n_slow]
        raw = texts.blob.tobytes()
        pieces = zip(starts[left].tolist(), ends[left].tolist(), strict=True)
        values[left] = [_number(raw[start:end]) for start, end in pieces]
    bad = np.isnan(values) if infinite else ~np.isfinite(values)
    if bad.any():
        place = int(bad.argmax())
        raise ParseError(f"{what} must be a number, got {texts[place]!r:.60}", name, int(lines[place]))
    return values


def _number(raw: bytes) -> float:
    """As Python reads it, but for the underscores that it allows; nan where it is no number."""
    try:
        return float(raw) if b"_" not in raw else float("nan")
    except ValueError:
        return float("nan")
