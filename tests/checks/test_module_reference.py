"""A module against a reference of inputs and parameters: whatever its parameters are called, and whatever is wrong."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from grader import Case, inputs
from grader.checks.modules.module_reference import reference_questions
from grader.rubric.own_functions import OfferedName, offers_in
from tests.in_process import command as grader

CHECKS = """
import numpy as np
from grader import Case, reference
from .public import HEADS


def softmax(scores):
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def mixed(ids, mask, scale, *, table, W_q, W_k, W_v, W_o, b_o):
    x = table[ids]
    def split(W):
        return (x @ W).reshape(*x.shape[:2], HEADS, -1).swapaxes(1, 2)
    q, k, v = map(split, (W_q, W_k, W_v))
    weights = softmax(np.where(mask, q @ k.swapaxes(-1, -2) * scale(q.shape[-1]), -1e9))
    return (weights @ v).swapaxes(1, 2).reshape(*x.shape[:2], -1) @ W_o + b_o, weights


def unscaled(ids, mask, **parameters):
    return mixed(ids, mask, lambda size: 1.0, **parameters)


def opposite(ids, mask, **parameters):
    return attention(ids, ~mask, **parameters)


def unprojected(ids, mask, *, table, W_q, W_k, W_v, W_o, b_o):
    eye, none = np.eye(len(b_o)), np.zeros(len(b_o))
    return mixed(ids, mask, lambda size: size**-0.5, table=table, W_q=eye, W_k=eye, W_v=eye, W_o=eye, b_o=none)


@reference(
    mistakes={
        "the scores are not scaled": unscaled,
        "the mask is read the other way round": opposite,
        "the projections are left out": unprojected,
    }
)
def attention(ids, mask, *, table, W_q, W_k, W_v, W_o, b_o):
    return mixed(ids, mask, lambda size: size**-0.5, table=table, W_q=W_q, W_k=W_k, W_v=W_v, W_o=W_o, b_o=b_o)
"""
PUBLIC = """
import numpy as np
from grader import Case, inputs

HEADS = 3


@inputs
def sentences(rng):
    for batch, length, width, words in [(2, 5, 12, 9), (3, 4, 6, 7)]:
        def weight(*sides):
            return rng.normal(size=sides) / sides[0] ** 0.5
        ids = rng.integers(words, size=(batch, length))
        mask = (rng.random((batch, 1, length, length)) < 0.6) | np.eye(length, dtype=bool)
        parameters = {name: weight(width, width) for name in ("W_q", "W_k", "W_v", "W_o")}
        parameters |= {"table": weight(words, width), "b_o": weight(width)}
        build = {"words": words, "width": width, "heads": HEADS}
        label = f"{batch} sentences of {length} words"
        yield Case(label, (ids, mask), names=("ids", "mask"), build=build, parameters=parameters)
"""
RUBRIC = """
rubric: sentences
title: Sentences
points: 2
problems:
  - id: 1.a
    title: Attention over words
    points: 2
    libraries: [numpy, torch]
    with: {file: words.py, name: Attention, inputs: sentences, reference: attention}
    checks:
      - {check: module_matches_reference, points: 2, CHOICES}
"""
WORK = """
import torch
from torch import nn

class Attention(nn.Module):
    def __init__(self, words, width, heads):
        super().__init__()
        self.heads = heads
        self.words = nn.Embedding(words, width)
        self.q, self.k, self.v = (nn.Linear(width, width, bias=False) for _ in range(3))
        self.out = nn.Linear(width, width)

    def forward(self, ids, mask):
        x = self.words(ids)
        q, k, v = (f(x).unflatten(-1, (self.heads, -1)).transpose(1, 2) for f in (self.q, self.k, self.v))
        scores = q @ k.mT / q.shape[-1] ** 0.5
        weights = scores.masked_fill(~mask, -1e9).softmax(-1)
        return self.out((weights @ v).transpose(1, 2).flatten(2)), weights
"""
BARE = """
import torch
from torch import nn

class Attention(nn.Module):
    def __init__(self, words, width, heads):
        super().__init__()
        self.heads, self.shift = heads, nn.Parameter(torch.zeros(1, 1, width))
        self.d, self.c, self.b, self.a = (nn.Parameter(torch.randn(width, width)) for _ in range(4))
        self.t = nn.Parameter(torch.randn(width, words))
        self.never = nn.Parameter(torch.randn(width, 2))

    def forward(self, ids, mask):
        x = self.t.T[ids]
        q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in (x @ self.c, x @ self.a.T, x @ self.d))
        weights = (q @ k.mT / q.shape[-1] ** 0.5).where(mask, torch.tensor(-1e9)).softmax(-1)
        return (weights @ v).transpose(1, 2).flatten(2) @ self.b.T + self.shift, weights
"""
NAMES = "parameters: {table: words.weight, W_q: q.weight, W_k: k.weight, W_v: v.weight, W_o: out.weight, b_o: out.bias}"
LAYERS = """
        self.q, self.k, self.v = (nn.Linear(width, width, bias=False) for _ in range(3))
        self.out = nn.Linear(width, width)
"""
RAW = """
        for name in ("q", "k", "v"):
            layer = nn.Module()
            layer.weight = nn.Parameter(torch.randn(width, width))
            layer.forward = lambda x, layer=layer: x @ layer.weight
            setattr(self, name, layer)
        self.out = nn.Module()
        self.out.weight, self.out.bias = nn.Parameter(torch.randn(width, width)), nn.Parameter(torch.zeros(width))
        self.out.forward = lambda x: x @ self.out.weight + self.out.bias
"""


@pytest.fixture
def judged(tmp_path: Path) -> Any:
    def judge(work: str, choices: str = "parameters: {}") -> dict[str, Any]:
        folder = tmp_path / "sentences"
        for name, text in (
            ("checks.py", CHECKS),
            ("public.py", PUBLIC),
            ("rubric.yaml", RUBRIC.replace("CHOICES", choices)),
        ):
            folder.mkdir(exist_ok=True)
            (folder / name).write_text(text)
        student = tmp_path / "class" / "kim"
        student.mkdir(parents=True)
        (student / "words.py").write_text(work)
        out = tmp_path / "kim.json"
        ran = grader("run", student, "--rubric", folder, "--json", out)
        assert ran.returncode == 0, ran.stderr
        (check,) = json.loads(out.read_text())["problems"][0]["checks"]
        return dict(check)

    return judge


@pytest.mark.parametrize("work", [WORK, BARE, WORK.replace(LAYERS, RAW)], ids=["layers", "bare", "raw"])
def test_right_work_passes_whatever_its_parameters_are_called(judged: Any, work: str) -> None:
    assert (found := judged(work))["status"] == "passed", found


def test_where_names_are_given_they_count(judged: Any) -> None:
    assert judged(WORK.replace(LAYERS, RAW), NAMES)["status"] == "passed"


@pytest.mark.parametrize(
    ("work", "choices", "code"),
    [
        (BARE, NAMES, "parameter_missing"),
        (WORK.replace("nn.Embedding(words, width)", "nn.Embedding(words + 1, width)"), NAMES, "wrong_parameter_shape"),
        (WORK.replace("nn.Embedding(words, width)", "nn.Embedding(9, width)"), "rtol: 1.0e-6", "wrong_parameter_shape"),
        (WORK.replace("weights @ v", "weights.detach() @ v"), "training: true", "wrong_gradient"),
        (WORK.replace("self.out(", "self.out.requires_grad_(False)("), "rtol: 1.0e-6", "no_gradient"),
        (WORK.replace("(weights @ v)", "(2 * weights @ v)"), "rtol: 1.0e-6", "outputs_differ"),
        (WORK.replace("self.words(ids)", "self.words(ids).half().double()"), "rtol: 1.0e-6", "outputs_differ"),
        (WORK.replace(", weights\n", "\n"), "rtol: 1.0e-6", "wrong_parts"),
        (WORK.replace("softmax(-1)", "softmax(-1) if x.dtype == torch.float64 else weights"), "rtol: 1.0e-6", "raised"),
    ],
)
def test_what_is_wrong_has_a_code(judged: Any, work: str, choices: str, code: str) -> None:
    assert (found := judged(work, choices))["code"] == code, found
    assert found["points"] == 0


@pytest.mark.parametrize("names", ["parameters: {}", NAMES])
def test_a_listed_mistake_is_named_and_earns_its_share(judged: Any, names: str) -> None:
    if names == NAMES:
        names += ", partial: {the scores are not scaled: 1/4}"
    work = (WORK if names == "parameters: {}" else WORK.replace(LAYERS, RAW)).replace(" / q.shape[-1] ** 0.5", "")
    found = judged(work, names)
    assert found["evidence"]["looks_like"] == "the scores are not scaled"
    assert (found["status"], found["points"]) == (("partial", 0.5) if "partial" in names else ("failed", 0))


def test_a_mistake_that_leaves_a_layer_out_is_named_where_its_parameter_is_missing(judged: Any) -> None:
    work = WORK.replace(LAYERS, RAW).replace("layer.forward = lambda x, layer=layer: x @ layer.weight", "pass")
    work = work.replace("(f(x).unflatten", "(x.unflatten").replace('for name in ("q", "k", "v")', 'for name in ("v",)')
    work = work.replace("in (self.q, self.k, self.v))", "in range(3))").replace(
        "x @ self.out.weight + self.out.bias", "x"
    )
    names = NAMES.replace("}", "}, partial: {the projections are left out: 1/4}")
    found = judged(work, names)
    assert (found["status"], found["points"]) == ("partial", 0.5), found


def test_parameters_of_other_shapes_need_review(judged: Any) -> None:
    packed = WORK.replace(
        LAYERS, "\n        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)\n"
    )
    packed = packed.replace("f(x).unflatten", "f.unflatten").replace(
        "for f in (self.q, self.k, self.v))", "for f in self.qkv(x).chunk(3, -1))"
    )
    assert (found := judged(packed))["status"] == "review", found
    assert found["code"] == "unknown_arrangement"


def test_parameters_whose_names_depend_on_sizes_need_review(judged: Any) -> None:
    work = WORK.replace(
        "self.words = nn.Embedding(words, width)", "self.add_module(f'n{words}', nn.Embedding(words, width))"
    )
    work = work.replace("self.words(ids)", "next(self.children())(ids)")
    assert (found := judged(work))["status"] == "review", found


def test_an_attribute_is_compared_after_what_is_returned(judged: Any) -> None:
    work = WORK.replace(", weights\n", "\n").replace("weights = scores", "self.weights = weights = scores")
    assert (found := judged(work, "attributes: [weights]"))["status"] == "passed", found


@pytest.mark.parametrize(
    ("choices", "line"),
    [
        ("parameters: {W_k: k.weight, W_w: w}", "attention takes no parameter 'W_w'"),
        ("parameters: {W_k: k.weight}", "does not say which parameter of the student's is attention's 'table'"),
        ("partial: {the mask is left out: 1/2}", "'partial' names no mistake of the reference: 'the mask is left out'"),
    ],
)
def test_a_name_that_does_not_fit_the_reference_stops_at_load(tmp_path: Path, choices: str, line: str) -> None:
    for name, text in (
        ("checks.py", CHECKS),
        ("public.py", PUBLIC),
        ("rubric.yaml", RUBRIC.replace("CHOICES", choices)),
    ):
        (tmp_path / name).write_text(text)
    ran = grader("rubric", "lint", tmp_path / "rubric.yaml")
    assert ran.returncode == 2
    assert line in ran.stderr


@pytest.mark.parametrize(
    ("file", "old", "new", "line"),
    [
        (
            "checks.py",
            "powers.sum",
            "power.sum",
            "checks.py:9: reference attention, with 2 sentences of 5 words: NameError",
        ),
        ("public.py", '"b_o": weight', '"bo": weight', "unexpected keyword argument 'bo'"),
        (
            "public.py",
            "rng.integers(words",
            "rng.integer(words",
            "reference attention, inputs sentences: AttributeError",
        ),
    ],
)
def test_a_reference_that_raises_on_its_inputs_stops_at_lint(
    tmp_path: Path, file: str, old: str, new: str, line: str
) -> None:
    texts = {"checks.py": CHECKS, "public.py": PUBLIC, "rubric.yaml": RUBRIC.replace("CHOICES", "parameters: {}")}
    assert old in texts[file]
    for name, text in texts.items():
        (tmp_path / name).write_text(text.replace(old, new) if name == file else text)
    ran = grader("rubric", "lint", tmp_path / "rubric.yaml")
    assert ran.returncode == 2
    assert line in " ".join(ran.stderr.split())


def test_all_that_the_reference_is_asked_is_known_before_a_student_is_seen() -> None:
    @inputs
    def pairs(rng: np.random.Generator) -> Iterator[Case]:
        for n in (3, 4):
            parameters = {"weight": rng.normal(size=(n, 2)), "bias": rng.normal(size=2)}
            yield Case(f"{n} rows", (rng.normal(size=(5, n)),), build={"n": n}, parameters=parameters)

    module = cast(ModuleType, SimpleNamespace(pairs=pairs, __name__=__name__))
    name = OfferedName("pairs", offers_in([module], "inputs")["pairs"])
    asked = list(reference_questions(np.random.default_rng(1), {"inputs": name}))
    assert [args[0].shape for args, _ in asked] == [(5, 3), (5, 4), *[(5, 3)] * 9]  # two steps in two directions each
    assert all(parameters.keys() == {"weight", "bias"} for _, parameters in asked)


@pytest.mark.slow
def test_a_kit_has_the_answers_to_inputs_of_its_own(tmp_path: Path) -> None:
    folder = tmp_path / "sentences"
    right, starter = folder / "samples" / "right", folder / "starter"
    for place in (right, starter):
        place.mkdir(parents=True)
    texts = {"checks.py": CHECKS, "public.py": PUBLIC, "proof.yaml": "gold: right\n"}
    for name, text in {**texts, "rubric.yaml": RUBRIC.replace("CHOICES", NAMES)}.items():
        (folder / name).write_text(text)
    (right / "words.py").write_text(WORK.replace(LAYERS, RAW))
    (starter / "words.py").write_text("from torch import nn\n\n\nclass Attention(nn.Module):\n    ...\n")
    released = grader("release", folder, "--out", tmp_path / "kit")
    assert released.returncode == 0, released.stderr
    assert "with frozen values" in " ".join(released.stdout.split())
    for work, shown in [
        (WORK.replace(LAYERS, RAW), "2 of the 2 points that are checked here"),
        (WORK.replace(LAYERS, RAW).replace(" / q.shape[-1] ** 0.5", ""), "it looks as if the scores are not scaled"),
    ]:
        (tmp_path / "kit" / "words.py").write_text(work)
        checked = grader("check", ".", cwd=tmp_path / "kit")
        assert shown in " ".join(checked.stdout.split()), checked.stdout
