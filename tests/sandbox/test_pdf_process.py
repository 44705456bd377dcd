"""The process that reads PDFs: what it gives, what it cannot reach, and what hostile files do to it."""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Callable
from functools import partial

import pytest

from grader.answers.pdf.process import CPU_SECONDS, PdfNotRead, PdfProcess, _checked, read_pdf
from tests import hostile_pdfs
from tests.conftest import REPOSITORY


def test_letters_come_with_place_size_and_font() -> None:
    found = read_pdf(hostile_pdfs.pages([hostile_pdfs.text_page("1.b.i", "M = A")]))
    (page,) = found.pages
    assert (found.page_count, found.cut, page.width, page.height) == (1, False, 59500, 84200)
    assert page.text.replace(" ", "") == "1.b.iM=A"
    assert (page.x[0], page.y[0]) == (7200, 76000)
    font, size, unseen = page.styles[page.style[0]]
    assert (found.fonts[font], size, unseen) == ("Helvetica", 1100, False)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "no PDF that can be read"),
        (b"%PDF-1.7\n", "no PDF that can be read"),
        (b"\x00" * 4096, "no PDF that can be read"),
        (hostile_pdfs.locked(), "locked by a password"),
    ],
    ids=["empty", "cut off", "zeros", "locked"],
)
def test_what_cannot_be_read_says_why(content: bytes, said: str) -> None:
    with pytest.raises(PdfNotRead, match=said):
        read_pdf(content)


@pytest.mark.slow
@pytest.mark.parametrize("make", [
    hostile_pdfs.page_loop, hostile_pdfs.form_loop, hostile_pdfs.bomb, hostile_pdfs.deep, hostile_pdfs.object_bomb,
    hostile_pdfs.letters_everywhere, hostile_pdfs.huge_page, hostile_pdfs.many_fonts,
    partial(hostile_pdfs.nested_forms, 3_000, 1), partial(hostile_pdfs.nested_forms, 40, 2),
])  # fmt: skip
def test_a_hostile_file_ends_in_pages_or_in_one_line(make: Callable[[], bytes]) -> None:
    content = make()
    spent = _spent_by_children()
    said = ""
    try:
        read_pdf(content)
    except PdfNotRead as fault:
        said = str(fault)
    assert "\n" not in said
    assert _spent_by_children() - spent < CPU_SECONDS + 2


def _spent_by_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@pytest.mark.parametrize("make", [
    hostile_pdfs.script, hostile_pdfs.launch, partial(hostile_pdfs.nested_forms, 3, 1),
])  # fmt: skip
def test_what_would_act_only_says_its_text(make: Callable[[], bytes]) -> None:
    assert read_pdf(make()).pages[0].text.replace(" ", "") == "1.b.iM=A"


def test_a_long_file_is_read_as_far_as_a_sheet_may_be_long() -> None:
    found = read_pdf(hostile_pdfs.pages([hostile_pdfs.text_page("row")] * 500))
    assert (found.page_count, len(found.pages), found.cut) == (500, 100, True)


def test_one_process_may_read_several() -> None:
    with PdfProcess() as process:
        for text in ("one", "two"):
            assert process.read(hostile_pdfs.pages([hostile_pdfs.text_page(text)])).pages[0].text == text


_ATTEMPTS = """
import os, socket, sys
from grader.sandbox.jail import jail
worn = jail.put_on_for_reading(5, 256)
attempts = {
    "read": lambda: os.open("/etc/hostname", os.O_RDONLY),
    "list": lambda: os.listdir("/"),
    "write": lambda: os.open("/tmp/written-by-a-pdf", os.O_WRONLY | os.O_CREAT),
    "connect": lambda: socket.socket(),
    "fork": os.fork,
    "run": lambda: os.execv("/bin/true", ["true"]),
    "signal": lambda: os.kill(os.getppid(), 0),
}
let_through = []
for name, attempt in attempts.items():
    try:
        attempt()
        let_through.append(name)
    except OSError:
        pass
os.write(1, repr((worn, let_through)).encode())
os._exit(0)
"""


def test_the_process_has_no_reach() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _ATTEMPTS], capture_output=True, text=True, cwd=REPOSITORY, check=False
    )
    worn, let_through = eval(done.stdout)
    assert let_through == [], done.stderr
    assert {"limits", "no_new_privs", "seccomp"} <= set(worn)


_PAGE = {
    **{key: [0] for key in ("x", "right", "y", "bottom", "top", "style")},
    "text": "a",
    "width": 1,
    "height": 1,
    "styles": [[0, 1100, False]],
    "unmapped": [],
    "rules": [],
    "pictures": 0,
    "strokes": 0,
}


def test_what_the_process_says_is_looked_at_before_use() -> None:
    right = {"fonts": ["F"], "page_count": 1, "cut": False, "pages": [_PAGE]}
    assert _checked(right).pages[0].text == "a"
    for change in (
        {"x": []},
        {"x": [0.5]},
        {"x": ["1"]},
        {"style": [1]},
        {"styles": [[7, 1, False]]},
        {"text": 3},
        {"rules": [[1]]},
    ):
        with pytest.raises(PdfNotRead):
            _checked({**right, "pages": [_PAGE | change]})
