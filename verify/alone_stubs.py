"""Stands in for packages that are not installed, as long as nothing of them is used.

Runs in the target's interpreter, beside the harness. What is taken from such a package can be imported, named,
inherited from and put before a definition as a decorator; any other use is an error that names the package.
"""

from __future__ import annotations

import importlib.machinery
import sys
import types
from collections.abc import Sequence
from typing import Any


class PackageMissing(ImportError):
    """Something of a package that is not installed was used."""


class Missing(type):
    """What a missing package would have held under some name."""

    package: str

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return _missing(name, cls.package)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if not Stubs.loading:
            raise PackageMissing(f"{cls.package} is not installed, and {cls.__name__} of it is used")
        return args[0] if len(args) == 1 and isinstance(args[0], type | types.FunctionType) else cls


def _missing(name: str, package: str) -> Missing:
    made = Missing(name, (), {})
    made.package = package
    return made


class _Module(types.ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return _missing(name, self.__name__.split(".")[0])


class Stubs:
    """A finder of modules for packages that are missing; `loading` says whether the project is being imported."""

    loading = False

    def __init__(self) -> None:
        self.packages: list[str] = []

    def add(self, package: str) -> None:
        """Let a package, and all below it, be imported."""
        if not self.packages:
            sys.meta_path.append(self)
        self.packages.append(package)

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: Any = None) -> Any:
        if name.split(".")[0] not in self.packages:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)  # type: ignore[arg-type]

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        return _Module(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        """There is nothing to execute."""
