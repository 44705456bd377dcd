"""London baselines as students write them, run in a real box: whichever way they say it, and whatever they try."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from grader.checks.predictions.baseline import _altered, _always, _Number, baseline_states_its_accuracy
from grader.checks.predictions.label_files import Question, Split
from grader.errors import Crashed, StudentFault, TimedOut
from grader.model import Limits, Outcome, Status
from grader.sandbox import BoxRunner
from grader.submission.opening import OpenedSubmission
from tests.conftest import REPOSITORY, MakeSubmission, raises, sampled

DATA = REPOSITORY / "rubrics" / "nlp-a5" / "data"
FILE = "london_baseline.py"
ORDINARY = Limits()


def _judged(boxes: BoxRunner, work: OpenedSubmission, limits: Limits = ORDINARY, **more: object) -> Outcome:
    with boxes.open(work, limits, seed=0) as student:
        return baseline_states_its_accuracy(
            student,  # type: ignore[arg-type]
            np.random.default_rng(0),
            file=FILE,
            labels=str(DATA / "birth_dev.tsv"),
            answer="London",
            called="place",
            **more,  # type: ignore[arg-type]
        )


COUNT = """
    lines = open({path!r}, encoding="utf-8").read().splitlines()
    right = sum(line.split("\\t")[1] == "London" for line in lines)
    total = len(lines)
"""
SAYS = {
    "percentage": 'print(f"Accuracy: {100 * right / total:.1f}%")',
    "bare percentage": "print(100 * right / total)",
    "fraction": "print('accuracy', right / total)",
    "rounded fraction": "print(round(right / total, 3))",
    "percentage without decimals": 'print(f"{100 * right // total} %")',
    "counts": 'print(f"{right} out of {total} correct")',
    "slash": 'print(f"{right}/{total}")',
    "the course's words": 'print(f"Correct: {float(right)} out of {float(total)}: {right / total * 100}%")',
    "two lines": "print('total', total)\n    print('correct', right)",
    "scientific": 'print(f"{right / total:.3e}")',
    "decimal comma": "print(f'{100 * right / total:.2f}'.replace('.', ',') + ' %')",
    "standard error": "import sys\n    print(right / total, file=sys.stderr)",
    "logging": "import logging\n    logging.warning('accuracy %s', right / total)",
    "raw output": "import sys\n    sys.stdout.buffer.write(str(right / total).encode())",
    "file": "open('accuracy.txt', 'w').write(str(right / total))",
    "numpy": "import numpy as np\n    print((np.float64(right / total), np.int64(total)))",
    "progress, then result": "for n in range(total): print(n, 'of', total)\n    print('accuracy:', right / total)",
    "exit": "import sys\n    sys.exit(right / total)",
    "exit code": "import sys\n    print(right / total)\n    sys.exit(3)",
    "ten megabytes first": "for _ in range(120_000): print('London ' * 12)\n    print(right / total)",
}


@pytest.mark.parametrize("says", sampled(SAYS.values(), 4), ids=list(SAYS))
def test_the_accuracy_may_be_said_in_any_way(boxes: BoxRunner, submission: MakeSubmission, says: str) -> None:
    found = _judged(boxes, submission(**{FILE: COUNT.format(path="birth_dev.tsv") + "    " + says}))
    assert found.status is Status.PASSED, found


PATHS = ["birth_dev.tsv", "./birth_dev.tsv", "../birth_dev.tsv", "data/birth_dev.tsv", "./data/birth_dev.tsv"]
PATHS += ["../data/birth_dev.tsv", "src/birth_dev.tsv", "datasets/places/birth_dev.tsv", "../elsewhere/birth_dev.tsv"]


@pytest.mark.parametrize("place", [FILE, f"src/{FILE}"])
@pytest.mark.parametrize("path", sampled(PATHS, 4))
def test_data_lie_where_scripts_look_for_them(
    boxes: BoxRunner, submission: MakeSubmission, place: str, path: str
) -> None:
    found = _judged(boxes, submission(**{place: COUNT.format(path=path) + "    print(right / total)"}))
    assert found.status is Status.PASSED, found


FORMS = {
    "main": "def main():\n    @\n    print(right / total)\nif __name__ == '__main__':\n    main()",
    "main that nobody calls": "def main():\n    @\n    print(right / total)",
    "function that returns": "def london_accuracy():\n    @\n    return right / total",
    "function of a path": "def evaluate_baseline(path):\n    @\n    return right, total",
    "exit with main": "import sys\ndef main():\n    @\n    print(right / total)\nsys.exit(main())",
    "argument": "import sys\npath = sys.argv[1]\n@\nprint(right / total)",
    "own usage": "import sys\nif len(sys.argv) < 2:\n    print('usage: FILE')\n    sys.exit(1)\n"
    "@\nprint(right / total)",
    "argparse default": "import argparse\np = argparse.ArgumentParser()\n"
    "p.add_argument('--dev', default='birth_dev.tsv')\npath = p.parse_args().dev\n@\nprint(right / total)",
    "argparse required": "import argparse\np = argparse.ArgumentParser()\np.add_argument('--eval_corpus_path', '-e', "
    "required=True)\np.add_argument('outputs_path')\na = p.parse_args()\npath = a.eval_corpus_path\n@\n"
    "open(a.outputs_path, 'w').write('London\\n' * total)\nprint(right / total)",
}


@pytest.mark.parametrize("form", FORMS.values(), ids=list(FORMS))
def test_a_script_may_have_any_form(boxes: BoxRunner, submission: MakeSubmission, form: str) -> None:
    path = "path" if "path" in form else "'birth_dev.tsv'"
    count = f"lines = open({path}).readlines(); total = len(lines)"
    count += "; right = sum(line.strip().endswith('\\tLondon') for line in lines)"
    found = _judged(boxes, submission(**{f"src/{FILE}": form.replace("@", count)}))
    assert found.status is Status.PASSED, found


USES_UTILS = """
    import utils
    n = len(open("birth_dev.tsv").readlines())
    total, correct = utils.evaluate_places("birth_dev.tsv", ["London"] * n)
    print(f"{correct} out of {total}: {100 * correct / total}%")
"""
OWN_UTILS = """
    NAMES = [line.split("\\t")[1].strip() for line in open("birth_dev.tsv")]  # read when it is imported
    def evaluate_places(path, places):
        return len(NAMES), sum(a == b for a, b in zip(NAMES, places))
"""


def test_the_courses_utils_stand_in_where_they_were_not_handed_in(boxes: BoxRunner, submission: MakeSubmission) -> None:
    found = _judged(boxes, submission(**{f"src/{FILE}": USES_UTILS}))
    assert found.status is Status.PASSED, found
    assert "stood in" in found.evidence["utils"]


@pytest.mark.parametrize("place", ["src/utils.py", "utils.py"])
def test_utils_that_were_handed_in_are_used(boxes: BoxRunner, submission: MakeSubmission, place: str) -> None:
    found = _judged(boxes, submission(**{f"src/{FILE}": USES_UTILS, place: OWN_UTILS}))
    assert found.status is Status.PASSED, found
    assert found.evidence["utils"] == "no stand-in needed"


def test_a_script_that_only_works_in_its_own_folder_is_run_there(boxes: BoxRunner, submission: MakeSubmission) -> None:
    code = "    open('settings.txt').read()\n" + COUNT.format(path="../birth_dev.tsv") + "    print(right / total)"
    found = _judged(boxes, submission(**{f"src/{FILE}": code, "src/settings.txt": ""}))
    assert found.status is Status.PASSED, found
    assert found.evidence["run_from"] == "its own folder"


def test_the_courses_data_win_over_data_handed_in(boxes: BoxRunner, submission: MakeSubmission) -> None:
    code = COUNT.format(path="data/birth_dev.tsv") + "    print(right / total)"
    work = submission(**{FILE: code, "data/birth_dev.tsv": "Where was A born?\tLondon\n"})
    (work.folder / "data" / "birth_dev.tsv").chmod(0o444)
    found = _judged(boxes, work)
    assert found.status is Status.PASSED, found
    assert "replaced" in found.evidence["data"]
    assert (work.folder / "data" / "birth_dev.tsv").read_text() == "Where was A born?\tLondon\n"


def test_a_submission_too_large_to_copy_is_run_all_the_same(boxes: BoxRunner, submission: MakeSubmission) -> None:
    work = submission(**{f"src/{FILE}": COUNT.format(path="birth_dev.tsv") + "    print(right / total)"})
    (work.folder / "model.params").write_bytes(bytes(2**21))
    large = OpenedSubmission(work.name, work.folder, 2**30, (*work.files, "model.params"))
    assert _judged(boxes, large).status is Status.PASSED


def test_other_data_can_lie_beside(boxes: BoxRunner, submission: MakeSubmission) -> None:
    code = COUNT.format(path="birth_dev.tsv") + "    open('birth_test_inputs.tsv').read()\n    print(right / total)"
    assert _judged(boxes, submission(**{FILE: code}), beside=[str(DATA / "birth_test_inputs.tsv")]).score == 1
    with pytest.raises(Crashed, match="raised FileNotFoundError at london_baseline"):
        _judged(boxes, submission(**{FILE: code}))


WRONG = {
    "hard-coded": ("print('Accuracy: 5.0%')", "accuracy_fixed"),
    "hard-coded counts": ("print('15 out of 300')", "accuracy_fixed"),
    "every number": ("print(*range(101))", "accuracy_unclear"),
    "every number, line by line": ("for n in range(1001): print(n / 10, end=' ')", "accuracy_unclear"),
    "silent": ("right / total", "accuracy_not_stated"),
    "wrong share": ("print((total - right) / total)", "states_the_complement"),
    "another number": ("print(right / total / 2)", "wrong_accuracy"),
    "right on these data only": ("print(right / total if right == 15 else 0.99)", "wrong_on_other_data"),
    "nearly right": ("print(right / total + 0.004)", "wrong_accuracy"),
}


@pytest.mark.parametrize(("says", "code"), WRONG.values(), ids=list(WRONG))
def test_what_is_not_the_accuracy_fails(boxes: BoxRunner, submission: MakeSubmission, says: str, code: str) -> None:
    found = _judged(boxes, submission(**{FILE: COUNT.format(path="birth_dev.tsv") + "    " + says}))
    assert (found.status, found.code) == (Status.FAILED, code), found
    assert "5.0" not in found.message


HALF = {
    "only predictions": (
        "open('london_baseline.dev.predictions', 'w').write('London\\n' * total)",
        "accuracy_not_stated",
    ),
    "only the count": ("print('correct:', right)", "accuracy_only_counted"),
}


@pytest.mark.parametrize(("says", "code"), HALF.values(), ids=list(HALF))
def test_half_of_it_earns_half(boxes: BoxRunner, submission: MakeSubmission, says: str, code: str) -> None:
    found = _judged(boxes, submission(**{FILE: COUNT.format(path="birth_dev.tsv") + "    " + says}))
    assert (found.status, float(found.score), found.code) == (Status.PARTIAL, 0.5, code), found


HOSTILE = {
    "reads beyond the box": ("print(open('/etc/passwd').read())", "raised PermissionError"),
    "network": ("import socket\nsocket.socket()", "raised PermissionError"),
    "starts a program": ("import subprocess\nsubprocess.run(['ls'])", "raised "),
    "ends its process": ("import os\nprint(5.0)\nos._exit(0)", "ended its own process"),
    "raises": ("1 / 0", "raised ZeroDivisionError at london_baseline.py:1"),
    "no Python": ("accuracy is 5 %", "raised SyntaxError at london_baseline.py:1"),
    "asks": ("input('file? ')", "raised EOFError"),
    "absolute path": ("open('/content/drive/birth.tsv')", "raised FileNotFoundError"),
    "closes its output": ("import sys\nsys.stdout.close()\nprint(5.0)", "raised ValueError"),
    "wants what it cannot get": ("import sys\nprint('usage: never')\nsys.exit(2)", "raised SystemExit"),
    "keeps other data from being written": (
        "import builtins, io\nreal = open\n"
        "builtins.open = lambda path, mode='r', **how: real(path, mode, **how) if mode != 'w' else io.StringIO()\n"
        "open('birth_dev.tsv').read()\nprint(15 / 300)",
        "raised FileNotFoundError",
    ),
    "breaks open": ("import builtins\nbuiltins.open = None\nprint(15 / 300)", "raised TypeError"),
    "patches what writes data": ("import os\nos.walk = lambda top: iter([(1, 2, 3)])", "raised "),
}


@pytest.mark.parametrize(("code", "told"), HOSTILE.values(), ids=list(HOSTILE))
def test_what_else_is_tried_earns_nothing(boxes: BoxRunner, submission: MakeSubmission, code: str, told: str) -> None:
    with pytest.raises(StudentFault, match=told):
        _judged(boxes, submission(**{FILE: code}))


@pytest.mark.slow
def test_printing_without_end_runs_out_of_time(boxes: BoxRunner, submission: MakeSubmission) -> None:
    with pytest.raises(TimedOut, match="1 s of processor time"):
        _judged(boxes, submission(**{FILE: "while True: print(5.0)"}), Limits(cpu_seconds=1, wall_seconds=30))


def test_a_forged_reply_is_the_students_fault(boxes: BoxRunner, submission: MakeSubmission) -> None:
    forged = "{'printed': '5.0', 'written': [3], 'returned': [], 'run_from': 'top', "
    forged += "'replaced': False, 'stand_in': False, 'started': True}"
    replaced = "sys.modules['_grader.sandbox.box.worker'].PROBES['run_script']"
    code = f"import sys\n{replaced} = lambda **_: {forged}\nprint(15, 300)"
    with raises(Crashed, "malformed_reply"):
        _judged(boxes, submission(**{FILE: code}))


@pytest.mark.parametrize(
    ("text", "want", "near"),
    [(5.0, 5.0, True), (5.7, 5.667, True), (5.6, 5.667, True), (5.5, 5.667, False), (5.8, 5.667, False)],
)
def test_numbers_may_be_rounded_or_cut_off(text: float, want: float, near: bool) -> None:
    assert _Number(text, 0.1).is_near(want) is near


def test_altered_data_keep_the_questions_and_move_the_share() -> None:
    questions = Split.read(str(DATA / "birth_dev.tsv")).questions
    altered = _altered(np.random.default_rng(3), questions, 90, "London")
    assert [question.text for question in altered] == [question.text for question in questions]
    assert _always(altered, "London").right == 90
    everywhere = _altered(np.random.default_rng(3), [Question("q", "London")] * 4, 1, "London")
    assert Counter(question.label for question in everywhere) == {"Elsewhere": 3, "London": 1}
