"""Questions that are asked of many submissions."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any, Protocol

from numpy.typing import NDArray

FrameKey = tuple[str, str, bool]  # the probe, the file's place, and whether a check begins


class KeptQuestion(dict[str, Any]):
    """A request to a probe that is asked of many submissions. Nobody changes it, so a runner may keep what it sends."""

    def __init__(self, **request: Any) -> None:
        super().__init__(request)
        self.frames: dict[FrameKey, bytes] = {}


class KeptQuestions(tuple[KeptQuestion, ...]):
    """Several that are asked together. A runner may send them as one, and take all answers as one."""

    frames: dict[FrameKey, bytes]

    def __new__(cls, questions: Iterable[KeptQuestion]) -> KeptQuestions:
        made = super().__new__(cls, questions)
        made.frames = {}
        return made


class Layout(Protocol):
    """Which arrays came together, and in which order their numbers lie. The same object where it is the same."""

    @property
    def arrays(self) -> list[tuple[str, tuple[int, ...]]]:
        """The dtype and shape of each."""

    @property
    def shapes(self) -> list[tuple[int, ...]]: ...

    @property
    def order(self) -> list[int]: ...


class Together(Protocol):
    """Answers that came together, each one array."""

    @property
    def layout(self) -> Layout: ...

    @property
    def body(self) -> bytes:
        """Their contents, in the order of the layout."""

    def numbers(self) -> NDArray[Any] | None:
        """All their numbers in the order of the layout; None if some are not real."""


class Answers(Iterator[Any]):
    """What comes back for several questions, one by one or all at once."""

    @abstractmethod
    def together(self) -> Together | None:
        """All answers, if none was taken yet and each is one array. They can be taken one by one all the same."""
