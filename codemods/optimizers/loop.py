"""The manual loop that trains as 1.x's automatic optimization of several optimizers did, written into the class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import libcst as cst
import libcst.matchers as m

from codemods import edits
from codemods.manual.outputs import KEPT
from codemods.manual.trainers import Clip
from codemods.manual.writer import add_clipping, add_plateaus, schedule_lines, switch_off
from codemods.optimizers.module import HELPER, INDEX, STEP, Names
from codemods.optimizers.plan import Verdict, clears, clip_of, window_of
from codemods.optimizers.signature import without_old

DOCSTRING = '"""One step of each optimizer in turn, as automatic optimization made them."""'
TURNS = '"""One step of the optimizer whose turn it is, as automatic optimization made it."""'
CLEAR = "torch.clear_autocast_cache()  # the next optimizer must see the new weights"
OWN_CALL = m.Call(func=m.Attribute(value=m.Name("self") | m.Call(func=m.Name("super")), attr=m.Name(STEP)))


@dataclass(frozen=True)
class Shape:
    """The dead parameters of the class's hooks, and those that it reads, by hook; the parameters of its step; and what
    the index is called in hooks that have to find it."""

    names: Names
    dead: tuple[tuple[str, tuple[str, ...]], ...]
    kept: tuple[tuple[str, tuple[str, ...]], ...]
    found: tuple[tuple[str, str], ...] = ()


def write_loop(node: cst.ClassDef, verdict: Verdict, shape: Shape) -> cst.ClassDef:
    """The class with `training_step` turned into a loop over its optimizers, its old body kept as a method.

    Order for each optimizer: the others' parameters toggled off, forward, zero_grad, backward, step (source:
    Lightning 1.9.5, `loops/optimization/optimizer_loop.py`; run beside 2.6.6).
    """
    node = edits.change_method(node, STEP, lambda step: _split_step(step, verdict, shape))
    node = _rename_calls(node)
    node = switch_off(node, verdict.attribute)
    node = _shed(node, shape)
    if verdict.configured.frequencies:
        node = edits.change_method(node, "configure_optimizers", lambda method: [_without_frequencies(method)])
    clip = clip_of(verdict.given)
    if clip or "configure_gradient_clipping" in verdict.item.hooks:
        node = _clipped(node, clip, "configure_gradient_clipping" in verdict.item.hooks)
    window = window_of(verdict.given)
    if window:
        node = edits.add_class_statement(node, f"accumulate_grad_batches = {window}\n")
    return add_plateaus(node, verdict.configured, after=HELPER)


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


def _shed(node: cst.ClassDef, shape: Shape) -> cst.ClassDef:
    kept = dict(shape.kept)
    for name, dead in shape.dead:
        node = edits.change_method(node, name, partial(_shorter, dead=dead, kept=kept.get(name, ())))
    for name, index in shape.found:
        node = edits.change_method(node, name, partial(_found, index=index))
    return node


def _found(hook: cst.FunctionDef, index: str) -> list[Any]:
    """The hook, which 2.x gives no index, with the index of the optimizer that it gets at its top."""
    this, optimizer, *_ = (param.name.value for param in hook.params.params)
    line = f"{index} = [each.optimizer for each in {this}.optimizers()].index({optimizer})\n"
    body = edits.body_of(hook)
    at = edits.after_docstring(body)
    return [edits.with_body(hook, [*body[:at], *edits.statements(line), *body[at:]])]


def _shorter(hook: cst.FunctionDef, dead: tuple[str, ...], kept: tuple[str, ...]) -> list[Any]:
    return [without_old(hook, dead, kept)]


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


def _split_step(step: cst.FunctionDef, verdict: Verdict, shape: Shape) -> list[Any]:
    written = edits.statements(_text(verdict, shape))[0]
    driver = written.with_changes(
        params=edits.without_parameter(_without_kwargs(step), INDEX).params,
        whitespace_before_params=step.whitespace_before_params,
        leading_lines=step.leading_lines,
        returns=step.returns.with_changes(annotation=cst.Name("None")) if step.returns else None,
    )
    helper = step.with_changes(
        name=cst.Name(HELPER), leading_lines=[cst.EmptyLine(indent=False)], lines_after_decorators=[]
    )
    return [driver, helper]


def _without_kwargs(step: cst.FunctionDef) -> cst.FunctionDef:
    """The step without `**kwargs`, the comma before it being that of the last parameter."""
    params = step.params
    if params.star_kwarg is None:
        return step
    last = params.params[-1].with_changes(
        comma=params.star_kwarg.comma, whitespace_after_param=params.star_kwarg.whitespace_after_param
    )
    return step.with_changes(params=params.with_changes(params=[*params.params[:-1], last], star_kwarg=None))


def _text(verdict: Verdict, shape: Shape) -> str:
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
    if kept:
        output = _output(verdict, shape)
        append = f"{this}.{KEPT}.append([{output}])" if turns else f"outputs.append({output})"
        inner += ["if loss is not None:", f"    {append}"] if verdict.skips else [append]
    if turns:
        each = " + ".join(f"[{index}] * {frequency}" for index, frequency in enumerate(turns))
        lines += [
            f"turns = {each}",
            f"{INDEX} = turns[{shape.names.batch_idx} % len(turns)]",
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
    if kept and not turns:
        lines.insert(-1 - len(inner), "outputs = []")
        append = f"{this}.{KEPT}.append(outputs)"
        lines += ["if outputs:", f"    {append}"] if verdict.skips else [append]
    lines += schedule_lines(this, shape.names.batch_idx, configured, "stepping" if window else "")
    return "\n".join([f"def {STEP}({this}):", *_indented(lines)]) + "\n"


def _output(verdict: Verdict, shape: Shape) -> str:
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


def _plain(verdict: Verdict, shape: Shape) -> list[str]:
    """The statements for one optimizer."""
    this = shape.names.this
    if "optimizer_step" in verdict.item.hooks:
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


def _windowed(verdict: Verdict, shape: Shape) -> list[str]:
    """The statements for one optimizer where several batches make one step."""
    this, batch_idx = shape.names.this, shape.names.batch_idx
    divided = f"{this}.manual_backward(loss / {this}.accumulate_grad_batches)"
    body = [
        *_loss(verdict, shape),
        f"if {batch_idx} % {this}.accumulate_grad_batches == 0:",
        *_indented(_zeroed(verdict, shape)),
        *(["if loss is not None:", f"    {divided}"] if verdict.skips else [divided]),
    ]
    if "optimizer_step" not in verdict.item.hooks:
        inner = [*body, "if stepping:", *_indented(["optimizer.step()", *_clearing(verdict)])]
        return ["with optimizer.toggle_model(sync_grad=stepping):", *_indented(inner)]
    inner = ["if stepping:", *_indented([_step(verdict, shape), *_clearing(verdict)]), "else:", "    closure()"]
    return [*_closure(verdict, shape, body), "with optimizer.toggle_model(sync_grad=stepping):", *_indented(inner)]


def _closure(verdict: Verdict, shape: Shape, body: list[str] | None = None) -> list[str]:
    """What an overridden optimizer_step is handed, as automatic optimization handed it."""
    if body is None:
        back = f"{shape.names.this}.manual_backward(loss)"
        last = ["if loss is not None:", f"    {back}"] if verdict.skips else [back]
        body = [*_loss(verdict, shape), *_zeroed(verdict, shape), *last]
    given = f"optimizer=optimizer, {INDEX}={INDEX}"
    return ["", f"def closure({given}):", *_indented([*body, "return loss"]), ""]


def _step(verdict: Verdict, shape: Shape) -> str:
    this, batch_idx = shape.names.this, shape.names.batch_idx
    index = f", {INDEX}" if "optimizer_step" in verdict.item.reads else ""
    return f"{this}.optimizer_step({this}.current_epoch, {batch_idx}, optimizer{index}, closure)"


def _loss(verdict: Verdict, shape: Shape) -> list[str]:
    names = shape.names
    call = f"{names.this}.{HELPER}({names.batch}, {names.batch_idx}, {INDEX})"
    if verdict.kind == "dict" and verdict.item.outputs and not verdict.skips:
        return [f"output = {call}", 'loss = output["loss"]']
    if verdict.kind == "tensor" or (verdict.kind == "dict" and not verdict.skips):
        return [f"loss = {call}" if verdict.kind == "tensor" else f'loss = {call}["loss"]']
    return [f"output = {call}", 'loss = output["loss"] if isinstance(output, dict) else output']


def _zeroed(verdict: Verdict, shape: Shape) -> list[str]:
    names, hooks = shape.names, verdict.item.hooks
    before = [f"{names.this}.on_before_zero_grad(optimizer)"] if "on_before_zero_grad" in hooks else []
    if "optimizer_zero_grad" not in hooks:
        return [*before, "optimizer.zero_grad()"]
    index = f", {INDEX}" if "optimizer_zero_grad" in verdict.item.reads else ""
    return [
        *before,
        f"{names.this}.optimizer_zero_grad({names.this}.current_epoch, {names.batch_idx}, optimizer{index})",
    ]


def _clearing(verdict: Verdict) -> list[str]:
    return [CLEAR] if clears(verdict) else []
