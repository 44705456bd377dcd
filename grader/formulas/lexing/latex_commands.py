"""LaTeX commands → tokens."""

from __future__ import annotations

import re
from collections.abc import Iterator

from grader.formulas.lexing.cursor import Cursor
from grader.formulas.lexing.derivatives import SIGNS
from grader.formulas.lexing.environments import read_environment
from grader.formulas.lexing.numerals import read_short_fraction
from grader.formulas.lexing.signs import read_bar, read_index, read_operator, read_sign
from grader.formulas.lexing.sums import has_bounds, read_sum
from grader.formulas.lexing.symbols import finished_name, labels_in, read_function, read_name
from grader.formulas.lexing.tokens import Token, Unreadable
from grader.formulas.syntax.expressions import Symbol
from grader.formulas.typing.vocabulary import Vocabulary
from grader.notation.faces import DECORATIONS, FACE, MARKS, TEXT_COMMANDS
from grader.notation.function_names import DECLARABLE, FUNCTIONS
from grader.notation.layout import BREAKS, SPACES, WITH_ARGUMENT
from grader.notation.letters import LETTERS
from grader.notation.operators import ELLIPSES, OPERATORS, RELATIONS, TRANSPOSES
from grader.quoting import quote

_FACES_AND_BRACES = re.compile(rf"{FACE.pattern}|[{{}}\s]")
_ONE_COMMAND = re.compile(r"\\([A-Za-z]+)")
_COMMANDS_AND_DOLLARS = re.compile(r"\\[A-Za-z]+|[$]")
_WORD = re.compile(r"[^\W\d_]+")
_BLACKBOARD_ONE = re.compile(r"\s*(?:\{\s*[1I]\s*\}|[1I])(?!\s*[_^(\[{])")
_SCRIPT = re.compile(r"\s*[_^]")


def read_command(cursor: Cursor, vocabulary: Vocabulary, name: str, start: int) -> Iterator[Token]:
    """What a backslash and a name begin, with the arguments that belong to it."""
    unstarred = name.rstrip("*")
    if unstarred and unstarred != name and unstarred not in TEXT_COMMANDS | WITH_ARGUMENT:
        cursor.at -= 1
    name = unstarred or name
    if name in ("mathbb", "mathds") and cursor.take(_BLACKBOARD_ONE):
        yield cursor.token("IDENTITY", "", start)
    elif name in SPACES or name in DECORATIONS or name in WITH_ARGUMENT:
        _skip(cursor, name)
    elif name in MARKS:
        yield _marked(cursor, vocabulary, name, start)
    elif name in TEXT_COMMANDS:
        yield from _text(cursor, vocabulary, start)
    elif name in LETTERS:
        yield _letter(cursor, vocabulary, LETTERS[name], start)
    elif name in SIGNS:
        yield finished_name(cursor, vocabulary, SIGNS[name], "", start)
    elif name == "sqrt":
        yield cursor.token("SQRT", name, start)
    elif name in FUNCTIONS and name != "identity":
        yield read_function(cursor, FUNCTIONS[name], start)
    elif name in ("binom", "dbinom", "tbinom") and "binomial" in vocabulary.functions:
        yield cursor.token("BINOMIAL", "binomial", start)
    elif name in vocabulary.functions and name in DECLARABLE:
        yield read_function(cursor, name, start)
    elif name in ("frac", "tfrac", "dfrac", "cfrac", "nicefrac", "sfrac"):
        yield cursor.token("FRACTION", name, start)
        yield from read_short_fraction(cursor)
    elif name in ("overset", "underset", "stackrel"):  # what stands above or below says nothing here
        cursor.group()
        cursor.take_off_braces()
    elif name == "sum":
        yield read_sum(cursor, start)
    elif name in ("begin", "end"):
        yield read_environment(cursor, name, start)
    elif name == "lim":
        _skip_script(cursor)
        _skip_script(cursor)
    elif name == "_":  # \_ of escaped Markdown
        if cursor.last_is("NAME"):
            yield read_index(cursor, start)
    elif name in ("(", ")", "[", "]"):
        raise Unreadable(f"'\\{name}' begins or ends mathematics, and stands inside it", start)
    elif name in ("*", "^", "-", "$", "+", "=", ".", "#", "&", "%", "'"):
        yield from read_sign(cursor, vocabulary, name, start)
    else:
        yield _single(cursor, vocabulary, name, start)


def _single(cursor: Cursor, vocabulary: Vocabulary, name: str, start: int) -> Token:
    """A command that is one token, whatever stands around it."""
    match name:
        case "infty":
            return cursor.token("CONSTANT", "∞", start)
        case "|" | "Vert" | "lVert" | "rVert":
            return read_bar(cursor, "‖", start)
        case "vert" | "lvert" | "rvert":
            return read_bar(cursor, "|", start)
        case "{" | "lbrace" | "lbrack" | "lparen" | "langle":
            cursor.open(start)
            return cursor.token("⟨" if name == "langle" else "(", name, start)
        case "}" | "rbrace" | "rbrack" | "rparen" | "rangle":
            cursor.close()
            return cursor.token("⟩" if name == "rangle" else ")", name, start)
        case "top" | "intercal" | "dagger" | "prime":
            return cursor.token("TRANSPOSE", name, start)
        case "R":
            return cursor.token("WORD", name, start)
        case "lor" | "vee":
            return cursor.token("WORD", "or", start)
        case "O" | "bigO":
            return cursor.token("FUNCTION", name, start)
        case "odot" if "hadamard" in vocabulary.functions:
            return cursor.token("OPERATOR", "⊙", start)
        case _ if name in BREAKS:
            return cursor.token("BREAK", name, start)
        case _ if name in OPERATORS:
            return read_operator(cursor, OPERATORS[name], start)
        case _ if name in RELATIONS:
            return cursor.token("RELATION", RELATIONS[name], start)
        case _ if name in ELLIPSES:
            return cursor.token("ELLIPSIS", "…", start)
        case _ if name in vocabulary.words:  # macros students define for themselves: \ka
            return read_name(cursor, vocabulary, name, start)
    raise Unreadable(f"the command '\\{quote(name, 20)}' is not known here", start)


def _skip(cursor: Cursor, name: str) -> None:
    """What has no meaning here, with the argument that belongs to it."""
    if name in WITH_ARGUMENT and cursor.next_is("{"):
        cursor.group()
        if name in ("color", "textcolor"):
            cursor.take_off_braces()
    elif name in ("left", "right") and cursor.next_is("."):
        cursor.at += 1
    elif name in DECORATIONS:
        cursor.take_off_braces()


def _skip_script(cursor: Cursor) -> None:
    if cursor.take(_SCRIPT):
        cursor.group()


def _letter(cursor: Cursor, vocabulary: Vocabulary, letter: str, start: int) -> Token:
    if letter == "Σ" and has_bounds(cursor):
        return read_sum(cursor, start)
    if letter in vocabulary.functions:
        return cursor.token("FUNCTION", letter, start)
    return read_name(cursor, vocabulary, letter, start)


def _marked(cursor: Cursor, vocabulary: Vocabulary, name: str, start: int) -> Token:
    letter = _FACES_AND_BRACES.sub("", cursor.group())
    if command := _ONE_COMMAND.fullmatch(letter):
        letter = LETTERS.get(command[1], command[1])
    base, _, below = letter.partition("_")
    if len(base) != 1:
        raise Unreadable(f"'\\{name}' should stand over one letter", start)
    if below:
        symbol = vocabulary.symbol(base, labels_in(below), MARKS[name])
        return cursor.token("NAME", symbol, start)
    return finished_name(cursor, vocabulary, base, MARKS[name], start)


def _text(cursor: Cursor, vocabulary: Vocabulary, start: int) -> Iterator[Token]:
    content = cursor.group().strip()
    words = _WORD.findall(_COMMANDS_AND_DOLLARS.sub(" ", content))
    alone = len(words) == 1 and content.strip("\\ ,.") == words[0]
    if alone and (token := _upright(cursor, vocabulary, words[0], start)):
        yield token
        return
    for word in words:
        yield cursor.token("WORD", word, start)
    if not words and content:
        yield cursor.token("BREAK", content, start)


def _upright(cursor: Cursor, vocabulary: Vocabulary, word: str, start: int) -> Token | None:
    """A function or symbol set upright: \\operatorname{softmax}, A^{\\text{T}}."""
    if word in vocabulary.functions:
        return read_function(cursor, word, start)
    if (function := FUNCTIONS.get(word) or FUNCTIONS.get(word.lower())) and len(word) > 1:
        return read_function(cursor, function, start)
    if word in TRANSPOSES and cursor.last_is("^"):
        return cursor.token("NAME", Symbol("T"), start)
    return read_name(cursor, vocabulary, word, start) if len(word) == 1 or word in vocabulary.recognised else None
