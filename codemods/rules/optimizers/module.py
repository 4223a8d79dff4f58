"""What one class says about its several optimizers: enough for a rewrite, or the reason against one."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from codemods.code.nodes import walk
from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import (
    Function,
    is_plain,
    is_self_attribute,
    is_super_call,
    parameters,
    returns,
    self_name,
    super_init_index,
    uses,
)
from codemods.lightning.optimization import FLAG
from codemods.rewrite.manual.batch_outputs import judge_batch, judge_outputs, reads_batch, reads_outputs
from codemods.rewrite.manual.configured import ConfiguredOptimizers
from codemods.rewrite.manual.hooks import CARRIED, Hooks, judge_hooks, read_hooks
from codemods.rewrite.manual.module import (
    NOT_CARRIED,
    is_manual,
    is_set,
    judge_by_hand,
    judge_order,
    judge_place,
    not_plain,
    plain_flags,
)
from codemods.rewrite.manual.optimizer_factories import METHOD, read_makers
from codemods.rewrite.manual.optimizers import NotPlain
from codemods.rules.optimizers.returned import may_skip, result_kind

INDEX = "optimizer_idx"
HELPER = "training_step_for"
STEP = "training_step"
FIRST = 4
"""Of how many optimizers it is asked whether the step may return nothing for them."""
IMPORTS: tuple[tuple[str, str | None], ...] = (("torch", None),)
LOOP_NAMES = frozenset({
    "optimizer", "optimizers", "loss", "output", "scheduler", "schedulers", "config", "stepping", "turns", "closure",
    "outputs",
})  # fmt: skip
WATCHED = frozenset({*NOT_CARRIED, *CARRIED, STEP, HELPER, METHOD, "training_epoch_end", FLAG})


@dataclass(frozen=True)
class SeveralOptimizers:
    """A class whose training step takes `optimizer_idx`.

    `unread` holds where the step does not use it, `default` is the source text of its default, empty where there is
    none. `configured` is what its configure_optimizers returns, None where that cannot be told, or there is none.
    `refusal` is why it cannot be rewritten by what the class itself shows. `follows` holds for a class that does
    nothing but replace or extend the step of its base, `passes` for one whose step takes `*args` and hands them on,
    `outputs` where its training_epoch_end reads those of the steps, `batch_outputs` where on_train_batch_end does.
    `kind` and `skips` say what the step returns, `skipped` for which of the first optimizers it may be nothing, `hooks`
    what it overrides, `constructor` whether the flag has a place in `__init__`, `chunked` whether the step takes what
    may be a state of truncated back-propagation, `extends` whether a method calls the step of the base, `ends` whether
    a line at the end of on_train_epoch_end is always reached.
    """

    name: str
    path: str
    refusal: str | None
    configured: ConfiguredOptimizers | None = None
    unread: bool = False
    default: str = ""
    follows: bool = False
    kind: str = ""
    skips: bool = False
    manual: bool = False
    hooks: Hooks = field(default_factory=Hooks)
    constructor: bool = True
    chunked: bool = False
    skipped: frozenset[int] = frozenset()
    extends: bool = False
    ends: bool = True
    passes: bool = False
    outputs: bool = False
    batch_outputs: bool = False


@dataclass(frozen=True)
class StepParameters:
    """What the training step calls its parameters."""

    this: str
    batch: str
    batch_idx: str


def candidates(file: PythonFile) -> list[ClassNode]:
    """The classes whose training step takes `optimizer_idx`, or hands on whatever it gets."""
    if INDEX not in file.text or STEP not in file.text:
        return []
    return [
        item
        for item in file.classes
        if (step := item.methods.get(STEP)) and (_index_of(step) is not None or hands_on(step))
    ]


def hands_on(step: Function) -> bool:
    """Whether a training step takes `*args` alone, and gives them to the step of its base class and to nothing else."""
    given = step.args.vararg
    if given is None or parameters(step) or step.args.kwonlyargs or step.decorator_list:
        return False
    handed = [
        node.args[0].value
        for node in walk(step)
        if isinstance(node, ast.Call)
        and is_super_call(node, STEP)
        and len(node.args) == 1
        and isinstance(node.args[0], ast.Starred)
    ]
    return bool(handed) and {id(use) for use in uses(step, given.arg)} == {id(node) for node in handed}


def _index_of(step: Function) -> ast.arg | None:
    arguments = [*step.args.posonlyargs, *step.args.args, *step.args.kwonlyargs]
    return next((argument for argument in arguments if argument.arg == INDEX), None)


def read_class(file: PythonFile, item: ClassNode) -> SeveralOptimizers | None:
    """What the class shows; None for one that trains by TBPTT too, which is another rule's."""
    step = item.methods[STEP]
    if "hiddens" in parameters(step):
        return None
    refusal = None
    made = read_makers(file).get(item.qualname)
    configured = made if isinstance(made, ConfiguredOptimizers) else None
    try:
        _judge(file, item, step)
    except NotPlain as error:
        refusal = str(error)
    end = item.methods.get("on_train_epoch_end")
    return SeveralOptimizers(
        item.qualname,
        file.path,
        refusal,
        configured,
        not uses(step, INDEX),
        _default(step),
        _follows(file, item, step),
        result_kind(item, step),
        may_skip(item, step, INDEX, None),
        is_manual(file, item),
        read_hooks(item),
        _plain_constructor(item),
        len(parameters(step)) > 3,
        frozenset(index for index in range(FIRST) if may_skip(item, step, INDEX, index)),
        any(is_super_call(node, STEP) for method in item.methods.values() for node in walk(method)),
        end is None or (is_plain(end) and not returns(end)),
        hands_on(step),
        reads_outputs(item),
        reads_batch(item),
    )


def judge_configured(configured: ConfiguredOptimizers) -> None:
    """Raises NotPlain where the loop cannot step the optimizers and schedulers as 1.x did."""
    if not configured.fixed and (
        len(configured.schedules) > 1 or any(schedule.monitor for schedule in configured.schedules)
    ):
        raise NotPlain("configure_optimizers returns schedulers of different kinds, or none, depending on the case")
    if configured.frequencies and configured.schedules:
        raise NotPlain(
            "its optimizers have a frequency, and 1.x took the turns of their schedulers from another count of batches"
        )


def _default(step: Function) -> str:
    positional = [*step.args.posonlyargs, *step.args.args]
    given = dict(zip([argument.arg for argument in reversed(positional)], reversed(step.args.defaults), strict=False))
    given |= {
        argument.arg: value
        for argument, value in zip(step.args.kwonlyargs, step.args.kw_defaults, strict=True)
        if value
    }
    return ast.unparse(given[INDEX]) if INDEX in given else ""


def names_of(step: Function) -> StepParameters:
    """Raises NotPlain where the step is not a plain method of (self, batch, batch_idx, optimizer_idx). It may take
    `*args` and `**kwargs` besides, into which 1.x put nothing: it gave these three by place."""
    names = parameters(step)
    if not is_plain(step, named=True, starred=True) or len(names) != 3 or names[2] != INDEX:
        raise NotPlain(not_plain(step, f"(self, batch, batch_idx, {INDEX})"))
    found = StepParameters(self_name(step), names[0], names[1])
    for name in (found.this, found.batch, found.batch_idx):
        if name in LOOP_NAMES:
            raise NotPlain(f"training_step has a parameter `{name}`")
    return found


def _judge(file: PythonFile, item: ClassNode, step: Function) -> None:
    names_of(step)
    judge_by_hand(step)
    judge_place(file, item, NOT_CARRIED, HELPER, IMPORTS)
    _judge_flag(item)
    _judge_names(file)
    judge_hooks(item)
    judge_batch(item, "optimizer")
    if reads_outputs(item):
        _judge_epoch_end(file, item)
    elif reads_batch(item):
        _judge_kind(item, "on_train_batch_end")


def _judge_epoch_end(file: PythonFile, item: ClassNode) -> None:
    judge_outputs(file, item, "optimizer")
    _judge_kind(item, "training_epoch_end")
    if "optimizer_step" in item.methods:
        raise NotPlain("training_epoch_end reads the steps' outputs, which an overridden optimizer_step makes")


def _judge_kind(item: ClassNode, hook: str) -> None:
    if result_kind(item, item.methods[STEP]) not in ("tensor", "dict"):
        raise NotPlain(f"{hook} reads the steps' outputs, and fixer cannot tell what training_step returns")


def _judge_flag(item: ClassNode) -> None:
    for node in walk(item.node):
        named = isinstance(node, ast.Name) and node.id == FLAG
        if named or (isinstance(node, ast.Constant) and node.value == FLAG) or FLAG in item.methods:
            raise NotPlain(f"the class sets {FLAG} in its own way")
    plain = plain_flags(item)
    for node in walk(item.node):
        if is_set(node) and node not in plain:
            raise NotPlain(f"{FLAG} is set other than to True in __init__, in line {node.lineno}")
    if init := item.methods.get("__init__"):
        judge_order(init)


def _judge_names(file: PythonFile) -> None:
    """Calls of `training_step`: on `self` and `super()` inside a candidate they are renamed, others forbid it."""
    followed = {id(node) for item in candidates(file) for node in _own_calls(item)}
    for node in file.attributes(STEP):
        if id(node) not in followed:
            raise NotPlain(f"training_step is called or used by name in line {node.lineno}")
    for inner in walk(file.tree):
        if (isinstance(inner, ast.Constant) and inner.value == STEP) or (
            isinstance(inner, ast.Name) and inner.id == STEP
        ):
            raise NotPlain(f"training_step is used by name in line {inner.lineno}")


def _own_calls(item: ClassNode) -> Iterator[ast.Attribute]:
    """The functions of calls `self.training_step(...)` and `super().training_step(...)` that give the index or may
    leave it out as before."""
    step = item.methods[STEP]
    least = 2 if _default(step) else 3
    for method in item.methods.values():
        for node in walk(method):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == STEP:
                if method is step and hands_on(step) and is_super_call(node, STEP):
                    yield node.func
                    continue
                given = len(node.args) + len(node.keywords)
                plain = not any(isinstance(item, ast.Starred) for item in node.args)
                own = is_self_attribute(node.func, STEP, self_name(method)) or is_super_call(node, STEP)
                if own and plain and least <= given <= 3 and all(keyword.arg for keyword in node.keywords):
                    yield node.func


def _follows(file: PythonFile, item: ClassNode, step: Function) -> bool:
    try:
        if not hands_on(step):
            names_of(step)
        _judge_names(file)
        if reads_batch(item) or reads_outputs(item):
            return False
    except NotPlain:
        return False
    return not frozenset(item.methods) & (WATCHED - {STEP, METHOD})


def _plain_constructor(item: ClassNode) -> bool:
    """Whether the flag can go behind `super().__init__()`, or in place of an explicit True."""
    init = item.methods.get("__init__")
    if init is None:
        return True
    return self_name(init) == "self" and super_init_index(init) is not None
