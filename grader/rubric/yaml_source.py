"""YAML that remembers its lines, and refuses what makes YAML surprising.

PyYAML keeps the last of two equal keys, turns `id: 1.10` into 1.1, `2024-01-01` into a date, expands aliases, and
recurses as deep as it is told to. Here equal keys and aliases are refused, numbers keep their spelling, what is neither
a number, true, false nor null is text, and depth is bounded before anything is built.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import yaml

from grader.rubric.yaml_errors import complaint

Path = tuple[str | int, ...]
_MAX_CHARACTERS = 2**18  # ten times the longest rubric
_MAX_DEPTH = 20
_MAX_DIGITS = 300  # of a number; longer ones are text: str() refuses to write them, and nobody does
_KEPT_TYPES = {f"tag:yaml.org,2002:{name}" for name in ("int", "float", "bool", "null")}


class WrittenFloat(float):
    """A number as it was written: 1.10 is not 1.1 where it is an id, and 0.1 is one tenth where it is points."""

    text: str


class WrittenInt(int):
    """A whole number that was written in an unusual way: 00123 is 83 to YAML, and a student's number to people."""

    text: str


def as_written(value: Any) -> Any:
    """A number as the text it was written as; anything else as it is."""
    if isinstance(value, WrittenFloat | WrittenInt):
        return value.text
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


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
        _refuse_what_unfolds(text)
        node = yaml.compose(text, Loader=yaml.CSafeLoader)
        data = None if node is None else _build(node, (), lines)
    except (yaml.YAMLError, UnicodeEncodeError) as error:
        line, cause = complaint(error)
        raise YamlError(line, f"not YAML: {cause}") from None
    return Source(data, lines)


def _refuse_what_unfolds(text: str) -> None:
    """Aliases and deep nesting, seen event by event, before anything recurses."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        if isinstance(event, yaml.AliasEvent):
            raise YamlError(_line(event), f"write the value out instead of the alias *{event.anchor}")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > _MAX_DEPTH:
            raise YamlError(_line(event), f"nested more than {_MAX_DEPTH} deep")


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
    return _scalar(node)


def _scalar(node: yaml.Node) -> Any:
    if node.tag not in _KEPT_TYPES or len(node.value) > _MAX_DIGITS:
        return node.value
    try:
        value = yaml.constructor.SafeConstructor().construct_object(node)
    except (ValueError, LookupError):  # `!!bool maybe`, `!!int ''`
        return node.value
    if not isinstance(value, float) and (type(value) is not int or str(value) == node.value):
        return value
    number = WrittenFloat(value) if isinstance(value, float) else WrittenInt(value)
    number.text = node.value
    return number
