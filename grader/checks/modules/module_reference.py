"""A module compared with a reference: a function of its inputs and of its parameters.

    @reference(mistakes={"the gate is left out": ungated})
    def gated(x, mask, *, weight, bias): ...

    @inputs
    def masked(rng):
        yield Case("x 5×3", (x, mask), build={"width": 3}, parameters={"weight": …, "bias": …})

The parameters of the reference are roles. Which of the student's parameters plays a role follows from names, if the
rubric gives them, and otherwise from gradients: where all roles of one shape are set to the same numbers, the output
does not depend on who plays which, and the gradient of each parameter is that of its role.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice, permutations, product
from typing import Any

import numpy as np

from grader import compare
from grader.checks.functions.ground_truth import Reference, is_frozen, reference_named, values_of
from grader.checks.functions.inputs import Case, Cases, Inputs, blamed_on, sampled, takes_what_is_given
from grader.checks.functions.nested import Values, as_asked, difference_in
from grader.checks.functions.values import Arguments, compared_outcome
from grader.compare import Array, numbers, shape
from grader.errors import Crashed, WrongKind
from grader.model import Outcome, Status, Student, failed, needs_review
from grader.quoting import quote
from grader.registry import StudentFile, check
from grader.rubric.hints import did_you_mean
from grader.rubric.own_functions import offered
from grader.shares import Share

_STEP, _SLOPE_OFF = 1e-5, 1e-4  # of central differences in float64, and how far the slopes they give may be off
_SINGLE = 1e-3  # twenty times what float32 keeps of values near one, through a few layers
_MOST_ASSIGNMENTS = 720  # of one shape: six parameters in any order


@dataclass(frozen=True)
class _Plan:
    """All that the reference is asked, which does not depend on the student's module."""

    cases: Cases
    alike: Case  # the first, with one set of numbers for all roles of a shape
    directions: Mapping[str, Array]  # two by role, in which its gradient is compared
    cotangent_seed: int

    @property
    def roles(self) -> Mapping[str, Array]:
        return self.alike.parameters

    def moved(self, role: str, direction: Array, step: float) -> Case:
        return replace(self.alike, parameters={**self.roles, role: self.roles[role] + step * direction})

    def slopes(self, values: Callable[[Case], Values]) -> tuple[dict[str, list[float]], list[Array]]:
        """The derivatives of <cotangent, output> in each direction of each role, and the cotangents."""
        rng = np.random.default_rng(self.cotangent_seed)
        cotangents = [rng.normal(size=part.shape) for part in _parts(values(self.alike))]

        def product_at(case: Case) -> float:
            pairs = zip(_parts(values(case)), cotangents, strict=True)
            return sum(float((part * cotangent).sum()) for part, cotangent in pairs)

        found = {
            role: [
                (product_at(self.moved(role, way, _STEP)) - product_at(self.moved(role, way, -_STEP))) / (2 * _STEP)
                for way in ways
            ]
            for role, ways in self.directions.items()
        }
        return found, cotangents


def _plan(rng: np.random.Generator, inputs: str, given: Mapping[str, Any] | None) -> _Plan:
    cases = Cases(sampled(inputs, rng, given))
    first = cases[0]
    alike = replace(first, parameters=_same_numbers(rng, first.parameters))
    directions = {role: rng.normal(size=(2, *value.shape)) for role, value in first.parameters.items()}
    return _Plan(cases, alike, directions, int(rng.integers(2**32)))


def _same_numbers(rng: np.random.Generator, roles: Mapping[str, Array]) -> dict[str, Array]:
    """One array for all roles of a shape, its transpose for those that lie the other way, a symmetric one if square."""
    found: dict[tuple[int, ...], Array] = {}
    for value in roles.values():
        key = _key(value.shape)
        if key not in found:
            made = rng.normal(size=key) * (1.0 if len(key) < 2 else min(key) ** -0.5)
            found[key] = (made + made.T) / 2 if len(key) == 2 and key[0] == key[1] else made
    return {role: _turned(found[_key(value.shape)], value.shape) for role, value in roles.items()}


def _key(sides: tuple[int, ...]) -> tuple[int, ...]:
    """One for all shapes in which the same parameter may be kept."""
    long = tuple(side for side in sides if side != 1)
    return tuple(sorted(long)) if len(long) == 2 else long


def _turned(value: Array, sides: tuple[int, ...], transposed: bool = False) -> Array:
    """The same numbers in another shape: axes of length one apart, as they lie or transposed."""
    plain = value.squeeze()
    long = tuple(side for side in sides if side != 1)
    return np.asarray(plain.T if transposed or plain.shape != long else plain).reshape(sides)


def _parts(values: Values) -> list[Array]:
    """The arrays of real numbers among the outputs."""
    parts = values if isinstance(values, tuple) else (values,)
    return [part for part in parts if isinstance(part, np.ndarray) and part.dtype.kind == "f"]


def reference_questions(
    rng: np.random.Generator, parameters: Mapping[str, Any]
) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
    """The arguments of every call of the reference, so that its answers can be frozen for students."""
    plan = _plan(rng, parameters["inputs"], parameters.get("given"))
    steps = product(plan.directions.items(), (_STEP, -_STEP))
    moved = (plan.moved(role, way, step) for (role, ways), step in steps for way in ways)
    for case in chain(plan.cases, [plan.alike], moved):
        yield case.args, {**case.kwargs, **case.parameters}


@dataclass(frozen=True)
class _Place:
    """The parameter of the student's that plays a role, and whether it holds it transposed."""

    name: str
    transposed: bool = False


Assignment = Mapping[str, _Place]  # by role


@dataclass(frozen=True)
class _Module:
    """The student's module, built and run in the sandbox."""

    student: Student
    file: str
    name: str
    training: bool
    attributes: Sequence[str]

    def ask(self, case: Case, parameters: Mapping[str, Array], **more: Any) -> Mapping[str, Any]:
        request: dict[str, Any] = {"name": self.name, "build": case.build, "inputs": [list(case.args)]}
        request |= {"parameters": dict(parameters), "training": self.training, "attributes": list(self.attributes)}
        with blamed_on(case):
            reply = self.student.probe("run_configured", self.file, **request, **more)
        match reply:
            case {"parameters": dict(), "outputs": [_], "gradients": dict()}:
                return dict(reply)
        raise Crashed(f"{self.name} gave no outputs", code="no_outputs")

    def parameters(self, case: Case) -> dict[str, Array]:
        found = self.ask(case, {}, tell=["parameters"])["parameters"]
        return {name: numbers(value, self.name) for name, value in found.items()}

    def output(self, case: Case, parameters: Mapping[str, Array], want: Values, precision: str = "float64") -> Values:
        (got,) = self.ask(case, parameters, tell=[], precision=precision)["outputs"]
        if isinstance(want, tuple) and not isinstance(got, list | tuple):  # the rows of a tensor are no outputs
            raise WrongKind(f"{self.name} gives one output; {len(want)} are needed", code="wrong_parts")
        return as_asked(got, want, self.name)

    def gradients(self, case: Case, parameters: Mapping[str, Array], cotangents: list[Array]) -> dict[str, Array]:
        one = len(cotangents) == 1
        reply = self.ask(case, parameters, tell=[], cotangents=[cotangents[0] if one else cotangents])
        found = {name: numbers(value, self.name) for name, value in reply["gradients"].items() if name in parameters}
        if any(gradient.shape != parameters[name].shape for name, gradient in found.items()):
            raise Crashed(f"{self.name} gave gradients of impossible shape", code="wrong_gradient_shape")
        return found


def _given_by_name(parameters: Mapping[str, Any]) -> str:
    """Why the names that a rubric gives do not fit its reference; nothing, if they do."""
    offer = offered(parameters["reference"], "reference")
    if offer and parameters["parameters"]:
        signature = inspect.signature(offer.function).parameters.values()
        roles = [one.name for one in signature if one.kind is one.KEYWORD_ONLY]
        name, named = offer.function.__name__, parameters["parameters"]
        for role in named:
            if role not in roles:
                return f"{name} takes no parameter '{role}'{did_you_mean(role, roles)}"
        for role in roles:
            if role not in named:
                return f"'parameters' does not say which parameter of the student's is {name}'s '{role}'"
    known = [str(words) for words, _ in reference_named(parameters["reference"]).mistakes]
    if other := [words for words in parameters["partial"] if words not in known]:
        return f"'partial' names no mistake of the reference: '{other[0]}'{did_you_mean(other[0], known)}"
    return takes_what_is_given(parameters)


@check(group="values", agree=_given_by_name, asks=reference_questions)
def module_matches_reference(
    student: Student,
    rng: np.random.Generator,
    *,
    file: StudentFile,
    name: str,
    reference: Reference,
    inputs: Inputs,
    given: Arguments = {},  # noqa: B006 - read only
    parameters: dict[str, str] = {},  # noqa: B006 - read only
    attributes: Sequence[str] = (),
    training: bool = False,
    partial: dict[str, Share] = {},  # noqa: B006 - read only
    rtol: float = compare.RTOL,
    atol: float = compare.ATOL,
) -> Outcome:
    """With given parameters its outputs are the reference's, in float64 and float32, and gradients reach them all."""
    plan = _plan(rng, inputs, given)
    module = _Module(student, file, name, training, attributes)
    theirs = module.parameters(plan.alike)
    right = reference_named(reference)

    def right_for(case: Case) -> Values:
        return values_of(right.function, _with_parameters(case))

    missing = None
    if parameters:
        assignment: Assignment = {role: _Place(place) for role, place in parameters.items() if place in theirs}
        missing = _missing(name, parameters, theirs)
    else:
        # A kit has too few digits of what mistakes give to take differences of.
        mistakes = () if is_frozen(reference) else right.mistakes
        functions = [right_for, *(_of_mistake(mistaken) for _, mistaken in mistakes)]
        found = _assignment(plan, module, theirs, functions)
        if isinstance(found, Outcome):
            return found
        assignment = found
    answered = []
    for case in plan.cases:
        own = theirs if case.build == plan.alike.build else module.parameters(case)
        if wrong := _misfit(name, case, assignment, own, bool(parameters)):
            return wrong
        values = _placed(rng, case, assignment, own)
        answered.append((_with_parameters(case), module.output(case, values, right_for(case))))
    outcome = compared_outcome(right, answered, rtol, atol)
    if missing and not outcome.evidence.get("looks_like"):  # a mistake that leaves a layer out may be named
        return missing
    if outcome.score < 1:
        share = partial.get(str(outcome.evidence["looks_like"]), outcome.score)
        return replace(outcome, score=share, status=Status.PARTIAL if share else Status.FAILED)
    case = plan.cases[0]
    values = _placed(rng, case, assignment, theirs)
    single = module.output(case, values, right_for(case), "float32")
    if off := difference_in(single, right_for(case), _SINGLE, _SINGLE):
        return failed(f"in float32 {name} gives other values: {off.summary}", off.detail, code="differs_in_float32")
    return _untrained(plan, module, theirs, assignment, right_for) or outcome


def _with_parameters(case: Case) -> Case:
    return replace(case, kwargs={**case.kwargs, **case.parameters})


def _placed(
    rng: np.random.Generator, case: Case, assignment: Assignment, theirs: Mapping[str, Array]
) -> dict[str, Array]:
    """All their parameters: those that play a role with its numbers, any others at random, so that their use shows."""
    values = {name: rng.normal(size=value.shape) for name, value in theirs.items()}
    for role, place in assignment.items():
        values[place.name] = _turned(case.parameters[role], theirs[place.name].shape, place.transposed)
    return values


def _missing(name: str, places: Mapping[str, str], theirs: Mapping[str, Array]) -> Outcome | None:
    for place in places.values():
        if place not in theirs:
            message = f"{name} has no parameter {place}{did_you_mean(place, [*theirs])}"
            return failed(message, code="parameter_missing")
    return None


def _misfit(name: str, case: Case, assignment: Assignment, theirs: Mapping[str, Array], named: bool) -> Outcome | None:
    """What keeps the parameters of this build from the numbers of their roles."""
    for role, place in assignment.items():
        if place.name not in theirs:
            message = f"{name} has no parameter {place.name} when it is built for {case.label}"
            return needs_review(message, code="unknown_arrangement")
        got, want = theirs[place.name].shape, case.parameters[role].shape
        if got != want if named else _key(got) != _key(want):
            message = f"{place.name} of {name} has the shape {shape(got)}, not {shape(want)} ({case.label})"
            return failed(message, code="wrong_parameter_shape")
    return None


def _assignment(
    plan: _Plan,
    module: _Module,
    theirs: Mapping[str, Array],
    functions: Sequence[Callable[[Case], Values]],
) -> Assignment | Outcome:
    """Which parameter plays which role: so that the module computes what the reference does, or one of its mistakes."""
    classes: dict[tuple[int, ...], tuple[list[str], list[str]]] = {}
    for kind, arrays in enumerate((plan.roles, theirs)):
        for name, value in arrays.items():
            classes.setdefault(_key(value.shape), ([], []))[kind].append(name)
    if any(len(roles) > len(names) for roles, names in classes.values()):
        message = f"which parameters of {module.name} are which could not be told from their shapes"
        return needs_review(message, code="unknown_arrangement")
    first = plan.cases[0]
    for function in functions:
        for assignment in islice(_by_gradients(plan, module, theirs, classes, function), _MOST_ASSIGNMENTS):
            want = function(first)
            values = _placed(np.random.default_rng(0), first, assignment, theirs)
            if difference_in(module.output(first, values, want), want, compare.RTOL, compare.ATOL) is None:
                return assignment
    message = f"the values of {module.name} are not the reference's, whichever of its parameters plays which part"
    if all(len(roles) == len(names) for roles, names in classes.values()):
        return failed(message, code="outputs_differ")
    return needs_review(message, code="unknown_arrangement")


def _of_mistake(mistaken: Callable[..., Any]) -> Callable[[Case], Values]:
    return lambda case: values_of(mistaken, _with_parameters(case))


def _by_gradients(
    plan: _Plan,
    module: _Module,
    theirs: Mapping[str, Array],
    classes: Mapping[tuple[int, ...], tuple[list[str], list[str]]],
    function: Callable[[Case], Values],
) -> Iterator[Assignment]:
    """Every assignment in which each parameter has the gradient of its role; one that has none takes what is left."""
    with np.errstate(all="ignore"):
        try:
            slopes, cotangents = plan.slopes(function)
        except ValueError:  # a mistake may need sides that agree
            return
    numbers_of = {_key(value.shape): value for value in plan.roles.values()}
    values = {
        name: _turned(numbers_of[_key(value.shape)], value.shape) if _key(value.shape) in numbers_of else value
        for name, value in theirs.items()
    }
    if difference_in(
        module.output(plan.alike, values, function(plan.alike)), function(plan.alike), _SLOPE_OFF, _SLOPE_OFF
    ):
        return
    gradients = module.gradients(plan.alike, values, cotangents)

    def has_gradient_of(role: str, place: _Place) -> bool:
        return _has_slopes(gradients.get(place.name), plan.directions[role], slopes[role], place)

    per_class = []
    for roles, names in classes.values():
        if roles:
            square = len(set(plan.roles[roles[0]].squeeze().shape)) == 1 and plan.roles[roles[0]].squeeze().ndim == 2
            places = [_Place(name, turned) for name in names for turned in ((False, True) if square else (False,))]
            fitting = {role: [place for place in places if has_gradient_of(role, place)] for role in roles}
            per_class.append(list(islice(_distinct(fitting, places), _MOST_ASSIGNMENTS)))
    for chosen in product(*per_class):
        yield {role: place for part in chosen for role, place in part.items()}


def _distinct(fitting: Mapping[str, Sequence[_Place]], places: Sequence[_Place]) -> Iterator[dict[str, _Place]]:
    """Each role with a parameter of its own."""
    choices: list[Sequence[_Place | None]] = [of or [None] for of in fitting.values()]
    for chosen in product(*choices):
        used = [place.name for place in chosen if place]
        left = [place for place in places if place.name not in used]
        missing = [role for role, place in zip(fitting, chosen, strict=True) if place is None]
        for rest in permutations(left, len(missing)):
            names = [*used, *(place.name for place in rest)]
            if len(names) == len(set(names)):
                known = {role: place for role, place in zip(fitting, chosen, strict=True) if place}
                yield known | dict(zip(missing, rest, strict=True))


def _has_slopes(gradient: Array | None, directions: Array, slopes: Sequence[float], place: _Place) -> bool:
    """Whether a parameter's gradient gives these derivatives."""
    for way, want in zip(directions, slopes, strict=True):
        got = 0.0
        if gradient is not None:
            got = float((_turned(gradient, way.shape, place.transposed) * way).sum())
        if not abs(got - want) <= _SLOPE_OFF * max(1.0, abs(want)):
            return False
    return True


def _untrained(
    plan: _Plan,
    module: _Module,
    theirs: Mapping[str, Array],
    assignment: Assignment,
    right_for: Callable[[Case], Values],
) -> Outcome | None:
    """The first parameter whose gradient is not that of its role."""
    slopes, cotangents = plan.slopes(right_for)
    values = _placed(np.random.default_rng(0), plan.alike, assignment, theirs)
    gradients = module.gradients(plan.alike, values, cotangents)
    for role, place in assignment.items():
        gradient = gradients.get(place.name)
        if not _has_slopes(gradient, plan.directions[role], slopes[role], place):
            why = "no gradient reaches it" if gradient is None else "its gradient is not that of the output"
            return failed(
                f"a parameter of {module.name} is not trained: {why}; is something detached, or under no_grad?",
                f"{quote(place.name)}, which is {role}",
                code="no_gradient" if gradient is None else "wrong_gradient",
            )
    return None
