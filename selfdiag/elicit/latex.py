r"""LaTeX backslashes in JSON strings: which belong to a command and which to a JSON escape."""

from __future__ import annotations

import re

# ``\frac`` begins with a form feed for a JSON reader, ``\times`` with a tab: a backslash before one of these
# words is the model's own, whether JSON would read it otherwise or refuse it. Commands with b, f and u need no list: no
# reply means a backspace or form feed before letters, and \u means four digits. Left out are those whose rest is a word
# that a line or column may well begin with (ni, nsim, nparallel, th, tr, trace).
COMMANDS = frozenset(
    """
    alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa lambda mu nu xi pi varpi rho varrho
    sigma varsigma tau upsilon phi varphi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega
    frac dfrac tfrac cfrac binom dbinom tbinom sqrt boxed fbox text textbf textit textrm texttt textsf mathrm mathbf
    mathit mathbb mathcal mathsf mathfrak mathscr operatorname mbox bf rm it bm boldsymbol
    times cdot cdots div pm mp ast star circ bullet oplus otimes wedge vee neg lnot land lor
    leq le geq ge neq ne approx equiv sim simeq cong propto ll gg subset subseteq supset supseteq in notin cup cap
    setminus emptyset varnothing forall exists nexists therefore because implies iff to rightarrow leftarrow
    Rightarrow Leftarrow leftrightarrow Leftrightarrow longrightarrow mapsto uparrow downarrow nearrow searrow
    infty partial nabla int iint oint sum prod lim limsup liminf max min sup inf log ln lg exp sin cos tan cot sec
    csc arcsin arccos arctan sinh cosh tanh coth det dim ker gcd deg arg hom mod bmod pmod
    left right big Big bigg Bigg bigl bigr Bigl Bigr langle rangle lfloor rfloor lceil rceil lvert rvert vert mid
    nmid parallel perp angle triangle square degree prime hbar ell Re Im aleph hat bar vec dot ddot tilde overline
    underline widehat widetilde overrightarrow underbrace overbrace overset underset stackrel not
    quad qquad space hspace vspace hfill newline linebreak nonumber noindent begin end item label ref tag title
    displaystyle textstyle limits nolimits ldots dots vdots ddots color textcolor phantom
    frown flat natural sharp beth bigcup bigcap bigoplus bigotimes bowtie bot top nsubseteq nleq ngeq nless ngtr
    rtimes rightharpoonup rightleftharpoons rmod rbrace rbrack rgroup backslash backsim barwedge between
    textdegree textmu texteuro unit si SI ce
    restriction raise raisebox raisetag raggedright raggedleft rad radian rank rbag real reflectbox relax relbar
    renewcommand resizebox rhd rightarrowtail rightharpoondown rightleftarrows rightrightarrows rightsquigarrow
    rightthreetimes risingdotseq ring rlap rmdefault rmfamily rmoustache roman root rot rotatebox rowcolor rparen
    rrbracket rule rVert
    tabcolsep tableofcontents tabularnewline tensor tesla texorpdfstring textasciicircum textasciitilde
    textasteriskcentered textbackslash textbar textbraceleft textbraceright textbrokenbar textbullet textcelsius
    textcent textcircled textcopyright textcurrency textdagger textdaggerdbl textdiv textdollar textellipsis
    textemdash textendash textestimated textexclamdown textgreater textheight textleftarrow textless textmd textminus
    textnormal textnumero textohm textonehalf textonequarter textonesuperior textordfeminine textordmasculine
    textparagraph textperiodcentered textpertenthousand textperthousand textpm textquestiondown textquotedbl
    textquotedblleft textquotedblright textquoteleft textquoteright textquotesingle textregistered textrightarrow
    textsc textsection textservicemark textsl textsterling textsubscript textsuperscript textsurd textthreequarters
    textthreesuperior texttimes texttrademark texttwosuperior textunderscore textup textvisiblespace textwidth textyen
    thanks thepage thickapprox thicksim thickspace thinspace thispagestyle tiny today tonne toprule transpose
    triangledown triangleleft trianglelefteq triangleq triangleright trianglerighteq ttfamily twocolumn
    twoheadleftarrow twoheadrightarrow typeout
    nameref ncong negmedspace negthickspace negthinspace newcommand newenvironment newpage newtheorem ngeqq ngeqslant
    nleftarrow nLeftarrow nleftrightarrow nLeftrightarrow nleqq nleqslant nobreak nobreakspace nocite
    nolinebreak nopagebreak normalfont normalsize notag nprec npreceq nrightarrow nRightarrow nshortmid
    nshortparallel nsubseteqq nsucc nsucceq nsupseteq nsupseteqq ntriangleleft ntrianglelefteq ntriangleright
    ntrianglerighteq numberwithin nvdash nvDash nVdash nVDash nwarrow
    """.split()
)

_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|[A-Za-z]+|.|\Z)", re.DOTALL)
_HEX = re.compile("[0-9a-fA-F]{4}")
_ESCAPE_OR_QUOTE = re.compile(_ESCAPE.pattern + '|"', re.DOTALL)


def keep_commands(body: str, *, inner_quotes: bool = True) -> tuple[str, bool, bool]:
    r"""Return the body of a JSON string with the backslashes of LaTeX doubled, so that decoding keeps them.

    A backslash before the longest run of letters that names a command is LaTeX; so is one before a character
    that JSON knows no escape for, and a form feed or backspace in front of letters. An escape that JSON knows
    is left alone otherwise.

    Args:
        body: what stands between the quotes, or a whole object with ``inner_quotes=False``.
        inner_quotes: escape double quotes that stand unescaped in the body.

    Returns:
        The body, whether a backslash was kept, and whether an inner quote was escaped.
    """
    kept = False
    quoted = False

    def replace(match: re.Match[str]) -> str:
        nonlocal kept, quoted
        run = match[1]
        if run is None:
            quoted = True
            return '\\"'
        if run == "'":
            return "'"
        known = run[:1] in ('"', "\\", "/", "n", "r", "t") or run in ("b", "f")
        unicode = len(run) == 5 and _HEX.fullmatch(run[1:]) is not None and run[0] == "u"
        if run in COMMANDS or not (known or unicode):
            kept = True
            return "\\\\" + run
        return match[0]

    pattern = _ESCAPE_OR_QUOTE if inner_quotes else _ESCAPE
    return pattern.sub(replace, body), kept, quoted
