"""Started by the grader as a plain script: sets up the explicit path, then loads what it starts by a name of its own.

That name keeps a student's `worker.py` or `wire.py` the student's. Of the grader only the folders of the sandbox are
imported: the packages above them are empty here.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys

ZYGOTE = "sandbox.box.zygote"


def boot() -> None:
    settings = json.loads(sys.argv[1])
    sys.argv[:] = [""]
    sys.path[:] = settings.get("path") or [*sys.path, settings["packages"]]
    if settings["starts"] == ZYGOTE:
        _load_without_hooks()
    top = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    for package in ("_grader", "_grader.sandbox", "_grader.answers"):
        folder = os.path.join(top, *package.split(".")[1:])
        spec = importlib.util.spec_from_file_location(
            package, os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
        )
        assert spec is not None
        sys.modules[package] = importlib.util.module_from_spec(spec)  # whose own code never runs here
    importlib.import_module(f"_grader.{settings['starts']}").main(settings)


def _load_without_hooks() -> None:
    """These ask to be called in every fork, to renew their locks and to draw a seed. The fork server forks from its
    only thread, which holds no lock, and seeds every box: all they would do is touch memory, which is then copied."""
    register = os.register_at_fork
    setattr(os, "register_at_fork", lambda **hooks: None)  # noqa: B010 - mypy lets no function be replaced
    for name in ("logging", "random", "threading"):
        importlib.import_module(name)
    setattr(os, "register_at_fork", register)  # noqa: B010 - the same


if __name__ == "__main__":
    boot()
