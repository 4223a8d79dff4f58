"""Which names of a file may come from Lightning's version: a look at all that is not among them can be spared."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from codemods.code.nodes import children, every_node
from codemods.code.scopes import absolute
from codemods.code.source import PythonFile
from codemods.code.syntax import returns
from codemods.lightning.facts import Facts
from codemods.lightning.file_memo import memo_of

_ASKED = frozenset({"lightning", "pytorch_lightning", "lightning_fabric", "lightning_utilities", "importlib",
                    "importlib_metadata", "pkg_resources", "torchmetrics"})  # fmt: skip
"""The packages that tell a version, or of whose name there may be a module that does."""
STRING_METHODS = frozenset({"split", "startswith", "strip", "rsplit", "partition", "replace"})
"""What is called of a version that is a text."""
_SPELLED = "__version__"
_FOLLOWED = (
    ast.Attribute, ast.Tuple, ast.List, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.Subscript, ast.Slice,
    ast.GeneratorExp, ast.ListComp, ast.comprehension,
)  # fmt: skip
"""What else than a call is looked into for a version."""
_CALLED = STRING_METHODS | {"parse", "get_distribution", "RequirementCache"}


class _NameOrigins:
    """Where the names of a file come from: `imports` are those that may bring a version, None where a star may bring
    any, `given` what else each is bound to; no version comes from those in `quiet`."""

    def __init__(self, file: PythonFile, packages: frozenset[str]) -> None:
        self.imports = _imported(file, packages)
        self.given: dict[str, list[ast.AST]] = {}
        self.quiet: set[str] = set()
        spoken = every_node(file.tree) if ":=" in file.text else ()
        for node in (*file.statements, *(node for node in spoken if isinstance(node, ast.NamedExpr))):
            for name, values in _bindings(node):
                self.given.setdefault(name, []).extend(values)

    def speak(self, test: ast.expr) -> bool:
        if self.imports is None:
            return True
        waiting: list[ast.AST] = [test]
        seen: set[str] = set()
        while waiting:
            new = _read(waiting.pop()) - self.quiet - seen
            if not self.imports.isdisjoint(new):
                return True
            seen |= new
            waiting += [value for name in new for value in self.given.get(name, ())]
        self.quiet |= seen
        return False


def may_speak(file: PythonFile, facts: Facts, test: ast.expr) -> bool:
    """Whether an expression of a file may be worked out from Lightning's version: whether it reads a name that comes,
    in whatever order, from an import of what tells it or of the project."""
    memo = memo_of(file, facts)
    if "version names" not in memo:
        memo["version names"] = _NameOrigins(file, _packages(facts))
    origins: _NameOrigins = memo["version names"]
    return origins.speak(test)


def _imported(file: PythonFile, packages: frozenset[str]) -> frozenset[str] | None:
    found = {_SPELLED}
    for node in file.imports:
        if isinstance(node, ast.Import):
            brought = [alias for alias in node.names if alias.name.split(".")[0] in packages]
            found.update(alias.asname or alias.name.split(".")[0] for alias in brought)
        elif absolute(node, file.path).split(".")[0] in {*packages, ""}:
            if node.names[0].name == "*":
                return None
            found.update(alias.asname or alias.name for alias in node.names)
    return frozenset(found)


def _bindings(node: ast.AST) -> Iterator[tuple[str, Sequence[ast.AST]]]:
    """The names that a node binds to expressions, with all that each may be."""
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        plain = isinstance(node.targets[0], ast.Name) or isinstance(node.value, ast.Tuple)
        yield from ((name, [node.value]) for name in (_bound(node.targets[0]) if plain else ()))
    elif isinstance(node, ast.AnnAssign | ast.NamedExpr) and node.value is not None:
        yield from ((name, [node.value]) for name in _bound(node.target))
    elif isinstance(node, ast.For | ast.AsyncFor) and isinstance(node.iter, ast.Tuple | ast.List | ast.Set):
        yield from ((name, [*node.iter.elts]) for name in _bound(node.target))
    elif isinstance(node, ast.FunctionDef):
        yield node.name, [node]


def _bound(target: ast.AST) -> set[str]:
    names = (item for item in every_node(target) if isinstance(item, ast.Name))
    return {item.id for item in names if not isinstance(item.ctx, ast.Load)}


def _read(node: ast.AST) -> set[str]:
    """The names that an expression is worked out from."""
    found: set[str] = set()
    stack = [node]
    while stack:
        item = stack.pop()
        if isinstance(item, ast.Name):
            found.add(item.id)
        elif isinstance(item, ast.Call):
            stack += [*item.args, *([] if _is_left(item) else [item.func])]
        elif isinstance(item, ast.FunctionDef):
            stack += [each.value for each in returns(item) if each.value]
        elif isinstance(item, _FOLLOWED):
            stack += children(item)
    return found


def _is_left(call: ast.Call) -> bool:
    """Whether what is called with something is none of what tells a version or works with one."""
    function = call.func
    if not isinstance(function, ast.Attribute) or not (call.args or call.keywords):
        return False
    return function.attr not in _CALLED and "ersion" not in function.attr


def _packages(facts: Facts) -> frozenset[str]:
    """The first names of modules that tell a version, or that are the project's."""
    if "first names" not in facts.of_sources:
        paths = facts.kinds or facts.sources
        parts = (path.removesuffix(".py").split("/") for path in paths if path.endswith(".py"))
        facts.of_sources["first names"] = _ASKED.union(*parts)
    known: frozenset[str] = facts.of_sources["first names"]
    return known
