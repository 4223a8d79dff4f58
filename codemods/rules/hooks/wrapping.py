"""A module's own `configure_ddp`, which wrapped it for distributed training, as DDPStrategy does now."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from codemods.code.scopes import Scope
from codemods.code.syntax import Function, parameters

if TYPE_CHECKING:
    import libcst as cst

HOOK = "configure_ddp"
WRAPPERS = ("LightningDistributedDataParallel", "DistributedDataParallel")
TAKEN = ("module", "device_ids")
UNUSED = "find_unused_parameters"
AS_NOW = "DDP wraps the module so by itself, and looks for no unused parameters since 2.0."
LOOKING = (
    f'It only makes DDP look for unused parameters: delete it, and give the Trainer strategy="ddp_{UNUSED}_true" '
    'where it says "ddp"'
)


def looks_for_unused(method: Function, scope: Scope) -> bool | None:
    """Whether DDP is told to look for unused parameters by a hook that does nothing else than to wrap the module in it;
    None for any other hook."""
    names = parameters(method)
    call = _returned(method)
    if call is None or len(names) != 2 or (scope.resolve(call.func) or "").rpartition(".")[2] not in WRAPPERS:
        return None
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    given |= dict(zip(TAKEN, call.args, strict=False))
    unused = given.pop(UNUSED, ast.Constant(False))
    plain = {name: ast.unparse(value) for name, value in given.items()} == dict(zip(TAKEN, names, strict=True))
    told = unused.value if isinstance(unused, ast.Constant) else None
    return told if plain and isinstance(told, bool) else None


def _returned(method: Function) -> ast.Call | None:
    """The call whose result a method returns, where it does nothing besides."""
    body = [item for item in method.body if not (isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant))]
    if not body or not isinstance(body[-1], ast.Return):
        return None
    value: ast.expr | None = body[-1].value
    if len(body) == 2 and isinstance(body[0], ast.Assign) and isinstance(value, ast.Name):
        same = [ast.unparse(target) for target in body[0].targets] == [value.id]
        value = body[0].value if same else None
    elif len(body) != 1:
        return None
    return value if isinstance(value, ast.Call) else None


def gone(node: cst.FunctionDef) -> cst.RemovalSentinel:
    """The change that takes the hook out."""
    import libcst as cst

    return cst.RemoveFromParent()
