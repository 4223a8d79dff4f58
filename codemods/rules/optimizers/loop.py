"""The manual loop that trains as 1.x's automatic optimization of several optimizers did, written into the class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import libcst as cst
import libcst.matchers as m

from codemods.rewrite import edits
from codemods.rewrite.manual.batch_outputs import KEPT, RETURNED
from codemods.rewrite.manual.hooks import CLIPPING, STEPPING, HookParameters
from codemods.rewrite.manual.trainers import Clip
from codemods.rewrite.manual.writer import (
    add_clipping,
    add_plateaus,
    count_batches,
    schedule_lines,
    shed,
    step_line,
    switch_off,
    take_outputs,
    zero_lines,
)
from codemods.rules.optimizers.apart import FLAG_ON
from codemods.rules.optimizers.module import HELPER, INDEX, STEP, StepParameters
from codemods.rules.optimizers.plan import OptimizerVerdict, clears, clip_of, window_of

DOCSTRING = '"""One step of each optimizer in turn, as automatic optimization made them."""'
TURNS = '"""One step of the optimizer whose turn it is, as automatic optimization made it."""'
CLEAR = "torch.clear_autocast_cache()  # the next optimizer must see the new weights"
OWN_CALL = m.Call(func=m.Attribute(value=m.Name("self") | m.Call(func=m.Name("super")), attr=m.Name(STEP)))


@dataclass(frozen=True)
class StepShape:
    """The parameters of the class's step, and what becomes of its hooks."""

    names: StepParameters
    hooks: HookParameters


def write_loop(node: cst.ClassDef, verdict: OptimizerVerdict, shape: StepShape) -> cst.ClassDef:
    """The class with `training_step` turned into a loop over its optimizers, its old body kept as a method.

    Order for each optimizer: the others' parameters toggled off, forward, zero_grad, backward, step (source:
    Lightning 1.9.5, `loops/optimization/optimizer_loop.py`; run beside 2.6.6).
    """
    node = edits.change_method(node, STEP, lambda step: _split_step(step, verdict, shape))
    node = _rename_calls(node)
    node = switch_off(node, verdict.attribute or bool(verdict.apart))
    if verdict.batches:
        node = count_batches(node, None if verdict.apart else verdict.configured.count, before=STEP)
    node = shed(node, shape.hooks)
    if verdict.configured.frequencies:
        node = edits.change_method(node, "configure_optimizers", lambda method: [_without_frequencies(method)])
    clip = clip_of(verdict.given)
    if clip or CLIPPING in verdict.item.hooks.names:
        node = _clipped(node, clip, CLIPPING in verdict.item.hooks.names)
    window = window_of(verdict.given)
    if window:
        node = edits.add_class_statement(node, f"accumulate_grad_batches = {window}\n")
    node = add_plateaus(node, verdict.configured, after=HELPER)
    return take_outputs(node) if verdict.item.batch_outputs else node


def stay_automatic(node: cst.ClassDef) -> cst.ClassDef:
    """A subclass that is optimized automatically, as its base no longer is."""
    return edits.add_class_statement(node, FLAG_ON)


def write_follower(node: cst.ClassDef) -> cst.ClassDef:
    """A subclass whose step, and calls of its base's, take the new name."""
    node = edits.change_method(node, STEP, lambda step: [step.with_changes(name=cst.Name(HELPER))])
    return _rename_calls(node)


def _clipped(node: cst.ClassDef, clip: Clip | None, through: bool) -> cst.ClassDef:
    value, algorithm = clip or ("None", None)
    return add_clipping(node, value, algorithm, before=HELPER, through=through)


def _rename_calls(node: cst.ClassDef) -> cst.ClassDef:
    def rename(call: cst.CSTNode, _: Any) -> cst.CSTNode:
        return call.with_deep_changes(cst.ensure_type(call, cst.Call).func, attr=cst.Name(HELPER))

    return cst.ensure_type(m.replace(node, OWN_CALL, rename), cst.ClassDef)


def _without_frequencies(method: cst.FunctionDef) -> cst.FunctionDef:
    """The optimizers' own frequencies, which 2.x does not know, out of their dicts, and the names that held them."""
    string = m.SimpleString(value=m.MatchIfTrue(lambda text: text.strip("'\"") == "frequency"))
    owner = m.SimpleString(value=m.MatchIfTrue(lambda text: text.strip("'\"") == "optimizer"))
    given = m.DictElement(key=string)
    holder = m.Dict(elements=[m.ZeroOrMore(), m.DictElement(key=owner), m.ZeroOrMore()])
    named: set[str] = set()

    def shorten(found: cst.CSTNode, _: Any) -> cst.CSTNode:
        elements = cst.ensure_type(found, cst.Dict).elements
        left = [item for item in elements if not m.matches(item, given)]
        named.update(item.value.value for item in elements if item not in left and isinstance(item.value, cst.Name))
        if left and left[-1] is not elements[-1]:
            left[-1] = left[-1].with_changes(comma=elements[-1].comma)
        return found.with_changes(elements=left)

    shorter = cst.ensure_type(m.replace(method, holder, shorten), cst.FunctionDef)
    idle = [name for name in named if len(m.findall(shorter, m.Name(name))) == 1]
    return _without_names(shorter, idle) if idle else shorter


def _without_names(method: cst.FunctionDef, names: Sequence[str]) -> cst.FunctionDef:
    """The method without the lines that do nothing but give a plain value to one of some names."""
    line = m.SimpleStatementLine(
        body=[
            m.Assign(
                targets=[m.AssignTarget(m.OneOf(*map(m.Name, names)))], value=m.Name() | m.Integer() | m.Attribute()
            )
        ],
        leading_lines=[],
        trailing_whitespace=m.TrailingWhitespace(comment=None),
    )
    body = edits.body_of(method)
    left = [item for item in body if not m.matches(item, line)]
    if left[0] is not body[0] and not m.findall(left[0], m.Comment()):
        left[0] = left[0].with_changes(leading_lines=[])
    return edits.with_body(method, left)  # type: ignore[no-any-return]


def _split_step(step: cst.FunctionDef, verdict: OptimizerVerdict, shape: StepShape) -> list[Any]:
    written = edits.statements(_text(verdict, shape))[0]
    driver = written.with_changes(
        params=edits.without_parameter(_without_stars(step), INDEX).params,
        whitespace_before_params=step.whitespace_before_params,
        leading_lines=step.leading_lines,
        returns=_nothing(step.returns) if not verdict.item.batch_outputs else None,
    )
    helper = step.with_changes(
        name=cst.Name(HELPER), leading_lines=[cst.EmptyLine(indent=False)], lines_after_decorators=[]
    )
    return [driver, helper]


def _nothing(returns: cst.Annotation | None) -> cst.Annotation | None:
    return returns.with_changes(annotation=cst.Name("None")) if returns else None


def _without_stars(step: cst.FunctionDef) -> cst.FunctionDef:
    """The step without `*args` and `**kwargs`, the comma before them being that of the last parameter."""
    params = step.params
    stars = [each for each in (params.star_arg, params.star_kwarg) if isinstance(each, cst.Param)]
    if not stars:
        return step
    last = params.params[-1].with_changes(
        comma=stars[-1].comma, whitespace_after_param=stars[-1].whitespace_after_param
    )
    kept = params.with_changes(params=[*params.params[:-1], last], star_arg=cst.MaybeSentinel.DEFAULT, star_kwarg=None)
    return step.with_changes(params=kept)


def _text(verdict: OptimizerVerdict, shape: StepShape) -> str:
    configured, this = verdict.configured, shape.names.this
    turns = configured.frequencies
    lines = [TURNS if turns else DOCSTRING]
    window = window_of(verdict.given)
    if window:
        lines.append(
            f"stepping = ({shape.names.batch_idx} + 1) % {this}.accumulate_grad_batches == 0 "
            f"or {this}.trainer.is_last_batch"
        )
    inner = _windowed(verdict, shape) if window else _plain(verdict, shape)
    kept = verdict.item.outputs
    if kept or verdict.item.batch_outputs:
        output = _output(verdict, shape)
        append = f"{this}.{KEPT}.append([{output}])" if turns else f"outputs.append({output})"
        inner += ["if loss is not None:", f"    {append}"] if verdict.skips else [append]
    if turns:
        each = " + ".join(f"[{index}] * {frequency}" for index, frequency in enumerate(turns))
        lines += [
            f"turns = {each}",
            f"{INDEX} = turns[{_batch_of(verdict, shape)} % len(turns)]",
            f"optimizer = {this}.optimizers()[{INDEX}]",
            *inner,
        ]
    elif configured.count is None:
        lines += [
            f"optimizers = {this}.optimizers()",
            f"for {INDEX}, optimizer in enumerate(optimizers if isinstance(optimizers, list) else [optimizers]):",
            *_indented(inner),
        ]
    else:
        lines += [f"for {INDEX}, optimizer in enumerate({this}.optimizers()):", *_indented(inner)]
    if (kept or verdict.item.batch_outputs) and not turns:
        lines.insert(-1 - len(inner), "outputs = []")
    if kept and not turns:
        append = f"{this}.{KEPT}.append(outputs)"
        lines += ["if outputs:", f"    {append}"] if verdict.skips else [append]
    lines += schedule_lines(this, shape.names.batch_idx, configured, "stepping" if window else "")
    if verdict.item.batch_outputs:
        lines.append(f'return {{"{RETURNED}": outputs}}')
    return "\n".join([f"def {STEP}({this}):", *_indented(lines)]) + "\n"


def _batch_of(verdict: OptimizerVerdict, shape: StepShape) -> str:
    """The number of the batch by which optimizers take turns: in its epoch, or of all epochs."""
    return f"{shape.names.this}.trainer.fit_loop.total_batch_idx" if verdict.across else shape.names.batch_idx


def _output(verdict: OptimizerVerdict, shape: StepShape) -> str:
    """What training_epoch_end got of one step: a dict, its loss divided by the window, and nothing with a history."""
    loss = "loss.detach()"
    if window_of(verdict.given):
        loss = f"loss.detach() / {shape.names.this}.accumulate_grad_batches"
    if verdict.kind == "tensor":
        return f'{{"loss": {loss}}}'
    detached = "apply_to_collection(output, torch.Tensor, torch.Tensor.detach)"
    return f'{{**{detached}, "loss": {loss}}}' if window_of(verdict.given) else detached


def _indented(lines: Sequence[str]) -> list[str]:
    return [f"    {line}" if line else line for line in lines]


def _plain(verdict: OptimizerVerdict, shape: StepShape) -> list[str]:
    """The statements for one optimizer."""
    this = shape.names.this
    if STEPPING in verdict.item.hooks.names:
        return [
            *_closure(verdict, shape),
            f"{this}.toggle_optimizer(optimizer)",
            _step(verdict, shape),
            *_clearing(verdict),
            f"{this}.untoggle_optimizer(optimizer)",
        ]
    lines = [f"{this}.toggle_optimizer(optimizer)", *_loss(verdict, shape), *_zeroed(verdict, shape)]
    back = f"{this}.manual_backward(loss)"
    stepped = ["optimizer.step()", *_clearing(verdict)]
    if not verdict.skips:
        lines += [back, *stepped]
    elif verdict.given.clear_autocast:
        lines += ["if loss is not None:", *_indented([back, *stepped])]
    else:
        lines += ["if loss is not None:", f"    {back}", *stepped]
    return [*lines, f"{this}.untoggle_optimizer(optimizer)"]


def _windowed(verdict: OptimizerVerdict, shape: StepShape) -> list[str]:
    """The statements for one optimizer where several batches make one step."""
    this, batch_idx = shape.names.this, shape.names.batch_idx
    divided = f"{this}.manual_backward(loss / {this}.accumulate_grad_batches)"
    body = [
        *_loss(verdict, shape),
        f"if {batch_idx} % {this}.accumulate_grad_batches == 0:",
        *_indented(_zeroed(verdict, shape)),
        *(["if loss is not None:", f"    {divided}"] if verdict.skips else [divided]),
    ]
    if STEPPING not in verdict.item.hooks.names:
        inner = [*body, "if stepping:", *_indented(["optimizer.step()", *_clearing(verdict)])]
        return ["with optimizer.toggle_model(sync_grad=stepping):", *_indented(inner)]
    inner = ["if stepping:", *_indented([_step(verdict, shape), *_clearing(verdict)]), "else:", "    closure()"]
    return [*_closure(verdict, shape, body), "with optimizer.toggle_model(sync_grad=stepping):", *_indented(inner)]


def _closure(verdict: OptimizerVerdict, shape: StepShape, body: list[str] | None = None) -> list[str]:
    """What an overridden optimizer_step is handed, as automatic optimization handed it."""
    if body is None:
        back = f"{shape.names.this}.manual_backward(loss)"
        last = ["if loss is not None:", f"    {back}"] if verdict.skips else [back]
        body = [*_loss(verdict, shape), *_zeroed(verdict, shape), *last]
    given = f"optimizer=optimizer, {INDEX}={INDEX}"
    return ["", f"def closure({given}):", *_indented([*body, "return loss"]), ""]


def _step(verdict: OptimizerVerdict, shape: StepShape) -> str:
    return step_line(shape.names.this, shape.names.batch_idx, verdict.item.hooks, INDEX)


def _loss(verdict: OptimizerVerdict, shape: StepShape) -> list[str]:
    names = shape.names
    call = f"{names.this}.{HELPER}({names.batch}, {names.batch_idx}, {INDEX})"
    if verdict.kind == "dict" and (verdict.item.outputs or verdict.item.batch_outputs) and not verdict.skips:
        return [f"output = {call}", 'loss = output["loss"]']
    if verdict.kind == "tensor" or (verdict.kind == "dict" and not verdict.skips):
        return [f"loss = {call}" if verdict.kind == "tensor" else f'loss = {call}["loss"]']
    return [f"output = {call}", 'loss = output["loss"] if isinstance(output, dict) else output']


def _zeroed(verdict: OptimizerVerdict, shape: StepShape) -> list[str]:
    return zero_lines(shape.names.this, shape.names.batch_idx, verdict.item.hooks, INDEX)


def _clearing(verdict: OptimizerVerdict) -> list[str]:
    return [CLEAR] if clears(verdict) else []
