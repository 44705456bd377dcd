"""`benchmarks.verdicts compare` names each verdict that differs, and only counts those that read differently."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks import verdicts

CHECK = {"id": "adds_up", "status": "passed", "points": 2, "max_points": 2, "code": "right", "message": "Right."}


def _kept(folder: Path, *, without_sandbox: bool = True, **changed: Any) -> Path:
    problems = [{"id": "1.a", "checks": [{**CHECK, **changed}]}]
    report = {"points": 2, "max_points": 2, "notes": [], "problems": problems}
    (folder / "reports" / "course").mkdir(parents=True)
    (folder / "reports" / "course" / "ann.json").write_text(json.dumps(report))
    if without_sandbox:
        for kind in ("formulas", "prose", "proofs"):
            (folder / f"{kind}.json").write_text(json.dumps({"a formula": ["right", ""]}))
    return folder


def _compared(monkeypatch: pytest.MonkeyPatch, *folders: Path) -> int:
    monkeypatch.setattr(sys, "argv", ["verdicts", "compare", *map(str, folders)])
    return verdicts.main()


@pytest.mark.parametrize(
    ("changed", "line"),
    [
        ({"status": "partial"}, "course/ann: 1.a adds_up: passed 2/2 right → partial 2/2 right (Right.)"),
        ({"points": 1}, "course/ann: 1.a adds_up: passed 2/2 right → passed 1/2 right (Right.)"),
        ({"code": "close"}, "course/ann: 1.a adds_up: passed 2/2 right → passed 2/2 close (Right.)"),
        ({"id": "sums_up"}, "course/ann: 1.a adds_up: passed 2/2 right → nothing ()"),
    ],
)
def test_a_verdict_that_differs_is_named(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    changed: dict[str, Any],
    line: str,
) -> None:
    assert _compared(monkeypatch, _kept(tmp_path / "before"), _kept(tmp_path / "after", **changed)) == 1
    assert line in capsys.readouterr().out.splitlines()


def test_other_words_are_counted_and_are_no_difference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before, after = _kept(tmp_path / "before"), _kept(tmp_path / "after", message="Correct.")
    assert _compared(monkeypatch, before, after) == 0
    assert "0 differ, 1 only read differently" in capsys.readouterr().out


def test_what_fresh_leaves_out_is_not_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shared, fresh = _kept(tmp_path / "shared"), _kept(tmp_path / "fresh", without_sandbox=False)
    assert _compared(monkeypatch, shared, fresh) == 0
    assert "0 differ" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (["compare", "{here}", "{here}"], "`keep` has recorded no verdicts there"),
        (["keep", "{here}"], "is there already; name a new folder"),
        (["keep", "{here}/new", "--repositories", "{here}"], "name a folder, a rubric and perhaps a folder of data"),
        (["keep", "{here}/new", "--repositories", "{here}", "nlp-a"], "did you mean 'nlp-a5'?"),
    ],
)
def test_a_mistake_is_one_line(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    fault: str,
) -> None:
    monkeypatch.setattr(sys, "argv", ["verdicts", *(one.format(here=tmp_path) for one in arguments)])
    with pytest.raises(SystemExit) as ending:
        verdicts.main()
    assert ending.value.code == 2
    assert fault in capsys.readouterr().err.splitlines()[-1]
