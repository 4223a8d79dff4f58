"""GRD007: Hugging Face's optimizers on a Lightning that trains inside their `no_grad` step."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from codemods.code.scopes import ROOT, canonical
from codemods.code.source import CallNode, PythonFile, TextFile
from codemods.lightning.facts import Facts
from codemods.lightning.pins.manifest import read_pins
from codemods.lightning.pins.pin import Pin
from codemods.lightning.pins.reach import home_of
from codemods.lightning.pins.specifier import Clause, admits, clauses, guarded
from codemods.lightning.pins.toml import Unparsable
from codemods.lightning.versions import LIGHTNING, admits_below, admits_from, is_open
from codemods.rewrite import adamw
from codemods.rule import Example, Match, Rule, TextEdit, best_levels

CODE = "GRD007"
FIXED = "2.0.7"
LAST = "2.0.6"
ADAFACTOR = frozenset({"transformers.Adafactor", "transformers.optimization.Adafactor"})
FAILS = "`{}` of Hugging Face steps under `no_grad`, and up to Lightning 2.0.6 the training step runs inside it"
RAISE = "raise Lightning to 2.0.7 or later, which leaves the optimizer as it is"
OTHER = f"{adamw.CHANGED}. To keep them, {RAISE}"


def _check(file: PythonFile | TextFile, facts: Facts) -> Iterator[Match]:
    if isinstance(file, TextFile):
        home = home_of(file.path, facts)
        if any(not home or path.startswith(f"{home}/") for path in facts.collected(CODE)):
            yield from _pins(file, facts)
    elif (
        not is_open(facts, LIGHTNING)
        and admits_below(facts, LIGHTNING, FIXED)
        and not admits_from(facts, LIGHTNING, FIXED)
    ):
        for call in optimizers(file):
            yield _match(file, call)


def optimizers(file: PythonFile) -> list[CallNode]:
    """The calls of a file that build one of those optimizers, where it imports Lightning."""
    targets = {target for found in file.scope.bindings.values() for target in found}
    if not any(canonical(target).startswith(ROOT) for target in targets):
        return []
    near = file.calls_near(["AdamW", "Adafactor"])
    return [
        call
        for call in near
        if adamw.is_its(call.scope, call.node.func) or call.scope.resolve(call.node.func) in ADAFACTOR
    ]


def _match(file: PythonFile, call: CallNode) -> Match:
    is_adafactor = call.scope.resolve(call.node.func) in ADAFACTOR
    message = FAILS.format("Adafactor" if is_adafactor else adamw.NAME)
    other = "torch's Adafactor is another algorithm with other arguments"
    if why := other if is_adafactor else adamw.refused(call.node):
        return Match(file.span(call.node), message, "manual", f"{why}; {RAISE}", row="B09")
    name = call.node.func.id if isinstance(call.node.func, ast.Name) else ""
    gone = (adamw.without_imports(file, name) if name else None) or []
    return Match(
        file.span(call.node),
        message,
        "unsafe",
        OTHER,
        "B09",
        (adamw.as_torch(call.node), *gone),
        (("torch", None),),
        unit=file.path,
    )


# -- pins


def _pins(file: TextFile, facts: Facts) -> Iterator[Match]:
    """Requirements on Lightning that admit releases in which it fails, and later ones."""
    try:
        pins = read_pins(file.kind, file.text)
    except Unparsable:
        return
    for pin in pins:
        if pin.name not in LIGHTNING or pin.problem or pin.is_address:
            continue
        if any(part.operator != "!=" for part in clauses(pin.specifier)):
            below = admits(pin.specifier, LAST, pin.language) or admits(pin.specifier, "2.0.0", pin.language)
            if below and (raised := _raised(pin, facts.target)):
                message = f"`{pin.name}{pin.specifier}` allows releases in which Hugging Face's optimizers fail"
                reason = f"2.0.7 trains with them as they are: {pin.specifier} becomes {raised}"
                edit = TextEdit(pin.start, pin.end, raised)
                yield Match(file.span(pin.place, pin.end), message, "safe", reason, "B09", edits=(edit,))


def _raised(pin: Pin, target: str) -> str | None:
    """The specifier from 2.0.7 on; None where it cannot be written that simply."""
    parts = list(clauses(pin.specifier))
    lower = [part for part in parts if part.operator in (">=", ">", "^")]
    if len(lower) == 1:
        operator = "^" if lower[0].operator == "^" and lower[0].version.startswith("2") else ">="
        parts[parts.index(lower[0])] = replace(lower[0], operator=operator, version=FIXED)
    elif not lower and pin.language == "pep440":
        parts.insert(0, Clause(">=", FIXED))
    text = guarded(",".join(map(str, parts)), target, pin.language)
    fits = text and admits(text, FIXED, pin.language) and not admits(text, LAST, pin.language)
    return text if fits and not admits(text or "", "1.9.5", pin.language) else None


def collect(file: PythonFile) -> bool | None:
    """Whether a file builds such an optimizer."""
    return True if optimizers(file) else None


def _present(file: PythonFile | TextFile) -> bool:
    return isinstance(file, TextFile) or bool(optimizers(file))


_BEFORE = """\
import torch
from lightning.pytorch import LightningModule
from transformers import AdamW, get_linear_schedule_with_warmup


class Model(LightningModule):
    def configure_optimizers(self):
        return AdamW(self.parameters(), lr=2e-5)
"""
_OPEN = "lightning>=2.0,<3\ntransformers\n"
_PINNED = "pytorch-lightning==1.9.5\ntransformers\n"

RULE = Rule(
    code=CODE,
    name="hugging-face-optimizer",
    summary="a project that trains with Hugging Face's AdamW or Adafactor asks for Lightning 2.0.7 or later",
    why=(
        "Hugging Face's optimizers decorate `step` with `torch.no_grad()`. Up to 2.0.6 Lightning ran the training step "
        "inside of it, and backward fails: 'element 0 of tensors does not require grad' (run on 1.8.6 and 1.9.5). "
        "2.0.7 repaired it. `torch.optim.AdamW` is another answer, but has other defaults (weight_decay 0.01 and eps "
        "1e-8 against 0.0 and 1e-6), which tutorials forget, and another order of decay. transformers 5 has no AdamW "
        "any more."
    ),
    fix="safe",
    versions="Lightning before 2.0.7",
    triggers=(b"AdamW", b"Adafactor"),
    text_triggers=(b"lightning",),
    check=_check,
    collect=collect,
    present=_present,
    kinds=("python", "requirements", "pyproject"),
    needs=FIXED,
    keeps=FIXED,
    rows=partial(best_levels, (("B09", "safe"),)),
    examples=(
        Example(
            _OPEN, "lightning>=2.0.7,<3,!=2.6.2,!=2.6.3\ntransformers\n", "requirements.txt", (("train.py", _BEFORE),)
        ),
        Example(_BEFORE, _BEFORE, files=(("requirements.txt", _PINNED),)),
        Example(_PINNED, _PINNED, "requirements.txt", (("train.py", _BEFORE.replace("transformers", "torch.optim")),)),
    ),
    references=("https://github.com/Lightning-AI/pytorch-lightning/issues/18254",),
)
