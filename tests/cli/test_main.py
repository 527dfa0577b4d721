"""The program as a whole: what goes wrong is one line and an exit code."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable

import click
import pytest
from click.testing import CliRunner, Result

import rankloom
from rankloom.cli.main import COMMANDS, Program, program
from rankloom.errors import InputError, ParseError


def run_failing(fail: Callable[[], object]) -> Result:
    """A program with one command, which does this."""

    class One(Program):
        def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
            return click.Command("fail", callback=fail)

    return CliRunner().invoke(One("rankloom"), ["fail"])


def raising(error: BaseException) -> Callable[[], object]:
    def fail() -> object:
        raise error

    return fail


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (InputError("scores: 3 of them\n for 4 rows"), 2, "rankloom: error: scores: 3 of them for 4 rows"),
        (ParseError("no label", "a.txt", 2, 5), 2, "rankloom: error: a.txt:2:5: no label"),
        (FileNotFoundError(errno.ENOENT, "No such file or directory", "a.txt"), 2,
         "rankloom: error: a.txt: no such file or directory"),
        (OSError("odd"), 2, "rankloom: error: odd"),
        (MemoryError(), 2, "rankloom: error: not enough memory"),
        (click.UsageError("Bad thing."), 2, "rankloom: error: bad thing (see rankloom fail --help)"),
        (KeyboardInterrupt(), 130, "rankloom: interrupted"),
        (ZeroDivisionError("by\nzero"), 70,
         "rankloom: internal error: ZeroDivisionError: by zero "
         "(a bug: please report it, with what RANKLOOM_TRACEBACK=1 shows)"),
    ],
)  # fmt: skip
def test_errors_are_one_line(error: BaseException, code: int, line: str) -> None:
    done = run_failing(raising(error))
    assert done.exit_code == code
    assert done.stdout == ""
    assert done.stderr.strip() == line


def test_a_traceback_is_shown_when_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANKLOOM_TRACEBACK", "1")
    done = run_failing(raising(ZeroDivisionError("by zero")))
    assert done.exit_code == 70
    assert "Traceback (most recent call last)" in done.stderr
    assert "in fail" in done.stderr


def test_warnings_are_one_line_too() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        done = run_failing(lambda: warnings.warn("slow\n  path", UserWarning, stacklevel=1))
    assert (done.exit_code, done.stderr) == (0, "rankloom: warning: slow path\n")


def test_without_a_command_help_is_shown() -> None:
    done = CliRunner().invoke(program, [])
    assert done.exit_code == 0
    for name, words in COMMANDS.items():
        assert name in done.stdout
        assert words.split()[0] in done.stdout


def test_version() -> None:
    done = CliRunner().invoke(program, ["--version"])
    assert (done.exit_code, done.stdout) == (0, f"rankloom {rankloom.__version__}\n")


@pytest.mark.parametrize("arguments", [["evalute"], ["--jsno"], ["warmup", "--jsno"], ["warmup", "more"]])
def test_wrong_usage_is_one_line_that_says_where_help_is(arguments: list[str]) -> None:
    done = CliRunner().invoke(program, arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith("rankloom: error: ")
    assert done.stderr.endswith("--help)\n")
    assert done.stderr.count("\n") == 1


def test_a_closed_pipe_is_quiet() -> None:
    """The reader is gone before anything is written."""
    reader, writer = os.pipe()
    os.close(reader)
    with subprocess.Popen(
        [sys.executable, "-m", "rankloom", "--help"], stdout=writer, stderr=subprocess.PIPE, text=True
    ) as process:
        os.close(writer)
        assert process.stderr is not None
        assert process.stderr.read() == ""
    assert process.returncode == 141


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals_end_it_with_their_code(number: signal.Signals, code: int) -> None:
    """Who writes to its standard input goes on until the signal is sent, and then stops, as in a shell."""
    command = [sys.executable, "-m", "rankloom", "inspect", "-"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        process.stdin.write("1 qid:1 1:2\n" * 100_000)  # more than a pipe holds: it is being read
        process.send_signal(number)
        out, told = process.communicate()
    assert process.returncode == code
    assert out == ""
    assert "Traceback" not in told
