"""Whether a student's whole model runs the variant written for it: it is run once, and read where that cannot tell."""

from __future__ import annotations

import contextlib
import inspect
import os
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from ..calls import replaced
from ..loading import student_code
from ..reading.source_text import IMPORTED, MAX_SOURCE_BYTES, code_of
from .configured_module import Configuration

MODEL = "GPT"
_MODEL_FILES = ("model.py", "models.py")  # other files may be scripts, which importing would run
_PARTS = (MODEL, "Block")  # whoever defines these anew may build the variant in there
_SOURCE_FOLDERS = ("src", "source", "code", "lib", "student", "submission")  # in a project's folder
_MAX_FILES = 400
_MADE_NAME = re.compile(
    r"(?<![\w.])(?:(?:eval|globals|exec|__import__)\(|vars\((?!self\b)\w+\)"
    r"|getattr\(\w+,[ \t]*+(?![\"'][^\"'\n]*[\"'][ \t]*[,)]))"
)
# What conditions and lists of choices ask: `if args.variant == "rope"` switches nothing on.
_CONDITION = re.compile(
    r"(?m)^[ \t]*(?:(?:el)?if|while|case|assert)\b.*?(?::(?=\s)|$)|\bif\b.*?\belse\b|\bchoices[ ]?=[^\])]*"
)


def variant_in_model(
    file: str, names: list[str], config: dict[str, Any], flags: list[str], through: str = ""
) -> dict[str, Any]:
    """Whether the model beside `file` enters all of `names`, built with these flags on and off, and what the sources of
    the same project say.

    `through` is a class that should enter them when it is built alone: if it does not, its model has no say.
    """
    sources = dict(_sources(_project(file)))
    notebooks = "".join(text for path, text in sources.items() if path.endswith(".ipynb"))
    codes = {path: code for path, code in sources.items() if path.endswith(".py")}
    code = "\n".join(codes.values())
    beside = [os.path.join(os.path.dirname(file), name) for name in (os.path.basename(file), *_MODEL_FILES)]
    place = next((path for path in beside if MODEL in _classes(codes.get(path, ""))), "")
    own = {os.path.normpath(file), os.path.normpath(place)}
    found: dict[str, Any] = {
        "model": place,
        "mentioned": any(name in notebooks for name in names) or _mentions(code, names),
        "redefined": any(set(_PARTS) & _classes(code) for path, code in codes.items() if path not in own),
        "built": _builds(code, flags),
        "set": any(flag in notebooks or _sets(code, flag) for flag in flags),
    }
    if not place:
        return found
    off = config | dict.fromkeys(flags, False)
    with contextlib.suppress(Exception, SystemExit):
        student_code.load(file)
        student_code.load(place)
        alone = _run(file, through, names, config) if through else {"entered": True}
        found["on"] = on = _run_with_any(flags, place, names, config, off)
        # With every flag off it is run only where that decides anything: where nobody sets one.
        found["off"] = _run(place, MODEL, names, off) if on["entered"] and found["built"] and not found["set"] else {}
        found["alone"] = alone["entered"]
    return found


def _run_with_any(
    flags: list[str], place: str, names: list[str], config: dict[str, Any], off: dict[str, Any]
) -> dict[str, Any]:
    """With all flags on, then with one at a time, until it enters all names: years differ in what the flag is called,
    and an old one may ask for what another year had."""
    runs: list[dict[str, Any]] = []
    for one in (config, *(off | {flag: True} for flag in flags)):
        runs.append(_run(place, MODEL, names, one))
        if runs[-1]["entered"]:
            break
    return {key: any(run[key] for run in runs) for key in runs[0]}


class _Watched(Configuration):
    """Notes which settings are asked for that the course does not have: what those decide cannot be told."""

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("__"):
            vars(self).setdefault("_unknown", []).append(name)
        raise AttributeError(name)

    def get(self, key: str, default: Any = None) -> Any:
        return getattr(self, key, default)


def _run(file: str, name: str, names: list[str], settings: dict[str, Any]) -> dict[str, Any]:
    """Whether a model, or a layer of one, enters all of these names, and whether it ran to its end."""
    import torch

    config, entered, ran = _Watched(**settings), set[str](), False
    made = student_code.attribute(file, name)
    extra = len(inspect.signature(made).parameters) > 1
    with _noting(names, entered), torch.no_grad(), contextlib.suppress(Exception):
        module = made(config).eval()
        length = settings["block_size"] - 1
        if name == MODEL:
            module(torch.zeros(2, length, dtype=torch.long))
        else:
            module(torch.zeros(2, length, settings["n_embd"]))
        ran = True
    return {
        "entered": entered == set(names),
        "ran": ran,
        "open": extra or bool(vars(config).get("_unknown")),  # what else may decide it
    }


def _noting(names: list[str], entered: set[str]) -> contextlib.AbstractContextManager[None]:
    """Within, calling one of these classes' forward, or one of these functions, is noted."""
    places: dict[tuple[int, str], tuple[Any, str, Any]] = {}
    for module in student_code.own_modules():
        for name in names:
            value = vars(module).get(name)
            holder, key = (value, "forward") if inspect.isclass(value) else (module, name)
            if hasattr(module, "__file__") and callable(value):  # not of a notebook
                places[id(holder), key] = holder, key, _noted(getattr(holder, key), name, entered)
    return replaced(places.values())


def _noted(function: Any, name: str, entered: set[str]) -> Any:
    def noted(*args: Any, **kwargs: Any) -> Any:
        entered.add(name)
        return function(*args, **kwargs)

    return noted


def _project(file: str) -> str:
    """The folder of the assignment that a file belongs to. A folder beside it may hold another assignment."""
    folder = os.path.dirname(os.path.normpath(file))
    while folder and (
        os.path.basename(folder).lower() in _SOURCE_FOLDERS or os.path.exists(os.path.join(folder, "__init__.py"))
    ):
        folder = os.path.dirname(folder)
    return folder or "."


def _sources(project: str = ".") -> Iterator[tuple[str, str]]:
    """All code, without comments and long strings; notebooks are one long text."""
    listed = (Path(folder, name) for folder, _, files in os.walk(project) for name in sorted(files))
    paths = (path for path in listed if path.name.endswith((".py", ".ipynb")))
    for path in islice((path for path in paths if path.stat().st_size <= MAX_SOURCE_BYTES), _MAX_FILES):
        with contextlib.suppress(Exception):
            yield str(path), code_of(path) or ""


def _classes(code: str) -> set[str]:
    return set(re.findall(r"(?m)^[ \t]*class[ \t]+(\w+)", code))


def _mentions(code: str, names: list[str]) -> bool:
    """Whether any of these is used, or a name is made while running; defining and importing are no use."""
    used = re.sub(r"(?m)^[ \t]*(?:from|import)[ \t].*|\b(?:class|def)[ \t]+\w+", "", IMPORTED.sub("", code))
    return bool(re.search("|".join(names), used) or _MADE_NAME.search(used))


def _builds(code: str, flags: list[str]) -> bool:
    """Whether the model is built here, or a condition asks for one of these settings."""
    asked_for = re.search(rf"""["'](?:{"|".join(flags)})["']""", "".join(_CONDITION.findall(code)))
    return bool(asked_for or re.search(rf"(?<!class )\b{MODEL}\(", code))


def _sets(code: str, flag: str) -> bool:
    """Whether this setting may be switched on here: anything that could do it counts, but for conditions."""
    off = r"(?!(?:False|None|0|\"\"|'')[ \t]*(?:[,;)\]}#\n]|$))"
    ways = (
        rf"""(?:^|[(\[{{,=:+|]|\breturn|\belse)\s*["'](?:--)?{flag}["']""",
        rf"(?<![\w.]){flag}[ \t]*(?::[^=\n]*)?[|&^+]?=(?!=)[ \t]*+{off}",
        # `self.rope = config.rope` hands on what was set elsewhere
        rf"\.{flag}[ \t]*(?::[^=\n]*)?[|&^+]?=(?!=)[ \t]*+{off}(?![\w.]*?\b{flag}[ \t]*(?:[;\n]|$))",
        rf"\b(?:def[ \t]+\w+[ \t]*\(|lambda\b)[^):]{{0,2000}}\b{flag}\b",  # it may be given by its place
        r"(?<![\w.])setattr\((?!self\b)\w+,[ \t]*[A-Za-z_]\w*,",
        r"\*\*\{(?![\"'}])",
    )
    return re.search("|".join(ways), _CONDITION.sub(":", code), re.MULTILINE) is not None
