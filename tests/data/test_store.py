"""The store: what is saved opens the same, at once, and is either whole or said to be damaged."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from rankloom.data import store
from rankloom.data.ranking_data import RankingData
from rankloom.data.store import is_store, let_go, load_store, save_store, verify_store
from rankloom.data.texts import Texts
from rankloom.errors import InputError, StoreError
from twins.data_examples import ranking_data


def example(**more):
    return RankingData(
        [[1, 2], [3, 4], [5, 6]],
        [0, 1, 2],
        ["b", "a", "b"],
        **{"doc_ids": ["x", "ÿ", ""], "feature_names": ["u", "v"], **more},
    )


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("stores")


@pytest.fixture
def saved(tmp_path):
    save_store(example(), tmp_path / "a.store")
    return tmp_path / "a.store"


@given(ranking_data())
@settings(max_examples=60)
def test_what_is_saved_opens_equal(folder, data):
    save_store(data, folder / "any.store")
    again = load_store(folder / "any.store", verify=True)
    assert again == data
    assert again.qids.dtype == data.qids.dtype
    assert again.fingerprint() == data.fingerprint()
    assert [path.name for path in folder.iterdir()] == ["any.store"]


@given(ranking_data(grouped=True), st.integers(1, 8))
@settings(max_examples=40)
def test_saved_in_parts_or_at_once_is_the_same(folder, data, rows):
    save_store(data.blocks(rows), folder / "parts.store")
    assert load_store(folder / "parts.store", verify=True) == data


def test_parts_keep_the_callers_order_over_all_of_them(tmp_path):
    parts = [RankingData([[1], [2]], None, [1, 2]), RankingData([[3], [4], [5]], None, [7, 8, 7])]
    save_store(iter(parts), tmp_path / "a.store")
    data = load_store(tmp_path / "a.store")
    assert data.in_caller_order(data.X.ravel()).tolist() == [1, 2, 3, 4, 5]
    assert data.order.tolist() == [0, 1, 2, 4, 3]


def test_arrays_are_mapped_and_nothing_can_be_written_back(saved):
    data = load_store(saved)
    for array in (data.X, data.y, data.offsets, data.order):
        assert type(array) is np.ndarray
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.flags.writeable = True
    assert isinstance(data.doc_ids, Texts)


def test_files_are_plain_arrays(saved):
    assert np.load(saved / "values.npy").tolist() == [[1, 2], [5, 6], [3, 4]]
    assert np.load(saved / "offsets.npy").tolist() == [0, 2, 3]
    assert np.load(saved / "doc_ids.blob.npy").tobytes() == "xÿ".encode()
    manifest = json.loads((saved / "manifest.json").read_text())
    assert manifest["rows"] == 3
    assert manifest["arrays"]["y"]["dtype"] == "<f8"


def test_a_store_says_who_wrote_it(saved, monkeypatch):
    assert (
        json.loads((saved / "manifest.json").read_text())["written_by"] == f"rankloom {version('rankloom')}"
    )

    def not_installed(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr("importlib.metadata.version", not_installed)
    save_store(example(), saved)
    assert json.loads((saved / "manifest.json").read_text())["written_by"] == "rankloom"
    assert load_store(saved) == example()


def test_opening_reads_no_values(tmp_path):
    """A store of 64 GB, most of it a hole in the file, opens."""
    save_store(RankingData(np.zeros((1, 1))), tmp_path / "a.store")
    rows = 2**34
    manifest = json.loads((tmp_path / "a.store" / "manifest.json").read_text())
    manifest["rows"] = rows
    for name, shape in {"values": [rows, 1], "offsets": [2]}.items():
        manifest["arrays"][name] |= {"shape": shape}
    from rankloom.data.array_files import HEADER_BYTES, header

    with (tmp_path / "a.store" / "values.npy").open("r+b") as file:
        file.write(header(np.dtype("<f4"), (rows, 1)))
        file.truncate(HEADER_BYTES + 4 * rows)
    with (tmp_path / "a.store" / "offsets.npy").open("r+b") as file:
        file.seek(HEADER_BYTES + 8)
        file.write(np.int64(rows).tobytes())
    (tmp_path / "a.store" / "manifest.json").write_text(json.dumps(manifest))
    data = load_store(tmp_path / "a.store")
    assert data.n_rows == rows
    assert data.X[rows - 1, 0] == 0


def test_a_store_can_replace_itself(saved):
    data = load_store(saved)
    save_store(data, saved)
    assert load_store(saved) == data == example()


def test_only_a_store_is_overwritten(tmp_path):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "mine.txt").write_text("mine")
    with pytest.raises(InputError, match="a folder that is not a store, so it is not overwritten"):
        save_store(example(), tmp_path / "notes")
    assert (tmp_path / "notes" / "mine.txt").read_text() == "mine"
    with pytest.raises(InputError, match=r"a store is a folder, and .*mine.txt is a file"):
        save_store(example(), tmp_path / "notes" / "mine.txt")
    (tmp_path / "empty").mkdir()
    save_store(example(), tmp_path / "empty")
    assert is_store(tmp_path / "empty")
    assert not is_store(tmp_path / "notes")


class Stop(BaseException):
    pass


@pytest.mark.parametrize("error", [KeyboardInterrupt, Stop, MemoryError])
def test_what_breaks_off_leaves_the_old_store(saved, error):
    def parts():
        yield RankingData([[1.0]], [1], ["z"], doc_ids=["d"])
        raise error

    with pytest.raises(error):
        save_store(parts(), saved)
    assert load_store(saved, verify=True) == example()
    assert names(saved.parent) == ["a.store"]
    with pytest.raises(error):
        save_store(parts(), saved.parent / "new.store")
    assert names(saved.parent) == ["a.store"]


@pytest.mark.parametrize("after", range(0, 9, 2))
def test_a_full_disk_leaves_the_old_store(saved, monkeypatch, after):
    """The disk is full after some writes."""
    written = []

    class FullFile:
        def __init__(self, file):
            self.file = file

        def write(self, data):
            written.append(len(data))
            if len(written) > after:
                raise OSError(errno.ENOSPC, "No space left on device")
            return self.file.write(data)

        def __getattr__(self, name):
            return getattr(self.file, name)

    opened = Path.open
    monkeypatch.setattr(
        Path,
        "open",
        lambda self, mode="r", *rest: (
            FullFile(opened(self, mode, *rest)) if mode == "xb" else opened(self, mode, *rest)
        ),
    )
    with pytest.raises(OSError, match="No space left on device; nothing there was changed") as caught:
        save_store(RankingData([[9.0]], [1], ["z"]), saved)
    assert caught.value.filename == str(saved)
    monkeypatch.undo()
    assert load_store(saved, verify=True) == example()
    assert names(saved.parent) == ["a.store"]


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_killed_process_leaves_the_old_store_and_no_lasting_rest(saved):
    script = (
        "import sys, os; from rankloom.data.store import save_store\n"
        "from rankloom.data.ranking_data import RankingData\n"
        "def parts():\n    yield RankingData([[1.0]], [1], ['z'])\n    os.kill(os.getpid(), 9)\n"
        "save_store(parts(), sys.argv[1])"
    )
    subprocess.run([sys.executable, "-c", script, str(saved)], check=False)
    assert load_store(saved, verify=True) == example()
    assert len(names(saved.parent)) == 2
    save_store(example(), saved)
    assert names(saved.parent) == ["a.store"]


def change(path: Path, position: int) -> None:
    """Flip one bit of the byte at a position."""
    raw = bytearray(path.read_bytes())
    raw[position] ^= 1
    path.write_bytes(raw)


FILES = ["values", "offsets", "qids.blob", "qids.edges", "y", "order", "doc_ids.blob", "feature_names.edges"]


@pytest.mark.parametrize("name", FILES)
def test_a_missing_or_cut_or_longer_file_is_found_on_opening(saved, name):
    path = saved / f"{name}.npy"
    raw = path.read_bytes()
    path.write_bytes(raw[:-1])
    with pytest.raises(
        StoreError, match=rf"{name}.npy: it should have {len(raw)} bytes and has {len(raw) - 1}"
    ):
        load_store(saved)
    path.write_bytes(raw + b"\x00")
    with pytest.raises(StoreError, match="is damaged"):
        load_store(saved)
    path.unlink()
    with pytest.raises(StoreError, match=rf"a.store is damaged: {name}.npy: the file is missing; restore it"):
        load_store(saved)
    path.write_bytes(raw)
    assert load_store(saved) == example()


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("place", [0, 10, 60])
def test_another_type_or_shape_is_found_on_opening(saved, name, place):
    change(saved / f"{name}.npy", place)
    with pytest.raises(StoreError, match=rf"{name}.npy: its header is not that of"):
        load_store(saved)


@pytest.mark.parametrize("name", FILES)
def test_one_changed_bit_is_found_when_verified(saved, name):
    verify_store(saved)
    change(saved / f"{name}.npy", 256)
    with pytest.raises(
        StoreError, match=rf"{name}.npy: (its values are not those written|it should run from 0)"
    ):
        verify_store(saved)


def test_forged_checksums_do_not_hide_numbers_out_of_range(tmp_path):
    from rankloom.data.array_files import checksum

    save_store(RankingData(sp.csr_array(np.eye(3)), None, [1, 1, 2]), tmp_path / "a.store")
    manifest = json.loads((tmp_path / "a.store" / "manifest.json").read_text())
    for name, value, message in [
        ("columns", 9, "columns.npy: columns must be below"),
        ("row_offsets", 99, "not decrease"),
    ]:
        shutil.copytree(tmp_path / "a.store", tmp_path / name)
        array = np.load(tmp_path / name / f"{name}.npy", mmap_mode="r+")
        array[1] = value
        array.flush()
        forged = json.loads(json.dumps(manifest))
        forged["arrays"][name]["crc32"] = checksum(np.asarray(array))
        (tmp_path / name / "manifest.json").write_text(json.dumps(forged))
        with pytest.raises(StoreError, match=message):
            verify_store(tmp_path / name)


def edited(**changes):
    return lambda manifest: {**manifest, **changes}


def without(name):
    return lambda manifest: {**manifest, "arrays": {k: v for k, v in manifest["arrays"].items() if k != name}}


def entry(name, **changes):
    return lambda manifest: {
        **manifest,
        "arrays": {**manifest["arrays"], name: {**manifest["arrays"].get(name, {}), **changes}},
    }


MANIFESTS = {
    "newer": (
        edited(version=2),
        r"was written by rankloom .* in format version 2, and this .* up to version 1; upgrade",
    ),
    "no version": (edited(version=None), "version must be 1, got None"),
    "version zero": (edited(version=0), "version must be 1, got 0"),
    "other format": (edited(format="other"), "is not a store"),
    "rows": (edited(rows=4), "must have the shape"),
    "negative": (edited(rows=-1), "rows must be a whole number from 0, got -1"),
    "rows a text": (edited(rows="3"), "rows must be a whole number from 0, got '3'"),
    "sparse unknown": (edited(sparse="no"), "sparse must be true or false"),
    "arrays a list": (edited(arrays=[]), "arrays an object"),
    "no values": (without("values"), "it names no array values"),
    "no qids": (without("qids.blob"), "it names no array qids"),
    "no edges": (without("doc_ids.edges"), "it names no array doc_ids.edges"),
    "other type": (entry("y", dtype="<f4"), "y must be of type <f8"),
    "object type": (entry("y", dtype="|O"), "y must be of type <f8"),
    "other shape": (entry("y", shape=[2]), r"y must have the shape \[3\], got \[2\]"),
    "no checksum": (entry("y", crc32=None), "y has no checksum"),
    "blob of two dimensions": (entry("qids.blob", shape=[1, 2]), "qids.blob must have the shape of a list"),
    "unknown array": (entry("extra", dtype="<f8"), "names an array 'extra' that no store of version 1 has"),
    "path outside": (entry("../evil", dtype="<f8"), "names an array '../evil'"),
    "sparse": (edited(sparse=True), "it names no array columns"),
}


@pytest.mark.parametrize("case", MANIFESTS)
def test_a_manifest_that_says_something_else_is_refused(saved, case):
    change_it, message = MANIFESTS[case]
    path = saved / "manifest.json"
    path.write_text(json.dumps(change_it(json.loads(path.read_text()))))
    with pytest.raises(StoreError, match=message):
        load_store(saved)


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"\xff", b'"rankloom-store"'])
def test_a_broken_manifest_is_refused(saved, text):
    (saved / "manifest.json").write_bytes(text)
    with pytest.raises(StoreError, match=r"a.store"):
        load_store(saved)


def test_what_is_no_store_is_named(tmp_path):
    with pytest.raises(StoreError, match=r"there is no store .*gone: no such folder"):
        load_store(tmp_path / "gone")
    with pytest.raises(StoreError, match=r"is not a store: it has no manifest.json"):
        load_store(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="a store is a folder"):
        load_store(tmp_path / "file")


def test_a_store_replaced_while_it_is_opened_is_opened_anew(saved, monkeypatch):
    other = RankingData(
        [[7, 8], [9, 0], [1, 2]], [0, 1, 2], ["b", "a", "b"], doc_ids=["1", "2", ""], feature_names=["u", "w"]
    )
    map_all, calls = store._map_all, []

    def replaced_in_between(place, manifest):
        if not calls:
            calls.append(1)
            save_store(other, saved)
        return map_all(place, manifest)

    monkeypatch.setattr(store, "_map_all", replaced_in_between)
    assert load_store(saved) == other


UNLIKE = {
    "features": (RankingData([[1, 2, 3]], [1], [5]), "alike in n_features, got 3 after 2"),
    "layout": (RankingData(sp.csr_array([[1, 2]]), [1], [5]), "alike in is_sparse"),
    "labels": (RankingData([[1, 2]], None, [5]), "alike in presence of y"),
    "names": (RankingData([[1, 2]], [1], [5], feature_names=["a", "b"]), "alike in feature_names"),
    "qids": (RankingData([[1, 2]], [1], ["a"]), "alike in type of qids, got 'object' after 'int64'"),
    "query": (
        RankingData([[1, 2]], [1], [2]),
        "each query must lie in one part of a store, got query 2 in two",
    ),
}


@pytest.mark.parametrize("case", UNLIKE)
def test_parts_that_do_not_go_together_are_refused(tmp_path, case):
    second, message = UNLIKE[case]
    with pytest.raises(InputError, match=message):
        save_store([RankingData([[1, 2], [3, 4]], [1, 2], [1, 2]), second], tmp_path / "a.store")
    assert names(tmp_path) == []


def test_no_parts_at_all(tmp_path):
    with pytest.raises(InputError, match="a store needs data, got none at all"):
        save_store([], tmp_path / "a.store")


def test_texts_that_share_a_blob_are_packed(tmp_path):
    shared = Texts.from_strings(["long comment #1", "b", "c"])
    ids = Texts(shared.blob, shared.starts, shared.starts + 1)
    data = RankingData(np.ones((3, 1)), None, None, doc_ids=ids[::-1], comments=shared)
    save_store(data, tmp_path / "a.store")
    assert load_store(tmp_path / "a.store") == data
    assert np.load(tmp_path / "a.store" / "doc_ids.blob.npy").tobytes() == b"cbl"


@pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="no list of what is mapped")
def test_letting_go_gives_memory_back_and_keeps_the_data(tmp_path):
    data = RankingData(np.ones((1 << 16, 32), dtype=np.float32), np.ones(1 << 16))
    save_store(data, tmp_path / "large.store")
    stored = load_store(tmp_path / "large.store")

    def mapped() -> int:
        lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("Rss:"))

    before = mapped()
    assert stored.values.sum() == stored.values.size
    assert mapped() - before > 7000
    let_go(stored)
    assert mapped() - before < 2000
    assert stored == data
    let_go(data)
    assert stored == data
