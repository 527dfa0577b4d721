"""The journal's file: what is written is read, what is torn is cut off, what is damaged is refused."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from rankloom.errors import StoreError
from rankloom.online import journal

PAYLOADS = [b"", b"one", b"RLr1" * 5, bytes(range(256)), b"last"]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    place = tmp_path / "journal.log"
    journal.create(place, 7, [journal.digest("a"), journal.digest("b")])
    end = journal.Appender(place, journal.scan(place).end, 7)
    assert end.append(PAYLOADS[:2]) == 9
    assert [end.append([payload]) for payload in PAYLOADS[2:]] == [10, 11, 12]
    end.close()
    return place


def test_what_is_written_is_read(path: Path) -> None:
    found = journal.scan(path)
    assert [record.payload for record in found.records] == PAYLOADS
    assert [record.number for record in found.records] == [8, 9, 10, 11, 12]
    assert (found.base, found.torn, found.end) == (7, 0, path.stat().st_size)
    assert found.digests == [journal.digest("a"), journal.digest("b")]


def test_every_torn_end_is_cut_off(path: Path) -> None:
    """Wherever the file ends, all whole records before are there, and writing goes on after them."""
    text, whole = path.read_bytes(), journal.scan(path)
    first = whole.records[0].end
    for size in range(first, len(text)):
        path.write_bytes(text[:size])
        found = journal.scan(path)
        kept = [record for record in whole.records if record.end <= size]
        assert found.records == kept
        assert found.torn == size - kept[-1].end
    end = journal.Appender(path, found.end, found.records[-1].number)
    assert path.stat().st_size == found.end
    end.append([b"again"])
    end.close()
    assert journal.scan(path).records[-1].payload == b"again"


def test_zeros_where_a_record_should_be_are_torn_too(path: Path) -> None:
    """Some file systems lengthen a file before they fill it."""
    whole = journal.scan(path)
    text = path.read_bytes()[: whole.records[3].end]
    path.write_bytes(text + bytes(100))
    assert journal.scan(path).records == whole.records[:4]
    path.write_bytes(text + journal.packed(12, b"last")[:20] + bytes(80))
    assert journal.scan(path).torn == 100


def test_every_flipped_bit_is_noticed(path: Path) -> None:
    text, whole = path.read_bytes(), journal.scan(path)
    last = whole.records[-2].end
    for at in range(len(text)):
        path.write_bytes(text[:at] + bytes([text[at] ^ 4]) + text[at + 1 :])
        if at >= last:  # nothing follows: as if it had not been written to its end
            assert journal.scan(path).records == whole.records[:-1]
            continue
        with pytest.raises(StoreError, match=r"the journal .* is damaged: .*; restore it from a copy"):
            journal.scan(path)


@pytest.mark.parametrize("text", [b"", b"rankloom", b"rankloom journal 1\n", b"something else altogether"])
def test_no_journal_at_all(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "x").write_bytes(text)
    with pytest.raises(StoreError, match="is damaged: it"):
        journal.scan(tmp_path / "x")


@pytest.mark.parametrize("written", [0, 11])
def test_a_full_disk_leaves_the_journal_as_it_was(path: Path, monkeypatch: Any, written: int) -> None:
    before = path.read_bytes()
    end, real = journal.Appender(path, len(before), 12), os.write

    def full(file: int, text: Any) -> int:
        if written and len(text) > written + 20:
            return real(file, text[:written])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="No space left on device; the journal is as it was") as caught:
        end.append([b"x" * 40])
    assert caught.value.errno == errno.ENOSPC
    assert path.read_bytes() == before
    monkeypatch.undo()
    assert end.append([b"there is room again"]) == 13
    end.close()
    assert journal.scan(path).records[-1].payload == b"there is room again"


def test_a_journal_that_cannot_be_put_right_takes_no_more(path: Path, monkeypatch: Any) -> None:
    end = journal.Appender(path, path.stat().st_size, 12)

    def fails(*_: Any) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(journal, "_flush", fails)
    monkeypatch.setattr(os, "ftruncate", fails)
    with pytest.raises(OSError, match="Input/output error"):
        end.append([b"x"])
    monkeypatch.undo()
    with pytest.raises(StoreError, match="open it again"):
        end.append([b"x"])
    end.close()
