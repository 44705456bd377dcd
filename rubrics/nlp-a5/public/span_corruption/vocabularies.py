"""The character vocabulary of a data set."""

from __future__ import annotations

import numpy as np

from grader import Outcome, Student, StudentFile, check, failed, passed

from .items import draw, questions, right_vocabularies, without_letters_beyond_ascii
from .spans import MASK, PAD


@check
def vocabulary_begins_with_pad_and_mask(
    student: Student, rng: np.random.Generator, *, file: StudentFile, name: str
) -> Outcome:
    """Id 0 is □ and id 1 is ⁇, then come the characters of the data in order; stoi and itos are inverse."""
    (question,) = questions(rng, (120,), 32, times=0)
    drawn = draw(student, file, name, question)
    if drawn.stoi is None or drawn.itos is None:
        missing = " and ".join(word for word, table in (("stoi", drawn.stoi), ("itos", drawn.itos)) if table is None)
        return failed(f"{name} has no {missing}; both belong to the assignment", code="vocabulary_missing")
    letters = dict(drawn.itos)
    if {(index, letter) for letter, index in drawn.stoi} != set(drawn.itos):
        return failed("stoi and itos are not each other's inverse", code="vocabulary_not_inverse")
    if (letters.get(0), letters.get(1)) == (MASK, PAD):
        message = f"ids 0 and 1 are swapped: 0 is {PAD} (pad) and 1 is {MASK} (mask)"
        return failed(message, code="special_ids_swapped")
    for index, letter, use in ((0, PAD, "pad"), (1, MASK, "mask")):
        if letters.get(index) != letter:
            message = f"id {index} is not {letter} (U+{ord(letter):04X}, the {use} character)"
            return failed(message, code="wrong_special_ids")
    got = [letters.get(index) for index in range(len(letters))]
    rights = [*right_vocabularies(question.data), *right_vocabularies(without_letters_beyond_ascii(question.data))]
    if got not in rights:
        if any(set(got) == set(right) for right in rights):
            return failed("the characters from id 2 on are not sorted", code="vocabulary_unsorted")
        extra, missed = len(set(got) - set(rights[0])), len(set(rights[1]) - set(got))
        message = f"of the data's characters {missed} are missing, and {extra} are there that the data does not have"
        return failed(message, code="vocabulary_differs")
    if drawn.vocab_size not in (None, len(got)):
        message = "vocab_size is not the number of characters in the vocabulary"
        return failed(message, code="wrong_vocab_size")
    return passed(f"the vocabulary of {len(got)} characters is in order")
