"""OPT004: hooks that take the index of the optimizer, which Lightning 2 no longer gives."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from codemods.code.nodes import walk
from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import Function, is_super_call, parameters
from codemods.lightning.calls_by_name import asked_otherwise
from codemods.lightning.facts import CALLBACK, MODULE, ClassFact, Facts
from codemods.lightning.optimization import optimization
from codemods.rewrite.advice import head
from codemods.rewrite.manual.closure import closure_parameter
from codemods.rewrite.manual.optimizers import NotPlain
from codemods.rewrite.manual.signature import (
    CALLBACK_HOOKS,
    HOOKS,
    HookSignature,
    index_parameter,
    old_parameters,
    read_by_default,
    read_elsewhere,
)
from codemods.rule import Example, Match, NodeEdit, Rule, best_levels
from codemods.rules.optimizers.opt001 import collect, context
from codemods.rules.optimizers.plan import one_optimizer, verdicts

if TYPE_CHECKING:
    import libcst as cst

CODE = "OPT004"
ROWS = {
    "optimizer_step": "M217",
    "optimizer_zero_grad": "M218",
    "on_before_optimizer_step": "M215",
    "configure_gradient_clipping": "M216",
    "backward": "M222",
    "lr_scheduler_step": "M219",
}

AUTOMATIC = ("optimizer_step", "optimizer_zero_grad", "configure_gradient_clipping", "lr_scheduler_step")
"""What Lightning 2 calls where it optimizes by itself, and never under manual optimization."""


UNUSED = "It uses none of the removed arguments; Lightning 2 calls the hook without them."
ALWAYS = "There is one optimizer, so the index was always 0; Lightning 2 calls the hook without it."


def _present(file: PythonFile) -> bool:
    return any(name in item.methods for item in file.classes for name in HOOKS)


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    written = {
        verdict.item.name
        for verdict in verdicts(facts, CODE)
        if verdict.item.path == file.path and verdict.what == "loop"
    }
    for item in file.classes:
        fact = facts.of_class(file, item)
        kind = facts.kind(fact) if fact and item.qualname not in written else "other"
        hooks = {MODULE: HOOKS, CALLBACK: CALLBACK_HOOKS}.get(kind or "", {})
        for name, hook in hooks.items():
            if name in item.methods and not _is_its_own(file, facts, item, name):
                first = kind == MODULE and fact is not None and _is_first(file, facts, fact, name)
                yield from _hook_match(file, facts, item, name, hook, first)


def _is_first(file: PythonFile, facts: Facts, fact: ClassFact, name: str) -> bool:
    """Whether a hook was always given the index 0: of the only optimizer. manual_backward gives none."""
    if name == "backward" and optimization(facts, file, fact) != "automatic":
        return False
    return one_optimizer(facts, fact, CODE)


def _is_its_own(file: PythonFile, facts: Facts, item: ClassNode, name: str) -> bool:
    """Whether nothing but the class itself calls a method that is a hook under automatic optimization alone, and that
    hands nothing on to Lightning's."""
    fact = facts.of_class(file, item)
    if name not in AUTOMATIC or fact is None or any(is_super_call(node, name) for node in walk(item.methods[name])):
        return False
    return facts.kind(fact) == MODULE and optimization(facts, file, fact) == "manual"


def _hook_match(
    file: PythonFile, facts: Facts, item: ClassNode, name: str, hook: HookSignature, first: bool
) -> Iterator[Match]:
    method = item.methods[name]
    if name == "optimizer_step" and not method.args.vararg and closure_parameter(method) is None:
        return  # the fourth argument is the closure, which OPT006 speaks of
    try:
        dead = old_parameters(method, hook)
        left = read_by_default(method, hook)
    except NotPlain as error:
        yield _manual(file, item, name, str(error))
        return
    read = [left] if left else read_elsewhere(method, name, dead)
    if not dead and not read:
        return
    index = index_parameter(method, hook) if first and not left else None
    told = index is not None and read == [index] and not _is_handed_on(method, name, index)
    if read and not told:
        yield _manual(file, item, name, f"it reads `{read[0]}`; {_told(item, name)}", dead)
        return
    if path := _given(file, facts, name, hook, dead):
        yield _manual(file, item, name, f"{name} is called in {path}, perhaps with the index", dead)
        return
    yield Match(
        file.head(method),
        _message(item, name, dead),
        "safe",
        ALWAYS if told else UNUSED,
        ROWS[name],
        edits=(NodeEdit(method, partial(_without, dead=dead, told=index if told else None)),),
    )


def _is_handed_on(method: Function, name: str, index: str) -> bool:
    """Whether a hook gives the index to one of the same name, as that of a base by its name, which takes none."""
    calls = [node for node in walk(method) if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == name]
    return any(isinstance(node, ast.Name) and node.id == index for call in calls for node in walk(call))


def _given(file: PythonFile, facts: Facts, name: str, hook: HookSignature, dead: tuple[str, ...]) -> str | None:
    """The file in which something else than Lightning may give a hook more than it would take."""
    left = hook.arguments - len(hook.gone)
    for path, _, call in asked_otherwise(file, facts, name):
        if call is None:
            continue
        spread = any(isinstance(each, ast.Starred) for each in call.args)
        if spread or len(call.args) > left or any(each.arg in (None, *dead) for each in call.keywords):
            return path
    return None


TAKEN = {
    "optimizer_step": ("epoch", "batch_idx", "optimizer", "optimizer_closure"),
    "optimizer_zero_grad": ("epoch", "batch_idx", "optimizer"),
    "on_before_optimizer_step": ("optimizer",),
    "configure_gradient_clipping": ("optimizer", "gradient_clip_val", "gradient_clip_algorithm"),
    "backward": ("loss",),
    "lr_scheduler_step": ("scheduler", "metric"),
}
"""What Lightning 2 gives each hook of a module."""


def _told(item: ClassNode, name: str) -> str:
    one = "with one optimizer the index is always 0"
    names = parameters(item.methods[name])
    if name != "on_before_optimizer_step" or len(names) not in (2, 4):
        return one
    trainer, optimizer = (names[0], names[2]) if len(names) == 4 else ("self.trainer", names[0])
    return f"{one}, with several it is `{trainer}.optimizers.index({optimizer})`"


def _message(item: ClassNode, name: str, dead: tuple[str, ...]) -> str:
    names = ", ".join(f"`{each}`" for each in dead)
    return f"{item.node.name}.{name} takes {names}, which Lightning 2.0 removed"


def _manual(file: PythonFile, item: ClassNode, name: str, why: str, dead: tuple[str, ...] = ()) -> Match:
    new = head(item.methods[name], gone=dead) if dead else f"def {name}(self, {', '.join(TAKEN[name])})"
    return Match(
        file.head(item.methods[name]),
        f"{item.node.name}.{name} has the signature of Lightning 1.x",
        "manual",
        f"Not rewritten: {why}. Write `{new}`, without what depends on the rest.",
        ROWS[name],
    )


def _without(node: cst.FunctionDef, dead: tuple[str, ...], told: str | None) -> cst.FunctionDef:
    from codemods.rewrite.edits import begun
    from codemods.rewrite.manual.signature import without_old

    changed = without_old(node, dead)
    return begun(changed, f"{told} = 0\n") if told else changed


BEFORE = """\
from pytorch_lightning import LightningModule


class Model(LightningModule):
    def optimizer_step(
        self, epoch, batch_idx, optimizer, optimizer_idx, optimizer_closure, on_tpu=False, using_lbfgs=False
    ):
        super().optimizer_step(epoch, batch_idx, optimizer, optimizer_idx, optimizer_closure, on_tpu=on_tpu)

    def on_before_optimizer_step(self, optimizer, optimizer_idx):
        self.log("lr", optimizer.param_groups[0]["lr"])
"""
AFTER = """\
from pytorch_lightning import LightningModule


class Model(LightningModule):
    def optimizer_step(
        self, epoch, batch_idx, optimizer, optimizer_closure
    ):
        super().optimizer_step(epoch, batch_idx, optimizer, optimizer_closure)

    def on_before_optimizer_step(self, optimizer):
        self.log("lr", optimizer.param_groups[0]["lr"])
"""
READ = """\
from pytorch_lightning import LightningModule


class Model(LightningModule):
    def on_before_optimizer_step(self, optimizer, optimizer_idx):
        if optimizer_idx == 0:
            self.log("lr", optimizer.param_groups[0]["lr"])
"""

RULE = Rule(
    code=CODE,
    name="optimizer-index-in-hooks",
    summary="Hooks of optimizers lose the index, and what else 1.x gave them",
    why=(
        "Lightning 2.0 calls `optimizer_step`, `optimizer_zero_grad`, `on_before_optimizer_step`, "
        "`configure_gradient_clipping`, `lr_scheduler_step` and `backward` without the index of the optimizer, "
        "`optimizer_step` without `on_tpu`, `using_native_amp` and `using_lbfgs`, and `backward` without the optimizer "
        "(guide rows M215-M219 and M222, pull request 16539). A method that still takes them fails, or gets one "
        "argument for another."
    ),
    fix="safe",
    versions="written for Lightning < 2.0; needs 2.0 or later after the rewrite",
    triggers=tuple(f"def {name}(".encode() for name in HOOKS),
    check=_check,
    rows=partial(
        best_levels,
        (
            ("M186", "safe"),
            ("M187", "safe"),
            ("M213", "safe"),
            ("M215", "safe"),
            ("M216", "safe"),
            ("M217", "safe"),
            ("M218", "safe"),
            ("M219", "safe"),
            ("M221", "safe"),
            ("M222", "safe"),
        ),
    ),
    examples=(Example(BEFORE, AFTER), Example(READ, READ)),
    breaks_in="2.0.0",
    needs="2.0.0",
    collect=collect,
    context=context,
    present=_present,
    mentions=tuple(f".{name}".encode() for name in HOOKS),
    references=("https://github.com/Lightning-AI/pytorch-lightning/pull/16539",),
)
