"""Arguments for a module that is built alone: what its signature, its hints and its errors say.

Runs in the target's interpreter, beside the harness: standard library and torch alone.
"""

from __future__ import annotations

import ast
import collections.abc
import inspect
import linecache
import re
import types
import typing
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from .alone_batches import BATCH, SIDE, KeyedDict, source_of
from .alone_changes import is_tensor, keyed
from .alone_values import MADE, Arguments, chained, configs, found_in, function, get, inner_of, put

_CHANNELS = 3
_BY_NAME: tuple[tuple[str, Any], ...] = (
    (r"lr$|learning_rate|^lr_", 1e-3), (r"weight_decay|^wd$", 0.0), (r"dropout|drop_|_drop$", 0.0), (r"momentum", 0.9),
    (r"betas?$", 0.5), (r"eps(ilon)?$", 1e-6), (r"gamma|decay|alpha|lambda|_weight$|coef|ratio|prob|temperature|margin"
     r"|smoothing|factor|scale|threshold|sigma|tau", 0.5),
    (r"seed", 1), (r"batch_size", BATCH), (r"heads|n_?head", 2), (r"layers|depth|blocks|stages", 2),
    (r"kernel", 3), (r"stride|dilation|groups", 1), (r"padding", 0), (r"image_size|img_size|resolution", SIDE),
    (r"in_?ch|in_?channels|input_channels|image_channels|num_channels", _CHANNELS),
    (r"epoch", 2), (r"warmup", 1), (r"steps|iters|iterations|period|interval|every|patience|frequency", 10),
    (r"^(use|is|with|has|do|enable|disable|no|freeze|pretrained|train|log|save|verbose|debug)(_|$)|pretrained|freeze"
     r"|_only$|verbose|debug", False),
    (r"path|dir|folder|file|root|ckpt|checkpoint", "made-up"),
    (r"loss|criterion", {"@": "call", "name": "torch.nn.MSELoss", "kwargs": {}}),
    (r"activation|nonlinearity|act$", {"@": "call", "name": "torch.nn.ReLU", "kwargs": {}}),
    (r"optimizer|optim$", {"@": "call", "name": "torch.optim.Adam", "kwargs": {"lr": 1e-3}, "partial": True}),
    (r"scheduler", None),
    (r"model|net|backbone|encoder|decoder|generator|discriminator|head$|module|classifier|network", {"@": "layer"}),
    (r"hparams|config|cfg|conf|args|opt|params|options|settings|kwargs", {"@": "config", "values": {}}),
    (r"vocab|classes|labels|tokens|num_|n_|dim|size|hidden|width|features|units|channels|len|count|max|min|^[a-z]$", 8),
    (r"name|type|mode|kind|task|metric|monitor|dataset|norm|version|charset", "x"),
)  # fmt: skip
_OTHERS: dict[type, tuple[Any, ...]] = {
    bool: (True, False),
    int: (4, 8, 2, 16, 32, 64, 1, 3, [8, 8]),
    float: (0.1, 1.0, 0, 0.5),
    str: (),
    type(None): (8, 0.1, {"@": "config", "values": {}}, {"@": "layer"}, [8, 8], False, "x"),
    list: ([8, 16], [1, 1], [1, 2, 2, 4]),
}


@dataclass(frozen=True)
class ArgumentHints:
    """What the project says of values: by parameter or attribute name, the most telling first; whole calls of the
    class, by parameter; and configurations that hold values together."""

    values: Mapping[str, list[Any]]
    calls: tuple[Mapping[str, Any], ...] = ()
    groups: tuple[Mapping[str, Any], ...] = ()

    def of(self, name: str) -> list[Any]:
        return list(self.values.get(name, ()))

    def of_batches(self) -> ArgumentHints:
        """The same, with the size of the batches that are made in place of whatever is called a batch size."""
        one = tuple({name: _of_batch(name, value) for name, value in call.items()} for call in self.calls)
        values = {name: [_of_batch(name, value) for value in held] for name, held in self.values.items()}
        groups = tuple({name: _of_batch(name, value) for name, value in group.items()} for group in self.groups)
        return ArgumentHints(values, one, groups)


def _of_batch(name: str, value: Any) -> Any:
    """A value, or the values in a configuration."""
    if isinstance(value, dict) and value.get("@") not in MADE:
        return {key: _of_batch(key if key != "values" else name, inner) for key, inner in value.items()}
    return BATCH if type(value) is int and value > BATCH and re.search(r"(^|_)batch_?size$", name.lower()) else value


def starts(cls: type, hints: ArgumentHints) -> Iterator[Arguments]:
    """The arguments to begin with, the likeliest first."""
    required, known, takes_more = _parameters(cls)
    plain = {name: _guess(name, annotation, hints) for name, annotation in required.items()}
    for call in hints.calls[:6]:
        given = {name: value for name, value in call.items() if name in known or takes_more}
        yield {**plain, **given}
    yield plain
    if not required and known:
        yield {name: hint[0] for name in known if (hint := hints.of(name))}


def _parameters(cls: type) -> tuple[dict[str, Any], dict[str, Any], bool]:
    """The parameters without a default, all of them, and whether there may be more, with their annotations."""
    required: dict[str, Any] = {}
    known: dict[str, Any] = {}
    more = False
    for base in cls.__mro__:
        function = base.__dict__.get("__init__")
        if function is None or base.__module__.split(".")[0] in ("torch", "lightning", "pytorch_lightning"):
            continue
        try:
            found = list(inspect.signature(function).parameters.values())[1:]
            notes = _annotations(function)
        except (TypeError, ValueError):
            break
        more = any(item.kind is item.VAR_KEYWORD for item in found)
        for item in found:
            if item.kind in (item.VAR_KEYWORD, item.VAR_POSITIONAL) or item.name in known:
                continue
            known[item.name] = notes.get(item.name, item.annotation)
            if item.default is item.empty:
                required[item.name] = known[item.name]
        if not more:
            break
    return required, known, more


def _annotations(function: Any) -> dict[str, Any]:
    try:
        return typing.get_type_hints(function)
    except Exception:
        return {}


def _guess(name: str, annotation: Any, hints: ArgumentHints) -> Any:
    found = hints.of(name)
    if found:
        return found[0]
    return _by_annotation(name, annotation, 0)


def guess(name: str, hints: ArgumentHints) -> Any:
    """A value by its name alone."""
    found = hints.of(name)
    return found[0] if found else _by_name(name)


def _by_name(name: str) -> Any:
    return next((value for pattern, value in _BY_NAME if re.search(pattern, name.lower())), 8)


def _by_annotation(name: str, annotation: Any, depth: int) -> Any:
    plain = _by_name(name)
    if annotation is inspect.Parameter.empty:
        return plain
    origin, inner = typing.get_origin(annotation), typing.get_args(annotation)
    if collections.abc.Callable in (origin, annotation) or annotation is typing.Callable:
        return function(name)
    if origin in (typing.Union, types.UnionType):
        return None if type(None) in inner else _by_annotation(name, inner[0], depth)
    if origin is typing.Literal:
        return inner[0]
    if origin in (list, tuple, collections.abc.Sequence, collections.abc.Iterable) or annotation in (list, tuple):
        kinds = [item for item in inner if item is not Ellipsis] or [int]
        items = [_by_annotation(name, kind, depth + 1) for kind in (kinds if len(kinds) > 1 else kinds * 2)]
        return {"@": "tuple", "items": items} if tuple in (origin, annotation) else items
    if origin is dict or annotation is dict:
        return {"@": "config", "values": {}}
    if origin is not None:
        return plain
    if isinstance(annotation, type):
        for kind, value in ((bool, False), (int, 8), (float, 0.1), (str, "x")):
            if annotation is kind:
                return plain if type(plain) is kind else value
        return _by_class(annotation, plain, depth)
    return plain


def _by_class(annotation: type, plain: Any, depth: int) -> Any:
    import torch

    if annotation is torch.nn.Module:
        return {"@": "layer"}
    if annotation.__name__ in ("Namespace", "DictConfig", "AttributeDict", "OmegaConf"):
        return {"@": "config", "values": {}}
    if issubclass(annotation, torch.optim.Optimizer):
        return {"@": "call", "name": "torch.optim.Adam", "kwargs": {"lr": 1e-3}, "partial": True}
    if annotation.__module__ in ("builtins", "typing") or depth > 2:
        return plain
    kinds = [annotation, *annotation.__subclasses__()]
    derived = [kind for kind in kinds[1:] if kind.__module__.split(".")[0] == annotation.__module__.split(".")[0]]
    if derived and (inspect.isabstract(annotation) or not _own_layers(annotation)):
        annotation = min(derived, key=lambda kind: len(_parameters(kind)[0]))
    if inspect.isabstract(annotation):
        return plain
    required = _parameters(annotation)[0]
    kwargs = {name: _by_annotation(name, inner, depth + 1) for name, inner in required.items()}
    return {"@": "call", "name": f"{annotation.__module__}.{annotation.__qualname__}", "kwargs": kwargs}


def _own_layers(cls: type) -> bool:
    """Whether a class does more in its `__init__` than call that of its base."""
    function = source_of(cls.__dict__.get("__init__"))
    return function is not None and len(function.body) > 1


# -- what an error says


def following(
    error: BaseException, frames: list[tuple[FrameType, int]], given: Arguments, hints: ArgumentHints
) -> Iterator[Arguments]:
    """The arguments to try after an error: `frames` are those of the project, the innermost first."""
    text = f"{type(error).__name__}: {error}"
    lines = [(frame, line) for frame, number in frames[:6] if (line := _statement(frame, number)) is not None]
    for _, line in lines[:3]:
        yield from _unfilled(text, line, given, hints)
    yield from _missing(text, frames, given, hints)
    for frame, line in lines[:1]:
        yield from _answering(text, frame, line, given)
    for _, line in lines[:3]:
        yield from _uncallable(text, line, given)
    yield from _unbuilt(text, given)
    for frame, line in lines:
        yield from _lacking(text, line, given, hints)
        for path in _mentioned(line, given, frame):
            yield from (put(given, path, value) for value in _others(path, given, hints, text, frame))


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
            plain = {name: _by_name(name) for name in names}
            yield put(given, path, {"@": "config", "values": {**held, **plain}})


def _holding(names: list[str], held: Mapping[str, Any], hints: ArgumentHints) -> list[Mapping[str, Any]]:
    """The project's configurations with these names and what is held already, those with the least more first."""
    found = [group for group in hints.groups if names and all(name in group for name in (*names, *held))]
    found = [group for group in found if dict(group) != dict(held)]
    return sorted(found, key=len)[:3]


def _answering(text: str, frame: FrameType, line: ast.AST, given: Arguments) -> Iterator[Arguments]:
    """What a network in the place of an argument is asked for by a key or an attribute of its answer."""
    lacking = re.search(r"'(?:Tensor|KeyedDict)' object has no attribute '(\w+)'", text)
    asked = [(frame.f_locals.get(name), key) for name, key in keyed(line)]
    keys = (
        [lacking[1]] if lacking else [key for value, key in asked if is_tensor(value) or isinstance(value, KeyedDict)]
    )
    for path, value in given.items():
        if isinstance(value, dict) and value.get("@") == "layer":
            known = value.get("keys", [])
            for key in keys:
                if key not in known:
                    yield {**given, path: {**value, "keys": [*known, key]}}


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


def _spread(frame: FrameType) -> bool:
    """Whether a frame is of an `__init__` that takes what it does not name."""
    return frame.f_code.co_name == "__init__" and bool(frame.f_code.co_flags & inspect.CO_VARKEYWORDS)


def _missing(
    text: str, frames: list[tuple[FrameType, int]], given: Arguments, hints: ArgumentHints
) -> Iterator[Arguments]:
    """A value that some configuration lacks, or what the module takes besides its parameters."""
    match = re.search(
        r"(?:Missing attribute \"|'(?:AttributeDict|Namespace|KeyedDict|dict|DictConfig)' object has no attribute '"
        r"|Missing key |KeyError: ')(\w+)",
        text,
    )
    unexpected = re.search(r"unexpected keyword argument '(\w+)'", text)
    if unexpected and unexpected[1] in given:
        yield {name: value for name, value in given.items() if name != unexpected[1]}
    if match:
        if match[1] not in given and any(_spread(frame) for frame, _ in frames[:1]):
            yield {**given, match[1]: guess(match[1], hints)}
        for path in configs(given):
            held = inner_of(get(given, path))
            if match[1] not in held:
                for group in _holding([match[1]], held, hints):
                    yield put(given, path, {"@": "config", "values": dict(group)})
                yield put(given, (*path, match[1]), guess(match[1], hints))


def _lacking(text: str, line: ast.AST, given: Arguments, hints: ArgumentHints) -> Iterator[Arguments]:
    """An attribute or key of something that should have been a configuration."""
    match = re.search(r"has no attribute '(\w+)'|KeyError: '(\w+)'|not subscriptable", text)
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


def _others(
    path: tuple[str, ...], given: Arguments, hints: ArgumentHints, text: str, frame: FrameType
) -> Iterator[Any]:
    """Other values for an argument."""
    now = get(given, path)
    tried = [*hints.of(path[-1]), *_choices(path[-1], frame)]
    if "object is not callable" in text:
        tried.insert(0, function(path[-1]))
    if now is None or isinstance(now, str):
        tried.append(_by_name(path[-1]))
    tried += _OTHERS.get(type(now), ())
    if isinstance(now, str) and re.search(r"pretrained|checkpoint|ckpt|resume|weights", path[-1].lower()):
        tried.append(None)
    shown: list[Any] = [now]
    for value in tried:
        if value not in shown or (value in shown and type(value) is not type(now)):
            shown.append(value)
            yield value


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
            table = tables.get(table.id) if isinstance(table, ast.Name) else table
            inside = table.keys if isinstance(table, ast.Dict) else [node] if isinstance(node, ast.Compare) else []
            for constant in (part for each in inside if each for part in ast.walk(each)):
                if isinstance(constant, ast.Constant) and isinstance(constant.value, str):
                    found[constant.value] = None
    return list(found)


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
