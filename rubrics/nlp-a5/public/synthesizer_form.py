"""The synthesizer judged by its lengths, its mask and its gradients."""

from __future__ import annotations

import numpy as np

from grader import Array, Crashed, Killed, Outcome, Student, StudentFile, TimedOut, check, failed, passed
from grader.modules import not_a_function_of_its_input, trained, wrong_shape

from .causality import looks_ahead
from .configuration import BLOCK, WIDTH, build

NAME = "SynthesizerAttention"
LONGEST = BLOCK - 1


def drawn_inputs(rng: np.random.Generator) -> list[tuple[Array]]:
    return [(rng.normal(size=(batch, length, WIDTH)),) for batch, length in ((2, LONGEST), (3, 5), (1, 1), (1, 2))]


@check(group="values")
def synthesizes_at_every_length(
    student: Student, rng: np.random.Generator, *, file: StudentFile, name: str = NAME
) -> Outcome:
    """It takes any batch and every length up to block_size − 1, and keeps the items of a batch apart."""
    bench = build(student, rng, [file], name, (rng.normal(size=(1, LONGEST, WIDTH)),), synthesizer=True, additive=True)
    lengths = [(1, LONGEST), (2, LONGEST), *((2, length) for length in range(1, LONGEST))]
    shaped = [(rng.normal(size=size), size) for size in ((batch, length, WIDTH) for batch, length in lengths)]
    x = rng.normal(size=(3, 5, WIDTH))
    for given, size in shaped:
        try:
            found = wrong_shape(bench, [((given,), size)])
        except (TimedOut, Killed):
            raise
        except Crashed as fault:
            if size[1] == LONGEST:
                raise
            message = f"{fault.message}; it runs with {LONGEST} tokens: w₂, b₂ or the mask is not cut to T"
            raise Crashed(message, fault.detail, fault.concealed, code="not_cut_to_length") from None
        if found:
            return found[1]
    right = passed(f"it runs at all {LONGEST} lengths", evidence={"lengths": LONGEST})
    return not_a_function_of_its_input(bench, (x,)) or right


@check(group="values")
def synthesizer_ignores_the_future(
    student: Student, rng: np.random.Generator, *, file: StudentFile, name: str = NAME
) -> Outcome:
    """A token's output depends on itself and on earlier tokens, and on no later one."""
    (x,) = drawn_inputs(rng)[0]
    bench = build(student, rng, [file], name, (x,), synthesizer=True, additive=True)
    return looks_ahead(bench, rng, x) or passed("no token sees a later one")


@check(group="values")
def synthesizer_is_trained(
    student: Student, rng: np.random.Generator, *, file: StudentFile, name: str = NAME
) -> Outcome:
    """Gradients flow back to its input and to every parameter it uses, w₂ and b₂ among them."""
    (x,) = drawn_inputs(rng)[0]  # the longest: that other lengths fail is another check's matter
    bench = build(student, rng, [file], name, (x,), synthesizer=True, additive=True)
    if len(bench.values) == 0:
        return failed(f"{name} has no parameters: nothing of it is trained or saved", code="no_parameters")
    return trained(bench, rng, (x,))
