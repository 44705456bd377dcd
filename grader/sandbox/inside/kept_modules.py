"""A student's module is built once for questions that would build the same one again.

Building it takes longer than asking it. One that was asked before stands in for a new one only if nothing can tell them
apart: the code is known by reading to keep nothing outside its instances, its constructor drew no numbers but torch's,
which are seeded, and printed nothing; and whatever the instance holds is as it was when it was new. Parameters and
buffers are given their first values back, torch's chance goes on from where it was when the module had been built,
other chance is where it was then, and all else is compared after every question. Whatever else a module holds, or
changes, costs another building and no more.
"""

from __future__ import annotations

import io
import random
import sys
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from operator import is_not
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np

from .purity import what_it_may_keep

_DEEPEST = 4  # of containers in a module's attributes
_MOST_MODULES = 24  # that are kept, the latest
_NEVER_CHANGE = (bool, int, float, str, bytes, type(None), type)
_CONTAINERS = {dict, OrderedDict, list, tuple, set}  # one that makes its own values may make others next time
_OF_NOBODY = (type(None), ModuleType, type)  # whose functions are no methods of something that changes

Build = Callable[[], Any]
_kept: dict[Any, _Kept] = {}


def forget() -> None:
    _kept.clear()


class Loan:
    """A module for one question."""

    def __init__(self, module: Any, kept: _Kept | None) -> None:
        self.module = module
        self.kept = kept

    @cached_property
    def left_no_trace(self) -> bool:
        """Whether the question, which has been answered, changed nothing in it that another one could tell."""
        return self.kept is not None and self.kept.is_as_it_was()


@contextmanager
def lent(file: str, key: Any, made_by: Any, build: Build) -> Iterator[Loan]:
    """The module that `build` gives, or one that is like it in everything."""
    kept = _kept.pop(key, None)
    # Where chance is elsewhere, a constructor that seeds it would bring it back.
    if kept is not None and kept.made_by is made_by and _same(kept.other_chance, _chance()):
        kept.renew()
        loan = Loan(kept.module, kept)
    elif what_it_may_keep(file):
        loan = Loan(build(), None)
    else:
        loan = Loan(*_built(made_by, build))
    yield loan
    if loan.left_no_trace:  # not asked after an exception: who knows what that has left
        while len(_kept) >= _MOST_MODULES:
            del _kept[next(iter(_kept))]
        assert loan.kept is not None
        _kept[key] = loan.kept


def _built(made_by: Any, build: Build) -> tuple[Any, _Kept | None]:
    """The module, and what to compare it with later, if its constructor showed and drew nothing that counts."""
    with _heard() as heard:
        before = _chance()
        module = build()
    return module, None if heard or not _same(before, _chance()) else _Kept.of(module, made_by)


def _chance() -> tuple[Any, ...]:
    """Where the generators are that are not seeded when a module is built."""
    return (random.getstate(), *np.random.get_state(legacy=True))


def _same(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    return all(np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b for a, b in zip(one, other, strict=True))


class _Listener(io.TextIOBase):
    def __init__(self, stream: Any, heard: list[bool]) -> None:
        self._stream = stream
        self._heard = heard

    def write(self, text: str) -> int:
        self._heard.append(True)
        return int(self._stream.write(text))

    def flush(self) -> None:
        self._stream.flush()


@contextmanager
def _heard() -> Iterator[list[bool]]:
    """Not empty as soon as anything was printed within."""
    heard: list[bool] = []
    streams = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (_Listener(stream, heard) for stream in streams)
    try:
        yield heard
    finally:
        sys.stdout, sys.stderr = streams


class _Unknown(Exception):
    """A module holds something of which one cannot tell whether it has changed."""


class _Held:
    """All that a module and its parts refer to: each container with what is in it. What is in it is kept, so that
    nothing else can come to lie where it lay."""

    def __init__(self, module: Any, own: set[int]) -> None:
        self._empty: list[Any] = []
        self._full: list[tuple[Any, Any, tuple[Any, ...]]] = []  # a container, its keys, its values
        self.tensors: dict[int, Any] = {}
        self._own = own
        self._parts = {id(one): one for one in module.modules()}
        for one in self._parts.values():
            self._note(vars(one), 0)

    def _note(self, container: Any, depth: int) -> None:
        if not container:
            self._empty.append(container)
            return
        keys, values = _contents(container)
        self._full.append((container, keys, tuple(values)))
        for value in (*keys, *values):
            self._look_at(value, depth + 1)

    def _look_at(self, value: Any, depth: int) -> None:
        import torch

        match value:
            case torch.Tensor() if _can_be_written(value) and (id(value) in self._own or not value.requires_grad):
                self.tensors[id(value)] = value
            case torch.nn.Module() if id(value) in self._parts:  # which are looked at by themselves
                pass
            case torch.device() | torch.dtype():
                pass
            case FunctionType() if not value.__closure__:
                pass
            case BuiltinFunctionType() if isinstance(value.__self__, _OF_NOBODY):
                pass
            case _ if isinstance(value, _NEVER_CHANGE):
                pass
            case _ if type(value) in _CONTAINERS and depth < _DEEPEST:
                self._note(value, depth)
            case _:
                raise _Unknown

    def is_same(self) -> bool:
        if any(map(len, self._empty)):
            return False
        for container, keys, values in self._full:
            now_keys, now_values = _contents(container)
            if (len(now_keys), len(now_values)) != (len(keys), len(values)):
                return False
            if any(map(is_not, now_keys, keys)) or any(map(is_not, now_values, values)):
                return False
        return True


def _contents(container: Any) -> tuple[tuple[Any, ...], Any]:
    """Its keys and its values. A set has its members in the same order as long as nobody changes it."""
    if isinstance(container, dict):
        return tuple(container), container.values()
    return (), tuple(container)


def _can_be_written(tensor: Any) -> bool:
    """Whether it has numbers of its own, in memory, that it can be given back: not so if several share a place, or if
    it was made where nothing is to be written afterwards."""
    import torch

    if tensor.layout != torch.strided or tensor.device.type != "cpu" or tensor.is_inference():
        return False
    return all(size < 2 or step for size, step in zip(tensor.shape, tensor.stride(), strict=True))


def _bits(tensor: Any) -> Any:
    """All of it: 0 equals -0, and what is not a number equals nothing."""
    import torch

    return tensor.detach().resolve_conj().resolve_neg().flatten().contiguous().view(torch.uint8)


@dataclass(eq=False)
class _Kept:
    module: Any
    made_by: Any
    values: list[tuple[Any, Any]]  # its parameters and buffers, and what was in them
    loose: list[tuple[Any, Any]]  # other tensors among its attributes, likewise
    held: _Held
    forms: list[tuple[Any, ...]]
    chance: Any  # torch's, as it was when the module had been built
    other_chance: tuple[Any, ...]  # and numpy's and Python's

    @classmethod
    def of(cls, module: Any, made_by: Any) -> _Kept | None:
        """None if it holds what cannot be compared."""
        import torch

        own = {id(one): one for one in (*module.parameters(), *module.buffers())}
        try:
            held = _Held(module, set(own))
        except _Unknown:
            return None
        values = [(one, one.detach().clone()) for one in own.values()]
        loose = [(one, one.detach().clone()) for key, one in held.tensors.items() if key not in own]
        chance = torch.default_generator.get_state()
        return cls(module, made_by, values, loose, held, list(map(_form, held.tensors.values())), chance, _chance())

    def renew(self) -> None:
        """As it was when it was new."""
        import torch

        with torch.no_grad():
            for own, first in self.values:
                own.copy_(first)
                own.grad = None
        torch.default_generator.set_state(self.chance)

    def is_as_it_was(self) -> bool:
        """Whether nothing but the values of its parameters and buffers has changed since it was built."""
        import torch

        return (
            self.held.is_same()
            and list(map(_form, self.held.tensors.values())) == self.forms
            and all(torch.equal(_bits(one), _bits(first)) for one, first in self.loose)
        )


def _form(tensor: Any) -> tuple[Any, ...]:
    hooks = tensor._backward_hooks, tensor._post_accumulate_grad_hooks
    place = tensor.data_ptr(), tensor.shape, tensor.stride()
    return (*place, tensor.dtype, tensor.requires_grad, *(len(one or ()) for one in hooks))
