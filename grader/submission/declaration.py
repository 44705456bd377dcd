"""submission.yaml: what students say about it. What cannot be understood is noted, and the rest still counts."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, StrictInt, StrictStr, ValidationError

from grader.quoting import quote
from grader.rubric.yaml_source import YamlError, as_written, read
from grader.submission.copying import beginning_of

DECLARATION = "submission.yaml"
MAX_DECLARATION_BYTES = 16_384

_DISTINCT = AfterValidator(lambda items: tuple(dict.fromkeys(filter(None, items))))
_LISTED = BeforeValidator(lambda pages: pages if isinstance(pages, list) else [pages])
_Id = Annotated[StrictStr, BeforeValidator(as_written), AfterValidator(lambda text: quote(text.strip(), 80))]
_Path = Annotated[StrictStr, AfterValidator(lambda path: PurePosixPath(path.replace("\\", "/")).as_posix())]
_Part = Annotated[StrictStr, AfterValidator(lambda part: part.strip().lower())]
_Page = Annotated[StrictInt, Field(ge=1, le=10_000)]  # no PDF has more


class Declaration(BaseModel, extra="forbid"):
    rubric: StrictStr = ""
    student: _Id = ""
    students: Annotated[tuple[_Id, ...], Field(min_length=1, max_length=30), _DISTINCT] = ()  # no group is larger
    files: dict[str, _Path] = {}
    pages: dict[_Part, Annotated[tuple[_Page, ...], Field(min_length=1), _LISTED, _DISTINCT]] = {}  # of a PDF


def declaration_of(path: Path) -> dict[str, Any]:
    """What submission.yaml says, read without copying the submission. Empty if it cannot be read: opening says why."""
    try:
        content = beginning_of(path, DECLARATION, MAX_DECLARATION_BYTES + 1)
    except Exception:  # archives that are none, files that are missing or locked
        return {}
    return parse_declaration(content)[0].model_dump(exclude_unset=True)


def parse_declaration(content: bytes) -> tuple[Declaration, list[str]]:
    """What it says, and complaints about what of it was ignored."""
    try:
        if len(content) > MAX_DECLARATION_BYTES:
            raise YamlError(1, f"longer than {MAX_DECLARATION_BYTES} bytes")
        data = read(content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")).data or {}
    except UnicodeDecodeError:
        return Declaration(), ["submission.yaml is not UTF-8 text; it was ignored"]
    except YamlError as error:
        return Declaration(), [f"submission.yaml:{error.line}: {quote(error.cause)}; it was ignored"]
    if not isinstance(data, dict):
        keys = "'rubric:', 'student:' or 'students:', 'files:' or 'pages:'"
        return Declaration(), [f"submission.yaml should hold {keys}; it was ignored"]
    complaints = {}
    try:
        Declaration.model_validate(data)
    except ValidationError as error:
        for fault in error.errors():
            key, unknown = fault["loc"][0], fault["type"] == "extra_forbidden"
            why = "has no meaning there" if unknown else "is not what it should be"
            complaints[key] = f"submission.yaml: '{quote(str(key), 40)}' {why}; it was ignored"
    understood = {key: value for key, value in data.items() if key not in complaints}
    return Declaration.model_validate(understood), list(complaints.values())
