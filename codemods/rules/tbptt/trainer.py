"""What is left of the flag that Trainers took before 1.5: arguments that no module gets, and those who read it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import partial

from codemods.code.calls import innermost
from codemods.code.nodes import walk
from codemods.code.source import CallNode, PythonFile
from codemods.code.syntax import is_none, is_super_call, uses
from codemods.lightning.facts import CALLBACK, MODULE, TRAINER, Facts, is_trainer_call
from codemods.lightning.guards import guard_of
from codemods.rewrite.manual.transfer_edits import without
from codemods.rule import Match, NodeEdit
from codemods.rules.tbptt.chunk_length_transfer import FLAG
from codemods.rules.tbptt.plan import TbpttVerdict

GIVEN = "Trainer(truncated_bptt_steps=...) was removed in Lightning 1.5"
READ = "Trainers have no `truncated_bptt_steps` since Lightning 1.5"
UNHEARD = "`truncated_bptt_steps` has no effect since Lightning 2.0"
LOOP = "a module that is to be trained in chunks needs `for chunk in batch.split(..., dim=1):` in its training_step"


def leftover(file: PythonFile, facts: Facts, verdicts: Sequence[TbpttVerdict]) -> Iterator[Match]:
    """The places of a file where a Trainer is given the flag and no module gets it, and where it is read from one."""
    moved = {place for verdict in verdicts if verdict.refusal is None for place in verdict.flagged}
    index = -1
    for call in file.calls:
        index += is_trainer_call(call)
        keyword = next((item for item in call.node.keywords if item.arg == FLAG), None)
        if keyword is None or not _builds_trainer(file, facts, call):
            continue
        if not (is_trainer_call(call) and (file.path, index) in moved):
            guard = guard_of(file, facts, call, FLAG)
            if guard == "unclear":
                reason = "Not rewritten: it is inside a version check; if this code never runs on 2.x, leave it."
                yield Match(file.span(keyword), GIVEN, "manual", reason, "M259")
            elif guard == "none":
                yield from _given(file, call, keyword, [verdict for verdict in verdicts if verdict.refusal])
    for node in file.attributes(FLAG):
        if isinstance(node.ctx, ast.Load) and _is_trainer(file, facts, node):
            reason = f"Not rewritten: read it from the module, which has to keep it: `self.{FLAG} = ...`."
            yield Match(file.span(node), READ, "manual", reason, "M259")


def _builds_trainer(file: PythonFile, facts: Facts, call: CallNode) -> bool:
    if is_trainer_call(call) or call.scope.resolve(call.node.func) == f"{TRAINER}.from_argparse_args":
        return True
    return is_super_call(call.node, "__init__") and facts.kind_around(file, call.within) == TRAINER


def _given(file: PythonFile, call: CallNode, keyword: ast.keyword, refused: Sequence[TbpttVerdict]) -> Iterator[Match]:
    edits = (NodeEdit(call.node, partial(without, names=frozenset({FLAG}))),)
    place = file.span(keyword)
    value = keyword.value
    parameter = _none_by_default(value, call)
    if isinstance(value, ast.Constant) and not value.value:
        yield Match(place, GIVEN, "safe", "It switched nothing on.", "M259", edits=edits)
    elif refused:
        item = refused[0].item
        reason = f"Not rewritten: {item.name} ({item.path}) may be trained by it, and is not rewritten itself."
        yield Match(place, GIVEN, "manual", reason, "M259")
    elif parameter:
        reason = (
            "It is None unless a caller gives it, and no module of the project takes the state that 1.x then passed, "
            "without which it did not train."
        )
        yield Match(place, GIVEN, "safe", reason, "M259", edits=edits)
        reason = f"Remove it, and `{FLAG}=...` where it is given: {LOOP}."
        yield Match(file.span(parameter), UNHEARD, "manual", reason, "M259")
    else:
        reason = f"Not rewritten: no module of the project takes the state that 1.x then passed. Remove it: {LOOP}."
        yield Match(place, GIVEN, "manual", reason, "M259")


def _none_by_default(value: ast.expr, call: CallNode) -> ast.arg | None:
    """The parameter of the function around a call that a value is, if it is None unless given and never bound again."""
    function = innermost(call.within, ast.FunctionDef)
    if function is None or not isinstance(value, ast.Name):
        return None
    bound = [use for use in uses(function, value.id) if not isinstance(use.ctx, ast.Load)]
    given = [*function.args.posonlyargs, *function.args.args]
    optional: list[tuple[ast.arg, ast.expr | None]] = [*zip(given[::-1], function.args.defaults[::-1], strict=False)]
    optional += zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)
    for parameter, default in optional:
        if parameter.arg == value.id and default is not None and is_none(default) and not bound:
            return parameter
    return None


def _is_trainer(file: PythonFile, facts: Facts, node: ast.Attribute) -> bool:
    """Whether an attribute is read from a Trainer: one of the file, or that of a module or callback."""
    if isinstance(node.value, ast.Name):
        return any(trainer.name == node.value.id for trainer in facts.files[file.path].trainers)
    if not (isinstance(node.value, ast.Attribute) and node.value.attr == "trainer"):
        return False
    owners = [item for item in file.classes if any(inner is node for inner in walk(item.node))]
    kinds = {facts.kind_around(file, [item.node]) for item in owners}
    return bool(kinds & {MODULE, CALLBACK})
