"""The page of a search for settings: the best, every trial, how the measure goes with each parameter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rankloom.reports.cells import brief
from rankloom.reports.curves import parameter_charts
from rankloom.reports.parts import Chart, Page, Part, Section, Series, Table, Text

_SHOWN = 40
_CURVES = 6
_LABELLED = 3

Trial = Mapping[str, Any]


def page(run: Mapping[str, Any]) -> Page:
    """A page of a run of kind "tune"."""
    result = run["result"]
    trials = result["trials"]
    measured = [trial for trial in trials if trial["state"] == "complete" and trial["value"] is not None]
    sections = [
        Section(
            "Validation curves", parameter_charts(measured, result["measure"], result["lower_is_better"])
        ),
        Section("On the way", _curves(result)),
        Section("Quality against time", _time(result, measured)),
        Section("What the model goes by", _features(result.get("features"))),
        Section("Trials", list(_trials(result))),
    ]
    return Page(f"Settings for {result['method']}", _lead(result), [each for each in sections if each.parts])


def _lead(result: Mapping[str, Any]) -> list[str]:
    best, trials, measure = result["best"], result["trials"], result["measure"]
    where = f"on {len(best['folds'])} folds" if best["folds"] else "on the validation data"
    told = [
        f"`{settings_text(best['parameters'])}` was the best of {len(trials):,} trials of "
        f"{result['method']}: {measure} {best['value']:.4f} {where}."
    ]
    counts = {state: sum(trial["state"] == state for trial in trials) for state in ("pruned", "failed")}
    parts = [
        f"{counts[state]:,} {words}"
        for state, words in (("pruned", "given up on the way"), ("failed", "failed"))
        if counts[state]
    ]
    if parts:
        told.append(f"Of the trials, {' and '.join(parts)}.")
    values = [
        trial["value"] for trial in trials if trial["state"] == "complete" and trial["value"] is not None
    ]
    if len(values) > 1:
        low, high = min(values), max(values)
        told.append(f"Between the best and the worst finished trial lie {high - low:.4f} of {measure}.")
    return told


def settings_text(parameters: Mapping[str, Any]) -> str:
    """Settings as one would type them."""
    return ", ".join(f"{name}={brief(value)}" for name, value in parameters.items())


def _curves(result: Mapping[str, Any]) -> list[Part]:
    """The measure at each step, for the best trials that were watched."""
    watched = [trial for trial in result["trials"] if len(trial["curve"]) > 1]
    if not watched:
        return []
    series = [
        Series(
            settings_text(trial["parameters"]), *([point[at] for point in trial["curve"]] for at in (0, 1))
        )
        for trial in watched[:_CURVES]
    ]
    says = f"On held-out rows while learning, for the best {len(series)} of {len(watched)} trials watched."
    measure = result["measure"]
    return [Chart("on the way", f"{measure} on the way", "lines", "step", measure, series, says)]


def _time(result: Mapping[str, Any], trials: Sequence[Trial]) -> list[Part]:
    if len({trial["seconds"] for trial in trials}) < 2:
        return []
    measure = result["measure"]
    labels = [str(place) if place <= _LABELLED else "" for place in range(1, len(trials) + 1)]
    return [Chart(
        "quality against time", f"{measure} against the time of a trial", "points", "seconds", measure,
        [Series("trials", [trial["seconds"] for trial in trials], [trial["value"] for trial in trials])],
        f"Each point is a trial, by the clock; the best {min(_LABELLED, len(trials))} have their number in "
        "the table of trials.",
        x_log=True, labels=labels,
    )]  # fmt: skip


def _features(facts: Mapping[str, Any] | None) -> list[Part]:
    """The largest weights of a linear model, or the importances of trees."""
    if facts is None or not facts["values"]:
        return []
    weights = facts["kind"] == "weight"
    values = {name: value for name, value in facts["values"].items() if value}
    if not values:
        return [Text("All weights are 0." if weights else "The trees split on no feature.")]
    what = "Weights" if weights else "Importances"
    says = f"The {len(values)} largest of {facts['n_features']:,} features. " + (
        "A weight is what one unit of the feature adds to a score"
        f"{'; features are scaled first, so weights can be compared' if facts['scaled'] else ''}."
        if weights
        else "The gain is by how much the splits on a feature lowered the loss in training."
    )
    label = "weight" if weights else "gain"
    series = Series(label, list(values), list(values.values()))
    return [Chart("features", f"{what} of the best model", "bars", "feature", label, [series], says)]


def _trials(result: Mapping[str, Any]) -> Iterator[Part]:
    trials = result["trials"]
    names = list(dict.fromkeys(name for trial in trials for name in trial["parameters"]))
    folds = max((len(trial["folds"]) for trial in trials), default=0)
    rows = [
        [
            place,
            *(brief(trial["parameters"][name]) if name in trial["parameters"] else "" for name in names),
            trial["value"] if trial["value"] is not None else trial["state"],
            *([*trial["folds"], *[None] * (folds - len(trial["folds"]))] if folds else []),
            f"{trial['seconds']:.2f}", *([trial["state"]] if _any_unfinished(trials) else []),
        ]
        for place, trial in enumerate(trials[:_SHOWN], 1)
    ]  # fmt: skip
    headers = [
        "", *names, result["measure"], *(f"fold {number}" for number in range(1, folds + 1)), "seconds",
        *(["state"] if _any_unfinished(trials) else []),
    ]  # fmt: skip
    caption = (
        f"The best {len(rows)} of {len(trials):,} trials"
        if len(trials) > _SHOWN
        else "Every trial, the best first"
    )
    yield Table(headers, rows, caption, best=[(0, 1 + len(names))])
    errors = [trial for trial in trials if trial["error"]]
    if errors:
        told = [[settings_text(trial["parameters"]), trial["error"]] for trial in errors[:_SHOWN]]
        yield Table(["settings", "error"], told, f"Trials that failed: {len(errors):,}")


def _any_unfinished(trials: Sequence[Trial]) -> bool:
    return any(trial["state"] != "complete" for trial in trials)
