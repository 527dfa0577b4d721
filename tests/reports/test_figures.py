"""Charts as pictures: every kind with every odd value gives a picture, the same each time."""

from __future__ import annotations

import sys
import xml.etree.ElementTree as Xml

import pytest

from rankloom.errors import InputError, MissingPackageError
from rankloom.reports.figures import NARROW, WIDE, picture, svg
from rankloom.reports.parts import Chart, Series
from rankloom.reports.svg import inlined

KINDS = ("lines", "points", "bars", "dots", "differences")
NAN = float("nan")


def chart(kind: str, *series: Series, **more: object) -> Chart:
    return Chart("name", "A title", kind, "along", "up", list(series), "what is seen", **more)  # type: ignore[arg-type]


def texts(picture_of: str) -> list[str]:
    return [
        "".join(each.itertext()) for each in Xml.fromstring(picture_of).iter() if each.tag.endswith("text")
    ]


def shown(kind: str, x: object, y: object) -> bool:
    """Whether a point has a place: a number that can be reckoned with, x too where x is a number."""
    by_number = kind in ("lines", "points") and isinstance(x, float)
    return all(
        isinstance(value, float | int) and abs(value) < 1e250 for value in ([x, y] if by_number else [y])
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "series",
    [
        [],
        [Series("a", [], [])],
        [Series("a", [1.0], [2.0])],
        [Series("a", [1.0, 2.0, 3.0], [NAN, None, 0.5], [NAN, None, 0.4], [None, NAN, 0.6])],
        [Series("a", [1.0, 2.0], [None, NAN])],
        [Series("a", [1.0, 2.0], [1e200, -1e200])],
        [Series("a", [1e300, float("inf"), 1.0], [1.0, 2.0, 1e308])],
        [Series("a", ["x", "y"], [1e-9, 2e-9]), Series("b", ["y", "z"], [3e-9, 4e-9])],
        [Series(f"s{n}", [1.0, 2.0], [n, n + 1.0], [n - 1.0] * 2, [n + 2.0] * 2) for n in range(9)],
        [Series("$x$ <b> & \\alpha 漢 \x00 " + "long " * 30, [1.0, 2.0], [0.0, 0.0])],
    ],
    ids=["none", "empty", "one", "gaps", "nothing", "huge", "infinite", "names", "nine", "odd names"],
)
def test_every_kind_takes_every_value(kind: str, series: list[Series]) -> None:
    odd = chart(kind, *series, x_log=True, y_log=True, lines=[("level", 0.5), ("none", NAN)], labels=["$p$"])
    for look in (WIDE, NARROW):
        drawn = svg(odd, look)
        drawing = Xml.fromstring(inlined(drawn, "f", odd.title, odd.says))
        assert drawing.get("role") == "img"
        visible = any(shown(kind, x, y) for one in series for x, y in zip(one.x, one.y, strict=True))
        assert ("There is nothing to draw." in texts(drawn)) == (not visible)


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_chart_is_the_same_bytes(kind: str) -> None:
    import matplotlib

    own = chart(kind, Series("a", [1, 2, 3], [0.5, -0.2, 0.3]), Series("b", [1, 2, 3], [0.1, 0.2, 0.4]))
    before = dict(matplotlib.rcParams)
    first = [picture(own, form) for form in ("svg", "png")]
    assert dict(matplotlib.rcParams) == before
    with matplotlib.rc_context({"font.size": 40, "axes.facecolor": "red", "svg.fonttype": "path"}):
        assert [picture(own, form) for form in ("svg", "png")] == first
    assert b"date" not in first[0].lower()
    assert b"matplotlib" not in first[0].lower()


def test_files_are_what_they_are_called() -> None:
    own = chart("lines", Series("a", [1, 2], [1, 2]))
    assert picture(own, "png").startswith(b"\x89PNG\r\n\x1a\n")
    root = Xml.fromstring(picture(own, "svg"))
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert "A title" in texts(picture(own, "svg").decode())
    with pytest.raises(InputError, match="format must be one of svg, png, got 'gif'"):
        picture(own, "gif")


def test_axes_by_ratio_say_so_or_why_not() -> None:
    above = chart("lines", Series("a", [0.001, 1, 1000], [1, 2, 3]), x_log=True)
    assert "along (log scale)" in texts(svg(above, WIDE))
    assert {"0.001", "1", "1000"} <= set(texts(svg(above, WIDE)))
    below = chart("lines", Series("a", [0, 1, 1000], [-1, 2, 3]), x_log=True, y_log=True)
    assert {"along (not all above 0: no log scale)", "up (not all above 0: no log scale)"} <= set(
        texts(svg(below, WIDE))
    )


def test_won_and_lost_queries_are_counted() -> None:
    own = chart("differences", Series("b against a", range(7), [0.5, 0.0, -0.25, 0.125, 0.0, NAN, 0.1]))
    assert {"better: 3", "the same: 2", "worse: 1"} <= set(texts(svg(own, WIDE)))


def test_rows_carry_names_and_values() -> None:
    own = chart("dots", Series("m", ["first", "second"], [0.25, 0.5], [0.2, 0.4], [0.3, 0.6]))
    assert {"first", "second", "0.2500", "0.5000"} <= set(texts(svg(own, WIDE)))
    names = chart("bars", Series("m", ["a name that is too long for a phone"], [1.0]))
    assert "a name that is too long for a phone" in texts(svg(names, NARROW))


def test_points_close_together_have_labels_apart() -> None:
    """Two labels may not stand on the same spot."""
    own = chart(
        "points", Series("m", [1.0, 1.0, 1.001], [0.5, 0.5, 0.5001]), labels=["first", "second", "third"]
    )
    spots = [
        (each.get("x"), each.get("y"), each.get("transform"))
        for each in Xml.fromstring(svg(own, WIDE)).iter()
        if each.tag.endswith("text") and "".join(each.itertext()) in own.labels
    ]
    assert len(spots) == len(set(spots)) == 3


def test_names_are_texts_not_formulas() -> None:
    own = chart("lines", Series("$x^2$", [1, 2], [1, 2]), Series("b", [1, 2], [2, 1]))
    assert "$x^2$" in texts(svg(own, WIDE))


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(InputError, match="no chart is of kind 'pie'"):
        svg(chart("pie", Series("a", [1], [1])), WIDE)


def test_what_to_install_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingPackageError, match=r'pip install "rankloom\[report\]"'):
        svg(chart("lines"), WIDE)
