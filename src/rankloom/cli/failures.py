"""What the user is told when something goes wrong: one line, and an exit code."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from typing import Any

import click

from rankloom.errors import RankloomError

UNUSABLE, BUG, INTERRUPTED, CLOSED_PIPE = 2, 70, 130, 141


def exit_code(run: Callable[[], Any]) -> int:
    """Call `run`; whatever it raises becomes a message and a code."""
    try:
        run()
        sys.stdout.flush()
    except click.exceptions.Exit as way_out:
        return way_out.exit_code
    except (click.Abort, KeyboardInterrupt):
        return _interrupted()
    except click.ClickException as error:
        return _unusable(_usage(error), error)
    except (RankloomError, MemoryError) as error:
        return _unusable(str(error) or "not enough memory", error)
    except BrokenPipeError:
        return _closed_pipe()
    except OSError as error:
        return _unusable(_system(error), error)
    except Exception as error:
        return _bug(error)
    return 0


def tell(message: str) -> None:
    """A message for a person, on standard error."""
    click.echo(f"rankloom: {message}", err=True)


def tell_warning(message: Warning | str, *_where: Any, **_more: Any) -> None:
    """Stands in for `warnings.showwarning`: without file and line, which mean nothing to a user."""
    tell(f"warning: {' '.join(str(message).split())}")


def _unusable(message: str, error: BaseException) -> int:
    _trace(error)
    tell(f"error: {' '.join(message.split())}")
    return UNUSABLE


def _usage(error: click.ClickException) -> str:
    message = error.format_message().rstrip(".")
    message = message[:1].lower() + message[1:]
    context = error.ctx if isinstance(error, click.UsageError) else None
    return message if context is None else f"{message} (see {context.command_path} --help)"


def _system(error: OSError) -> str:
    """An operating system's error, with the file it is about."""
    reason = (error.strerror or str(error)).lower()
    files = [str(name) for name in (error.filename, error.filename2) if name is not None]
    return f"{' -> '.join(files)}: {reason}" if files else reason


def _bug(error: Exception) -> int:
    if not _trace(error):
        what = " ".join(f"{type(error).__name__}: {error}".split())
        tell(f"internal error: {what} (a bug: please report it, with what RANKLOOM_TRACEBACK=1 shows)")
    return BUG


def _trace(error: BaseException) -> bool:
    wanted = os.environ.get("RANKLOOM_TRACEBACK", "0") not in ("", "0")
    if wanted:
        traceback.print_exception(error, file=sys.stderr)
    return wanted


def _interrupted() -> int:
    tell("interrupted")
    return INTERRUPTED


def _closed_pipe() -> int:
    """Nobody reads on: leave quietly, and keep the interpreter from flushing into the closed pipe."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return CLOSED_PIPE
