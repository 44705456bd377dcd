"""Builds what students get before the deadline, and lets none of it out if an answer is found in it."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from grader.checks.functions import frozen
from grader.errors import RubricError, StaffFault, UsageError
from grader.grading.randomness import Draw
from grader.grading.secret import Secret
from grader.model import Rubric
from grader.proving.proof import Proof
from grader.release.decisions import Decisions, decide, listing, released
from grader.release.handout import read_handout
from grader.release.kit_trial import try_kit
from grader.release.leaks import Leak, leaks_in
from grader.release.needs import CheckCode, code_of, inputs_of
from grader.release.public_yaml import PublicPart, Written, as_yaml
from grader.release.sources import Module
from grader.release.starter import answer_sheet, declaration, readme, starter_files, without_a_starter
from grader.release.students_source import students_source, without_words
from grader.release.trials import answers_among
from grader.release.wheel import wheel
from grader.release.withheld import withheld_from
from grader.rubric.catalogue import known_checks, name_beside
from grader.rubric.loading import load_rubric
from grader.rubric.locating import own_checks
from grader.selfcheck.begun import DIGESTS, as_digests

SEED = 0  # what `grader check` draws public inputs from


class Leaking(StaffFault):
    """An answer was found in the kit, so there is none."""

    def __init__(self, leaks: list[Leak]) -> None:
        lines = "\n".join(f"  {leak}" for leak in leaks)
        super().__init__(f"no kit was made, because it would give away:\n{lines}")
        self.leaks = leaks


@dataclass(frozen=True)
class Kit:
    fates: tuple[tuple[str, str, str], ...]  # problem, check, and whether students get it
    public: Rubric
    without_a_starter: tuple[str, ...]


def build_kit(
    rubric: Rubric, out: Path, *, data: Path | None = None, secret: Secret | None = None, proof: Proof | None = None
) -> Kit:
    """Make the kit in `out`, which must not be there yet or be empty. With a proof its reference solution is tried."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError(f"{out} is there already; choose another folder, or remove it")
    handout = read_handout(rubric)
    beside = _beside(rubric)
    decisions = decide(rubric, handout, beside, SEED)
    part = PublicPart(rubric, decisions, handout, Draw(SEED, secret).per_student(rubric.name))
    written = part.data()
    with tempfile.TemporaryDirectory(prefix="grader-kit-") as temporary:
        kit = Path(temporary) / "kit"
        folder = kit / "rubric" / rubric.path.stem
        for name, content in starter_files(rubric).items():
            _write(kit / name, content)
        _write(folder / DIGESTS, as_digests(starter_files(rubric)).encode())
        for file in handout.data:
            _write(folder / file, _found(file, rubric, data).read_bytes())
        for file, decision in part.frozen.items():
            frozen.write(folder / file, list(decision.frozen), SEED)
        _write(kit / "rubric" / rubric.path.name, as_yaml(written).encode())
        codes = [*_codes(written, rubric, beside), *_inputs(rubric, decisions, beside)]
        files = students_source(module for code in codes for module in code.modules)
        if own := frozenset(name for code in codes for name in code.definitions):
            assert beside is not None
            _write(kit / "rubric" / beside.path.name, without_words(beside, own).encode())
        wheel_name, content = wheel(files, rubric.name)
        _write(kit / "wheel" / wheel_name, content)
        public = load_rubric(kit / "rubric" / rubric.path.name)
        _write(kit / "submission.yaml", declaration(rubric).encode())
        if sheet := answer_sheet(rubric, beside):
            _write(kit / "answers.md", sheet.encode())
        _write(kit / "README.md", readme(rubric, public, wheel_name, beside).encode())
        if leaks := leaks_in(kit, withheld_from(rubric, written, handout, data, secret)):
            raise Leaking(leaks)
        if leaks := list(_answers_in_code(kit, rubric, files)):
            raise Leaking(leaks)
        if proof is not None:
            try_kit(kit, rubric, proof)
        # Loading the rubric compiled its checks.
        shutil.copytree(kit, out, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    return Kit(tuple(listing(decisions, rubric)), public, tuple(without_a_starter(rubric)))


def withheld_checks(rubric: Rubric) -> tuple[str, ...]:
    """The public checks that no kit holds, as PART:CHECK."""
    decisions = decide(rubric, read_handout(rubric), _beside(rubric), SEED)
    public = [(part.id, one) for part in rubric.problems for one in part.every_check if one.visibility == "public"]
    return tuple(dict.fromkeys(f"{part}:{one.id}" for part, one in public if decisions[id(one)].later))


def _beside(rubric: Rubric) -> Module | None:
    """The rubric's own file of checks, if it has one."""
    path = own_checks(rubric.path)
    return Module(name_beside(path), path) if path else None


def _answers_in_code(kit: Path, rubric: Rubric, students_grader: Mapping[str, bytes]) -> Iterator[Leak]:
    """Code that came with the rubric and would do for what students are to write."""
    for path in sorted((kit / "rubric").rglob("*.py")):
        where = path.relative_to(kit).as_posix()
        for answering in answers_among(Module(path.stem, path), rubric, students_grader):
            yield Leak(where, str(answering))


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def _found(file: str, rubric: Rubric, data: Path | None) -> Path:
    folders = [folder for folder in (data, rubric.path.parent / rubric.path.stem) if folder is not None]
    for folder in folders:
        if (folder / file).is_file():
            return folder / file
    raise RubricError([f"students are to get {file}, and it is not in {' or '.join(map(str, folders))}"])


def _inputs(rubric: Rubric, decisions: Decisions, beside: Module | None) -> Iterator[CheckCode]:
    for problem in rubric.problems:
        for decision in released(decisions, problem.every_check):
            yield from inputs_of(decision.check, beside)


def _codes(written: Written, rubric: Rubric, beside: Module | None) -> Iterator[CheckCode]:
    known = known_checks(rubric.path)
    for problem in written["problems"]:
        for one in (problem, *problem.get("alternatives", ())):
            for check in one.get("checks", ()):
                code = code_of(known[check["check"]], beside)
                assert code is not None
                yield code
