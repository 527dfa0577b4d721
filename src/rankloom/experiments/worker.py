"""A process that runs trials: jobs come in on its standard input, outcomes go out on its standard output.

Messages are pickles, each after its length. When the other side goes away, however it ends, the input ends,
and the process with it, in the middle of a trial or not: nobody is left behind. Between jobs a process has
nothing of the folds mapped: whoever waits holds nothing that those who work do not look at.
"""

from __future__ import annotations

import os
import pickle
import queue
import struct
import sys
import threading
import warnings
from typing import IO, Any

_LENGTH = struct.Struct("<Q")


def send(stream: IO[bytes], message: Any) -> None:
    """Write one message."""
    content = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    stream.write(_LENGTH.pack(len(content)) + content)
    stream.flush()


def receive(stream: IO[bytes]) -> bytes | None:
    """Read one message, still pickled; None at the end."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    content = stream.read(length)
    return content if len(content) == length else None


def main() -> None:
    """Work until the input ends. What is printed goes to standard error, out of the way of the outcomes."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    jobs: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(sys.stdin.buffer, jobs), daemon=True).start()
    try:
        ranker, place, measure = pickle.loads(jobs.get())
        material = place.opened()
    except Exception as error:
        send(out, (f"{type(error).__name__}: {error}", []))
        return
    send(out, (None, []))
    from rankloom.experiments.trial import run

    while True:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = run(pickle.loads(jobs.get()), ranker, material, measure)
        material.let_go()
        send(out, (found, [(warning.category, str(warning.message)) for warning in caught]))


def _listen(stream: IO[bytes], jobs: queue.SimpleQueue[bytes]) -> None:
    while (content := receive(stream)) is not None:
        jobs.put(content)
    os._exit(0)
