"""Arrays as plain .npy files: written piece by piece with a checksum, opened by mapping them.

    magic (6 bytes), version 1.0, header length, "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }"
    padded with blanks to 256 bytes in all, then the values

The header has a fixed size, so that it can be written last, when the number of rows is known. The checksum
is the CRC-32 of the values: it finds accidents, not forgery, at the speed of the disk.
"""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import DTypeLike, NDArray

from rankloom.errors import StoreError

HEADER_BYTES = 256
_MAGIC = b"\x93NUMPY\x01\x00"
_BYTES_PER_STEP = 1 << 24


class ArrayWriter:
    """Writes one array to a new file, some rows at a time."""

    def __init__(self, path: Path, dtype: DTypeLike, row_shape: tuple[int, ...] = ()) -> None:
        self.dtype = np.dtype(dtype).newbyteorder("<")
        self.row_shape = row_shape
        self.rows = 0
        self._crc = 0
        self._file = path.open("xb")
        try:
            self._file.write(bytes(HEADER_BYTES))
        except BaseException:
            self.abandon()
            raise

    def append(self, array: NDArray[Any]) -> None:
        """Add rows at the end."""
        ready = np.ascontiguousarray(array, dtype=self.dtype)
        raw = ready.reshape(-1).view(np.uint8)
        for start in range(0, len(raw), _BYTES_PER_STEP):
            piece = raw[start : start + _BYTES_PER_STEP].data
            self._crc = zlib.crc32(piece, self._crc)
            self._file.write(piece)
        self.rows += len(ready)

    def finish(self) -> dict[str, Any]:
        """Write the header and close; what the manifest says of this file."""
        shape = (self.rows, *self.row_shape)
        self._file.seek(0)
        self._file.write(header(self.dtype, shape))
        size = self._file.seek(0, 2)
        self._file.close()
        return {"dtype": self.dtype.str, "shape": list(shape), "bytes": size, "crc32": f"{self._crc:08x}"}

    def abandon(self) -> None:
        """Close as it is."""
        self._file.close()


def header(dtype: np.dtype[Any], shape: tuple[int, ...]) -> bytes:
    """The first bytes of a .npy file."""
    text = str({"descr": dtype.str, "fortran_order": False, "shape": shape}).encode()
    length = HEADER_BYTES - len(_MAGIC) - 2
    return _MAGIC + length.to_bytes(2, "little") + text.ljust(length - 1) + b"\n"


def map_array(path: Path, dtype: str, shape: tuple[int, ...]) -> NDArray[Any]:
    """The array in this file, mapped read-only. Size, type and shape are checked; values are not read."""
    try:
        with path.open("rb") as file:
            _check_header(file, path, np.dtype(dtype), shape)
            if 0 in shape:
                return np.empty(shape, dtype=dtype)
            return np.asarray(np.memmap(file, dtype=dtype, mode="r", offset=HEADER_BYTES, shape=shape))
    except FileNotFoundError as error:
        raise damaged(path, "the file is missing") from error
    except OSError as error:
        raise damaged(path, f"it cannot be opened: {error.strerror or error}") from error


def _check_header(file: BinaryIO, path: Path, dtype: np.dtype[Any], shape: tuple[int, ...]) -> None:
    expected = HEADER_BYTES + dtype.itemsize * int(np.prod(shape, dtype=object))
    size = file.seek(0, 2)
    if size != expected:
        raise damaged(path, f"it should have {expected:,} bytes and has {size:,}")
    file.seek(0)
    if file.read(HEADER_BYTES) != header(dtype, shape):
        raise damaged(path, f"its header is not that of {dtype.name} values of shape {shape}")


def checksum(array: NDArray[Any]) -> str:
    """The CRC-32 of an array's values, as the manifest has it."""
    raw = array.reshape(-1).view(np.uint8)
    crc = 0
    for start in range(0, len(raw), _BYTES_PER_STEP):
        crc = zlib.crc32(raw[start : start + _BYTES_PER_STEP].data, crc)
    return f"{crc:08x}"


def damaged(path: Path, reason: str) -> StoreError:
    """The error for a file of a store that is not as it was written."""
    hint = "restore it from a copy or write the store anew"
    return StoreError(f"the store {path.parent} is damaged: {path.name}: {reason}; {hint}")
