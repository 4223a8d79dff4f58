"""`training_epoch_end` and `on_train_batch_end` of a class whose batches have several steps each: the loop that makes
them keeps, and returns, what the hooks got."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.code.nodes import walk
from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import Function, is_plain, mentions, parameters, self_name, super_init_index, uses
from codemods.lightning.class_family import clash
from codemods.lightning.facts import CALLBACK, ClassFact, Facts
from codemods.rewrite.manual.hooks import STEPPING
from codemods.rewrite.manual.optimizers import NotPlain
from codemods.rewrite.manual.trainers import naming

HOOK, NEW, KEPT = "training_epoch_end", "on_train_epoch_end", "training_step_outputs"
BATCH_END, RETURNED = "on_train_batch_end", "outputs"
BY_BATCH = "1.8.0"
"""Since when training_epoch_end gets a list for each batch rather than for each optimizer (its source, and 1.5.0's)."""
BACKWARD = ("backward", "manual_backward", "grad")
ASKED = (f".{HOOK}".encode(), f"def {NEW}".encode())
"""What a rule's `context` has to name for `lost` to see it."""


def reads_outputs(item: ClassNode) -> bool:
    """Whether a class has training_epoch_end, and it uses what it gets."""
    return _reads(item.methods.get(HOOK))


def reads_batch(item: ClassNode) -> bool:
    """Whether a class has on_train_batch_end, and it uses what the steps of the batch returned."""
    return _reads(item.methods.get(BATCH_END))


def _reads(hook: Function | None) -> bool:
    if hook is None:
        return False
    names = [*parameters(hook)[:1], *(each.arg for each in (hook.args.vararg, hook.args.kwarg) if each)]
    return any(uses(hook, name) for name in names)


def judge_batch(item: ClassNode, each: str) -> None:
    """Raises NotPlain where on_train_batch_end reads its outputs, a list of one for `each` step of the batch, and
    cannot be given it by what the training step returns."""
    if not reads_batch(item):
        return
    if not is_plain(item.methods[BATCH_END]) or STEPPING in item.methods:
        raise NotPlain(f"{BATCH_END} reads the step's outputs, which were a list of one for each {each}")


def judge_outputs(file: PythonFile, item: ClassNode, each: str) -> None:
    """Raises NotPlain where a hook that reads its outputs cannot be given the same. They were lists of one for `each`
    step of a batch."""
    hook = item.methods[HOOK]
    init = item.methods.get("__init__")
    if not is_plain(hook) or len(parameters(hook)) != 1 or self_name(hook) != "self":
        raise NotPlain(f"{HOOK} reads the steps' outputs, and is not an ordinary method of (self, outputs)")
    if _reads_flat(hook):
        raise NotPlain(f"{HOOK} takes each of the outputs for a dict, which were lists of one for each {each}")
    if NEW in item.methods:
        raise NotPlain(f"{HOOK} reads the steps' outputs, and the class has {NEW} too")
    if file.attributes(HOOK) or mentions(file.tree, HOOK):
        raise NotPlain(f"{HOOK} reads the steps' outputs, and is used by name")
    if any(isinstance(node, ast.Attribute) and node.attr in BACKWARD for node in walk(hook)):
        raise NotPlain(f"{HOOK} calls backward, for which the outputs would have to keep their history")
    if any(isinstance(node, ast.Attribute) and node.attr == KEPT for node in walk(item.node)):
        raise NotPlain(f"{HOOK} reads the steps' outputs, and the class already uses the attribute {KEPT}")
    if init is None or super_init_index(init) is None or self_name(init) != "self":
        raise NotPlain(f"{HOOK} reads the steps' outputs, and no simple __init__ has a place for their list")


def _reads_flat(hook: Function) -> bool:
    """Whether a hook takes each of its outputs for a dict: `out["loss"] for out in outputs`, `outputs[0]["loss"]`."""
    given = parameters(hook)[0]
    found = {
        node.target.id
        for node in walk(hook)
        if isinstance(node, ast.For | ast.comprehension)
        and isinstance(node.target, ast.Name)
        and isinstance(node.iter, ast.Name)
        and node.iter.id == given
    }
    return any(
        _is_key(node.slice) and (_name(node.value) in found or _is_item(node.value, given))
        for node in walk(hook)
        if isinstance(node, ast.Subscript)
    )


def _is_key(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _is_item(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Subscript) and _name(node.value) == name and not isinstance(node.slice, ast.Slice)


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def lost(facts: Facts, fact: ClassFact) -> str | None:
    """Why relatives, callers and callbacks forbid that the hook is called later, by its new name."""
    for reason in _reasons(facts, fact):
        return reason
    return None


def _reasons(facts: Facts, fact: ClassFact) -> Iterator[str]:
    found = clash(facts, fact, {HOOK, NEW})
    if found:
        yield found
    callers = naming(facts, fact) & facts.mentions.get(ASKED[0], frozenset()) - {fact.path}
    if callers:
        yield f"{HOOK} reads the steps' outputs, and is used by name in {min(callers)}"
    for other in facts.classes():
        if NEW in other.methods and facts.kind(other) in (CALLBACK, None):
            yield (
                f"{HOOK} reads the steps' outputs, and {other.name} ({other.path}) has {NEW}, which 1.x called behind "
                "it and 2.x calls before the module's"
            )
