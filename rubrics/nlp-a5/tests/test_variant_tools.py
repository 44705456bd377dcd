"""What the checks of the variants rest on: their arithmetic is the reference's, and stubs are told from work."""

from __future__ import annotations

import re

import numpy as np
import pytest
import torch
from rubric_nlp_a5.public.configuration import BOTTLENECK, HEADS, WIDTH

from grader.submission.alternatives import handed_in as alternatives_in
from reference import gpt, gpt_variants, rope
from reference.equations import Array, Function, layer_norm
from reference.mistakes.diagnosis import Diagnosis
from reference.mistakes.encoder_blocks import NORMS, ORDERS
from reference.mistakes.mixing import CROSS_ATTENTION, SELF_ATTENTION
from reference.mistakes.rotary import ANGLES, ROTATED
from reference.mistakes.synthesis import MISTAKES
from reference.perceiver_blocks import CrossAttention, Following
from reference.rope import angles, turn
from reference.variations import Mixing, RotaryMixing, Synthesis
from rubrics.module_recovery.tests.variant_grading import Files, right
from tests.conftest import MakeSubmission, the_rubric

RNG = np.random.default_rng(5)
VARIANT = next(problem for problem in the_rubric("rubrics/nlp-a5/rubric.yaml").problems if problem.id == "2.g.i")


def test_layer_norm_is_torchs() -> None:
    x, gain, shift = (RNG.normal(size=size) for size in ((2, 3, 8), (8,), (8,)))
    want = torch.nn.functional.layer_norm(*map(torch.tensor, (x,)), [8], torch.tensor(gain), torch.tensor(shift))
    assert np.allclose(layer_norm(x, gain, shift), want.numpy(), atol=1e-12)


@pytest.mark.parametrize("dim", [4, 8, 64])
def test_rotation_is_the_references(dim: int) -> None:
    x = RNG.normal(size=(2, 3, 11, dim))
    want = rope.apply_rotary_emb(torch.tensor(x), rope.precompute_rotary_emb(dim, 20)).numpy()
    assert np.allclose(turn(x, angles(dim, 11), np.arange(dim).reshape(-1, 2)), want, atol=1e-12)


def test_one_reading_of_a_block_up_is_the_references() -> None:
    config = gpt.GPTConfig(vocabulary=7, heads=HEADS, width=WIDTH, variant="perceiver", bottleneck=BOTTLENECK)
    block = gpt_variants.UpProjectBlock(config).double()
    values = {name: RNG.normal(size=tuple(value.shape)) for name, value in block.named_parameters()}
    block.load_state_dict({name: torch.tensor(value) for name, value in values.items()})
    y, x = RNG.normal(size=(2, BOTTLENECK, WIDTH)), RNG.normal(size=(2, 7, WIDTH))

    def layer(name: str) -> Function:
        return lambda rows: rows @ values[f"{name}.weight"].T + values[f"{name}.bias"]

    def norm(name: str) -> Function:
        return lambda rows: layer_norm(rows, values[f"{name}.weight"], values[f"{name}.bias"])

    norms, (widen, narrow) = _named(values, sides=1), _named(values, among="mlp", sides=2)
    q, k, v, out = (layer(f"attention.{role}") for role in ("query", "key", "value", "output"))
    attention = CrossAttention(q, k, v, out, Mixing(masked=True), norm(norms[0]), None)
    attended = attention.completed(attention.mixed(y, x, HEADS), x)
    with torch.no_grad():
        want = block(torch.tensor(y), torch.tensor(x)).numpy()
    given = Following("GELU", norm(norms[1]))(attended, lambda rows, active: layer(narrow)(active(layer(widen)(rows))))
    assert np.allclose(given, want, atol=1e-10)


def _named(values: dict[str, Array], sides: int, among: str = "") -> list[str]:
    """The layers whose weights have so many axes, in order."""
    found = (
        name for name, value in values.items() if value.ndim == sides and name.endswith("weight") and among in name
    )
    return [name.removesuffix(".weight") for name in found]


def test_wrong_angles_differ_from_right_ones() -> None:
    for wrong in ANGLES.values():
        assert not np.allclose(wrong(8, 9), angles(8, 9))


@pytest.mark.parametrize("mistake", ROTATED)
def test_each_mistake_of_the_rotation_gives_other_values(mistake: str) -> None:
    q, k, v = (RNG.normal(size=(2, 5, WIDTH)) for _ in range(3))
    pairs = np.arange(WIDTH // HEADS).reshape(-1, 2)
    assert not np.allclose(ROTATED[mistake](q, k, v, HEADS, pairs), RotaryMixing()(q, k, v, HEADS, pairs), atol=1e-3)


@pytest.mark.parametrize("mistake", MISTAKES)
def test_each_mistake_of_a_synthesizer_gives_other_values(mistake: str) -> None:
    hidden, v = (RNG.normal(size=(2, 5, WIDTH)) for _ in range(2))
    w2, b2 = RNG.normal(size=(WIDTH // HEADS, 8)), RNG.normal(size=8)
    got, want = (each(hidden, lambda x: x @ w2 + b2, v, HEADS) for each in (MISTAKES[mistake], Synthesis()))
    assert not np.allclose(got, want, atol=1e-3)


@pytest.mark.parametrize("table", [ANGLES, CROSS_ATTENTION, MISTAKES, NORMS, ORDERS, ROTATED, SELF_ATTENTION])
def test_each_mistake_has_a_code(table: dict[Diagnosis, object]) -> None:
    """What a table begins with is right."""
    wrong = [mistake for number, mistake in enumerate(table) if number or mistake.code]
    assert [str(mistake) for mistake in wrong if not re.fullmatch(r"[a-z]+(_{1,2}[a-z]+)*", mistake.code)] == []


STUBS = {
    "pass": "class SynthesizerAttention:\n    def __init__(self, config): self.n = 1\n    def forward(self, x): pass\n",
    "raising": "def precompute_rotary_emb(dim, n):\n    '''Fill in.'''\n    raise NotImplementedError\n"
    "def apply_rotary_emb(x, c):\n    rotated_x = None\n    return rotated_x\n",
    "half": "def precompute_rotary_emb(dim, n):\n    return dim * n\ndef apply_rotary_emb(x, c):\n    ...\n",
    "not Python": "def precompute_rotary_emb(dim, n)\n",
}


@pytest.mark.parametrize("kind", STUBS)
def test_a_stub_is_no_variant(submission: MakeSubmission, kind: str) -> None:
    handed_in = submission(**{"attention.py": STUBS[kind]})
    assert alternatives_in(VARIANT, handed_in) == []


ROTARY, SYNTHESIZER = (right(variant)["starter"]["attention.py"] for variant in ("rope", "synthesizer"))


@pytest.mark.parametrize(
    ("files", "want"),
    [
        ({"attention.py": ROTARY}, ["rope"]),
        ({"attention.py": ROTARY + SYNTHESIZER}, ["synthesizer", "rope"]),
        ({"a5/src/models.py": right("perceiver")["one_file"]["models.py"]}, ["perceiver"]),
        ({"attention.py": SYNTHESIZER, **right("perceiver")["bare"]}, ["perceiver", "synthesizer"]),
        ({"notes.py": ""}, []),
    ],
)
def test_every_complete_variant_is_listed(submission: MakeSubmission, files: Files, want: list[str]) -> None:
    handed_in = submission(**files)
    assert [one.name for one in alternatives_in(VARIANT, handed_in)] == want
