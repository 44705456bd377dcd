"""Encoder blocks put together from the pieces in `variants/encoder/styles.yaml`."""

from __future__ import annotations

import textwrap
from typing import Any

from rubrics.module_recovery.tests.variant_grading import FOLDER
from tests.conftest import read_yaml

STYLES: dict[str, Any] = read_yaml(FOLDER / "encoder" / "styles.yaml")


def encoder(attention: str, network: str, norm: str, wiring: str) -> str:
    """The text of an encoder.py."""
    attend, think, normalise = STYLES["attentions"][attention], STYLES["networks"][network], STYLES["norms"][norm]
    pieces = {
        "classes": normalise.get("classes", ""),
        "att": attend["define"],
        "attend": attend["run"],
        "ffn": think["define"],
        "net": think["run"],
        "norm": normalise["define"],
        "wire": STYLES["wirings"][wiring],
    }
    text: str = STYLES["block"]
    for name, piece in pieces.items():
        indent = "" if name == "classes" else " " * 8
        text = text.replace(f"{indent}{{{name}}}", textwrap.indent(piece.rstrip(), indent))
    return f"{STYLES['start']}\n{text}"
