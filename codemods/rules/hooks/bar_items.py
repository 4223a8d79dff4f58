"""`get_progress_bar_dict` of a module that only leaves something out of the bar, as `v_num`."""

from __future__ import annotations

import ast

from codemods.code.syntax import Function, is_super_call

HOOKS = ("get_progress_bar_dict", "get_tqdm_dict")


def left_out(method: Function) -> tuple[str, ...]:
    """The items that a method takes out of what its base gives, where it does nothing else; none where it does."""
    body = method.body[1:] if ast.get_docstring(method) is not None else method.body
    if len(body) < 3 or method.decorator_list:
        return ()
    first, *lines, last = body
    if not (isinstance(first, ast.Assign) and len(first.targets) == 1 and _is_of_base(first.value, method.name)):
        return ()
    name = ast.unparse(first.targets[0])
    if not isinstance(first.targets[0], ast.Name) or ast.unparse(last) != f"return {name}":
        return ()
    found = [_item(line, name) for line in lines]
    return tuple(item for item in found if item) if all(found) else ()


def _is_of_base(value: ast.expr, hook: str) -> bool:
    """Whether an expression is what the class above gives for the hook."""
    return is_super_call(value, hook) and isinstance(value, ast.Call) and not (value.args or value.keywords)


def _item(line: ast.stmt, name: str) -> str | None:
    """The item that a statement takes out of a dictionary, be it where it is there."""
    if isinstance(line, ast.If) and len(line.body) == 1 and not line.orelse:
        item = _item(line.body[0], name)
        return item if item is not None and ast.unparse(line.test) == f"{item!r} in {name}" else None
    key: ast.expr | None = None
    if isinstance(line, ast.Delete) and len(line.targets) == 1 and isinstance(line.targets[0], ast.Subscript):
        key = line.targets[0].slice if ast.unparse(line.targets[0].value) == name else None
    elif isinstance(line, ast.Expr) and isinstance(line.value, ast.Call) and line.value.args:
        key = line.value.args[0] if ast.unparse(line.value.func) == f"{name}.pop" else None
    return key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else None
