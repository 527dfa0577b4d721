"""A run with judgements, beside trec_eval; a run with the rows of data."""

from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankloom.data.ranking_data import RankingData
from rankloom.data.trec import Qrels, Run, read_qrels, read_run
from rankloom.data.trec_join import Judged, join_qrels, run_scores
from rankloom.errors import InputError
from rankloom.measures.evaluate import Evaluation, evaluate

Listing = dict[str, dict[str, float]]

MEASURES = {
    "map/trec": "map",
    "map@5/trec": "map_cut_5",
    "mrr/trec": "recip_rank",
    "ndcg/trec": "ndcg",
    "ndcg@5/trec": "ndcg_cut_5",
    "p@5/trec": "P_5",
    "r@5/trec": "recall_5",
}


def run_of(listing: Listing) -> Run:
    lines = [
        f"{qid} Q0 {doc} 0 {score!r} t\n" for qid, docs in listing.items() for doc, score in docs.items()
    ]
    file = io.BytesIO("".join(lines).encode())
    file.name = "made.run"
    return read_run(file)


def qrels_of(listing: Listing) -> Qrels:
    lines = [f"{qid} 0 {doc} {label}\n" for qid, docs in listing.items() for doc, label in docs.items()]
    return read_qrels(io.BytesIO("".join(lines).encode()))


def measured(joined: Judged, *measures: str) -> Evaluation:
    return evaluate(
        joined.scores, joined.labels, qid=joined.qid, doc_ids=joined.doc_ids, measures=measures or MEASURES
    )


def rows(joined: Judged) -> list[tuple[object, ...]]:
    columns = (joined.qid, joined.doc_ids, joined.scores, joined.labels, joined.judged)
    return [
        tuple(item.item() if isinstance(item, np.generic) else item for item in row)
        for row in zip(*columns, strict=True)
    ]


def test_retrieved_judged_or_both() -> None:
    run = run_of({"q": {"a": 3.0, "b": 2.0}, "unjudged": {"x": 1.0}})
    qrels = qrels_of({"q": {"b": 2, "c": 1, "d": 0, "e": -1}, "unsearched": {"x": 1, "y": 0}})
    found = [("q", "a", 3.0, 0.0, False), ("q", "b", 2.0, 2.0, True)]
    lost = [("q", "c", -np.inf, 1.0, True)]
    assert rows(join_qrels(run, qrels)) == found + lost
    missed = [("unsearched", "x", -np.inf, 1.0, True), ("unsearched", "y", -np.inf, 0.0, True)]
    assert rows(join_qrels(run, qrels, complete=True)) == found + lost + missed


def test_documents_that_were_not_retrieved_count_and_are_not_found() -> None:
    """Three relevant documents, one of them found, at rank 2."""
    joined = join_qrels(run_of({"q": {"a": 3.0, "b": 2.0}}), qrels_of({"q": {"b": 1, "c": 1, "d": 1}}))
    found = measured(joined, "map/trec", "r@5/trec", "ndcg@5/trec", "p@5/trec")
    ideal = 1 + 1 / np.log2(3) + 1 / 2
    assert found["map/trec"] == pytest.approx(1 / 2 / 3)
    assert found["r@5/trec"] == pytest.approx(1 / 3)
    assert found["ndcg@5/trec"] == pytest.approx(1 / np.log2(3) / ideal)
    assert found["p@5/trec"] == pytest.approx(1 / 5)


def test_queries_without_an_answer_count_only_when_asked() -> None:
    run, qrels = run_of({"q": {"a": 1.0}}), qrels_of({"q": {"a": 1}, "r": {"a": 1}, "s": {"a": 0}})
    assert measured(join_qrels(run, qrels), "map/trec")["map/trec"] == 1.0
    assert measured(join_qrels(run, qrels, complete=True), "map/trec")["map/trec"] == pytest.approx(1 / 3)


def test_scores_have_single_precision() -> None:
    """1.00000001 is 1 to trec_eval; ties go to the greater document id, so b is first."""
    joined = join_qrels(run_of({"q": {"a": 1.00000001, "b": 1.0}}), qrels_of({"q": {"a": 1}}))
    assert joined.scores.tolist() == [1.0, 1.0]
    assert measured(joined, "mrr/trec")["mrr/trec"] == 0.5
    huge = join_qrels(run_of({"q": {"a": -1e300, "b": 1e300}}), qrels_of({"q": {"a": 1}}))
    assert np.isfinite(huge.scores).all()


documents = st.sampled_from([f"d{number}" for number in range(12)])
scores = st.one_of(st.integers(-2, 2).map(float), st.floats(-5, 5))
runs = st.dictionaries(st.sampled_from("qrstu"), st.dictionaries(documents, scores, min_size=1), min_size=1)
# pytrec_eval may run on for ever where all labels of a query are below 0.
labelled = st.dictionaries(documents, st.integers(-1, 3), min_size=1).filter(
    lambda docs: max(docs.values()) >= 0
)
judgements = st.dictionaries(st.sampled_from("qrstu"), labelled, min_size=1)


@settings(max_examples=150)
@given(runs, judgements)
def test_the_numbers_are_trec_evals(run: Listing, qrels: Listing) -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval")
    wanted = pytrec_eval.RelevanceEvaluator(qrels, set(MEASURES.values())).evaluate(run)
    joined = join_qrels(run_of(run), qrels_of(qrels))
    assert set(joined.qid) == set(wanted)
    if not wanted:
        return
    found = measured(joined)
    for ours, theirs in MEASURES.items():
        for qid, value in zip(found.qids, found.per_query(ours), strict=True):
            assert value == pytest.approx(wanted[qid][theirs], abs=1e-9), (qid, ours)


DATA = RankingData(np.zeros((4, 1)), [0, 1, 2, 0], [7, 8, 7, 8], doc_ids=["a", "a", "b", "c"])


def test_scores_of_rows_in_the_callers_order() -> None:
    run = run_of({"8": {"c": 4.0, "a": 2.0}, "7": {"b": 3.0, "a": 1.0}, "9": {"z": 9.0}})
    assert run_scores(run, DATA).tolist() == [1.0, 2.0, 3.0, 4.0]


def test_rows_that_the_run_does_not_have() -> None:
    run = run_of({"8": {"c": 4.0}, "7": {"b": 3.0, "a": 1.0}})
    with pytest.raises(
        InputError, match=r"made.run has no score for document 'a' of query 8 \(1 such in all\)"
    ):
        run_scores(run, DATA)
    assert run_scores(run, DATA, missing=-np.inf).tolist() == [1.0, -np.inf, 3.0, 4.0]


def test_documents_that_the_data_does_not_have() -> None:
    run = run_of({"8": {"c": 4.0, "a": 2.0, "x": 0.0}, "7": {"b": 3.0, "a": 1.0}})
    with pytest.raises(InputError, match=r"made.run has document 'x' for query '8', and the data does not"):
        run_scores(run, DATA)


def test_data_whose_rows_cannot_be_told_apart() -> None:
    run = run_of({"7": {"a": 1.0}})
    with pytest.raises(InputError, match="the data has none; give it doc_ids"):
        run_scores(run, RankingData(np.zeros((1, 1)), [0], [7]))
    twins = RankingData(np.zeros((2, 1)), [0, 1], [7, 7], doc_ids=["a", "a"])
    with pytest.raises(InputError, match=r"document 'a' twice in query 7 \(rows 0 and 1\)"):
        run_scores(run, twins)


def test_query_ids_may_be_texts() -> None:
    data = RankingData(np.zeros((2, 1)), [0, 1], ["q", "r"], doc_ids=["a", "a"])
    assert run_scores(run_of({"r": {"a": 2.0}, "q": {"a": 1.0}}), data).tolist() == [1.0, 2.0]
