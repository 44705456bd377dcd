"""Stand-ins for plotting and progress bars, where the real packages are not installed.

Many students import them at the top of a file whose graded functions never use them. Nothing here computes anything, so
no stand-in can make a wrong answer right; a real package, where there is one, is found first.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
from collections.abc import Iterable, Iterator, Sequence
from types import ModuleType
from typing import Any

_INERT = {"matplotlib", "seaborn", "plotly", "IPython", "tensorboard", "wandb", "tqdm"}


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


def _pass_through(iterable: Iterable[Any] = (), *args: Any, **kwargs: Any) -> Iterable[Any]:
    """A progress bar without the bar."""
    return iterable


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname.partition(".")[0] not in _INERT:
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return _InertModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        if module.__name__.partition(".")[0] == "tqdm":
            vars(module).update(tqdm=_pass_through, trange=range)


def offer() -> None:
    """Last in line: whatever can really be imported is."""
    sys.meta_path.append(_Finder())
