"""What a measure asks of scores, labels and ids, checked before anything is computed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rankloom.errors import InputError
from rankloom.measures.inputs import Judged
from rankloom.measures.measure import Measure
from rankloom.measures.presets import POINTS

_MOST_STEPS = 1 << 32


def check_measures(measures: Sequence[Measure], rows: Judged) -> None:
    """Raise for the first row that a measure cannot take."""
    for measure in measures:
        if measure.ties == "docid" and rows.doc_ids is None:
            raise InputError(
                f"{measure} orders ties by document id, and there are none; give doc_ids=, or add :ties=file"
            )
        if measure.name in POINTS:
            _check_points(measure, rows)
        if measure.name == "err":
            _check_grades(measure, rows)
            _check_work(measure, rows)
        if isinstance(measure.gain, tuple):
            _check_table(measure, len(measure.gain), rows)


def _check_points(measure: Measure, rows: Judged) -> None:
    """Scores that can be compared with labels: finite, and probabilities where they are taken as such."""
    rows.refuse(~np.isfinite(rows.scores), f"{measure} needs finite scores", rows.scores)
    if measure.name == "mse":
        return
    bad = (rows.scores < 0.0) | (rows.scores > 1.0)
    rows.refuse(bad, f"{measure} takes scores as probabilities, from 0 to 1", rows.scores)
    if measure.threshold is None:
        bad = (rows.labels < 0.0) | (rows.labels > 1.0)
        advice = f"labels from 0 to 1 (or a threshold, as in {measure.name}:threshold=1)"
        rows.refuse(bad, f"{measure} needs {advice}", rows.labels)


def _check_grades(measure: Measure, rows: Judged) -> None:
    """A label above the highest grade would be a probability above 1."""
    highest = measure.max_grade or 0.0
    advice = f"{measure} takes labels up to max_grade={highest:g} (say another as in {measure}:max_grade=10)"
    rows.refuse(rows.labels > highest, advice, rows.labels)


def _check_table(measure: Measure, size: int, rows: Judged) -> None:
    bad = (rows.labels != np.floor(rows.labels)) | (rows.labels >= size)
    rows.refuse(bad, f"{measure} has a table of gains for labels 0 to {size - 1} only", rows.labels)


def _check_work(measure: Measure, rows: Judged) -> None:
    """The expected ERR of n tied rows takes n * min(n, k) steps, which for one list of millions is days."""
    longest = int(np.diff(rows.offsets).max(initial=0))
    if measure.ties == "average" and longest * min(longest, measure.k or longest) > _MOST_STEPS:
        raise InputError(
            f"{measure} takes too long on a list of {longest} rows; "
            "give it a cutoff, as in err@20:ties=average"
        )
