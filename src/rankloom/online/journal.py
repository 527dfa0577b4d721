"""An append-only file of records: each is whole, or it is not there.

    file    "rankloom journal 1\\n"  base (8)  count (8)  count digests (16 each)  CRC-32 of all before (4)
    record  "RLr1"  length (4)  number (8)  CRC-32 of these (4)  payload  CRC-32 of the payload (4)

all numbers little-endian. Records are numbered on from `base` + 1; the digests are those of ids that came
before. An append is one write and one flush to the disk (fdatasync): a record is safe once `append` returns.

A process or a machine that dies in the middle of a write leaves a torn last record, which is cut off: nobody
was told that it is safe. Damage anywhere else is refused, since what comes after it cannot be trusted to
follow.
"""

from __future__ import annotations

import hashlib
import os
import struct
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from rankloom.data.files import atomic_path
from rankloom.errors import StoreError

START = b"rankloom journal 1\n"
MARK = b"RLr1"
_TOP = struct.Struct("<QQ")
_HEAD = struct.Struct("<4sIQ")
_CRC = struct.Struct("<I")
DIGEST = 16
_HEAD_BYTES = _HEAD.size + _CRC.size


class Record(NamedTuple):
    """One record, and where it ends in the file."""

    number: int
    payload: bytes
    end: int


class Scan(NamedTuple):
    """What a journal holds. `torn` bytes at its end are no whole record."""

    base: int
    digests: list[bytes]
    records: list[Record]
    end: int
    torn: int


def digest(text: str) -> bytes:
    """What stands for an id."""
    return hashlib.blake2b(text.encode(), digest_size=DIGEST).digest()


def packed(number: int, payload: bytes) -> bytes:
    """A record as the file has it."""
    head = _HEAD.pack(MARK, len(payload), number)
    return head + _CRC.pack(zlib.crc32(head)) + payload + _CRC.pack(zlib.crc32(payload))


def create(path: Path, base: int, digests: Sequence[bytes], records: Sequence[Record] = ()) -> None:
    """A new journal with these records, whole or not at all."""
    top = START + _TOP.pack(base, len(digests)) + b"".join(digests)
    with atomic_path(path) as temporary, temporary.open("wb") as file:
        file.write(top + _CRC.pack(zlib.crc32(top)))
        for record in records:
            file.write(packed(record.number, record.payload))


class Appender:
    """The end of a journal, to write at."""

    def __init__(self, path: Path, end: int, last: int) -> None:
        self.path, self.last, self._end = path, last, end
        self._file = os.open(path, os.O_RDWR)
        if os.fstat(self._file).st_size > end:
            os.ftruncate(self._file, end)
            os.fsync(self._file)
        self._broken = False

    def append(self, payloads: Sequence[bytes]) -> int:
        """Put records at the end and flush them to the disk at once. The number of the last.

        Where that fails, none of them is in the journal, and the error says so.
        """
        if self._broken:
            raise StoreError(f"{self.path} could not be put right after a failed write; open it again")
        numbers = range(self.last + 1, self.last + 1 + len(payloads))
        text = b"".join(packed(number, one) for number, one in zip(numbers, payloads, strict=True))
        try:
            _write_all(self._file, text, self._end)
            _flush(self._file)
        except OSError as error:
            self._undo()
            reason = f"{error.strerror or error}; the journal is as it was, and this feedback is not learned"
            raise OSError(error.errno, reason, str(self.path)) from error
        except BaseException:
            self._undo()
            raise
        self._end += len(text)
        self.last += len(payloads)
        return self.last

    def _undo(self) -> None:
        try:
            os.ftruncate(self._file, self._end)
            os.fsync(self._file)
        except OSError:
            self._broken = True

    def close(self) -> None:
        """Nothing is left to be written."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def _write_all(file: int, text: bytes, at: int) -> None:
    os.lseek(file, at, os.SEEK_SET)
    view = memoryview(text)
    while view:
        view = view[os.write(file, view) :]


def _flush(file: int) -> None:
    getattr(os, "fdatasync", os.fsync)(file)


def scan(path: Path) -> Scan:
    """Read a journal through, checking everything."""
    text = path.read_bytes()
    base, digests, start = _top(path, text)
    records = list(_records(path, text, start, base + 1))
    end = records[-1].end if records else start
    return Scan(base, digests, records, end, len(text) - end)


def _top(path: Path, text: bytes) -> tuple[int, list[bytes], int]:
    if not text.startswith(START):
        raise damaged(path, "it does not start as a journal does")
    at = len(START) + _TOP.size
    if len(text) < at:
        raise damaged(path, "its start is not whole")
    base, count = _TOP.unpack_from(text, len(START))
    end = at + DIGEST * count
    if len(text) < end + _CRC.size or _CRC.unpack_from(text, end)[0] != zlib.crc32(text[:end]):
        raise damaged(path, "its start is not as it was written")
    return base, [text[place : place + DIGEST] for place in range(at, end, DIGEST)], end + _CRC.size


def _records(path: Path, text: bytes, at: int, number: int) -> Iterator[Record]:
    while at < len(text):
        record = _record(text, at, number)
        if record is None:
            _check_torn(path, text, at, number)
            return
        yield record
        at, number = record.end, number + 1


def _record(text: bytes, at: int, number: int) -> Record | None:
    """The record of this number here, or None."""
    body = at + _HEAD_BYTES
    if body > len(text):
        return None
    mark, length, found = _HEAD.unpack_from(text, at)
    whole = zlib.crc32(text[at : at + _HEAD.size]) == _CRC.unpack_from(text, at + _HEAD.size)[0]
    end = body + length + _CRC.size
    if mark != MARK or not whole or found != number or end > len(text):
        return None
    payload = text[body : body + length]
    if zlib.crc32(payload) != _CRC.unpack_from(text, body + length)[0]:
        return None
    return Record(number, payload, end)


def _check_torn(path: Path, text: bytes, at: int, number: int) -> None:
    """Refuse damage that is not at the end: a whole record of a later number comes after it."""
    place = text.find(MARK, at + 1)
    while place >= 0:
        if place + _HEAD.size <= len(text):
            later = _HEAD.unpack_from(text, place)[2]
            if later >= number and _record(text, place, later) is not None:
                raise damaged(path, f"record {number} is broken at byte {at}, and record {later} follows it")
        place = text.find(MARK, place + 1)


def damaged(path: Path, reason: str) -> StoreError:
    """The error for a journal that is not as it was written."""
    return StoreError(f"the journal {path} is damaged: {reason}; restore it from a copy")
