"""The body of a LaTeX file, line for line: no preamble, no comments, and the author's own short names spelled out."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice

from grader.answers.labels import read_label
from grader.answers.latex_numbering import with_own_counters

_COMMENT = re.compile(r"(?<!\\)((?:\\\\)*)%.*")
_DEFINITION = re.compile(
    r"\\(?:(?:re)?newcommand|providecommand|DeclareRobustCommand|(?P<operator>DeclareMathOperator))\*?\s*\{?\\"
    r"(?P<name>[A-Za-z]+)\}?\s*(?:\[(?P<count>\d)\])?\s*(?P<default>\[[^\]\n]{0,80}\])?\s*(?=\{)"
    r"|\\def\s*\\(?P<short>[A-Za-z]+)(?P<marks>(?:\#\d)*)\s*(?=\{)"
    # xparse: \NewDocumentCommand{\ask}{O{Part} m m}{…}
    r"|\\(?:New|Renew|Provide|Declare)DocumentCommand\s*\{?\\(?P<long>[A-Za-z]+)\}?\s*"
    r"\{\s*(?P<option>o|O\s*\{(?P<given>[^{}\n]{0,80})\})?(?P<taken>(?:\s*\+?m)*)\s*\}\s*(?=\{)"
)
_ENVIRONMENT = re.compile(
    r"\\(?:re)?newenvironment\*?\s*\{(?P<name>[A-Za-z]+)\}\s*(?:\[(?P<count>\d)\])?\s*"
    r"(?P<default>\[[^\]\n]{0,80}\])?\s*(?=\{)"
)
_COMMAND = re.compile(r"\\([A-Za-z]+)")
_ENDS_IN_A_COMMAND = re.compile(r"\\[A-Za-z]+\Z")
_ARGUMENT = re.compile(r"#(\d)")
_BRACE = re.compile(r"[ \t]*\n?[ \t]*(?=\{)")
_ONE_TOKEN = re.compile(r"\s*([A-Za-z0-9]|\\[A-Za-z]+)")  # \reals dm: an argument without braces is one token
# What a course calls the command or the environment that students write their answers into.
ANSWER_NAME = re.compile(
    r"(?:if|my|our|student|short|the|s)?(?:ans(?:wer)?s?|sol(?:ution)?s?|soln|solutionor\w+|response|reply)(?:box|text|part)?",
    re.IGNORECASE,
)
_SAYS_ANSWER = re.compile(r"\\if\w*(?:ans|sol)|\b(?:Answer|Solution)\b|\\begin\{(?:solution|answer)")
_MAX_DEFINITIONS = 200
_MAX_GROUP = 2_000  # characters: a title or argument that is longer was not closed
_LONGEST_LABEL = 40  # characters, with its title
_MAX_ROUNDS = 5  # a name may stand for other names
_MAX_GROWTH = 2**17  # characters that spelling out may add: names that double each other grow without end


@dataclass(frozen=True)
class Body:
    text: str
    answers: frozenset[str]  # commands whose argument is an answer
    preamble: str


@dataclass(frozen=True)
class _Name:
    meaning: str
    count: int  # of its arguments
    default: str | None = None  # of the first, where that may be left out


def body(text: str) -> Body:
    text = _environments_as_commands("\n".join(_COMMENT.sub(r"\1", line) for line in text.split("\n")))
    names = _definitions(text)
    preamble = ""
    begin = text.find("\\begin{document}")
    if begin >= 0:
        begin += len("\\begin{document}")
        end = text.find("\\end{document}", begin)
        preamble = text[:begin]
        text = "\n" * text.count("\n", 0, begin) + text[begin : end if end >= 0 else None]
    answers = frozenset(
        name
        for name, one in names.items()
        if one.count == 1
        and (ANSWER_NAME.fullmatch(name) or _SAYS_ANSWER.search(one.meaning))
        and not _takes_labels(name, text)
    )
    spelled = {name: one for name, one in names.items() if name not in answers}
    text = _spelled_out(_without_definitions(text), spelled)
    return Body(with_own_counters(text, preamble), answers, preamble)


def _takes_labels(name: str, text: str) -> bool:
    """Whether a command that is called as if it held answers is given the labels of parts: `\\ans{1.1 (a)} We …`."""
    uses = islice(re.finditer(rf"\\{name}\s*(?=\{{)", text), _MAX_DEFINITIONS)
    given = [text[found.end() + 1 : group_end(text, found.end()) - 1].strip() for found in uses]
    labels = [label for one in given if len(one) < _LONGEST_LABEL and (label := read_label(one, heading=True))]
    return 2 * len(labels) > len(given)


def _environments_as_commands(text: str) -> str:
    """An environment of the author's own as two commands: what stands at its beginning, and at its end."""
    own: set[str] = set()
    kept, at = list[str](), 0
    for found in islice(_ENVIRONMENT.finditer(text), _MAX_DEFINITIONS):
        name = found["name"]
        middle = group_end(text, found.end())
        brace = _BRACE.match(text, middle)
        if found.start() < at or brace is None or ANSWER_NAME.fullmatch(name):
            continue
        end = group_end(text, brace.end())
        count = f"[{found['count']}]" if found["count"] else ""
        opens = f"\\newcommand{{\\opens{name}}}{count}{found['default'] or ''}{text[found.end() : middle]}"
        kept += [text[at : found.start()], opens, f"\\newcommand{{\\closes{name}}}{text[middle:end]}"]
        own.add(name)
        at = end
    text = "".join([*kept, text[at:]])
    for name in sorted(own):
        text = text.replace(f"\\begin{{{name}}}", f"\\opens{name}").replace(f"\\end{{{name}}}", f"\\closes{name} ")
    return text


def group_end(text: str, position: int, most: int = _MAX_GROUP) -> int:
    """Where the group that opens here closes, just after its brace; the end of the line if it never does."""
    depth = 0
    for brace in re.compile(r"\\.|[{}]", re.DOTALL).finditer(text, position, position + most):
        depth += (brace[0] == "{") - (brace[0] == "}")
        if depth == 0 and brace[0] == "}":
            return brace.end()
    newline = text.find("\n", position)
    return newline if newline >= 0 else len(text)


def _definitions(text: str) -> dict[str, _Name]:
    names: dict[str, _Name] = {}
    for found in islice(_DEFINITION.finditer(text), _MAX_DEFINITIONS):
        meaning = text[found.end() + 1 : group_end(text, found.end()) - 1]
        if len(meaning) >= 500:
            continue
        written = " ".join(meaning.split())
        name, count, default = _signature(found)
        names[name] = _Name(f"\\operatorname{{{written}}}" if found["operator"] else written, count, default)
    return names


def _signature(found: re.Match[str]) -> tuple[str, int, str | None]:
    """A command's name, how many arguments it has, and what the first is where it is left out."""
    if found["long"]:
        default = (found["given"] or "") if found["option"] else None
        return found["long"], found["taken"].count("m") + (default is not None), default
    if found["short"]:
        return found["short"], len(found["marks"]) // 2, None
    return found["name"], int(found["count"] or 0), found["default"][1:-1] if found["default"] else None


def _without_definitions(text: str) -> str:
    kept, at = [], 0
    for found in islice(_DEFINITION.finditer(text), _MAX_DEFINITIONS):
        if found.start() >= at:
            end = group_end(text, found.end())
            kept += [text[at : found.start()], "\n" * text.count("\n", found.start(), end)]
            at = end
    return "".join([*kept, text[at:]])


def _spelled_out(text: str, names: dict[str, _Name]) -> str:
    if not names:
        return text
    limit = len(text) + _MAX_GROWTH
    for _ in range(_MAX_ROUNDS):
        longer = _once(text, names, limit)
        if longer == text or len(longer) > limit:
            break
        text = longer
    return text


def _once(text: str, names: dict[str, _Name], limit: int) -> str:
    kept: list[str] = []
    at = size = 0
    for command in _COMMAND.finditer(text):
        if command.start() < at or command[1] not in names or _is_escaped(text, command.start()):
            continue
        name = names[command[1]]
        arguments, end = _arguments(text, command.end(), name)
        if arguments is None:
            continue
        spelled = _filled(name.meaning, arguments)
        if spelled[:1].isalpha() and _ENDS_IN_A_COMMAND.search(text, at, command.start()):
            spelled = f" {spelled}"  # of \\approx\\va, which would be one command
        if _ENDS_IN_A_COMMAND.search(spelled) and text[end : end + 1].isalpha():
            spelled += " "  # \\smallskip and "No" are no \\smallskipNo
        # Every line keeps its number.
        breaks = text.count("\n", command.start(), end) - spelled.count("\n")
        kept += [text[at : command.start()], spelled, "\n" * breaks]
        size += command.start() - at + len(spelled)
        at = end
        if size > limit:
            break
    return "".join([*kept, text[at:]])


def _is_escaped(text: str, position: int) -> bool:
    """`\\\\ka` is a line break, and then letters."""
    return text[position - 1 : position] == "\\" and text[position - 2 : position - 1] != "\\"


def _filled(meaning: str, arguments: list[str]) -> str:
    used: set[int] = set()

    def argument(found: re.Match[str]) -> str:
        number = int(found[1])
        if not 1 <= number <= len(arguments):
            return found[0]
        again = number in used
        used.add(number)
        return " ".join(arguments[number - 1].split("\n")) if again else arguments[number - 1]

    return _ARGUMENT.sub(argument, meaning)


def _arguments(text: str, at: int, name: _Name) -> tuple[list[str] | None, int]:
    """What stands in braces after a command; nothing if something else stands there."""
    found: list[str] = []
    if name.default is not None:
        option = re.compile(r"[ \t]*\[([^\]\n]{0,200})\]").match(text, at)
        found.append(option[1] if option else name.default)
        at = option.end() if option else at
    while len(found) < name.count:
        brace = _BRACE.match(text, at)
        if brace is None:
            token = _ONE_TOKEN.match(text, at)
            if token is None:
                return None, at
            found.append(token[1])
            at = token.end()
            continue
        end = group_end(text, brace.end())
        if text[end - 1 : end] != "}":
            return None, at
        found.append(text[brace.end() + 1 : end - 1])
        at = end
    return found, at
