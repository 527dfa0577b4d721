"""Measures as text: `name[@k][/preset][:field=value]...`, and the names of ir_measures.

    ndcg@10        map/trec        err@20        ndcg@10/burges:ties=average        p@5:threshold=>=2
    nDCG@10        AP(rel=2)@100   RR@10         nDCG(dcg='exp-log2')@10            nDCG(gains={0:0,1:1,2:5})

A name of ir_measures is only a name here: whose convention is meant, the preset says, ours where none is
given.
"""

from __future__ import annotations

import ast
import re
from typing import Any

from rankloom.errors import InputError
from rankloom.measures.measure import Measure
from rankloom.measures.presets import DEFAULT

_SHAPE = re.compile(
    r"""\s* (?P<name> [A-Za-z][A-Za-z_-]*)
        \s* (?: \( (?P<params> .*) \) )?
        \s* (?: @ \s* (?P<k> [^/:\s]+) )?
        \s* (?: / \s* (?P<preset> [^:\s]+) )?
        \s* (?: : (?P<fields> .+) )? \s*""",
    re.VERBOSE | re.DOTALL,
)
_FIELDS_OF_DCG = {"log2": "linear", "exp-log2": "exp2"}


def parse(text: str) -> Measure:
    """The measure that `text` names."""
    shape = _SHAPE.fullmatch(text) if isinstance(text, str) else None
    if shape is None:
        raise InputError(f"a measure is written like ndcg@10, map/trec or err@20:max_grade=2, got {text!r}")
    k = _cutoff(shape["k"], text)
    fields: dict[str, Any] = {}
    if shape["params"]:
        fields = _ir_measures_fields(shape["params"], text)
        k = fields.pop("k", k) if k is None else k
    fields.update(_our_fields(shape["fields"] or "", text))
    return Measure(shape["name"], k, preset=shape["preset"] or DEFAULT, **fields)


def _cutoff(digits: str | None, text: str) -> int | None:
    if digits is None:
        return None
    if not digits.isdecimal():
        raise InputError(f"the cutoff after @ must be a whole number, got {digits!r} in {text!r}")
    return int(digits)


def _our_fields(written: str, text: str) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for part in written.split(":") if written else ():
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not key or not value:
            raise InputError(f"expected field=value after ':', got {part!r} in {text!r}")
        if key in fields:
            raise InputError(f"{key!r} is given twice in {text!r}")
        fields[key] = _value(key, value)
    return fields


def _value(key: str, value: str) -> Any:
    if key == "empty" and value in ("0", "1"):
        return int(value)
    if key == "gain" and value[0] not in "abcdefghijklmnopqrstuvwxyz":
        return tuple(value.split(","))
    return value


def _ir_measures_fields(params: str, text: str) -> dict[str, Any]:
    """The parameters of ir_measures that mean something here: rel, dcg, gains, cutoff."""
    try:
        call = ast.parse(f"f({params})", mode="eval").body
        if not isinstance(call, ast.Call) or call.args or any(word.arg is None for word in call.keywords):
            raise ValueError(params)
        given = {str(word.arg): ast.literal_eval(word.value) for word in call.keywords}
    except (SyntaxError, ValueError):
        raise InputError(f"cannot read the parameters ({params}) of {text!r}") from None
    fields: dict[str, Any] = {}
    for key, value in given.items():
        if key == "rel":
            fields["threshold"] = value
        elif key == "cutoff":
            fields["k"] = value
        elif key == "dcg" and value in _FIELDS_OF_DCG:
            fields["gain"] = _FIELDS_OF_DCG[value]
        elif key == "gains" and isinstance(value, dict) and sorted(value) == list(range(len(value))):
            fields["gain"] = tuple(value[label] for label in range(len(value)))
        else:
            raise InputError(
                f"{key}={value!r} in {text!r} is not understood; of the parameters of ir_measures there are "
                "rel, cutoff, dcg='log2' or 'exp-log2', and gains for labels 0, 1, 2, ..."
            )
    return fields
