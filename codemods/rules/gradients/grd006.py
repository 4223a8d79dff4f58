"""GRD006: Hugging Face models that are trained in evaluation mode since Lightning 2.2."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from functools import partial

from codemods.code.source import PythonFile
from codemods.finding import Fix, Span
from codemods.lightning.eras import era
from codemods.lightning.facts import MODULE, ClassFact, Facts
from codemods.lightning.versions import LIGHTNING, admits_from, is_open, reaches
from codemods.rule import Example, Match, Rule, TextEdit, best_levels
from codemods.rules.gradients.classes import is_module
from codemods.rules.gradients.loaded import uses_what_it_loads
from codemods.rules.gradients.pretrained import (
    LOADS,
    PretrainedAttribute,
    is_frozen,
    is_model,
    is_trained,
    loaded_by,
    loads,
)

SETS = re.compile(r"\.(eval|train|freeze)\(|requires_grad|no_grad|inference_mode|def (train|eval)\b")
RESTORED = re.compile(rb"\bload_from_checkpoint\b|\bload_state_dict\(|\btorch\.load\(")
MODE = re.compile(rb"\.eval\(|\.train\((?:False|mode)")
TRAINED = re.compile(rb"\bTrainer\b|\bLightningCLI\b")
BARE = "{} loads it, and has no `.eval()`: the dropout would be active there."
MESSAGE = "`self.{}` comes from `{}` in evaluation mode, and Lightning 2.2 and later leave it there"
REASONS = {
    "before": "before 2.2 `fit` put the whole module into training mode; this keeps its dropout active, as before. "
    "Call `.eval()` where it is used without a Trainer.",
    "after": "the requirements need 2.2 or later, with which it trains without dropout now: numbers change.",
    "unknown": "no requirement says for which Lightning this was written; with 2.2 or later, numbers change.",
}


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    if not reaches(facts, "2.2.0"):
        return
    yield from _of_parts(file, facts)
    yield from _handed_in(file, facts)
    for item, fact in facts.classes_of(file, MODULE):
        relatives = (fact, *facts.ancestry(fact), *facts.subclasses(fact))
        if not any("training_step" in member.methods for member in relatives):
            continue
        for loaded in loaded_by(file, facts, item):
            if is_trained(loaded):
                yield _match(file, facts, fact, loaded)


def _of_parts(file: PythonFile, facts: Facts) -> Iterator[Match]:
    """The models that modules load which LightningModules are built of."""
    for item in file.classes:
        fact = facts.of_class(file, item)
        if fact is None or facts.kind(fact) == MODULE or "__init__" not in item.methods:
            continue
        found = [loaded for loaded in loaded_by(file, facts, item) if is_trained(loaded)]
        if found and is_module(facts, f"{file.module}.{item.qualname}", file.path):
            holder = _holder(facts, fact)
            for loaded in found if holder else ():
                where = f"{holder.name} ({holder.path})" if holder else ""
                reason = f"{where} is built of it: call `.train()` on it where it is trained by a Trainer"
                yield Match(_place(file, loaded), _message(loaded.name, loaded.call), "manual", reason, row="B11")


def _holder(facts: Facts, part: ClassFact) -> ClassFact | None:
    """A LightningModule whose file builds a class and sets no modes, nor freezes anything, by itself."""
    name = part.name.rpartition(".")[2]
    for fact in facts.classes():
        if facts.kind(fact) != MODULE or "training_step" not in fact.methods:
            continue
        file = facts.open(fact.path)
        if file is None or SETS.search(file.text):
            continue
        calls = file.calls_near((name,))
        if any(
            (dotted := call.scope.resolve(call.node.func)) and facts.find_class(dotted, file.path) == part
            for call in calls
        ):
            return fact
    return None


def _handed_in(file: PythonFile, facts: Facts) -> Iterator[Match]:
    """The models that are loaded outside and given to a LightningModule."""
    for item in file.assignments if not SETS.search(file.text) else ():
        target = item.node.targets[0] if isinstance(item.node, ast.Assign) else item.node.target
        call = item.node.value
        if not isinstance(target, ast.Name) or not isinstance(call, ast.Call) or not loads(call):
            continue
        given = [other for other in file.calls if other.within == item.within and _takes(other.node, target.id)]
        for other in given if given and is_model(file, facts, given[0].scope, call) else ():
            dotted = other.scope.resolve(other.node.func)
            fact = facts.find_class(dotted, file.path) if dotted else None
            opened = facts.open(fact.path) if fact and facts.kind(fact) == MODULE else None
            if fact and opened and "training_step" in fact.methods and not SETS.search(opened.text):
                message = _message(target.id, call).replace("self.", "")
                reason = f"{fact.name} ({fact.path}) gets it: call `{target.id}.train()` before a Trainer trains it"
                yield Match(file.span(call), message, "manual", reason, row="B11")


def _message(name: str, call: ast.Call) -> str:
    return MESSAGE.format(name, getattr(call.func, "attr", ""))


def _takes(call: ast.Call, name: str) -> bool:
    given = [*call.args, *(word.value for word in call.keywords)]
    return any(isinstance(item, ast.Name) and item.id == name for item in given)


def _match(file: PythonFile, facts: Facts, fact: ClassFact, loaded: PretrainedAttribute) -> Match:
    message = _message(loaded.name, loaded.call)
    if loaded.helper:
        reason = f"{loaded.helper} may be called elsewhere too: call `.train()` on it where it is trained"
        return Match(_place(file, loaded), message, "manual", reason, row="B11")
    if is_frozen(loaded) == "perhaps":
        reason = "it is frozen in some cases: call `.train()` on it where it is trained"
        return Match(_place(file, loaded), message, "manual", reason, row="B11")
    when = era(facts, "2.2.0")
    both = when == "before" and not is_open(facts, LIGHTNING) and admits_from(facts, LIGHTNING, "2.2.0")
    bare = _bare(facts, fact) if when == "before" else ""
    level: Fix = "safe" if when == "before" and not (both or bare) else "unsafe"
    reason = f"{REASONS[when]} {BARE.format(bare)}" if bare else REASONS[when]
    return Match(_place(file, loaded), message, level, reason, row="B11", edits=(_edit(file, loaded),))


def _bare(facts: Facts, fact: ClassFact) -> str:
    """A file that loads a module, or one below it, names no mode, and gives it to no Trainer or uses it without one;
    empty where none does."""
    names = {each.name.rpartition(".")[2] for each in (fact, *facts.subclasses(fact))}
    found = (
        path
        for name in sorted(names)
        for path, source in facts.holding(name)
        if source.kind in ("python", "notebook")
        and _loads_bare(source.unescaped, name.encode())
        and (not TRAINED.search(source.unescaped) or uses_what_it_loads(facts.open(path)))
    )
    return next(found, "")


def _loads_bare(text: bytes, name: bytes) -> bool:
    called = re.search(rb"\b%b\b" % re.escape(name), text)
    return bool(called and RESTORED.search(text)) and not MODE.search(text)


def _place(file: PythonFile, loaded: PretrainedAttribute) -> Span:
    """The statement that keeps a model, or, where it loads several or wraps one, the call that loads it."""
    whole = loaded.call in (loaded.statement.value, loaded.given_back)
    return file.span(loaded.statement if whole else loaded.call)


def _edit(file: PythonFile, loaded: PretrainedAttribute) -> TextEdit:
    """A line behind the statement; where the statement shares its line, the call itself."""
    statement = loaded.statement
    start, end = file.offsets(statement)
    line = file.text.rfind("\n", 0, start) + 1
    indent = file.text[line:start]
    stop = file.text.find("\n", end)
    rest = file.text[end : stop if stop >= 0 else len(file.text)].rstrip("\r")
    apart = loaded.given_back is not None or statement.value is loaded.call
    shared = indent.strip() or (rest.strip() and not rest.lstrip().startswith("#"))
    if shared or not apart:
        _, last = file.offsets(loaded.call)
        return TextEdit(last, last, ".train()")
    newline = "\r\n" if "\r\n" in file.text else "\n"
    place = end + len(rest)
    me = ast.unparse(statement.targets[0])
    return TextEdit(place, place, f"{newline}{indent}{me}.train()")


def collect(file: PythonFile) -> tuple[str, ...] | None:
    """The classes outside of transformers whose `from_pretrained` the file calls, and those that call it."""
    found = {
        dotted.rpartition(".")[2]
        for call in file.calls_near(["from_pretrained"])
        if isinstance(call.node.func, ast.Attribute)
        and call.node.func.attr == "from_pretrained"
        and (dotted := call.scope.resolve(call.node.func.value))
        and not dotted.startswith("transformers.")
    }
    inside = {node for call in file.calls_near(["from_pretrained"]) for node in call.within}
    found |= {item.node.name for item in file.classes if item.node in inside}
    return tuple(sorted(found)) or None


def context(collected: Mapping[str, tuple[str, ...]]) -> tuple[bytes, ...]:
    """Files that define, build or hand on one of those classes are read too."""
    return tuple(sorted({name.encode() for names in collected.values() for name in names}))


_HEAD = """\
import pytorch_lightning as pl
import torch
from transformers import AutoModel, AutoTokenizer


class Tagger(pl.LightningModule):
    def __init__(self, name):
        super().__init__()
        self.tokenizer = AutoTokenizer.from_pretrained(name)
        self.bert = AutoModel.from_pretrained(name)
"""
_TAIL = """\
        self.head = torch.nn.Linear(768, 2)

    def training_step(self, batch, batch_idx):
        return self.head(self.bert(**batch)[0]).sum()

    def validation_epoch_end(self, outputs):
        self.log("seen", len(outputs))

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=2e-5)
"""
_FROZEN = _HEAD + "        self.bert.requires_grad_(False)\n" + _TAIL
_EVAL = _HEAD + "        self.bert.eval()\n" + _TAIL
_TEACHER = (_HEAD + _TAIL).replace("self.parameters()", "self.head.parameters()")

RULE = Rule(
    code="GRD006",
    name="pretrained-in-eval-mode",
    summary="a model from `from_pretrained` is put into training mode, as `fit` did before Lightning 2.2",
    why=(
        "Hugging Face's `from_pretrained` returns a model in evaluation mode. Up to Lightning 2.1 `fit` called "
        "`.train()` on the whole module; since 2.2 it leaves each submodule as it is, so that such a model silently "
        "trains without dropout (2.5.5 and later say so in a warning). Models that are frozen, put into a mode by the "
        "class itself, used only under `no_grad`, or given to no optimizer stay as they are."
    ),
    fix="safe",
    stops=False,
    versions="Lightning before 2.2 -> 2.2 and later",
    triggers=tuple(sorted(name.encode() for name in LOADS)),
    check=_check,
    collect=collect,
    context=context,
    breaks_in="2.2.0",
    rows=partial(best_levels, (("B11", "safe"), ("G18951", "safe"))),
    examples=(
        Example(_HEAD + _TAIL, _HEAD + "        self.bert.train()\n" + _TAIL),
        Example(_FROZEN, _FROZEN),
        Example(_EVAL, _EVAL),
        Example(_TEACHER, _TEACHER),
    ),
    references=(
        "https://github.com/Lightning-AI/pytorch-lightning/issues/20105",
        "https://github.com/Lightning-AI/pytorch-lightning/issues/20573",
    ),
)
