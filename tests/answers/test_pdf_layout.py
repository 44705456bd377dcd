"""What rows of a PDF say: indices, powers, fractions, sums, columns, margins. The PDFs are made by pdfs/make.sh."""

from __future__ import annotations

from functools import cache

import pytest

from grader.answers.pdf.process import read_pdf
from grader.answers.pdf_layout.boxes import GlyphBox
from grader.answers.pdf_layout.row_text import row_text
from grader.answers.pdf_layout.rows import rows_of
from grader.answers.pdf_layout.stacked import put_together
from grader.answers.pdf_lines import PdfLines, pdf_lines
from tests.conftest import sampled
from tests.hostile_pdfs import PDFS, pages, text_page


@cache
def _lines(name: str) -> PdfLines:
    """Read once: each reading starts a process."""
    return pdf_lines(read_pdf((PDFS / f"{name}.pdf").read_bytes()))


def _formulas(found: PdfLines) -> list[str]:
    return [piece.text for line in found.lines for piece in line.pieces if piece.kind == "math"]


@pytest.mark.parametrize(
    ("name", "formula"),
    [
        ("sections", "M = AA^{⊤}"),
        ("sections", "k_{j}^{⊤}q ≫ k_{i}^{⊤}q"),
        ("sections", "i ≠ j"),
        ("sections", r"α_{a} = α_{b} = \frac{e^{β}}{2e^{β} + n − 2} → \frac{1}{2}"),
        ("sections", r"Σ_{a} = αI + \frac{1}{2}µ_{a}µ_{a}^{⊤}"),
        ("sections", r"c ≈ \frac{1}{2}(v_{a} + v_{b})"),
        ("lists", "M = ∑_{i=1}^{m}a_{i}a_{i}^{T}"),
        ("lists", "q_{1} = 10^{6}µ_{a}, q_{2} = 10^{6}µ_{b}"),
        ("bold", "M = A(A^{T}A)^{−1}A^{T}"),
        ("bold", r"\vec{q} = t\vec{k}_{a} + t\vec{k}_{b}"),
        ("wrong", r"M = \frac{1}{2}AA^{⊤}"),
        ("wrong", r"q = \frac{k_{a}+k_{b}}{2}"),
        ("powers", r"P_{r} ∈ R^{\frac{c}{r}×c}"),
        ("powers", r"S_{r} ∈ R^{\frac{c}{r}×w}"),
        ("powers", r"w_{p} = \frac{e^{λu_{p}}}{e^{λu_{p}} + ∑_{r≠p} e^{λu_{r}}}"),
        (
            "powers",
            r"y = \frac{∑_{r} e^{λg_{r}^{⊤}x}z_{r}}{e^{λg_{p}^{⊤}x} + ∑_{r≠p} e^{λg_{r}^{⊤}x}}",
        ),
        ("powers", "Y = ∑_{s} B_{s}F_{s}"),
        ("powers", "T = U(X + Y + Z)(X + Y) + XYZ + UX + UY + UZ"),
        ("word_processor", "M = AA^{T}"),
        ("word_processor", "q = β(k_{a} + k_{b})"),
    ],
)
def test_formulas_are_put_together(name: str, formula: str) -> None:
    assert formula in _formulas(_lines(name))


def _box(text: str, left: int, y: int, size: int = 1000) -> GlyphBox:
    return GlyphBox(text, left, left + 500 * size // 1000, y, y, y + 700, size)


@pytest.mark.parametrize(
    ("boxes", "text", "doubtful"),
    [
        ([_box("k", 0, 0), _box("a", 500, -150, 700)], "k_{a}", False),
        (
            [_box("k", 0, 0), _box("T", 500, 360, 700), _box("j", 500, -250, 700), _box("q", 900, 0)],
            "k_{j}^{T}q",
            False,
        ),
        ([_box("e", 0, 0), _box("k", 500, 360, 700), _box("a", 850, 260, 500)], "e^{k_{a}}", False),
        ([_box("a", 0, 0), _box("b", 900, 0)], "a b", False),
        ([_box("=", 0, 0), _box("1", 500, 360, 700), _box("2", 500, -350, 700)], "=_{2}^{1}", True),
        ([_box("A", 0, 0), _box("A", 500, 0), _box("T", 1000, 400)], "AA^{T}", True),
    ],
)
def test_one_row(boxes: list[GlyphBox], text: str, doubtful: bool) -> None:
    assert row_text(boxes) == (text, doubtful)


def test_what_is_stacked_in_another_way_is_doubtful() -> None:
    found = _lines("stacked")
    doubtful = [line.text for line in found.lines if line.number in found.doubtful]
    assert any("M = " in text for text in doubtful)
    assert any("q = " in text for text in doubtful)
    assert not _lines("sections").doubtful


def test_columns_are_read_one_after_the_other() -> None:
    texts = [line.text for line in _lines("columns").lines]
    assert [text for text in texts if text[0].isdigit()] == ["1.a.i", "1.b.i", "1.b.ii", "3.a"]


def test_a_title_over_both_columns_is_one_row() -> None:
    found = _lines("powers")
    assert found.lines[0].text == "Powers of powers, and a title over both columns of the page"
    assert [line.lead[:2] for line in found.lines if line.lead[:1].isdigit()] == [f"{n}." for n in range(1, 8)]
    assert not found.doubtful


@pytest.mark.parametrize("count", sampled([3, 12, 20, 30], 4))
def test_rows_over_the_whole_page_are_no_columns(count: int) -> None:
    """However few letters there are: blanks of some rows stand below each other."""
    rows = [
        f"{number} the weights of a row are positive and sum up to one, whichever keys are given"
        for number in range(count)
    ]
    text = [line.text for line in pdf_lines(read_pdf(pages([text_page(*rows)]))).lines]
    assert text == rows


def test_a_mark_without_width_belongs_to_the_letter_below_it() -> None:
    mark = GlyphBox("\u0302", 430, 430, 200, 880, 1000, 1000)
    (whole,) = put_together([_box("k", 0, 0), mark], [], 1000)
    assert whole.text == "\\hat{k}"


@pytest.mark.parametrize(("beside", "y", "size"), [(1450, 410, 600), (9000, 260, 1000)])
def test_a_fraction_stands_in_a_power_only_with_a_letter_of_it_beside_it(beside: int, y: int, size: int) -> None:
    boxes = [_box("c", 1050, 640, 500), _box("r", 1050, 140, 500), _box("x", beside, 410, 600)]
    whole = put_together(boxes, [(1000, 500, 1400, 520)], 1000)[0]
    assert (whole.text, whole.y, whole.size) == (r"\frac{c}{r}", y, size)


@pytest.mark.parametrize(
    ("upper", "texts"),
    [(_box("m", 1020, 500, 600), ["∑_{i}^{m}"]), (_box("m", 300, 800, 600), ["∑_{i}", "m"])],
    ids=["beside", "above"],
)
def test_both_limits_of_a_sum_stand_beside_it_or_neither(upper: GlyphBox, texts: list[str]) -> None:
    sign = GlyphBox("∑", 0, 1000, 0, -300, 700, 1000, is_large_sign=True)
    assert [box.text for box in put_together([sign, _box("i", 1020, -300, 600), upper], [], 1000)] == texts


def test_a_small_letter_far_from_a_row_is_no_index_in_it() -> None:
    rows = [rows_of([_box("k", 0, 0), _box("a", left, -150, 700)], 1000, 100_000) for left in (500, 5000)]
    assert list(map(len, rows)) == [1, 2]


@pytest.mark.parametrize("gutter", [4700, 5000, 5300])
def test_a_gutter_need_not_run_through_the_very_middle(gutter: int) -> None:
    lefts = [*range(gutter - 40 - 50 * 24, gutter - 40, 50), *range(gutter + 40, gutter + 1240, 50)]
    boxes = [_box("x", left, y, 100) for y in range(5000, 0, -500) for left in lefts]
    assert len(rows_of(boxes, 100, 10_000)) == 20


def test_heads_and_numbers_of_pages_are_left_out() -> None:
    found = _lines("sections")
    assert not any("spring term" in line.text or line.text in ("1", "2") for line in found.lines)
    assert {place.page for place in found.places.values()} == {1, 2}


@pytest.mark.parametrize(
    ("tops", "stays"),
    sampled(
        [
            (("Question 1", "Question 2", "Question 3"), ["Question 1", "Question 2", "Question 3"]),
            (("Question 1", "(a) one", "(a) two"), ["Question 1", "(a) one", "(a) two"]),
            (("(a)", "(a)", "(b)"), ["(a)", "(a)", "(b)"]),
            (("We weigh 5", "We weigh 6", "We weigh 8"), ["We weigh 5", "We weigh 6", "We weigh 8"]),
            (("Ada, sheet 1", "Ada, sheet 2", "Ada, sheet 3"), []),
            (("Question 1", "Question 1", "Question 1"), []),
            (("Ada", "Ada", "1.b.i"), ["1.b.i"]),
        ],
        4,
    ),
)
def test_a_head_is_what_pages_repeat_and_begins_no_answer(tops: tuple[str, ...], stays: list[str]) -> None:
    found = pdf_lines(read_pdf(pages([text_page(top, "", "", "", "", "", "", "", "", "words") for top in tops])))
    assert [line.text for line in found.lines if line.text != "words"] == stays


def test_a_page_never_loses_all_it_says() -> None:
    found = pdf_lines(read_pdf(pages([text_page("the weights add up to one")] * 2)))
    assert [line.page for line in found.lines] == [1, 2]


def test_words_that_end_a_row_with_a_hyphen_go_on_in_the_next() -> None:
    rows = ("atten-", "tion is all, and self-", "attention too, non-", "Gaussian")
    text = " ".join(line.text for line in pdf_lines(read_pdf(pages([text_page(*rows)]))).lines)
    assert text == "attention is all, and self-attention too, non- Gaussian"


def test_bold_words_with_a_label_are_a_heading() -> None:
    fonts = b"/Font << /F 3 0 R /B << /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold >> >>"
    bold = text_page("1.a.i Copying a value", "Thank you all").replace(b"/F", b"/B").replace(b"72 7", b"72 6")
    plain = text_page("1.a.ii Averaging two", "is a matter of the query and nothing else")
    levels = {line.text: line.level for line in pdf_lines(read_pdf(pages([plain + bold], fonts))).lines}
    assert levels["1.a.i Copying a value"] == 1
    assert {levels["1.a.ii Averaging two"], levels["Thank you all"]} == {0}


def test_white_and_struck_out_text_is_left_out() -> None:
    found = _lines("unseen")
    assert _formulas(found) == ["M = A^{⊤}", "q = k_{a} + k_{b}"]
    assert found.unseen == [1]


def test_every_line_has_its_place() -> None:
    found = _lines("word_processor")
    first = found.places[found.lines[1].number]
    assert first.page == 1
    assert first.box is not None
    left, bottom, right, top = first.box
    assert 0 < left < right < 595
    assert 700 < bottom < top < 842


@pytest.mark.parametrize("title", [1, 2])
def test_every_row_of_a_title_stands_before_both_columns(title: int) -> None:
    across = [_box("t", left, 6000 - 500 * row, 100) for row in range(title) for left in range(3760, 6240, 50)]
    lefts = [*range(3760, 4960, 50), *range(5040, 6240, 50)]
    columns = [_box("x", left, y, 100) for y in range(5000, 0, -500) for left in lefts]
    widths = [(row.left, row.right) for row in rows_of([*across, *columns], 100, 10_000)]
    assert widths == [(3760, 6260)] * title + [(3760, 4960)] * 10 + [(5040, 6240)] * 10


@pytest.mark.parametrize(("left", "texts"), [(500, ["M = A"]), (115, ["M = A (3)"])], ids=["number", "part of it"])
def test_a_formula_is_read_without_the_number_at_the_margin(left: int, texts: list[str]) -> None:
    words = "which holds for every key that there is, since the columns of A are orthogonal to each other"
    page = text_page("M = A", "", words, words) + b"BT /F 11 Tf %d 760 Td (\\(3\\)) Tj ET" % left
    assert [line.text for line in pdf_lines(read_pdf(pages([page]))).lines] == [*texts, words, words]
