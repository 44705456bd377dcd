"""Proposed formulas, judged by what they do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict

from grader.errors import Missing
from grader.formulas import by_hand, extraction, growth, heads, identity, perturbation, weights
from grader.formulas.apart import TookTooLong, apart
from grader.formulas.evaluation import Array
from grader.formulas.expressions import Add, Apply, Expression, Symbol, negative, symbols_in, walk
from grader.formulas.lexer import Unreadable
from grader.formulas.reading import Question, expression, found_for, judged
from grader.formulas.shapes import Misfit, Typed, shown, typed
from grader.formulas.statements import Proposed, Statements, read_statements
from grader.formulas.verdicts import HALF, Verdict, partly, right, undecided, wrong
from grader.formulas.vocabulary import ONE, SCALAR, Declared, Shape, Vocabulary
from grader.formulas.writer import plain
from grader.model import Answer, Outcome, Status, Student
from grader.registry import check
from reference.attention import attention


def _fraction(value: Any) -> Fraction:
    if isinstance(value, Fraction):
        return value
    try:
        return Fraction(str(getattr(value, "text", value)))
    except (ValueError, ZeroDivisionError):
        raise ValueError("should be a number such as 1/2") from None


Share = Annotated[Fraction, BeforeValidator(_fraction)]


_DOTS = " \t\n.…–—-?!_*"  # what stands where an answer was left out


def _outcome(judge: Callable[..., Verdict], student: Student, partial: Fraction, *args: Any) -> Outcome:
    """Read and judged where it can be killed; what cannot be read or decided goes to a person."""
    answer = student.answer
    if not any(piece.text.strip(_DOTS) for piece in answer.pieces):
        raise Missing(f"{answer.file}:{answer.line}: the answer to {answer.part} is empty")
    try:
        verdict: Verdict = apart(judge, answer, *args)
    except TookTooLong:
        verdict = undecided("judging this formula took longer than 2 s of computing, so a person decides")
    score = partial if verdict.score == HALF else verdict.score
    if score is None:
        return Outcome(Status.REVIEW, Fraction(0), verdict.message, verdict.detail, revealing=verdict.evidence)
    status = Status.PASSED if score == 1 else Status.PARTIAL if score else Status.FAILED
    return Outcome(status, score, verdict.message, verdict.detail, revealing=verdict.evidence)


def _seed(rng: np.random.Generator) -> int:
    return int(rng.integers(2**62))


# ---- extracts ----


@check
def extracts_one_vector_of_a_sum(
    student: Student, rng: np.random.Generator, *, name: str = "M", partial: Share = HALF
) -> Outcome:
    """M turns v_a + v_b into v_a, for all v_a in the span of A and v_b in the span of B."""
    return _outcome(_extracts, student, partial, name, _seed(rng))


def _extracts(answer: Answer, name: str, seed: int) -> Verdict:
    question = Question(name, expected=extraction.EXPECTED)
    return judged(
        answer,
        extraction.VOCABULARY,
        question,
        lambda found, statements, proposed: extraction.judge(found, np.random.default_rng(seed)),
    )


# ---- weights ----


@check
def weights_tend_to_their_targets(
    student: Student,
    rng: np.random.Generator,
    *,
    targets: dict[str, Share],
    name: str = "q",
    keys: str = "k",
    random_keys: str = "",
    n: int = 10,
    partial: Share = HALF,
) -> Outcome:
    """The query's attention weights tend to the ones asked for as its scale grows."""
    return _outcome(_weights, student, partial, name, dict(targets), keys, random_keys, n, _seed(rng))


def _weights(
    answer: Answer, name: str, targets: dict[str, Fraction], keys: str, drawn: str, n: int, seed: int
) -> Verdict:
    setting = weights.Setting(keys, drawn, tuple(targets), n)
    vocabulary = setting.vocabulary(name)

    def judge(found: Typed, statements: Statements, proposed: Proposed) -> Verdict:
        query = _query(found, statements, setting, vocabulary)
        verdict = weights.judge(found, query, targets, name, np.random.default_rng(seed))
        if proposed.relation == "∝" and verdict.score == HALF:
            return right(
                "the weights tend to what is asked, if the constant is large", verdict.detail, verdict.evidence
            )
        return verdict

    return judged(answer, vocabulary, Question(name, expected=("d", ONE)), judge)


def _query(found: Typed, statements: Statements, setting: weights.Setting, vocabulary: Vocabulary) -> weights.Query:
    sizes = {symbol: statements.size_of(symbol) for symbol in vocabulary.free(found.expression)}
    return weights.Query(found.expression, sizes, setting)


@check
def heads_copy_one_value_each(
    student: Student,
    rng: np.random.Generator,
    *,
    names: list[str],
    keys: str = "μ",
    random_keys: str = "k",
    variance: Share = HALF,
    n: int = 10,
    partial: Share = HALF,
) -> Outcome:
    """Two different queries, one for each value: their average is right, and stays so when a key's length varies."""
    return _outcome(_heads, student, partial, tuple(names), keys, random_keys, variance, n, _seed(rng))


def _heads(
    answer: Answer, names: tuple[str, ...], keys: str, drawn: str, variance: Fraction, n: int, seed: int
) -> Verdict:
    setting = weights.Setting(keys, drawn, ("a", "b"), n)
    vocabulary = setting.vocabulary(*names)
    statements = read_statements(answer, vocabulary)
    found: dict[str, tuple[Typed, weights.Query]] = {}
    missing = []
    for name in names:
        proposed = found_for(Question(name, expected=("d", ONE), may_be_bare=False), statements)
        if isinstance(proposed, Verdict):
            missing.append(proposed)
            continue
        try:
            one = typed(statements.expanded(proposed.members[-1]), vocabulary, ("d", ONE))
        except Misfit as misfit:
            return wrong(f"the formula for {name} does not fit together", f"in '{proposed.text}': {misfit.what}")
        except Unreadable as fault:
            return undecided(f"the formula for {name} could not be read", f"{proposed.place}: {fault.cause}")
        found[name] = (one, _query(one, statements, setting, vocabulary))
    if len(missing) == len(names):
        return missing[0]
    if missing:
        unread = [verdict for verdict in missing if verdict.evidence]
        return unread[0] if unread else wrong("only one of the two queries is given", missing[0].message)
    return heads.judge(found, variance, np.random.default_rng(seed))


# ---- equals ----


class Slip(BaseModel):
    """A near miss that can be named: what it equals, why it is not right, and what it is worth."""

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)
    equals: str
    because: str
    score: Share = Fraction(0)


class Reading(BaseModel):
    """One fair way to read the question: the name asked for, its symbols with their shapes, and the key."""

    model_config = ConfigDict(extra="forbid")
    name: str
    symbols: dict[str, str]
    equals: list[str]
    spelled: list[str] = []
    given: dict[str, str] = {}  # equations the answer has to state for this reading to apply
    at: list[str] = []  # indices that are fixed, as j in h_j
    softmax_over: Literal["rows", "columns"] = "rows"
    called: str = ""
    slips: list[Slip] = []


def _shape(text: str) -> Shape:
    sides = text.replace(" ", "").replace("x", "×").split("×")
    return (sides[0], sides[1]) if len(sides) == 2 else (text, ONE)


def vocabulary_of(reading: Reading) -> Vocabulary:
    """`{Q: d×n, k_i: d for i in m, β: scalar, d: size}`; `ℓ/l: scalar` gives ℓ another spelling."""
    declared, dimensions = [], []
    for spelled, meaning in reading.symbols.items():
        name, *aliases = spelled.split("/")
        what, _, family = meaning.partition(" for ")
        letter, _, index = name.partition("_")
        if meaning == "size":
            dimensions.append(name)
        elif family:
            runs_to = tuple(family.split(" in ")[1].split(", "))
            declared.append(Declared(letter, _shape(what), runs_to, tuple(reading.at), aliases=tuple(aliases)))
        elif index:
            declared.append(Declared(letter, _shape(what), labels=(index,), aliases=tuple(aliases)))
        else:
            declared.append(Declared(name, SCALAR if what == "scalar" else _shape(what), aliases=tuple(aliases)))
    return Vocabulary(tuple(declared), tuple(dimensions), (reading.name,))


def _readable(readings: list[Reading]) -> list[Reading]:
    """Keys are in the students' own language, so a typo in one is found when the rubric is loaded."""
    for reading in readings:
        vocabulary = vocabulary_of(reading)
        for key in (*reading.equals, *reading.given.values(), *(slip.equals for slip in reading.slips)):
            try:
                typed(expression(key, vocabulary), vocabulary)
            except (Unreadable, Misfit) as fault:
                raise ValueError(f"cannot read the key '{key}': {fault}") from None
    return readings


@check
def formula_equals_the_key(
    student: Student,
    rng: np.random.Generator,
    *,
    readings: Annotated[list[Reading], AfterValidator(_readable)],
    partial: Share = HALF,
) -> Outcome:
    """The formula says the same as the right one, in whatever form."""
    return _outcome(_equals, student, partial, [reading.model_dump() for reading in readings], _seed(rng))


def _equals(answer: Answer, readings: list[dict[str, Any]], seed: int) -> Verdict:
    verdicts = []
    for given in readings:
        reading = Reading.model_validate(given)
        if not all(_states(answer, reading, name, text, seed) for name, text in reading.given.items()):
            continue
        verdict = _equals_reading(answer, reading, seed)
        if verdict.score == 1:
            return verdict
        verdicts.append(verdict)
    decided = [verdict for verdict in verdicts if verdict.score is not None]
    return max(decided, key=lambda verdict: verdict.score or 0) if decided else verdicts[0]


def _states(answer: Answer, reading: Reading, name: str, text: str, seed: int) -> bool:
    """Whether one of the answer's equations for a name says this."""
    vocabulary = vocabulary_of(reading)
    statements = read_statements(answer, vocabulary)
    wanted = expression(text, vocabulary)
    for proposed in statements.proposals([expression(name, vocabulary)], through_approximations=True):
        for member in proposed.members:
            try:
                found = typed(member, vocabulary)
            except Misfit:
                continue
            if identity.agree(found, wanted, vocabulary, np.random.default_rng(seed)).holds:
                return True
    return False


def _equals_reading(answer: Answer, reading: Reading, seed: int) -> Verdict:
    vocabulary = vocabulary_of(reading)
    axis = {"rows": 0, "columns": 1}[reading.softmax_over]

    def judge(found: Typed, statements: Statements, proposed: Proposed) -> Verdict:
        rng = np.random.default_rng(seed)
        formula = f"{reading.name} = {plain(found.expression)}"
        evidence: dict[str, Any] = {"read_as": formula}
        nearest = None
        for text in reading.equals:
            key = statements.expanded(expression(text, vocabulary))
            agreement = identity.agree(found, key, vocabulary, rng, axis)
            if agreement.holds:
                evidence["proved"] = identity.proved(found, key) if not agreement.renamed else False
                how = f" ({reading.called})" if reading.called else ""
                note = f", with {agreement.renamed}" if agreement.renamed else ""
                return right(f"the formula is right{how}", f"{formula}{note}", evidence)
            nearest = agreement if nearest is None or agreement.off_by < nearest.off_by else nearest
        for slip in reading.slips:
            if identity.agree(found, expression(slip.equals, vocabulary), vocabulary, rng, axis).holds:
                return Verdict(slip.score, slip.because, formula, evidence)
        want = typed(expression(reading.equals[0], vocabulary), vocabulary, found.shape)
        if want.shape != found.shape:
            return wrong(f"{reading.name} has the wrong shape", f"{formula} is {shown(found.shape)}", evidence)
        off = f"it is off by {nearest.off_by:.2g}" if nearest and np.isfinite(nearest.off_by) else "it differs"
        where = f" (sampled with {nearest.sizes})" if nearest and nearest.sizes else ""
        return wrong(
            f"the formula for {reading.name} is not right", f"{formula}: {off} for random values{where}", evidence
        )

    return judged(answer, vocabulary, Question(reading.name, tuple(reading.spelled)), judge)


# ---- growth ----


@check
def grows_like_the_key(
    student: Student,
    rng: np.random.Generator,
    *,
    costs: dict[str, str],
    words: dict[str, list[str]],
    variables: dict[str, list[str]],
    at_most: list[list[str]],
    fixed: list[str],
    partial: Share = HALF,
) -> Outcome:
    """The costs grow as they should in every variable; constants and lower-order terms do not matter."""
    return _outcome(_grows, student, partial, costs, words, variables, at_most, fixed)


def _grows(
    answer: Answer,
    costs: dict[str, str],
    words: dict[str, list[str]],
    variables: dict[str, list[str]],
    at_most: list[list[str]],
    fixed: list[str],
) -> Verdict:
    declared = [Declared(name, aliases=tuple(others)) for name, others in variables.items()]
    declared += [Declared(name) for name in fixed]
    vocabulary = Vocabulary(tuple(declared), functions=frozenset({"O", "Θ", "Ω", "o"}))
    statements = read_statements(answer, vocabulary)
    given = _costs_by_subject(statements, words)
    if not given:
        if statements.faults:
            return undecided("the costs could not be read", str(statements.faults[0]))
        names = " and ".join(costs)
        return undecided(f"no cost was found for {names}; write for example '{next(iter(costs))}: O(…)'")
    faults, good, evidence = [], 0, {}
    for name, key in costs.items():
        if name not in given:
            faults.append((f"the cost of the {name} model is missing", ""))
            continue
        cost = given[name]
        evidence[name] = plain(cost)
        unknown = vocabulary.free(cost)
        if unknown:
            faults.append((f"the cost of the {name} model uses a letter the question does not have", plain(cost)))
            continue
        try:
            settled = typed(statements.expanded(cost), vocabulary).expression
        except Unreadable as fault:
            return undecided(f"the cost of the {name} model could not be read", fault.cause)
        except Misfit as misfit:
            faults.append((f"the cost of the {name} model does not fit together", misfit.what))
            continue
        difference = growth.compared(
            settled, expression(key, vocabulary), list(variables), [(low, high) for low, high in at_most], fixed
        )
        if difference is None:
            good += 1
            continue
        sizes = ", ".join(f"{letter} = {size:g}" for letter, size in difference.at.items())
        how = "too fast" if difference.faster else "too slowly"
        faults.append((f"the cost of the {name} model grows {how}", f"{plain(cost)}, see {sizes}"))
    if not faults:
        return right("the costs grow as they should", evidence=evidence)
    message, detail = "; ".join(fault for fault, _ in faults), "; ".join(detail for _, detail in faults if detail)
    return partly(message, detail, evidence) if good else wrong(message, detail, evidence)


def _costs_by_subject(statements: Statements, words: Mapping[str, list[str]]) -> dict[str, Expression]:
    """Which cost belongs to which model, by the words around it."""
    subjects: list[tuple[int, str]] = []
    for order, token in enumerate(statements.tokens):
        if token.kind in ("WORD", "NAME"):
            for subject, spellings in words.items():
                if str(token.value).lower() in spellings:
                    subjects.append((order, subject))
    marked: list[tuple[int, Expression]] = []
    plain_ones: list[tuple[int, Expression]] = []
    for clause in statements.clauses:
        for tokens in reversed(clause.members):
            cost = statements.read(tokens)
            if cost is None or not symbols_in(cost):
                continue
            is_marked = any(isinstance(part, Apply) and part.function in ("O", "Θ", "Ω") for part in walk(cost))
            if is_marked:
                marked.append((clause.order, cost))
                break
            if not isinstance(cost, Symbol):
                plain_ones.append((clause.order, cost))
                break
    costs = marked or plain_ones
    if not costs or not subjects:
        return {}
    names = [subject for _, subject in subjects]
    first = costs[0][0]
    before = [subject for order, subject in subjects if order < first]
    if len(dict.fromkeys(before)) == len(words) == len(costs) and len(words) > 1:  # "A and B: x and y respectively"
        return {subject: cost for subject, (_, cost) in zip(dict.fromkeys(before), costs, strict=True)}
    found: dict[str, Expression] = {}
    for order, cost in costs:
        earlier = [subject for place, subject in subjects if place < order]
        later = [subject for place, subject in subjects if place > order]
        if before and earlier:
            found[earlier[-1]] = cost
        elif later:
            found[later[0]] = cost
        else:
            found[names[-1]] = cost
    return found


# ---- first order ----

_LEFT_SIDES = (
    "Δ h_j", "δ h_j", "d h_j", "Δ h", "δ h", "d h", r"\hat{h}_j - h_j", r"\hat{h} - h", r"\tilde{h}_j - h_j", r"\tilde{h} - h",
    "h'_j - h_j", "h_j' - h_j", "h' - h",
)  # fmt: skip
_CHANGED_OUTPUTS = (r"\hat{h}_j", r"\hat{h}", r"\tilde{h}_j", r"\tilde{h}", "h'_j", "h_j'", "h'")


@check
def agrees_to_first_order(student: Student, rng: np.random.Generator, *, change: str, partial: Share = HALF) -> Outcome:
    """The formula for a small change of the output agrees with the derivative of attention itself."""
    return _outcome(_first_order, student, partial, change == "scaled", _seed(rng))


def _first_order(answer: Answer, scales: bool, seed: int) -> Verdict:
    vocabulary = perturbation.SCALED if scales else perturbation.SHIFTED
    statements = read_statements(answer, vocabulary)
    changes = statements.proposals([expression(text, vocabulary) for text in _LEFT_SIDES], through_approximations=True)
    outputs = statements.proposals(
        [expression(text, vocabulary) for text in _CHANGED_OUTPUTS], through_approximations=True
    )
    candidates = [(one, False) for one in changes if one.members] + [(one, True) for one in outputs if one.members]
    if not candidates:
        faults = [fault for one in (*changes, *outputs) for fault in one.faults] + statements.faults
        bare = statements.bare()
        if len(bare) == 1 and not faults:
            candidates = [(bare[0], False)]
        else:
            cause = str(faults[0]) if faults else f"{answer.file}:{answer.line}: write Δh_j ≈ …"
            return undecided("no formula for the change Δh_j could be read", cause)
    worlds = perturbation.worlds(attention, scales, np.random.default_rng(seed))
    verdicts = []
    for proposed, whole in candidates:
        for member in proposed.members:
            formula = Add((member, negative(Symbol("h", ("j",))))) if whole else member
            verdicts.append(_first_order_verdict(formula, statements, vocabulary, worlds, proposed))
    decided = [verdict for verdict in verdicts if verdict.score is not None]
    return max(decided or verdicts, key=lambda verdict: verdict.score or 0)


def _first_order_verdict(
    formula: Expression,
    statements: Statements,
    vocabulary: Vocabulary,
    worlds: list[perturbation.World],
    proposed: Proposed,
) -> Verdict:
    shown_as = plain(formula)
    try:
        settled = typed(statements.expanded(formula), vocabulary, ("t", ONE))
        if settled.shape not in (("t", ONE), ("?", "?")):
            return wrong("the change of h_j is a vector like h_j", f"{shown_as} is {shown(settled.shape)}")
        if settled.shape == ("?", "?"):
            return wrong("the output does change to first order", f"{shown_as} says that nothing changes")
        slopes = [perturbation.slope(settled.expression, one) for one in worlds]
    except Misfit as misfit:
        return wrong("the formula does not fit together", f"in '{proposed.text}': {misfit.what}")
    except Unreadable as fault:
        return undecided("the formula could not be read", f"{proposed.place}: {fault.cause}")
    evidence: dict[str, Any] = {"read_as": shown_as}

    def agrees(want: Callable[[perturbation.World], Array], factor: float = 1.0) -> bool:
        return all(
            np.abs(start).max() < 1e-9
            and np.abs(factor * got - want(one)).max() <= perturbation.AGREES * (1 + np.abs(want(one)).max())
            for one, (start, got) in zip(worlds, slopes, strict=True)
        )

    if agrees(lambda one: one.output):
        return right("it agrees with the derivative of attention", shown_as, evidence)
    if agrees(lambda one: -one.output):
        return wrong("the sign is the wrong way round", shown_as, evidence)
    if all(
        np.abs(start).max() < 1e-9
        and np.abs(one.change * got - one.output).max() <= perturbation.AGREES * (1 + np.abs(one.output).max())
        for one, (start, got) in zip(worlds, slopes, strict=True)
    ):
        return partly("β is left out: the scores are multiplied by it, and so is their change", shown_as, evidence)
    if any(np.abs(start).max() > 1e-9 for start, _ in slopes):
        return wrong("without any change the formula does not give 0", shown_as, evidence)
    error = max(float(np.abs(got - one.output).max()) for one, (_, got) in zip(worlds, slopes, strict=True))
    return wrong(
        "it does not agree with the derivative of attention",
        f"{shown_as} is off by {error:.2g} on a random attention",
        {**evidence, "off_by": error},
    )


# ---- self-attention by hand ----


@check
def self_attention_gives_the_targets(
    student: Student,
    rng: np.random.Generator,
    *,
    tokens: list[dict[str, Share]],
    targets: dict[str, dict[str, Share]],
    partial: Share = HALF,
) -> Outcome:
    """With the proposed K, Q and V the outputs tend to the ones asked for as the norm of the u's grows."""
    numbered = dict(enumerate(tokens, start=1))
    wanted = {int(number): parts for number, parts in targets.items()}
    return _outcome(_by_hand, student, partial, numbered, wanted, _seed(rng))


def _by_hand(
    answer: Answer,
    tokens: dict[int, by_hand.Combination],
    targets: dict[int, by_hand.Combination],
    seed: int,
) -> Verdict:
    vocabulary = by_hand.VOCABULARY
    statements = read_statements(answer, vocabulary)
    matrices: dict[str, Expression] = {}
    texts, missing = [], []
    for name in ("K", "Q", "V"):
        found = found_for(Question(name, expected=by_hand.EXPECTED, may_be_bare=False), statements)
        if isinstance(found, Verdict):
            missing.append((name, found))
            continue
        try:
            one = typed(statements.expanded(found.members[-1]), vocabulary, by_hand.EXPECTED)
        except Misfit as misfit:
            return wrong(f"the formula for {name} does not fit together", f"in '{found.text}': {misfit.what}")
        except Unreadable as fault:
            return undecided(f"the formula for {name} could not be read", f"{found.place}: {fault.cause}")
        texts.append(f"{name} = {plain(one.expression)}")
        if one.shape != by_hand.EXPECTED:
            return wrong(f"{name} should be a square matrix", f"{texts[-1]} is {shown(one.shape)}")
        matrices[name] = one.expression
    if len(missing) == 3:
        return missing[0][1]
    unread = [verdict for _, verdict in missing if verdict.evidence]
    if unread:
        return unread[0]
    if missing:
        names = " and ".join(name for name, _ in missing)
        return wrong(f"{names} is not given", missing[0][1].message)
    free = list(dict.fromkeys(symbol for one in matrices.values() for symbol in vocabulary.free(one)))
    outputs = by_hand.outputs(matrices, free, tokens, targets, np.random.default_rng(seed))
    evidence = {"read_as": texts, "errors": {f"c_{token}": list(found) for token, found in outputs.errors.items()}}
    missed = [token for token in targets if not outputs.reaches(token)]
    if not missed:
        return right("every output tends to its target", "; ".join(texts), evidence)
    names = " and ".join(f"c_{token}" for token in missed)
    detail = (
        "; ".join(f"c_{token} is off by {outputs.errors[token][-1]:.2g} β at β = 32" for token in missed)
        + f" with {', '.join(texts)}"
    )
    if len(missed) < len(targets):
        return partly(f"{names} does not tend to its target, the other does", detail, evidence)
    return wrong(f"{names} do not tend to their targets", detail, evidence)
