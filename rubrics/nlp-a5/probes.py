"""What runs in the sandbox next to the student's code, and returns values."""

from __future__ import annotations

import contextlib
import inspect
import os
import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:  # nothing of the grader is in the sandbox
    from grader import StudentCode


# ---- the two functions of rotary positions: asked alone, replaced, or watched in attention ----


def rotate(
    code: StudentCode,
    file: str,
    name: str,
    precompute: str,
    dim: int,
    positions: int,
    inputs: list[Any],
    cache: Any = None,
    precision: str = "float64",
) -> dict[str, Any]:
    """The student's cache of rotations, and what their function `name` makes of each input with it or a given one."""
    import torch

    made = code.call(code.attribute(file, precompute), [dim, positions]) if cache is None else None
    used = made if cache is None else torch.tensor(np.array(cache))
    function = code.attribute(file, name)
    given = [torch.tensor(np.array(array), dtype=getattr(torch, precision)) for array in inputs]
    rotated = [code.call(function, [tensor, used]) for tensor in given]
    parts = made if isinstance(made, tuple | list) else [made]
    # How the cache is kept is left open: what holds no tensors is judged by what comes of it alone.
    return {"cache": [part for part in parts if isinstance(part, torch.Tensor)], "rotated": rotated}


def run_with_rotations(
    code: StudentCode, file: str, rotations: dict[str, Any], precision: str = "float64", **request: Any
) -> Any:
    """What `run_configured` gives with other functions in place of the student's two."""
    with _given_rotations(code, file, rotations, precision):
        return code.ask("run_configured", file, precision=precision, **request)


@contextlib.contextmanager
def _given_rotations(code: StudentCode, file: str, rotations: dict[str, Any], precision: str) -> Iterator[None]:
    """In place of the student's two functions, a cache and rotation matrices that were sent along.

    They hold their caller to what the assignment says of both: so much is cached as was asked for, and the rotation is
    given the queries or keys of all heads, (B, heads, T, d), and that cache.
    """
    import torch

    dtype = getattr(torch, precision)
    cache, matrices = (torch.tensor(np.array(rotations[key]), dtype=dtype) for key in ("cache", "matrices"))

    def precomputed(dim: int, max_positions: int) -> Any:
        if dim != matrices.shape[-1] or max_positions > len(cache):
            raise ValueError(f"a cache for width {dim} and {max_positions} positions")
        return cache[:max_positions].clone()

    def turned(x: Any, rope_cache: Any) -> Any:
        length = x.shape[-2]
        if not torch.allclose(rope_cache[:length].to(dtype), cache[:length]) or x.shape[-1] != matrices.shape[-1]:
            raise ValueError("it is given another cache")
        return torch.einsum("tij,...tj->...ti", matrices[:length].to(x.dtype), x)

    def bound(original: Callable[..., Any], function: Callable[..., Any]) -> Callable[..., Any]:
        signature = inspect.signature(original)
        return lambda *args, **kwargs: function(*list(signature.bind(*args, **kwargs).arguments.values())[:2])

    code.load(file)
    replacing = {rotations["precompute"]: precomputed, rotations["apply"]: turned}
    with _replaced(code, {name: partial(bound, function=by) for name, by in replacing.items()}):
        yield


def shapes_rotated(
    code: StudentCode, file: str, name: str, config: dict[str, Any], inputs: list[Any], apply: str
) -> list[list[int]]:
    """What shapes the student's attention `name` hands to their function `apply`; none if it never calls it."""
    import torch

    seen: list[list[int]] = []

    def watching(original: Callable[..., Any]) -> Callable[..., Any]:
        def watched(*args: Any, **kwargs: Any) -> Any:
            given = [value for value in (*args, *kwargs.values()) if isinstance(value, torch.Tensor)]
            seen.extend(list(value.shape) for value in given[:1])
            return original(*args, **kwargs)

        return watched

    code.load(file)
    with _replaced(code, {apply: watching}), torch.no_grad(), contextlib.suppress(Exception):
        module = code.built(file, name, config, "float32")
        module(torch.tensor(np.array(inputs[0]), dtype=torch.float32))
    return seen


def _replaced(code: StudentCode, functions: dict[str, Callable[[Any], Any]]) -> contextlib.AbstractContextManager[None]:
    """Within, each student's module that has such a function has another, made from it."""
    modules = [(module, vars(module)) for module in code.modules()]
    kept = [(module, name, known[name]) for module, known in modules for name in functions if callable(known.get(name))]
    return code.replaced([(module, name, functions[name](was)) for module, name, was in kept])


# ---- whether a student's whole model runs the variant written for it: run once, and read where that cannot tell ----

MODEL = "GPT"
_MODEL_FILES = ("model.py", "models.py")  # other files may be scripts, which importing would run
_PARTS = (MODEL, "Block")  # whoever defines these anew may build the variant in there
_SOURCE_FOLDERS = ("src", "source", "code", "lib", "student", "submission")  # in a project's folder
_MAX_FILES = 400
_MADE_NAME = re.compile(
    r"(?<![\w.])(?:(?:eval|globals|exec|__import__)\(|vars\((?!self\b)\w+\)"
    r"|getattr\(\w+,[ \t]*+(?![\"'][^\"'\n]*[\"'][ \t]*[,)]))"
)
# Definitions and imports, which may go over several lines.
_NO_USE = re.compile(
    r"(?m)^from[ \t]+[\w.]*[ \t]*import[ \t]*\([^)]{0,2000}\)|^[ \t]*(?:from|import)[ \t].*|\b(?:class|def)[ \t]+\w+"
)
# What conditions and lists of choices ask: `if args.variant == "rope"` switches nothing on.
_CONDITION = re.compile(
    r"(?m)^[ \t]*(?:(?:el)?if|while|case|assert)\b.*?(?::(?=\s)|$)|\bif\b.*?\belse\b|\bchoices[ ]?=[^\])]*"
)


def variant_in_model(
    code: StudentCode, file: str, names: list[str], config: dict[str, Any], flags: list[str], through: str = ""
) -> dict[str, Any]:
    """Whether the model beside `file` enters all of `names`, built with these flags on and off, and what the sources of
    the same project say.

    `through` is a class that should enter them when it is built alone: if it does not, its model has no say.
    """
    sources = dict(_sources(code, _project(file)))
    notebooks = "".join(text for path, text in sources.items() if path.endswith(".ipynb"))
    codes = {path: code for path, code in sources.items() if path.endswith(".py")}
    every = "\n".join(codes.values())
    beside = [os.path.join(os.path.dirname(file), name) for name in (os.path.basename(file), *_MODEL_FILES)]
    place = next((path for path in beside if MODEL in _classes(codes.get(path, ""))), "")
    own = {os.path.normpath(file), os.path.normpath(place)}
    found: dict[str, Any] = {
        "model": place,
        "mentioned": any(name in notebooks for name in names) or _mentions(every, names),
        "redefined": any(set(_PARTS) & _classes(text) for path, text in codes.items() if path not in own),
        "built": _builds(every, flags),
        "set": any(flag in notebooks or _sets(every, flag) for flag in flags),
    }
    if not place:
        return found
    off = config | dict.fromkeys(flags, False)
    with contextlib.suppress(Exception, SystemExit):
        code.load(file)
        code.load(place)
        alone = _run(code, file, through, names, config) if through else {"entered": True}
        found["on"] = on = _run_with_any(code, flags, place, names, config, off)
        # With every flag off it is run only where that decides anything: where nobody sets one.
        decides = on["entered"] and found["built"] and not found["set"]
        found["off"] = _run(code, place, MODEL, names, off) if decides else {}
        found["alone"] = alone["entered"]
    return found


def _run_with_any(
    code: StudentCode, flags: list[str], place: str, names: list[str], config: dict[str, Any], off: dict[str, Any]
) -> dict[str, Any]:
    """With all flags on, then with one at a time, until it enters all names: years differ in what the flag is called,
    and an old one may ask for what another year had."""
    runs: list[dict[str, Any]] = []
    for one in (config, *(off | {flag: True} for flag in flags)):
        runs.append(_run(code, place, MODEL, names, one))
        if runs[-1]["entered"]:
            break
    return {key: any(run[key] for run in runs) for key in runs[0]}


class _Watched(SimpleNamespace):
    """Notes which settings are asked for that the course does not have: what those decide cannot be told."""

    def __getitem__(self, key: str) -> Any:
        return vars(self)[key]

    def __contains__(self, key: object) -> bool:
        return key in vars(self)

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("__"):
            vars(self).setdefault("_unknown", []).append(name)
        raise AttributeError(name)

    def get(self, key: str, default: Any = None) -> Any:
        return getattr(self, key, default)


def _run(code: StudentCode, file: str, name: str, names: list[str], settings: dict[str, Any]) -> dict[str, Any]:
    """Whether a model, or a layer of one, enters all of these names, and whether it ran to its end."""
    import torch

    config, entered, ran = _Watched(**settings), set[str](), False
    made = code.attribute(file, name)
    extra = len(inspect.signature(made).parameters) > 1
    with _noting(code, names, entered), torch.no_grad(), contextlib.suppress(Exception):
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


def _noting(code: StudentCode, names: list[str], entered: set[str]) -> contextlib.AbstractContextManager[None]:
    """Within, calling one of these classes' forward, or one of these functions, is noted."""
    places: dict[tuple[int, str], tuple[Any, str, Any]] = {}
    for module in code.modules():
        for name in names:
            value = vars(module).get(name)
            holder, key = (value, "forward") if inspect.isclass(value) else (module, name)
            if hasattr(module, "__file__") and callable(value):  # not of a notebook
                places[id(holder), key] = holder, key, _noted(getattr(holder, key), name, entered)
    return code.replaced(places.values())


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


def _sources(code: StudentCode, project: str = ".") -> Iterator[tuple[str, str]]:
    """All code, without comments and long strings; notebooks are one long text."""
    listed = (Path(folder, name) for folder, _, files in os.walk(project) for name in sorted(files))
    paths = (str(path) for path in listed if path.name.endswith((".py", ".ipynb")))
    return islice(((path, text) for path in paths if (text := code.source(path)) is not None), _MAX_FILES)


def _classes(code: str) -> set[str]:
    return set(re.findall(r"(?m)^[ \t]*class[ \t]+(\w+)", code))


def _mentions(code: str, names: list[str]) -> bool:
    """Whether any of these is used, or a name is made while running; defining and importing are no use."""
    used = _NO_USE.sub("", code)
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


# ---- a data set: its items, drawn many times, and its vocabulary ----

_MOST_CHARACTERS = 5000  # of a vocabulary
_KINDS_SHOWN = 3
_STRAY = 10  # one in so many draws may fail before the item is given up
_STRAY_CHARACTERS = 120


def draw_items(
    code: StudentCode, file: str, name: str, data: str, block_size: int, items: list[int], times: int
) -> dict[str, Any]:
    """Build a data set from text and take these items of it, one after the other, so many times in all."""
    return looked_at(code.call(code.attribute(file, name), [data, block_size]), items, times)


def looked_at(dataset: Any, items: list[int], times: int) -> dict[str, Any]:
    """`times` draws of these items in turn, as flat ids with the length of each draw: draws may differ in length.

    Nothing is seeded in between, so what is random differs from draw to draw. A few draws that raise, or give no pair
    of rows, are told apart from the others; more than one in ten are no strays any more.
    """
    found: dict[str, Any] = {
        "length": _length(dataset),
        "vocab_size": _integer(getattr(dataset, "vocab_size", None)),
        "stoi": _pairs(getattr(dataset, "stoi", None)),
        "itos": _pairs(getattr(dataset, "itos", None)),
        "kinds": [],
    }
    xs: list[bytes] = []
    ys: list[bytes] = []
    kinds: set[str] = set()
    strays: list[str] = []
    for idx in islice(cycle(items), times):
        try:
            item = dataset[idx]
        except Exception as error:
            strays.append(f"raised {type(error).__name__}: {error}"[:_STRAY_CHARACTERS])
            if len(strays) > times // _STRAY:
                raise
            continue
        found_kinds, rows = _sides(item)
        if rows is None:
            strays.append(f"gave {', '.join(found_kinds)}"[:_STRAY_CHARACTERS])
            if len(strays) > times // _STRAY:
                found["kinds"] = sorted(found_kinds)[:_KINDS_SHOWN]
                return found
            continue
        kinds.update(found_kinds)
        xs.append(rows[0].tobytes())
        ys.append(rows[1].tobytes())
    found |= {"kinds": sorted(kinds)[:_KINDS_SHOWN], "strays": strays}
    for name, copies in (("x", xs), ("y", ys)):
        found[name] = _narrowed(np.frombuffer(b"".join(copies), np.int64))
        found[f"{name}_lengths"] = np.array(list(map(len, copies)), np.int64) // np.int64().itemsize
    return found


def _narrowed(ids: Any) -> Any:
    """In two bytes each where they fit, as those of characters do: a quarter of what has to be sent."""
    narrow = ids.astype(np.int16)
    return narrow if np.array_equal(narrow, ids) else ids


def _sides(item: Any) -> tuple[list[str], list[Any] | None]:
    """What kinds x and y are of, and their ids; no ids if it is no pair of rows."""
    if not isinstance(item, (tuple, list)) or len(item) != 2:
        return [f"{type(item).__name__} instead of a pair"], None
    rows = [_ids(side) for side in item]
    return [_kind(side) for side in item], None if any(row is None for row in rows) else rows


def _kind(side: Any) -> str:
    dtype, dimensions = getattr(side, "dtype", None), getattr(side, "ndim", None)
    if dtype is None:
        return type(side).__name__
    axes = "" if dimensions == 1 else f" of {dimensions} dimensions"
    return f"{type(side).__name__} {dtype}{axes}"


def _ids(side: Any) -> Any:
    """The ids in a row, or None if these are none. Whole numbers kept as float are ids of the wrong type."""
    try:
        array = np.asarray(side)
    except Exception:  # an object of the student's own
        return None
    if array.ndim != 1 or array.dtype.kind not in "iuf":
        return None
    if array.dtype.kind == "f" and not (np.isfinite(array) & (array == np.round(array))).all():
        return None
    return array.astype(np.int64, copy=False)


def _length(dataset: Any) -> int | None:
    try:
        return len(dataset)
    except TypeError:  # it has none
        return None


def _integer(value: Any) -> int | None:
    return int(value) if isinstance(value, (int, np.integer)) else None


def _pairs(table: Any) -> list[list[Any]] | None:
    """A dictionary's entries, or a list's with their places; what is neither an integer nor text becomes None."""
    if isinstance(table, dict):
        entries = list(table.items())
    elif isinstance(table, (list, tuple, str)):
        entries = list(enumerate(table))
    else:
        return None
    return [[_plain(one), _plain(other)] for one, other in entries[:_MOST_CHARACTERS]]


def _plain(value: Any) -> Any:
    return str(value)[:8] if isinstance(value, str) else _integer(value)
