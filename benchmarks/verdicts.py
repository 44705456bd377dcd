"""Records every verdict of the project in a folder, and compares two such folders. For moves, merges and rewrites.

    python -m benchmarks.verdicts keep build/before      # some minutes: samples, formulas, prose, all proofs
    python -m benchmarks.verdicts compare build/before build/after
    python -m benchmarks.verdicts keep build/fresh --fresh      # a fresh sandbox for each check: the ground truth
    python -m benchmarks.verdicts keep build/before --repositories ../course nlp-a5 ../labels

`--repositories FOLDER RUBRIC [DATA]` may be repeated: every subfolder of FOLDER is a submission and is graded like the
samples. `--fresh` leaves out what runs in no sandbox or in fresh ones anyway: formulas, prose, proofs. `compare` names
every verdict that differs, and counts those that only read differently, with the first few. It ends with 1 if a verdict
differs.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import formula_corpus, prose_accuracy
from grader.errors import UsageError
from grader.grading.engine import grade
from grader.grading.randomness import Draw
from grader.proving.proof import load_proof
from grader.proving.prove import prove
from grader.report.json_report import as_data
from grader.rubric.choosing import choose_rubric
from grader.rubric.loading import find_rubric, load_rubric, rubric_choices
from grader.rubric.per_student import for_student
from grader.sandbox import BoxRunner
from grader.submission.opening import open_submission
from grader.submission.wrong_assignment import with_other_assignment

REPOSITORY = Path(__file__).resolve().parent.parent
SAMPLES = REPOSITORY / "submissions"
_WITHOUT_SANDBOX = ("formulas", "prose", "proofs")
_SHOWN = 10
_DRAW = Draw(0, None)

Verdicts = dict[str, tuple[str, str]]  # by place: the verdict, and its words


class Work(NamedTuple):
    rubric: Path
    data: Path | None
    folder: Path
    report: Path


def keep(out: Path, repositories: Sequence[Sequence[str]], fresh: bool) -> None:
    if out.exists():
        raise UsageError(f"{out} is there already; name a new folder, so that old verdicts are not mixed in")
    works = []
    for entry in repositories:
        if len(entry) not in (2, 3) or not all(Path(folder).is_dir() for folder in (entry[0], *entry[2:])):
            raise UsageError(f"--repositories {' '.join(entry)}: name a folder, a rubric and perhaps a folder of data")
        folder, rubric, data = Path(entry[0]), find_rubric(entry[1]), Path(entry[2]) if entry[2:] else None
        reports = out / "reports" / folder.resolve().name
        works += [Work(rubric, data, path, reports) for path in sorted(folder.iterdir()) if path.is_dir()]
    for path in sorted(SAMPLES.iterdir()):
        with open_submission(path) as submission:
            works.append(Work(choose_rubric(None, submission, path), None, path, out / "reports" / "samples"))
    works.sort(key=_kind)
    jobs = os.cpu_count() or 1
    with ProcessPoolExecutor(jobs) as pool:
        list(pool.map(partial(_grade, fresh=fresh), [works[number::jobs] for number in range(jobs)]))
    if not fresh:
        _write(out / "formulas.json", _formulas())
        _write(out / "prose.json", _prose())
        _write(out / "proofs.json", dict(verdict for rubric in rubric_choices() for verdict in _proof(rubric)))


def _kind(work: Work) -> tuple[str, str]:
    return str(work.rubric), str(work.data or "")


def _grade(works: list[Work], fresh: bool) -> None:
    for _, alike in groupby(works, _kind):
        some = list(alike)
        rubric = load_rubric(some[0].rubric, some[0].data)
        with BoxRunner(rubric.libraries) as runner:
            for work in some:
                try:
                    with open_submission(work.folder) as submission:
                        asked = for_student(rubric, submission.name, _DRAW)
                        notes = submission.notes
                        report = grade(asked, submission, runner, _DRAW, notes=notes, share_boxes=not fresh)
                        data = as_data(with_other_assignment(report, submission))
                except UsageError as refused:
                    data = {"points": 0, "max_points": 0, "notes": [str(refused)], "problems": []}
                _write(work.report / f"{work.folder.name}.json", data)


def _formulas() -> dict[str, Any]:
    grader = formula_corpus.Grader()
    judged = {entry.id: grader(entry) for entry in formula_corpus.entries()}
    return {name: [one.verdict, one.message] for name, one in judged.items()}


def _prose() -> dict[str, Any]:
    made = [
        decision
        for group in prose_accuracy.GROUPS
        for rubric in prose_accuracy.RUBRICS
        for decision in prose_accuracy.decisions(group, rubric)
    ]
    return {
        f"{number} {one.rubric} {one.part} {one.what}": ["found" if one.found else "not found", one.text]
        for number, one in enumerate(made)
    }


def _proof(rubric: str) -> Iterator[tuple[str, Any]]:
    loaded = load_rubric(find_rubric(rubric))
    proven = prove(loaded, load_proof(loaded))
    for part in proven.parts:
        for one in part.tried:
            mutant = one.mutant
            place = f"{rubric} {part.name} {mutant.file}:{mutant.line} {mutant.statement} → {mutant.becomes}"
            yield place, ["killed" if one.killed else "explained" if one.because else "survived", one.because]
    for fault in proven.faults:
        yield f"{rubric} {fault}", ["fault", ""]


def _write(file: Path, data: dict[str, Any]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def kept(folder: Path) -> Verdicts:
    verdicts: Verdicts = {}
    for kind in _WITHOUT_SANDBOX:
        if (file := folder / f"{kind}.json").exists():
            for place, (verdict, words) in json.loads(file.read_text(encoding="utf-8")).items():
                verdicts[f"{kind}: {place}"] = (verdict, words)
    for file in sorted((folder / "reports").glob("*/*.json")):
        report, name = json.loads(file.read_text(encoding="utf-8")), f"{file.parent.name}/{file.stem}"
        verdicts[name] = (f"{report['points']}/{report['max_points']}", " ".join(report["notes"]))
        for problem in report["problems"]:
            for check in problem["checks"]:
                verdict = f"{check['status']} {check['points']}/{check['max_points']} {check['code']}"
                verdicts[f"{name}: {problem['id']} {check['id']}"] = (verdict, check["message"])
    return verdicts


def compare(before: Verdicts, after: Verdicts) -> tuple[list[str], list[str]]:
    """Where the verdict is another, and where only its words are. What `--fresh` leaves out is not compared."""
    verdicts, words = [], []
    kinds = [{place.partition(":")[0] for place in side} for side in (before, after)]
    left_out = {kind for kind in _WITHOUT_SANDBOX if not all(kind in side for side in kinds)}
    for place in dict.fromkeys([*before, *after]):
        was, now = before.get(place, ("nothing", "")), after.get(place, ("nothing", ""))
        if place.partition(":")[0] in left_out:
            continue
        if was[0] != now[0]:
            verdicts.append(f"{place}: {was[0]} → {now[0]} ({now[1]})")
        elif was[1] != now[1]:
            words.append(f"{place}: {was[1]}\n    → {now[1]}")
    return verdicts, words


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    keeping = commands.add_parser("keep")
    keeping.add_argument("folder", type=Path)
    keeping.add_argument("--repositories", nargs="+", action="append", default=[], metavar=("FOLDER", "RUBRIC [DATA]"))
    keeping.add_argument("--fresh", action="store_true", help="each check in a fresh sandbox")
    comparing = commands.add_parser("compare")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    options = parser.parse_args()
    if options.command == "keep":
        try:
            keep(options.folder, options.repositories, options.fresh)
        except UsageError as error:
            keeping.error(str(error))
        return 0
    before, after = kept(options.before), kept(options.after)
    if not (before and after):
        comparing.error(f"{options.after if before else options.before}: `keep` has recorded no verdicts there")
    verdicts, words = compare(before, after)
    print(f"{len(before)} verdicts, then {len(after)}: {len(verdicts)} differ, {len(words)} only read differently")
    for line in [*verdicts, *words[:_SHOWN]]:
        print(line)
    return 1 if verdicts else 0


if __name__ == "__main__":
    sys.exit(main())
