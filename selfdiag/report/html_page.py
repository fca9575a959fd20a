"""The shell of every HTML page: one file without a script that loads nothing, and the pieces it is made of."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, cast

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from selfdiag.safety import one_line

if TYPE_CHECKING:
    from markdown_it.token import Token

    from selfdiag.report.drawings.svg import Drawing

TITLE = 160
"""Characters of a page's title."""

_NUMBER = re.compile(r"(?:[-+±≥<\d.,%\[\]()\s–]|\bof\b|\bto\b|no interval)*")
"""Numbers, shares, intervals, a dash, or nothing."""


@cache
def environment() -> Environment:
    """Return what renders the templates of this package; whatever is put into one is escaped."""
    return Environment(
        loader=PackageLoader("selfdiag.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def html_page(title: str, body: Markup, *, lead: str = "") -> str:
    """Return a whole page, the same bytes for the same arguments.

    Args:
        title: plain text, foreign or not; it stands in the window's title and as the heading.
        body: the page's content, below the heading. Sections start with ``h2``.
        lead: one plain sentence below the heading.
    """
    template = environment().get_template("page.html.j2")
    return template.render(title=one_line(title, TITLE), lead=lead, body=body) + "\n"


def html_table(head: Sequence[str], rows: Sequence[Sequence[str | Markup]]) -> Markup:
    """Return a table in a box of its own to scroll in; columns of numbers stand to the right.

    Args:
        head: a name for each column.
        rows: cells; plain text is escaped, markup is not.
    """
    numeric = [_numeric([str(row[at]).strip() for row in rows]) for at in range(len(head))]
    return _piece("table", head, rows, numeric)


def figure(svg: str, alt: str, caption: str) -> Markup:
    """Return a drawing with its caption.

    Args:
        svg: the drawing, of our own making: it is put into the page as it is.
        alt: what the drawing shows, with the numbers, for those who do not see it.
        caption: what is drawn and how to read it.
    """
    return _piece("figure", svg, alt, caption)


def drawn(drawing: Drawing | str) -> Markup:
    """Return a drawing with its caption, or the words that say why there is none."""
    if isinstance(drawing, str):
        return Markup('<p class="note">Nothing to draw: {}.</p>').format(drawing)
    return figure(*drawing)


def from_markdown(text: str) -> Markup:
    """Return Markdown as HTML: CommonMark with tables, in which HTML is text and images and foreign links are inert.

    Only links to http and https lead anywhere. Tables scroll in boxes of their own, columns of numbers to the right.
    """
    from markdown_it import MarkdownIt

    reader = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    reader.validateLink = lambda url: url.lower().startswith(("http://", "https://"))  # type: ignore[method-assign]
    tokens = reader.parse(text)
    _mark_numbers(tokens)
    made = str(reader.renderer.render(tokens, reader.options, {}))
    framed = made.replace("<table>", '<div class="scroll" tabindex="0"><table>').replace("</table>", "</table></div>")
    return Markup(framed)  # noqa: S704  # the reader escapes all text, and a tag in the text is no tag


def _piece(name: str, *values: object) -> Markup:
    """Return what a macro makes of the values; a macro's result is markup."""
    macro = getattr(environment().get_template("pieces.html.j2").module, name)
    return cast("Markup", macro(*values))


def _mark_numbers(tokens: Sequence[Token]) -> None:
    """Give every cell of a column that holds numbers alone the class of numbers."""
    tables: list[list[list[tuple[Token, str]]]] = []
    for at, token in enumerate(tokens):
        if token.type == "table_open":
            tables.append([])
        elif token.type == "tr_open":
            tables[-1].append([])
        elif token.type in {"th_open", "td_open"}:
            tables[-1][-1].append((token, tokens[at + 1].content.strip()))
    for rows in tables:
        for column in zip(*rows, strict=True):
            if _numeric([text for _, text in column[1:]]):
                for token, _ in column:
                    token.attrJoin("class", "num")


def _numeric(cells: Sequence[str]) -> bool:
    return any(cells) and all(_NUMBER.fullmatch(text) for text in cells)
