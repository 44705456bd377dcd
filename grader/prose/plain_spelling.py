"""LaTeX and Unicode mathematics → one plain spelling, so that `\\sum_{i=1}^n \\alpha_i` and Σαᵢ read the same.

Only for searching: what an expression means is the business of `grader.formulas`. Every pattern here is linear in the
length of the text: no nested repeats, runs of spaces made one first, and what lies between braces has no braces in it.
"""

from __future__ import annotations

import re
import unicodedata

from grader.model import Piece
from grader.notation.faces import FACE_NAMES, MARKS, any_of
from grader.notation.function_names import FUNCTIONS
from grader.notation.layout import BREAKS
from grader.notation.letters import FRACTIONS, LETTERS, SUBSCRIPTS
from grader.notation.operators import RELATIONS
from grader.notation.word_lists import words

# As formulas read them, but for what follows, which is a pause in prose, and for ∼, which people type as ~.
_SOUGHT = RELATIONS | {name: ", " for name, sign in RELATIONS.items() if sign == "⇒"} | {"sim": "~"}
_NOT_SOUGHT = ("exists", "mid")  # formulas take the one for a ∀ and the other for a bar: enough to end a clause
_LETTERS_SOUGHT = {name: unicodedata.normalize("NFKC", letter) for name, letter in LETTERS.items()}  # ℓ is typed l
# Letters are also named in plain words, and in the plural.
GREEK_NAMES = _LETTERS_SOUGHT | {f"{name}s": letter for name, letter in _LETTERS_SOUGHT.items() if name != "pi"}
_COMMANDS = (
    {name: f" {name} " for name in FUNCTIONS if name not in MARKS}
    | {name: sign for name, sign in _SOUGHT.items() if name not in _NOT_SOUGHT}
    | dict.fromkeys(BREAKS, ", ")
    | GREEK_NAMES
    | {"Sigma": "Σ ", "sum": "Σ", "sqrt": "√", "infty": "∞", "partial": "∂", "top": "⊤", "intercal": "⊤"}
    | {"langle": "(", "rangle": ")", "times": " × "}
)
NAMES_IN_FORMULAS = FUNCTIONS.keys() | words(
    "sin cos mean var relu diag argmax softargmax ffn mlp layernorm sublayer attention head multihead concat"
)
# Words that stand in formulas as they are; any other short run of letters there is a product of symbols.
_WORDS = NAMES_IN_FORMULAS | words("for all if and where so as with the is of to or not any each every while since")

_SUM = re.compile(r"(?:\\sum(?:\\limits)?|[Σ∑])(?:\s?[_^](?:\{[^{}]*\}|\([^()]*\)|[A-Za-z0-9]))*")
_STYLE = re.compile(rf"\\(?:{FACE_NAMES}|{any_of(MARKS)})\s?\{{([^{{}}]*)\}}")
_TRANSPOSE = re.compile(r"\^\s?\{\s?(?:[Tt⊤]|\\top|\\intercal)\s?\}|\^\s?(?:[T⊤]|\\top|\\intercal)|[ᵀ⊤]|\.T\b")
_ROOT = re.compile(r"\\sqrt\s?\{([^{}]*)\}")
_SUBSCRIPT = re.compile(r"\s?_\s?\{([^{}]*)\}")
_POWER = re.compile(r"\^\s?\{([^{}]*)\}")
_FRACTION = re.compile(r"\\[dt]?frac\s?\{([^{}]*)\}\s?\{([^{}]*)\}")
_SHORT_FRACTION = re.compile(r"\\[dt]?frac(?:\s?(\d)|\s([A-Za-z]))\s?([A-Za-z\d])")
_COMMAND = re.compile(r"\\([A-Za-z]+)")
_SMALL = re.compile(f"[{''.join(SUBSCRIPTS)}]+")
_POWER_OF_E = re.compile(r"(?<![A-Za-z])e\s?\^")
_LETTERS = re.compile(r"(?<![_A-Za-z])[A-Za-z]{2,4}(?![A-Za-z])")
_MATHEMATICS = re.compile(r"\$\$?([^$]+)\$\$?|\\\(([^$]{1,400}?)\\\)|\\\[([^$]{1,400}?)\\\]")
_CAPITAL = re.compile(r"\s*[A-Z][a-z]")
_NEW_SENTENCE = "\n\n"
_SPACES = re.compile(r"[^\S\n]+")
_EMPTY_LINES = re.compile(r"\n{3,}")


def plain(pieces: tuple[Piece, ...], limit: int, items: frozenset[int] = frozenset()) -> str:
    """What was written, in one spelling and at most `limit` characters; on lines `items` an item of a list begins."""
    parts, left = [], limit
    for before, piece in zip((None, *pieces), pieces, strict=False):
        text = piece.text[:left]
        left -= len(text)
        text = _EMPTY_LINES.sub("\n\n", "\n".join(line.strip() for line in _SPACES.sub(" ", text).split("\n")))
        parts.append(_NEW_SENTENCE if before and _begins_a_sentence(piece, before, items) else " ")
        parts.append(_symbols(text) if piece.kind == "math" else _MATHEMATICS.sub(_inside_dollars, text))
    return _words("".join(parts))[: 2 * limit]  # one letter of Unicode can unfold into eighteen


def _begins_a_sentence(piece: Piece, before: Piece, items: frozenset[int]) -> bool:
    """An item of a list does, and what is written with a capital below a formula that stands alone."""
    below = piece.line - before.line - before.text.count("\n")
    if below > 0 and piece.line in items:
        return True
    if before.kind == "math":
        return below > 0 and bool(_CAPITAL.match(piece.text))
    return below > 1 and piece.kind == "prose"  # after an empty line


def _inside_dollars(found: re.Match[str]) -> str:
    return f" {_symbols(next(group for group in found.groups() if group is not None))} "


def _symbols(text: str) -> str:
    """A formula, with `Mv_a` taken apart into M and v_a."""
    text = _latex(text.replace("&", " ").replace("\\\\", " , "))
    return _LETTERS.sub(lambda run: run[0] if run[0].lower() in _WORDS else " ".join(run[0]), text)


def _latex(text: str) -> str:
    """From the innermost braces outwards, so that a fraction finds plain text above and below its bar."""
    text = _STYLE.sub(r" \1", _SUM.sub("Σ ", text))
    text = _ROOT.sub(r"√ \1 ", _TRANSPOSE.sub(" ", text))
    text = _SUBSCRIPT.sub(lambda found: "_" + "".join(_commands(found[1]).split()).replace(",", ""), text)
    text = _POWER.sub(r"^(\1)", text)
    for _ in range(3):  # fractions within fractions, as deep as students nest them
        text = _FRACTION.sub(_over, text)
    return _commands(_SHORT_FRACTION.sub(lambda found: f" {found[1] or found[2]}/{found[3]} ", text))


def _commands(text: str) -> str:
    return _COMMAND.sub(lambda command: _COMMANDS.get(command[1], " "), text)


def _over(fraction: re.Match[str]) -> str:
    above, below = fraction[1].strip(), fraction[2].strip()
    return f" {above}/{below} " if above.isdigit() and below.isdigit() else f" ({above})/({below}) "


def _words(text: str) -> str:
    for letter in set(text):
        if unicodedata.category(letter) == "Cf":  # invisible, or turns text round
            text = text.replace(letter, "")
    text = _latex(_SMALL.sub(lambda run: "_" + "".join(SUBSCRIPTS[letter] for letter in run[0]), text))
    text = _POWER_OF_E.sub(" exp ", text)
    return unicodedata.normalize("NFKC", text.translate(_TYPED))


_TYPED = str.maketrans(
    {letter: f" {above}/{below} " for letter, (above, below) in FRACTIONS.items()}
    | {"²": " ^2 ", "’": "'", "{": " ", "}": " ", "\\": " ", "$": " "}
)
