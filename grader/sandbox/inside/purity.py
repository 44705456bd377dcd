"""Whether code keeps nothing from one question to the next: told by reading it, before any of it has run.

What is read is what is allowed, not what is forbidden. Code passes if nothing that outlives a call can be changed by
it, and nothing tells it how often it was called: the module binds functions, classes and values that never change;
attributes are set on `self` alone; classes are called or inherited from, and are no values; no exception is caught, no
text is made but for people; and of libraries it uses only what keeps nothing itself (`pure_names`). Everything else
gets a no, which costs time and nothing more: code that may keep something is asked in more boxes.
"""

from __future__ import annotations

import ast
import builtins
import os
from collections import Counter, deque
from collections.abc import Iterator

from . import notebook_part, own_source, whole_files
from .pure_imports import Imports, Keeps, own_modules
from .pure_names import NUMBERS, NUMBERS_TOO
from .pure_orders import GOING_THROUGH, gone_through, handed_over
from .pure_statements import TOP, Statements
from .pure_values import Known
from .scopes import is_main_guard
from .trees import is_read, walk

_BINDING = {ast.Name, ast.arg, ast.FunctionDef, ast.Import, ast.ImportFrom, ast.ClassDef}

# Files and folders are read as they were when they were first asked about.
_found: dict[str, str] = {}
_modules: dict[str, dict[str, list[str]]] = {}  # by the folder of whoever may import them
_known: dict[tuple[str, str], Known] = {}  # by the file, and the folder of the file for which it is read
_read_for: dict[str, dict[str, Known]] = {}  # by the file that was asked about: itself, and what it imports


def forget() -> None:
    for kept in (_found, _modules, _known, _read_for):
        kept.clear()


def what_it_may_keep(file: str) -> str:
    """By what the student's file, or one that it imports, may keep something; nothing, if it cannot."""
    path = os.path.abspath(file)
    if path not in _found:
        _found[path] = _what_it_may_keep(file)
    return _found[path]


def know(file: str, found: str) -> None:
    """What another process found by reading it."""
    _found[os.path.abspath(file)] = found


def may_be_run_whole(file: str) -> bool:
    """Whether a file that keeps nothing, and all that it imports, hold functions alone."""
    top, read = os.path.abspath(file), _read_for[os.path.abspath(file)]
    imported = {one.imports.file_of(module) for one in read.values() for module in one.imports.followed}
    if top in imported:  # in a circle: half of it would be there when another asks for the rest
        return False
    return all(
        whole_files.holds_functions_alone(known.body, known.imports.libraries.values()) for known in read.values()
    )


def library_names(file: str) -> list[str] | None:
    """By what a file that keeps nothing, or one that it imports, could reach something of a library's: dotted names,
    and attributes of whatever is not the student's. None of code that may keep something: it may make names up."""
    if what_it_may_keep(file):
        return None
    found = set[str]()
    for known in _read_for[os.path.abspath(file)].values():
        imports = known.imports
        found.update(imports.libraries.values())
        for statement in known.body:
            for node in () if _runs_alone(statement) else walk(statement):
                if isinstance(node, ast.Attribute) and imports.of_own(node) is None:
                    found.add(imports.dotted(node) or node.attr)
    return sorted(found)


def _what_it_may_keep(file: str) -> str:
    waiting, read = deque([os.path.abspath(file)]), dict[str, Known]()
    try:
        if notebook_part.is_part(file):
            raise Keeps("a notebook")
        folder = os.path.dirname(waiting[0])
        if folder not in _modules:
            _modules[folder] = own_modules(file)
        while waiting:
            path = waiting.popleft()
            if path not in read:
                if (path, folder) not in _known:
                    _known[path, folder] = _read(path, _modules[folder])
                read[path] = _known[path, folder]
                if path in map(read[path].imports.file_of, read[path].imports.followed):  # by other names than it has
                    raise Keeps("it imports itself")
                waiting += map(read[path].imports.file_of, read[path].imports.followed)
        for one in read.values():
            for module, name in one.imports.taken:
                other = read[one.imports.file_of(module)]
                is_value = name in other.classes and (module, name) in one.imports.values
                if name not in other.gives or is_value or other.sorts:
                    raise Keeps(f"{module}.{name}")
        _keep_text_out_of_arrays(list(read.values()))
        _read_for[os.path.abspath(file)] = read
    except Keeps as kept:
        return str(kept) or "what has no name"
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError) as error:  # importing it will say more
        return type(error).__name__
    return ""


def _read(path: str, own: dict[str, list[str]]) -> Known:
    """The names of one file. Raises Keeps if it may keep something."""
    known = Known(Imports(own), own_source.parse(path).body)
    nodes = [node for node in known.body if not _runs_alone(node)]
    known.bound = Counter(name for node in nodes for name in _binds(node, known))
    for name in (*known.imports.libraries, *known.imports.modules, *known.imports.names, *known.classes):
        if known.bound[name] > 1 or name.startswith("__"):  # what it means depends on the place
            raise Keeps(f"{name} has two meanings")
    for name in known.bound:
        if hasattr(builtins, name) and not name.startswith("__"):
            raise Keeps(f"another {name} than Python's")
    known.handed_over = handed_over(nodes, known.mentioned)
    statements = Statements(known)
    for node in nodes:
        if names := _given_by(node, known):
            if any(name.startswith("__") for name in names):  # __name__, by which a main guard runs; __builtins__
                raise Keeps(f"another {names[0]}")
            known.gives.update(names)
            statements.look(node, TOP)
    known.kinds.look_at_what_is_taken_over()
    return known


def _keep_text_out_of_arrays(files: list[Known]) -> None:
    """An array of text makes text of whatever is put into it, and that shows where it lies."""
    used = {path for one in files for path in one.imports.used}
    has_text = any(path.startswith("torch") for path in used) or any(
        one.has_text
        or "__getitem__" in one.bound  # a data set is built from text
        or (one.returns_text and len(files) > 1)  # maybe to another file
        for one in files
    )
    for path in sorted(used) if has_text else ():
        if path.startswith("numpy.") and path not in NUMBERS_TOO and not NUMBERS.fullmatch(path):
            raise Keeps(f"{path} where there is text")
    if any(one.copies_dtype for one in files) and any(one.kinds.may_set("dtype") for one in files):
        raise Keeps("a dtype of their own")


def _runs_alone(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and is_main_guard(node) and not node.orelse


def _binds(node: ast.AST, known: Known) -> Iterator[str]:
    """Every name that is bound anywhere; imports and classes are noted by the way."""
    for one in walk(node):
        if type(one) in GOING_THROUGH:
            known.gone_through.update(gone_through(one))
        elif type(one) not in _BINDING:
            continue
        match one:
            case ast.Name(id=name) if is_read(one):
                known.mentioned[name] += 1
            case ast.Name(id=name) | ast.arg(arg=name) | ast.FunctionDef(name=name):
                yield name
            case ast.Import() | ast.ImportFrom():
                before = len(known.imports.followed)
                yield from known.imports.bind(one)
                if one is not node and len(known.imports.followed) > before:
                    raise Keeps("an import while it runs")
            case ast.ClassDef(name=name):
                known.classes.add(name)
                yield name


def _given_by(node: ast.stmt, known: Known) -> list[str]:
    """The names that a statement at the top gives to functions, classes or values that never change. Raises where what
    has such a name may change."""
    match node:
        case ast.Import() | ast.ImportFrom() | ast.Expr(value=ast.Constant()):
            return []
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if known.bound[name] == 1:
            if known.makes_logger(value):
                known.loggers.add(name)
                return []
            if known.never_changes(value):
                known.numbers.update([name] if known.is_number(value) else [])
                return [name]
        case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)) if len(names) == len(values):
            pairs = zip(names, values, strict=True)
            return [name for one in pairs for name in _given_by(ast.Assign([one[0]], one[1]), known)]
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
    raise Keeps(f"{type(node).__name__} at the top")
