"""Finding the part of a reply whose form counts: what stands in its one fenced block, or all of it."""

from __future__ import annotations

import re

import msgspec


class Body(msgspec.Struct, frozen=True):
    """The text whose form is checked, and whether a reply says nothing beside it.

    ``text`` has no white space at either end; a line feed parts its lines, whatever did so in the reply.
    """

    text: str
    alone: bool = True


_FENCE = re.compile(r"( {0,3})(`{3,}|~{3,})(.*)", re.DOTALL)


def body_of(reply: str) -> Body:
    """Return the lines within the fence when a reply holds exactly one fenced block, else the whole reply.

    A block begins and ends as in CommonMark (section 4.5), but one without a closing fence is none.

    Args:
        reply: a reply without its reasoning.
    """
    lines = reply.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    blocks: list[tuple[int, int, int]] = []
    opening: tuple[int, str, str] | None = None
    for number, line in enumerate(lines):
        fence = _FENCE.fullmatch(line)
        if fence is None:
            continue
        indent, marks, rest = fence.groups()
        if opening is None:
            # A line like ```x``` is code within a line of text.
            if "`" not in rest or marks[0] == "~":
                opening = number, indent, marks
        elif marks.startswith(opening[2]) and not rest.strip():
            blocks.append((opening[0], number, len(opening[1])))
            opening = None
    if len(blocks) != 1:
        return Body("\n".join(lines).strip())
    first, last, indented = blocks[0]
    # A block that is indented as a whole, in a list for one, would not be Python otherwise.
    inner = [line[:indented].lstrip(" ") + line[indented:] for line in lines[first + 1 : last]]
    beside = [*lines[:first], *lines[last + 1 :]]
    return Body("\n".join(inner).strip(), alone=not any(line.strip() for line in beside))
