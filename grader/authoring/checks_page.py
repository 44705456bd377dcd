"""The page docs/checks.md: every key of a rubric and every check with its parameters, from the code that reads them."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any

from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from grader.authoring.meanings import meaning_of
from grader.checks.functions.inputs import INPUTS
from grader.formulas.compute.declared_functions import ENTRYWISE
from grader.notation.function_names import DECLARABLE, FUNCTIONS
from grader.notation.units import BINARY_PREFIXES, METRIC, PLAIN, PREFIXES, WORDS
from grader.registry import REQUIRED, Definition, kind_in_words
from grader.rubric.forms import AlternativeForm, CheckForm, LimitsForm, ProblemForm, RubricForm

_FORMS = (RubricForm, ProblemForm, CheckForm, AlternativeForm, LimitsForm)
_TITLES = {
    RubricForm: "The rubric",
    ProblemForm: "A problem",
    CheckForm: "A check",
    AlternativeForm: "An alternative",
    LimitsForm: "Limits",
}
_OF_KITS = {"later", "per_student_key"}  # written by `grader release`, never by hand
_BEGINNING = """\
# Rubrics and checks: reference

Made by `grader checks --markdown > docs/checks.md`. [authors.md](authors.md) shows these at work, [api.md](api.md) has
what a check of your own imports, and `grader checks --rubric PATH` also lists the checks of a rubric's own.
"""
_OF_VECTORS = """\
Taken of a vector entry by entry: `exp`, `log`, `sqrt`, `tanh`, `sigmoid`, {declared}.
The letter σ of a vector is the sigmoid or the softmax: what is said of it, else whichever is right. A key has the word.
"""
_ABOUT_UNITS = """\
A unit is one of these, or several with powers, as in `m/s`, `kg m/s^2` or `km per hour`. Units of one kind are
converted. Any other word that a rubric gives as its `unit` is a unit of its own: `tokens`.
"""


def checks_page(checks: Mapping[str, Definition]) -> str:
    return "\n".join([_BEGINNING, *_keys(), *_checks(checks), *_items(checks)]) + "\n"


def _keys() -> Iterator[str]:
    yield "## Keys of rubric.yaml\n"
    for form in _FORMS:
        yield f"### {_TITLES[form]}\n"
        yield from _fields(form)


def _checks(checks: Mapping[str, Definition]) -> Iterator[str]:
    rooms: dict[str, list[Definition]] = {}
    for definition in sorted(checks.values(), key=lambda definition: definition.name):
        rooms.setdefault(_room(definition), []).append(definition)
    for room, those in sorted(rooms.items()):
        yield f"## {room.capitalize()}\n"
        if room == "functions":
            known = ", ".join(f"`{name}`" for name in INPUTS)
            yield f"`inputs` names a generator of the rubric's own, or one of these for attention: {known}.\n"
        if room == "formulas":
            yield f"Functions that every question knows: {_spellings(FUNCTIONS)}.\n"
            yield f"Those that a reading may declare: {_spellings(DECLARABLE)}.\n"
            yield _OF_VECTORS.format(declared=", ".join(f"`{name}`" for name in ENTRYWISE))
        if room == "numbers":
            yield from _units()
        for definition in those:
            yield from _check(definition)


def _units() -> Iterator[str]:
    prefixes = ", ".join(f"`{prefix}`" for prefix in (*PREFIXES, *BINARY_PREFIXES))
    yield _ABOUT_UNITS
    yield f"- With a prefix ({prefixes}; or its word before a word, as in `kilometer`): {_named_units(METRIC)}."
    yield f"- Without: {_named_units(PLAIN)}.\n"


def _named_units(symbols: Iterable[str]) -> str:
    """Each by its symbol, then by its words."""
    of_symbol = {symbol: symbol for symbol in symbols}
    return _spellings(of_symbol | {word: symbol for word, symbol in WORDS.items() if symbol in of_symbol})


def _spellings(names: Mapping[str, str]) -> str:
    """Those of one function together, its own name first."""
    spelled: dict[str, list[str]] = {}
    for spelling, name in names.items():
        spelled.setdefault(name, []).append(spelling)
    return ", ".join(" or ".join(f"`{one}`" for one in those) for those in spelled.values())


def _room(definition: Definition) -> str:
    """`formulas` for a check of `grader.checks.formulas.identities`."""
    return definition.function.__module__.removeprefix("grader.checks.").partition(".")[0]


def _check(definition: Definition) -> Iterator[str]:
    yield f"### {definition.name}\n"
    yield f"{inspect.getdoc(definition.function)}\n"
    if definition.at_home is not None:
        yield f"Students have no key: in their kit `{definition.at_home.__name__}` stands in its place.\n"
    yield from _table(
        (one.name, one.kind, one.default, meaning_of(one.name, definition.name))
        for one in definition.parameters.values()
    )


def _items(checks: Mapping[str, Definition]) -> Iterator[str]:
    """The mappings that stand in lists of parameters."""
    kinds = {
        kind: None
        for definition in checks.values()
        for one in definition.parameters.values()
        for kind in _models_in(one.annotation)
    }
    yield "## What lists of parameters hold\n"
    for kind in kinds:
        yield f"### {kind.__name__}\n"
        yield f"{inspect.getdoc(kind)}\n"
        yield from _fields(kind)


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
        for field in annotation.model_fields.values():
            yield from _models_in(field.annotation)
    for inner in typing.get_args(annotation):
        yield from _models_in(inner)


def _fields(form: type[BaseModel]) -> Iterator[str]:
    yield from _table(
        (
            field.alias or name,
            "" if field.annotation is None else kind_in_words(field.annotation),
            REQUIRED if field.is_required() else field.get_default(call_default_factory=True),
            meaning_of(field.alias or name, form.__name__),
        )
        for name, field in form.model_fields.items()
        if name not in _OF_KITS
    )


def _table(rows: Iterable[tuple[str, str, Any, str]]) -> Iterator[str]:
    yield "| name | takes | default | what it says |\n|---|---|---|---|"
    for name, kind, default, meaning in rows:
        yield f"| `{name}` | {_plain(kind)} | {_default(default)} | {meaning} |"
    yield ""


def _plain(kind: str) -> str:
    """Not in Python's words: `list[Problem]` for `list[ProblemForm]`, a number for a fraction."""
    words = {" | NoneType": "", "Form": "", "Fraction": "number", "Mapping": "dict", "Sequence": "list", "|": "or"}
    for python, plain in words.items():
        kind = kind.replace(python, plain)
    return kind


def _default(value: Any) -> str:
    if value is REQUIRED or value is PydanticUndefined:
        return "needed"
    if isinstance(value, BaseModel):
        return "those below"
    if value in (None, "", [], (), {}):
        return ""
    return f"`{str(value) if isinstance(value, Fraction | str) else repr(value)}`"
