"""What a `training_step` shows of the state that 1.x carried from chunk to chunk."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from codemods.code.syntax import (
    Function,
    always_leaves,
    is_none,
    is_plain,
    may_return_none,
    own_nodes,
    parameters,
    returns,
    self_name,
    uses,
)
from codemods.rewrite.manual.module import not_plain
from codemods.rewrite.manual.optimizers import NotPlain

STATE = "hiddens"
INDEX = "optimizer_idx"
ANY = frozenset({"loss", STATE})
LOOP_NAMES = (
    "chunk",
    "chunks",
    "closure",
    "config",
    "optimizer",
    "optimizers",
    "output",
    "outputs",
    "pieces",
    "scheduler",
    "schedulers",
    "start",
    "steps",
)


@dataclass(frozen=True)
class TbpttStep:
    """The parameters of a `training_step` that takes the state; `optimizer` is None where it takes no index."""

    this: str
    batch: str
    index: str
    optimizer: str | None
    state: str


def takes_state(step: Function) -> bool:
    """Whether a `training_step` has a parameter that nothing but the state of 1.x can be for."""
    return STATE in [*parameters(step), *(argument.arg for argument in step.args.kwonlyargs)]


def third_parameter(step: Function) -> bool:
    """Whether 1.x could give it a state under any name: it passed batch, index and state by position."""
    names = [name for name in parameters(step) if name not in (INDEX, "dataloader_idx", "dataloader_iter")]
    return len(names) > 2 or step.args.vararg is not None


def read_step(step: Function) -> TbpttStep:
    """The parameters, which 1.x filled by position: batch, its index, the optimizer's where it asked for one, state.

    Raises NotPlain where the method is another one, or where 1.x could not fill it so (run on 1.9.5).
    """
    names = parameters(step)
    required = len(names) - len(step.args.defaults)
    if not is_plain(step) or len(names) < 2:
        raise NotPlain(not_plain(step, "(self, batch, batch_idx, hiddens)"))
    if len(names) == 2:
        raise NotPlain(
            f"training_step takes {names[0]} and {names[1]}, and 1.x gave it the batch, its index and the state, in "
            "that order"
        )
    indexed = INDEX in names
    if indexed and names[2] != INDEX:
        raise NotPlain(
            f"1.x gave training_step the index of the optimizer as its third argument, which is `{names[2]}` here"
        )
    if indexed and len(names) == 3:
        raise NotPlain("training_step takes no state, which 1.x gave it as a fourth argument")
    if required > 3 + indexed:
        raise NotPlain(not_plain(step, "(self, batch, batch_idx, hiddens)"))
    state = names[3 if indexed else 2]
    this = self_name(step)
    for name in (names[0], names[1], state):
        if name in LOOP_NAMES:
            raise NotPlain(f"training_step has a parameter `{name}`, a name that the loop needs")
    return TbpttStep(this, names[0], names[1], INDEX if indexed else None, state)


def judge_result(step: Function, count: int | None) -> None:
    """Raises NotPlain unless the step plainly gives, or may give, a loss and the state of the next chunk.

    `count` is the number of optimizers, where it is known: a step that ends in an arm for each gives a result.
    """
    if may_return_none(step) and not (count and _has_arms(step, count)):
        raise NotPlain(
            "training_step can end without a result, on which 1.x raised an error while it split batches; "
            "return the state, and a loss of zero for a chunk to skip"
        )
    for node in returns(step):
        keys = result_keys(step, node.value)
        if keys is None or not {"loss", STATE} <= keys:
            raise NotPlain(
                "training_step does not clearly return a dict with `loss` and `hiddens`, "
                "without which 1.x raised an error while it split batches"
            )


def _has_arms(step: Function, count: int) -> bool:
    """Whether a step ends in `if optimizer_idx == n` for every optimizer, each of which returns a value."""
    if any(node.value is None or is_none(node.value) for node in returns(step)):
        return False
    found: set[object] = set()
    stack: list[ast.stmt] = list(step.body)
    while stack and isinstance(last := stack.pop(), ast.If):
        test = last.test
        if not (isinstance(test, ast.Compare) and ast.unparse(test.left) == INDEX and isinstance(test.ops[0], ast.Eq)):
            break
        if isinstance(test.comparators[0], ast.Constant) and always_leaves(last.body):
            found.add(test.comparators[0].value)
        stack += last.orelse
    return found >= set(range(count))


def result_keys(step: Function, value: ast.expr | None) -> frozenset[str] | None:
    """The keys of a returned dict, through one name; None where it is none. One made elsewhere may hold all."""
    if isinstance(value, ast.Name):
        return _named_keys(step, value.id)
    if isinstance(value, ast.Dict):
        names = [key.value for key in value.keys if isinstance(key, ast.Constant)]
        return frozenset(map(str, names)) if len(names) == len(value.keys) else ANY
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "dict":
        return frozenset(keyword.arg for keyword in value.keywords if keyword.arg) if not value.args else ANY
    if isinstance(value, ast.Call) and _hands_state_on(step, value):
        return ANY
    return None


def _named_keys(step: Function, name: str) -> frozenset[str] | None:
    bound = [
        node.value
        for node in own_nodes(step)
        if isinstance(node, ast.Assign)
        and any(isinstance(target, ast.Name) and target.id == name for target in node.targets)
    ]
    stored = [use for use in uses(step, name) if not isinstance(use.ctx, ast.Load)]
    if len(bound) != 1 or len(stored) != 1 or isinstance(bound[0], ast.Name):
        return None
    keys = result_keys(step, bound[0])
    if keys is None:
        return None
    return keys | {
        target.slice.value
        for node in own_nodes(step)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Subscript)
        and isinstance(target.value, ast.Name)
        and target.value.id == name
        and isinstance(target.slice, ast.Constant)
        and isinstance(target.slice.value, str)
    }


def _hands_state_on(step: Function, call: ast.Call) -> bool:
    """Whether a call of a method of self gets a parameter of the step behind its first two."""
    names = set(parameters(step)[2:])
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    return isinstance(call.func, ast.Attribute) and any(
        isinstance(value, ast.Name) and value.id in names for value in given
    )


def is_dead(step: Function) -> bool:
    """Whether a `training_step` never reads its `hiddens` and never returns any."""
    read = [use for use in uses(step, STATE) if not isinstance(use.ctx, ast.Del)]
    return not read and not any(
        (isinstance(node, ast.Constant) and node.value == STATE)
        or (isinstance(node, ast.keyword) and node.arg == STATE)
        for node in own_nodes(step)
    )


def is_idle(step: Function) -> bool:
    """Whether a `training_step` does without a state: None where nobody gives one, and it plainly returns none."""
    keys = [result_keys(step, node.value) for node in returns(step)]
    return is_optional(step) and not any(STATE in known for known in keys if known)


def is_optional(step: Function) -> bool:
    """Whether `hiddens` is None where nobody gives it."""
    return default_of(step, STATE) == "None"


def default_of(step: Function, name: str) -> str | None:
    """What a parameter of the step is where nobody gives it, as source text; None where it has to be given."""
    names = [argument.arg for argument in step.args.args]
    if name not in names:
        return None
    place = names.index(name) - len(names)
    return ast.unparse(step.args.defaults[place]) if len(step.args.defaults) >= -place else None
