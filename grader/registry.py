"""`@check`: a function that judges. Its keyword-only parameters are its schema, its docstring its summary."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from types import ModuleType, UnionType
from typing import Annotated, Any, Literal, TypeVar, overload

import numpy as np
from pydantic import AfterValidator, BaseModel, TypeAdapter, ValidationError, ValidationInfo

from grader.errors import RubricError
from grader.model import Check, CheckFunction, Outcome
from grader.rubric.hints import misfit_of_a_value, near_to
from grader.shares import Partial

_Function = TypeVar("_Function", bound=CheckFunction)
_MARK = "__check_definition__"
_RESCORE = "__rescored_by__"
_READ = "__read_by__"
REQUIRED: Any = inspect.Parameter.empty


class AskedOfStudents:
    """Marks a parameter that names a file students hand in."""


StudentFile = Annotated[str, AskedOfStudents()]


class HoldsTheAnswer:
    """Marks a parameter that gives the answer away: what students get before the deadline comes without it."""


class KeyToAFormula(HoldsTheAnswer):
    """Marks a parameter, or a field of one, whose texts are right formulas: no kit may hold them, however spelled."""


class SaidInFeedback:
    """Marks a field that students read in feedback: it names the matter, and not the answer."""


class NamesAReference:
    """Marks a parameter that names a function of the reference; students get its answers to their own questions."""


class LeftOutOfKits:
    """Marks a parameter that only helps to say more; students' rubrics do without."""


class AsksTheQuestion:
    """Marks a parameter that repeats the question."""


Prompt = Annotated[str, AsksTheQuestion()]


class OffersOptions:
    """Marks a parameter that holds what there is to choose from, by label."""


class OneLineForEach:
    """Marks a data file that has a line for each line of the text that students hand in."""


def found_in_data(name: str, info: ValidationInfo) -> str:
    """The path of a file that belongs to the rubric; a validator."""
    folders = (info.context or {}).get("data_folders", ())
    for folder in folders:
        if (folder / name).is_file():
            return str(folder / name)
    there = {path.name for folder in folders if folder.is_dir() for path in folder.iterdir() if path.is_file()}
    where = " or ".join(str(folder) for folder in folders) or "the rubric"
    raise ValueError(f"names '{name}', and there is no such file in {where}{near_to(name, there)}")


# A file that belongs to the rubric: found below `--data`, else beside the rubric. The check receives its path.
_FOUND_IN_DATA = AfterValidator(found_in_data)
DataFile = Annotated[str, _FOUND_IN_DATA]
Labels = Annotated[DataFile, OneLineForEach()]


def kind_in_words(annotation: Any) -> str:
    """A type without what validates it: `Mapping[str, list[Tier]]`."""
    origin, inner = typing.get_origin(annotation), typing.get_args(annotation)
    if hasattr(annotation, "__metadata__"):
        return kind_in_words(inner[0])
    if origin in (typing.Union, UnionType):
        return " | ".join(kind_in_words(one) for one in inner)
    if origin is typing.Literal:
        return " | ".join(repr(one) for one in inner)
    if origin is None:
        return "..." if annotation is ... else getattr(annotation, "__name__", str(annotation))
    return f"{origin.__name__}[{', '.join(kind_in_words(one) for one in inner)}]"


def _keys_in(annotation: Any) -> set[str]:
    """The keys of every mapping with set keys that a value of this type holds."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        fields = annotation.model_fields
        return set(fields).union(*(_keys_in(field.annotation) for field in fields.values()))
    return set().union(*(_keys_in(one) for one in typing.get_args(annotation)))


def choices_in(annotation: Any) -> set[str]:
    """The texts that a value of this type chooses from: `Literal["each_row", "each_column"]`."""
    if typing.get_origin(annotation) is typing.Literal:
        return {choice for choice in typing.get_args(annotation) if isinstance(choice, str)}
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return set().union(*(choices_in(field.annotation) for field in annotation.model_fields.values()))
    return set().union(*(choices_in(inner) for inner in typing.get_args(annotation)))


@dataclass(frozen=True)
class Parameter:
    name: str
    annotation: Any
    default: Any

    @property
    def kind(self) -> str:
        return kind_in_words(self.annotation)

    @property
    def default_as_written(self) -> str:
        return str(self.default) if isinstance(self.default, Fraction) else repr(self.default)

    def has(self, mark: type) -> bool:
        return any(isinstance(one, mark) for one in getattr(self.annotation, "__metadata__", ()))

    @property
    def is_student_file(self) -> bool:
        return self.has(AskedOfStudents)

    @property
    def holds_the_answer(self) -> bool:
        return self.has(HoldsTheAnswer)

    @property
    def is_a_name(self) -> bool:
        """Plain text beside a student's file names something that file defines."""
        return self.annotation is str

    @property
    def is_data(self) -> bool:
        """A data file, or several."""
        kinds = (self.annotation, *typing.get_args(self.annotation))
        return any(_FOUND_IN_DATA in getattr(kind, "__metadata__", ()) for kind in kinds)

    @cached_property
    def _validator(self) -> TypeAdapter[Any]:
        """Made at the first value: rubrics give few parameters of all there are, and some of them many times."""
        return TypeAdapter(self.annotation)

    def read(self, value: Any, context: Mapping[str, Any]) -> Any:
        """The value as the check will get it; ValueError in one line if it does not fit."""
        try:
            return self._validator.validate_python(value, strict=True, context=dict(context))
        except ValidationError as error:
            place, cause = misfit_of_a_value(error.errors(), value, _keys_in(self.annotation))
            raise ValueError(f"'{'.'.join(map(str, (self.name, *place)))}' {cause}") from None


GroupKind = Literal["values", "draws"]
Asked = Callable[[np.random.Generator, Mapping[str, Any]], Iterable[tuple[tuple[Any, ...], dict[str, Any]]]]
Agreement = Callable[[Mapping[str, Any]], str]  # of a check's parameters: why they do not go together, or nothing


@dataclass(frozen=True)
class Definition:
    """A check that rubrics may use by name."""

    name: str
    function: CheckFunction
    summary: str
    parameters: Mapping[str, Parameter]
    prose: bool = False  # judges prose: at home students learn only that their answer is there
    judges: bool = True  # whether something is right, and not only whether it is there
    at_home: CheckFunction | None = None  # stands in for it where students have no key, with the parameters they share
    group: GroupKind | None = None  # of checks that share a sandbox (`groups.py`); otherwise it has its own
    compares: bool = False  # every answer with a right one, as every check with a reference does
    agree: Agreement | None = None  # says why parameters that a rubric gives do not go together
    asks: Asked | None = None  # all calls of its reference, if it compares more than what student functions return

    def marked(self, mark: type) -> str:
        """The first parameter with this mark; nothing, if there is none."""
        return next((name for name, one in self.parameters.items() if one.has(mark)), "")


@overload
def check(function: _Function, /) -> _Function: ...


@overload
def check(**about: Any) -> Callable[[_Function], _Function]: ...


def check(function: _Function | None = None, /, **about: Any) -> _Function | Callable[[_Function], _Function]:
    """Make a function `(student, rng, *, …) -> Outcome` usable in rubrics under its own name. What else is true of it
    is given by the names of `Definition`."""
    return _defined(function, **about) if function else partial(_defined, **about)


def _defined(function: _Function, **about: Any) -> _Function:
    name, signature = function.__name__, inspect.signature(function)
    summary = (inspect.getdoc(function) or "").split("\n")[0]
    if not summary:
        raise TypeError(f"check {name} has no docstring; students read its first line")
    positional = [p.name for p in signature.parameters.values() if p.kind is not p.KEYWORD_ONLY]
    if positional != ["student", "rng"]:
        raise TypeError(f"check {name} takes ({', '.join(positional)}); it should take (student, rng, *, …)")
    hints = typing.get_type_hints(function, include_extras=True)
    if hints.get("return", Outcome) is not Outcome:
        raise TypeError(f"check {name} returns {hints['return']}; it should return an Outcome")
    parameters = {}
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY:
            inferred = type(parameter.default) if parameter.default not in (REQUIRED, None) else Any
            annotation = hints.get(parameter.name, inferred)
            if isinstance(parameter.default, Partial):
                annotation = parameter.default.annotation
            parameters[parameter.name] = Parameter(parameter.name, annotation, parameter.default)
    about.setdefault("compares", any(parameter.has(NamesAReference) for parameter in parameters.values()))
    definition = Definition(name, function, summary, parameters, **about)
    if definition.group is not None and not any(parameter.is_student_file for parameter in parameters.values()):
        raise TypeError(f"check {name} belongs to the group '{definition.group}' and asks no student's file")
    setattr(function, _MARK, definition)
    return function


def definition_of(function: CheckFunction) -> Definition | None:
    """How a check was defined; None for a function that was never marked as one."""
    found = getattr(function, _MARK, None)
    return found if isinstance(found, Definition) else None


def defined(check: Check) -> Definition:
    known = definition_of(check.function)
    assert known is not None, f"{check.id} is no check"
    return known


def question_of(check: Check) -> str:
    """The question as the rubric repeats it for this check; nothing, if it does not."""
    name = defined(check).marked(AsksTheQuestion)
    as_asked = check.parameters if check.drawn else {**check.parameters, **check.personal}
    return str(as_asked.get(name, ""))


def options_of(check: Check) -> Mapping[str, str]:
    """What there is to choose from, by label; nothing, if it is no question of this kind."""
    found: Mapping[str, str] = check.parameters.get(defined(check).marked(OffersOptions), {})
    return found


_Rescorer = Callable[..., Outcome | None]


def rescores(judged: CheckFunction, *changeable: str) -> Callable[[_Rescorer], _Rescorer]:
    """Mark `(stored: Outcome, **parameters) -> Outcome | None`: the check's verdict from what it found at first.

    It is asked when nothing but these parameters of the check has changed; None says that the evidence is not enough.
    """

    def mark(rescorer: _Rescorer) -> _Rescorer:
        setattr(judged, _RESCORE, (frozenset(changeable), rescorer))
        return rescorer

    return mark


def rescorer_for(judged: CheckFunction, changed: Iterable[str]) -> _Rescorer | None:
    """What can judge anew after these parameters changed, if the check offers it."""
    changeable, rescorer = getattr(judged, _RESCORE, (frozenset(), None))
    return rescorer if set(changed) <= changeable else None


_Reader = Callable[..., Sequence[Any]]


def read_by(reader: _Reader, *, alone: bool = True) -> Callable[[_Function], _Function]:
    """Give a check `(answer: Answer, **parameters) -> readings`: how it reads an answer, without its verdict.

    `alone` says that one formula can be judged without the rest of the answer.
    """

    def mark(judged: _Function) -> _Function:
        setattr(judged, _READ, (reader, alone))
        return judged

    return mark


def reader_of(judged: CheckFunction, *, alone: bool = True) -> _Reader | None:
    """How a check reads formulas that it judges one by one or, unless `alone`, in any way; None if it reads none."""
    reader, judges_alone = getattr(judged, _READ, (None, True))
    return reader if judges_alone or not alone else None


def definitions_in(modules: Iterable[ModuleType]) -> dict[str, Definition]:
    """Every check defined in these modules, by name. RubricError if a name stands for two: one would silently be
    graded in place of the other."""
    found: dict[str, Definition] = {}
    twice = dict[str, None]()  # a function may go by two names
    for module in modules:
        for value in vars(module).values():
            definition = getattr(value, _MARK, None)
            if isinstance(definition, Definition) and value.__module__ == module.__name__:
                earlier = found.setdefault(definition.name, definition).function
                if earlier is not definition.function:
                    code = inspect.unwrap(definition.function).__code__
                    there = f"{earlier.__module__} has a check '{definition.name}' already; give this one another name"
                    twice[f"{code.co_filename}:{code.co_firstlineno}: {there}"] = None
    if twice:
        raise RubricError(list(twice))
    return found
