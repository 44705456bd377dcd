"""Which modules a box has loaded by itself."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from grader.sandbox.box.loading import later_modules


def _named(name: str) -> ModuleType:
    return ModuleType(name)


@pytest.fixture(autouse=True)
def modules(monkeypatch: pytest.MonkeyPatch) -> dict[str, ModuleType]:
    loaded = {name: _named(name) for name in ("sys", "queue", "torch")}
    monkeypatch.setattr(sys, "modules", loaded)
    monkeypatch.setattr(later_modules, "_last", [])
    return loaded


def test_all_that_came_after_the_beginning_is_told_in_order(modules: dict[str, ModuleType]) -> None:
    later_modules.begin()
    modules |= {"attention": _named("attention"), "utils": _named("utils")}
    assert [name for name, _ in later_modules.later()] == ["attention", "utils"]


def test_without_a_beginning_all_modules_are_told() -> None:
    assert [name for name, _ in later_modules.later()] == ["sys", "queue", "torch"]


def test_a_students_file_is_told_though_a_library_has_its_name(modules: dict[str, ModuleType]) -> None:
    later_modules.begin()
    later_modules.enter("queue", own := _named("queue"))
    assert later_modules.later() == [("queue", own)]
    assert modules["queue"] is own


def test_where_the_last_one_has_gone_all_others_are_told(modules: dict[str, ModuleType]) -> None:
    later_modules.begin()
    del modules["torch"]
    assert [name for name, _ in later_modules.later()] == ["sys", "queue"]
