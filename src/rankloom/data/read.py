"""Any data by its name: `read` and `write` look at the path and call the reader or writer of that format.

a folder                                         the store
.store                                           the store (to be written)
.parquet, .pq, or a folder of that name          Parquet
.csv, .tsv, plain or .gz .bz2 .xz .zst           CSV
everything else, "-", an open file               SVMlight / LETOR text, plain or compressed
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rankloom.data.ranking_data import RankingData
from rankloom.data.store_format import is_store
from rankloom.errors import InputError

_COMPRESSED = (".gz", ".bz2", ".xz", ".zst")
_PARQUET = (".parquet", ".pq")
_CSV = (".csv", ".tsv")
_COLUMNS = frozenset(
    ("label", "qid", "doc_id", "comment", "weight", "query_weight", "features", "allow_missing")
)
_TEXT = frozenset(
    ("n_features", "index_base", "layout", "allow_missing", "allow_infinite", "threads", "progress")
)
_OPTIONS = {
    "store": frozenset(("verify",)),
    "parquet": _COLUMNS,
    "csv": _COLUMNS | {"delimiter", "text_qids"},
    "text": _TEXT,
}
_WRITING = {
    "store": frozenset[str](),
    "parquet": frozenset(("list_column", "compression")),
    "csv": frozenset(("delimiter",)),
    "text": frozenset(("index_base", "zeros", "decimals", "threads")),
}
_IGNORED = frozenset(("threads", "progress"))  # how, not what: every reader and writer may be given them


def read(source: Any, **options: Any) -> RankingData:
    """Read data: a store folder, Parquet, CSV, or SVMlight / LETOR text ("-", an open file, several paths).

    Options go to the reader of that format: `load_store`, `read_parquet`, `read_csv` or `read_text`.
    """
    kind = source_kind(source)
    return _reader(kind)(source, **_options_of(kind, _OPTIONS, options))


def write(data: RankingData, target: Any, **options: Any) -> None:
    """Write data in the format that the target's name asks for, as `read` would; `.store` for a store.

    Options go to the writer of that format: `save_store`, `write_parquet`, `write_csv` or `write_text`.
    """
    kind = target_kind(target)
    _writer(kind)(data, target, **_options_of(kind, _WRITING, options))


def source_kind(source: Any) -> str:
    """store, parquet, csv or text; an error for what cannot be read."""
    if isinstance(source, (list, tuple)):
        return _kind_of_several([source_kind(one) for one in source])
    if not isinstance(source, (str, os.PathLike)) or source == "-":
        return "text"
    path = Path(source)
    if not path.exists():
        raise InputError(f"{path}: no such file; look at the path")
    by_name = _kind_by_name(path)
    if not path.is_dir() or by_name == "parquet":
        return by_name
    if is_store(path) or path.suffix.lower() == ".store":
        return "store"
    raise InputError(f"{path} is a folder and not a store; {_advice(path)}")


def target_kind(target: Any) -> str:
    """store, parquet, csv or text."""
    if not isinstance(target, (str, os.PathLike)) or target == "-":
        return "text"
    path = Path(target)
    if path.suffix.lower() == ".store" or path.is_dir() or str(target).endswith(("/", os.sep)):
        return "store"
    return _kind_by_name(path)


def _kind_of_several(kinds: list[str]) -> str:
    if not kinds:
        raise InputError("no files to read, got an empty list")
    if len(set(kinds)) > 1:
        raise InputError(f"files read as one must be of one format, got {', '.join(sorted(set(kinds)))}")
    if kinds[0] == "store":
        raise InputError(
            "stores cannot be read as one; write one store from them: save_store(map(load_store, ...), ...)"
        )
    return kinds[0]


def _kind_by_name(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in _COMPRESSED:
        suffixes.pop()
    last = suffixes[-1] if suffixes else ""
    return "parquet" if last in _PARQUET else "csv" if last in _CSV else "text"


def _advice(folder: Path) -> str:
    """What a folder that is no store may be."""
    from rankloom.data.letor import is_letor

    if is_letor(folder):
        return "it holds LETOR folds: use read_folds, or give one file of a fold"
    return "give a file in it"


def _options_of(kind: str, known: dict[str, frozenset[str]], given: dict[str, Any]) -> dict[str, Any]:
    """The options for this format; one that is for another format is an error, not a surprise."""
    options = {name: value for name, value in given.items() if name in known[kind]}
    for name in given:
        if name in known[kind] or name in _IGNORED:
            continue
        others = [other for other, names in known.items() if name in names]
        meant = f"it is for {' and '.join(others)}" if others else "no format has it"
        allowed = ", ".join(sorted(known[kind])) or "none"
        raise InputError(f"{name} is no option for {kind}: {meant}; the options for {kind} are {allowed}")
    return options


def _reader(kind: str) -> Callable[..., RankingData]:
    if kind == "store":
        from rankloom.data.store import load_store

        return load_store
    if kind == "text":
        from rankloom.data.text import read_text

        return read_text
    from rankloom.data import tables

    return tables.read_parquet if kind == "parquet" else tables.read_csv


def _writer(kind: str) -> Callable[..., None]:
    if kind == "store":
        from rankloom.data.store import save_store

        return save_store
    if kind == "text":
        from rankloom.data.text_writer import write_text

        return write_text
    from rankloom.data import table_writer

    return table_writer.write_parquet if kind == "parquet" else table_writer.write_csv
