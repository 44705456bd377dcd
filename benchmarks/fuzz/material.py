"""What is damaged: our own samples, and values as boxes answer them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.formula_corpus import entries
from grader.sandbox.box import wire

REPOSITORY = Path(__file__).resolve().parent.parent.parent
SAMPLES = REPOSITORY / "submissions"
LABELS = REPOSITORY / "rubrics" / "nlp-a5" / "data" / "birth_dev.tsv"
OTHER_LABELS = REPOSITORY / "rubrics" / "nlp-a5" / "data" / "birth_test.tsv"
FEW = 40  # questions of a small split: a line of it is as much worth damaging as one of three hundred
_CORPUS_CHARACTERS = 2_000  # the longer ones are hostile already, and slow by intention


@cache
def sheets(ending: str) -> tuple[str, ...]:
    """Answer sheets of one format: those of the samples, and those of the formula corpus."""
    own = [path.read_text(encoding="utf-8") for path in sorted(SAMPLES.glob(f"*/answers.{ending}"))]
    corpus = [one.text for one in entries() if one.file == f"answers.{ending}" and len(one.text) < _CORPUS_CHARACTERS]
    return (*own, *corpus)


@cache
def notebooks() -> tuple[str, ...]:
    """Handed-in notebooks, and each sample's code and answers put into cells, in the layouts of today and of old."""
    found = [path.read_text(encoding="utf-8") for path in sorted(SAMPLES.glob("*/*.ipynb"))]
    for folder in sorted(SAMPLES.iterdir()):
        code = [path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.py"))][:4]
        text = [path.read_text(encoding="utf-8") for path in sorted(folder.glob("answers.md"))]
        if code:
            found += [_today(code, text), _of_old(code, text)]
    return tuple(found)


def _today(code: Sequence[str], text: Sequence[str]) -> str:
    cells = [{"cell_type": "markdown", "metadata": {}, "source": one, "id": f"t{n}"} for n, one in enumerate(text)]
    for number, one in enumerate(code):
        output = {"output_type": "stream", "name": "stdout", "text": ["done\n"]}
        source = one.splitlines(keepends=True) if number % 2 else one
        more = {"execution_count": number, "outputs": [output], "metadata": {}, "id": f"c{number}"}
        cells.append({"cell_type": "code", "source": source, **more})
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells})


def _of_old(code: Sequence[str], text: Sequence[str]) -> str:
    cells: list[dict[str, Any]] = [{"cell_type": "markdown", "source": one} for one in text]
    cells.append({"cell_type": "heading", "level": 2, "source": "Homework"})
    cells += [{"cell_type": "code", "language": "python", "input": one, "outputs": []} for one in code]
    return json.dumps({"nbformat": 3, "nbformat_minor": 0, "metadata": {"name": ""}, "worksheets": [{"cells": cells}]})


@cache
def declarations() -> tuple[str, ...]:
    """Every submission.yaml, and one that says where all is."""
    places = "files:\n  attention.py: src/attention.py\n  answers.md: hw3.ipynb\n  multihead.py: ./src/multihead.py\n"
    own = {path.read_text(encoding="utf-8") for path in SAMPLES.glob("*/submission.yaml")}
    return (*sorted(own), f"rubric: dl-hw3\nstudent: '00123'\n{places}", "student: 00123\nfiles: {answers.md: a.md}\n")


@cache
def works() -> tuple[dict[str, bytes], ...]:
    """The files of each sample that is small enough to be packed a hundred thousand times."""
    found = []
    for folder in sorted(SAMPLES.iterdir()):
        paths = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.stat().st_size < 12_000]
        found.append({path.relative_to(folder).as_posix(): path.read_bytes() for path in paths[:8]})
    return tuple(found)


@cache
def predictions() -> tuple[tuple[str, ...], ...]:
    """The lines of each prediction file for the labels."""
    return tuple(dict.fromkeys(lines(path) for path in sorted(SAMPLES.glob("*/*.dev.predictions"))))


@cache
def lines(path: Path) -> tuple[str, ...]:
    return tuple(path.read_text(encoding="utf-8").removesuffix("\n").split("\n"))


@cache
def frames() -> tuple[tuple[bytes, bytes, bytes], ...]:
    """Magic, header and body of what boxes answer: values of every kind, and every kind of fault."""
    weights = np.array([[0.25, 0.75], [1.0, 0.0]])
    raised = {"type": "ValueError", "text": "shapes (3,) and (4,)", "file": "attention.py", "line": 3}
    answers: list[Any] = [
        {"value": weights},
        {"value": [weights, weights.astype(np.float32), np.arange(6).reshape(1, 2, 3), np.zeros((0, 4))]},
        {"value": {"output": weights, "shapes": (2, 2), "scale": 0.5 + 1j, "name": "head", "mask": weights > 0.5}},
        {"value": [{"x": "□" * 9, "y": "Nele Brandt. ⁇London⁇"}, None, True, 2**70, -1.5]},
        {"value": [[[[np.float32(1.5)]], np.int8(3), np.complex64(2j)], ()]},
        *({"raised": raised}, {"raised": {**raised, "importing": True, "type": "Odd"}}, {"absent": ["attend", "mask"]}),
        *({"signature": "takes 2 positional arguments"}, {"unsendable": "an object of type set"}, {"layers": ["net"]}),
    ]
    packed = [b"".join(wire.pack(answer)) for answer in answers]
    lengths = [int.from_bytes(frame[4:8], "big") for frame in packed]
    pairs = zip(packed, lengths, strict=True)
    return tuple((frame[:4], frame[16 : 16 + length], frame[16 + length :]) for frame, length in pairs)
