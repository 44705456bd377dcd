"""What an author wrote beside a rubric reaches students only if it is marked public, and never if it is a solution."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from grader.release.kit import Kit, Leaking, build_kit
from grader.rubric.loading import load_rubric

pytestmark = pytest.mark.slow  # kits are made, and what is in them is graded

HEAD = """
import functools
import math

import numpy as np

from grader.compare import difference, numbers
from grader.model import failed, passed
from grader.registry import StudentFile, check

"""
# The public check uses what stands for `right`; students get it for that.
PUBLIC = '''

@check(public=True)
def is_right_on_one_input(student, rng, *, file: StudentFile, function: str):
    """It is right on one input."""
    Q, K, V = rng.normal(size=(3, 2)), rng.normal(size=(3, 4)), rng.normal(size=(5, 4))
    got = numbers(student.call(file, function, Q, K, V, 0.5), function)
    found = difference(got, {right}(Q, K, V, 0.5))
    return failed(found.summary) if found else passed("right")
'''
RUBRIC = """
rubric: leaky
title: Leaky
points: 4
problems:
  - id: 1.a
    title: Attention
    points: 4
    with: {file: attention.py, function: attention, reference: attention.attention, inputs: column_attention}
    checks:
      - {check: returns_an_array, gate: true}
      - {check: is_right_on_one_input, points: 1}
      - {check: matches_reference, points: 3, visibility: hidden}
"""
BODY = """
    e = np.exp(beta * K.T @ Q - np.max(beta * K.T @ Q, axis=0))
    return V @ (e / np.sum(e, axis=0))
"""
ON_ONE_LINE = (
    "V @ np.divide(*(lambda e: (e, e.sum(0)))(np.exp(beta * K.T @ Q - (beta * K.T @ Q).max(0))))"  # not the reference's
)


def _released(folder: Path, checks: str, rubric: str = RUBRIC) -> Kit:
    (folder / "checks.py").write_text(checks)
    (folder / "leaky.yaml").write_text(rubric)
    return build_kit(load_rubric(folder / "leaky.yaml"), folder / "kit")


def _public(right: str) -> str:
    return PUBLIC.replace("{right}", right)


_INDENTED = BODY.replace("\n    ", "\n        ")
_KEPT = BODY.replace("return", "H =")
LEAKING = {
    "_wanted": f"def _wanted(Q, K, V, beta):{BODY}" + _public("_wanted"),
    "_Course.mixed": f"class _Course:\n    @staticmethod\n    def mixed(Q, K, V, beta):{_INDENTED}"
    + _public("_Course.mixed"),
    "_Course.__call__": f"class _Course:\n    def __call__(self, Q, K, V, beta):{_INDENTED}" + _public("_Course()"),
    "_short": f"_short = lambda Q, K, V, beta: {ON_ONE_LINE}\n" + _public("_short"),
    "a lambda in _KNOWN": f"_KNOWN = {{'H': lambda Q, K, V, beta: {ON_ONE_LINE}}}\n" + _public("_KNOWN['H']"),
    "_with_scores": f"def _with_scores(Q, K, V, beta):{_KEPT}    return H, K.T @ Q\n"
    + _public("_with_scores").replace("0.5))", "0.5)[0])"),
    "_by_name": f"def _by_name(Q, K, V, beta):{_KEPT}    return {{'scores': K.T @ Q, 'H': H}}\n"
    + _public("_by_name").replace("0.5))", "0.5)['H'])"),
    "_usual": f"def _scaled(scale, Q, K, V, beta):{BODY.replace('return V', 'return scale * V')}\n"
    + "_usual = functools.partial(_scaled, 1.0)\n"
    + _public("_usual"),
    "is_right_on_one_input.inner": _public("inner").replace(
        "    Q, K, V =", f"    def inner(Q, K, V, beta):{_INDENTED}    Q, K, V ="
    ),
    "_checked": f"def _checked(Q, K, V, beta):{_KEPT}    return numbers(H, 'it')\n" + _public("_checked"),
}


@pytest.mark.parametrize("name", LEAKING)
def test_a_solution_among_the_code_of_a_public_check_makes_no_kit(tmp_path: Path, name: str) -> None:
    with pytest.raises(Leaking) as caught:
        _released(tmp_path, HEAD + LEAKING[name])
    told = [str(leak) for leak in caught.value.leaks]
    assert f"rubric/checks.py: {name} answers 1.a: it passes is_right_on_one_input, matches_reference" in told
    assert len(told) == 1
    assert not (tmp_path / "kit").exists()


def test_a_solution_is_tried_where_only_the_check_knows_what_it_calls(tmp_path: Path) -> None:
    checks = HEAD + LEAKING["_wanted"].replace(", function: str", "").replace("function", "'attention'")
    rubric = RUBRIC.replace(", function: attention", "").replace("points: 4", "points: 1")
    rubric = "".join(line for line in rubric.splitlines(True) if "_array" not in line and "matches" not in line)
    rubric = rubric.replace(", reference: attention.attention, inputs: column_attention", "")
    with pytest.raises(Leaking, match=r"_wanted answers 1\.a: it passes is_right_on_one_input$"):
        _released(tmp_path, checks, rubric)


MODULE = """
import torch
from torch import nn


class _Centred(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return self.scale * (x - x.mean(-1, keepdim=True)) / x.std(-1, unbiased=False, keepdim=True)


@check(public=True)
def is_centred(student, rng, *, file: StudentFile, name: str, width: int = 6):
    \"\"\"It centres and scales.\"\"\"
    x = rng.normal(size=(2, 3, width))
    got = student.probe("forward", file, name=name, build=[width], inputs=[x])["outputs"][0]
    want = _Centred(width).double()(torch.as_tensor(x)).detach().numpy()
    return failed("wrong") if difference(numbers(got, name), want) else passed("right")
"""
MODULES = """
rubric: leaky
title: Leaky
points: 3
problems:
  - id: 1.a
    title: A norm
    points: 3
    libraries: [numpy, torch]
    with: {file: norm.py, name: Norm}
    checks:
      - {check: keeps_the_shape, points: 1, build: [6], width: 6, visibility: hidden}
      - {check: is_centred, points: 2}
"""


def test_a_module_that_is_a_solution_makes_no_kit(tmp_path: Path) -> None:
    with pytest.raises(Leaking, match=r"checks\.py: _Centred answers 1\.a: it passes is_centred$"):
        _released(tmp_path, HEAD + MODULE, MODULES)


def test_code_that_is_not_marked_public_stays_with_staff(tmp_path: Path) -> None:
    made = _released(tmp_path, (HEAD + LEAKING["_wanted"]).replace("@check(public=True)", "@check"))
    assert made.fates == (
        ("1.a", "returns_an_array", "as it is"),
        ("1.a", "is_right_on_one_input", "after the deadline: its code is not marked public"),
    )
    assert not list((tmp_path / "kit").rglob("checks.py"))


def test_a_module_beside_the_rubric_stays_with_staff(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "own_solutions", raising=False)
    (tmp_path / "own_solutions.py").write_text(f"import numpy as np\n\n\ndef wanted(Q, K, V, beta):{BODY}")
    found = "import sys\nfrom pathlib import Path\nsys.path.insert(0, str(Path(__file__).parent))\n"
    made = _released(tmp_path, found + "from own_solutions import wanted\n" + HEAD + _public("wanted"))
    assert made.fates[1][2] == "after the deadline: its code needs own_solutions, which students do not have"
    assert not [path for path in (tmp_path / "kit").rglob("*.py") if "np.exp" in path.read_text()]


HARMLESS = {
    "draws, labels and compares": '''
_SIZES = [(3, 2, 4, 5), (2, 1, 3, 2)]


def _drawn(rng, *sizes):
    return [rng.normal(size=size) for size in sizes]


def _label(Q, K, V, beta):
    return f"Q {Q.shape}, K {K.shape}, V {V.shape}, beta {beta:g}"


class _Case:
    def __init__(self, Q):
        self.Q = Q

    def turned(self):
        return self.Q[:, ::-1]


@check(public=True)
def is_right_on_one_input(student, rng, *, file: StudentFile, function: str):
    """Queries in another order give columns in that order."""
    for d, n, m, t in _SIZES:
        Q, K, V = _drawn(rng, (d, n), (d, m), (t, m))
        plain = numbers(student.call(file, function, Q, K, V, 1.0), function)
        turned = numbers(student.call(file, function, _Case(Q).turned(), K, V, 1.0), function)
        if found := difference(turned, plain[:, ::-1]):
            return failed(f"with {_label(Q, K, V, 1.0)} {found.summary}")
    return passed("right")
''',
    "gives arguments back": '''
def _copied(Q, *others):
    return Q.copy()


@check(public=True)
def is_right_on_one_input(student, rng, *, file: StudentFile, function: str):
    """It gives numbers."""
    Q, K, V = rng.normal(size=(3, 2)), rng.normal(size=(3, 4)), rng.normal(size=(5, 4))
    got = numbers(student.call(file, function, _copied(Q), K, V, 0.5), function)
    return passed("numbers") if got.shape == (5, 2) else failed("of another shape")
''',
    "knows mistakes": '''
def _without_softargmax(Q, K, V, beta):
    return V @ (beta * K.T @ Q)


_over_all = lambda Q, K, V, beta: V @ np.exp(beta * K.T @ Q) / np.exp(beta * K.T @ Q).sum()


@check(public=True)
def is_right_on_one_input(student, rng, *, file: StudentFile, function: str):
    """It is no classic mistake."""
    args = rng.normal(size=(3, 2)), rng.normal(size=(3, 4)), rng.normal(size=(5, 4)), 0.5
    got = numbers(student.call(file, function, *args), function)
    for mistake in (_without_softargmax, _over_all):
        if difference(got, mistake(*args)) is None:
            return failed("it is a classic mistake")
    return passed("no classic mistake")
''',
}


WEAK = RUBRIC.replace("points: 3, visibility: hidden", "points: 2, visibility: hidden") + (
    "      - {check: leaves_inputs_unchanged, points: 1}\n"
)
HARMLESS_MODULE = """
import torch
from torch import nn


class _Twice(nn.Module):
    def __init__(self, width):
        super().__init__()

    def forward(self, x):
        return 2 * x


@check(public=True)
def is_centred(student, rng, *, file: StudentFile, name: str, width: int = 6):
    \"\"\"It does more than scale.\"\"\"
    x = rng.normal(size=(2, 3, width))
    got = student.probe("forward", file, name=name, build=[width], inputs=[x])["outputs"][0]
    want = _Twice(width)(torch.as_tensor(x)).numpy()
    return passed("right") if difference(numbers(got, name), want) else failed("it scales")
"""


@pytest.mark.parametrize("name", HARMLESS)
def test_helpers_that_answer_nothing_are_released(tmp_path: Path, name: str) -> None:
    made = _released(tmp_path, HEAD + HARMLESS[name], WEAK)
    assert made.fates[1] == ("1.a", "is_right_on_one_input", "as it is")
    assert "is_right_on_one_input" in (tmp_path / "kit" / "rubric" / "checks.py").read_text()


def test_a_module_that_answers_nothing_is_released(tmp_path: Path) -> None:
    """It keeps the shape of its input, and so earns points; a module that only gives its input back earns them too."""
    made = _released(tmp_path, HEAD + HARMLESS_MODULE, MODULES)
    assert made.fates == (("1.a", "is_centred", "as it is"),)
