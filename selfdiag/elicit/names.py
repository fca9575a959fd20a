"""Names of numbers, months, days, eras and countries in several languages."""

from __future__ import annotations

from fractions import Fraction

NUMBER_LANGUAGES = ("en", "de", "fr", "es", "pt", "it")
"""Languages whose number words are read."""

SCALE_WORDS: dict[str, int] = {
    "hundred": 10**2,
    "thousand": 10**3,
    "million": 10**6,
    "millions": 10**6,
    "billion": 10**9,
    "billions": 10**9,
    "trillion": 10**12,
    "trillions": 10**12,
    "tausend": 10**3,
    "millionen": 10**6,
    "milliarde": 10**9,
    "milliarden": 10**9,
    "mille": 10**3,
    "mil": 10**3,
    "milliard": 10**9,
    "milliards": 10**9,
    "millones": 10**6,
    "milhões": 10**6,
    "milioni": 10**6,
    "миллион": 10**6,
    "миллиона": 10**6,
    "миллионов": 10**6,
    "万": 10**4,
    "亿": 10**8,
    "億": 10**8,
    "만": 10**4,
    "억": 10**8,
}
"""Words that multiply the number before them; "billion" as in English."""

PERCENT_WORDS = (
    "percent",
    "per cent",
    "pct",
    "prozent",
    "pour cent",
    "por ciento",
    "por cento",
    "per cento",
    "процентов",
    "процента",
)
"""What a percent sign is called."""

_NUMERATORS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven")
_DENOMINATORS = {
    **dict.fromkeys(("half", "halves"), 2),
    **dict.fromkeys(("third", "thirds"), 3),
    **dict.fromkeys(("quarter", "quarters", "fourth", "fourths"), 4),
    **{
        f"{name}{plural}": value
        for value, name in enumerate("fifth sixth seventh eighth ninth tenth eleventh twelfth".split(), 5)
        for plural in ("", "s")
    },
    **dict.fromkeys(("hundredth", "hundredths"), 100),
    **dict.fromkeys(("thousandth", "thousandths"), 1_000),
}

SMALL_FRACTIONS: dict[str, Fraction] = {
    **{
        f"{above} {below}": Fraction(value, _DENOMINATORS[below])
        for value, above in enumerate(_NUMERATORS, 1)
        for below in _DENOMINATORS
    },
    **{f"{article} {below}": Fraction(1, value) for article in ("a", "an") for below, value in _DENOMINATORS.items()},
    **dict.fromkeys(("half", "zero point five", "die hälfte", "un demi", "la mitad"), Fraction(1, 2)),
    **dict.fromkeys(("third", "ein drittel", "un tiers", "un tercio"), Fraction(1, 3)),
    **dict.fromkeys(("zwei drittel", "deux tiers", "dos tercios"), Fraction(2, 3)),
    **dict.fromkeys(("quarter", "ein viertel", "un quart"), Fraction(1, 4)),
    **dict.fromkeys(("drei viertel", "trois quarts"), Fraction(3, 4)),
    **dict.fromkeys(("zéro", "cero", "nil", "nought"), Fraction(0)),
    **dict.fromkeys(("dozen", "a dozen", "one dozen"), Fraction(12)),
    **dict.fromkeys(("thousand", "a thousand"), Fraction(1_000)),
    **dict.fromkeys(("hundred", "a hundred"), Fraction(100)),
    **dict.fromkeys(("million", "a million"), Fraction(1_000_000)),
}
"""Numbers in words, without hyphens, that the library of number words does not read."""

_COUNTRIES = """
germany: deutschland allemagne alemania alemanha germania германия 德国 ドイツ 독일
france: frankreich francia franca франция 法国 フランス 프랑스
spain: spanien espagne espana espanha spagna испания 西班牙 スペイン 스페인
italy: italien italie italia италия 意大利 イタリア 이탈리아
united kingdom: grossbritannien royaume-uni reino unido regno unito великобритания 英国 イギリス 영국
greece: griechenland grece grecia греция 希腊 ギリシャ 그리스
austria: osterreich autriche австрия 奥地利 オーストリア 오스트리아
switzerland: schweiz suisse suiza suica svizzera швейцария 瑞士 スイス 스위스
hungary: ungarn hongrie hungria ungheria венгрия 匈牙利 ハンガリー 헝가리
poland: polen pologne polonia польша 波兰 ポーランド 폴란드
russia: russland russie rusia россия 俄罗斯 ロシア 러시아
china: chine cina китай 中国 중국
japan: japon japao giappone япония 日本 일본
brazil: brasilien bresil brasil brasile бразилия 巴西 ブラジル 브라질
egypt: agypten egypte egipto egito egitto египет 埃及 エジプト 이집트
turkey: turkei turquie turquia turchia турция 土耳其 トルコ 터키
"""

EXONYMS: dict[str, str] = {
    name.replace("-", " "): english
    for line in _COUNTRIES.strip().splitlines()
    for english, _, names in [line.partition(": ")]
    for name in names.split()
}
"""Folded names of countries in other languages, to the English one; they flag a wrong answer, never make it right."""

MONTHS: tuple[tuple[str, ...], ...] = (
    ("jan", "january", "januar", "janner", "janvier", "enero", "janeiro", "gennaio", "января", "январь"),
    ("feb", "february", "februar", "fevrier", "febrero", "fevereiro", "febbraio", "февраля", "февраль"),
    ("mar", "march", "marz", "mars", "marzo", "marco", "марта", "март"),
    ("apr", "april", "avril", "abril", "aprile", "апреля", "апрель"),
    ("may", "mai", "mayo", "maio", "maggio", "мая", "маи"),
    ("jun", "june", "juni", "juin", "junio", "junho", "giugno", "июня", "июнь"),
    ("jul", "july", "juli", "juillet", "julio", "julho", "luglio", "июля", "июль"),
    ("aug", "august", "aout", "agosto", "августа", "август"),
    ("sep", "sept", "september", "septembre", "septiembre", "setembro", "settembre", "сентября", "сентябрь"),
    ("oct", "october", "oktober", "octobre", "octubre", "outubro", "ottobre", "октября", "октябрь"),
    ("nov", "november", "novembre", "noviembre", "novembro", "ноября", "ноябрь"),
    ("dec", "december", "dezember", "decembre", "diciembre", "dezembro", "dicembre", "декабря", "декабрь"),
)
"""Folded names of the months."""

WEEKDAYS: tuple[tuple[str, ...], ...] = (
    ("mon", "monday", "montag", "lundi", "lunes", "lunedi"),
    ("tue", "tuesday", "dienstag", "mardi", "martes", "martedi"),
    ("wed", "wednesday", "mittwoch", "mercredi", "miercoles", "mercoledi"),
    ("thu", "thursday", "donnerstag", "jeudi", "jueves", "giovedi"),
    ("fri", "friday", "freitag", "vendredi", "viernes", "venerdi"),
    ("sat", "saturday", "samstag", "samedi", "sabado", "sabato"),
    ("sun", "sunday", "sonntag", "dimanche", "domingo", "domenica"),
)
"""Folded names of the days of the week, Monday first."""

BEFORE_CHRIST = (
    *(
        "b.c.e",
        "bce",
        "b.c",
        "bc",
        "before christ",
        "v. chr",
        "v.chr",
        "v chr",
        "av. j.-c",
        "av. j-c",
        "a. c",
        "a.c",
    ),
    *("до н. э", "до н.э", "公元前", "紀元前", "기원전"),
)
"""Folded marks of years before Christ."""
