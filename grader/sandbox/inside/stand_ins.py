"""Stand-ins for packages that are not installed here, for files that import them and never use them.

Plotting and progress bars may even be used. Of others only the import works, and using them says that they are not
here. Nothing in this file computes anything, so no stand-in can make a wrong answer right; a real package, where there
is one, is found first.
"""

from __future__ import annotations

import dis
import importlib.abc
import importlib.machinery
import sys
from collections.abc import Iterable, Iterator, Sequence
from types import ModuleType
from typing import Any

from . import student_code

_INERT = {"matplotlib", "seaborn", "plotly", "IPython", "tensorboard", "wandb", "tqdm"}
_IMPORTABLE = {"scipy", "sklearn", "pandas", "torchvision", "timm", "einops", "tensorflow", "keras", "jax"}
KNOWN = _INERT | _IMPORTABLE  # packages, whether they are installed here or not


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


class _InertModule(ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Nothing()


class NotInstalled:
    """Part of a package that is not here: it can be named, and no more. Students may read this class's name."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> NotInstalled:
        if name.startswith("__"):
            raise AttributeError(name)
        return NotInstalled(f"{self._name}.{name}")

    def _refuse(self, *args: Any, **kwargs: Any) -> Any:
        root = self._name.partition(".")[0]
        raise ModuleNotFoundError(f"No module named '{root}', which {self._name} is part of", name=root)

    __call__ = __iter__ = __getitem__ = __mro_entries__ = __array__ = __instancecheck__ = _refuse


class _NamedModule(ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return NotInstalled(f"{self.__name__}.{name}")


def _is_missed() -> bool:
    """Whether the import that is going on is a student's statement outside any `try`: inside one, and where code only
    asks whether a package is there, something else is done without it."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(("<frozen importlib._boot", __file__)):
        frame = frame.f_back
    covered = dis._parse_exception_table(frame.f_code)  # type: ignore[attr-defined]
    is_tried = any(entry.start <= frame.f_lasti < entry.end for entry in covered)
    return student_code.is_own(frame.f_code.co_filename) and not is_tried


def _pass_through(iterable: Iterable[Any] = (), *args: Any, **kwargs: Any) -> Iterable[Any]:
    """A progress bar without the bar."""
    return iterable


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        package = fullname.partition(".")[0]
        if package in _INERT or (package in _IMPORTABLE and _is_missed()):
            return importlib.machinery.ModuleSpec(fullname, self, is_package=True)
        return None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        inert = spec.name.partition(".")[0] in _INERT
        return _InertModule(spec.name) if inert else _NamedModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        if module.__name__.partition(".")[0] == "tqdm":
            vars(module).update(tqdm=_pass_through, trange=range)


def offer() -> None:
    """Last in line: whatever can really be imported is."""
    sys.meta_path.append(_Finder())
