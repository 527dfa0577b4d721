"""How the time of training grows with the data, for every method, at fixed settings.

CPU seconds at each size with one thread, the least of some runs, after a first fit that compiles. The
exponent is the slope of log seconds against log rows: 1 is linear, 0 does not depend on the data.
"""

from __future__ import annotations

import importlib.util
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from rankloom.data.generate import make_letor
from rankloom.data.ranking_data import RankingData
from rankloom.errors import InputError
from rankloom.experiments.findings import Findings, Table, figure
from rankloom.experiments.kept import Kept
from rankloom.experiments.sources import whole_of
from rankloom.rankers.checks import whole
from rankloom.rankers.methods import METHODS, ranker_class

SIZES = (10_000, 40_000, 160_000)
# What is fixed for each method; all else is its default.
SETTINGS: Mapping[str, Mapping[str, Any]] = {
    "spd": {"steps": 100_000},
    "crr": {"steps": 100_000},
    "pointwise": {"regressor": "ridge"},
    "ranksvm": {"C": 1000.0, "normalize": "pairs"},
    "solar": {},
    "prank": {},
    "committee": {},
    "lambdamart": {"n_trees": 20},
    "lambdarank": {"epochs": 5},
    "ranknet": {"epochs": 2},
}
_NEEDS = {"lambdamart": "lightgbm", "ranknet": "torch"}
_ROWS_A_QUERY = 19
_SHORT = 2.0  # seconds: what is faster is run again, up to
_RUNS = 3


def scaling(
    source: Any = None,
    *,
    sizes: Sequence[int] | None = None,
    methods: Sequence[str] | None = None,
    seed: int = 0,
    n_features: int | None = None,
    record: Any = None,
    progress: Callable[[int, int | None], None] | None = None,
) -> Findings:
    """CPU seconds of each method at each size.

    Args:
        source: a folder of LETOR folds (all their queries), a file, a RankingData, or None: generated lists.
        sizes: how many rows, whole queries each; None is 10,000, 40,000 and 160,000, or of smaller data
            a sixteenth, a quarter and all.
        methods: None is all that are installed.
        seed: of generated data and of which queries are taken.
        n_features: how many columns text has.
        record: a file with every method and size that is done; with one that is there, it goes on.
        progress: called with how many of these are done, and how many there are.
    """
    names = _methods(methods)
    data, name = _data(source, sizes, whole("seed", seed, 0), n_features)
    wanted = _sizes(sizes, data.n_rows)
    subsets = _subsets(data, wanted, seed)
    kept = Kept(record, "scaling", {"data": data.fingerprint(), "seed": seed})
    done, total = [], len(names) * len(subsets)
    for method in names:
        settings = dict(SETTINGS[method])
        for rows, part in subsets.items():
            key = {"method": method, "settings": settings, "size": rows}
            done.append(kept.made(key, partial(_timed, method, settings, part)))
            if progress is not None:
                progress(len(done), total)
    facts = {
        "source": name,
        "sizes": [{"rows": part.n_rows, "queries": part.n_queries} for part in subsets.values()],
        "methods": [
            _grown(method, [entry for entry in done if entry["method"] == method]) for method in names
        ],
    }
    return Findings("scaling", facts, table, {"all": data}, note(facts))


def _methods(given: Sequence[str] | None) -> list[str]:
    if given is None:
        return [name for name in SETTINGS if name not in _NEEDS or importlib.util.find_spec(_NEEDS[name])]
    for name in given:
        if name not in METHODS:
            raise InputError(f"methods must be of {', '.join(METHODS)}, got {name!r:.40}")
    if not len(given):
        raise InputError(f"methods must name at least one of {', '.join(METHODS)}")
    return list(dict.fromkeys(given))


def _data(source: Any, sizes: Any, seed: int, n_features: int | None) -> tuple[RankingData, str]:
    if source is not None:
        return whole_of(source, n_features), _name(source)
    most = max(_sizes(SIZES if sizes is None else sizes, None))
    queries = -(-most // _ROWS_A_QUERY)
    data = make_letor(queries, seed=seed).data
    while data.n_rows < most:
        queries += queries // 8 + 1
        data = make_letor(queries, seed=seed).data
    return data, "generated lists"


def _name(source: Any) -> str:
    return "given data" if isinstance(source, RankingData) else Path(source).name


def _sizes(given: Sequence[int] | None, rows: int | None) -> list[int]:
    """The sizes, rising; those of given data are at most all rows."""
    if given is None:
        given = SIZES if rows is None or rows >= SIZES[-1] else [max(rows // 16, 2), max(rows // 4, 2), rows]
    sizes = sorted({whole("sizes", size, 2) for size in given})
    if len(sizes) < 2:
        raise InputError(f"sizes must be two or more different numbers of rows, got {list(given)!r:.60}")
    if rows is not None and sizes[-1] > rows:
        raise InputError(f"sizes go up to {sizes[-1]:,} rows, and the data have {rows:,}; give smaller ones")
    return sizes


def _subsets(data: RankingData, sizes: Sequence[int], seed: int) -> dict[int, RankingData]:
    """For each size, whole queries in one random order until they have so many rows."""
    order = np.random.default_rng(seed).permutation(data.n_queries)
    rows = np.cumsum(data.lengths[order])
    counts = [int(np.searchsorted(rows, size)) + 1 for size in sizes]
    if len(set(counts)) < len(counts):
        raise InputError(
            f"sizes must differ by whole queries, and the data have {data.n_queries:,}; give fewer sizes, or "
            "more queries"
        )
    return {size: data.take(order[:count]) for size, count in zip(sizes, counts, strict=True)}


def _timed(method: str, settings: Mapping[str, Any], data: RankingData) -> dict[str, Any]:
    """The least CPU time of some fits."""
    with one_thread():
        return _least(ranker_class(method), settings, data)


def _least(ranker: Any, settings: Mapping[str, Any], data: RankingData) -> dict[str, Any]:
    few = max(2, int(np.searchsorted(data.offsets, 2_000)))
    ranker(**settings).fit(data.take(slice(0, few)))  # compiles
    seconds: list[float] = []
    while len(seconds) < _RUNS and (not seconds or sum(seconds) < _SHORT):
        begin = time.process_time()
        ranker(**settings).fit(data)
        seconds.append(time.process_time() - begin)
    return {"rows": data.n_rows, "seconds": min(seconds)}


@contextmanager
def one_thread() -> Iterator[None]:
    """Have rankloom and LightGBM use one thread: threads that wait for work cost CPU time."""
    before = os.environ.get("RANKLOOM_THREADS")
    os.environ["RANKLOOM_THREADS"] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ["RANKLOOM_THREADS"]
        else:
            os.environ["RANKLOOM_THREADS"] = before


def _grown(method: str, entries: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    rows = [entry["rows"] for entry in entries]
    seconds = [entry["seconds"] for entry in entries]
    return {
        "method": method,
        "settings": entries[0]["settings"],
        "rows": rows,
        "seconds": seconds,
        "exponent": exponent(rows, seconds),
    }


def exponent(rows: Sequence[float], seconds: Sequence[float]) -> float:
    """The slope of log seconds against log rows."""
    x, y = np.log(rows), np.log(np.maximum(seconds, 1e-9))
    x = x - x.mean()
    return float(x @ y / (x @ x))


def table(facts: Mapping[str, Any]) -> Table:
    """CPU seconds, a row a method, a column a size."""
    headers = ["method", *(f"{size['rows']:,} rows" for size in facts["sizes"]), "exponent"]
    rows = [
        [row["method"], *(figure(one, 3) for one in row["seconds"]), figure(row["exponent"], 2)]
        for row in facts["methods"]
    ]
    return headers, rows


def note(facts: Mapping[str, Any]) -> str:
    """What stands below the table."""
    fixed = "; ".join(
        f"{row['method']} {' '.join(f'{name}={value}' for name, value in row['settings'].items())}"
        for row in facts["methods"]
        if row["settings"]
    )
    return f"CPU seconds of training on {facts['source']}; fixed: {fixed or 'nothing'}"
