"""evaluate: many measures over many queries, each query sorted once, blocks of queries over threads.

    mean of a measure = sum over queries of w_q v_q / sum of w_q      queries the measure skips left out of
    both

Measures of points (mse, logloss) weigh a query by its rows too, so that without query weights they are the
mean over rows. Results are the same bits for any number of threads.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankloom.errors import InputError
from rankloom.measures.checks import check_measures
from rankloom.measures.curves import ReliabilityCurve, reliability_curve
from rankloom.measures.evaluation import Evaluation
from rankloom.measures.inputs import Judged, judged
from rankloom.measures.measure import Measure
from rankloom.measures.plan import Batch, Plan, make_plan
from rankloom.measures.points import per_query_error, targets

__all__ = ["DEFAULT_MEASURES", "Evaluation", "evaluate"]

DEFAULT_MEASURES = ("ndcg@10", "map", "mrr", "p@10", "pairwise")


def evaluate(
    scores: Any,
    y: Any = None,
    *,
    qid: Any = None,
    measures: str | Measure | Iterable[str | Measure] = DEFAULT_MEASURES,
    query_weights: Any = None,
    doc_ids: Any = None,
    threads: int | None = None,
) -> Evaluation:
    """Measure a ranking: one score and one label per row, rows of a query anywhere.

    y is labels, or a RankingData, which knows queries, document ids and query weights; scores are in the
    caller's order of rows. qid None is one query over everything. query_weights go by query, in the order in
    which queries first appear. doc_ids are needed by measures with ties="docid" only. A score of -inf is a
    row that was not retrieved: relevant or not, it brings nothing where it would rank.
    """
    rows = judged(scores, y, qid, query_weights, doc_ids)
    wanted = _measures(measures)
    check_measures(wanted, rows)
    plan = make_plan(wanted, int(np.diff(rows.offsets).max(initial=1)))
    values, relevant = _values(plan, rows, threads)
    means, per_query, empty = _summaries(plan, rows, values)
    curves = {m: _curve(m, rows) for m in wanted if m.name == "ece"}
    for measure, curve in curves.items():
        means[measure] = curve.error
    counts = {"rows": len(rows.scores), "queries": len(rows.qids), "empty": int((relevant == 0).sum())}
    return Evaluation(means, per_query, empty, curves, counts, rows.qids)


def _measures(given: str | Measure | Iterable[str | Measure]) -> tuple[Measure, ...]:
    texts = [given] if isinstance(given, str | Measure) else list(given)
    if not texts:
        raise InputError("measures must name at least one measure, got none")
    return tuple(dict.fromkeys(Measure.parse(text) for text in texts))


def _values(plan: Plan, rows: Judged, threads: int | None) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """One value per measure and query, NaN where it is not defined; and the number of labels above 0 per
    query.
    """
    from rankloom.kernels.threads import run_blocks

    parts = run_blocks(lambda first, last: _block(plan, rows, first, last), rows.offsets, threads)
    if not parts:
        return np.empty((len(plan.measures), 0)), np.empty(0)
    whole = np.concatenate(parts, axis=1)
    return whole[:-1], whole[-1]


def _block(plan: Plan, rows: Judged, first: int, last: int) -> NDArray[np.float64]:
    """The values of queries first..last: a row per measure, then one of the numbers of labels above 0."""
    from rankloom.kernels.compile import as_kernel

    start, end = int(rows.offsets[first]), int(rows.offsets[last])
    offsets = as_kernel(rows.offsets[first : last + 1] - start, np.int64)
    scores, labels = (as_kernel(column[start:end], np.float64) for column in (rows.scores, rows.labels))
    values = np.full((len(plan.measures) + 1, last - first), np.nan)
    if plan.batches:
        _ranked_values(plan, rows, start, (offsets, scores, labels), values)
    for place in plan.points:
        if plan.measures[place].name != "ece":
            values[place] = per_query_error(plan.measures[place], scores, labels, offsets)
    values[-1] = np.diff(np.concatenate(([0], np.cumsum(labels > 0.0)))[offsets])
    return values


def _ranked_values(
    plan: Plan, rows: Judged, start: int, block: tuple[Any, ...], values: NDArray[np.float64]
) -> None:
    """Fill in the measures that read an order: sort once, then settle ties once per rule."""
    from rankloom.kernels.measures import measure_block
    from rankloom.measures.order import ideal_labels, pack_block

    offsets, scores, labels = block
    packed = pack_block(scores, offsets)
    ideal = ideal_labels(labels, offsets)
    orders: dict[str, NDArray[np.int64]] = {}
    for batch in plan.batches:
        if batch.rule not in orders:
            orders[batch.rule] = packed.order(_ties(batch, rows, start, packed, labels))
        filled = np.empty((len(batch.places), len(offsets) - 1))
        inputs = (offsets, scores, labels, orders[batch.rule], ideal, batch.choices, batch.limits)
        if batch.pairs:
            from rankloom.kernels.pairs import pair_block

            pair_block(*inputs, filled)
        else:
            measure_block(*inputs, plan.discounts, plan.gains, filled)
        values[batch.places] = filled


def _ties(
    batch: Batch, rows: Judged, start: int, packed: Any, labels: NDArray[np.float64]
) -> NDArray[np.float64]:
    """What decides among rows of equal score, rising; nothing where the file does."""
    from rankloom.measures.order import NO_TIES, docid_ties

    if batch.rule == "docid":
        return docid_ties(packed, rows.doc_ids, start)
    if batch.rule == "pessimistic":
        return labels
    return -labels if batch.rule == "optimistic" else NO_TIES


def _summaries(
    plan: Plan, rows: Judged, values: NDArray[np.float64]
) -> tuple[dict[Measure, float], dict[Measure, NDArray[np.float64]], dict[Measure, int]]:
    """Mean, values per query and number of undefined queries, for each measure."""
    means: dict[Measure, float] = {}
    per_query: dict[Measure, NDArray[np.float64]] = {}
    empty: dict[Measure, int] = {}
    lengths = np.diff(rows.offsets).astype(np.float64)
    for measure, found in zip(plan.measures, values, strict=True):
        if measure.name == "ece":
            means[measure], empty[measure] = np.nan, 0
            continue
        undefined = np.isnan(found)
        empty[measure] = int(undefined.sum())
        filled = found if measure.empty in (None, "skip") else np.where(undefined, measure.empty, found)
        if np.isinf(filled).any():
            query = rows.qids[int(np.flatnonzero(np.isinf(filled))[0])]
            raise InputError(
                f"{measure} of query {query} is too large for a float; "
                f"use ndcg, or {measure.name} with gain=linear"
            )
        weights = np.ones(len(filled)) if rows.query_weights is None else rows.query_weights
        means[measure] = _mean(filled, weights * lengths if measure.name in ("mse", "logloss") else weights)
        filled.setflags(write=False)
        per_query[measure] = filled
    return means, per_query, empty


def _mean(values: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
    """The weighted mean of what is defined; NaN of nothing."""
    counted = ~np.isnan(values)
    total = float(weights[counted].sum())
    return float((values[counted] * weights[counted]).sum() / total) if total > 0.0 else float("nan")


def _curve(measure: Measure, rows: Judged) -> ReliabilityCurve:
    weights = None
    if rows.query_weights is not None:
        weights = np.repeat(rows.query_weights, np.diff(rows.offsets))
    labels = targets(measure, rows.labels)
    return reliability_curve(
        rows.scores, labels, bins=measure.bins or 10, binning=measure.binning or "width", weights=weights
    )
