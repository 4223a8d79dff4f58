"""Which files of a tree train something when they are run."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from verify.reading.sources import NAMESPACES, Import, Sources, imports

CLI = "LightningCLI"
_KINDS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def trains(tree: ast.Module | None) -> bool:
    """Whether running a file builds a Lightning Trainer and calls `fit`, or hands over to LightningCLI."""
    if tree is None:
        return False
    if names_trainer(tree) or _is_hydra(tree):
        return calls_fit(_executed(tree))
    return names_trainer(tree, CLI) and _calls_cli(tree, _executed(tree))


def starts(sources: Sources, path: str) -> bool:
    """Whether running a file trains: by what it says itself, or by functions of other files that it calls."""
    tree = sources.tree(path)
    if trains(tree):
        return True
    if tree is None or not _is_started(tree):
        return False
    followed = list(_followed(sources, path))
    if not calls_fit(node for _, node in followed):
        return hands_to_cli(sources, path)
    trees = [tree for each in dict(followed) if (tree := sources.tree(each))]
    return any(names_trainer(tree) or _is_hydra(tree) for tree in trees)


def hands_to_cli(sources: Sources, path: str) -> bool:
    """Whether running a file calls LightningCLI, or a class of the project's own that is one."""
    nodes: dict[str, list[ast.AST]] = {}
    for each, node in _followed(sources, path):
        nodes.setdefault(each, []).append(node)
    trees = [(tree, found) for each, found in nodes.items() if (tree := sources.tree(each))]
    return any(names_trainer(tree, CLI) and _calls_cli(tree, found) for tree, found in trees)


def _calls_cli(tree: ast.Module, nodes: Iterable[ast.AST]) -> bool:
    own = {node.name for node in tree.body if isinstance(node, ast.ClassDef) and CLI in map(_last, node.bases)}
    return any(isinstance(node, ast.Call) and _last(node.func) in {CLI, *own} for node in nodes)


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _is_started(tree: ast.Module) -> bool:
    """Whether a file is one that people run."""
    return any(_is_command(node) for node in tree.body) or any(
        isinstance(node, ast.If) and any(getattr(name, "id", "") == "__name__" for name in ast.walk(node.test))
        for node in tree.body
    )


def _followed(sources: Sources, path: str) -> Iterator[tuple[str, ast.AST]]:
    """The nodes that run with a file, each with the file that holds it: also those of functions that it imports."""
    tree = sources.tree(path)
    queue: list[tuple[str, ast.AST]] = [(path, node) for node in _top(tree)] if tree else []
    seen: set[int] = set()
    names: set[tuple[str, str]] = set()
    while queue:
        place, root = queue.pop()
        for node in ast.walk(root):
            yield place, node
            if isinstance(node, ast.Name) and (place, node.id) not in names:
                names.add((place, node.id))
                new = [found for found in _definitions(sources, place, node.id, 3) if id(found[1]) not in seen]
                seen.update(id(found) for _, found in new)
                queue.extend(new)


def _definitions(sources: Sources, path: str, name: str, depth: int) -> list[tuple[str, ast.AST]]:
    """Where a name of a file is defined as a function or a class, through the imports of the project's own files."""
    tree = sources.tree(path)
    if tree is None or not depth:
        return []
    own: list[tuple[str, ast.AST]] = [
        (path, node) for node in tree.body if isinstance(node, _KINDS) and node.name == name
    ]
    if own:
        return own
    asked = [
        (file, alias.name if alias.name != "*" else name)
        for node in tree.body if isinstance(node, ast.ImportFrom)
        for alias in node.names if name in (alias.asname or alias.name, *([name] if alias.name == "*" else []))
        for file in sources.local(path, Import(node.module or "", node.level, (alias.name,), False))
    ]  # fmt: skip
    return [found for file, known in asked if file != path for found in _definitions(sources, file, known, depth - 1)]


def calls_fit(nodes: Iterable[ast.AST]) -> bool:
    return any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "fit"
        for node in nodes
    )


def asks_for_fit(sources: Sources, path: str) -> bool:
    """Whether a file calls `fit` or `train` of something, with arguments, and loads files of the project of which one
    names a Trainer and one calls its `fit`: a library may train for those who use it."""
    tree = sources.tree(path)
    if tree is None or not any(_asks(node) for node in ast.walk(tree)):
        return False
    loaded = [each for other in sources.reach(path)[0] if other != path and (each := sources.tree(other))]
    return any(names_trainer(each) for each in loaded) and any(
        _fits(node) for each in loaded for node in ast.walk(each)
    )


def _asks(node: ast.AST) -> bool:
    """Whether this trains something: `module.train()` and `module.train(False)` switch a mode alone."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    given = [*node.args, *(keyword.value for keyword in node.keywords)]
    modes = all(isinstance(value, ast.Constant) and isinstance(value.value, bool) for value in given)
    return node.func.attr in ("fit", "train") and not modes


def _fits(node: ast.AST) -> bool:
    is_fit = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "fit"
    return is_fit and "trainer" in _last(node.func.value).lower()  # type: ignore[attr-defined]


def _is_hydra(tree: ast.Module) -> bool:
    """Whether hydra starts a file that knows Lightning: the Trainer's class is then named in a configuration."""
    packages = {found.module.split(".")[0] for found in imports(tree) if not found.level}
    return "hydra" in packages and bool(packages & set(NAMESPACES))


def names_trainer(tree: ast.Module, name: str = "Trainer") -> bool:
    """Whether a Trainer of Lightning is imported or reached through its package."""
    packages: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in NAMESPACES:
            if any(alias.name in (name, "*") for alias in node.names):
                return True
            packages |= {alias.asname or alias.name for alias in node.names if alias.name == "pytorch"}
        elif isinstance(node, ast.Import):
            packages |= {
                (alias.asname or alias.name).split(".")[0]
                for alias in node.names
                if alias.name.split(".")[0] in NAMESPACES
            }
    return any(
        isinstance(node, ast.Attribute) and node.attr == name and _root(node) in packages for node in ast.walk(tree)
    )


def _root(node: ast.expr) -> str | None:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def _is_command(node: ast.stmt) -> bool:
    """Whether a function is handed to what reads the command line: click, typer, hydra, absl."""
    marks = getattr(node, "decorator_list", []) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else []
    return any(
        _last(mark.func if isinstance(mark, ast.Call) else mark) in ("command", "main", "task") for mark in marks
    )


def _executed(tree: ast.Module) -> Iterator[ast.AST]:
    """The nodes that run with the file: module level, and functions and classes reached from there by name."""
    defined = {node.name: node for node in tree.body if isinstance(node, _KINDS)}
    queue = _top(tree)
    used: set[str] = set()
    while queue:
        for node in ast.walk(queue.pop()):
            yield node
            name = node.id if isinstance(node, ast.Name) else None
            if name in defined and name not in used:
                used.add(name)
                queue.append(defined[name])


def _top(tree: ast.Module) -> list[ast.AST]:
    return [node for node in tree.body if not isinstance(node, _KINDS) or _is_command(node)]
