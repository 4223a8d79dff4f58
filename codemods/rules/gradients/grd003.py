"""GRD003: an optimizer that gets frozen parameters and nothing else, or a frozen module by name."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from codemods.code.nodes import every_node, walk
from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import Function, is_false, is_made_frozen, is_self_attribute, own_nodes, self_name
from codemods.lightning.class_family import family, speaks
from codemods.lightning.facts import MODULE, ClassFact, Facts
from codemods.rewrite.advice import brief
from codemods.rule import Example, Match, Rule
from codemods.rules.gradients.optimized import assignments, given

CODE = "GRD003"
REGISTERS = ("add_module", "register_module", "register_parameter")
THAWS = re.compile(r"unfreeze|Finetuning|set_grad(?!_enabled\b)")
TOUCHES = re.compile(r"requires_grad|[Ff]reeze|Finetuning|set_grad|optimizer|parameter|setattr|__dict__")
"""What a relative speaks of that may thaw something, or give an optimizer something else."""
CALLBACKS = b"Callback"
THAWING = (b"BaseFinetuning", b"BackboneFinetuning", b"unfreeze", b"requires_grad = True", b"requires_grad_(True)")
ALL = (
    "all parameters that the optimizer gets are frozen: backward fails "
    "with `element 0 of tensors does not require grad`"
)
ONE = "`self.{}` is frozen and given to an optimizer by name: it is never trained"
ADVICE_ALL = "remove `{}`, or train something else too: parameters made after it are not frozen"
ADVICE_ONE = "remove `{}` if it should be trained, or leave it out of the optimizer"


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    for item, fact in () if _thawed_by_callbacks(facts) else facts.classes_of(file, MODULE):
        if not _is_shared(fact, facts) and not _thaws(item):
            yield from _class(file, item)


def _thaws(item: ClassNode) -> bool:
    """Whether anything in a class may make parameters trainable again."""
    for node in every_node(item.node):
        if THAWS.search(_named(node)):
            return True
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "requires_grad_" and not is_false(node):
            return True
        if isinstance(node, ast.keyword) and node.arg == "requires_grad" and not _is_false(node.value):
            return True
        if isinstance(node, ast.Attribute) and node.attr == "requires_grad_":
            called = any(isinstance(call, ast.Call) and call.func is node for call in every_node(item.node))
            if not called:
                return True
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            sets = any(isinstance(each, ast.Attribute) and each.attr == "requires_grad" for each in targets)
            if sets and not (node.value and _is_false(node.value)):
                return True
    return False


def _named(node: ast.AST) -> str:
    """The name that a node speaks of, or its text."""
    for name in ("id", "attr", "name", "arg", "value"):
        if isinstance(found := getattr(node, name, None), str):
            return found
    return ""


def _thawed_by_callbacks(facts: Facts) -> bool:
    """Whether a file with a callback makes parameters trainable."""
    callbacks = facts.mentions.get(CALLBACKS, frozenset())
    return any(callbacks & facts.mentions.get(word, frozenset()) for word in THAWING)


def _class(file: PythonFile, item: ClassNode) -> Iterator[Match]:
    found, init = given(item), item.methods.get("__init__")
    if found is None or not found.paths or init is None:
        return
    frozen = _frozen(item, init)
    covered = {path: place for path, _ in found.paths if (place := _freezes(item, init, frozen, path)) is not None}
    if covered and len(covered) == len({path for path, _ in found.paths}):
        place = next(iter(covered.values()))
        yield Match(file.span(place), ALL, "manual", ADVICE_ALL.format(brief(file, place)))
        return
    for path, node in found.paths:
        if path and path in covered:
            yield Match(file.span(node), ONE.format(path), "manual", ADVICE_ONE.format(brief(file, covered[path])))


def _is_shared(fact: ClassFact, facts: Facts) -> bool:
    """Whether relatives of the class may thaw what it freezes."""
    return any(speaks(facts, other, TOUCHES) for other in family(facts, fact))


def _frozen(item: ClassNode, init: Function) -> list[tuple[str, ast.stmt]]:
    """What a constructor freezes as a whole, on every way through it and in methods that it calls on every way: the
    path below the module, and where."""
    found = []
    for statement in init.body:
        path = _frozen_by(statement, self_name(init))
        if path is not None:
            found.append((path, statement))
        if (method := _called(item, statement, self_name(init))) is not None:
            inside = (_frozen_by(inner, self_name(method)) for inner in method.body)
            found += [(path, statement) for path in inside if path is not None]
    return found


def _called(item: ClassNode, statement: ast.stmt, me: str) -> Function | None:
    """The method of the class that a statement `self.method()` runs."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.args or call.keywords:
        return None
    return item.methods.get(call.func.attr) if is_self_attribute(call.func, call.func.attr, me) else None


def _frozen_by(statement: ast.stmt, me: str) -> str | None:
    """What `x.requires_grad_(False)`, `x.freeze()` or a loop over all of `x.parameters()` freezes."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        function = statement.value.func
        if not isinstance(function, ast.Attribute):
            return None
        path = _path(function.value, me)
        if function.attr == "requires_grad_" and is_false(statement.value):
            return path
        return path if function.attr == "freeze" and path == "" and not statement.value.args else None
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        return _path(statement.targets[0], me) if is_made_frozen(statement.value) else None
    if isinstance(statement, ast.For) and len(statement.body) == 1:
        call, target = statement.iter, statement.target
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)):
            return None
        pair = call.func.attr == "named_parameters" and isinstance(target, ast.Tuple)
        parameter = target.elts[-1] if pair and isinstance(target, ast.Tuple) else target
        if not (pair or call.func.attr == "parameters") or not isinstance(parameter, ast.Name):
            return None
        return _path(call.func.value, me) if _turns_off(statement.body[0], parameter.id) else None
    return None


def _turns_off(statement: ast.stmt, name: str) -> bool:
    """`name.requires_grad = False` or `name.requires_grad_(False)`."""
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target, value = statement.targets[0], statement.value
        return is_self_attribute(target, "requires_grad", name) and _is_false(value)
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and is_self_attribute(call.func, "requires_grad_", name) and is_false(call)


def _is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is False


def _path(node: ast.expr, me: str) -> str | None:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join(reversed(parts)) if isinstance(node, ast.Name) and node.id == me else None


def _freezes(item: ClassNode, init: Function, frozen: list[tuple[str, ast.stmt]], path: str) -> ast.stmt | None:
    """The statement that freezes all that lies under a path, with nothing put there afterwards."""
    for root, place in frozen:
        if root in ("", path) or path.startswith(f"{root}."):
            late = _put_later(item, init, path, place)
            if not late:
                return place
    return None


def _put_later(item: ClassNode, init: Function, path: str, place: ast.stmt) -> bool:
    """Whether something is assigned below a path after a statement of the constructor, or in another method."""
    for method in item.methods.values():
        me = self_name(method)
        for node in own_nodes(method):
            if isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
                inner = node.value if isinstance(node, ast.Subscript) else node
                stored = _path(inner, me)
                if stored is None or not (
                    not path or stored == path or stored.startswith(f"{path}.") or path.startswith(f"{stored}.")
                ):
                    continue
                if method is not init and not (path == "" and _is_plain(item, stored)):
                    return True
                if method is init and node.lineno > place.lineno and not _is_plain(item, stored):
                    return True
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in REGISTERS:
                return True
    return any(isinstance(node, ast.Name) and node.id in ("setattr", "get_peft_model") for node in walk(item.node))


def _is_plain(item: ClassNode, stored: str) -> bool:
    """Whether an attribute holds no module: only numbers, strings and names of parameters are put there."""
    values = [value for _, _, value in assignments(item, stored)]
    return bool(values) and all(
        isinstance(value, ast.Constant | ast.List | ast.Dict | ast.Compare | ast.BinOp | ast.JoinedStr)
        for value in values
    )


_TOP = """\
import torch
from lightning.pytorch import LightningModule


class Model(LightningModule):
    def __init__(self, backbone):
        super().__init__()
        self.backbone = backbone
        self.backbone.requires_grad_(False)
        self.head = torch.nn.Linear(4, 1)

    def configure_optimizers(self):
"""
_HEAD = _TOP + "        return torch.optim.Adam(self.head.parameters())\n"
_ALL = _TOP + "        return torch.optim.Adam(self.parameters())\n"
_ONE = _TOP + "        return torch.optim.Adam(self.backbone.parameters())\n"

RULE = Rule(
    code=CODE,
    name="frozen-parameters",
    summary="an optimizer that gets only frozen parameters, or a frozen module by name, is found",
    why=(
        "`requires_grad_(False)` on what the optimizer is to train ends in 'element 0 of tensors does not require "
        "grad', or, where other parameters keep the loss differentiable, in a module that is listed with a learning "
        "rate of its own and never moves. A frozen backbone beside a head that is trained is what it should be, and "
        "classes that thaw again are left alone."
    ),
    fix="manual",
    versions="every Lightning",
    triggers=(b"requires_grad", b".freeze("),
    check=_check,
    present=lambda file: "configure_optimizers" in file.text,
    mentions=(CALLBACKS, *THAWING),
    examples=(Example(_ONE, _ONE), Example(_ALL, _ALL), Example(_HEAD, _HEAD)),
)
