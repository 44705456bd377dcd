"""Code that was never started: what goes wrong in the stub that students were given is no mistake of theirs."""

from __future__ import annotations

from grader.errors import Crashed, Missing, StudentFault, WrongKind
from grader.model import Check, Submission, is_code
from grader.submission import file_choice


def not_started(fault: StudentFault, check: Check, submission: Submission) -> StudentFault:
    """The fault; or, if all it asks of a file is still a stub, that it was not started. Nothing of theirs was handed in
    then, so it is missing and did not crash."""
    if type(fault) not in (Crashed, WrongKind):
        return fault
    for file in check.files:
        if not is_code(file) or not check.names:
            continue
        try:
            states = file_choice.states(submission.folder / submission.find(file), check.names)
        except StudentFault:
            continue
        stubs = [name for name, state in states.items() if state == "stub"]
        if stubs and "written" not in states.values():
            what = f"{' and '.join(stubs)} in {file} {'is' if len(stubs) == 1 else 'are'} still a stub"
            return Missing(f"not started: {what}", code="not_started")
    return fault
