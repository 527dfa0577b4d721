"""What a store holds, and what its manifest says of it.

manifest.json            format, version, counts, and for each array: type, shape, bytes, CRC-32
values.npy               (rows, features) float32 when dense; the stored values when sparse, with
columns.npy              uint32 and
row_offsets.npy          int64, rows + 1
offsets.npy, qids.npy    int64, queries + 1; int64 or uint64, one a query
y, weights (rows), query_weights (queries): float64; order (rows): int64. Each only if the data has it
doc_ids, comments, feature_names, and qids that are strings: two files each, NAME.blob.npy (UTF-8 bytes) and
                         NAME.edges.npy (int64): text i is blob[edges[i]:edges[i+1]]
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from rankloom.data.array_files import damaged
from rankloom.errors import StoreError

FORMAT = "rankloom-store"
VERSION = 1
MANIFEST = "manifest.json"
TEXTS = ("qids", "doc_ids", "comments", "feature_names")
_FEW_BYTES = 1 << 20


class Manifest(NamedTuple):
    """What a store's manifest.json says."""

    rows: int
    queries: int
    features: int
    stored: int
    sparse: bool
    arrays: dict[str, dict[str, Any]]

    def to_json(self) -> str:
        """As the file holds it."""
        head = {"format": FORMAT, "version": VERSION, "written_by": _writer()}
        return json.dumps({**head, **self._asdict()}, indent=1) + "\n"


def _writer() -> str:
    """This program and its version, where it is installed as a package."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return f"rankloom {version('rankloom')}"
    except PackageNotFoundError:
        return "rankloom"


def file_of(folder: Path, name: str) -> Path:
    """Where an array lies."""
    return folder / f"{name}.npy"


def is_store(folder: Path) -> bool:
    """True for a folder whose manifest says that it is a store, whatever its version and state."""
    try:
        with (folder / MANIFEST).open("rb") as file:
            return b'"' + FORMAT.encode() + b'"' in file.read(_FEW_BYTES)
    except OSError:
        return False


def parse_manifest(folder: Path, text: bytes) -> Manifest:
    """Read a manifest, refusing what a store of this version would not say."""
    path = folder / MANIFEST
    try:
        found = json.loads(text)
    except ValueError as error:
        raise damaged(path, f"it is no JSON ({error})") from error
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise StoreError(f"{folder} is not a store: its {MANIFEST} does not say {FORMAT!r}")
    version = found.get("version")
    if isinstance(version, int) and version > VERSION:
        by = f" by {found['written_by']}" if "written_by" in found else ""
        raise StoreError(
            f"the store {folder} was written{by} in format version {version}, and this rankloom reads up to "
            f"version {VERSION}; upgrade rankloom, or write the store anew"
        )
    if version != VERSION:
        raise damaged(path, f"version must be {VERSION}, got {version!r}")
    manifest = _fields(path, found)
    _check_arrays(path, manifest)
    return manifest


def _fields(path: Path, found: dict[str, Any]) -> Manifest:
    for name in ("rows", "queries", "features", "stored"):
        if type(found.get(name)) is not int or found[name] < 0:
            raise damaged(path, f"{name} must be a whole number from 0, got {found.get(name)!r}")
    if type(found.get("sparse")) is not bool or not isinstance(found.get("arrays"), dict):
        raise damaged(path, "sparse must be true or false, and arrays an object")
    return Manifest(*(found[name] for name in Manifest._fields))


def _check_arrays(path: Path, manifest: Manifest) -> None:
    """Every array that must be there is there, as large and of the type that the counts ask for."""
    known = expected_arrays(manifest)
    needed = {"values", "offsets", *(("columns", "row_offsets") if manifest.sparse else ())}
    needed |= {"qids.blob", "qids.edges"} if "qids.blob" in manifest.arrays else {"qids"}
    needed |= {f"{name}.edges" for name in TEXTS if f"{name}.blob" in manifest.arrays}
    needed |= {f"{name}.blob" for name in TEXTS if f"{name}.edges" in manifest.arrays}
    for name in sorted(needed - set(manifest.arrays)):
        raise damaged(path, f"it names no array {name}")
    for name, entry in manifest.arrays.items():
        if name not in known:
            raise damaged(path, f"it names an array {name!r} that no store of version {VERSION} has")
        _check_entry(path, name, entry, *known[name])


def _check_entry(path: Path, name: str, entry: Any, dtypes: tuple[str, ...], shape: list[int] | None) -> None:
    if not isinstance(entry, dict) or entry.get("dtype") not in dtypes:
        raise damaged(path, f"{name} must be of type {' or '.join(dtypes)}, got {entry!r:.80}")
    found = entry.get("shape")
    fits = found == shape if shape else isinstance(found, list) and len(found) == 1
    if not fits or not all(type(size) is int and size >= 0 for size in found or ()):
        raise damaged(path, f"{name} must have the shape {shape or 'of a list'}, got {found!r:.80}")
    if not isinstance(entry.get("crc32"), str):
        raise damaged(path, f"{name} has no checksum")


def expected_arrays(manifest: Manifest) -> dict[str, tuple[tuple[str, ...], list[int] | None]]:
    """Every array a store may have: the types it may be of, and its shape (None: any length)."""
    rows, queries, stored = manifest.rows, manifest.queries, manifest.stored
    table = [stored] if manifest.sparse else [rows, manifest.features]
    known: dict[str, tuple[tuple[str, ...], list[int] | None]] = {
        "values": (("<f4",), table),
        "offsets": (("<i8",), [queries + 1]),
        "qids": (("<i8", "<u8"), [queries]),
        "y": (("<f8",), [rows]),
        "weights": (("<f8",), [rows]),
        "query_weights": (("<f8",), [queries]),
        "order": (("<i8",), [rows]),
    }
    if manifest.sparse:
        known |= {"columns": (("<u4",), [stored]), "row_offsets": (("<i8",), [rows + 1])}
    counts = {"qids": queries, "doc_ids": rows, "comments": rows, "feature_names": manifest.features}
    for name in TEXTS:
        known |= {f"{name}.blob": (("|u1",), None), f"{name}.edges": (("<i8",), [counts[name] + 1])}
    return known
