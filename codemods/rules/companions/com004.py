"""COM004: the AdamW of transformers, which is gone."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.code.nodes import every_node
from codemods.code.source import PythonFile
from codemods.lightning.facts import Facts
from codemods.lightning.versions import admits_from
from codemods.rule import Example, Match, Rule

GONE = "4.50"
PACKAGE = ("transformers",)
NAME = "AdamW"
MODULES = ("transformers", "transformers.optimization")
DEFAULTS = (("eps", "1e-6", 3), ("weight_decay", "0.0", 4))
"""What transformers took by default where torch takes something else, with the position."""
ITS_OWN = ("correct_bias", "no_deprecation_warning")
MESSAGE = "`AdamW` was removed in transformers 4.50: importing it is an ImportError"


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    if NAME not in file.text or not admits_from(facts, PACKAGE, GONE):
        return
    found: list[ast.alias | ast.Attribute] = [
        alias
        for node in file.imports
        if isinstance(node, ast.ImportFrom) and not node.level and node.module in MODULES
        for alias in node.names
        if alias.name == NAME
    ]
    found += [node for node in file.attributes(NAME) if _is_its(file.scope.resolve(node))]
    spared = _with_fallback(file) if found else frozenset()
    advice = " ".join(_advice(file)) if found else ""
    for place in found:
        if id(place) not in spared:
            name = f"{NAME} as {place.asname}" if isinstance(place, ast.alias) and place.asname else NAME
            reason = f"Not rewritten: torch's own has other defaults. Write `from torch.optim import {name}`. {advice}"
            yield Match(file.span(place), MESSAGE, "manual", reason.rstrip())


def _is_its(dotted: str | None) -> bool:
    module, _, name = (dotted or "").rpartition(".")
    return name == NAME and module in MODULES


def _with_fallback(file: PythonFile) -> frozenset[int]:
    """What is tried where a handler has something else for it."""
    tries = [node for node in every_node(file.tree) if isinstance(node, ast.Try)]
    return frozenset(
        id(node)
        for each in tries
        if any(_speaks(node) for handler in each.handlers for node in every_node(handler))
        for statement in each.body
        for node in every_node(statement)
    )


def _speaks(node: ast.AST) -> bool:
    return NAME in (getattr(node, name, None) for name in ("id", "attr", "name", "asname"))


def _advice(file: PythonFile) -> Iterator[str]:
    """What to change besides in each call of the file that builds one."""
    for call in file.calls_near([NAME]):
        if not _is_its(call.scope.resolve(call.node.func)):
            continue
        given = {item.arg for item in call.node.keywords}
        if None in given or any(isinstance(item, ast.Starred) for item in call.node.args):
            yield f"In line {call.node.lineno} add eps=1e-6 and weight_decay=0.0 unless others are given."
            continue
        new = [
            f"{name}={value}" for name, value, place in DEFAULTS if name not in given and len(call.node.args) <= place
        ]
        gone = [name for name in ITS_OWN if name in given]
        if new:
            yield f"In line {call.node.lineno} add {' and '.join(new)}, its defaults so far."
        if gone:
            yield f"In line {call.node.lineno} remove {' and '.join(gone)}, which torch does not take."


IMPORTED = """\
from pytorch_lightning import LightningModule
from transformers import AdamW, AutoModel


class Model(LightningModule):
    def configure_optimizers(self):
        return AdamW(self.parameters(), lr=2e-5, correct_bias=False)
"""
FALLBACK = """\
try:
    from transformers import AdamW
except ImportError:
    from torch.optim import AdamW
"""
TORCHS = IMPORTED.replace("transformers import AdamW, AutoModel", "torch.optim import AdamW")

RULE = Rule(
    code="COM004",
    name="adamw-of-transformers",
    summary="`transformers.AdamW` is named",
    why=(
        "transformers 4.50 took out its AdamW, which had been deprecated for years: a project that moves to a current "
        "Lightning gets a current transformers with it, and ends where it imports the class. torch's own applies eps "
        "after the correction of the bias and the decay before the step, and has other "
        "defaults, so that losses differ a little: the choice is yours."
    ),
    fix="manual",
    versions="transformers 4.50 and later",
    triggers=(b"AdamW",),
    check=_check,
    examples=(
        Example(IMPORTED, IMPORTED),
        Example(IMPORTED, IMPORTED, pins=("transformers<4.50",)),
        Example(FALLBACK, FALLBACK),
        Example(TORCHS, TORCHS),
    ),
    stops=True,
    references=("https://github.com/huggingface/transformers/pull/36177",),
)
