"""Answer sheets in Markdown, LaTeX and YAML, damaged and read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import yaml

from benchmarks.fuzz import material
from benchmarks.fuzz.bytewise import damaged
from benchmarks.fuzz.endings import ends_well, rubric
from benchmarks.fuzz.structured import damaged_lines, damaged_tokens, damaged_tree, encoded
from grader.answers import read_answers
from grader.submission.opening import OpenedSubmission

Sheet = tuple[str, str, bytes]  # its rubric's name, its file's name, its content

_LABELS = ("## b.ii", "# 1.1.a", "**(b) i.**", "### Problem (1.c.i)", "1(b) ii.", "1.", "a)", "(iv)", "# 99.z", "- [ ]")
_MARKDOWN = (
    *("# ", "###### ", "> ", "- ", "1. ", "    ", "```", "```math", "~~~", "~~", "`", "``", "$", "$$", "\\("),
    *("\\[", "\\]", "<!--", "-->", "<!--?", "<s>", "</s>", "<span style='color:white'>", "<details>", "<sup>"),
    *("</sub>", "&amp;", "<a", "[x]: #", "![", "](", "[", "]", "*", "**", "_", "__", "***", "|", "|--|--|", "\\"),
    *("\\$", "---", "===", "* * *", "$q = \\beta(k_a + k_b)$", "q = 3", "½", "ᵀ", "\u200b", "\u202e", "\ufeff"),
    *("\x00", "\x0c", "\ud800", "\\beta"),
)
_LATEX = (
    *("\\begin{enumerate}", "\\end{enumerate}", "\\item", "\\item[(b)]", "\\section{", "\\section*{1.b}"),
    *("\\subsection{ii}", "\\begin{align}", "\\end{align*}", "\\begin{comment}", "\\iffalse", "\\fi", "%", "\\%"),
    *("\\verb|", "\\begin{verbatim}", "\\newcommand{\\x}{\\x\\x}", "\\newcommand{\\R}[1]{#1", "\\def\\x#1{"),
    *("\\renewcommand", "\\input{answers}", "\\sout{", "\\textcolor{white}{", "\\color{white}", "\\phantom{"),
    *("{", "}", "$", "$$", "\\(", "\\)", "\\[", "\\]", "\\\\", "\\", "&", "\\begin{document}", "\\end{document}"),
    *("\\documentclass{article}", "\\begin{", "\\end{", "\\text{", "~", "^", "_", "#1"),
)
YAML = (
    *("&a", "*a", "<<: *a", "a: &a [*a]", "!!python/object/apply:os.system ['true']", "!!binary ===="),
    *("!unknown x", "!<x>", "!!int x", "!!float y", "!!bool maybe", "!!timestamp 2024-13-45", "!!set {a, b}"),
    *("!!omap [a: 1]", "!!null", "!", "? [a, b]", "? ", ": ", "- ", "- - - ", "---", "...", "%YAML 9.9"),
    *("%TAG ! x", "|", "|9", ">-", "|+", "|\n\n x", "@", "`", "{", "}", "[", "]", "[" * 30, "{a: " * 30, "'"),
    *('"', '"\\x', '"\\uD800"', '"\\UFFFFFFFF"', '"\\U00110000"', "\t", "#", ",", "1e9999", "0x" + "f" * 300),
    *("0o9", "1:2:3:4", "190:20:30.15", "1" * 5_000, ".nan", ".inf", "=", "~", "yes", "2024-01-01", "\x00"),
    *("\x07", "\x85", "\u2028", "\ufeff", "\ud800", "a: 1\na: 2", "? a\n? a", "b.ii: ", "because: ", "files: "),
    *("rubric: ", "!!int ''", "!!float ''", "1:" * 300 + "2", "!!float " + "9:" * 300 + "9.5"),
)
_KEYS = ("b.ii", "1.b", "1", "q", "M", "because", "1.1.a", "files", "rubric", "student", "answers.md", "attention.py")
_WORDS = {"md": (*_MARKDOWN, *_LABELS), "tex": (*_LATEX, *_LABELS)}


def make(rng: Random) -> Sheet:
    ending = rng.choice(("md", "md", "tex", "yaml"))
    text = rng.choice(material.sheets(ending))
    by_bytes = rng.random() < 0.3
    if not by_bytes or rng.random() < 0.3:
        text = damaged_yaml(text, rng) if ending == "yaml" else damaged_lines(text, rng, _WORDS[ending])
    content = encoded(text, rng)
    if by_bytes:
        content = damaged(content, rng, rng.choice(material.sheets(ending)).encode())
    return rng.choice(("nlp-a5", "dl-hw3")), f"answers.{ending}", content


def damaged_yaml(text: str, rng: Random) -> str:
    """Its lines, its words or its tree."""
    how = rng.randrange(3)
    if how == 0:
        return damaged_lines(text, rng, YAML)
    if how == 1 or "&" in text:  # a tree with aliases in it can be larger than any memory
        return damaged_tokens(text, rng, YAML)
    try:
        tree = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError):
        return damaged_tokens(text, rng, YAML)
    flow = rng.choice((None, True, False))
    return str(
        yaml.safe_dump(damaged_tree(tree, rng, _KEYS), default_flow_style=flow, allow_unicode=rng.random() < 0.5)
    )


def read(sheet: Sheet, folder: Path) -> bool:
    course, file, content = sheet
    (folder / file).write_bytes(content)
    submission = OpenedSubmission("fuzzed", folder, len(content), (file,))

    def notes() -> Iterator[str]:
        answers = read_answers(submission, rubric(course).parts)
        yield from answers.notes
        for answer in answers.parts.values():
            "".join(piece.text for piece in answer.pieces).encode()  # it is shown in reports

    return ends_well(notes)
