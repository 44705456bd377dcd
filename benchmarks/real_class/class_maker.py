"""Writes the class of `class.yaml` to folders, from the right and wrong work that tests of the checks are made of."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.model import Report, Status
from rubrics.module_recovery.tests.variant_grading import changed, right, wrong
from tests.conftest import REPOSITORY, read_yaml

CHECKS = REPOSITORY / "tests" / "checks"
SAMPLES = REPOSITORY / "submissions"
_WORK = REPOSITORY / "rubrics" / "dl-hw3" / "tests" / "attention_work"
_VARIANT_OF = {"2.3": "encoder", "2.4": "patches", "2.5": "vit"}
_NAMES = {"2.1": "attention", "2.2": "multi_head_attention", "2.4": "PatchEmbedding"}
_COURSE = ("alice/src/utils.py", "alice/src/london_baseline.py", "priya/a5/src/run.py", "priya/a5/src/layers.py")
_DEMO = ("alice/src/model.py", "alice/src/utils.py")
_ACCURACY = "test_is_right_often_enough"  # of prediction files, which these submissions do not have

Files = dict[str, str]


@dataclass(frozen=True)
class Work:
    """What is handed in for a part, and the verdict it is made for."""

    files: Files
    codes: tuple[str, ...] = ()  # all of which its lost checks have
    status: Status | None = None  # of every check that is lost, where that is certain

    @property
    def is_right(self) -> bool:
        return not self.codes and self.status is None


@dataclass(frozen=True)
class Made:
    rubric: str
    folder: Path
    parts: Mapping[str, Work]

    def faults(self, report: Report) -> list[str]:
        """Where a verdict is not the one it was made for."""
        faults = []
        for result in report.problems:
            work = self.parts[result.problem.id]
            judged = [one for one in result.checks if one.check.id != _ACCURACY]
            lost = [one.outcome for one in judged if one.outcome.status is not Status.PASSED]
            said = " ".join(f"{one.code}: {one.message} {one.detail}" for one in lost)
            if work.status and {one.status for one in lost} - {work.status, Status.SKIPPED}:
                faults.append(f"{self.folder.name} {result.problem.id} should be {work.status}: {said}")
            if bool(lost) is work.is_right or not set(work.codes) <= {one.code for one in lost}:
                faults.append(
                    f"{self.folder.name} {result.problem.id} should lose by {work.codes or 'nothing'}: {said}"
                )
        return faults


def make(folder: Path) -> list[Made]:
    """The class, one folder for each rubric."""
    listed = read_yaml(Path(__file__).parent / "class.yaml")
    made = []
    for rubric in ("nlp-a5", "dl-hw3"):
        parts = listed[rubric]["parts"]
        for number, (layout, *specs) in enumerate(listed[rubric]["work"], start=1):
            works = {part: _work(rubric, part, parts[part], spec) for part, spec in zip(parts, specs, strict=True)}
            target = folder / rubric / f"s{number:02}"
            made.append(Made(rubric, target, works))
            files = {name: text for work in works.values() for name, text in work.files.items()}
            for name, text in _laid_out(rubric, layout, files, specs).items():
                (target / name).parent.mkdir(parents=True, exist_ok=True)
                (target / name).write_text(f"{text}\n", encoding="utf-8")
    return made


def _work(rubric: str, part: str, file: str, spec: str | None) -> Work:
    if spec is None:
        return Work({}, status=Status.MISSING)
    if spec == "starter" and rubric == "nlp-a5":
        text = (REPOSITORY / "rubrics" / rubric / "starter" / file).read_text(encoding="utf-8")
        return Work({file: text}, status=Status.MISSING)
    if spec == "no syntax":
        return Work({file: "print('done'\n"}, status=Status.CRASHED)
    if spec == "no import":
        return Work({file: f"from my_helpers import {_NAMES[part]}\n"}, status=Status.CRASHED)
    if part == "2.e":
        return _span_corruption(spec)
    if part in ("2.1", "2.2"):
        if not spec.startswith("wrong "):
            return Work({file: read_yaml(_WORK / "right.yaml")[part][spec]})
        case = read_yaml(_WORK / "wrong.yaml")[part][spec[6:]]
        return Work({file: case["code"]}, (case["reason"],))
    variant, _, title = (_VARIANT_OF[part], "", spec) if part in _VARIANT_OF else spec.partition(" ")
    if not title.startswith("wrong "):
        return Work(right(variant)[title])
    (case,) = (one for one in wrong(variant) if one["name"] == title[6:])
    return Work(changed(variant, case), (case["code"],))


def _span_corruption(spec: str) -> Work:
    folder = REPOSITORY / "rubrics" / "nlp-a5" / "tests" / "span_variants"
    kind, _, names = spec.partition(" ")
    if not names:
        return Work({"dataset.py": (folder / f"{kind}.py").read_text(encoding="utf-8")})
    text, codes = (folder / "plain.py").read_text(encoding="utf-8"), []
    accepted = read_yaml(folder / "accepted.yaml") | read_yaml(Path(__file__).parent / "class.yaml")["slow"]
    departures = read_yaml(folder / "departures.yaml")
    departures = {one["name"]: one for check, those in departures.items() if check != "groups" for one in those}
    for name in names.split(" + "):
        for old, new in (accepted[name] if kind == "accepted" else departures[name]["change"]).items():
            assert old in text, f"{name}: nothing says {old!r}"
            text = text.replace(old, new)
        codes += [] if kind == "accepted" else [departures[name]["code"]]
    return Work({"dataset.py": text}, tuple(codes))


def _laid_out(rubric: str, layout: str, files: Files, specs: list[str | None]) -> Files:
    """The files where students put them, with what the course hands out beside them."""
    if layout == "notebook":
        return {"hw3.ipynb": _notebook(files)}
    everything = dict(files)
    if rubric == "nlp-a5":
        everything = {Path(name).name: (SAMPLES / name).read_text(encoding="utf-8") for name in _COURSE} | everything
        variant = (specs[-1] or "").partition(" ")[0]
        if "model.py" not in files and "models.py" not in files:
            model = (SAMPLES / "alice/src/model.py").read_text(encoding="utf-8")
            flags = {"synthesizer": "synthesizer = True", "rope": "rope = True\n    synthesizer = False"}
            everything["model.py"] = model.replace("synthesizer = False", flags.get(variant, "synthesizer = False"))
    if layout in ("helper", "package"):
        everything = _split(everything, files, "." if layout == "package" else "")
    folder = {"flat": "", "package": "homework/"}.get(layout, "src/")
    laid_out = {f"{folder}{name}": text for name, text in everything.items()}
    if layout.startswith("demo"):
        laid_out |= {f"mingpt-demo/{Path(name).name}": (SAMPLES / name).read_text(encoding="utf-8") for name in _DEMO}
    if layout.endswith("+notebook"):
        laid_out["explore.ipynb"] = _notebook({"a look": "text = open('wiki.txt').read()\nprint(len(text))"})
    return laid_out


def _split(everything: Files, own: Files, dot: str) -> Files:
    """The code of each file in a helper module, which the file itself imports from."""
    split = {"__init__.py": ""} if dot else {}
    for name, text in everything.items():
        if name not in own:
            split[name] = text
            continue
        names = re.findall(r"^(?:class|def) (\w+)", text, re.MULTILINE)
        split[name.replace(".py", "_parts.py")] = text
        split[name] = f"from {dot}{Path(name).stem}_parts import {', '.join(names)}"
    return split


def _notebook(files: Files) -> str:
    cells: list[dict[str, Any]] = []
    for name, text in files.items():
        cells.append({"cell_type": "markdown", "metadata": {}, "source": [f"## {name}"]})
        source = text.splitlines(keepends=True)
        cells.append({"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": source})
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1)
