"""Bytes from anywhere, as blocks of whole lines: plain or compressed files, standard input, several as one.

    block = text[start:stop], PADDING readable bytes on either side, text[stop - 1] a newline

Compression is known by a file's first bytes, not by its name. A block is filled by reading into it, so that
the memory in use is that of the blocks under way, whatever the size of the file.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankloom.errors import InputError, ParseError

BLOCK_BYTES = 1 << 19
PADDING = 64
_NEWLINE = 10
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_LONGEST_MAGIC = 6

Progress = Callable[[int, int | None], None]


class Block(NamedTuple):
    """Whole lines of one source."""

    text: NDArray[np.uint8]
    start: int
    stop: int
    name: str
    is_first: bool


class Buffers:
    """Byte arrays in turn: one is given back when its block has been used, and taken again."""

    def __init__(self) -> None:
        self._free: list[NDArray[np.uint8]] = []

    def take(self) -> NDArray[np.uint8]:
        """A buffer that nobody uses, made if need be."""
        return self._free.pop() if self._free else np.empty(BLOCK_BYTES + 2 * PADDING, dtype=np.uint8)

    def give_back(self, buffer: NDArray[np.uint8]) -> None:
        """Let a buffer be taken again, unless it grew for a long line."""
        if len(buffer) == BLOCK_BYTES + 2 * PADDING:
            self._free.append(buffer)


def source_names(sources: Any) -> list[Any]:
    """One source or several, as a list: paths, "-" for standard input, or open binary files."""
    if isinstance(sources, (str, os.PathLike)) or hasattr(sources, "read"):
        return [sources]
    names = list(sources) if isinstance(sources, Iterable) else []
    if not names:
        raise InputError(
            f"a source must be a path, '-', an open binary file or a list of them, got {sources!r:.80}"
        )
    return names


def line_blocks(sources: Any, buffers: Buffers, progress: Progress | None = None) -> Iterator[Block]:
    """The lines of all sources in order, as blocks of one source each. A missing last newline is added."""
    names = source_names(sources)
    total = _total_bytes(names)
    done = 0
    for source in names:
        with opened(source) as (file, name, position):
            for block in _blocks_of(file, name, buffers):
                yield block
                if progress is not None:
                    progress(done + position(), total)
            done += position()


@contextmanager
def opened(source: Any) -> Iterator[tuple[IO[bytes], str, Callable[[], int]]]:
    """Open a source, decompressing: (file, its name, a function that tells how many raw bytes were read)."""
    with ExitStack() as stack:
        raw, name = _open_raw(source, stack)
        counted = _Counted(raw, name)
        buffered = io.BufferedReader(counted, 1 << 18)
        magic = buffered.peek(_LONGEST_MAGIC)[:_LONGEST_MAGIC]
        opener = next((opener for start, opener in _OPENERS if magic.startswith(start)), None)
        file: Any = _Joined(buffered.peek(), counted) if opener is None else opener(buffered)
        yield file, name, lambda: counted.n_bytes


def _open_raw(source: Any, stack: ExitStack) -> tuple[Any, str]:
    if isinstance(source, str) and source == "-":
        return sys.stdin.buffer, "standard input"
    if hasattr(source, "read"):
        name = getattr(source, "name", None)
        return source, name if isinstance(name, str) else "<open file>"
    path = Path(source)
    if path.is_dir():
        raise InputError(f"{path} is a folder; give a file")
    try:
        return stack.enter_context(path.open("rb", buffering=0)), str(path)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; look at the path") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from error


class _Counted(io.RawIOBase):
    """A raw file that counts what was read from it. Turns what a text file gives into a clear error."""

    def __init__(self, raw: Any, name: str) -> None:
        self._raw, self._name, self.n_bytes = raw, name, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if hasattr(self._raw, "readinto"):
            count = self._raw.readinto(buffer) or 0
        else:
            chunk = self._raw.read(len(buffer))
            if isinstance(chunk, str):
                raise InputError(f"{self._name} is open as text; open it in binary mode ('rb')")
            count = len(chunk)
            buffer[:count] = chunk
        self.n_bytes += count
        return count


class _Joined(io.RawIOBase):
    """First what a buffer holds already, then straight from the file into the reader's own memory."""

    def __init__(self, head: bytes, rest: _Counted) -> None:
        self._head, self._rest = memoryview(head), rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._head:
            return self._rest.readinto(buffer)
        count = min(len(buffer), len(self._head))
        buffer[:count] = self._head[:count]
        self._head = self._head[count:]
        return count


def _open_gzip(file: Any) -> Any:
    import gzip

    return gzip.GzipFile(fileobj=file, mode="rb")


def _open_bz2(file: Any) -> Any:
    import bz2

    return bz2.BZ2File(file, "rb")


def _open_xz(file: Any) -> Any:
    import lzma

    return lzma.LZMAFile(file, "rb")


def _open_zstd(file: Any) -> Any:
    return zstd_module().ZstdFile(file, "rb")


def zstd_module() -> Any:
    """The standard library's zstd, or on Python before 3.14 its backport."""
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd


_OPENERS: list[tuple[bytes, Callable[[Any], Any]]] = [
    (b"\x1f\x8b", _open_gzip),
    (b"BZh", _open_bz2),
    (b"\xfd7zXZ\x00", _open_xz),
    (b"\x28\xb5\x2f\xfd", _open_zstd),
]


def _total_bytes(names: list[Any]) -> int | None:
    """Size of all sources together as they lie on disk, or None if one does not say."""
    try:
        sizes = [os.fstat(name.fileno()) if hasattr(name, "read") else Path(name).stat() for name in names]
    except (OSError, AttributeError, ValueError):
        return None
    return sum(size.st_size for size in sizes) or None


def plain_bytes(sources: Any) -> int | None:
    """How many bytes of text there are; None where that shows only in reading: compressed files, pipes."""
    names = source_names(sources)
    total = _total_bytes(names)
    if total is None or not all(
        isinstance(name, (str, os.PathLike)) and Path(name).is_file() for name in names
    ):
        return None
    for name in names:
        with Path(name).open("rb") as file:
            magic = file.read(_LONGEST_MAGIC)
        if any(magic.startswith(start) for start, _ in _OPENERS):
            return None
    return total


def _blocks_of(file: Any, name: str, buffers: Buffers) -> Iterator[Block]:
    text, stop, is_first = buffers.take(), PADDING, True
    while True:
        count = _fill(file, name, text, stop)
        stop += count
        if is_first and bytes(text[PADDING : PADDING + 3]) == _BYTE_ORDER_MARK and stop >= PADDING + 3:
            text[PADDING : PADDING + 3] = 32
        if count == 0:
            if stop > PADDING:
                text[stop] = _NEWLINE
                yield Block(text, PADDING, stop + 1, name, is_first)
            return
        cut = last_newline(text, PADDING, stop) + 1
        if cut == 0 and stop < len(text) - PADDING:
            continue
        if cut == 0:
            text = np.concatenate((text, np.empty(len(text), dtype=np.uint8)))
            continue
        following = buffers.take() if len(text) - 2 * PADDING == BLOCK_BYTES else np.empty_like(text)
        rest = stop - cut
        following[PADDING : PADDING + rest] = text[cut:stop]
        yield Block(text, PADDING, cut, name, is_first)
        text, stop, is_first = following, PADDING + rest, False


def _fill(file: Any, name: str, text: NDArray[np.uint8], start: int) -> int:
    """Read into text from `start` until it is full or the source ends; how many bytes."""
    view = text[start : len(text) - PADDING].data
    filled = 0
    while filled < len(view):
        try:
            count = file.readinto(view[filled:])
        except (EOFError, OSError, ValueError) as error:
            _raise_unreadable(name, error)
        except Exception as error:  # zlib, lzma and zstd each have an error class of their own
            _raise_unreadable(name, error)
        if not count:
            break
        filled += count
    return filled


def _raise_unreadable(name: str, error: Exception) -> None:
    if isinstance(error, InputError):
        raise error
    if isinstance(error, EOFError):
        raise ParseError(
            "the compressed file ends in the middle; it was cut off, get it again", name
        ) from error
    reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
    raise ParseError(f"cannot be read: {reason}", name) from error


def last_newline(text: NDArray[np.uint8], start: int, stop: int) -> int:
    """Where the last newline of text[start:stop] stands, or -1."""
    step = 4096
    while stop > start:
        first = max(start, stop - step)
        found = text[first:stop].tobytes().rfind(b"\n")
        if found >= 0:
            return first + found
        stop, step = first, step * 8
    return -1
