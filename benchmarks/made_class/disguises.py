"""What a copier does to hide it. Each disguise takes another's files and gives back what is handed in."""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Callable

from benchmarks.made_class.honest_code import Files
from grader.notation.word_lists import words

Disguise = Callable[[Files, random.Random], Files]

# What the assignment fixes: functions, classes and their parameters keep their names.
_FIXED = words(
    "attention multi_head_attention EncoderBlock PatchEmbedding ViT forward __init__ self Q K V beta C W_Q W_K W_V W_O "
    "heads mask image patch channels dim depth classes hidden images np torch nn F math super range zip len map list "
    "int sum print dict enumerate reversed"
)
_SYLLABLES = ["ba", "ko", "mi", "tu", "re", "za", "no", "li", "fe", "du"]
_FOREIGN = [
    "hier wird skaliert", "softmax über die Schlüssel", "Köpfe zusammensetzen", "Residuum und dann Norm",
    "Form (B, N, dim)", "maximum abziehen, damit exp nicht überläuft", "jede Spalte ist eine Anfrage",
    "so steht es in der Vorlesung",
]  # fmt: skip


def _code(files: Files, change: Callable[[ast.Module], ast.Module]) -> Files:
    return {
        name: ast.unparse(ast.fix_missing_locations(change(ast.parse(text)))) + "\n" if name.endswith(".py") else text
        for name, text in files.items()
    }


class _Renamer(ast.NodeTransformer):
    def __init__(self, rng: random.Random, own: set[str]) -> None:
        self._rng, self._own = rng, own
        self._names: dict[str, str] = {}

    def _other(self, name: str) -> str:
        if name not in self._own:
            return name
        if name not in self._names:
            self._names[name] = "".join(self._rng.choices(_SYLLABLES, k=3)) + str(len(self._names))
        return self._names[name]

    def visit_Name(self, node: ast.Name) -> ast.Name:
        node.id = self._other(node.id)
        return node

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.arg = self._other(node.arg)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.value, ast.Name) and node.value.id == "self":
            node.attr = self._other(node.attr)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.generic_visit(node)
        node.name = self._other(node.name)
        return node


def renamed(files: Files, rng: random.Random) -> Files:
    """Every name that may be changed is."""

    def change(tree: ast.Module) -> ast.Module:
        own = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        own |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
        own |= {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        own |= {n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)}
        return _Renamer(rng, own - _FIXED).visit(tree)  # type: ignore[no-any-return]  # ast has no types for it

    return _code(files, change)


def reordered(files: Files, rng: random.Random) -> Files:
    """Functions, classes, methods and neighbouring assignments that do not need each other in another order."""

    def change(tree: ast.Module) -> ast.Module:
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                node.body = sorted(node.body, key=lambda one: getattr(one, "name", ""), reverse=rng.random() < 0.7)
        definitions = [one for one in tree.body if isinstance(one, ast.FunctionDef | ast.ClassDef)]
        imports = [one for one in tree.body if isinstance(one, ast.Import | ast.ImportFrom)]
        rest = [one for one in tree.body if one not in definitions and one not in imports]
        tree.body = [*imports, *reversed(definitions), *rest]
        return tree

    changed = _code(files, change)
    if "attention.py" in changed and "multihead.py" in changed and rng.random() < 0.5:  # a file of its own for both
        changed["multihead.py"] = f"{changed['multihead.py']}\n{changed.pop('attention.py')}"
        changed["attention.py"] = "from multihead import attention\n"
    return changed


def translated(files: Files, rng: random.Random) -> Files:
    """Comments in another language at other places, docstrings, other quotes, other layout."""
    changed = {}
    for name, text in _code(files, lambda tree: tree).items():
        lines = []
        for line in text.split("\n") if name.endswith(".py") else [text]:
            indent = line[: len(line) - len(line.lstrip())]
            if indent and rng.random() < 0.4:
                lines.append(f"{indent}# {rng.choice(_FOREIGN)}")
            lines.append(
                re.sub(r", ", ",\n" + indent + "        ", line, count=1)
                if "(" in line and rng.random() < 0.2
                else line
            )
            if line.lstrip().startswith("def ") and line.endswith(":"):
                lines.append(f'{indent}    """{rng.choice(_FOREIGN)}"""')
        changed[name] = "\n".join(lines)
    return changed


def _is_plain(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)


class _Loops(ast.NodeTransformer):
    """`for i in range(n)` as a while loop; a list of a comprehension as a loop."""

    def visit_For(self, node: ast.For) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        call = node.iter
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "range"):
            return node
        counter = ast.unparse(node.target)
        bounds = [ast.unparse(one) for one in call.args]
        start, stop = (bounds[0], bounds[1]) if len(bounds) > 1 else ("0", bounds[0])
        step = bounds[2] if len(bounds) > 2 else "1"
        loop = ast.parse(f"{counter} = {start}\nwhile {counter} < {stop}:\n    {counter} += {step}").body
        assert isinstance(loop[1], ast.While)
        loop[1].body = [*node.body, *loop[1].body]
        return loop


def loops_rewritten(files: Files, rng: random.Random) -> Files:
    return _code(renamed(files, rng), lambda tree: _Loops().visit(tree))


class _Temporaries(ast.NodeTransformer):
    """`return f(g(x))` by way of a name of its own, and what is added up spelled out."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._count = 0

    def _split(self, node: ast.stmt, value: ast.expr | None) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        inner = (
            next((n for n in ast.walk(value) if isinstance(n, ast.BinOp | ast.Call) and n is not value), None)
            if value
            else None
        )
        if inner is None or self._rng.random() < 0.3 or any(isinstance(n, ast.comprehension) for n in ast.walk(node)):
            return node
        self._count += 1
        name = f"step{self._count}"
        before = ast.Assign([ast.Name(name, ast.Store())], inner)
        return [before, _Put(inner, name).visit(node)]

    def visit_Return(self, node: ast.Return) -> ast.AST | list[ast.stmt]:
        return self._split(node, node.value)

    def visit_Assign(self, node: ast.Assign) -> ast.AST | list[ast.stmt]:
        return self._split(node, node.value)


class _Put(ast.NodeTransformer):
    def __init__(self, wanted: ast.expr, name: str) -> None:
        self._wanted, self._name = wanted, name

    def visit(self, node: ast.AST) -> ast.AST:
        return ast.Name(self._name, ast.Load()) if node is self._wanted else self.generic_visit(node)


def steps_named(files: Files, rng: random.Random) -> Files:
    """Most statements in two, by way of a name."""
    return _code(renamed(files, rng), lambda tree: _Temporaries(rng).visit(tree))


def helper_inlined(files: Files, rng: random.Random) -> Files:
    """Functions that are called once stand where they were called; where there is none, one is made of the middle."""

    def change(tree: ast.Module) -> ast.Module:
        functions = [one for one in tree.body if isinstance(one, ast.FunctionDef)]
        helper = next((one for one in functions if one.name not in _FIXED and len(one.args.args) == 1), None)
        if helper is None:
            return _taken_out(tree, functions)
        for one in functions:
            one.body = [made for statement in one.body for made in _inlined(statement, helper)]
        tree.body.remove(helper)
        return tree

    return renamed(_code(files, change), rng)


def _inlined(statement: ast.stmt, helper: ast.FunctionDef) -> list[ast.stmt]:
    if not (_is_plain(statement) and isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call)):
        return [statement]
    called = statement.value
    if not (isinstance(called.func, ast.Name) and called.func.id == helper.name):
        return [statement]
    body = ast.parse(ast.unparse(helper)).body[0]
    assert isinstance(body, ast.FunctionDef)
    *before, last = body.body
    assert isinstance(last, ast.Return)
    assert last.value is not None
    given = ast.Assign([ast.Name(helper.args.args[0].arg, ast.Store())], called.args[0])
    return [given, *before, ast.Assign(statement.targets, last.value)]


def _taken_out(tree: ast.Module, functions: list[ast.FunctionDef]) -> ast.Module:
    """The last but one assignment of the first function in a helper."""
    plain = [one for one in (functions[0].body if functions else []) if _is_plain(one)]
    if not plain:
        return tree
    chosen = plain[-1]
    assert isinstance(chosen, ast.Assign)
    names = sorted({n.id for n in ast.walk(chosen.value) if isinstance(n, ast.Name)} - {"np", "torch", "F", "math"})
    helper = ast.parse(f"def helper({', '.join(names)}):\n    return {ast.unparse(chosen.value)}").body[0]
    chosen.value = ast.parse(f"helper({', '.join(names)})", mode="eval").body
    tree.body.insert(tree.body.index(functions[0]), helper)
    return tree


def together(*disguises: Disguise) -> Disguise:
    def all_of_them(files: Files, rng: random.Random) -> Files:
        for disguise in disguises:
            files = disguise(files, rng)
        return files

    return all_of_them
