"""Metrics that a class keeps and that nothing gives predictions: any task is right for them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from codemods.code.nodes import every_node
from codemods.code.source import CallNode, ClassNode, PythonFile
from codemods.code.syntax import is_self_attribute, self_name
from codemods.lightning.class_family import family
from codemods.lightning.facts import Facts
from codemods.rules.metrics.metric_attributes import attributes_of, method_of
from codemods.rules.metrics.table import classes

_BY_NAME = re.compile(
    rb"getattr\((?!\s*\w[\w.]*,\s*['\"]\w*['\"]\s*[,)])|\b(?:named_children|named_modules|children|modules)\(|__dict__|vars\("
)
"""What reads attributes by names that are worked out, or goes through all that a module has."""
LIKE_THE_OTHERS = "Nothing that fixer sees gives it predictions: it gets the task of those that are made beside it."


def beside(file: PythonFile, facts: Facts, call: CallNode) -> Iterator[CallNode]:
    """The metrics that a method makes beside one which its class keeps and does not feed; none where other code of the
    project may."""
    method = method_of(file, call)
    names = attributes_of(method, call.node) if method and method.item else set()
    if method is None or method.item is None or len(names) != 1 or _is_read(file, facts, method.item, *names):
        return
    for other in file.calls_near(classes()):
        made = method_of(file, other)
        if other.node is not call.node and made is not None and made.node is method.node:
            yield other


def _is_read(file: PythonFile, facts: Facts, item: ClassNode, name: str) -> bool:
    """Whether other code than a class may read an attribute of its instances: a relative, or what has an instance."""
    fact = facts.of_class(file, item)
    if fact is None:
        return True
    if any(source.kind in ("python", "notebook") and _BY_NAME.search(source.data) for source in facts.sources.values()):
        return True
    kin = {(each.path, each.name) for each in family(facts, fact)}
    for path, source in facts.holding(name):
        home = file if path == file.path else facts.open(path) if source.kind in ("python", "notebook") else None
        for node in home.attributes(name) if home else ():
            owner = _owner(home, node) if home else None
            if owner is None or (path, owner) in kin:
                return True
    return False


def _owner(file: PythonFile, node: ast.Attribute) -> str | None:
    """The class of whose instance a method reads or sets an attribute."""
    return next(
        (
            item.qualname
            for item in file.classes
            for method in item.methods.values()
            if is_self_attribute(node, node.attr, self_name(method))
            and any(each is node for each in every_node(method))
        ),
        None,
    )
