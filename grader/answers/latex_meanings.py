"""What LaTeX's commands mean to who cuts a sheet: headings, words that are shown, and what only looks."""

from __future__ import annotations

import re

from grader.notation.faces import TEXT_COMMANDS

HEADINGS = {"chapter": 1, "section": 1, "subsection": 2, "subsubsection": 3, "paragraph": 4, "subparagraph": 5}
# \operatorname stays: it begins a formula that stands among words.
SHOWN = (TEXT_COMMANDS - {"operatorname"}) | {"textit", "textsc", "emph", "underline", "footnote", "uline"}
BOXES = frozenset({"fbox", "framebox", "makebox", "parbox", "raisebox"})  # shown too, after their options
FIRST_ARGUMENT = ("textcolor", "href", "colorbox", "fcolorbox", "hyperref")  # says how; what is seen is the next
CODE = ("verbatim", "lstlisting", "minted")
_FACES = (
    "bf|bfseries|em|it|itshape|sl|sc|scshape|sf|sffamily|rmfamily|tt|ttfamily|normalfont|upshape|tiny|footnotesize|"
    "small|normalsize|large|Large|LARGE|huge|Huge"
)
FACE = re.compile(_FACES)  # \large{…} is no argument: the words are there, and to be read
LOOKS = re.compile(rf"\s*((?:\\(?:{_FACES})(?![A-Za-z])\s*|\\color\b)+)")
BREAKS = re.compile("par|noindent|bigskip|medskip|smallskip|newline|linebreak")
SPACE = re.compile("quad|qquad|enspace|enskip|thinspace")
SPACE_AFTER_A_BREAK = re.compile(r"\*?\s*\[\s*-?[\d.]+\s*(?:[a-z]{2}|\\[A-Za-z]+)\s*\]")
SKIP = re.compile(r"\s*-?[\d.]+\s*[a-z]{2}\b")  # \hskip 1em
# These have no argument: a group behind them is the author's words.
BARE = re.compile(
    "maketitle|newpage|centering|clearpage|pagebreak|nopagebreak|hfill|vfill|tableofcontents|indent|hline|item|hrule|"
    "selectfont|parindent|parskip|addpoints|noaddpoints|printanswers|leavevmode|protect|relax|xspace|ignorespaces|"
    "null|strut|allowbreak|hrulefill|dotfill|raggedright|sloppy|appendix"
)
DROPPED = re.compile(
    "label|vspace|hspace|includegraphics|title|author|date|ref|cite|eqref|caption|pagestyle|thispagestyle|usepackage|"
    "input|include|subfile|color|definecolor|graphicspath|bibliography|bibliographystyle|hypersetup|lstset|setlength|"
    "droptotalpoints|points|fontsize|rule|newcounter|addcontentsline|markboth|phantomsection|needspace"
)
