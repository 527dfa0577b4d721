"""Writing a store, from one RankingData or from several that are never in memory together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from rankloom.data.array_files import ArrayWriter
from rankloom.data.columns import frozen
from rankloom.data.groups import expand_ranges
from rankloom.data.ranking_data import RankingData
from rankloom.data.row_texts import is_texts
from rankloom.data.store_format import MANIFEST, Manifest, file_of
from rankloom.data.texts import Texts
from rankloom.errors import InputError

_NUMBERS_PER_STEP = 1 << 20
_ALIKE = ("n_features", "is_sparse", "feature_names")
_OPTIONAL = ("y", "weights", "query_weights", "doc_ids", "comments")


class StoreWriter:
    """Appends data to the files of a new store; the manifest that `finish` writes makes it one."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: dict[str, ArrayWriter] = {}
        self._kind: dict[str, Any] = {}
        self._seen: set[Any] = set()
        self._rows = self._queries = self._stored = 0

    def append(self, data: RankingData) -> None:
        """Add the queries of `data` at the end."""
        self._check(data)
        self._add_features(data)
        for name in ("y", "weights", "query_weights"):
            array = getattr(data, name)
            if array is not None:
                self._add(name, np.float64, array)
        self._add_edges("offsets", data.offsets, self._rows)
        self._add_qids(data)
        for name in ("doc_ids", "comments"):
            if getattr(data, name) is not None:
                self._add_texts(name, getattr(data, name))
        self._add_order(data)
        self._rows += data.n_rows
        self._queries += data.n_queries
        self._stored += data.nnz

    def finish(self) -> None:
        """Close all files and write the manifest."""
        kind = self._kind
        if not kind:
            raise InputError("a store needs data, got none at all; pass a RankingData or several")
        if kind["feature_names"] is not None:
            self._add_texts("feature_names", kind["feature_names"])
        arrays = {name: file.finish() for name, file in self._files.items()}
        counts = (self._rows, self._queries, kind["n_features"], self._stored)
        manifest = Manifest(*counts, kind["is_sparse"], arrays)
        (self._folder / MANIFEST).write_text(manifest.to_json(), encoding="utf-8")

    def close(self) -> None:
        """Close all files as they are."""
        for file in self._files.values():
            file.abandon()

    def _check(self, data: RankingData) -> None:
        """All parts must be of one kind, and no query in two of them."""
        kind: dict[str, Any] = {name: getattr(data, name) for name in _ALIKE}
        kind |= {f"presence of {name}": getattr(data, name) is not None for name in _OPTIONAL}
        kind["type of qids"] = str(data.qids.dtype)
        before = self._kind or kind
        for name, value in kind.items():
            if value != before[name]:
                got = f"{value!r:.80} after {before[name]!r:.80}"
                raise InputError(f"all parts of a store must be alike in {name}, got {got}")
        self._kind = before
        self._check_queries(data)

    def _check_queries(self, data: RankingData) -> None:
        qids = data.qids.tolist()
        again = self._seen.intersection(qids)
        if again:
            raise InputError(
                f"each query must lie in one part of a store, got query {min(again)!r} in two; "
                "put all its rows into one part"
            )
        self._seen.update(qids)

    def _add(self, name: str, dtype: DTypeLike, array: NDArray[Any]) -> None:
        if name not in self._files:
            self._files[name] = ArrayWriter(file_of(self._folder, name), dtype, array.shape[1:])
        self._files[name].append(array)

    def _add_edges(self, name: str, edges: NDArray[np.int64], shift: int) -> None:
        """Offsets of a part follow those before: its first 0 is written only once."""
        started = name in self._files
        self._add(name, np.int64, edges[1:] + shift if started else edges)

    def _add_features(self, data: RankingData) -> None:
        self._add("values", np.float32, data.values)
        if data.columns is not None and data.row_offsets is not None:
            self._add("columns", np.uint32, data.columns)
            self._add_edges("row_offsets", data.row_offsets, self._stored)

    def _add_qids(self, data: RankingData) -> None:
        if data.qids.dtype == object:
            self._add_texts("qids", data.qids)
        else:
            self._add("qids", data.qids.dtype, data.qids)

    def _add_texts(self, name: str, texts: Any) -> None:
        packed = texts if is_texts(texts) else Texts.from_strings(list(texts))
        lengths = packed.ends - packed.starts
        edges = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(lengths)))
        before = self._files[f"{name}.blob"].rows if f"{name}.blob" in self._files else 0
        self._add_edges(f"{name}.edges", edges, before)
        self._add(f"{name}.blob", np.uint8, packed.blob[:0])
        for first in range(0, len(packed), _NUMBERS_PER_STEP):
            last = first + _NUMBERS_PER_STEP
            places = expand_ranges(packed.starts[first:last], lengths[first:last])
            self._add(f"{name}.blob", np.uint8, packed.blob[places])

    def _add_order(self, data: RankingData) -> None:
        """Where rows came from, from the first part on that moved any."""
        if data.order is None and "order" not in self._files:
            return
        if "order" not in self._files:
            for start in range(0, self._rows, _NUMBERS_PER_STEP):
                stop = min(start + _NUMBERS_PER_STEP, self._rows)
                self._add("order", np.int64, np.arange(start, stop))
        own = np.arange(data.n_rows) if data.order is None else data.order
        self._add("order", np.int64, frozen(own + self._rows))
