"""Learning to rank: read any ranking data, measure any ranking, compare two rankers honestly.

    import rankloom as rl
    data = rl.read("train.txt")
    rl.evaluate(scores, data, measures=["ndcg@10", "map"])

Every public name lives in a module of its own and is imported when it is first asked for, so that
`import rankloom` costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rankloom.errors import (
        InputError,
        MissingPackageError,
        ParseError,
        RankloomError,
        RankloomWarning,
        StoreError,
    )

__version__ = "0.1.0"

_HOMES = {
    "InputError": "rankloom.errors",
    "MissingPackageError": "rankloom.errors",
    "ParseError": "rankloom.errors",
    "RankloomError": "rankloom.errors",
    "RankloomWarning": "rankloom.errors",
    "StoreError": "rankloom.errors",
}

__all__ = [
    "InputError",
    "MissingPackageError",
    "ParseError",
    "RankloomError",
    "RankloomWarning",
    "StoreError",
]


def __getattr__(name: str) -> Any:
    """Import a public name from its module, once."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'rankloom' has no attribute {name!r}")
    value = getattr(importlib.import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
