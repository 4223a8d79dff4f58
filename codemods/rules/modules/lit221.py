"""LIT221: what a LightningModule had on `self` and has no more."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from codemods.code.nodes import walk
from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import is_self_attribute, is_super_call, self_name
from codemods.finding import Fix
from codemods.lightning.class_family import definitions, family
from codemods.lightning.facts import MODULE, ClassFact, Facts
from codemods.lightning.guards import ASKED_FOR, fallback_of
from codemods.lightning.hardware import MENTIONS, NEVER, QUESTIONS, question, reason_of
from codemods.lightning.spelling import Spelled
from codemods.rewrite.quotes import within_quotes
from codemods.rewrite.spelled import parsed
from codemods.rewrite.whole_statements import without_operand
from codemods.rule import Example, Match, NodeEdit, Rule, best_levels
from codemods.rules.modules.attached import bound_by_relatives, may_be_alone, may_be_set
from codemods.rules.modules.of_callbacks import ModuleAttribute, of_callbacks
from codemods.rules.modules.of_instances import made_by, of_instances

if TYPE_CHECKING:
    import libcst as cst


@dataclass(frozen=True)
class RemovedMember:
    """An attribute or method that went with release `since`: `new` is what to write instead behind `self`, where
    that is all (empty otherwise), `advice` what else to do, `needs` the release that what is written needs."""

    since: str
    row: str | None
    advice: str
    new: str = ""
    needs: str | None = None


_UTILITIES = "lightning.pytorch.utilities"
_STEP = "return the value from the step, or keep it on self"
MISSING = {
    "datamodule": RemovedMember("1.5", "M009", "the Trainer has it", "trainer.datamodule", "1.3.0"),
    "precision": RemovedMember("2.0", "M295", "the Trainer has it, spelled `16-mixed`, `bf16-mixed`, `32-true`"),
    "use_amp": RemovedMember("1.8", "M135", "it has the same value"),
    "use_ddp": RemovedMember("1.2", None, reason_of("use_ddp")),
    "use_ddp2": RemovedMember("1.2", None, reason_of("use_ddp2")),
    "use_dp": RemovedMember("1.2", None, reason_of("use_dp")),
    "use_tpu": RemovedMember("1.2", None, reason_of("use_tpu")),
    "summarize": RemovedMember("1.7", "M053", f"{_UTILITIES}.model_summary.summarize(self, max_depth=...) does it"),
    "model_size": RemovedMember("1.7", "M054", "ModelSummary(self).model_size has it"),
    "grad_norm": RemovedMember("1.5", "M012", f"{_UTILITIES}.grad_norm(self, norm_type=...) does it, under other keys"),
    "log_grad_norm": RemovedMember("2.0", "M184", f"log what {_UTILITIES}.grad_norm(self, norm_type=...) gives"),
    "write_prediction": RemovedMember("1.5", "M002", f"{_STEP}; BasePredictionWriter writes what predict_step returns"),
    "write_prediction_dict": RemovedMember(
        "1.5", "M002", f"{_STEP}; BasePredictionWriter writes what predict_step returns"
    ),
    "add_to_queue": RemovedMember("1.7", "M066", _STEP),
    "get_from_queue": RemovedMember("1.7", "M066", _STEP),
    "loaded_optimizer_states_dict": RemovedMember("1.6", "M043", "read the checkpoint in on_load_checkpoint"),
    "manual_optimizer_step": RemovedMember("1.1", None, "call step() of what self.optimizers() returns"),
    "get_progress_bar_dict": RemovedMember("1.7", "M067", "get_metrics of the progress bar has it"),
    "running_stage": RemovedMember("1.3", None, "self.trainer.state.stage has it"),
    "get_tqdm_dict": RemovedMember("1.0", None, "get_metrics of the progress bar has it"),
    **{
        f"{stage}_dataloader": RemovedMember(
            "1.6",
            None,
            f"self.trainer.datamodule.{stage}_dataloader() makes them where a datamodule is given; loaders that are "
            f"given stand in self.trainer.{read} while it runs",
        )
        for stage, read in (
            ("train", "train_dataloader"),
            ("val", "val_dataloaders"),
            ("test", "test_dataloaders"),
            ("predict", "predict_dataloaders"),
        )
    },
}
_NOTHING = "Lightning's own did nothing: remove the call"
MISSING |= {
    **{
        f"{stage}_epoch_end": RemovedMember("2.0", row, _NOTHING)
        for stage, row in (("training", "M179"), ("validation", "M180"), ("test", "M181"))
    },
    **{f"{stage}_end": RemovedMember("1.0", None, _NOTHING) for stage in ("training", "validation", "test")},
    **{f"{stage}_step_end": RemovedMember("2.0", None, _NOTHING) for stage in ("training", "validation", "test")},
    **{f"on_{when}": RemovedMember("1.8", None, _NOTHING) for when in ("epoch_start", "epoch_end")},
}
LOADERS = "_dataloader"
"""What the module has to this day, and Lightning put the loaders of `fit` and of a datamodule in the place of."""
ASKED_OF_INSTANCES = ("summarize", "grad_norm", "get_progress_bar_dict")
OVERRIDDEN = ("summarize", "grad_norm")
"""What a class may call of its base, besides the hooks of LIT211."""
TOLD = ("use_amp", "use_ddp", "use_ddp2", "use_dp", "use_tpu")
"""What Lightning put on the module when a Trainer took it, and was False before (`core/lightning.py` of 1.1.8)."""
MIXED = '({}.precision in ("16-mixed", "bf16-mixed"))'
EARLY = "the module has no Trainer yet, and it was always False here: read it in setup or later"
UNTOLD = "the module has no Trainer yet, and it held nothing here: read it in setup or later"
PRECISIONS = {16: "16-mixed", "16": "16-mixed", "bf16": "bf16-mixed", 32: "32-true", "32": "32-true", 64: "64-true"}


def _collect(file: PythonFile) -> frozenset[str]:
    asked = frozenset(name for name in MISSING if name in file.text and any(True for _ in file.attributes(name)))
    return asked | {f"class {name}" for name in made_by(file) if asked & {*ASKED_OF_INSTANCES}}


def _context(collected: Any) -> tuple[bytes, ...]:
    """Files that define what is asked of a module are read: a class below may have it."""
    every = sorted({name for names in collected.values() for name in names})
    classes = tuple(name.encode() for name in every if name.startswith("class "))
    return (*definitions([name for name in every if " " not in name]), *classes)


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    for asked in of_callbacks(file, facts, TOLD):
        yield _asked_by_callback(file, facts, asked)
    for call, function, _ in of_instances(file, facts, ASKED_OF_INSTANCES):
        missing = MISSING[function.attr]
        message = f"`{function.attr}` of a module was removed in Lightning {missing.since}"
        advice = missing.advice.replace("self", file.source_of(function.value))
        yield Match(file.span(call.node), message, "manual", f"Not rewritten: {advice}.", missing.row)
    yield from _asked_of_base(file, facts)
    for name, missing in MISSING.items():
        places = (
            [node for node in file.attributes(name) if isinstance(node.value, ast.Name)] if name in file.text else []
        )
        for item, fact in facts.classes_of(file, MODULE) if places else ():
            if _own(item, name) or _inherited(facts, file, item, name):
                continue
            if name.endswith(LOADERS) and facts.mentions.get(f".{name} = ".encode()):
                continue
            found = _inside(item, places)
            doubt = may_be_set(facts, fact, name) if found else None
            for method, node in found:
                at = _SelfAttribute(item, method, node)
                match = (_told if name in TOLD else _match)(file, facts, at, name, missing)
                fallback = fallback_of(file, node)
                if fallback == "asked":
                    yield replace(match, fix="manual", reason=f"Not rewritten: {ASKED_FOR}.", edits=(), imports=())
                elif fallback == "none":
                    yield _doubted(match, doubt)


def _asked_of_base(file: PythonFile, facts: Facts) -> Iterator[Match]:
    """`super().summarize(...)`, where no class above has a method of its own."""
    for call in file.calls_near([f".{name}(" for name in OVERRIDDEN]):
        name = next((each for each in OVERRIDDEN if is_super_call(call.node, each)), None)
        owner = next((item for item in file.classes if name and item.node in call.within), None)
        fact = facts.of_class(file, owner)
        if name is None or fact is None or facts.kind(fact) != MODULE:
            continue
        above = [base for base in facts.lineage(fact) if isinstance(base, ClassFact) and base is not fact]
        if not any(name in base.methods for base in above):
            missing = MISSING[name]
            message = f"`super().{name}` fails since Lightning {missing.since}: LightningModule has no such method"
            yield Match(file.span(call.node), message, "manual", f"Not rewritten: {missing.advice}.", missing.row)


def _asked_by_callback(file: PythonFile, facts: Facts, asked: ModuleAttribute) -> Match:
    name = asked.node.attr
    missing, place = MISSING[name], file.span(asked.node)
    message = f"`{name}` of a module was removed in Lightning {missing.since}"
    found = _question(file, facts, asked.node, asked.trainer, asked.within)
    if isinstance(found, str):
        return Match(place, message, "manual", f"Not rewritten: {found}.", missing.row)
    own = any(facts.mentions.get(text) for text in _settings(name))
    level, told = _as_told(missing)
    if own:
        level, told = "unsafe", f"{told}; fixer assumes that no module has one of its own"
    edits = (_edit(file, asked.node, found.text),)
    return Match(place, message, level, f"{told}.", missing.row, edits, found.imports)


def _question(
    file: PythonFile, facts: Facts, node: ast.Attribute, trainer: str, within: tuple[ast.AST, ...]
) -> Spelled | str:
    """What asks a Trainer what a module told of it."""
    return Spelled(MIXED.format(trainer)) if node.attr == "use_amp" else question(file, facts, node, trainer, within)


@dataclass(frozen=True)
class _SelfAttribute:
    """An attribute of `self`, and the method and class that it stands in."""

    item: ClassNode
    method: str
    node: ast.Attribute


def _own(item: ClassNode, name: str) -> bool:
    """Whether a class defines or sets the name itself."""
    return name in item.methods or any(
        (isinstance(node, ast.Attribute) and node.attr == name and not isinstance(node.ctx, ast.Load))
        or (isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load))
        for node in walk(item.node)
    )


def _inherited(facts: Facts, file: PythonFile, item: ClassNode, name: str) -> bool:
    """Whether a relative may define or set it."""
    fact = facts.of_class(file, item)
    relatives = family(facts, fact) if fact else ()
    setting = {path for text in _settings(name) for path in facts.mentions.get(text, frozenset())}
    setting = set() if name.endswith(LOADERS) else setting
    told = any(name in other.methods or other.path in setting for other in relatives)
    return told or (fact is not None and bound_by_relatives(facts, fact, name))


def _settings(name: str) -> tuple[bytes, ...]:
    return f".{name} = ".encode(), f"def {name}".encode()


def _inside(item: ClassNode, places: list[ast.Attribute]) -> list[tuple[str, ast.Attribute]]:
    """Those of some attributes that are of `self`, each with the method that it stands in."""
    own = {
        id(node): name
        for name, method in item.methods.items()
        for node in walk(method)
        if is_self_attribute(node, getattr(node, "attr", ""), self_name(method))
    }
    return [(own[id(node)], node) for node in places if id(node) in own]


def _doubted(match: Match, doubt: str | None) -> Match:
    """A match that is safe only as far as the attribute is Lightning's."""
    if doubt is None or match.fix != "safe":
        return match
    return replace(match, fix="unsafe", reason=f"{match.reason.rstrip('.')}; {doubt}.")


def _told(file: PythonFile, facts: Facts, at: _SelfAttribute, name: str, missing: RemovedMember) -> Match:
    """What the module told of its Trainer, asked of that; it was False as long as there was none."""
    message, place = f"self.{name} was removed in Lightning {missing.since}", file.span(at.node)
    trainer = f"{file.source_of(at.node.value)}.trainer"
    within = (at.item.node, at.item.methods[at.method])
    asked = _question(file, facts, at.node, trainer, within)
    if isinstance(asked, str):
        return Match(place, message, "manual", f"Not rewritten: {asked}.", missing.row)
    if at.method == "__init__" and asked.text != NEVER:
        return Match(place, message, "manual", f"Not rewritten: {EARLY}.", missing.row)
    if asked.text == NEVER:
        level, told = _as_told(missing)
    else:
        level, told = _while_attached(facts, at, missing)
    alone = without_operand(file, at.node, at.item.methods[at.method], _stays) if asked.text == NEVER else None
    edits = (alone or _edit(file, at.node, asked.text),)
    return Match(place, message, level, f"{told}.", missing.row, edits, asked.imports)


def _stays(operands: Sequence[ast.expr]) -> bool:
    """Whether nothing is left of an `or` without what no Trainer does any more, or another operand is written anew."""
    told = [item for item in operands if isinstance(item, ast.Attribute) and item.attr in TOLD]
    return len(told) == len(operands) or any(QUESTIONS.get(item.attr) != NEVER for item in told)


def _as_told(missing: RemovedMember) -> tuple[Fix, str]:
    return "safe", f"{missing.advice[0].upper()}{missing.advice[1:]}"


def _while_attached(facts: Facts, at: _SelfAttribute, missing: RemovedMember) -> tuple[Fix, str]:
    """How sure it is that a Trainer has the module where it is asked, and the reason."""
    level, told = _as_told(missing)
    alone = may_be_alone(facts, at.method)
    return ("unsafe", f"{told}; {alone}") if alone else (level, told)


def _match(file: PythonFile, facts: Facts, at: _SelfAttribute, name: str, missing: RemovedMember) -> Match:
    message = f"self.{name} was removed in Lightning {missing.since}"
    if name.endswith(LOADERS):
        message = f"self.{name} is the class's own alone since Lightning {missing.since}, and it has none"
    this = file.source_of(at.node.value)
    edits: tuple[NodeEdit, ...] = ()
    if missing.new:
        edits = (_edit(file, at.node, f"{this}.{missing.new}"),)
    elif name == "precision":
        edits = _compared(file, at, this)
    if edits and at.method == "__init__":
        return Match(file.span(at.node), message, "manual", f"Not rewritten: {UNTOLD}.", missing.row)
    if edits:
        level, told = _while_attached(facts, at, missing)
        return Match(file.span(at.node), message, level, f"{told}.", missing.row, edits)
    return Match(file.span(at.node), message, "manual", f"Not rewritten: {missing.advice}.", missing.row)


def _compared(file: PythonFile, at: _SelfAttribute, this: str) -> tuple[NodeEdit, ...]:
    """`self.precision == 16` asks for "16-mixed" now; other uses have no plain equal."""
    for outer in walk(at.item.node):
        if isinstance(outer, ast.Compare) and outer.left is at.node and isinstance(outer.ops[0], ast.Eq | ast.NotEq):
            value = outer.comparators[0]
            if len(outer.comparators) == 1 and isinstance(value, ast.Constant) and value.value in PRECISIONS:
                spelled = within_quotes(file, at.node, f'"{PRECISIONS[value.value]}"')
                return (NodeEdit(outer, partial(_with_sides, left=f"{this}.trainer.precision", right=spelled)),)
    return ()


def _with_sides(node: cst.Comparison, *, left: str, right: str) -> cst.Comparison:
    import libcst as cst

    target = node.comparisons[0].with_changes(comparator=cst.parse_expression(right))
    return node.with_changes(left=cst.parse_expression(left), comparisons=[target])


def _edit(file: PythonFile, node: ast.expr, text: str) -> NodeEdit:
    return NodeEdit(node, partial(parsed, text=within_quotes(file, node, text)))


BEFORE = """\
from pytorch_lightning import LightningModule


class Model(LightningModule):
    def setup(self, stage):
        self.classes = self.datamodule.classes

    def on_fit_start(self):
        if self.precision == 16:
            print("half")
"""
AFTER = """\
from pytorch_lightning import LightningModule


class Model(LightningModule):
    def setup(self, stage):
        self.classes = self.trainer.datamodule.classes

    def on_fit_start(self):
        if self.trainer.precision == "16-mixed":
            print("half")
"""
OWN = BEFORE.replace("self.classes = ", "self.datamodule = stage\n        self.precision = 16\n        self.classes = ")


def _rows() -> tuple[tuple[str, Fix], ...]:
    return best_levels(
        (missing.row, "safe" if missing.new or name in TOLD else "manual") for name, missing in MISSING.items()
    )


RULE = Rule(
    code="LIT221",
    name="module-attribute",
    summary="Attributes that LightningModule has no more are asked of the Trainer",
    why=(
        "What a LightningModule told of its Trainer was taken away between 1.1 and 2.0 (guide rows M002, M009, M012, "
        "M043, M053, M054, M066, M067, M135, M184, M295): each is an AttributeError where it is read. The Trainer "
        "spells precisions `16-mixed`, `bf16-mixed`, `32-true` and `64-true` since 2.0, so that a comparison with 16 "
        "would be False without an error. The loaders that fit got, or "
        "its datamodule, were put on the module before 1.6 "
        "(pull request 9764)."
    ),
    fix="safe",
    versions="written for Lightning < 2.0",
    triggers=tuple(f".{name}".encode() for name in MISSING),
    check=_check,
    collect=_collect,
    context=_context,
    examples=(Example(BEFORE, AFTER), Example(OWN, OWN)),
    breaks_in="2.0.0",
    needs="2.0.0",
    rows=_rows,
    mentions=(*MENTIONS, *(text for name in MISSING for text in _settings(name))),
)
