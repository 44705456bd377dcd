"""Started by the grader as a plain script: sets up the explicit path, then loads this folder as a package.

The package gets a name of its own, so that nothing of `grader` can be reached from it, and so that a student's
`worker.py` or `wire.py` is the student's.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys


def boot() -> None:
    settings = json.loads(sys.argv[1])
    sys.argv[:] = [""]
    sys.path[:] = settings.get("path") or [*sys.path, settings["packages"]]
    folder = os.path.dirname(os.path.abspath(__file__))
    spec = importlib.util.spec_from_file_location(
        "_box", os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
    )
    assert spec is not None
    sys.modules["_box"] = importlib.util.module_from_spec(spec)
    importlib.import_module(f"_box.{settings['starts']}").main(settings)


if __name__ == "__main__":
    boot()
