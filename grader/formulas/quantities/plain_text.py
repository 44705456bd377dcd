"""Text with LaTeX in it → text in which numbers, units and signs are plain: `3.5 \\times 10^{3}` → `3.5 × 10^(3)`."""

from __future__ import annotations

import re

from grader.notation.faces import FACES, TEXT_COMMANDS, any_of
from grader.notation.letters import FRACTIONS, LETTERS, SUPERSCRIPTS
from grader.notation.word_lists import spelled

_MAX_CHARACTERS = 20_000  # as of a formula
_NESTED = 4  # groups within groups: more than anybody writes around a number
_FRACTION = re.compile(r"\\[dtc]?frac\s*(?:\{([^{}]*)\}|(\d))\s*(?:\{([^{}]*)\}|(\d))")
_WITH_UNIT = re.compile(r"\\(?:SI|qty)\s*\{([^{}]*)\}\s*\{([^{}]*)\}")
_SET = re.compile(rf"\\(?:{any_of(FACES | TEXT_COMMANDS)}|si|unit|num)\s*\{{([^{{}}]*)\}}")
_ROOT = re.compile(r"\\sqrt\s*\{([^{}]*)\}|√\s*\(?([\d.,]+)\)?")
_BOXED = re.compile(r"\\f?boxed\s*\{((?:[^{}]|\{[^{}]*\})*)\}|\\fbox\s*\{([^{}]*)\}")
_BRACED = re.compile(r"\{([^{}]*)\}")
_RAISED = re.compile(r"[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻]+")
_SIGNS = spelled(
    {
        "≈": "approx simeq approxeq cong doteq sim",
        "±": "pm",
        "×": "times",
        "·": "cdot",
        "*": "ast",
        "/": "div",
        "≤": "le leq",
        "≥": "ge geq",
        "<": "lt",
        ">": "gt",
        "≠": "ne neq",
        "∞": "infty",
        "→": "to rightarrow",
        "⇒": "Rightarrow implies",
        "∴": "therefore",
    }
)
_COMMAND = re.compile(r"\\[A-Za-z]+")
_SPACES = re.compile(r"\\[,;:! ]|~|\\q?quad|\\(?:left|right)(?![A-Za-z])|[\u2009\u202f\u00a0]")
_DEGREES = re.compile(r"\s*\^\s*(?:\\circ(?![A-Za-z])|\{\s*\\circ\s*\})")
_PART_OF_ONE = re.compile(rf"(\d*)\s*([{''.join(FRACTIONS)}])")
_WHOLE_AND_PART = re.compile(r"(?<![\d.,/^])(\d+) (\d{1,2})/(\d{1,2})(?![\d.,])")  # 3 1/2
_PYTHON_POWER = re.compile(r"(?<=\d)\*\*(?=[\d(-])")
BOX, END_OF_BOX = "⟦", "⟧"


def plain(text: str) -> str:
    """What is written, with brackets for braces and signs for commands. What is boxed stands between ⟦ and ⟧."""
    text = _DEGREES.sub("°", _SPACES.sub(" ", text[:_MAX_CHARACTERS])).replace("{,}", ",").replace("\\%", "%")
    text = _BOXED.sub(lambda found: f"{BOX} {found[1] or found[2]} {END_OF_BOX}", text)
    for _ in range(_NESTED):  # inside out
        text = _WITH_UNIT.sub(r" \1 \2 ", _SET.sub(r" \1 ", text))
        text = _FRACTION.sub(lambda found: f"(({found[1] or found[2]})/({found[3] or found[4]}))", text)
        text = _ROOT.sub(lambda found: f" sqrt({found[1] or found[2]})", text)
        text = _BRACED.sub(r"(\1)", text)
    text = _RAISED.sub(lambda found: f"^({''.join(map(SUPERSCRIPTS.__getitem__, found[0]))})", text)
    text = _WHOLE_AND_PART.sub(r"(\1+\2/\3)", _PART_OF_ONE.sub(_part_of_one, text))
    text = _PYTHON_POWER.sub("^", _COMMAND.sub(_command, text))
    return text.replace("**", "").replace("−", "-").replace("⋅", "·").replace("∙", "·")


def _part_of_one(found: re.Match[str]) -> str:
    over, under = FRACTIONS[found[2]]
    return f"({found[1] or 0}+{over}/{under})"


def _command(found: re.Match[str]) -> str:
    name = found[0][1:]
    return _SIGNS.get(name) or LETTERS.get(name) or f" {name} "
