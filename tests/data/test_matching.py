"""Equal texts found by hash, beside a dictionary."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankloom.data.matching import as_texts, chained, numbered
from rankloom.data.texts import Texts

words = st.lists(st.text("aé ", max_size=4), max_size=20)


@pytest.mark.jit_free
@settings(max_examples=60)
@given(words)
def test_numbers_are_those_of_first_appearance(texts: list[str]) -> None:
    seen: dict[str, int] = {}
    wanted = [seen.setdefault(text, len(seen)) for text in texts]
    distinct, numbers = numbered(Texts.from_strings(texts))
    assert list(distinct) == list(seen)
    assert numbers.tolist() == wanted


@settings(max_examples=60)
@given(words, words)
def test_chains(first: list[str], second: list[str]) -> None:
    parts = [Texts.from_strings(first), as_texts(np.array(second, dtype=object))]
    assert list(chained(parts)) == first + second
    assert list(chained([part[1:] for part in parts])) == first[1:] + second[1:]


def test_texts_are_taken_as_they_are() -> None:
    texts = Texts.from_strings(["a"])
    assert as_texts(texts) is texts
