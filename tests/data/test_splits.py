"""Every query lies whole in one part, parts are as large as asked for, and alike where asked."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankloom.data import splits
from rankloom.data.ranking_data import RankingData
from rankloom.data.splits import k_folds, split
from rankloom.errors import InputError
from twins.data_examples import ranking_data


def queries(n, relevant=lambda query: query % 3):
    """n queries of 4 rows; query q has relevant(q) documents with label 1."""
    labels = [1 if row < relevant(query) else 0 for query in range(n) for row in range(4)]
    return RankingData(np.arange(4 * n).reshape(-1, 1), labels, np.repeat(np.arange(n), 4))


def n_relevant(data):
    return np.add.reduceat(data.y, data.offsets[:-1])


@given(ranking_data(), st.integers(0, 2**64 - 1), st.sampled_from([None, "length"]), st.data())
@settings(max_examples=60)
def test_parts_hold_all_queries_once_and_whole(data, seed, stratify, draw):
    n_parts = draw.draw(st.integers(2, 4))
    if data.n_queries < n_parts:
        with pytest.raises(
            InputError, match=f"{n_parts} parts need at least as many queries, got {data.n_queries}"
        ):
            split(data, [1 / n_parts] * n_parts)
        return
    parts = split(data, [1 / n_parts] * n_parts, seed=seed, stratify=stratify)
    folds = [test for _, test in k_folds(data, n_parts, seed=seed, stratify=stratify)]
    for pieces in (parts, folds):
        assert sorted(map(str, (qid for part in pieces for qid in part.qids))) == sorted(map(str, data.qids))
        sizes = [part.n_queries for part in pieces]
        assert max(sizes) - min(sizes) <= 1
    for part in parts:
        positions = [data.qids.tolist().index(qid) for qid in part.qids.tolist()]
        assert positions == sorted(positions)
        assert part == data.take(positions)


def test_shares_are_rounded_to_the_nearest_whole():
    assert [part.n_queries for part in split(queries(10), [0.6, 0.2, 0.2])] == [6, 2, 2]
    assert [part.n_queries for part in split(queries(7), [0.6, 0.2, 0.2])] == [4, 2, 1]  # 4.2, 1.4, 1.4
    assert [part.n_queries for part in split(queries(10), test=0.25)] == [8, 2]
    assert [part.n_queries for part in split(queries(3), [0.98, 0.01, 0.01])] == [1, 1, 1]


def test_folds_are_what_the_others_leave():
    data = queries(11)
    for train, test in k_folds(data, 4, seed=3):
        assert train.n_queries + test.n_queries == 11
        assert not set(train.qids) & set(test.qids)


def test_one_seed_one_split():
    data = queries(50)
    same = [split(data, test=0.3, seed=9)[1].qids.tolist() for _ in range(2)]
    assert same[0] == same[1]
    others = {tuple(split(data, test=0.3, seed=seed)[1].qids.tolist()) for seed in range(20)}
    assert len(others) == 20


def test_random_keys_are_splitmix64():
    """The first numbers that everybody's splitmix64 gives from the seed 1234567."""
    expected = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431]
    assert splits._random_keys(4, 1234567).tolist() == expected


def test_these_parts_for_this_seed():
    """Would change only if splits of published results could no longer be made again."""
    assert split(queries(10), test=0.3, seed=0)[1].qids.tolist() == [1, 4, 9]
    assert [test.qids.tolist() for _, test in k_folds(queries(6), 3, seed=1)] == [[1, 4], [3, 5], [0, 2]]


def test_every_query_comes_into_every_part():
    """Over many seeds, each of 6 queries is drawn for the second part a third of the times."""
    counts = np.zeros(6)
    for seed in range(600):
        counts[split(queries(6), test=1 / 3, seed=seed)[1].qids] += 1
    assert (np.abs(counts - 200) < 60).all()


@pytest.mark.parametrize("seed", range(5))
def test_strata_give_each_part_its_share(seed):
    """30 queries: 10 have no relevant document, 10 have one, 10 have two."""
    for part in split(queries(30), [0.5, 0.3, 0.2], seed=seed, stratify="relevant"):
        counts = np.bincount(n_relevant(part).astype(int), minlength=3)
        assert np.abs(counts - part.n_queries / 3).max() <= 1
    for _, test in k_folds(queries(30), 5, seed=seed, stratify="relevant"):
        assert np.bincount(n_relevant(test).astype(int)).tolist() == [2, 2, 2]


def test_strata_by_length_and_by_own_values():
    data = RankingData(np.ones((30, 1)), None, np.repeat(np.arange(20), [1] * 10 + [2] * 10))
    for _, test in k_folds(data, 5, stratify="length"):
        assert sorted(test.lengths) == [1, 1, 2, 2]
    kinds = ["long", "short"] * 10
    for _, test in k_folds(data, 5, stratify=kinds):
        assert sorted(kinds[qid] for qid in test.qids) == ["long", "long", "short", "short"]


def test_a_rare_kind_does_not_always_go_to_the_same_part():
    data = queries(10, relevant=lambda query: 4 if query == 0 else 0)
    where = {0 in split(data, test=0.5, seed=seed, stratify="relevant")[1].qids for seed in range(20)}
    assert where == {True, False}


BAD = {
    "both": (lambda data: split(data, [0.5, 0.5], test=0.5), "either parts=.* or test="),
    "neither": (lambda data: split(data), "either parts="),
    "sum": (lambda data: split(data, [0.5, 0.6]), r"sum to 1, got \[0.5, 0.6\]"),
    "one part": (lambda data: split(data, [1.0]), "two or more shares"),
    "empty part": (lambda data: split(data, [1.0, 0.0]), "shares above 0"),
    "NaN": (lambda data: split(data, [0.5, float("nan")]), "shares above 0"),
    "test": (lambda data: split(data, test=1.5), "test must be a share between 0 and 1, got 1.5"),
    "too many parts": (lambda data: split(data, [0.1] * 10), "10 parts need at least as many queries, got 5"),
    "too many folds": (lambda data: k_folds(data, 6), "6 folds need at least as many queries, got 5"),
    "one fold": (lambda data: k_folds(data, 1), "n must be a whole number of folds from 2, got 1"),
    "half a fold": (lambda data: k_folds(data, 2.5), "got 2.5"),
    "seed": (lambda data: split(data, test=0.5, seed=-1), "seed must be a whole number from 0"),
    "seed a float": (lambda data: k_folds(data, 2, seed=0.5), "seed must be a whole number from 0"),
    "stratify": (
        lambda data: split(data, test=0.5, stratify="labels"),
        "relevant, length, None or .*got 'labels'",
    ),
    "strata": (lambda data: split(data, test=0.5, stratify=[1, 2]), r"one value per query \(5\), got 2"),
}


@pytest.mark.parametrize("case", BAD)
def test_impossible_wishes_are_refused(case):
    call, message = BAD[case]
    with pytest.raises(InputError, match=message):
        call(queries(5))


def test_strata_by_labels_need_labels():
    with pytest.raises(InputError, match="needs labels, and this data has none"):
        split(RankingData(np.ones((4, 1)), None, [1, 2, 3, 4]), test=0.5, stratify="relevant")
