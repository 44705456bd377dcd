"""Which checks of a problem share a box, and in which order they are asked.

A box is handed from check to check as long as they pass. What does not pass is judged again by itself, in a box that
nobody has asked anything before, and that verdict counts. docs/security.md says why this can neither cost nor earn
anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager

from grader.errors import BoxLost, StudentFault
from grader.model import Box, Check, Limits
from grader.registry import definition_of

OpenBox = Callable[[Limits], AbstractContextManager[Box]]


class BoxInTurn:
    """The box that checks use one after the other; beside it at most one that is asked whether it finds the same."""

    def __init__(self, open_box: OpenBox) -> None:
        self._open_box = open_box
        self._stack = ExitStack()
        self.box: Box | None = None
        self.was_asked = False  # by any check, so that the student's code may have run
        self._limits: Limits | None = None
        self._tried = False
        self._other: BoxInTurn | None = None

    def fresh(self, limits: Limits) -> Box:
        """A box in which none of the student's code has run: a new one in place of the last, if need be."""
        if self.box is None or self.was_asked or self._limits != limits:
            self.close()
            self.box, self._limits = self._stack.enter_context(self._open_box(limits)), limits
        self.was_asked = True
        return self.box

    @contextmanager
    def for_reading(self, limits: Limits) -> Iterator[Box]:
        """The box as it is, or a new one, to read code in: what is read does not run, so it is there for others."""
        try:
            was_asked, box = self.was_asked, self.box or self.fresh(limits)
            yield box
            self.was_asked = was_asked
        except BaseException as fault:
            self.close(fault)
            raise

    def serves(self, limits: Limits, files: Sequence[str]) -> bool:
        """Whether the next problem may have the box of the last one, whose code keeps nothing."""
        return self.box is not None and self._limits == limits and all(map(self.box.suits, files))

    def elsewhere(self, limits: Limits, files: Sequence[str]) -> Box:
        """A box of another process. The next problem may have it, too, and asks there what has never run in it."""
        other = self._other = self._other or BoxInTurn(self._open_box)
        if not other.serves(limits, files):
            other.close()
        if other.box is None:  # such as this one is, so that no code can tell them apart
            other.fresh(limits).does_less = self.box is not None and self.box.does_less
        assert other.box is not None
        return other.box

    def hand_on(self, keeps_nothing: bool) -> bool:
        """Whether another check may have the box. Code that answers a question otherwise the second time keeps
        something, and a check that looks at no values may have passed it on its first, wrong answer."""
        if self.box is not None and not self._tried and not keeps_nothing:
            self._tried = True
            try:
                if not self.box.answers_alike():
                    self.close()
            except (StudentFault, BoxLost) as fault:
                self.close(fault)
        if self.box is not None:
            self.box.begin_check()
        return self.box is not None

    def close(self, fault: BaseException | None = None) -> None:
        """End what is open. The runner hears of what went wrong in the box: a fork server may have to be replaced."""
        if self._other is not None:
            self._other.close()
        stack, self._stack = self._stack, ExitStack()
        self.box, self.was_asked, self._tried = None, False, False
        stack.__exit__(type(fault) if fault else None, fault, fault.__traceback__ if fault else None)


def has_its_own_box(check: Check, keeps_nothing: bool = False) -> bool:
    """Whether it says so where it is defined. Code that keeps nothing is asked for the first time every time."""
    definition = definition_of(check.function)
    return definition is not None and (definition.own_box or (definition.asked_first and not keeps_nothing))


def gates_above(check: Check, checks: Sequence[Check]) -> list[str]:
    """What must have passed before anything below it in the rubric is tried."""
    return [one.id for one in checks[: checks.index(check)] if one.gate]


def in_turn(checks: Sequence[Check]) -> list[Check]:
    """Each check after what it builds on; as far as that allows public ones first, those with a box of their own last.

    A box that has seen a hidden input must not be asked by a public check: what that tells, its code could choose.
    """
    by_id, order = {check.id: check for check in checks}, dict[str, Check]()

    def add(check: Check) -> None:
        for needed in (*gates_above(check, checks), *check.needs):
            if needed in by_id and needed not in order:
                add(by_id[needed])
        order.setdefault(check.id, check)

    for check in sorted(checks, key=lambda one: (has_its_own_box(one), one.visibility == "hidden")):
        add(check)
    return list(order.values())


def may_share(check: Check, order: Sequence[Check], keeps_nothing: bool) -> bool:
    """Not those that need a box of their own, nor hidden ones that public ones still follow, unless code that keeps
    nothing has seen them."""
    if keeps_nothing:
        return not has_its_own_box(check, keeps_nothing)
    after = order[order.index(check) + 1 :]
    is_followed = any(one.visibility == "public" and not has_its_own_box(one) for one in after)
    return not has_its_own_box(check) and not (check.visibility == "hidden" and is_followed)
