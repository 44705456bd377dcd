"""Written answers of honest students: the same few facts, each in the student's own words."""

from __future__ import annotations

import random
from pathlib import Path

import yaml

_WAYS = yaml.safe_load((Path(__file__).parent / "ways_of_saying.yaml").read_text(encoding="utf-8"))


def honest_answers(seed: int) -> str:
    rng = random.Random(f"prose {seed}")
    lines = ["# Homework 3", ""]
    for part, sentences in _WAYS["parts"].items():
        said = [_said(rng, sentence) for sentence in sentences]
        if rng.random() < 0.3:
            said.insert(rng.randrange(len(said) + 1), rng.choice(_WAYS["asides"]))
        lines += [f"## {part}", "", *([" ".join(said)] if rng.random() < 0.6 else said), ""]
    return "\n".join(lines)


def _said(rng: random.Random, sentence: str) -> str:
    while "{" in sentence:
        start, end = sentence.index("{"), sentence.index("}")
        sentence = sentence[:start] + rng.choice(sentence[start + 1 : end].split("|")) + sentence[end + 1 :]
    return sentence
