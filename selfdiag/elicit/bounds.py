"""Words and signs around a number with which an answer bounds it, just misses it or denies it."""

from __future__ import annotations

import re
import unicodedata

REACH = 100
"""So many characters on either side of a number are looked at."""


def _any(*patterns: str) -> str:
    return f"(?:{'|'.join(patterns)})"


_EXTREME = r"at (?:the )?(?:very )?(?:least|most|best|worst|latest|earliest)"
_LEAST_OR_MOST = _any(
    _EXTREME,
    r"up ?to|upwards of|in excess of",
    r"mindestens|wenigstens|zumindest|h(?:ö|oe)chstens|bis zu|nahezu|beinahe|fast|knapp",
    r"au (?:moins|plus|maximum|minimum)|jusqu['’ ]?[àa]|presque|[àa] peine|pr[èe]s de|tout sauf",
    r"(?:al|(?:por |a )?lo) menos|(?:como|por) (?:m[áa]ximo|m[íi]nimo)|a lo sumo|hasta|casi",
    r"(?:pelo|ao) menos|no (?:m[áa]ximo|m[íi]nimo)|até|quase",
    r"almeno|per lo meno|(?:al|come) (?:massimo|minimo)|fino a|quasi",
    r"по (?:крайней|меньшей) мере|хотя бы|почти|свыше|более|менее|больше|меньше|до",
    r"至少|最少|最多|至多|不到|不足|超过|超過|大于|大於|小于|小於|少于|少於|多于|多於|低于|高于|将近|接近|几乎",
    r"少なくとも|多くとも|적어도|많아야|거의",
)
# After these a colon introduces a statement: "Minimum: 5", "From the above: 5".
_BEYOND = _any(
    r"than|under|over|below|above|beyond|within|(?:exceed|surpass)(?:s|es|ed|ing)?|as (?:many|much|few|little) as",
    r"(?:greater|larger|bigger|more|less|smaller|fewer) (?:or )?equal(?: to)?|plus (?:or|ou) (?:minus|moins)",
    r"nearly|almost|barely|hardly|scarcely|close to|near|short of|shy of|(?:max|min)(?:imum|\.)?(?: of)?",
    r"als|чем|unter|(?:ü|ue)ber|oberhalb von|unterhalb von|(?:moins|plus) d[e']|au-dess(?:us|ous) de|en dessous de",
    r"(?:inf[ée]rieure?|sup[ée]rieure?) [àa]|(?:menos|m[áa]s|mais|meno|più) (?:de|di|que|do que)",
    r"(?:menor|mayor|maior|minore|maggiore|inferiore?|superiore?) (?:que|do que|a|de|di)|abaixo de|acima de",
    r"(?:m[áa]ximo|m[íi]nimo|massimo)(?: de| di)?|sotto|sopra|oltre",
    r"(?:por )?(?:debajo|encima) de|pre|post|sub|mid|maximal|minimal|минимум|максимум|最大|最小|最低|최소|최대",
    r"(?:root|half|third|quarter|log|logarithm) of|twice",
)
_ROUGHLY = _any(
    r"about|approximately|approx\.?|around|roughly|circa|ca\.?|some|exactly|precisely|only|just|maybe|perhaps|probably",
    r"(?:or )?equals?(?: to)?|a total of|the (?:number|value)|etwa|ungef[äa]hr|rund|genau|environ|unos|unas",
)
_NEGATION = _any(
    r"(?:can)?not|n['’]t|never|neither|nor|(?:any|every)thing (?:but|except)|all but|except(?: for)?|excluding",
    r"instead of|different from|(?:i|we) doubt|unlikely|impossible|nicht|keine?|kein|pas|не",
    r"(?:no|non|não|nao) (?:es|son|è|sono|é|são|puede ser|può essere|pode ser)|non|不是|不等于|不等於",
)
# What may stand between a negation and its number: "I don't think that the answer is 5".
_LINK = _any(
    r"(?:true|possible|likely|certain|sure|correct|the case) (?:that|if|whether|for|to)|think|believe|say|claim|that",
    r"it|its|it['’]s|this|is|was|be|been|being|would|could|can|a|an|the|answer|number|value|result|solution|to|as",
    r"equals?(?: to)?|exactly|quite|really|precisely|just|only|simply|even|necessarily|actually|[a-z]",
    r"ganz|genau|die|das|der|antwort|être|tout à fait|la|réponse|exactement|es|son|ser",
)
_INFINITY = r"(?:∞|\\{0,2}inf(?:ty|inity))"
_MARKS = r"[*_\"'`)\]]{0,3}"
_BEFORE = re.compile(
    rf"(?:(?<!\w)(?:{_LEAST_OR_MOST}|{_BEYOND}){_MARKS}(?:\s{_ROUGHLY}){{0,3}}\s?"
    rf"|(?<!\w){_LEAST_OR_MOST}{_MARKS}(?:\s[a-z])?\s?[:=]\s?"
    rf"|(?:(?<!\w)|(?=n['’]t)){_NEGATION}{_MARKS}(?:\s{_LINK}){{0,8}}\s?[:=]?\s?"
    rf"|[<>≤≥≦≧⩽⩾≠±≪≫≲≳]\s{{0,4}}|[(\[\]]\s?-?\s?{_INFINITY}\s?[,;]\s?)[-+$€£¥(*_\"'`]{{0,4}}\s?\Z",
    re.IGNORECASE,
)
# "After 5 days" may well answer a question; "after 5" alone does not say 5.
_ORDER = re.compile(
    r"(?<!\w)(?:before|after|prior to|until|till|vor|nach|avant|après|antes del?|después de|depois de"
    r"|prima del?|dopo(?: il)?|после)\s\Z",
    re.IGNORECASE,
)

_GAP = r"[\s,;:()*_\"'`\]–—-]{0,4}"
# A unit or a thing counted: "5 km or more".
_THING = (
    r"(?!(?:is|isn|are|was|were|can|cannot|does|that|which|the|an?|as|of|if|when|because|and|or|but|so|than|more|mehr"
    r"|plus|m[áa]s|mais|più)\b)[^\W\d_][\w°²³/^.]{0,15}"
)
_END = r"[\s*_\"'`]{0,3}(?:[.,;:!?)]|\Z)"
_MORE_OR_LESS = _any(
    r"(?:or|maybe|perhaps|possibly|if not)\s(?:(?:possibly|maybe|perhaps|even|probably|slightly|much|far|a bit)\s){0,2}"
    r"(?:more(?!\s(?:\w+ly|or less)\b)|less|fewer|greater|higher|lower|larger|smaller|bigger|beyond|older|younger|later"
    r"|earlier|longer|shorter|upwards?)\b",
    rf"(?:or|and) (?:above|below|over|under|up|higher|lower|less|fewer|older|younger|greater|a bit|a little){_END}",
    rf"and (?:more{_END}|upwards?\b)|upwards?\b|onwards?\b",
    r"(?:oder|und) (?:mehr|weniger|h(?:ö|oe)her|niedriger|dar(?:ü|ue)ber)\b|aufw(?:ä|ae)rts\b",
    r"(?:ou|et) (?:plus|moins)\b|[oy] (?:m[áa]s|menos)\b|(?:ou|e) (?:mais|menos)\b|o (?:più|meno)\b",
    r"(?:или|и) (?:больше|меньше|более|менее|выше|ниже)(?!\w)",
)
_RIGHT = r"(?:quite )?(?:the |an? )?(?:right|correct|answer|solution|result|true|possible|valid|enough|it\b)"
_DENIED = _any(
    r"(?:is|are|was|seems|looks|would be|must be|has to be) (?:\w{2,12}ly |just |far )?"
    rf"(?:wrong|incorrect|false|impossible|excluded|ruled out|unlikely|too \w|an? (?:lower|upper) (?:bound|limit)"
    rf"|not {_RIGHT})",
    rf"(?:is|are|was)n['’]?t {_RIGHT}|can(?:no|['’]| no)t be\b|(?:does|do)(?:n['’]t| not) (?:work|fit|count)\b",
    r"ist (?:falsch|nicht (?:richtig|korrekt|die antwort))|stimmt nicht|n['’]est pas (?:correct|juste|la r[ée]ponse)",
    r"(?:est|es|é|è) (?:faux|incorrecte?|falso|incorrecto|err[óo]neo|errado|incorreto|sbagliato|errato)(?!\w)",
    r"no es (?:correcto|la respuesta)|(?:это )?(?:неверно|неправильно)",
)
_LAST_WORD = _any(
    _EXTREME,
    r"(?:at|as) (?:an? |the )?(?:absolute )?(?:max|min)(?:imum)?",
    r"max(?:imum|\.)?|minimum|tops|plus|mindestens|wenigstens|h(?:ö|oe)chstens|maximal|minimal",
    r"au (?:moins|plus|maximum|minimum)|al menos|por lo menos|como (?:m[áa]ximo|m[íi]nimo)|a lo sumo",
    r"pelo menos|no (?:m[áa]ximo|m[íi]nimo)|almeno|al (?:massimo|minimo)|минимум|максимум",
)
_EASTERN = (
    r"\s?(?:[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7a3]{1,3}\s?)??"
    r"(?:以上|以下|以内|以內|未満|未满|ではな|じゃな|不对|不對|是错|이상|이하|미만|초과|[이가] 아[니닙])"
)
_AFTER = re.compile(
    rf"{_GAP}(?:{_THING}[\s,;(]{{1,3}}){{0,3}}?(?:{_MORE_OR_LESS}|{_LAST_WORD}{_END})"
    rf"|{_GAP}(?:wrong|incorrect|false|falsch|faux){_END}"
    # not "5, everything else is wrong"
    rf"|(?:{_MARKS}\s?(?:{_THING}\s){{0,2}}?|{_GAP}(?:which|that|this|it)\s){_DENIED}"
    rf"|{_EASTERN}|{_MARKS}\s?(?:[≤≥≦≧⩽⩾≠]|[<>]\s?(?:[^\W\d_](?!\w)|\Z))|\s?[,;]\s?\+?{_INFINITY}",
    re.IGNORECASE,
)


def bounded_before(text: str) -> bool:
    """Return whether a text ends with words or a sign after which a number is no statement, as "at least" or "≥"."""
    return _BEFORE.search(unicodedata.normalize("NFC", text[-REACH:])) is not None


def bounded_after(text: str) -> bool:
    """Return whether a text begins with words that take back the number before it, as "or more" or "is wrong"."""
    return _AFTER.match(unicodedata.normalize("NFC", text[:REACH])) is not None


def bounded(before: str, after: str) -> bool:
    """Return whether a number is bounded, just missed or denied by the words around it, and so not stated.

    Bounds are "at least", "under", "or more" and their like, near misses "nearly" and "not quite", denials "not",
    "anything but" and "is wrong", in ten languages. "About", "or so" and "more or less" are none of these.

    Args:
        before: the text up to the number and its sign.
        after: the text from the number's last digit or percent sign on.
    """
    if bounded_before(before) or bounded_after(after):
        return True
    return not after.strip(" .!)*") and _ORDER.search(before[-REACH:]) is not None
