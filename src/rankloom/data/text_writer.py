"""SVMlight / LETOR text, written:

    line = label [qid:Q] {index:value} [#comment]

Rows come out as RankingData holds them: the rows of a query together, queries in order of first appearance.
Each number is the shortest text that reads back as the same number: labels as float64, features as float32.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankloom.data.features import Features, row_steps
from rankloom.data.ranking_data import RankingData
from rankloom.data.targets import Target, open_target
from rankloom.errors import InputError, RankloomWarning

_ENTRIES_PER_BLOCK = 1 << 18
_MAX_DECIMALS = 9
_BLANK = re.compile(r"[\x00- ]")
_DOC_ID = re.compile(r"(?:^|\s)docid\s*[=:]\s*(\S*)|^(\S*)", re.IGNORECASE | re.ASCII)


class _Style(NamedTuple):
    """How features are written."""

    index_base: int
    zeros: bool | None
    decimals: int | None


def write_text(
    data: RankingData,
    target: Target,
    *,
    index_base: int = 1,
    zeros: bool | None = None,
    decimals: int | None = None,
    threads: int | None = None,
) -> None:
    """Write data as SVMlight / LETOR text.

    Args:
        data: what to write. The qid is left out where there is one query, numbered 0: no qid was given.
        target: a path, compressed if it ends in .gz, .bz2, .xz or .zst; an open binary file; or "-".
        index_base: the number of the first feature, 1 (as almost everywhere) or 0.
        zeros: None writes every feature of dense data and the stored ones of sparse data; True writes every
            feature; False leaves out those that are 0.
        decimals: None writes the shortest text that reads back as the same float32; 0 to 9 rounds to so many
            decimals.
        threads: how many threads format at once; the bytes are the same for any number.

    Text holds labels, qids, features, doc ids and comments. Anything else is left out with a RankloomWarning.
    """
    style = _Style(_checked_base(index_base), zeros, _checked_decimals(decimals))
    _check_qids(data)
    _warn_of_losses(data)
    with open_target(target) as file:
        for block in _formatted(data, style, threads):
            file.write(block)


def _checked_base(index_base: int) -> int:
    if index_base not in (0, 1):
        raise InputError(f"index_base must be 0 or 1, got {index_base!r}")
    return int(index_base)


def _checked_decimals(decimals: int | None) -> int | None:
    if decimals is not None and (isinstance(decimals, bool) or decimals not in range(_MAX_DECIMALS + 1)):
        raise InputError(
            f"decimals must be a whole number from 0 to {_MAX_DECIMALS}, or None for all that are needed, "
            f"got {decimals!r}"
        )
    return decimals


def _check_qids(data: RankingData) -> None:
    """Text ends a qid at a blank, and the line's numbers at a #."""
    if data.qids.dtype.kind != "O":
        return
    for query, qid in enumerate(data.qids.tolist()):
        if not qid or "#" in qid or _BLANK.search(qid):
            raise InputError(
                f"text cannot hold the qid {qid!r} (query {query}): a qid there has a character or more, "
                "no blank and no #; rename it, or write a store or Parquet"
            )


def _warn_of_losses(data: RankingData) -> None:
    if data.y is None:
        _warn("text needs labels and the data has none: 0 was written as the label of every row")
    names = ("weights", "query_weights", "feature_names")
    lost = [name for name in names if getattr(data, name) is not None]
    if lost:
        _warn(f"text cannot hold {' and '.join(lost)}: written without; a store or Parquet keeps them")


def _warn(message: str) -> None:
    warnings.warn(message, RankloomWarning, stacklevel=4)


def _formatted(data: RankingData, style: _Style, threads: int | None) -> Iterator[memoryview]:
    """The text, in blocks of whole lines; a few of them in memory at a time."""
    from rankloom.kernels.threads import ordered_map

    return ordered_map(lambda rows: _block_text(data, style, *rows), _blocks(data, style), threads)


def _blocks(data: RankingData, style: _Style) -> list[tuple[int, int]]:
    """Runs of rows with about as many features each as one block takes."""
    if data.row_offsets is not None and not style.zeros:
        return row_steps(data.row_offsets + np.arange(data.n_rows + 1), _ENTRIES_PER_BLOCK)
    size = max(1, _ENTRIES_PER_BLOCK // max(1, data.n_features))
    return [(first, min(first + size, data.n_rows)) for first in range(0, data.n_rows, size)]


def _block_text(data: RankingData, style: _Style, first: int, last: int) -> memoryview:
    from rankloom.kernels.compile import as_kernel
    from rankloom.kernels.format import FEATURE_BYTES, SHORTEST, powers, write_rows

    features = _dense(data.features.rows(first, last)) if style.zeros else data.features.rows(first, last)
    heads, head_ends = _joined(_heads(data, first, last))
    tails, tail_ends = _joined(_tails(data, first, last))
    decimals = SHORTEST if style.decimals is None else style.decimals
    out = np.empty(len(heads) + len(tails) + features.values.size * FEATURE_BYTES + last - first, np.uint8)
    size = write_rows(
        as_kernel(features.values.reshape(-1), np.float32),
        as_kernel(() if features.columns is None else features.columns, np.uint32),
        as_kernel(_row_offsets(features), np.int64),
        heads,
        head_ends,
        tails,
        tail_ends,
        np.array([style.index_base, decimals, style.zeros is False], np.int64),
        powers(),
        out,
    )
    return out[:size].data


def _row_offsets(features: Features) -> NDArray[np.int64]:
    if features.row_offsets is not None:
        return features.row_offsets
    return np.arange(features.n_rows + 1, dtype=np.int64) * features.n_features


def _dense(features: Features) -> Features:
    """Sparse rows with every feature in its place."""
    if features.columns is None or features.row_offsets is None:
        return features
    values = np.zeros((features.n_rows, features.n_features), dtype=np.float32)
    values[np.repeat(np.arange(features.n_rows), np.diff(features.row_offsets)), features.columns] = (
        features.values
    )
    return Features(values, None, None, features.n_features)


def _joined(texts: list[bytes]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The texts one after the other, and where each ends."""
    blob = np.frombuffer(bytearray(b"".join(texts)), dtype=np.uint8)
    return blob, np.cumsum([len(text) for text in texts], dtype=np.int64)


def _heads(data: RankingData, first: int, last: int) -> list[bytes]:
    """Label and qid of each row."""
    labels = _labels(data, first, last)
    if _is_without_qid(data):
        return labels
    query = int(np.searchsorted(data.offsets, first, side="right")) - 1
    end = int(np.searchsorted(data.offsets, last, side="left"))
    qids = [f" qid:{qid}".encode(errors="surrogateescape") for qid in data.qids[query:end].tolist()]
    edges = np.clip(data.offsets[query : end + 1], first, last)
    of_row = np.repeat(np.arange(end - query), np.diff(edges))
    return [label + qids[number] for label, number in zip(labels, of_row.tolist(), strict=True)]


def _is_without_qid(data: RankingData) -> bool:
    """Reading a text without qids gives one query, numbered 0; so that is how such data is written."""
    return data.n_queries == 1 and data.qids[0] == 0


def _labels(data: RankingData, first: int, last: int) -> list[bytes]:
    if data.y is None:
        return [b"0"] * (last - first)
    distinct, numbers = np.unique(data.y[first:last], return_inverse=True)
    texts = [_label(value) for value in distinct.tolist()]
    return [texts[number] for number in numbers.tolist()]


def _label(value: float) -> bytes:
    """The shortest text that reads back as the same float64; whole numbers without a point."""
    whole = value.is_integer() and abs(value) < 1e16
    return str(int(value) if whole else value).encode()


def _tails(data: RankingData, first: int, last: int) -> list[bytes]:
    """The comment of each row: as it was read, with the doc id where it is not in there yet."""
    if data.comments is None and data.doc_ids is None:
        return [b""] * (last - first)
    nothing = [""] * (last - first)
    if data.comments is None:
        return _doc_id_tails([str(name) for name in data.doc_ids[first:last]])
    comments = data.comments[first:last]
    doc_ids = nothing if data.doc_ids is None or _are_in_comments(data) else data.doc_ids[first:last]
    return [_tail(str(note), str(name)) for note, name in zip(comments, doc_ids, strict=True)]


def _doc_id_tails(names: list[str]) -> list[bytes]:
    """Doc ids alone, all checked at once."""
    if _BLANK.search("".join(names)):
        return [_tail("", name) for name in names]
    return [b" #docid = " + name.encode(errors="surrogateescape") if name else b"" for name in names]


def _are_in_comments(data: RankingData) -> bool:
    """Whether doc ids are pieces of the comments, as when both came from a text."""
    blob = getattr(data.comments, "blob", None)
    return blob is not None and blob is getattr(data.doc_ids, "blob", None)


def _tail(comment: str, doc_id: str) -> bytes:
    if doc_id and _doc_id_in(comment) != doc_id:
        if _BLANK.search(doc_id):
            raise InputError(
                f"text cannot hold the doc id {doc_id!r}: a doc id there has no blanks; rename it"
            )
        comment = f"docid = {doc_id} {comment}".rstrip(" ")
    if "\n" in comment or comment.endswith("\r"):
        raise InputError(
            f"text cannot hold the comment {comment!r:.80}: it would break its line; take the line end out"
        )
    return b" #" + comment.encode(errors="surrogateescape") if comment else b""


def _doc_id_in(comment: str) -> str:
    """The id that a reader finds: the word after `docid =`, else the first."""
    found = list(_DOC_ID.finditer(comment))
    named = [match[1] for match in found if match[1] is not None]
    return named[0] if named else found[0][2]
