"""Whether a student's whole model runs the variant written for it: it is run once, and read where that cannot tell."""

from __future__ import annotations

import ast
import contextlib
import inspect
import os
from collections.abc import Iterator
from itertools import islice
from typing import Any

from ..calls import replaced
from ..loading import student_code
from .configured_module import Configuration

MODEL = "GPT"
_MODEL_FILES = ("model.py", "models.py")  # other files may be scripts, which importing would run
_PARTS = (MODEL, "Block")  # whoever defines these anew may build the variant in there
_SOURCE_FOLDERS = ("src", "source", "code", "lib", "student", "submission")  # in a project's folder
_MAX_FILES, _MAX_BYTES = 400, 1 << 20


def variant_in_model(
    file: str, names: list[str], config: dict[str, Any], flags: list[str], through: str = ""
) -> dict[str, Any]:
    """Whether the model beside `file` enters all of `names`, built with these flags on and off, and what the sources of
    the same project say.

    `through` is a class that should enter them when it is built alone: if it does not, its model has no say.
    """
    trees = dict(_sources(_project(file)))
    beside = [os.path.join(os.path.dirname(file), name) for name in (os.path.basename(file), *_MODEL_FILES)]
    place = next((path for path in beside if path in trees and MODEL in _classes(trees[path])), "")
    own = {os.path.normpath(file), os.path.normpath(place)}
    found: dict[str, Any] = {
        "model": place,
        "mentioned": any(_mentions(tree, names) for tree in trees.values()),
        "redefined": any(set(_PARTS) & _classes(tree) for path, tree in trees.items() if path not in own),
        "built": any(_calls(tree, MODEL) or _is_asked_for(tree, flags) for tree in trees.values()),
        "set": any(_sets(tree, flag) for tree in trees.values() for flag in flags),
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


def _sources(project: str = ".") -> Iterator[tuple[str, ast.Module]]:
    listed = (os.path.join(folder, name) for folder, _, files in os.walk(project) for name in sorted(files))
    paths = (path for path in listed if path.endswith((".py", ".ipynb")) and os.path.getsize(path) <= _MAX_BYTES)
    for path in islice(paths, _MAX_FILES):
        with contextlib.suppress(Exception):
            yield os.path.normpath(path), _tree(path)


def _tree(path: str) -> ast.Module:
    """A notebook's text is one long string here: whatever it names counts as a mention."""
    if path.endswith(".py"):
        return ast.Module([node for _, tree in student_code.parsed(path) for node in tree.body], [])
    with open(path, encoding="utf-8", errors="replace") as source:
        return ast.Module([ast.Expr(ast.Constant(source.read()))], [])


def _classes(tree: ast.Module) -> set[str]:
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}


def _is_notebook(text: str) -> bool:
    return text.lstrip().startswith("{")


def _mentions(tree: ast.Module, names: list[str]) -> bool:
    """Whether any of these is used, or a name is made while running; defining and importing are no use."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) if name in names:
                return True
            case ast.Constant(value=str(text)) if "\n" not in text.strip() or _is_notebook(text):
                if any(name in text for name in names):
                    return True
            case ast.Call(func=ast.Name(id="eval" | "globals" | "exec" | "__import__")):
                return True
            case ast.Call(func=ast.Name(id="vars"), args=[ast.Name(id=whose)]) if whose != "self":
                return True
            case ast.Call(func=ast.Name(id="getattr"), args=[ast.Name(), made, *_]):
                if not isinstance(made, ast.Constant):
                    return True
    return False


def _calls(tree: ast.Module, name: str) -> bool:
    calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return any(name in (getattr(func, "id", ""), getattr(func, "attr", "")) for func in calls)


def _conditions(tree: ast.Module) -> set[ast.AST]:
    """What is inside of conditions and lists of choices: `if args.variant == 'rope'` switches nothing on."""
    found: set[ast.AST] = set()
    for node in ast.walk(tree):
        match node:
            case (
                ast.If(test=part)
                | ast.IfExp(test=part)
                | ast.While(test=part)
                | ast.Assert(test=part)
                | ast.MatchValue(value=part)
                | ast.keyword(arg="choices", value=part)
            ):
                found.update(ast.walk(part))
    return found


def _is_asked_for(tree: ast.Module, flags: list[str]) -> bool:
    return any(isinstance(node, ast.Constant) and node.value in flags for node in _conditions(tree))


def _sets(tree: ast.Module, flag: str) -> bool:
    """Whether this setting may be switched on here: anything that could do it counts."""
    conditions = _conditions(tree)
    for node in ast.walk(tree):
        match node:
            case (
                ast.keyword(arg=name, value=ast.expr() as value)
                | ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name) | ast.Attribute(attr=name), value=ast.expr() as value)
                | ast.AugAssign(target=ast.Name(id=name) | ast.Attribute(attr=name), value=value)
            ) if name == flag:
                if not _is_off(value):
                    return True
            case ast.keyword(arg=None, value=ast.Dict(keys=keys)):
                if not all(isinstance(key, ast.Constant) for key in keys):
                    return True
            case ast.Assign(targets=targets, value=value) if any(getattr(one, "attr", "") == flag for one in targets):
                # `self.rope = config.rope` hands on what was set elsewhere
                if not _is_off(value) and flag not in (getattr(value, "attr", ""), getattr(value, "id", "")):
                    return True
            case ast.arg(arg=name) if name == flag:  # it may be given by its place
                return True
            case ast.Constant(value=str(text)) if node not in conditions:
                if text in (flag, f"--{flag}") or (_is_notebook(text) and flag in text):
                    return True
            case ast.Call(func=ast.Name(id="setattr"), args=[ast.Name(id=whose), ast.Name(), *_]) if whose != "self":
                return True
    return False


def _is_off(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and not value.value
