"""What one class says about its truncated back-propagation: enough for a rewrite, or the reason against one."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from codemods.code.nodes import walk
from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import (
    Function,
    is_plain,
    is_self_attribute,
    is_super_call,
    own_nodes,
    parameters,
    returns,
    self_assignments,
    self_name,
)
from codemods.lightning.optimization import FLAG as AUTOMATIC
from codemods.rewrite.manual.batch_outputs import judge_batch, judge_outputs, reads_batch, reads_outputs
from codemods.rewrite.manual.closure import may_skip_closure
from codemods.rewrite.manual.configured import ConfiguredOptimizers
from codemods.rewrite.manual.fit_sites import FileFits, read_fits
from codemods.rewrite.manual.hooks import CLIPPING, STEPPING, Hooks, judge_hooks, read_hooks
from codemods.rewrite.manual.module import (
    NOT_CARRIED,
    is_manual,
    judge_by_hand,
    judge_callers,
    judge_constructor,
    judge_place,
)
from codemods.rewrite.manual.optimizer_factories import Made, read_makers
from codemods.rewrite.manual.optimizers import NotPlain
from codemods.rewrite.manual.reserved_attributes import Own, read_own
from codemods.rewrite.manual.trainers import Loose
from codemods.rules.tbptt.batch import BatchHelper, BatchUse, as_batch, helpers
from codemods.rules.tbptt.chunk_length_transfer import FLAG, FittedTrainer, told
from codemods.rules.tbptt.step import (
    INDEX,
    STATE,
    TbpttStep,
    default_of,
    is_idle,
    judge_result,
    read_step,
    takes_state,
    third_parameter,
)

SPLIT = "tbptt_split_batch"
HELPER = "training_chunk"
WORDS = (FLAG, SPLIT, STATE)
BETWEEN_CHUNKS = ("on_before_backward", "on_after_backward", "on_before_optimizer_step")
IMPORTS = (("torch", None), ("lightning_utilities.core.apply_func", "apply_to_collection"))
REFUSED_HOOKS = {"automatic_optimization": "it says itself which optimization it is trained by", **NOT_CARRIED}


@dataclass(frozen=True)
class TbpttClass:
    """A class that used 1.x's truncated back-propagation, or a part of it.

    `refusal` is why it cannot be rewritten, by what the class itself shows (None where it can). `step` is None
    where it has no training step that takes a state. `named` says that the state has the name that only a state
    has, `idle` that the step trains without one: it is None where nobody gives it, and none is returned. `batch`
    is how the step uses the batch, `flagged` whether the class sets the flag, `ends_early` whether a line at the end
    of its on_train_epoch_end may not be reached, `may_be_off` whether it may leave the flag unset, or set it to None,
    `outputs` whether its training_epoch_end reads what the chunks returned, `hooks` what it overrides,
    `batch_outputs` whether its on_train_batch_end reads them, `begins` what the state is where nobody gives it, as
    source text (None: it has to be given), `unset` whether the class may leave the flag without a value.
    """

    name: str
    path: str
    refusal: str | None
    step: TbpttStep | None = None
    named: bool = False
    idle: bool = False
    batch: BatchUse = field(default_factory=BatchUse)
    flagged: bool = False
    ends_early: bool = False
    may_be_off: bool = False
    outputs: bool = False
    hooks: Hooks = field(default_factory=Hooks)
    batch_outputs: bool = False
    begins: str | None = None
    unset: bool = False


@dataclass(frozen=True)
class TbpttFileSummary:
    """What a file shows to the others.

    `classes` are its candidates, `loose` where Trainer arguments that would have to move stand other than in a
    Trainer's call, `flags` the classes that set the flag, `manual` those that switch automatic optimization off,
    `outside` where the flag is set on something else than self, `optimizers` what the classes'
    `configure_optimizers` return, or why that is not plain, `helpers` how their methods use what they are given,
    `fits` where models are given to Trainers, `own` what the classes set that a loop calls or keeps, `told` what the
    Trainers give by the flag.
    """

    classes: tuple[TbpttClass, ...] = ()
    loose: Loose = ()
    flags: frozenset[str] = frozenset()
    manual: frozenset[str] = frozenset()
    outside: tuple[tuple[int, str | None], ...] = ()
    optimizers: Made = field(default_factory=dict)
    helpers: tuple[BatchHelper, ...] = ()
    fits: FileFits = field(default_factory=FileFits)
    own: Own = field(default_factory=dict)
    told: tuple[FittedTrainer, ...] = ()


def candidates(file: PythonFile) -> list[ClassNode]:
    """The classes whose training step takes, or may take, a state, and those that set the flag and train
    automatically."""
    if not any(word in file.text for word in WORDS):
        return []
    return [item for item in file.classes if _is_candidate(file, item)]


def _is_candidate(file: PythonFile, item: ClassNode) -> bool:
    step = item.methods.get("training_step")
    if step is not None and _is_chunked(step):
        return True
    return not is_manual(file, item) and (sets_flag(item) or (SPLIT in item.methods and not file.attributes(SPLIT)))


def _is_chunked(step: Function) -> bool:
    """Whether a training step takes, or may take, a state."""
    return takes_state(step) or third_parameter(step)


def show(file: PythonFile, loose: Loose) -> TbpttFileSummary | None:
    """What a file shows to the others, None for nothing."""
    found = candidates(file)
    fits = read_fits(file)
    made, own = read_makers(file), read_own(file)
    seen = any((found, loose, fits != FileFits(), made, own))
    if not seen and not any(word in file.text for word in WORDS):
        return None
    return TbpttFileSummary(
        tuple(read_class(file, item) for item in found),
        loose,
        frozenset(item.qualname for item in file.classes if sets_flag(item)) if FLAG in file.text else frozenset(),
        frozenset(item.qualname for item in file.classes if AUTOMATIC in file.text and is_manual(file, item)),
        tuple(_outside(file)) if FLAG in file.text else (),
        made,
        tuple(helpers(file.classes)) if STATE in file.text else (),
        fits,
        own,
        told(file),
    )


def _outside(file: PythonFile) -> list[tuple[int, str | None]]:
    """Where the flag is set on something else than `self`: the line, and the class that it was built from."""
    return [
        (item.node.lineno, _built_from(file, target.value.id))
        for item in file.assignments
        for target in (item.node.targets if isinstance(item.node, ast.Assign) else [item.node.target])
        if isinstance(target, ast.Attribute) and target.attr == FLAG and isinstance(target.value, ast.Name)
        if not any(isinstance(node, ast.ClassDef) for node in item.within)
    ]


def _built_from(file: PythonFile, name: str) -> str | None:
    built = [item.node.value for item in file.assignments_to(name)]
    calls = [call for call in file.calls if call.node in built]
    return calls[0].scope.resolve(calls[0].node.func) if len(built) == len(calls) == 1 else None


def flag_values(item: ClassNode) -> list[ast.expr]:
    """What the class gives the flag, on self or in its body."""
    on_self = [node.value for method in item.methods.values() for node in self_assignments(method, FLAG)]
    in_body = [node.value for node in _in_body(item)]
    return [value for value in (*on_self, *in_body) if value is not None]


def _in_body(item: ClassNode) -> list[ast.Assign | ast.AnnAssign]:
    """The statements of the class's body that bind the flag."""
    return [
        node
        for node in item.node.body
        if isinstance(node, ast.Assign | ast.AnnAssign)
        and any(
            isinstance(target, ast.Name) and target.id == FLAG
            for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        )
    ]


def sets_flag(item: ClassNode) -> bool:
    """Whether a class gives `truncated_bptt_steps` a value: on self, in its body, or as a property."""
    return (
        FLAG in item.methods
        or bool(flag_values(item))
        or any(
            is_self_attribute(element, FLAG, self_name(method))
            for method in item.methods.values()
            for node in own_nodes(method)
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Tuple | ast.List)
            for element in target.elts
        )
    )


def read_class(file: PythonFile, item: ClassNode) -> TbpttClass:
    """What the class shows; its relatives and Trainers are judged with the facts of the project."""
    method = item.methods.get("training_step")
    refusal, step = None, None
    try:
        if method is not None and _is_chunked(method):
            step = read_step(method)
        _judge(file, item)
    except NotPlain as error:
        refusal = str(error)
    return TbpttClass(
        item.qualname,
        file.path,
        refusal,
        step,
        (method is not None and takes_state(method)) or SPLIT in item.methods,
        method is not None and is_idle(method),
        as_batch(method, step.batch) if method and step else BatchUse(),
        sets_flag(item),
        _ends_early(item.methods.get("on_train_epoch_end")),
        _may_be_off(item),
        reads_outputs(item),
        read_hooks(item),
        reads_batch(item),
        default_of(method, step.state) if method and step else None,
        not _in_body(item) and _may_be_unset(item.methods.get("__init__")),
    )


def _may_be_off(item: ClassNode) -> bool:
    """Whether `__init__` gives the flag under a condition alone, or from a parameter that is None or 0 by default."""
    init = item.methods.get("__init__")
    if init is None:
        return False
    names = [argument.arg for argument in init.args.args]
    defaults = dict(zip(names[::-1], init.args.defaults[::-1], strict=False))
    off = [
        isinstance(node.value, ast.Name)
        and isinstance(default := defaults.get(node.value.id), ast.Constant)
        and not default.value
        for node in self_assignments(init, FLAG)
    ]
    return any(off) or _may_be_unset(init)


def _may_be_unset(init: Function | None) -> bool:
    """Whether a constructor gives the flag under a condition alone."""
    given = self_assignments(init, FLAG) if init else []
    return init is not None and bool(given) and not any(node in init.body for node in given)


def _ends_early(hook: Function | None) -> bool:
    return hook is not None and (not is_plain(hook) or bool(parameters(hook)) or bool(returns(hook)))


def _judge(file: PythonFile, item: ClassNode) -> None:
    step = item.methods.get("training_step")
    if step is None or not _is_chunked(step):
        what = f"`{FLAG}` is set" if sets_flag(item) else f"`{SPLIT}` is there, which nothing calls any more"
        raise NotPlain(f"{what}, but the class has no training_step with `hiddens`")
    if _flag_off(item):
        raise NotPlain(f"`{FLAG}` is 0 or None, so Lightning 1.x never split a batch")
    judge_by_hand(step)
    judge_place(file, item, REFUSED_HOOKS, HELPER, IMPORTS)
    judge_callers(file, item)
    judge_constructor(item)
    configured = read_makers(file).get(item.qualname)
    judge_result(step, configured.count if isinstance(configured, ConfiguredOptimizers) else None)
    _judge_split(item)
    _judge_hooks(item)
    if reads_outputs(item):
        judge_outputs(file, item, "chunk")


def _flag_off(item: ClassNode) -> bool:
    values = flag_values(item)
    return bool(values) and all(isinstance(value, ast.Constant) and not value.value for value in values)


def _judge_split(item: ClassNode) -> None:
    split = item.methods.get(SPLIT)
    if split and any(is_super_call(node, SPLIT) for node in walk(split)):
        raise NotPlain(f"`{SPLIT}` calls that of LightningModule, which 2.x has no more: write the cut out")


def _judge_hooks(item: ClassNode) -> None:
    for hook in (*BETWEEN_CHUNKS, CLIPPING):
        lost = _logs_by_epoch(item) or INDEX in parameters(item.methods["training_step"])
        if hook in item.methods and _logs(item.methods[hook]) and lost:
            raise NotPlain(
                f"{hook} logs between two chunks, at which 2.x drops what earlier chunks of an epoch's first batch "
                "logged with on_epoch, or for another optimizer"
            )
    judge_batch(item, "chunk")
    stepping = item.methods.get(STEPPING)
    if stepping and may_skip_closure(stepping):
        raise NotPlain("optimizer_step may not run its closure, without which a chunk has no state for the next one")
    judge_hooks(item)


def _logs(node: ast.AST) -> bool:
    return any(isinstance(inner, ast.Attribute) and inner.attr in ("log", "log_dict") for inner in walk(node))


def _logs_by_epoch(item: ClassNode) -> bool:
    return any(
        isinstance(node, ast.keyword)
        and node.arg == "on_epoch"
        and not (isinstance(node.value, ast.Constant) and node.value.value is False)
        for node in walk(item.node)
    )
