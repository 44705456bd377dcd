"""Who looks at which answer right now. Two reviewers at once never get the same one: the database decides."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass

from grader.batch.gradebook_file import GradebookFile
from grader.errors import UsageError
from grader.review.refs import Ref

LEASE_SECONDS = 600.0  # longer than one answer takes; a browser that is open asks again before


class LeasedByAnother(UsageError):
    """Somebody else looks at this answer."""


@dataclass(frozen=True)
class Lease:
    by: str
    until: float  # seconds since 1970, as time.time() counts


class Leases:
    def __init__(self, file: GradebookFile, reviewer: str) -> None:
        self._file = file
        self._reviewer = reviewer

    def of(self, ref: Ref) -> Lease | None:
        """The lease that holds now, anybody's."""
        row = self._file.base.execute(
            "SELECT by, until FROM leases WHERE student = ? AND part = ? AND until > ?",
            (ref.student, ref.part, time.time()),
        ).fetchone()
        return None if row is None else Lease(*row)

    def of_others(self, part: str) -> set[Ref]:
        rows = self._file.base.execute(
            "SELECT student, part FROM leases WHERE part = ? AND by != ? AND until > ?",
            (part, self._reviewer, time.time()),
        )
        return {Ref(*row) for row in rows}

    def take(self, ref: Ref) -> Lease:
        """Within a transaction: take it, or hold it longer. What else this reviewer held is free: one looks at one."""
        held = self.of(ref)
        if held is not None and held.by != self._reviewer:
            raise LeasedByAnother(f"{held.by} looks at this answer right now")
        taken = Lease(self._reviewer, time.time() + LEASE_SECONDS)
        self._file.base.execute("DELETE FROM leases WHERE by = ? OR until <= ?", (self._reviewer, time.time()))
        self._file.base.execute(
            "INSERT OR REPLACE INTO leases VALUES (?, ?, ?, ?)", (ref.student, ref.part, taken.by, taken.until)
        )
        return taken

    def refuse_others(self, refs: Iterable[Ref]) -> None:
        """Within a transaction: nothing is decided while somebody else looks at it."""
        for ref in refs:
            held = self.of(ref)
            if held is not None and held.by != self._reviewer:
                raise LeasedByAnother(f"{held.by} looks at one of these answers right now; decide the others first")
