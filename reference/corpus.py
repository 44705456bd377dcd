"""A fictional birth-place corpus in the file forms of `nlp-a5`, part 2, made from a seed.

Convention  birth_places_train.tsv, birth_dev.tsv, birth_test.tsv   `Where was NAME born?<TAB>PLACE`
            birth_test_inputs.tsv                                   the test questions without their places
            wiki.txt                                                one document per line
Design      * No person stands in two of the three splits, and a name says nothing about its place. So a model
              that saw only the training split can do no better on dev than guess; what it needs stands in
              wiki.txt, which has one document about every person of every split.
            * London is one in twenty of each split, the other places share the rest evenly. A guesser that
              copies the spread of places is right about 1 % of the time; always saying London, 5 %.
            * A small model learns such facts slowly, and the corpus is made easy for it: all names have one
              length, and a document has its name in the column where the question has it, its place as far
              behind the name: `The baker NAME, from PLACE.`, `Where was NAME born?⁇PLACE⁇`. What was tried
              before stands in docs/ground_truth.md; which change mattered most was not measured.
Readings    Letters are drawn at random in the pattern consonant–vowel, so a likeness to anybody is chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from reference.birthplaces import Question

CONSTANT_ANSWER = "London"
LONDON_SHARE = 0.05  # the share the course's dev split has

CONSONANTS, VOWELS = list("bcdfghjklmnprstvwxz"), list("aeiou")
FIRST_NAME, SURNAME, PLACE = "cvcv", "cvccvc", "cvc"  # c a consonant, v a vowel
FIRST_NAMES, PLACES = 40, 120  # how many of each there are; every surname is used once
PLACE_ENDINGS = ["by", "ford", "ham", "mere", "port", "ton"]
JOBS = [
    "baker",
    "clerk",
    "guard",
    "judge",
    "mason",
    "miner",
    "nurse",
    "pilot",
    "piper",
    "tutor",
]  # of one length, see Design
DOCUMENT = "The {job} {name}, from {place}."
QUESTION = "Where was {name} born?"


@dataclass(frozen=True)
class Corpus:
    train: list[Question]
    dev: list[Question]
    test: list[Question]
    wiki: list[str]

    def write(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        for name, questions in (("places_train", self.train), ("dev", self.dev), ("test", self.test)):
            lines = [f"{question.text}\t{question.place}" for question in questions]
            write_lines(folder / f"birth_{name}.tsv", lines)
        write_lines(folder / "birth_test_inputs.tsv", [question.text for question in self.test])
        write_lines(folder / "wiki.txt", self.wiki)


def write_lines(path: Path, lines: Sequence[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def make_corpus(seed: int, train: int, dev: int, test: int) -> Corpus:
    """Questions about train + dev + test invented people, and a document about each of them."""
    if min(train, dev, test) < 1:
        raise ValueError(f"each split needs somebody in it, not {train}, {dev} and {test}")
    rng = np.random.default_rng(seed)
    places = [word + str(rng.choice(PLACE_ENDINGS)) for word in distinct_words(PLACES, PLACE, rng)]
    first_names = distinct_words(FIRST_NAMES, FIRST_NAME, rng)
    surnames = distinct_words(train + dev + test, SURNAME, rng)
    splits = []
    wiki: list[str] = []
    for size in (train, dev, test):
        londoners = round(LONDON_SHARE * size)
        homes = [CONSTANT_ANSWER] * londoners + [str(rng.choice(places)) for _ in range(size - londoners)]
        rng.shuffle(homes)
        questions = []
        for home in homes:
            name = f"{rng.choice(first_names)} {surnames.pop()}"
            questions.append(Question(QUESTION.format(name=name), home))
            wiki.append(DOCUMENT.format(job=rng.choice(JOBS), name=name, place=home))
        splits.append(questions)
    rng.shuffle(wiki)
    return Corpus(train=splits[0], dev=splits[1], test=splits[2], wiki=wiki)


def distinct_words(count: int, pattern: str, rng: np.random.Generator) -> list[str]:
    """Invented words of one pattern, no two alike, in the order they were drawn."""
    letters = [CONSONANTS if kind == "c" else VOWELS for kind in pattern]
    possible = int(np.prod([len(choice) for choice in letters]))
    if count > possible // 2:
        raise ValueError(f"{count} distinct words of the pattern {pattern} are too many, there are {possible}")
    words: dict[str, None] = {}  # a set that remembers its order
    while len(words) < count:
        words["".join(str(rng.choice(choice)) for choice in letters).capitalize()] = None
    return list(words)
