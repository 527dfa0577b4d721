"""Whole or not at all: a file or folder is written beside its place, flushed to disk, then renamed into it.

    with atomic_path("scores.txt") as temporary:     # or a folder: temporary.mkdir(), files inside
        temporary.write_text("0.5")

A rename within one folder is atomic: readers see the old content or the new, never half of it. When the block
fails, by an error, a full disk or Ctrl-C, what was written is removed and the old content stays. A process
killed outright leaves its temporary behind; the next write to the same place from this machine removes it.
"""

from __future__ import annotations

import os
import secrets
import shutil
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from rankloom.errors import InputError

_LONGEST_NAME = 60


@contextmanager
def atomic_path(target: str | os.PathLike[str], *, replace_folder: bool = False) -> Iterator[Path]:
    """Give a path beside `target` to write a file or folder to; it moves there when the block ends well.

    `replace_folder` lets it replace an existing folder as a whole. Devices and pipes are written directly.
    """
    if _is_direct(Path(target)):
        yield Path(target)
        return
    place = Path(os.path.realpath(target))
    _check_place(place, replace_folder)
    _remove_abandoned(place)
    temporary = _beside(place)
    try:
        yield temporary
        flush(temporary)
        _put_in_place(temporary, place)
    except OSError as error:
        remove(temporary)
        raise _named(error, temporary, place) from error
    except BaseException:
        remove(temporary)
        raise


def atomic_write(target: str | os.PathLike[str], content: bytes | str) -> None:
    """Write `content` (text as UTF-8) to a file, whole or not at all."""
    data = content.encode() if isinstance(content, str) else content
    with atomic_path(target) as temporary, temporary.open("wb") as file:
        file.write(data)


@contextmanager
def scratch_folder(place: str | os.PathLike[str]) -> Iterator[Path]:
    """Give an empty folder in the folder `place` for the time of the block, whatever ends it.

    What a killed process left there is removed by the next scratch folder in the same place.
    """
    target = Path(os.path.realpath(place)) / "scratch"
    _check_place(target, True)
    _remove_abandoned(target)
    folder = _beside(target)
    folder.mkdir(mode=0o700)
    try:
        yield folder
    finally:
        remove(folder)


def flush(path: Path) -> None:
    """Make sure that a file, or a folder and all in it, is on the disk and not only in memory."""
    if path.is_dir():
        for inner in path.iterdir():
            flush(inner)
        _flush_folder(path)
    else:
        with path.open("rb+") as file:
            os.fsync(file.fileno())


def remove(path: Path) -> None:
    """Remove a file or folder, if it is there and can be removed."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink()


def _is_direct(target: Path) -> bool:
    """True for what cannot be replaced by a rename: devices, pipes, and open files by their number."""
    if str(target).startswith(("/dev/fd/", "/dev/std", "/proc/")):
        return True
    try:
        mode = target.stat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _check_place(place: Path, replace_folder: bool) -> None:
    if not place.parent.is_dir():
        raise InputError(
            f"cannot write {place.name}: the folder {place.parent} does not exist; make it first"
        )
    if place.is_dir() and not replace_folder:
        raise InputError(f"{place} is a folder and is not overwritten; give another name or remove it first")


def _machine() -> str:
    name = os.uname().nodename if hasattr(os, "uname") else os.environ.get("COMPUTERNAME", "")
    return f"{zlib.crc32(name.encode()):08x}"


def _prefix(place: Path) -> str:
    """Starts the name of every temporary of this place and machine; the process's number follows."""
    return f".tmp-{zlib.crc32(place.name.encode()):08x}-{_machine()}-"


def _beside(place: Path) -> Path:
    """A new name in the same folder that ends as `place` does, since writers look at the suffix."""
    return place.with_name(
        f"{_prefix(place)}{os.getpid()}-{secrets.token_hex(4)}-{place.name[-_LONGEST_NAME:]}"
    )


def _remove_abandoned(place: Path) -> None:
    """Remove what a process that no longer lives left beside `place`."""
    if os.name != "posix":
        return
    prefix = _prefix(place)
    for path in place.parent.glob(f"{prefix}*"):
        number = path.name[len(prefix) :].split("-", 1)[0]
        if number.isdecimal() and not _is_alive(int(number)):
            remove(path)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def _flush_folder(folder: Path) -> None:
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _put_in_place(temporary: Path, place: Path) -> None:
    if place.is_dir() and temporary.is_dir():
        _swap_folders(temporary, place)
    else:
        if place.exists():
            shutil.copymode(place, temporary)
        temporary.replace(place)
    with suppress(OSError):  # it is in its place already; some file systems cannot flush a folder
        _flush_folder(place.parent)


def _swap_folders(temporary: Path, place: Path) -> None:
    """Put a new folder where an old one is: in one step where the system can, else by two renames."""
    if _exchange(temporary, place):
        remove(temporary)
        return
    aside = _beside(place)
    place.rename(aside)
    try:
        temporary.rename(place)
    except BaseException:
        aside.rename(place)
        raise
    remove(aside)


def _exchange(first: Path, second: Path) -> bool:
    """Exchange two paths atomically by Linux's renameat2; False where that is not to be had."""
    import ctypes

    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError, TypeError):
        return False
    here, exchange = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    return bool(rename(here, os.fsencode(first), here, os.fsencode(second), exchange) == 0)


def _named(error: OSError, temporary: Path, place: Path) -> OSError:
    """The same error, naming the place that the user knows and not the temporary beside it."""
    about = error.filename
    if about is not None and not os.fsdecode(about).startswith(str(temporary)):
        return error
    reason = f"{error.strerror or error}; nothing there was changed"
    return OSError(error.errno, reason, str(place)) if error.errno else OSError(f"{place}: {reason}")
