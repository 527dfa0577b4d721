"""What matplotlib writes as SVG, made fit for a page: small, without ids of its own, coloured by the page.

inlined(text, "f1", title, says)      part of a page: colours are CSS variables, so that one drawing serves
                                      both schemes; ids begin with f1
standalone(text, title, says)         a file: light, on white
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as Xml
from collections.abc import Callable, Iterator
from html import escape

from rankloom.reports.colours import FIGURES

_NUMBER = re.compile(r"-?\d+\.\d{3,}(?![\d.]*e)")
_REFERENCE = re.compile(r"url\(#([^)]+)\)")
_UPRIGHT = re.compile(r"rotate\(-?0(?:\.0)? ")
_VARIABLES = {colour.light: f"var(--{name})" for name, colour in FIGURES.items()}
_LINK = "{http://www.w3.org/1999/xlink}href"
_TYPE = "font-family: system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"


def inlined(text: str, prefix: str, title: str, says: str, name: str = "") -> str:
    """The drawing as an element of a page."""
    root = Xml.fromstring(text)
    names = f'class="{name}" ' if name else ""
    start = (
        f'<svg {names}viewBox="{root.get("viewBox")}" role="img" aria-labelledby="{prefix}-t {prefix}-d">'
        f'<title id="{prefix}-t">{escape(title)}</title><desc id="{prefix}-d">{escape(says or title)}</desc>'
    )
    return start + _inside(root, prefix, lambda value: _VARIABLES.get(value, value)) + "</svg>"


def standalone(text: str, title: str, says: str) -> str:
    """The drawing as a file of its own."""
    root = Xml.fromstring(text)
    width, height = str(root.get("viewBox")).split()[2:]
    start = (
        '<?xml version="1.0" encoding="utf-8"?>\n<svg xmlns="http://www.w3.org/2000/svg" '
        f'width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" '
        f'style="background: #ffffff; {_TYPE}; stroke-linejoin: round">'
        f"<title>{escape(title)}</title><desc>{escape(says or title)}</desc>"
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>'
    )
    return start + _inside(root, "f", lambda value: value) + "</svg>\n"


def _inside(root: Xml.Element, prefix: str, paint: Callable[[str], str]) -> str:
    """What a drawing holds, with the ids that something refers to, numbered."""
    used = dict.fromkeys(_references(root))
    names = {old: f"{prefix}-{number}" for number, old in enumerate(used, 1)}
    return "".join(_written(child, names, paint) for child in root)


def _references(root: Xml.Element) -> Iterator[str]:
    for element in root.iter():
        for value in element.attrib.values():
            yield from _REFERENCE.findall(value)
        if _LINK in element.attrib:
            yield element.attrib[_LINK].lstrip("#")


def _written(element: Xml.Element, names: dict[str, str], paint: Callable[[str], str]) -> str:
    """An element as text; groups that only group, and style sheets, leave no trace."""
    tag = element.tag.rpartition("}")[2]
    if tag == "style":
        return ""
    inner = "".join(_written(child, names, paint) for child in element)
    attributes = "".join(f' {key}="{escape(value)}"' for key, value in _attributes(element, names, paint))
    words = escape(element.text or "", quote=False) if tag == "text" else ""
    if tag in ("g", "defs") and (not attributes or not inner):
        return inner if tag == "g" or not inner else f"<defs>{inner}</defs>"
    if tag == "path" and element.get("style") == "fill: none":
        return ""
    return f"<{tag}{attributes}>{words}{inner}</{tag}>" if words or inner else f"<{tag}{attributes}/>"


def _attributes(
    element: Xml.Element, names: dict[str, str], paint: Callable[[str], str]
) -> Iterator[tuple[str, str]]:
    for key, value in element.attrib.items():
        if key == "id":
            if value in names:
                yield "id", names[value]
        elif key == _LINK:
            yield "href", f"#{names[value.lstrip('#')]}"
        elif key == "style":
            yield "style", _style(value, paint)
        elif key != "transform" or not _UPRIGHT.match(value):
            yield key, _REFERENCE.sub(lambda found: f"url(#{names[found[1]]})", _brief(value))


def _style(value: str, paint: Callable[[str], str]) -> str:
    """The same declarations with the page's colours, and without a font: it comes from the page."""
    pairs = (part.partition(":")[::2] for part in value.split(";") if part.strip())
    kept = ((key.strip(), paint(what.strip())) for key, what in pairs if key.strip() != "font-family")
    return "; ".join(f"{key}: {what}" for key, what in kept)


def _brief(value: str) -> str:
    """Numbers with two decimals are as good as any on a screen."""
    return _NUMBER.sub(
        lambda found: f"{float(found[0]):.2f}".rstrip("0").rstrip("."), " ".join(value.split())
    )
