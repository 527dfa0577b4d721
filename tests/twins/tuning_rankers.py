"""Rankers for tests of tuning, where workers can import them: they tell what happens, fail, have a path."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rankloom.data.ranking_data import RankingData
from rankloom.errors import InputError
from rankloom.models.linear import LinearModel
from twins.toy_ranker import Toy


class Telling(Toy):
    """Writes a line for each fit: who learned with what. Takes its time, if it is told to."""

    def __init__(
        self, lam: float = 1.0, measure: str = "ndcg@10", log: str | None = None, pause: float = 0.0
    ) -> None:
        super().__init__(lam, measure)
        self.log, self.pause = log, pause

    def _fit(self, data: RankingData) -> LinearModel:
        if self.log is not None:
            with Path(self.log).open("a") as file:
                file.write(f"{os.getpid()} {self.lam}\n")
        time.sleep(self.pause)
        return super()._fit(data)


class Mapped(Toy):
    """Writes down where its data lie: the file that is mapped there, and the kilobytes changed in it."""

    def __init__(self, lam: float = 1.0, measure: str = "ndcg@10", log: str = "") -> None:
        super().__init__(lam, measure)
        self.log = log

    def _fit(self, data: RankingData) -> LinearModel:
        address = data.values.__array_interface__["data"][0]
        Path(self.log).write_text(mapping_at(address))
        return super()._fit(data)


class Watching(Toy):
    """Writes down each fit: begin and end, on what, and how much of that was mapped before and after."""

    def __init__(
        self, lam: float = 1.0, measure: str = "ndcg@10", log: str = "", pause: float = 0.05
    ) -> None:
        super().__init__(lam, measure)
        self.log, self.pause = log, pause

    def fit(self, X: RankingData, y: Any = None) -> Watching:
        """Learn, slowly."""
        address = X.values.__array_interface__["data"][0]
        begin, before = time.monotonic(), mapping_at(address, "Rss:")
        super().fit(X, y)
        time.sleep(self.pause)
        facts = [begin, time.monotonic(), X.fingerprint(), before, mapping_at(address, "Rss:")]
        with Path(self.log).open("a") as file:
            file.write(" ".join(str(fact) for fact in facts) + "\n")
        return self


def mapping_at(address: int, what: str = "Private_Dirty:") -> str:
    """What /proc says of the memory at an address: the file, and how much of it is private and changed."""
    found, inside = "", False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        head = line.split()
        if "-" in head[0] and not head[0].endswith(":"):
            low, high = (int(end, 16) for end in head[0].split("-"))
            inside = low <= address < high
            found = head[5] if inside and len(head) > 5 else found
        elif inside and head[0] == what:
            return f"{found} {head[1]}"
    return f"{found} ?"


class Failing(Toy):
    """Fails with a large lam, and ends the whole process with a larger one."""

    def _fit(self, data: RankingData) -> LinearModel:
        if self.lam > 100.0:
            os._exit(7)
        if self.lam > 1.0:
            raise InputError(f"lam must be small, got {self.lam:g}")
        return super()._fit(data)


class Point(NamedTuple):
    """One value of lam, and its model."""

    lam: float
    model: Any


class Pathed(Telling):
    """Has a path along lam."""

    def path(self, data: RankingData, *, lams: Sequence[float]) -> Iterator[Point]:
        """Models for rising lam."""
        if self.log is not None:
            with Path(self.log).open("a") as file:
                file.write(f"path {list(lams)}\n")
        for lam in lams:
            yield Point(lam, Toy(lam, self.measure).fit(data).model_)
