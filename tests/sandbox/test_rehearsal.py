"""What the fork server rehearses leaves nothing behind for boxes to find."""

from __future__ import annotations

from grader.model import Limits
from grader.sandbox import BoxRunner
from tests.conftest import MakeSubmission

LOOKS = """
import os, sys

def f(x):
    modules = [name for name in sys.modules if "rehears" in name and not name.startswith("_box")]
    paths = [path for path in (*sys.path, *sys.path_importer_cache, os.getcwd()) if "rehears" in path]
    tables = [vars(module) for name, module in sys.modules.items() if name.startswith("_box.")]
    values = [one for table in tables for one in table.values() if type(one) in (dict, list, set)]
    kept = [one for one in values if "rehear" + "sed." in str(one)]
    return [len(modules), len(paths), len(kept)]
"""


def test_nothing_of_the_rehearsal_is_found_in_a_box(boxes: BoxRunner, submission: MakeSubmission) -> None:
    with boxes.open(submission(LOOKS), Limits(), 0) as student:
        assert student.call("work.py", "f", 1) == [0, 0, 0]


def test_a_file_of_the_same_name_is_the_students(boxes: BoxRunner, submission: MakeSubmission) -> None:
    work = submission(**{"work.py": "from rehearsed import scaled\ndef f(x):\n    return scaled()\n"})
    (work.folder / "rehearsed.py").write_text("def scaled():\n    return 'mine'\n")
    with boxes.open(work, Limits(), 0) as student:
        assert student.call("work.py", "f", 1) == "mine"
