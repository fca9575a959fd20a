"""Words of ten languages by which a reply abstains or declines.

Patterns are matched against texts that were folded first (lower case, no accents on Latin, Greek and Cyrillic
letters, straight apostrophes), and most of them against the whole text only.
"""

from __future__ import annotations

import re
from functools import cache

LEXICON_VERSION = "3"
"""Changes whenever a change of the lists can change an outcome."""

LANGUAGES = ("en", "de", "fr", "es", "pt", "it", "ru", "zh", "ja", "ko")
"""The languages of every list here."""

_QUESTION = r"(?:(?:this|that|the|your)(?: question| one| problem)?|it)"
_TAIL = (
    r"(?: (?:the (?:correct |right )?answer|the answer to (?:this|that|the) question|that|this|it"
    r"|for (?:sure|certain)"
    r"|at this time|at all|exactly|precisely|with certainty|for certain|definitively"
    r"|(?:from|with|based on|given|by|without|due to|because of) (?:only |just )?"
    r"(?:the |any |more |further |additional |this |enough )?"
    r"(?:given |provided |available |current |stated |more |further |additional |sufficient |insufficient "
    r"|missing )?"
    r"(?:information|data|context|details|facts|question|statement|description|text|premises?)"
    r"(?: (?:given|provided|available|alone|supplied))?)){0,3}"
)

_CLAUSE = r"(?: (?!(?:but|however|though|although|probably|likely|perhaps)\b)\S{1,40}){1,24}"
"""What somebody says they do not know; a guess after it makes it an answer."""

ABSTENTIONS: dict[str, tuple[str, ...]] = {
    "en": (
        r"(?:i(?:'m| am) (?:sorry|afraid),? (?:but )?)?i (?:really |honestly |just )?(?:do not|don't|dont"
        r"|can't|cannot) (?:know|tell|say)" + _TAIL,
        r"(?:sorry,? (?:but )?)?i (?:do not|don't) (?:have|possess) (?:an answer|(?:enough|sufficient|the"
        r"|any|that) "
        r"(?:information|data|context|knowledge|details))(?: to (?:answer|determine|say|know))?" + _TAIL,
        r"(?:sorry,? (?:but )?)?i (?:do not|don't) have (?:enough|sufficient) (?:information|data|context|knowledge"
        r"|details) to (?:answer|determine|say|know|provide|give|confirm|judge|decide|tell|verify)" + _CLAUSE,
        r"i(?:'m| am) (?:not sure|unsure|uncertain|not certain) (?:if|whether)"
        r"(?! (?:this|that|it|i)\b.{0,24}\b(?:right|correct|wrong|sure)\b)" + _CLAUSE,
        r"(?:unknown|uncertain|unclear|undetermined|indeterminate|unanswerable)"
        r" \((?![^()]*\b(?:but|however|probably|likely|perhaps)\b)[^()]{1,160}\)?",
        r"i have no (?:idea|clue|answer|way of knowing|information)" + _TAIL,
        r"(?:i (?:can't|cannot|can not|could not|couldn't|am unable to|am not able to)"
        r"|i'm (?:unable|not able) to|unable to|impossible to|not possible to|cannot|can't) "
        r"(?:be )?(?:determine|determined|answer|answered|find|say|tell|know|known|establish|established"
        r"|compute|calculate"
        r"|calculated|verify|verified|ascertain|infer|decide)" + _TAIL,
        r"(?:(?:i(?:'m| am) )?(?:sorry|afraid),? (?:but )?)?(?:as an? (?:[a-z]+ ){0,4}(?:ai|model"
        r"|assistant),? )?"
        r"i (?:can't|cannot|can not|could not|couldn't|am unable to|am not able to) "
        r"(?:determine|answer|tell|say|know|predict|foresee|verify|find|identify|establish|ascertain)"
        r"(?: (?!but\b|however\b)[a-z0-9',-]+){0,20}",
        r"(?:" + _QUESTION + r"|the (?:correct |right )?answer) (?:cannot|can't|can not|could not) be "
        r"(?:answered|determined|known|established|found|calculated|inferred|given)" + _TAIL,
        r"(?:" + _QUESTION + r"|the (?:correct |right )?answer)(?: is|'s) (?:currently |simply |not )?"
        r"(?:unanswerable|unknown|undetermined|indeterminate|unknowable|undeterminable|answerable|known"
        r"|determinable"
        r"|impossible to (?:know|say|tell|determine|answer)|not possible to (?:know|say|tell|determine"
        r"|answer))" + _TAIL,
        r"(?:it(?:'s| is) )?(?:impossible|not possible) to (?:know|say|tell|determine|answer)" + _TAIL,
        r"(?:there is )?(?:no|not) (?:(?:correct|valid|known|definite|definitive|possible|real"
        r"|right) )?answer"
        r"(?: (?:exists|possible|available))?(?: to (?:this|that|the) question)?" + _TAIL,
        r"(?:this|that|the|your) question has no (?:(?:correct|valid|known|definite|definitive) )?answer",
        r"(?:no one|nobody|we) (?:really |currently )?(?:knows?|do not know|don't know|can know|cannot know|can't know)"
        + _TAIL,
        r"(?:(?:there is )?(?:not enough|insufficient|no) (?:information|data|context|details)"
        r"|(?:the )?information (?:is )?(?:missing|insufficient|unavailable|not available))(?: (?:is )?(?:given"
        r"|provided|available))?"
        r"(?: to (?:answer|determine|say|know))?" + _TAIL,
        r"(?:unanswerable|unknown|unknowable|indeterminate|undetermined|undeterminable|uncertain|unsure"
        r"|not sure|no idea|idk"
        r"|dunno|n/a|n\.a\.|not applicable|not known|not answerable|not determinable|not available"
        r"|not given|not specified"
        r"|i(?:'m| am) (?:not sure|unsure|uncertain|not certain)|cannot say|can't say|can't tell"
        r"|cannot tell|no clue)" + _TAIL,
    ),
    "de": (
        r"(?:(?:es )?tut mir leid,? (?:aber )?)?(?:das |ich )?(?:weiss|kenne) (?:ich )?(?:das "
        r"|die antwort |es )?(?:leider )?nicht(?: genau)?",
        r"(?:ich habe )?keine ahnung|ich bin (?:mir )?(?:nicht|un)\s?sicher|weiss nicht",
        r"(?:das|dies|die antwort|die frage|diese frage|es)? ?(?:kann|lasst sich|ist) (?:so "
        r"|leider )?(?:nicht|un)\s?"
        r"(?:bestimmt|bestimmen|beantwortet|beantworten|beantwortbar|bestimmbar|feststellen|festgestellt"
        r"|bekannt|sagen)"
        r"(?: werden)?",
        r"ich kann (?:das|dies|die frage|diese frage|die antwort) (?:leider )?nicht (?:sagen|beantworten"
        r"|bestimmen|wissen)",
        r"(?:das kann (?:ich|man)|(?:man|ich) kann (?:das|es)) (?:leider |so )?nicht "
        r"(?:sagen|beantworten|bestimmen|wissen|feststellen)|das weiss (?:niemand|keiner|man nicht)",
        r"(?:es gibt |da gibt es )?(?:darauf )?keine (?:richtige |korrekte |bekannte )?antwort(?: moglich)?",
        r"(?:(?:es|das) ist )?(?:unmoglich|nicht moglich)(?:,)? (?:das |dies )?(?:zu )?(?:bestimmen|sagen"
        r"|wissen|beantworten|ermitteln)",
        r"nicht (?:beantwortbar|bestimmbar|bekannt|feststellbar|zu beantworten)|unbekannt|unbestimmt"
        r"|unbeantwortbar"
        r"|nicht (?:genug|genugend) informationen|zu wenig(?:e)? informationen|unzureichende (?:informationen|angaben)"
        r"|keine angabe|k\.\s?a\.",
    ),
    "fr": (
        r"(?:desole,? (?:mais )?)?(?:je ne|j'|je n') ?(?:le )?(?:sais|connais) pas(?: la reponse)?"
        r"|je l'ignore|j'ignore(?: la reponse)?|on ne (?:le )?sait pas|on n'en sait rien|on l'ignore"
        r"|(?:personne|nul) ne (?:le )?sait",
        r"(?:aucune idee|je n'(?:en )?ai aucune idee|je n'en sais rien|je ne suis pas (?:sure?|certaine?))",
        r"(?:(?:cela|ca|on|il|la question|cette question|la reponse|c'est)? ?(?:ne |n')?(?:peut|peux"
        r"|est)? ?)?"
        r"(?:pas |impossible |non )(?:etre |a |de )?(?:(?:le |la )?(?:determiner?|repondre|savoir|dire"
        r"|connaitre)|determinee?|repondue?|determinable|connue?)",
        r"(?:il n'y a )?(?:pas de|aucune) (?:bonne |vraie )?reponse(?: correcte)?",
        r"(?:sans reponse|inconnue?|indetermine?e?|indeterminable|informations? insuffisantes?"
        r"|pas assez d'informations?)",
    ),
    "es": (
        r"(?:lo siento,? (?:pero )?)?(?:yo )?no (?:lo )?(?:se|conozco)(?: la respuesta)?|lo desconozco"
        r"|desconozco la respuesta",
        r"(?:no tengo (?:ni )?idea|ni idea|no estoy segur[oa])|se desconoce|no lo sabemos|nadie lo sabe"
        r"|no tengo (?:suficiente )?informacion(?: suficiente)?",
        r"(?:la (?:pregunta|respuesta) |esto |eso )?no (?:se |es )?(?:puede|puedo|posible)? ?(?:ser )?"
        r"(?:determinar(?:se|lo)?|determinad[oa]|responder(?:se|la)?|respondid[oa]|saber(?:se|lo)?|sabe"
        r"|contestar(?:se)?)",
        r"(?:es )?imposible (?:de )?(?:determinar(?:lo)?|saber(?:lo)?|responder(?:la)?)",
        r"no (?:hay|existe|tiene)(?: una| ninguna)? respuesta(?: correcta)?",
        r"(?:sin respuesta|desconocid[oa]|indeterminad[oa]|indeterminable|informacion insuficiente"
        r"|no hay suficiente informacion)",
    ),
    "pt": (
        r"(?:desculpe,? (?:mas )?)?(?:eu )?nao (?:o )?(?:sei|conheco)(?: a resposta| dizer| responder)?"
        r"|desconheco(?: a resposta)?",
        r"(?:nao (?:faco|tenho) (?:a minima |nenhuma )?ideia|nao tenho certeza|sem ideia)|nao se sabe|ninguem sabe",
        r"(?:a (?:pergunta|resposta) |isso |isto )?nao (?:e possivel|se pode|pode|posso|da para) ?(?:ser )?"
        r"(?:determinar|determinad[oa]|responder|respondid[oa]|saber|dizer)",
        r"(?:e )?impossivel (?:de )?(?:determinar|saber|responder|dizer)",
        r"nao (?:ha|existe|tem)(?: uma| nenhuma)? resposta(?: correta)?",
        r"(?:sem resposta|desconhecid[oa]|indeterminad[oa]|indeterminavel|informac(?:ao|oes) insuficientes?)",
    ),
    "it": (
        r"(?:mi dispiace,? (?:ma )?)?(?:io )?non (?:lo )?(?:so|conosco)(?: la risposta)?",
        r"(?:non (?:ne )?ho (?:la minima |nessuna |alcuna )?idea|nessuna idea|non sono sicur[oa])|non si sa"
        r"|nessuno (?:lo )?sa",
        r"(?:la (?:domanda|risposta) |cio )?non (?:e possibile|si puo|puo|posso|e) ?(?:essere )?"
        r"(?:determinare|determinat[oa]|rispondere|sapere|saperlo|dire|stabilire|determinabile)",
        r"(?:e )?impossibile (?:da )?(?:determinare|sapere|saperlo|rispondere|dire|stabilire)",
        r"non (?:c'e|esiste|ha)(?: una| nessuna| alcuna)? risposta(?: corretta)?",
        r"(?:senza risposta|sconosciut[oa]|indeterminat[oa]|indeterminabile|informazioni insufficienti)",
    ),
    "ru": (
        r"(?:извините,? (?:но )?)?(?:я )?(?:этого )?не знаю(?: ответа?| этого)?|без понятия"
        r"|понятия не имею|(?:я )?не уверена?",
        r"(?:это |ответ )?(?:невозможно|нельзя) (?:точно )?(?:определить|ответить|узнать|сказать|установить)",
        r"(?:на этот вопрос )?нет (?:правильного |верного )?ответа|ответа нет|не имеет ответа|без ответа",
        r"(?:ответ )?(?:неизвестно|неизвестен|не определено|неопределенно|не определяется)"
        r"|недостаточно (?:информации|данных)|нет данных|(?:этого )?никто не знает"
        r"|(?:я )?не могу (?:точно )?(?:сказать|ответить|определить)",
    ),
    "zh": (
        r"(?:抱歉[,， ]?|对不起[,， ]?)?我?(?:真的)?(?:不知道|不清楚|不确定|不晓得|不知)(?:答案)?",
        r"(?:这个问题|该问题|答案|此题)?(?:无法|不能|不可能|没法|無法)(?:被)?(?:确定|回答|得知|知道"
        r"|判断|確定|解答|作答|获知)(?:答案)?",
        r"(?:这个问题|该问题|此题)?(?:没有|无|無)(?:正确|正確)?(?:的)?(?:答案|解)|答案不存在"
        r"|(?:信息|条件|資訊)不足(?:,?(?:无法|不能|無法)(?:确定|回答|判断|確定))?|未知|不详|无从得知|(?:没|没有|无)人知道",
    ),
    "ja": (
        r"(?:すみません[、,]?|申し訳ありませんが[、,]?)?(?:私は|私には)?(?:答えは|答えが)?(?:わかりません|分かりません|わからない|分からない"
        r"|知りません|知らない"
        r"|存じません)",
        r"(?:この質問には|答えは|これは)?(?:判断|特定|回答|決定|確定)(?:が)?(?:できません|できない|不能"
        r"|不可能)(?:です)?",
        r"(?:この質問には)?(?:正しい|正解となる)?(?:答え|回答|解答|正解)(?:は|が)(?:ありません|ない|存在しません)"
        r"|不明(?:です)?|情報(?:が)?不足(?:です|しています)?"
        r"|情報が足りません|(?:誰|だれ)も(?:知りません|知らない|わかりません)|解答不能",
        r"(?:この質問には|それには)?答えられ(?:ません|ない)",
    ),
    "ko": (
        r"(?:죄송합니다[.,]? ?(?:하지만 )?)?(?:저는 |답을 )?(?:잘 )?(?:모르겠습니다|모르겠어요|모르겠다"
        r"|모릅니다|몰라요|모름)",
        r"(?:이 질문은 |답을 |답은 )?(?:알|결정할|판단할|답할|대답할|확인할|특정할) 수 (?:없습니다|없어요|없음|없다)",
        r"(?:정확한 |올바른 |정)?(?:답이|정답이|답은|답) ?(?:없습니다|없음|없다)|알 수 없음|불명"
        r"|정보(?:가)? ?부족(?:합니다)?|미상|확실하지 (?:않습니다|않아요|않음|않다)|아무도 (?:모릅니다|몰라요|모른다)",
    ),
}
"""Whole answers that say "I don't know" or "cannot be determined"."""

REFUSALS: dict[str, tuple[str, ...]] = {
    "en": (
        r"(?:(?:i(?:'m| am) (?:very |so |really )?(?:sorry|afraid)|sorry|i apologi[sz]e|unfortunately"
        r"|my apologies)[,.!]? ?(?:but )?(?:that )?)?"
        r"(?:as an? (?:[a-z]+ ){0,4}(?:ai|model|assistant|chatbot)(?: [a-z]+){0,4},? ?)?"
        r"i (?:can't|cannot|can not|won't|will not|am unable to|am not able to|must decline to"
        r"|have to decline to|do not feel comfortable"
        r"|don't feel comfortable|refuse to|decline to|shouldn't|should not|am not (?:allowed"
        r"|permitted) to) ?"
        r"(?:help|assist|comply|provide|discuss|engage|fulfil|fulfill|support|participate|share|do that"
        r"|do this|offer|give|create"
        r"|write|generate|produce|continue|answering|helping|assisting|providing|respond to that)\b",
        r"(?:(?:i(?:'m| am) )?(?:sorry|afraid)[,.]? ?(?:but )?)?(?:i'm (?:unable|not able|not allowed"
        r"|not permitted) to) "
        r"(?:help|assist|comply|provide|discuss|engage|fulfil|fulfill|support|share)\b",
        r"(?:as an? (?:[a-z]+ ){0,4}(?:ai|model|assistant|chatbot)(?: [a-z]+){0,4},? ?)"
        r"i (?:(?:do not|don't) (?:have|possess|hold)|have no|lack) (?:any |personal "
        r"|the ){0,3}(?:feelings|emotions|opinions|beliefs|preferences|experiences|consciousness)\b",
        r"(?:i(?:'m| am) sorry[,.]? ?(?:but )?)?(?:this|that|your) (?:request|question|content|topic) "
        r"(?:violates|is against|goes against|is not something i can)\b",
        r"i (?:must |have to |would (?:rather|prefer to) )?(?:respectfully )?(?:decline|refuse)\b",
    ),
    "de": (
        r"(?:(?:es )?tut mir leid|entschuldigung|leider)[,.]? ?(?:aber )?(?:ich kann|kann ich|da kann ich"
        r"|dabei kann ich)(?: dir| ihnen)?"
        r"(?: dabei| damit| hierbei)? (?:leider )?nicht (?:weiter)?(?:helfen|behilflich)\b",
        r"(?:dabei|damit|hierbei|ich) (?:kann|darf|mochte|werde)(?: ich)?(?: dir| ihnen)?(?: dabei| damit"
        r"| hierbei)? "
        r"(?:leider )?nicht (?:(?:weiter)?helfen|behilflich sein|unterstutzen)\b",
    ),
    "fr": (
        r"(?:(?:je suis )?desolee?[,.]? ?(?:mais )?)?je ne (?:peux|puis|suis pas en mesure de"
        r"|veux) ?(?:pas )?"
        r"(?:vous |t'|te |y )?(?:aider|assister|repondre a cette demande|fournir)\b",
    ),
    "es": (
        r"(?:lo siento[,.]? ?(?:pero )?)?no (?:puedo|podre|debo) (?:ayudar(?:te|le)?|asistir(?:te|le)?"
        r"|proporcionar|cumplir)(?!\w)",
    ),
    "pt": (
        r"(?:(?:desculpe|sinto muito|lamento)[,.]? ?(?:mas )?)?(?:eu )?nao (?:posso|consigo) (?:te |lhe "
        r"|o )?(?:ajudar|ajuda-lo|auxiliar|fornecer|ajudar com)(?!\w)",
    ),
    "it": (
        r"(?:mi (?:di)?spiace[,.]? ?(?:ma )?)?non (?:posso|sono in grado di) (?:aiutar(?:ti|la|e)"
        r"|assister(?:ti|la|e)|fornire)(?!\w)",
    ),
    "ru": (
        r"(?:(?:извините|простите|к сожалению)[,.]? ?(?:но )?)?я не (?:могу|буду|в состоянии) (?:вам "
        r"|тебе |с этим )*(?:помочь|помогать|предоставить|обсуждать)(?!\w)",
    ),
    "zh": (
        r"(?:抱歉|对不起|很抱歉|對不起|不好意思)?[,，。 ]*我?(?:无法|不能|無法)(?:为您|为你"
        r"|在这方面)?(?:提供|协助|帮助|帮|協助|幫助|满足)",
    ),
    "ja": (
        r"(?:申し訳(?:ありません|ございません)(?:が)?|すみません(?:が)?|ごめんなさい)?"
        r"[、,。 ]*(?:その(?:ご)?(?:要望|依頼|リクエスト|質問)には|それには"
        r"|それについては)?"
        r"(?:お手伝い|お答え|協力|対応|お応え)(?:することは|は|が)?(?:できません|できかねます|いたしかねます)",
    ),
    "ko": (
        r"(?:죄송합니다|죄송하지만|미안하지만)?[.,]? ?(?:하지만 )?(?:저는 )?(?:그 요청은 |그것은 "
        r"|이 요청은 )?(?:도와드릴|도울|제공할|도움을 드릴) 수 없습니다",
    ),
}
"""Openings of answers that decline to help."""


def _any_of(patterns: dict[str, tuple[str, ...]], end: str) -> re.Pattern[str]:
    alternatives = "|".join(f"(?:{pattern})" for language in LANGUAGES for pattern in patterns[language])
    return re.compile(f"(?:{alternatives}){end}")


@cache
def abstention_pattern() -> re.Pattern[str]:
    """Return a pattern for a whole folded text that abstains, compiled at the first use."""
    return _any_of(ABSTENTIONS, r"\Z")


@cache
def refusal_pattern() -> re.Pattern[str]:
    """Return a pattern for the beginning of a folded text that declines, compiled at the first use."""
    return _any_of(REFUSALS, "")
