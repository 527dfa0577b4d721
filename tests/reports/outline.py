"""What a page of HTML has in it, for tests: ids, links, tables, text; nothing may be left open."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

VOID = {"meta", "link", "br", "img", "hr", "input"}
LINKS = {"src", "href", "action", "data", "poster", "srcset", "xlink:href"}


class Outline(HTMLParser):
    """Reads a page at once; `open` must be empty in the end."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, Any]]] = []
        self.text: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open[-1] == tag, f"</{tag}> where {self.open[-1]} is open"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1] not in ("style", "title", "desc"):
            self.text.append(data)

    def words(self) -> str:
        """All text, in one line."""
        return " ".join(" ".join(self.text).split())

    def all(self, tag: str) -> list[dict[str, Any]]:
        """The attributes of each element of a kind."""
        return [attributes for name, attributes in self.tags if name == tag]

    def ids(self) -> list[str]:
        """Every id."""
        return [attributes["id"] for _, attributes in self.tags if "id" in attributes]

    def links(self) -> list[str]:
        """Everything that a browser might go to."""
        return [
            str(value) for _, attributes in self.tags for key, value in attributes.items() if key in LINKS
        ]


def check(page: str) -> Outline:
    """What holds for every page: well-formed, ids that are unique and there, tables that can be read out."""
    found = Outline(page)
    assert found.open == []
    ids = found.ids()
    assert len(ids) == len(set(ids)), sorted({name for name in ids if ids.count(name) > 1})
    links = found.links()
    assert {link[:1] for link in links} <= {"#", "d"}, links
    assert [link for link in links if not link.startswith("#")] == ["data:,"]
    assert {link[1:] for link in links if link.startswith("#")} <= set(ids)
    for _, attributes in found.tags:
        for name in str(attributes.get("aria-labelledby", "")).split():
            assert name in ids
        assert not [key for key in attributes if key.startswith("on")]
    for word in ("@import", "<script", "javascript:", 'http-equiv="refresh'):
        assert word not in page.lower()
    for place in page.split("url(")[1:]:
        assert place.startswith("#")
    tags = [tag for tag, _ in found.tags]
    assert tags.count("table") == tags.count("caption") == tags.count("thead")
    assert {each.get("scope") for each in found.all("th")} <= {"col", "row"}
    for drawing in found.all("svg"):
        assert drawing["role"] == "img"
    return found
