"""Whether what a number of steps counts is what the Trainer is given to train on."""

from __future__ import annotations

import ast
import re
from typing import Literal

from codemods.steps.roles import Count
from codemods.steps.script import Script, dataset_of

Seen = Literal["same", "another", "unseen"]
OTHER = re.compile(r"(?<![a-z])(val|valid|validation|test|eval|dev)(?![a-z])")


def counted_in(count: Count) -> ast.expr | None:
    """The loader or dataset whose length a count takes, None where it takes none."""
    leaf = count.first("batches") or count.first("samples")
    return leaf.node.args[0] if leaf and isinstance(leaf.node, ast.Call) and leaf.node.args else None


def is_trained_on(script: Script, node: ast.expr) -> Seen:
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
    known = isinstance(trained, ast.Name) and reader.is_loader(trained)
    other = isinstance(loader, ast.Name) and (reader.is_loader(loader) or loader.id in script.datasets())
    return "another" if known and other else "unseen"


def _named(text: str) -> Seen:
    if "train" in text:
        return "same"
    return "another" if OTHER.search(text) else "unseen"


def _spellings(script: Script, node: ast.expr) -> set[str]:
    """An expression as it is written, and what it stands for."""
    return {ast.unparse(node), ast.unparse(script.follow(node))}
