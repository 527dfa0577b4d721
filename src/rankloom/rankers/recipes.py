"""From parameters in words to the kernel's Recipe, or to a sentence that says what is missing.

rate          eta at step i                      rate and offset of eta = rate / (offset + i)
pegasos       1 / (lam i)                        1 / lam, 0
bounded       1 / (lam (i + i0)), i0 = R^2/lam   1 / lam, R^2 / lam      eta |x|^2 <= 1 where |x| <= R
inverse       c / (c + i)                        c, c
constant      c                                  2^80 c, 2^80: adding i to 2^80 does not change it
"""

from __future__ import annotations

from typing import Any, NamedTuple

from rankloom.rankers.checks import number, one_of, unused

LOSSES = ("hinge", "logistic", "squared")
LEARNERS = ("pegasos", "sgd", "passive-aggressive", "romma", "perceptron", "combined")
SAMPLERS = ("pairs", "balanced", "stream")
RATES = ("pegasos", "bounded", "inverse", "constant")
DESCENT = ("pegasos", "sgd")  # learners that descend the gradient of any loss
_NEVER_MOVES = 2.0**80

# As in kernels/spd.py, which is not imported here: Numba would come with it. A test compares them.
LEARNER_NUMBERS = {
    "sgd": 0,
    "pegasos": 1,
    "combined": 1,
    "passive-aggressive": 2,
    "romma": 3,
    "perceptron": 4,
}
LOSS_NUMBERS = {"hinge": 0, "logistic": 1, "squared": 2}


class Rate(NamedTuple):
    """eta = rate / (offset + i)."""

    rate: float
    offset: float


def rate_of(name: str, c: float, lam: float, square: float) -> Rate:
    """The schedule of this name; `square` is R^2."""
    if name == "inverse":
        return Rate(c, c)
    if name == "constant":
        return Rate(c * _NEVER_MOVES, _NEVER_MOVES)
    return Rate(1.0 / lam, square / lam if name == "bounded" else 0.0)


def rate_name(given: str | None, default: str) -> str:
    """The schedule asked for; None is the one that suits the learner and loss."""
    return default if given is None else one_of("rate", given, RATES)


def rate_constant(given: float | None, name: str, default: float) -> float:
    """c, which only two schedules have."""
    if name not in ("inverse", "constant"):
        unused("c", given, None, 'rate="inverse" or rate="constant"')
    return default if given is None else number("c", given, 0.0)


class Choice(NamedTuple):
    """What SPD's parameters ask for, checked against each other."""

    loss: str
    learner: str
    lam: float
    cap: float
    margin: float
    early: float
    rate: str
    c: float


def check_choice(ranker: Any) -> Choice:
    """SPD's parameters as one choice; whatever would mean nothing is refused."""
    loss = one_of("loss", ranker.loss, LOSSES)
    learner = one_of("learner", ranker.learner, LEARNERS)
    if learner not in DESCENT and loss != "hinge":
        unused("loss", loss, "hinge", f"a learner that follows its gradient ({' or '.join(DESCENT)})")
    if learner not in ("passive-aggressive", "combined"):
        unused("C", ranker.C, None, 'learner="passive-aggressive" or "combined"')
    if learner != "perceptron":
        unused("margin", ranker.margin, None, 'learner="perceptron"')
    if learner != "combined":
        unused("early", ranker.early, None, 'learner="combined"')
    if learner in ("passive-aggressive", "romma"):
        unused("rate", ranker.rate, None, "a learner with a rate (pegasos, sgd, perceptron or combined)")
    rate = rate_name(ranker.rate, "constant" if learner == "perceptron" else "bounded")
    return Choice(
        loss,
        learner,
        number("lam", ranker.lam, 0.0),
        0.01 if ranker.C is None else number("C", ranker.C, 0.0),
        1.0 if ranker.margin is None else number("margin", ranker.margin, 0.0, open_low=False),
        0.1 if ranker.early is None else number("early", ranker.early, 0.0, 1.0),
        rate,
        rate_constant(ranker.c, rate, 10.0 if rate == "inverse" else 1.0),
    )
