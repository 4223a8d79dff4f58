"""Descriptions of arguments: what they mean, how they are told, and the configurations within them.

Runs in the target's interpreter, beside the harness: standard library and torch alone. An argument is JSON; what
JSON cannot hold is `{"@": kind, ...}`: a `config` (a dict with attributes), an `object` of a class with its attributes
(`structured`: the configuration that OmegaConf makes of it), a `call` of something by its dotted name, a `layer` (a
small module), a `tuple`, a `function`, or what is `named`.
"""

from __future__ import annotations

import ast
import functools
import importlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from .alone_batches import KeyedDict

_WIDTH = 8


Arguments = dict[str, Any]


HELD = ("config", "object")
"""What holds values by their names."""
MADE = ("call", "layer", "tuple", "named", "function")
"""What is not a configuration, as far as it is a dict."""
_UNBUILT = "unbuilt_argument"


def unbuilt(error: BaseException | None) -> str:
    """The argument that an error kept from being made."""
    return getattr(error, _UNBUILT, "")


@dataclass(frozen=True)
class Builder:
    """Makes the objects that descriptions of arguments mean; what they name is taken from modules as `imported` brings
    them."""

    imported: Callable[[str], Any] = importlib.import_module

    def built(self, name: str, value: Any) -> Any:
        """An argument; what keeps it from being made says which it is."""
        try:
            return self.build(value)
        except Exception as error:
            setattr(error, _UNBUILT, name)
            raise

    def build(self, value: Any) -> Any:
        """The object that a description of an argument means."""
        if isinstance(value, list):
            return [self.build(item) for item in value]
        if not isinstance(value, dict):
            return value
        kind = value.get("@")
        if kind == "config":
            return KeyedDict(self._each(value["values"]))
        if kind == "object":
            cls = self._named(value["name"])
            made = cls.__new__(cls)
            vars(made).update(self._each(value["values"]))
            return _structured(made) if value.get("structured") else made
        if kind == "tuple":
            return tuple(self.build(item) for item in value["items"])
        if kind == "layer":
            return _layer(value.get("keys", ()), value.get("methods", ()), value.get("items", 0))
        if kind == "function":
            return _FUNCTIONS[value["does"]]
        if kind == "named":
            return self._named(value["name"])
        if kind == "call":
            called = self.build(value["of"]) if "of" in value else self._named(value["name"])
            plain, given = [self.build(item) for item in value.get("args", ())], self._each(value["kwargs"])
            return functools.partial(called, *plain, **given) if value.get("partial") else called(*plain, **given)
        return KeyedDict(self._each(value))

    def put_on(self, module: Any, attributes: Arguments) -> None:
        """Give a module what the project's script would have: attributes, and what a method of its own makes of some
        arguments, where that is `called`."""
        for name, value in attributes.items():
            if is_called(value):
                getattr(module, name)(**self._each(value["kwargs"]))
            else:
                setattr(module, name, self.build(value))

    def _each(self, values: Mapping[str, Any]) -> dict[str, Any]:
        return {name: self.build(item) for name, item in values.items()}

    def _named(self, name: str) -> Any:
        parts = name.split(".")
        for count in range(len(parts) - 1, 0, -1):
            module = ".".join(parts[:count])
            try:
                found = self.imported(module)
            except ModuleNotFoundError as error:
                if not f"{module}.".startswith(f"{error.name}."):
                    raise
                continue
            for part in parts[count:]:
                found = getattr(found, part)
            return found
        raise ImportError(name)


def _structured(made: Any) -> Any:
    """The configuration of OmegaConf that an instance of a dataclass describes; what it lacks is missing there."""
    from omegaconf import MISSING, OmegaConf  # type: ignore[import-not-found,unused-ignore]

    values = vars(made)
    for field in fields(made):
        values[field.name] = _plainly(values.get(field.name, MISSING))
    return OmegaConf.structured(made)


def _plainly(value: Any) -> Any:
    """A value whose dictionaries are plain ones."""
    if isinstance(value, list):
        return [_plainly(item) for item in value]
    return {name: _plainly(item) for name, item in value.items()} if isinstance(value, KeyedDict) else value


def _layer(keys: Sequence[str] = (), methods: Sequence[str] = (), items: int = 0) -> Any:
    """A small module that takes any floats and gives eight for each sample: by themselves, or under each of some keys,
    their mean where the key is that of a loss, or as often as there are to be `items`. Some `methods` do the same as a
    call of it, or give its mean."""
    import torch
    from torch.nn import functional

    class Layer(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = torch.nn.Linear(_WIDTH, _WIDTH)

        def forward(self, *given: Any, **others: Any) -> Any:
            x = next(_tensors((*given, *others.values())))
            flat = x.float().flatten(1) if x.dim() > 1 else x.float()[:, None]
            made: torch.Tensor = self.linear(functional.adaptive_avg_pool1d(flat[:, None], _WIDTH)[:, 0])
            if items:
                return tuple(made.clone() for _ in range(items))
            return KeyedDict({key: made.mean() if _is_loss(key) else made for key in keys}) if keys else made

    def method(name: str) -> Any:
        def called(self: Any, *given: Any, **others: Any) -> Any:
            made = self(*given, **others)
            return made.mean() if _is_loss(name) and isinstance(made, torch.Tensor) else made

        return called

    for name in methods:
        setattr(Layer, name, method(name))
    return Layer()


def _is_loss(name: str) -> bool:
    return name.endswith("loss")


def _tensors(value: Any) -> Iterator[Any]:
    """The tensors in something, from the first on."""
    if hasattr(value, "new_tensor"):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ():
        yield from _tensors(inner)


def _one(*_: Any, **__: Any) -> float:
    return 1.0


def _same(*given: Any, **named: Any) -> Any:
    return next(iter((*given, *named.values())), None)


def _loss(*given: Any, **named: Any) -> Any:
    """The mean squared error of the first two tensors."""
    import torch

    first, second = [value for value in (*given, *named.values()) if isinstance(value, torch.Tensor)][:2]
    return torch.nn.functional.mse_loss(first, second)


_FUNCTIONS = {"one": _one, "same": _same, "loss": _loss}


def function(name: str) -> Any:
    """A function for what goes by a name: a factor of one for a schedule, an error for a loss, else its argument."""
    low = name.lower()
    does = "one" if re.search(r"lambda|lr|schedul", low) else "loss" if re.search(r"loss|criterion", low) else "same"
    return {"@": "function", "does": does}


def found_in(chain: list[str], given: Arguments) -> tuple[str, ...]:
    """The longest argument path that a chain of names ends in: `self.hparams.lr` may be `hparams.lr`, or `lr`."""
    chain = [name for name in chain if name != "self"]
    if chain[:1] == ["hparams"] and "hparams" not in given:
        chain = chain[1:]
    for start in range(len(chain)):
        for path in ((), *configs(given)):
            end: tuple[str, ...] = path
            for name in chain[start:]:
                held = inner_of(get(given, end)) if end else given
                if name not in held:
                    break
                end = (*end, name)
            if len(end) > len(path):
                return end
    return ()


def chained(node: ast.AST) -> list[str]:
    """`a.b["c"]` as its names."""
    if isinstance(node, ast.Name):
        return [node.id]
    if isinstance(node, ast.Attribute):
        return [*chained(node.value), node.attr]
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
        return [*chained(node.value), node.slice.value]
    return []


def configs(given: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Where the arguments hold configurations."""
    inner = given if not path else inner_of(given)
    if path and isinstance(given, dict) and given.get("@") not in MADE:
        yield path
    if isinstance(inner, dict) and (not path or (isinstance(given, dict) and given.get("@") in (None, *HELD))):
        for name, value in inner.items():
            if isinstance(value, dict):
                yield from configs(value, (*path, name))


def inner_of(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        return {}
    return value.get("values", {}) if value.get("@") in HELD else value


def get(given: Arguments, path: tuple[str, ...]) -> Any:
    held: Any = given
    for name in path:
        held = (inner_of(held) if held is not given else held).get(name)
    return held


def put(given: Arguments, path: tuple[str, ...], value: Any) -> Arguments:
    """The arguments with another value at a path."""
    if len(path) == 1:
        return {**given, path[0]: value}
    held = given.get(path[0])
    inner = put(inner_of(held), path[1:], value)
    if isinstance(held, dict) and held.get("@") in HELD:
        return {**given, path[0]: {**held, "values": inner}}
    return {**given, path[0]: inner}


_NOTHING = object()


def is_called(value: Any) -> bool:
    """Whether an attribute stands for a method that is to be called."""
    return isinstance(value, dict) and value.get("@") == "called"


def everywhere(given: Any, name: str, value: Any, old: Any = _NOTHING) -> Any:
    """Arguments with another value in each configuration that has none of that name, or the `old` one: also in those
    within calls, which are the same configuration once more."""
    if isinstance(given, list):
        return [everywhere(item, name, value, old) for item in given]
    if not isinstance(given, dict):
        return given
    new = {key: everywhere(inner, name, value, old) for key, inner in given.items()}
    is_one = new.get("@") in HELD and new["values"].get(name, _NOTHING) == old
    return {**new, "values": {**new["values"], name: value}} if is_one else new


def told(given: Arguments) -> str:
    """Arguments in one line for people."""
    return ", ".join(f"{name}={_told(value)}" for name, value in given.items())


def _told(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_told, value))}]"
    if not isinstance(value, dict):
        return repr(value)
    kind = value.get("@")
    if kind == "tuple":
        return f"({', '.join(map(_told, value['items']))})"
    if kind == "layer":
        keys = f" that answers with {{{', '.join(value['keys'])}}}" if value.get("keys") else ""
        methods = f" with {', '.join(value['methods'])}" if value.get("methods") else ""
        items = f" that answers with {value['items']} tensors" if value.get("items") else ""
        return f"a small linear layer{methods}{keys}{items}"
    if kind == "function":
        return {"one": "1.0 for any step", "same": "what it is given", "loss": "a mean squared error"}[value["does"]]
    if kind == "named":
        return str(value["name"]).rsplit(".", 1)[-1]
    if kind == "called":
        return f"called with ({told(value['kwargs'])})"
    if kind == "call":
        name = _told(value["of"]) if "of" in value else value["name"].rsplit(".", 1)[-1]
        given = ", ".join(filter(None, [*map(_told, value.get("args", ())), told(value["kwargs"])]))
        return f"partial({name}, {given})" if value.get("partial") else f"{name}({given})"
    inner = inner_of(value)
    name = str(value["name"]).rsplit(".", 1)[-1] if kind == "object" else ""
    return name + "{" + ", ".join(f"{name}: {_told(item)}" for name, item in inner.items()) + "}"
