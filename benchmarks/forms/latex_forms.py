"""LaTeX in three hands: numbered sections, nested lists, and headings without numbers beside macros of one's own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from benchmarks.forms.blocks import Block, blocks
from benchmarks.forms.corpus import Entry, Sheet, entries

PACKAGES = "\\usepackage[utf8]{inputenc}\n\\usepackage{amsmath,amssymb,enumitem}\n"
_SECTIONS = ("section", "subsection", "subsubsection")
_COUNTERS = ("enumi", "enumii", "enumiii")
_SPECIAL = re.compile(r"([%&#_])")


def sections(sheet: Sheet) -> str:
    """`\\section`, `\\subsection`, `\\subsubsection`, numbered by LaTeX as the assignment numbers its parts."""
    numbered = _numbering(sheet)
    lines = [f"\\renewcommand{{\\the{name}}}{{{numbered[level]}}}" for level, name in enumerate(_SECTIONS) if level]
    body: list[str] = []
    for entry, skipped in _with_skips(sheet):
        name = _SECTIONS[len(entry.labels) - 1]
        if skipped is not None:
            body.append(f"\\setcounter{{{name}}}{{{skipped}}}")
        body.append(f"\\{name}{{{entry.prompt.title}}}")
        body += latex_lines(entry.answer.text) if entry.answer else []
    return document("article", [*lines], body)


def enumerated(sheet: Sheet) -> str:
    """`enumerate` in `enumerate`, its labels said once, at the beginning."""
    forms = list_labels(sheet)
    lines = [f"\\setlist[enumerate,{level}]{{label={form}}}" for level, form in enumerate(forms, 1)]
    body: list[str] = []
    depth = 0
    for entry, skipped in _with_skips(sheet):
        level = len(entry.labels)
        body += ["\\end{enumerate}"] * (depth - level)
        if level > depth:
            start = f"[start={skipped + 1}]" if skipped is not None else ""
            body.append(f"\\begin{{enumerate}}{start}")
        elif skipped is not None:
            body.append(f"\\setcounter{{{_COUNTERS[level - 1]}}}{{{skipped}}}")
        body.append("\\item" if entry.answer else f"\\item \\textbf{{{entry.prompt.title}}}")
        body += latex_lines(entry.answer.text, inline=("\\(", "\\)"), display=("$$", "$$")) if entry.answer else []
        depth = level
    body += ["\\end{enumerate}"] * depth
    return document("article", lines, body)


_MACROS = {
    "^\\top": ("\\tp", "\\newcommand{\\tp}{^{\\top}}"),
    "\\mathbb{R}": ("\\R", "\\newcommand{\\R}{\\mathbb{R}}"),
    "\\mathrm{softargmax}": ("\\softargmax", "\\DeclareMathOperator{\\softargmax}{softargmax}"),
    "\\frac{1}{2}": ("\\half", "\\def\\half{\\frac{1}{2}}"),
}
_INDEXED = (
    (re.compile(r"\\mu_(\w)"), r"\\mean{\1}", "\\newcommand{\\mean}[1]{\\mu_{#1}}"),
    (re.compile(r"\bk_(\w)"), r"\\key{\1}", "\\newcommand{\\key}[1]{k_{#1}}"),
)


def starred(sheet: Sheet) -> str:
    """`\\subsection*{1(b) ii}`, and macros of one's own in the formulas."""
    body: list[str] = []
    for part, answer in sheet.answers.items():
        body.append(f"\\subsection*{{{_heading(part)}}}")
        body += _aligned(latex_lines(_with_macros(answer.text), display=("\\begin{equation*}", "\\end{equation*}")))
    definitions = [definition for _, definition in _MACROS.values()]
    return document("article", [*definitions, *(definition for *_, definition in _INDEXED)], body)


def _heading(part: str) -> str:
    numbers = [one for one in part.split(".") if one.isdigit()]
    letter, *below = [one for one in part.split(".") if not one.isdigit()]
    return " ".join([f"{'.'.join(numbers)}({letter})", *below])


def _with_macros(text: str) -> str:
    for plain, (macro, _) in _MACROS.items():
        text = re.sub(f"({re.escape(plain)})(?=[A-Za-z])", r"\1 ", text)  # a name must not run into letters
        text = text.replace(plain, macro)
    for pattern, macro, _ in _INDEXED:
        text = pattern.sub(macro, text)
    return text


def _aligned(lines: Iterator[str]) -> list[str]:
    """Equations right below each other become one `align*`."""
    text = "\n".join(lines)
    run = re.compile(r"(?:\\begin\{equation\*\}\n.*\n\\end\{equation\*\}\n?){2,}")

    def joined(match: re.Match[str]) -> str:
        rows = re.findall(r"\\begin\{equation\*\}\n(.*)\n\\end", match[0])
        aligned = " \\\\\n".join(row.replace("=", "&=", 1) for row in rows)
        return f"\\begin{{align*}}\n{aligned}\n\\end{{align*}}\n"

    return run.sub(joined, text).splitlines()


def document(kind: str, preamble: list[str], body: list[str]) -> str:
    begin, end = "\\begin{document}", "\\end{document}"
    return "\n".join([f"\\documentclass{{{kind}}}", PACKAGES.rstrip(), *preamble, begin, *body, end, ""])


def latex_lines(
    text: str, inline: tuple[str, str] = ("$", "$"), display: tuple[str, str] = ("\\[", "\\]")
) -> Iterator[str]:
    made = blocks(text)
    for before, block in pairwise([None, *made]):
        assert block is not None
        if block.kind == "item" and (before is None or before.kind != "item"):
            yield "\\begin{itemize}"
        if before and before.kind == "item" and block.kind != "item":
            yield "\\end{itemize}"
        if before and before.kind == block.kind == "paragraph":
            yield ""
        yield from _block(block, inline, display)
    if made[-1].kind == "item":
        yield "\\end{itemize}"


def _block(block: Block, inline: tuple[str, str], display: tuple[str, str]) -> Iterator[str]:
    if block.kind == "display":
        yield from (display[0], block.spans[0].text, display[1])
        return
    text = "".join(f"{inline[0]}{s.text}{inline[1]}" if s.is_math else escaped(s.text) for s in block.spans)
    yield f"\\item {text}" if block.kind == "item" else text


def escaped(words: str) -> str:
    return _SPECIAL.sub(r"\\\1", words)


def _with_skips(sheet: Sheet) -> Iterator[tuple[Entry, int | None]]:
    """Every entry, and where numbers were left out right before it, what the counter has to be set to."""
    counters: dict[str, int] = {}
    for entry in entries(sheet):
        above, number = ".".join(entry.labels[:-1]), _ordinal(entry.labels[-1])
        yield entry, number - 1 if number != counters.get(above, 0) + 1 else None
        counters[above] = number


def _ordinal(label: str) -> int:
    romans = ("i", "ii", "iii", "iv")
    if label in romans:
        return romans.index(label) + 1
    return int(label) if label.isdigit() else ord(label) - ord("a") + 1


def _numbering(sheet: Sheet) -> tuple[str, ...]:
    if sheet.rubric == "nlp-a5":
        return "", "\\thesection(\\alph{subsection})", "\\thesubsection.\\roman{subsubsection}"
    return "", "\\thesection.\\arabic{subsection}", "\\thesubsection(\\alph{subsubsection})"


def list_labels(sheet: Sheet) -> tuple[str, ...]:
    if sheet.rubric == "nlp-a5":
        return "\\arabic*.", "(\\alph*)", "\\roman*."
    return "\\arabic*.", "\\theenumi\\arabic*", "(\\alph*)"
