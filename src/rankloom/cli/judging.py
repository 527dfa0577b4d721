"""Labels, and scores from files or models: what `rankloom evaluate` and `rankloom compare` measure."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankloom.cli.compiling import telling_of_compiling
from rankloom.cli.options import check_standard_input
from rankloom.cli.reading import read
from rankloom.cli.scoring import is_model, load_model, read_for, scores_for
from rankloom.errors import InputError, ParseError

if TYPE_CHECKING:
    from rankloom.data.ranking_data import RankingData
    from rankloom.data.trec import Qrels, Run

Scores = NDArray[np.float64]


class Judged(NamedTuple):
    """Rows with labels, and each system's scores of them. `more` goes to `evaluate` beside them."""

    scores: list[Scores]
    labels: Any  # a RankingData, or labels by row
    more: dict[str, Any]


@contextmanager
def judge(
    rankings: Sequence[str], data: str, reading: dict[str, Any], complete: bool, measures: Sequence[str]
) -> Iterator[Judged]:
    """Read everything, models among it; inside the block, the user is told if kernels are compiled."""
    check_standard_input(*rankings, data)
    models = {name: load_model(name) for name in rankings if is_model(name)}
    with telling_of_compiling():
        source, qrels = _open(data)
        if qrels is not None:
            if models:
                raise _no_features(data)
            yield _from_qrels(rankings, qrels, complete)
            return
        if complete:
            raise InputError("--complete is for judgements (qrels); other data list their rows themselves")
        first = next(iter(models.values()), None)
        rows = read([source], reading) if first is None else read_for(first, source, reading, labelled=True)
        scores = [
            scores_for(models[name], rows, measures, reading["threads"])
            if name in models
            else scores_of(name, rows)
            for name in rankings
        ]
        yield Judged(scores, rows, {})


@contextmanager
def judged_rows(model: Any, data: str, reading: dict[str, Any], complete: bool) -> Iterator[RankingData]:
    """Labelled rows for one model to be measured on; inside the block, the user is told of compiling."""
    with telling_of_compiling():
        source, qrels = _open(data)
        if qrels is not None:
            raise _no_features(data)
        if complete:
            raise InputError("--complete is for runs and judgements, and a model is neither")
        yield read_for(model, source, reading, labelled=True)


def _no_features(data: str) -> InputError:
    return InputError(f"a model scores rows with features, and {data} has judgements without; give the data")


class _StandardInput(io.BytesIO):
    """What came on standard input, to be read a second time."""

    name = "standard input"


def _open(data: str) -> tuple[Any, Qrels | None]:
    """What to read the data from; and the judgements, if that is what they are."""
    from rankloom.data.fields import Content, read_content
    from rankloom.data.read import source_kind
    from rankloom.data.sources import Buffers, line_blocks
    from rankloom.data.trec import read_qrels

    if source_kind(data) != "text":
        return data, None
    source: Any = data
    if data == "-":
        source = _StandardInput(read_content("-").text.tobytes())
    first = next(line_blocks(source, Buffers()), None)
    if data == "-":
        source.seek(0)
    if first is None:
        return source, None
    fields = Content(first.text[first.start : first.stop], first.name).first_fields()
    return source, read_qrels(source) if _are_qrels(fields) else None


def _are_qrels(fields: list[bytes]) -> bool:
    """Whether a first line is a judgement: four fields, none of them a feature, a qid or a comment."""
    return len(fields) == 4 and not any(b":" in field or field.startswith(b"#") for field in fields[1:])


def scores_of(ranking: str, data: RankingData) -> Scores:
    """The score of each row of the data, in the caller's order, from a file of scores or a run."""
    from rankloom.data.trec import Run, read_ranking
    from rankloom.data.trec_join import run_scores

    try:
        found = read_ranking(ranking)
    except ParseError as error:
        raise _with_query(error, data) from error
    if isinstance(found, Run):
        return run_scores(found, data, missing=-np.inf)
    if len(found) != data.n_rows:
        told = f"{ranking} has {len(found):,} scores, and the data {data.n_rows:,} rows"
        raise InputError(f"{told}; give one score a row")
    return found


def _with_query(error: ParseError, data: RankingData) -> ParseError:
    """The same error, saying also of which query the row is."""
    if error.line is None or error.line > data.n_rows or "score" not in error.reason:
        return error
    row = error.line - 1
    if data.order is not None:
        row = int(np.flatnonzero(data.order == row)[0])
    query = data.qids[int(np.searchsorted(data.offsets, row, side="right")) - 1]
    return ParseError(f"{error.reason} (query {query})", error.file, error.line, error.column)


def _from_qrels(rankings: Sequence[str], qrels: Qrels, complete: bool) -> Judged:
    from rankloom.data.trec import read_ranking
    from rankloom.data.trec_join import join_qrels

    runs: list[Run] = []
    for name in rankings:
        found = read_ranking(name)
        if isinstance(found, np.ndarray):
            raise InputError(f"{name} has one number a line, but judgements ({qrels.name}) need a run")
        runs.append(found)
    parts = [join_qrels(run, qrels, complete=complete) for run in runs]
    if not any(len(part.scores) for part in parts):
        raise InputError(f"{qrels.name} judges no query of {' and '.join(rankings)}; look at the query ids")
    return _united(parts)


def _united(parts: list[Any]) -> Judged:
    """All documents that any run found or judges found relevant; one that a run lacks was not found by it."""
    from rankloom.data.matching import chained, first_place, numbered
    from rankloom.data.texts import Texts

    qid = np.concatenate([part.qid for part in parts])
    texts = chained([part.doc_ids for part in parts])
    _, query = numbered(Texts.from_strings(qid.tolist()))
    first = first_place(texts, query)
    kept = np.flatnonzero(first == np.arange(len(first)))
    place = np.searchsorted(kept, first)
    edges = np.cumsum([0] + [len(part.scores) for part in parts])
    scores = [np.full(len(kept), -np.inf) for _ in parts]
    for own, part, start, stop in zip(scores, parts, edges[:-1], edges[1:], strict=True):
        own[place[start:stop]] = part.scores
    labels = np.concatenate([part.labels for part in parts])[kept]
    return Judged(scores, labels, {"qid": qid[kept], "doc_ids": texts.take(kept)})
