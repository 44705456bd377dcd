"""What we write as JSON, held to its schema. Whether a schema is one itself is asked once: that takes far longer than
to hold a report to it."""

from __future__ import annotations

import json

from jsonschema import Draft202012Validator

from tests.conftest import REPOSITORY


def _validator(schema: dict[str, object]) -> Draft202012Validator:
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


_SCHEMA = json.loads((REPOSITORY / "grader" / "report" / "schema.json").read_text())
REPORT = _validator(_SCHEMA)
JUDGED = _validator({**_SCHEMA["$defs"]["problem"]["properties"]["judged"], "$defs": _SCHEMA["$defs"]})
GRADESCOPE = _validator(json.loads((REPOSITORY / "tests/report/export_schemas/gradescope.json").read_text()))
