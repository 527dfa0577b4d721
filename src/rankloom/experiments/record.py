"""The record of a search: one JSON file with every trial, written whole after each, from which it goes on.

A trial is known again by its method, its data, what was measured and how, and all its settings. Those that
failed are tried again. Trials with some folds done are there as well, under "begun", and go on with the next.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rankloom import __version__
from rankloom.data.files import atomic_write
from rankloom.errors import InputError
from rankloom.experiments.trial import BEGUN, COMPLETE, FAILED, PRUNED, Outcome

FORMAT, VERSION = "rankloom-tuning", 1
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


class Identity(NamedTuple):
    """What makes trials comparable."""

    method: str
    measure: str
    train: str
    valid: str | None
    folds: int | None
    seed: int


_WORDS = {
    "method": "of another method",
    "measure": "of another measure",
    "train": "of other training data",
    "valid": "of other validation data",
    "folds": "of another number of folds",
    "seed": "of another seed",
}


class Trial(NamedTuple):
    """One trial: what was tried, and what came of it."""

    number: int
    parameters: Mapping[str, Any]
    state: str
    value: float | None
    folds: Sequence[float]
    curve: Sequence[tuple[int, float]]
    seconds: float
    error: str | None


def key_of(ranker: Any, settings: Mapping[str, Any]) -> str:
    """All settings of a trial as one text; what is no plain value counts by what it says of itself."""
    values = {**ranker.get_params(deep=True), **settings}
    return _as_key(values)


def _as_key(settings: Mapping[str, Any]) -> str:
    return json.dumps(settings, sort_keys=True, default=lambda value: _ADDRESS.sub("", repr(value)))


_Entries = dict[str, dict[str, Any]]


class Record:
    """Outcomes by the key of their trial; in a file, if there is to be one."""

    def __init__(self, path: str | os.PathLike[str] | None, identity: Identity) -> None:
        self._path, self._identity = None if path is None else Path(path), identity
        self._known: _Entries = {}
        self._begun: _Entries = {}
        self._order: dict[str, int] = {}
        if self._path is not None and self._path.exists():
            self._known, self._begun = _read(self._path, identity)

    def find(self, key: str, watched: bool) -> Outcome | None:
        """What came of a trial, if it need not be made again."""
        entry = self._known.get(key)
        if entry is None or entry["state"] == FAILED or (entry["state"] == PRUNED and not watched):
            return None
        return _outcome(entry)

    def begun(self, key: str) -> tuple[tuple[float, ...], float]:
        """The folds that are done of a trial, and their seconds. One given up may be gone on with."""
        entry = self._begun.get(key) or self._known.get(key)
        if entry is None or entry["state"] not in (BEGUN, PRUNED):
            return (), 0.0
        return tuple(entry.get("folds", ())), entry["seconds"]

    def place(self, key: str, number: int) -> None:
        """Which number a trial has in this search: the order of the file."""
        self._order[key] = number

    def add(self, found: Sequence[tuple[str, Mapping[str, Any], Outcome]]) -> None:
        """Note outcomes, and write them all."""
        for key, settings, outcome in found:
            entry = {"parameters": dict(settings), **_facts(outcome), "settings": json.loads(key)}
            self._begun.pop(key, None)
            (self._begun if outcome.state == BEGUN else self._known)[key] = entry
        self.write()

    def write(self) -> None:
        """The file, whole or not at all."""
        if self._path is None:
            return
        head = {"format": FORMAT, "version": VERSION, "written_by": f"rankloom {__version__}"}
        start = json.dumps({**head, **self._identity._asdict()}, indent=1)[:-2]
        begun = f',\n "begun": {self._lines(self._begun)}' if self._begun else ""
        atomic_write(self._path, f'{start},\n "trials": {self._lines(self._known)}{begun}\n}}\n')

    def _lines(self, entries: _Entries) -> str:
        """A list in JSON, a line for each entry."""
        last = len(self._known) + len(self._order)
        order = sorted(entries, key=lambda key: (self._order.get(key, last), key))
        lines = ",\n".join("  " + json.dumps(entries[key]) for key in order)
        return f"[\n{lines}\n ]"


def _facts(outcome: Outcome) -> dict[str, Any]:
    facts = outcome._asdict()
    return {name: value for name, value in facts.items() if value not in (None, (), [])}


def _outcome(entry: Mapping[str, Any]) -> Outcome:
    curve = [(int(step), float(value)) for step, value in entry.get("curve", ())]
    folds = tuple(entry.get("folds", ()))
    return Outcome(entry["state"], entry["value"], folds, curve, entry["seconds"], entry.get("error"))


def _read(path: Path, identity: Identity) -> tuple[_Entries, _Entries]:
    """The trials that are done, and those that are begun."""
    try:
        content = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is not the record of a search; give another name, or remove it") from error
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise InputError(f"{path} is not the record of a search; give another name, or remove it")
    if content.get("version") != VERSION:
        raise InputError(
            f"{path} is a record of version {content.get('version')!r:.20}, and this rankloom knows "
            f"{VERSION}; upgrade rankloom"
        )
    for name, value in identity._asdict().items():
        if content.get(name) != value:
            raise InputError(
                f"{path} is a record {_WORDS[name]}: {name} {content.get(name)!r:.60}, where it is "
                f"{value!r:.60} now; give another name for this search, or remove it"
            )
    try:
        return (
            {_as_key(entry["settings"]): entry for entry in content["trials"] if _is_trial(entry)},
            {_as_key(entry["settings"]): entry for entry in content.get("begun", ()) if _is_begun(entry)},
        )
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path} is damaged; restore it from a copy, or remove it") from error


def _is_trial(entry: Any) -> bool:
    if entry["state"] not in (COMPLETE, PRUNED, FAILED) or not isinstance(entry["settings"], dict):
        raise ValueError("no trial")
    if entry["state"] != FAILED:
        float(_outcome(entry).value)  # type: ignore[arg-type]
    return True


def _is_begun(entry: Any) -> bool:
    if entry["state"] != BEGUN or not isinstance(entry["settings"], dict) or not entry["folds"]:
        raise ValueError("nothing begun")
    sum([float(value) for value in entry["folds"]], float(entry["seconds"]))
    return True
