"""LIT121: the loaders that a Trainer holds, which since 2.0 are what was returned, and no list of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from codemods.code.nodes import walk
from codemods.code.source import PythonFile
from codemods.code.syntax import taken_name
from codemods.finding import Fix
from codemods.lightning.facts import Facts
from codemods.lightning.spelling import namespace_of
from codemods.lightning.versions import LIGHTNING, admits_below, admits_from
from codemods.rewrite.advice import brief
from codemods.rewrite.spelled import parsed
from codemods.rule import Example, Match, NodeEdit, Rule
from codemods.rules.trainer.lit120 import UNCERTAIN
from codemods.rules.trainer.owners import Within, attributes_within, is_trainers

TRAIN = "train_dataloader"
LISTS = ("val_dataloaders", "test_dataloaders", "predict_dataloaders")
NAMES = frozenset({TRAIN, *LISTS})
TAKING = frozenset({"enumerate", "iter", "len", "list", "reversed", "tuple", "zip"})
HELD = "CombinedLoader"
ADVICE = (
    "1.x held a list of loaders whatever val_dataloader and its like returned, 2.x holds what they returned: "
    "`CombinedLoader({}).flattened` is that list."
)


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    if not any(node.attr in NAMES for node in file.near(NAMES).attributes):
        return
    if not admits_below(facts, LIGHTNING, "2.0.0"):
        return
    old = not admits_from(facts, LIGHTNING, "2.0.0")
    for node, within in attributes_within(file, NAMES):
        certain = is_trainers(file, facts, node, within)
        if certain is False:
            continue
        if isinstance(node.ctx, ast.Store):
            if certain:
                yield _stored(file, node)
        elif node.attr == TRAIN:
            yield from _train(file, node, within, bool(certain))
        elif not _is_asked(file, node, within):
            yield from _list(file, node, within, old, certain)


def _stored(file: PythonFile, node: ast.Attribute) -> Match:
    message = f"`trainer.{node.attr}` cannot be set since Lightning 2.0"
    reason = "Not rewritten: give the loaders to fit, validate, test or predict: `trainer.test(..., dataloaders=...)`."
    return Match(file.span(node), message, "manual", reason)


def _train(file: PythonFile, node: ast.Attribute, within: Within, certain: bool) -> Iterator[Match]:
    """`.loaders` and `.dataset.datasets` of the CombinedLoader that 1.x put around the training loaders."""
    parent, above = within[-1], within[-2] if len(within) > 1 else None
    if not isinstance(parent, ast.Attribute) or not isinstance(parent.ctx, ast.Load):
        return
    message = "`trainer.train_dataloader` is what the hook returned since Lightning 2.0, not a CombinedLoader around it"
    text = file.source_of(node)
    if parent.attr == "loaders":
        level: Fix = "safe" if certain else "unsafe"
        reason = "It is now the loader that CombinedLoader held" + ("." if certain else f"; {UNCERTAIN}.")
        edit = NodeEdit(parent, partial(parsed, text=text))
        yield Match(file.span(parent), message, level, reason, edits=(edit,))
    elif parent.attr == "dataset" and isinstance(above, ast.Attribute) and above.attr == "datasets":
        reason = "fixer assumes that it is one loader, whose dataset is meant; of several, each has its own."
        edit = NodeEdit(above, partial(parsed, text=f"{text}.dataset"))
        yield Match(file.span(above), message, "unsafe", reason, edits=(edit,))


def _is_asked(file: PythonFile, node: ast.Attribute, within: Within) -> bool:
    """Whether the code looks for itself what the Trainer holds: by isinstance in the same function, or as None."""
    parent = within[-1]
    if isinstance(parent, ast.Attribute | ast.Compare | ast.BoolOp | ast.UnaryOp | ast.If | ast.IfExp | ast.Assert):
        return True
    inside = next((item for item in reversed(within) if isinstance(item, ast.FunctionDef)), file.tree)
    text = ast.unparse(node)
    return any(
        isinstance(call, ast.Call)
        and isinstance(call.func, ast.Name)
        and call.func.id in ("isinstance", "type", HELD)
        and call.args
        and ast.unparse(call.args[0]) == text
        for call in walk(inside)
    )


def _list(file: PythonFile, node: ast.Attribute, within: Within, old: bool, certain: bool | None) -> Iterator[Match]:
    """A list of loaders that is indexed, looped over or counted; what else is done with it is said."""
    message = f"`trainer.{node.attr}` is what the hook returned since Lightning 2.0, not a list of loaders"
    imports = ((f"{namespace_of(file)}.utilities.combined_loader", HELD),)
    taken = taken_name(file.scope.bindings, imports)
    if taken or not _takes(file, node, within):
        if certain:
            reason = f"Not rewritten: check what is done with it. {ADVICE.format(brief(file, node))}"
            yield Match(file.span(node), message, "manual", f"{reason} It is in {imports[0][0]}.")
        return
    level: Fix = "safe" if old and certain else "unsafe"
    reason = ADVICE.format(brief(file, node))
    if not old:
        reason += " The requirements allow both: fixer assumes that the code was written for 1.x."
    if not certain:
        reason += f" {UNCERTAIN[:1].upper()}{UNCERTAIN[1:]}."
    edit = NodeEdit(node, partial(parsed, text=f"{HELD}({file.source_of(node)}).flattened"))
    yield Match(file.span(node), message, level, reason, edits=(edit,), imports=imports)


def _takes(file: PythonFile, node: ast.Attribute, within: Within) -> bool:
    """Whether the place reads a list there and then: an index, a loop, `len` and its like."""
    parent = within[-1]
    if isinstance(parent, ast.Subscript):
        return parent.value is node and isinstance(parent.ctx, ast.Load)
    if isinstance(parent, ast.For | ast.AsyncFor | ast.comprehension):
        return parent.iter is node
    if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and node in parent.args:
        return parent.func.id in TAKING and file.scope.lookup(parent.func.id) is None
    return False


BEFORE = """\
from pytorch_lightning import Callback


class Count(Callback):
    def on_train_epoch_start(self, trainer, pl_module):
        trainer.train_dataloader.loaders.sampler.set_epoch(trainer.current_epoch)

    def on_validation_epoch_start(self, trainer, pl_module):
        if trainer.val_dataloaders is not None:
            self.images = sum(len(loader.dataset) for loader in trainer.val_dataloaders)
            self.size = trainer.val_dataloaders[0].batch_size
"""
AFTER = """\
from pytorch_lightning import Callback
from pytorch_lightning.utilities.combined_loader import CombinedLoader


class Count(Callback):
    def on_train_epoch_start(self, trainer, pl_module):
        trainer.train_dataloader.sampler.set_epoch(trainer.current_epoch)

    def on_validation_epoch_start(self, trainer, pl_module):
        if trainer.val_dataloaders is not None:
            self.images = sum(len(loader.dataset) for loader in CombinedLoader(trainer.val_dataloaders).flattened)
            self.size = CombinedLoader(trainer.val_dataloaders).flattened[0].batch_size
"""
OLD = ("pytorch-lightning==1.9.5",)
HANDED = """\
from pytorch_lightning import Callback


class Show(Callback):
    def on_test_start(self, trainer, pl_module):
        self.show(trainer.test_dataloaders)
"""

RULE = Rule(
    code="LIT121",
    name="trainer-loaders",
    summary="The loaders that a Trainer holds are what was returned, not a list or CombinedLoader of them",
    why=(
        "1.x put the training loaders into a CombinedLoader and the others into a list, whatever had been returned; "
        "since 2.0 `trainer.train_dataloader`, `val_dataloaders`, `test_dataloaders` and `predict_dataloaders` are "
        "what was returned (pull requests 16714 and 16726; run on 1.8.6, 1.9.5 and 2.6.6). An index fails then, but a "
        "loop goes over batches and `len` counts them, without an error."
    ),
    fix="safe",
    versions="Lightning < 2.0 -> 2.0 and later",
    triggers=tuple(name.encode() for name in sorted(NAMES)),
    words=tuple(name.encode() for name in sorted(NAMES)),
    check=_check,
    examples=(Example(BEFORE, AFTER, pins=OLD), Example(HANDED, HANDED, pins=OLD)),
    breaks_in="2.0.0",
    needs="2.0.0",
)
