"""The same answers in the styles people hand them in: LaTeX of several kinds, and text pasted from elsewhere.

Every style is a function from answers to a sheet. What a part holds is the same in all of them, so that whoever tests a
style asks only whether each answer stands where it belongs, with nothing of its neighbours' or of the question's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

NLP_ANSWERS = {
    "1.a.i": r"Exponentials are positive and the denominator adds them all up, so $\sum_i \alpha_i = 1$",
    "1.a.ii": r"The score $k_j^\top q$ has to be far above every other score",
    "1.a.iii": r"It comes out as $c \approx v_j$.",
    "1.a.iv": "Whatever value belongs to the best key is handed through",
    "1.b.i": r"$M = AA^\top$, since $A^\top B = 0$",
    "1.b.ii": r"$q = \beta (k_a + k_b)$ with $\beta \gg 0$",
    "1.c.i": r"$q = \beta (\mu_a + \mu_b)$ with $\beta \gg 0$.",
    "1.c.ii": "Now the length of one key sways, so the output jumps from one value to the other",
    "1.d.i": r"$q_1 = \beta \mu_a$ and $q_2 = \beta \mu_b$",
    "1.d.ii": "Each head looks at one direction only, which keeps the mean of both steady",
    "2.d": "The baseline reaches five percent.",
    "2.g.ii": r"$O(L \ell^2)$ against $O(\ell m + L m^2)$",
    "3.a": "Pretraining stored names and places in the weights",
    "3.b": "People lose their trust, and rumours spread.",
    "3.c": "It guesses from how a name sounds; that repeats prejudice",
}
DL_ANSWERS = {
    "1.1.a": r"$H = V A$ with $A = \mathrm{softargmax}_\beta(K^\top Q)$",
    "1.1.b": r"It is an inverse temperature, usually $1/\sqrt{d}$",
    "1.1.c": "One score far above the rest copies its value",
    "1.1.d": "Equal scores give the mean of all values.",
    "1.1.e": r"Each column moves by about $\beta a_{ij} (\epsilon^\top q_j)(v_i - h_j)$",
    "1.1.f": r"Its weight becomes $e^{\beta\alpha s}$ over the sum",
    "1.2.a": r"$H_i = V_i A_i$, stacked, then $W_O$",
    "1.2.b": "Several kernels side by side, mixed afterwards",
    "1.3.a": r"$Q = W_Q C$, $K = W_K C$, $V = W_V C$",
    "1.3.b": "Wherever order carries meaning",
    "1.3.c": "Orthogonal columns and a sharp softargmax.",
    "1.3.d": "That is a convolution of width one",
    "1.3.e": "One head for each offset",
    "1.4.a": "All positions at once, no recurrence",
    "1.4.b": "Any two positions are one step apart",
    "1.4.c": "Heads look into different subspaces",
    "1.4.d": "Two linear maps with a ReLU between",
    "1.4.e": "It normalises the features of a token",
    "1.5.a": "Patches become tokens",
    "1.5.b": "Only an encoder is used",
    "1.5.c": "Positions are learned",
    "1.5.d": "A class token feeds a small head",
}
TITLES = {
    "1": "Attention exploration",
    "1.a": "Copying",
    "1.b": "Two at once",
    "1.c": "What one head cannot do",
    "1.d": "What two heads can do",
    "2": "Pretraining",
    "2.g": "A variant",
    "3": "Considerations",
    "1.1": "Attention",
    "1.2": "Many heads",
    "1.3": "Self-attention",
    "1.4": "The Transformer",
    "1.5": "Vision",
}
PROMPTS = (
    r"Explain briefly what happens to $\alpha$ here, and name the conditions you need.",
    r"How would you choose $q$ so that the output is $\frac{1}{2}(v_a+v_b)$?",
    "Describe in one sentence what you expect. You may use a figure.",
    r"Show that $M = I$ would not do, and construct a matrix that does.",
)

Answered = Mapping[str, str]
Style = Callable[[Answered], str]


def walk(answers: Answered) -> Iterator[tuple[str, str]]:
    """Each question, part and subpart in order, before what is below it; with its answer, or an empty one."""
    said: set[str] = set()
    for part in answers:
        steps = part.split(".")
        for depth in range(1, len(steps)):
            above = ".".join(steps[:depth])
            if above not in said:
                said.add(above)
                yield above, ""
        yield part, answers[part]


def _prompt(part: str) -> str:
    return PROMPTS[sum(map(ord, part)) % len(PROMPTS)]


def _count(step: str) -> int:
    romans = ("i", "ii", "iii", "iv", "v")
    if step.isdigit():
        return int(step)
    return romans.index(step) + 1 if step in romans else ord(step) - ord("a") + 1


def _document(body: str, preamble: str = "") -> str:
    head = f"\\documentclass{{article}}\n\\usepackage{{amsmath}}\n{preamble}"
    return f"{head}\\begin{{document}}\n{body}\n\\end{{document}}\n"


# LaTeX


def _lists(answers: Answered, begin: Callable[[int, str], str], item: Callable[[str, int], str], outer: int = 0) -> str:
    """Lists within lists; `begin` opens one at a depth, for a first part; `item` begins an item."""
    lines: list[str] = []
    open_at: list[str] = []
    for part, answer in walk(answers):
        steps = part.split(".")
        depth = len(steps) - outer
        if depth <= 0:
            lines += ["\\end{enumerate}"] * len(open_at)
            open_at = []
            lines.append(f"\\section*{{{'.'.join(steps)} {TITLES[part]}}}")
            continue
        while len(open_at) > depth:
            lines.append("\\end{enumerate}")
            open_at.pop()
        while len(open_at) < depth:
            lines.append(begin(len(open_at), part))
            open_at.append(part)
        lines.append(f"{item(part, depth)} {answer or TITLES[part]}")
    return "\n".join([*lines, *["\\end{enumerate}"] * len(open_at)])


def nested_enumerate(answers: Answered) -> str:
    """LaTeX's own labels, with the counters set where parts are left out."""

    def begin(depth: int, part: str) -> str:
        start = _count(part.split(".")[depth]) - 1
        counter = ("enumi", "enumii", "enumiii", "enumiv")[depth]
        return "\\begin{enumerate}" + (f"\\setcounter{{{counter}}}{{{start}}}" if start else "")

    def item(part: str, depth: int) -> str:
        return "\\setcounter{enumii}{6}\\item" if part == "2.g" else "\\item"

    return _document(_lists(answers, begin, item))


def enumitem_labels(answers: Answered) -> str:
    def begin(depth: int, part: str) -> str:
        step = part.split(".")[depth]
        label = r"\arabic*" if step.isdigit() else r"\roman*" if _is_roman(part, depth) else r"\alph*"
        start = f", start={_count(step)}" if _count(step) > 1 else ""
        return f"\\begin{{enumerate}}[label={('%s.', '(%s)', '%s)')[depth] % label}{start}]"

    def item(part: str, depth: int) -> str:
        return "\\setcounter{enumii}{6}\n  \\item" if part == "2.g" else "  \\item"

    return _document(_lists(answers, begin, item), "\\usepackage{enumitem}\n")


def _is_roman(part: str, depth: int) -> bool:
    return depth == 2 and (part[2].isalpha() or not part.startswith("1."))


def own_labels(answers: Answered) -> str:
    """Every item says its label itself."""
    return _document(_lists(answers, lambda *_: "\\begin{enumerate}", lambda p, _: f"\\item[({p.split('.')[-1]})]"))


def starred_sections(answers: Answered) -> str:
    marks = ("section*", "subsection*", "subsubsection*")
    lines = []
    for part, answer in walk(answers):
        steps = part.split(".")
        label = steps[-1] if len(steps) != 2 else f"({steps[-1]})"
        lines.append(f"\\{marks[len(steps) - 1]}{{{label} {TITLES.get(part, '')}}}\n{answer}")
    return _document("\n".join(lines))


def counted_sections(answers: Answered) -> str:
    """Titles without a label: LaTeX counts, and parts that are left out are counted over."""
    lines, counters = [], ["section", "subsection", "subsubsection"]
    for part, answer in walk(answers):
        steps = part.split(".")
        name = counters[len(steps) - 1]
        lines.append(
            f"\\setcounter{{{name}}}{{{_count(steps[-1]) - 1}}}\n\\{name}{{{TITLES.get(part, '')}}}\n{answer}\n"
        )
    return _document("\n".join(lines))


def paragraphs(answers: Answered) -> str:
    return _document("\n".join(f"\\paragraph{{{part}}} {answer}\n" for part, answer in answers.items()))


def bold_labels(answers: Answered) -> str:
    return _document("\n\n".join(f"\\noindent\\textbf{{{part})}} {answer}\\\\" for part, answer in answers.items()))


def sections_and_lists(answers: Answered) -> str:
    """Headings for questions and parts, a list for what is below them."""

    def begin(depth: int, part: str) -> str:
        return (
            "\\begin{enumerate}[label=\\roman*.]" if len(part.split(".")) > 2 else "\\begin{enumerate}[label=\\alph*)]"
        )

    lines = []
    below: dict[str, dict[str, str]] = {}
    for part, answer in answers.items():
        below.setdefault(part.rpartition(".")[0], {})[part] = answer
    for above, those in below.items():
        lines.append(f"\\section*{{Problem {above}: {TITLES[above]}}}")
        first = _count(next(iter(those)).rpartition(".")[2])
        begins = begin(1, next(iter(those)))
        roman = len(above.split(".")) == 2 and above.split(".")[1].isalpha()
        begins = begins.replace("\\alph", "\\roman") if roman else begins.replace("\\roman", "\\alph")
        lines.append(begins if first == 1 else begins.replace("]", f", start={first}]"))
        lines += [f"\\item {answer}" for answer in those.values()]
        lines.append("\\end{enumerate}")
    return _document("\n".join(lines))


def _exam(answers: Answered, solution: Callable[[str], str], question: str = "\\question {}") -> str:
    names, environments = ("question", "part", "subpart"), ("questions", "parts", "subparts")
    counters = ("question", "partno", "subpart")
    lines: list[str] = []
    depth = 0
    for part, answer in walk(answers):
        steps = part.split(".")
        while depth > len(steps):
            depth -= 1
            lines.append(f"\\end{{{environments[depth]}}}")
        while depth < len(steps):
            lines.append(f"\\begin{{{environments[depth]}}}")
            depth += 1
        level = len(steps) - 1
        lines.append(f"\\setcounter{{{counters[level]}}}{{{_count(steps[-1]) - 1}}}")
        if level == 0:
            lines.append(question.format(TITLES[part]))
        elif not answer:
            lines.append(
                f"\\{names[level]}[5] \\textbf{{{TITLES[part]}.}} Recall that $c = \\sum_i v_i \\alpha_i$, as we saw."
            )
        else:
            lines += [f"\\{names[level]}[2] {_prompt(part)}\n\nHint: look at $q = 2 k_a$ first.", "", solution(answer)]
    lines += [f"\\end{{{environments[at]}}}" for at in range(depth - 1, -1, -1)]
    return "\n".join(lines)


def exam_solutions(answers: Answered) -> str:
    body = _exam(answers, lambda answer: f"\\begin{{solution}}\n{answer}\n\\end{{solution}}")
    return _document(body).replace("{article}", "[answers]{exam}")


def exam_macro(answers: Answered) -> str:
    """A command of the course's own around each answer, titled questions, a switch."""
    preamble = (
        "\\newif\\ifanswers\n\\answerstrue\n"
        "\\newcommand{\\ifans}[1]{\\ifanswers \\color{red} \\textbf{Answer: } #1 \\color{black} \\fi}\n"
    )
    body = _exam(answers, lambda answer: f"\\ifans{{{answer}}}", "\\titledquestion{{{}}}[20]")
    return _document(body, preamble).replace("{article}", "{exam}")


def exam_switch(answers: Answered) -> str:
    body = _exam(answers, lambda answer: f"\\ifans\n{answer}\n\\fi", "\\titledquestion{{{}}}")
    return _document(body, "\\newif\\ifans\\anstrue\n").replace("{article}", "{exam}")


def handout_with_boxes(answers: Answered) -> str:
    """The handout's own lists with its questions left in, and a box of the course's below each."""

    def begin(depth: int, part: str) -> str:
        return nested_begin(depth, part)

    def nested_begin(depth: int, part: str) -> str:
        start = _count(part.split(".")[depth])
        return "\\begin{enumerate}" + (f"[start={start}]" if start > 1 else "")

    asked = {
        part: f"(2 points) {_prompt(part)}\n\n\\begin{{answer}}\n{said}\n\\end{{answer}}"
        for part, said in answers.items()
    }
    body = _lists(asked, begin, lambda part, _: "\\setcounter{enumii}{6}\\item" if part == "2.g" else "\\item")
    return _document(body, "\\newenvironment{answer}{\\color{blue}}{}\n")


def coloured(answers: Answered) -> str:
    """Questions in black, answers in blue."""
    lines = [
        f"\\textbf{{{part}}} {_prompt(part)}\n\n{{\\color{{blue}} {answer}}}\n" for part, answer in answers.items()
    ]
    return _document("\n".join(lines))


LATEX_STYLES: tuple[Style, ...] = (
    nested_enumerate,
    enumitem_labels,
    own_labels,
    starred_sections,
    counted_sections,
    paragraphs,
    bold_labels,
    sections_and_lists,
    exam_solutions,
    exam_macro,
    exam_switch,
    handout_with_boxes,
    coloured,
)


# Pasted text


def _pasted(answers: Answered, label: Callable[[str], str], titles: bool = True) -> str:
    lines = [f"{label(part)} {answer or TITLES[part]}" for part, answer in walk(answers) if answer or titles]
    return "\n".join(lines) + "\n"


def _handout_label(part: str) -> str:
    steps = part.split(".")
    if len(steps) == 1:
        return f"{part}."
    if steps[1].isdigit():
        return part if len(steps) == 2 else f"({steps[-1]})"
    return f"({steps[-1]})" if len(steps) == 2 else f"{steps[-1]}."


def as_in_the_handout(answers: Answered) -> str:
    return _pasted(answers, _handout_label)


def full_labels(answers: Answered) -> str:
    return _pasted(answers, lambda part: f"{part}", titles=False)


def brackets(answers: Answered) -> str:
    def label(part: str) -> str:
        first, *rest = part.split(".")
        return first + "".join(f"({step})" for step in rest)

    return _pasted(answers, label, titles=False)


def dashes(answers: Answered) -> str:
    return _pasted(answers, lambda part: f"{part} -", titles=False)


def q_labels(answers: Answered) -> str:
    return _pasted(answers, lambda part: f"Q{part}:", titles=False)


def labels_alone(answers: Answered) -> str:
    return _pasted(
        answers, lambda part: f"{_handout_label(part)}\n" if len(part.split(".")) > 2 else _handout_label(part)
    )


def indented(answers: Answered) -> str:
    lines = []
    for part, answer in walk(answers):
        lines.append("    " * part.count(".") + f"{_handout_label(part)} {answer or TITLES[part]}")
    return "\n".join(lines) + "\n"


def first_of_each(answers: Answered) -> str:
    """(a) i. … then ii. …, then (b) i. …: the part is named once."""
    lines, last = [], ""
    for part, answer in answers.items():
        above, _, step = part.rpartition(".")
        whole = "".join(f"({one})" for one in above.split(".")[1:])
        if above.partition(".")[0] != last.partition(".")[0]:
            lines.append(f"Problem {above.partition('.')[0]}")
        mark = f"{step}." if len(part.split(".")) > 2 and not above.split(".")[1].isdigit() else f"({step})"
        if above.split(".")[-1].isdigit() and len(above.split(".")) > 1 and above != last:
            lines.append(f"Section {above}")
        lines.append(
            f"{whole} {mark} {answer}".strip() if above != last and not whole[1:2].isdigit() else f"{mark} {answer}"
        )
        last = above
    return "\n".join(lines) + "\n"


def with_questions(answers: Answered) -> str:
    lines = []
    for part, answer in answers.items():
        lines += [f"Problem ({part})", PROMPTS[len(lines) % 4], f"Solution. {answer}"]
    return "\n".join(lines) + "\n"


def spaced(style: Style) -> Style:
    def with_blank_lines(answers: Answered) -> str:
        return style(answers).replace("\n", "\n\n")

    with_blank_lines.__name__ = f"{style.__name__}_spaced"
    return with_blank_lines


PASTED_STYLES: tuple[Style, ...] = (
    as_in_the_handout,
    full_labels,
    brackets,
    dashes,
    q_labels,
    labels_alone,
    indented,
    first_of_each,
    with_questions,
)


def plain(text: str) -> str:
    """Without dollars, blanks and the last full stop: what two spellings of one answer have in common."""
    return "".join(text.replace("$", " ").split()).rstrip(".")
