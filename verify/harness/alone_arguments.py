"""Arguments to begin with for a module that is built alone: what its signature and its hints say.

Runs in the target's interpreter, beside the harness: standard library and torch alone.
"""

from __future__ import annotations

import ast
import collections.abc
import inspect
import re
import types
import typing
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from .alone_batches import BATCH, SIDE
from .alone_steps import source_of
from .alone_values import MADE, Arguments, function, inner_of

_CHANNELS = 3
_STEPS = 20
"""More than a proof makes: a schedule refuses to be asked for others than it was told of."""
_NOT_OWN = ("builtins", "torch", "lightning", "lightning_fabric", "pytorch_lightning")
_BY_NAME: tuple[tuple[str, Any], ...] = (
    (r"_(config|cfg|conf|kwargs|args|options|opts|settings|dict)$", {"@": "config", "values": {}}),
    (r"warmup.*(steps|iters|iterations)$", 1), (r"(steps|iters|iterations)$", _STEPS),
    (r"(interval|period|patience|frequency)$", 10), (r"epochs$", 2),
    (r"lr$|learning_rate|^lr_", 1e-3), (r"weight_decay|^wd$", 0.0), (r"dropout|drop_|_drop$", 0.0), (r"momentum", 0.9),
    (r"betas?$", 0.5), (r"(^|_)eps$|epsilon$", 1e-6),
    (r"gamma|decay|alpha|lambda|_weight$|coef|ratio|prob|temperature|margin"
     r"|smoothing|factor|scale|threshold|sigma|tau", 0.5),
    (r"(encoder|backbone|arch)_name$", "resnet18"),
    (r"pretrained_model(_name)?$|(model|decoder|tokenizer)_(name|id)(_or_path)?$", "bert-base-uncased"),
    (r"seed", 1), (r"batch_?size", BATCH), (r"heads|n_?head", 2), (r"layers|depth|blocks|stages", 2),
    (r"kernel", 3), (r"stride|dilation|groups", 1), (r"padding", 0), (r"image_size|img_size|resolution", SIDE),
    (r"in_?ch|in_?channels|input_channels|image_channels|num_channels", _CHANNELS),
    (r"^d_|(_|^)(dim|dims|size|width|len|length)$", 8),
    (r"epoch", 2), (r"warmup", 1), (r"steps|iters|iterations|period|interval|every|patience|frequency", 10),
    (r"^(use|is|with|has|do|enable|disable|no|freeze|pretrained|train|log|save|verbose|debug)(_|$)|pretrained|freeze"
     r"|_only$|verbose|debug", False),
    (r"path|dir|folder|file|root|ckpt|checkpoint", "made-up"),
    (r"^n(um|b)?_?(params|options|args)$", 8),
    (r"loss|criterion", {"@": "call", "name": "torch.nn.MSELoss", "kwargs": {}}),
    (r"activation|nonlinearity|act$", {"@": "call", "name": "torch.nn.ReLU", "kwargs": {}}),
    (r"optimizer|optim$", {"@": "call", "name": "torch.optim.Adam", "kwargs": {"lr": 1e-3}, "partial": True}),
    (r"scheduler", None),
    (r"model|net|backbone|encoder|decoder|generator|discriminator|head$|module|classifier|network", {"@": "layer"}),
    (r"hparams|config|cfg|conf|args|opt|params|options|settings|kwargs", {"@": "config", "values": {}}),
    (r"vocab|classes|labels|tokens|num_|n_|dim|size|hidden|width|features|units|channels|len|count|max|min|^[a-z]$", 8),
    (r"name|type|mode|kind|task|metric|monitor|dataset|norm|version|charset", "x"),
)  # fmt: skip


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

    def filled(self) -> ArgumentHints:
        """The same, with a guess by its name for what calls pass and nobody knows."""
        return replace(self, calls=tuple(_filled(call, self) for call in self.calls))


def _filled(value: Any, hints: ArgumentHints) -> Any:
    if isinstance(value, list):
        return [_filled(item, hints) for item in value]
    if not isinstance(value, dict):
        return value
    if value.get("@") == "unknown":
        return guess(value["name"], hints)
    return {name: _filled(item, hints) for name, item in value.items()}


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
        yield from _typed({**plain, **given}, known)
    yield from _typed(plain, known)
    if not required and known:
        yield {name: hint[0] for name in known if (hint := hints.of(name))}


def _typed(given: Arguments, known: Mapping[str, Any]) -> Iterator[Arguments]:
    """Arguments with an instance in place of each configuration that is annotated as one of a class of the project's,
    which may have methods; then as they are."""
    made = {name: _instance(known.get(name), value) for name, value in given.items()}
    if made != given:
        yield made
    yield given


def _instance(annotation: Any, value: Any) -> Any:
    """What is annotated as an instance of a class, with the values of a configuration for what that has none of."""
    options = [each for each in typing.get_args(annotation) if each is not type(None)]
    is_optional = typing.get_origin(annotation) in (typing.Union, types.UnionType) and len(options) == 1
    kind = options[0] if is_optional else annotation
    is_class = isinstance(kind, type) and kind is not inspect.Parameter.empty and not issubclass(kind, dict)
    if not is_class or not isinstance(value, dict) or value.get("@") not in (None, "config"):
        return value
    made = _by_class(kind, None, 0)
    if not isinstance(made, dict) or made.get("name") != f"{kind.__module__}.{kind.__qualname__}":
        return value
    held, own = inner_of(value), inspect.signature(kind).parameters
    wanted = {name for name, each in own.items() if each.default in (each.empty, None)}
    return {**made, "kwargs": {**made["kwargs"], **{name: held[name] for name in held if name in wanted}}}


def _parameters(cls: type) -> tuple[dict[str, Any], dict[str, Any], bool]:
    """The parameters without a default, all of them, and whether there may be more, with their annotations."""
    required: dict[str, Any] = {}
    known: dict[str, Any] = {}
    more = False
    for base in cls.__mro__:
        function = base.__dict__.get("__init__")
        if function is None or base.__module__.split(".")[0] in _NOT_OWN:
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
    return found[0] if found else by_name(name)


def by_name(name: str) -> Any:
    return next((value for pattern, value in _BY_NAME if re.search(pattern, name.lower())), 8)


def preparing(cls: type, attribute: str, hints: ArgumentHints) -> Iterator[tuple[str, Arguments]]:
    """The methods of a class, no hooks, that set an attribute, with arguments for what they require: a script calls one
    before it trains."""
    of_others = [base for base in cls.__mro__ if base.__module__.split(".")[0] in _NOT_OWN]
    hooks = {name for base in of_others for name in vars(base)}
    for name, method in (pair for base in cls.__mro__ if base not in of_others for pair in vars(base).items()):
        tree = source_of(method) if name not in hooks and inspect.isfunction(method) else None
        if tree and any(_sets(node, attribute) for node in ast.walk(tree)):
            required = list(inspect.signature(method).parameters.values())[1:]
            yield name, {each.name: _guess(each.name, each.annotation, hints) for each in required if _is_needed(each)}


def _is_needed(parameter: inspect.Parameter) -> bool:
    return parameter.default is parameter.empty and parameter.kind is parameter.POSITIONAL_OR_KEYWORD


def _sets(node: ast.AST, attribute: str) -> bool:
    if not isinstance(node, ast.Attribute) or node.attr != attribute or not isinstance(node.ctx, ast.Store):
        return False
    return isinstance(node.value, ast.Name) and node.value.id == "self"


def _by_annotation(name: str, annotation: Any, depth: int) -> Any:
    plain = by_name(name)
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
