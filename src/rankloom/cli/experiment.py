"""`rankloom experiment`: published protocols, a command each, imported when it is asked for."""

from __future__ import annotations

import importlib

import click

# protocol -> one line of help, shown without importing the protocol (a test keeps both equal).
PROTOCOLS = {
    "letor": "Tune and measure every method on LETOR's folds, all in one table.",
    "convergence": "Show how fast each SPD learner nears the exact optimum (Sculley 2009, Figure 2).",
    "alpha": "Show how values and ranking trade as CRR's alpha goes from 0 to 1 (Sculley 2010, Figure 1).",
    "topics": "Compare regression, ranking and CRR on each topic of a corpus (Sculley 2010, Table 1).",
    "online": "Rank each query before learning from it, and count the cost (Wang et al. 2015, Section 5).",
    "scaling": "Time the training of every method on growing data, and say how it grows.",
}


class Protocols(click.Group):
    """A group whose commands live in `rankloom.cli.experiments.<protocol>`."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        """The protocols, LETOR's first."""
        return list(PROTOCOLS)

    def get_command(self, _ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the one protocol that was asked for."""
        if cmd_name not in PROTOCOLS:
            return None
        command: click.Command = importlib.import_module(f"rankloom.cli.experiments.{cmd_name}").command
        return command

    def format_commands(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the protocols without importing them."""
        with formatter.section("Protocols"):
            formatter.write_dl(list(PROTOCOLS.items()))


@click.group(cls=Protocols, subcommand_metavar="PROTOCOL [ARGS]...")
def command() -> None:
    """Run a published protocol: LETOR's folds, or the figures and tables of the papers.

    Each takes your data, or makes data of the paper's shape. --report PAGE.html writes a page with figures.

    \b
    Examples:
      rankloom experiment letor MQ2008
      rankloom experiment convergence MQ2008 --report page.html
      rankloom experiment letor -h
    """
