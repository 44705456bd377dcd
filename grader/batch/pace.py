"""How fast a batch goes, and how long the rest of it will take, as told by what was freshly graded alone."""

from __future__ import annotations

from collections import deque

_REMEMBERED = 500  # the last ones: a machine that has become busier tells sooner


class Pace:
    """What the gradebook had already comes a hundred times as fast: taken for speed, it would promise far too much."""

    def __init__(self, jobs: int = 1) -> None:
        self.jobs = jobs
        self._seconds: deque[float] = deque(maxlen=_REMEMBERED)
        self._starting = jobs  # the first one of each job waits for libraries to load

    def count(self, seconds: float) -> None:
        """One submission was graded and kept its job for so long."""
        if self._starting:
            self._starting -= 1
        else:
            self._seconds.append(seconds)

    @property
    def per_second(self) -> float | None:
        """Of all jobs together; None while there is nothing to go by."""
        total = sum(self._seconds)
        return self.jobs * len(self._seconds) / total if total else None

    def seconds_left(self, submissions: int) -> float | None:
        """How long so many more will take, if all of them have to be graded."""
        return None if self.per_second is None else submissions / self.per_second
