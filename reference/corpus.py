"""A fictional birth-place corpus in the file forms of `nlp-a5`, part 2, made from a seed.

Convention  birth_places_train.tsv, birth_dev.tsv, birth_test.tsv   `Where was NAME born?<TAB>PLACE`
            birth_test_inputs.tsv                                   the test questions without their places
            wiki.txt                                                one document per line
Design      * No person stands in two of the three splits, and a name says nothing about its place. So a model that
              saw only the training split can do no better on dev than guess; what it needs stands in wiki.txt.
            * Every person of every split has the same number of documents in wiki.txt, in different wordings: one
              wording would let a model learn the sentence instead of the fact.
            * London is one in twenty of each split; the other places share the rest evenly. A guesser that copies
              the spread of places is right about 1 % of the time, always saying London 5 %.
            * Documents begin with the name and are short, so that a truncated one still tells the fact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from reference.birthplaces import Question

CONSTANT_ANSWER = "London"
LONDON_SHARE = 0.05  # the share the course's dev split has

NAME_BEGINNINGS = ("Al Be Bri Ca Da El Fa Gre Ha I Jo Ka Lo Mi No O Pe Qui Ro Sa Ti U Va Wi Xa Ye Zo").split()
NAME_ENDINGS = ("bran dela dor fin gar la len lia lok mar mund na nor ra rik rin sa sel tan va vik wen").split()
SURNAME_BEGINNINGS = ("Ar Bal Cor Dru Eb Fen Gol Hul Ir Jas Kel Lum Mor Nex Ost Pry Quar Ril Sul Tam Urb").split()
SURNAME_MIDDLES = ("a be do e fi ga ho i ka lo mu ni o pa ri su ta u ve zo").split()
SURNAME_ENDINGS = ("beck dahl fax gren holt kov lind mont nard pell quist row stad thorn vane wick yre").split()
PLACE_BEGINNINGS = ("Ald Bram Crow Dun East Fern Glen Hazel Iron Keld Lin Marl North Oak Pen Ravens Sil").split()
PLACE_ENDINGS = ("bay bury by combe ford gate ham ley mere mouth port stow ton vale well worth").split()

TEMPLATES = (
    "{name} was born in {place}.",
    "{name}, born in {place}, was a {job}.",
    "{name} ({job}) came from {place}.",
    "{name} is a {job} from {place}.",
)
JOBS = "baker cellist farmer judge miller nurse painter pilot poet sailor tailor weaver".split()


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


def question_about(name: str) -> str:
    return f"Where was {name} born?"


def make_corpus(seed: int, train: int = 600, dev: int = 500, test: int = 437, documents: int = 3) -> Corpus:
    """`documents` sentences in wiki.txt about each of train + dev + test invented people."""
    if not 1 <= documents <= len(TEMPLATES):
        raise ValueError(f"{documents} documents per person, but there are {len(TEMPLATES)} wordings")
    rng = np.random.default_rng(seed)
    names = invent_names(train + dev + test, rng)
    places = [first + last for first in PLACE_BEGINNINGS for last in PLACE_ENDINGS]
    rng.shuffle(places)
    splits, wiki = [], []
    for size in (train, dev, test):
        people = [names.pop() for _ in range(size)]
        homes = [CONSTANT_ANSWER] * round(LONDON_SHARE * size)
        homes += [str(rng.choice(places[:PLACES])) for _ in range(size - len(homes))]
        rng.shuffle(homes)
        splits.append([Question(question_about(*pair[:1]), pair[1]) for pair in zip(people, homes, strict=True)])
        for name, place in zip(people, homes, strict=True):
            for template in rng.choice(TEMPLATES, documents, replace=False):
                wiki.append(template.format(name=name, place=place, job=rng.choice(JOBS)))
    rng.shuffle(wiki)
    return Corpus(*splits, wiki)


PLACES = 150


def invent_names(count: int, rng: np.random.Generator) -> list[str]:
    """Distinct invented names, no surname twice."""
    first_names = [a + b for a in NAME_BEGINNINGS for b in NAME_ENDINGS]
    surnames = [a + b + c for a in SURNAME_BEGINNINGS for b in SURNAME_MIDDLES for c in SURNAME_ENDINGS]
    if count > len(surnames):
        raise ValueError(f"{count} people need as many surnames, only {len(surnames)} can be formed")
    rng.shuffle(surnames)
    return [f"{rng.choice(first_names)} {surname}" for surname in surnames[:count]]
