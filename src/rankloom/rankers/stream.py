"""Learning from a stream: pairs are drawn within a buffer that goes through the rows once.

The paper finds pairs without an index by drawing two rows until they make a pair (Section 3.1). Here each
filling of the buffer gets a pair index of its own, in linear time: the same distribution, uniform over the
pairs of the buffer, at a cost that does not depend on how rare pairs are.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from rankloom.data.ranking_data import RankingData
from rankloom.errors import InputError, RankloomWarning
from rankloom.rankers.validation import labelled
from rankloom.rankers.windows import cut, windows

BUFFER = 10_000
FOREVER = 1 << 62  # the last step of a stream whose end is not known
_MANY = 0.1


class Window(NamedTuple):
    """Rows in the buffer, and the number of the last step to take on them."""

    data: RankingData
    to: int


def windows_of_data(data: RankingData, rows: int, done: int, steps: int) -> Iterator[Window]:
    """Data in memory as a stream; each window gets its share of the steps."""
    seen = 0
    for window in cut(data, rows):
        seen += window.n_rows
        yield Window(window, done + round(steps * seen / data.n_rows))


def windows_of_pieces(
    pieces: Iterable[RankingData], rows: int, done: int, steps_per_row: float
) -> Iterator[Window]:
    """A stream of unknown length; steps go with the rows."""
    seen = 0
    for window in windows(pieces, rows):
        seen += window.n_rows
        yield Window(window, done + int(steps_per_row * seen))


def pieces_of(name: str, source: Any, rows: int, options: dict[str, Any]) -> Iterator[RankingData]:
    """Text (a path, "-", an open file, a list of those), or batches: RankingData, or (X, y, qid, ...)."""
    if is_text(source):
        from rankloom.data.text_stream import read_pieces

        yield from read_pieces(source, rows, **options)
        return
    unknown = [option for option, value in options.items() if value is not None]
    if unknown:
        raise InputError(f"{unknown[0]} is for text, and the stream is of batches; leave it out")
    if not isinstance(source, Iterable):
        raise InputError(f"a stream must be a path, '-', an open file or batches of rows, got {source!r:.80}")
    for batch in source:
        yield _batch(name, batch)


def is_text(source: Any) -> bool:
    """Whether a source is text to read: a path, an open file, or a list of them."""
    if isinstance(source, (list, tuple)):
        return bool(source) and all(is_text(one) for one in source)
    return isinstance(source, (str, os.PathLike)) or hasattr(source, "read")


def _batch(name: str, batch: Any) -> RankingData:
    if isinstance(batch, RankingData):
        return labelled(name, batch, None, None, None)
    if not isinstance(batch, (tuple, list)) or not 2 <= len(batch) <= 4:
        raise InputError(
            "a batch of a stream must be a RankingData or a tuple (X, y), (X, y, qid) or (X, y, qid, "
            f"sample_weight), got {type(batch).__name__}"
        )
    given = (*batch, None, None)
    return labelled(name, given[0], given[1], given[2], given[3])


def refuse_no_pairs_seen(n_windows: int, empty: int, rows: int) -> None:
    """Refuse a stream without any pair; warn if the buffer often held none."""
    if n_windows == empty:
        raise InputError(
            f"nothing to learn a ranking from: in {rows:,} rows, no two were in the buffer together that are "
            "of one query and differ in label; shuffle the rows, or take a larger buffer"
        )
    if empty > _MANY * n_windows:
        warnings.warn(
            f"{empty:,} of {n_windows:,} times there was no pair in the buffer; shuffle the rows of the "
            "stream, or take a larger buffer",
            RankloomWarning,
            stacklevel=5,
        )


def with_row_weights(data: RankingData, weights: Any) -> RankingData:
    """The same rows with these weights, and no others."""
    qids = np.repeat(np.arange(data.n_queries), data.lengths)
    return RankingData.from_features(
        data.features, data.y, qids, weights=weights, feature_names=data.feature_names, trusted=True
    )
