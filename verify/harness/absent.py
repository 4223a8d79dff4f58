"""Stands in for packages that are not installed, and for names that a package no longer has (`package.module:name`),
where a script imports them and does not use them.

Runs in the target's interpreter, beside the harness: standard library alone. What is taken from such a package can be
imported, named and inherited from, and nothing is an instance of it; any other use is the error that its import would
have been, or a TypeError. An import that does without, and one by another package, fails as ever.
"""

from __future__ import annotations

import ast
import functools
import importlib.abc
import linecache
import sys
from collections.abc import Iterator, Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

from .trackers import Changed

_IMPORTING = ("importlib", "_frozen_importlib")
_CAUGHT = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})


class AbsentObject(type):
    """What a package that is not here would have held under some name."""

    absent: str

    def __getattr__(cls, name: str) -> Any:
        return _held(name, cls.absent)

    def __bool__(cls) -> bool:
        return bool(cls())

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        package, _, name = cls.absent.partition(":")
        if name:
            raise ImportError(f"cannot import name {name!r} from {package!r}", name=package)
        raise ModuleNotFoundError(f"No module named {package!r}", name=package)


def _held(name: str, absent: str) -> AbsentObject:
    if name.startswith("__") and name.endswith("__"):
        raise AttributeError(name)
    return AbsentObject(name, (), {"absent": absent})


class AbsentModule(ModuleType):
    """A module of a package that is not here, which holds whatever is asked for."""

    def __init__(self, name: str, package: str) -> None:
        super().__init__(name)
        self.__package = package

    def __getattr__(self, name: str) -> Any:
        return _held(name, self.__package)


class Absent(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds packages by their `names` for files of the project, behind all others, and notes who had them."""

    def __init__(self, names: Sequence[str], root: Path, used: dict[str, None]) -> None:
        self.names, self.root, self.used = names, root.resolve(), used

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """One of the packages, or what would be in it."""
        known = next((each for each in self.names if name == each or name.startswith(f"{each}.")), None)
        if known is None:
            return None
        if not self._is_asked(sys._getframe(1)):
            return None
        self.used[known] = None
        return ModuleSpec(name, self, is_package=True, loader_state=known)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """A module of that name."""
        return AbsentModule(spec.name, str(spec.loader_state))

    def exec_module(self, module: ModuleType) -> None:
        """There is nothing to execute."""

    def in_place(self) -> None:
        """Have it so from now on."""
        sys.meta_path.append(self)
        for absent in self.names:
            package, _, name = absent.partition(":")
            change = functools.partial(self._given, name=name, absent=absent)
            if name and package in sys.modules:
                change(sys.modules[package])
            elif name:
                sys.meta_path.insert(0, Changed(package, change))

    def _given(self, module: Any, name: str, absent: str) -> None:
        """Let a name be taken from a module that does not have it."""
        plain = vars(module).get("__getattr__")

        def held(asked: str) -> Any:
            if asked == name and _imports(sys._getframe(1)) and self._is_asked(sys._getframe(1)):
                self.used[absent] = None
                return _held(name, absent)
            if plain:
                return plain(asked)
            raise AttributeError(f"module {module.__name__!r} has no attribute {asked!r}")

        module.__getattr__ = held

    def _is_asked(self, frame: FrameType) -> bool:
        """Whether a file of the project imports, and cannot do without what it imports."""
        frames = list(_importing(frame))
        return bool(frames and self._is_own(frames[0])) and not any(map(_does_without, filter(self._is_own, frames)))

    def _is_own(self, frame: FrameType) -> bool:
        return Path(frame.f_code.co_filename).resolve().is_relative_to(self.root)


def _importing(frame: FrameType | None) -> Iterator[FrameType]:
    """The frames that an import stands in, the nearest first; none where it is only asked whether there is a module."""
    found = []
    while frame:
        name = str(frame.f_globals.get("__name__"))
        if name == "importlib.util":
            return
        if not name.startswith(_IMPORTING):
            found.append(frame)
        frame = frame.f_back
    yield from found


def _does_without(frame: FrameType) -> bool:
    """Whether a frame is at a line of a `try` that catches an import which fails."""
    tries = [node for node in _nodes(frame) if isinstance(node, ast.Try) and any(map(_catches, node.handlers))]
    return any(node.body[0].lineno <= frame.f_lineno <= (node.body[-1].end_lineno or 0) for node in tries)


def _imports(frame: FrameType) -> bool:
    """Whether a frame is at an import of names, and does not look for one otherwise."""
    found = [node for node in _nodes(frame) if isinstance(node, ast.ImportFrom)]
    return any(node.lineno <= frame.f_lineno <= (node.end_lineno or 0) for node in found)


def _nodes(frame: FrameType) -> list[ast.AST]:
    try:
        return list(ast.walk(ast.parse("".join(linecache.getlines(frame.f_code.co_filename)))))
    except (SyntaxError, ValueError):
        return []


def _catches(handler: ast.ExceptHandler) -> bool:
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return handler.type is None or any(isinstance(kind, ast.Name) and kind.id in _CAUGHT for kind in kinds)
