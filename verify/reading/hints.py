"""What a project says of the values that its modules are built with: calls, configurations, command line options."""

from __future__ import annotations

import ast
import contextlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from verify.reading.callers import NONE, CallerScope, calls, hinted, meant, scope, settled
from verify.reading.names import last_name
from verify.reading.sources import Sources
from verify.reading.wholes import wholes

EACH = 6
GROUPS, GROUPS_SIZE, VARIANTS = 80, 120_000, 3
TABLES = 20
_OF_SETTINGS = re.compile(r"config|cfg|args|arguments|param|option|setting|flags")
_REACHED = ("_target_", "class_path", "target", "class", "name", "type")
_OF_LOADING = ("checkpoint_path", "map_location", "hparams_file", "strict", "weights_only")
_GIVEN = ("init_args", "params", "args", "kwargs", "hparams")


@dataclass
class Hints:
    """Values by name, the most telling first; the arguments of whole calls by the class that is called; what belongs
    together in configuration files and in code; and, of one file, the options of its command line and the `tables`
    that they make with its dictionaries and classes of settings."""

    values: dict[str, list[Any]] = field(default_factory=dict)
    calls: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    groups: list[dict[str, Any]] = field(default_factory=list)
    options: dict[str, Any] = field(default_factory=dict)
    tables: list[dict[str, Any]] = field(default_factory=list)

    def add(self, name: str, value: Any) -> None:
        held = self.values.setdefault(name, [])
        if len(held) < EACH and _fits(value) and not any(value == old and type(value) is type(old) for old in held):
            held.append(value)

    def call(self, name: str, given: dict[str, Any]) -> None:
        held = self.calls.setdefault(name, [])
        if given and len(held) < EACH and given not in held and _fits(given):
            held.append(given)

    def take(self, other: Hints) -> None:
        """What another says, as far as there is room."""
        for name, values in other.values.items():
            self.values.setdefault(name, [])
            for value in values:
                self.add(name, value)
        for name, given_to in other.calls.items():
            self.calls.setdefault(name, [])
            for given in given_to:
                self.call(name, given)


def hints(sources: Sources, first: str) -> Hints:
    """What the project says, that of the file `first` and of those that load it before the rest."""
    found = Hints()
    loaders = sources.loaders(first)
    near = [path for path in sources.paths() if path in loaders]
    rest = [path for path in sources.paths() if path not in loaders]
    tables: list[dict[str, Any]] = []
    for path in [first, *near, *rest]:
        said = sources.once(_of_file, path)
        found.take(said)
        tables += [table for table in said.tables if table not in tables and _fits(table)]
    size = 0
    for path, data in sources.configurations():
        _walk(data, found, 0)
        if isinstance(data, list) and (plain := configured(data)) is not NONE:
            found.add(PurePosixPath(path).stem, plain)
        for group in _groups(configured(data), 0):
            size += len(json.dumps(group))
            if size < GROUPS_SIZE and len(found.groups) < GROUPS and group not in found.groups:
                found.groups.append(group)
    found.groups[:0] = tables[:TABLES]
    for name, (whole, is_known) in wholes(sources, first, found.groups, found.values).items():
        if _fits(whole):
            held = found.values.setdefault(name, [])
            held.insert(0 if is_known else len(held), whole)
    for name, held in found.calls.items():
        found.calls[name] = _settled(held, found)
    return found


def _settled(held: list[dict[str, Any]], found: Hints) -> list[dict[str, Any]]:
    """Calls with the project's values for what they name: the likeliest ones, and those of one configuration each."""
    made: list[dict[str, Any]] = []
    for call in held:
        wanted = set(hinted(call))
        fitting = sorted((group for group in found.groups if wanted & set(group)), key=lambda g: -len(wanted & set(g)))
        whole = [group for group in fitting if wanted <= set(group)]
        for group in [*whole[:1], {}, *fitting[:VARIANTS]]:
            values = {**found.values, **{name: [value] for name, value in group.items()}}
            known = {name: settled(value, values) for name, value in call.items()}
            new = {name: value for name, value in known.items() if value is not NONE}
            if new not in made:
                made.append(new)
    return made


def _groups(data: Any, depth: int) -> Iterator[dict[str, Any]]:
    """A configuration and those within it, as far as they say more than one thing."""
    if isinstance(data, dict) and depth < 4:
        if len(data) > 1 and "@" not in data:
            yield data
        for value in data.values():
            yield from _groups(value, depth + 1)


def _fits(value: Any) -> bool:
    try:
        return len(json.dumps(value)) < 20_000
    except (TypeError, ValueError, RecursionError):
        return False


# -- code


def _of_file(sources: Sources, path: str) -> Hints:
    """What a file says; of one that nests too deeply, what was found by then."""
    found = Hints()
    if tree := sources.tree(path):
        with contextlib.suppress(RecursionError):
            _read(sources, path, tree, found)
    return found


def _read(sources: Sources, path: str, tree: ast.Module, found: Hints) -> None:
    constants = {
        target.id: value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(target := node.targets[0], ast.Name)
        and (value := _value(node.value, {})) is not NONE
    }  # fmt: skip
    outer = scope(sources, path, constants)
    for call, held in calls(tree, outer):
        _call(call, held, sources, found)
    for node in ast.walk(tree):
        for name, given in (*_defaults(node), *_set(node)):
            value = _value(given, constants)
            if value is not NONE and value is not None:
                found.add(name, value)
    for name, value in constants.items():
        if name.islower() or name.isupper():
            found.add(name.lower(), value)
    tables = [found.options, *(_table(node, constants) for node in tree.body)]
    found.tables = [table for table in tables if len(table) > 1][:EACH]
    for table in (_table(node, constants) for node in tree.body if not isinstance(node, ast.ClassDef)):
        for name, value in table.items() if len(table) > 1 else ():
            found.add(name, value)


def _table(node: ast.stmt, constants: Mapping[str, Any]) -> dict[str, Any]:
    """What is known of the settings that a file holds in a dictionary, or in a class that is called so."""
    pairs: list[tuple[Any, ast.expr | None]] = []
    value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
    if isinstance(value, ast.Dict):
        pairs = [(getattr(key, "value", None), each) for key, each in zip(value.keys, value.values, strict=True)]
    elif isinstance(value, ast.Call) and last_name(value.func) == "dict":
        pairs = [(keyword.arg, keyword.value) for keyword in value.keywords]
    elif isinstance(node, ast.ClassDef) and _OF_SETTINGS.search(node.name.lower()):
        for each in node.body:
            targets = each.targets if isinstance(each, ast.Assign) else [getattr(each, "target", None)]
            given = getattr(each, "value", None)
            pairs += [(target.id, _of_field(given)) for target in targets if isinstance(target, ast.Name) and given]
    known = ((name, _value(each, constants)) for name, each in pairs if isinstance(name, str) and each)
    return {name: value for name, value in known if value is not NONE}


def _set(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """What is set in a configuration: by a key, or as an attribute of anything but the object at hand."""
    if not isinstance(node, ast.Assign):
        return
    for target in node.targets:
        if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant):
            if isinstance(key := target.slice.value, str):
                yield key, node.value
        elif isinstance(target, ast.Attribute) and _OF_SETTINGS.search(ast.unparse(target.value).lower()):
            yield target.attr, node.value


def _parameters(sources: Sources, name: str) -> tuple[str, ...]:
    """The parameters of the `__init__` of a class of the project."""
    for path in sources.paths():
        found = sources.once(_constructors, path).get(name)
        if found is not None:
            return found
    return ()


def _constructors(sources: Sources, path: str) -> dict[str, tuple[str, ...]]:
    """The parameters of each class of a file."""
    found: dict[str, tuple[str, ...]] = {}
    for node in tree.body if (tree := sources.tree(path)) else ():
        if isinstance(node, ast.ClassDef):
            made = [item for item in node.body if isinstance(item, ast.FunctionDef) and item.name == "__init__"]
            found.setdefault(node.name, tuple(item.arg for item in made[0].args.args[1:]) if made else ())
    return found


def _defaults(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """What the parameters of a function, and the fields of a class that says their types, are by themselves: a field
    that is 0 or empty is often set later."""
    if isinstance(node, ast.ClassDef):
        for each in node.body:
            if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name) and each.value:
                value = _of_field(each.value)
                if ast.unparse(value) not in ("0", "''"):
                    yield each.target.id, value
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return
    plain = node.args.args
    for parameter, default in zip(plain[len(plain) - len(node.args.defaults) :], node.args.defaults, strict=True):
        yield parameter.arg, default
    for parameter, given in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True):
        if given is not None:
            yield parameter.arg, given


def _of_field(value: ast.expr) -> ast.expr:
    """What `field(default=...)` and `field(default_factory=lambda: ...)` give; the value itself where it is no call."""
    given = {keyword.arg: keyword.value for keyword in value.keywords} if isinstance(value, ast.Call) else {}
    made = given.get("default_factory")
    return given.get("default") or (made.body if isinstance(made, ast.Lambda) else value)


def _call(node: ast.Call, held: CallerScope, sources: Sources, found: Hints) -> None:
    constants = held.constants
    called = last_name(node.func)
    if called in ("add_argument", "option", "Option", "add_arg"):
        _option(node, constants, found)
        return
    keywords, positional = node.keywords, node.args
    if called == "load_from_checkpoint" and isinstance(node.func, ast.Attribute):
        called = last_name(node.func.value)
        keywords, positional = [each for each in keywords if each.arg not in _OF_LOADING], []
    named = [(each.arg, each.value) for each in keywords if each.arg]
    given = {name: value for name, kept in named if (value := _value(kept, constants)) is not NONE}
    names = _parameters(sources, called) if positional and called[:1].isupper() else ()
    given |= {
        name: value
        for name, argument in zip(names, positional, strict=False)
        if (value := _value(argument, constants)) is not NONE
    }
    for name, value in given.items():
        found.add(name, value)
    if called[:1].isupper():
        more = {name: meant(value, held) for name, value in [*zip(names, positional, strict=False), *named]}
        found.call(called, {**{name: value for name, value in more.items() if value is not NONE}, **given})
        found.call(called, given)


def _option(node: ast.Call, constants: Mapping[str, Any], found: Hints) -> None:
    """An option of a command line: its default, one of its choices, or a value of its type."""
    flags = [argument.value for argument in node.args if isinstance(argument, ast.Constant)]
    name = next((str(flag) for flag in flags if str(flag).startswith("--")), str(flags[0]) if flags else "")
    given = {keyword.arg: keyword.value for keyword in node.keywords}
    target = given.get("dest")
    name = str(target.value) if isinstance(target, ast.Constant) else name.lstrip("-").split("/")[0].replace("-", "_")
    value = _value(given["default"], constants) if "default" in given else NONE
    if value is NONE or value is None:
        choices = _value(given["choices"], constants) if "choices" in given else NONE
        action = getattr(given.get("action"), "value", None)
        value = choices[0] if isinstance(choices, list) and choices else {"store_true": False, "store_false": True}.get(
            str(action), value
        )  # fmt: skip
    if name and value is not NONE:
        found.options[name] = _typed(value, getattr(given.get("type"), "id", ""))
        found.add(name, found.options[name])
    others = _value(given["choices"], constants) if name and "choices" in given else None
    for choice in others if isinstance(others, list) else ():
        found.add(name, choice)


def _typed(value: Any, kind: str) -> Any:
    if kind in ("int", "float") and isinstance(value, str | int | float) and not isinstance(value, bool):
        try:
            return int(value) if kind == "int" else float(value)
        except ValueError:
            return value
    return value


def _value(node: ast.expr, constants: Mapping[str, Any]) -> Any:
    """What an expression is, where it is written out; `NONE` where it is not."""
    if isinstance(node, ast.Name) and node.id in constants:
        return constants[node.id]
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return _number(node)
    return _plain(value)


def _number(node: ast.expr) -> Any:
    """The result of a small calculation with numbers."""
    if not isinstance(node, ast.BinOp):
        return NONE
    left, right = _value(node.left, {}), _value(node.right, {})
    if not isinstance(left, int | float) or not isinstance(right, int | float):
        return NONE
    try:
        if isinstance(node.op, ast.Mult):
            return left * right
        if isinstance(node.op, ast.Div):
            return left / right
        if isinstance(node.op, ast.Pow) and abs(right) < 20:
            return left**right
    except (ZeroDivisionError, OverflowError):
        return NONE
    return NONE


def _plain(value: Any) -> Any:
    """A value as JSON holds it."""
    if isinstance(value, tuple):
        return {"@": "tuple", "items": [_plain(item) for item in value]}
    if isinstance(value, list):
        items = [_plain(item) for item in value]
        return NONE if NONE in items else items
    if isinstance(value, dict):
        made = {str(key): _plain(item) for key, item in value.items()}
        return NONE if NONE in made.values() else made
    return value if value is None or isinstance(value, bool | int | float | str) else NONE


# -- configuration files


def _walk(data: Any, found: Hints, depth: int) -> None:
    if depth > 12:
        return
    if isinstance(data, list):
        for item in data[:50]:
            _walk(item, found, depth + 1)
    if not isinstance(data, dict):
        return
    for key, value in data.items():
        if isinstance(key, str):
            plain = configured(value)
            if plain is not NONE:
                found.add(key, plain)
            _walk(value, found, depth + 1)
    for reached in _REACHED:
        name = data.get(reached)
        if isinstance(name, str) and name.isascii():
            inner = next((data[key] for key in _GIVEN if isinstance(data.get(key), dict)), None)
            given = inner if inner is not None else {key: value for key, value in data.items() if key != reached}
            found.call(name.rsplit(".", 1)[-1], _arguments(given))


def _arguments(given: Mapping[Any, Any]) -> dict[str, Any]:
    made = {str(key): configured(value) for key, value in given.items() if not str(key).startswith("_")}
    return {key: value for key, value in made.items() if value is not NONE}


def configured(value: Any) -> Any:
    """A value of a configuration as an argument; what hydra and LightningCLI would build becomes a call. References
    to other values are not known, and neither is what holds them."""
    if isinstance(value, str):
        return NONE if "${" in value or value == "???" else value
    if isinstance(value, list):
        items = [configured(item) for item in value]
        return NONE if any(item is NONE for item in items) else items
    if not isinstance(value, dict):
        return value if value is None or isinstance(value, bool | int | float) else NONE
    for key, inner in (("_target_", None), ("class_path", "init_args")):
        name = value.get(key)
        if isinstance(name, str) and "." in name:
            given = value if inner is None else value.get(inner) or {}
            made = {"@": "call", "name": name, "kwargs": _arguments(given) if isinstance(given, dict) else {}}
            return {**made, "partial": True} if value.get("_partial_") else made
    made = {str(name): configured(item) for name, item in value.items()}
    return {name: item for name, item in made.items() if item is not NONE}
