"""The package that draws, asked for before it is imported."""

from __future__ import annotations

import importlib.util

from rankloom.errors import MissingPackageError


def need_matplotlib() -> None:
    """Say what to install where figures cannot be drawn; imports nothing."""
    if importlib.util.find_spec("matplotlib") is None:
        raise MissingPackageError(
            'figures are drawn by matplotlib, which is not installed: pip install "rankloom[report]"'
        )
