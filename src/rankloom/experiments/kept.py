"""What of an experiment is done, on record: one JSON file, written whole after each piece, to go on from.

    kept = Kept("letor.json", "letor", {"seed": 0})
    kept.made({"method": "spd", "fold": 1}, lambda: {"seconds": 1.2})     made once, found again later

The head says which experiment it is: a record of another one is refused, with the reason.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from rankloom import __version__
from rankloom.data.files import atomic_write
from rankloom.errors import InputError

VERSION = 1


class Kept:
    """Finished pieces by their keys; in a file, if there is to be one.

    Args:
        path: where they are kept; None is nowhere.
        kind: of which protocol.
        head: what makes one experiment another: settings, seeds, data.
        fields: what every piece must have, beside its key.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None,
        kind: str,
        head: Mapping[str, Any],
        fields: Iterable[str] = (),
    ) -> None:
        self._path = None if path is None else Path(path)
        self._head = plain({"format": f"rankloom-{kind}", "version": VERSION, **head})
        self._fields = set(fields)
        self._entries: list[dict[str, Any]] = []
        if self._path is not None and self._path.exists():
            self._entries = self._read(self._path)

    def made(self, key: Mapping[str, Any], make: Callable[[], Mapping[str, Any]]) -> dict[str, Any]:
        """The piece of this key as JSON has it: one that is there already, or a new one, written down."""
        known = plain(key)
        for entry in self._entries:
            if all(entry.get(name) == value for name, value in known.items()):
                return entry
        entry = {**known, **plain(make())}
        self._entries.append(entry)
        if self._path is not None:
            content = {**self._head, "written_by": f"rankloom {__version__}", "runs": self._entries}
            atomic_write(self._path, json.dumps(content, indent=1, allow_nan=False) + "\n")
        return entry

    def _read(self, path: Path) -> list[dict[str, Any]]:
        refused = InputError(
            f"{path} is not the record of such an experiment; give another name, or remove it"
        )
        try:
            content = json.loads(path.read_bytes())
            entries = [dict(entry) for entry in content["runs"]]
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise refused from error
        if content.get("format") != self._head["format"] or not all(self._fields <= set(e) for e in entries):
            raise refused
        for name, value in self._head.items():
            if content.get(name) != value:
                raise InputError(
                    f"{path} is the record of another experiment: {name} {content.get(name)!r:.60}, where it "
                    f"is {value!r:.60} now; give another name, or remove it"
                )
        return entries


def plain(value: Any) -> Any:
    """`value` as JSON gives it back: plain numbers and lists, None where a number is not finite."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
