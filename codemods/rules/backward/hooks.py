"""Hooks on gradients: which function a registration names, and what that function does with what it gets."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import Literal

from codemods.code.calls import innermost, last_name
from codemods.code.nodes import every_node, walk
from codemods.code.source import CallNode, PythonFile
from codemods.code.syntax import Function, is_none, is_of_self, own_nodes

Use = Literal["reads", "steps"]
AnyFunction = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@dataclass(frozen=True)
class GradientHook:
    """The function behind a hook: how many arguments are bound before the ones that the hook is called with,
    the expressions they are bound to, and the factory or `partial` that binds them."""

    function: AnyFunction
    given: tuple[ast.expr, ...] = ()
    through: str = ""
    factory: Function | None = None

    def parameters(self) -> list[str]:
        """The names that are left for what the hook is called with; `self` and what is bound are left out."""
        arguments = self.function.args
        names = [item.arg for item in [*arguments.posonlyargs, *arguments.args]]
        return names[len(self.given) if self.through == "partial" else 0 :]

    def stands_for(self, name: str) -> list[str]:
        """The names by which the function knows the plain name at the registration."""
        if self.through == "partial":
            arguments = self.function.args
            names = [item.arg for item in [*arguments.posonlyargs, *arguments.args]]
            pairs = zip(names, self.given, strict=False)
        elif self.factory:
            names = [item.arg for item in self.factory.args.args]
            pairs = zip(names[-len(self.given) :] if self.given else [], self.given, strict=False)
        else:
            own = self.default_for(name)
            return [own] if own else [] if name in self._taken() else [name]
        return [known for known, value in pairs if isinstance(value, ast.Name) and value.id == name]

    def default_for(self, name: str) -> str | None:
        """The parameter that the plain name at the registration is bound to: `lambda grad, p=p: ...`."""
        if self.through:
            return None
        arguments = self.function.args
        names = [item.arg for item in [*arguments.posonlyargs, *arguments.args]]
        given = names[len(names) - len(arguments.defaults) :]
        kept = [item.arg for item in arguments.kwonlyargs]
        pairs = zip([*given, *kept], [*arguments.defaults, *arguments.kw_defaults], strict=True)
        return next((known for known, value in pairs if isinstance(value, ast.Name) and value.id == name), None)

    def _taken(self) -> set[str]:
        return {node.arg for node in walk(self.function.args) if isinstance(node, ast.arg)}

    def needed(self) -> int:
        """How many arguments the hook has to be called with."""
        return len(self.parameters()) - len(self.function.args.defaults)


def find_hook(node: ast.expr, call: CallNode, file: PythonFile) -> GradientHook | None:
    """The function that is registered: by name, as a lambda, through `partial`, or made by a factory."""
    if isinstance(node, ast.Lambda):
        return GradientHook(node)
    if isinstance(node, ast.Name | ast.Attribute):
        function = _function(node, call, file)
        return GradientHook(function) if function else None
    if not isinstance(node, ast.Call) or any(isinstance(item, ast.Starred) for item in node.args):
        return None
    if call.scope.resolve(node.func) == "functools.partial" and node.args:
        function = _function(node.args[0], call, file)
        if function is None:
            return None
        bound = tuple(node.args[1:])
        if is_of_self(node.args[0]):
            bound = (ast.Name("self"), *bound)
        return GradientHook(function, bound, "partial")
    factory = _function(node.func, call, file)
    made = _made_by(factory) if factory else None
    return GradientHook(made, tuple(node.args), "factory", factory) if made else None


def _function(node: ast.expr, call: CallNode, file: PythonFile) -> Function | None:
    """The one function of the file that a name or `self.name` stands for at a call."""
    if isinstance(node, ast.Name):
        for place in [*reversed(call.within), file.tree]:
            found = [
                item
                for item in own_nodes(place)
                if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef) and item.name == node.id
            ]
            if found and not isinstance(place, ast.ClassDef):
                return found[0] if len(found) == 1 else None
        return None
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        owner = innermost(call.within, ast.ClassDef)
        if owner and node.value.id in ("self", "cls", owner.name):
            return next(
                (item for item in owner.body if isinstance(item, ast.FunctionDef) and item.name == node.attr), None
            )
    return None


def _made_by(factory: Function) -> AnyFunction | None:
    """The function that a factory defines and returns."""
    last = factory.body[-1]
    if not isinstance(last, ast.Return):
        return None
    if isinstance(last.value, ast.Lambda):
        return last.value
    inner = [item for item in factory.body if isinstance(item, ast.FunctionDef)]
    if len(inner) == 1 and isinstance(last.value, ast.Name) and last.value.id == inner[0].name:
        return inner[0]
    return None


def body_of(function: AnyFunction) -> list[ast.AST]:
    """Every node of what a function does."""
    if isinstance(function, ast.Lambda):
        return list(every_node(function.body))
    return [node for statement in function.body for node in every_node(statement)]


def reads(function: AnyFunction, name: str) -> bool:
    """Whether a function reads a plain name."""
    return any(
        isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load) for node in body_of(function)
    )


def reads_gradient(function: AnyFunction, name: str) -> bool:
    """Whether a function reads `name.grad`."""
    return any(
        isinstance(node, ast.Attribute)
        and node.attr == "grad"
        and isinstance(node.ctx, ast.Load)
        and isinstance(node.value, ast.Name)
        and node.value.id == name
        for node in body_of(function)
    )


def followed(hook: GradientHook, name: str, call: CallNode, file: PythonFile) -> list[tuple[AnyFunction, str]]:
    """The function of a hook, and those of the file that it hands the parameter `name` to, with what each calls it."""
    seen: list[tuple[AnyFunction, str]] = [(hook.function, name)]
    for node in body_of(hook.function):
        if isinstance(node, ast.Call) and (called := _function(node.func, call, file)) is not None:
            names = [item.arg for item in called.args.args][1 if is_of_self(node.func) else 0 :]
            pairs = zip(names, node.args, strict=False)
            seen += [(called, own) for own, given in pairs if isinstance(given, ast.Name) and given.id == name]
    return seen


def looks_at(hook: GradientHook, name: str, call: CallNode, file: PythonFile) -> bool:
    """Whether the function of a hook reads a parameter, or hands it to one of the file that does, or is not seen."""
    own, *others = followed(hook, name, call, file)
    spoken = [node for node in body_of(own[0]) if isinstance(node, ast.Name) and node.id == name]
    return len(spoken) > len(others) or any(reads(each, known) for each, known in others)


def called_by(hook: GradientHook, call: CallNode, file: PythonFile) -> list[AnyFunction]:
    """The functions of the file that the function of a hook calls."""
    called = (_function(node.func, call, file) for node in body_of(hook.function) if isinstance(node, ast.Call))
    return [function for function in called if function is not None]


def use_of(seen: list[tuple[AnyFunction, str]]) -> Use | None:
    """What those functions do with what is accumulated: they read it, or step an optimizer of its own with it."""
    if any(reads_gradient(each, name) for each, name in seen):
        return "reads"
    return "steps" if any(_steps_own(each, name) for each, name in seen) else None


def _steps_own(function: AnyFunction, name: str) -> bool:
    """Whether a function steps what is kept for a parameter, `optimizers[p].step()`, or what it also zeroes."""
    calls = [
        node
        for node in body_of(function)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.args
    ]
    owners = {kind: [node.func.value for node in calls if node.func.attr == kind] for kind in ("step", "zero_grad")}  # type: ignore[attr-defined]
    zeroed = {ast.dump(owner) for owner in owners["zero_grad"]}
    return any(
        ast.dump(owner) in zeroed
        or (isinstance(owner, ast.Subscript) and isinstance(owner.slice, ast.Name) and owner.slice.id == name)
        for owner in owners["step"]
    )


def gives_back(function: AnyFunction) -> list[ast.expr]:
    """What a function returns, None left out; of a lambda not what a call gives, which may be there for its effect, but
    for the methods of tensors that change them in place, which give the tensor."""
    if isinstance(function, ast.Lambda):
        called = function.body.func if isinstance(function.body, ast.Call) else None
        changes = isinstance(called, ast.Attribute) and _IN_PLACE.fullmatch(called.attr)
        return [function.body] if (called is None and not is_none(function.body)) or changes else []
    return [
        node.value
        for node in own_nodes(function)
        if isinstance(node, ast.Return)
        and node.value is not None
        and not (isinstance(node.value, ast.Constant) and node.value.value is None)
    ]


_IN_PLACE = re.compile(r"[a-z]\w*[a-z0-9]_")
_NOTHING = frozenset({
    "add_histogram", "add_scalar", "append", "clear", "debug", "extend", "info", "insert", "log", "print", "put",
    "setattr", "step", "update", "warning", "zero_grad",
})  # fmt: skip
"""Functions and methods that are called for their effect, and give None."""


def may_give_back(hook: GradientHook, call: CallNode, file: PythonFile) -> ast.expr | None:
    """The call that is the whole of a lambda, where it is not known to give None."""
    body = hook.function.body
    if not isinstance(hook.function, ast.Lambda) or not isinstance(body, ast.Call):
        return None
    own = _function(body.func, call, file)
    if own is not None:
        return body if gives_back(own) else None
    reduced = call.scope.resolve(body.func) == "torch.distributed.all_reduce"
    if reduced and not any(item.arg == "async_op" for item in body.keywords):
        return None
    return None if last_name(body.func) in _NOTHING else body


def asks_first(function: AnyFunction, name: str) -> bool:
    """Whether a function asks whether `name.grad` is None, and so ran without failing."""
    return any(
        isinstance(node, ast.Compare)
        and isinstance(node.left, ast.Attribute)
        and node.left.attr == "grad"
        and isinstance(node.left.value, ast.Name)
        and node.left.value.id == name
        for node in body_of(function)
    )


def takes_anything(hook: GradientHook) -> bool:
    """Whether a hook takes any number of arguments and reads none of them."""
    arguments = hook.function.args
    return (
        arguments.vararg is not None
        and not hook.parameters()
        and not arguments.kwonlyargs
        and not reads(hook.function, arguments.vararg.arg)
    )
