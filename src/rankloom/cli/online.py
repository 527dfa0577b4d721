"""`rankloom online`: rank a stream of queries and learn from their feedback as it comes."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterable
from datetime import UTC
from typing import TYPE_CHECKING, Any

import click

from rankloom.cli import options
from rankloom.cli.compiling import telling_of_compiling
from rankloom.cli.failures import tell
from rankloom.cli.methods import make_ranker
from rankloom.cli.output import as_json as plain
from rankloom.cli.output import counted, print_json, print_table
from rankloom.errors import InputError

if TYPE_CHECKING:
    from rankloom.online.source import Asked, Source

_LEARNER = [
    click.option("--method", type=click.Choice(["solar", "prank", "committee"]), help="Who learns (solar)."),
    click.option(
        "--set",
        "settings",
        multiple=True,
        metavar="NAME=VALUE",
        help="A parameter of the method; repeat it for more.",
    ),
    click.option("--seed", type=click.IntRange(min=0), help="Of the random numbers (0)."),
    click.option("--start", metavar="MODEL", help="A linear model to begin with."),
]
_STREAM = [
    click.option("--n-features", type=click.IntRange(min=1), help="How many features rows have."),
    click.option("--index-base", type=click.Choice(["0", "1"]), help="The index of the first feature (1)."),
    click.option(
        "--rule",
        type=click.Choice(["skip-above", "last-skip-above", "next-unclicked"]),
        help="What clicks say (skip-above).",
    ),
    click.option("--eta", type=click.FloatRange(min=0), help="Clicks: a user looks at place r with r^-ETA."),
    click.option("--report", type=click.IntRange(min=1), help="Measures after every so many queries (100)."),
]
_KEEPING = [
    click.option("--state", metavar="FOLDER", help="Keep what is learned here, safe from a crash."),
    click.option("--group", type=click.IntRange(min=1), help="With --state: queries to flush at once (1)."),
    click.option(
        "--snapshot-every", type=click.IntRange(min=1), help="With --state: queries between snapshots (1000)."
    ),
    click.option("--compact", is_flag=True, help="With --state: drop old feedback from the journal."),
    click.option("--model", "target", metavar="OUT", help="Write the model here at the end."),
    click.option("--force", is_flag=True, help="Overwrite OUT if it is there."),
]


@click.command()
@click.argument("words", nargs=-1, required=True, metavar="DATA | log FOLDER")
@options.all_of([*_LEARNER, *_STREAM, *_KEEPING])
@options.as_json
def command(words: tuple[str, ...], as_json: bool, **given: Any) -> None:
    """Rank a stream of queries, learn from the feedback on each, and keep what was learned.

    DATA is a file or - for standard input: LETOR text, whose labels are the feedback, or JSON lines with
    labels, pairs or clicks. Each query is ranked by what was learned before it; the ranking goes to standard
    output (TREC run lines for text, JSON for JSON), measures of the rankings to standard error. With --state,
    feedback is on the disk before it is learned; the same command again goes on where it stopped, and learns
    no feedback twice.

    rankloom online log FOLDER shows every feedback in a folder.

    \b
    Examples:
      rankloom online train.txt > rankings.txt
      rankloom online - --state live --set gamma=100 --set forget=0.99 < queries.jsonl
      rankloom online queries.jsonl --start model.rank --rule last-skip-above --eta 1
      rankloom online log live
    """
    if words[0] == "log" and len(words) == 2:
        _refuse_options(given)
        show_log(words[1], as_json)
        return
    if len(words) > 1:
        raise InputError(f"give one DATA (a file or -), or log FOLDER, got {' '.join(words)}")
    _check(given)
    with telling_of_compiling():
        run(words[0], given, as_json)


def _refuse_options(given: dict[str, Any]) -> None:
    for name, value in given.items():
        if value not in (None, False, ()):
            name = {"settings": "set", "target": "model"}.get(name, name).replace("_", "-")
            raise InputError(f"--{name} has no meaning with log; leave it out")


def _check(given: dict[str, Any]) -> None:
    from rankloom.cli.convert import check_output

    for name in ("group", "snapshot_every", "compact"):
        if given[name] and given["state"] is None:
            raise InputError(f"--{name.replace('_', '-')} is for --state; say where with --state FOLDER")
    if given["force"] and given["target"] is None:
        raise InputError("--force is for --model; leave it out")
    if given["target"] == "-":
        raise InputError("--model needs the name of a file, got -")
    if given["target"] is not None:
        check_output((), given["target"], given["force"])


def run(data: str, given: dict[str, Any], as_json: bool) -> None:
    """The whole stream."""
    from rankloom.online.source import Source

    with Lines(data) as lines:
        learner = Learner(given)
        source = Source(
            lines,
            "standard input" if data == "-" else data,
            n_features=learner.n_features,
            index_base=int(given["index_base"] or 1),
            rule=given["rule"] or "skip-above",
            examined=given["eta"],
        )
        try:
            learner.follow(source)
            learner.finish(as_json)
        finally:
            learner.close()


class Lines:
    """The lines of a file or of standard input, as they come."""

    def __init__(self, data: str) -> None:
        from rankloom.data.sources import opened

        self._raw: Any = sys.stdin.buffer if data == "-" else None
        self._opened: Any = None if self._raw is not None else opened(data)

    def __enter__(self) -> Iterable[bytes]:
        if self._opened is None:
            lines: Iterable[bytes] = iter(self._raw.readline, b"")
            return lines
        raw: Any = self._opened.__enter__()[0]
        return io.BufferedReader(raw)

    def __exit__(self, *error: Any) -> None:
        if self._opened is not None:
            self._opened.__exit__(*error)


class Learner:
    """Who ranks and learns, in memory or in a folder."""

    def __init__(self, given: dict[str, Any]) -> None:
        from rankloom.online.loop import journals

        self._loop: Any = None
        self._ranker: Any = None
        self._given, self._known, self._queries = given, 0, 0
        self._waiting: list[Asked] = []
        self._told = ""
        named = any(given[name] not in (None, ()) for name in ("method", "settings", "seed", "start"))
        if given["state"] is None or named or not _exists(given["state"], journals):
            self._ranker = self._made()
        if given["state"] is not None and _exists(given["state"], journals):
            self._open(None)

    def _made(self) -> Any:
        ranker = make_ranker(self._given["method"] or "solar", self._given["settings"], self._given["seed"])
        if self._given["start"] is not None:
            from rankloom.cli.scoring import load_model

            ranker.set_params(start=load_model(self._given["start"]))
        ranker._check()
        return ranker

    @property
    def n_features(self) -> int | None:
        """How many features rows must have, if that is settled."""
        if self._loop is not None:
            return int(self._loop.learner.n_features_in_)
        start = getattr(self._ranker, "start", None)
        asked: int | None = self._given["n_features"]
        return asked if start is None else int(start.n_features)

    def _open(self, n_features: int | None) -> None:
        from rankloom.online.loop import SNAPSHOT_EVERY, OnlineLoop

        every = self._given["snapshot_every"] or SNAPSHOT_EVERY
        folder = self._given["state"]
        self._loop = OnlineLoop(folder, self._ranker, n_features=n_features, snapshot_every=every)
        self._ranker = self._loop.learner
        opened, number = self._loop.opened, self._loop.number
        if opened.cut_off:
            tell(f"the last write to {folder} was not finished: cut off {opened.cut_off:,} bytes")
        if number:
            tell(f"{folder} has learned from {counted(number, 'query')}; going on")

    def _begin(self, n_features: int) -> None:
        if self._given["state"] is not None and self._loop is None:
            self._open(n_features)
        elif self._loop is None and not hasattr(self._ranker, "_mind"):
            self._ranker.begin(n_features)
        form = getattr(self._ranker, "covariance_", None)
        if form is not None and self._queries == 0:
            tell(f"solar keeps a {form} covariance of {counted(n_features, 'feature')}")

    def follow(self, source: Source) -> None:
        """Rank and learn all that comes."""
        for asked in source:
            if self._queries == 0:
                self._begin(asked.features.n_features)
            self._queries += 1
            self._waiting.append(asked)
            waits_for_more = asked.is_new and asked.feedback is not None
            if len(self._waiting) >= (self._given["group"] or 1) or not waits_for_more:
                self._settle(source)
        self._settle(source)

    def _settle(self, source: Source) -> None:
        """Learn what waits, and give the rankings."""
        waiting, self._waiting = self._waiting, []
        before = self._ranker.progress_.queries if waiting else 0
        if len(waiting) == 1:
            self._one(source, waiting[0])
        elif waiting:
            self._many(source, waiting)
        every = self._given["report"] or 100
        if waiting and self._ranker.progress_.queries // every > before // every:
            self._tell_progress()

    def _tell_progress(self) -> None:
        """Measures so far, unless they were just told."""
        told = str(self._ranker.progress_)
        if told != self._told:
            tell(told)
        self._told = told

    def _one(self, source: Source, asked: Asked) -> None:
        known = self._is_known(asked)
        if asked.is_new and (source.is_json or not known):  # who sends JSON waits for an answer
            give(source, asked, self._ranker.rank_one_query(asked.features))
        if known:
            self._known += 1
            return
        if asked.feedback is None:
            return
        if self._loop is None:
            self._ranker.learn_one_query(asked.features, asked.feedback)
        else:
            self._loop.learn(asked.id, asked.features, asked.feedback, query=asked.query, docs=asked.docs)

    def _many(self, source: Source, waiting: list[Asked]) -> None:
        from rankloom.online.loop import Told

        if any(asked.feedback is None for asked in waiting) or self._loop is None:
            for asked in waiting:
                self._one(source, asked)
            return
        told = [Told(a.id, a.features, a.feedback, a.query, a.docs) for a in waiting]
        for asked, scores in zip(waiting, self._loop.learn_group(told), strict=True):
            if scores is None:
                self._known += 1
                scores = self._ranker.rank_one_query(asked.features) if source.is_json else None
            if asked.is_new and scores is not None:
                give(source, asked, scores)

    def _is_known(self, asked: Asked) -> bool:
        return self._loop is not None and asked.feedback is not None and self._loop.knows(asked.id)

    def finish(self, as_json: bool) -> None:
        """Write the snapshot and the model, and say how it went."""
        if self._queries == 0 and self._loop is None:
            raise InputError("the stream is empty: there is nothing to rank or to learn")
        if self._loop is not None:
            self._loop.snapshot()
            if self._given["compact"]:
                tell(f"dropped {counted(self._loop.compact(), 'record')} from the journal")
        if self._given["target"] is not None:
            self._ranker.model_.save(self._given["target"])
        progress = self._ranker.progress_
        if self._known:
            tell(f"{counted(self._known, 'query')} had been learned before")
        if as_json:
            import json

            click.echo(json.dumps(plain(progress._asdict()), allow_nan=False), err=True)
        else:
            self._tell_progress()

    def close(self) -> None:
        """Let go of the folder."""
        if self._loop is not None:
            self._loop.close()


def _exists(folder: str, journals: Any) -> bool:
    from pathlib import Path

    return bool(journals(Path(folder)))


def give(source: Source, asked: Asked, scores: Any) -> None:
    """Write a ranking on standard output, at once."""
    import json

    import numpy as np

    order = np.argsort(-scores, kind="stable").tolist()
    source.shown(asked.query, order)
    ranked = [(asked.docs[row], float(scores[row])) for row in order]
    if source.is_json:
        found = {
            "query": asked.query,
            "ranking": [doc for doc, _ in ranked],
            "scores": [score for _, score in ranked],
        }
        click.echo(json.dumps(found))
    else:
        lines = (
            f"{asked.query} Q0 {doc} {place} {score!r} rankloom"
            for place, (doc, score) in enumerate(ranked, 1)
        )
        click.echo("\n".join(lines))


def show_log(folder: str, as_json: bool) -> None:
    """Every feedback in a folder: a table for a person, or one JSON document."""
    from datetime import datetime

    from rankloom.online.loop import read_log

    found = [
        {
            "number": number,
            "time": datetime.fromtimestamp(entry.time, UTC).isoformat(timespec="seconds"),
            "id": entry.id,
            "query": entry.query,
            "docs": entry.docs,
            "labels": None if entry.feedback.labels is None else entry.feedback.labels.tolist(),
            "pairs": None if entry.feedback.pairs is None else entry.feedback.pairs.tolist(),
            "weights": None if entry.feedback.weights is None else entry.feedback.weights.tolist(),
            "rows": entry.features.n_rows,
        }
        for number, entry in read_log(folder)
    ]
    if as_json:
        print_json(found)
        return
    print_table(
        ["number", "time", "id", "query", "rows", "feedback"],
        [[str(e["number"]), e["time"], e["id"], e["query"] or "", str(e["rows"]), _words(e)] for e in found],
    )


def _words(entry: dict[str, Any]) -> str:
    if entry["pairs"] is None:
        return f"labels, {sum(label > 0 for label in entry['labels'])} of {entry['rows']} above 0"
    if entry["labels"] is None:
        return counted(len(entry["pairs"]), "pair")
    clicks = sum(label > 0 for label in entry["labels"])
    return f"{counted(clicks, 'click')}, {counted(len(entry['pairs']), 'pair')}"
