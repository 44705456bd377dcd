"""rubrics/NAME/ideas.yaml → the phrasings of the ideas and wrong claims that rubric.yaml names with a label.

    1.a:                                 a part
      ideas:                             a parameter of its checks
        grows:                           an idea, as the rubric calls it
          says: ['"x → ∞"', x grow]
          unless: [bounded]
      wrong:
        falls: [x fall|shrink]           a list alone is what it says

A rubric does not load while the file cannot be read, lacks what the rubric names, or has what no check names; each
fault has its line. Two checks of a part that name the same idea share its phrasings.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from grader.prose import Phrasing, item_phrased_apart
from grader.registry import REQUIRED, Parameter
from grader.rubric.hints import did_you_mean, misfit
from grader.rubric.locating import IDEAS
from grader.rubric.yaml_source import Path as Place
from grader.rubric.yaml_source import Source, YamlError, read

_LAYOUT = "a part holds 'ideas' and 'wrong', and each of these holds names with their phrasings"


class _Phrasings(BaseModel):
    model_config = ConfigDict(extra="forbid")
    says: list[Phrasing] = Field(min_length=1)
    unless: list[Phrasing] = []


_KEYS = tuple(_Phrasings.model_fields)
_UNREADABLE = {"says": ["unreadable"]}  # stands for what cannot be read, so that it is reported once
_Name = tuple[str, str, str]  # part, parameter, idea
Fault = tuple[Place, str]  # where in the value that the rubric gives, and what is wrong there


class IdeaFile:
    """The file beside one rubric, and what of it that rubric has named so far."""

    def __init__(self, folder: Path, shown: Path) -> None:
        self._path = folder / IDEAS
        self._shown = str(shown / IDEAS)
        self._problems: list[tuple[int, str]] = []
        self._named: dict[str, dict[str, set[str]]] = {}  # by part and parameter
        self._unsure: set[str] = set()  # parts
        self._told: set[_Name] = set()  # what is named and not there
        self._lacking = False  # the whole file: reported once, not for everything that should be in it
        self.content = b""
        self._source = self._read()
        self._entries: dict[_Name, dict[str, Any]] = {}
        for part, groups in self._mapping(self._source.data, ()).items():
            for group, entries in self._mapping(groups, (part,)).items():
                for name, written in self._mapping(entries, (part, group)).items():
                    self._entries[part, group, name] = self._phrasings(written, (part, group, name))

    def completed(self, parameter: Parameter, value: Any, part: str) -> tuple[Any, list[Fault]]:
        """A parameter's value with the phrasings of what it names. A list has its phrasings in itself."""
        model = item_phrased_apart(parameter.annotation)
        if model is None or not isinstance(value, dict):
            return value, []
        self._named.setdefault(part, {}).setdefault(parameter.name, set()).update(value)
        known = [name for name in model.model_fields if name not in ("id", *_KEYS)]
        items: list[dict[str, Any]] = []
        faults: list[Fault] = []
        for name, written in value.items():
            about = written if isinstance(written, dict) else {"label": written}
            faults += [((name, key), self._has_no_meaning(key, known)) for key in about if key not in known]
            items.append({"id": name, **{key: about[key] for key in known if key in about}})
            faults += self._denies_nothing(part, name, about)
            if (entry := self._entries.get((part, parameter.name, name))) is None:
                faults += self._lacks(part, parameter.name, name)
            items[-1] |= entry or _UNREADABLE
            try:
                Parameter(f"{parameter.name}.{name}", model, REQUIRED).read(items[-1], {})
            except ValueError as error:
                faults.append(((name,), str(error)))
        return items, faults

    def _denies_nothing(self, part: str, name: str, about: dict[str, Any]) -> list[Fault]:
        """A claim may stand against ideas of its part only."""
        ideas, against = self._named[part].get("ideas", set()), about.get("against", [])
        unknown = [idea for idea in against if idea not in ideas] if isinstance(against, list) else []
        told = "'against' names '{}', which is no idea of this part{}"
        return [((name, "against"), told.format(idea, did_you_mean(str(idea), ideas))) for idea in unknown]

    def pass_over(self, part: str) -> None:
        """Complain about nothing in this part: a check that does not exist may be the one that names it."""
        self._unsure.add(part)

    def refuse_unnamed(self) -> None:
        """Complain about what no check names. Call it when the whole rubric has been read."""
        faults: dict[Place, str] = {}
        for part, group, name in self._entries:
            groups = self._named.get(part, {})
            if part in self._unsure:
                continue
            if not groups:
                faults[part,] = f"no check of '{part}' names what stands here{did_you_mean(part, self._named)}"
            elif group not in groups:
                faults[part, group] = f"no check of {part} names what stands in '{group}'{did_you_mean(group, groups)}"
            elif name not in groups[group]:
                cause = f"no check of {part} names '{name}' among its '{group}'"
                faults[part, group, name] = f"{cause}{did_you_mean(name, groups[group])}"
        self._problems += [(self._source.line(place), text) for place, text in faults.items()]

    def complaints(self) -> list[str]:
        return [f"{self._shown}:{line}: {text}" for line, text in sorted(self._problems)]

    def _read(self) -> Source:
        if not self._path.is_file():
            return Source({}, {})
        try:
            self.content = self._path.read_bytes()
            return read(self.content.decode("utf-8"))
        except OSError as error:
            self._problems.append((1, error.strerror or str(error)))
        except UnicodeDecodeError:
            self._problems.append((1, "not a UTF-8 text file"))
        except YamlError as error:
            self._problems.append((error.line, error.cause))
        self._lacking = True
        return Source({}, {})

    def _mapping(self, written: Any, place: Place) -> dict[str, Any]:
        if isinstance(written, dict):
            return written
        if place or written is not None:
            self._problems.append((self._source.line(place), _LAYOUT))
        return {}

    def _phrasings(self, written: Any, place: Place) -> dict[str, Any]:
        whole = written if isinstance(written, dict) else {"says": written}
        try:
            return _Phrasings.model_validate(whole, strict=True).model_dump()
        except ValidationError as error:
            for one in error.errors():
                inside = one["loc"] if whole is written else one["loc"][1:]
                self._problems.append((self._source.line((*place, *inside)), misfit(one, _KEYS)))
        return _UNREADABLE

    def _has_no_meaning(self, key: str, known: list[str]) -> str:
        if key in _KEYS:
            return f"'{key}' belongs in {self._shown}; or write a list, each with its 'id', 'label' and 'says'"
        return f"'{key}' has no meaning here{did_you_mean(key, known)}"

    def _lacks(self, part: str, group: str, name: str) -> list[Fault]:
        if self._lacking or (part, group, name) in self._told:
            return []
        self._told.add((part, group, name))
        if not self._path.is_file():
            self._lacking = True
            return [((name,), f"the phrasings of '{name}' should stand in {self._shown}, and there is no such file")]
        there = [other for at, kind, other in self._entries if (at, kind) == (part, group)]
        return [((name,), f"{self._shown} has no phrasings of '{name}' for {part}{did_you_mean(name, there)}")]
