"""Made-up data in the shape of the well-known sets, with a known truth that no ranker can beat.

    label = grade of (truth + what is particular to the query + noise)

Noise cannot be told from the features, so `evaluate(made.truth, made.data)` is how well a perfect ranker
does. The same arguments give the same bits, for any number of threads.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankloom.data.ranking_data import RankingData
from rankloom.data.texts import Texts
from rankloom.errors import InputError

# Shares of labels 0, 1, 2 in MQ2008 and of 0 to 4 in MSLR-WEB30K, about.
LETOR_SHARES = (0.81, 0.13, 0.06)
MSLR_SHARES = (0.515, 0.325, 0.134, 0.018, 0.008)


@dataclass(frozen=True)
class Generated:
    """Made-up data, and what is true of it.

    `truth` is the best score of each row, in the order of the rows. Where the truth is linear, it is
    `data.X @ weights`, else `weights` is None.
    """

    data: RankingData
    truth: NDArray[np.float64]
    weights: NDArray[np.float64] | None = None


def make_letor(n_queries: int = 500, *, noise: float = 1.0, seed: int = 0) -> Generated:
    """Dense graded lists like LETOR's MQ2008: labels 0 to 2, 46 features scaled to 0..1 within each query.

    Lists are short (a median of 8 rows, at most 121), three queries in ten have no relevant row, six
    features are always 0, and many are 0 where a document lacks a title, an anchor or words in its
    address. The truth is linear in the features. `noise` is the standard deviation of what the features
    do not tell, beside that of the truth.
    """
    rng = random_numbers(seed, 1)
    lengths = _letor_lengths(rng, check_count("n_queries", n_queries))
    X, truth = _letor_features(rng, lengths)
    relevance = _noisy(rng, truth, lengths, check_size("noise", noise), of_query=1.6)
    y = _grades(relevance, LETOR_SHARES)
    return _lists(X, y, lengths, truth, LETOR_WEIGHTS)


def make_distinct(
    n_queries: int = 20,
    *,
    rows: tuple[int, int] = (100, 1000),
    noise: float = 0.3,
    seed: int = 0,
) -> Generated:
    """Lists with all labels distinct, like LETOR's MQ2008-list: the label is the place from the bottom,
    from 1.

    `rows` are the fewest and the most rows of a query; features and truth are those of `make_letor`.
    """
    rng = random_numbers(seed, 2)
    fewest, most = rows
    if not 1 <= fewest <= most:
        raise InputError(f"rows must be the fewest and the most rows of a query, from 1, got {rows!r}")
    lengths = rng.integers(fewest, most + 1, size=check_count("n_queries", n_queries))
    X, truth = _letor_features(rng, lengths)
    relevance = _noisy(rng, truth, lengths, check_size("noise", noise), of_query=0.0)
    return _lists(X, _places(relevance, lengths), lengths, truth, LETOR_WEIGHTS)


def make_mslr(
    n_queries: int = 1000, *, noise: float = 0.6, seed: int = 0, threads: int | None = None
) -> Generated:
    """Dense graded lists like MSLR-WEB30K: labels 0 to 4, 136 raw features of every scale, 120 rows a query.

    Documents are drawn as counts of the query's terms in body, anchor, title, address and all of these,
    and the features are computed from the counts, in MSLR's order: covered terms, lengths, idf, term
    frequencies plain, by length and by idf (each as sum, min, max, mean, variance), vector space, BM25,
    three language models; then page and site features and clicks. So there are counts, ratios,
    logarithms, click counts in the millions, and zeros where a document has no anchor. The truth is not
    linear:

        1.6 (share of terms covered) + 1.4 tanh(BM25 / 20) + 0.6 tanh(title's BM25 / 10) + ... - 0.1 (slashes)
    """
    from rankloom.kernels.synthesis import MSLR_FEATURES, mslr_queries
    from rankloom.kernels.threads import run_blocks

    rng = random_numbers(seed, 3)
    lengths = np.exp(rng.normal(4.62, 0.6, check_count("n_queries", n_queries))).astype(np.int64)
    lengths = np.clip(lengths, 1, 1251)
    offsets = _offsets(lengths)
    X = np.empty((offsets[-1], MSLR_FEATURES), dtype=np.float32)
    truth = np.empty(offsets[-1])

    def fill(first: int, last: int) -> None:
        start, stop = offsets[first], offsets[last]
        mslr_queries(seed, first, offsets[first : last + 1] - start, X[start:stop], truth[start:stop])

    run_blocks(fill, offsets, threads)
    relevance = _noisy(rng, truth, lengths, check_size("noise", noise), of_query=1.0)
    return _lists(X, _grades(relevance, MSLR_SHARES), lengths, truth, None)


def random_numbers(seed: int, *place: int) -> np.random.Generator:
    """Random numbers for one purpose; two purposes with the same seed have nothing in common."""
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or not 0 <= seed < 2**63:
        raise InputError(f"seed must be a whole number from 0 to 2^63 - 1, got {seed!r}")
    return np.random.default_rng([int(seed), *place])


def check_count(name: str, value: Any) -> int:
    """A whole number from 1, or an error that says so."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise InputError(f"{name} must be a whole number from 1, got {value!r}")
    return int(value)


def check_size(name: str, value: Any) -> float:
    """A number from 0, or an error that says so."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not 0 <= value < np.inf:
        raise InputError(f"{name} must be a number, 0 or more, got {value!r}")
    return float(value)


def _offsets(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(lengths)))


def _lists(
    X: NDArray[np.float32],
    y: NDArray[np.float64],
    lengths: NDArray[np.int64],
    truth: NDArray[np.float64],
    weights: NDArray[np.float64] | None,
) -> Generated:
    qid = np.repeat(np.arange(1, len(lengths) + 1), lengths)
    doc_ids = Texts.from_strings([f"D{row:07d}" for row in range(len(y))])
    return Generated(RankingData(X, y, qid, doc_ids=doc_ids), truth, weights)


def _noisy(
    rng: np.random.Generator,
    truth: NDArray[np.float64],
    lengths: NDArray[np.int64],
    noise: float,
    of_query: float,
) -> NDArray[np.float64]:
    """The truth within queries, scaled to variance 1, plus noise, plus something common to the query."""
    offsets = _offsets(lengths)
    centred = truth - np.repeat(np.add.reduceat(truth, offsets[:-1]) / lengths, lengths)
    spread = float(centred.std()) or 1.0
    common = np.repeat(rng.normal(0.0, of_query, len(lengths)), lengths)
    return centred / spread + common + rng.normal(0.0, noise, len(truth))


def _grades(relevance: NDArray[np.float64], shares: tuple[float, ...]) -> NDArray[np.float64]:
    """Labels 0, 1, ... such that each has its share of all rows."""
    edges = np.quantile(relevance, np.cumsum(shares)[:-1])
    return np.searchsorted(edges, relevance, side="left").astype(np.float64)


def _places(relevance: NDArray[np.float64], lengths: NDArray[np.int64]) -> NDArray[np.float64]:
    """1 for the least relevant row of a query, 2 for the next, and so on."""
    query = np.repeat(np.arange(len(lengths)), lengths)
    places = np.empty(len(relevance))
    places[np.lexsort((relevance, query))] = np.arange(len(relevance)) - np.repeat(
        _offsets(lengths)[:-1], lengths
    )
    return places + 1.0


# LETOR's 46 features: five streams (body, anchor, title, address, all of these) in four groups (term
# frequency, idf, tf-idf, length), then four retrieval models a stream, then six features of the page.
_STREAMS = 5
_STREAM_OF = np.array([*(list(range(_STREAMS)) * 4), *np.repeat(range(_STREAMS), 4), *([-1] * 6)])
_PRESENT = (0.95, 0.28, 0.35, 0.20, 0.95)  # how many documents have the stream at all
_CONSTANT = (5, 6, 7, 8, 9, 42)  # idf is the same for all rows of a query; the last one is as in the original
_LENGTHS = (15, 16, 17, 18, 19)


def _letor_weights() -> NDArray[np.float64]:
    weights = np.zeros(len(_STREAM_OF))
    weights[36:40] = 0.9  # models over the whole document
    weights[20:24] = 0.4  # over the body
    weights[28:32] = 0.5  # over the title
    weights[24:28] = 0.3  # over the anchor
    weights[[40, 41, 45]] = (0.5, 0.6, -0.3)  # page rank, links in, slashes in the address
    weights[19] = -0.5  # long documents
    return weights


LETOR_WEIGHTS = _letor_weights()
LETOR_WEIGHTS.setflags(write=False)


def _letor_lengths(rng: np.random.Generator, n_queries: int) -> NDArray[np.int64]:
    """Rows per query: 8 for half of them, fewer for a tenth, and a long tail."""
    kind = rng.random(n_queries)
    few = rng.integers(5, 8, n_queries)
    many = np.clip(8 + np.exp(rng.normal(3.0, 0.8, n_queries)).astype(np.int64), 9, 121)
    return np.where(kind < 0.1, few, np.where(kind < 0.6, 8, many))


def _letor_features(
    rng: np.random.Generator, lengths: NDArray[np.int64]
) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """46 features from what a document is about and which streams it has, scaled by query; and the truth."""
    n_rows = int(lengths.sum())
    topical = rng.normal(size=(n_rows, 1))
    streams = 0.8 * topical + 0.6 * rng.normal(size=(n_rows, _STREAMS))
    has = rng.random((n_rows, _STREAMS)) < np.array(_PRESENT)
    raw = rng.normal(size=(n_rows, len(_STREAM_OF)))
    for feature, stream in enumerate(_STREAM_OF):
        if stream < 0:
            raw[:, feature] = np.exp(raw[:, feature])
        elif feature in _LENGTHS:
            raw[:, feature] = has[:, stream] * np.exp(0.7 * raw[:, feature])
        else:
            raw[:, feature] = has[:, stream] * np.exp(0.7 * streams[:, stream] + 0.3 * raw[:, feature])
    raw[:, _CONSTANT] = 0.0
    X = _scaled_by_query(raw, _offsets(lengths))
    return X, X.astype(np.float64) @ LETOR_WEIGHTS


def _scaled_by_query(raw: NDArray[np.float64], offsets: NDArray[np.int64]) -> NDArray[np.float32]:
    """(x - min) / (max - min) within each query, 0 where all are equal; six decimals, as published."""
    low = np.minimum.reduceat(raw, offsets[:-1])
    span = np.maximum.reduceat(raw, offsets[:-1]) - low
    span[span == 0.0] = 1.0
    lengths = np.diff(offsets)
    scaled = (raw - np.repeat(low, lengths, axis=0)) / np.repeat(span, lengths, axis=0)
    return np.asarray(np.round(scaled, 6), dtype=np.float32)
