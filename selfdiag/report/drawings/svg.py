"""How a drawing is made: matplotlib in our form, as SVG that takes its colours and its typeface from the page.

Lengths are in the drawing's own units, which are pixels where it is shown at its natural size.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from selfdiag.safety import literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 400.0
"""Every drawing is so wide: its text can be read on a telephone as well."""
LEFT, SIDE = 40.0, 346.0
"""Where a plot starts, and how long its sides are."""
TEXT = 13.0
SMALL = 12.0
_LEFT_OUT = 600
"""Characters of what a caption names as left out."""

# Colours that no drawing has, each in place of one of the page's variables. Where right and wrong stand side by side
# they differ in shade and in shape too; the page gives them blue and vermillion of Okabe and Ito's palette.
INK = "#010201"
MUTED = "#010202"
FAINT = "#010203"
LINE = "#010204"
ACCENT = "#010205"
RIGHT = "#010206"
WRONG = "#010207"
OTHER = "#010208"
BAND = "#010209"
PAPER = "#01020a"
_VARIABLES = {
    INK: "ink",
    MUTED: "muted",
    FAINT: "faint",
    LINE: "line",
    ACCENT: "accent",
    RIGHT: "right",
    WRONG: "wrong",
    OTHER: "other",
    BAND: "band",
    PAPER: "paper",
}

_REFERENCE = re.compile(r'(?:href="#|url\(#)([^")]+)')


class Drawing(NamedTuple):
    """A drawing: its ``svg``, what it shows in words with the numbers (``alt``), and how to read it (``caption``)."""

    svg: str
    alt: str
    caption: str


def draw(name: str, height: float, paint: Callable[[Figure], None]) -> str:
    """Return what ``paint`` draws as an ``svg`` element, the same bytes for the same drawing.

    Texts stay texts, colours become variables of the page, and every id starts with the name.

    Args:
        name: of the drawing, unique on its page.
        height: in pixels; the width is ``WIDTH``.
        paint: draws on an empty figure.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    made = io.StringIO()
    # a font that lacks a character is no matter: the page's own fonts draw the text
    with mpl.rc_context(), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        mpl.rcdefaults()
        mpl.rcParams.update(_style(name))
        sheet = Figure(figsize=(WIDTH / 72, height / 72))
        paint(sheet)
        nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        sheet.savefig(made, format="svg", metadata=nothing, transparent=True)
    return _for_page(made.getvalue(), name)


def panel(sheet: Figure, left: float, bottom: float, width: float, height: float) -> Axes:
    """Return axes at a place of the sheet, in pixels from its lower left corner."""
    whole = sheet.get_figheight() * 72
    axes = sheet.add_axes((left / WIDTH, bottom / whole, width / WIDTH, height / whole))
    axes.tick_params(length=0, pad=5)
    return axes


def percent_axes(axes: Axes, x: str, y: str, *, step: int = 20, margin: float = 3.0) -> None:
    """Give both axes the scale from 0 to 100 with a grid, and their names.

    Args:
        axes: the plot.
        x: name of what goes to the right, which stands below.
        y: name of what goes up, which stands above the plot's left end.
        step: between the numbers.
        margin: room beyond both ends, so that points there are whole.
    """
    for axis, setter in ((axes.xaxis, axes.set_xlim), (axes.yaxis, axes.set_ylim)):
        setter(-margin, 100 + margin)
        axis.set_ticks(range(0, 101, step))
    axes.grid(visible=True)
    name_axes(axes, x, y)


def name_axes(axes: Axes, x: str, y: str) -> None:
    """Write the name of the axis to the right below it, and that of the upright one above its end."""
    axes.set_xlabel(x, labelpad=7)
    axes.set_title(y, loc="left", pad=9)


def diagonal(axes: Axes) -> None:
    """Draw the dashed line on which both percentages are equal."""
    axes.plot([0, 100], [0, 100], color=FAINT, linewidth=1.2, dashes=(4, 3))


def percents(shares: Iterable[float]) -> list[float]:
    """Return shares in [0, 1] as percentages."""
    return [100 * share for share in shares]


def left_out(text: str) -> str:
    """Return the end of a caption that tells what is not in the drawing; it may hold foreign names."""
    return f" Left out: {label(text, _LEFT_OUT)}." if text else ""


def label(text: str, limit: int = 40) -> str:
    """Return foreign text for a drawing: harmless, and cut at ``limit`` characters."""
    shown = " ".join(literal(text[: 4 * limit]).split())
    return shown if len(shown) <= limit else f"{shown[: limit - 1].rstrip()}…"


def _style(name: str) -> dict[Any, Any]:
    return {
        "svg.fonttype": "none",
        "svg.hashsalt": name,
        "text.parse_math": False,
        "text.color": INK,
        "font.size": TEXT,
        "axes.edgecolor": LINE,
        "axes.linewidth": 1.0,
        "axes.labelcolor": MUTED,
        "axes.labelsize": TEXT,
        "axes.titlecolor": MUTED,
        "axes.titlesize": TEXT,
        "axes.titleweight": "normal",
        "axes.axisbelow": True,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.spines.left": False,
        "axes.spines.bottom": False,
        "axes.unicode_minus": False,
        "grid.color": LINE,
        "grid.linewidth": 1.0,
        "xtick.labelcolor": MUTED,
        "ytick.labelcolor": MUTED,
        "xtick.labelsize": SMALL,
        "ytick.labelsize": SMALL,
        "hatch.linewidth": 1.4,
        "hatch.color": PAPER,
        "lines.solid_capstyle": "butt",
        "lines.solid_joinstyle": "round",
    }


def _for_page(svg: str, name: str) -> str:
    """Return an SVG document as an element of a page."""
    text = svg[svg.index("<svg") :].strip()
    # the style sheet in it would speak to the whole page
    text = re.sub(r"<!--.*?-->|<(metadata|style)\b.*?</\1>|<g/>", "", text, flags=re.DOTALL)
    used = set(_REFERENCE.findall(text))
    # in texts these signs are escaped, so that what looks like a tag is one
    text = re.sub(r"<[^<>]+>", lambda tag: _tag_for_page(tag[0], name, used), text)
    return re.sub(r"\s*\n\s*", "\n", text)


def _tag_for_page(tag: str, name: str, used: set[str]) -> str:
    """Return a tag with ids of this drawing alone, the page's typeface, and its colours."""
    if tag.startswith("<svg"):
        return re.sub(r' (width|height|version)="[^"]*"', "", tag)
    tag = re.sub(r' id="([^"]+)"', lambda found: f' id="{name}-{found[1]}"' if found[1] in used else "", tag)
    tag = re.sub(r'(href="#|url\(#)', rf"\g<1>{name}-", tag)
    tag = re.sub(r"font: (?:(\d+) )?([\d.]+px)[^;\"]*", _font, tag)
    tag = re.sub(r" font-family: [^;\"]*;", "", tag)
    tag = re.sub(r' transform="rotate\(-0 [^"]*"', "", tag)
    for colour, variable in _VARIABLES.items():
        tag = tag.replace(colour, f"var(--{variable})")
    return tag


def _font(found: re.Match[str]) -> str:
    return f"font-size: {found[2]}" + (f"; font-weight: {found[1]}" if found[1] else "")
