"""Where text goes: paths, whole and compressed; open files; standard output."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest

from rankloom.data.sources import opened
from rankloom.data.targets import COMPRESSED, open_target
from rankloom.errors import InputError

CONTENT = b"1 1:2\n" * 5000


@pytest.mark.parametrize("suffix", ["", ".txt", *COMPRESSED])
def test_what_is_written_is_read(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"data{suffix}"
    with open_target(path) as file:
        for start in range(0, len(CONTENT), 999):
            file.write(CONTENT[start : start + 999])
    assert (path.stat().st_size < len(CONTENT) / 10) == (suffix in COMPRESSED)
    with opened(path) as (file, _, _):
        assert file.read() == CONTENT


def write_half(path: Path) -> None:
    with open_target(path) as file:
        file.write(CONTENT)
        raise KeyboardInterrupt


@pytest.mark.parametrize("suffix", ["", *COMPRESSED])
def test_nothing_is_left_when_writing_fails(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"data{suffix}"
    with pytest.raises(KeyboardInterrupt):
        write_half(path)
    assert not list(tmp_path.iterdir())


def test_an_open_file_stays_open(tmp_path: Path) -> None:
    target = io.BytesIO()
    with open_target(target) as file:
        file.write(b"a")
    with open_target(target) as file:
        file.write(b"b")
    assert target.getvalue() == b"ab"
    with pytest.raises(InputError, match="open for text"), open_target(io.StringIO()):
        pass


def test_standard_output(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    with open_target("-") as file:
        file.write(b"text")
    assert capfdbinary.readouterr().out == b"text"


def test_a_device_is_written_to_as_it_is() -> None:
    with open_target(os.devnull) as file:
        file.write(b"text")


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"), open_target(tmp_path / "no" / "file.gz"):
        pass
