"""Which model a cost belongs to, by the words around it.

A cost belongs to the model it is said to be "of", "for" or "with", right behind it; else to the one named last before
it; else, where the first cost stands before any name, to the one named next. Models that are only compared with
("unlike the full model") own nothing that follows. Costs that are denied, compared with, or of memory are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

import numpy as np

from grader import Answer, Outcome, Student, check
from grader.formulas import (
    DENIALS,
    HALF,
    Apply,
    Declared,
    Expression,
    NotRead,
    Reading,
    Statements,
    Symbol,
    Token,
    Verdict,
    Vocabulary,
    formula_outcome,
    offers,
    plain,
    read_as,
    read_by,
    read_statements,
    rebuilt,
    right,
    symbols_in,
    undecided,
    walk,
)

from .own_letters import letters_said

MARKS = ("O", "Θ", "Ω")
_NEAR = 3  # words within which a "not" or a "than" is about a cost or a model
_BELONGS = ("of", "for", "with", "in", "by", "using", "under")
_ARTICLES = ("the", "a", "an", "our", "this", "that")
_COMPARISONS = ("than", "unlike", "versus", "vs", "over", "instead", "compared", "rather", "against")
_RELATIVE = ("which", "whose", "that", "with", "at")  # "than the vanilla model, which takes …" goes on about that one
_OF_ALL = ("alike", "both", "same", "equally", "each")
_OF_TIME = ("time", "compute", "computation", "computational", "runtime", "flops")
_OF_OTHER_THINGS = (
    *("memory", "space", "storage", "ram", "parameters", "activations"),
    *("ratio", "speedup", "saving", "savings", "reduction", "improvement"),
)
_OF_SIZES = ("dimension", "dimensions", "dim", "size", "length", "width", "latents", "vectors")
_MODELS = ("model", "one", "transformer", "attention", "version", "architecture", "network")
_COSTS = ("needs", "takes", "costs", "requires", "runs", "has")  # "… length ℓ the vanilla model needs O(…)"
_GENERAL = ("transformer", "transformers", "full", "normal", "regular", "gpt")  # a Perceiver is a transformer, too


@dataclass(frozen=True)
class Cost:
    """One cost, from its place in the answer's tokens to just after it."""

    begins: int
    ends: int
    value: Expression


@dataclass(frozen=True)
class _Mention:
    at: int
    subject: str


def costs_by_subject(statements: Statements, words: Mapping[str, list[str]]) -> dict[str, list[list[Expression]]]:
    """For each model its costs in order; those joined by "or" stand together."""
    return _Owners(statements, words).found()


@dataclass(frozen=True)
class CostLetters:
    """What letters mean in costs: the question's own, its other spellings, and those that the answer defines."""

    means: Mapping[str, str]

    @classmethod
    def of(
        cls, answer: Answer, variables: dict[str, list[str]], fixed: list[str], said: dict[str, list[str]]
    ) -> CostLetters:
        spelled = {spelling: name for name, others in variables.items() for spelling in (name, *others)}
        return cls({**spelled, **{name: name for name in fixed}, **letters_said(answer, said)})

    @property
    def vocabulary(self) -> Vocabulary:
        return Vocabulary(tuple(Declared(letter) for letter in self.means), functions=frozenset({*MARKS, "o"}))

    def in_the_questions(self, cost: Expression) -> Expression:
        """A cost with the question's letters in place of its own."""
        return rebuilt(
            cost,
            lambda part: Symbol(self.means.get(part.name, part.name), part.index) if isinstance(part, Symbol) else part,
        )


def costs_as_read(
    answer: Answer,
    *,
    words: dict[str, list[str]],
    variables: dict[str, list[str]],
    fixed: list[str],
    said: dict[str, list[str]] | None = None,
    **_: object,
) -> list[Reading]:
    letters = CostLetters.of(answer, variables, fixed, said or {})
    statements = read_statements(answer, letters.vocabulary)
    found = costs_by_subject(statements, words)
    costs = {name: letters.in_the_questions(listed[-1][-1]) for name, listed in found.items()}
    cause = f"no cost was found for it; write for example '{next(iter(words))}: O(…)'"
    faults = statements.faults
    unread = (
        NotRead(faults[0].cause, faults[0].place, statements, "tokens")
        if faults
        else NotRead(cause, statements=statements)
    )
    return [
        read_as(f"cost of the {name} model", (costs[name],), statements) if name in costs else unread for name in words
    ]


@read_by(costs_as_read)
@check(judges=False)
def costs_can_be_read(
    student: Student,
    rng: np.random.Generator,
    *,
    words: dict[str, list[str]],
    variables: dict[str, list[str]],
    fixed: list[str],
    said: dict[str, list[str]] = {},  # noqa: B006 - read only
) -> Outcome:
    """A cost is found for each model, and it can be read; whether it is right is judged later."""
    return formula_outcome(_read_costs, student, HALF, words, variables, fixed, said)


def _read_costs(
    answer: Answer,
    words: dict[str, list[str]],
    variables: dict[str, list[str]],
    fixed: list[str],
    said: dict[str, list[str]],
) -> Verdict:
    statements = read_statements(answer, CostLetters.of(answer, variables, fixed, said).vocabulary)
    found = costs_by_subject(statements, words)
    if missing := [name for name in words if name not in found]:
        cause = str(statements.faults[0]) if statements.faults else f"write for example '{missing[0]}: O(…)'"
        return undecided(
            f"{answer.file}:{answer.line}: no cost was found for {' and '.join(missing)}",
            cause,
            code="formula_not_found",
        )
    read_as = (f"{name}: {plain(costs[-1][-1])}" for name, costs in found.items())
    return right("the costs can be read", ", ".join(read_as))


class _Owners:
    def __init__(self, statements: Statements, words: Mapping[str, list[str]]) -> None:
        self._tokens = statements.tokens
        self._names = list(words)
        self._costs = list(_costs(statements))
        self._taken = [False] * (len(self._tokens) + 1)  # places that belong to a cost
        for cost in self._costs:
            self._taken[cost.begins : cost.ends] = [True] * (cost.ends - cost.begins)
        self._mentions = list(self._all_mentions(words))

    def found(self) -> dict[str, list[list[Expression]]]:
        counted = [cost for at, cost in enumerate(self._costs) if self._counts(at)]
        if not counted or not self._mentions:
            return {}
        counted = self._without_introduction(counted)
        before = list(dict.fromkeys(one.subject for one in self._mentions if one.at < counted[0].ends))
        said_behind = any(self._behind(cost) for cost in counted)
        if len(before) == len(self._names) == len(counted) > 1 and not said_behind:  # "A and B: x and y respectively"
            return {subject: [[cost.value]] for subject, cost in zip(before, counted, strict=True)}
        result: dict[str, list[list[Expression]]] = {}
        earlier, earlier_owners = 0, list[str]()
        for cost in counted:
            owners = self._owners(cost, bool(before))
            joined = offers(self._tokens[earlier : cost.begins])
            for owner in owners:
                own = result.setdefault(owner, [])
                if own and joined and owner in earlier_owners:
                    own[-1].append(cost.value)
                else:
                    own.append([cost.value])
            earlier, earlier_owners = cost.ends, owners
        return result

    def _without_introduction(self, counted: list[Cost]) -> list[Cost]:
        """Without what is said of attention as such, in sentences before any model is named: "one layer takes O(…)."

        Unless every cost is needed, for some write the cost first and then whose it is.
        """
        start = self._sentence_start(self._mentions[0].at)
        rest = [cost for cost in counted if cost.ends > start]
        return rest if len(rest) >= len(self._names) else counted

    # ---- models ----

    def _all_mentions(self, words: Mapping[str, list[str]]) -> Iterator[_Mention]:
        last: _Mention | None = None
        for at, token in enumerate(self._tokens):
            said = [label.lower() for label in token.value.index] if isinstance(token.value, Symbol) else []
            said += [str(token.value).lower()] if token.kind in ("WORD", "NAME") else []  # T_{vanilla} names one, too
            for subject, spellings in words.items():
                if not set(said) & set(spellings):
                    continue
                other = last is not None and last.subject != subject and self._is_one_sentence(last.at, at)
                if (other and said[-1] in _GENERAL) or self._is_compared(at) or self._is_a_size(at):
                    continue
                last = _Mention(at, subject)
                yield last

    def _is_one_sentence(self, start: int, end: int) -> bool:
        """Without a cost in it, and with no "and" that would begin another thing."""
        between = self._tokens[start + 1 : end]
        return not any(self._taken[start:end]) and not any(_ends_sentence(one) or one.value == "and" for one in between)

    def _is_compared(self, at: int) -> bool:
        before = self._words_before(at)
        after = self._said(at + 1, at + 2 * _NEAR)
        goes_on = next((word for word in after if word not in _MODELS), "")
        return any(word in _COMPARISONS for word in before) and goes_on not in _RELATIVE

    def _is_a_size(self, at: int) -> bool:
        """Whether a word names a size: "the bottleneck dimension", "length after the bottleneck", "m = bottleneck"."""
        near = {*self._said(at + 1, at + 2), *self._words_before(at)}
        before = [one for one in self._tokens[max(0, at - 3) : at] if not _is_seam(one) and str(one.value) != "the"][
            -1:
        ]
        does = {*self._said(at + 1, at + 2)} & {*_MODELS, *_COSTS}
        defines = bool(before) and (
            before[0].value == "=" or (before[0].kind == "NAME" and not does)
        )  # "m = bottleneck", "m the bottleneck"
        return bool(near & set(_OF_SIZES)) or defines

    # ---- costs ----

    def _owners(self, cost: Cost, names_come_first: bool) -> list[str]:
        if behind := self._behind(cost):
            return [behind]
        earlier = [one for one in self._mentions if one.at < cost.ends]
        if names_come_first and earlier:
            start = self._sentence_start(cost.begins)
            here = list(dict.fromkeys(one.subject for one in earlier if one.at >= start))
            shared = any(str(token.value).lower() in _OF_ALL for token in self._tokens[start : cost.begins])
            return here if shared and len(here) > 1 else [earlier[-1].subject]
        later = [one.subject for one in self._mentions if one.at >= cost.ends]
        return [later[0] if later else self._mentions[-1].subject]

    def _behind(self, cost: Cost) -> str | None:
        """The model named right after a cost: `O(…) for the Perceiver`."""
        words = self._words(cost.ends, len(self._tokens))
        if not words or words[0] not in _BELONGS:
            return None
        skipped = len(list(takewhile(lambda word: word in (*_BELONGS, *_ARTICLES), words)))
        at = self._places(cost.ends)[skipped : skipped + 1]
        return next((one.subject for one in self._mentions if [one.at] == at), None)

    def _counts(self, number: int) -> bool:
        cost = self._costs[number]
        before = self._words_before(cost.begins)
        if any(word in DENIALS for word in before):
            return False
        if any(word in _COMPARISONS for word in before) and self._behind(cost) is None:
            return False
        start = self._costs[number - 1].ends if number else 0
        said = [*self._said(max(start, self._sentence_start(cost.begins)), cost.begins)]
        said += self._words(cost.ends, len(self._tokens))[:1]
        about = [word for word in said if word in (*_OF_TIME, *_OF_OTHER_THINGS)]
        return not about or about[-1] in _OF_TIME

    # ---- words ----

    def _words(self, start: int, end: int) -> list[str]:
        """The words that follow each other from here on."""
        return [str(self._tokens[at].value).lower() for at in self._places(start) if at < end]

    def _places(self, start: int) -> list[int]:
        places = (at for at in range(start, len(self._tokens)) if not _is_seam(self._tokens[at]))
        return list(takewhile(lambda at: self._tokens[at].kind in ("WORD", "NAME") and not self._taken[at], places))

    def _words_before(self, at: int) -> list[str]:
        before = (one for one in reversed(self._tokens[max(0, at - 2 * _NEAR) : at]) if not _is_seam(one))
        return [str(one.value).lower() for one in takewhile(lambda one: one.kind == "WORD", before)][:_NEAR]

    def _said(self, start: int, end: int) -> list[str]:
        return [str(token.value).lower() for token in self._tokens[start:end] if token.kind == "WORD"]

    def _sentence_start(self, at: int) -> int:
        return next((place + 1 for place in range(at - 1, -1, -1) if _ends_sentence(self._tokens[place])), 0)


def _ends_sentence(token: Token) -> bool:
    return token.kind == "ROW" or (token.kind == "BREAK" and token.value in (".", "", "\n"))


def _is_seam(token: Token) -> bool:
    """The border of mathematics and prose, which no reader sees."""
    return token.kind == "BREAK" and token.value == "soft"


def _costs(statements: Statements) -> Sequence[Cost]:
    """The last cost of each clause; if some are written as O(…), only those."""
    marked: list[Cost] = []
    unmarked: list[Cost] = []
    for clause in statements.clauses:
        for tokens in reversed(clause.members):
            value = statements.read(tokens)
            if value is None or not symbols_in(value):
                continue
            begins = next((at for at in range(clause.order, clause.ends) if statements.tokens[at] is tokens[0]), None)
            cost = Cost(clause.order if begins is None else begins, clause.ends, value)
            if any(isinstance(part, Apply) and part.function in MARKS for part in walk(value)):
                marked.append(cost)
                break
            if not isinstance(value, Symbol):
                unmarked.append(cost)
                break
    return marked or unmarked
