"""What every test runs under: NumPy's quiet integers, and hypothesis as it is wanted here."""

from __future__ import annotations

import os
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

# `steady` draws the same examples in every run; `explore` draws new ones.
_COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("steady", derandomize=True, database=None, **_COMMON)
settings.register_profile("explore", print_blob=True, **_COMMON)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady" if os.environ.get("CI") else "explore"))


@pytest.fixture(autouse=True)
def _machine_arithmetic() -> Iterator[None]:
    """Kernels count on wrapping integers and on inf; as plain Python they would make NumPy warn."""
    with np.errstate(all="ignore"):
        yield
