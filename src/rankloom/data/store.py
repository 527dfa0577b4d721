"""The store: data on disk as plain arrays that are mapped, not read, so that opening takes no time.

    save_store(data, "train.store");  data = load_store("train.store")

Only what is looked at is read, and the system may let go of it again: `data.blocks(rows)` walks through more
than memory holds. Files are mapped read-only and shared: a private, writable mapping would count as memory in
use, and the system refuses one that is larger than the memory it has.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from rankloom.data.array_files import checksum, damaged, map_array
from rankloom.data.features import Features, check_csr
from rankloom.data.files import atomic_path
from rankloom.data.parts import Parts
from rankloom.data.ranking_data import RankingData
from rankloom.data.store_format import MANIFEST, TEXTS, Manifest, file_of, is_store, parse_manifest
from rankloom.data.texts import Texts
from rankloom.errors import InputError, StoreError

__all__ = ["is_store", "let_go", "load_store", "save_store", "verify_store"]


def save_store(data: RankingData | Iterable[RankingData], folder: str | os.PathLike[str]) -> None:
    """Write a store: all of it or nothing. A store that is already there is replaced, anything else is not.

    `data` may be several RankingData one after the other, as from a generator that reads file by file; only
    one at a time need be in memory. All rows of a query must then be in one of them.
    """
    from rankloom.data.store_writer import StoreWriter

    place = Path(folder)
    _check_target(place)
    with atomic_path(place, replace_folder=True) as temporary:
        temporary.mkdir()
        writer = StoreWriter(temporary)
        try:
            for part in [data] if isinstance(data, RankingData) else data:
                writer.append(part)
            writer.finish()
        finally:
            writer.close()


def _check_target(place: Path) -> None:
    if not place.exists():
        return
    if not place.is_dir():
        raise InputError(f"a store is a folder, and {place} is a file; give another name or remove it first")
    if any(place.iterdir()) and not is_store(place):
        raise InputError(
            f"{place} is a folder that is not a store, so it is not overwritten; give another name"
        )


def load_store(folder: str | os.PathLike[str], *, verify: bool = False) -> RankingData:
    """Open a store. Sizes, types and shapes are always checked; with `verify`, every value is."""
    place = Path(folder)
    manifest, arrays = _opened(place)
    _check_ends(place, manifest, arrays)
    if verify:
        _verify(place, manifest, arrays)
    return RankingData.from_parts(_parts(manifest, arrays))


def let_go(data: RankingData) -> None:
    """Give back the memory of data from `load_store`; what is looked at again is read again."""
    if not hasattr(mmap, "MADV_DONTNEED"):
        return
    for array in (*data.features[:3], data.y, data.offsets, data.weights, data.query_weights):
        base: Any = array
        while base is not None and not isinstance(base, mmap.mmap):
            base = getattr(base, "base", None)
        if base is not None:
            base.madvise(mmap.MADV_DONTNEED)


def verify_store(folder: str | os.PathLike[str]) -> None:
    """Read all of a store and compare it with its checksums; a StoreError names the damaged files."""
    load_store(folder, verify=True)


def _opened(place: Path) -> tuple[Manifest, dict[str, NDArray[Any]]]:
    """The manifest and the arrays; again from the start when the store is replaced in between."""
    while True:
        text = _read_manifest(place)
        manifest = parse_manifest(place, text)
        try:
            arrays = _map_all(place, manifest)
        except StoreError:
            if _read_manifest(place) == text:
                raise
            continue
        if _read_manifest(place) == text:
            return manifest, arrays


def _read_manifest(place: Path) -> bytes:
    try:
        return (place / MANIFEST).read_bytes()
    except FileNotFoundError as error:
        if not place.exists():
            raise StoreError(f"there is no store {place}: no such folder") from error
        hint = "write one with save_store, or read other formats with read"
        raise StoreError(f"{place} is not a store: it has no {MANIFEST}; {hint}") from error
    except NotADirectoryError as error:
        raise StoreError(f"a store is a folder, and {place} is a file; use read for it") from error
    except OSError as error:
        raise damaged(place / MANIFEST, f"it cannot be read: {error.strerror or error}") from error


def _map_all(place: Path, manifest: Manifest) -> dict[str, NDArray[Any]]:
    return {
        name: map_array(file_of(place, name), entry["dtype"], tuple(entry["shape"]))
        for name, entry in manifest.arrays.items()
    }


def _check_ends(place: Path, manifest: Manifest, arrays: dict[str, NDArray[Any]]) -> None:
    """What divides arrays runs from 0 to their length; looks only at the ends."""
    ends = {"offsets": manifest.rows, "row_offsets": manifest.stored}
    ends |= {f"{name}.edges": len(arrays[f"{name}.blob"]) for name in TEXTS if f"{name}.blob" in arrays}
    for name, last in ends.items():
        if name in arrays and (arrays[name][0] != 0 or arrays[name][-1] != last):
            got = f"{arrays[name][0]:,} to {arrays[name][-1]:,}"
            raise damaged(file_of(place, name), f"it should run from 0 to {last:,} and runs from {got}")


def _verify(place: Path, manifest: Manifest, arrays: dict[str, NDArray[Any]]) -> None:
    from rankloom.kernels.threads import ordered_map

    names = list(arrays)
    sums = ordered_map(lambda name: checksum(arrays[name]), names)
    wrong = [name for name, found in zip(names, sums, strict=True) if found != manifest.arrays[name]["crc32"]]
    if wrong:
        others = f" (and {', '.join(f'{name}.npy' for name in wrong[1:])})" if wrong[1:] else ""
        raise damaged(
            file_of(place, wrong[0]), f"its values are not those written{others}: the checksum differs"
        )
    for name, edges in arrays.items():
        if name.endswith((".edges", "offsets")) and (edges[1:] < edges[:-1]).any():
            raise damaged(file_of(place, name), "its numbers must not decrease")
    try:
        check_csr(_features(manifest, arrays))
    except InputError as error:
        raise damaged(file_of(place, "columns"), str(error)) from error


def _features(manifest: Manifest, arrays: dict[str, NDArray[Any]]) -> Features:
    return Features(arrays["values"], arrays.get("columns"), arrays.get("row_offsets"), manifest.features)


def _parts(manifest: Manifest, arrays: dict[str, NDArray[Any]]) -> Parts:
    return Parts(
        _features(manifest, arrays),
        arrays.get("y"),
        arrays["offsets"],
        arrays["qids"] if "qids" in arrays else _texts("qids", arrays),
        arrays.get("order"),
        _texts("doc_ids", arrays),
        _texts("comments", arrays),
        arrays.get("weights"),
        arrays.get("query_weights"),
        _texts("feature_names", arrays),
    )


def _texts(name: str, arrays: dict[str, NDArray[Any]]) -> Texts | None:
    if f"{name}.blob" not in arrays:
        return None
    edges = arrays[f"{name}.edges"]
    return Texts(arrays[f"{name}.blob"], edges[:-1], edges[1:])
