"""Every verdict of the project, kept in a folder; and where two such folders differ. For moves, merges and rewrites.

    python -m benchmarks.verdicts keep build/before      # some minutes: samples, formulas, prose, both proofs
    python -m benchmarks.verdicts compare build/before build/after

Messages are compared too: another verdict is a difference, other words for the same verdict are counted and the first
few shown. `compare` ends with 1 if a verdict differs.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks import formula_corpus, prose_accuracy
from grader.proving.proof import load_proof
from grader.proving.prove import prove
from grader.rubric.loading import find_rubric, load_rubric

REPOSITORY = Path(__file__).resolve().parent.parent
RUBRICS = ("dl-hw3", "nlp-a5")
_SHOWN = 10

Verdicts = dict[str, tuple[str, str]]  # by place: the verdict, and its words


def keep(folder: Path) -> None:
    (folder / "samples").mkdir(parents=True, exist_ok=True)
    samples = sorted(path.name for path in (REPOSITORY / "submissions").iterdir())
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda name: _grade(name, folder / "samples" / f"{name}.json"), samples))
    _write(folder / "formulas.json", _formulas())
    _write(folder / "prose.json", _prose())
    _write(folder / "proofs.json", dict(found for rubric in RUBRICS for found in _proof(rubric)))


def _grade(sample: str, file: Path) -> None:
    command = [sys.executable, "-m", "grader", "run", f"submissions/{sample}", "--json", str(file.resolve())]
    subprocess.run(command, cwd=REPOSITORY, check=True, stdout=subprocess.DEVNULL)


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


def _write(file: Path, found: dict[str, Any]) -> None:
    file.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def kept(folder: Path) -> Verdicts:
    found: Verdicts = {}
    for kind in ("formulas", "prose", "proofs"):
        for place, (verdict, words) in json.loads((folder / f"{kind}.json").read_text(encoding="utf-8")).items():
            found[f"{kind}: {place}"] = (verdict, words)
    for file in sorted((folder / "samples").glob("*.json")):
        report = json.loads(file.read_text(encoding="utf-8"))
        found[f"{file.stem}"] = (f"{report['points']}/{report['max_points']}", " ".join(report.get("notes", [])))
        for problem in report["problems"]:
            for check in problem["checks"]:
                verdict = f"{check['status']} {check['points']}/{check['max_points']}"
                found[f"{file.stem}: {problem['id']} {check['id']}"] = (verdict, check["message"])
    return found


def compare(before: Verdicts, after: Verdicts) -> tuple[list[str], list[str]]:
    """Where the verdict is another, and where only its words are."""
    verdicts, words = [], []
    for place in dict.fromkeys([*before, *after]):
        was, now = before.get(place, ("nothing", "")), after.get(place, ("nothing", ""))
        if was[0] != now[0]:
            verdicts.append(f"{place}: {was[0]} → {now[0]} ({now[1]})")
        elif was[1] != now[1]:
            words.append(f"{place}: {was[1]}\n    → {now[1]}")
    return verdicts, words


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("keep").add_argument("folder", type=Path)
    comparing = commands.add_parser("compare")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    options = parser.parse_args()
    if options.command == "keep":
        keep(options.folder)
        return 0
    before, after = kept(options.before), kept(options.after)
    verdicts, words = compare(before, after)
    print(f"{len(before)} verdicts before, {len(after)} after: {len(verdicts)} differ, {len(words)} say it differently")
    for line in [*verdicts, *words[:_SHOWN]]:
        print(line)
    return 1 if verdicts else 0


if __name__ == "__main__":
    sys.exit(main())
