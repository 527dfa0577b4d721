"""The parameters of rankers as the command line has them: name=value."""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from rankloom.errors import InputError
from rankloom.rankers.methods import METHODS, ranker_class

__all__ = [
    "METHODS",
    "make_ranker",
    "parameters",
    "parse_settings",
    "parse_spaces",
    "parse_value",
    "ranker_class",
]

# Of no use for a single training in a process of its own; the seed has an option.
_ELSEWHERE = ("seed", "warm_start")
_PLAIN = (bool, int, float, str, type(None))
_WORDS = {"true": True, "false": False, "none": None}


def make_ranker(method: str, settings: Sequence[str], seed: int | None, stream: bool = False) -> Any:
    """A ranker with these settings (name=value); what is not set is as the ranker has it."""
    ranker = ranker_class(method)
    values = parse_settings(method, settings, parameters(ranker))
    if seed is not None:
        if "seed" not in inspect.signature(ranker).parameters:
            raise InputError(f"{method} draws nothing at random, so it has no seed; leave --seed out")
        values["seed"] = seed
    return ranker(**(_for_stream(method, ranker, values) if stream else values))


def _for_stream(method: str, ranker: Any, values: dict[str, Any]) -> dict[str, Any]:
    """Settings under which a ranker learns from a stream."""
    if not hasattr(ranker, "fit_stream") and hasattr(ranker, "learn_one_query"):
        raise InputError(
            f"{method} learns from a stream with rankloom online; leave --stream out, or use that"
        )
    if not hasattr(ranker, "fit_stream"):
        raise InputError(f"{method} must see all rows before it learns; leave --stream out")
    if "steps" in values:
        raise InputError(
            "--set steps has no meaning with --stream, where steps go with rows: --steps-per-row N"
        )
    return {"sampler": "stream", **values}


def parameters(ranker: Any) -> dict[str, tuple[type, ...]]:
    """The parameters that can be written as name=value, with the types they may have."""
    hints = typing.get_type_hints(ranker.__init__)
    found = {}
    for name in inspect.signature(ranker).parameters:
        is_text = name in getattr(ranker, "_texts", ())
        kinds = (str, type(None)) if is_text else _kinds(hints.get(name, Any))
        if kinds and name not in _ELSEWHERE:
            found[name] = kinds
    return found


def _kinds(hint: Any) -> tuple[type, ...]:
    """The plain types that a hint allows; none if it only asks for what is no plain value, or for None."""
    if hint == tuple[int, ...]:
        return (tuple,)
    union = typing.get_origin(hint) in (typing.Union, types.UnionType)
    kinds = tuple(kind for kind in (typing.get_args(hint) if union else (hint,)) if kind in _PLAIN)
    return () if kinds == (type(None),) else kinds


def parse_settings(
    method: str, settings: Sequence[str], known: Mapping[str, tuple[type, ...]]
) -> dict[str, Any]:
    """The values behind the texts, each of a type that its parameter may have."""
    values: dict[str, Any] = {}
    for setting in settings:
        name, equals, text = (part.strip() for part in setting.partition("="))
        if not equals:
            raise InputError(f"--set must be name=value, got {setting!r}")
        if name not in known:
            raise _unknown(method, name, known)
        if name in values:
            raise InputError(f"--set {name} is given twice; give it once")
        values[name] = parse_value(name, text, known[name])
    return values


def parse_spaces(method: str, spaces: Sequence[str], known: Mapping[str, tuple[type, ...]]) -> dict[str, Any]:
    """What to try: name=low:high, name=low:high:points or name=value,value,... ."""
    found: dict[str, Any] = {}
    for space in spaces:
        name, equals, text = (part.strip() for part in space.partition("="))
        if not equals or not text:
            raise InputError(f"--space must be name=low:high or name=value,value,..., got {space!r}")
        if name not in known:
            raise _unknown(method, name, known)
        if name in found:
            raise InputError(f"--space {name} is given twice; give it once, with all that it may be")
        numbers = [kind for kind in known[name] if kind in (int, float)]
        if ":" in text and numbers:
            low, high, *points = text.split(":")
            ends = [parse_value(name, end.strip(), numbers, "an end of --space") for end in (low, high)]
            found[name] = (
                *ends,
                *(parse_value(name, each, [int], "the points of --space") for each in points),
            )
        else:
            found[name] = [
                parse_value(name, each.strip(), known[name], "--space") for each in text.split(",")
            ]
    return found


def _unknown(method: str, name: str, known: Mapping[str, Any]) -> InputError:
    if name == "seed":
        return InputError("the seed has an option of its own: --seed N")
    near = get_close_matches(name, list(known), n=1)
    hint = f" (did you mean {near[0]}?)" if near else ""
    return InputError(f"{method} has no parameter {name!r}{hint}; it has {', '.join(known)}")


def parse_value(name: str, text: str, kinds: Sequence[type], option: str = "--set") -> Any:
    """A text as a value of one of these types; the narrowest that fits."""
    word = _WORDS.get(text.lower(), text)
    if (word is None or isinstance(word, bool)) and type(word) in kinds:
        return word
    if int in kinds or float in kinds:
        number = _number(text, int in kinds, float in kinds)
        if number is not None:
            return number
    if str in kinds:
        return text
    if tuple in kinds:
        parts = [part.strip() for part in text.strip("()").split(",") if part.strip()]
        if all(part.isdecimal() for part in parts):
            return tuple(map(int, parts))
    raise InputError(f"{option} {name} must be {_expected(kinds)}, got {text!r}")


def _number(text: str, whole: bool, broken: bool) -> int | float | None:
    """A number; a whole one may be written 1e6."""
    try:
        value = float(text)
        return (
            int(text) if whole and not broken and "e" not in text.lower() else _narrowed(value, whole, broken)
        )
    except ValueError:
        return None


def _narrowed(value: float, whole: bool, broken: bool) -> int | float | None:
    if whole and value.is_integer():
        return int(value)
    return value if broken else None


def _expected(kinds: Sequence[type]) -> str:
    words = {
        bool: "true or false",
        int: "a whole number",
        float: "a number",
        str: "a word",
        type(None): "none",
        tuple: "whole numbers, as in 64,32",
    }
    return " or ".join(words[kind] for kind in kinds)
