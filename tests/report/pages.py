"""What must hold for every HTML page, read by a parser of its own."""

from __future__ import annotations

import re
from html.parser import HTMLParser

_VOID = {"meta", "link", "br", "hr", "img", "input"}
_LOADS = {"src", "srcset", "action", "formaction", "data", "poster", "background", "ping"}
_FORBIDDEN = {"script", "iframe", "object", "embed", "link", "base", "form", "img", "image", "foreignobject"}


class Page(HTMLParser):
    """A page: its texts, tags and attributes."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self._open: list[str] = []
        self.feed(html)
        self.close()
        assert self._open == [], self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in _VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag, tag

    def handle_data(self, data: str) -> None:
        if not self._open or self._open[-1] != "style":
            self.texts.append(data)

    @property
    def text(self) -> str:
        """The words a reader sees, with single spaces between."""
        return " ".join(" ".join(self.texts).split())

    def values(self, name: str) -> list[str]:
        """Return the values of an attribute."""
        return [value for _, found, value in self.attributes if found == name]


def inert(html: str) -> Page:
    """Check that a page is whole, runs nothing, loads nothing and shows no control character, and return it."""
    page = Page(html)
    assert not _FORBIDDEN & set(page.tags)
    ids = page.values("id")
    assert len(ids) == len(set(ids))
    for tag, name, value in page.attributes:
        assert not name.startswith("on"), (tag, name)
        assert name not in _LOADS or (tag, name) == ("meta", "content"), (tag, name, value)
        if name in {"href", "xlink:href"}:
            assert value.startswith("#") and value[1:] in ids, (tag, value)
        assert "javascript:" not in value.lower() or name == "aria-label", (tag, name, value)
    style = "".join(re.findall(r"<style>(.*?)</style>", html, re.DOTALL))
    assert "url(" not in style and "@import" not in style
    assert all(target[1:] in ids for target in re.findall(r"url\((#[^)]+)\)", html))
    assert re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", html) is None
    return page
