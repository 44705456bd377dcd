"""What LaTeX prints in front of headings and items: counters, templates of lists, and how authors set them."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from grader.answers.labels import ROMANS

_NUMERALS = {"arabic": "1", "alph": "a", "Alph": "A", "roman": "i", "Roman": "I"}
_NUMERAL = re.compile(r"\\(arabic|alph|Alph|roman|Roman)\s*(?:\*|\{\s*enum[iv]+\s*\})")
_LABEL = re.compile(r"label\s*=\s*")
_START = re.compile(r"\bstart\s*=\s*(\d{1,3})")
_RESUMES = re.compile(r"\bresume\b")
_SET = re.compile(r"\\(?:re)?newcommand\*?\s*\{?\\labelenum(i{1,3}|iv)\}?\s*\{((?:[^{}]|\{[^{}]*\})*)\}")
_SET_LIST = re.compile(r"\\setlist\s*\[([^\]\n]*)\]\s*\{((?:[^{}\n]|\{[^{}\n]*\})*)\}")
# \\renewcommand{\\thequestion}{1.\\arabic{question}}: what is printed before a counter's own number.
_THE = re.compile(r"\\(?:re)?newcommand\*?\s*\{?\\the([a-z]+)\}?\s*\{\s*(\w[\w.]{0,7}\.)\s*\\arabic\{\1\}\s*\}")
_PLACE = re.compile("[1aAiI](?=[^1aAiI]*$)")  # of the numeral in a template: the last of them, as in 1.4.a
_DEFAULTS = ("1.", "(a)", "i.", "A.")
COUNTERS = {"enumi": 0, "enumii": 1, "enumiii": 2, "enumiv": 3}
# Each counts within the one before it. The exam class has its own names for what \setcounter takes.
CHAINS = (("section", "subsection", "subsubsection"), ("question", "part", "subpart", "subsubpart"))
_CALLED = {"partno": "part", "subpartno": "subpart", "subsubpartno": "subsubpart"}
_OWN = re.compile(r"\\newcounter\s*\{([A-Za-z]+)\}(?:\s*\[([A-Za-z]+)\])?")
_COUNTS = re.compile(
    r"\\(?P<does>step|refstep|set|addto)counter\s*\{\s*(?P<name>[A-Za-z]+)\s*\}(?:\s*\{\s*(?P<by>-?\d{1,3})\s*\})?"
    r"|\\(?P<numeral>arabic|alph|Alph|roman|Roman)\s*\{\s*(?P<of>[A-Za-z]+)\s*\}|\\the(?P<the>[A-Za-z]+)"
    r"|\\(?P<heading>(?:sub)*section)(?![*A-Za-z])"
)
EXAM_NUMERALS = {"question": "1", "part": "a", "subpart": "i", "subsubpart": "a"}


@dataclass
class ListAround:
    template: str  # how it prints its items, with 1, a or i for the numeral; "" for bullets
    count: int = 0

    @property
    def numeral(self) -> str:
        found = _PLACE.search(self.template)
        return found[0].lower() if found else ""


class Numbers:
    """The counters of a document."""

    def __init__(self, preamble: str = "") -> None:
        self._counts: Counter[str] = Counter()
        self._templates = {COUNTERS[f"enum{found[1]}"]: found[2] for found in _SET.finditer(preamble)}
        for found in _SET_LIST.finditer(preamble):
            self._set_lists(found[1], found[2])
        self.prefixes = {_CALLED.get(found[1], found[1]): found[2] for found in _THE.finditer(preamble)}
        self._last: dict[int, int] = {}  # what the last list of each depth counted to

    def step(self, name: str) -> int:
        """Count one on; what counts within it begins again."""
        self._counts[name] += 1
        for chain in CHAINS:
            if name in chain:
                for below in chain[chain.index(name) + 1 :]:
                    self._counts[below] = 0
        return self._counts[name]

    def restart(self, name: str) -> None:
        self._counts[name] = 0

    def set(self, name: str, value: int, around: list[ListAround], *, adds: bool) -> None:
        """\\setcounter and \\addtocounter; those of lists hold for the list of that depth that is open."""
        if name in COUNTERS:
            numbered = [one for one in around if one.template]
            if len(numbered) > COUNTERS[name]:
                one = numbered[COUNTERS[name]]
                one.count = max(0, one.count + value if adds else value)
            return
        name = _CALLED.get(name, name)
        self._counts[name] = max(0, self._counts[name] + value if adds else value)

    def open_list(self, option: str, around: list[ListAround]) -> ListAround:
        depth = sum(bool(one.template) for one in around[: len(_DEFAULTS)])
        opened = ListAround(self._template(option, min(depth, len(_DEFAULTS) - 1)))
        if start := _START.search(option):
            opened.count = max(0, int(start[1]) - 1)
        elif _RESUMES.search(option):
            opened.count = self._last.get(depth, 0)
        return opened

    def close_list(self, closed: ListAround, around: list[ListAround]) -> None:
        if closed.template:
            depth = sum(bool(one.template) for one in around)
            self._last[depth] = closed.count

    def _set_lists(self, which: str, option: str) -> None:
        levels = [int(level) - 1 for level in re.findall(r"\b[1-4]\b", which)]
        if "itemize" not in which and _LABEL.search(option):
            for level in levels or range(4):
                self._templates[level] = option

    def _template(self, option: str, depth: int) -> str:
        """`[label=(\\alph*)]`, `[(a)]` or, as LaTeX has it, 1. then (a) then i."""
        for written in (option, self._templates.get(depth, "")):
            if numeral := _NUMERAL.search(written):
                label = written[found.end() :] if (found := _LABEL.search(written)) else written
                label = re.split(r",(?![^{]*\})", label)[0]
                label = _NUMERAL.sub(_NUMERALS[numeral[1]], label, count=1)
                return re.sub(r"\\[A-Za-z]+|[{}*]", "", _NUMERAL.sub("", label)).strip() or _DEFAULTS[depth]
            if re.fullmatch(r"\W*[1aAiI]\W*", written):
                return written.strip()
        return _DEFAULTS[depth]


def printed(template: str, count: int) -> str:
    def numeral(found: re.Match[str]) -> str:
        kind = found[0]
        text = numeral_of(count, kind.lower())
        return text.upper() if kind.isupper() else text

    return _PLACE.sub(numeral, template, count=1)


def numeral_of(count: int, kind: str) -> str:
    """The count as a number, a letter or a roman numeral: `1`, `a` or `i`."""
    letter = chr(ord("a") + (count - 1) % 26)
    return {"1": str(count), "a": letter, "i": ROMANS[min(max(count, 1), len(ROMANS)) - 1]}[kind]


def with_own_counters(text: str, preamble: str) -> str:
    """The text with what counters of the author's own print: \\newcounter{q}, \\stepcounter{q}, \\alph{q}."""
    within = {found[1]: found[2] for found in _OWN.finditer(preamble + text)}
    if not within:
        return text
    counts: Counter[str] = Counter()

    def restart(name: str) -> None:
        for below in (own for own, above in within.items() if above == name and own != name):
            counts[below] = 0

    def shown(found: re.Match[str]) -> str:
        name = found["name"] or found["of"] or found["the"] or found["heading"]
        if found["heading"]:
            restart(name)
        if name not in within:
            return found[0]
        if not found["does"]:
            numeral = _NUMERALS[found["numeral"] or "arabic"]
            return printed(numeral, counts[name])
        by = int(found["by"] or 0)
        counts[name] = by if found["does"] == "set" else counts[name] + (by if found["does"] == "addto" else 1)
        if found["does"].endswith("step"):
            restart(name)
        return ""

    return _COUNTS.sub(shown, text)
