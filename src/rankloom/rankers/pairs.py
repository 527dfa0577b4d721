"""Is there a pair to learn from."""

from __future__ import annotations

from rankloom.data.ranking_data import RankingData
from rankloom.errors import InputError
from rankloom.rankers.descent import Material


def refuse_no_pairs(material: Material, data: RankingData, hint: str = "") -> None:
    """Refuse data without two rows of one query that differ in label."""
    if len(material.pairs.cells):
        return
    raise InputError(
        f"nothing to learn a ranking from: in none of the {data.n_queries:,} queries do two rows differ in "
        f"label; look at the labels, and at whether qid groups the rows as meant{hint}"
    )
