"""Words of ten languages around an answer: openings, hedges, articles, conjunctions, and Yes, Partially, No."""

from __future__ import annotations

import re

ARTICLES = frozenset(
    {
        *("the", "a", "an", "der", "die", "das", "ein", "eine", "le", "la", "les", "un", "une"),
        *("el", "los", "las", "una", "il", "uno", "um", "uma"),
    }
)
"""Leading articles that do not tell two texts apart."""

_COLON = r"[\s*_`]{0,4}[:：=]?[\s*_`]{0,4}"
LEADS = re.compile(
    r"[\s*_`#>-]{0,8}(?:"
    r"(?:so |thus |therefore |hence |ok(?:ay)?,? )?,?\s?(?:the |my |our )?(?:final |correct |right |short |best )?"
    r"(?:answer|result|solution|output|value)(?: (?:is|would be|should be|must be|equals|to (?:this"
    r"|the) question is)\b|[\s*_`]{0,4}[:：=])"
    r"|(?:it|that|this)(?: is|'s|’s| was| would be)\b(?! (?:not|n't)\b)"
    r"|(?:die |meine )?(?:richtige |korrekte )?(?:antwort|losung|lösung)(?: (?:ist|lautet|ware|wäre)\b"
    r"|[\s*_`]{0,4}[:：])"
    r"|(?:la |ma )?(?:bonne )?(?:r[ée]ponse)(?: (?:correcte|finale))?(?: est\b|[\s*_`]{0,4}[:：])"
    r"|(?:la )?respuesta(?: (?:correcta|final))?(?: es\b|[\s*_`]{0,4}[:：])"
    r"|(?:a )?resposta(?: (?:correta|final))?(?: é\b| e\b|[\s*_`]{0,4}[:：])"
    r"|(?:la )?risposta(?: (?:corretta|giusta|finale))?(?: è\b| e'|[\s*_`]{0,4}[:：])"
    r"|(?:правильный |верный )?ответ\s?[:：—-]"
    r"|(?:正确)?答案(?:是|为|[:：])|(?:答え|正解|回答)(?:は|[:：])|(?:정답|답)(?:은|:)"
    r")" + _COLON,
    re.IGNORECASE,
)
"""Openings that introduce an answer."""

HEDGES = re.compile(
    r"[\s*_`]{0,4}(?:"
    r"(?:i(?:'m|’m| am) )?not (?:entirely |completely |totally |absolutely |100% |quite |really )?(?:sure"
    r"|certain),? but\b,?"
    r"|i(?:'m|’m| am) (?:(?:very|pretty|fairly|quite|absolutely|reasonably|almost) )?(?:sure|certain|confident)"
    r"(?: that\b)?"
    r"|(?:almost )?(?:definitely|certainly|surely|clearly|obviously)\b,?"
    r"|i (?:don't|don’t|do not) know(?: for (?:sure|certain))?,? but\b,?"
    r"|i (?:think|believe|guess|suppose|assume|would say|'d say|’d say)\b(?: that\b)?,?"
    r"|my (?:best )?(?:guess|estimate) (?:is|would be)\b,?|if i had to guess,?|(?:most )?(?:probably"
    r"|likely)\b,?|(?:maybe|perhaps|possibly)\b,?"
    r"|(?:approximately|about|around|roughly|circa|ca\.|approx\.)\s"
    r"|ich bin (?:mir )?nicht (?:ganz )?sicher,? aber\b|ich (?:glaube|denke|vermute),?|wahrscheinlich\b"
    r"|vielleicht\b|ungef[aä]hr\b|etwa\b"
    r"|je ne suis pas (?:s[uû]re?|certaine?),? mais\b|je (?:pense|crois)(?: que\b)?|probablement\b"
    r"|peut-[eê]tre\b|environ\b"
    r"|no estoy segur[oa],? pero\b|creo que\b|probablemente\b|quiz[aá]s?\b|aproximadamente\b"
    r"|n[aã]o tenho certeza,? mas\b|acho que\b|provavelmente\b|talvez\b|non sono sicur[oa],? ma\b|penso che\b"
    r"|credo che\b|probabilmente\b|forse\b|circa\b"
    r"|я не уверена?,? но\b|я думаю,?(?: что\b)?|наверное,?|вероятно,?|возможно,?|примерно\b"
    r"|我不确定[,，]?但(?:是)?|我认为|我觉得|可能是|大概(?:是)?|おそらく|たぶん|多分|아마(?:도)?"
    r")\s?",
    re.IGNORECASE,
)
"""Openings that qualify an answer without taking it back."""

REASON = re.compile(
    r"[\s,;.:(–—-]{1,4}(?:because|since|weil|parce que|porque|perché|потому что)\b.*", re.IGNORECASE | re.DOTALL
)
"""The reason that may follow an answer, to the end of the text."""

CONJUNCTIONS = ("and", "or", "und", "oder", "et", "ou", "y", "e", "ed", "и", "или", "和", "と", "및", "then")
"""Words that may stand between the last two elements of a list."""

YES_PARTLY_NO: dict[str, tuple[str, ...]] = {
    "yes": (
        *(
            "yes",
            "yes i do",
            "yes i am",
            "yes i can",
            "yes it does",
            "yes it is",
            "yeah",
            "yep",
            "true",
            "agree",
            "i agree",
            "always",
            "almost always",
            "nearly always",
        ),
        *(
            "ja",
            "oui",
            "si",
            "sim",
            "да",
            "是",
            "是的",
            "对",
            "はい",
            "ええ",
            "예",
            "네",
            "그렇다",
            "그렇습니다",
        ),
    ),
    "partially": (
        *(
            "partially",
            "partly",
            "partial",
            "in part",
            "somewhat",
            "to some extent",
            "to some degree",
            "sometimes",
        ),
        *(
            "teilweise",
            "zum teil",
            "teils",
            "partiellement",
            "en partie",
            "parcialmente",
            "en parte",
            "em parte",
        ),
        *(
            "parzialmente",
            "in parte",
            "частично",
            "отчасти",
            "部分",
            "部分地",
            "部分是",
            "部分的に",
            "一部",
            "ある程度",
        ),
        *("부분적으로", "부분적", "일부", "어느 정도"),
    ),
    "no": (
        *(
            "no",
            "no i do not",
            "no i dont",
            "no i am not",
            "no i cannot",
            "no it does not",
            "no it is not",
            "nope",
            "false",
            "never",
            "almost never",
        ),
        *(
            "disagree",
            "i disagree",
            "nein",
            "non",
            "nao",
            "нет",
            "否",
            "不",
            "不是",
            "没有",
            "いいえ",
            "아니요",
            "아니오",
            "아닙니다",
        ),
    ),
}
"""Replies to a questionnaire, folded."""
