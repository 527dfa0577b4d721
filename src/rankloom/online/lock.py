"""One writer at a time: a lock that the system lets go of when the process ends, however it ends."""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO

from rankloom.errors import InputError

NAME = "lock"


class Lock:
    """Held from when it is made until `close`; a second one on the same folder is refused."""

    def __init__(self, folder: Path) -> None:
        self._file: IO[str] | None = (folder / NAME).open("a+")
        try:
            _take(self._file)
        except OSError as error:
            self._file.seek(0)
            holder = self._file.read().strip() or "another process"
            self._file.close()
            self._file = None
            raise InputError(
                f"{folder} is in use by {holder}: two writers would mix their feedback; stop the other one, "
                "or take another folder"
            ) from error
        self._file.truncate(0)
        self._file.write(f"process {os.getpid()}")
        self._file.flush()

    def close(self) -> None:
        """Let others in."""
        if self._file is not None:
            self._file.close()
            self._file = None


def _take(file: IO[str]) -> None:
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
    else:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
