"""What no reader sees is no answer: comments, struck-out words, hidden or white text.

It goes before anything is judged, so that a wrong formula cannot be helped by a right one that nobody was shown. Every
line keeps its number.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from grader.answers.delimiters import is_money
from grader.answers.latex_source import group_end

_WHITE = (
    r"(?:\{\s*(?:white|transparent)\s*\}|\[HTML\]\{[Ff]{6}\}|"
    r"\[(?:rgb|gray)\]\{\s*1(?:\.0*)?(?:\s*,\s*1(?:\.0*)?){0,2}\s*\})"
)
_HIDING_COMMANDS = rf"""
    (?P<region>\\iffalse\b.*?(?:\\fi\b|\Z) | \\begin\{{comment\}}.*?(?:\\end\{{comment\}}|\Z))
  | (?P<argument>\\(?:sout|st|xout|[bx]?cancel|textcolor\s*{_WHITE})\s*(?=\{{))
  | (?P<blank>\\[hv]?phantom\s*(?=\{{))
  | (?P<rest>\\color\s*{_WHITE})
"""
_IN_LATEX = re.compile(rf"(?P<comment>(?<!\\)%[^\n]*) | {_HIDING_COMMANDS}", re.VERBOSE | re.DOTALL)
_IN_FORMULAS = re.compile(_HIDING_COMMANDS, re.VERBOSE | re.DOTALL)
_MARKDOWN = re.compile(
    r"""
    (?P<fence>^[ ]{0,3}(?P<mark>`{3,}+|~{3,}+)[^\n]*\n.*?(?:^[ ]{0,3}(?P=mark)[`~]*[ \t]*$|\Z))
  | (?P<unseen><!--(?P<remark>)
      | ^[ ]{0,3}\[[^\]\n]+\]:[ \t]*(?:\#\S*|<[^<>\n]*>|//\S*|https?:\S*|\.?/\S*)
        (?:\s+(?:\([^()]*\)|"[^"]*"|'[^']*')[ \t]*$|[^\n]*)
      | ~~(?=[^\s~])(?:[^~\n]|~(?!~)|\n(?!\s*\n))*?(?<=\S)~~
      | !\[[^\]\n]{0,400}\]\([^)\n]{0,400}\))
  | (?P<code>(?<!`)(?:`(?:[^`\n]|\n(?!\s*\n))+`|``(?:[^`\n]|`(?!`)|\n(?!\s*\n))+``)(?!`))
  | (?P<formula>\$\$.*?\$\$|\$(?P<content>[^$\n]+)\$)
  | (?P<tag><(?P<close>/?)(?P<name>[A-Za-z][A-Za-z0-9]*)
      (?P<attributes>(?:\s+[\w:-]+(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'<>]+))?)*)\s*/?>)
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
QUESTION = "<!--?"  # opens the question in a sheet as it was handed out: unseen as well, and no note is needed
_STRUCK = ("s", "del", "strike", "template", "script", "style")
_HIDING = re.compile(
    r"\bhidden\b|display\s*:\s*none|visibility\s*:\s*hidden|opacity\s*:\s*0(?![.\d]*[1-9])|font-size\s*:\s*0|"
    r"color\s*[:=]\s*[\"']?\s*(?:white|transparent|\#fff(?:fff)?\b|rgba?\(\s*255\s*,\s*255\s*,\s*255)",
    re.IGNORECASE,
)
# Tags without attributes that are taken for tags; `a <x> b` may be mathematics.
_PLAIN_TAGS = re.compile(
    "a|b|i|u|p|em|strong|span|div|font|small|big|br|hr|center|code|tt|kbd|var|li|ul|ol|td|tr|th|table|mark|ins"
)
_MAX_NESTED = 20  # elements of one kind within each other: so that many that are never closed cost no more than one
_SCRIPTS = {"sup": "^{", "sub": "_{"}


@dataclass
class Seen:
    """A text as its reader sees it, and the lines where something was left out."""

    text: str
    left_out: list[int] = field(default_factory=list)

    @property
    def notes(self) -> list[str]:
        """One line for all of them: the first place, and how many more there are."""
        if not self.left_out:
            return []
        more = f" (and in {len(self.left_out) - 1} more lines)" if len(self.left_out) > 1 else ""
        return [f"{self.left_out[0]}: struck-out or hidden text was left out{more}; only what readers see counts"]


def seen(text: str, *, latex: bool = False) -> Seen:
    """The text without what is hidden or struck out; in Markdown also without tags, <sup> and <sub> as ^ and _."""
    result = Seen(text)
    _rewrite(result, _IN_LATEX if latex else _IN_FORMULAS, lambda found: _latex(found, result.text))
    if not latex:
        _rewrite(result, _MARKDOWN, lambda found: _markdown(found, result.text))
    result.left_out = sorted(set(result.left_out))
    return result


Change = tuple[int, str | None]  # where it ends, and what stands there instead: None for nothing, and a note


def _rewrite(result: Seen, pattern: re.Pattern[str], change: Callable[[re.Match[str]], Change]) -> None:
    text, at, line = result.text, 0, 1
    kept: list[str] = []
    while found := pattern.search(text, at):
        end, instead = change(found)
        line += text.count("\n", at, found.start())
        breaks = text.count("\n", found.start(), end)
        if instead is None:
            result.left_out.append(line)
            instead = " " + "\n" * breaks
        line += breaks
        kept += [text[at : found.start()], instead]
        at = end
    result.text = "".join([*kept, text[at:]])


def _latex(found: re.Match[str], text: str) -> Change:
    match found.lastgroup:
        case "comment":  # what is hidden in one hides nothing; the reader of LaTeX drops it
            return found.end(), found[0]
        case "argument":
            return group_end(text, found.end()), None
        case "blank":  # it makes room, as in alignments: no note is needed
            return group_end(text, found.end()), " "
        case "rest":  # to the end of the group it stands in
            return _end_of_group(text, found.end()), None
    return found.end(), None


def _end_of_group(text: str, at: int) -> int:
    depth = 0
    for brace in re.compile(r"\\.|[{}]|\n[ \t]*\n", re.DOTALL).finditer(text, at):
        depth += (brace[0] == "{") - (brace[0] == "}")
        if depth < 0 or brace[0].startswith("\n"):
            return brace.start()
    return len(text)


def _markdown(found: re.Match[str], text: str) -> Change:
    match found.lastgroup:
        case "unseen" if found["remark"] is not None:
            return _end_of_remark(found, text)
        case "unseen":
            return found.end(), None
        case "tag":
            return _tag(found, text)
        case "formula" if found["content"] and is_money(found["content"], text[found.end() : found.end() + 1]):
            return found.start() + 1, "$"
    return found.end(), found[0]


def _end_of_remark(found: re.Match[str], text: str) -> Change:
    """<!-- … -->. One that is never closed hides the rest if it begins a line, and is text if it does not."""
    end = text.find("-->", found.end())
    if end >= 0:
        asked = text.startswith(QUESTION, found.start())
        return end + len("-->"), " " + "\n" * text.count("\n", found.start(), end) if asked else None
    begins_line = not text[text.rfind("\n", 0, found.start()) + 1 : found.start()].strip()
    return (len(text), None) if begins_line else (found.end(), found[0])


def _tag(found: re.Match[str], text: str) -> Change:
    name = found["name"].lower()
    if not found["close"] and (name in _STRUCK or _HIDING.search(found["attributes"])):
        end = _end_of_element(name, text, found.end())
        if end is None:
            return (found.end(), found[0]) if name in _STRUCK else (len(text), None)
        return end, None
    if name in _SCRIPTS:
        return found.end(), "}" if found["close"] else _SCRIPTS[name]
    if found["attributes"].strip() or _PLAIN_TAGS.fullmatch(name):
        return found.end(), (";" if name == "br" else "") + "\n" * found[0].count("\n")
    return found.end(), found[0]


def _end_of_element(name: str, text: str, at: int) -> int | None:
    """Just after the tag that closes an element, elements of its kind within it included."""
    depth = 1
    for tag in re.compile(rf"<(/?){name}\b[^<>]*>", re.IGNORECASE).finditer(text, at):
        depth += -1 if tag[1] else 1
        if depth == 0:
            return tag.end()
        if depth > _MAX_NESTED:
            break
    return None
