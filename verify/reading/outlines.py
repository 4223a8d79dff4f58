"""What a file says of training, part by part: which names its functions and classes use, and what they call."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from verify.reading.names import last_name
from verify.reading.sources import NAMESPACES, Import, Sources

CLI = "LightningCLI"
_KINDS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True)
class OutlinePart:
    """A function, a class, or the statements beside them: the names that it uses, the last name of each call in it,
    whether it calls `fit` of something, and which names it calls of what is named."""

    names: frozenset[str]
    called: frozenset[str]
    fits: bool
    of_others: frozenset[tuple[str, str]]


@dataclass(frozen=True)
class FileOutline:
    """A file: what runs with it, what it defines, and what it takes from files that it may load, by name; "*" stands
    for all of them. `trainer` and `cli` say whether Lightning's are known there, or a trainer that a configuration may
    build is fitted, `clis` what the file calls a LightningCLI, `hydra` whether hydra starts it, `started` whether
    people run it, `asks` whether something is trained there with arguments, `trained` whether that is a Trainer by its
    name."""

    run: OutlinePart
    defined: Mapping[str, tuple[OutlinePart, ...]]
    imported: Mapping[str, tuple[tuple[str, Import], ...]]
    trainer: bool
    cli: bool
    clis: frozenset[str]
    hydra: bool
    started: bool
    asks: bool
    trained: bool

    @property
    def fits(self) -> bool:
        """Whether anything in the file calls `fit` of something."""
        return self.run.fits or any(part.fits for parts in self.defined.values() for part in parts)


def outline_of(sources: Sources, path: str) -> FileOutline | None:
    """The outline of a file, made once; None where the file does not parse."""
    return sources.once(_of_file, path)


def _of_file(sources: Sources, path: str) -> FileOutline | None:
    tree = sources.tree(path)
    return outline(tree) if tree else None


def outline(tree: ast.Module) -> FileOutline:
    """The outline of a syntax tree."""
    defined: dict[str, list[OutlinePart]] = {}
    imported: dict[str, list[tuple[str, Import]]] = {}
    for node in tree.body:
        if isinstance(node, _KINDS):
            defined.setdefault(node.name, []).append(_part([node]))
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                taken = Import(node.module or "", node.level, (alias.name,), False)
                imported.setdefault(alias.asname or alias.name, []).append((alias.name, taken))
        elif isinstance(node, ast.Import):
            for alias in node.names:
                taken = Import(alias.name, 0, (), False)
                imported.setdefault(alias.asname or alias.name, []).append(("", taken))
    nodes = list(ast.walk(tree))
    packages = {name.split(".")[0] for node in nodes for name in _asked_for(node)}
    calls = [node for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
    bases = {node.name: map(last_name, node.bases) for node in tree.body if isinstance(node, ast.ClassDef)}
    trained = any(last_name(call.func) == "fit" and "trainer" in _owner(call).lower() for call in calls)
    return FileOutline(
        _part(node for node in tree.body if not isinstance(node, _KINDS) or _is_command(node)),
        {name: tuple(parts) for name, parts in defined.items()},
        {name: tuple(taken) for name, taken in imported.items()},
        _knows(nodes, "Trainer") or (trained and bool(packages & set(NAMESPACES))),
        _knows(nodes, CLI),
        frozenset({CLI, *(name for name, own in bases.items() if CLI in own)}),
        "hydra" in packages and bool(packages & set(NAMESPACES)),
        any(_is_command(node) or is_main(node) for node in tree.body),
        any(map(_asks, calls)),
        trained,
    )


def _part(roots: Iterable[ast.AST]) -> OutlinePart:
    names: set[str] = set()
    called: set[str] = set()
    of_others: set[tuple[str, str]] = set()
    fits = False
    for root in roots:
        for node in ast.walk(root):
            if isinstance(node, ast.Name):
                names.add(node.id)
            elif isinstance(node, ast.Call):
                called.add(last_name(node.func))
                if isinstance(node.func, ast.Attribute) and _root(node.func):
                    of_others.add((ast.unparse(node.func.value), node.func.attr))
                fits = fits or (isinstance(node.func, ast.Attribute) and node.func.attr == "fit")
    return OutlinePart(frozenset(names), frozenset(called), fits, frozenset(of_others))


def _owner(call: ast.Call) -> str:
    return last_name(call.func.value) if isinstance(call.func, ast.Attribute) else ""


def _is_command(node: ast.stmt) -> bool:
    """Whether a function is handed to what reads the command line: click, typer, hydra, absl."""
    marks = getattr(node, "decorator_list", []) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else []
    return any(
        last_name(mark.func if isinstance(mark, ast.Call) else mark) in ("command", "main", "task") for mark in marks
    )


def _asks(call: ast.Call) -> bool:
    """Whether this trains something: `module.train()` and `module.train(False)` switch a mode alone."""
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    modes = all(isinstance(value, ast.Constant) and isinstance(value.value, bool) for value in given)
    return last_name(call.func) in ("fit", "train") and not modes


def _asked_for(node: ast.AST) -> Iterable[str]:
    """The modules that a statement imports by absolute name."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []


def _knows(nodes: Iterable[ast.AST], name: str) -> bool:
    """Whether a class of Lightning's is imported, or reached through its package."""
    packages: set[str] = set()
    reached: list[ast.Attribute] = []
    for node in nodes:
        if isinstance(node, ast.Attribute) and node.attr == name:
            reached.append(node)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in NAMESPACES:
            if any(alias.name in (name, "*") for alias in node.names):
                return True
            packages |= {alias.asname or alias.name for alias in node.names if alias.name == "pytorch"}
        elif isinstance(node, ast.Import):
            packages |= {
                (alias.asname or alias.name).split(".")[0]
                for alias in node.names
                if alias.name.split(".")[0] in NAMESPACES
            }
    return any(_root(node) in packages for node in reached)


def _root(node: ast.expr) -> str | None:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def is_main(node: object) -> bool:
    """Whether a statement asks for the name of the module, as what runs in a script alone does."""
    return isinstance(node, ast.If) and any(getattr(name, "id", "") == "__name__" for name in ast.walk(node.test))
