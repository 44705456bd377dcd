"""Blocks whose parameters the equations cannot be run on, judged by what must hold whatever they are made of."""

from __future__ import annotations

import numpy as np

from grader import Outcome, difference, failed
from grader.modules import Workbench, judged_by_behaviour
from rubrics.module_recovery import behaviour

from ...public.image_bench import Sizes

_LONE_TOKENS = 256  # so many that every unit of a feed-forward network is at work for one of them
_PAST = "its input reaches the output past its layers"
_NORMALISED = "its output is normalised"


def of_an_encoder(bench: Workbench, rng: np.random.Generator, width: int, needed: int) -> Outcome | None:
    """None if tokens are a set, see each other with weights that sum to one, and end up normalised."""
    x = rng.normal(size=(2, 6, width))
    if few := behaviour.too_few_parameters(bench, bench.influential(rng, (x,)), needed):
        return few
    order = np.roll(np.arange(6), 2)
    other = x.copy()
    other[:, 3] += rng.normal(size=(2, width))
    equal = np.ones((1, 6, 1)) * x[:, :1]
    plain, turned, changed, same, alone = bench.run((x,), (x[:, order],), (other,), (equal,), (x[:, :1],)).outputs
    if plain.shape != x.shape:
        message = f"{bench.name} should give one output of the same width for each token"
        return failed(message, code="wrong_output_shape")
    if found := difference(turned, plain[:, order]):
        return failed(
            f"reordering the tokens does more than reorder the output of {bench.name}, {found.summary}: their places "
            "count, as with positions added inside, a mask, or heads split by view() without a transpose",
            code="token_order_counts",
        )
    if difference(changed[:, :3], plain[:, :3]) is None:
        message = f"in {bench.name} no token has any influence on the output of another"
        return failed(message, code="tokens_not_mixed")
    if difference(same[:, :1], alone):
        message = f"equal tokens should give {bench.name} the same answer as one of them: weights sum to one"
        return failed(message, code="weights_not_normalised")
    return None


def shown_of_an_encoder(
    bench: Workbench, rng: np.random.Generator, width: int, heads: int, hidden: int, why: str
) -> Outcome:
    """Of a block that is all that `of_an_encoder` asks for: what else its behaviour refutes or shows."""
    x = rng.normal(size=(2, 6, width))
    if behaviour.weighs_all_alike(bench, rng, (x,), (3, 4), slice(0, 3)):
        return behaviour.averages(bench)
    same = behaviour.heads_have_no_influence(bench, (x,), {**bench.settings, "heads": 1}) if heads > 1 else False
    if same:
        return behaviour.unsplit(bench, heads)
    lone = rng.normal(size=(_LONE_TOKENS, 1, width))
    near = behaviour.nearly_equal(rng, 2, 6, width)
    alike, apart = (behaviour.gradients(bench, rng, (tokens,)) for tokens in (lone, near))
    matrices = {name: np.zeros_like(value) for name, value in bench.values.items() if value.squeeze().ndim > 1}
    ((through,),) = bench.run_changed((x,), changes=[matrices])
    reaches = bool(matrices) and np.isfinite(through).all() and np.ptp(through, axis=(0, 1)).max() > 1e-3
    shown = {
        "tokens see each other as a set, with weights that sum to one": True,
        behaviour.WEIGHED: behaviour.are_weighed([alike], apart, width),
        behaviour.SPLIT: same is False,
        _PAST: bool(reaches),
        _NORMALISED: behaviour.is_normalised(bench.run((lone,)).outputs[0]),
    }
    left = "what its layers compute: the scale of the scores, the ReLU, both LayerNorms"
    return judged_by_behaviour(shown, left, essential=behaviour.WEIGHED, why=why)


def of_a_vit(
    bench: Workbench, rng: np.random.Generator, sizes: Sizes, adds_blocks: bool, weighs_tokens: bool, why: str
) -> Outcome:
    """It has learned numbers enough and its heads are split, or it fails; then what its behaviour shows."""
    x = sizes.images(rng, 2)
    # Patches, positions, attention, a feed-forward network no wider than the block, the head.
    needed = sizes.dim * (sizes.channels * sizes.patch**2 + sizes.patches + 6 * sizes.dim + sizes.classes)
    if few := behaviour.too_few_parameters(bench, bench.influential(rng, (x,)), needed):
        return few
    one, other = bench.run((x[:1],), (x[1:],)).outputs
    if difference(one, other) is None:
        message = f"the logits of {bench.name} do not depend on the image: no patch reaches what the head reads"
        return failed(message, code="input_ignored")
    same = behaviour.heads_have_no_influence(bench, (x,), {**bench.settings, "heads": 1})
    if same:
        return behaviour.unsplit(bench, sizes.heads)
    shown = {
        behaviour.WEIGHED: weighs_tokens,
        behaviour.SPLIT: same is False,
        "more depth adds as many blocks": adds_blocks,
    }
    return judged_by_behaviour(shown, "what its blocks and its head compute", essential=behaviour.WEIGHED, why=why)
