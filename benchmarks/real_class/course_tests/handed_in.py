"""Finds what a student wrote: in a file anywhere in the folder, or in a notebook's cells."""

import importlib
import json
import os
import sys
from pathlib import Path
from typing import Any

FOLDER = Path(os.environ["SUBMISSION"])


def load(names: str, *files: str) -> list[Any]:
    wanted = names.split()
    paths = [path for file in files for path in FOLDER.rglob(file) if "demo" not in str(path)]
    for path in paths:
        in_package = (path.parent / "__init__.py").exists()
        sys.path.insert(0, str(path.parent.parent if in_package else path.parent))
        module = importlib.import_module(f"{path.parent.name}.{path.stem}" if in_package else path.stem)
        if all(hasattr(module, name) for name in wanted):
            return [getattr(module, name) for name in wanted]
    for path in [] if paths else FOLDER.rglob("*.ipynb"):
        cells: dict[str, Any] = {}
        for cell in json.loads(path.read_text())["cells"]:
            if cell["cell_type"] == "code":
                exec("".join(cell["source"]), cells)
        if all(name in cells for name in wanted):
            return [cells[name] for name in wanted]
    raise AssertionError(f"{names} not found in {' or '.join(files)}")


class Config(dict[str, Any]):
    """Sizes of a small model, as attributes or by name."""

    __getattr__ = dict.__getitem__


def trains(module: Any, *inputs: Any) -> None:
    """Every parameter gets a gradient."""
    module(*inputs).square().sum().backward()
    assert [name for name, one in module.named_parameters() if one.grad is None] == []
