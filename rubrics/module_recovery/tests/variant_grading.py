"""Grading the students' files under `variants/`, right ones and right ones with something changed.

Perceiver, Synthesizer and RoPE are three ways to do one problem; encoder, patches and ViT are three problems.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from grader.grading.engine import grade
from grader.grading.randomness import Draw
from grader.model import Outcome, Problem, Rubric
from grader.sandbox import BoxRunner
from tests.conftest import MakeSubmission, read_yaml, the_rubric

FOLDER = Path(__file__).parent / "variants"
RUBRIC = the_rubric("rubrics/module_recovery/tests/variants.yaml", "nlp-a5")
BLOCKS = the_rubric("rubrics/module_recovery/tests/blocks.yaml", "dl-hw3")
_BLOCK_IDS = {"encoder": "2.3", "patches": "2.4", "vit": "2.5"}
Files = dict[str, str]


def right(variant: str) -> dict[str, Files]:
    """The right files of a variant, by style. A style is a file, or a folder of several."""
    found: dict[str, Files] = {}
    for path in sorted((FOLDER / variant).iterdir()):
        if path.is_dir():
            found[path.name] = {file.name: file.read_text() for file in sorted(path.glob("*.py"))}
        elif path.suffix == ".py":
            file = f"{variant}.py" if variant in _BLOCK_IDS else "attention.py"
            found[path.stem] = {file: path.read_text()}
    return found


def wrong(variant: str) -> list[dict[str, Any]]:
    """Each with what it is made of, what is changed, which check fails and the code of the reason."""
    cases: list[dict[str, Any]] = read_yaml(FOLDER / variant / "wrong.yaml")
    return cases


def changed(variant: str, case: dict[str, Any]) -> Files:
    files = right(variant)[case.get("of", "starter")]
    for old, new in case["change"]:
        assert any(old in text for text in files.values()), f"{case['name']}: nothing says {old!r}"
        files = {name: text.replace(old, new) for name, text in files.items()}
    return files


def problem_of(variant: str) -> tuple[Rubric, Problem]:
    rubric = BLOCKS if variant in _BLOCK_IDS else RUBRIC
    (asked,) = (problem for problem in rubric.problems if problem.id == _BLOCK_IDS.get(variant, variant))
    return rubric, asked


def outcomes(
    variant: str,
    files: Files,
    boxes: BoxRunner,
    submission: MakeSubmission,
    seed: int = 0,
    only: str = "",
    **parameters: Any,
) -> dict[str, Outcome]:
    """What each check finds, or the only one asked for, with these parameters instead of its own."""
    rubric, asked = problem_of(variant)
    checks = (check for check in asked.checks if only in ("", check.id))
    asked = replace(
        asked, checks=tuple(replace(check, parameters={**check.parameters, **parameters}) for check in checks)
    )
    (problem,) = grade(replace(rubric, problems=(asked,)), submission(**files), boxes, Draw(seed, None)).problems
    return {result.check.id: result.outcome for result in problem.checks}
