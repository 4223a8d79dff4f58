"""Predictions of the batches of an epoch, joined by its last hook: what the step of that stage gave for each."""

from __future__ import annotations

import ast

from codemods.code.syntax import is_bound, is_name, own_nodes, parameters, results, self_name, uses
from codemods.rules.metrics.prediction_steps import Method, resolved

JOINING = ("torch.cat", "torch.concat", "torch.concatenate")
STAGES = {"training": "train", "validation": "validation", "test": "test"}


def collected(expr: ast.Call, method: Method) -> tuple[ast.expr, Method] | None:
    """What a step gives for each batch where a hook joins it, and the step: `torch.cat([x["preds"] for x in outputs])`;
    None where anything else may be joined, or put into its place on the way."""
    if resolved(expr.func, method) not in JOINING or len(expr.args) != 1:
        return None
    if any(item.arg != "dim" or ast.unparse(item.value) != "0" for item in expr.keywords):
        return None
    found = _gathered(expr.args[0])
    step = _step_of(found[0], method) if found else None
    value = _given(step, found[1]) if step and found else None
    return (value, step) if value is not None and step is not None else None


def _gathered(made: ast.expr) -> tuple[str, object] | None:
    """The name and the key of `[x["preds"] for x in outputs]`."""
    if not isinstance(made, ast.ListComp) or len(made.generators) != 1 or made.generators[0].ifs:
        return None
    turn, item = made.generators[0], made.elt
    if not isinstance(item, ast.Subscript) or not isinstance(item.slice, ast.Constant):
        return None
    if not isinstance(turn.iter, ast.Name) or not isinstance(turn.target, ast.Name):
        return None
    return (turn.iter.id, item.slice.value) if is_name(item.value, turn.target.id) else None


def _step_of(name: str, method: Method) -> Method | None:
    """The step whose results a hook has by a name: by its one parameter, or out of the list that they are kept in."""
    stage = next(
        (each for each, short in STAGES.items() if method.node.name in (f"{each}_epoch_end", f"on_{short}_epoch_end")),
        None,
    )
    if stage is None or method.item is None or f"{stage}_step_end" in method.item.methods:
        return None
    bound = [node for node in uses(method.node, name) if is_bound(node)]
    given = parameters(method.node)[:1] == [name] and not bound
    kept = len(bound) == 1 and _takes_out(method, name, f"{stage}_step_outputs")
    return method.other(f"{stage}_step") if given or kept else None


def _takes_out(method: Method, name: str, attribute: str) -> bool:
    """Whether a hook takes the list that its step fills: `outputs, self.kept = self.kept, []`."""
    held = f"{self_name(method.node)}.{attribute}"
    wanted = ast.dump(ast.parse(f"{name}, {held} = {held}, []").body[0])
    return any(isinstance(node, ast.Assign) and ast.dump(node) == wanted for node in own_nodes(method.node))


def _given(step: Method, key: object) -> ast.expr | None:
    """What a step returns under a key, where that is written out at its one `return`."""
    ends = results(step.node)
    if len(ends) != 1:
        return None
    made = ends[0]
    if isinstance(made, ast.Name):
        bound = [value for target, value in step.bindings if isinstance(target, ast.Name) and target.id == made.id]
        stored = [node for node in uses(step.node, made.id) if is_bound(node)]
        subscripts = (node for node in own_nodes(step.node) if isinstance(node, ast.Subscript))
        filled = any(isinstance(node.ctx, ast.Store | ast.Del) and is_name(node.value, made.id) for node in subscripts)
        made = bound[0] if len(bound) == len(stored) == 1 and not filled else made
    if not isinstance(made, ast.Dict) or None in made.keys:
        return None
    found = [
        value
        for each, value in zip(made.keys, made.values, strict=True)
        if isinstance(each, ast.Constant) and each.value == key
    ]
    return found[0] if len(found) == 1 and not isinstance(found[0], ast.Constant) else None
