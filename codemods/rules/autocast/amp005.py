"""AMP005: `.half()` on a module that mixed precision trains."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.code.calls import class_around
from codemods.code.source import CallNode, ClassNode, PythonFile
from codemods.lightning.facts import MODULE, Facts
from codemods.rule import Example, Match, Rule
from codemods.rules.autocast.amp003 import SCALERS
from codemods.rules.autocast.members import Key, Members, chain_of, parameters_in
from codemods.rules.autocast.names import AUTOCAST
from codemods.rules.autocast.project import Defined, ProjectFiles
from codemods.rules.autocast.regions import MENTIONS, collect, mixed_precision

CODE = "AMP005"
CASTS = ("half", "bfloat16")


def check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    """Every cast of a whole module whose weights an optimizer is given, where autocast or a scaler is in use."""
    for call in file.calls:
        function = call.node.func
        if not isinstance(function, ast.Attribute) or function.attr not in CASTS or call.node.args:
            continue
        key = _owner(function.value) or _kept(file, call.node)
        where = _mixed(file, facts, call, key) if key else None
        if key and where:
            yield _match(file, call.node, function.attr, ".".join(key), where)


def _owner(node: ast.expr) -> Key | None:
    """The name that a cast is called on, through `.to(...)`, `.cuda()` and the like."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("to", "cuda"):
        node = node.func.value
    return chain_of(node)


def _kept(file: PythonFile, cast: ast.Call) -> Key | None:
    """The name that gets what a call casts: `self.net = Net().half().cuda()`."""
    for item in file.assignments:
        node: ast.AST | None = item.node.value
        while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node is not cast:
            node = node.func.value
        if node is cast and isinstance(cast.func, ast.Attribute) and isinstance(cast.func.value, ast.Call):
            return chain_of(item.node.targets[0] if isinstance(item.node, ast.Assign) else item.node.target)
    return None


def _mixed(file: PythonFile, facts: Facts, call: CallNode, key: Key) -> str | None:
    """Where mixed precision comes from, None where none is seen or the module is not seen to be trained."""
    found = class_around(file, call.within)
    if found and key[0] == "self":
        return _in_module(file, facts, found, key)
    trained = any(
        key in (parameters_in(other.node) or ())
        for other in file.calls
        if (dotted := other.scope.resolve(other.node.func)) and dotted.startswith("torch.optim.")
    )
    uses = {dotted for other in file.calls if (dotted := other.scope.resolve(other.node.func))}
    if not trained or len(key) != 1:
        return None
    if uses & SCALERS:
        return "the file's GradScaler"
    return "the file's autocast" if uses & AUTOCAST else None


def _in_module(file: PythonFile, facts: Facts, item: ClassNode, key: Key) -> str | None:
    known = facts.of_class(file, item)
    if known is None or facts.kind(known) != MODULE or mixed_precision(facts, CODE, known) != "certain":
        return None
    members = Members.of(ProjectFiles(facts, file), Defined(file, item))
    if any(key[: len(frozen)] == frozen for frozen in members.frozen):
        return None
    optimized = members.optimized or ()
    keys = {given for keys in optimized for given in keys or ()}
    trained = any(key[: len(given)] == given or given[: len(key)] == key for given in keys)
    return "the Trainer's mixed precision" if trained else None


def _match(file: PythonFile, node: ast.Call, cast: str, name: str, where: str) -> Match:
    message = f"`{name}.{cast}()` casts weights that are trained under {where}"
    why = "mixed precision keeps the weights in float32 and casts them itself"
    if cast == "half":
        why += "; a GradScaler refuses float16 gradients (ValueError: Attempting to unscale FP16 gradients)"
    advice = f'remove `{name}.{cast}()`, or train in half precision: `Trainer(precision="bf16-true")`, no autocast'
    return Match(file.span(node), message, "manual", f"{why}; {advice}")


def present(file: PythonFile) -> bool:
    return any(f".{cast}" in file.text for cast in CASTS)


_SCRIPT = """import torch

model = torch.nn.Linear(8, 1).cuda()
model.half()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cuda")
"""
_TENSOR = """import torch

model = torch.nn.Linear(8, 1).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cuda")
batch = torch.rand(4, 8)
batch = batch.half()
"""

RULE = Rule(
    code=CODE,
    name="half-under-mixed-precision",
    summary="a module that mixed precision trains keeps its weights in float32",
    why=(
        "Mixed precision holds the weights in float32 and computes in half precision. `.half()` on a module that is "
        "trained takes the float32 weights away: a GradScaler, Lightning's among them, then raises `Attempting to "
        "unscale FP16 gradients`, and with bfloat16, which needs no scaler, small updates are rounded away without "
        "an error. Modules whose parameters no optimizer is given may well be in half precision and are left alone."
    ),
    fix="manual",
    versions="every torch",
    triggers=(b"half", b"bfloat16", b"precision="),
    check=check,
    collect=collect,
    present=present,
    mentions=MENTIONS,
    examples=(Example(_SCRIPT, _SCRIPT), Example(_TENSOR, _TENSOR)),
    references=("https://docs.pytorch.org/docs/stable/notes/amp_examples.html",),
)
