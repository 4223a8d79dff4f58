"""What a file uses of Lightning: the names it imports, what it calls with which arguments, the hooks it has."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from verify.reading.names import last_name
from verify.reading.sources import LIMIT, NAMESPACES, Sources, catches_import


@dataclass(frozen=True)
class Name:
    """A dotted name of Lightning that a file imports or reaches. `by` is the module that it imports, where attributes
    lead from that to the name: a submodule is an attribute of it only once something imported it."""

    path: str
    line: int
    name: str
    by: str = ""

    @property
    def reached(self) -> str | None:
        """The name as it is reached, as entry points are written: `pytorch_lightning:core.lightning`."""
        return f"{self.by}:{self.name.removeprefix(f'{self.by}.')}" if self.by else None


@dataclass(frozen=True)
class Call:
    """A call of something of Lightning's: its dotted name, keywords, and whether there are positional arguments."""

    path: str
    line: int
    name: str
    keywords: tuple[str, ...]
    positional: bool


@dataclass(frozen=True)
class OverriddenHook:
    """A method of a class on one of Lightning's: its parameters after `self` by name, with whether it has a default.

    `open` says that it takes any further positional arguments.
    """

    path: str
    line: int
    base: str
    owner: str
    name: str
    parameters: tuple[tuple[str, bool], ...]
    open: bool
    called: bool


@dataclass(frozen=True)
class UnreadFile:
    """A file of which it is not known what it uses, and why."""

    path: str
    line: int
    why: str


Use = Name | Call | OverriddenHook | UnreadFile
_VERSIONS = frozenset({
    "__version__", "Version", "LooseVersion", "StrictVersion", "parse_version", "compare_version", "RequirementCache",
    "get_distribution",
})  # fmt: skip
_PACKAGES = frozenset({"pl", "ptl", "lightning", "pytorch", "torch", "torchmetrics"})
_IMPORTS = re.compile(rb"^[ \t]*(?:from|import)[ \t][^#\n]*\b(?:pytorch_)?lightning\b", re.MULTILINE)


def of_file(sources: Sources, path: str) -> list[Use]:
    """What a file of a tree uses of Lightning; where it imports that and cannot be read, this alone."""
    tree = sources.tree(path)
    if tree is None:
        data = (sources.root / path).read_bytes()
        why = "it does not parse" if len(data) <= LIMIT else f"it is larger than {LIMIT // 10**6} MB"
        return [UnreadFile(path, 1, why)] if _IMPORTS.search(data) else []
    if not sources.packages(path) & set(NAMESPACES):
        return []
    try:
        return list(uses(path, tree))
    except RecursionError:
        return [UnreadFile(path, 1, "it is nested too deep to be followed")]


def uses(path: str, tree: ast.Module) -> Iterator[Use]:
    """Everything that a file uses of Lightning, but for code that guards against its absence."""
    aliases: dict[str, str] = {}
    reader = _UseReader(path, aliases)
    reader.visit(tree)
    yield from reader.found
    yield from _hooks(path, tree, aliases)


class _UseReader(ast.NodeVisitor):
    """Walks one file, in order; `aliases` leads from local names to dotted ones."""

    def __init__(self, path: str, aliases: dict[str, str]) -> None:
        self.path = path
        self.aliases = aliases
        self.trainers: dict[str, str] = {}
        self.flags: set[str] = set()
        self.found: list[Use] = []

    def visit_Try(self, node: ast.Try) -> None:
        guard = any(catches_import(handler) for handler in node.handlers)
        if not (guard and any(isinstance(part, (ast.Import, ast.ImportFrom)) for part in node.body)):
            self.generic_visit(node)

    def visit_If(self, node: ast.If) -> None:
        self._chosen(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._chosen(node)

    def _chosen(self, node: ast.If | ast.IfExp) -> None:
        """Leaves out what runs by the release alone, also by a name that was given what asks for it."""
        named = any(isinstance(part, ast.Name) and part.id in self.flags for part in ast.walk(node.test))
        if not (named or _asks_for_version(node.test)):
            self.generic_visit(node)

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            if alias.name.split(".")[0] in NAMESPACES:
                self.found.append(Name(self.path, node.lineno, alias.name))
                top = alias.name.split(".")[0]
                self.aliases[alias.asname or top] = alias.name if alias.asname else top

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        module = node.module or ""
        if node.level or module.split(".")[0] not in NAMESPACES:
            return
        for alias in node.names:
            dotted = module if alias.name == "*" else f"{module}.{alias.name}"
            self.found.append(Name(self.path, node.lineno, dotted))
            self.aliases[alias.asname or alias.name] = dotted

    def visit_Assign(self, node: ast.Assign) -> None:
        self.generic_visit(node)
        if _is_answer(node.value):
            self.flags |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        if isinstance(node.value, ast.Call) and (name := dotted(node.value.func, self.aliases)):
            built = name.removesuffix(".from_argparse_args")
            for target in node.targets:
                if isinstance(target, ast.Name) and built.endswith(".Trainer"):
                    self.trainers[target.id] = built

    def visit_Attribute(self, node: ast.Attribute) -> None:
        name = dotted(node, self.aliases)
        if name is None:
            self.generic_visit(node)
        else:
            by = next((module for module in NAMESPACES if name.startswith(f"{module}.")), "")
            imported = any(isinstance(use, Name) and not use.by and use.name == by for use in self.found)
            self.found.append(Name(self.path, node.lineno, name, by if imported else ""))

    def _method(self, node: ast.expr) -> str | None:
        """The method of a Trainer built in this file; deeper attributes cannot be seen on its class."""
        if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
            return None
        trainer = self.trainers.get(node.value.id)
        return f"{trainer}.{node.attr}" if trainer else None

    def visit_Call(self, node: ast.Call) -> None:
        name = dotted(node.func, self.aliases) or self._method(node.func)
        if name:
            keywords = tuple(keyword.arg for keyword in node.keywords if keyword.arg)
            self.found.append(Call(self.path, node.lineno, name, keywords, bool(node.args)))
        self.generic_visit(node)


def _asks_for_version(test: ast.expr) -> bool:
    """Whether a condition looks at the release of a package, and not at a version of the project's own things."""
    for node in ast.walk(test):
        name = last_name(node)
        words = set(name.lower().strip("_").split("_"))
        called = isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "version"
        plain = called or (isinstance(node, ast.Name) and words == {"version"})
        if name in _VERSIONS or plain or ("version" in words and words & _PACKAGES):
            return True
    return False


def _is_answer(node: ast.expr) -> bool:
    """Whether an expression is a version, or says by itself which release there is: no object that only holds one."""
    tells = isinstance(node, ast.Compare | ast.BoolOp | ast.UnaryOp | ast.Attribute | ast.Subscript)
    called = last_name(node.func) if isinstance(node, ast.Call) else ""
    return (tells or called in {*_VERSIONS, "int", "parse", "startswith", "version"}) and _asks_for_version(node)


def dotted(node: ast.expr, aliases: dict[str, str]) -> str | None:
    """The full name behind an expression, where it starts at something imported from Lightning and does not lead into
    the text of a version."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id not in aliases or "__version__" in parts[1:]:
        return None
    return ".".join([aliases[node.id], *reversed(parts)])


def _hooks(path: str, tree: ast.Module, aliases: dict[str, str]) -> Iterator[OverriddenHook]:
    """The hooks of the classes whose base is Lightning's, also through other classes of the file."""
    bases: dict[str, str] = {}
    called = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute) and _is_self_call(node)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.ClassDef):
            continue
        known = (dotted(base, aliases) or bases.get(getattr(base, "id", "")) for base in node.bases)
        base = next((name for name in known if name), None)
        if base is None:
            continue
        bases[node.name] = base
        for part in node.body:
            if isinstance(part, ast.FunctionDef) and not part.name.startswith("_"):
                yield _hook(path, base, node.name, part, part.name in called)


def _is_self_call(node: ast.Attribute) -> bool:
    return isinstance(node.value, ast.Name) and node.value.id == "self"


def _hook(path: str, base: str, owner: str, node: ast.FunctionDef, called: bool) -> OverriddenHook:
    arguments = [*node.args.posonlyargs, *node.args.args]
    without = len(arguments) - len(node.args.defaults)
    pairs = [(argument.arg, at >= without) for at, argument in enumerate(arguments)]
    static = any(isinstance(mark, ast.Name) and mark.id == "staticmethod" for mark in node.decorator_list)
    kept = pairs if static else pairs[1:]
    is_open = node.args.vararg is not None
    return OverriddenHook(path, node.lineno, base, owner, node.name, tuple(kept), is_open, called)


def by_attributes(found: Sequence[Use]) -> list[Use]:
    """The uses, less the ways by attributes through modules that the project imports somewhere: these are attributes
    of their packages then."""
    loaded: set[str] = set()
    for use in found:
        name = use.name if isinstance(use, Name) and not use.by else ""
        while name:
            loaded.add(name)
            name = name.rpartition(".")[0]
    return [
        replace(use, by="") if isinstance(use, Name) and use.by and use.name.rpartition(".")[0] in loaded else use
        for use in found
    ]


def asked(found: list[Use]) -> dict[str, list[Any]]:
    """What the harness has to look up to judge these uses."""
    names = {
        use.base if isinstance(use, OverriddenHook) else use.name for use in found if not isinstance(use, UnreadFile)
    }
    names |= {use.reached for use in found if isinstance(use, Name) and use.reached}
    methods = {(use.base, use.name) for use in found if isinstance(use, OverriddenHook)}
    return {"names": sorted(names), "methods": [list(pair) for pair in sorted(methods)]}
