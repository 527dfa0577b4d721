"""What SPD and CRR share: data as the kernel takes them, steps in chunks, workers and their average.

    w = mean over workers of w_k        worker k: steps k, k + n, k + 2n, ... of all, from a seed of its own

Steps taken in several calls are the same bits as in one: each worker's State remembers everything, even the
pairs it has drawn ahead. Those mean something only for the same labels in the same queries; a `mark` tells.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankloom.data.features import Features
from rankloom.data.ranking_data import RankingData
from rankloom.errors import InputError
from rankloom.rankers.checks import refuse_too_wide

if TYPE_CHECKING:
    from rankloom.kernels.pair_index import PairIndex
    from rankloom.kernels.spd import Recipe, Rows, State, Truth

CHUNK = 1 << 18  # steps between two looks at Ctrl-C and at overflow
_FIRST_LOOK = 64
_LARGEST = 1e150  # a weight whose square would soon be no number any more
_MARKS = (1, 2, 5)
_VALUES_LOOKED_AT = 1 << 20
_VALUES_SAMPLED = 1 << 17


class Material(NamedTuple):
    """What steps are taken on."""

    rows: Rows
    truth: Truth
    pairs: PairIndex
    mark: int


class Stage(NamedTuple):
    """A recipe, the last of a worker's steps that follows it, and the largest |w| that can be on the way."""

    last: int
    recipe: Recipe
    limit: float


class Course(NamedTuple):
    """Where learning is: a state for each worker, how many steps all of them took, and on what."""

    states: list[State]
    done: int
    mark: int


def material_of(
    data: RankingData,
    *,
    targets: NDArray[np.float64] | None = None,
    row_weights: NDArray[np.float64] | None = None,
    query_weights: NDArray[np.float64] | None = None,
) -> Material:
    """Labelled data as the kernel takes them, with the pair index. `targets` are the labels unless given."""
    from rankloom.kernels.compile import as_kernel
    from rankloom.kernels.pair_index import build_pair_index
    from rankloom.kernels.spd import Truth

    y = labels_of(data) if targets is None else targets
    index = build_pair_index(y, data.offsets, query_weights)
    weights = np.empty(0) if row_weights is None else row_weights
    truth = Truth(as_kernel(y, np.float64), as_kernel(weights, np.float64))
    return Material(kernel_rows(data.features), truth, index, _mark_of(y, data.offsets))


def labels_of(data: RankingData) -> NDArray[np.float64]:
    """The labels, which learning cannot do without."""
    if data.y is None:
        raise InputError("learning to rank needs labels, and the data have none; pass y")
    return data.y


def kernel_rows(features: Features) -> Rows:
    """The feature table as the kernel takes it."""
    from rankloom.kernels.compile import as_kernel
    from rankloom.kernels.spd import Rows

    values = as_kernel(features.values.reshape(-1), np.float32)
    if features.columns is None or features.row_offsets is None:
        nothing = np.empty(0, dtype=np.uint32), np.zeros(1, dtype=np.uint64)
        return Rows(values, *nothing, features.n_features)
    offsets = as_kernel(features.row_offsets, np.int64).view(np.uint64)
    return Rows(values, as_kernel(features.columns, np.uint32), offsets, 0)


def _mark_of(y: NDArray[np.float64], offsets: NDArray[np.int64]) -> int:
    return zlib.crc32(np.ascontiguousarray(offsets).data, zlib.crc32(np.ascontiguousarray(y).data))


def mean_one(weights: NDArray[np.float64] | None, what: str) -> NDArray[np.float64] | None:
    """Weights with a mean of 1, so that they leave the size of steps alone; None where all are equal."""
    if weights is None or not len(weights):
        return None
    total = float(weights.sum())
    if total <= 0.0:
        raise InputError(f"{what} must not all be 0; leave them out to weigh all alike")
    if weights.min() == weights.max():
        return None
    return weights * (len(weights) / total)


def new_course(n_features: int, seed: int, n_workers: int, average: bool) -> Course:
    """Every worker at w = 0, with a seed of its own."""
    from rankloom.kernels.spd import new_state

    seeds = np.random.SeedSequence(seed).generate_state(n_workers, np.uint64)
    return Course([new_state(n_features, int(one), average) for one in seeds], 0, 0)


def resumed(course: Course, mark: int, average: bool) -> Course:
    """A copy to go on from: what was averaged is forgotten, and so are pairs drawn ahead from other data."""
    states = [_resumed_state(state, average) for state in course.states]
    if mark != course.mark:
        forget_look_ahead(Course(states, course.done, mark))
    return Course(states, course.done, mark)


def _resumed_state(state: State, average: bool) -> State:
    from rankloom.kernels.spd import AVERAGED, BIAS_SUM, SCALE_SUM, State

    scalars = state.scalars.copy()
    scalars[[SCALE_SUM, BIAS_SUM, AVERAGED]] = 0.0
    sums = np.zeros(len(state.v) if average else 0)
    ring, random = state.ring.copy(), state.random.copy()
    return State(state.v.copy(), sums, state.scratch.copy(), scalars, ring, random)


def forget_look_ahead(course: Course) -> None:
    """Have nothing drawn for the steps to come."""
    from rankloom.kernels.spd import DRAWN_TO, NOBODY

    for worker, state in enumerate(course.states):
        state.scalars[DRAWN_TO] = float(worker_share(course.done, worker, len(course.states)))
        state.ring.fill(NOBODY)


def wider(course: Course, n_features: int) -> Course:
    """The same with room for more features, whose weights are 0."""
    missing = n_features - len(course.states[0].v)
    if missing <= 0:
        return course
    refuse_too_wide(n_features)
    return course._replace(
        states=[
            state._replace(
                v=np.pad(state.v, (0, missing)),
                sums=np.pad(state.sums, (0, missing)) if len(state.sums) else state.sums,
                scratch=np.pad(state.scratch, (0, missing)),
            )
            for state in course.states
        ]
    )


def worker_share(steps: int, worker: int, n_workers: int) -> int:
    """How many of so many steps are this worker's: they take turns."""
    return steps // n_workers + (worker < steps % n_workers)


def advance(material: Material, stages: Sequence[Sequence[Stage]], course: Course, to: int) -> Course:
    """Take all steps up to number `to`, each worker its share. `stages` has a list for each worker."""
    from rankloom.kernels.threads import ordered_map, thread_count

    n = len(course.states)

    def work(worker: int) -> None:
        first, last = worker_share(course.done, worker, n), worker_share(to, worker, n)
        _take(material, stages[worker], course.states[worker], first, last)

    for _ in ordered_map(work, range(n), min(n, thread_count())):
        pass
    return course._replace(done=to)


def _take(material: Material, stages: Sequence[Stage], state: State, done: int, to: int) -> None:
    from rankloom.kernels.spd import take_steps

    rows, truth, pairs, _ = material
    while done < to:
        stage = next(stage for stage in stages if stage.last > done)
        end = min(to, stage.last, max(_FIRST_LOOK, 2 * done), done + CHUNK)
        take_steps(rows, truth, pairs, stage.recipe, state, done + 1, end - done)
        done = end
        _refuse_overflow(state, done, stage)


def _refuse_overflow(state: State, step: int, stage: Stage) -> None:
    """Squared loss has a largest |w| at its optimum. Far beyond it, no later step would lead back in time."""
    from rankloom.kernels.spd import ROMMA, SCALE, shrunk

    largest = float(np.abs(shrunk(state)).max(initial=0.0)) * abs(float(state.scalars[SCALE]))
    if largest < min(stage.limit, _LARGEST) and np.isfinite(state.scalars).all():
        return
    do = 'take smaller steps (rate="bounded", a smaller c, or a larger lam) or scale the features'
    if stage.recipe.learner == ROMMA:
        do = "ROMMA's weights grow without end where labels are noisy; take fewer steps, or another learner"
    raise InputError(f"learning diverged: a weight was {largest:.3g} after step {step:,}; {do}")


def mean_weights(course: Course) -> tuple[NDArray[np.float64], float]:
    """The weights and the bias, averaged over the workers."""
    from rankloom.kernels.spd import weights_of

    found = [weights_of(state) for state in course.states]
    weights = np.mean([weights for weights, _ in found], axis=0)
    return weights, float(np.mean([bias for _, bias in found]))


Callback = Callable[[int, Any], Any]


def stops(first: int, last: int, callback_at: Any) -> list[int]:
    """The steps after first, up to last, at which the callback is called.

    None is 100, 200, 500, 1,000, ...; a whole number n is every n-th; else these steps.
    """
    if callback_at is None:
        tens = 10 ** np.arange(2, 19, dtype=np.int64)
        wanted = np.multiply.outer(tens, _MARKS).reshape(-1)
    elif isinstance(callback_at, (int, np.integer)) and not isinstance(callback_at, bool):
        if callback_at < 1:
            raise InputError(f"callback_at must be a whole number from 1, or steps, got {callback_at!r}")
        wanted = np.arange(first - first % callback_at, last + 1, callback_at)
    else:
        wanted = np.asarray(callback_at)
        if wanted.ndim != 1 or (wanted.size and wanted.dtype.kind not in "iu"):
            raise InputError(f"callback_at must be a whole number or steps, got {callback_at!r:.60}")
    steps: list[int] = np.unique(wanted[(wanted > first) & (wanted <= last)]).tolist()
    return steps


def largest_square(features: Features, exact: bool) -> float:
    """The largest |x|^2 of all rows, or, faster, of rows here and there."""
    if not exact:
        every = -(-features.values.size // _VALUES_SAMPLED)
        if every > 1:
            features = features.gather(np.arange(0, features.n_rows, every))
    rows = max(1, _VALUES_LOOKED_AT * features.n_rows // max(features.values.size, 1))
    starts = range(0, features.n_rows, rows)
    return max((float(_squares(features.rows(start, start + rows)).max()) for start in starts), default=0.0)


def _squares(features: Features) -> NDArray[np.float64]:
    values = features.values.astype(np.float64)
    if features.row_offsets is None:
        return np.asarray(np.einsum("ij,ij->i", values, values))
    total = np.concatenate(([0.0], np.cumsum(values * values)))
    return np.asarray(np.diff(total[features.row_offsets]))
