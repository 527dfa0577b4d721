"""A file or folder appears whole or not at all, whatever goes wrong at whatever step."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rankloom.data import files
from rankloom.data.files import atomic_path, atomic_write, flush, remove, scratch_folder
from rankloom.errors import InputError


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def fill(folder: Path, text: str = "new") -> None:
    folder.mkdir()
    (folder / "a.txt").write_text(text)
    (folder / "inner").mkdir()
    (folder / "inner" / "b.txt").write_text(text)


def test_a_file_appears_with_its_content(tmp_path):
    atomic_write(tmp_path / "a.txt", "grüße")
    assert (tmp_path / "a.txt").read_bytes() == "grüße".encode()
    atomic_write(str(tmp_path / "a.txt"), b"\x00\xff")
    assert (tmp_path / "a.txt").read_bytes() == b"\x00\xff"
    assert names(tmp_path) == ["a.txt"]


def test_nothing_is_there_before_the_block_ends(tmp_path):
    with atomic_path(tmp_path / "a.txt") as temporary:
        temporary.write_text("x")
        assert temporary.parent == tmp_path
        assert not (tmp_path / "a.txt").exists()
    assert (tmp_path / "a.txt").read_text() == "x"


def test_the_temporary_ends_as_the_target_does(tmp_path):
    with atomic_path(tmp_path / ("x" * 250 + ".gz")) as temporary:
        assert temporary.name.endswith(".gz")
        temporary.write_bytes(b"")


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError, SystemExit, OSError(errno.ENOSPC, "full")])
def test_an_error_in_the_block_leaves_the_old_file(tmp_path, error):
    (tmp_path / "a.txt").write_text("old")

    def write() -> None:
        with atomic_path(tmp_path / "a.txt") as temporary:
            temporary.write_text("half of the ne")
            raise error

    with pytest.raises(error if isinstance(error, type) else OSError):
        write()
    assert (tmp_path / "a.txt").read_text() == "old"
    assert names(tmp_path) == ["a.txt"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_an_error_in_the_block_leaves_no_part_of_a_folder(tmp_path, error):
    def write() -> None:
        with atomic_path(tmp_path / "new") as temporary:
            fill(temporary)
            raise error

    with pytest.raises(error):
        write()
    assert names(tmp_path) == []


@pytest.mark.parametrize(
    ("step", "is_folder"), [("fsync", False), ("replace", False), ("fsync", True), ("rename", True)]
)
def test_a_failing_step_leaves_the_old_content_and_names_the_target(tmp_path, monkeypatch, step, is_folder):
    """fsync and rename fail as on a full or broken disk; the folder is swapped by two renames here."""
    target = tmp_path / "target"
    fill(target, "old") if is_folder else target.write_text("old")
    monkeypatch.setattr(files, "_exchange", lambda first, second: False)

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    if step == "fsync":
        monkeypatch.setattr(os, "fsync", full)
    else:
        monkeypatch.setattr(Path, step, full)
    with (
        pytest.raises(OSError, match="No space left") as caught,
        atomic_path(target, replace_folder=True) as temporary,
    ):
        fill(temporary) if is_folder else temporary.write_text("new")
    assert caught.value.filename == str(target)
    assert caught.value.errno == errno.ENOSPC
    assert (target / "inner" / "b.txt" if is_folder else target).read_text() == "old"
    assert names(tmp_path) == ["target"]


def test_when_the_second_rename_fails_the_old_folder_comes_back(tmp_path, monkeypatch):
    fill(tmp_path / "target", "old")
    monkeypatch.setattr(files, "_exchange", lambda first, second: False)
    rename, calls = Path.rename, []

    def second_fails(self: Path, target: Path) -> Path:
        calls.append(target)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", second_fails)
    with pytest.raises(KeyboardInterrupt), atomic_path(tmp_path / "target", replace_folder=True) as temporary:
        fill(temporary)
    assert (tmp_path / "target" / "a.txt").read_text() == "old"
    assert names(tmp_path) == ["target"]


@pytest.mark.parametrize("can_exchange", [True, False])
def test_a_folder_replaces_a_folder_whole(tmp_path, monkeypatch, can_exchange):
    if not can_exchange:
        monkeypatch.setattr(files, "_exchange", lambda first, second: False)
    fill(tmp_path / "target", "old")
    (tmp_path / "target" / "more.txt").write_text("old")
    with atomic_path(tmp_path / "target", replace_folder=True) as temporary:
        fill(temporary)
    assert names(tmp_path / "target") == ["a.txt", "inner"]
    assert (tmp_path / "target" / "inner" / "b.txt").read_text() == "new"
    assert names(tmp_path) == ["target"]


def test_a_folder_is_not_replaced_unless_asked(tmp_path):
    fill(tmp_path / "target", "old")
    with (
        pytest.raises(InputError, match="is a folder and is not overwritten"),
        atomic_path(tmp_path / "target"),
    ):
        pass
    assert (tmp_path / "target" / "a.txt").read_text() == "old"


def test_a_missing_folder_and_a_folder_that_is_a_file_are_named(tmp_path):
    with pytest.raises(InputError, match=r"the folder .*missing does not exist; make it first"):
        atomic_write(tmp_path / "missing" / "a.txt", "x")
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"the folder .*file does not exist"):
        atomic_write(tmp_path / "file" / "a.txt", "x")


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder_is_named(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(PermissionError) as caught:
        atomic_write(tmp_path / "a.txt", "x")
    assert caught.value.filename == str(tmp_path / "a.txt")


def test_a_refused_temporary_is_told_of_as_the_target(tmp_path, monkeypatch):
    def refuse(self: Path, *_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(self))

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(PermissionError, match="nothing there was changed") as caught:
        atomic_write(tmp_path / "a.txt", "x")
    assert caught.value.filename == str(tmp_path / "a.txt")


def test_an_error_about_another_file_keeps_its_name(tmp_path):
    with pytest.raises(FileNotFoundError) as caught, atomic_path(tmp_path / "a.txt"):
        (tmp_path / "source.txt").read_text()
    assert caught.value.filename == str(tmp_path / "source.txt")


def test_permissions_stay(tmp_path):
    (tmp_path / "a.txt").write_text("old")
    (tmp_path / "a.txt").chmod(0o640)
    atomic_write(tmp_path / "a.txt", "new")
    assert (tmp_path / "a.txt").stat().st_mode & 0o777 == 0o640


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link.txt").symlink_to(tmp_path / "real" / "a.txt")
    atomic_write(tmp_path / "link.txt", "new")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real" / "a.txt").read_text() == "new"


@pytest.mark.skipif(os.name != "posix", reason="devices have names there")
def test_devices_and_pipes_are_written_directly(tmp_path):
    atomic_write("/dev/null", "x")
    assert not Path("/dev/null").is_file()
    assert files._is_direct(Path("/dev/stdout"))
    assert not files._is_direct(Path("/dev/shm/a.store"))
    os.mkfifo(tmp_path / "pipe")
    reader = subprocess.Popen(
        [sys.executable, "-c", f"print(open({str(tmp_path / 'pipe')!r}).read())"], stdout=-1
    )
    atomic_write(tmp_path / "pipe", "through")
    assert reader.communicate()[0].strip() == b"through"


@pytest.mark.skipif(os.name != "posix", reason="whether a process lives is asked of POSIX")
def test_what_a_killed_process_left_is_removed_and_what_a_living_one_writes_is_not(tmp_path):
    script = "import os, sys; from rankloom.data.files import atomic_path\n"
    script += "with atomic_path(sys.argv[1]) as t: t.mkdir(); os._exit(9)"
    subprocess.run([sys.executable, "-c", script, str(tmp_path / "a.store")], check=False)
    assert len(names(tmp_path)) == 1
    with atomic_path(tmp_path / "a.store") as living:
        living.write_text("x")
        assert names(tmp_path) == [living.name]
        atomic_write(tmp_path / "b.txt", "other")
        with atomic_path(tmp_path / "a.store") as second:
            second.write_text("y")
            assert living.exists()
    assert names(tmp_path) == ["a.store", "b.txt"]


def test_flush_and_remove_take_files_and_folders(tmp_path):
    fill(tmp_path / "folder")
    flush(tmp_path / "folder")
    remove(tmp_path / "folder")
    remove(tmp_path / "not there")
    assert names(tmp_path) == []


def test_a_scratch_folder_is_gone_after_the_block_and_after_a_kill(tmp_path):
    with scratch_folder(tmp_path) as folder:
        (folder / "part").write_text("x")
        assert folder.parent == tmp_path
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(KeyboardInterrupt), scratch_folder(tmp_path):
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []
    begun = f"scratch = f.scratch_folder({str(tmp_path)!r}); scratch.__enter__()"
    program = f"import os, rankloom.data.files as f; {begun}; os._exit(1)"
    subprocess.run([sys.executable, "-c", program], check=False)
    assert len(list(tmp_path.iterdir())) == 1
    with scratch_folder(tmp_path) as folder:
        assert list(tmp_path.iterdir()) == [folder]
