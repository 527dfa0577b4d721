"""Writing Parquet and CSV, block by block, so that data larger than memory passes through."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankloom.data.files import atomic_path
from rankloom.data.ranking_data import RankingData
from rankloom.data.tables import SPARSE_COLUMNS, SPARSE_VALUES, Meaning, pyarrow_module
from rankloom.errors import InputError

_NUMBERS_PER_BLOCK = 1 << 22
_WIDEST_SPARSE_CSV = 4096


def write_parquet(
    data: RankingData,
    path: str | os.PathLike[str],
    *,
    list_column: str | None = None,
    compression: str = "zstd",
) -> None:
    """Write a Parquet file: a column per feature, or all of them in `list_column`, a column of lists.

    Sparse data becomes two list columns that hold what is stored. Rows are written in query order.
    """
    parquet = pyarrow_module("pyarrow.parquet")
    names = [] if data.is_sparse or list_column else _names(data)
    _check_names([*names, list_column] if list_column else names)
    schema = _schema(data, names, list_column).with_metadata(_meaning(data).to_metadata())
    with atomic_path(path) as temporary:
        try:
            with parquet.ParquetWriter(temporary, schema, compression=compression) as writer:
                for block in _blocks(data):
                    writer.write_batch(_batch(block, schema, not data.is_sparse and not list_column))
        except pyarrow_module("pyarrow").ArrowException as error:
            raise InputError(f"{path}: cannot be written as Parquet: {error}") from error


def write_csv(data: RankingData, path: str | os.PathLike[str], *, delimiter: str | None = None) -> None:
    """Write CSV with a header line, compressed for .gz, .bz2, .xz, .zst. Numbers read back as the same.

    `delimiter` is a tab for names that end in .tsv (and .tsv.gz ...), else a comma. Rows are in query order.
    """
    from rankloom.data.targets import open_target

    csv = pyarrow_module("pyarrow.csv")
    place = Path(path)
    _check_width(data)
    mark = delimiter or ("\t" if ".tsv" in [suffix.lower() for suffix in place.suffixes] else ",")
    names = _names(data)
    _check_names(names)
    schema = _schema(data, names, None, dense=True)
    options = csv.WriteOptions(delimiter=mark)
    with open_target(place) as file, csv.CSVWriter(file, schema, write_options=options) as writer:
        for block in _blocks(data):
            writer.write_batch(_batch(block, schema, True, no_newlines=True))


def _check_width(data: RankingData) -> None:
    if data.is_sparse and data.n_features > _WIDEST_SPARSE_CSV:
        raise InputError(
            f"CSV writes every feature of every row, and this sparse data has {data.n_features:,} features; "
            "write text (.txt), Parquet or a store instead"
        )


def _names(data: RankingData) -> list[str]:
    """The names of feature columns: the data's own, or f0, f1, ..."""
    if data.feature_names is not None:
        return list(data.feature_names)
    return [f"f{column}" for column in range(data.n_features)]


_ROLES = ("qid", "label", "doc_id", "comment", "weight", "query_weight")


def _check_names(names: Any) -> None:
    taken = sorted(set(names) & set(_ROLES))
    if taken:
        raise InputError(
            f"a feature cannot be named {taken[0]!r}, which is another column of the table; "
            "give the data other feature names"
        )


def _meaning(data: RankingData) -> Meaning:
    roles = {role: role if present else None for role, present in _present(data).items()}
    names = None if data.feature_names is None else list(data.feature_names)
    return Meaning(roles, data.n_features, names, data.is_sparse)


def _present(data: RankingData) -> dict[str, bool]:
    """Which of the columns beside features there are. The qid always is."""
    parts = (True, data.y, data.doc_ids, data.comments, data.weights, data.query_weights)
    return {role: part is not None for role, part in zip(_ROLES, parts, strict=True)}


def _schema(data: RankingData, names: list[str], list_column: str | None, dense: bool = False) -> Any:
    arrow = pyarrow_module("pyarrow")
    is_text = data.qids.dtype == object
    qid = arrow.string() if is_text else arrow.uint64() if data.qids.dtype == np.uint64 else arrow.int64()
    types = (qid, arrow.float64(), arrow.string(), arrow.string(), arrow.float64(), arrow.float64())
    present = _present(data)
    fields = [arrow.field(role, kind) for role, kind in zip(_ROLES, types, strict=True) if present[role]]
    if data.is_sparse and not dense:
        fields.append(arrow.field(SPARSE_COLUMNS, arrow.large_list(arrow.uint32())))
        fields.append(arrow.field(SPARSE_VALUES, arrow.large_list(arrow.float32())))
    elif list_column:
        fields.append(arrow.field(list_column, arrow.list_(arrow.float32(), data.n_features)))
    else:
        fields += [arrow.field(name, arrow.float32()) for name in names]
    return arrow.schema(fields)


def _blocks(data: RankingData) -> Iterator[RankingData]:
    width = max(1, data.nnz // max(1, data.n_rows) if data.is_sparse else data.n_features)
    return data.blocks(max(1024, _NUMBERS_PER_BLOCK // width))


def _batch(block: RankingData, schema: Any, as_columns: bool, no_newlines: bool = False) -> Any:
    arrow = pyarrow_module("pyarrow")
    columns = [array for array in _role_columns(block) if array is not None]
    if no_newlines:
        _refuse_newlines(columns)
    if as_columns:
        table = block.X.toarray() if block.is_sparse else block.X
        columns += list(np.ascontiguousarray(table.T))
    elif block.is_sparse:
        columns += [_lists(block.row_offsets, block.columns), _lists(block.row_offsets, block.values)]
    else:
        flat = arrow.array(block.values.reshape(-1))
        columns.append(arrow.FixedSizeListArray.from_arrays(flat, block.n_features))
    arrays = [_arrow(column, field.type) for column, field in zip(columns, schema, strict=True)]
    return arrow.record_batch(arrays, schema=schema)


def _arrow(column: Any, kind: Any) -> Any:
    arrow = pyarrow_module("pyarrow")
    return column if isinstance(column, arrow.Array) else arrow.array(column, type=kind)


def _lists(offsets: Any, values: Any) -> Any:
    arrow = pyarrow_module("pyarrow")
    return arrow.LargeListArray.from_arrays(arrow.array(offsets), arrow.array(values))


def _role_columns(block: RankingData) -> list[NDArray[Any] | None]:
    """qid, label, doc_id, comment, weight and query_weight, one value per row."""
    weights = None if block.query_weights is None else np.repeat(block.query_weights, block.lengths)
    texts = [
        None if part is None else np.asarray(part, dtype=object) for part in (block.doc_ids, block.comments)
    ]
    return [np.repeat(block.qids, block.lengths), block.y, *texts, block.weights, weights]


def _refuse_newlines(columns: list[Any]) -> None:
    for column in columns:
        if column.dtype != object:
            continue
        for text in column:
            if "\n" in text or "\r" in text:
                raise InputError(
                    f"CSV texts must lie on one line, got {text!r:.80}; write Parquet or a store instead"
                )
