"""Builds what students get before the deadline, and lets none of it out if an answer is found in it."""

from __future__ import annotations

import json
import shutil
import tempfile
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from grader.checks.functions import frozen
from grader.errors import RubricError, UsageError
from grader.grading.randomness import Draw
from grader.grading.secret import Secret
from grader.model import Rubric
from grader.plugins import PROBES
from grader.proving.proof import Proof, load_proof
from grader.release.decisions import decide
from grader.release.handout import read_handout
from grader.release.harness_wheel import harness_wheel
from grader.release.kit_trial import WHEELS, NoKit, answered_by_the_starter, try_kit
from grader.release.leaks import leaks_in, withheld_from
from grader.release.public_yaml import PublicPart
from grader.release.starter import pages
from grader.rubric.locating import DATA, RUBRIC, data_folders
from grader.submission.starter_code import DIGESTS, STARTER, starter_digests

SEED = 0  # what `grader check` draws public inputs from
PUBLIC_CODE = ("public", "public.py", PROBES)  # goes to students as it is; what a link points to does not
_COMPILED = shutil.ignore_patterns("__pycache__")


@dataclass(frozen=True)
class Kit:
    fates: tuple[tuple[str, str, str], ...]  # of every public check: problem, check, and whether students get it
    points: Fraction  # that are checked before the deadline
    proof: Proof | None
    unproved: str  # why there is no proof


def build_kit(rubric: Rubric, out: Path, *, data: Path | None = None, secret: Secret | None = None) -> Kit:
    """Make the kit in `out`, which must not be there yet or be empty. NoKit if an answer is found in it."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError(f"{out} is there already; choose another folder, or remove it")
    proof, unproved = _proof_of(rubric)
    handout, draw = read_handout(rubric), Draw(SEED, secret)
    decisions = decide(rubric, handout, SEED)
    part = PublicPart(rubric, decisions, draw.per_student(rubric.name))
    with tempfile.TemporaryDirectory(prefix="grader-kit-") as temporary:
        kit = Path(temporary) / "kit"
        folder = kit / "rubric" / rubric.folder.resolve().name
        (folder / DATA).mkdir(parents=True)
        for name, target in [(STARTER, kit), *((name, folder / name) for name in PUBLIC_CODE)]:
            if (source := rubric.folder / name).is_dir():
                shutil.copytree(source, target, symlinks=name != STARTER, dirs_exist_ok=True, ignore=_COMPILED)
            elif source.is_file():
                shutil.copy(source, target, follow_symlinks=False)
        for file in (*handout.data, *handout.in_place_of):
            shutil.copy(_found(handout.in_place_of.get(file, file), rubric, data), folder / DATA / file)
        text, points = part.as_yaml()
        (folder / RUBRIC).write_text(text, encoding="utf-8")
        (folder / DIGESTS).write_text(json.dumps(starter_digests(rubric), indent=1), encoding="utf-8")
        for file, questions in part.frozen.items():
            frozen.write(folder / DATA / file, list(questions), SEED)
        wheel, content = harness_wheel()
        for name, page in pages(rubric, points, wheel):
            (kit / name).write_text(page, encoding="utf-8")
            text += page
        kept = withheld_from(rubric, text, handout, data, secret, proof)
        if leaks := leaks_in(kit, kept) or answered_by_the_starter(kit, rubric, draw):
            raise NoKit("it would give away", leaks)
        (kit / WHEELS).mkdir()
        (kit / WHEELS / wheel).write_bytes(content)
        try_kit(kit, rubric, proof)
        shutil.copytree(kit, out, symlinks=True, dirs_exist_ok=True, ignore=_COMPILED)
    fates = ((one.problem.id, one.check.id, one.how) for one in decisions.values() if one.check.visibility == "public")
    return Kit(tuple(fates), points, proof, unproved)


def withheld_checks(rubric: Rubric) -> tuple[str, ...]:
    """The public checks that no kit holds, as PART:CHECK."""
    decided = decide(rubric, read_handout(rubric), SEED).values()
    later = (one for one in decided if one.later and one.check.visibility == "public")
    return tuple(dict.fromkeys(f"{one.problem.id}:{one.check.id}" for one in later))


def _proof_of(rubric: Rubric) -> tuple[Proof | None, str]:
    """The proof, or why there is none: an installed grader has no samples."""
    try:
        return load_proof(rubric), ""
    except (RubricError, UsageError) as error:
        return None, str(error).splitlines()[0]


def _found(file: str, rubric: Rubric, data: Path | None) -> Path:
    folders = data_folders(rubric.folder, data)
    if found := next((folder / file for folder in folders if (folder / file).is_file()), None):
        return found
    raise RubricError([f"students are to get {file}, and it is not in {' or '.join(map(str, folders))}"])
