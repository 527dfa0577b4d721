"""The file a model is kept in: one zip that any tool opens, with nothing in it that runs.

manifest.json    format, version, written_by, kind of model, arrays (type and shape of each), facts
NAME.npy         one plain array each, little-endian
A.NAME.npy       an array of the model A that this one holds; its kind and facts stand under "parts"

The manifest comes first, and nothing is compressed: the first bytes of a file say what it is, and what is
read is never more than the file. Zip keeps a CRC-32 of each part. A file has no date in it: the same model is
the same bytes.
"""

from __future__ import annotations

import io
import json
import os
import struct
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankloom.data.files import atomic_path
from rankloom.errors import ModelError

FORMAT = "rankloom-model"
VERSION = 1
MANIFEST = "manifest.json"
_ZIP = b"PK\x03\x04"
_START = 30 + len(MANIFEST)  # a zip's first header, and the first name
_NO_DATE = (1980, 1, 1, 0, 0, 0)

# What zipfile raises at damaged files; a fuzzing test looks for others.
_BROKEN = (
    zipfile.BadZipFile,
    struct.error,
    ValueError,
    RuntimeError,
    EOFError,
    OSError,
    LookupError,
    OverflowError,
)


class Content(NamedTuple):
    """What a model file holds: the kind of model, plain facts, and arrays."""

    kind: str
    facts: dict[str, Any]
    arrays: dict[str, NDArray[Any]]


def with_parts(content: Content, parts: Mapping[str, Content]) -> Content:
    """A model's content with that of the models it holds, each by a name; `part` takes one out again."""
    facts, arrays = dict(content.facts), dict(content.arrays)
    facts["parts"] = {
        name: {"kind": inner.kind, "facts": inner.facts, "arrays": list(inner.arrays)}
        for name, inner in parts.items()
    }
    for name, inner in parts.items():
        arrays.update({f"{name}.{array}": values for array, values in inner.arrays.items()})
    return Content(content.kind, facts, arrays)


def part(path: Any, content: Content, name: str) -> Content:
    """The content of a model that this one holds."""
    try:
        head = content.facts["parts"][name]
        arrays = {array: content.arrays[f"{name}.{array}"] for array in head["arrays"]}
        kind, facts = head["kind"], head["facts"]
    except (KeyError, TypeError) as error:
        raise damaged(path, f"the model {name!r} that it should hold is not whole") from error
    if not isinstance(kind, str) or not isinstance(facts, dict):
        raise damaged(path, f"the model {name!r} that it should hold has no kind, or no facts")
    return Content(kind, facts, arrays)


def write_model(path: str | os.PathLike[str], content: Content) -> None:
    """Write a model file, whole or not at all."""
    arrays = {name: np.ascontiguousarray(array) for name, array in content.arrays.items()}
    arrays = {name: array.astype(array.dtype.newbyteorder("<"), copy=False) for name, array in arrays.items()}
    head = {
        "format": FORMAT,
        "version": VERSION,
        "written_by": f"rankloom {_version()}",
        "kind": content.kind,
        "arrays": {name: {"dtype": a.dtype.str, "shape": list(a.shape)} for name, a in arrays.items()},
        "facts": content.facts,
    }
    with atomic_path(path) as temporary, zipfile.ZipFile(temporary, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(_entry(MANIFEST), json.dumps(head, indent=1, allow_nan=False) + "\n")
        for name, array in arrays.items():
            with archive.open(
                _entry(f"{name}.npy"), "w", force_zip64=array.nbytes > zipfile.ZIP64_LIMIT
            ) as file:
                np.lib.format.write_array(file, array, version=(1, 0), allow_pickle=False)


def _entry(name: str) -> zipfile.ZipInfo:
    """A part of the zip that is the same on every system and day."""
    entry = zipfile.ZipInfo(name, _NO_DATE)
    entry.create_system = 3
    entry.external_attr = 0o644 << 16
    return entry


def _version() -> str:
    from rankloom import __version__

    return __version__


def looks_like_model(path: str | os.PathLike[str]) -> bool:
    """Whether a file starts as a model file does. A zip of another kind is a model that cannot be loaded."""
    try:
        with Path(path).open("rb") as file:
            return file.read(len(_ZIP)) == _ZIP
    except OSError:
        return False


def read_model(path: str | os.PathLike[str]) -> Content:
    """Read a model file; whatever is not as it was written is a ModelError."""
    with Path(path).open("rb") as file:
        start = file.read(_START)
        if not start:
            raise ModelError(f"{path} is no model: it is empty")
        if not start.startswith(_ZIP) or not start.endswith(MANIFEST.encode()):
            raise ModelError(f"{path} is no model: it does not start as a file that rankloom saved")
        text = start + file.read()
    if not zipfile.is_zipfile(io.BytesIO(text)):
        raise damaged(path, "its end is missing")
    try:
        parts = _parts(text)
    except _BROKEN as error:
        raise damaged(path, str(error) or type(error).__name__) from error
    return _content(path, parts)


def _parts(text: bytes) -> dict[str, bytes]:
    """Every part of the zip by its name, checked against its CRC. Nothing is unpacked to the disk."""
    parts: dict[str, bytes] = {}
    with zipfile.ZipFile(io.BytesIO(text)) as archive:
        entries = archive.infolist()
        if sum(entry.file_size for entry in entries) > len(text):
            raise ValueError("its parts are larger than the file")
        for entry in entries:
            if entry.compress_type != zipfile.ZIP_STORED:
                raise ValueError(f"{entry.filename} is compressed, which rankloom never does")
            if entry.filename in parts:
                raise ValueError(f"{entry.filename} is in it twice")
            parts[entry.filename] = archive.read(entry)
    return parts


def _content(path: Any, parts: dict[str, bytes]) -> Content:
    if MANIFEST not in parts:
        raise damaged(path, f"it has no {MANIFEST}")
    head = _manifest(path, parts.pop(MANIFEST))
    known = {f"{name}.npy": name for name in head["arrays"]}
    for name in parts:
        if name not in known:
            raise damaged(path, f"it holds {name!r}, which its {MANIFEST} does not name")
    arrays = {}
    for file_name, name in known.items():
        if file_name not in parts:
            raise damaged(path, f"it has no {file_name}")
        try:
            arrays[name] = _array(parts[file_name], head["arrays"][name])
        except (ValueError, TypeError, KeyError, OverflowError) as error:
            raise damaged(path, f"{file_name}: {error}") from error
    return Content(head["kind"], head["facts"], arrays)


def _manifest(path: Any, text: bytes) -> dict[str, Any]:
    try:
        head = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise damaged(path, f"its {MANIFEST} is no JSON ({error})") from error
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        raise ModelError(f"{path} is no model: its {MANIFEST} does not say {FORMAT!r}")
    version = head.get("version")
    if type(version) is int and version > VERSION:
        raise ModelError(
            f"the model {path} was written by {head.get('written_by', 'a newer rankloom')} in format version "
            f"{version}, and this rankloom reads up to version {VERSION}; upgrade rankloom"
        )
    if type(version) is not int or version != VERSION:
        raise damaged(path, f"version must be {VERSION}, got {version!r}")
    for name, kind in (("kind", str), ("facts", dict), ("arrays", dict)):
        if not isinstance(head.get(name), kind):
            raise damaged(path, f"its {MANIFEST} has no {name}")
    return head


def _array(text: bytes, entry: Any) -> NDArray[Any]:
    """A .npy file's values, if its header says what the manifest says and its size fits both."""
    file = io.BytesIO(text)
    if np.lib.format.read_magic(file) != (1, 0):
        raise ValueError("it is no .npy file of version 1.0")
    shape, by_column, dtype = np.lib.format.read_array_header_1_0(file)
    found = {"dtype": dtype.str, "shape": list(shape)}
    if found != entry or by_column or dtype.hasobject:
        raise ValueError(f"its header says {found}, and the {MANIFEST} {entry!r:.80}")
    left = len(text) - file.tell()
    size = dtype.itemsize * int(np.prod(shape, dtype=object))
    if left != size:
        raise ValueError(f"it should have {size:,} bytes of values and has {left:,}")
    return np.frombuffer(text, dtype, offset=file.tell()).reshape(shape)


def damaged(path: Any, reason: str) -> ModelError:
    """The error for a model file that is not as it was written."""
    return ModelError(f"the model {path} is damaged: {reason}; restore it from a copy, or train it again")
