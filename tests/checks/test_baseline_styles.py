"""London baselines in further styles: other paths, readers, ways to say it; and wrong ones, whose cause is named."""

from __future__ import annotations

import pytest

from grader.model import Outcome, Status
from grader.sandbox import BoxRunner
from tests.checks.test_baseline import DATA, FILE, _judged
from tests.conftest import MakeSubmission, sampled

BESIDE = [str(DATA / "birth_places_train.tsv"), str(DATA / "birth_test_inputs.tsv")]
READ = "rows = [line.rstrip('\\n').split('\\t') for line in open(path, encoding='utf-8')]\n"
COUNT = READ + "total = len(rows)\nright = sum(row[1] == 'London' for row in rows)\n"
PLAIN = f"path = 'birth_dev.tsv'\n{COUNT}"


def _run(boxes: BoxRunner, submission: MakeSubmission, code: str, place: str = f"src/{FILE}", **more: str) -> Outcome:
    return _judged(boxes, submission(**{place: code, **more}), beside=BESIDE)


PATHS = {
    "beside the folder of the script": "import os\nhere = os.path.dirname(os.path.abspath(__file__))\n"
    "path = os.path.join(os.path.dirname(here), 'birth_dev.tsv')",
    "pathlib, two up": "import pathlib\npath = pathlib.Path(__file__).resolve().parents[1] / 'data' / 'birth_dev.tsv'",
    "moves to its own folder": "import os\nos.chdir(os.path.dirname(os.path.abspath(__file__)))\n"
    "path = '../birth_dev.tsv'",
    "searched for": "import glob\npath = glob.glob('**/birth_dev.tsv', recursive=True)[0]",
    "first that exists": "import os\npath = next(p for p in ('x/birth_dev.tsv', '../birth_dev.tsv', 'birth_dev.tsv') "
    "if os.path.exists(p))",
    "a drive in the cloud": "path = '/content/drive/MyDrive/a5/student/birth_dev.tsv'",
    "a home folder": "path = '/home/somebody/nlp/a5/data/birth_dev.tsv'",
    "backslashes": "path = '..\\\\data\\\\birth_dev.tsv'",
    "a drive with a letter": "path = 'C:\\\\Users\\\\me\\\\a5\\\\birth_dev.tsv'",
    "asked for by position, with a default": "import sys\n"
    "path = sys.argv[1] if len(sys.argv) > 1 else './data/birth_dev.tsv'",
    "getopt": "import getopt, sys\noptions, rest = getopt.getopt(sys.argv[1:], '', ['path='])\n"
    "path = dict(options).get('--path', 'birth_dev.tsv')",
    "environment": "import os\npath = os.environ.get('DEV_PATH', 'birth_dev.tsv')",
    "a constant of a class": "class Config:\n    folder = '.'\n    dev = 'birth_dev.tsv'\n"
    "path = f'{Config.folder}/{Config.dev}'",
}


@pytest.mark.parametrize("where", sampled(PATHS.values(), 4), ids=list(PATHS))
def test_data_are_found_however_the_path_is_written(boxes: BoxRunner, submission: MakeSubmission, where: str) -> None:
    found = _run(boxes, submission, f"{where}\n{COUNT}print(100 * right / total)")
    assert found.status is Status.PASSED, found


READERS = {
    "csv": "import csv\nwith open('birth_dev.tsv', newline='') as f:\n"
    "    rows = list(csv.reader(f, delimiter='\\t'))\ntotal = len(rows)\nright = sum(r[1] == 'London' for r in rows)\n",
    "csv with names": "import csv\nwith open('birth_dev.tsv') as f:\n"
    "    rows = list(csv.DictReader(f, fieldnames=['q', 'a'], delimiter='\\t'))\n"
    "total = len(rows)\nright = [r['a'] for r in rows].count('London')\n",
    "numpy": "import numpy as np\nplaces = np.genfromtxt('birth_dev.tsv', delimiter='\\t', dtype=str, usecols=1)\n"
    "total, right = len(places), int((places == 'London').sum())\n",
    "codecs": "import codecs\nrows = codecs.open('birth_dev.tsv', 'r', 'utf-8').read().strip().split('\\n')\n"
    "total = len(rows)\nright = sum(row.split('\\t')[-1] == 'London' for row in rows)\n",
    "pathlib": "from pathlib import Path\nrows = Path('birth_dev.tsv').read_text(encoding='utf8').splitlines()\n"
    "total = len(rows)\nright = sum(row.endswith('\\tLondon') for row in rows)\n",
    "pathlib on another machine": "from pathlib import Path\n"
    "rows = Path('/content/a5/birth_dev.tsv').read_text(encoding='utf8').splitlines()\n"
    "total = len(rows)\nright = sum(row.endswith('\\tLondon') for row in rows)\n",
    "regular expression": "import re\ntext = open('birth_dev.tsv').read()\n"
    "right = len(re.findall(r'\\tLondon$', text, re.M)); total = text.count('\\t')\n",
    "standard input": "import sys\nrows = [line.split('\\t') for line in sys.stdin]\n"
    "total = len(rows)\nright = sum(row[1].strip() == 'London' for row in rows)\n",
    "fileinput": "import fileinput\nrows = [line.split('\\t') for line in fileinput.input()]\n"
    "total = len(rows)\nright = sum(row[1].strip() == 'London' for row in rows)\n",
}


@pytest.mark.parametrize("reader", sampled(READERS.values(), 3), ids=list(READERS))
def test_data_may_be_read_in_any_way(boxes: BoxRunner, submission: MakeSubmission, reader: str) -> None:
    found = _run(boxes, submission, f"{reader}print(f'Accuracy: {{right / total:.4f}}')")
    assert found.status is Status.PASSED, found


SAYS = {
    "in colour": "print(f'\\033[92m{100 * right / total:.1f}%\\033[0m')",
    "in bold colour, alone": "print(f'\\x1b[1;31m{right / total}\\x1b[0m')",
    "reduced fraction": "from fractions import Fraction\nprint('accuracy', Fraction(right, total))",
    "percent sign in a format": "print('accuracy = {:.2%}'.format(right / total))",
    "decimal": "from decimal import Decimal\nprint(Decimal(right) / Decimal(total))",
    "in single precision": "import numpy as np\nprint(float(np.float32(right) / np.float32(total)))",
    "as a table": "print('| split | accuracy |\\n|---|---|\\n| dev | ' + f'{100 * right / total:.2f} |')",
    "with the date": "import datetime\nprint(datetime.datetime(2024, 2, 3, 10, 11, 12), 'lines', total, "
    "'accuracy', right / total)",
    "of two": "print('train 0.0512')\nprint('dev', right / total)",
    "no blank": "print(f'acc={100*right/total}%')",
    "after a letter": "print(f'Accuracy is{100 * right / total:.1f}%')",
    "to a folder that is not there": "with open('results/london/accuracy.txt', 'w') as f:\n"
    "    f.write(f'{right / total}')",
    "predictions to a folder, accuracy at the terminal": "open('out/london.predictions', 'w').write('London\\n' * 9)\n"
    "print(f'Correct: {right} out of {total}: {right / total * 100}%')",
    "pretty": "import pprint\npprint.pprint({'right': right, 'total': total, 'accuracy': round(right / total, 4)})",
    "warnings": "import warnings\nwarnings.warn(f'accuracy: {right / total}')",
    "csv of results": "import csv\nwith open('results.csv', 'w') as f:\n"
    "    csv.writer(f).writerows([['split', 'accuracy'], ['dev', right / total]])",
    "from a thread": "import threading\nt = threading.Thread(target=lambda: print(right / total))\nt.start()",
    "only asserted": "accuracy = right / total\nprint('London baseline accuracy:', accuracy * 100, 'percent')",
}


@pytest.mark.parametrize("says", sampled(SAYS.values(), 4), ids=list(SAYS))
def test_the_accuracy_may_be_said_in_further_ways(boxes: BoxRunner, submission: MakeSubmission, says: str) -> None:
    found = _run(boxes, submission, PLAIN + says, place=FILE)
    assert found.status is Status.PASSED, found


def _inside(head: str, *, end: str, call: str) -> str:
    body = "".join(f"    {line}\n" for line in PLAIN.splitlines())
    return f"{head}\n{body}    {end}\n{call}"


WHOLE = {
    "main that is called and returns": _inside(
        "def main():", end="return right / total", call="if __name__ == '__main__':\n    main()"
    ),
    "main that returns a sentence": _inside("def main():", end="return f'{100 * right / total} %'", call="main()"),
    "run": _inside("def run():", end="return right / total", call="run()"),
    "compute": _inside("def compute(path='birth_dev.tsv'):", end="return {'acc': right / total}", call=""),
    "with a place": _inside("def always(place='London'):", end="return 100 * right / total", call="always()"),
    "arguments of main": _inside("import sys\ndef main(argv):", end="print(right / total)", call="main(sys.argv)"),
    "main of optional arguments": _inside("def main(args=None):", end="return right / total", call=""),
    "a class": "class Baseline:\n    def __init__(self, place):\n        self.place = place\n"
    "    def accuracy(self, path):\n        rows = open(path).read().splitlines()\n"
    "        return sum(r.split('\\t')[1] == self.place for r in rows) / len(rows)\n"
    "print(Baseline('London').accuracy('birth_dev.tsv'))",
    "the course's utils on what was written": "import utils\nn = sum(1 for _ in open('birth_dev.tsv'))\n"
    "open('london.txt', 'w').write('London\\n' * n)\n"
    "said = [line.strip() for line in open('london.txt')]\n"
    "total, correct = utils.evaluate_places('birth_dev.tsv', said)\n"
    "print('Correct: {} out of {}: {}%'.format(correct, total, correct / total * 100))",
    "the place is an argument": "import argparse\np = argparse.ArgumentParser()\n"
    "p.add_argument('--city', required=True)\np.add_argument('--path', required=True)\na = p.parse_args()\n"
    f"path = a.path\n{READ}print(sum(r[1] == a.city for r in rows) / len(rows))",
    "the place by position": "import argparse\np = argparse.ArgumentParser()\np.add_argument('path')\n"
    "p.add_argument('answer', nargs='?')\na = p.parse_args()\n"
    f"path = a.path\n{READ}print(sum(r[1] == (a.answer or 'London') for r in rows) / len(rows))",
    "a version of the data": "import argparse\np = argparse.ArgumentParser()\n"
    "p.add_argument('--split', default='dev', choices=['dev', 'test'])\n"
    "path = f'birth_{p.parse_args().split}.tsv'\n" + COUNT + "print(right / total)",
    "shadows a name": "def print_accuracy(correct, total):\n    print(f'{correct / total:.1%}')\n"
    f"{PLAIN}print_accuracy(right, total)",
    "windows line ends": (PLAIN + "print(right / total)").replace("\n", "\r\n"),
    "byte order mark": "\ufeff" + PLAIN + "print(right / total)",
    "declared encoding": "# -*- coding: latin-1 -*-\n" + PLAIN + "print(right / total)",
}


@pytest.mark.parametrize("code", sampled(WHOLE.values(), 4), ids=list(WHOLE))
def test_a_baseline_may_be_built_in_any_way(boxes: BoxRunner, submission: MakeSubmission, code: str) -> None:
    found = _run(boxes, submission, code)
    assert found.status is Status.PASSED, found


WRONG = {
    "on the training data": (
        "path = 'birth_places_train.tsv'\n" + COUNT + "print(right / total)",
        "accuracy_on_other_data",
    ),
    "leaves out the first line": (PLAIN + "print(right / (total - 1))", "wrong_question_count"),
    "takes the first line for a header": (
        "path = 'birth_dev.tsv'\n" + READ + "rows = rows[1:]\n"
        "print(100 * sum(r[1] == 'London' for r in rows) / len(rows))",
        "wrong_question_count",
    ),
    "counts a line too many": (PLAIN + "print(f'{right}/{total + 1}')", "wrong_question_count"),
    "splits behind the last newline": (
        "rows = open('birth_dev.tsv').read().split('\\n')\n"
        "print(sum(r.endswith('\\tLondon') for r in rows) / len(rows))",
        "wrong_question_count",
    ),
    "whole numbers": (PLAIN + "print(right // total)", "states_zero"),
    "small letters": (PLAIN.replace("'London'", "'london'") + "print(right / total)", "states_zero"),
    "the newline is still there": (
        "rows = [l.split('\\t') for l in open('birth_dev.tsv')]\n"
        "print(sum(r[1] == 'London' for r in rows) / len(rows))",
        "states_zero",
    ),
    "of a hundred": (PLAIN + "print(right / 100)", "wrong_accuracy"),
    "times ten": (PLAIN + "print(1000 * right / total, '%')", "wrong_accuracy"),
    "swapped": (PLAIN + "print(total / right)", "share_upside_down"),
}


@pytest.mark.parametrize(("code", "reason"), sampled(WRONG.values(), 3), ids=list(WRONG))
def test_a_wrong_baseline_is_told_why(boxes: BoxRunner, submission: MakeSubmission, code: str, reason: str) -> None:
    found = _run(boxes, submission, code)
    assert (found.status, found.code) == (Status.FAILED, reason), found
    assert found.detail.startswith("read ")


STUBS = {
    "only comments": "# Calculate the accuracy of a baseline that always says London.\n# It needs a few lines.\n",
    "imports": "import argparse\nimport utils\n\n# TODO\n",
    "a function without a body": 'def main():\n    """Says the accuracy."""\n    pass\n\nif __name__ == "__main__":\n'
    "    main()\n",
    "empty": "",
}


@pytest.mark.parametrize("code", STUBS.values(), ids=list(STUBS))
def test_a_script_that_does_nothing_is_not_started(boxes: BoxRunner, submission: MakeSubmission, code: str) -> None:
    found = _run(boxes, submission, code)
    assert (found.status, found.code) == (Status.MISSING, "not_started"), found


def test_a_script_that_raises_for_want_of_code_is_not_started(boxes: BoxRunner, submission: MakeSubmission) -> None:
    found = _run(boxes, submission, "def main():\n    raise NotImplementedError\nmain()\n")
    assert found.code == "not_started"
