"""The files that the fork server warms up with. The grader writes them, and needs no numpy for that."""

from __future__ import annotations

FILES = {
    "warm_up.py": '''"""Code as homework has it."""
import math
import numpy as np

from warm_up_too import halved

SCALE = 2.0


def scaled(x, y, factor=1.0, mask=None):
    z = factor * (x.T @ y) / math.sqrt(len(x))
    z = np.abs(z - z.mean(axis=0, keepdims=True)) + np.log1p(z.max() ** 2)
    if mask is not None:
        z = np.where(mask, z, 0)
    rows = []
    for row in z.reshape(2, -1):
        rows.append(row.sum() * SCALE)
    return halved(np.concatenate([z, z], axis=0) / len(rows))
''',
    "warm_up_too.py": """import numpy as np


def halved(x):
    return x / 2
""",
}
