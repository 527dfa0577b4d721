"""A hash of data by its content, the same wherever and however it was read."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from rankloom.data.ranking_data import RankingData

_BYTES_PER_STEP = 1 << 24


def fingerprint(data: RankingData) -> str:
    """32 hexadecimal digits over features, labels, queries, weights and names, all that learning depends on.

    Rows count in query order, so `order`, doc ids and comments do not matter. About 1 GB a second and thread.
    """
    hashed = hashlib.blake2b(digest_size=16)
    hashed.update(f"{data.n_rows} {data.n_features} {data.n_queries}".encode())
    features = data.features
    for array in (*features[:3], data.y, data.offsets, data.weights, data.query_weights):
        hashed.update(b"-" if array is None else _digest(array))
    hashed.update(_digest(data.qids) if data.qids.dtype.kind != "O" else _digest_texts(data.qids))
    hashed.update(b"-" if data.feature_names is None else _digest_texts(data.feature_names))
    return hashed.hexdigest()


def _digest(array: NDArray[Any]) -> bytes:
    """Hashes of pieces, hashed: pieces can be hashed side by side, for the same result."""
    from rankloom.kernels.threads import ordered_map

    raw = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    pieces = (raw[start : start + _BYTES_PER_STEP] for start in range(0, len(raw), _BYTES_PER_STEP))
    digests = ordered_map(lambda piece: hashlib.blake2b(piece.data, digest_size=16).digest(), pieces)
    return hashlib.blake2b(str(array.dtype).encode() + b"".join(digests), digest_size=16).digest()


def _digest_texts(texts: Any) -> bytes:
    raw = b"".join(
        b"%d:%b" % (len(text), text) for text in (str(t).encode("utf-8", "surrogateescape") for t in texts)
    )
    return hashlib.blake2b(raw, digest_size=16).digest()
