"""submission.yaml, damaged and obeyed."""

from __future__ import annotations

from pathlib import Path
from random import Random

from benchmarks.fuzz import material
from benchmarks.fuzz.answer_sheets import damaged_yaml
from benchmarks.fuzz.bytewise import damaged
from benchmarks.fuzz.endings import ends_well, looked_through
from benchmarks.fuzz.structured import encoded

_BESIDE = {
    "src/attention.py": "def attention(Q, K, V, beta): ...\n",
    "a.md": "# 1.1.a\n\n$H = V$\n",
    "multihead.py": "",
}


def make(rng: Random) -> bytes:
    text = rng.choice(material.declarations())
    by_bytes = rng.random() < 0.4
    if not by_bytes or rng.random() < 0.3:
        text = damaged_yaml(text, rng)
    content = encoded(text, rng)
    return damaged(content, rng, rng.choice(material.declarations()).encode()) if by_bytes else content


def read(content: bytes, folder: Path) -> bool:
    work = folder / "declared"
    for name, text in _BESIDE.items():
        if not (work / name).exists():
            (work / name).parent.mkdir(parents=True, exist_ok=True)
            (work / name).write_text(text)
    (work / "submission.yaml").write_bytes(content)
    return ends_well(lambda: looked_through(work))
