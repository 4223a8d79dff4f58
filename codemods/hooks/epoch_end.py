"""What one class says about an epoch-end hook that gets the outputs of its steps."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from codemods.source import ClassNode
from codemods.syntax import (
    Function,
    is_plain,
    is_super_call,
    may_return_none,
    parameters,
    results,
    returns,
    self_name,
    super_init_index,
    uses,
)
from codemods.tbptt.module import FLAG, sets_flag


@dataclass(frozen=True)
class Stage:
    """One of the three stages: the old hook, the step whose results it gets, and what replaces it."""

    old: str
    step: str
    row: str

    @property
    def new(self) -> str:
        return f"on_{self.old.replace('training', 'train')}"

    @property
    def start(self) -> str:
        return self.new.replace("_end", "_start")

    @property
    def kept(self) -> str:
        return f"{self.step}_outputs"

    @property
    def train(self) -> bool:
        return self.step == "training_step"


TENSOR_METHODS = ("backward", "clone", "cpu", "detach", "item", "mean", "sum")
STAGES = (
    Stage("training_epoch_end", "training_step", "M179"),
    Stage("validation_epoch_end", "validation_step", "M180"),
    Stage("test_epoch_end", "test_step", "M181"),
)


@dataclass(frozen=True)
class EpochEnd:
    """An epoch-end hook of a class. `refusal` is why the class alone forbids a rewrite; `reads` whether the
    hook looks at the outputs at all, so that they have to be kept."""

    name: str
    stage: Stage
    refusal: str | None
    reads: bool


def read_hook(item: ClassNode, stage: Stage) -> EpochEnd | None:
    """The class's old hook of that stage, None where it has none with the old signature."""
    hook = item.methods.get(stage.old)
    if hook is None:
        return None
    given = parameters(hook)
    reads = bool(given) and bool(uses(hook, given[0]))
    return EpochEnd(item.qualname, stage, _refusal(item, stage, hook, reads), reads)


def _refusal(item: ClassNode, stage: Stage, hook: Function, reads: bool) -> str | None:
    if not is_plain(hook) or len(parameters(hook)) != 1:
        return f"{stage.old} is not a plain method of (self, outputs)"
    if stage.new in item.methods:
        return f"the class has {stage.new} too, and both would have to be merged"
    if any(is_super_call(node, stage.old) for node in ast.walk(hook)):
        return f"{stage.old} calls its base class"
    return _step_refusal(item, stage, hook) if reads else None


def _step_refusal(item: ClassNode, stage: Stage, hook: Function) -> str | None:
    step = item.methods.get(stage.step)
    if step is None:
        return f"the class does not define {stage.step} itself"
    if not is_plain(step):
        return f"{stage.step} is not a plain method"
    if "dataloader_idx" in parameters(step):
        return f"{stage.step} takes dataloader_idx: with several dataloaders the outputs are lists of lists"
    if f"{stage.step}_end" in item.methods:
        return f"{stage.step}_end changes what the hook gets"
    if not results(step):
        return f"{stage.step} returns nothing, so the hook got an empty list"
    if any(is_super_call(node, stage.step) for node in ast.walk(step)):
        return f"{stage.step} calls its base class"
    if stage.train and (sets_flag(item) or {"hiddens", "optimizer_idx"} & set(parameters(step))):
        return f"with {FLAG} or several optimizers the outputs are lists of lists"
    if stage.train and not all(train_result(step, value) for value in results(step)):
        return f"{stage.step} does not plainly return a loss or a dict with `loss`"
    return _place_refusal(item, stage, hook)


def _place_refusal(item: ClassNode, stage: Stage, hook: Function) -> str | None:
    """Why there is no sure place where the list could begin its life."""
    init = item.methods.get("__init__")
    if init is None and stage.start in item.methods:
        return f"the class has {stage.start} but no __init__ in which the list could be made"
    if init is not None and (super_init_index(init) is None or self_name(init) != "self"):
        return "__init__ has no plain `super().__init__(...)` behind which the list could be made"
    if self_name(hook) != "self" or self_name(item.methods[stage.step]) != "self":
        return "a method does not call its instance `self`"
    if any(isinstance(node, ast.Attribute) and node.attr == stage.kept for node in ast.walk(item.node)):
        return f"the class already uses the attribute {stage.kept}"
    return None


def train_result(step: Function, value: ast.expr | None) -> str | None:
    """`dict` or `tensor`: what a training step returns at one place, None where it is not plain."""
    if not isinstance(value, ast.Name):
        return _kind(value)
    bound = _bound(step, value.id)
    kinds = {_kind(item) for item in bound}
    if len(kinds) == 1 and None not in kinds:
        return kinds.pop()
    if "dict" in kinds or any(isinstance(item, ast.Constant) for item in bound):
        return None
    return "tensor" if used_as_tensor(step, value.id) else None


def _bound(step: Function, name: str) -> list[ast.expr]:
    """What the statements `name = value` of a step assign."""
    return [
        node.value
        for node in ast.walk(step)
        if isinstance(node, ast.Assign)
        and any(isinstance(target, ast.Name) and target.id == name for target in node.targets)
    ]


def used_as_tensor(step: Function, name: str) -> bool:
    """Whether a step logs a name as a value, computes with it or calls a tensor's method on it."""
    for node in ast.walk(step):
        if isinstance(node, ast.BinOp) and name in (_plain_name(node.left), _plain_name(node.right)):
            return True
        if isinstance(node, ast.Attribute) and _plain_name(node.value) == name and node.attr in TENSOR_METHODS:
            return True
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "self.log":
            given = [*node.args[1:2], *(keyword.value for keyword in node.keywords if keyword.arg == "value")]
            if any(_plain_name(item) == name for item in given):
                return True
    return False


def _plain_name(node: ast.expr) -> str | None:
    return node.id if isinstance(node, ast.Name) else None


def _kind(value: ast.expr | None) -> str | None:
    if isinstance(value, ast.Dict):
        keys = {key.value for key in value.keys if isinstance(key, ast.Constant)}
        return "dict" if "loss" in keys else None
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "dict":
        return "dict" if any(keyword.arg == "loss" for keyword in value.keywords) else None
    if isinstance(value, ast.BinOp):
        return "tensor"
    if isinstance(value, ast.Call) and _is_loss_call(value):
        return "tensor"
    return None


def _is_loss_call(value: ast.Call) -> bool:
    """A call that can only give a tensor: a function of torch, or a tensor's own reduction."""
    text = ast.unparse(value.func)
    return text.startswith(("F.", "torch.", "nn.functional.")) or text.endswith((".mean", ".sum"))


def needs_guard(step: Function, value: ast.expr) -> bool:
    """Whether a returned expression may be None at run time, which 1.x left out of the outputs."""
    return not isinstance(value, ast.Dict | ast.BinOp | ast.Tuple | ast.List | ast.JoinedStr) and not (
        isinstance(value, ast.Name) and _bound_to_something(step, value.id)
    )


def _bound_to_something(step: Function, name: str) -> bool:
    bound = _bound(step, name)
    if used_as_tensor(step, name) and not any(isinstance(value, ast.Constant) for value in bound):
        return True
    return bool(bound) and all(
        isinstance(value, ast.Dict | ast.BinOp | ast.Tuple | ast.List | ast.Compare)
        or (isinstance(value, ast.Call) and _is_loss_call(value))
        for value in bound
    )


def always_returns(item: ClassNode, value: ast.expr) -> bool:
    """Whether an expression is a call of the class's own method that never returns None."""
    if not (
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Attribute)
        and isinstance(value.func.value, ast.Name)
        and value.func.value.id == "self"
    ):
        return False
    method = item.methods.get(value.func.attr)
    if method is None or not is_plain(method) or may_return_none(method):
        return False
    return all(isinstance(node.value, ast.Dict | ast.Tuple | ast.List) for node in returns(method))
