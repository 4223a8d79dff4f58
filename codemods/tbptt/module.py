"""What one class says about its truncated back-propagation: enough for a rewrite, or the reason against one."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from codemods.manual.module import is_manual, judge_callers, judge_constructor
from codemods.manual.optimizers import NotPlain, Scheduler, read_optimizers
from codemods.manual.trainers import Loose
from codemods.source import ClassNode, PythonFile
from codemods.syntax import (
    Function,
    is_plain,
    is_self_attribute,
    is_super_call,
    may_return_none,
    own_nodes,
    parameters,
    returns,
    self_assignments,
    self_name,
    taken_name,
    uses,
)

FLAG = "truncated_bptt_steps"
HELPER = "training_chunk"
BETWEEN_CHUNKS = ("on_before_backward", "on_after_backward", "on_before_optimizer_step")
LOOP_NAMES = ("chunk", "optimizer", "output", "pieces", "scheduler", "schedulers")
IMPORTS = (("torch", None), ("lightning_utilities.core.apply_func", "apply_to_collection"))
REFUSED_HOOKS = {
    "automatic_optimization": "it says itself which optimization it is trained by",
    "on_before_zero_grad": "manual optimization does not call it",
    "tbptt_split_batch": "it is overridden: the batch has a shape of its own",
    "optimizer_step": "overridden, its place in a manual loop is not plain",
    "optimizer_zero_grad": "overridden, its place in a manual loop is not plain",
    "configure_gradient_clipping": "overridden, its place in a manual loop is not plain",
    "backward": "overridden, and manual_backward would call it with other arguments",
    "training_epoch_end": "it reads a list of lists of outputs, one a chunk",
    "training_step_end": "it is no longer called",
    "lr_scheduler_step": "overridden, its place in a manual loop is not plain",
}


@dataclass(frozen=True)
class TbpttClass:
    """A class that used 1.x's truncated back-propagation, or a part of it.

    `refusal` is why it cannot be rewritten, by what the class itself shows (None where it can), `schedulers`
    what its `configure_optimizers` returns besides the optimizer.
    """

    name: str
    path: str
    refusal: str | None
    schedulers: tuple[Scheduler, ...] = ()


@dataclass(frozen=True)
class Shown:
    """What a file shows to the others: its candidate classes, and where Trainer arguments that would have to move
    stand other than in a Trainer's call."""

    classes: tuple[TbpttClass, ...]
    loose: Loose


def is_candidate(item: ClassNode) -> bool:
    """Whether a class takes `hiddens` in its training step, or sets the flag and trains automatically."""
    step = item.methods.get("training_step")
    if step is not None and "hiddens" in [*parameters(step), *(argument.arg for argument in step.args.kwonlyargs)]:
        return True
    return sets_flag(item) and not is_manual(item)


def sets_flag(item: ClassNode) -> bool:
    """Whether a class gives `truncated_bptt_steps` a value: on self, in its body, or as a property."""
    return (
        FLAG in item.methods
        or any(
            is_self_attribute(target, FLAG, self_name(method))
            for method in item.methods.values()
            for node in own_nodes(method)
            if isinstance(node, ast.Assign | ast.AnnAssign)
            for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        )
        or any(
            isinstance(target, ast.Name) and target.id == FLAG
            for node in item.node.body
            if isinstance(node, ast.Assign | ast.AnnAssign)
            for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        )
    )


def read_class(file: PythonFile, item: ClassNode) -> TbpttClass:
    """What the class shows; its relatives and Trainers are judged with the facts of the project."""
    schedulers: tuple[Scheduler, ...] = ()
    refusal = None
    try:
        _judge(file, item)
        optimizers = item.methods["configure_optimizers"]
        schedulers = read_optimizers(optimizers, item.scope).schedulers
    except NotPlain as error:
        refusal = str(error)
    return TbpttClass(item.qualname, file.path, refusal, schedulers)


def _judge(file: PythonFile, item: ClassNode) -> None:
    step = item.methods.get("training_step")
    if step is None or "hiddens" not in parameters(step):
        raise NotPlain(f"`{FLAG}` is set, but the class has no training_step with `hiddens`")
    if not sets_flag(item):
        raise NotPlain(f"training_step takes `hiddens`, but the class does not set `{FLAG}`")
    if _flag_off(item):
        raise NotPlain(f"`{FLAG}` is 0 or None, so Lightning 1.x never split a batch")
    if not is_plain(step) or len(parameters(step)) != 3 or parameters(step)[2] != "hiddens":
        raise NotPlain("training_step is not a plain method of (self, batch, batch_idx, hiddens)")
    for hook, why in REFUSED_HOOKS.items():
        if hook in item.methods:
            raise NotPlain(f"`{hook}` is defined in the class: {why}")
    if "configure_optimizers" not in item.methods:
        raise NotPlain("the class has no configure_optimizers of its own")
    if HELPER in item.methods:
        raise NotPlain(f"the class already has a method `{HELPER}`")
    if parameters(step)[1] in LOOP_NAMES:
        raise NotPlain(f"training_step takes the index of the batch as `{parameters(step)[1]}`")
    taken = taken_name(file.scope.bindings, IMPORTS)
    if taken:
        raise NotPlain(f"the file uses the name `{taken}` for something else")
    if sum(other.qualname == item.qualname for other in file.classes) > 1:
        raise NotPlain("the file defines two classes of that name")
    judge_callers(file)
    judge_constructor(item)
    _judge_batch(step)
    _judge_result(step)
    _judge_hooks(item)


def _flag_off(item: ClassNode) -> bool:
    values = [node.value for method in item.methods.values() for node in self_assignments(method, FLAG)] + [
        node.value
        for node in item.node.body
        if isinstance(node, ast.Assign)
        and any(isinstance(target, ast.Name) and target.id == FLAG for target in node.targets)
    ]
    return any(isinstance(value, ast.Constant) and not value.value for value in values)


def _judge_batch(step: Function) -> None:
    """The default split cut the elements of a tuple or list: the body has to show that the batch is one."""
    batch = parameters(step)[0]
    parents = {child: node for node in ast.walk(step) for child in ast.iter_child_nodes(node)}
    shown = False
    for use in uses(step, batch):
        parent = parents.get(use)
        if not isinstance(use.ctx, ast.Load):
            raise NotPlain(f"training_step rebinds `{batch}`")
        if isinstance(parent, ast.Subscript) and isinstance(parent.slice, ast.Constant):
            if isinstance(parent.slice.value, str):
                raise NotPlain("the batch is a dict, on which 1.x's default split failed")
            shown = shown or isinstance(parent.slice.value, int)
        elif isinstance(parent, ast.Assign) and isinstance(parent.targets[0], ast.Tuple | ast.List):
            if any(isinstance(element, ast.Tuple | ast.List) for element in parent.targets[0].elts):
                raise NotPlain("an element of the batch is a sequence itself, which 1.x cut along another dimension")
            shown = True
        elif isinstance(parent, ast.Starred):
            shown = True
        elif isinstance(parent, ast.Attribute):
            raise NotPlain("the batch is an object with attributes, on which 1.x's default split failed")
        else:
            raise NotPlain("the batch is used as a whole: 1.x's default split cut a bare tensor along its features")
    if not shown:
        raise NotPlain("training_step does not show what the batch is made of")
    if any(_packs_lengths(node, step) for node in own_nodes(step)):
        raise NotPlain("the batch holds lengths, and 1.x's default split failed on a tensor of one dimension")


def _packs_lengths(node: ast.AST, step: Function) -> bool:
    if not isinstance(node, ast.Call) or not ast.unparse(node.func).endswith("pack_padded_sequence"):
        return False
    given = node.args[1] if len(node.args) > 1 else None
    batch = parameters(step)[0]
    unpacked = {
        element.id
        for statement in own_nodes(step)
        if isinstance(statement, ast.Assign) and uses(statement.value, batch)
        for target in statement.targets
        if isinstance(target, ast.Tuple | ast.List)
        for element in target.elts
        if isinstance(element, ast.Name)
    }
    return given is not None and any(isinstance(name, ast.Name) and name.id in unpacked for name in ast.walk(given))


def _judge_result(step: Function) -> None:
    if may_return_none(step):
        raise NotPlain("training_step can end without a result, and a skipped chunk has no plain equal")
    for node in returns(step):
        keys = result_keys(step, node.value)
        if keys is None or not {"loss", "hiddens"} <= keys:
            raise NotPlain("training_step does not plainly return a dict with `loss` and `hiddens`")


def result_keys(step: Function, value: ast.expr | None) -> set[str] | None:
    """The keys of a returned dict display or `dict(...)` call, through one name; None where not plain."""
    if isinstance(value, ast.Name):
        bound = [
            node.value
            for node in own_nodes(step)
            if isinstance(node, ast.Assign)
            and any(isinstance(target, ast.Name) and target.id == value.id for target in node.targets)
        ]
        return result_keys(step, bound[0]) if len(bound) == 1 and not isinstance(bound[0], ast.Name) else None
    if isinstance(value, ast.Dict):
        names = [key.value for key in value.keys if isinstance(key, ast.Constant)]
        return {str(name) for name in names} if len(names) == len(value.keys) else None
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "dict":
        return {keyword.arg for keyword in value.keywords if keyword.arg} if not value.args else None
    return None


def _judge_hooks(item: ClassNode) -> None:
    for hook in BETWEEN_CHUNKS:
        if hook in item.methods and _logs(item.methods[hook]) and _logs_by_epoch(item):
            raise NotPlain(
                f"{hook} logs between two chunks, at which 2.x drops what earlier chunks of an epoch's first batch "
                "logged with on_epoch"
            )
    end = item.methods.get("on_train_batch_end")
    if end and parameters(end) and uses(end, parameters(end)[0]):
        raise NotPlain("on_train_batch_end reads the step's outputs, which were a list, one a chunk")
    before = item.methods.get("on_before_optimizer_step")
    if before is None:
        return
    names = parameters(before)
    if not is_plain(before) or not names or returns(before):
        raise NotPlain("on_before_optimizer_step is not a plain method")
    if len(names) > 1 and (names[1:] != ["optimizer_idx"] or uses(before, names[1])):
        raise NotPlain("on_before_optimizer_step uses more than the optimizer")
    if any(is_super_call(node, "on_before_optimizer_step") for node in ast.walk(before)):
        raise NotPlain("on_before_optimizer_step calls its base class")


def _logs(node: ast.AST) -> bool:
    return any(isinstance(inner, ast.Attribute) and inner.attr in ("log", "log_dict") for inner in ast.walk(node))


def _logs_by_epoch(item: ClassNode) -> bool:
    return any(
        isinstance(node, ast.keyword)
        and node.arg == "on_epoch"
        and not (isinstance(node.value, ast.Constant) and node.value.value is False)
        for node in ast.walk(item.node)
    )
