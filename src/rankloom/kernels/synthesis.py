"""Made-up data: what a query or a row holds depends on the seed and its place alone, never on blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankloom.kernels.compile import kernel
from rankloom.kernels.random import GOLDEN, mix, next_below, next_unit

STREAMS = 5  # body, anchor, title, url, and the whole document
MOST_TERMS = 10
STREAM_FEATURES = 25
MSLR_FEATURES = STREAMS * STREAM_FEATURES + 11
_WHOLE = 4


@kernel(inline=True, allocates=False)
def _seed_of(seed: Any, place: Any) -> Any:
    """Where the stream of random numbers of one query or row begins."""
    return mix(np.uint64(seed) ^ mix((np.uint64(place) + np.uint64(1)) * GOLDEN))


@kernel(inline=True, allocates=False)
def _normal(state: NDArray[np.uint64]) -> Any:
    """A standard normal number (Box & Muller, 1958)."""
    return np.sqrt(-2.0 * np.log(1.0 - next_unit(state))) * np.cos(2.0 * np.pi * next_unit(state))


@kernel(inline=True, allocates=False)
def _exponential(state: NDArray[np.uint64]) -> Any:
    return -np.log(1.0 - next_unit(state))


@kernel(allocates=False)
def _draw_query(state: NDArray[np.uint64], idf: NDArray[np.float64]) -> int:
    """Fill in the terms' inverse document frequencies in each stream; the number of terms."""
    n_terms = 1
    while n_terms < MOST_TERMS and next_unit(state) < 0.6:
        n_terms += 1
    for term in range(n_terms):
        body = 0.3 + 3.0 * _exponential(state)
        for stream in range(_WHOLE):
            idf[stream, term] = body + (0.0 if stream == 0 else 3.0 + _exponential(state))
        idf[_WHOLE, term] = 0.999 * body
    return n_terms


@kernel(allocates=False)
def _draw_document(
    state: NDArray[np.uint64],
    idf: NDArray[np.float64],
    n_terms: int,
    tf: NDArray[np.float64],
    size: NDArray[np.float64],
    left: NDArray[np.float64],
) -> None:
    """Fill in how often each term occurs in each stream, and how many words each stream has."""
    size[0] = np.floor(np.exp(6.0 + 1.0 * _normal(state)))
    size[1] = 0.0 if next_unit(state) < 0.7 else np.floor(1.0 + 3.0 * _exponential(state) ** 2)
    size[2] = np.floor(np.exp(1.9 + 0.6 * _normal(state)))
    size[3] = np.floor(2.0 + 6.0 * _exponential(state))
    topical = _normal(state)
    for stream in range(_WHOLE):
        left[stream] = size[stream]
    for term in range(n_terms):
        liking = topical + 0.7 * _normal(state)
        for stream in range(_WHOLE):
            expected = 0.0
            if stream == 0:
                expected = size[0] * 0.012 * np.exp(1.1 * liking)
            elif size[stream] > 0.0:
                expected = 0.8 * np.exp(0.9 * liking) / (1.0 + 0.05 * idf[stream, term])
                if stream == 3:
                    expected *= 0.5
            count = min(left[stream], np.floor(expected * _exponential(state) + 0.2))
            left[stream] -= count
            tf[stream, term] = count
    size[_WHOLE] = size[0] + size[1] + size[2] + size[3]
    for term in range(n_terms):
        tf[_WHOLE, term] = tf[0, term] + tf[1, term] + tf[2, term] + tf[3, term]


@kernel(inline=True, allocates=False)
def _put_moments(row: Any, place: Any, numbers: Any, n_terms: Any, scale: Any, weights: Any) -> None:
    """Sum, least, greatest, mean and variance of numbers * scale * weights, into five features, 5 apart."""
    total = 0.0
    squares = 0.0
    least = np.inf
    most = -np.inf
    for term in range(n_terms):
        number = numbers[term] * scale * weights[term]
        total += number
        squares += number * number
        least = min(least, number)
        most = max(most, number)
    mean = total / n_terms
    row[place] = total
    row[place + STREAMS] = least
    row[place + 2 * STREAMS] = most
    row[place + 3 * STREAMS] = mean
    row[place + 4 * STREAMS] = max(0.0, squares / n_terms - mean * mean)


@kernel(allocates=False)
def _put_stream(
    stream: int,
    n_terms: int,
    idf: NDArray[np.float64],
    tf: NDArray[np.float64],
    words: float,
    usual_words: float,
    ones: NDArray[np.float64],
    row: NDArray[np.float64],
) -> None:
    """The 25 features of one stream, each 5 places from the next."""
    covered = 0
    idf_sum = bm25 = dot = tf_length = idf_length = 0.0
    absolute = dirichlet = linear = 0.0
    for term in range(n_terms):
        count = tf[term]
        weight = idf[term]
        idf_sum += weight
        idf_length += weight * weight
        common = 0.02 * np.exp(-weight)  # how likely the term is in any document
        dirichlet += np.log((count + 2000.0 * common) / (words + 2000.0))
        if words > 0.0:
            linear += np.log(0.9 * count / words + 0.1 * common)
            absolute += np.log(max(count - 0.7, 0.0) / words + 0.7 * n_terms / (words + n_terms) * common)
        if count > 0.0:
            covered += 1
            bm25 += weight * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * words / usual_words))
            dot += count * weight * weight
            tf_length += count * count * weight * weight
    row[stream] = covered
    row[stream + 5] = covered / n_terms
    row[stream + 10] = words
    row[stream + 15] = idf_sum
    _put_moments(row, stream + 20, tf, n_terms, 1.0, ones)
    _put_moments(row, stream + 45, tf, n_terms, 1.0 / max(words, 1.0), ones)
    _put_moments(row, stream + 70, tf, n_terms, 1.0, idf)
    row[stream + 95] = 1.0 if covered == n_terms else 0.0
    row[stream + 100] = dot / np.sqrt(tf_length * idf_length) if tf_length > 0.0 else 0.0
    row[stream + 105] = bm25
    row[stream + 110] = absolute
    row[stream + 115] = dirichlet
    row[stream + 120] = linear


@kernel(allocates=False)
def _put_page(state: NDArray[np.uint64], row: NDArray[np.float64]) -> None:
    """The last 11 features: the address, links, page and site ranks, quality, clicks and the time spent."""
    fame = _normal(state)
    row[125] = 1.0 + np.floor(1.6 * _exponential(state) + 0.5 * next_unit(state) * 3.0)
    row[126] = np.floor(np.exp(3.7 + 0.5 * _normal(state)))
    row[127] = np.floor(np.exp(1.5 + 3.2 * fame + 1.6 * _normal(state)))
    row[128] = np.floor(np.exp(-0.2 + 1.8 * _normal(state)))
    row[129] = np.floor(65535.0 * next_unit(state) ** (2.5 - 1.2 * np.tanh(fame)))
    row[130] = np.floor(65535.0 * next_unit(state) ** (0.9 - 0.5 * np.tanh(fame)))
    row[131] = 1.0 + np.floor(250.0 * next_unit(state) ** 3.5)
    row[132] = 1.0 + np.floor(250.0 * next_unit(state) ** 3.0)
    clicked = next_unit(state) < 0.25
    row[133] = row[134] = row[135] = 0.0
    if clicked:
        row[134] = np.floor(np.exp(1.5 + 1.2 * fame + 2.0 * _normal(state)))
        row[135] = np.floor(10.0 * np.exp(3.5 + 1.2 * _normal(state))) / 10.0
        if next_unit(state) < 0.1:
            row[133] = np.floor(np.exp(2.0 + 2.0 * _normal(state)))


@kernel(inline=True, allocates=False)
def _relevance(row: Any) -> Any:
    """The true score: a bounded sum of what people want of a page; see `rankloom.data.generate.make_mslr`."""
    return (
        1.6 * row[9]
        + 1.4 * np.tanh(row[109] / 20.0)
        + 0.6 * np.tanh(row[107] / 10.0)
        + 0.5 * np.tanh(row[105] / 15.0) * row[7]
        + 0.12 * np.log1p(row[134])
        + 0.05 * np.log1p(row[127])
        + 0.4 * row[131] / 250.0
        - 0.1 * row[125]
    )


@kernel
def mslr_queries(
    seed: int,
    first_query: int,
    offsets: NDArray[np.int64],
    X: NDArray[np.float32],
    truth: NDArray[np.float64],
) -> None:
    """Fill in the rows of some queries and their true scores. `offsets` are theirs, from 0."""
    state = np.empty(1, dtype=np.uint64)
    idf = np.empty((STREAMS, MOST_TERMS))
    tf = np.empty((STREAMS, MOST_TERMS))
    size = np.empty(STREAMS)
    left = np.empty(STREAMS)
    row = np.empty(MSLR_FEATURES)
    ones = np.ones(MOST_TERMS)
    usual = np.array([600.0, 3.0, 8.0, 8.0, 620.0])
    for query in range(offsets.size - 1):
        state[0] = _seed_of(seed, first_query + query)
        n_terms = _draw_query(state, idf)
        for document in range(offsets[query], offsets[query + 1]):
            _draw_document(state, idf, n_terms, tf, size, left)
            for stream in range(STREAMS):
                _put_stream(stream, n_terms, idf[stream], tf[stream], size[stream], usual[stream], ones, row)
            _put_page(state, row)
            for feature in range(MSLR_FEATURES):
                X[document, feature] = np.float32(np.rint(row[feature] * 1e6) / 1e6)
            truth[document] = _relevance(row)


@kernel
def rcv1_rows(
    seed: int,
    first_row: int,
    tokens: NDArray[np.int64],
    chances: NDArray[np.float64],
    aliases: NDArray[np.uint32],
    idf: NDArray[np.float64],
    columns: NDArray[np.uint32],
    values: NDArray[np.float32],
    sizes: NDArray[np.int64],
) -> int:
    """Fill in some rows: tokens drawn, counted, weighted by idf, and of length one; the number of entries.

    `tokens` says how many tokens each row draws; `sizes` receives how many different terms it got. Terms are
    drawn by Walker's alias method (1977). Values have six significant digits, like published files.
    """
    state = np.empty(1, dtype=np.uint64)
    vocabulary = chances.size
    counts = np.zeros(vocabulary, dtype=np.int32)
    words = np.zeros((vocabulary + 63) // 64, dtype=np.uint64)
    at = 0
    for row in range(tokens.size):
        state[0] = _seed_of(seed, first_row + row)
        for _ in range(tokens[row]):
            term = next_below(state, vocabulary)
            if next_unit(state) >= chances[term]:
                term = np.uint64(aliases[term])
            counts[term] += 1
            words[term >> np.uint64(6)] |= np.uint64(1) << (term & np.uint64(63))
        first = at
        length = 0.0
        for word in range(words.size):
            bits = words[word]
            words[word] = np.uint64(0)
            while bits != np.uint64(0):
                lowest = bits & (~bits + np.uint64(1))
                term = np.uint64(word) * np.uint64(64) + _log2(lowest)
                bits ^= lowest
                weight = (1.0 + np.log(counts[term])) * idf[term]
                counts[term] = 0
                columns[at] = term
                values[at] = weight
                length += weight * weight
                at += 1
        sizes[row] = at - first
        for i in range(first, at):
            values[i] = _six_digits(values[i] / np.sqrt(length))
    return at


@kernel(inline=True, allocates=False)
def _log2(power: Any) -> Any:
    """The place of the one bit that is set."""
    place = np.uint64(0)
    for step in (32, 16, 8, 4, 2, 1):
        if power >> np.uint64(step):
            power >>= np.uint64(step)
            place += np.uint64(step)
    return place


@kernel(inline=True, allocates=False)
def _six_digits(value: Any) -> Any:
    """A number in (0, 1] rounded to six significant digits."""
    scale = 1e6
    while value * scale < 1e5:
        scale *= 10.0
    return np.float32(np.rint(value * scale) / scale)
