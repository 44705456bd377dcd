"""Which checks of a problem share a sandbox, and in which order they run.

A check that belongs to a group asks a sandbox that only checks of that group ask; every other check has a fresh one to
itself. Groups never mix problems or visibilities. docs/security.md argues why a group can neither cost nor earn points.

Each check begins with the student's modules loaded again, so that code finds nothing that it kept of an earlier one.

`values`: checks that compare what the code returns. Only a pass in the shared sandbox counts; anything else is judged
again alone. A check that compares with the reference opens the group: code whose first answer in a process is wrong
would otherwise give that answer to a check that accepts it. After a failure, in a group or not, the rest of the problem
runs alone, and what has passed in the shared sandbox is judged again alone: only code that passes everything is spared
the other sandboxes. A check that fails without having asked the code need not run again.

`draws`: statistics over one set of samples. What is found counts: to sample again would be a second try. A crash is
judged again alone, and then the rest of the problem, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from typing import Any

from grader.model import Box, Check, Visibility
from grader.registry import GroupKind, definition_of


@dataclass(frozen=True)
class Group:
    kind: GroupKind
    visibility: Visibility


def group_of(check: Check) -> Group | None:
    definition = definition_of(check.function)
    return Group(definition.group, check.visibility) if definition and definition.group else None


def opens_its_group(check: Check) -> bool:
    """Whether it may be the first of its group that asks a sandbox."""
    definition = definition_of(check.function)
    return definition is not None and (definition.group == "draws" or definition.compares)


def gates_above(check: Check, checks: Sequence[Check]) -> list[str]:
    """The checks that must have passed before anything below them in the rubric is tried."""
    return [earlier.id for earlier in checks[: checks.index(check)] if earlier.gate]


def in_order(checks: Sequence[Check]) -> list[Check]:
    """Each check after those it needs; as far as that allows public ones first, and each group in one piece, with the
    checks that may open it first."""
    by_id, order = {check.id: check for check in checks}, dict[str, Check]()

    def add(check: Check) -> None:
        for needed in (*gates_above(check, checks), *check.needs):
            if needed in by_id and needed not in order:
                add(by_id[needed])
        order.setdefault(check.id, check)

    def rank(check: Check) -> tuple[bool, bool, str, bool]:
        group = group_of(check)
        return check.visibility == "hidden", group is None, group.kind if group else "", not opens_its_group(check)

    for check in sorted(checks, key=rank):
        add(check)
    return list(order.values())


class OpenSandbox:
    """The sandbox that is open: of one check, or of a group as long as its checks follow each other."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self.group: Group | None = None
        self.box: Box | None = None
        self.in_common: dict[str, Any] = {}  # what the checks that ask it use together

    def replace(self, opening: AbstractContextManager[Box], group: Group | None) -> Box:
        """Close the sandbox that is open, and open another one for this group, or for one check without a group."""
        self.close()
        self.box, self.group = self._stack.enter_context(opening), group
        return self.box

    def close(self, fault: BaseException | None = None) -> None:
        """The runner learns what went wrong in the sandbox: a fork server may have to be replaced."""
        stack, self._stack = self._stack, ExitStack()
        self.box, self.group, self.in_common = None, None, {}
        stack.__exit__(type(fault) if fault else None, fault, fault.__traceback__ if fault else None)
