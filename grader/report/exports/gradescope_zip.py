"""The zip that Gradescope builds an autograder from: its two scripts, the rubric with its data, and this grader.

https://gradescope-autograders.readthedocs.io/en/latest/specs/: `setup.sh` and `run_autograder` at the root.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import zipfile
from dataclasses import dataclass
from pathlib import Path

from grader.errors import UsageError
from grader.grading.secret import Secret
from grader.model import Rubric
from grader.quoting import quote
from grader.report.exports.gradescope_results import HiddenChecks, as_text, failure
from grader.report.points import rounded, shown

_SCRIPTS = Path(__file__).parent / "gradescope_scripts"
_REPOSITORY = Path(__file__).resolve().parents[3]
_OWN_FILES = ("pyproject.toml", "assignments/pyproject.toml", "constraints.txt", "README.md")
_OWN_PACKAGES = ("grader", "reference")
_LITTER = {"__pycache__", ".DS_Store"}
_SECRET = "secret"
_MODES = {"setup.sh": 0o755, "run_autograder": 0o755, _SECRET: 0o600}
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest a zip can say; the same content gives the same bytes


@dataclass(frozen=True)
class Settings:
    data: Path | None = None
    hidden: HiddenChecks = HiddenChecks.NEVER
    leaderboard: bool = False
    unsafe: bool = False
    withheld: tuple[str, ...] = ()  # public checks, as PART:CHECK, that students see only after grades are published
    secret: Secret | None = None  # Gradescope has no other place for it; student code cannot read beyond its box


def gradescope_zip(rubric: Rubric, settings: Settings) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in sorted(_contents(rubric, settings).items()):
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = _MODES.get(name, 0o644) << 16
            archive.writestr(entry, content)
    return stream.getvalue()


def _contents(rubric: Rubric, settings: Settings) -> dict[str, bytes]:
    if not all((_REPOSITORY / name).is_file() for name in _OWN_FILES):
        raise UsageError("the zip holds this grader's source, and this installation has none; run it from a clone")
    contents = {name: (_REPOSITORY / name).read_bytes() for name in _OWN_FILES}
    for package in _OWN_PACKAGES:
        contents |= _folder(_REPOSITORY / package, package)
    contents |= _rubric_files(rubric)
    if settings.data is not None:
        contents |= _folder(settings.data, "data")
    if settings.secret is not None:
        contents[_SECRET] = settings.secret.text.encode()
    for name in ("setup.sh", "run_autograder"):
        contents[name] = _script(name, rubric, settings).encode()
    contents["HOW_TO_UPLOAD.md"] = how_to_upload(rubric, settings).encode()
    contents["ungraded.json"] = as_text(failure(rounded(rubric.points))).encode()
    return contents


def _script(name: str, rubric: Rubric, settings: Settings) -> str:
    grading = ["--rubric", f"{_home(rubric)}/{rubric.path.name}"]
    grading += ["--data", "data"] if settings.data is not None else []
    grading += ["--unsafe"] if settings.unsafe else []
    options = ["--hidden", settings.hidden.value, *(["--leaderboard"] if settings.leaderboard else [])]
    options += [word for check in settings.withheld for word in ("--after-published", check)]
    script = (_SCRIPTS / name).read_text(encoding="utf-8")
    return script.replace("@RUBRIC@", shlex.join(grading)).replace("@SHOWN@", shlex.join(options))


def how_to_upload(rubric: Rubric, settings: Settings) -> str:
    bonus = sum((problem.points for problem in rubric.problems if problem.optional), start=0 * rubric.points)
    page = (_SCRIPTS / "how_to_upload.md").read_text(encoding="utf-8")
    values = {
        "TITLE": rubric.title,
        "POINTS": shown(rubric.points),
        "BONUS": f" Bonus adds up to {shown(bonus)} on top of that, in tests with the maximum 0." if bonus else "",
        "HIDDEN": "never" if settings.hidden is HiddenChecks.NEVER else "only after you publish grades",
        "WITHHELD": ", ".join(settings.withheld) or "none",
        "SECRET": "It holds the course's secret. " if settings.secret else "",
    }
    return re.sub("@([A-Z]+)@", lambda found: values[found[1]], page)


def _rubric_files(rubric: Rubric) -> dict[str, bytes]:
    """The rubric's folder as it is and, of one of ours, the packages beside it: code that several of ours share."""
    files = _folder(rubric.folder, _home(rubric))
    if rubric.folder.resolve().parent == _REPOSITORY / "rubrics":
        for package in rubric.folder.resolve().parent.glob("*/__init__.py"):
            files |= _folder(package.parent, f"rubrics/{package.parent.name}")
    return files


def _home(rubric: Rubric) -> str:
    return f"rubrics/{rubric.folder.resolve().name}"


def _folder(folder: Path, under: str) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file() and _LITTER.isdisjoint(path.parts))
    return {f"{under}/{path.relative_to(folder).as_posix()}": path.read_bytes() for path in files}


def write_zip(content: bytes, out: Path) -> None:
    """Readable by its owner alone: it holds answers, and may hold the course's secret."""
    try:
        out.unlink(missing_ok=True)  # of a file that is there already the mode would stay
        with open(os.open(out, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(content)
    except OSError as error:
        raise UsageError(f"{quote(str(out))}: cannot be written: {error.strerror}") from None
