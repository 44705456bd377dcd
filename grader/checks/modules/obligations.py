"""What every module is held to: shapes, batches kept apart, repeatable, trained throughout."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from grader import compare
from grader.checks.modules.workbench import Inputs, Ran, Workbench
from grader.compare import Array, difference
from grader.errors import Crashed, Killed, TimedOut
from grader.model import Outcome, Status, failed, passed
from grader.quoting import quote

_AXES = {3: "batch × tokens × width", 4: "batch × channels × height × width"}
# Steps of differences, and how far the slopes they give may be off. The first is for float64, the second for a kink of
# ReLU that lies within the first. Code that computes in float32 inside gives noise with both; larger steps then tell
# gradients from none.
STEPS = ((1e-5, 1e-4), (1e-7, 1e-4), (1e-3, 3e-2), (1e-2, 3e-2))


def wrong_shape(bench: Workbench, cases: Sequence[tuple[Inputs, tuple[int, ...]]]) -> tuple[Inputs, Outcome] | None:
    """The first inputs that do not give the shape that they should, and what is wrong; None if all do.

    The module is built once for all of them. If it crashes then, each is tried alone: the fault says on which it does.
    """
    try:
        outputs: Iterable[Array] = bench.run(*(inputs for inputs, _ in cases)).outputs
    except (TimedOut, Killed):
        raise
    except Crashed:
        outputs = (_alone(bench, inputs) for inputs, _ in cases)  # a wrong shape counts before a crash further on
    for (inputs, want), output in zip(cases, outputs, strict=True):
        if output.shape != want:
            detail = f"it gives {compare.shape(output.shape)}"
            message = f"{bench.name} should turn {_shapes(inputs)} into {compare.shape(want)}"
            return inputs, failed(message, detail, code="wrong_output_shape")
        if not np.isfinite(output).all():
            return inputs, failed(f"{bench.name} gives NaN or infinity for {_shapes(inputs)}", code="not_finite")
    return None


def _alone(bench: Workbench, inputs: Inputs) -> Array:
    try:
        return bench.run(inputs).outputs[0]
    except (TimedOut, Killed):
        raise
    except Crashed as fault:
        given = _shapes(inputs)
        if f"given {given}" in fault.message:
            raise
        axes = _AXES.get(inputs[0].ndim, "")
        message = f"{fault.message}, given {given} ({axes})"
        raise Crashed(message, fault.detail, fault.concealed, code=fault.code) from None


def _shapes(inputs: Inputs) -> str:
    return " and ".join(compare.shape(array.shape) for array in inputs)


def not_a_function_of_its_input(bench: Workbench, inputs: Inputs) -> Outcome | None:
    """None if each batch item's output depends on that item only, and on nothing sampled in forward()."""
    found = _function_of_its_input(bench, inputs)
    return found if isinstance(found, Outcome) else None


def irregular(bench: Workbench, inputs: Inputs) -> Outcome | None:
    """None if it is a function of each batch item, changes no tensor of its caller, and gives the same in float32."""
    ran = _function_of_its_input(replace(bench, watched=True), inputs)
    if isinstance(ran, Outcome):
        return ran
    if not all(np.allclose(was, now, rtol=1e-6, atol=0) for was, now in zip(inputs, ran.given[0], strict=True)):
        return failed(f"{bench.name} changes its input in place; write x = x + …, not x += …", code="changes_its_input")
    (single,) = replace(bench, precision="float32").run(inputs).outputs
    # Twenty times what float32 keeps of values near one, through a few layers.
    if found := difference(single, ran.outputs[0], rtol=1e-3, atol=1e-3):
        message = f"{bench.name} gives other values in float32 than in float64: {found.summary}"
        return failed(message, code="differs_in_float32")
    return None


def _function_of_its_input(bench: Workbench, inputs: Inputs) -> Ran | Outcome:
    items = [tuple(array[n : n + 1] for array in inputs) for n in range(len(inputs[0]))]
    ran = bench.run(inputs, inputs, *items)
    together, again, *alone = ran.outputs
    if difference(again, together):
        return _answers_twice(bench, inputs)
    for number, single in enumerate(alone):
        if found := difference(single, together[number : number + 1]):
            message = f"{bench.name}: an item's output depends on the others in its batch: {found.summary}"
            return failed(message, code="mixes_batch_items")
    once, twice = bench.run(inputs, inputs, settings=bench.strong_dropout).outputs
    return _drops_out(bench) if difference(once, twice) else ran


def _drops_out(bench: Workbench) -> Outcome:
    return failed(
        f"{bench.name} drops values out in evaluation mode as well; use nn.Dropout, or pass training=self.training",
        code="dropout_in_evaluation",
    )


def _answers_twice(bench: Workbench, inputs: Inputs) -> Outcome:
    once, twice = bench.without_dropout(inputs, inputs)
    if difference(once, twice) is None:
        return _drops_out(bench)
    return failed(
        f"{bench.name} gives two answers to one input in evaluation mode: is something drawn anew in forward()? "
        "What is learned, such as a token or a position, is drawn once, as an nn.Parameter in __init__()",
        code="not_repeatable",
    )


def made_steady(bench: Workbench, inputs: Inputs) -> Workbench | Outcome:
    """The module with its dropout off, if it drops out in evaluation mode: `not_a_function_of_its_input` says so, once.

    An outcome, if it gives two answers to one input even so.
    """
    for steady in (bench, replace(bench, dropout=False)):
        once, again = steady.run(inputs, inputs).outputs
        if difference(once, again) is None:
            return steady
    return _answers_twice(bench, inputs)


def trained(bench: Workbench, rng: np.random.Generator, inputs: Inputs) -> Outcome:
    """Gradients of everything the output depends on are those of the output."""
    (plain,) = bench.run(inputs).outputs
    cotangent = rng.normal(size=plain.shape)
    ran = bench.run(inputs, cotangents=[cotangent])
    used = bench.influential(rng, inputs)
    frozen = [name for name in bench.values if name in used and name not in bench.trainable]
    if frozen:
        return failed(
            f"{len(frozen)} of the parameters of {bench.name} have requires_grad off, so they are never trained",
            quote(", ".join(frozen)),
            code="requires_grad_off",
        )
    directions = {name: rng.normal(size=bench.values[name].shape) for name in sorted(used)}
    others = {name: rng.normal(size=way.shape) for name, way in directions.items()}
    if not _all_are_slopes(bench, inputs, ran.gradients, (directions, others), cotangent) and (
        wrong := _untrained(bench, inputs, ran.gradients, directions, cotangent)
    ):
        return wrong
    for number, gradient in enumerate(ran.input_gradients[0]):
        direction = rng.normal(size=inputs[number].shape)

        def onward(step: float, number: int = number, way: Array = direction) -> Array:
            moved = tuple(array + step * way if n == number else array for n, array in enumerate(inputs))
            return bench.run(moved).outputs[0]

        if not _is_slope(gradient, direction, onward, cotangent):
            return failed(
                f"the gradient of {bench.name} with respect to its input is not that of the output; "
                "is something detached, or under no_grad?",
                code="wrong_input_gradient",
            )
    idle = len(bench.values) - len(used)
    return passed("every parameter it uses is trained", evidence={"parameters": len(used), "without_influence": idle})


def _all_are_slopes(
    bench: Workbench,
    inputs: Inputs,
    gradients: Mapping[str, Array],
    ways: Sequence[Mapping[str, Array]],
    cotangent: Array,
) -> bool:
    """Whether all gradients together agree with differences, where all parameters move at once along each of `ways`.

    Together they may be off by no more than one may be alone, so a wrong one does not hide among many. Two wrong ones
    make up for each other along one way with a probability of some 10⁻⁴ (the tolerance; slopes are near one), which is
    how often one is not noticed alone; along both ways with 10⁻⁸.
    """
    step, off = STEPS[0]
    changes = [
        {name: bench.values[name] + moved * direction for name, direction in way.items()}
        for way in ways
        for moved in (step, -step)
    ]
    outputs = [output for (output,) in bench.run_changed(inputs, changes=changes)]
    for way, ahead, behind in zip(ways, outputs[::2], outputs[1::2], strict=True):
        got = sum(float((gradients[name] * way[name]).sum()) for name in way if name in gradients)
        want = float((cotangent * (ahead - behind)).sum() / (2 * step))
        if not abs(got - want) <= off:
            return False
    return True


def _untrained(
    bench: Workbench,
    inputs: Inputs,
    gradients: Mapping[str, Array],
    directions: Mapping[str, Array],
    cotangent: Array,
) -> Outcome | None:
    """The first parameter whose gradient is not that of the output."""
    near = [(name, sign * STEPS[0][0]) for name in directions for sign in (1, -1)]
    changes = [{name: bench.values[name] + step * directions[name]} for name, step in near]
    known = dict(zip(near, bench.run_changed(inputs, changes=changes), strict=True))  # asked for all at once
    for name, direction in directions.items():
        gradient = gradients.get(name)

        def along(step: float, name: str = name, way: Array = direction) -> Array:
            if (name, step) in known:
                return known[name, step][0]
            return bench.run(inputs, values={name: bench.values[name] + step * way}).outputs[0]

        if not _is_slope(gradient, direction, along, cotangent):
            return failed(
                f"a parameter of {bench.name} is not trained: "
                + ("no gradient reaches it" if gradient is None else "its gradient is not that of the output")
                + "; is something detached, or under no_grad?",
                quote(name),
                code="no_gradient" if gradient is None else "wrong_gradient",
            )
    return None


def _is_slope(gradient: Array | None, direction: Array, along: Callable[[float], Array], cotangent: Array) -> bool:
    """Whether a gradient agrees with differences of the outputs along one direction."""
    got = float((gradient * direction).sum()) if gradient is not None else 0.0
    for step, off in STEPS:
        want = float((cotangent * (along(step) - along(-step))).sum() / (2 * step))
        if abs(got - want) <= off * max(1.0, abs(want)):
            return True
    return False


def judged_by_behaviour(
    shown: Mapping[str, bool],
    left: str,
    *,
    essential: str = "",
    code: str = "unknown_arrangement",
    why: str = "no formula could be run on its parameters as they are arranged",
) -> Outcome:
    """Points for what was shown of all that is asked; next to none where what is essential was not shown.

    A person looks, because behaviour lets some mistakes through (a missing scale, say) that values would not.
    """
    seen, unseen = ([what for what, was in shown.items() if was is wanted] for wanted in (True, False))
    total = len(shown) + 1  # and what is left
    share = Fraction(len(seen) if shown.get(essential, True) else 1, total)
    message = f"{why}. Its behaviour shows: {'; '.join(seen)}"
    if unseen:
        message += f". It does not show: {'; '.join(unseen)}"
    message += f". A person decides about {'that and about ' if unseen else ''}{left}"
    evidence = {"judged_by": "properties", "held": seen, "not_shown": unseen}
    return Outcome(Status.REVIEW, share, message, evidence=evidence, code=code)
