"""What the options of a command line, and the classes of a project, declare under a name."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping

from codemods.code.calls import last_name, value_of
from codemods.code.nodes import every_node
from codemods.code.source import PythonFile
from codemods.code.syntax import targets_of
from codemods.lightning.called_values import ASKING, handed_out
from codemods.lightning.configured_values import texts_in_configurations
from codemods.lightning.facts import Facts
from codemods.lightning.parameters import default_of_parameter

_STORED_BY = {"store_true": False, "store_false": True}
"""What an option of a command line is where it is not given, by its action."""


_CODE = ("python", "notebook")
_FILLING = frozenset(
    {"set_defaults", "update", "dict", "Namespace", "SimpleNamespace", "EasyDict", "ConfigDict", "Box"}
)
"""What holds, or puts on something, the keywords that it is given."""


def default_of_option(file: PythonFile, name: str) -> ast.expr | None:
    """The default of the option of a command line that a namespace holds under a name."""
    if "parse_" not in file.text:
        return None
    for call in file.calls_near(["set_defaults"]):
        if (default := value_of(call.node, name)) is not None:
            return default
    for call in file.calls_near(["add_argument"]):
        given = {item.arg: item.value for item in call.node.keywords}
        flags = [
            item.value for item in call.node.args if isinstance(item, ast.Constant) and isinstance(item.value, str)
        ]
        named = given.get("dest")
        words = (
            [named.value] if isinstance(named, ast.Constant) else [flag.lstrip("-").replace("-", "_") for flag in flags]
        )
        required = any(not flag.startswith("-") for flag in flags) or "required" in given
        if name in words and not required:
            action = given.get("action")
            stored = _STORED_BY.get(str(action.value)) if isinstance(action, ast.Constant) else None
            return given.get("default", ast.copy_location(ast.Constant(stored), call.node))
    return None


def found_under(
    facts: Facts, opened: Callable[[str], PythonFile | None], place: ast.expr, name: str
) -> Mapping[ast.Constant, str]:
    """The texts, and None, that the code and the configurations of a project put under a name, with where they do."""
    asked = f"put under.{name}"
    if asked not in facts.memo:
        spelled = re.compile(rb"\b" + re.sub("_", "[_-]", name).encode() + rb"\b[\"']?\]?\s*(?:[:=,]|\])")
        found: dict[str, tuple[ast.Constant, str]] = {}
        for path, source in facts.holding(name.rpartition("_")[2]):
            file = opened(path) if source.kind in _CODE and spelled.search(source.unescaped) else None
            for value in _put_under(file, name) if file else ():
                found.setdefault(ast.dump(value), (value, f"{path}:{value.lineno}"))
        for path, text in texts_in_configurations(facts, name):
            made = ast.copy_location(ast.Constant(text), place)
            found.setdefault(ast.dump(made), (made, path))
        facts.memo[asked] = dict(found.values())
    known: Mapping[ast.Constant, str] = facts.memo[asked]
    return known


def _put_under(file: PythonFile, name: str) -> Iterator[ast.Constant]:
    """The texts, and None, that a file puts under a name: on an attribute or a field, as an item, a default of an
    option, in a dictionary that something is given by a keyword."""
    nodes = list(every_node(file.tree))
    given = [node.value for node in nodes if isinstance(node, ast.keyword)]
    named = {node.id for node in given if isinstance(node, ast.Name)}
    for node in nodes:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = targets_of(node)
            held = [target for target in targets if _holds(target, name)]
            own = all(isinstance(target, ast.Attribute) and _is_self(target.value) for target in held)
            yield from () if not held else _text(node.value) if own else _constant(node.value)
            if any(isinstance(target, ast.Name) and target.id in named for target in targets):
                yield from _of_dictionary(node.value, name)
        elif isinstance(node, ast.keyword):
            yield from _of_dictionary(node.value, name)
        elif isinstance(node, ast.Call) and any(_names(item, name) for item in node.args[:2]):
            yield from _of_declaration(node)
        elif isinstance(node, ast.Call) and last_name(node.func) in _FILLING:
            yield from (value for item in node.keywords if item.arg == name for value in _constant(item.value))
        elif isinstance(node, ast.ClassDef):
            yield from _of_class(node, name)


def _of_dictionary(node: ast.expr | None, name: str) -> Iterator[ast.Constant]:
    for key, value in zip(node.keys, node.values, strict=True) if isinstance(node, ast.Dict) else ():
        if isinstance(key, ast.Constant) and key.value == name:
            yield from _constant(value)


def _of_class(node: ast.ClassDef, name: str) -> Iterator[ast.Constant]:
    """What the fields of a class, and the parameters of its constructor, have for defaults."""
    for item in node.body:
        if any(isinstance(target, ast.Name) and target.id == name for target in targets_of(item)):
            yield from _constant(getattr(item, "value", None))
        elif isinstance(item, ast.FunctionDef) and item.name == "__init__":
            yield from _text(default_of_parameter(item.args, name))


def _holds(target: ast.expr, name: str) -> bool:
    """Whether a target is an attribute or an item of that name."""
    if isinstance(target, ast.Subscript):
        return isinstance(target.slice, ast.Constant) and target.slice.value == name
    return isinstance(target, ast.Attribute) and target.attr == name


def _names(node: ast.expr, name: str) -> bool:
    """Whether a text names an option."""
    text = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
    return text.lstrip("-").replace("-", "_") == name


def _of_declaration(call: ast.Call) -> Iterator[ast.Constant]:
    """The default of an option, as argparse, click and absl declare them."""
    declares = str(getattr(call.func, "attr", getattr(call.func, "id", "")))
    given = value_of(call, "default")
    if declares.startswith("DEFINE_"):
        given = given or next(iter(call.args[1:2]), None)
    elif declares not in ("add_argument", "option", "add"):
        return
    yield from _constant(given)


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def _text(value: ast.expr | None) -> Iterator[ast.Constant]:
    """A text alone: None is what many a class has for what it was not given, whatever the name says there."""
    yield from (item for item in _constant(value) if item.value is not None)


def _constant(value: ast.expr | None) -> Iterator[ast.Constant]:
    if isinstance(value, ast.Call):
        for item in handed_out(value) if last_name(value.func) not in ASKING else ():
            yield from _constant(item)
    elif isinstance(value, ast.Constant) and (value.value is None or isinstance(value.value, str)):
        yield value
