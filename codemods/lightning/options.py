"""What a script's command line says of its values: the type of each option, and which names hold them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache

from codemods.code.calls import value_of
from codemods.code.literals import literal
from codemods.code.source import AssignNode, CallNode, PythonFile
from codemods.code.syntax import returns, takes, targets_of
from codemods.lightning.facts import Facts
from codemods.lightning.said_by_files import said_by

PARSED = ("parse_args", "parse_known_args")
LIGHTNINGS = "gpus"
"""The kind of Lightning's own option: a number, or text with a comma."""
TEXTS = 256
"""How many answers about texts are kept."""
_TYPES = {"int", "float", "str", "bool"}
_DECLARING = ("add_argument", "add_argparse_args")
_SPELLED = tuple(name.encode() for name in (*PARSED, *_DECLARING))


@dataclass(frozen=True)
class OptionTypes:
    """The kinds of each option's values (`int`, `float`, `number` for a float that is a whole number by default, `str`,
    `bool`, `numbers` for a list of whole ones or one, `list` or `?`; None may be among the values of any) and the
    functions that hand out what was parsed."""

    kinds: Mapping[str, frozenset[str]]
    parsers: frozenset[str]


def read_options(file: PythonFile) -> OptionTypes:
    """The options that a file declares."""
    if "options" not in file.memo:
        file.memo["options"] = _read(file)
    known: OptionTypes = file.memo["options"]
    return known


def _read(file: PythonFile) -> OptionTypes:
    kinds: dict[str, set[str]] = {}
    for call in file.calls_near(_DECLARING):
        function = call.node.func
        if isinstance(function, ast.Attribute) and function.attr == "add_argument" and (name := _dest(call.node)):
            kinds.setdefault(name, set()).add(_kind(call.node))
        elif isinstance(function, ast.Attribute) and function.attr == "add_argparse_args":
            kinds.setdefault("gpus", set()).add(LIGHTNINGS)
    parsers = frozenset(
        item.name
        for call in file.calls_near(PARSED)
        if is_parse(call.node)
        for item in call.within
        if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    return OptionTypes({name: frozenset(found) for name, found in kinds.items()}, parsers)


def default_of(file: PythonFile, call: CallNode, node: ast.expr) -> tuple[bool, object]:
    """What `args.name` is where the command line does not say, as (True, value): the literal default, or None, of the
    file's one option of that name. (False, None) where that is not seen."""
    if not isinstance(node, ast.Attribute) or _declared(file, call, node, (read_options(file),)) is None:
        return False, None
    found = declared(file, node.attr)
    return _default(found[0].node) if len(found) == 1 else (False, None)


def default_elsewhere(facts: Facts, file: PythonFile, call: CallNode, node: ast.expr) -> tuple[bool, object]:
    """The same of an option that the file does not declare itself: what all of that name in other files have."""
    name = node.attr if isinstance(node, ast.Attribute) else ""
    if not name or declared(file, name) or _declared(file, call, node, _of_project(facts, file)) is None:
        return False, None
    found = [_default(item.node) for each in _declaring(facts, file, name) for item in declared(each, name)]
    return found[0] if found and all(each == found[0] for each in found) else (False, None)


def _default(call: ast.Call) -> tuple[bool, object]:
    given = {item.arg: item.value for item in call.keywords}
    if not _is_optional(call) or {"action", "required"} & given.keys():
        return False, None
    known, value = literal(given["default"]) if "default" in given else (True, None)
    if isinstance(value, str) and _is_read_as_number(given.get("type"), value):
        return True, int(value)
    return known, value


def _is_read_as_number(kind: ast.expr | None, value: object) -> bool:
    """Whether a default is a text that argparse reads as it reads the command line, by the type of the option."""
    named = isinstance(kind, ast.Name) and kind.id == "int"
    return named and isinstance(value, str) and re.fullmatch(r"\s*[-+]?[0-9]+\s*", value) is not None


def declared(file: PythonFile, name: str) -> list[CallNode]:
    """The calls by which a file declares the options of a name."""
    return [call for call in file.calls_near(["add_argument"]) if _dest(call.node) == name]


def choices_of(file: PythonFile, name: str) -> set[str]:
    """The texts that the file's options of a name offer for a choice."""
    given = (item for call in declared(file, name) for item in call.node.keywords)
    offered = (literal(item.value)[1] for item in given if item.arg == "choices")
    return {value for each in offered if isinstance(each, list | tuple) for value in each if isinstance(value, str)}


def is_never_none(facts: Facts, file: PythonFile, call: CallNode, node: ast.Attribute) -> bool:
    """Whether `args.name` is a value whatever the command line, and the rest of the project, say: every option of that
    name that may be meant is declared so, and nothing sets it otherwise."""
    name, owner = node.attr, ast.unparse(node.value)
    parsed = _parsing(file, call, owner)
    files = [file, *([] if parsed else _declaring(facts, file, name))]
    found = [item for each in files for item in declared(each, name)]
    if not found or any(map(_is_filled, parsed)) or _is_set_otherwise(facts, file, owner, name):
        return False
    return all(map(_gives_something, found))


def _parsing(file: PythonFile, call: CallNode, name: str) -> list[ast.Call]:
    """The calls that parse what a name stands for where a call stands; none where it may come from elsewhere."""
    functions = [item for item in call.within if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef)]
    if any(takes(function, name) for function in functions):
        return []
    values = [item.node.value for item in _bindings(file, call, name)]
    parsed = [value for value in values if isinstance(value, ast.Call) and is_parse(value)]
    return parsed if len(parsed) == len(values) else []


def _is_filled(call: ast.Call) -> bool:
    """Whether a call that parses is given a namespace."""
    return len(call.args) > 1 or any(item.arg in ("namespace", None) for item in call.keywords)


def _declaring(facts: Facts, file: PythonFile, name: str) -> list[PythonFile]:
    """The other files of the project that may declare an option of that name."""
    spelled = name.replace("_", "[_-]")
    spoken = re.compile(rf"\b{spelled}\b".encode())
    paths = (
        path
        for path, source in facts.sources.items()
        if path != file.path and b"add_argument" in source.unescaped and spoken.search(source.unescaped)
    )
    return [opened for path in sorted(paths) if (opened := facts.open(path))]


def _gives_something(call: CallNode) -> bool:
    """Whether an option, as it is declared, never gives None."""
    given = {item.arg: item.value for item in call.node.keywords}
    said = {name: literal(value)[1] for name, value in given.items()}
    choices = said.get("choices")
    if None in given or said.get("nargs", 1) in (None, "?"):
        return False
    if isinstance(choices, list | tuple | set) and None in choices:
        return False
    if said.get("action", "store") in ("store_true", "store_false"):
        return said.get("default", False) is not None
    kind = given.get("type", ast.Name("str"))
    plain = isinstance(kind, ast.Name) and kind.id in _TYPES and call.scope.lookup(kind.id) is None
    if not plain or said.get("action", "store") != "store":
        return False
    if "default" in given:
        return said["default"] is not None
    return not _is_optional(call.node) or said.get("required") is True


def is_direct(file: PythonFile, name: str) -> bool:
    """Whether what the command line says of the options of a name is left a text, or made a value of a plain type."""
    return all(_is_plain(file, item.arg, item.value) for call in declared(file, name) for item in call.node.keywords)


def _is_plain(file: PythonFile, name: str | None, value: ast.expr) -> bool:
    """Whether a keyword of `add_argument` leaves it at that: a type is a plain one, or makes a text a bool."""
    if name != "type" or (isinstance(value, ast.Name) and value.id in _TYPES):
        return name is not None
    if isinstance(value, ast.Lambda):
        return _is_bool(value.body, value.args)
    named = [item for item in file.tree.body if isinstance(item, ast.FunctionDef) and item.name == ast.unparse(value)]
    return len(named) == 1 and all(item.value and _is_bool(item.value, named[0].args) for item in returns(named[0]))


def _is_bool(node: ast.expr, given: ast.arguments) -> bool:
    """Whether an expression is a bool, or what its function is given."""
    if isinstance(node, ast.BoolOp):
        return all(_is_bool(item, given) for item in node.values)
    if isinstance(node, ast.Name):
        return any(item.arg == node.id for item in given.args)
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id in ("bool", "strtobool")
    negated = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    return negated or isinstance(node, ast.Compare) or type(literal(node)[1]) is bool


def _is_set_otherwise(facts: Facts, file: PythonFile, owner: str, name: str) -> bool:
    """Whether anything in the project may give an option another default, or set it in a namespace that is called like
    this one."""
    known: dict[tuple[str, str, str], bool] = facts.of_sources.setdefault("set otherwise", {})
    spoken, asked = _setting(owner, name), (file.path, owner, name)
    if asked not in known:
        texts = (source.unescaped for path, source in facts.sources.items() if path != file.path)
        known[asked] = any(map(spoken.search, texts))
    return known[asked] or spoken.search(file.text.encode()) is not None


def _is_made_otherwise(facts: Facts, file: PythonFile, owner: str, name: str) -> bool:
    """Whether anything in the project may put what is made of something, and is no plain value, in the place of an
    option: in a namespace that is called like this one, by its name alone, or as a default."""
    known: dict[tuple[str, str, str], bool] = facts.of_sources.setdefault("made otherwise", {})
    asked = file.path, owner, name
    if asked not in known:
        texts = (source.unescaped for path, source in facts.sources.items() if path != file.path)
        spoken = _speaks(owner, name)
        known[asked] = any(name.encode() in each and spoken.search(each) for each in texts)
    return known[asked] or _makes_otherwise(file.text, owner, name)


@lru_cache(maxsize=TEXTS)
def _makes_otherwise(text: str, owner: str, name: str) -> bool:
    """Whether a file's own text may; it is asked again by every view of the file."""
    own = text.encode()
    if name.encode() in own and _speaks(owner, name).search(own):
        return True
    key = re.compile(rf"[\"']{name}[\"']\s*:{_made(owner)}".encode())
    return key.search(own) is not None and _setting(owner, name).search(own) is not None


def _made(owner: str) -> str:
    """No plain value, and nothing that something of that name has."""
    return rf"(?!\s*(?:[-\"'\d\[]|True|False|None|(?:int|float|len|str|bool)\(|{owner}\.))"


@cache
def _speaks(owner: str, name: str) -> re.Pattern[bytes]:
    """What puts something in the place of an option of something of that name."""
    made = _made(owner)
    item = rf"(?:vars\(\s*{owner}\s*\)|\b{owner}\.__dict__)\s*\[\s*[\"']{name}[\"']\s*\]"
    filled = r"(?:\.set_defaults|Namespace|\.__dict__\.update|\bvars\([^()]*\)\.update)\((?:[^()]|\([^()]*\))*?"
    forms = (
        rf"setattr\(\s*\w+\s*,\s*[\"']{name}[\"']\s*,{made}",
        rf"(?:{item}|\b{owner}\.{name})\s*=(?!=){made}",
        rf"{filled}(?:\b{name}\s*=|[\"']{name}[\"']\s*:){made}",
    )
    return re.compile("|".join(forms).encode())


@cache
def _setting(owner: str, name: str) -> re.Pattern[bytes]:
    """What may set an option in a namespace of that name, or give it another default."""
    item = rf"\[(?!\s*[\"'](?!{name}[\"']))[^\]]*\]\s*=(?!=)"
    whole = rf"(?:vars\(\s*{owner}\s*\)|\b{owner}\.__dict__)\s*(?:{item}|\.update\b|\.setdefault\b)"
    single = rf"setattr\(\s*{owner}\s*,(?!\s*[\"'](?!{name}[\"']))|\b{owner}\.{name}\s*=(?!=)"
    default = rf"\.set_defaults\((?:[^()]|\([^()]*\))*?(?:\b{name}\s*=(?!\s*(?:[-\"'\d]|True|False))|\*\*)"
    return re.compile("|".join((whole, single, default)).encode())


def _is_optional(call: ast.Call) -> bool:
    """Whether an option may be left out: its name begins with a dash."""
    first = call.args[0] if call.args else None
    return isinstance(first, ast.Constant) and isinstance(first.value, str) and first.value.startswith("-")


def _dest(call: ast.Call) -> str | None:
    given = value_of(call, "dest")
    if isinstance(given, ast.Constant) and isinstance(given.value, str):
        return given.value
    names = [item.value for item in call.args if isinstance(item, ast.Constant) and isinstance(item.value, str)]
    long = [name for name in names if name.startswith("--")] or names
    return long[0].lstrip("-").replace("-", "_") if long else None


def _kind(call: ast.Call) -> str:
    given = {item.arg: item.value for item in call.keywords if item.arg}
    action = given.get("action")
    if action is not None:
        flag = isinstance(action, ast.Constant) and action.value in ("store_true", "store_false")
        return "bool" if flag else "?"
    if "nargs" in given:
        return _kind_of_several(given)
    default = given.get("default")
    plain = default is None or isinstance(default, ast.Constant | ast.UnaryOp)
    value = default.value if isinstance(default, ast.Constant) else None
    kind = given.get("type")
    if kind is None:
        return "str" if plain and (value is None or isinstance(value, str)) else "?"
    if isinstance(kind, ast.Name) and kind.id == "list":
        known, several = literal(default) if default is not None else (True, None)
        return "numbers" if known and _are_numbers(several) else "?"
    if not isinstance(kind, ast.Name) or kind.id not in _TYPES or not plain:
        return "?"
    if kind.id == "int" and isinstance(value, float | str):
        return "int" if _is_read_as_number(kind, value) else "?"
    if kind.id == "float" and type(value) in (int, bool):
        return "number"
    return kind.id if kind.id != "str" or value is None or isinstance(value, str) else "?"


def _kind_of_several(given: Mapping[str, ast.expr]) -> str:
    """The kind of an option that takes several values."""
    nargs = getattr(given["nargs"], "value", None)
    known, default = literal(given["default"]) if "default" in given else (True, None)
    name = given.get("type")
    several = nargs in ("+", "*") or (type(nargs) is int and nargs > 0)
    if several and isinstance(name, ast.Name) and name.id == "int" and known and _are_numbers(default):
        return "numbers"
    return "list" if nargs == "+" else "?"


def _are_numbers(default: object) -> bool:
    """Whether a default is whole numbers, one, or None. Of the letters that `type=list` makes of a command line no
    release of Lightning takes any for a device."""
    return default is None or all(type(item) is int for item in (default if isinstance(default, list) else [default]))


def is_parse(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in PARSED


def kind_of_option(facts: Facts, file: PythonFile, call: CallNode, node: ast.expr) -> str | None:
    """The kind of `args.name`, where `args` is what a command line gave and every option of that name has it
    and nothing is put in its place."""
    if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
        return None
    owner, kind = node.value.id, _of_namespace(file, call, node, _of_project(facts, file))
    if kind is None or not _is_kept(file, node.attr, kind):
        return None
    return None if _is_made_otherwise(facts, file, owner, node.attr) else kind


def _is_kept(file: PythonFile, name: str, kind: str) -> bool:
    """Whether all that the file stores by an option's name is an attribute of its own classes, or a literal of the
    option's kind."""
    stores = [node for node in file.attributes(name) if not isinstance(node.ctx, ast.Load)]
    assigned = [item.node for item in file.assignments if isinstance(item.node, ast.Assign)] if stores else []
    given = {id(target): node.value for node in assigned for target in node.targets}
    return all(
        (isinstance(node.value, ast.Name) and node.value.id == "self")
        or (id(node) in given and type(literal(given[id(node)])[1]).__name__ == kind)
        for node in stores
    )


def _of_project(facts: Facts, file: PythonFile) -> Iterator[OptionTypes]:
    """The options that a file declares, and those that the other files of the project do."""
    yield read_options(file)
    for path in _speaking(facts):
        if path != file.path and (found := said_by(facts, path, read_options)):
            yield found


def _speaking(facts: Facts) -> list[str]:
    """The files of the project that may declare options, or parse them."""
    if "speaking of options" not in facts.of_sources:
        facts.of_sources["speaking of options"] = [
            path for path, source in facts.sources.items() if any(word in source.unescaped for word in _SPELLED)
        ]
    known: list[str] = facts.of_sources["speaking of options"]
    return known


def _declared(file: PythonFile, call: CallNode, node: ast.expr, known: Iterable[OptionTypes]) -> str | None:
    """The kind that the options of the name of `args.name` are declared to have, where the file stores nothing so."""
    stored = isinstance(node, ast.Attribute) and any(
        isinstance(other.ctx, ast.Store) for other in file.attributes(node.attr)
    )
    return None if stored else _of_namespace(file, call, node, known)


def _of_namespace(file: PythonFile, call: CallNode, node: ast.expr, known: Iterable[OptionTypes]) -> str | None:
    """The kind that the options of the name of `args.name` are declared to have, where `args` holds what was parsed."""
    if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
        return None
    options = tuple(known)
    own = read_options(file).kinds.get(node.attr)
    kinds = own or {kind for item in options for kind in item.kinds.get(node.attr, ())}
    if len(kinds) != 1 or not _is_namespace(file, call, node.value.id, options):
        return None
    return next(iter(kinds))


def _is_namespace(file: PythonFile, call: CallNode, name: str, known: Iterable[OptionTypes]) -> bool:
    parsers = {parser for item in known for parser in item.parsers}
    functions = [item for item in call.within if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef)]
    assigned = [item.node.value for item in _bindings(file, call, name)]
    assigned = [value for value in assigned if not _holds_all_of(file, value, name)]
    if not assigned:
        every = [
            argument.arg for function in functions for argument in [*function.args.args, *function.args.kwonlyargs]
        ]
        return name in every
    return all(is_parse(value) or _called(value) in parsers for value in assigned)


def _holds_all_of(file: PythonFile, value: ast.expr | None, name: str) -> bool:
    """Whether it is `Namespace(**vars(name), ...)`, which has what that one had, and ends where it is given any of it
    again."""
    if not isinstance(value, ast.Call) or value.args or file.scope.resolve(value.func) != "argparse.Namespace":
        return False
    held = (f"vars({name})", f"{name}.__dict__")
    return any(item.arg is None and ast.unparse(item.value) in held for item in value.keywords)


def _bindings(file: PythonFile, call: CallNode, name: str) -> list[AssignNode]:
    """The assignments that may bind a name where a call stands."""
    functions = [item for item in call.within if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef)]
    return [
        item for item in _statements(file, name) if not functions or functions[-1] in item.within or not item.within
    ]


def _statements(file: PythonFile, name: str) -> list[AssignNode]:
    if "unpacked" not in file.memo:
        file.memo["unpacked"] = _unpacked(file)
    unpacked: dict[str, list[AssignNode]] = file.memo["unpacked"]
    return [*file.assignments_to(name), *unpacked.get(name, ())]


def _unpacked(file: PythonFile) -> dict[str, list[AssignNode]]:
    """The assignments that give the parts of something to several names, by each of these."""
    found: dict[str, list[AssignNode]] = {}
    for item in file.assignments:
        targets = item.node.targets if isinstance(item.node, ast.Assign) else []
        parts = (part for target in targets if isinstance(target, ast.Tuple | ast.List) for part in target.elts)
        for name in {part.id for part in parts if isinstance(part, ast.Name)}:
            found.setdefault(name, []).append(item)
    return found


def _called(node: ast.expr | None) -> str | None:
    function = node.func if isinstance(node, ast.Call) else None
    return function.id if isinstance(function, ast.Name) else getattr(function, "attr", None)


def is_always_said(file: PythonFile, name: str) -> bool:
    """Whether a file declares an option that is some text where nobody gives it, and sets it to nothing else."""
    options = [call.node for call in declared(file, name)]
    defaults = [item.value for option in options for item in option.keywords if item.arg == "default"]
    stored = [node for node in file.attributes(name) if not isinstance(node.ctx, ast.Load)]
    given = [
        item.node.value
        for item in file.assignments
        if item.node.value and any(target in stored for target in targets_of(item.node))
    ]
    whole = bool(options) and len(defaults) == len(options) and len(given) == len(stored)
    said = [literal(value)[1] for value in (*defaults, *given)]
    return whole and all(isinstance(value, str) and value for value in said)
