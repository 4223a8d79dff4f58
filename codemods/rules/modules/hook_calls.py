"""Hooks that are called without what they require now, of a class that leaves them as Lightning has them: `setup()`
without a stage, `transfer_batch_to_device(batch, device)` without the index of a dataloader."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from codemods.code.calls import innermost
from codemods.code.scopes import ROOT
from codemods.code.source import CallNode, PythonFile
from codemods.code.syntax import self_name
from codemods.lightning.facts import MODULE, ClassFact, Facts
from codemods.rule import Match, TextEdit
from codemods.rules.modules.of_instances import class_of, class_said, has

KINDS = (MODULE, f"{ROOT}.LightningDataModule")
_ALONE = "Lightning's own does nothing with it."
_SAID = "fixer believes the annotation, and that what is given leaves the hook as it is."
_BELOW = "fixer assumes that a subclass that is given takes `{}` too."


@dataclass(frozen=True)
class HookRequirement:
    """An argument that a hook requires since a release, the names of those before it, and what is given for it."""

    name: str
    value: str
    since: str
    before: tuple[str, ...] = ()


REQUIRED = {
    "setup": HookRequirement("stage", "None", "1.8"),
    "teardown": HookRequirement("stage", "None", "1.8"),
    "transfer_batch_to_device": HookRequirement("dataloader_idx", "0", "1.4", ("batch", "device")),
}
"""As the signatures of 1.3.8 to 2.6.6 have them."""


def short_calls(file: PythonFile) -> Iterator[tuple[CallNode, ast.Attribute]]:
    """The calls of these hooks that give all that they took before, and no more."""
    for call in file.calls_near([f".{name}(" for name in REQUIRED]):
        function = call.node.func
        if isinstance(function, ast.Attribute) and function.attr in REQUIRED:
            asked = REQUIRED[function.attr]
            by_name = [item.arg for item in call.node.keywords]
            left = asked.before[len(call.node.args) :]
            starred = any(isinstance(item, ast.Starred) for item in call.node.args)
            if not starred and len(call.node.args) <= len(asked.before) and {*by_name} == {*left}:
                yield call, function


def told(file: PythonFile, facts: Facts) -> Iterator[Match]:
    for call, function in short_calls(file):
        own = _own_class(file, facts, call, function.value)
        made = own or class_of(file, facts, call, function.value)
        fact = made or class_said(file, facts, call, function.value)
        if fact is None or facts.kind(fact) not in KINDS or has(facts, fact, function.attr):
            continue
        asked = REQUIRED[function.attr]
        below = made in (None, own) and any(function.attr in other.methods for other in facts.subclasses(fact))
        doubt = _BELOW.format(asked.name) if below else _SAID if made is None else ""
        given: list[ast.expr | ast.keyword] = [*call.node.args, *call.node.keywords]
        end = file.offsets(given[-1])[1] if given else file.offsets(call.node)[1] - 1
        edits = (TextEdit(end, end, f"{', ' if given else ''}{asked.name}={asked.value}"),)
        message = f"{function.attr}() requires `{asked.name}` since Lightning {asked.since}"
        reason = " ".join(filter(None, (_ALONE, doubt)))
        yield Match(file.span(call.node), message, "unsafe" if doubt else "safe", reason, edits=edits)


def _own_class(file: PythonFile, facts: Facts, call: CallNode, owner: ast.expr) -> ClassFact | None:
    """The class whose method calls a hook of its own instance."""
    inner = innermost(call.within, ast.ClassDef)
    method = next((item for item in call.within if inner and item in inner.body), None)
    if not isinstance(method, ast.FunctionDef) or method.decorator_list:
        return None
    if not isinstance(owner, ast.Name) or owner.id != self_name(method):
        return None
    name = next((item.qualname for item in file.classes if item.node is inner), None)
    return facts.files[file.path].find(name) if name and file.path in facts.files else None
