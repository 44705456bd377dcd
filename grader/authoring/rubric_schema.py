"""A JSON Schema of rubrics, for completion and first complaints in editors, made from the checks there are.

It accepts whatever `rubric lint` accepts, and less strictly: points that do not add up, or a parameter that is lacking,
only the reader of rubrics sees.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

from grader.authoring.meanings import meaning_of
from grader.plugins import Plugin
from grader.prose import item_phrased_apart
from grader.registry import REQUIRED, Definition, Parameter
from grader.rubric.catalogue import known_checks
from grader.rubric.forms import CheckForm, RubricForm

Schema = dict[str, Any]
_DRAFT = "http://json-schema.org/draft-07/schema#"  # the one that every editor knows
_SHARE = r"^\s*-?\d+(\.\d+)?(\s*/\s*\d+)?\s*$"  # 3, 2.5, 1/3
_PHRASED_APART = ("id", "says", "unless")  # in ideas.yaml, or by its key
_NUMBER = {"type": ["number", "string"]}
_RANGE = {
    "type": "object",
    "required": ["from", "to", "step"],
    "properties": dict.fromkeys(("from", "to", "step"), _NUMBER),
}
_PER_STUDENT = {
    "type": "object",
    "description": "Numbers of each student's own: a list to choose from, or from, to and step.",
    "additionalProperties": {"anyOf": [{"type": "array", "items": _NUMBER}, {**_RANGE, "additionalProperties": False}]},
}
_OWN_NUMBER = {"type": "string", "pattern": r"<<\w+>>"}  # one of these in place of a parameter


def rubric_schema(rubric: Path | None = None) -> Schema:
    """Of rubrics that use our checks and, if one is given, those that this rubric brings."""
    checks = known_checks(Plugin(rubric.parent) if rubric else None)
    kinds = {
        (name, one.name): TypeAdapter(one.annotation) for name in checks for one in checks[name].parameters.values()
    }
    asked: list[Any] = [(place, "validation", adapter) for place, adapter in kinds.items()]
    made, shared = TypeAdapter.json_schemas(
        [*asked, ("rubric", "validation", TypeAdapter(RubricForm))], schema_generator=_AsWritten
    )
    definitions = _tidy(shared["$defs"])
    parameters = {
        name: {
            one.name: _parameter(one, name, _tidy(made[(name, one.name), "validation"]))
            for one in its.parameters.values()
        }
        for name, its in checks.items()
    }
    definitions[RubricForm.__name__]["properties"]["per_student"] = _PER_STUDENT
    definitions[CheckForm.__name__] = _check(definitions[CheckForm.__name__], checks, parameters)
    for definition in definitions.values():
        if "with" in definition.get("properties", {}):
            definition["properties"]["with"] = _shared_by_checks(parameters)
    return {"$schema": _DRAFT, "title": "A rubric", **_tidy(made["rubric", "validation"]), "$defs": definitions}


def schema_text(rubric: Path | None) -> str:
    return json.dumps(rubric_schema(rubric), ensure_ascii=False, indent=1) + "\n"


class _AsWritten(GenerateJsonSchema):
    def function_before_schema(self, schema: Any) -> Any:
        """What is read by how it was written may be text or a number, and one value stands for a list of one."""
        inner = self.generate_inner(schema["schema"])
        match inner.get("type"):
            case "string" if "pattern" in inner:
                return {"anyOf": [inner, {"type": "number"}]}
            case "string":
                return {**inner, "type": ["string", "number"]}
            case "array":
                return {"anyOf": [inner, {"type": ["string", "number"]}]}
            case "object" if inner.get("additionalProperties") == {"type": "string"}:
                return {**inner, "additionalProperties": {"type": ["string", "number"]}}
        return inner


def _tidy(schema: Any) -> Any:
    """Without pydantic's titles; shares are told from other text."""
    if isinstance(schema, list):
        return [_tidy(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    tidy = {key: _tidy(value) for key, value in schema.items() if not (key == "title" and isinstance(value, str))}
    if tidy.get("format") == "fraction":
        return {"type": "string", "pattern": _SHARE}
    return tidy


def _parameter(parameter: Parameter, check: str, schema: Schema) -> Schema:
    if item := item_phrased_apart(parameter.annotation):
        schema = _named_with_labels(schema, item)
    need = "needed" if parameter.default is REQUIRED else f"default: {parameter.default_as_written}"
    said = "; ".join(filter(None, (meaning_of(parameter.name, check), parameter.kind, need)))
    told = {"description": said}
    if "$ref" in schema:
        return {"allOf": [schema], **told}
    return (
        {"anyOf": [schema, _OWN_NUMBER], **told} if schema.get("type") in ("number", "integer") else {**schema, **told}
    )


def _named_with_labels(items: Schema, item: type[BaseModel]) -> Schema:
    """A list of ideas, or a label for each by its name."""
    fields = _tidy(TypeAdapter(item).json_schema(schema_generator=_AsWritten)["properties"])
    own = {name: schema for name, schema in fields.items() if name not in _PHRASED_APART}
    about = {"type": "object", "required": ["label"], "properties": own, "additionalProperties": False}
    return {"anyOf": [items, {"type": "object", "additionalProperties": {"anyOf": [{"type": "string"}, about]}}]}


def _check(form: Schema, checks: Mapping[str, Definition], parameters: Mapping[str, Schema]) -> Schema:
    """A check by its name, then what that check takes."""
    names = sorted(checks)
    name = {"enum": names, "enumDescriptions": [checks[one].summary for one in names], "description": "Which check."}
    of_all = {**form["properties"], "check": name}
    cases = [
        {
            "if": {"properties": {"check": {"const": one}}, "required": ["check"]},
            "then": {
                "description": inspect.getdoc(checks[one].function),
                "properties": {**parameters[one], **dict.fromkeys(of_all, True)},
                "additionalProperties": False,
            },
        }
        for one in names
    ]
    return {"type": "object", "required": ["check"], "properties": of_all, "allOf": cases}


def _shared_by_checks(parameters: Mapping[str, Schema]) -> Schema:
    """Parameters by name, each in any of the forms that some check takes."""
    forms: dict[str, list[Schema]] = {}
    for own in parameters.values():
        for name, schema in own.items():
            form = {key: value for key, value in schema.items() if key != "description"}
            known = forms.setdefault(name, [])
            known += [form] if form not in known else []
    properties = {name: those[0] if len(those) == 1 else {"anyOf": those} for name, those in sorted(forms.items())}
    told = "Parameters that several checks of this problem share."
    return {"type": "object", "description": told, "properties": properties, "additionalProperties": False}
