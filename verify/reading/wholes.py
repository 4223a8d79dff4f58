"""What a project's code takes as one: the configuration that goes by `args` or `cfg`, told by what is asked of it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from verify.reading.names import last_name
from verify.reading.sources import Sources

_CALLED = re.compile(r"(?:\w+_)?(?:hparams|hyper_?params|config|cfg|conf|args|opts?|params|options|settings|flags)")
_OF_MODULE, _KEEPS = "hparams", "save_hyperparameters"
"""What a module calls the configuration that it keeps, whatever its caller does."""
FILES = 40


def wholes(
    sources: Sources, first: str, groups: Sequence[Mapping[str, Any]], values: Mapping[str, list[Any]]
) -> dict[str, tuple[dict[str, Any], bool]]:
    """The configuration that each name stands for in the file `first` and in what it loads, as a description of an
    argument: of the `groups` of options and settings the one that has most of what is asked of it, and the project's
    `values` of what that lacks; and whether at least half of it is known."""
    asked: dict[str, set[str]] = {}
    same: list[tuple[str, str]] = []
    for path in sources.reach(first)[0][:FILES]:
        pairs, others = sources.once(_asked, path)
        same += others
        for name, key in pairs:
            asked.setdefault(name, set()).add(key)
    for one, other in same:
        both = asked.get(one, set()) | asked.get(other, set())
        asked |= {one: both, other: both}
    found = {}
    for name, keys in asked.items():
        best = max(groups, key=lambda group: (len(keys & group.keys()), -len(group)), default={})
        made = dict(best) if keys & best.keys() else {}
        made |= {key: values[key][0] for key in sorted(keys - made.keys()) if values.get(key)}
        if made:
            found[name] = {"@": "config", "values": made}, 2 * len(keys & made.keys()) >= len(keys)
    return found


def _asked(sources: Sources, path: str) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """What a file asks of its configurations, by their names, and which of these are other names of the same."""
    tree = sources.tree(path)
    nodes = list(ast.walk(tree)) if tree else []
    called = {node.func for node in nodes if isinstance(node, ast.Call)}
    keys: dict[tuple[str, str], None] = {}
    for node in nodes:
        if isinstance(node, ast.Attribute) and node not in called and isinstance(node.ctx, ast.Load):
            keys |= dict.fromkeys((name, node.attr) for name in _name(node.value) if not _name(node))
        elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            key = node.slice.value
            keys |= dict.fromkeys((name, key) for name in _name(node.value) if isinstance(key, str))
    pairs = ((target, node.value) for node in nodes if isinstance(node, ast.Assign) for target in node.targets)
    same = [(one, other) for target, value in pairs for one in _name(target) for other in _name(value) if one != other]
    kept = (node for node in nodes if isinstance(node, ast.Call) and last_name(node.func) == _KEEPS)
    given = (each for node in kept for argument in node.args for each in ast.walk(argument))
    same += [(name, _OF_MODULE) for each in given if isinstance(each, ast.expr) for name in _name(each)]
    return [pair for pair in keys if not pair[1].startswith("__")], same


def _name(node: ast.expr) -> Iterable[str]:
    """What a configuration is called that is a variable, or an attribute of the object at hand."""
    if isinstance(node, ast.Attribute) and ast.unparse(node.value) in ("self", f"self.{_OF_MODULE}"):
        name = node.attr
    else:
        name = node.id if isinstance(node, ast.Name) else ""
    return (name,) if _CALLED.fullmatch(name) else ()
