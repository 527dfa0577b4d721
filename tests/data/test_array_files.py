"""Files that NumPy reads, written in pieces."""

from __future__ import annotations

import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from rankloom.data import array_files
from rankloom.data.array_files import HEADER_BYTES, ArrayWriter, checksum, header, map_array
from rankloom.errors import StoreError

DTYPES = ["<f4", "<f8", "<i8", "<u4", "<u8", "|u1"]


@given(st.sampled_from(DTYPES), st.lists(st.integers(0, 5), max_size=4), st.integers(0, 3), st.data())
@settings(max_examples=40)
def test_numpy_reads_what_is_written_in_pieces(tmp_path_factory, dtype, rows, width, data):
    path = tmp_path_factory.mktemp("arrays") / "a.npy"
    pieces = [data.draw(hnp.arrays(dtype, (count, width))) for count in rows]
    writer = ArrayWriter(path, dtype, (width,))
    for piece in pieces:
        writer.append(piece)
    entry = writer.finish()
    whole = np.concatenate([np.empty((0, width), dtype), *pieces])
    np.testing.assert_array_equal(np.load(path, allow_pickle=False), whole)
    mapped = map_array(path, dtype, whole.shape)
    np.testing.assert_array_equal(mapped, whole)
    assert entry == {
        "dtype": dtype,
        "shape": list(whole.shape),
        "bytes": path.stat().st_size,
        "crc32": f"{zlib.crc32(whole.tobytes()):08x}",
    }
    assert checksum(whole) == entry["crc32"]


def test_large_arrays_are_written_and_summed_in_steps(tmp_path, monkeypatch):
    monkeypatch.setattr(array_files, "_BYTES_PER_STEP", 100)
    array = np.arange(1000.0)
    writer = ArrayWriter(tmp_path / "a.npy", np.float64)
    writer.append(array[::2])
    assert (
        writer.finish()["crc32"] == checksum(array[::2].copy()) == f"{zlib.crc32(array[::2].tobytes()):08x}"
    )
    assert np.load(tmp_path / "a.npy").tolist() == array[::2].tolist()


def test_the_header_has_room_for_the_largest_shape():
    assert len(header(np.dtype("<f4"), (2**62, 2**31))) == HEADER_BYTES


def test_a_file_that_cannot_be_opened_is_damaged(tmp_path):
    (tmp_path / "a.npy").mkdir()
    with pytest.raises(StoreError, match=r"a.npy: it cannot be opened: Is a directory"):
        map_array(tmp_path / "a.npy", "<f4", (1,))


def test_an_array_is_not_written_over_another(tmp_path):
    (tmp_path / "a.npy").write_text("mine")
    with pytest.raises(FileExistsError):
        ArrayWriter(tmp_path / "a.npy", "<f4")
