"""A homework of another course: its functions take and return tensors, tuples and dicts."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.in_process import command as grader

pytestmark = pytest.mark.slow  # kits are made

RUBRIC = """\
rubric: captions
title: Captions
points: 4
problems:
  - id: 1.a
    title: Attention over tensors
    points: 1
    libraries: [numpy, torch]
    with: {file: captions.py, function: attend, inputs: tensors, reference: attention}
    checks:
      - {check: matches_reference, points: 1}
  - id: 1.b
    title: One step, which returns its state and its weights
    points: 2
    libraries: [numpy, torch]
    with: {file: captions.py, function: step, inputs: batches, reference: one_step}
    checks:
      - {check: matches_reference, points: 2}
  - id: 1.c
    title: Sizes by name
    points: 1
    libraries: [numpy, torch]
    with: {file: captions.py, function: sizes, inputs: batches, reference: by_name}
    checks:
      - {check: matches_reference, points: 1}
"""
PUBLIC = """
import torch

from grader import Case, inputs


def tensor(rng, *shape):
    return torch.from_numpy(rng.normal(size=shape)).float()


@inputs
def tensors(rng):
    for n in (3, 5):
        yield Case(f"q 2×{n}×7", tuple(tensor(rng, 2, n, 7) for _ in "qkv"), names=("q", "k", "v"))


@inputs
def batches(rng):
    for n, d in [(3, 4), (5, 2)]:
        mask = torch.from_numpy(rng.random((n, n)) < 0.5) | torch.eye(n, dtype=torch.bool)
        kv = (tensor(rng, n, d).requires_grad_(), tensor(rng, n, d))
        batch = {"q": tensor(rng, n, d), "kv": kv, "mask": mask, "words": ["a", None], 7: float("nan")}
        sizes = {"size": torch.Size((n, d)), "scale": float(rng.normal())}
        yield Case(f"{n} tokens of width {d}", (batch, (n, d)), sizes)
"""
CHECKS = """
import torch

from grader import reference


@reference(mistakes={"the scale is left out": lambda q, k, v: torch.softmax(q @ k.mT, dim=-1) @ v})
def attention(q, k, v):
    return torch.softmax(q @ k.mT / q.shape[-1] ** 0.5, dim=-1) @ v


@reference(mistakes={"the mask is left out": lambda batch, *_, **more: weighed(batch, batch["mask"] & False, **more)})
def one_step(batch, shape, size, scale):
    return weighed(batch, ~batch["mask"], size, scale)


def weighed(batch, forbidden, size, scale):
    k, v = batch["kv"]
    weights = torch.softmax((batch["q"] @ k.mT).masked_fill(forbidden, -torch.inf), dim=-1)
    return (weights @ v).reshape(size), {"weights": weights, "scaled": scale * weights.sum()}


@reference
def by_name(batch, shape, size, scale):
    return {"K": scale * batch["kv"][0].norm(), "shape": [*shape, *size], "q": batch["q"] + 1}
"""
RIGHT = """\
import torch


def attend(q, k, v):
    return torch.softmax(q @ k.mT / q.shape[-1] ** 0.5, dim=-1) @ v


def step(batch, shape, size, scale):
    k, v = batch["kv"]
    scores = (batch["q"] @ k.mT).detach()
    scores[~batch["mask"]] = -1e9
    weights = torch.softmax(scores, dim=-1)
    return [(weights @ v).reshape(shape), {"scaled": (scale * weights.sum()).item(), "weights": weights}]


def sizes(batch, shape, size, scale):
    return {"K": scale * batch["kv"][0].norm(), "shape": size + shape, "q": batch["q"] + 1}
"""
SAMPLES = {
    "right": [],
    "mistaken": [(" / q.shape[-1] ** 0.5", ""), ('scores[~batch["mask"]] = -1e9', "pass"), ('"K":', '"k":')],
    "off": [
        (', {"scaled": (scale * weights.sum()).item(), "weights": weights}]', ", None]"),
        ('["q"] + 1', '["q"] + 2'),
    ],
    "single": [('return {"K": ', 'return batch["q"]  # {"K": ')],
}
SAYS = {
    "right": {},
    "mistaken": {
        "1.a": "it looks as if the scale is left out",
        "1.b": "it looks as if the mask is left out",
        "1.c": "sizes() returned a dictionary with k, shape, q; a dictionary with K, shape, q was asked for",
    },
    "off": {
        "1.b": "step()[1] returned nothing (None); a dictionary with weights, scaled was asked for",
        "1.c": ": in ['q'], got",
    },
    "single": {"1.c": "sizes() returned an array; a dictionary with K, shape, q was asked for"},
}


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("course")
    for name, changes in SAMPLES.items():
        sample = folder / "captions" / "samples" / name / "captions.py"
        sample.parent.mkdir(parents=True)
        code = RIGHT
        for old, new in changes:
            assert code.count(old) == 1
            code = code.replace(old, new)
        sample.write_text(code)
    (folder / "captions" / "checks.py").write_text(CHECKS)
    (folder / "captions" / "proof.yaml").write_text(
        "gold: right\nmutate: [{problem: 1.a, file: captions.py, definitions: [attend]}]\n"
    )
    (folder / "captions" / "public.py").write_text(PUBLIC)
    (folder / "captions" / "rubric.yaml").write_text(RUBRIC)
    done = grader("release", "captions/", "--out", "kit", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder


def checks_of(text: str) -> dict[str, tuple[str, str]]:
    """Status and message by part, of the check that compares."""
    report: Any = json.loads(text)
    return {one["id"]: (one["checks"][-1]["status"], one["checks"][-1]["message"]) for one in report["problems"]}


def run(course: Path, sample: str) -> dict[str, tuple[str, str]]:
    done = grader("run", f"captions/samples/{sample}", "--rubric", "captions/", "--json", "-", cwd=course)
    assert done.returncode == 0, done.stderr
    return checks_of(done.stdout)


def check(course: Path, sample: str) -> dict[str, tuple[str, str]]:
    work = course / f"work-{sample}"
    shutil.copytree(course / "kit", work)
    shutil.copy(course / "captions" / "samples" / sample / "captions.py", work)
    done = grader("check", ".", "--json", "-", cwd=work)
    assert done.returncode == 0, done.stderr
    return checks_of(done.stdout)


def test_every_comparison_is_in_the_kit(course: Path) -> None:
    assert (course / "kit" / "rubric" / "captions" / "rubric.yaml").read_text().count("check: matches_reference") == 3


@pytest.mark.parametrize("sample", SAMPLES)
@pytest.mark.parametrize("way", [run, check])
def test_work_is_told_the_same_when_graded_and_at_home(course: Path, way: Any, sample: str) -> None:
    found = way(course, sample)
    assert {part: status for part, (status, _) in found.items() if status != "passed"} == dict.fromkeys(
        SAYS[sample], "failed"
    )
    for part, says in SAYS[sample].items():
        assert says in found[part][1]


def test_the_rubric_is_proved(course: Path) -> None:
    assert grader("rubric", "test", "captions/", "--write", cwd=course).returncode == 0
    done = grader("rubric", "test", "captions/", "--sample", "4", cwd=course)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ungraded" not in "".join(path.read_text() for path in course.glob("captions/samples/*.yaml"))
