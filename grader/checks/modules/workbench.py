"""A student's module under test: built in the box, its parameters set to random values, run on chosen inputs."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from grader.compare import Array, numbers, shape
from grader.errors import Crashed, Killed, Missing, NotImportable, TimedOut
from grader.model import Probe, Student

Inputs = tuple[Array, ...]


@dataclass(frozen=True)
class Ran:
    outputs: list[Array]
    gradients: dict[str, Array]
    input_gradients: list[list[Array | None]]
    given: list[list[Array]]  # the inputs as they are afterwards, if they are watched


@dataclass(frozen=True)
class Recorded:
    values: list[Array]  # for each place in the code an array with a row for each turn of the loops around it
    lines: list[int]  # of the student's code; 0 where it asked for nothing
    complete: bool
    single: bool  # whether some were computed in single precision


@dataclass
class Workbench:
    """One module of a student's, built from the same settings for every question."""

    student: Student
    file: str
    name: str
    settings: Mapping[str, Any] | list[Any]  # a configuration, or plain arguments
    precision: str = "float64"
    dropout: bool = True  # whether what drops out in evaluation mode may do so
    watched: bool = False  # whether its inputs come back, too
    recording: bool = False  # whether all values on the way to the outputs come back, too
    values: dict[str, Array] = field(default_factory=dict)  # its parameters, as the grader has set them
    fresh: dict[str, Array] = field(default_factory=dict)  # as the student's code has set them, in its order
    trainable: list[str] = field(default_factory=list)
    buffers: dict[str, tuple[int, ...]] = field(default_factory=dict)
    probe: str | Probe = "run_configured"  # or what a rubric puts around it
    sent_along: Mapping[str, Any] = field(default_factory=dict)  # what that needs beside
    named_settings: tuple[str, ...] = ()  # those that a crash is reported with
    strong_dropout: Mapping[str, Any] = field(default_factory=dict)  # settings that drop half of everything in training

    def run(self, *inputs: Sequence[Array], cotangents: Sequence[Array] = (), **changed: Any) -> Ran:
        """Outputs for each list of inputs. `values` replaces some parameters, `settings` some of the configuration."""
        values = self.values | changed.get("values", {})
        config = self.settings
        if isinstance(config, Mapping):
            config = {**config, **changed.get("settings", {})}
        reply = self.ask(config, values, inputs, cotangents)
        gradients = {name: self._like(name, value) for name, value in reply["gradients"].items() if name in values}
        return Ran(
            [numbers(output, self.name) for output in reply["outputs"]],
            gradients,
            [
                [numbers(gradient, self.name) if gradient is not None else None for gradient in row]
                for row in reply["input_gradients"]
            ],
            [[numbers(array, self.name) for array in row] for row in reply["given"]],
        )

    def recorded(self, inputs: Sequence[Array]) -> Recorded:
        """Every value that is computed on the way to the output for these inputs."""
        reply = replace(self, recording=True).ask(self.settings, self.values, [inputs], ())
        match reply["recorded"]:
            case [
                {"values": list(values), "lines": list(lines), "complete": bool(complete), "single": bool(single)}
            ] if len(values) == len(lines) and all(isinstance(line, int) for line in lines):
                return Recorded([numbers(value, self.name) for value in values], lines, complete, single)
        raise Crashed(f"{self.name} gave no values", code="no_outputs")

    def _like(self, name: str, value: Any) -> Array:
        gradient = numbers(value, self.name)
        if gradient.shape != self.values[name].shape:
            raise Crashed(f"{self.name} answered with gradients of impossible shape", code="wrong_gradient_shape")
        return gradient

    def without_dropout(self, *inputs: Sequence[Array]) -> list[Array]:
        """Its outputs, fresh parameters and all, with torch's dropout switched off by force."""
        return replace(self, dropout=False, values={}).run(*inputs).outputs

    def ask(
        self, config: Any, values: Any, inputs: Any, cotangents: Any, changes: Sequence[Any] = ()
    ) -> dict[str, Any]:
        """What the sandbox reports; a bench that shows the parameters in another form overrides it."""
        told = {"parameters": not values, "given": self.watched, "recorded": self.recording, "input_gradients": True}
        request = {
            "name": self.name,
            "config": config,
            "parameters": dict(values),
            "inputs": [list(arrays) for arrays in inputs],
            "cotangents": list(cotangents),
            "precision": self.precision,
            "changes": list(changes),
            "dropout": self.dropout,
            # All of this takes longer to send than to compute. Whoever has set the parameters knows them.
            "tell": tuple(what for what, is_told in told.items() if is_told),
            **self.sent_along,
        }
        wanted = [len(inputs) if is_told else 0 for is_told in (cotangents, self.watched, self.recording)]
        match self._answered(request):
            case {
                "parameters": dict(),
                "trainable": list(),
                "buffers": dict(),
                "outputs": list(outputs),
                "gradients": dict(),
                "input_gradients": list(rows),
                "given": list(given),
                "changed": list(),
                "recorded": list(recorded),
            } as reply if len(outputs) == len(inputs) and [len(rows), len(given), len(recorded)] == wanted:
                return dict(reply)
        raise Crashed(f"{self.name} gave no outputs", code="no_outputs")

    def _answered(self, request: dict[str, Any]) -> Any:
        """What the box says to this. A crash comes with the sizes that bring it about."""
        try:
            return self.student.probe(self.probe, self.file, **request)
        except (TimedOut, Killed, NotImportable):
            raise
        except Crashed as fault:
            if isinstance(request["config"], list):
                raise
            sizes = self._sizes(request["config"]) + self._crashing(request)
            raise Crashed(f"{fault.message}, as {sizes}", fault.detail, fault.concealed, code=fault.code) from None

    def _sizes(self, config: Mapping[str, Any]) -> str:
        return f"{self.name}({', '.join(f'{key}={config[key]}' for key in self.named_settings)})"

    def _crashing(self, request: Mapping[str, Any]) -> str:
        """Of several inputs, the first that it crashes on; nothing if it cannot even be built."""
        for inputs in ([], *([one] for one in request["inputs"])):
            try:
                self.student.probe(self.probe, self.file, **{**request, "inputs": inputs, "cotangents": []})
            except Crashed:
                shapes = [shape(array.shape) for arrays in inputs for array in arrays]
                return f" given {' and '.join(shapes)} (batch × tokens × width)" if shapes else ""
        return ""

    def look(self, rng: np.random.Generator, inputs: Sequence[Array]) -> None:
        """Learn which parameters there are, and set each to random values.

        Random, because fresh ones hide mistakes: a bias of zero, a gain of one, weights that make attention flat.
        """
        reply = self.ask(self.settings, {}, [inputs], ())
        found = {name: numbers(value, self.name) for name, value in sorted(reply["parameters"].items())}
        self.trainable = [name for name in found if name in reply["trainable"]]
        self.buffers = {
            name: tuple(shape)
            for name, shape in reply["buffers"].items()
            if isinstance(shape, list) and all(isinstance(side, int) for side in shape)
        }
        self.fresh = {name: found[name] for name in reply["parameters"]}
        self.values = {name: _random(rng, value.shape) for name, value in found.items()}

    def run_changed(self, *inputs: Sequence[Array], changes: Sequence[Mapping[str, Array]]) -> list[list[Array]]:
        """For each change of the parameters, the outputs for each list of inputs."""
        reply = self.ask(self.settings, self.values, inputs, (), [dict(change) for change in changes])
        rows = reply["changed"]
        if len(rows) != len(changes) or not all(isinstance(row, list) and len(row) == len(inputs) for row in rows):
            raise Crashed(f"{self.name} gave no outputs", code="no_outputs")
        return [[numbers(output, self.name) for output in row] for row in rows]

    def influential(self, rng: np.random.Generator, inputs: Sequence[Array]) -> set[str]:
        """The parameters the output depends on."""
        changes = [{name: value + rng.normal(size=value.shape)} for name, value in self.values.items()]
        (before,), *after = self.run_changed(inputs, changes=[{}, *changes])
        return {name for name, (output,) in zip(self.values, after, strict=True) if has_moved(before, output)}


def has_moved(before: Array, after: Array) -> bool:
    return after.shape != before.shape or not np.allclose(after, before, rtol=0, atol=1e-7)


def _random(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    if len([side for side in shape if side > 1]) < 2:
        return rng.normal(0.6, 0.5, size=shape)  # mostly positive, so that no gain is near zero everywhere
    # Standard deviation 1.4/√(a side) keeps scores near one: neither flat nor saturated.
    return np.asarray(rng.normal(size=shape) * 1.4 / np.sqrt(min(side for side in shape if side > 1)))


def started(bench: Workbench, rng: np.random.Generator, *inputs: Sequence[Array]) -> Workbench:
    """The module with random parameters, in float64; in float32 if it runs on these inputs only so."""
    try:
        bench.look(rng, inputs[0])
        bench.run(*inputs)
    except TimedOut:
        raise
    except Crashed as fault:
        bench.precision = "float32"
        try:
            bench.look(rng, inputs[0])
            bench.run(*inputs)
        except Crashed:
            raise fault from None
    return bench


def first_of(student: Student, files: Sequence[str]) -> str:
    """The first of these files that was handed in: `model.py` is called `models.py` in some years."""
    for file in files:
        with contextlib.suppress(Missing):
            student.read(file)
            return file
    return files[0]  # the name the assignment uses is the one to say is missing
