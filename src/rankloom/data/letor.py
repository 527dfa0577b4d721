"""LETOR's way of keeping folds: Fold1/train.txt, Fold1/vali.txt, Fold1/test.txt, Fold2/ ...

for fold in read_folds("MQ2008"):
    fold.train, fold.vali, fold.test        # read when first asked for
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from rankloom.data.ranking_data import RankingData
from rankloom.errors import InputError

PARTS = ("train", "vali", "test")
_SUFFIXES = ("", ".gz", ".bz2", ".xz", ".zst")
_FOLD = re.compile(r"fold\s*_?-?(\d+)", re.IGNORECASE)


class Fold:
    """One fold: three parts of the same data, each read when it is first asked for and then kept."""

    def __init__(self, number: int, folder: Path, options: dict[str, Any]) -> None:
        self.number, self.folder, self._options = number, folder, options
        self.paths = {part: _part_path(folder, part) for part in PARTS}

    @cached_property
    def train(self) -> RankingData:
        """What to learn from."""
        return self._read("train")

    @cached_property
    def vali(self) -> RankingData:
        """What to choose by."""
        return self._read("vali")

    @cached_property
    def test(self) -> RankingData:
        """What to report on."""
        return self._read("test")

    def _read(self, part: str) -> RankingData:
        from rankloom.data.read import read

        return read(self.paths[part], **self._options)

    def __repr__(self) -> str:
        return f"Fold({self.number}, {str(self.folder)!r})"


class Folds(Sequence[Fold]):
    """The folds of a folder, in the order of their numbers."""

    def __init__(self, folds: list[Fold]) -> None:
        self._folds = folds

    def __len__(self) -> int:
        return len(self._folds)

    def __getitem__(self, index: Any) -> Any:
        return Folds(self._folds[index]) if isinstance(index, slice) else self._folds[index]

    def __iter__(self) -> Iterator[Fold]:
        return iter(self._folds)

    def __repr__(self) -> str:
        return f"Folds({self._folds!r})"


def read_folds(folder: str | os.PathLike[str], **options: Any) -> Folds:
    """The folds in a folder: Fold1, Fold2, ..., each with train, vali and test (.txt, plain or compressed).

    A folder that holds train, vali and test itself is its only fold. That all files are there is checked at
    once, and each is read when it is asked for. `options` go to the reader: n_features, for instance.
    """
    place = Path(folder)
    if not place.is_dir():
        what = "a file" if place.exists() else "missing"
        raise InputError(f"LETOR folds lie in a folder, and {place} is {what}")
    numbered = _fold_folders(place)
    if not numbered and _has_parts(place):
        numbered = [(1, place)]
    if not numbered:
        raise InputError(
            f"{place} has no folds; looked for Fold1, Fold2, ... in it, each with train, vali and test"
        )
    return Folds([Fold(number, fold, options) for number, fold in numbered])


def is_letor(folder: Path) -> bool:
    """True for a folder that holds folds, or is one."""
    return bool(_fold_folders(folder)) or _has_parts(folder)


def _fold_folders(place: Path) -> list[tuple[int, Path]]:
    found = [
        (match, path) for path in place.iterdir() if (match := _FOLD.fullmatch(path.name)) and path.is_dir()
    ]
    return sorted((int(match[1]), path) for match, path in found)


def _has_parts(folder: Path) -> bool:
    return any(_candidates(folder, part) for part in PARTS)


def _part_path(folder: Path, part: str) -> Path:
    found = _candidates(folder, part)
    if not found:
        looked = ", ".join(f"{part}.txt{suffix}" for suffix in _SUFFIXES)
        raise InputError(f"{folder} has no {part} part; looked for {looked}")
    if len(found) > 1:
        names = " and ".join(path.name for path in found)
        raise InputError(f"{folder} has more than one {part} part: {names}; leave one of them there")
    return found[0]


def _candidates(folder: Path, part: str) -> list[Path]:
    """Files that are this part, whatever the case of their names."""
    wanted = {f"{part}.txt{suffix}" for suffix in _SUFFIXES}
    return sorted(path for path in folder.iterdir() if path.name.lower() in wanted)
