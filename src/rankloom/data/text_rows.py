"""What parsed rows have besides features: query ids and comments, joined over blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankloom.data.growing import Growing
from rankloom.data.texts import Texts


class QueryIds:
    """One query id a row, all whole numbers, or all texts as soon as one of them is."""

    def __init__(self, expected: int) -> None:
        self._numbers = Growing(np.int64, expected)
        self._texts: list[NDArray[Any]] | None = None
        self._given: bool | None = None

    def first_mixed(self, rows: NDArray[np.int64]) -> int | None:
        """The first row that has a qid where those before it have none, or the other way round."""
        from rankloom.kernels.text import NO_QID, QID_KIND

        if not len(rows):
            return None
        has = rows[:, QID_KIND] != NO_QID
        given = bool(has[0]) if self._given is None else self._given
        return None if (has == given).all() else int(np.argmax(has != given))

    def add(self, text: NDArray[np.uint8], rows: NDArray[np.int64]) -> None:
        """Add the ids of rows that are not mixed."""
        from rankloom.kernels.text import NO_QID, QID, QID_KIND, TEXT_QID

        self._given = bool(rows[0, QID_KIND] != NO_QID)
        if not self._given:
            return
        if self._texts is None and (rows[:, QID_KIND] == TEXT_QID).any():
            self._texts = [self._numbers.filled().astype(str).astype(object)]
        if self._texts is None:
            self._numbers.append(rows[:, QID])
        else:
            self._texts.append(_spelt(text, rows))

    def finish(self) -> NDArray[Any] | None:
        """One id a row, or None if no row has one."""
        if not self._given:
            return None
        return self._numbers.finish() if self._texts is None else np.concatenate(self._texts)


def _spelt(text: NDArray[np.uint8], rows: NDArray[np.int64]) -> NDArray[Any]:
    """Ids as texts; whole numbers as they are usually written, so that 007 is 7 wherever it stands."""
    from rankloom.kernels.text import INTEGER_QID, QID, QID_KIND, QID_START, QID_STOP

    spelt = np.empty(len(rows), dtype=object)
    for i, row in enumerate(rows[:, : QID_STOP + 1].tolist()):
        raw = text[row[QID_START] : row[QID_STOP]].tobytes()
        spelt[i] = str(row[QID]) if row[QID_KIND] == INTEGER_QID else raw.decode("utf-8", "surrogateescape")
    return spelt


class Comments:
    """One comment a row, empty where a row has none; nothing is kept until the first one comes."""

    def __init__(self, expected: int) -> None:
        self._expected = expected
        self._rows_before = 0
        self._blob: Growing | None = None
        self._edges = Growing(np.int64, 0)

    def add(self, text: NDArray[np.uint8], spans: NDArray[np.int64]) -> None:
        """Add text[start:stop] for each span; a start of -1 is no comment."""
        from rankloom.kernels.text import gather_bytes

        has = spans[:, 0] >= 0
        if self._blob is None:
            if not has.any():
                self._rows_before += len(spans)
                return
            self._blob, self._edges = (
                Growing(np.uint8, self._expected),
                Growing(np.int64, self._expected // 8),
            )
            self._edges.extend(self._rows_before + 1)[:] = 0
        start = self._blob.length
        most = int((spans[has, 1] - spans[has, 0]).sum())
        edges = self._edges.extend(len(spans))
        gather_bytes(text, spans, self._blob.extend(most), edges)
        used = int(edges[-1]) if len(edges) else 0
        edges += start
        self._blob.shorten(most - used)

    def finish(self) -> tuple[Texts | None, Texts | None]:
        """(comments, doc ids), both None if no row has a comment."""
        from rankloom.kernels.text import find_doc_ids

        if self._blob is None:
            return None, None
        blob, edges = self._blob.finish(), self._edges.finish()
        starts, ends = np.empty(len(edges) - 1, dtype=np.int64), np.empty(len(edges) - 1, dtype=np.int64)
        find_doc_ids(blob, edges, starts, ends)
        return Texts(blob, edges[:-1], edges[1:]), Texts(blob, starts, ends)
