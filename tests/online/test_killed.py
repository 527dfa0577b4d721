"""Killed at random moments (SIGKILL), resumed each time: the bits of a run that nobody killed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")


def test_200_kills_lose_nothing_and_learn_nothing_twice(tmp_path: Path) -> None:
    program = Path(__file__).with_name("killing.py")
    done = subprocess.run(
        [sys.executable, str(program), str(tmp_path), "200", "1"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["wrong"] == []
    assert found["kills"] == 200
    assert found["learned"] == 60
    assert found["rounds"] > 1
