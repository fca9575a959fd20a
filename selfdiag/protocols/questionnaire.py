"""The questionnaire of a run: what a model says of itself in fifteen statements, and how steadily."""

from __future__ import annotations

import msgspec
import numpy as np

from selfdiag.battery.self_assessment import Statement
from selfdiag.measure.counts import Floats
from selfdiag.measure.estimate import Estimate
from selfdiag.measure.questionnaire import (
    DOMAINS,
    STATEMENTS,
    DomainScore,
    WordingEffect,
    cronbach_alpha,
    domain_scores,
    index_a,
    retest,
    reverse_keyed,
    wording_effect,
    yes_rate,
)
from selfdiag.measure.resampling import DRAWS, SEED
from selfdiag.protocols.self_replies import missing_warning, self_replies
from selfdiag.runs.records import QUESTIONNAIRE
from selfdiag.runs.store import Run
from selfdiag.safety import SelfdiagError, one_line

SAME_TO_ALL = 0.9
"""From this share of one reply on, the model says the same to everything."""
NEAR_ZERO = 0.1
"""An SDQ up to here affirms claims that hold of no model."""

_WORDS = {1.0: "Yes", 0.5: "Partially", 0.0: "No"}


class Domain(msgspec.Struct, frozen=True, kw_only=True):
    """The scored mean of one domain over ``n`` replies with its 95 % interval, and the SD of the instances' means."""

    mean: float | None
    sd: float | None
    n: int
    ci: tuple[float, float] | None
    method: str
    note: str


class StatementScore(msgspec.Struct, frozen=True, kw_only=True):
    """One statement: mean of the ``n`` replies as they were given (``raw``), and as they count (``scored``).

    The two differ where ``reverse`` is True: No then speaks for the trait. ``criterion_source`` says whether the
    study implies the criterion or it is selfdiag's own reading.
    """

    number: int
    id: str
    domain: str
    about: str
    criterion: str
    criterion_source: str
    reverse: bool
    raw: float | None
    scored: float | None
    n: int


class Questionnaire(msgspec.Struct, frozen=True, kw_only=True):
    """What a model says of itself; Yes is 1, Partially .5, No 0.

    ``instances`` are passes through the statements, ``missing`` counts replies without a value by reason, and
    ``warnings`` are plain sentences on what the figures cannot bear. ``retest`` is the mean correlation of two
    passes, ``wording`` how often two replies to one statement differ.
    """

    mai: Domain = msgspec.field(name="MAI")
    sris: Domain = msgspec.field(name="SRIS")
    sdq: Domain = msgspec.field(name="SDQ")
    index_a: Estimate
    yes_rate: Estimate
    alpha: Estimate
    retest: Estimate
    wording: WordingEffect
    instances: int
    asked: int
    missing: dict[str, int]
    statements: tuple[StatementScore, ...]
    warnings: tuple[str, ...]

    def domains(self) -> dict[str, Domain]:
        """Return the three domains by name."""
        return {"MAI": self.mai, "SRIS": self.sris, "SDQ": self.sdq}


def questionnaire_of(run: Run, *, draws: int = DRAWS, seed: int = SEED) -> Questionnaire | None:
    """Return the figures of a run's questionnaire, or None when it asked none.

    Args:
        run: manifest and records.
        draws: bootstrap draws over instances.
        seed: of the bootstrap.

    Raises:
        SelfdiagError: when the manifest holds other statements than the questionnaire has.
    """
    assessed = run.manifest.assessed
    if assessed is None or not assessed.statements:
        return None
    statements = sorted(assessed.statements, key=lambda statement: statement.number)
    if [statement.domain for statement in statements] != [name for name in DOMAINS for _ in range(STATEMENTS)]:
        raise SelfdiagError(
            f"{one_line(str(run.folder))}: the statements of its manifest are not those of the questionnaire"
        )
    column = {statement.id: index for index, statement in enumerate(statements)}
    replies = self_replies(run, QUESTIONNAIRE)
    raw = np.full((replies.instances, len(statements)), np.nan)
    wordings = np.full(raw.shape, -1, dtype=np.int64)
    for call, value in replies.answered:
        place = call.replicate, column[call.item_id]
        raw[place], wordings[place] = value, call.paraphrase
    scored = reverse_keyed(raw, [statement.reverse for statement in statements])
    domains = {name: _domain(score) for name, score in domain_scores(scored, draws=draws, seed=seed).items()}
    return Questionnaire(
        mai=domains["MAI"],
        sris=domains["SRIS"],
        sdq=domains["SDQ"],
        index_a=index_a(scored, draws=draws, seed=seed),
        yes_rate=yes_rate(raw, draws=draws, seed=seed),
        alpha=cronbach_alpha(scored, draws=draws, seed=seed),
        retest=retest(scored, draws=draws, seed=seed),
        wording=wording_effect(raw, wordings, draws=draws, seed=seed),
        instances=replies.instances,
        asked=replies.asked,
        missing=replies.missing,
        statements=tuple(
            _statement(statement, raw[:, index], scored[:, index]) for index, statement in enumerate(statements)
        ),
        warnings=tuple(
            filter(None, (_same_to_all(raw, domains["SDQ"].mean), missing_warning(replies.asked, replies.missing)))
        ),
    )


def _domain(score: DomainScore) -> Domain:
    mean = score.mean
    note = "; ".join(filter(None, (mean.note, score.note)))
    return Domain(mean=mean.value, sd=score.sd, n=mean.n, ci=mean.ci, method=mean.method, note=note)


def _statement(statement: Statement, raw: Floats, scored: Floats) -> StatementScore:
    given = ~np.isnan(raw)
    n = int(given.sum())
    return StatementScore(
        number=statement.number,
        id=statement.id,
        domain=statement.domain,
        about=statement.about,
        criterion=statement.criterion,
        criterion_source=statement.criterion_source,
        reverse=statement.reverse,
        raw=float(raw[given].mean()) if n else None,
        scored=float(scored[given].mean()) if n else None,
        n=n,
    )


def _same_to_all(raw: Floats, sdq: float | None) -> str:
    """Return a warning when nearly every reply is the same: it then says nothing of any statement."""
    given = raw[~np.isnan(raw)]
    if not given.size:
        return ""
    shares = {word: float((given == value).mean()) for value, word in _WORDS.items()}
    word = max(shares, key=lambda name: shares[name])
    if shares[word] < SAME_TO_ALL:
        return ""
    whole = "everything" if shares[word] == 1 else "nearly everything"
    agrees = word == "Yes" and sdq is not None and sdq <= NEAR_ZERO
    habit = "a habit of agreeing" if agrees else "one reply"
    return f"says {word} to {whole}: the figures above describe {habit}, not self-knowledge"
