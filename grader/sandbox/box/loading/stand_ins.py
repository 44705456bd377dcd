"""Stand-ins for packages that are not here, for files that import them and never use them in what is judged.

Plotting, progress bars and notebooks' tools may even be used, and decorators that only check types or compile give
back what they are given. Of everything else only the name is there: it can stand in an annotation or among base
classes, and using it says that it is not installed. Nothing in this file computes anything, so no stand-in can make a
wrong answer right. What a rubric allows is the same on every machine: a student's own `import` sees Python's modules,
the libraries of the rubric with what they bring along, and nothing else that happens to be installed.
"""

from __future__ import annotations

import builtins
import dis
import importlib.machinery
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from types import FunctionType, ModuleType
from typing import Any

from . import student_code, student_loader

_INERT = {
    *("matplotlib", "seaborn", "plotly", "bokeh", "altair", "pylab", "IPython", "ipywidgets", "google", "tqdm"),
    *("tensorboard", "tensorboardX", "wandb", "mlflow", "comet_ml", "livelossplot", "torchsummary", "torchinfo"),
    *("torchviz", "prettytable", "tabulate", "termcolor", "colorama"),
}
# Their decorators change how a function runs or what it checks, not what it computes.
_UNCHANGING = {
    "numba": {"njit", "jit"},
    "jaxtyping": {"jaxtyped"},
    "beartype": {"beartype"},
    "typeguard": {"typechecked"},
    "line_profiler": {"profile"},
    "memory_profiler": {"profile"},
}
_IMPORTABLE = {
    *("scipy", "sklearn", "pandas", "torchvision", "torchaudio", "torchtext", "timm", "einops", "tensorflow", "keras"),
    *("jax", "flax", "transformers", "datasets", "lightning", "pytorch_lightning", "torchmetrics", "xformers"),
    *("flash_attn", "vit_pytorch", "cupy", "cv2", "PIL", "skimage", "nltk", "statsmodels", "torchtyping", "nptyping"),
    *("omegaconf", "hydra", "joblib", "requests", "gdown", "opt_einsum", "fairscale", "accelerate", "apex", "triton"),
}
KNOWN = _INERT | _IMPORTABLE | _UNCHANGING.keys()  # packages, whether they are installed here or not
_GIVEN = {"numpy", "torch"}  # in every assignment, whichever part is checked
# What they bring along wherever they are installed.
_BROUGHT_ALONG = {"typing_extensions", "sympy", "mpmath", "networkx", "jinja2", "markupsafe", "filelock", "fsspec"}


class _Nothing:
    """Whatever is done with it, it is still nothing."""

    def __call__(self, *args: Any, **kwargs: Any) -> _Nothing:
        return self

    def __getattr__(self, name: str) -> _Nothing:
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __getitem__(self, key: Any) -> _Nothing:
        return self

    def __setitem__(self, key: Any, value: Any) -> None:
        return None

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def __enter__(self) -> _Nothing:
        return self

    def __exit__(self, *exception: object) -> None:
        return None


def _refusal(name: str) -> ModuleNotFoundError:
    return ModuleNotFoundError(f"No module named '{name}'", name=name)


class NotInstalled:
    """Part of a package that is not here: it can be named, and no more. Students may read this class's name."""

    def __init__(self, name: str, missing: str) -> None:
        self._name = name
        self._missing = missing  # the package, or the file of a package

    def __getattr__(self, name: str) -> NotInstalled:
        if name.startswith("__"):
            raise AttributeError(name)
        return NotInstalled(f"{self._name}.{name}", self._missing)

    def __getitem__(self, key: Any) -> NotInstalled:
        return self  # Float[Tensor, "batch dim"]

    def __or__(self, other: Any) -> NotInstalled:
        return self

    __ror__ = __or__

    def __instancecheck__(self, instance: Any) -> bool:
        return False  # nothing here can be made by what is not here

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        missing = self._missing

        class Base:
            def __new__(cls, *args: Any, **kwargs: Any) -> Any:
                raise _refusal(missing)

        return (Base,)

    def _refuse(self, *args: Any, **kwargs: Any) -> Any:
        raise _refusal(self._missing)

    __call__ = __iter__ = __array__ = __enter__ = __len__ = __float__ = __matmul__ = __mul__ = __add__ = _refuse


class _StandIn(ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if self.__name__.partition(".")[0] in _INERT:
            return _Nothing()
        return NotInstalled(f"{self.__name__}.{name}", vars(self)["_missing"])


def _unchanged(*args: Any, **options: Any) -> Any:
    """`@njit`, `@njit(parallel=True)`: what is decorated, as it is."""
    if len(args) == 1 and not options and isinstance(args[0], FunctionType | type):
        return args[0]
    return lambda decorated: decorated


def _pass_through(iterable: Iterable[Any] = (), *args: Any, **kwargs: Any) -> Iterable[Any]:
    """A progress bar without the bar."""
    return iterable


def _importing() -> tuple[str, bool]:
    """The file whose statement is importing, and whether that stands inside a `try`: then something else is done
    without it. Code that only asks whether a package is there is Python's own."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(("<frozen importlib._boot", __file__)):
        frame = frame.f_back
    covered = dis._parse_exception_table(frame.f_code)  # type: ignore[attr-defined]  # not in its stubs
    return frame.f_code.co_filename, any(entry.start <= frame.f_lasti < entry.end for entry in covered)


class _Loader:
    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return _StandIn(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        package, _, inner = module.__name__.partition(".")
        known: dict[str, Any] = dict.fromkeys(_UNCHANGING.get(package, ()), _unchanged)
        if package == "tqdm":
            known = {"tqdm": _pass_through, "trange": range}
        if package == "numba":
            known |= {"prange": range}
        missing = module.__name__ if inner and _is_own_package(package) else package
        vars(module).update(known, _missing=missing)


def _is_own_package(name: str) -> bool:
    found = sys.modules.get(name)
    return found is not None and any(map(student_loader.is_below_home, getattr(found, "__path__", None) or ()))


def _stand_in(fullname: str) -> importlib.machinery.ModuleSpec:
    loader: Any = _Loader()  # no importlib.abc.Loader: with that, shutil, bz2 and lzma would be loaded for every box
    return importlib.machinery.ModuleSpec(fullname, loader, is_package=True)


class _Hiding:
    """Before Python's own finders: keeps from students' code what is installed here and not allowed."""

    def __init__(self, allowed: Iterable[str]) -> None:
        self._seen = {*allowed, *_GIVEN, *_BROUGHT_ALONG, *sys.stdlib_module_names}
        self._installed = tuple(f"{folder}{os.sep}" for folder in sys.path)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        package = fullname.partition(".")[0]
        if package in self._seen or path is not None or not student_code.is_own((by := _importing())[0]):
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname)
        if spec is None or not (spec.origin or "").startswith(self._installed):
            return None
        if (own := student_loader.written_otherwise(fullname, None)) is not None:
            return own
        if by[1] and package not in _INERT:
            raise _refusal(package)
        return _stand_in(fullname)


class _Finder:
    """Last in line: whatever can really be imported is."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        package, _, inner = fullname.partition(".")
        if package in _INERT or isinstance(sys.modules.get(package), _StandIn):
            return _stand_in(fullname)
        file, is_tried = _importing()
        if is_tried or not student_code.is_own(file):
            return None
        if (
            not student_loader.has_begun()
        ):  # a script: it is tried from other folders too, and with the course's own files
            return _stand_in(fullname) if package in KNOWN else None
        if not inner and (found := _elsewhere(package, file)) is not None:
            return found
        return None if inner and not _is_own_package(package) else _stand_in(fullname)


def _elsewhere(name: str, importer: str) -> importlib.machinery.ModuleSpec | None:
    """A file or folder of that name anywhere in the submission, the nearest one: `sys.path` may have been set for a
    machine of the student's own."""
    if name in KNOWN:
        return None
    holding = [
        (-len(os.path.commonpath([folder, importer])), len(folder), folder)
        for folder, folders, files in os.walk(os.getcwd())
        if f"{name}.py" in files or (name in folders and _holds_code(os.path.join(folder, name)))
    ]
    if not holding:
        return None
    *_, folder = min(holding)
    sys.path.append(folder)
    spec = importlib.machinery.PathFinder.find_spec(name)
    return spec and (student_loader.as_own(spec) or spec)


def _holds_code(folder: str) -> bool:
    return any(name.endswith(".py") for _, _, files in os.walk(folder) for name in files)


def offer(allowed: Iterable[str]) -> None:
    sys.meta_path.insert(0, _Hiding(allowed))
    sys.meta_path.append(_Finder())
    # What every notebook has without an import, and what nbconvert writes for a magic.
    vars(builtins).setdefault("get_ipython", _Nothing())
