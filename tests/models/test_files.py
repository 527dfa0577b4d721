"""Model files: what is saved is loaded, the same model is the same bytes, and nothing damaged is believed."""

from __future__ import annotations

import importlib
import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankloom as rl
from rankloom.models.files import Content, looks_like_model, part, read_model, with_parts, write_model
from rankloom.models.load import KINDS, model_of

finite = st.floats(allow_nan=False, allow_infinity=False)
facts = st.recursive(
    st.none() | st.booleans() | st.integers() | finite | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@st.composite
def models(draw: st.DrawFn) -> rl.LinearModel:
    """A model of any kind."""
    weights = draw(st.lists(finite, max_size=6))
    names = st.lists(st.text(max_size=5), min_size=len(weights), max_size=len(weights), unique=True)
    ends = st.tuples(finite, finite).filter(lambda pair: pair[0] < pair[1])
    return rl.LinearModel(
        np.array(weights, dtype=float),
        draw(finite),
        link=draw(st.sampled_from(["identity", "logistic"])),
        target_range=draw(st.none() | ends),
        feature_names=draw(st.none() | names),
        about=draw(st.dictionaries(st.text(), facts, max_size=4)),
    )


@given(models())
@settings(max_examples=60)
def test_what_is_saved_is_loaded(tmp_path_factory, model):
    path = tmp_path_factory.mktemp("models") / "a.rank"
    model.save(path)
    again = rl.load(path)
    assert again == model
    assert again.weights.tobytes() == model.weights.tobytes()
    again.save(path.with_name("b.rank"))
    assert path.with_name("b.rank").read_bytes() == path.read_bytes()


@given(models(), models())
@settings(max_examples=30)
def test_a_model_may_hold_others(tmp_path_factory, one, other):
    path = tmp_path_factory.mktemp("models") / "both.rank"
    own = Content("pair", {"x": 1}, {"own": np.ones(2)})
    write_model(path, with_parts(own, {"a": one.content(), "b": other.content()}))
    found = read_model(path)
    assert found.facts["x"] == 1
    assert model_of(path, part(path, found, "a")) == one
    assert model_of(path, part(path, found, "b")) == other


NO_KIND = {"kind": 1, "facts": {}, "arrays": []}
NO_ARRAY = {"kind": "linear", "facts": {}, "arrays": ["w"]}


@pytest.mark.parametrize("parts", [{}, {"a": 3}, {"a": NO_KIND}, {"a": NO_ARRAY}])
def test_a_part_that_is_not_whole_is_damage(parts):
    with pytest.raises(rl.ModelError, match="'a' that it should hold"):
        part("m.rank", Content("pair", {"parts": parts}, {}), "a")


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """A small model, in a file."""
    path = tmp_path / "model.rank"
    rl.LinearModel([0.5, -2.0, 1e-300], 0.25, feature_names=["a", "ü", "c"], about={"method": "spd"}).save(
        path
    )
    return path


def test_other_tools_can_open_it(saved: Path) -> None:
    with zipfile.ZipFile(saved) as archive:
        assert archive.testzip() is None
        manifest = json.loads(archive.read("manifest.json"))
        weights = np.load(io.BytesIO(archive.read("weights.npy")))
    assert weights.tolist() == [0.5, -2.0, 1e-300]
    assert manifest["format"] == "rankloom-model"
    assert manifest["version"] == 1
    assert manifest["written_by"] == f"rankloom {rl.__version__}"
    assert manifest["facts"] == {
        "bias": 0.25,
        "link": "identity",
        "target_range": None,
        "feature_names": ["a", "ü", "c"],
        "about": {"method": "spd"},
    }


def test_a_file_is_replaced_whole_or_not_at_all(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = saved.read_bytes()

    def fail(*_args: object, **_more: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np.lib.format, "write_array", fail)
    with pytest.raises(OSError, match="nothing there was changed"):
        rl.LinearModel([1.0]).save(saved)
    assert saved.read_bytes() == before
    assert list(saved.parent.iterdir()) == [saved]


def test_every_truncation_is_a_clear_error(saved: Path) -> None:
    whole = saved.read_bytes()
    for size in range(len(whole)):
        saved.write_bytes(whole[:size])
        with pytest.raises(rl.ModelError, match=r"is damaged|is no model"):
            rl.load(saved)


@given(st.data())
@settings(max_examples=300)
def test_changed_bytes_are_never_anything_but_a_clear_error(tmp_path_factory, data):
    """A changed byte is noticed, or was one that means nothing (a flag, a date): the model is the same."""
    path = tmp_path_factory.mktemp("models") / "a.rank"
    model = rl.LinearModel([0.5, -2.0], about={"k": 1})
    model.save(path)
    text = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        text[data.draw(st.integers(0, len(text) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(bytes(text))
    try:
        found = rl.load(path)
    except rl.ModelError:
        return
    assert found == model


@given(st.binary(max_size=200))
@settings(max_examples=60)
def test_any_bytes_behind_the_right_beginning(tmp_path_factory, noise):
    path = tmp_path_factory.mktemp("models") / "a.rank"
    path.write_bytes(b"PK\x03\x04" + bytes(26) + b"manifest.json" + noise)
    with pytest.raises(rl.ModelError, match="is damaged"):
        rl.load(path)


@pytest.mark.parametrize(
    "text", [b"", b"PK", b"0.5\n0.25\n", b"1 qid:1 1:0.5\n", b"\x80\x04pickle", bytes(100)]
)
def test_what_is_no_model(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "scores.txt"
    path.write_bytes(text)
    with pytest.raises(rl.ModelError, match=r"scores\.txt is no model"):
        rl.load(path)
    assert not looks_like_model(path)


def test_a_missing_file_is_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"none\.rank"):
        rl.load(tmp_path / "none.rank")
    assert not looks_like_model(tmp_path / "none.rank")
    assert not looks_like_model(tmp_path)


Parts = list[tuple[str, bytes]]


def parts_of(path: Path) -> Parts:
    with zipfile.ZipFile(path) as archive:
        return [(name, archive.read(name)) for name in archive.namelist()]


def rewrite(path: Path, parts: Parts, how: int = zipfile.ZIP_STORED) -> None:
    """The file with other parts; zipfile warns of equal names, which is what is wanted here."""
    with zipfile.ZipFile(path, "w", how) as archive:
        for name, text in parts:
            entry = zipfile.ZipInfo(name)
            entry.compress_type = how
            archive.writestr(entry, text)


def change(path: Path, **changes: object) -> None:
    """The file with other entries in its manifest."""
    (name, text), *rest = parts_of(path)
    manifest = {**json.loads(text), **changes}
    rewrite(path, [(name, json.dumps(manifest).encode()), *rest])


def test_a_newer_version_says_who_wrote_it(saved: Path) -> None:
    change(saved, version=2, written_by="rankloom 9.1")
    told = r"written by rankloom 9\.1 in format version 2, and this rankloom reads up to version 1; upgrade"
    with pytest.raises(rl.ModelError, match=told):
        rl.load(saved)


def test_a_kind_that_is_not_known(saved: Path) -> None:
    change(saved, kind="forest")
    with pytest.raises(rl.ModelError, match=r"of kind 'forest', and this rankloom knows linear, .*; upgrade"):
        rl.load(saved)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"format": "other"}, "is no model: its manifest.json does not say 'rankloom-model'"),
        ({"version": 0}, "version must be 1, got 0"),
        ({"version": True}, "version must be 1, got True"),
        ({"version": "2"}, "version must be 1, got '2'"),
        ({"kind": 3}, "its manifest.json has no kind"),
        ({"facts": []}, "its manifest.json has no facts"),
        ({"arrays": None}, "its manifest.json has no arrays"),
        ({"arrays": {}}, "it holds 'weights.npy', which its manifest.json does not name"),
        ({"arrays": {"weights": {"dtype": "<f8", "shape": [4]}}}, r"weights\.npy: its header says"),
        ({"arrays": {"weights": {"dtype": "<f4", "shape": [3]}}}, r"weights\.npy: its header says"),
        ({"arrays": {"weights": None}}, r"weights\.npy: its header says"),
        ({"facts": {}}, "a linear model has weights, about, bias"),
        (
            {"facts": {"bias": 0, "link": "x", "target_range": None, "feature_names": None, "about": {}}},
            "link",
        ),
        (
            {
                "facts": {
                    "bias": "0",
                    "link": "identity",
                    "target_range": None,
                    "feature_names": 3,
                    "about": {},
                }
            },
            "b",
        ),
    ],
    ids=str,
)
def test_a_manifest_that_does_not_fit(saved: Path, changes: dict[str, object], told: str) -> None:
    change(saved, **changes)
    with pytest.raises(rl.ModelError, match=told):
        rl.load(saved)


def test_nothing_but_what_the_manifest_names(saved: Path, tmp_path: Path) -> None:
    """A path that leads elsewhere is a name like any other: nothing is ever unpacked."""
    parts = parts_of(saved)
    for name in ("../evil.txt", "/etc/evil", "extra.npy", "weights.npy.npy"):
        rewrite(saved, [*parts, (name, b"x")])
        with pytest.raises(rl.ModelError, match=r"which its manifest\.json does not name"):
            rl.load(saved)
    assert list(tmp_path.iterdir()) == [saved]


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_parts_that_are_missing_twice_there_or_compressed(saved: Path) -> None:
    first, second = parts_of(saved)
    for parts, how, told in [
        ([first], zipfile.ZIP_STORED, "it has no weights.npy"),
        ([first, second, second], zipfile.ZIP_STORED, "weights.npy is in it twice"),
        ([first, first], zipfile.ZIP_STORED, "manifest.json is in it twice"),
        ([first, second], zipfile.ZIP_DEFLATED, "manifest.json is compressed, which rankloom never does"),
        ([second, first], zipfile.ZIP_STORED, "is no model"),
        ([(first[0], b"{"), second], zipfile.ZIP_STORED, "its manifest.json is no JSON"),
        ([(first[0], b"[" * 100_000), second], zipfile.ZIP_STORED, "its manifest.json is no JSON"),
        ([(first[0], b"[]"), second], zipfile.ZIP_STORED, "is no model"),
    ]:
        rewrite(saved, parts, how)
        with pytest.raises(rl.ModelError, match=told):
            rl.load(saved)


def test_a_bomb_is_not_unpacked(saved: Path) -> None:
    """A hundred million zeros in a hundred thousand bytes."""
    first, _ = parts_of(saved)
    rewrite(saved, [first, ("weights.npy", bytes(10**8))], zipfile.ZIP_DEFLATED)
    assert saved.stat().st_size < 10**6
    with pytest.raises(rl.ModelError, match="its parts are larger than the file"):
        rl.load(saved)


def npy(array: np.ndarray, **how: object) -> bytes:
    file = io.BytesIO()
    np.lib.format.write_array(file, array, **how)
    return file.getvalue()


HUGE = npy(np.zeros(3)).replace(b"(3,), }              ", b"(9999999999999,), }  ")


@pytest.mark.parametrize(
    ("array", "entry", "told"),
    [
        (
            npy(np.array([1.0, None]), allow_pickle=True),
            {"dtype": "|O", "shape": [2]},
            "weights.npy: its header",
        ),
        (npy(np.zeros((2, 2), order="F")), {"dtype": "<f8", "shape": [2, 2]}, "weights.npy: its header"),
        (npy(np.zeros(3), version=(2, 0)), {"dtype": "<f8", "shape": [3]}, "no .npy file of version 1.0"),
        (npy(np.zeros(3))[:-1], {"dtype": "<f8", "shape": [3]}, "should have 24 bytes of values and has 23"),
        (
            npy(np.zeros(3)) + b"x",
            {"dtype": "<f8", "shape": [3]},
            "should have 24 bytes of values and has 25",
        ),
        (HUGE, {"dtype": "<f8", "shape": [9999999999999]}, "should have 79,999,999,999,992 bytes of values"),
        (b"", {"dtype": "<f8", "shape": [3]}, "weights.npy: "),
        (npy(np.zeros((2, 2))), {"dtype": "<f8", "shape": [2, 2]}, "weights must be a list of float64"),
        (npy(np.zeros(2, dtype="<f4")), {"dtype": "<f4", "shape": [2]}, "weights must be a list of float64"),
        (npy(np.array([1.0, np.nan, 0.0])), {"dtype": "<f8", "shape": [3]}, "weights must be finite"),
        (npy(np.zeros(2)), {"dtype": "<f8", "shape": [2]}, "feature_names must have one name per column"),
    ],
    ids=range(11),
)
def test_arrays_that_are_not_what_they_should_be(
    saved: Path, array: bytes, entry: dict[str, object], told: str
) -> None:
    (name, text), _ = parts_of(saved)
    manifest = {**json.loads(text), "arrays": {"weights": entry}}
    rewrite(saved, [(name, json.dumps(manifest).encode()), ("weights.npy", array)])
    with pytest.raises(rl.ModelError, match=told):
        rl.load(saved)


def test_arrays_of_any_type_and_shape_are_kept(tmp_path: Path) -> None:
    """Big-endian and Fortran arrays are written as all others."""
    arrays = {
        "a": np.arange(6, dtype=">i4").reshape(2, 3),
        "b": np.asfortranarray(np.arange(6.0).reshape(3, 2)),
        "c": np.zeros((0, 4), dtype=np.uint8),
    }
    path = tmp_path / "any.rank"
    write_model(path, Content("any", {"x": [1, None]}, arrays))
    found = read_model(path)
    assert (found.kind, found.facts) == ("any", {"x": [1, None]})
    for name, array in arrays.items():
        np.testing.assert_array_equal(found.arrays[name], array)
        assert found.arrays[name].dtype.byteorder in "<=|"


def test_every_kind_names_a_class_that_reads_itself() -> None:
    for module, name in KINDS.values():
        assert callable(getattr(importlib.import_module(module), name).from_content)
