"""Tables and sentences: what a reader is told, and what is not claimed."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from rankloom.errors import InputError
from rankloom.measures.comparison import Comparison, Difference, number, p_text, sentence

ROW = Difference(
    measure="ndcg@10", a="old", b="new", lower_is_better=False, n_queries=120, n_skipped=0,
    mean_a=0.41, mean_b=0.4223, difference=0.0123, low=0.004, high=0.02, wins=60, ties=20, losses=40,
    p_t=0.001, p_wilcoxon=0.002, p_randomisation=0.001,
    holm_t=0.003, holm_wilcoxon=0.006, holm_randomisation=0.003,
)  # fmt: skip


def comparison(*rows: Difference, test: str = "randomisation", confidence: float = 0.95) -> Comparison:
    return Comparison(rows, ("old", "new"), test, confidence, "percentile", 10_000, 0)


def said(row: Difference, others: int = 0, test: str = "randomisation") -> str:
    whole = comparison(row, *[ROW] * others, test=test)
    return sentence(whole, row)


def test_a_difference_that_was_found() -> None:
    assert said(ROW, others=2) == (
        "new is better than old by 0.0123 ndcg@10 (95 % interval 0.0040 to 0.0200, randomisation test: "
        "p = 0.0030 after Holm over 3 tests). new wins 60, ties 20, loses 40 of 120 queries."
    )


def test_one_row_needs_no_correction() -> None:
    assert "p = 0.0030). new" in said(ROW)


def test_turned_round_it_is_told_from_the_winners_side() -> None:
    worse = replace(ROW, difference=-0.0123, low=-0.02, high=-0.004)
    assert said(worse).startswith("old is better than new by 0.0123 ndcg@10 (95 % interval 0.0040 to 0.0200,")


def test_lower_may_be_better() -> None:
    loss = replace(ROW, measure="mse", lower_is_better=True, difference=-0.0123, low=-0.02, high=-0.004)
    assert said(loss).startswith(
        "new is better than old by 0.0123 mse (lower is better) (95 % interval 0.0040 to"
    )
    more = replace(ROW, measure="mse", lower_is_better=True)
    assert said(more).startswith(
        "old is better than new by 0.0123 mse (lower is better) (95 % interval 0.0040 to"
    )


def test_what_was_not_found_is_not_called_equal() -> None:
    row = replace(ROW, difference=0.0012, low=-0.004, p_randomisation=0.4, holm_randomisation=0.8)
    assert said(row, others=1).startswith(
        "ndcg@10: no difference between old and new is shown; new - old is +0.0012 (95 % interval -0.0040 to "
        "0.0200, randomisation test: p = 0.8000 after Holm over 2 tests)."
    )


def test_what_the_correction_takes_away_is_said() -> None:
    row = replace(ROW, p_randomisation=0.03, holm_randomisation=0.06)
    assert "no difference" in said(row, others=1)
    assert "p = 0.0600 after Holm over 2 tests; p = 0.0300 if it were the only test)" in said(row, others=1)


def test_the_test_that_was_chosen_decides() -> None:
    row = replace(ROW, holm_t=0.2, p_t=0.2)
    assert "Wilcoxon signed-rank test: p = 0.0060" in said(row, test="wilcoxon")
    assert "is better" in said(row, test="wilcoxon")
    assert "no difference" in said(row, test="t")
    assert "paired t-test: not defined here" in said(replace(ROW, p_t=None, holm_t=None), test="t")


def test_wilcoxon_may_differ_from_the_mean_and_then_nobody_wins() -> None:
    row = replace(ROW, wins=30, losses=70)
    assert "differ, but neither is better all round" in said(row, test="wilcoxon")
    assert "new is better" in said(row)  # this test is about the mean


def test_confidence_sets_the_level() -> None:
    row = replace(ROW, holm_randomisation=0.03)
    assert comparison(row).significant(row)
    strict = comparison(row, confidence=0.99)
    assert not strict.significant(row)
    assert strict.alpha == 0.01
    assert "99 % interval" in strict.summary()


def test_notes_and_skipped_queries_come_last() -> None:
    row = replace(ROW, n_skipped=3, note="a word")
    assert said(row).endswith("of 120 queries, 3 skipped. Note: a word.")


def test_the_table_is_aligned_and_complete() -> None:
    text = str(comparison(ROW, replace(ROW, measure="map", mean_a=None, low=None, p_t=None)))
    head, first, second, blank, *sentences = text.splitlines()
    assert head.split("  ")[0] == "measure"
    assert "  0.4100  0.4223  +0.0123  +0.0040 to +0.0200    60    20      40      120  0.0010" in first
    assert second.split()[:5] == ["map", "old", "new", "-", "0.4223"]
    assert blank == ""
    assert len(sentences) == 2
    assert head.rindex("p Holm") + len("p Holm") == len(first)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.0000"),
        (0.12345, "0.1235"),
        (-0.00012, "-0.0001"),
        (0.0000123, "1.2e-05"),
        (1234567.0, "1.2e+06"),
        (None, "-"),
    ],
)
def test_numbers(value: float | None, text: str) -> None:
    assert number(value) == text


@pytest.mark.parametrize(
    ("p", "text"), [(1.0, "1.0000"), (0.0001, "0.0001"), (0.00009, "<0.0001"), (None, "-")]
)
def test_p_values(p: float | None, text: str) -> None:
    assert p_text(p) == text


def test_for_a_program() -> None:
    told = json.loads(json.dumps(comparison(ROW).to_dict(), allow_nan=False))
    assert told["systems"] == ["old", "new"]
    assert (told["test"], told["confidence"], told["alpha"], told["tests"]) == (
        "randomisation",
        0.95,
        0.05,
        1,
    )
    (row,) = told["rows"]
    assert row["significant"] is True
    assert row["summary"] == said(ROW)
    assert row["p_randomisation"] == 0.001
    assert set(row) > {"measure", "a", "b", "difference", "low", "high", "wins", "ties", "losses", "note"}


def test_a_report_needs_the_values_by_query() -> None:
    with pytest.raises(InputError, match="no values by query; compare again"):
        comparison().for_run()
