"""One feedback as bytes: a JSON head, then plain arrays, little-endian."""

from __future__ import annotations

import json
import struct
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankloom.data.features import Features
from rankloom.data.feedback import Feedback
from rankloom.errors import StoreError

_LENGTH = struct.Struct("<I")


class Entry(NamedTuple):
    """What was said of one ranking: whose id, when, of which query and rows, and what."""

    id: str
    time: float
    query: str | None
    docs: list[str] | None
    features: Features
    feedback: Feedback


def encoded(entry: Entry) -> bytes:
    """An entry as the journal keeps it."""
    features, told = entry.features, entry.feedback
    arrays = {
        "values": features.values,
        "columns": features.columns,
        "row_offsets": features.row_offsets,
        "labels": told.labels,
        "pairs": told.pairs,
        "weights": told.weights,
    }
    held = {name: np.ascontiguousarray(array) for name, array in arrays.items() if array is not None}
    head = {
        "id": entry.id,
        "time": entry.time,
        "query": entry.query,
        "docs": entry.docs,
        "features": features.n_features,
        "arrays": [[name, _little(array).dtype.str, list(array.shape)] for name, array in held.items()],
    }
    text = json.dumps(head, separators=(",", ":")).encode()
    return b"".join((_LENGTH.pack(len(text)), text, *(_little(array).tobytes() for array in held.values())))


def decoded(payload: bytes) -> Entry:
    """The entry that was encoded."""
    try:
        (length,) = _LENGTH.unpack_from(payload)
        head, at = json.loads(payload[_LENGTH.size : _LENGTH.size + length]), _LENGTH.size + length
        arrays: dict[str, NDArray[Any]] = {}
        for name, dtype, shape in head["arrays"]:
            count = int(np.prod(shape))
            found = np.frombuffer(payload, np.dtype(dtype), count, at).reshape(shape)
            arrays[name] = found.astype(found.dtype.newbyteorder("="))
            at += found.nbytes
        features = Features(
            arrays["values"], arrays.get("columns"), arrays.get("row_offsets"), head["features"]
        )
        told = Feedback(arrays.get("labels"), arrays.get("pairs"), arrays.get("weights"))
        return Entry(head["id"], head["time"], head["query"], head["docs"], features, told)
    except (KeyError, TypeError, ValueError, struct.error) as error:
        raise StoreError(
            f"a record of the journal is no feedback ({error}); a newer rankloom may read it"
        ) from error


def _little(array: NDArray[Any]) -> NDArray[Any]:
    return array.astype(array.dtype.newbyteorder("<"), copy=False)
