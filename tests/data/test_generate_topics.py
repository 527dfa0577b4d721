"""Made-up sparse rows with topics: shaped like RCV1, the same for the same seed, and true as they say."""

from __future__ import annotations

import numpy as np
import pytest

from rankloom.data.generate_topics import TOPIC_SHARES, GeneratedTopics, make_rcv1
from rankloom.errors import InputError
from rankloom.measures.evaluate import evaluate


@pytest.fixture(scope="module")
def made() -> GeneratedTopics:
    return make_rcv1(10_000, seed=1)


def test_it_has_the_shape_of_rcv1(made: GeneratedTopics) -> None:
    data = made.data
    assert data.n_queries == 1
    assert data.n_features == 47_236
    assert 70 < data.nnz / data.n_rows < 80
    assert (np.diff(data.row_offsets) >= 1).all()
    inside = np.ones(data.nnz - 1, dtype=bool)
    inside[data.row_offsets[1:-1] - 1] = False
    assert (np.diff(data.columns.astype(np.int64))[inside] > 0).all()


def test_rows_have_length_one_and_six_digits(made: GeneratedTopics) -> None:
    squares = np.add.reduceat(made.data.values.astype(np.float64) ** 2, made.data.row_offsets[:-1])
    assert np.allclose(squares, 1.0, atol=1e-5)
    some = made.data.values[:2000]
    assert np.array_equal(np.array([np.float32(f"{value:.6g}") for value in some.tolist()]), some)


def test_few_terms_are_everywhere_and_most_are_rare(made: GeneratedTopics) -> None:
    frequency = np.sort(np.bincount(made.data.columns, minlength=made.data.n_features))[::-1]
    assert 0.1 * made.data.n_rows < frequency[0] < 0.5 * made.data.n_rows
    assert frequency[:1000].sum() > 0.3 * made.data.nnz
    assert np.median(frequency) < 0.002 * made.data.n_rows


@pytest.mark.parametrize("number", [0, 50, -1])
def test_topics(made: GeneratedTopics, number: int) -> None:
    topic = made.topic(number)
    assert topic.data.y.sum() == max(1, round(TOPIC_SHARES[number] * made.data.n_rows))
    assert set(topic.data.y) == {0.0, 1.0}
    assert np.allclose(made.data.X @ topic.weights, topic.truth)
    assert np.shares_memory(topic.data.values, made.data.values)
    auc = evaluate(topic.truth, topic.data, measures="auc")["auc"]
    assert auc > 0.9
    assert auc < 1.0 or topic.data.y.sum() < 10


def test_the_first_topic_is_the_most_frequent(made: GeneratedTopics) -> None:
    assert TOPIC_SHARES[0] == pytest.approx(0.4)
    assert TOPIC_SHARES[-1] == pytest.approx(0.0003)
    assert np.array_equal(made.data.y, made.topic(0).data.y)
    assert np.array_equal(made.truth, made.topic(0).truth)


@pytest.mark.jit_free
def test_without_noise_positives_have_the_most_truth() -> None:
    made = make_rcv1(60, n_features=50, shares=(0.2,), noise=0.0)
    assert made.truth[made.data.y == 1].min() > made.truth[made.data.y == 0].max()


@pytest.mark.jit_free
def test_the_same_seed_gives_the_same_bits() -> None:
    first, second = make_rcv1(40, n_features=90, seed=3), make_rcv1(40, n_features=90, seed=3)
    assert first.data == second.data
    assert first.data != make_rcv1(40, n_features=90, seed=4).data


def test_threads_change_nothing() -> None:
    assert make_rcv1(20_000, threads=1).data == make_rcv1(20_000, threads=3).data


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_rows": 0}, "n_rows must be a whole number from 1, got 0"),
        ({"n_features": 0}, "n_features must be a whole number from 1, got 0"),
        ({"noise": -0.5}, "noise must be a number, 0 or more"),
        ({"shares": ()}, "shares must be numbers between 0 and 1"),
        ({"shares": (0.5, 1.0)}, "shares must be numbers between 0 and 1"),
        ({"topic": 103}, "topic must be a whole number below 103, the number of topics, got 103"),
        ({"topic": 1.5}, "topic must be a whole number below 103"),
    ],
)
def test_arguments_that_mean_nothing(options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        make_rcv1(**{"n_rows": 20, "n_features": 30, **options})
