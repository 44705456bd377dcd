"""A student as a list of them has one."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Person:
    student: str
    name: str = ""


def folded(student: str) -> str:
    """Ids that differ only in case are one: platforms and people do not agree on it."""
    return student.strip().casefold()
