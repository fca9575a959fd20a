"""Setting a model's reasoning aside, in the forms in which it leaks into the reply."""

from __future__ import annotations

import re
from itertools import islice

import msgspec

from selfdiag.elicit.jsonobject import object_starts, string_spans
from selfdiag.elicit.rewriting import Budget

MAX_TAGS = 5_000
"""So many reasoning blocks of one reply are set aside."""

MAX_PROTECTED = 40
"""So many tags and objects are compared to find tags that are part of a string."""


class Parts(msgspec.Struct, frozen=True, kw_only=True):
    """A reply in two parts: what it says, and the reasoning set aside; ``unclosed`` when the reasoning never ends."""

    content: str
    reasoning: str = ""
    unclosed: bool = False


_NAMES = (
    "think|thinking|thought|thoughts|thought_process|reasoning|reason|reflection|scratchpad|analysis|inner_monologue"
    "|internal_monologue|deliberation|chain_of_thought|cot|seed:think|antml:thinking|antthinking|planning"
)
# Every alternative follows one of three opening characters, which lets the search skip all others at once.
_OPEN = (
    rf"(?<=<)(?:(?:{_NAMES})(?:\s[^<>]{{0,80}})?>|\|(?:begin_of_thought|START_THINKING|thinking|think|reasoning)\|>"
    r"|unused94>|\|channel>(?!\|))|(?<=\[)THINK(?:ING)?\]|(?<=◁)think▷"
)
_CLOSE = (
    rf"(?<=<)(?:/\s?(?:{_NAMES})\s?>|\|(?:end_of_thought|END_THINKING|/thinking|/think|/reasoning)\|>"
    r"|unused95>|channel\|>)|(?<=\[)/THINK(?:ING)?\]|(?<=◁)/think▷"
)
_CLOSING_TAG = re.compile(rf"[<\[◁](?=[/|a-zA-Z])(?:{_CLOSE})", re.IGNORECASE)
_TAG = re.compile(rf"[<\[◁](?=[/|a-zA-Z])(?:(?P<open>{_OPEN})|(?P<close>{_CLOSE}))", re.IGNORECASE)
_CHANNEL = re.compile(
    r"<\|channel\|>\s{0,4}+(\w{0,20}+)[^<]{0,80}+(?:<\|constrain\|>[^<]{0,40}+)?+(?:<\|message\|>|\Z)"
)
_CHANNEL_END = re.compile(r"<\|(?:end|return|call|start|channel)\|>")
_TEMPLATE = re.compile(
    r"[<\[](?=[/|a-zA-Z｜])(?:(?<=<)(?:"
    r"\|(?:im_end|endoftext|end_of_text|begin_of_text|eot_id|eom_id|end|return|eot|eos|eom|end_of_turn|user|system"
    r"|assistant|END_RESPONSE|START_RESPONSE|END_OF_TURN_TOKEN|START_OF_TURN_TOKEN|CHATBOT_TOKEN|begin_of_solution"
    r"|end_of_solution)\|>|\|im_start\|>(?:assistant)?|\|start_header_id\|>\w{0,12}<\|end_header_id\|>"
    r"|\|start\|>(?:assistant)?|start_of_turn>(?:model)?|end_of_turn>|turn\|>|\|turn>(?:model)?|eos>|bos>|/?s>"
    r"|｜(?:end▁of▁sentence|begin▁of▁sentence|Assistant|User)｜>)"
    r"|(?<=\[)(?:/?INST\]|/?(?:ASSISTANT|SYSTEM_PROMPT)\]))",
    re.IGNORECASE,
)


def without_template_tokens(text: str) -> str:
    """Return a text without the control tokens of chat templates that a server failed to strip."""
    return _TEMPLATE.sub("", text)


def _protected(text: str, marks: list[re.Match[str]]) -> set[int]:
    """Return where tags stand inside a string of a complete object, and so belong to an answer."""
    inside: set[int] = set()
    tags = marks[:MAX_PROTECTED]
    position = 0
    budget = Budget()
    for opening in object_starts(text)[:MAX_PROTECTED]:
        if opening < position or opening > tags[-1].start():
            continue
        spans = string_spans(text, opening, budget)
        if spans is None:
            continue
        position, strings = spans
        inside.update(tag.start() for tag in tags if any(a <= tag.start() < b for a, b in strings))
    return inside


def _channels(text: str) -> Parts | None:
    """Return the parts of a reply written in channels, of which only ``final`` is meant for the reader."""
    marks = list(islice(_CHANNEL.finditer(text), MAX_TAGS))
    protected = _protected(text, marks) if marks else set()
    marks = [mark for mark in marks if mark.start() not in protected]
    if not marks:
        return None
    content = [text[: marks[0].start()]]
    reasoning: list[str] = []
    answered = False
    for mark in marks:
        end = _CHANNEL_END.search(text, mark.end())
        body = text[mark.end() : end.start() if end else len(text)]
        final = mark[1].casefold() in ("final", "")
        answered = answered or final
        (content if final else reasoning).append(body)
    return Parts(content="".join(content), reasoning="\n".join(reasoning), unclosed=not answered)


def set_reasoning_aside(text: str) -> Parts:
    """Return a reply's content and its reasoning blocks.

    Known are tag pairs (``<think>`` and its relatives), a closing tag whose opening the chat template swallowed
    (everything before it is reasoning), and channel marks. A block that never closes leaves no content after
    its opening. A tag inside a string of a complete JSON object is part of that string.

    Args:
        text: the reply as it came.
    """
    if "<|channel|>" in text:
        parts = _channels(text)
        if parts is not None:
            return parts
    first = _TAG.search(text)
    if first is None:
        return Parts(content=text)
    protected = _protected(text, list(islice(_TAG.finditer(text), MAX_PROTECTED)))
    content: list[str] = []
    reasoning: list[str] = []
    position = search_from = 0
    for _ in range(MAX_TAGS):
        tag = _TAG.search(text, search_from)
        if tag is None:
            break
        search_from = tag.end()
        if tag.start() in protected:
            continue
        if tag.lastgroup == "close":
            # Only the closing tag is there: all that came before it was reasoning.
            reasoning += [*content, text[position : tag.start()]]
            content = []
        else:
            content.append(text[position : tag.start()])
            end = _CLOSING_TAG.search(text, tag.end())
            reasoning.append(text[tag.end() : end.start() if end else len(text)])
            if end is None:
                return Parts(content="".join(content), reasoning=_lines(reasoning), unclosed=True)
            search_from = end.end()
        position = search_from
    return Parts(content="".join([*content, text[position:]]), reasoning=_lines(reasoning))


def _lines(blocks: list[str]) -> str:
    return "\n".join(block.strip() for block in blocks if block.strip())
