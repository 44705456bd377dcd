"""Builds what students get before the deadline, and lets none of it out if an answer is found in it."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from grader.checks.functions import frozen
from grader.errors import RubricError, StaffFault, UsageError
from grader.grading.randomness import Draw
from grader.grading.secret import Secret
from grader.model import Rubric
from grader.plugins import PROBES
from grader.proving.proof import Proof
from grader.release.decisions import decide, listing
from grader.release.handout import read_handout, starter_files
from grader.release.harness_wheel import harness_wheel
from grader.release.kit_trial import answered_by_the_starter, try_kit
from grader.release.leaks import WHEELS, Leak, leaks_in
from grader.release.public_yaml import PublicPart, as_yaml
from grader.release.starter import answer_sheet, declaration, name_of, readme, without_a_starter
from grader.release.withheld import withheld_from
from grader.rubric.loading import load_rubric
from grader.rubric.locating import DATA, RUBRIC, data_folders
from grader.selfcheck.begun import DIGESTS, as_digests

PUBLIC_CODE = ("public", "public.py", PROBES)  # of a rubric's folder: it goes to students as it is
_COMPILED = shutil.ignore_patterns("__pycache__")
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
    handout, draw = read_handout(rubric), Draw(SEED, secret)
    decisions = decide(rubric, handout, SEED)
    part = PublicPart(rubric, decisions, handout, draw.per_student(rubric.name))
    written = as_yaml(part.data())
    with tempfile.TemporaryDirectory(prefix="grader-kit-") as temporary:
        kit = Path(temporary) / "kit"
        folder = kit / "rubric" / name_of(rubric)
        for name, content in starter_files(rubric).items():
            _write(kit / name, content)
        _write(folder / DIGESTS, as_digests(starter_files(rubric)).encode())
        for file in handout.data:
            _write(folder / DATA / file, _found(file, rubric, data).read_bytes())
        for file, decision in part.frozen.items():
            frozen.write(folder / DATA / file, list(decision.frozen), SEED)
        for path in PUBLIC_CODE:
            _copy(rubric.folder / path, folder / path)
        _write(folder / RUBRIC, written.encode())
        wheel, content = harness_wheel()
        _write(kit / WHEELS / wheel, content)
        public = load_rubric(folder / RUBRIC)
        _write(kit / "submission.yaml", declaration(rubric).encode())
        if sheet := answer_sheet(rubric):
            _write(kit / "answers.md", sheet.encode())
        _write(kit / "README.md", readme(rubric, public, wheel).encode())
        leaks = leaks_in(kit, withheld_from(rubric, written, handout, data, secret))
        if leaks := leaks or list(answered_by_the_starter(rubric, draw)):
            raise Leaking(leaks)
        try_kit(kit, rubric, proof)
        shutil.copytree(kit, out, dirs_exist_ok=True, ignore=_COMPILED)
    return Kit(tuple(listing(decisions, rubric)), public, tuple(without_a_starter(rubric)))


def withheld_checks(rubric: Rubric) -> tuple[str, ...]:
    """The public checks that no kit holds, as PART:CHECK."""
    decisions = decide(rubric, read_handout(rubric), SEED)
    public = [(part.id, one) for part in rubric.problems for one in part.every_check if one.visibility == "public"]
    return tuple(dict.fromkeys(f"{part}:{one.id}" for part, one in public if decisions[id(one)].later))


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def _copy(source: Path, target: Path) -> None:
    """A file or a folder, if it is there."""
    if source.is_dir():
        shutil.copytree(source, target, ignore=_COMPILED)
    elif source.is_file():
        shutil.copy(source, target)


def _found(file: str, rubric: Rubric, data: Path | None) -> Path:
    folders = data_folders(rubric.folder, data)
    for folder in folders:
        if (folder / file).is_file():
            return folder / file
    raise RubricError([f"students are to get {file}, and it is not in {' or '.join(map(str, folders))}"])
