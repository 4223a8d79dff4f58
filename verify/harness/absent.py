"""Stands in for packages that are not installed, where a script imports them and does not use them.

Runs in the target's interpreter, beside the harness: standard library alone. What is taken from such a package can be
imported, named and inherited from; any other use is the error that its import would have been. An import that does
without, and one by another package, fails as ever.
"""

from __future__ import annotations

import ast
import importlib.abc
import linecache
import sys
from collections.abc import Iterator, Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

_IMPORTING = ("importlib", "_frozen_importlib")
_CAUGHT = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})


class AbsentObject(type):
    """What a package that is not here would have held under some name."""

    package: str

    def __getattr__(cls, name: str) -> Any:
        return _held(name, cls.package)

    def __bool__(cls) -> bool:
        return bool(cls())

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        raise ModuleNotFoundError(f"No module named {cls.package!r}", name=cls.package)


def _held(name: str, package: str) -> AbsentObject:
    if name.startswith("__") and name.endswith("__"):
        raise AttributeError(name)
    return AbsentObject(name, (), {"package": package})


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
        frames = list(_importing(sys._getframe(1)))
        if not frames or not self._is_own(frames[0]) or any(map(_does_without, filter(self._is_own, frames))):
            return None
        self.used[known] = None
        return ModuleSpec(name, self, is_package=True, loader_state=known)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """A module of that name."""
        return AbsentModule(spec.name, str(spec.loader_state))

    def exec_module(self, module: ModuleType) -> None:
        """There is nothing to execute."""

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
    try:
        tree = ast.parse("".join(linecache.getlines(frame.f_code.co_filename)))
    except (SyntaxError, ValueError):
        return False
    tries = [node for node in ast.walk(tree) if isinstance(node, ast.Try) and any(map(_catches, node.handlers))]
    return any(node.body[0].lineno <= frame.f_lineno <= (node.body[-1].end_lineno or 0) for node in tries)


def _catches(handler: ast.ExceptHandler) -> bool:
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return handler.type is None or any(isinstance(kind, ast.Name) and kind.id in _CAUGHT for kind in kinds)
