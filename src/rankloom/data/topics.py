"""Rows with any number of topics, from multi-label SVMlight text: a list of topics where the label would be.

    6,26 12:0.5 17:0.1          a row of the topics 6 and 26
     12:0.3                     a row of none

The features are read as by `read_text`, with its errors; the topics are taken from each line before.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankloom.data.ranking_data import RankingData
from rankloom.data.sources import opened, source_names
from rankloom.data.text import read_text_and_base
from rankloom.errors import InputError, ParseError

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_MOST_TOPICS = 10**9


class Topics(NamedTuple):
    """Rows and their topics.

    `data` are the rows without labels; `X` is their CSR matrix. Row i has the topics
    `members[row_starts[i] : row_starts[i + 1]]`, which are places in `names`.
    """

    data: RankingData
    names: tuple[str, ...]
    numbers: tuple[int, ...]
    """What the text calls each topic."""
    members: NDArray[np.int64]
    row_starts: NDArray[np.int64]
    index_base: int
    """The index of the first column in the text, for other text to be read alike."""

    @property
    def X(self) -> Any:  # noqa: N802
        """The features: a SciPy csr_array."""
        return self.data.X

    @property
    def Y(self) -> Any:  # noqa: N802
        """1 where a row (down) has a topic (across): a SciPy csr_array."""
        from scipy.sparse import csr_array

        shape = (self.data.n_rows, len(self.names))
        return csr_array((np.ones(len(self.members), dtype=np.uint8), self.members, self.row_starts), shape)

    @property
    def counts(self) -> NDArray[np.int64]:
        """How many rows have each topic."""
        return np.bincount(self.members, minlength=len(self.names))

    def labels(self, topic: str | int) -> NDArray[np.float64]:
        """1 for each row that has the topic, 0 for the others. A topic goes by its name, or its place."""
        y = np.zeros(self.data.n_rows)
        rows = np.repeat(np.arange(self.data.n_rows), np.diff(self.row_starts))
        y[rows[self.members == self.place(topic)]] = 1.0
        return y

    def topic(self, topic: str | int) -> RankingData:
        """The same rows, not copied, labelled 1 where they have the topic and 0 elsewhere."""
        return RankingData.from_features(self.data.features, self.labels(topic), trusted=True)

    def place(self, topic: str | int) -> int:
        """Which topic that is."""
        if isinstance(topic, str) and topic in self.names:
            return self.names.index(topic)
        if isinstance(topic, int) and not isinstance(topic, bool) and 0 <= topic < len(self.names):
            return topic
        shown = ", ".join(self.names[:20]) + (", ..." if len(self.names) > 20 else "")
        raise InputError(f"there is no topic {topic!r:.40}; topics are {shown}")

    def __repr__(self) -> str:
        sizes = self.data.n_rows, len(self.names), self.data.n_features
        return "Topics({:,} rows, {:,} topics, {:,} features)".format(*sizes)


def read_topics(
    sources: Any, n_features: int | None = None, names: Any = None, *, index_base: int | str = "auto"
) -> Topics:
    """Read multi-label SVMlight text, plain or compressed.

    Args:
        sources: as for `read_text`.
        n_features: how many columns the result has; None is as many as the largest index asks for.
        names: what the topics are called: a file with a line each, the number and the name (or the name
            alone, numbered from 0), a sequence of names, or a mapping from number to name. A topic without a
            name is called by its number.
        index_base: as for `read_text`.
    """
    called = names_of_topics(names)
    taken = _Taken([], [0])
    with ExitStack() as stack:
        plain = [stack.enter_context(opened(one)) for one in source_names(sources)]
        files = [_WithoutTopics(file, name, taken) for file, name, _ in plain]
        data, base = read_text_and_base(files, n_features=n_features, index_base=index_base, layout="sparse")
    if data.n_queries > 1:
        raise InputError(f"rows with topics are of no query, and {plain[0][1]} has a qid; leave qid out")
    found = np.array(taken.topics, dtype=np.int64)
    numbers = sorted({*np.unique(found).tolist(), *called})
    return Topics(
        RankingData.from_features(data.features, trusted=True),
        tuple(called.get(number, str(number)) for number in numbers),
        tuple(numbers),
        np.searchsorted(np.array(numbers, dtype=np.int64), found),
        np.array(taken.starts, dtype=np.int64),
        base,
    )


def names_of_topics(names: Any) -> dict[int, str]:
    """Names by number, from a file, a sequence or a mapping."""
    if names is None:
        return {}
    if isinstance(names, (str, os.PathLike)):
        found = dict(_named_lines(Path(names)))
    elif isinstance(names, Mapping):
        found = {int(number): str(name) for number, name in names.items()}
    elif isinstance(names, Sequence):
        found = {number: str(name) for number, name in enumerate(names)}
    else:
        raise InputError(f"names must be a file, a sequence or a mapping, got {type(names).__name__}")
    twice = sorted(name for name in set(found.values()) if list(found.values()).count(name) > 1)
    if twice:
        raise InputError(f"two topics are called {twice[0]}; names must be all different")
    return found


def _named_lines(path: Path) -> Iterator[tuple[int, str]]:
    try:
        lines = path.read_text().splitlines()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise ParseError("names of topics must be UTF-8 text", str(path)) from error
    for number, line in enumerate(filter(str.strip, lines)):
        fields = line.split()
        if len(fields) > 1 and fields[0].isascii() and fields[0].isdigit():
            yield int(fields[0]), fields[1]
        else:
            yield number, fields[0]


class _Taken(NamedTuple):
    """The topics of all rows so far, one after the other, and where each row's begin."""

    topics: list[int]
    starts: list[int]


class _WithoutTopics(io.RawIOBase):
    """The lines of a file with 0 in place of their topics, which are noted. Columns stay where they are."""

    def __init__(self, file: Any, name: str, taken: _Taken) -> None:
        self._file, self.name, self._taken = io.BufferedReader(file), name, taken
        self._line, self._left = 0, memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._left:
            lines = self._file.readlines(len(buffer))
            self._left = memoryview(b"".join([self._without(line) for line in lines]))
        count = min(len(buffer), len(self._left))
        buffer[:count] = self._left[:count]
        self._left = self._left[count:]
        return count

    def _without(self, line: bytes) -> bytes:
        self._line += 1
        if self._line == 1 and line.startswith(_BYTE_ORDER_MARK):
            line = line[len(_BYTE_ORDER_MARK) :]
        fields = line.split(None, 1)
        if not fields or fields[0].startswith(b"#"):
            return line
        first = fields[0].partition(b"#")[0]
        if b":" in first:
            self._taken.starts.append(len(self._taken.topics))
            return b"0 " + line
        column = line.index(first)
        self._taken.topics.extend(self._numbers(first, column + 1))
        self._taken.starts.append(len(self._taken.topics))
        return line[:column] + b"0".ljust(len(first)) + line[column + len(first) :]

    def _numbers(self, text: bytes, column: int) -> list[int]:
        parts = text.split(b",")
        if not all(part.isdigit() and int(part) < _MOST_TOPICS for part in parts):
            raise ParseError(
                "a line begins with its topics, whole numbers with commas between them (6,26), or has none, "
                f"got {text.decode(errors='replace')!r:.40}",
                self.name,
                self._line,
                column,
            )
        return sorted({int(part) for part in parts})
