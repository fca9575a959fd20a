"""What can be done on a screen: every declared binding, with its key as a person has set it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from textual.actions import parse
from textual.binding import Binding
from textual.dom import DOMNode
from textual.screen import Screen
from textual.widget import Widget


class Action(NamedTuple):
    """One action: ``node`` does it, ``id`` is its name in the config file, empty for what cannot be remapped."""

    keys: tuple[Binding, ...]
    description: str
    id: str
    action: str
    node: DOMNode


def actions_of(node: DOMNode, keymap: Mapping[str, str]) -> list[Action]:
    """Return what a node can do now, in the order in which its bindings are declared, its own before inherited ones.

    What a focused field would swallow is among them too: the palette must offer it all the same.

    Args:
        node: a widget, a screen or the app.
        keymap: keys by action id, as a person has set them.
    """
    found: dict[str, Action] = {}
    foreign = False
    for kind in type(node).__mro__:
        declared = vars(kind).get("BINDINGS", ())
        if kind.__module__.startswith("textual."):
            # of Textual's own classes the nearest says what is meant; the others add ways to scroll
            if foreign:
                continue
            foreign = bool(declared)
        for binding in Binding.make_bindings(declared):
            if not binding.description or not _can_be_done(node, binding.action):
                continue
            keys = _keys(binding, keymap)
            known = found.get(binding.action)
            if known is None:
                found[binding.action] = Action(keys, binding.description, binding.id or "", binding.action, node)
            else:
                more = [key for key in keys if key.key not in {one.key for one in known.keys}]
                found[binding.action] = known._replace(keys=(*known.keys, *more))
    return list(found.values())


def nodes_of(screen: Screen[object], focused: Widget | None) -> Sequence[DOMNode]:
    """Return what takes keys on a screen, from the focused widget outwards; the app comes last."""
    start: DOMNode = screen if focused is None else focused
    return start.ancestors_with_self


def _can_be_done(node: DOMNode, action: str) -> bool:
    namespace, name, parameters = parse(action)
    return bool(namespace) or bool(node.check_action(name, parameters))


def _keys(binding: Binding, keymap: Mapping[str, str]) -> tuple[Binding, ...]:
    """Return a binding once for every key that a person has given it, itself where there is none."""
    chosen = keymap.get(binding.id or "", "")
    if not chosen:
        return (binding,)
    return tuple(binding.with_key(key.strip()) for key in chosen.split(",") if key.strip())
