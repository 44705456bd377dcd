"""Every table of notation stands once, says what it should, and means the same to every reader."""

from __future__ import annotations

import ast
import re
import unicodedata
from functools import cache
from itertools import combinations

import pytest

from grader.formulas.lexing.lexer import read_tokens
from grader.formulas.typing.vocabulary import Vocabulary
from grader.model import Piece
from grader.notation import denials, faces, function_names, layout, letters, operators, size_words, units
from grader.prose.plain_spelling import plain
from tests.conftest import REPOSITORY, RUBRIC_CODE

_NOTHING_KNOWN = Vocabulary(())


@pytest.mark.parametrize(
    ("table", "spelling", "meaning"),
    [
        (letters.LETTERS, "beta", "β"),
        (letters.LETTERS, "varepsilon", "ε"),
        (letters.LETTERS, "Sigma", "Σ"),
        (letters.LETTERS, "ell", "ℓ"),
        (letters.SAME_LETTER, "ϕ", "φ"),
        (letters.SAME_LETTER, "а", "a"),  # Cyrillic
        (letters.SUPERSCRIPTS, "ᵀ", "T"),
        (letters.SUBSCRIPTS, "ₐ", "a"),
        (letters.SUBSCRIPTS, "ᵦ", "β"),
        (letters.FRACTIONS, "⅔", (2, 3)),
        (function_names.FUNCTIONS, "ln", "log"),
        (function_names.FUNCTIONS, "softargmax", "softmax"),
        (function_names.FUNCTIONS, "expit", "logistic"),
        (function_names.NUMPY_CONSTANTS, "pi", "π"),
        (operators.RELATIONS, "coloneqq", "="),
        (operators.RELATIONS, ">>", "≫"),
        (operators.RELATIONS, "simeq", "≈"),
        (operators.RELATIONS, "implies", "⇒"),
        (operators.OPERATORS, "times", "·"),
        (operators.OPERATORS, "−", "-"),
        (faces.MARKS, "widehat", "\u0302"),
    ],
)
def test_a_spelling_means(table: dict[str, object], spelling: str, meaning: object) -> None:
    assert table[spelling] == meaning


def test_small_letters_are_what_unicode_says() -> None:
    """But for what Unicode does not decompose as it is meant."""
    for table in (letters.SUPERSCRIPTS, letters.SUBSCRIPTS):
        unlike = {small for small, letter in table.items() if unicodedata.normalize("NFKC", small) not in (letter, "−")}
        assert unlike <= set("ᵅᵞ")


def test_fractions_have_the_value_of_their_sign() -> None:
    for sign, (above, below) in letters.FRACTIONS.items():
        assert unicodedata.numeric(sign) == pytest.approx(above / below)


COMMANDS = {
    "letters": letters.LETTERS.keys(),
    "relations": operators.RELATIONS.keys(),
    "operators": operators.OPERATORS.keys(),
    "ellipses": operators.ELLIPSES,
    "faces": faces.DECORATIONS,
    "text": faces.TEXT_COMMANDS,
    "marks": faces.MARKS.keys(),
    "breaks": layout.BREAKS,
    "spaces": layout.SPACES,
}


@pytest.mark.parametrize(("one", "other"), list(combinations(COMMANDS, 2)))
def test_no_command_stands_in_two_tables(one: str, other: str) -> None:
    assert not COMMANDS[one] & COMMANDS[other]


@pytest.mark.parametrize(("name", "letter"), letters.LETTERS.items())
def test_a_letter_is_the_same_to_formulas_and_prose(name: str, letter: str) -> None:
    (token,) = read_tokens(f"\\{name}", _NOTHING_KNOWN)
    assert (token.kind, str(token.value)) == ("NAME", letter)
    assert plain((Piece("math", f"\\{name}", 1),), 100).strip() == unicodedata.normalize("NFKC", letter)


@pytest.mark.parametrize("face", sorted(faces.FACES | faces.TEXT_COMMANDS))
def test_a_face_is_taken_off_by_formulas_and_prose(face: str) -> None:
    assert faces.FACE.fullmatch(f"\\{face}")
    assert plain((Piece("math", f"\\{face}{{x}}", 1),), 100).strip() == "x"


def test_the_longest_face_is_tried_first() -> None:
    assert re.match(faces.any_of(["text", "textrm", "bf"]), "textrm")[0] == "textrm"  # type: ignore[index]
    assert faces.FACE.match(r"\textrmx") is None


def test_sizes_do_not_overlap() -> None:
    assert not size_words.LARGE_WORDS & size_words.SMALL_WORDS
    assert size_words.LARGE_WORDS | size_words.SMALL_WORDS < size_words.SCALE_WORDS


# ---- once ----

GREEK = frozenset(name for name, letter in letters.LETTERS.items() if len(name) > 2 and letter.islower())
# Three of a kind in one statement are a table.
KINDS = {
    "Greek letters": GREEK,
    "faces": faces.FACES - {"bold", "it", "bf", "rm", "sf", "cal"},  # which are also words, or a sheet's
    "relations": frozenset(name for name in operators.RELATIONS if name.isalpha() and len(name) > 3),
    "denials": denials.NOT | denials.CONTRACTIONS | denials.NEITHER,
    "words for wrong": denials.WRONG,
}


@cache
def _statements() -> list[tuple[str, set[str]]]:
    """The tables that modules define outside functions, with the words in them."""
    found = []
    for path in [*sorted((REPOSITORY / "grader").rglob("*.py")), *RUBRIC_CODE]:
        if "notation" in path.parts:
            continue
        text = path.read_text(encoding="utf-8")
        if all(len(kind.intersection(re.findall(r"[A-Za-z]+", text))) < 3 for kind in KINDS.values()):
            continue
        for node in ast.parse(text).body:
            if isinstance(node, ast.Assign | ast.AnnAssign):
                texts = (one.value for one in ast.walk(node) if isinstance(one, ast.Constant))
                words = {word for text in texts if isinstance(text, str) for word in re.findall(r"[A-Za-z]+", text)}
                found.append((f"{path.relative_to(REPOSITORY)}:{node.lineno}", words))
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_a_table_stands_in_the_room_of_notation_alone(kind: str) -> None:
    elsewhere = {place: sorted(words & KINDS[kind]) for place, words in _statements() if len(words & KINDS[kind]) > 2}
    assert elsewhere == {}


def test_prefixes_mean_the_same_as_words_and_as_letters() -> None:
    words = ["nano", "micro", "milli", "centi", "deci", "kilo", "mega", "giga", "tera"]
    assert {word: units.PREFIXES[letter] for word, letter in zip(words, "nµmcdkMGT", strict=True)} == units.PREFIX_WORDS
    assert [units.PREFIXES[letter] for letter in "nukMG"] == [1e-9, 1e-6, 1e3, 1e6, 1e9]
    assert {f"{letter}i": 1024.0**power for power, letter in enumerate("KMGT", start=1)} == units.BINARY_PREFIXES


@pytest.mark.parametrize(
    ("one", "other", "product"),
    [("Pa", {"m": 2}, "N"), ("N", {"m": 1}, "J"), ("W", {"s": 1}, "J"), ("V", {"A": 1}, "W"), ("A", {"s": 1}, "C")],
)
def test_units_multiply_as_physics_says(one: str, other: dict[str, int], product: str) -> None:
    (factor, powers), whole = units.METRIC[one], units.METRIC[product]
    made = {base: powers.get(base, 0) + other.get(base, 0) for base in {**powers, **other}}
    assert (factor, {base: power for base, power in made.items() if power}) == whole


def test_a_fraction_in_one_letter_is_worth_what_unicode_says() -> None:
    for letter, (above, below) in letters.FRACTIONS.items():
        assert above / below == pytest.approx(unicodedata.numeric(letter))
