"""Files of functions are run as they stand, in a box that was told so; what they give is what they give elsewhere."""

from __future__ import annotations

import gc
import os
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from grader.sandbox.inside import purity, read_ahead, student_code, worker
from tests.sandbox.test_purity import KEEPS_NOTHING

WHOLE = {
    "functions": "def f(x):\n    return g(x) + 1\ndef g(x, y=2, *z, **w):\n    return x + y\n",
    "a constant and a docstring": '"""Work."""\nimport numpy as np\nTWO = 2.0\ndef f(x):\n    return TWO * np.abs(x)\n',
    "a future": "from __future__ import annotations\nimport math\ndef f(x):\n    return math.sqrt(x)\n",
}
IN_PIECES = {
    "a trial of its own, which nobody reads": "def f(x):\n    return x\nif __name__ == '__main__':\n    print(1 / 0)\n",
    "a value that takes time": "import numpy as np\nI = np.eye(3)\ndef f(x):\n    return x\n",
    "a default that is computed": "def f(x, y=1 + 1):\n    return x\n",
    "an annotation": "import numpy as np\ndef f(x: np.ndarray):\n    return x\n",
    "a class": "class A:\n    pass\ndef f(x):\n    return x\n",
    "a library that is not loaded": "import matplotlib.pyplot as plt\ndef f(x):\n    return x\n",
}


@pytest.fixture(autouse=True)
def _as_in_a_box(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    path = list(sys.path)
    monkeypatch.chdir(tmp_path)
    worker.forget(str(tmp_path), path)
    yield
    worker.forget(str(tmp_path), path)
    gc.enable()  # a reader does without


def _written(code: str) -> tuple[str, bool]:
    """What a reader says of it, for a box."""
    Path("work.py").write_text(textwrap.dedent(code))
    ((kept, _, whole),) = read_ahead.read_code("work.py", [], os.getcwd(), True)
    purity.forget()
    return kept, whole


@pytest.mark.parametrize("code", WHOLE.values(), ids=list(WHOLE))
def test_files_of_functions_are_run_as_they_stand(code: str) -> None:
    assert _written(code) == ("", True)


@pytest.mark.parametrize("code", IN_PIECES.values(), ids=list(IN_PIECES))
def test_what_takes_time_or_can_go_wrong_is_run_if_it_is_needed(code: str) -> None:
    kept, whole = _written(code)
    assert not whole
    read_ahead.take_over({"work.py": (kept, whole)})
    assert student_code.attribute("work.py", "f")(4) == 4


def test_what_it_imports_counts() -> None:
    Path("helper.py").write_text("BIG = 3 ** 3 ** 2\ndef g(x):\n    return x\n")
    assert _written("from helper import g\ndef f(x):\n    return g(x)\n") == ("", False)
    Path("helper.py").write_text("def g(x):\n    return x\n")
    assert _written("from helper import g\ndef f(x):\n    return g(x)\n") == ("", True)
    Path("helper.py").write_text("from work import h\ndef g(x):\n    return x\n")
    assert not _written("from helper import g\ndef f(x):\n    return g(x)\ndef h(x):\n    return x\n")[1]


@pytest.mark.parametrize("name", ["__name__", "__builtins__", "__getattr__"])
def test_names_that_mean_something_to_python_are_not_to_be_had(name: str) -> None:
    """As `__main__`, a file would run what nobody has read."""
    for code in (f"{name} = '__main__'", f"def {name}(x):\n    return x"):
        assert _written(f"{code}\ndef f(x):\n    return x\nif __name__ == '__main__':\n    f = print\n")[0] != ""


def test_nobody_is_warned_of_what_is_not_needed(recwarn: pytest.WarningsRecorder) -> None:
    told = _written("def f(x):\n    return x\ndef other(x):\n    return [1, 2][x, 3]\n")
    recwarn.clear()
    read_ahead.take_over({"work.py": told})
    assert student_code.attribute("work.py", "f")(4) == 4
    assert (told, len(recwarn)) == (("", True), 0)


def _names(told: dict[str, tuple[str, bool]], path: list[str]) -> Any:
    worker.forget(os.getcwd(), path)
    read_ahead.take_over(told)
    with pytest.raises(student_code.Absent) as absent:
        student_code.attribute("work.py", "nobody_has_this")
    return absent.value.names


@pytest.mark.parametrize("code", [*WHOLE.values(), *KEEPS_NOTHING.values()])
def test_it_gives_the_names_that_it_gives_in_pieces(code: str) -> None:
    told, path = _written(code), list(sys.path)
    if told[1]:
        assert _names({"work.py": told}, path) == _names({}, path)


@pytest.mark.parametrize(
    "code",
    [
        "%matplotlib inline\ndef f(x):\n    return 2 * x\n",
        "from .helper import g\ndef f(x):\n    return g(x)\n",
        "BROKEN = 1 / 0\ndef f(x):\n    return 2 * x\n",
    ],
)
def test_what_cannot_be_run_as_it_stands_is_run_in_pieces(code: str) -> None:
    """Reading does not say of these that it can; if it did, nothing would be lost."""
    Path("work.py").write_text(code)
    Path("helper.py").write_text("def g(x):\n    return 2 * x\n")
    read_ahead.take_over({"work.py": ("", True)})
    assert student_code.attribute("work.py", "f")(4) == 8


def test_another_file_that_imports_it_gets_the_same_module() -> None:
    told = _written("def f(x):\n    return x\n")
    Path("later.py").write_text("import work\ndef same(f):\n    return work.f is f\n")
    read_ahead.take_over({"work.py": told})
    f = student_code.attribute("work.py", "f")
    assert (told, f.__module__) == (("", True), "work")
    assert student_code.attribute("later.py", "same")(f)


def test_a_fault_is_shown_where_it_is() -> None:
    told = _written("def f(x):\n    return 1 / x\n")
    read_ahead.take_over({"work.py": told})
    with pytest.raises(ZeroDivisionError) as raised:
        student_code.attribute("work.py", "f")(0)
    shown = student_code.describe(raised.value)
    assert (told, shown["file"], shown["line"]) == (("", True), "work.py", 2)
