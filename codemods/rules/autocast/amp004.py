"""AMP004: `torch.cuda.amp.autocast` and its relatives are deprecated spellings of `torch.amp`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.code.nodes import walk
from codemods.code.source import PythonFile
from codemods.code.syntax import taken_name
from codemods.finding import Fix
from codemods.lightning.facts import Facts
from codemods.lightning.versions import TORCH, admits_below, admits_from, is_open
from codemods.rewrite.advice import brief
from codemods.rule import Example, Match, Rule
from codemods.rules.autocast.decorators import SINCE, decorators
from codemods.rules.autocast.spelling import (
    OLD,
    ImportBinding,
    OldCall,
    binding_edit,
    call_edit,
    needs_half,
    obstacle,
    spelled,
    taken_elsewhere,
)

NEEDS = {"autocast": "1.13", "GradScaler": "2.3"}
"""The torch that has a name for certain: torch.amp.GradScaler came with 2.3; torch.amp.autocast is in 1.13 and all
later releases, and older ones were not looked at."""

OTHER_DTYPE = (b"bfloat16", b"bf16")
RECENT = (b"torch.compile", b"torch.amp", b"torch.autocast", b"from torch import autocast", b"lightning")
"""What a project mentions that has a torch with the new autocast, or is moved to a Lightning that needs one."""


def check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    """Every call by an old name; those whose name one import binds are rewritten together with it."""
    if not admits_from(facts, TORCH, SINCE):
        return
    other = any(facts.mentions.get(text) for text in OTHER_DTYPE)
    found = list(spelled(file))
    bindings = {item.binding.statement: item.binding for item in found if item.binding}
    for item in found:
        if item.binding is None:
            yield from _alone(file, facts, item, other)
    for statement, binding in bindings.items():
        group = [item for item in found if item.binding and item.binding.statement is statement]
        yield from _together(file, facts, binding, group, other)

    yield from _kept(file, {id(item.call.node.func) for item in found})
    yield from decorators(file, facts)


PARAMETERS = {
    "autocast": ("enabled", "dtype", "cache_enabled"),
    "GradScaler": ("init_scale", "growth_factor", "backoff_factor", "growth_interval", "enabled"),
}
"""The parameters of the old names, in their order."""


def _kept(file: PythonFile, called: set[int]) -> Iterator[Match]:
    """Old names that are used without being called: handed on, kept in a name, asked for by `hasattr`."""
    for name in ("autocast", "GradScaler"):
        spellings = file.spellings(name)
        for node, within in file.nodes_near(spellings):
            for part in _handed_on(node):
                word = part.id if isinstance(part, ast.Name) else part.attr if isinstance(part, ast.Attribute) else ""
                scope = file.scope_within(within)
                if word in spellings and id(part) not in called and (dotted := scope.resolve(part)) in OLD:
                    device, known = OLD[dotted]
                    message = f"`torch.{device}.amp.{known}` is deprecated since torch {SINCE}"
                    reason = "it is passed on without being called; write `functools.partial(torch.amp."
                    yield Match(file.span(part), message, "manual", f'{reason}{known}, "{device}")`')


def _handed_on(node: ast.AST) -> list[ast.expr]:
    """What a node hands on as it is."""
    if isinstance(node, ast.IfExp):
        return [node.body, node.orelse]
    if isinstance(node, ast.Call):
        return [*node.args, *(item.value for item in node.keywords)]
    if isinstance(node, ast.Assign):
        return [node.value] if any(isinstance(item, ast.Attribute | ast.Subscript) for item in node.targets) else []
    if isinstance(node, ast.Return | ast.Lambda):
        value = node.value if isinstance(node, ast.Return) else node.body
        return [value] if value is not None else []
    return node.values if isinstance(node, ast.Dict | ast.BoolOp) else []


def _message(item: OldCall) -> str:
    return f"`torch.{item.device}.amp.{item.name}` is deprecated since torch {SINCE}"


def _alone(file: PythonFile, facts: Facts, item: OldCall, other: bool) -> Iterator[Match]:
    half = other and needs_half(item)
    why = obstacle(item, half)
    if why:
        yield _manual(file, item, why)
        return
    fix, reason = _level(facts, {item.name}, half)
    yield Match(file.span(item.call.node.func), _message(item), fix, reason, edits=(call_edit(item, half),))


def _together(
    file: PythonFile, facts: Facts, binding: ImportBinding, group: list[OldCall], other: bool
) -> Iterator[Match]:
    why = next(filter(None, (obstacle(item, other and needs_half(item)) for item in group)), None)
    why = why or _elsewhere(file, facts, binding, group)
    halves = {item: other and needs_half(item) for item in group}
    imports = (("torch", None),) if any(halves.values()) else ()
    if not why and (taken := taken_name(file.scope.bindings, imports)):
        why = f"this file uses the name `{taken}` for something else"
    fix, reason = _level(facts, {item.name for item in group}, any(halves.values()))
    handled = {item.name for item in group} if isinstance(binding.statement, ast.ImportFrom) else {"amp"}
    if binding.target in ("torch.cuda.amp", "torch.cpu.amp"):
        handled = {"amp"}
    edit, added = binding_edit(binding, handled)
    unit = f"{file.path}:{binding.name}:{binding.target}"
    for index, item in enumerate(group):
        if why:
            yield _manual(file, item, why)
            continue
        edits = (call_edit(item, halves[item]), *((edit,) if not index else ()))
        yield Match(
            file.span(item.call.node.func),
            _message(item),
            fix,
            reason,
            edits=edits,
            imports=(*imports, *added),
            unit=unit,
        )


def _elsewhere(file: PythonFile, facts: Facts, binding: ImportBinding, group: list[OldCall]) -> str | None:
    """Why an import cannot move: a name that it binds is used otherwise than in these calls, or by other files."""
    statement = binding.statement
    roots = {id(_root(item.call.node.func)) for item in group}
    names = {alias.asname or alias.name for alias in statement.names}
    spelled_names = {_root(item.call.node.func).id for item in group}
    free = {alias.asname or alias.name for alias in statement.names if alias.name == "GradScaler"}
    for node in walk(file.tree):
        if isinstance(node, ast.Name) and node.id in spelled_names - free and id(node) not in roots:
            return f"`{node.id}` is also used otherwise, at line {node.lineno}"
    if isinstance(statement, ast.Import) and len(statement.names) > 1:
        return "its import statement holds other modules too"
    if not names <= spelled_names and any(
        alias.asname for alias in statement.names if (alias.asname or alias.name) in spelled_names
    ):
        return "it is imported under another name, beside others"
    return taken_elsewhere(file, facts, spelled_names)


def _root(node: ast.expr) -> ast.Name:
    while isinstance(node, ast.Attribute):
        node = node.value
    assert isinstance(node, ast.Name)
    return node


def _level(facts: Facts, names: set[str], half: bool) -> tuple[Fix, str]:
    reason = "the same context under its current name"
    if half:
        reason += "; float16 was its own default, and the new name takes that of an outer region"
    for name in sorted(names):
        least = NEEDS[name]
        recent = name == "autocast" and is_open(facts, TORCH) and any(facts.mentions.get(text) for text in RECENT)
        if admits_below(facts, TORCH, least) and not recent:
            return "unsafe", f"torch.amp.{name} needs torch {least}, and the project does not require it"
    return "safe", reason


def _manual(file: PythonFile, item: OldCall, why: str) -> Match:
    advice = f"write `torch.amp.{item.name}({', '.join(_asked(file, item))})`"
    return Match(file.span(item.call.node.func), _message(item), "manual", f"{why}; {advice}")


def _asked(file: PythonFile, item: OldCall) -> Iterator[str]:
    """The arguments of a call under the new name: the device, and the others by keyword."""
    yield f'"{item.device}"'
    starred = any(isinstance(value, ast.Starred) for value in item.call.node.args)
    if starred and item.name == "autocast":
        yield from ("enabled=...", "dtype=...")
        return
    if starred:
        yield "..."
        return
    for value, name in zip(item.call.node.args, PARAMETERS[item.name], strict=False):
        yield f"{name}={brief(file, value)}"
    for word in item.call.node.keywords:
        yield f"{word.arg}={brief(file, word.value)}" if word.arg else f"**{brief(file, word.value)}"


def present(file: PythonFile) -> bool:
    return any(device in file.text for device in ("cuda", "cpu"))


_DIRECT = """import torch

scaler = torch.cuda.amp.GradScaler(enabled=True)
with torch.cuda.amp.autocast(True):
    y = torch.rand(2, 2).cuda() @ torch.rand(2, 2).cuda()
"""
_DIRECT_AFTER = """import torch

scaler = torch.cuda.amp.GradScaler(enabled=True)
with torch.amp.autocast("cuda", enabled=True):
    y = torch.rand(2, 2).cuda() @ torch.rand(2, 2).cuda()
"""
_IMPORTED = """from torch.cuda.amp import autocast
from torch import nn


class Net(nn.Linear):
    @autocast(enabled=False)
    def forward(self, x):
        return super().forward(x.float())
"""
_IMPORTED_AFTER = _IMPORTED.replace("torch.cuda.amp", "torch.amp").replace("(enabled=False)", '("cuda", enabled=False)')
_VALUE = "from contextlib import nullcontext\n\nfrom torch.cuda.amp import autocast\n\n\ndef scope(half):\n"
_VALUE += "    chosen = autocast if half else nullcontext\n    with chosen(), autocast():\n        pass\n"
_LIGHTNING = (("requirements.txt", "lightning>=2.5\n"),)

RULE = Rule(
    code="AMP004",
    name="amp-spellings",
    summary='`torch.cuda.amp.autocast(...)` and `GradScaler(...)` become `torch.amp.autocast("cuda", ...)`',
    why=(
        "torch 2.4 deprecated torch.cuda.amp.autocast, torch.cuda.amp.GradScaler and their twins in "
        "torch.cpu.amp: each use is a FutureWarning. The new names take the device first, and autocast then dtype "
        "before enabled, so positional arguments become keywords. The old CUDA context is float16 by itself, the "
        "new one takes the dtype of the region around it: where the project mentions bfloat16, float16 is written "
        "out. The decorators custom_fwd and custom_bwd take the device too, since torch 2.4. torch.amp.GradScaler "
        "exists since torch 2.3, which the pins must ask for; where nothing says which torch is used, autocast is "
        "rewritten unasked only in a project that uses Lightning or names of torch 2. "
        "Nothing is reported where the pins exclude torch 2.4."
    ),
    fix="safe",
    versions="torch 2.4 and later",
    triggers=(b"cuda.amp", b"cpu.amp", b"from torch.cuda import", b"from torch.cpu import"),
    check=check,
    present=present,
    mentions=(*OTHER_DTYPE, *RECENT),
    examples=(
        Example(_DIRECT, _DIRECT_AFTER, files=_LIGHTNING),
        Example(_IMPORTED, _IMPORTED_AFTER, files=_LIGHTNING),
        Example(_VALUE, _VALUE, files=_LIGHTNING),
        Example(_DIRECT, _DIRECT),
    ),
    references=("https://docs.pytorch.org/docs/stable/amp.html",),
    warns=True,
)
