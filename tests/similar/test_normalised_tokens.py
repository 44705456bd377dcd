"""What survives in code when its author changes only how it looks; and that any bytes are read in time."""

from __future__ import annotations

import random
import time

import pytest

from grader.similar.normalised_tokens import code_material
from tests.conftest import sampled

CODE = '''
import numpy as np

def softmax(x):
    """Columns sum to one."""
    top = x.max(axis=0)  # against overflow
    e = np.exp(x - top)
    return e / e.sum(axis=0)

class Block:
    def __init__(self, dim):
        self.scale = dim ** -0.5
    def run(self, x): return self.scale * x
'''
DISGUISED = """
import numpy as numpy_library
from os import path

class Klotz:
    def __init__(this, breite: int = 3):
        # Skalierung
        this.faktor = (
            breite ** -0.25
        )
    def run(this, wert: "np.ndarray") -> float: return this.faktor * wert; print(wert)

def spalten(matrix: np.ndarray) -> np.ndarray:
    groesstes = matrix.max(axis=1)
    print("hier")
    nenner = np.exp(matrix - groesstes)
    return nenner / nenner.sum(axis=1)
"""


def functions(source: str) -> list[list[int]]:
    """The tokens between walls, in any order."""
    found: list[list[int]] = [[]]
    for token in code_material({"a.py": source})[0].tokens:
        if token:
            found[-1].append(int(token))
        else:
            found.append([])
    return sorted(those for those in found if those)


def test_names_order_comments_annotations_numbers_and_layout_do_not_matter() -> None:
    plain, changed = functions(CODE), functions(DISGUISED)
    changed = [those for those in changed if those in plain]
    assert len(changed) >= len(plain) - 2  # a default, and what hides behind a semicolon
    assert max(plain, key=len) in changed


def test_what_a_library_calls_its_own_is_kept_and_what_the_code_calls_its_own_is_not() -> None:
    def alike(one: str, other: str) -> bool:
        return functions(one) == functions(other)

    assert not alike("y = np.exp(x)", "y = np.log(x)")
    assert not alike("y = sum(x)", "y = max(x)")
    assert alike("self.a = 1\ny = self.a", "self.b = 2\ny = self.b")
    assert alike("self.a, (self.b) = f(x, y=1)\ny = self.a", "this.c, this.d = g(u, v=2,)\nz = (this.c)")
    assert not alike("y = a.max(axis=0)\nf(a.b, c=1)", "y = a.min(axis=0)\nf(a.b, c=1)")
    assert not alike("y = a + b", "y = a - b")


def test_lines_are_those_of_the_file() -> None:
    material, _ = code_material({"a.py": CODE, "b.py": '"""\n\n"""\nx = """\n""" + f(1)'})
    assert material.place_of(len(material.tokens) - 1).name == "b.py"
    assert material.lines[-1] == 5
    assert material.lines[material.lines > 0][0] == 4  # the import says nothing


BROKEN = {
    "blanks": " \n" * 40_000,
    "open strings": "x = '''" + '\\"""' * 20_000,
    "quotes": "'\"" * 40_000,
    "brackets": "(" * 60_000,
    "one line": "a = b + " * 8_000,
    "backslashes": "\\" * 60_000,
    "noise": "".join(random.Random(0).choices("'\"()[]{}\\\n\r \tx1.#@:=é\0\udcff", k=60_000)),
}


@pytest.mark.parametrize("kind", sampled(BROKEN, 3))
def test_any_text_is_cut_in_time_proportional_to_its_length(kind: str) -> None:
    began = time.process_time()
    code_material({"a.py": BROKEN[kind]})
    assert time.process_time() - began < 2  # a tenth of that on an idle machine; Pygments takes 80 s for the first


def test_broken_code_is_read_to_its_end() -> None:
    broken = f"def f(:\n  x = ((\n   y\n z\n{CODE}"
    assert max(functions(CODE), key=len) in functions(broken)
