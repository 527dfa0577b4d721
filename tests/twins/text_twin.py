"""SVMlight text read the slow and obvious way: line by line, token by token, with Python's own numbers."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class Row(NamedTuple):
    label: float
    qid: str | None
    features: dict[int, np.float32]
    comment: str | None


def parse_line(line: bytes) -> Row | None:
    content, hash_sign, comment = line.partition(b"#")
    tokens = content.split()
    if not tokens:
        return None
    qid, features = None, {}
    for token in tokens[1:]:
        name, _, value = token.partition(b":")
        if name == b"qid":
            assert qid is None
            qid = value.decode()
        else:
            assert int(name) not in features
            features[int(name)] = np.float32(float(value))
    return Row(float(tokens[0]), qid, features, comment.strip().decode() if hash_sign else None)


def parse(text: bytes) -> list[Row]:
    return [row for line in text.split(b"\n") if (row := parse_line(line)) is not None]


def table(rows: list[Row], base: int | None = None, width: int | None = None) -> np.ndarray[Any, Any]:
    """The features as a dense table; the first column is that of index `base` (or 0 if it comes, else 1)."""
    indices = [index for row in rows for index in row.features]
    base = (0 if 0 in indices else 1) if base is None else base
    width = max(indices, default=base - 1) - base + 1 if width is None else width
    result = np.zeros((len(rows), width), dtype=np.float32)
    for i, row in enumerate(rows):
        for index, value in row.features.items():
            result[i, index - base] = value
    return result
