"""How letters are set: faces, decorations, and marks over them."""

from __future__ import annotations

from grader.notation.word_lists import words

# Written above, below or round a letter, and without meaning for these questions.
DECORATIONS = words(
    """
    mathbf boldsymbol bm vec overrightarrow mathrm mathit mathsf mathcal mathfrak mathtt mathbb mathds mathscr
    underline rm bf it sf cal pmb textbf textit ensuremath mathnormal displaystyle textstyle scriptstyle boxed
    underbrace overbrace mathop mathord operatornamewithlimits limits nolimits strut phantom smash bold left
    right middle big Big bigg Bigg bigl bigr Bigl Bigr biggl biggr Biggl Biggr bigm Bigm nonumber notag
    allowbreak relax protect color textcolor centering hfill
    """
)
MARKS = {"hat": "̂", "widehat": "̂", "tilde": "̃", "widetilde": "̃", "bar": "̄", "overline": "̄", "dot": "̇"}
COMBINING = frozenset("̂̃̄")
TEXT_COMMANDS = words("text textrm textnormal textsf texttt mbox hbox operatorname textup")
