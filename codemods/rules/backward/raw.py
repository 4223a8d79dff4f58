"""One raw backward call: what becomes of it, or why it stays."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from codemods.code.calls import last_name
from codemods.code.nodes import every_node
from codemods.code.scopes import Scope
from codemods.code.source import CallNode, ClassNode, PythonFile
from codemods.code.syntax import Function, self_assignments, self_name
from codemods.finding import Fix
from codemods.rules.backward.names import MethodNames

if TYPE_CHECKING:
    import libcst as cst

AUTOGRAD = "torch.autograd.backward"
SCALERS = ("torch.cuda.amp.GradScaler", "torch.amp.GradScaler", "torch.amp.grad_scaler.GradScaler")
SCALE_LOSS = "apex.amp.scale_loss"
KEPT = frozenset({"gradient", "retain_graph", "create_graph", "inputs"})
WAS_ONE = "The optimizer was an argument before Lightning 1.2; 2.x passes it on to backward() as the gradient."
SAME = "self.manual_backward scales the loss and prepares data parallelism, then calls backward with these arguments."


@dataclass(frozen=True)
class RawBackward:
    """A raw backward call. `change` is the edit (None: there is none), `alone` says that it says nothing
    about the other calls of its class, `own_scaler` that it goes through a GradScaler of the module's own; `apex` is
    the `with` that scales it, which the edit is one of."""

    call: CallNode
    level: Fix
    reason: str
    change: Callable[[Any], Any] | None = None
    alone: bool = False
    own_scaler: bool = False
    apex: ast.With | None = None


def read_raw(call: CallNode, item: ClassNode, method: Function, names: MethodNames) -> RawBackward | None:
    """What to do with a call inside a method that trains; None where it is no raw backward."""
    node = call.node
    if call.scope.resolve(node.func) == AUTOGRAD:
        return _autograd(call, method, names)
    if not isinstance(node.func, ast.Attribute):
        return None
    receiver = node.func.value
    own = self_name(method)
    if node.func.attr == "manual_backward" and isinstance(receiver, ast.Name) and receiver.id == own:
        return _with_optimizer(call, names, method)
    if node.func.attr != "backward":
        return None
    if isinstance(receiver, ast.Name) and receiver.id == own:
        return _own(call, names)
    return _tensor(call, item, method, names, receiver)


def on_tensor(file: PythonFile, node: ast.Call, item: ClassNode, method: Function) -> bool:
    """Whether a call is `self.manual_backward(...)`, or a raw one that is plainly made on a tensor."""
    if isinstance(node.func, ast.Attribute) and node.func.attr == "manual_backward":
        return True
    call = next(found for found in file.calls if found.node is node)
    raw = read_raw(call, item, method, MethodNames(method))
    return raw is not None and raw.change is not None


def _with_optimizer(call: CallNode, names: MethodNames, method: Function) -> RawBackward | None:
    """`self.manual_backward(loss, optimizer)`, as it was written for Lightning before 1.2."""
    given = _extra_optimizers(call.node, names) or int(_is_stepped(call.node, method))
    if given or any(item.arg == "optimizer" for item in call.node.keywords):
        return RawBackward(call, "safe", WAS_ONE, lambda node: without_extra(_without_keyword(node), given), alone=True)
    if len(call.node.args) == 2 and "opt" in (last_name(call.node.args[1]) or "").lower():
        return RawBackward(
            call, "manual", f"Not rewritten: fixer cannot tell whether it is one. {WAS_ONE} Delete it.", alone=True
        )
    return None


def _is_stepped(call: ast.Call, method: Function) -> bool:
    """Whether a method steps, or zeroes the gradients of, what a call is given behind the loss alone."""
    if len(call.args) != 2 or isinstance(call.args[1], ast.Starred):
        return False
    called = [node.func for node in every_node(method) if isinstance(node, ast.Call)]
    owners = [node.value for node in called if isinstance(node, ast.Attribute) and node.attr in ("step", "zero_grad")]
    return any(ast.dump(owner) == ast.dump(call.args[1]) for owner in owners)


def _extra_optimizers(call: ast.Call, names: MethodNames) -> int:
    """How many arguments behind the loss only name an optimizer and its number."""
    if len(call.args) < 2 or any(isinstance(item, ast.Starred) for item in call.args):
        return 0
    if not names.is_optimizer(call.args[1]):
        return 0
    index = call.args[2] if len(call.args) == 3 else None
    return 2 if isinstance(index, ast.Constant) and index.value in (None, 0, 1) else 1


def _own(call: CallNode, names: MethodNames) -> RawBackward | None:
    given = _extra_optimizers(call.node, names)
    kept = len(call.node.args) - given
    loss_keyword = any(keyword.arg in ("loss", "tensor") for keyword in call.node.keywords)
    if kept + loss_keyword < 1:
        return RawBackward(call, "manual", "It has no loss as its first argument.")
    reason = "self.backward is the hook that manual_backward calls: by itself it skips loss scaling and DDP."
    return RawBackward(call, "safe", reason, lambda node: renamed(without_extra(node, given)))


def _autograd(call: CallNode, method: Function, names: MethodNames) -> RawBackward:
    node = call.node
    keywords = {keyword.arg for keyword in node.keywords}
    if not node.args or len(node.args) > 1 or not keywords <= {"retain_graph", "create_graph", "inputs"}:
        return RawBackward(
            call, "manual", "Its arguments do not fit self.manual_backward: write one call for each loss."
        )
    given = node.args[0]
    own = self_name(method)
    if isinstance(given, ast.List | ast.Tuple):
        if not given.elts or any(isinstance(item, ast.Starred) for item in given.elts):
            return RawBackward(
                call, "manual", "Its tensors are not all written out: call self.manual_backward with their sum."
            )
        reason = "Each loss is a single number: backward of several losses is that of their sum."
        return RawBackward(call, "safe", reason, lambda item: from_autograd(item, own, summed=True))
    values = names.bound.get(given.id, []) if isinstance(given, ast.Name) else []
    several = any(not item.whole or isinstance(item.value, ast.List | ast.Tuple | ast.ListComp) for item in values)
    if several:
        return RawBackward(call, "manual", "It may be given several tensors: call self.manual_backward with their sum.")
    reason = f"{SAME} If the argument is a list of losses, give it their sum instead."
    return RawBackward(call, "unsafe", reason, lambda item: from_autograd(item, own, summed=False))


def _tensor(
    call: CallNode, item: ClassNode, method: Function, names: MethodNames, receiver: ast.expr
) -> RawBackward | None:
    node = call.node
    if isinstance(receiver, ast.Call) and isinstance(receiver.func, ast.Attribute) and receiver.func.attr == "scale":
        return _scaled(call, item, method, names, receiver.func.value)
    origin = _origin(receiver, names)
    if isinstance(origin, ast.Call) and call.scope.resolve(origin.func) == SCALE_LOSS:
        return _by_apex(call, method, origin)
    if len(node.args) > 1 or not {keyword.arg for keyword in node.keywords} <= KEPT:
        return None
    known = _is_tensor(receiver, item, method, names, call.scope)
    if known is None or (node.args and not (isinstance(receiver, ast.Name) and receiver.id in names.bound)):
        return None
    if not known or (node.args and not (call.scope.resolve(_function(node.args[0])) or "").startswith("torch.")):
        reason = (
            "fixer cannot tell from the class whether this is a tensor; if it is, call self.manual_backward with it."
        )
        return RawBackward(call, "manual", reason)
    own = self_name(method)
    return RawBackward(call, "safe", SAME, lambda changed: from_tensor(changed, own))


def _by_apex(call: CallNode, method: Function, scaled: ast.Call) -> RawBackward:
    """`with amp.scale_loss(loss, optimizer) as scaled: scaled.backward()`."""
    region = next(
        (
            node
            for node in every_node(method)
            if isinstance(node, ast.With)
            and len(node.items) == len(node.body) == 1
            and node.items[0].context_expr is scaled
            and isinstance(node.body[0], ast.Expr)
            and node.body[0].value is call.node
            and node.body[0].lineno > (scaled.end_lineno or scaled.lineno)
        ),
        None,
    )
    if region is None or len(scaled.args) != 2 or scaled.keywords or isinstance(scaled.args[0], ast.Starred):
        reason = (
            "amp.scale_loss of apex: let the Trainer scale (precision) and call self.manual_backward(loss) instead."
        )
        return RawBackward(call, "manual", reason)
    own = self_name(method)
    reason = (
        "Lightning 2 no longer calls amp.initialize of apex, without which amp.scale_loss fails; it scales the loss "
        'itself if the Trainer is given precision="16-mixed".'
    )
    return RawBackward(call, "unsafe", reason, lambda node: from_apex(node, own), apex=region)


def _function(node: ast.expr) -> ast.expr:
    return node.func if isinstance(node, ast.Call) else node


def _origin(node: ast.expr, names: MethodNames) -> ast.expr | None:
    """The one value that a name is bound to."""
    values = names.bound.get(node.id, []) if isinstance(node, ast.Name) else []
    return values[0].value if len(values) == 1 else None


_DISPLAYS = (ast.List, ast.Tuple, ast.Set, ast.Dict, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_COMPUTED = (ast.BinOp, ast.UnaryOp, ast.Subscript, ast.IfExp, ast.NamedExpr, *_DISPLAYS)


def _is_tensor(
    node: ast.expr, item: ClassNode, method: Function, names: MethodNames, scope: Scope, depth: int = 0
) -> bool | None:
    """Whether an expression is something computed in a step, or a collection of such; None where it certainly
    is not, False where it cannot be told."""
    own = self_name(method)
    if isinstance(node, ast.Name):
        values = [value.value for value in names.bound.get(node.id, []) if not isinstance(value.value, ast.Constant)]
        if not values:
            return True if node.id in names.parameters and node.id != own else None
        if names.is_optimizer(node):
            return None
        return depth < 5 and all(_is_tensor(value, item, method, names, scope, depth + 1) for value in values)
    if isinstance(node, ast.Attribute):
        if isinstance(node.value, ast.Name) and node.value.id == own:
            others = (function for name, function in item.methods.items() if name != "__init__")
            return any(self_assignments(function, node.attr) for function in others)
        return not _on_self(node, own)
    if isinstance(node, ast.Call):
        called = node.func
        return None if isinstance(called, ast.Name) and called.id == "super" else True
    return isinstance(node, _COMPUTED)


def _on_self(node: ast.expr, own: str) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and node.id == own


def _scaled(call: CallNode, item: ClassNode, method: Function, names: MethodNames, scaler: ast.expr) -> RawBackward:
    own = self_name(method)
    if not any(built in SCALERS for built in built_by(scaler, item, method, names, call.scope)):
        reason = "What scales the loss is not known: let the Trainer scale it, and call self.manual_backward(loss)."
        return RawBackward(call, "manual", reason)
    reason = (
        "The module's own GradScaler goes on scaling, under a Trainer that does not; manual_backward adds what data "
        "parallelism needs."
    )
    return RawBackward(call, "safe", reason, lambda node: from_tensor(node, own), own_scaler=True)


def built_by(node: ast.expr, item: ClassNode, method: Function, names: MethodNames, scope: Scope) -> set[str]:
    """What builds the object that a name, or an attribute of the instance, holds."""
    own = self_name(method)
    values: list[ast.expr | None] = []
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == own:
        for function in item.methods.values():
            values.extend(found.value for found in self_assignments(function, node.attr))
    elif isinstance(node, ast.Name):
        values.extend(found.value for found in names.bound.get(node.id, []) if found.whole)
    return {scope.resolve(value.func) or "" for value in values if isinstance(value, ast.Call)}


def renamed(node: cst.Call) -> cst.Call:
    """`self.backward(...)` as `self.manual_backward(...)`."""
    import libcst as cst

    return node.with_deep_changes(node.func, attr=cst.Name("manual_backward"))


def _without_keyword(node: cst.Call) -> cst.Call:
    """The call without `optimizer=`."""
    kept = [argument for argument in node.args if not (argument.keyword and argument.keyword.value == "optimizer")]
    return _ending_alike(node, kept)


def without_extra(node: cst.Call, count: int) -> cst.Call:
    """The call without `count` arguments behind the first one."""
    return _ending_alike(node, [node.args[0], *node.args[1 + count :]])


def _ending_alike(node: cst.Call, kept: list[cst.Arg]) -> cst.Call:
    """The call with some of its arguments, the last of them with the comma and the space behind the last there was."""
    if kept[-1] is not node.args[-1]:
        last = node.args[-1]
        kept[-1] = kept[-1].with_changes(comma=last.comma, whitespace_after_arg=last.whitespace_after_arg)
    return node.with_changes(args=kept)


def from_tensor(node: cst.Call, own: str) -> cst.Call:
    """`loss.backward(...)` as `self.manual_backward(loss, ...)`; parentheses over several lines become the call's."""
    import libcst as cst

    value = cst.ensure_type(node.func, cst.Attribute).value
    if bare(value).lpar and len(value.lpar) == 1 and not node.args and not isinstance(value, cst.Tuple):
        first = cst.Arg(value.with_changes(lpar=[], rpar=[]), whitespace_after_arg=value.rpar[0].whitespace_before)
        return node.with_changes(func=_manual(own), args=[first], whitespace_before_args=value.lpar[0].whitespace_after)
    return node.with_changes(func=_manual(own), args=[cst.Arg(bare(value)), *node.args])


def from_apex(node: cst.With, own: str) -> cst.BaseStatement:
    """`with amp.scale_loss(loss, optimizer) as scaled: scaled.backward(...)` as `self.manual_backward(loss, ...)`."""
    import libcst as cst

    loss = cst.ensure_type(node.items[0].item, cst.Call).args[0].value
    line = cst.ensure_type(node.body.body[0], cst.SimpleStatementLine)
    call = cst.ensure_type(cst.ensure_type(line.body[0], cst.Expr).value, cst.Call)
    changed = call.with_changes(func=_manual(own), args=[cst.Arg(bare(loss)), *call.args])
    return line.with_changes(leading_lines=node.leading_lines, body=[cst.Expr(changed)])


def from_autograd(node: cst.Call, own: str, summed: bool) -> cst.Call:
    """`torch.autograd.backward(loss, ...)` as `self.manual_backward(loss, ...)`."""
    import libcst as cst

    first = node.args[0]
    if summed:
        elements = [item.value for item in cst.ensure_type(first.value, cst.List | cst.Tuple).elements]  # type: ignore[arg-type]
        total = elements[0]
        for element in elements[1:]:
            total = cst.BinaryOperation(operand(total), cst.Add(), operand(element))
        first = first.with_changes(value=total)
    return node.with_changes(func=_manual(own), args=[first, *node.args[1:]])


def _manual(own: str) -> cst.Attribute:
    import libcst as cst

    return cst.Attribute(cst.Name(own), cst.Name("manual_backward"))


def bare(node: cst.BaseExpression) -> cst.BaseExpression:
    """The expression without parentheses that an argument does not need, where they hold no line break."""
    import libcst as cst

    spaces = [*(item.whitespace_after for item in node.lpar), *(item.whitespace_before for item in node.rpar)]
    plain = all(isinstance(space, cst.SimpleWhitespace) for space in spaces)
    if not plain or isinstance(node, cst.GeneratorExp | cst.Tuple | cst.NamedExpr | cst.Yield):
        return node
    return node.with_changes(lpar=[], rpar=[])


def operand(node: cst.BaseExpression) -> cst.BaseExpression:
    """The expression as one side of a sum."""
    import libcst as cst

    simple = cst.Name | cst.Attribute | cst.Call | cst.Subscript | cst.Integer | cst.Float
    if isinstance(node, simple) or node.lpar:
        return node
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Add | cst.Multiply | cst.Divide):
        return node
    return node.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
