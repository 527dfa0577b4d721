"""Where text goes: a file, whole or not at all and compressed by its suffix; an open binary file; or `-`.

Compressed files hold neither a name nor a time, so that the same content gives the same bytes.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from rankloom.data.files import atomic_path
from rankloom.data.sources import zstd_module
from rankloom.errors import InputError

COMPRESSED = (".gz", ".bz2", ".xz", ".zst")
_BUFFER = 1 << 20

Target = str | os.PathLike[str] | IO[bytes]


@contextmanager
def open_target(target: Target) -> Iterator[Any]:
    """A file to write bytes to. A path is written atomically; `-` is standard output."""
    if isinstance(target, io.TextIOBase):
        raise InputError("the target must be open for bytes, got one open for text; open it with mode 'wb'")
    if hasattr(target, "write"):
        yield target
    elif target == "-":
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    else:
        with (
            atomic_path(target) as temporary,
            temporary.open("wb", buffering=_BUFFER) as file,
            _compressor(file, Path(target).suffix.lower()) as stream,
        ):
            yield stream


@contextmanager
def _compressor(file: IO[bytes], suffix: str) -> Iterator[Any]:
    """What is written to the result arrives in `file`, compressed as its suffix says."""
    if suffix not in COMPRESSED:
        yield file
        return
    with _compressed(file, suffix) as stream:
        yield stream


def _compressed(file: IO[bytes], suffix: str) -> Any:
    if suffix == ".gz":
        import gzip

        return gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=file, mtime=0)
    if suffix == ".bz2":
        import bz2

        return bz2.BZ2File(file, "wb")
    if suffix == ".xz":
        import lzma

        return lzma.LZMAFile(file, "wb", preset=3)
    return zstd_module().ZstdFile(file, "wb")
