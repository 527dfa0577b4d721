"""Parsed blocks, joined in order: labels, query ids, comments and features."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankloom.data.growing import Growing, physical_memory
from rankloom.data.ranking_data import RankingData
from rankloom.data.sources import Block, plain_bytes, source_names
from rankloom.data.text_errors import HIGH_INDEX, LOW_INDEX, MIXED_QIDS, Fault, raise_fault
from rankloom.data.text_features import FeatureRows, Layout, ParsedRows
from rankloom.data.text_rows import Comments, QueryIds
from rankloom.errors import ParseError


class Builder:
    """Takes parsed blocks in order and gives the data.

    `expected` is about how many bytes of text will come, where that is not all there is; `lines` how many
    lines of the first block's source were seen before.
    """

    def __init__(self, asked: Layout, sources: Any, expected: int | None = None, lines: int = 0) -> None:
        self._asked = asked
        self._names = source_names(sources)
        expected = expected or plain_bytes(sources) or physical_memory() // 8
        self._features = FeatureRows(asked, expected)
        self._labels = Growing(np.float64, expected // 8)
        self._qids = QueryIds(expected // 8)
        self._comments = Comments(expected)
        self._lines = lines

    @property
    def n_rows(self) -> int:
        """How many rows so far."""
        return self._labels.length

    @property
    def lines(self) -> int:
        """How many lines of the last block's source so far."""
        return self._lines

    @property
    def index_base(self) -> int:
        """The index of the first column: 0, or 1 as long as no index is 0."""
        return self._features.base

    def add(self, block: Block, tables: Any, fault: Fault | None) -> None:
        """Add what was parsed of the next block; raise what is wrong with it."""
        from rankloom.kernels import text as kernels

        outcome = tables.outcome
        self._lines = 0 if block.is_first else self._lines
        n_rows, n_values = int(outcome[kernels.ROWS]), int(outcome[kernels.VALUES])
        rows = tables.rows[:n_rows]
        parsed = ParsedRows(
            tables.columns[:n_values],
            tables.values[:n_values],
            np.ascontiguousarray(rows[:, kernels.END]),
            int(outcome[kernels.LOWEST]),
            int(outcome[kernels.HIGHEST]),
        )
        fault = self._first_fault(rows, parsed, fault)
        if fault is not None:
            raise_fault(fault, block, self._lines, self._asked.n_features)
        if n_rows:
            self._features.add(parsed)
            self._labels.append(tables.labels[:n_rows])
            self._qids.add(block.text, rows)
            spans = rows[:, kernels.COMMENT_START : kernels.COMMENT_STOP + 1]
            self._comments.add(block.text, np.ascontiguousarray(spans))
        self._lines += int(outcome[kernels.LINES])

    def _first_fault(self, rows: NDArray[np.int64], parsed: ParsedRows, fault: Fault | None) -> Fault | None:
        """`fault`, or an earlier row whose indices or qid do not go with the options or the rows before."""
        from rankloom.kernels.text import START

        faults = [] if fault is None else [fault]
        if parsed.lowest == 0 and self._asked.index_base == 1:
            faults.append(_feature_fault(LOW_INDEX, rows, parsed, parsed.columns == 0))
        if self._asked.n_features is not None:
            limit = self._asked.n_features + self._features.base_with(parsed.lowest)
            if parsed.highest >= limit:
                faults.append(_feature_fault(HIGH_INDEX, rows, parsed, parsed.columns >= limit))
        mixed = self._qids.first_mixed(rows)
        if mixed is not None:
            faults.append(Fault(MIXED_QIDS, int(rows[mixed, START])))
        return min(faults, key=lambda fault: fault.at, default=None)

    def finish(self) -> RankingData:
        """All rows as data."""
        if self._labels.length == 0:
            name = (
                "standard input"
                if self._names[0] == "-"
                else str(getattr(self._names[0], "name", self._names[0]))
            )
            others = f" (and {len(self._names) - 1} more)" if len(self._names) > 1 else ""
            raise ParseError(
                "no rows: the text is empty, or has only blank lines and comments", name + others
            )
        comments, doc_ids = self._comments.finish()
        return RankingData.from_features(
            self._features.finish(),
            self._labels.finish(),
            self._qids.finish(),
            comments=comments,
            doc_ids=doc_ids,
            trusted=True,
        )


def _feature_fault(kind: int, rows: NDArray[np.int64], parsed: ParsedRows, bad: NDArray[np.bool_]) -> Fault:
    """The fault of the first feature that is bad, at the start of its row."""
    from rankloom.kernels.text import START

    place = int(np.argmax(bad))
    row = int(np.searchsorted(parsed.ends, place, side="right"))
    return Fault(kind, int(rows[row, START]), int(parsed.columns[place]))
