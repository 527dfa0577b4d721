"""rankloom warmup: no kernel is left out, none compiled twice, and the user is told of compiling."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from rankloom.warm import find_kernels, is_warm, warm_up


def test_no_kernel_is_left_out_and_each_has_one_signature() -> None:
    names = [kernel.name for kernel in warm_up()]
    kernels = find_kernels()
    assert names == sorted(kernels)
    assert len(names) > 10
    cold = [name for name, kernel in kernels.items() if not kernel.signatures]
    assert not cold, f"rankloom.warm never calls {', '.join(cold)}: add a round of work that does"
    double = {name: kernel.signatures for name, kernel in kernels.items() if len(kernel.signatures) > 1}
    assert not double, f"compiled for several types, so users wait several times: {double}"


def test_what_is_shown(run: Any, run_json: Any) -> None:
    found = run_json("warmup")
    assert {kernel["name"] for kernel in found["kernels"]} == set(find_kernels())
    shown = run("warmup").stdout.splitlines()
    assert shown[0].split() == ["kernel", "seconds"]
    assert shown[-1].startswith(f"{len(found['kernels'])} kernels in ")


def test_several_processes_leave_none_out(tmp_path: Path) -> None:
    """In a package whose folder of kernels is new: nothing is warm before, all is warm afterwards."""
    script = textwrap.dedent("""
        from rankloom import warm

        warm._ROUNDS[:] = [warm._ROUNDS[-3], warm._ROUNDS[-1]]  # scores, and a scale of sparse rows
        assert not warm.is_warm()
        found = {kernel.name for kernel in warm.warm_up(2) if kernel.compiled}
        assert {"linear.score_dense", "linear.score_sparse", "net.score_net"} & found, found
        assert not warm.is_warm()
    """)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    environment.pop("NUMBA_DISABLE_JIT", None)
    subprocess.run([sys.executable, "-c", script], env=environment, check=True)


@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled")
def test_all_that_was_warmed_is_on_disk() -> None:
    warm_up()
    assert is_warm()


def test_a_process_that_dies_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [])
    with pytest.raises(RuntimeError, match="ended with code 1"):
        warm_up(2)


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A program with a kernel of its own, which is not on disk when it first runs."""
    path = tmp_path / "program.py"
    path.write_text(
        textwrap.dedent("""
        import numpy as np
        from rankloom.cli.compiling import telling_of_compiling
        from rankloom.kernels.compile import kernel

        @kernel
        def add(values):
            return values[0] + values[1]

        @kernel
        def subtract(values):
            return values[0] - values[1]

        with telling_of_compiling():
            print(add(np.ones(2)), subtract(np.ones(2)))
    """)
    )
    return path


def test_the_user_is_told_once_and_only_while_kernels_are_compiled(program: Path) -> None:
    def start() -> tuple[str, str]:
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(program.parent / "cache")}
        environment.pop("NUMBA_DISABLE_JIT", None)
        done = subprocess.run(
            [sys.executable, str(program)], env=environment, capture_output=True, text=True, check=True
        )
        return done.stdout, done.stderr

    first, second = start(), start()
    assert first[0] == second[0] == "2.0 0.0\n"
    assert first[1].count("compiling kernels: once on this machine") == 1
    assert second[1] == ""
