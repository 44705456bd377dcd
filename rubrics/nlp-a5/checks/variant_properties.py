"""Modules whose parameters the reference cannot be run on, judged by what must hold whatever they are made of."""

from __future__ import annotations

import numpy as np

from grader import ATOL, RTOL, Array, Outcome, failed
from grader.modules import Workbench, judged_by_behaviour
from rubrics.module_recovery import behaviour

from ..public.causality import looks_ahead, moved_by
from ..public.configuration import HEADS, WIDTH

_MANY = 64  # batch items, so that every unit behind a ReLU is at work for one of them
_ATTENTION = "the scale of the scores and the order of its layers"


def of_a_synthesizer(bench: Workbench, rng: np.random.Generator, why: str) -> Outcome:
    """Weights that depend on the asking token only make its output affine in all earlier ones."""
    x = rng.normal(size=(2, 6, WIDTH))
    if wrong := looks_ahead(bench, rng, x):
        return wrong
    steps = [rng.normal(size=x.shape) for _ in range(2)]
    for step in steps:
        step[:, -1] = 0.0
    runs = bench.run((x,), (x + steps[0],), (x + steps[1],), (x + steps[0] + steps[1],)).outputs
    plain, one, other, both = (output[:, -1] for output in runs)
    if not np.allclose(both - one, other - plain, rtol=RTOL, atol=ATOL):
        message = "the weights of a token depend on earlier tokens; in a Synthesizer it proposes them by itself"
        return failed(message, code="weights_depend_on_others")
    own = np.zeros_like(x)
    own[:, -1] = rng.normal(size=(2, WIDTH))
    ahead, behind = (output[:, -1] for output in bench.run((x + own,), (x - own,)).outputs)
    if np.allclose(ahead - plain, plain - behind, rtol=RTOL, atol=ATOL):
        message = "the output is linear in the asking token: there is no ReLU and no softmax"
        return failed(message, code="linear_in_token")
    asked, asked_ahead = (output[:, -1] for output in bench.run((x + steps[0],), (x + steps[0] + own,)).outputs)
    if np.allclose(asked_ahead - asked, ahead - plain, rtol=RTOL, atol=ATOL):
        message = "what a token takes from earlier ones does not depend on itself: it proposes no weights"
        return failed(message, code="weights_ignore_token")
    if not _gives_equal_tokens_equal_answers(bench, rng):
        message = "equal tokens get different outputs at different positions: weights sum to one"
        return failed(message, code="weights_not_normalised")
    if not _order_matters(bench, x):
        message = "reordering earlier tokens changes nothing: the weights are not proposed for each position"
        return failed(message, code="weights_ignore_position")
    shown = {
        "no token sees a later one, and the output is affine in earlier tokens": True,
        "the weights depend on the asking token and on positions, and sum to one": True,
        behaviour.WEIGHED: _weighed(bench, rng, x),
    }
    return judged_by_behaviour(
        shown, "the ReLU, the biases and the scale of the scores", essential=behaviour.WEIGHED, why=why
    )


def _gives_equal_tokens_equal_answers(bench: Workbench, rng: np.random.Generator) -> bool:
    equal = np.ones((1, 6, 1)) * rng.normal(size=(2, 1, WIDTH))
    (same,) = bench.run((equal,)).outputs
    return bool(np.ptp(same, axis=1).max() <= 1e-4)


def _order_matters(bench: Workbench, x: Array) -> bool:
    """Whether the last of six tokens notices that the others change places."""
    plain, reordered = bench.run((x,), (x[:, [1, 0, 3, 2, 4, 5]],)).outputs
    return not np.allclose(plain[:, -1], reordered[:, -1], rtol=RTOL, atol=ATOL)


def _weighed(bench: Workbench, rng: np.random.Generator, tokens: Array, *rest: Array) -> bool:
    """Whether learned numbers weigh the tokens of the first input; what else there is stays as it is."""
    count = tokens.shape[1]
    equal = rng.normal(size=(_MANY, 1, WIDTH)).repeat(count, axis=1)
    near = behaviour.nearly_equal(rng, _MANY, count, WIDTH)
    others = [rng.normal(size=(_MANY, *array.shape[1:])) for array in rest]
    alike, apart = (behaviour.gradients(bench, rng, (asked, *others)) for asked in (equal, near))
    return behaviour.are_weighed([alike], apart, WIDTH)


def of_cross_attention(bench: Workbench, rng: np.random.Generator, inputs: tuple[Array, ...], why: str) -> Outcome:
    """Of a block in which the right rows ask: what else its behaviour refutes or shows. The first input is asked."""
    # The last rows see the first two tokens, mask or not.
    if behaviour.weighs_all_alike(bench, rng, inputs, (0, 1), slice(2, None)):
        return behaviour.averages(bench)
    assert not isinstance(bench.settings, list)
    same = behaviour.heads_have_no_influence(bench, inputs, {**bench.settings, "n_head": 1})
    if same:
        return behaviour.unsplit(bench, HEADS)
    shown = {
        "the right rows ask, and the weights sum to one": True,
        behaviour.WEIGHED: _weighed(bench, rng, *inputs),
        behaviour.SPLIT: same is False,
    }
    return judged_by_behaviour(
        shown, f"{_ATTENTION}, the MLP with its LayerNorm and residual", essential=behaviour.WEIGHED, why=why
    )


def _rows_that_move(before: Array, after: Array) -> set[int]:
    return {int(row) for row in np.flatnonzero(moved_by(before, after).max(axis=0) > ATOL)}


def of_a_down_projection(bench: Workbench, rng: np.random.Generator, basis: str) -> Outcome | None:
    """None if each row of the basis asks for itself, and equal tokens give the same answer however many they are."""
    x = rng.normal(size=(2, 7, WIDTH))
    (plain,) = bench.run((x,)).outputs
    rows = bench.values[basis].copy()
    row = int(rng.integers(1, rows.squeeze().shape[0]))  # under a mask, row 0 sees one token, whatever it asks
    rows.reshape(-1, WIDTH)[row] += rng.normal(size=WIDTH)
    (changed,) = bench.run((x,), values={basis: rows}).outputs
    if _rows_that_move(plain, changed) != {row}:
        message = f"changing one row of the basis of {bench.name} should change that row of its output, no other"
        return failed(message, code="rows_mixed")
    token = rng.normal(size=(1, 1, WIDTH))
    many, few = bench.run((token.repeat(7, axis=1),), (token.repeat(2, axis=1),)).outputs
    if not np.allclose(many, few, rtol=RTOL, atol=ATOL):
        message = f"seven equal tokens should give {bench.name} the same answer as two: weights sum to one"
        return failed(message, code="weights_not_normalised")
    moved = _rows_that_move(*bench.run((x,), (x + rng.normal(size=x.shape),)).outputs)
    if len(moved) != plain.shape[1]:
        return failed(f"the output of {bench.name} does not depend on x", code="input_ignored")
    return None


def of_an_up_projection(bench: Workbench, rng: np.random.Generator) -> Outcome | None:
    """None if each token asks for itself, what it asks is y, and equal rows give equal tokens equal answers."""
    y, x = rng.normal(size=(2, 5, WIDTH)), rng.normal(size=(2, 7, WIDTH))
    token = int(rng.integers(1, 7))  # under a mask, token 0 sees one row, whatever it asks
    other = x.copy()
    other[:, token] += rng.normal(size=(2, WIDTH))
    plain, asked, turned = bench.run((y, x), (y + rng.normal(size=y.shape), x), (y, other)).outputs
    if not _rows_that_move(plain, asked):
        message = f"the output of {bench.name} does not depend on y: keys and values come from y, queries from x"
        return failed(message, code="input_ignored")
    moved = _rows_that_move(plain, turned)
    if moved - {token}:
        message = f"changing one token of x changes others' outputs in {bench.name}: tokens ask y, not each other"
        return failed(message, code="rows_mixed")
    if not moved:
        message = f"the output of {bench.name} does not depend on x_input: the tokens ask, so queries come from x"
        return failed(message, code="input_ignored")
    equal = np.ones((1, 5, 1)) * rng.normal(size=(2, 1, WIDTH)), np.ones((1, 7, 1)) * rng.normal(size=(2, 1, WIDTH))
    (same,) = bench.run(equal).outputs
    if np.ptp(same, axis=1).max() > 1e-4:
        return failed(
            f"equal tokens that ask equal rows should get equal answers from {bench.name}: weights sum to one",
            code="weights_not_normalised",
        )
    return None


def of_rotary_attention(bench: Workbench, rng: np.random.Generator, why: str) -> Outcome:
    """Positions matter to whom a token attends, and not to what it gets from equal tokens."""
    x = rng.normal(size=(2, 6, WIDTH))
    if wrong := looks_ahead(bench, rng, x):
        return wrong
    if not _order_matters(bench, x):
        message = "reordering earlier tokens changes nothing: queries and keys are not rotated by their positions"
        return failed(message, code="not_rotated")
    if not _gives_equal_tokens_equal_answers(bench, rng):
        message = "equal tokens get different outputs at different positions: values should not be rotated"
        return failed(message, code="values_rotated")
    assert not isinstance(bench.settings, list)
    same = behaviour.heads_have_no_influence(bench, (x,), {**bench.settings, "n_head": 1})
    if same:
        return behaviour.unsplit(bench, HEADS)
    shown = {
        "no token sees a later one, order matters, and values keep no position": True,
        behaviour.WEIGHED: _weighed(bench, rng, x),
        behaviour.SPLIT: same is False,
    }
    return judged_by_behaviour(shown, f"the angles, {_ATTENTION}", essential=behaviour.WEIGHED, why=why)
