"""Whether what a number of steps counts is what the Trainer is given to train on."""

from __future__ import annotations

import ast
import math
import re
from dataclasses import replace
from typing import Any, Literal

from codemods.code.nodes import walk
from codemods.code.syntax import is_none, own_nodes, results
from codemods.rules.steps.call_context import CallContext, dataset_of
from codemods.rules.steps.modules import bare
from codemods.rules.steps.step_count_terms import SEVERAL, Count, Leaf, Role

Seen = Literal["same", "another", "unseen"]
OURS = re.compile(r"(?<![a-z])train(?!er)")
OTHER = re.compile(r"(?<![a-z])(val|valid|validation|test|eval|dev)(?![a-z])")


def counted_in(count: Count) -> ast.expr | None:
    """The loader or dataset whose length a count takes, None where it takes none."""
    leaf = count.first("batches") or count.first("samples")
    return leaf.node.args[0] if leaf and isinstance(leaf.node, ast.Call) and leaf.node.args else None


def is_trained_on(script: CallContext, node: ast.expr) -> Seen:
    """Whether a loader or dataset is the one that the `fit` of a Trainer takes; where no `fit` is seen, its name says
    so."""
    trained = script.trained_on()
    if trained is None:
        return "unseen" if script.fits() else _named(ast.unparse(node))
    spellings = _spellings(script, trained)
    data = dataset_of(script.follow(trained))
    ours = spellings | {f"{text}.{part}" for text in spellings for part in ("train_dataloader()", "dataset")}
    ours |= _spellings(script, data) if data is not None else set()
    if ours & _spellings(script, node):
        return "same"
    reader = script.reader()
    loader = node.value if isinstance(node, ast.Attribute) and node.attr == "dataset" else node
    if not (isinstance(trained, ast.Name) and reader.is_loader(trained) and isinstance(loader, ast.Name)):
        return "unseen"
    of_another = data is not None and loader.id in script.datasets()
    return "another" if reader.is_loader(loader) or of_another else "unseen"


def _named(text: str) -> Seen:
    if OURS.search(text):
        return "same"
    return "another" if OTHER.search(text) else "unseen"


def _spellings(script: CallContext, node: ast.expr) -> set[str]:
    """An expression as it is written, and what it stands for."""
    return {ast.unparse(node), ast.unparse(script.follow(node))}


def with_sizes(script: CallContext, count: Count, window: Any) -> Count:
    """A count with the number that divides it read as the batch size of what is trained on, as the accumulation
    window, or as both."""
    loader = script.follow(trained) if (trained := script.trained_on()) is not None else None
    parts: list[tuple[Role, Any]] = [("accumulate", window)]
    if count.first("samples") and isinstance(loader, ast.Call):
        size = script.constant(_batch_size(loader))
        parts = [("batch_size", size), *parts]
    parts = [(role, size) for role, size in parts if type(size) is int and size > 1 and not count.first(role)]
    for length in range(1, len(parts) + 1):
        product = math.prod(size for _, size in parts[:length])
        if math.isclose(count.cut, product):
            under = [Leaf(role, ast.Constant(size), "named") for role, size in parts[:length]]
            return replace(count, number=round(count.number * product, 6), cut=1, under=(*count.under, *under))
    return count


def _batch_size(loader: ast.Call) -> ast.expr | None:
    named = (item.value for item in loader.keywords if item.arg == "batch_size")
    return next(iter([*loader.args[1:2], *named]), None)


def other_size(script: CallContext, count: Count) -> str | None:
    """The batch size of the loader that is trained on, as source text, where samples are divided by one that is not
    seen to be the same."""
    divisor, trained = count.first("batch_size"), script.trained_on()
    loader = script.follow(trained) if trained is not None else None
    size = _batch_size(loader) if isinstance(loader, ast.Call) else None
    if divisor is None or size is None or not count.first("samples"):
        return None
    numbers = script.constant(size), script.constant(divisor.node)
    if None not in numbers and numbers[0] == numbers[1]:
        return None
    names = [{bare(text) for text in _spellings(script, node)} for node in (size, divisor.node)]
    return None if names[0] & names[1] and not unseen(script, divisor.node) else ast.unparse(size)


def unseen(script: CallContext, node: ast.expr) -> bool:
    """Whether a name in an expression means something else where the Trainer is built."""
    return any(isinstance(part, ast.Name) and not script.sees(part) for part in walk(node))


def set_anew(script: CallContext, node: ast.expr) -> str | None:
    """The name or attribute in an expression that is assigned again before the Trainer is built and trains, None where
    there is none."""
    inner = list(own_nodes(script.space))
    if not any(item is node for item in inner):
        return None
    ends = [item.lineno for item in (script.call.node, *script.fits()) if any(item is other for other in inner)]
    texts = {ast.unparse(item) for item in walk(node) if isinstance(item, ast.Name | ast.Attribute)}
    stored = (
        ast.unparse(item)
        for item in inner
        if isinstance(item, ast.Name | ast.Attribute)
        and not isinstance(item.ctx, ast.Load)
        and node.lineno < item.lineno <= max(ends, default=0)
    )
    return next((text for text in stored if text in texts), None)


def is_odd(script: CallContext, count: Count) -> str | None:
    """Why the length that is counted is not the number of batches of an epoch, where that is seen."""
    node, trained = counted_in(count), script.trained_on()
    owner = node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None
    built = script.known().instance(owner) if owner is not None else None
    method = built.item.methods.get("train_dataloader") if built else None
    if any(isinstance(value, SEVERAL) for value in (results(method) if method else ())):
        return "train_dataloader gives several loaders"
    loader = script.follow(trained) if trained is not None else None
    given = loader.keywords if isinstance(loader, ast.Call) else ()
    names = {item.arg for item in given if not is_none(item.value)}
    if count.first("samples") and names & {"sampler", "batch_sampler", None}:
        return "the loader has a sampler of its own, which decides how long an epoch is"
    return None
