"""In which order the checks of a problem are asked, and what follows from that: found once for a class."""

from __future__ import annotations

from fractions import Fraction

from grader.found_once import FoundOnce
from grader.model import Check, is_code
from grader.sharing import gates_above, has_its_own_box, in_turn, may_share

_KEPT = 64  # problems and their alternatives; a rubric has some forty


class Turns:
    """The checks of a problem, in the order in which they are asked."""

    def __init__(self, checks: tuple[Check, ...]) -> None:
        self.order = tuple(in_turn(checks))
        self.points = sum((check.points for check in checks), Fraction(0))
        self.gates = {check.id: gates_above(check, checks) for check in checks}
        self.asks_code = any(is_code(file) for check in checks for file in check.files)
        in_shared_boxes = (check for check in self.order if not has_its_own_box(check, keeps_nothing=True))
        # The code that they ask in boxes that others may ask, too.
        self.files = list(dict.fromkeys(file for check in in_shared_boxes for file in check.files if is_code(file)))
        self._sharing = {
            keeps_nothing: {check.id for check in self.order if may_share(check, self.order, keeps_nothing)}
            for keeps_nothing in (False, True)
        }

    def may_share(self, check: Check, keeps_nothing: bool) -> bool:
        return check.id in self._sharing[keeps_nothing]


_found = FoundOnce[Turns](_KEPT)


def turns_of(checks: tuple[Check, ...]) -> Turns:
    return _found.of(checks, lambda: Turns(checks))
