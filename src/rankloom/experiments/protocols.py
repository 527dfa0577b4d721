"""The papers' protocols by name.

rl.experiment("convergence", "MQ2008", fold=1, steps=10_000_000)
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

from rankloom.errors import InputError


class Protocol(NamedTuple):
    """Where a protocol lives, and what it shows."""

    module: str
    summary: str


PROTOCOLS = {
    "letor": Protocol("rankloom.experiments.letor", "all methods over LETOR's folds"),
    "convergence": Protocol("rankloom.experiments.convergence", "Figure 2 of Sculley 2009"),
    "alpha": Protocol("rankloom.experiments.alpha", "Figure 1 of Sculley 2010"),
    "topics": Protocol("rankloom.experiments.topics", "Table 1 of Sculley 2010"),
    "online": Protocol("rankloom.experiments.online", "Table 2, Figures 2 and 3 of Wang et al. 2015"),
    "scaling": Protocol("rankloom.experiments.scaling", "time against data, all methods"),
}


def experiment(protocol: str, source: Any = None, **options: Any) -> Any:
    """Run a published protocol; the result has `kind`, `table()`, `to_dict()`, and prints itself.

    Args:
        protocol: letor, convergence, alpha, topics, online or scaling.
        source: what it runs on: None is generated data of the paper's shape; a RankingData, a file, or a
            folder of LETOR folds, as the protocol takes it.
        options: the protocol's own: test, steps, seed, record, ...
    """
    if protocol not in PROTOCOLS:
        raise InputError(f"protocol must be one of {', '.join(PROTOCOLS)}, got {protocol!r:.40}")
    if protocol == "letor" and source is None:
        raise InputError("letor needs a folder with Fold1, Fold2, ...; give it as the source")
    run = runner(protocol)
    parameters = inspect.signature(run).parameters
    known = [name for name in parameters if name not in ("source", "folder", "reading")]
    unknown = [] if "reading" in parameters else [name for name in options if name not in known]
    if unknown:
        raise InputError(f"{unknown[0]} is no option of {protocol}; its options are {', '.join(known)}")
    return run(source, **options)


def runner(protocol: str) -> Callable[..., Any]:
    """The function that runs it; imports it."""
    found: Callable[..., Any] = getattr(importlib.import_module(PROTOCOLS[protocol].module), protocol)
    return found
