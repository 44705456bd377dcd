"""Of several files that fit a name, one counts; what is still open goes to a person, who is told which remain."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from grader.errors import Ambiguous, Missing, RubricError
from grader.grading.engine import grade
from grader.model import Alternative, Check, Rubric, passed
from grader.model import Problem as Part
from grader.rubric.loading import find_rubric, load_rubric
from grader.sandbox import BoxRunner
from grader.sandbox.box.reading.source_text import MAX_SOURCE_BYTES
from grader.submission.file_choice import states
from grader.submission.opening import OpenedSubmission, open_submission
from tests.conftest import DRAW, write_rubric
from tests.test_notebooks import notebook

WRITTEN = "class Projection:\n    def forward(self, x):\n        return x\n"
OTHER = "class Projection:\n    def forward(self, x):\n        return 2 * x\n"
STUB = 'class Projection:\n    """."""\n    def forward(self, x):\n        # TODO\n        raise NotImplementedError\n'
DEMO = "class GPT:\n    def forward(self, x):\n        return x\n"


def _check(name: str, file: str, *names: str) -> Check:
    return Check(name, lambda student, rng: passed("x"), {}, "", Fraction(1), files=(file,), names=names)


ROTATING = Alternative("rotating", ("attention.py",), ("rotate", "cache"), ("rotating.txt",), ())
MIXING = Alternative("mixing", ("attention.py",), ("Mixer",), ("mixing.txt",), ())
RUBRIC = Rubric(
    "r",
    "R",
    Fraction(5),
    (
        Part("1", "One", Fraction(1), (_check("one", "model.py", "Projection"),)),
        Part("2", "Two", Fraction(1), (_check("two", "dev.predictions"),)),
        Part("3", "Three", Fraction(1), (_check("three", "baseline.py"),)),
        Part("4", "Four", Fraction(1), (), alternatives=(ROTATING, MIXING)),
    ),
    Path("r.yaml"),
    "0" * 64,
    course_material=("mingpt-demo", "starter code"),
)


def _opened(tmp_path: Path, files: dict[str, str]) -> OpenedSubmission:
    folder = tmp_path / "alice"
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    with open_submission(folder) as opened:
        ready = opened.for_rubric(RUBRIC)
        places = {}
        for file in ("model.py", "dev.predictions", "baseline.py", "attention.py"):
            try:
                places[file] = ready.find(file)
            except (Missing, Ambiguous) as fault:
                places[file] = f"{type(fault).__name__}: {fault.message}"
        return OpenedSubmission(ready.name, ready.folder, 0, ready.files, places=places, notes=ready.notes)


ONE = {
    "demo folder": ({"mingpt-demo/model.py": DEMO, "src/model.py": WRITTEN}, "src/model.py"),
    "demo folder, spelled otherwise": ({"a5/minGPT_demo/model.py": DEMO, "a5/model.py": OTHER}, "a5/model.py"),
    "demo that defines it too": ({"Starter Code/model.py": WRITTEN, "model.py": STUB}, "model.py"),
    "only in the demo folder, but written": ({"mingpt-demo/model.py": WRITTEN}, "mingpt-demo/model.py"),
    "identical": ({"b/model.py": WRITTEN, "a/model.py": WRITTEN}, "a/model.py"),
    "identical, the one higher up": ({"a/a5/model.py": WRITTEN, "z/model.py": WRITTEN}, "z/model.py"),
    "three, two of them identical": (
        {"a/model.py": WRITTEN, "b/model.py": WRITTEN, "c/model.py": STUB},
        "a/model.py",
    ),
    "defines it": ({"minimal/model.py": DEMO, "src/model.py": WRITTEN}, "src/model.py"),
    "stub of the handout": ({"handout/model.py": STUB, "mine/model.py": WRITTEN}, "mine/model.py"),
    "stub and something else": ({"handout/model.py": STUB, "mine/model.py": DEMO}, "handout/model.py"),
    "empty file": ({"model.py": "", "src/model.py": OTHER}, "src/model.py"),
    "alias": ({"model.py": DEMO, "src/model.py": "class P: pass\nProjection = P\n"}, "src/model.py"),
    "import": ({"model.py": DEMO, "src/model.py": "from blocks import (\n    Projection,\n)\n"}, "src/model.py"),
    "file and course notebook": (
        {"mingpt-demo/play.ipynb": notebook(OTHER), "src/model.py": WRITTEN},
        "src/model.py",
    ),
    "notebook and empty file": ({"hw.ipynb": notebook(OTHER), "model.py": ""}, "hw.ipynb#model.py"),
    "notebook and stub": ({"hw.ipynb": notebook(OTHER), "model.py": STUB}, "hw.ipynb#model.py"),
    "other case of letters": ({"Model.py": WRITTEN, "mingpt-demo/model.py": DEMO}, "Model.py"),
}


@pytest.mark.parametrize(("files", "found"), ONE.values(), ids=list(ONE))
def test_the_file_that_defines_what_is_asked_for_counts(tmp_path: Path, files: dict[str, str], found: str) -> None:
    opened = _opened(tmp_path, files)
    assert opened.places["model.py"] == found
    if len(files) > 1:
        assert any("model.py" in note or "mingpt-demo" in note for note in opened.notes), opened.notes


OPEN = {
    "both written": ({"a/model.py": WRITTEN, "b/model.py": OTHER}, "a/model.py and b/model.py"),
    "neither defines it": ({"a/model.py": DEMO, "b/model.py": DEMO * 2}, "a/model.py and b/model.py"),
    "both stubs": ({"a/model.py": STUB, "b/model.py": STUB + "\n\n"}, "a/model.py and b/model.py"),
    "file and notebook": ({"hw.ipynb": notebook(OTHER), "model.py": WRITTEN}, "hw.ipynb and model.py"),
    "two notebooks": ({"a.ipynb": notebook(OTHER), "b.ipynb": notebook(WRITTEN)}, "a.ipynb and b.ipynb"),
    "two written and a stub": (
        {"a/model.py": WRITTEN, "b/model.py": OTHER, "c/model.py": STUB},
        "a/model.py and b/model.py;",
    ),
    "too large to be read": (
        {"a/model.py": "#" * MAX_SOURCE_BYTES + "\n", "b/model.py": WRITTEN},
        "a/model.py and b/model.py",
    ),
}


@pytest.mark.parametrize(("files", "named"), OPEN.values(), ids=list(OPEN))
def test_what_is_still_open_names_those_that_remain(tmp_path: Path, files: dict[str, str], named: str) -> None:
    place = _opened(tmp_path, files).places["model.py"]
    assert place.startswith(f"Ambiguous: model.py is there more than once: {named}"), place


def test_what_only_the_course_gave_is_not_handed_in(tmp_path: Path) -> None:
    place = _opened(tmp_path, {"mingpt-demo/model.py": DEMO}).places["model.py"]
    assert place == "Missing: model.py was not handed in; mingpt-demo/model.py is course material"


def test_a_name_in_other_letters_is_no_course_material(tmp_path: Path) -> None:
    opened = _opened(tmp_path, {"Model.py": OTHER, "model.py": WRITTEN})
    assert opened.places["model.py"] == "model.py"
    assert opened.notes == ("of the files that fit model.py, model.py counts, and not Model.py",)


PREDICTIONS = {
    "identical": ({"old/dev.predictions": "Rome\n", "dev.predictions": "Rome\n"}, "dev.predictions"),
    "identical in two folders": ({"x/dev.predictions": "Rome\n", "y/dev.predictions": "Rome\n"}, "x/dev.predictions"),
    "another that differs": (
        {"other/dev.predictions": "Rome\n", "dev.predictions": "Paris\n"},
        "Ambiguous: dev.predictions is there more than once: dev.predictions and other/dev.predictions; keep one, "
        "or name it in submission.yaml",
    ),
    "beside the rest": (
        {"old/dev.predictions": "Rome\n", "a5/dev.predictions": "Paris\n", "a5/model.py": WRITTEN},
        "a5/dev.predictions",
    ),
    "both beside something": (
        {
            "a/dev.predictions": "Rome\n",
            "a/model.py": WRITTEN,
            "b/dev.predictions": "Paris\n",
            "b/baseline.py": "x = 1",
        },
        "Ambiguous: dev.predictions is there more than once: a/dev.predictions and b/dev.predictions; keep one, "
        "or name it in submission.yaml",
    ),
    "course material": ({"mingpt-demo/dev.predictions": "x", "dev.predictions": "Rome\n"}, "dev.predictions"),
}


@pytest.mark.parametrize(("files", "found"), PREDICTIONS.values(), ids=list(PREDICTIONS))
def test_other_files_count_once_or_where_the_rest_lies(tmp_path: Path, files: dict[str, str], found: str) -> None:
    assert _opened(tmp_path, files).places["dev.predictions"] == found


def test_a_script_that_only_comments_loses_against_one_that_does_something(tmp_path: Path) -> None:
    files = {
        "handout/baseline.py": '# Say the accuracy.\n"""Here."""\nimport sys\npass\n',
        "my/baseline.py": "print(5)\n",
    }
    assert _opened(tmp_path, files).places["baseline.py"] == "my/baseline.py"


@pytest.mark.parametrize(
    ("source", "state"),
    [
        (WRITTEN, "written"),
        (STUB, "stub"),
        (DEMO, "absent"),
        ("def Projection(x): return x\n", "written"),
        ("def Projection(x): pass\n", "stub"),
        ("def Projection(x):\n    y = None\n    return y\n", "stub"),
        ("def Projection(\n    a,  # one\n    b,\n) -> None:\n    '''Says\n    x = 1'''\n    ...\n", "stub"),
        ("async def Projection():\n    await x\n", "written"),
        ("class Projection(Base):\n    pass\n", "stub"),
        (
            "class Projection:\n    def __init__(self):\n        self.x = 1\n    def forward(self):\n        pass\n",
            "stub",
        ),
        (
            "class Projection:\n    def __init__(self):\n        a = 1\n    def __getitem__(self, i):\n        pass\n",
            "stub",
        ),
        (
            "class Projection:\n    def forward(self):\n        def f(x):\n            return x\n        return f(1)\n",
            "written",
        ),
        ("class Projection:\n    x: int = 3\n", "written"),
        ("class Projection:\n    def fit(self):\n        pass\n", "stub"),
        ("class Projection:\n    def fit(self):\n        return 1\n", "written"),
        ("# class Projection: no\n", "absent"),
        ("class Other:\n    def Projection(self):\n        return 1\n", "absent"),
        ("'''\nclass Projection:\n    x = 1\n'''\n", "absent"),
        ("class ProjectionBlock:\n    x = 1\n", "absent"),
        (STUB + WRITTEN, "written"),
        ("def Projection(x):\r\n    return x\r\n", "written"),
    ],
)
def test_source_is_scanned_and_not_run(tmp_path: Path, source: str, state: str) -> None:
    (tmp_path / "model.py").write_text(source, newline="")
    assert states(tmp_path / "model.py", ["Projection"]) == {"Projection": state}


@pytest.mark.parametrize(
    "source",
    [
        "(" * 900_000,
        "'''" * 300_000,
        "def f(\n" * 100_000,
        "class Projection:\n" * 50_000,
        "\\\n" * 400_000,
        "\0" * 900_000,
    ],
)
def test_hostile_source_is_scanned_in_no_time(tmp_path: Path, source: str) -> None:
    (tmp_path / "model.py").write_text(source)
    assert states(tmp_path / "model.py", ["Projection"])["Projection"] in ("absent", "stub", "written")


ROTATES = "def rotate(x): return x\ndef cache(x): return x\n"
MIXES = "class Mixer:\n    def forward(self, x): return x\n"


@pytest.mark.parametrize(
    ("files", "status", "code"),
    [
        ({"mingpt-demo/attention.py": DEMO, "src/attention.py": MIXES}, "passed", "passed"),
        ({"a/attention.py": ROTATES, "b/attention.py": ROTATES}, "passed", "passed"),
        (
            {"a/attention.py": ROTATES, "b/attention.py": ROTATES + "# 2\n"},
            "review",
            "several_files",
        ),
        ({"a/attention.py": ROTATES, "b/attention.py": MIXES}, "review", "several_alternatives"),
        ({"a/attention.py": DEMO, "b/attention.py": DEMO * 2}, "missing", "not_started"),
        ({"attention.py": "def rotate(x): pass\ndef cache(x): pass\n"}, "missing", "not_started"),
        ({"other.py": ""}, "missing", "no_alternative"),
    ],
)
def test_alternatives_are_found_the_same_way(
    boxes: BoxRunner, tmp_path: Path, files: dict[str, str], status: str, code: str
) -> None:
    def looks(student: object, rng: object) -> object:
        student.probe("names_used", "attention.py", name="rotate")  # type: ignore[attr-defined]
        return passed("x")

    looking = Check("looks", looks, {}, "", Fraction(1), files=("attention.py",))  # type: ignore[arg-type]
    alternatives = tuple(
        Alternative(one.name, one.files, one.defines, one.beside, (looking,)) for one in (ROTATING, MIXING)
    )
    problem = Part("4", "Four", Fraction(1), (), alternatives=alternatives)
    rubric = Rubric("r", "R", Fraction(1), (problem,), Path("r.yaml"), "0" * 64, course_material=("mingpt-demo",))
    for name, text in files.items():
        (tmp_path / "alice" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "alice" / name).write_text(text)
    with open_submission(tmp_path / "alice") as opened:
        report = grade(rubric, opened, boxes, DRAW, notes=opened.notes)
    assert str(report.problems[0].status) == status
    assert report.problems[0].checks[0].outcome.code == code
    assert status == "missing" or len(files) == 1 or report.notes or status == "review"


def test_a_rubric_names_course_material(tmp_path: Path) -> None:
    assert "mingpt-demo" in load_rubric(find_rubric("nlp-a5")).course_material
    text = find_rubric("nlp-a5").read_text().replace("course_material: [", "course_material: ['a/b', ")
    with pytest.raises(RubricError, match="course_material"):
        load_rubric(write_rubric(tmp_path, text), folder=find_rubric("nlp-a5").parent)
