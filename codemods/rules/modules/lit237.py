"""LIT237: checkpoints that are loaded as they were before Lightning 0.9."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.code.source import CallNode, PythonFile
from codemods.lightning.eras import era
from codemods.lightning.facts import MODULE, Facts
from codemods.rule import Example, Match, Rule

METRICS, CHECKPOINT, TAGS = "load_from_metrics", "load_from_checkpoint", "tags_csv"
GONE = "`load_from_metrics` was removed in Lightning 0.9"
GONE_REASON = (
    "Not rewritten: fixer cannot tell what the file holds. Write `load_from_checkpoint(path, hparams_file=...)`, which "
    "reads the same `meta_tags.csv`."
)
UNREAD = "`tags_csv=` of load_from_checkpoint was removed in Lightning 0.9"
UNREAD_REASON = (
    "Not rewritten: it goes to the module now, and the file is not read. Write `hparams_file=`, which reads the same "
    "`meta_tags.csv`."
)
PLACED = "The second argument of load_from_checkpoint is `map_location` since Lightning 0.10"
PLACED_REASON = (
    "Not rewritten: it went to the constructor of the module before. Write it by the name of the parameter that it is "
    "for."
)


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    for call in file.calls_near([METRICS, CHECKPOINT]):
        name = call.node.func.attr if isinstance(call.node.func, ast.Attribute) else ""
        tagged = any(item.arg == TAGS for item in call.node.keywords)
        if name not in (METRICS, CHECKPOINT) or not (tagged or _is_of_module(file, facts, call)):
            continue
        if name == METRICS:
            yield Match(file.span(call.node), GONE, "manual", GONE_REASON)
        elif tagged:
            yield Match(file.span(call.node), UNREAD, "manual", UNREAD_REASON)
        elif len(call.node.args) > 1 and era(facts, "0.10.0") == "before":
            yield Match(file.span(call.node), PLACED, "manual", PLACED_REASON)


def _is_of_module(file: PythonFile, facts: Facts, call: CallNode) -> bool:
    """Whether a method is called on a LightningModule of the project."""
    owner = call.node.func.value if isinstance(call.node.func, ast.Attribute) else None
    dotted = call.scope.resolve(owner) if owner is not None else None
    fact = facts.find_class(dotted, file.path) if dotted else None
    return fact is not None and facts.kind(fact) == MODULE


BEFORE = """\
import pytorch_lightning as pl


class Model(pl.LightningModule):
    def training_step(self, batch, batch_idx):
        return self.layer(batch).sum()


model = Model.load_from_metrics("model.ckpt", "meta_tags.csv")
"""
AFTER = BEFORE.replace('load_from_metrics("model.ckpt", ', 'load_from_checkpoint("model.ckpt", hparams_file=')

RULE = Rule(
    code="LIT237",
    name="loaded-with-tags",
    summary="`load_from_metrics` and `tags_csv=`, which went in Lightning 0.9, are named",
    why=(
        "Up to 0.8 hyperparameters stood in a file of their own, meta_tags.csv, which load_from_metrics, and "
        "load_from_checkpoint by `tags_csv=`, read. Both went in 0.9: the method is an AttributeError, the argument "
        "one of the module, which drops what it does not know. `hparams_file=` reads such a file to this day. Up to "
        "0.9 what stood behind the path went to the constructor; since 0.10 tensors are mapped to it (read in 0.8.5, "
        "0.9.0, 0.10.0 and 2.6.6)."
    ),
    fix="manual",
    versions="Lightning 0.5 - 0.9 -> 0.10 and later",
    triggers=(b"LightningModule", METRICS.encode(), CHECKPOINT.encode()),
    words=(METRICS.encode(), CHECKPOINT.encode()),
    check=_check,
    examples=(Example(BEFORE, BEFORE), Example(AFTER, AFTER)),
    breaks_in="0.9.0",
)
