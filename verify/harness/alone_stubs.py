"""Stands in for packages that are not installed, and for names that a package lacks, as long as they are not used.

Runs in the target's interpreter, beside the harness. What is taken from such a package can be imported, named,
inherited from and put before a definition as a decorator; any other use is an error that names the package.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.machinery
import os
import re
import sys
import types
from collections.abc import Sequence
from typing import Any

_LIGHTNING = ("lightning", "pytorch_lightning", "lightning_fabric")


class PackageMissing(ImportError):
    """Something of a package that is not installed was used."""


class MissingObject(type):
    """What a missing package would have held under some name."""

    package: str

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return missing(name, cls.package)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if not Stubs.loading:
            raise PackageMissing(f"{cls.package} has no {cls.__name__} here, or is not installed, and it is used")
        return args[0] if len(args) == 1 and isinstance(args[0], type | types.FunctionType) else cls


def missing(name: str, package: str) -> MissingObject:
    """Something that a package should hold."""
    made = MissingObject(name, (), {})
    made.package = package
    return made


class _StubModule(types.ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return missing(name, self.__name__)


class Stubs:
    """A finder of modules that are missing; `loading` says whether the project is being imported."""

    loading = False

    def __init__(self) -> None:
        self.names: list[str] = []

    def stands_in(self, error: ImportError, root: str) -> bool:
        """Stand in for what an import did not find, where that is neither Lightning's nor the project's."""
        taken = re.search(r"cannot import name '(\w+)' from '([\w.]+)'", str(error))
        name = f"{taken[2]}.{taken[1]}" if taken else error.name if isinstance(error, ModuleNotFoundError) else None
        if not name or name in self.names or name.split(".")[0] in _LIGHTNING or _is_local(name, root):
            return False
        self.add(name)
        return True

    def add(self, name: str) -> None:
        """Let a module, and all below it, be imported; or a name be taken from a module that is there."""
        if not self.names:
            sys.meta_path.append(self)
        self.names.append(name)
        parent, _, last = name.rpartition(".")
        holder = None
        with contextlib.suppress(Exception):
            holder = importlib.import_module(parent) if parent else None
        if holder is not None and not hasattr(holder, last):
            setattr(holder, last, missing(last, parent))

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: Any = None) -> Any:
        if not any(name == known or name.startswith(f"{known}.") for known in self.names):
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)  # type: ignore[arg-type]

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        return _StubModule(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        """There is nothing to execute."""


def _is_local(name: str, root: str) -> bool:
    """Whether the project has what a dotted name begins with: then its own file is what is missing."""
    first = name.split(".")[0]
    origin = getattr(sys.modules.get(first), "__file__", None) or ""
    folders = [place for place in sys.path if place.startswith(root)]
    return origin.startswith(f"{root}/") or any(
        os.path.exists(os.path.join(place, found))  # noqa: PTH110, PTH118
        for place in folders
        for found in (first, f"{first}.py")
    )
