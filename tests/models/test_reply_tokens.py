"""Token probabilities are believed only when the tokens spell the reply."""

import pytest

from selfdiag.models.reply_tokens import spelling_tokens


def entries(*texts: str) -> list[dict[str, object]]:
    return [{"token": text, "logprob": -0.5, "bytes": list(text.encode())} for text in texts]


@pytest.mark.parametrize(
    ("texts", "text", "spelt"),
    [
        (['{"a', '": 1}'], '{"a": 1}', True),
        (["\n", '{"a": 1}', "\n"], '{"a": 1}', True),
        # as llama.cpp shows a reply that was held to a schema
        (["```", "json", "\n", '{"a": 1}', "\n", "```", ""], '{"a": 1}', True),
        (["```", "json", "\n", '{"a":'], '{"a":', True),
        (["I think: ", '{"a": 1}'], '{"a": 1}', False),
        (['{"a": 2}'], '{"a": 1}', False),
        ([], '{"a": 1}', False),
    ],
)
def test_tokens_that_spell_another_text_are_dropped(texts: list[str], text: str, spelt: bool) -> None:
    found = spelling_tokens(entries(*texts), text)
    assert bool(found) is spelt
    if spelt:
        assert "".join(token.text for token in found) == "".join(texts)
