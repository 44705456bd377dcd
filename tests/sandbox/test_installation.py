"""What of the installation a box may read."""

from __future__ import annotations

from pathlib import Path

import pytest

import grader
from grader.errors import BoxRefused
from grader.sandbox.host import installation
from grader.sandbox.host.installation import find_installation


def test_a_box_may_read_numpy_but_nothing_of_ours() -> None:
    found = find_installation(("numpy",))
    assert any(Path(entry).name == "numpy" for entry in found.readable)
    own = Path(grader.__file__).parent
    assert not any(own.is_relative_to(Path(entry)) for entry in found.readable)
    assert not any(Path(entry).name.startswith(("grader", "reference", "__editable__")) for entry in found.readable)
    assert not any(Path(entry).name == "site-packages" for entry in found.readable)


def test_an_installation_that_would_show_the_grader_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installation, "_OURS", ("nothing of this name",))
    monkeypatch.setattr(installation.sysconfig, "get_paths", lambda *_: _paths(Path(grader.__file__).parent.parent))
    with pytest.raises(BoxRefused, match="could read the grader itself"):
        find_installation(())


def _paths(folder: Path) -> dict[str, str]:
    return {"stdlib": "/nowhere", "platstdlib": "/nowhere", "purelib": str(folder), "platlib": str(folder)}


def test_a_library_that_is_not_there_is_said_to_be() -> None:
    with pytest.raises(BoxRefused, match="no_such_library, which is not installed"):
        find_installation(("no_such_library",))
