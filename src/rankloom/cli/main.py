"""The `rankloom` program: finds the command, imports only that, and turns what goes wrong into one line.

exit 0    done
exit 2    something in the input cannot be used: one line on standard error says what, and what to do
exit 70   a bug in rankloom: one line, and RANKLOOM_TRACEBACK=1 shows where
exit 130  stopped with Ctrl-C (143: with SIGTERM); no half-written file is left
exit 141  whoever read the output has gone away
"""

from __future__ import annotations

import importlib
import os
import signal
import sys
import warnings
from typing import Any

import click

from rankloom import __version__
from rankloom.cli.failures import exit_code, tell_warning
from rankloom.errors import InputError

NAME = "rankloom"
COMPLETION = "_RANKLOOM_COMPLETE"
COMMAND = "rankloom.command"  # what the context calls the words of the command line

# command -> one line of help, shown without importing the command (a test keeps both equal).
COMMANDS = {
    "inspect": "Say what a data set is, and what looks wrong with it.",
    "convert": "Convert data from one format to another.",
    "split": "Cut data by query into parts: to learn from, to choose by, to test on.",
    "train": "Learn a ranker from data, measure it, and write the model to a file.",
    "tune": "Choose a ranker's settings by held-out data or folds, and write the best model to a file.",
    "online": "Rank a stream of queries, learn from the feedback on each, and keep what was learned.",
    "predict": "Write what a model predicts for each row of data, one number a line.",
    "evaluate": "Say how good a ranking is, by measures whose convention has a name.",
    "compare": "Say whether a ranking is better than another, by how much, and whether it could be chance.",
    "mix": "Find the alpha for which alpha A + (1 - alpha) B ranks best, of all from 0 to 1.",
    "local-optimum": "Say whether a model's weights are a local maximum of a measure.",
    "experiment": "Run a published protocol: LETOR's folds, or the figures and tables of the papers.",
    "report": "Make the page of a run again, and its figures as files.",
    "demo": "Learn judged data with every family of rankers, compare them, and show it on a page.",
    "warmup": "Compile every kernel now, so that no later run waits for it.",
}


class Program(click.Group):
    """A group whose commands live in `rankloom.cli.<command>` and are imported when they are asked for."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        """The commands, in the order in which a newcomer meets them."""
        return list(COMMANDS)

    def get_command(self, _ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the one command that was asked for."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"rankloom.cli.{cmd_name.replace('-', '_')}").command
        return command

    def format_commands(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def main(self, args: Any = None, *_rest: Any, **extra: Any) -> Any:
        """Run a command, and leave the process with its exit code."""
        arguments = sys.argv[1:] if args is None else list(args)
        settings = {key: value for key, value in extra.items() if key not in ("prog_name", "standalone_mode")}
        with warnings.catch_warnings():
            warnings.showwarning = tell_warning
            sys.exit(exit_code(lambda: self._run(arguments, settings)))

    def _run(self, arguments: list[str], settings: dict[str, Any]) -> None:
        """What click's own `main` does, without its own way of reporting errors."""
        instruction = os.environ.get(COMPLETION)
        if instruction:
            from click.shell_completion import shell_complete

            sys.exit(shell_complete(self, settings, NAME, COMPLETION, instruction))
        with self.make_context(NAME, list(arguments), **settings) as context:
            context.meta[COMMAND] = arguments
            self.invoke(context)


@click.group(
    cls=Program, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(__version__, prog_name=NAME, message="%(prog)s %(version)s")
@click.pass_context
def program(context: click.Context) -> None:
    """Learning to rank: read any ranking data, look at it, measure rankings, compare rankers."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())
    setting = os.environ.get("RANKLOOM_THREADS", "").strip()
    if setting and (not setting.isdecimal() or int(setting) < 1):
        raise InputError(f"RANKLOOM_THREADS must be a whole number from 1, got {setting!r}")


def main() -> None:
    """The entry point of `rankloom` and of `python -m rankloom`.

    Leaves without taking the interpreter apart: nothing is open any more, and freeing compiled kernels one
    by one would take a third of the CPU time of a small `evaluate`.
    """
    signal.signal(signal.SIGTERM, _stop)
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # LightGBM's threads: who waits leaves the core
    code = 0
    try:
        program.main()
    except SystemExit as end:
        code = int(end.code or 0)
    sys.stderr.flush()
    os._exit(code)


def _stop(number: int, _frame: Any) -> None:
    """Leave through the usual way out, so that what is half-written is cleared away."""
    sys.exit(128 + number)
