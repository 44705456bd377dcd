"""What students were given to begin with: `starter/` beside a rubric; in a kit only digests of it, because copies would
be taken for a second attention.py in the submission."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from grader.errors import StudentFault
from grader.model import Check, Outcome, Rubric, Status, Submission, is_code
from grader.sandbox.box.reading.source_text import blocks, code_of

STARTER, DIGESTS = "starter", "starter.json"
_WHOLE = ""  # the name under which the digest of a whole file goes

Digests = Mapping[str, Mapping[str, str]]  # by path and by name of what is defined at the margin


def starter_folder(rubric: Rubric) -> Path:
    return rubric.folder / STARTER


def starter_digests(rubric: Rubric) -> Digests:
    try:
        found: Digests = json.loads((rubric.folder / DIGESTS).read_text(encoding="utf-8"))
        return found
    except (OSError, ValueError):
        folder = starter_folder(rubric)
        return {path.relative_to(folder).as_posix(): _digests_of(path) for path in sorted(folder.rglob("*.py"))}


def is_untouched(path: Path, starter: Digests) -> bool:
    """Whether a file is as it was given out, but for what editors change by themselves at the ends of lines."""
    return _digest(path.read_bytes()) in _given(path.name, _WHOLE, starter)


def not_begun(outcome: Outcome, check: Check, submission: Submission, rubric: Rubric) -> Outcome:
    """What earned nothing is not started if all that the check asks of a file is as it was given out."""
    if outcome.score or outcome.status not in (Status.FAILED, Status.CRASHED) or not check.names:
        return outcome
    starter = starter_digests(rubric)
    for file in filter(is_code, check.files):
        try:
            path = submission.folder / submission.find(file)
        except StudentFault:
            continue
        found = {name: digest for name, digest in _digests_of(path).items() if name in check.names}
        if found and all(digest in _given(file, name, starter) for name, digest in found.items()):
            message = f"not started: {' and '.join(found)} in {file} {'is' if len(found) == 1 else 'are'} as given out"
            return Outcome(Status.MISSING, outcome.score, message, code="not_started")
    return outcome


def _given(file: str, name: str, starter: Digests) -> set[str]:
    """What goes by this name in files of this name, wherever they lie."""
    return {digests[name] for path, digests in starter.items() if Path(path).name == file and name in digests}


def _digests_of(path: Path) -> dict[str, str]:
    """Of the file, and of each definition without its comments and docstrings."""
    defined = {name: _digest(block.encode()) for block, name, _ in blocks(code_of(path) or "") if name}
    return {_WHOLE: _digest(path.read_bytes()), **defined}


def _digest(content: bytes) -> str:
    lines = [line.rstrip() for line in content.splitlines()]
    return hashlib.sha256(b"\n".join(lines).rstrip()).hexdigest()
