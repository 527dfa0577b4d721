"""Text that is wrong, given to a command: one line that says where and why, exit code 2, no traceback."""

from __future__ import annotations

from pathlib import Path

import pytest

from twins.malformed import CASES


@pytest.mark.parametrize(("text", "line", "column", "reason"), CASES)
def test_one_line_and_exit_2(run, tmp_path: Path, text: bytes, line: int, column: int, reason: str) -> None:
    (tmp_path / "bad.txt").write_bytes(text)
    result = run("inspect bad.txt", code=2)
    assert result.stdout == ""
    told = [row for row in result.stderr.splitlines() if row]
    assert len(told) == 1
    assert f"bad.txt:{line}:{column}: " in told[0]
    assert reason in told[0]
    assert "Traceback" not in result.stderr
