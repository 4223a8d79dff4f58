"""Which scripts of a tree train something."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from verify.sources import NAMESPACES, Sources, imports

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomlkit as tomllib


@dataclass(frozen=True)
class Entry:
    """A script to run, the arguments it gets, and its module name where it uses relative imports."""

    script: str
    args: tuple[str, ...] = ()
    module: str | None = None


def entries(sources: Sources, changed: Iterable[str]) -> tuple[Entry, ...]:
    """The scripts that train: the configured one, else changed ones, those that load changed files, the rest."""
    configured = _configured(sources.root)
    if configured:
        return (_entry(sources, configured[0], configured[1]),)
    touched = frozenset(changed)
    found = [path for path in sources.paths() if trains(sources.tree(path))]
    ranked = sorted(found, key=lambda path: (_rank(sources, path, touched), _in_tests(path), path))
    return tuple(_entry(sources, path, ()) for path in ranked)


def _rank(sources: Sources, path: str, changed: frozenset[str]) -> int:
    if path in changed:
        return 0
    return 1 if changed & set(sources.reach(path)[0]) else 2


def _in_tests(path: str) -> bool:
    return bool({"test", "tests"} & set(PurePosixPath(path).parts[:-1]))


def _entry(sources: Sources, path: str, args: tuple[str, ...]) -> Entry:
    tree = sources.tree(path)
    relative = tree is not None and any(found.level for found in imports(tree))
    module = ".".join(PurePosixPath(path).with_suffix("").parts) if relative else None
    return Entry(path, args, module)


def _configured(root: Path) -> tuple[str, tuple[str, ...]] | None:
    """`script` and `args` of `[tool.fixer.verify]`. Raises ValueError for a script that is not in the tree."""
    try:
        text = (root / "pyproject.toml").read_text(encoding="utf-8")
        data: Any = tomllib.loads(text)
        table = data.get("tool", {}).get("fixer", {}).get("verify", {})
        script, args = table.get("script"), table.get("args", [])
    except (OSError, ValueError, AttributeError):
        return None
    if not isinstance(script, str) or not isinstance(args, list):
        return None
    path = PurePosixPath(script)
    inside = not path.is_absolute() and ".." not in path.parts and (root / path).is_file()
    if not inside:
        raise ValueError(f"pyproject.toml: [tool.fixer.verify] names '{script}', which is not in the project")
    return path.as_posix(), tuple(str(arg) for arg in args)


def trains(tree: ast.Module | None) -> bool:
    """Whether running a file builds a Lightning Trainer and calls `fit`."""
    if tree is None or not _names_trainer(tree):
        return False
    return any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "fit"
        for node in _executed(tree)
    )


def _names_trainer(tree: ast.Module) -> bool:
    """Whether a Trainer of Lightning is imported or reached through its package."""
    packages: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in NAMESPACES:
            if any(alias.name in ("Trainer", "*") for alias in node.names):
                return True
            packages |= {alias.asname or alias.name for alias in node.names if alias.name == "pytorch"}
        elif isinstance(node, ast.Import):
            packages |= {
                (alias.asname or alias.name).split(".")[0]
                for alias in node.names
                if alias.name.split(".")[0] in NAMESPACES
            }
    return any(
        isinstance(node, ast.Attribute) and node.attr == "Trainer" and _root(node) in packages
        for node in ast.walk(tree)
    )


def _root(node: ast.expr) -> str | None:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def _executed(tree: ast.Module) -> Iterator[ast.AST]:
    """The nodes that run with the file: module level, and functions and classes reached from there by name."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    defined = {node.name: node for node in tree.body if isinstance(node, kinds)}
    queue: list[ast.AST] = [node for node in tree.body if not isinstance(node, kinds)]
    used: set[str] = set()
    while queue:
        for node in ast.walk(queue.pop()):
            yield node
            name = node.id if isinstance(node, ast.Name) else None
            if name in defined and name not in used:
                used.add(name)
                queue.append(defined[name])
