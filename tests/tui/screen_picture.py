"""A screen as text that can be compared: what stands there, and how it looks."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any
from xml.etree import ElementTree

from rich.cells import cell_len
from rich.color import ColorType
from rich.style import Style
from textual.color import Color

from selfdiag.tui.app import SelfdiagApp

Rgb = tuple[int, int, int]
COLOURS = {
    " ": ("foreground", 1.0),
    "m": ("foreground", 0.6),
    "d": ("foreground", 0.3),
    "a": ("accent", 1.0),
    "i": ("accent", 0.6),
    "r": ("success", 1.0),
    "w": ("error", 1.0),
    "b": ("border", 1.0),
}
"""A letter for a colour of the theme and how much of it there is over the background: muted, dim, and so on."""
GROUNDS = {
    " ": ("background", 1.0),
    "s": ("surface", 1.0),
    "p": ("panel", 1.0),
    "c": ("accent", 0.25),
    "g": ("foreground", 0.15),
    "A": ("accent", 1.0),
}
LEGEND = "m muted, d dim, a accent, i interval, r right, w wrong, b border; capitals are bold, F the foreground so"
GROUND_LEGEND = "s surface, p panel, c cursor, g band, A accent"


def picture(app: SelfdiagApp) -> str:
    """Return the screen's text, the letters of its colours, and those of its grounds.

    A colour counts as the nearest of the theme's: another release of Textual may mix it a shade differently.
    """
    colours, grounds = (_palette(app, letters) for letters in (COLOURS, GROUNDS))
    texts, inks, floors = [], [], []
    for strip in app.screen._compositor.render_strips():
        text = ink = floor = ""
        for segment in strip:
            style = segment.style or Style()
            text += segment.text
            colour = _nearest(colours, _rgb(style, of_text=True))
            if style.bold:
                colour = "F" if colour == " " else colour.upper()
            ink += "".join((" " if char.isspace() else colour) * cell_len(char) for char in segment.text)
            floor += _nearest(grounds, _rgb(style, of_text=False)) * cell_len(segment.text)
        texts.append(text)
        inks.append(ink)
        floors.append(floor)
    return "\n\n".join(
        (
            _lines(texts),
            f"colours: {LEGEND}\n{_lines(inks)}",
            f"grounds: {GROUND_LEGEND}\n{_lines(floors)}" if any(floor.strip() for floor in floors) else "no grounds",
        )
    )


def svg(app: SelfdiagApp, title: str) -> str:
    """Return the screen as SVG that is equal for equal screens."""
    # its ids are a checksum over all of it
    return re.sub(r"terminal-\d+", "screen", app.export_screenshot(title=title))


def text_of(picture_: str) -> list[str]:
    """Return the text of the screen out of a picture."""
    return picture_.partition("\n\ncolours: ")[0].split("\n")


def letters(rows: Iterable[str]) -> list[str]:
    """Return rows without blanks, which an SVG has in another way, and without empty rows."""
    return [kept for row in rows if (kept := re.sub(r"\s", "", row))]


def svg_rows(drawn: str) -> list[str]:
    """Return the rows of text in an SVG of a screen, without blanks."""
    rows: dict[float, list[tuple[float, str]]] = {}
    for element in ElementTree.fromstring(drawn).iter("{http://www.w3.org/2000/svg}text"):  # noqa: S314 - of our own
        if "clip-path" in element.attrib:
            place = float(element.attrib["x"]), element.text or ""
            rows.setdefault(float(element.attrib["y"]), []).append(place)
    return letters("".join(text for _, text in sorted(row)) for _, row in sorted(rows.items()))


def _palette(app: SelfdiagApp, letters: dict[str, tuple[str, float]]) -> dict[str, Rgb]:
    variables = app.get_css_variables()
    ground = Color.parse(variables["background"])
    return {letter: ground.blend(Color.parse(variables[name]), part).rgb for letter, (name, part) in letters.items()}


def _nearest(palette: dict[str, Rgb], wanted: Rgb | None) -> str:
    if wanted is None:
        return " "
    return min(palette, key=lambda letter: sum((a - b) ** 2 for a, b in zip(palette[letter], wanted, strict=True)))


def _rgb(style: Style, *, of_text: bool) -> Rgb | None:
    colour: Any = style.color if of_text else style.bgcolor
    if colour is None or colour.type != ColorType.TRUECOLOR:
        return None
    return tuple(colour.triplet)  # type: ignore[return-value]


def _lines(rows: Iterable[str]) -> str:
    return "\n".join(row.rstrip() for row in rows)
