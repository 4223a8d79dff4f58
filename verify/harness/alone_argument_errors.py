"""Arguments for a module that is built alone, after an error: what it says, with the lines that raised it.

Runs in the target's interpreter, beside the harness: standard library and torch alone.
"""

from __future__ import annotations

import ast
import inspect
import itertools
import linecache
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import FrameType
from typing import Any

from .alone_arguments import ArgumentHints, by_name, guess
from .alone_batches import KeyedDict
from .alone_changes import is_tensor, keyed
from .alone_steps import source_of
from .alone_values import MADE, Arguments, chained, configs, everywhere, found_in, function, get, inner_of, put, unbuilt

MENDED = 18
"""How many others are tried for what an argument is made of, before it is left."""
TABLE = 8
"""How many keys of a table are tried."""
_NO_NETWORK = re.compile(
    r"optimizer got an empty parameter list|'KeyedDict' object is not callable|"
    r"'KeyedDict' object has no attribute '(?:forward|parameters|named_parameters|state_dict|to|train|eval|modules)'"
)
_OTHERS: dict[type, tuple[Any, ...]] = {
    bool: (True, False),
    int: (4, 8, 2, 16, 32, 64, 1, 3, [8, 8]),
    float: (0.1, 1.0, 0, 0.5, 2),
    str: (),
    type(None): (8, 0.1, {"@": "config", "values": {}}, {"@": "layer"}, [8, 8], False, "x"),
    list: ([8, 16], [1, 1], [1, 2, 2, 4]),
}


def following(
    error: BaseException, frames: list[tuple[FrameType, int]], given: Arguments, hints: ArgumentHints
) -> Iterator[Arguments]:
    """The arguments to try after an error: `frames` are those of the project, the innermost first."""
    found = _told(error, frames, given, hints)
    if (name := unbuilt(error)) in given:
        yield from itertools.islice(found, MENDED)
        others = [value for value in (guess(name, hints), by_name(name)) if value != given[name]]
        yield from ({**given, name: value} for value in others)
        yield {key: value for key, value in given.items() if key != name}
    yield from found


def _told(
    error: BaseException, frames: list[tuple[FrameType, int]], given: Arguments, hints: ArgumentHints
) -> Iterator[Arguments]:
    """What an error and the lines that it passed tell of the arguments."""
    text = f"{type(error).__name__}: {error}"
    lines = [(frame, line) for frame, number in frames[:6] if (line := _statement(frame, number)) is not None]
    for _, line in lines[:3]:
        yield from _unfilled(text, line, given, hints)
    yield from _missing(text, frames, given, hints)
    for frame, line in lines[:1]:
        yield from _answering(text, frame, line, given)
        yield from _branching(text, frame, given)
    yield from _networks(text, given)
    for _, line in lines[:3]:
        yield from _uncallable(text, line, given)
    yield from _unbuilt(text, given)
    yield from _unsized(text, frames, given, hints)
    for frame, line in lines:
        yield from _lacking(text, line, given, hints)
        paths = list(_mentioned(line, given, frame))
        others = [
            [_changed(given, path, value) for value in _others(path, given, hints, text, frame)] for path in paths
        ]
        for each in itertools.zip_longest(*others):
            yield from filter(None, each)


def _unfilled(text: str, line: ast.AST, given: Arguments, hints: ArgumentHints) -> Iterator[Arguments]:
    """What a call is missing that is given a configuration as its keywords; or what of it the call does not know."""
    missing = re.search(r"missing \d+ required (?:positional|keyword-only) arguments?: (.+)", text)
    unknown = re.search(r"unexpected keyword argument '(\w+)'", text)
    if not missing and not unknown:
        return
    spread = [keyword.value for node in ast.walk(line) if isinstance(node, ast.Call)
              for keyword in node.keywords if keyword.arg is None]  # fmt: skip
    for path in filter(None, (found_in(chained(node), given) for node in spread)):
        held = inner_of(get(given, path))
        if unknown and unknown[1] in held:
            yield put(given, path, {"@": "config", "values": {k: v for k, v in held.items() if k != unknown[1]}})
        names = re.findall(r"'(\w+)'", missing[1]) if missing else []
        for group in _holding(names, held, hints):
            yield put(given, path, {"@": "config", "values": dict(group)})
        if names:
            new = {name: guess(name, hints) for name in names}
            yield put(given, path, {"@": "config", "values": {**held, **new}})
            plain = {name: by_name(name) for name in names}
            yield put(given, path, {"@": "config", "values": {**held, **plain}})


def _holding(names: list[str], held: Mapping[str, Any], hints: ArgumentHints) -> list[Mapping[str, Any]]:
    """The project's configurations with these names and what is held already, those with the least more first."""
    found = [group for group in hints.groups if names and all(name in group for name in (*names, *held))]
    found = [group for group in found if dict(group) != dict(held)]
    return sorted(found, key=len)[:3]


def _answering(text: str, frame: FrameType, line: ast.AST, given: Arguments) -> Iterator[Arguments]:
    """What a network in the place of an argument is asked for: a method, a key or an attribute of its answer, or
    several answers."""
    method = re.search(r"'Layer' object has no attribute '(\w+)'", text)
    lacking = re.search(r"'(?:Tensor|KeyedDict)' object has no attribute '(\w+)'", text)
    unpacked = re.search(r"(?:too many|not enough) values to unpack \(expected (\d)[,)]", text)
    asked = [(frame.f_locals.get(name), key) for name, key in keyed(line)]
    keys = (
        [lacking[1]] if lacking else [key for value, key in asked if is_tensor(value) or isinstance(value, KeyedDict)]
    )
    for path, value in given.items():
        if isinstance(value, dict) and value.get("@") == "layer":
            if method:
                yield {**given, path: {**value, "methods": [*value.get("methods", []), method[1]]}}
            if unpacked and any(isinstance(node, ast.Call) for node in ast.walk(line)):
                yield {**given, path: {**value, "items": int(unpacked[1])}}
            known = value.get("keys", [])
            for key in keys:
                if key not in known:
                    yield {**given, path: {**value, "keys": [*known, key]}}


def _branching(text: str, frame: FrameType, given: Arguments) -> Iterator[Arguments]:
    """A name that is bound only where an argument is one of those that the code asks for: that one."""
    match = re.search(r"cannot access local variable '(\w+)'|local variable '(\w+)' referenced before", text)
    function = source_of(frame.f_code) if match else None
    if match is None or function is None:
        return
    for node in ast.walk(function):
        if not isinstance(node, ast.If) or not isinstance(node.test, ast.Compare):
            continue
        stored = (each for part in node.body for each in ast.walk(part) if isinstance(each, ast.Name))
        if not any(each.id in match.groups() and isinstance(each.ctx, ast.Store) for each in stored):
            continue
        for path in _mentioned(node.test, given, frame):
            for constant in ast.walk(node.test.comparators[0]):
                if isinstance(constant, ast.Constant) and constant.value != get(given, path):
                    yield _changed(given, path, constant.value)


def _networks(text: str, given: Arguments) -> Iterator[Arguments]:
    """What is called as a network is and got the configuration of that name, where the module has nothing to train, or
    asks it for what a network has: all of them as small networks, and each."""
    if not _NO_NETWORK.search(text):
        return
    found = unbuilt_networks(given)
    if len(found) > 1:
        yield {**given, **{name: {"@": "layer"} for name in found}}
    yield from ({**given, name: {"@": "layer"}} for name in found)


def unbuilt_networks(given: Arguments) -> list[str]:
    """The arguments that are called as networks are, and are configurations."""
    return [
        name
        for name, value in given.items()
        if by_name(name) == {"@": "layer"} and isinstance(value, dict) and value.get("@") in (None, "config")
    ]


def _uncallable(text: str, line: ast.AST, given: Arguments) -> Iterator[Arguments]:
    """A function in the place of an argument that is called and cannot be, or not by these names."""
    named = re.search(r"(\w+)\.forward\(\) got an unexpected keyword argument", text)
    for name, value in given.items() if named else ():
        if named and isinstance(value, dict) and str(value.get("name")).endswith(f".{named[1]}"):
            yield {**given, name: function(name)}
    found = re.search(r"'(\w+)' object is not callable", text)
    for name, value in given.items() if found else ():
        if found and type(value).__name__ == found[1]:
            yield {**given, name: function(ast.unparse(line))}


def _unbuilt(text: str, given: Arguments) -> Iterator[Arguments]:
    """What hydra was to build from its configuration (`_recursive_=False`), and got built already: as that."""
    if not re.search(r"InstantiationException: .*[Cc]onfig of type|Unsupported config type", text):
        return
    for name, value in given.items():
        if isinstance(value, dict) and value.get("@") == "call" and "of" not in value and not value.get("args"):
            yield {**given, name: {"@": "config", "values": {"_target_": value["name"], **value["kwargs"]}}}


def _unsized(
    text: str, frames: list[tuple[FrameType, int]], given: Arguments, hints: ArgumentHints
) -> Iterator[Arguments]:
    """Sizes that are -1 where nobody says them: one after the other, and all of them."""
    made = [frame for frame, _ in frames if frame.f_code.co_name == "__init__"]
    if not made or not re.search(r"negative dimension|Dimension size must be non-negative", text):
        return
    taken = made[-1].f_code.co_varnames[1 : made[-1].f_code.co_argcount + made[-1].f_code.co_kwonlyargcount]
    sizes = {
        name: next((value for value in hints.of(name) if type(value) is int and value > 0), 8)
        for name in taken
        if type(made[-1].f_locals.get(name)) is int and made[-1].f_locals[name] < 0
    }
    yield from ({**given, name: size} for name, size in sizes.items())
    if len(sizes) > 1:
        yield {**given, **sizes}


def _spread(frame: FrameType) -> bool:
    """Whether a frame is of an `__init__` that takes what it does not name."""
    return frame.f_code.co_name == "__init__" and bool(frame.f_code.co_flags & inspect.CO_VARKEYWORDS)


def _missing(
    text: str, frames: list[tuple[FrameType, int]], given: Arguments, hints: ArgumentHints
) -> Iterator[Arguments]:
    """A value that some configuration lacks, or what the module takes besides its parameters."""
    match = re.search(
        r"(?:Missing attribute \"|'(?:AttributeDict|Namespace|KeyedDict|dict|DictConfig)' object has no attribute '"
        r"|Missing key |KeyError: ')(\w(?:[\w -]*\w)?)",
        text,
    )
    unexpected = re.search(r"unexpected keyword argument '(\w+)'", text)
    if unexpected and unexpected[1] in given:
        yield {name: value for name, value in given.items() if name != unexpected[1]}
    if match:
        if match[1] not in given and any(_spread(frame) for frame, _ in frames[:1]):
            yield {**given, match[1]: guess(match[1], hints)}
        if (more := everywhere(given, match[1], guess(match[1], hints))) != given:
            yield more
        for path in configs(given):
            held = inner_of(get(given, path))
            if match[1] not in held:
                for group in _holding([match[1]], held, hints):
                    yield put(given, path, {"@": "config", "values": dict(group)})
                yield put(given, (*path, match[1]), guess(match[1], hints))


def _lacking(text: str, line: ast.AST, given: Arguments, hints: ArgumentHints) -> Iterator[Arguments]:
    """An attribute or key of something that should have been a configuration."""
    match = re.search(r"has no attribute '(\w+)'|KeyError: '([^'\n]+)'|not subscriptable", text)
    if match is None:
        return
    for node in ast.walk(line):
        if isinstance(node, ast.Attribute):
            key, chain = str(node.attr), chained(node.value)
        elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            key, chain = str(node.slice.value), chained(node.value)
        else:
            continue
        path = found_in(chain, given)
        if not path or key not in (match[1] or match[2] or key):
            continue
        held = get(given, path)
        if not isinstance(held, dict) or held.get("@") != "call":
            values = inner_of(held) if isinstance(held, dict) and held.get("@") not in MADE else {}
            if not values:
                for group in _holding([key], {}, hints):
                    yield put(given, path, {"@": "config", "values": dict(group)})
            new = {"@": "config", "values": {**values, key: guess(key, hints)}}
            if new != held:
                yield put(given, path, new)


def _changed(given: Arguments, path: tuple[str, ...], value: Any) -> Arguments:
    """The arguments with another value at a path, which calls among them are given too."""
    new = put(given, path, value)
    return new if len(path) == 1 else everywhere(new, path[-1], value, get(given, path))


def _others(
    path: tuple[str, ...], given: Arguments, hints: ArgumentHints, text: str, frame: FrameType
) -> Iterator[Any]:
    """Other values for an argument."""
    now = get(given, path)
    tried = [*hints.of(path[-1]), *_choices(path[-1], frame)]
    if "object is not callable" in text:
        tried.insert(0, function(path[-1]))
    if now is None or isinstance(now, str):
        tried.append(by_name(path[-1]))
    tried += _OTHERS.get(type(now), ()) if not isinstance(now, dict) else _plain_values(text)
    if isinstance(now, str) and re.search(r"pretrained|checkpoint|ckpt|resume|weights", path[-1].lower()):
        tried.append(None)
    shown: list[Any] = [now]
    for value in tried:
        if value not in shown or (value in shown and type(value) is not type(now)):
            shown.append(value)
            yield value


def _plain_values(text: str) -> tuple[Any, ...]:
    """What is taken where a configuration stands and something is computed with it."""
    with_one = re.search(
        r"between instances of .*'KeyedDict'|operand type.*'KeyedDict'|'KeyedDict' object cannot be", text
    )
    return _OTHERS[bool if "bool" in text else int] if with_one else ()


def _choices(name: str, frame: FrameType) -> list[str]:
    """The texts that the code around a frame compares a variable of that name with, or looks up by it."""
    try:
        tree = ast.parse(Path(frame.f_code.co_filename).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return []
    found: dict[str, None] = {}
    tables = {
        target.id: node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript | ast.Compare):
            key = node.slice if isinstance(node, ast.Subscript) else node.left
            if (chained(key) or [""])[-1] != name:
                continue
            table: Any = node.value if isinstance(node, ast.Subscript) else node.comparators[0]
            found |= dict.fromkeys(_keys(chained(table), frame))
            table = tables.get(table.id) if isinstance(table, ast.Name) else table
            inside = table.keys if isinstance(table, ast.Dict) else [node] if isinstance(node, ast.Compare) else []
            for constant in (part for each in inside if each for part in ast.walk(each)):
                if isinstance(constant, ast.Constant) and isinstance(constant.value, str):
                    found[constant.value] = None
    return list(found)


def _keys(chain: list[str], frame: FrameType) -> list[str]:
    """The texts by which a table is looked up that a frame knows under a chain of names, as one of another module."""
    first, *rest = chain or [""]
    held = frame.f_locals.get(first, frame.f_globals.get(first))
    for name in rest:
        held = getattr(held, "__dict__", {}).get(name)
    return [key for key in held if isinstance(key, str)][:TABLE] if isinstance(held, dict) else []


def _mentioned(line: ast.AST, given: Arguments, frame: FrameType) -> Iterator[tuple[str, ...]]:
    """The arguments that a line names: by themselves, as attributes of a configuration or of the module."""
    seen: dict[tuple[str, ...], None] = {}
    for node in ast.walk(line):
        if isinstance(node, ast.Name | ast.Attribute | ast.Subscript) and (path := found_in(chained(node), given)):
            seen[path] = None
    yield from sorted(seen, key=len, reverse=True)


def _statement(frame: FrameType, number: int) -> ast.AST | None:
    """The smallest statement of a frame's code around a line."""
    first = frame.f_code.co_firstlineno
    function = source_of(frame.f_code)
    if function is not None:
        inside = [
            node
            for node in ast.walk(function)
            if isinstance(node, ast.stmt) and node.lineno + first - 1 <= number <= (node.end_lineno or 0) + first - 1
        ]
        simple = [node for node in inside if not hasattr(node, "body")]
        if simple:
            return simple[-1]
    try:
        return ast.parse(linecache.getline(frame.f_code.co_filename, number).strip().rstrip(":"))
    except SyntaxError:
        return None
