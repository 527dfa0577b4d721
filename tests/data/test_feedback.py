"""Clicks as pairs, by three rules; what is no feedback."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankloom as rl
from rankloom.data.feedback import RULES
from twins import online_twin


@given(st.lists(st.booleans(), max_size=12), st.sampled_from(RULES), st.integers(0, 999))
def test_rules_are_as_their_words_say(clicked: list[bool], rule: str, seed: int) -> None:
    """Whatever the order shown: pairs of places are pairs of the rows that stood there."""
    shown = np.random.default_rng(seed).permutation(len(clicked))
    rows = np.zeros(len(clicked), dtype=bool)
    rows[shown] = clicked
    found = rl.Feedback.clicks(rows, shown, rule=rule, examined=0.5)
    places = online_twin.pairs_of(clicked, rule)
    assert found.pairs.tolist() == [[shown[i], shown[j]] for i, j in places]
    np.testing.assert_allclose(found.weights, [np.sqrt(i + 1.0) for i, _ in places])
    assert found.labels.tolist() == rows.tolist()


def test_joachims_example() -> None:
    """Clicks on 1, 3 and 7 of a list (Joachims 2002): 3 over 2; 7 over 2, 4, 5 and 6."""
    clicked = [1, 0, 1, 0, 0, 0, 1]
    pairs = {rule: rl.Feedback.clicks(clicked, rule=rule).pairs + 1 for rule in RULES}
    assert pairs["skip-above"].tolist() == [[3, 2], [7, 2], [7, 4], [7, 5], [7, 6]]
    assert pairs["last-skip-above"].tolist() == [[7, 2], [7, 4], [7, 5], [7, 6]]
    assert pairs["next-unclicked"].tolist() == [[1, 2], [3, 4]]


def test_what_was_not_shown_says_nothing() -> None:
    found = rl.Feedback.clicks([0, 1, 0, 0], [3, 1], examined=[1.0, 0.25])
    assert found.pairs.tolist() == [[1, 3]]
    assert found.weights.tolist() == [4.0]
    assert rl.Feedback.clicks([0, 0], []).pairs.tolist() == []


BAD: list[tuple[Any, str]] = [
    (lambda: rl.Feedback.clicks([0, 2]), "clicked must be true or false for each row"),
    (lambda: rl.Feedback.clicks(["a"]), "clicked must be true or false for each row"),
    (lambda: rl.Feedback.clicks([0, 1], [0, 0]), "shown must be rows from 0 to 1, each once"),
    (lambda: rl.Feedback.clicks([0, 1], [0, 2]), "shown must be rows from 0 to 1, each once"),
    (lambda: rl.Feedback.clicks([0, 1], rule="skip"), "rule must be one of skip-above, last-skip-above"),
    (lambda: rl.Feedback.clicks([0, 1], examined=-1), "a number eta must be 0 or more, got -1"),
    (lambda: rl.Feedback.clicks([0, 1], examined=[1.0]), "for each of 2 places"),
    (lambda: rl.Feedback.clicks([0, 1], examined=[1.0, 0.0]), "above 0 and up to 1"),
    (lambda: rl.Feedback.clicks([0, 1], examined="x"), "probabilities by place, or a number eta"),
    (lambda: rl.Feedback.preferences([1, 2]), r"pairs must be a list of \(better, worse\)"),
    (lambda: rl.Feedback.preferences([[1.5, 2]]), r"pairs must be a list of \(better, worse\)"),
    (lambda: rl.Feedback.preferences([[1, 1]]), "two different ones"),
    (lambda: rl.Feedback.preferences([[-1, 1]]), "two different ones"),
    (lambda: rl.Feedback.preferences([[0, 1]], [-1.0]), "weights must be 0 or more, got -1 at pair 0"),
    (lambda: rl.Feedback.grades(["a"]), "labels must be numbers"),
]


@pytest.mark.parametrize(("make", "told"), BAD)
def test_what_is_no_feedback(make: Any, told: str) -> None:
    with pytest.raises(rl.InputError, match=told):
        make()
