"""The edits of LIT201: a step or a hook that keeps results in a list, and the hook that takes the list."""

from __future__ import annotations

import ast
from textwrap import indent
from typing import Any

import libcst as cst
import libcst.matchers as m

from codemods.code.nodes import walk
from codemods.code.source import ClassNode
from codemods.code.syntax import Function, always_leaves, is_none, parameters, returns
from codemods.rewrite import edits
from codemods.rules.hooks.epoch_end import STAGES, EpochEnd, Stage, own_calls
from codemods.rules.hooks.project_constraints import OutputKeeping
from codemods.rules.hooks.results import never_none
from codemods.rules.hooks.returning import at_returns
from codemods.rules.hooks.step_end import lacking


def keep_results(node: cst.ClassDef, item: ClassNode, hook: EpochEnd, keeping: OutputKeeping | None) -> cst.ClassDef:
    """The class with the hook under its new name, and what the hook reads kept in a list; `keeping` is None where
    it reads nothing."""
    stage = hook.stage
    if keeping is not None and keeping.ends and (name := lacking(item, stage)):
        whole = always_leaves(item.methods[stage.step_end].body)
        node = edits.change_method(node, stage.step_end, lambda method: [giving_back(method, name, whole)])
    if keeping is not None and keeping.outside:
        node = edits.change_method(node, stage.step_end, lambda method: [outside(method)])
    if keeping is not None and _is_free(item, hook, keeping):
        node = _renamed_freely(node, item, stage)
    else:
        node = _renamed_apart(node, item, stage, keeping) if hook.apart else _renamed(node, item, stage, keeping)
    if keeping is None or keeping.where in ("nowhere", "idle"):
        return node
    if keeping.where == "step":
        node = edits.change_method(node, stage.step, lambda step: [_keeping(step, item, stage, keeping)])
    else:
        if keeping.ends and stage.step in item.methods:
            node = edits.change_method(node, stage.step, lambda step: [ending(step, stage.step_end)])
        node = _kept_behind_batch(node, item, stage, keeping)
    return _made(node, item, stage, keeping)


def keep_in_loop(node: cst.ClassDef, item: ClassNode) -> cst.ClassDef:
    """The class whose training_epoch_end, by its new name, takes the list that a loop in the training step fills."""
    node = _renamed(node, item, STAGES[0], OutputKeeping("loop"))
    return _made(node, item, STAGES[0], OutputKeeping("loop"))


def cleared(node: cst.ClassDef, item: ClassNode, hook: EpochEnd) -> cst.ClassDef:
    """The class with a hook that reads nothing, but empties the list that a base class fills."""
    node = _renamed(node, item, hook.stage, None)
    text = f"self.{hook.stage.kept} = []\n"
    return edits.change_method(node, hook.stage.new, lambda method: [edits.begun(method, text)])


def _taken(stage: Stage, given: str, keeping: OutputKeeping | None) -> str:
    if keeping is None:
        return ""
    if keeping.where in ("nowhere", "idle"):
        return f"{given} = []\n"
    text = f"{given}, self.{stage.kept} = self.{stage.kept}, []\n"
    return text + f"if len({given}) == 1:\n    {given} = {given}[0]\n" if keeping.several else text


def _renamed(node: cst.ClassDef, item: ClassNode, stage: Stage, keeping: OutputKeeping | None) -> cst.ClassDef:
    given = next(iter(parameters(item.methods[stage.old])), "")

    def rename(method: cst.FunctionDef) -> list[Any]:
        method = alone(edits.without_parameter(method, given) if given else _without_stars(method))
        method = method.with_changes(name=method.name.with_changes(value=stage.new))
        method = _calling(method, stage, stage.old)
        text = _taken(stage, given, keeping)
        unread = keeping is not None and keeping.where == "idle" and not m.findall(method.body, m.Name(given))
        return [edits.begun(method, text) if text and not unread else method]

    return edits.change_method(node, stage.old, rename)


def _is_free(item: ClassNode, hook: EpochEnd, keeping: OutputKeeping) -> bool:
    """Whether a hook that stays apart for its callers reads nothing, so that these can call the new one."""
    old, new = hook.stage.old, hook.stage.new
    free = keeping.where == "idle" and hook.apart and old in hook.idle and new not in item.methods
    method = item.methods[old]
    untyped = method.returns is None or is_none(method.returns)
    plain = not method.decorator_list and not method.args.defaults and untyped
    return free and plain and all(_hands_a_name(call) for call in own_calls(item, old))


def _hands_a_name(call: ast.Call) -> bool:
    """Whether a call has one argument, a plain name."""
    return len(call.args) == 1 and isinstance(call.args[0], ast.Name) and not call.keywords


def _renamed_freely(node: cst.ClassDef, item: ClassNode, stage: Stage) -> cst.ClassDef:
    """The hook by its new name and without its outputs, which all others call so too; lists that were made for it
    alone go."""
    node = _renamed(node, item, stage, None)
    own = m.Call(func=m.Attribute(value=m.Name("self"), attr=m.Name(stage.old)))

    def renamed(call: Any, _: object) -> Any:
        return call.with_changes(func=call.func.with_changes(attr=cst.Name(stage.new)), args=[])

    node = m.replace(node, own, renamed)  # type: ignore[assignment]
    others = {each.new for each in STAGES} - {stage.new}
    body = [
        _without_list(each) if isinstance(each, cst.FunctionDef) and each.name.value in others else each
        for each in edits.body_of(node)
    ]
    return edits.with_body(node, body)  # type: ignore[no-any-return]


def _without_list(method: cst.FunctionDef) -> cst.FunctionDef:
    """The method without an `outputs = []` at its start that nothing reads."""
    body = edits.body_of(method)
    index = edits.after_docstring(body)
    made = m.SimpleStatementLine(body=[m.Assign(targets=[m.AssignTarget(m.Name())], value=m.List(elements=[]))])
    if index + 1 >= len(body) or not m.matches(body[index], made):
        return method
    name = m.findall(body[index], m.Name())[0]
    alone = len(m.findall(method.body, m.Name(cst.ensure_type(name, cst.Name).value))) == 1
    return edits.with_body(method, [*body[:index], *body[index + 1 :]]) if alone else method


def _without_stars(method: cst.FunctionDef) -> cst.FunctionDef:
    params = method.params.with_changes(star_arg=cst.MaybeSentinel.DEFAULT, star_kwarg=None)
    return method.with_changes(params=params)


def alone(method: cst.FunctionDef) -> cst.FunctionDef:
    """The method with its one parameter on the line of its name, unless a comment stands there."""
    params = method.params.params
    if len(params) != 1 or m.findall(method.params, m.Comment()):
        return method
    if m.findall(method.whitespace_before_params, m.Comment()):
        return method
    empty = cst.SimpleWhitespace("")
    only = params[0].with_changes(comma=cst.MaybeSentinel.DEFAULT, whitespace_after_param=empty)
    return method.with_changes(
        params=method.params.with_changes(params=[only]), whitespace_before_params=cst.SimpleWhitespace("")
    )


def _renamed_apart(node: cst.ClassDef, item: ClassNode, stage: Stage, keeping: OutputKeeping | None) -> cst.ClassDef:
    """The old hook stays as it is under another name, which the new one and all others call."""
    node = _calling(node, stage, stage.helper)
    text = f"{_taken(stage, 'outputs', keeping)}self.{stage.helper}(outputs)\n"

    def rename(method: cst.FunctionDef) -> list[Any]:
        method = method.with_changes(name=method.name.with_changes(value=stage.helper))
        return [method]

    node = edits.change_method(node, stage.old, rename)
    if stage.new in item.methods:
        return edits.change_method(node, stage.new, lambda method: [edits.begun(method, text)])
    indented = "".join(f"    {line}\n" for line in text.splitlines())
    return _added(node, f"def {stage.new}(self):\n{indented}", before=stage.helper)


def _calling(node: Any, stage: Stage, helper: str) -> Any:
    """A class or method with `self.old(...)` calling the helper, and `super().old(...)` Lightning's own new hook."""
    own = m.Call(func=m.Attribute(value=m.Name("self"), attr=m.Name(stage.old)))
    base = m.Call(func=m.Attribute(value=m.Call(func=m.Name("super")), attr=m.Name(stage.old)))

    def renamed(call: Any, _: object) -> Any:
        return call.with_changes(func=call.func.with_changes(attr=cst.Name(helper)))

    def emptied(call: Any, _: object) -> Any:
        return call.with_changes(func=call.func.with_changes(attr=cst.Name(stage.new)), args=[])

    return m.replace(m.replace(node, own, renamed), base, emptied)


def _added(node: cst.ClassDef, text: str, before: str) -> cst.ClassDef:
    """The class with a method put in before another one, without a blank line where it becomes the first."""
    first = edits.body_of(node)[0]
    node = edits.add_method(node, text, before=before)
    if not (isinstance(first, cst.FunctionDef) and first.name.value == before):
        return node
    body = edits.body_of(node)
    return edits.with_body(node, [body[0].with_changes(leading_lines=[]), *body[1:]])  # type: ignore[no-any-return]


def _kept_behind_batch(node: cst.ClassDef, item: ClassNode, stage: Stage, keeping: OutputKeeping) -> cst.ClassDef:
    own = item.methods.get(stage.batch_end)
    names = parameters(own) if own else ["outputs", "batch", "batch_idx", "dataloader_idx"]
    ended = keeping.ends and stage.step not in item.methods
    given = f"self.{stage.step_end}({names[0]})" if ended else names[0]
    index = f"[{_loader(own, 3) if own else names[3]}]" if keeping.several and len(names) > 3 else ""
    text = f"self.{stage.kept}{index}.append({_as_handed(given, keeping)})\n"
    if keeping.guard:
        text = f"if {names[0]}{'' if stage.train else ' is not None'}:\n{indent(text, '    ')}"
    if own:
        return edits.change_method(node, stage.batch_end, lambda method: [edits.begun(method, text)])
    several = ", dataloader_idx=0" if keeping.several else ""
    indented = "".join(f"    {line}\n" for line in text.splitlines())
    method = f"def {stage.batch_end}(self, outputs, batch, batch_idx{several}):\n{indented}"
    return _added(node, method, before=stage.new)


def _as_handed(given: str, keeping: OutputKeeping) -> str:
    """What older releases handed over, made of what the hook behind a training batch gets."""
    if keeping.whole:
        given = f'{{**{given}, "loss": {given}["loss"] * self.trainer.accumulate_grad_batches}}'
    if not keeping.detached:
        return f"\n    {given}\n" if keeping.whole else given
    detach = ("torch.Tensor", "torch.Tensor.detach")
    if not keeping.whole:
        return f"apply_to_collection({', '.join((given, *detach))})"
    lines = "".join(f"        {each},\n" for each in (given, *detach))
    return f"\n    apply_to_collection(\n{lines}    )\n"


def _made(node: cst.ClassDef, item: ClassNode, stage: Stage, keeping: OutputKeeping) -> cst.ClassDef:
    """The class with the list made in its constructor, or when the epoch starts."""
    if not keeping.start:
        return edits.change_method(
            node, "__init__", lambda init: edits.after_super_init(init, f"self.{stage.kept} = []\n")
        )
    loaders = f"self.trainer.num_{'test' if stage.step == 'test_step' else 'val'}_batches"
    made = f"self.{stage.kept} = {f'[[] for _ in {loaders}]' if keeping.several else '[]'}\n"
    if stage.start in item.methods:
        return edits.change_method(node, stage.start, lambda method: [edits.begun(method, made)])
    before = stage.step if stage.step in item.methods else stage.batch_end
    return _added(node, f"def {stage.start}(self):\n    {made}", before=before)


def ending(step: cst.FunctionDef, step_end: str) -> cst.FunctionDef:
    """The step with `self.step_end(...)` around what it returns."""

    def ended(line: cst.SimpleStatementLine, last: cst.Return) -> list[cst.BaseStatement] | None:
        if last.value is None:
            return None
        changed = last.with_changes(
            value=_ended(last.value, step_end), whitespace_after_return=cst.SimpleWhitespace(" ")
        )
        return [line.with_changes(body=[*line.body[:-1], changed])]

    return at_returns(step, ended)


def outside(method: cst.FunctionDef) -> cst.FunctionDef:
    """The method with all that it does outside of autocast."""
    body = edits.body_of(method)
    index = edits.after_docstring(body)
    name = method.params.params[0].name.value
    opening = f"with torch.autocast({name}.device.type, enabled=False):  # as Lightning 1.x called it"
    [region] = edits.statements(f"{opening}\n    pass\n")
    region = edits.with_body(region, body[index:])
    return edits.with_body(method, [*body[:index], region])  # type: ignore[no-any-return]


def giving_back(method: cst.FunctionDef, name: str, whole: bool) -> cst.FunctionDef:
    """The method with one of its parameters given back at each of its ends that has no value; `whole` where it never
    runs off its end."""

    def given(line: cst.SimpleStatementLine, last: cst.Return) -> list[cst.BaseStatement] | None:
        if last.value is not None and not m.matches(last.value, m.Name("None")):
            return None
        changed = last.with_changes(value=cst.Name(name), whitespace_after_return=cst.SimpleWhitespace(" "))
        return [line.with_changes(body=[*line.body[:-1], changed])]

    method = at_returns(method, given)
    body = edits.body_of(method)
    if whole:
        return method
    if m.matches(body[-1], m.SimpleStatementLine(body=[m.Pass()])):
        body = body[:-1]
    return edits.with_body(method, [*body, *edits.statements(f"return {name}\n")])  # type: ignore[no-any-return]


def _ended(value: cst.BaseExpression, step_end: str) -> cst.Call:
    """`self.step_end(value)`; the parentheses of a tuple are kept, those around the whole are not needed."""
    if isinstance(value, cst.Tuple) and not value.lpar:
        value = value.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    return cst.Call(func=cst.Attribute(cst.Name("self"), cst.Name(step_end)), args=[cst.Arg(value)])


def _keeping(step: cst.FunctionDef, item: ClassNode, stage: Stage, keeping: OutputKeeping) -> cst.FunctionDef:
    """The step with its result put on the list at every `return`."""
    pending = iter(returns(item.methods[stage.step]))

    def kept(line: cst.SimpleStatementLine, last: cst.Return) -> list[cst.BaseStatement] | None:
        found = next(pending)
        if found.value is None or last.value is None or is_none(found.value):
            return None
        return _kept_lines(line, last, found.value, item, stage, keeping)

    return at_returns(step, kept)


def _kept_lines(
    line: cst.SimpleStatementLine,
    last: cst.Return,
    value: ast.expr,
    item: ClassNode,
    stage: Stage,
    keeping: OutputKeeping,
) -> list[cst.BaseStatement]:
    step = item.methods[stage.step]
    named = isinstance(value, ast.Name) and not keeping.ends
    name = value.id if isinstance(value, ast.Name) and named else _free_name(step)
    lines: list[cst.BaseStatement] = []
    if not named:
        assert last.value is not None
        given = _ended(last.value, stage.step_end) if keeping.ends else last.value
        assign = edits.statements(f"{name} = None\n")[0]
        assign = assign.with_changes(body=[assign.body[0].with_changes(value=given)])  # type: ignore[index]
        lines.append(assign)
    index = f"[{_loader(step, 2)}]" if keeping.several else ""
    append = f"self.{stage.kept}{index}.append({name})\n"
    if not (keeping.ends or never_none(item, step, value)):
        append = f"if {name} is not None:\n    {append}"
    lines.extend(edits.statements(append))
    before = list(line.body[:-1])
    lines[0] = lines[0].with_changes(leading_lines=line.leading_lines)
    if before:
        before[-1] = edits.without_semicolon(before[-1])
        lines.insert(0, line.with_changes(body=before, trailing_whitespace=cst.TrailingWhitespace()))
        lines[1] = lines[1].with_changes(leading_lines=[])
    returned = last.with_changes(value=cst.Name(name), whitespace_after_return=cst.SimpleWhitespace(" "))
    lines.append(line.with_changes(body=[returned], leading_lines=[]))
    return lines


def _loader(method: Function, index: int) -> str:
    """A parameter that is the dataloader's index; what stands for it by default where there is one dataloader, which
    2.x gives no index, may be None."""
    names, defaults = parameters(method), method.args.defaults
    given = defaults[index - len(names)] if len(names) - index <= len(defaults) else None
    return f"{names[index]} or 0" if given is not None and is_none(given) else names[index]


def _free_name(step: Function) -> str:
    used = {name for node in walk(step) for name in _names(node)}
    return next(name for name in ("output", "result", "step_output", "returned") if name not in used)


def _names(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Name):
        return [node.id]
    if isinstance(node, ast.arg):
        return [node.arg]
    return node.names if isinstance(node, ast.Global | ast.Nonlocal) else []
