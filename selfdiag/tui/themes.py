"""The app's colours: dark, light, high contrast, and the terminal's own.

Right and wrong are a blue and an orange that people who confuse red and green tell apart; a glyph and a word always
stand beside a colour.
"""

from __future__ import annotations

from textual.theme import Theme

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
    variables={"footer-key-foreground": "#7dcfff", "border": "#3b4261", "block-cursor-text-style": "none"},
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
    variables={"footer-key-foreground": "#0b6e99", "border": "#b8c0d4", "block-cursor-text-style": "none"},
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
    variables={"footer-key-foreground": "#ffff00", "border": "#ffffff", "block-cursor-text-style": "bold"},
)

THEMES = (DARK, LIGHT, CONTRAST)
TERMINAL = "ansi-dark"
"""Textual's theme that leaves the colours to the terminal."""
NAMES = {"dark": DARK.name, "light": LIGHT.name, "contrast": CONTRAST.name, "terminal": TERMINAL}
"""What a person calls a theme, and its name in Textual."""
