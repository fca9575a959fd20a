"""The app's colours: dark, light, high contrast, and the terminal's own.

Right and wrong are a blue and an orange that people who confuse red and green tell apart; a glyph and a word always
stand beside a colour.
"""

from __future__ import annotations

from textual.theme import Theme


def _quiet(border: str, background: str, accent: str, *, cursor: str = "none", bar: str = "") -> dict[str, str]:
    """Return what is not part of a palette: lines, keys, and scrollbars that are no louder than lines."""
    return {
        "border": border,
        "footer-key-foreground": accent,
        "block-cursor-text-style": cursor,
        "scrollbar": bar or border,
        "scrollbar-hover": bar or border,
        "scrollbar-active": accent,
        "scrollbar-background": background,
        "scrollbar-background-hover": background,
        "scrollbar-background-active": background,
        "scrollbar-corner-color": background,
    }


DARK = Theme(
    name="selfdiag-dark",
    primary="#7aa2f7",
    secondary="#9aa5ce",
    accent="#7dcfff",
    foreground="#c8d0e8",
    background="#14161f",
    surface="#191c28",
    panel="#202432",
    success="#6cb6ff",
    warning="#e0af68",
    error="#ff9e64",
    dark=True,
    variables=_quiet("#3b4261", "#14161f", "#7dcfff"),
)

LIGHT = Theme(
    name="selfdiag-light",
    primary="#2e5aac",
    secondary="#56617a",
    accent="#0b6e99",
    foreground="#1d2433",
    background="#fbfbfd",
    surface="#f1f3f8",
    panel="#e6e9f1",
    success="#1f5fbf",
    warning="#8a5a00",
    error="#b34700",
    dark=False,
    variables=_quiet("#b8c0d4", "#fbfbfd", "#0b6e99"),
)

CONTRAST = Theme(
    name="selfdiag-contrast",
    primary="#ffffff",
    secondary="#d0d0d0",
    accent="#ffff00",
    foreground="#ffffff",
    background="#000000",
    surface="#000000",
    panel="#101010",
    success="#7fd4ff",
    warning="#ffff00",
    error="#ffb000",
    dark=True,
    variables=_quiet("#ffffff", "#000000", "#ffff00", cursor="bold", bar="#808080"),
)

# of the 16 colours those that can be read on black and on white; what is chosen is shown in reverse
SIXTEEN = Theme(
    name="selfdiag-terminal",
    ansi=True,
    primary="ansi_blue",
    secondary="ansi_cyan",
    accent="ansi_cyan",
    foreground="ansi_default",
    background="ansi_default",
    surface="ansi_default",
    panel="ansi_default",
    boost="ansi_default",
    success="ansi_bright_blue",
    warning="ansi_yellow",
    error="ansi_bright_red",
    dark=True,
    variables=_quiet("ansi_bright_black", "ansi_default", "ansi_cyan", cursor="bold")
    | {
        "ansi-background": "ansi_black",
        "ansi-foreground": "ansi_white",
        "block-cursor-foreground": "ansi_black",
        "block-cursor-background": "ansi_white",
        "input-cursor-foreground": "ansi_black",
        "input-cursor-background": "ansi_white",
        "input-cursor-text-style": "underline",
        "input-selection-foreground": "ansi_black",
        "input-selection-background": "ansi_cyan",
        "screen-selection-foreground": "ansi_black",
        "screen-selection-background": "ansi_cyan",
    },
)

THEMES = (DARK, LIGHT, CONTRAST, SIXTEEN)
TERMINAL = SIXTEEN.name
NAMES = {"dark": DARK.name, "light": LIGHT.name, "contrast": CONTRAST.name, "terminal": TERMINAL}
"""What a person calls a theme, and its name in Textual."""
