"""rl.report: from results, dicts and files; the same bytes again; what is damaged is told by name."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

import rankloom as rl
from rankloom.errors import InputError, MissingPackageError
from reports import runs
from reports.outline import check


@pytest.fixture
def record(tmp_path: Path) -> Path:
    rl.report(runs.comparison(), tmp_path / "page.html")
    return tmp_path / "page.json"


def test_a_result_its_run_and_the_page_again(tmp_path: Path, record: Path) -> None:
    page = tmp_path / "page.html"
    check(page.read_text())
    assert rl.report(record, tmp_path / "again.html") == [str(tmp_path / "again.html")]
    assert (tmp_path / "again.html").read_bytes() == page.read_bytes()
    before = record.read_bytes()
    rl.report(record, page)
    assert record.read_bytes() == before
    rl.report(json.loads(before), tmp_path / "third.html")
    assert (tmp_path / "third.html").read_bytes() == page.read_bytes()
    assert not (tmp_path / "third.json").exists()


def test_what_a_result_knows_is_on_record(tmp_path: Path) -> None:
    written = rl.report(runs.tuning(), tmp_path / "page.html")
    assert written == [str(tmp_path / "page.json"), str(tmp_path / "page.html")]
    run = json.loads((tmp_path / "page.json").read_text())
    train, valid = runs.data()
    assert {name: facts["fingerprint"] for name, facts in run["data"].items()} == {
        "train": train.fingerprint(), "valid": valid.fingerprint(),
    }  # fmt: skip
    assert run["settings"] == {"method": "crr", "measure": "ndcg@10"}
    assert run["versions"]["rankloom"] == rl.__version__
    rl.report(runs.comparison(), tmp_path / "other.html", data={"test": valid})
    assert json.loads((tmp_path / "other.json").read_text())["data"]["test"]["rows"] == valid.n_rows


def test_per_query_values_have_null_for_what_is_none(tmp_path: Path) -> None:
    found = rl.compare_values([0.5, float("nan"), 0.2, 0.1], [0.6, 0.5, 0.3, 0.1], measure="AP")
    rl.report(found, tmp_path / "page.html")
    run = json.loads((tmp_path / "page.json").read_text())
    assert run["result"]["values"]["AP"]["A"] == [0.5, None, 0.2, 0.1]
    assert run["result"]["means"]["AP"]["A"]["queries"] == 3


@pytest.mark.parametrize("form", ["svg", "png"])
def test_figures_as_files(tmp_path: Path, record: Path, form: str) -> None:
    written = rl.report(record, tmp_path / "again.html", figures=tmp_path / "figures", format=form)
    files = sorted((tmp_path / "figures").iterdir())
    assert sorted(written[1:]) == [str(path) for path in files]
    assert len(files) == 7
    first = {path.name: path.read_bytes() for path in files}
    assert all(name.endswith(f".{form}") and name == name.lower() for name in first)
    assert all(content.startswith(b"\x89PNG" if form == "png" else b"<?xml") for content in first.values())
    rl.report(record, tmp_path / "again.html", figures=tmp_path / "figures", format=form)
    assert {path.name: path.read_bytes() for path in (tmp_path / "figures").iterdir()} == first


def damaged(record: Path, change: Any) -> None:
    run = json.loads(record.read_text())
    change(run)
    record.write_text(json.dumps(run))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda run: run.update(format="other"), "is no run: it must be JSON with format rankloom-run"),
        (lambda run: run.update(version=99), "is a run of version 99, and this rankloom knows 1"),
        (
            lambda run: run.update(kind="pie"),
            "a run of kind 'pie' has no page; kinds are alpha, compare, ",
        ),
        (lambda run: run.update(kind=7), "is damaged: kind is missing or is no str"),
        (lambda run: run.pop("result"), "is damaged: result is missing"),
        (lambda run: run.update(settings=[]), "is damaged: settings is missing or is no dict"),
        (lambda run: run["result"].pop("means"), "its result is not that of compare (KeyError: 'means')"),
        (lambda run: run["result"].update(rows=5), "its result is not that of compare (TypeError"),
        (lambda run: run["result"]["rows"][0].update(difference="x"), "its result is not that of compare"),
        (lambda run: run.update(kind="tune"), "its result is not that of tune"),
        (lambda run: run.update(kind="letor"), "its result is not that of letor"),
    ],
)
def test_damaged_runs(tmp_path: Path, record: Path, change: Any, words: str) -> None:
    damaged(record, change)
    with pytest.raises(InputError) as error:
        rl.report(record, tmp_path / "again.html")
    assert words in str(error.value)
    assert not (tmp_path / "again.html").exists()


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe", b"[" * 100_000, b'"rankloom-run"'])
def test_files_that_are_no_runs(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "bad.json").write_bytes(content)
    with pytest.raises(InputError, match=r"bad\.json is no run"):
        rl.report(tmp_path / "bad.json", tmp_path / "page.html")


def test_fields_of_another_kind_do_no_harm(tmp_path: Path, record: Path) -> None:
    """Facts that are only shown may be anything."""

    def change(run: dict[str, Any]) -> None:
        run.update(seconds="long", made=5, command=["x"], extra={"a": 1})
        run["settings"] = {"<b>": {"deep": [1, None, {"x": float("1e400")}]}}
        run["data"], run["versions"], run["machine"] = {"x": 5}, {}, {"odd": [1]}

    damaged(record, change)
    rl.report(record, tmp_path / "again.html")
    check((tmp_path / "again.html").read_text())


def test_what_is_in_the_way(tmp_path: Path, record: Path) -> None:
    for name, words in (
        ("page.txt", "must have a name that ends in .html"),
        ("nowhere/page.html", "does not exist; make it first"),
        ("mine.html", "is there already, and no report of rankloom's"),
        ("beside.html", "beside.json is there already, and no report"),
    ):
        (tmp_path / "mine.html").write_text("mine")
        (tmp_path / "beside.json").write_text('{"mine": 1}')
        with pytest.raises(InputError, match=words):
            rl.report(runs.comparison(), tmp_path / name)
    assert (tmp_path / "mine.html").read_text() == "mine"
    with pytest.raises(InputError, match=r"format must be one of svg, png, got 'pdf'"):
        rl.report(record, tmp_path / "page.html", format="pdf")
    with pytest.raises(InputError, match="and no folder"):
        rl.report(record, tmp_path / "page.html", figures=tmp_path / "mine.html")
    with pytest.raises(InputError, match="report takes what tune, compare or letor returned"):
        rl.report(3.5, tmp_path / "page.html")


def test_a_folder_that_cannot_be_written_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked of the system, so that the test also holds for whoever may write everywhere."""
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(InputError, match="cannot be written to"):
        rl.report(runs.comparison(), tmp_path / "page.html")
    assert list(tmp_path.iterdir()) == []


def test_a_failing_write_leaves_what_was_there(
    tmp_path: Path, record: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def full(number: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        rl.report(record, tmp_path / "page.html")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_without_matplotlib(tmp_path: Path, record: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingPackageError, match=r'pip install "rankloom\[report\]"'):
        rl.report(record, tmp_path / "again.html")
