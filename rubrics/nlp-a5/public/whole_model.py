"""Whether the model that was handed in runs the variant that was handed in: otherwise its predictions are another's."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from grader import Outcome, Status, Student, StudentFault, StudentFile, TimedOut, check, passed
from grader.modules import first_of

from ..probes import variant_in_model
from .configuration import settings

_NOTHING = "", ""


@check  # in a sandbox of its own: it hooks into the code's classes
def model_runs_its_variant(
    student: Student,
    rng: np.random.Generator,
    *,
    file: StudentFile,
    enters: list[str],
    flags: list[str],
    also: list[str] = [],  # noqa: B006 - read only
    through: str = "",
) -> Outcome:
    """The model that is trained runs the variant: it builds it, and something switches it on."""
    request = {"names": enters, "flags": flags, "through": through, "config": settings(**dict.fromkeys(flags, True))}
    try:
        found = student.probe(variant_in_model, first_of(student, [file, *also]), **request)
    except TimedOut:
        raise
    except StudentFault:  # other checks say what is wrong with the file
        found = {}
    reason, code = _never_run(found if isinstance(found, dict) else {}, " and ".join(enters), " or ".join(flags))
    if reason:
        message = f"{reason}; a person decides whether the predictions are this variant's"
        return Outcome(Status.REVIEW, Fraction(0), message, code=code)
    return passed("nothing speaks against it", evidence={"seen_running": _says(found, "on", "entered")})


def _never_run(found: Mapping[str, Any], names: str, flags: str) -> tuple[str, str]:
    """Why the variant is never run, and the code of that; nothing unless it is certain."""
    model = found.get("model")
    if not model or not found.get("alone"):
        return _NOTHING
    if _says(found, "on", "entered"):
        never_set = not _says(found, "off", "entered") and found.get("built") and not found.get("set")
        runs = f"the model in {model} runs {names} only when its configuration says {flags}"
        return (f"{runs}, and no code that was handed in sets that", "never_switched_on") if never_set else _NOTHING
    if not _says(found, "on", "ran"):
        return _NOTHING
    if not found.get("mentioned"):
        said = f"{names} is defined, and no code that was handed in uses it: the model in {model} runs without it"
        return said, "never_used"
    if found.get("redefined") or _says(found, "on", "open"):
        return _NOTHING
    return f"the model in {model}, built with {flags} on and run once, never came to {names}", "never_reached"


def _says(found: Any, run: str, what: str) -> bool:
    ran = found.get(run) if isinstance(found, dict) else None
    return isinstance(ran, dict) and ran.get(what) is True
