"""YAML that remembers its lines, and refuses what makes YAML surprising.

PyYAML keeps the last of two equal keys, turns `id: 1.10` into 1.1, and expands aliases; here the first two keep their
line and their spelling, and aliases are refused, so a small file cannot become a large one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import yaml

Path = tuple[str | int, ...]
_MAX_CHARACTERS = 2**20


class WrittenFloat(float):
    """A number as it was written: 1.10 is not 1.1 where it is an id, and 0.1 is one tenth where it is points."""

    text: str

    def __new__(cls, text: str, value: float) -> WrittenFloat:
        number = super().__new__(cls, value)
        number.text = text
        return number


class YamlError(Exception):
    def __init__(self, line: int, cause: str) -> None:
        super().__init__(cause)
        self.line = line
        self.cause = cause


@dataclass(frozen=True)
class Source:
    data: Any
    lines: dict[Path, int]

    def line(self, path: Path) -> int:
        """The line where this place, or the nearest place around it, is written."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)


def read(text: str) -> Source:
    """The data and the line of every part of it."""
    if len(text) > _MAX_CHARACTERS:
        raise YamlError(1, f"the file is longer than {_MAX_CHARACTERS} characters")
    lines: dict[Path, int] = {}
    try:
        _refuse_aliases(text)
        node = yaml.compose(text, Loader=yaml.CSafeLoader if hasattr(yaml, "CSafeLoader") else yaml.SafeLoader)
        data = None if node is None else _build(node, (), lines)
    except yaml.MarkedYAMLError as error:
        mark: Any = error.problem_mark or error.context_mark
        raise YamlError(mark.line + 1 if mark else 1, f"not YAML: {error.problem or error.context}") from None
    except yaml.YAMLError as error:
        raise YamlError(1, f"not YAML: {str(error).splitlines()[0]}") from None
    except RecursionError:
        raise YamlError(1, "not YAML anyone would write: nested too deeply") from None
    return Source(data, lines)


def _refuse_aliases(text: str) -> None:
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        if isinstance(event, yaml.AliasEvent):
            raise YamlError(_line(event), f"write the value out instead of the alias *{event.anchor}")


def _line(part: Any) -> int:
    return int(part.start_mark.line) + 1


def _build(node: yaml.Node, path: Path, lines: dict[Path, int]) -> Any:
    lines.setdefault(path, _line(node))
    if isinstance(node, yaml.MappingNode):
        built: dict[Any, Any] = {}
        for key_node, value_node in node.value:
            key = key_node.value if isinstance(key_node, yaml.ScalarNode) else None
            if key is None:
                raise YamlError(_line(key_node), "a key must be plain text")
            if key in built:
                raise YamlError(_line(key_node), f"'{key}' is given twice")
            lines[(*path, key)] = _line(key_node)
            built[key] = _build(value_node, (*path, key), lines)
        return built
    if isinstance(node, yaml.SequenceNode):
        return [_build(item, (*path, index), lines) for index, item in enumerate(node.value)]
    value = _SCALARS.construct_object(node)
    return WrittenFloat(node.value, value) if isinstance(value, float) else value


_SCALARS = yaml.constructor.SafeConstructor()
