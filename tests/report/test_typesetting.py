"""Written answers with formulas set: what is drawn, what is marked, and what is left as it was written."""

from __future__ import annotations

import re
import threading
import time

import pytest

from grader.report.typesetting import MAX_SOURCE, mathml, typeset

SET = {
    r"q = \beta(k_a + k_b)": ("β", "<msub><mi>k</mi><mi>a</mi></msub>"),
    r"\frac{1}{2} A A^\top": ("<mfrac>", "<msup>"),
    r"\begin{aligned}a &= b\\ &= c\end{aligned}": ("<mtable>", "<mo>=</mo><mi>c</mi>"),
    r"\text{for all } i < j": ("for", "&lt;"),
}
AS_WRITTEN = (
    "",
    r"\unknowncommand{x}",
    r"x^{",
    "beta * (k_a + k_b) with beta >> 0",
    r"\def\a{\a\a}\a",
    r"\newcommand{\x}{xx}\x",
    r"\href{javascript:alert(1)}{x}",
    r"\rule{9em}{9em}",
    "x" * (MAX_SOURCE + 1),
    "{" * 30 + "x" + "}" * 30,
)
ELEMENTS = re.compile(r"</?(m[a-z]+|mark|span|code)[ >]")


@pytest.mark.parametrize("source", SET)
def test_formulas_are_set(source: str) -> None:
    shown = mathml(source)
    assert shown is not None
    assert all(piece in shown for piece in SET[source])
    assert 'alttext="' in shown


@pytest.mark.parametrize("source", AS_WRITTEN, ids=lambda source: source[:20])
def test_what_does_not_fit_stands_as_it_was_written(source: str) -> None:
    assert mathml(source) is None
    if source:
        assert f'<code class="source">${source.replace(">", "&gt;")}$</code>' in typeset(f"${source}$")


@pytest.mark.parametrize(
    "source",
    [
        r"\text{<script>alert(1)</script>}",
        r"\text{&lt;script&gt;}",
        r"\color{white}{0 points} x",
        r"\phantom{hidden} x",
        r"\style{background:url(//evil)}{x}",
        r"\class{decision}{x}",
        r"\tiny x",
        r"\hphantom{hidden} x",
        r"\boxed{\cancel{x}}",
    ],
)
def test_only_plain_mathematics_comes_out(source: str) -> None:
    shown = mathml(source)
    if shown is None:
        return
    assert "<script" not in shown
    markup = re.sub(r'alttext="[^"]*"', "", str(shown))
    assert not re.search(r"style=|class=|href|color|on\w+=|<mphantom|size=", markup)
    assert set(re.findall(r"<(\w+)", markup)) <= {"math", "mrow", "mi", "mn", "mo", "mtext", "mstyle", "mspace"}
    if "hidden" in source:
        assert re.sub(r"<[^>]*>", "", markup).startswith("hidden")


def test_what_was_found_is_marked_in_place() -> None:
    text = "The weights are <positive>, $\\alpha_i > 0$, and `a` sums\nto one."
    begin = text.index("<positive>")
    shown = str(typeset(text, [(begin, begin + 10, "sign"), (text.index("$"), text.index(", and"), "symbols")]))
    assert '<mark title="sign">&lt;positive&gt;</mark>' in shown
    assert re.search(r'<mark title="symbols"><span class="formula"[^>]*><math display="inline"', shown)
    assert "<code>a</code> sums\nto one." in shown
    assert shown.count("<mark") == 2
    block = str(typeset("so\n$x = 1$\nholds"))
    assert 'display="block"' in block
    assert block.endswith("</span>holds")  # a block ends its line by itself


def test_marks_that_overlap_say_both() -> None:
    assert str(typeset("abcdef", [(0, 4, "one"), (2, 6, "two")])) == (
        '<mark title="one">ab</mark><mark title="one; two">cd</mark><mark title="two">ef</mark>'
    )


def test_signs_that_would_be_obeyed_are_shown() -> None:
    assert str(typeset("a\u202eb\x1b[2J\u200bc\td\n")) == "a�b�[2J�c\td\n"


def test_a_text_full_of_formulas_takes_no_time() -> None:
    """Each of them new, so that none is remembered."""
    worst = " ".join(f"$x'{number}" + "(" * 900 + "$" for number in range(500))
    began = time.process_time()
    shown = typeset(worst)
    assert time.process_time() - began < 2
    assert '<code class="source">' in shown


def test_a_busy_machine_leaves_no_formula_unset() -> None:
    done = threading.Event()

    def compute() -> None:
        while not done.is_set():
            pass

    busy = [threading.Thread(target=compute) for _ in range(12)]
    for thread in busy:
        thread.start()
    try:
        shown = typeset(" ".join(f"$\\frac{{x_{{{number}}}}}{{y}}$" for number in range(100)))
    finally:
        done.set()
        for thread in busy:
            thread.join()
    assert shown.count("<mfrac>") == 100
