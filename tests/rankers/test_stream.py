"""Streams: windows of rows, text as it comes, the same quality as in memory, memory that does not grow."""

from __future__ import annotations

import io
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankloom import (
    SPD,
    InputError,
    ParseError,
    RankingData,
    RankloomWarning,
    make_letor,
    make_rcv1,
    read_text,
    write_text,
)
from rankloom.data import text_stream
from rankloom.data.text_stream import read_pieces
from rankloom.rankers.windows import cut, windows

LETOR = make_letor(300, seed=2).data
STREAM = {"sampler": "stream", "lam": 0.01}


def rows_of(data: RankingData) -> list[tuple[Any, ...]]:
    """Each row as (query, label, features)."""
    X = data.X.toarray() if data.is_sparse else data.X
    qid = np.repeat(data.qids, data.lengths).tolist()
    return list(zip(qid, np.asarray(data.y).tolist(), map(tuple, np.asarray(X).tolist()), strict=True))


@given(
    lengths=st.lists(st.integers(1, 9), min_size=1, max_size=12),
    sizes=st.lists(st.integers(1, 7), min_size=1, max_size=30),
    rows=st.integers(2, 12),
    sparse=st.booleans(),
)
def test_windows_hold_every_row_once_and_short_queries_whole(
    lengths: list[int], sizes: list[int], rows: int, sparse: bool
) -> None:
    from scipy.sparse import csr_array

    qid = np.repeat(np.arange(len(lengths)), lengths)
    n = len(qid)
    X = np.stack((np.arange(n, dtype=np.float64), qid), axis=1)
    edges = [0, *np.cumsum(sizes)[np.cumsum(sizes) < n].tolist(), n]
    table: Any = csr_array(X) if sparse else X
    pieces = [RankingData(table[a:b], np.arange(a, b), qid[a:b]) for a, b in pairwise(edges)]
    found = list(windows(pieces, rows))
    labels = np.concatenate([np.asarray(window.y) for window in found])
    assert labels.tolist() == list(range(n))
    assert all(window.n_rows <= rows for window in found)
    whole = {tuple(np.flatnonzero(qid == q)) for q in range(len(lengths)) if 2 * lengths[q] <= rows}
    seen = {
        tuple(np.asarray(window.y)[a:b].astype(int).tolist())
        for window in found
        for a, b in zip(window.offsets[:-1], window.offsets[1:], strict=True)
    }
    assert whole <= seen


def test_a_query_longer_than_the_buffer_is_cut_evenly() -> None:
    data = RankingData(np.arange(25.0)[:, None], np.arange(25), weights=np.arange(25.0))
    parts = list(cut(data, 10))
    assert [part.n_rows for part in parts] == [8, 8, 9]
    assert np.concatenate([part.weights for part in parts]).tolist() == list(range(25))


@pytest.mark.parametrize("layout", ["dense", "sparse"])
def test_pieces_of_text_are_the_text(layout: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("rankloom.data.sources.BLOCK_BYTES", 4096)
    data = LETOR if layout == "dense" else make_rcv1(200, n_features=90).data
    write_text(data, tmp_path / "rows.txt")
    pieces = list(read_pieces(tmp_path / "rows.txt", 50, n_features=data.n_features, layout=layout))
    assert len(pieces) > 3
    assert {piece.is_sparse for piece in pieces} == {layout == "sparse"}
    whole = read_text(tmp_path / "rows.txt", n_features=data.n_features, layout=layout)
    assert [row for piece in pieces for row in rows_of(piece)] == rows_of(whole)


def test_a_fault_far_down_has_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rankloom.data.sources.BLOCK_BYTES", 1024)
    lines = [f"1 qid:1 1:{i}" for i in range(500)]
    lines[432] = "1 qid:1 1:x"
    with pytest.raises(ParseError, match=r":433:11: "):
        list(read_pieces(io.BytesIO("\n".join(lines).encode()), 10))


def test_the_first_piece_says_where_columns_begin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rankloom.data.sources.BLOCK_BYTES", 1024)
    zero = b"1 qid:1 0:1 1:2\n" * 200
    assert {piece.n_features for piece in read_pieces(io.BytesIO(zero), 10)} == {2}
    late = b"1 qid:1 1:1 2:2\n" * 200 + zero
    with pytest.raises(ParseError, match="index"):
        list(read_pieces(io.BytesIO(late), 10))
    assert {p.n_features for p in read_pieces(io.BytesIO(late), 10, index_base=0)} == {3, 2}
    with pytest.raises(InputError, match="rows must be a whole number from 1"):
        list(read_pieces(io.BytesIO(zero), 0))


def test_text_and_batches_and_memory_learn_the_same(tmp_path: Path) -> None:
    """With a buffer that holds all, they are even the same bits."""
    write_text(LETOR, tmp_path / "rows.txt")
    n = LETOR.n_rows
    whole = {**STREAM, "buffer": n + 1}
    memory = SPD(**whole, steps=n).fit(LETOR).model_.weights
    text = SPD(**whole).fit_stream(tmp_path / "rows.txt").model_
    batches = [LETOR.take(slice(at, at + 10)) for at in range(0, 300, 10)]
    pieces = SPD(**whole).fit_stream(iter(batches)).model_
    tuples = [(b.X, b.y, np.repeat(b.qids, b.lengths)) for b in batches]
    arrays = SPD(**whole).fit_stream(tuples).model_
    assert np.array_equal(pieces.weights, memory)
    assert np.array_equal(arrays.weights, memory)
    assert np.allclose(text.weights, memory, rtol=1e-4)
    assert text.about["data"] == {"rows": n, "features": 46}


def test_a_small_buffer_ranks_nearly_as_well() -> None:
    made = make_letor(2000, seed=5)
    train, test = made.data.take(slice(0, 1500)), made.data.take(slice(1500, 2000))
    whole = SPD(lam=0.01, steps=100_000).fit(train).score(test)
    for buffer in (500, 4000):
        streamed = SPD(**STREAM, buffer=buffer, steps=100_000).fit(train).score(test)
        assert streamed > whole - 0.015


def test_features_may_come_later() -> None:
    first = RankingData([[1.0], [0.0]], [1, 0], [1, 1])
    later = RankingData([[1.0, 0.0], [1.0, 1.0]], [1, 0], [2, 2])
    ranker = SPD(**STREAM, buffer=2).fit_stream([first, later], steps_per_row=500)
    assert ranker.n_features_in_ == 2
    assert ranker.model_.weights[0] > 0.0 > ranker.model_.weights[1]


def test_streams_go_on_and_call_back() -> None:
    seen: list[int] = []
    ranker = SPD(
        **STREAM, buffer=200, warm_start=True, callback=lambda s, _: seen.append(s), callback_at=1000
    )
    half = LETOR.take(slice(0, 150)), LETOR.take(slice(150, 300))
    for part in half:
        ranker.fit_stream([part])
    assert seen == list(range(1000, LETOR.n_rows + 1, 1000))
    again = SPD(**STREAM, buffer=200, warm_start=True)
    for part in half:
        again.fit_stream([part])
    assert np.array_equal(again.model_.weights, ranker.model_.weights)


def test_workers_stream_alike() -> None:
    one, two = (SPD(**STREAM, buffer=300, n_jobs=2).fit_stream([LETOR]).model_ for _ in range(2))
    assert np.array_equal(one.weights, two.weights)


def test_what_a_stream_cannot_do_is_refused(tmp_path: Path) -> None:
    pair = RankingData([[1.0], [0.0]], [1, 0])
    for ranker, source, options, message in [
        (SPD(), [pair], {}, "fit_stream needs sampler=\"stream\", got 'pairs'"),
        (SPD(sampler="stream", average=True), [pair], {}, "average must know the last step"),
        (SPD(sampler="stream", learner="combined"), [pair], {}, 'learner="combined" must know the last step'),
        (SPD(sampler="stream", buffer=1), [pair], {}, "buffer must be a whole number from 2, got 1"),
        (SPD(sampler="stream"), [pair], {"steps_per_row": 0}, "steps_per_row must be a number > 0, got 0"),
        (SPD(sampler="stream"), [pair], {"n_features": 3}, "n_features is for text"),
        (SPD(sampler="stream"), 3, {}, "a stream must be a path"),
        (SPD(sampler="stream"), [3], {}, "a batch of a stream must be a RankingData or a tuple"),
        (SPD(sampler="stream"), [], {}, "nothing to learn a ranking from: in 0 rows"),
        (SPD(sampler="stream"), [RankingData([[1.0], [0.0]], [1, 1])], {}, "nothing to learn a ranking from"),
        (SPD(sampler="stream"), tmp_path / "none", {}, "no such file"),
    ]:
        with pytest.raises(InputError) as caught:
            ranker.fit_stream(source, **options)
        assert message in str(caught.value)


def test_a_stream_sorted_by_label_is_warned_of() -> None:
    data = RankingData(np.arange(100.0)[:, None] / 100, np.arange(100) > 54)
    with pytest.warns(RankloomWarning, match="9 of 10 times there was no pair in the buffer; shuffle"):
        SPD(sampler="stream", buffer=10).fit(data)


def test_memory_is_that_of_the_buffer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a long stream, no more than some pieces are alive at a time."""
    import weakref

    alive: set[int] = set()
    most = 0
    builder = text_stream._builder

    def counted(*arguments: Any) -> Any:
        nonlocal most
        made = builder(*arguments)
        number = id(made)
        alive.add(number)
        weakref.finalize(made, alive.discard, number)
        most = max(most, len(alive))
        return made

    monkeypatch.setattr("rankloom.data.sources.BLOCK_BYTES", 4096)
    monkeypatch.setattr(text_stream, "_builder", counted)
    line = b"1 qid:%d 1:1 2:0\n0 qid:%d 1:0 2:1\n"
    text = b"".join(line % (q, q) for q in range(20_000))
    SPD(sampler="stream", buffer=100).fit_stream(io.BytesIO(text))
    assert most <= 3
