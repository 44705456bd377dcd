"""JSON reports made on the spot, and a page as a parser sees it."""

from __future__ import annotations

from collections.abc import Iterable
from html.parser import HTMLParser
from typing import Any

from tests.schemas import REPORT

Data = dict[str, Any]
VOID = {"meta", "br", "hr", "img", "input", "link", "circle", "rect", "path"}


def checked(name: str = "rows_sum_to_one", status: str = "failed", **more: Any) -> Data:
    check = {"id": name, "asks": "Each row sums to one.", "status": status, "points": 0, "max_points": 1}
    return (
        check | {"code": status, "message": "off by 0.2", "evidence": {}, "visibility": "public", "seconds": 0.1} | more
    )


def problem(part: str, *checks: Data, status: str = "failed", points: float = 0, max_points: float = 1) -> Data:
    some = {"id": part, "title": f"Title of {part}", "status": status, "points": points, "max_points": max_points}
    return some | {"checks": list(checks)}


def report(name: str, *problems: Data) -> Data:
    data = {
        "schema": 1,
        "submission": name,
        "rubric": "tiny",
        "title": "A tiny rubric",
        "rubric_sha256": "0" * 64,
        "grader_version": "1",
        "seed": 0,
        "points": sum(problem["points"] for problem in problems),
        "max_points": sum(problem["max_points"] for problem in problems),
        "provisional": any(problem["status"] in ("review", "ungraded") for problem in problems),
        "seconds": 1.5,
        "isolation": {"layers": [], "missing": []},
        "notes": [],
        "problems": list(problems),
    }
    REPORT.validate(data)
    return data


class Page(HTMLParser):
    """Its elements in order; complains when they do not nest."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert not self._open, f"never closed: {self._open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len({name for name, _ in attrs}) == len(attrs), f"an attribute twice: {attrs}"
        self.elements.append((tag, dict(attrs)))
        if tag in ("th", "td", "dt", "dd"):
            self.words.append(" ")  # as they stand apart on the page
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self._open and "script" not in self._open:
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self.words).split())

    def every(self, *tags: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.elements if tag in tags]

    def values(self, attribute: str) -> Iterable[str]:
        return [value for _, attributes in self.elements if (value := attributes.get(attribute)) is not None]
