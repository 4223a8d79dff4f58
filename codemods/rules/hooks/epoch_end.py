"""What one class says about an epoch-end hook that gets the outputs of its steps."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator
from dataclasses import dataclass

from codemods.code.calls import called
from codemods.code.nodes import walk, walked
from codemods.code.source import ClassNode
from codemods.code.syntax import (
    Function,
    crowded_return,
    finally_leaves,
    is_bound,
    is_plain,
    is_self_attribute,
    is_super_call,
    parameters,
    reads,
    self_name,
    super_init_index,
    uses,
)
from codemods.rules.tbptt.chunk_length_transfer import FLAG
from codemods.rules.tbptt.module import sets_flag


@dataclass(frozen=True)
class Stage:
    """One of the three stages: the old hook, the step whose results it gets, and what replaces it. `later` is the name
    that the hook had in between, where it is the oldest one."""

    old: str
    step: str
    row: str
    later: str = ""

    @property
    def new(self) -> str:
        return f"on_{self.step.removesuffix('_step').replace('training', 'train')}_epoch_end"

    @property
    def start(self) -> str:
        return self.new.replace("_end", "_start")

    @property
    def batch_end(self) -> str:
        return self.new.replace("epoch", "batch")

    @property
    def step_end(self) -> str:
        return f"{self.step}_end"

    @property
    def kept(self) -> str:
        return f"{self.step}_outputs"

    @property
    def helper(self) -> str:
        return f"_{self.old}"

    @property
    def half(self) -> bool:
        """Whether the hook has the new name already."""
        return self.old == self.new

    @property
    def train(self) -> bool:
        return self.step == "training_step"


SEES_LOCALS = ("eval", "exec", "locals", "vars")
BACKWARD = ("backward", "manual_backward", "grad")
LOGGED = ("log", "progress_bar")
IN_PLACE = ("torch.no_grad", "torch.inference_mode", "torch.enable_grad", "abc.abstractmethod")
STAGES = (
    Stage("training_epoch_end", "training_step", "M179"),
    Stage("validation_epoch_end", "validation_step", "M180"),
    Stage("test_epoch_end", "test_step", "M181"),
)
OLDEST = (
    Stage("validation_end", "validation_step", "", "validation_epoch_end"),
    Stage("test_end", "test_step", "", "test_epoch_end"),
)
"""What two of the hooks were called up to 0.6, and could be until 1.0."""
HALF = (
    Stage("on_validation_epoch_end", "validation_step", ""),
    Stage("on_test_epoch_end", "test_step", ""),
)
"""The new hooks with the outputs of the old ones, which no release hands them."""


@dataclass(frozen=True)
class EpochEnd:
    """An epoch-end hook of a class. `refusal` is why the class alone forbids a rewrite; `reads` whether the
    hook looks at the outputs at all, so that they have to be kept; `apart` whether the hook stays a method of its
    own, under another name, that the new one calls: something else calls it too, or its signature is not plain;
    `idle` the methods that it hands the outputs to and that do not read them, where that is all it does."""

    name: str
    stage: Stage
    refusal: str | None
    reads: bool
    apart: bool
    idle: frozenset[str] = frozenset()

    @property
    def argument(self) -> str:
        """What the new hook calls the outputs."""
        return "outputs"


def read_hook(item: ClassNode, stage: Stage) -> EpochEnd | None:
    """The class's old hook of that stage, None where it has none with the old signature."""
    hook = item.methods.get(stage.old)
    if hook is None or (stage.later and {stage.later, stage.new} & item.methods.keys()):
        return None
    apart = _stands_apart(item, stage, hook)
    if stage.half and (apart or not _is_half_moved(item, hook)):
        return None
    if apart and _is_idle(hook):
        return EpochEnd(item.qualname, stage, _refusal(item, stage, hook), True, apart, frozenset({stage.old}))
    idle = {} if apart else _idle(item, hook)
    reads = apart or _reads(stage, hook)
    if not reads or _reads(stage, hook, idle):
        idle = {}
    return EpochEnd(item.qualname, stage, _refusal(item, stage, hook), reads, apart, frozenset(idle.values()))


def _is_half_moved(item: ClassNode, hook: Function) -> bool:
    """Whether a new hook wants the outputs, and the old one is not there."""
    return len(parameters(hook)) == 1 and not hook.args.defaults and hook.name.removeprefix("on_") not in item.methods


def _is_idle(hook: Function) -> bool:
    """Whether a method takes the outputs and nothing else, and does not look at them."""
    given = parameters(hook)
    plain = is_plain(hook) and len(given) == 1
    return plain and not any(True for name in (*given, *SEES_LOCALS) for _ in uses(hook, name))


def _idle(item: ClassNode, hook: Function) -> dict[int, str]:
    """Where a hook hands its outputs to methods of its class that do not read them, and which methods those are."""
    given = parameters(hook)[:1]
    found: dict[int, str] = {}
    for call in walk(hook):
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)):
            continue
        method = item.methods.get(call.func.attr)
        if method is None or not is_plain(method) or not is_self_attribute(call.func, call.func.attr):
            continue
        names = parameters(method)
        taken = [*zip(names, call.args, strict=False), *((item.arg or "", item.value) for item in call.keywords)]
        for name, value in taken:
            handed = isinstance(value, ast.Name) and value.id in given and name in names
            if handed and not any(uses(method, word) for word in (name, *SEES_LOCALS)):
                found[id(value)] = method.name
    return found


def _reads(stage: Stage, hook: Function, idle: Container[int] = ()) -> bool:
    given = parameters(hook)
    handed = {
        id(argument)
        for call in walk(hook)
        if isinstance(call, ast.Call) and is_super_call(call, stage.old)
        for argument in call.args
    }
    names = (given[0], *SEES_LOCALS) if given else SEES_LOCALS
    return any(id(node) not in handed and id(node) not in idle for name in names for node in reads(hook, name))


def _stands_apart(item: ClassNode, stage: Stage, hook: Function) -> bool:
    arguments = hook.args
    decorated = any(item.scope.resolve(called(node)) not in IN_PLACE for node in hook.decorator_list)
    odd = arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.posonlyargs
    return bool(
        decorated
        or ((odd or len(parameters(hook)) != 1) and not takes_anything(hook))
        or self_name(hook) != "self"
        or _has_both(item, stage)
        or any(True for _ in own_calls(item, stage.old))
    )


def _has_both(item: ClassNode, stage: Stage) -> bool:
    """Whether a class has the new hook beside the old one."""
    return stage.new in item.methods and not stage.half


def takes_anything(hook: Function) -> bool:
    """Whether a hook is one of `(self, *args, **kwargs)` that reads neither, but to hand them to its base class."""
    arguments = hook.args
    if not arguments.vararg or arguments.kwonlyargs or arguments.posonlyargs or len(arguments.args) != 1:
        return False
    names = [each.arg for each in (arguments.vararg, arguments.kwarg) if each]
    based = [call for call in walk(hook) if isinstance(call, ast.Call) and is_super_call(call, hook.name)]
    handed = {
        id(value.value if isinstance(value, ast.Starred) else value)
        for call in based
        for value in (*call.args, *(item.value for item in call.keywords if item.arg is None))
    }
    return not any(id(node) not in handed for name in (*names, *SEES_LOCALS) for node in uses(hook, name))


def own_calls(item: ClassNode, method: str) -> Iterator[ast.Call]:
    """The calls `self.method(...)` below a class."""
    for node in walked(item.node):
        if isinstance(node, ast.Call) and is_self_attribute(node.func, method):
            yield node


def _refusal(item: ClassNode, stage: Stage, hook: Function) -> str | None:
    decorators = {ast.unparse(called(node)) for node in hook.decorator_list}
    if not isinstance(hook, ast.FunctionDef) or decorators & {"staticmethod", "classmethod", "property"}:
        return f"{stage.old} is not an ordinary method of (self, outputs)"
    if any(isinstance(node, ast.Yield | ast.YieldFrom) for node in walk(hook)) or not _takes_one(hook):
        return f"{stage.old} is not an ordinary method of (self, outputs)"
    if stage.train and any(isinstance(node, ast.Attribute) and node.attr in BACKWARD for node in walk(hook)):
        return f"{stage.old} calls backward, for which the outputs would have to keep their history"
    if _has_both(item, stage) and not is_plain(item.methods[stage.new]):
        return f"the class has {stage.new} too: merge the two by hand"
    if _has_both(item, stage) and (self_name(item.methods[stage.new]) != "self" or parameters(item.methods[stage.new])):
        return f"the class has {stage.new} too: merge the two by hand"
    if stage.helper in item.methods and _stands_apart(item, stage, hook):
        return f"the class already has {stage.helper}"
    return None


def _takes_one(hook: Function) -> bool:
    """Whether a method can be called with the outputs alone."""
    arguments = hook.args
    names = [*arguments.posonlyargs, *arguments.args]
    needed = len(names) - len(arguments.defaults)
    enough = len(names) > 1 or arguments.vararg is not None
    return needed <= 2 and len(names) >= 1 and enough and all(arguments.kw_defaults)


def keeping_refusal(item: ClassNode, stage: Stage) -> str | None:
    """Why the outputs of a stage cannot be kept, going by the class alone."""
    step = item.methods.get(stage.step)
    if stage.train and (sets_flag(item) or (step and {"hiddens", "optimizer_idx"} & set(parameters(step)))):
        return f"with {FLAG} or several optimizers the outputs are lists of lists"
    if any(isinstance(node, ast.Attribute) and node.attr == stage.kept for node in walked(item.node)):
        return f"the class already uses the attribute {stage.kept}"
    for name in (stage.batch_end, stage.start):
        method = item.methods.get(name)
        if method and (not isinstance(method, ast.FunctionDef) or method.decorator_list or self_name(method) != "self"):
            return f"{name} is not an ordinary method"
    batch_end = item.methods.get(stage.batch_end)
    if batch_end and not parameters(batch_end):
        return f"{stage.batch_end} has no parameter for the outputs that it gets"
    return None


def plain_step(item: ClassNode, stage: Stage, starred: bool = False) -> Function | None:
    """The class's own step, where what it returns can be kept at its `return` statements; one that takes any number of
    arguments where `starred` holds. Evaluation runs without gradients anyway, whether or not a decorator says so."""
    step = item.methods.get(stage.step)
    plain = step is not None and is_plain(step, named=starred, decorated=True, starred=starred)
    if step is None or not plain or finally_leaves(step) or crowded_return(step):
        return None
    if any(stage.train or not without_gradients(item, node) for node in step.decorator_list):
        return None
    if self_name(step) != "self" or any(is_super_call(node, stage.step) for node in walk(step)):
        return None
    return step


def without_gradients(item: ClassNode, decorator: ast.expr) -> bool:
    """Whether a decorator only runs a method without gradients."""
    return item.scope.resolve(called(decorator)) == "torch.no_grad"


def takes_index(step: Function) -> bool:
    """Whether an evaluation step can be given the index of the dataloader, so that there may be several: not in place
    of a parameter that is a text, a fraction or a truth value by default, with which 2.x refuses several."""
    arguments = step.args
    own = arguments.defaults[-1:] if len(parameters(step)) == 3 else []
    apart = any(isinstance(each, ast.Constant) and type(each.value) in (str, float, bool) for each in own)
    third = len(parameters(step)) > 2 and not apart
    return bool(third or arguments.vararg or arguments.kwarg or arguments.kwonlyargs)


def names_index(step: Function) -> bool:
    """Whether the parameter of an evaluation step behind the batch and its number is, by its name and default, the
    index of a dataloader: nothing else tells it from one of the class's own."""
    names, defaults = parameters(step), step.args.defaults
    if len(names) != 3 or not ("loader" in names[2] or names[2].endswith(("idx", "index"))):
        return len(names) < 3
    return not defaults or (isinstance(defaults[-1], ast.Constant) and type(defaults[-1].value) in (int, type(None)))


def reads_flat(hook: Function) -> bool:
    """Whether a hook takes each of its outputs for a dict, which a list of lists never served."""
    given = parameters(hook)[:1]
    if any(is_bound(node) for name in given for node in uses(hook, name)):
        return False
    loops = [node for node in walk(hook) if isinstance(node, ast.For | ast.comprehension)]
    targets = [loop.target for loop in loops if isinstance(loop.iter, ast.Name) and loop.iter.id in given]
    items = {
        target.id
        for target in targets
        if isinstance(target, ast.Name) and all(node in targets for node in uses(hook, target.id) if is_bound(node))
    }
    return any(
        isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Name)
        and node.value.id in items
        and isinstance(node.slice, ast.Constant)
        and isinstance(node.slice.value, str)
        for node in walk(hook)
    )


def makes_in_init(item: ClassNode) -> bool:
    """Whether the class has a constructor behind whose `super().__init__(...)` a list can be made."""
    init = item.methods.get("__init__")
    return init is not None and super_init_index(init) is not None and self_name(init) == "self"
