"""What the project's own YAML, JSON and TOML files, and code that begins a configuration, hold for a key which an
expression reads of that."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Sequence
from functools import partial
from typing import Any

from codemods.code.calls import value_of
from codemods.code.nodes import every_node
from codemods.code.source import CallNode, PythonFile, Source, TextFile, Unreadable
from codemods.code.syntax import Function, is_script_guard, returns, takes
from codemods.lightning.attribute_stores import is_stored
from codemods.lightning.configuration_holders import is_handed_one, keeps_one
from codemods.lightning.configurations.mappings import Malformed, read_mappings
from codemods.lightning.configurations.sacred import is_handed, stated_values
from codemods.lightning.configurations.trainer_keys import SECTION
from codemods.lightning.configurations.yacs import StatedValue, stated_in_code
from codemods.lightning.facts import Facts

LOADS = frozenset({
    "omegaconf.OmegaConf.load", "yaml.load", "yaml.safe_load", "yaml.full_load", "yaml.unsafe_load", "json.load",
    "json.loads", "toml.load", "toml.loads", "tomllib.load", "tomllib.loads", "tomli.load", "tomli.loads",
    "oyaml.load", "oyaml.safe_load", "oyaml.full_load", "ruamel.yaml.load", "ruamel.yaml.safe_load", "hjson.load",
    "hjson.loads", "commentjson.load", "commentjson.loads", "hydra.compose",
})  # fmt: skip
WRAPPERS = frozenset({
    "omegaconf.OmegaConf.create", "omegaconf.OmegaConf.to_container", "omegaconf.OmegaConf.merge", "addict.Dict",
    "attrdict.AttrDict", "box.Box", "easydict.EasyDict", "ml_collections.ConfigDict", "munch.Munch", "munch.munchify",
    "munch.Munch.fromDict", "copy.copy", "copy.deepcopy",
})  # fmt: skip
MERGE = "omegaconf.OmegaConf.merge"
COMMAND_LINE = "omegaconf.OmegaConf.from_cli"
"""What a configuration of files may be merged with: as with Hydra, what scripts and pages give by it is looked at."""
HYDRA = "hydra.main"
TYPES = ("omegaconf.DictConfig", "omegaconf.dictconfig.DictConfig", "omegaconf.OmegaConf")
LARGE = 1_000_000
"""Files of so many bytes hold data."""
_CHANGING = frozenset({
    "update", "setdefault", "merge", "merge_update", "merge_with", "merge_with_dotlist", "merge_with_cli",
    "merge_from_list", "merge_from_file", "from_cli", "from_dotlist",
})  # fmt: skip
"""Methods that put what comes from elsewhere into a mapping."""
_DEEP = 8
_PLACEHOLDER = ("<", "...")
"""What stands in a page where its reader is to put a value."""


def configured_values(facts: Facts, file: PythonFile, call: CallNode, node: ast.expr) -> tuple[Any, ...]:
    """The values that the project's configurations have, and command lines give, for the key which an attribute or item
    reads, wherever it stands; none where it is not seen to be read of a configuration, or code may set it."""
    node = _read_before(file, call, node)
    if stated := stated_in_code(facts, node):
        return _of_stated(facts, stated)
    root, key = _chain(node)
    if (
        root is None
        or not key
        or not (_is_configuration(facts, file, call, root, 0) or _is_kept(facts, file, call, node))
    ):
        return ()
    found = _values(facts, key)
    return () if found and is_set(facts, key) else found


def may_hold(facts: Facts, file: PythonFile, call: CallNode, node: ast.expr, keys: Collection[str]) -> bool:
    """Whether a mapping may have one of some keys, as it may where it is not seen to be read of a configuration."""
    if not (_is_read(facts, file, call, node, 0) or _is_kept(facts, file, call, node)):
        return True
    return any(_is_key(facts, key) or is_set(facts, key) or _is_spelled(facts, key) for key in keys)


def _is_key(facts: Facts, key: str) -> bool:
    """Whether a configuration of the project has a key, or a command line gives one."""
    spoken = (
        source
        for source in facts.sources.values()
        if source.kind in ("yaml", "json", "toml") and len(source.data) < LARGE and key.encode() in source.data
    )
    return stated_values(facts, key) != () or any(
        True for found in (*(_values_in(source, key) for source in spoken), _overriding(facts, key)) for _ in found
    )


def _is_spelled(facts: Facts, key: str) -> bool:
    """Whether code of the project writes a key as a text, or gives it to what fills mappings."""
    known: dict[str, bool] = facts.of_sources.setdefault("keys spelled", {})
    if key not in known:
        word = re.compile(
            rf"[\"']{key}[\"']|\b(?:{'|'.join(sorted(_CHANGING))}|dict)\((?:[^()]|\([^()]*\))*?\b{key}\s*=".encode()
        )
        known[key] = any(
            source.kind in ("python", "notebook") and word.search(source.unescaped) is not None
            for _, source in facts.holding(key)
        )
    return known[key]


def _is_kept(facts: Facts, file: PythonFile, call: CallNode, node: ast.expr) -> bool:
    """Whether a chain of attributes and items begins with a configuration that the instance keeps: `self.cfg.key`."""
    while isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.value, ast.Name):
        node = node.value
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            return keeps_one(facts, file, call, node, partial(_is_read_at, facts, 1))
    return False


def _is_read_at(facts: Facts, depth: int, file: PythonFile, call: CallNode, value: ast.expr | None) -> bool:
    return depth <= _DEEP and _is_read(facts, file, call, value, depth)


def _of_stated(facts: Facts, stated: Sequence[StatedValue]) -> tuple[Any, ...]:
    """What a configuration that code begins may have: its first values, and those of that key in files."""
    key, places = stated[0].path[-1], {each.place for each in stated}
    loose = is_stored(facts, facts.open, key, places) or any(_stores(file, key) for file in _files_with(facts, key))
    if loose or not all(each.known and each.value is not None for each in stated):  # None may become of any type
        return ()
    return (*(each.value for each in stated), *_values(facts, key))


def _read_before(file: PythonFile, call: CallNode, node: ast.expr) -> ast.expr:
    """What a name was assigned in the function of a call, if that but once."""
    if not isinstance(node, ast.Name):
        return node
    functions = [item for item in call.within if isinstance(item, Function)]
    values = _assigned(file, functions[-1] if functions else None, node.id)
    return values[0] if len(values) == 1 and values[0] is not None else node


def _chain(node: ast.expr) -> tuple[str | None, str]:
    """The name that a chain of attributes and items begins with, and the last key."""
    last = ""
    while isinstance(node, ast.Attribute | ast.Subscript):
        key = node.attr if isinstance(node, ast.Attribute) else getattr(node.slice, "value", None)
        if not isinstance(key, str):
            return None, ""
        last, node = last or key, node.value
    return (node.id if isinstance(node, ast.Name) else None), last


def is_set(facts: Facts, key: str) -> bool:
    """Whether code of the project may set an attribute or an item of that name."""
    known: dict[str, bool] = facts.of_sources.setdefault("configured values set", {})
    if key not in known:
        known[key] = is_stored(facts, facts.open, key) or any(_stores(file, key) for file in _files_with(facts, key))
    return known[key]


def is_set_by_modules(facts: Facts, key: str) -> bool:
    """Whether code of the project may set an attribute of that name, but for what a script does where it is run."""
    known: dict[str, bool] = facts.of_sources.setdefault("configured values set by modules", {})
    if key not in known:
        places = {place for file in _files_with(facts, key) for place in _places_in_script(file, key)}
        items = any(_stores(file, key) for file in _files_with(facts, key))
        known[key] = items or is_stored(facts, facts.open, key, places)
    return known[key]


def _places_in_script(file: PythonFile, key: str) -> Iterator[tuple[str, int, int]]:
    guards = [node for node in file.tree.body if is_script_guard(node)]
    for node in file.attributes(key):
        if any(guard.lineno < node.lineno <= (guard.end_lineno or 0) for guard in guards):
            yield file.path, node.lineno, node.col_offset


def _files_with(facts: Facts, word: str) -> Iterator[PythonFile]:
    for path, source in facts.sources.items():
        spoken = source.kind in ("python", "notebook") and word.encode() in source.unescaped
        if spoken and (file := facts.open(path)) is not None:
            yield file


def _stores(file: PythonFile, key: str) -> bool:
    """Whether a file sets an item of that key."""
    return any(
        isinstance(node, ast.Subscript)
        and not isinstance(node.ctx, ast.Load)
        and getattr(node.slice, "value", None) == key
        for node in every_node(file.tree)
    )


def _is_configuration(facts: Facts, file: PythonFile, call: CallNode, name: str, depth: int) -> bool:
    """Whether all that a name is, where a call stands, was read of a file or handed over by Hydra."""
    if depth > _DEEP:
        return False
    functions = [item for item in call.within if isinstance(item, Function)]
    for function in reversed(functions):
        if takes(function, name) and is_handed(facts, function, name):
            given = _assigned(file, function, name)
            return all(_is_copy(call, value, name) or _is_read(facts, file, call, value, depth + 1) for value in given)
        if takes(function, name):
            return not _assigned(file, function, name) and _is_handed(facts, file, function, name, depth)
        if values := _assigned(file, function, name):
            return all(_is_read(facts, file, call, value, depth) for value in values)
    values = _assigned(file, None, name)
    return bool(values) and all(_is_read(facts, file, call, value, depth) for value in values)


def _assigned(file: PythonFile, function: Function | None, name: str) -> list[ast.expr | None]:
    """What a function, or the module, binds a name to."""
    return [
        item.node.value
        for item in file.assignments_to(name)
        if next((each for each in reversed(item.within) if isinstance(each, Function)), None) is function
    ]


def _is_read(facts: Facts, file: PythonFile, call: CallNode, value: ast.expr | None, depth: int) -> bool:
    if isinstance(value, ast.Call):
        dotted = call.scope.resolve(value.func) or ""
        if dotted in LOADS:
            return True
        if dotted in WRAPPERS:
            given = [*value.args, *(item.value for item in value.keywords)]
            if dotted == MERGE:
                given = [item for item in given if not _is_command_line(file, call, item)]
            return bool(given) and all(_is_read(facts, file, call, item, depth + 1) for item in given)
        return _is_given_back(facts, file, value, dotted, depth)
    if isinstance(value, ast.Dict):
        spread = bool(value.keys) and all(key is None for key in value.keys)
        return spread and all(_is_read(facts, file, call, item, depth + 1) for item in value.values)
    if value is None:
        return False
    root, _ = _chain(value)
    return root is not None and _is_configuration(facts, file, call, root, depth + 1)


def _is_command_line(file: PythonFile, call: CallNode, value: ast.expr) -> bool:
    """Whether a value, or all that its name is given in the function, is what the command line says."""
    values: list[ast.expr | None] = [value]
    if isinstance(value, ast.Name):
        functions = [item for item in call.within if isinstance(item, Function)]
        values = _assigned(file, functions[-1] if functions else None, value.id)
    calls = [item for item in values if isinstance(item, ast.Call)]
    told = [
        item for item in calls if call.scope.resolve(item.func) == COMMAND_LINE and not (item.args or item.keywords)
    ]
    return len(told) == len(values) > 0


def _is_copy(call: CallNode, value: ast.expr | None, name: str) -> bool:
    """Whether a value is `copy.deepcopy(name)`, or the like, of that name."""
    if not isinstance(value, ast.Call) or value.keywords or call.scope.resolve(value.func) not in WRAPPERS:
        return False
    return len(value.args) == 1 and isinstance(value.args[0], ast.Name) and value.args[0].id == name


def _is_given_back(facts: Facts, file: PythonFile, value: ast.Call, dotted: str, depth: int) -> bool:
    """Whether a function of the project gives back what it read of a file."""
    found = facts.find_definition(dotted, file.path) if dotted and depth < _DEEP else None
    if found is None or not isinstance(found[1], ast.FunctionDef) or found[1].decorator_list:
        return False
    if any(isinstance(node, ast.Attribute) and node.attr in _CHANGING for node in every_node(found[1])):
        return False
    home, function = found[0], found[1]
    inside = CallNode(value, home.scope_within((function,)), (function,))
    given = [each.value for each in returns(function)]
    return bool(given) and all(_is_read(facts, home, inside, each, depth + 1) for each in given)


def _is_handed(facts: Facts, file: PythonFile, function: Function, name: str, depth: int) -> bool:
    """Whether a parameter is what Hydra hands a function, said to be a configuration, or that at each call."""
    for item in function.decorator_list:
        if file.scope.resolve(item.func if isinstance(item, ast.Call) else item) == HYDRA:
            return function.args.args[0].arg == name
    arguments = [*function.args.posonlyargs, *function.args.args]
    place = next((index for index, item in enumerate(arguments) if item.arg == name), None)
    if place is None:
        return False
    note = arguments[place].annotation
    if note is not None and file.scope.resolve(note) in TYPES:
        return True
    if is_handed_one(facts, file, function, name, partial(_is_read_at, facts, depth + 1)):
        return True
    calls = [
        other
        for other in file.calls_near([f"{function.name}("])
        if isinstance(other.node.func, ast.Name) and other.node.func.id == function.name
    ]
    given = [other.node.args[place] if place < len(other.node.args) else value_of(other.node, name) for other in calls]
    return bool(calls) and all(
        _is_read(facts, file, other, value, depth + 1) for other, value in zip(calls, given, strict=True)
    )


def _values(facts: Facts, key: str) -> tuple[Any, ...]:
    """The values of a key in all configurations."""
    known: dict[str, tuple[Any, ...]] = facts.of_sources.setdefault("configured values", {})
    if key not in known:
        spoken = [
            source
            for source in facts.sources.values()
            if source.kind in ("yaml", "json", "toml") and len(source.data) < LARGE and key.encode() in source.data
        ]
        values = [value for source in spoken for value in _values_in(source, key)]
        stated = stated_values(facts, key)
        values += stated or ()
        known[key] = (*values, *(_overriding(facts, key) if values else ())) if stated is not None else ()
    return known[key]


def texts_in_configurations(facts: Facts, key: str) -> Iterator[tuple[str, str | None]]:
    """The texts, and None, that the project's configurations have under a key, each with the file. None in a section
    of a Trainer's own name is told there."""
    for path, source in facts.sources.items():
        if source.kind in ("yaml", "json", "toml") and len(source.data) < LARGE and key.encode() in source.data:
            for section, value in _entries_in(source, key):
                if isinstance(value, str) or (value is None and section != SECTION):
                    yield path, value
    yield from (("", value) for value in stated_values(facts, key) or () if value is None or isinstance(value, str))


def _entries_in(source: Source, key: str) -> Iterator[tuple[str, Any]]:
    """The values of a key in a file, each with the name of the section."""
    try:
        mappings = read_mappings(TextFile.decode(source).text, source.kind)
    except (Malformed, Unreadable):
        return
    for mapping in mappings:
        section = str(mapping.path[-1]) if mapping.path else ""
        yield from ((section, entry.value) for entry in mapping.entries if entry.key == key)


def _values_in(source: Source, key: str) -> Iterator[Any]:
    try:
        yield from _values_of(TextFile.decode(source).text, source.kind, key)
    except Unreadable:
        return


def _values_of(text: str, kind: str, key: str) -> Iterator[Any]:
    try:
        mappings = read_mappings(text, kind)
    except Malformed:
        return
    for mapping in mappings:
        yield from (entry.value for entry in mapping.entries if entry.key == key)


def _overriding(facts: Facts, key: str) -> Iterator[Any]:
    """The values that scripts and pages give the key on the command line of a program."""
    given = re.compile(rf"(?<=\s)[\"']?\+{{0,2}}(?:[\w/@]+\.)*{re.escape(key)}=([^\s\"'\\;&|)]+)")
    for source in facts.sources.values():
        if source.kind in ("shell", "docs", "dockerfile") and f"{key}=".encode() in source.data:
            for line in source.data.decode(errors="replace").splitlines():
                if source.kind != "docs" or "python" in line:
                    for found in given.finditer(line):
                        if source.kind == "docs" and found[1].startswith(_PLACEHOLDER):
                            continue
                        yield from _values_of(f"{key}: {found[1]}", "yaml", key)


def kind_of_configured(facts: Facts, file: PythonFile, call: CallNode, node: ast.expr) -> str:
    """The kind of all that the configurations have for a key, as `lightning.kinds` names kinds."""
    kinds = {type(value).__name__ for value in configured_values(facts, file, call, node) if value is not None}
    if kinds == {"int", "float"}:
        return "number"
    kind = kinds.pop() if len(kinds) == 1 else "?"
    return kind if kind in ("int", "float", "bool", "str") else "?"
