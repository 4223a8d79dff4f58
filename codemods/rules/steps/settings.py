"""Numbers that a Hydra or OmegaConf configuration of the project gives a script."""

from __future__ import annotations

import ast
import posixpath
from collections.abc import Iterator, Mapping
from typing import Any

from codemods.code.calls import value_of
from codemods.code.literals import literal
from codemods.code.source import CallNode, PythonFile, TextFile, Unreadable
from codemods.code.syntax import Function
from codemods.lightning.configurations.mappings import UNSEEN, Malformed, read_mappings
from codemods.lightning.facts import Facts

HYDRA = ("hydra.main",)
LOADS = ("omegaconf.OmegaConf.load",)


def settings_at(file: PythonFile, call: CallNode, facts: Facts) -> dict[str, Any]:
    """The values of a configuration by the text that stands for them where a call stands: `cfg.data.batch_size`."""
    found: dict[str, Any] = {}
    for function in call.within:
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef) and function.args.args:
            for path in _hydra(file, function):
                found |= _below(function.args.args[0].arg, read_settings(path, facts))
    for item in file.assignments:
        target, value = item.node.targets[0] if isinstance(item.node, ast.Assign) else item.node.target, item.node.value
        if (
            isinstance(target, ast.Name)
            and isinstance(value, ast.Call)
            and item.within == call.within[: len(item.within)]
        ):
            loaded = _given(value, "file_", 0) if call.scope.resolve(value.func) in LOADS else None
            if loaded and len(file.assignments_to(target.id)) == 1:
                found |= _below(target.id, read_settings(posixpath.normpath(loaded), facts))
    return found


def _below(name: str, values: Mapping[str, Any]) -> dict[str, Any]:
    return {f"{name}.{key}": value for key, value in values.items()}


def _hydra(file: PythonFile, function: Function) -> Iterator[str]:
    """The configuration that Hydra hands a function."""
    for item in function.decorator_list:
        if isinstance(item, ast.Call) and file.scope.resolve(item.func) in HYDRA:
            folder, name = _given(item, "config_path", 0), _given(item, "config_name", 1)
            if folder is not None and name:
                place = posixpath.join(posixpath.dirname(file.path), folder, name)
                yield posixpath.normpath(place if place.endswith((".yaml", ".yml")) else f"{place}.yaml")


def _given(call: ast.Call, name: str, index: int) -> str | None:
    node = value_of(call, name)
    node = node or (call.args[index] if index < len(call.args) else None)
    known, value = literal(node) if node is not None else (False, None)
    return value if known and isinstance(value, str) else None


def read_settings(path: str, facts: Facts) -> dict[str, Any]:
    """The scalars of a configuration file by their dotted keys, those of the groups that it chooses among them.

    What the file alone does not tell, an interpolation for example, is its text.
    """
    source = facts.sources.get(path)
    try:
        text = TextFile.decode(source).text if source else ""
        mappings = read_mappings(text, "yaml")
    except (Unreadable, Malformed):
        return {}
    found: dict[str, Any] = {}
    inner = {mapping.path for mapping in mappings}
    for mapping in mappings:
        if mapping.path[:1] == ("defaults",):
            for entry in mapping.entries:
                if isinstance(entry.value, str) and " " not in entry.key and "@" not in entry.key:
                    group = read_settings(
                        posixpath.join(posixpath.dirname(path), entry.key, f"{entry.value}.yaml"), facts
                    )
                    found = {**_below(entry.key.replace("/", "."), group), **found}
    for mapping in mappings:
        if "[]" not in mapping.path and mapping.path[:1] != ("defaults",):
            for entry in mapping.entries:
                place = (*mapping.path, entry.key)
                unseen = entry.value is UNSEEN and place not in inner
                value = text[slice(*entry.value_at)].strip("'\"") if unseen else entry.value
                if isinstance(value, bool | int | float | str):
                    found[".".join(place)] = value
    return found
