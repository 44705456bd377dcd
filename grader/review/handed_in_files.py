"""The files that students handed in, for whoever wants to see a page: looked for when the first one is asked for."""

from __future__ import annotations

import tempfile
import threading
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path

from grader.answers.pdf.page_picture import Box, page_picture
from grader.answers.pdf.process import PdfNotRead
from grader.batch.finding import find_submissions
from grader.errors import StaffFault
from grader.submission.opening import open_submission

_MAX_PDF_BYTES = 64 * 2**20
_KEPT = 24  # pictures, of some 100 KB
_AT_ONCE = 2  # processes that draw


class NotShown(Exception):
    """Why a page cannot be shown, in one line."""


class HandedInFiles:
    def __init__(self, submissions: Path | None) -> None:
        self.submissions = submissions
        self._workspace = tempfile.TemporaryDirectory(prefix="grader-review-", ignore_cleanup_errors=True)
        self._places: dict[str, Path] | None = None
        self._finding = threading.Lock()
        self._drawing = threading.Semaphore(_AT_ONCE)
        self._kept: OrderedDict[tuple[object, ...], bytes] = OrderedDict()

    def picture(self, student: str, file: str, page: int, boxes: Sequence[Box], *, whole: bool) -> bytes:
        """A page of a PDF that a student handed in, as a PNG."""
        key = (student, file, page, tuple(map(tuple, boxes)), whole)
        with self._finding:
            if (known := self._kept.get(key)) is not None:
                return known
        with self._drawing:
            try:
                drawn = page_picture(self._bytes(student, file), page, boxes, whole=whole)
            except PdfNotRead as cause:
                raise NotShown(f"The PDF {cause}.") from None
        with self._finding:
            self._kept[key] = drawn
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return drawn

    def why_not(self, student: str) -> str:
        """Why no page of this student can be shown; nothing if they can."""
        try:
            self._place(student)
        except NotShown as cause:
            return str(cause)
        return ""

    def _bytes(self, student: str, file: str) -> bytes:
        place = self._place(student)
        try:
            with open_submission(place) as opened:
                path = opened.folder / file
                if file not in opened.files or path.stat().st_size > _MAX_PDF_BYTES:
                    raise NotShown("The file is not among what was handed in any more.")
                return path.read_bytes()
        except (StaffFault, OSError):
            raise NotShown("What was handed in cannot be opened any more.") from None

    def _place(self, student: str) -> Path:
        if self.submissions is None:
            raise NotShown("Nobody knows where the hand-ins lie: `grader review GRADES --submissions DIR` shows pages.")
        with self._finding:
            if self._places is None:
                try:
                    found = find_submissions(self.submissions, Path(self._workspace.name))
                except (StaffFault, OSError) as error:
                    raise NotShown(f"The hand-ins cannot be read: {error}") from None
                self._places = {one.student: one.path for one in found.submissions}
            if student not in self._places:
                raise NotShown("The hand-in does not lie among the submissions any more.")
            return self._places[student]

    def close(self) -> None:
        self._workspace.cleanup()
