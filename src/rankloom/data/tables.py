"""Tables on disk: Parquet and CSV, a row per document, read through pyarrow.

Columns are found as in a data frame (`frames.from_frame`): a qid, a label, perhaps doc ids and weights, and
features. Parquet written here says in its metadata which column is what, so that it reads back as it was.
Sparse data has two list columns, `feature_columns` and `feature_values`, in place of one column per feature.
"""

from __future__ import annotations

import io
import json
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypedDict, Unpack

import numpy as np

from rankloom.data.frames import AUTO, NAMES, NoColumnError, find_roles, from_frame
from rankloom.data.parts import Extras, PerRow
from rankloom.data.ranking_data import RankingData
from rankloom.errors import InputError, MissingPackageError

METADATA = b"rankloom"
SPARSE_COLUMNS, SPARSE_VALUES = "feature_columns", "feature_values"
_NO_VALUE = ["", "NA", "N/A", "NaN", "nan", "null", "NULL"]
_LONGEST_HEADER = 1 << 26
_NO_NUMBER = re.compile(r"CSV column #(\d+):.*invalid value '(.*)'", re.DOTALL)

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


class Columns(TypedDict, total=False):
    """Which column is what, and what may be missing: the options of `frames.from_frame`."""

    label: str | None
    qid: str | None
    doc_id: str | None
    comment: str | None
    weight: str | None
    query_weight: str | None
    features: str | Sequence[str] | None
    allow_missing: bool


class Meaning(NamedTuple):
    """What the metadata of a Parquet file says: the columns that have a role, and how features are kept."""

    roles: dict[str, str | None]
    n_features: int
    names: list[str] | None
    sparse: bool

    def to_metadata(self) -> dict[bytes, bytes]:
        """As a Parquet file holds it."""
        return {METADATA: json.dumps(self._asdict()).encode()}


def pyarrow_module(name: str) -> Any:
    """One of pyarrow's modules, or an error that says what to install."""
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise MissingPackageError('Parquet and CSV need pyarrow: pip install "rankloom[tables]"') from error


def read_parquet(paths: Paths, **columns: Unpack[Columns]) -> RankingData:
    """Read a Parquet file, a folder of them, or several as one. For the columns, see `frames.from_frame`."""
    parquet = pyarrow_module("pyarrow.parquet")
    arrow = pyarrow_module("pyarrow")
    tables, meaning = [], None
    for path in _existing(paths):
        with _named_errors(path):
            schema = parquet.ParquetDataset(path).schema
            meaning = meaning or _meaning(schema.metadata)
            wanted = _wanted(schema.names, columns, meaning)
            tables.append(parquet.read_table(path, columns=wanted))
    with _named_errors(_first(paths)):
        return _from_parquet(arrow.concat_tables(tables), columns, meaning)


def written_here(path: Any) -> bool:
    """Whether a Parquet file says by itself which column is what, as those do that `write_parquet` wrote."""
    parquet = pyarrow_module("pyarrow.parquet")
    (place,) = _existing(path)
    with _named_errors(place):
        return _meaning(parquet.ParquetDataset(place).schema.metadata) is not None


def _from_parquet(table: Any, columns: Columns, meaning: Meaning | None) -> RankingData:
    roles: Any = {**(meaning.roles if meaning else {}), **columns}
    if meaning is None or columns.get("features") is not None:
        return from_frame(table, **roles)
    if meaning.sparse:
        return _from_sparse_table(table, roles, meaning)
    data = from_frame(table, **roles)
    return data if meaning.names is not None else data.with_names(None)


def _meaning(metadata: dict[bytes, bytes] | None) -> Meaning | None:
    """What a file written here says of itself; None for a file from elsewhere."""
    try:
        found = json.loads((metadata or {})[METADATA])
        return Meaning(**found)
    except (KeyError, ValueError, TypeError):
        return None


def _wanted(names: Sequence[str], columns: Columns, meaning: Meaning | None) -> list[str] | None:
    """Only the columns that are used, where the caller says which features; None for all."""
    if columns.get("features") is None:
        return None
    known = meaning.roles if meaning else {}
    asked = {role: columns.get(role, known.get(role, AUTO)) for role in NAMES}
    roles = find_roles(names, asked, columns["features"])  # type: ignore[arg-type]
    return list(dict.fromkeys([*roles.taken(), *roles.features]))


def _from_sparse_table(table: Any, roles: dict[str, Any], meaning: Meaning) -> RankingData:
    from rankloom.data.frames import series_values

    values = table.column(SPARSE_VALUES).combine_chunks()
    offsets = np.asarray(values.offsets, dtype=np.int64) if len(values) else np.zeros(1, dtype=np.int64)
    given = {role: None if roles.get(role) is None else table.column(roles[role]) for role in NAMES}
    queries = None if given["qid"] is None else series_values(given["qid"], "qid")
    weights = None if given["query_weight"] is None else PerRow(given["query_weight"])
    extras = Extras(given["doc_id"], given["comment"], given["weight"], weights, meaning.names)
    return RankingData.from_csr(
        np.asarray(values.flatten()),
        np.asarray(table.column(SPARSE_COLUMNS).combine_chunks().flatten()),
        offsets - offsets[0],
        meaning.n_features,
        given["label"],
        queries,
        allow_missing=bool(roles.get("allow_missing", False)),
        **extras._asdict(),
    )


def read_csv(
    paths: Paths, *, delimiter: str | None = None, text_qids: bool = False, **columns: Unpack[Columns]
) -> RankingData:
    """Read CSV with a header line, plain or compressed (gzip, bzip2, xz, zstd); several files read as one.

    `delimiter` is a tab for names that end in .tsv (and .tsv.gz ...), else a comma. `text_qids` keeps query
    ids as they are written, where 007 and 7 are two queries. For the columns, see `frames.from_frame`.
    """
    arrow = pyarrow_module("pyarrow")
    tables = []
    for path in _existing(paths):
        mark = delimiter or ("\t" if ".tsv" in [suffix.lower() for suffix in path.suffixes] else ",")
        with _named_errors(path):
            tables.append(_csv_table(path, mark, text_qids, columns))
    with _named_errors(_first(paths)):
        return from_frame(arrow.concat_tables(tables), **columns)


def _csv_table(path: Path, delimiter: str, text_qids: bool, columns: Columns) -> Any:
    """The columns that are used, features as float32: rounded once, from the text."""
    csv = pyarrow_module("pyarrow.csv")
    from rankloom.data.sources import opened

    names = _header(path, delimiter)
    asked = {role: columns.get(role, AUTO) for role in NAMES}
    roles = find_roles(names, asked, columns.get("features"))  # type: ignore[arg-type]
    types = _types(roles, text_qids)
    parse = csv.ParseOptions(delimiter=delimiter)
    convert = csv.ConvertOptions(
        column_types=types,
        null_values=_NO_VALUE,
        include_columns=[name for name in names if name in {*roles.taken(), *roles.features}],
    )
    try:
        with opened(path) as (file, _, _):
            table = csv.read_csv(file, parse_options=parse, convert_options=convert)
    except pyarrow_module("pyarrow").ArrowInvalid as error:
        _refuse_texts(str(error), names, roles.features)
        raise
    if roles.qid is not None and not _is_id(table.schema.field(roles.qid).type):
        return _csv_table(path, delimiter, True, columns)  # taken for a date or a truth value
    _check_no_empty_qid(table, roles.qid)
    return table


def _refuse_texts(reason: str, names: Sequence[str], features: Sequence[str]) -> None:
    """An error of its own where a feature is text: the column of document ids, as a rule."""
    found = _NO_NUMBER.search(reason)
    name = names[int(found[1])] if found and int(found[1]) < len(names) else None
    if found is None or name not in features:
        return
    raise InputError(
        f"feature column {name!r} must be numbers, got {found[2]!r:.60}; if it names documents, say "
        f'doc_id="{name}" (--doc-id {name} in a command), else leave it out of the file'
    )


def _types(roles: Any, text_qids: bool) -> dict[str, Any]:
    arrow = pyarrow_module("pyarrow")
    types = dict.fromkeys(roles.features, arrow.float32())
    numbers = ("label", "weight", "query_weight")
    texts = ("doc_id", "comment", "qid") if text_qids else ("doc_id", "comment")
    types |= {getattr(roles, role): arrow.float64() for role in numbers if getattr(roles, role) is not None}
    types |= {getattr(roles, role): arrow.string() for role in texts if getattr(roles, role) is not None}
    return types


def _is_id(kind: Any) -> bool:
    types = pyarrow_module("pyarrow.types")
    return bool(
        types.is_integer(kind) or types.is_floating(kind) or types.is_string(kind) or types.is_null(kind)
    )


def _check_no_empty_qid(table: Any, qid: str | None) -> None:
    if qid is None or not pyarrow_module("pyarrow.types").is_string(table.schema.field(qid).type):
        return
    compute = pyarrow_module("pyarrow.compute")
    row = compute.index(table.column(qid), "").as_py()
    if row >= 0:
        raise InputError(f"every row needs a qid, got an empty field at row {row}")


def _header(path: Path, delimiter: str) -> list[str]:
    """The names in the first line."""
    csv = pyarrow_module("pyarrow.csv")
    from rankloom.data.sources import opened

    with opened(path) as (file, _, _):
        line = file.readline(_LONGEST_HEADER)
    if not line.strip():
        raise InputError("it has no header line; name the columns in the first line")
    table = csv.read_csv(io.BytesIO(line), parse_options=csv.ParseOptions(delimiter=delimiter))
    names = list(table.column_names)
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"column names must be all different, got {twice!r} twice; rename one of them")
    return names


def _listed(paths: Paths) -> list[Any]:
    return [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)


def _first(paths: Paths) -> Path:
    """The file that messages about the whole name."""
    return Path(_listed(paths)[0])


def _existing(paths: Paths) -> list[Path]:
    found = [Path(path) for path in _listed(paths)]
    if not found:
        raise InputError("a table needs a path, got an empty list")
    for path in found:
        if not path.exists():
            raise InputError(f"{path}: no such file; look at the path")
    return found


@contextmanager
def _named_errors(path: Path) -> Iterator[None]:
    """Errors of pyarrow, and ours, with the file in front."""
    arrow = pyarrow_module("pyarrow")
    try:
        yield
    except InputError as error:
        message = f"{path}: {error}" if not str(error).startswith(str(path)) else str(error)
        if isinstance(error, NoColumnError):
            raise NoColumnError(message, error.role) from error
        raise InputError(message) from error
    except (arrow.ArrowException, OSError) as error:
        raise InputError(f"{path}: cannot be read as a table: {error}") from error
