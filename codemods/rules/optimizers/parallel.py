"""Trainers that run on several devices: Lightning 1.x looked for parameters that a step leaves unused, 2.x does not."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import partial

from codemods.code.literals import literal
from codemods.code.nodes import every_node, walk
from codemods.code.scopes import ROOT
from codemods.code.source import PythonFile, TextFile
from codemods.code.syntax import uses
from codemods.lightning.class_family import family
from codemods.lightning.configurations.evidence import is_trainer
from codemods.lightning.configurations.mappings import Malformed
from codemods.lightning.configurations.owners import owned
from codemods.lightning.facts import MODULE, Facts, is_trainer_call
from codemods.rewrite.ddp import DDP, looking, with_argument
from codemods.rewrite.manual.argument_transfer import may_be
from codemods.rewrite.manual.fit_sites import read_fits
from codemods.rewrite.manual.settings import SECTION
from codemods.rewrite.manual.trainers import trainers_of
from codemods.rewrite.splice import valued
from codemods.rule import Match, NodeEdit
from codemods.rules.optimizers.plan import OptimizerVerdict

LOOKS = DDP["ddp"]
SIMPLE = ("gpu", "cuda", "cpu", "auto", None)
COUNTED = ("devices", "gpus", "num_processes", "num_nodes")
ROW = "B07"
ADVICE = f'Where it trains on several devices by DDP, give it strategy="{LOOKS}"'


def strategy_matches(file: PythonFile, facts: Facts, verdicts: Sequence[OptimizerVerdict]) -> Iterator[Match]:
    """The Trainers of this file which may train by DDP a class that gets a loop.

    On 1.x DDP looked for unused parameters by itself, of which a toggled optimizer leaves some, and was what several
    devices got by default (source: Lightning 1.9.5, `strategies/ddp.py` and `accelerator_connector.py`).
    """
    if not verdicts:
        return
    owners: dict[tuple[str, int], OptimizerVerdict] = {}
    for verdict in sorted(verdicts, key=lambda verdict: verdict.level):
        fact = facts.files[verdict.item.path].find(verdict.item.name)
        for trainer in trainers_of(facts, fact) if fact else ():
            owners.setdefault((trainer.path, trainer.line), verdict)
    trainers = [trainer for trainer in facts.trainers if trainer.path == file.path]
    calls = [call.node for call in file.calls if is_trainer_call(call)]
    for trainer, call in zip(trainers, calls, strict=False):
        if (trainer.path, trainer.line) in owners:
            yield from _judge(file, owners[trainer.path, trainer.line], call)
    yield from _spoken_of(file, facts, verdicts, calls)


def configured_matches(file: TextFile, facts: Facts, verdicts: Sequence[OptimizerVerdict]) -> Iterator[Match]:
    """The entries of a configuration that have a Trainer train by DDP, where it may train a class that gets a loop."""
    indirect = any(each.indirect_trainers for each in facts.files.values())
    if not verdicts or not (indirect or any(trainer.open_ended for trainer in facts.trainers)):
        return
    verdict = max(verdicts, key=lambda each: each.level)
    alone = not _others(facts, verdicts)
    try:
        found = [item for item in owned(file) if item.name == SECTION or is_trainer(item.target)]
    except Malformed:
        return
    for item in found:
        for entry in item.arguments:
            if entry.key != "strategy" or entry.value not in DDP:
                continue
            place = file.span(*entry.key_at)
            message = f'"{entry.value}" no longer looks for unused parameters since Lightning 2.0'
            why = f"Each optimizer of {verdict.item.name} leaves those of the others unused, which 1.x looked for"
            if alone and not item.section.shared:
                edits = (valued(file, entry, repr(DDP[entry.value])),)
                yield Match(place, message, verdict.level, f"{why}.", ROW, edits=edits, unit=verdict.unit)
            else:
                yield Match(place, message, "manual", f"Not rewritten: {why}, if it is trained by this. {ADVICE}.", ROW)


def _others(facts: Facts, verdicts: Sequence[OptimizerVerdict]) -> bool:
    """Whether the project trains modules that get no loop."""
    facts_of = [facts.files[each.item.path].find(each.item.name) for each in verdicts]
    known = {other for fact in facts_of if fact for other in (fact, *family(facts, fact))}
    return any(
        "training_step" in item.methods and item not in known and facts.kind(item) in (MODULE, None)
        for item in facts.classes()
    )


def _spoken_of(
    file: PythonFile, facts: Facts, verdicts: Sequence[OptimizerVerdict], calls: Sequence[ast.Call]
) -> Iterator[Match]:
    """The places where a file that builds a Trainer of the class names DDP other than in its call: it may get there."""
    here = facts.files[file.path]
    if not any(name in file.text for name in DDP) or not (here.trainers or here.indirect_trainers):
        return
    fits = read_fits(file)
    fitted = [*(fit.fitted for fit in fits.plain), *(dotted for _, dotted in fits.other)]
    owner = next((each for each in verdicts if any(_may_be(facts, each, file.path, dotted) for dotted in fitted)), None)
    if owner is None:
        return
    known = {id(inner) for call in calls for inner in walk(call)}
    known |= {id(bound.value) for call in calls for each in call.keywords if (bound := _bound(file, each.value))}
    known |= {id(part) for node in every_node(file.tree) if isinstance(node, ast.Compare) for part in walk(node)}
    for node in every_node(file.tree):
        if isinstance(node, ast.Constant) and node.value in DDP and id(node) not in known:
            message = f'"{node.value}" no longer looks for unused parameters since Lightning 2.0'
            reason = f"Not rewritten: it may reach the Trainer of {owner.item.name}, which needs that. {ADVICE}."
            yield Match(file.span(node), message, "manual", reason, ROW)


def _may_be(facts: Facts, verdict: OptimizerVerdict, path: str, dotted: str | None) -> bool:
    fact = facts.files[verdict.item.path].find(verdict.item.name)
    return fact is not None and may_be(facts, fact, path, dotted)


def _judge(file: PythonFile, verdict: OptimizerVerdict, call: ast.Call) -> Iterator[Match]:
    given = {keyword.arg: keyword for keyword in call.keywords}
    strategy = given.get("strategy")
    why = f"Each optimizer of {verdict.item.name} leaves those of the others unused, which 1.x looked for by itself."
    if strategy is not None:
        bound = _bound(file, strategy.value)
        parts = list(_results(bound.value if bound else strategy.value))
        built = [part for part in parts if isinstance(part, ast.Call) and _is_silent(file, part)]
        spoken = [_spoken(part) for part in parts]
        known = [value for value in spoken if value in DDP]
        if known:
            message = f'strategy="{known[0]}" no longer looks for unused parameters since Lightning 2.0'
            edits = (NodeEdit(bound or strategy, looking),)
            yield Match(file.span(strategy), message, verdict.level, why, ROW, edits=edits, unit=verdict.unit)
        elif built:
            message = "DDPStrategy no longer looks for unused parameters since Lightning 2.0"
            edits = (NodeEdit(built[0], partial(with_argument, name="find_unused_parameters", value="True")),)
            yield Match(file.span(strategy), message, verdict.level, why, ROW, edits=edits, unit=verdict.unit)
        elif any(isinstance(part, ast.Name | ast.Attribute | ast.Subscript) for part in parts):
            message = "this strategy may be one that does not look for parameters that a step leaves unused"
            yield Match(file.span(strategy), message, "manual", f"Not rewritten: {why} {ADVICE}.", ROW)
        return
    several = [given[name] for name in COUNTED if name in given and _several(given[name].value)]
    kind = literal(given["accelerator"].value) if "accelerator" in given else (True, None)
    if several and None not in given and kind[0] and kind[1] in SIMPLE:
        message = "DDP on several devices no longer looks for unused parameters since Lightning 2.0"
        edits = (NodeEdit(call, partial(with_argument, name="strategy", value=f'"{LOOKS}"')),)
        yield Match(file.span(several[0]), message, verdict.level, why, ROW, edits=edits, unit=verdict.unit)


def _bound(file: PythonFile, node: ast.expr) -> ast.Assign | None:
    """The one statement that binds a name which is read nowhere else."""
    if not isinstance(node, ast.Name):
        return None
    bound = [item.node for item in file.assignments_to(node.id)]
    reads = [use for use in uses(file.tree, node.id) if isinstance(use.ctx, ast.Load)]
    if len(bound) != 1 or len(reads) != 1 or not isinstance(bound[0], ast.Assign) or len(bound[0].targets) != 1:
        return None
    return bound[0]


def _spoken(node: ast.expr) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _is_silent(file: PythonFile, call: ast.Call) -> bool:
    """Whether a call builds DDP's strategy and says nothing of unused parameters."""
    dotted = file.scope.resolve(call.func) or ""
    known = dotted.startswith(f"{ROOT}.") and dotted.endswith((".DDPStrategy", ".DDPPlugin"))
    return known and all(keyword.arg not in (None, "find_unused_parameters") for keyword in call.keywords)


def _results(node: ast.expr) -> Iterator[ast.expr]:
    """What an expression may give."""
    if isinstance(node, ast.IfExp):
        yield from _results(node.body)
        yield from _results(node.orelse)
    elif isinstance(node, ast.BoolOp):
        for value in node.values:
            yield from _results(value)
    else:
        yield node


def _several(node: ast.expr) -> bool:
    """Whether an argument plainly asks for more than one device."""
    known, value = literal(node)
    if not known:
        return False
    return (type(value) is int and value > 1) or (isinstance(value, list | tuple) and len(value) > 1)
