"""What every test runs under: hypothesis as it is wanted here, kernels as plain Python where asked for."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

JIT_FREE = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")

# `steady` draws the same examples in every run; `explore` draws new ones.
_COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("steady", derandomize=True, database=None, **_COMMON)
settings.register_profile("explore", print_blob=True, **_COMMON)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady" if os.environ.get("CI") else "explore"))


def pytest_configure(config: pytest.Config) -> None:
    """Kernels count on integers that wrap around and on inf; as plain Python, NumPy would warn of both."""
    if JIT_FREE:
        config.addinivalue_line("filterwarnings", "ignore:.* encountered in:RuntimeWarning")
