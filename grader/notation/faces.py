"""How letters are set: faces, decorations, and marks over them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from grader.notation.word_lists import words

# The same letter in another face.
FACES = words(
    """
    mathbf boldsymbol bm pmb bold bf textbf mathit it textit mathsf sf mathrm rm mathnormal
    mathcal cal mathfrak mathtt mathbb mathds mathscr
    """
)
# Text within mathematics. One name alone in it is a symbol or a function, set upright.
TEXT_COMMANDS = words("text textrm textnormal textsf texttt mbox hbox operatorname textup")
_ARROWS = words("vec overrightarrow")
BRACKET_SIZES = words("left right middle big Big bigg Bigg bigl bigr Bigl Bigr biggl biggr Biggl Biggr bigm Bigm")
# Written above, below or round a letter, and without meaning for these questions.
DECORATIONS = (
    FACES
    | _ARROWS
    | BRACKET_SIZES
    | words(
        """
        underline ensuremath displaystyle textstyle scriptstyle boxed underbrace overbrace mathop mathord
        operatornamewithlimits limits nolimits strut phantom smash nonumber notag allowbreak relax protect color
        textcolor centering hfill
        """
    )
)
MARKS = {"hat": "̂", "widehat": "̂", "tilde": "̃", "widetilde": "̃", "bar": "̄", "overline": "̄", "dot": "̇"}
COMBINING = frozenset("̂̃̄")


def any_of(names: Iterable[str]) -> str:
    """As a pattern; the longest first, so that `textrm` is not read as `text`."""
    return "|".join(sorted(names, key=lambda name: (-len(name), name)))


# What may stand before a letter and leave it what it is, as a pattern for its name.
FACE_NAMES = any_of(FACES | TEXT_COMMANDS | _ARROWS)
FACE = re.compile(rf"\\(?:{FACE_NAMES})(?![A-Za-z])")
# All but the blackboard's, which tells ℝ from R.
_PLAIN = re.compile(rf"\\(?:{any_of((FACES | TEXT_COMMANDS | _ARROWS) - {'mathbb', 'mathds'})})(?![A-Za-z])")


def without_faces(text: str) -> str:
    """`\\mathbf{W}_Q` → ` {W}_Q`."""
    return _PLAIN.sub(" ", text)
