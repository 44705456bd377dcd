"""Code that was never started: what goes wrong in the stub that students were given is no mistake of theirs."""

from __future__ import annotations

from grader.errors import Crashed, Missing, StudentFault, WrongKind
from grader.model import Check, Submission, is_code
from grader.submission.file_choice import paths_of, states


def not_started(fault: StudentFault, check: Check, submission: Submission) -> StudentFault:
    """The fault; or, if all it asks of a file is still a stub, that it was not started. Nothing of theirs was handed in
    then, so it is missing and did not crash."""
    if type(fault) not in (Crashed, WrongKind):
        return fault
    for file in filter(is_code, check.files):
        for path in paths_of(file, submission):
            found = states(submission.folder / path, check.names)
            stubs = [name for name, state in found.items() if state == "stub"]
            if stubs and "written" not in found.values():
                what = f"{' and '.join(stubs)} in {file} {'is' if len(stubs) == 1 else 'are'} still a stub"
                return Missing(f"not started: {what}", code="not_started")
    return fault
