"""What an installed Lightning has: names, parameters, hooks.

Runs in the target's interpreter, beside the harness.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable
from typing import Any

NO_PACKAGE = "there is no package {}"

# -- facts about the installed packages


def facts(uses: dict[str, Any], record: Callable[..., None]) -> None:
    """Say of every name whether it exists and how it is called, and of every hook what its base class has; and of a
    package that cannot be loaded as it is installed, which says nothing of its names."""
    for package in sorted({re.split("[.:]", name)[0] for name in uses["names"]}):
        found, missing = resolve(package)
        if found is None and missing != NO_PACKAGE.format(package):
            record("unloadable", package=package, reason=missing)
            return
    for name in sorted(uses["names"], key=lambda each: ":" not in each):  # before other names import more modules
        found, missing = resolve(name)
        record("name", name=name, missing=missing, parameters=parameters(found), role=role(found))
    for base, method in uses["methods"]:
        function = getattr(resolve(base)[0], method, None)
        plain = function is getattr(plain_module(), method, None)
        record("method", base=base, method=method, exists=function is not None and not plain,
               parameters=parameters(function))  # fmt: skip


def resolve(name: str) -> tuple[Any, str | None]:
    """The object behind a dotted name, or why there is none. One with a colon is reached from the module before that by
    attributes alone."""
    first, _, rest = name.partition(":")
    parts = [*first.split("."), *filter(None, rest.split("."))]
    found: Any = None
    for count in range(len(first.split(".")) if rest else len(parts), 0, -1):
        module = ".".join(parts[:count])
        try:
            found = importlib.import_module(module)
        except ModuleNotFoundError as error:
            if error.name != module and not module.startswith(f"{error.name}."):
                return None, f"{module} needs {error.name}, which is not installed"
            continue
        except Exception as error:
            return None, f"importing {module} fails: {type(error).__name__}: {error}"
        for at in range(count, len(parts)):
            try:
                found = getattr(found, parts[at])
            except AttributeError:
                return None, f"{'.'.join(parts[:at])} has no {parts[at]}"
        return found, None
    return None, NO_PACKAGE.format(parts[0])


def parameters(function: Any) -> list[list[Any]] | None:
    """Name, kind and whether there is a default, of every parameter; None where this cannot be known."""
    if not callable(function):
        return None
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return None
    return [[p.name, p.kind.name, p.default is not p.empty] for p in signature.parameters.values()]


def role(found: Any) -> str | None:
    """Which of Lightning's base classes a class derives from."""
    if not isinstance(found, type):
        return None
    names = {base.__name__ for base in found.__mro__ if base.__module__.startswith(("lightning", "pytorch_light"))}
    return next(
        (name for name in ("LightningModule", "LightningDataModule", "Callback", "Trainer") if name in names), None
    )


def plain_module() -> Any:
    """The class whose methods are torch's own, not Lightning's."""
    import torch

    return torch.nn.Module
