"""Hooks that 1.x called with the index of an optimizer: which of their parameters 2.x no longer gives."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from codemods.code.nodes import walk
from codemods.code.syntax import Function, is_super_call, parameters, uses
from codemods.rewrite.manual.optimizers import NotPlain

if TYPE_CHECKING:
    import libcst as cst

INDICES = ("optimizer_idx", "opt_idx", "optimizer_index", "opt_index", "optim_idx")
GONE_KEYWORDS = ("on_tpu", "using_native_amp", "using_lbfgs")


@dataclass(frozen=True)
class HookSignature:
    """A hook of 1.x: how many arguments it was called with, the positions of those that 2.x does not give, and the
    keywords that it was given besides; what was its first argument, which another stood before up to 0.9; and how 2.x
    calls what it gives at the first of those positions."""

    arguments: int
    gone: tuple[int, ...]
    keywords: tuple[str, ...] = ()
    first: str = ""
    now: str = ""


HOOKS = {
    "optimizer_step": HookSignature(5, (3,), GONE_KEYWORDS),
    "optimizer_zero_grad": HookSignature(4, (3,)),
    "on_before_optimizer_step": HookSignature(2, (1,)),
    "configure_gradient_clipping": HookSignature(4, (1,), now="gradient_clip_val"),
    "backward": HookSignature(3, (1, 2), first="loss"),
    "lr_scheduler_step": HookSignature(3, (1,), now="metric"),
}
CALLBACK_HOOKS = {"on_before_optimizer_step": HookSignature(4, (3,))}


def old_parameters(method: Function, hook: HookSignature) -> tuple[str, ...]:
    """The parameters that 2.x no longer gives a method which still has 1.x's signature; none where it has not.

    A hook that takes `*args` passes on whatever it gets, and has no old signature.
    """
    arguments = method.args
    names = parameters(method)
    spoken = [name for name in (*names, *(each.arg for each in arguments.kwonlyargs)) if name in hook.keywords]
    positional = [name for name in names if name not in hook.keywords]
    indexed = bool(set(positional) & set(INDICES))
    new = hook.now != "" and hook.now in positional[hook.gone[0] : hook.gone[0] + 1]
    if not indexed and (new or len(positional) < hook.arguments):
        return tuple(spoken)
    places = (0, *(index + 1 for index in hook.gone)) if _is_older(positional, hook) else hook.gone
    if max(places) >= len(positional):
        raise NotPlain("it does not take the arguments that 1.x gave it")
    gone = tuple(positional[index] for index in places)
    defaulted = set(names[len(names) - len(arguments.defaults) :]) if arguments.defaults else set()
    optional = hook.gone[-1] == hook.arguments - 1 and set(gone) <= defaulted
    if optional or (not indexed and any("closure" in name for name in gone)):
        return tuple(spoken)
    return (*gone, *spoken)


def _is_older(positional: list[str], hook: HookSignature) -> bool:
    """Whether a hook takes what releases up to 0.9 gave it."""
    if not hook.first or len(positional) < hook.arguments or hook.first in positional[0]:
        return False
    if hook.first not in positional[1] and len(positional) > hook.arguments:
        raise NotPlain(f"fixer cannot tell which of what it takes is the {hook.first}")
    return hook.first in positional[1]


def read_elsewhere(method: Function, name: str, dead: tuple[str, ...]) -> list[str]:
    """Those of some parameters that a method reads other than to hand them on to its base class."""
    handed = {id(use) for call in _super_calls(method, name) for use in _handed(call)}
    return [item for item in dead if any(id(use) not in handed for use in uses(method, item))]


def read_by_default(method: Function, hook: HookSignature) -> str | None:
    """A parameter for the index that 2.x leaves at its default, and that the method reads."""
    kept = set(parameters(method)) - set(old_parameters(method, hook))
    return next((name for name in INDICES if name in kept and uses(method, name)), None)


def index_parameter(method: Function, hook: HookSignature) -> str | None:
    """The parameter for the optimizer's index, None where the method has 2.x's signature or takes `*args`."""
    old = [name for name in old_parameters(method, hook) if name not in hook.keywords]
    return old[-1] if old else None


def _super_calls(method: Function, name: str) -> Iterator[ast.Call]:
    for node in walk(method):
        if is_super_call(node, name):
            yield node  # type: ignore[misc]


def _handed(call: ast.Call) -> Iterator[ast.expr]:
    yield from (item.value if isinstance(item, ast.Starred) else item for item in call.args)
    yield from (keyword.value for keyword in call.keywords)


def without_old(function: cst.FunctionDef, dead: tuple[str, ...], kept: tuple[str, ...] = ()) -> cst.FunctionDef:
    """The hook without the parameters `dead`, and without them, nor `kept`, in calls of its base class."""
    import libcst as cst
    import libcst.matchers as m

    from codemods.rewrite.edits import without_parameter

    called = m.Call(func=m.Attribute(value=m.Call(func=m.Name("super")), attr=m.Name(function.name.value)))

    def shorten(call: cst.CSTNode, _: Any) -> cst.CSTNode:
        args = cst.ensure_type(call, cst.Call).args
        left = [item for item in args if not m.matches(item.value, m.OneOf(*map(m.Name, (*dead, *kept))))]
        if left and left[-1] is not args[-1]:
            left[-1] = left[-1].with_changes(comma=args[-1].comma, whitespace_after_arg=args[-1].whitespace_after_arg)
        return call.with_changes(args=left)

    changed = cst.ensure_type(m.replace(function, called, shorten) if dead or kept else function, cst.FunctionDef)
    params = changed.params
    keywords = [item for item in params.kwonly_params if item.name.value not in dead]
    if len(keywords) < len(params.kwonly_params):
        star = params.star_arg if keywords else cst.MaybeSentinel.DEFAULT
        changed = changed.with_changes(params=params.with_changes(kwonly_params=keywords, star_arg=star))
    for name in dead:
        changed = without_parameter(changed, name)
    return changed
