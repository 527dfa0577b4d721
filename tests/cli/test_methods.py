"""What rankloom train knows of rankers: their parameters, and texts as values."""

from __future__ import annotations

import inspect

import pytest

import rankloom as rl
from rankloom.cli.methods import METHODS, make_ranker, parameters, parse_settings, parse_value, ranker_class
from rankloom.rankers.base import Ranker
from twins.toy_ranker import Toy


@pytest.mark.parametrize("method", METHODS)
def test_every_method_is_a_ranker_of_that_name(method):
    ranker = ranker_class(method)
    assert issubclass(ranker, Ranker)
    assert ranker.method_name() == method
    assert getattr(rl, METHODS[method].name) is ranker
    assert make_ranker(method, [], None).get_params() == ranker().get_params()


@pytest.mark.parametrize("method", METHODS)
def test_every_default_can_be_written_down(method):
    """So that what the file of a model says can be said again."""
    ranker = ranker_class(method)
    known = parameters(ranker)
    assert known
    for name, kinds in known.items():
        default = inspect.signature(ranker).parameters[name].default
        assert parse_value(name, str(default), kinds) == default
    settings = [f"{name}={inspect.signature(ranker).parameters[name].default}" for name in known]
    assert make_ranker(method, settings, None).get_params() == ranker().get_params()


def test_only_plain_parameters_can_be_set():
    """Not functions, nor what has an option or a meaning only in Python."""
    known = parameters(ranker_class("spd"))
    assert known["steps"] == (int,)
    assert known["lam"] == (float,)
    assert set(known["C"]) == {float, type(None)}
    assert not {"seed", "callback", "callback_at", "warm_start", "measure"} & set(known)


@pytest.mark.parametrize(
    ("text", "kinds", "value"),
    [
        ("3", (int,), 3),
        ("1e6", (int,), 1_000_000),
        ("-2", (int,), -2),
        ("3", (float,), 3.0),
        ("1e-4", (float,), 1e-4),
        ("none", (float, type(None)), None),
        ("None", (str, type(None)), None),
        ("true", (bool, float), True),
        ("False", (bool, float), False),
        ("0.5", (bool, float), 0.5),
        ("1", (bool, float), 1.0),
        ("hinge", (str,), "hinge"),
        ("none", (str,), "none"),
        ("true", (str,), "true"),
        ("2", (int, float), 2),
        ("2.5", (int, float), 2.5),
        ("12345678901234567890", (int,), 12345678901234567890),
        ("", (str,), ""),
    ],
)
def test_texts_as_values(text, kinds, value):
    found = parse_value("x", text, kinds)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("text", "kinds", "told"),
    [
        ("many", (int,), "--set x must be a whole number, got 'many'"),
        ("1.5", (int,), "--set x must be a whole number, got '1.5'"),
        ("inf", (int,), "--set x must be a whole number, got 'inf'"),
        ("", (float,), "--set x must be a number, got ''"),
        ("none", (float,), "--set x must be a number, got 'none'"),
        ("true", (float,), "--set x must be a number, got 'true'"),
        ("yes", (bool, float), "--set x must be true or false or a number, got 'yes'"),
        ("x", (int, type(None)), "--set x must be a whole number or none, got 'x'"),
    ],
)
def test_texts_that_are_no_such_value(text, kinds, told):
    with pytest.raises(rl.InputError) as caught:
        parse_value("x", text, kinds)
    assert str(caught.value) == told


def test_a_value_may_have_an_equals_sign_in_it_and_blanks_around_it():
    assert parse_settings("toy", [" measure = a=b "], {"measure": (str,)}) == {"measure": "a=b"}


def test_a_ranker_without_a_seed(monkeypatch):
    monkeypatch.setattr("rankloom.cli.methods.ranker_class", lambda method: Toy)
    assert make_ranker("toy", ["lam=2"], None).lam == 2.0
    with pytest.raises(
        rl.InputError, match="toy draws nothing at random, so it has no seed; leave --seed out"
    ):
        make_ranker("toy", [], 3)


def test_sizes_of_layers_are_whole_numbers():
    """As `hidden=64,32`, or as Python writes them; nothing is no layer."""
    for text, sizes in {"64,32": (64, 32), "(64, 32)": (64, 32), "8": (8,), "()": (), "": ()}.items():
        assert make_ranker("ranknet", [f"hidden={text}"], None).hidden == sizes
    with pytest.raises(rl.InputError, match="hidden must be whole numbers, as in 64,32, got '64,x'"):
        make_ranker("lambdarank", ["hidden=64,x"], None)
