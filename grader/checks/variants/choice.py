"""Which of the three variants a submission contains: the assignment asks for one, whichever is there."""

from __future__ import annotations

from collections.abc import Mapping

from grader.checks.variants.workbench import first_of
from grader.errors import Ambiguous, Crashed, Missing
from grader.model import Student

# What a variant is complete with: names, and the files they may be in.
VARIANTS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "perceiver": (("model.py", "models.py"), ("DownProjectBlock", "UpProjectBlock")),
    "synthesizer": (("attention.py",), ("SynthesizerAttention",)),
    "rope": (("attention.py",), ("precompute_rotary_emb", "apply_rotary_emb")),
}


def complete_variants(student: Student) -> list[str]:
    """The variants all of whose names are defined and no longer stubs. None: nothing was handed in. Two: ask."""
    return [
        variant
        for variant, (files, names) in VARIANTS.items()
        if all(state == "written" for state in _states(student, files, names))
    ]


def _states(student: Student, files: tuple[str, ...], names: tuple[str, ...]) -> list[str]:
    """A file that is not there or cannot be read defines nothing; why it cannot, the checks that need it say."""
    try:
        reply = student.probe("definition_states", first_of(student, files), names=list(names))
    except (Missing, Crashed, Ambiguous):
        return ["absent"]
    match reply:
        case dict(found) if all(isinstance(found.get(name), str) for name in names):
            return [found[name] for name in names]
    return ["absent"]
