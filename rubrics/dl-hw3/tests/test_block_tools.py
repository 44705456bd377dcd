"""What the checks of encoder block and ViT rest on: their equations are the reference's, and nothing else is."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from rubric_dl_hw3.checks.recovery.block_anatomy import Anatomy
from rubric_dl_hw3.checks.recovery.block_fits import ManyTokens, OneToken, unlike_alone
from rubric_dl_hw3.checks.recovery.vit_stack import layer_names

from grader import compare
from reference import transformer
from reference.mistakes.encoder_blocks import POST, PRE, Variant
from reference.mistakes.mixing import RIGHT, SELF_ATTENTION
from rubrics.module_recovery.fits import agree
from rubrics.module_recovery.layers import mlps, norms

RNG = np.random.default_rng(3)
WIDTH, HEADS, HIDDEN = 12, 3, 7
X = RNG.normal(size=(2, 5, WIDTH))


def _reference(order: str, activation: str) -> tuple[dict[str, np.ndarray], np.ndarray]:  # type: ignore[type-arg]
    """Random parameters of the reference's block, and its output for X."""
    norm = "pre" if order == PRE else "post"
    block = transformer.EncoderBlock(WIDTH, HEADS, HIDDEN, norm, activation.lower()).double()  # type: ignore[arg-type]
    values = {name: RNG.normal(size=tuple(value.shape)) for name, value in block.named_parameters()}
    block.load_state_dict({name: torch.tensor(value) for name, value in values.items()})
    with torch.no_grad():
        return values, block(torch.tensor(X)).numpy()


def _anatomy(values: dict[str, np.ndarray]) -> Anatomy:  # type: ignore[type-arg]
    names = frozenset(values)
    found = tuple(mlps(values, WIDTH, HIDDEN)), tuple(norms(values, WIDTH))
    return Anatomy(values, WIDTH, HEADS, names, names, *found)


def _read(values: dict[str, np.ndarray], variant: Variant, mistake: str = RIGHT) -> list[np.ndarray]:  # type: ignore[type-arg]
    """The block in each mix of that name, with the reference's own layers in their roles."""
    anatomy = _anatomy(values)

    def named(found: list, role: str):  # type: ignore[type-arg,no-untyped-def]
        return next(each for each in found if f".{role}." in each.weight and each.layout[0] == "head")

    q, k, v = (named(anatomy.inward, role) for role in ("query", "key", "value"))
    out = named(anatomy.outward, "output")
    both = tuple(
        next(norm for norm in anatomy.norms if norm.gain.startswith(name))
        for name in ("attention_norm", "feed_forward_norm")
    )
    single = OneToken(v, out, anatomy.mlps[0], both, variant, None, lambda x: x)  # type: ignore[arg-type]
    return [ManyTokens(single, q, k, HEADS, mistake, mix).run(X) for mix in SELF_ATTENTION[mistake]]


@pytest.mark.parametrize("order", [POST, PRE])
@pytest.mark.parametrize("activation", ["ReLU", "GELU"])
def test_the_right_equations_are_the_references(order: str, activation: str) -> None:
    values, want = _reference(order, activation)
    (got,) = _read(values, Variant(order, activation))
    assert np.allclose(got, want, atol=1e-10)


@pytest.mark.parametrize("mistake", [mistake for mistake in SELF_ATTENTION if mistake != RIGHT])
def test_each_mistake_of_the_attention_gives_other_values(mistake: str) -> None:
    values, want = _reference(POST, "ReLU")
    for got in _read(values, Variant(), mistake):
        assert not np.allclose(got, want, rtol=1e-3, atol=1e-3)


def test_heads_as_wide_as_the_block_are_not_tried_for_minutes() -> None:
    """Fifteen layers for four roles would be millions of fits; each takes about 0.3 ms."""
    values, _ = _reference(POST, "ReLU")
    values |= {f"heads.{n}.weight": RNG.normal(size=(WIDTH, WIDTH)) for n in range(11)}
    anatomy = _anatomy(values)
    assert not anatomy.is_too_much
    assert 10_000 < sum(1 for _ in unlike_alone(anatomy, [Variant()])) < 100_000


def test_one_number_in_a_name_counts_the_blocks() -> None:
    one = dict.fromkeys(["head.0.w", "blocks.0.norm1.w", "blocks.0.norm2.w"])
    many = dict.fromkeys(["head.0.w", *(f"blocks.{n}.norm{m}.w" for n in range(3) for m in (1, 2))])
    assert layer_names(one, many, 3) == {
        "head.0.w": ["head.0.w"],
        "blocks.0.norm1.w": ["blocks.0.norm1.w", "blocks.1.norm1.w", "blocks.2.norm1.w"],
        "blocks.0.norm2.w": ["blocks.0.norm2.w", "blocks.1.norm2.w", "blocks.2.norm2.w"],
    }
    assert layer_names(one, one, 3) == {name: [name] for name in one}
    assert layer_names(one, dict.fromkeys(["other"]), 3) is None


@pytest.mark.parametrize("value", [0.0, 1.0, 1 + 1e-9, 1.1, np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("other", [1.0, np.inf, np.nan])
def test_agreement_is_that_of_numpy(value: float, other: float) -> None:
    one, two = np.array([1.0, value]), np.array([1.0, other])
    assert agree(two, one) == np.allclose(one, two, rtol=compare.RTOL, atol=compare.ATOL)
