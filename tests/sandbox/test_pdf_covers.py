"""Text in a PDF that lies under something opaque is unseen; text beside it, above it or under a tint is seen."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from grader.answers.pdf.process import PdfProcess
from tests.hostile_pdfs import pdf, stream

_TEXT = b"BT /F 11 Tf 100 700 Td (under) Tj ET\n"
_PICTURE = b"q 200 0 0 100 80 650 cm /I Do Q\n"
_RECTANGLE = b"1 g 80 650 200 100 re f 0 g\n"
_FORM = b"/Type /XObject /Subtype /Form /BBox [0 0 595 842] /Resources 6 0 R"
_PIXELS = b"/Type /XObject /Subtype /Image /Width 8 /Height 8 /ColorSpace /DeviceGray /BitsPerComponent 8"
_RESOURCES = (
    b"<< /Font << /F 3 0 R >> /XObject << /I 7 0 R /S 8 0 R /X 9 0 R /Y 11 0 R /Z 12 0 R >>"
    b" /ExtGState << /T << /ca 0.3 >> >> >>"
)


def _page(content: bytes) -> bytes:
    return pdf(
        {
            1: b"<< /Type /Catalog /Pages 2 0 R >>",
            2: b"<< /Type /Pages /Kids [4 0 R] /Count 1 >>",
            3: b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
            4: b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 5 0 R /Resources 6 0 R >>",
            5: stream(content),
            6: _RESOURCES,
            7: stream(bytes(64), _PIXELS),
            8: stream(bytes(64), _PIXELS + b" /SMask 10 0 R"),
            9: stream(_TEXT, _FORM),
            10: stream(bytes(64), _PIXELS),
            11: stream(b"q 2 0 0 1 80 650 cm 100 0 0 100 0 0 cm /I Do Q", _FORM + b" /Matrix [1 0 0 1 0 0]"),
            12: stream(b"q 100 0 0 200 0 0 cm /I Do Q", _FORM),
        }
    )


@pytest.fixture(scope="module")
def process() -> Iterator[PdfProcess]:
    with PdfProcess() as one:
        yield one


@pytest.mark.parametrize(
    ("content", "unseen"),
    [
        (_TEXT + _PICTURE, True),
        (_TEXT + _RECTANGLE, True),
        (b"/X Do\n" + _PICTURE, True),
        (_TEXT + b"/Y Do\n", True),
        (_TEXT + b"q 0 1 -1 0 280 650 cm /Z Do Q\n", True),
        (_TEXT + b"q 0 1 -1 0 280 540 cm /Z Do Q\n", False),
        (_TEXT + b"q 0 1 -1 0 490 650 cm /Z Do Q\n", False),
        (_TEXT + b"q 70 640 300 300 re W n q 200 0 0 100 80 650 cm /I Do Q Q\n", True),
        (_PICTURE + _TEXT, False),
        (_RECTANGLE + b"/X Do\n", False),
        (_TEXT + b"q 200 0 0 100 80 500 cm /I Do Q\n", False),
        (_TEXT + b"q 200 0 0 100 80 650 cm /S Do Q\n", False),
        (_TEXT + b"/T gs 1 1 0 rg 80 650 200 100 re f\n", False),
        (_TEXT + b"q 300 600 40 40 re W n q 200 0 0 100 80 650 cm /I Do Q Q\n", False),
        (_TEXT + b"80 650 200 100 re S\n", False),
        (_TEXT + b"80 650 m 280 650 l 180 690 l h f\n", False),
    ],
    ids=[
        *("under a picture", "under a rectangle", "in a form, under a picture", "under a picture in a form"),
        *("under a turned picture", "above a turned picture", "beside a turned picture"),
        *(
            "under a clipped picture",
            "on a picture",
            "on a rectangle",
            "above a picture",
            "under a see-through picture",
        ),
        *("marked", "under a picture clipped elsewhere", "in a frame", "near a triangle"),
    ],
)
def test_what_lies_under_something_opaque_is_unseen(process: PdfProcess, content: bytes, unseen: bool) -> None:
    (page,) = process.read(_page(content)).pages
    assert page.text.replace(" ", "") == "under"
    assert {page.styles[style][2] for style in page.style} == {unseen}
