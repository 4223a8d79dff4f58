"""What a method shows of the dicts that it names."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from codemods.code.nodes import walk
from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import Function, assigned_to, is_name, is_self_attribute, is_spelled, results, uses


@dataclass(frozen=True)
class DictUses:
    """What a method shows of the dicts that it names."""

    file: PythonFile
    method: Function

    def items(self, value: ast.expr) -> dict[str, ast.expr] | None:
        """The keys and values of a dict, None where they are not all written out."""
        if isinstance(value, ast.Dict):
            keys = keys_of(value)
            if len(keys) != len(value.keys):
                return None
            return {
                key.value: each
                for key, each in zip(value.keys, value.values, strict=True)
                if isinstance(key, ast.Constant) and isinstance(key.value, str)
            }
        if not isinstance(value, ast.Name):
            return None
        name = self.origin(value.id)
        found: dict[str, ast.expr] = {}
        accounted = 0
        for node in walk(self.method):
            if not isinstance(node, ast.Assign):
                continue
            for target in node.targets:
                if is_name(target, name):
                    items = self.items(node.value) if isinstance(node.value, ast.Dict) else None
                    if items is None:
                        return None
                    found |= items
                    accounted += 1
                elif isinstance(target, ast.Subscript) and is_name(target.value, name):
                    if not (isinstance(target.slice, ast.Constant) and isinstance(target.slice.value, str)):
                        return None
                    found[target.slice.value] = node.value
        stored = [use for use in uses(self.method, name) if isinstance(use.ctx, ast.Store)]
        if not found or len(stored) != accounted or self._changed(name):
            return None
        return found

    def alike(self, one: dict[str, ast.expr], other: dict[str, ast.expr]) -> bool:
        """Whether two dicts hold the same, of names and their items that the method binds once at most."""
        if {key: ast.dump(each) for key, each in one.items()} != {key: ast.dump(each) for key, each in other.items()}:
            return False
        names = {node.id for each in one.values() for node in walk(each) if isinstance(node, ast.Name)}
        plain = all(isinstance(each, ast.Name | ast.Constant) for each in one.values())
        return plain and all(
            sum(not isinstance(use.ctx, ast.Load) for use in uses(self.method, name)) <= 1 for name in names
        )

    def origin(self, name: str) -> str:
        """The name that a name is another one for, by one statement `name = other`."""
        seen: set[str] = set()
        while name not in seen:
            seen.add(name)
            bound = assigned_to(self.method, name)
            name = bound[0].id if len(bound) == 1 and isinstance(bound[0], ast.Name) else name
        return name

    def _changed(self, name: str) -> bool:
        """Whether a method of the dict is called that may change its keys."""
        return any(
            isinstance(node, ast.Attribute)
            and is_name(node.value, name)
            and node.attr in ("update", "pop", "setdefault")
            for node in walk(self.method)
        )


def keys_of(value: ast.expr) -> set[str]:
    """The constant keys of a dict display, of `dict(...)`, and of a call such as `OrderedDict({...})`."""
    if isinstance(value, ast.Dict):
        return {key.value for key in value.keys if isinstance(key, ast.Constant) and isinstance(key.value, str)}
    if isinstance(value, ast.Call):
        found = {keyword.arg for keyword in value.keywords if keyword.arg}
        return found.union(*(keys_of(argument) for argument in value.args[:1]))
    return set()


def is_dict(item: ClassNode, method: Function, value: ast.expr) -> bool:
    """Whether a value is plainly a dict: by itself, by what a method binds its name to, or by what the class's own
    method gives for it among several things."""
    if not isinstance(value, ast.Name):
        return isinstance(value, ast.Dict | ast.DictComp) or (
            isinstance(value, ast.Call) and is_spelled(value.func, "dict")
        )
    made = assigned_to(method, value.id)
    if any(not isinstance(each, ast.Name) and is_dict(item, method, each) for each in made):
        return True
    for node in walk(method):
        if not (isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)):
            continue
        function = node.value.func
        called = item.methods.get(function.attr) if isinstance(function, ast.Attribute) else None
        if called is None or called is method or not is_self_attribute(function, called.name):
            continue
        for target in node.targets:
            places = [index for index, each in enumerate(getattr(target, "elts", ())) if is_name(each, value.id)]
            given = [each.elts for each in results(called) if isinstance(each, ast.Tuple)]
            if any(len(each) > index and is_dict(item, called, each[index]) for index in places for each in given):
                return True
    return False
