"""LIT232: `datamodule.size()`, which gave the `dims` that the data module was given."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from codemods.code.nodes import walk
from codemods.code.scopes import ROOT, canonical
from codemods.code.source import PythonFile
from codemods.code.syntax import is_self_attribute, self_name, targets_of
from codemods.finding import Fix
from codemods.lightning.facts import ClassFact, Facts
from codemods.lightning.instances import Instances
from codemods.rule import Example, Match, Rule, TextEdit

PACKAGES = ("lightning", "lightning_fabric", "pytorch_lightning")
DATA = "LightningDataModule"
MESSAGE = "`size()` of a data module was removed in Lightning 1.7"
ROW = "M074"
SPEAKING = re.compile(r"\bdm\b|data_?module", re.IGNORECASE)
"""What a file says that may have a data module."""
SURE = "It gave `dims`, which the data module sets itself."
LATER = "It gave `dims`, and an empty tuple where none were set; {name} may be asked before it sets them."
CALLED = "Not rewritten: it gave `dims`, or one of them; write that where it is called."
UNSURE = "Not rewritten: fixer cannot tell whether it is asked of a data module; if it is, write `dims`, which it gave."
GONE = (
    "Not rewritten: it gave `dims`, which {name} does not set: keep the shape of a sample in an attribute of your own."
)


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    near = {id(call.node.func): call.node for call in file.calls_near(["size"])}
    asked, modules = Instances(file, facts, _is_owner, PACKAGES), None
    for node, within in file.nodes_near(["size"]):
        if not (isinstance(node, ast.Attribute) and node.attr == "size" and isinstance(node.ctx, ast.Load)):
            continue
        held = asked.holds(node.value, within)
        if held is False or not (held or _may_be_one(file, node.value)):
            continue
        modules = modules or [item for item in facts.classes() if _is_data_module(facts, item)]
        if not any("size" in item.methods for item in modules):
            call = near.get(id(node))
            yield _match(file, facts, call if call and _is_asked(call) else node, modules, bool(held))


def _match(
    file: PythonFile, facts: Facts, node: ast.Call | ast.Attribute, modules: list[ClassFact], held: bool
) -> Match:
    """What is said of a call, or of the method where it is not called with one dimension at most."""
    asked = node.func if isinstance(node, ast.Call) else node
    assert isinstance(asked, ast.Attribute)
    made = _made(file, facts, asked.value)
    fix, reason = _judged(facts, [made] if made in modules else modules)
    if not held or isinstance(node, ast.Attribute):
        fix, reason = "manual", CALLED if held else UNSURE
    edits = (TextEdit(*file.offsets(node), _written(file, node, asked)),) if isinstance(node, ast.Call) else ()
    return Match(file.span(node), MESSAGE, fix, reason, ROW, edits if fix != "manual" else ())


def _speaks(text: str) -> bool:
    return SPEAKING.search(text) is not None


def _is_asked(call: ast.Call) -> bool:
    """Whether a call is of a method named so, with a dimension or without."""
    plain = len(call.args) + len(call.keywords) <= 1 and all(item.arg == "dim" for item in call.keywords)
    starred = any(isinstance(item, ast.Starred) for item in call.args)
    return isinstance(call.func, ast.Attribute) and call.func.attr == "size" and plain and not starred


def _written(file: PythonFile, call: ast.Call, node: ast.Attribute) -> str:
    """What is written for a call: `data.dims`, or `data.dims[-1]` where one dimension is asked for."""
    asked = [*call.args, *(item.value for item in call.keywords)]
    whole = f"{file.text[file.offsets(node)[0] : file.offsets(node)[1]].removesuffix('size')}dims"
    none = bool(asked) and isinstance(asked[0], ast.Constant) and asked[0].value is None
    return f"{whole}[{file.source_of(asked[0])}]" if asked and not none else whole


def _is_owner(dotted: str) -> bool:
    return canonical(dotted).startswith(f"{ROOT}.") and dotted.rpartition(".")[2] == DATA


def _is_data_module(facts: Facts, item: ClassFact) -> bool:
    return any(_is_owner(base) for member in facts.ancestry(item) for base in member.bases if base)


def _may_be_one(file: PythonFile, node: ast.expr) -> bool:
    """Whether an expression has the name of a data module, and is no tensor that the file makes."""
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    values = [item.node.value for item in file.assignments_to(name)]
    calls = [value.func for value in values if isinstance(value, ast.Call)]
    made = [(file.scope.resolve(func) or "").partition(".")[0] for func in calls]
    return SPEAKING.search(name) is not None and "torch" not in made


def _made(file: PythonFile, facts: Facts, node: ast.expr) -> ClassFact | None:
    """The class of the project that the data module is made of, where one call makes it under its name."""
    places = file.assignments_to(node.id) if isinstance(node, ast.Name) else []
    value = places[0].node.value if len(places) == 1 else node
    if not isinstance(value, ast.Call):
        return None
    return facts.find_class(file.scope.resolve(value.func) or "", file.path)


def _judged(facts: Facts, modules: list[ClassFact]) -> tuple[Fix, str]:
    """How surely `dims` are there, and why, by the data module of the project that says least of it."""
    if not modules:
        return "manual", GONE.format(name="the data module")
    found = {item: max(_sets(facts, member) for member in facts.ancestry(item)) for item in modules}
    least = min(found, key=lambda item: found[item])
    if found[least] == 2:
        return "safe", SURE
    return ("unsafe", LATER.format(name=least.name)) if found[least] else ("manual", GONE.format(name=least.name))


def _sets(facts: Facts, item: ClassFact) -> int:
    """Whether a class sets `dims` always (2), at times (1) or never (0)."""
    file = facts.open(item.path)
    node = next((each for each in file.classes if each.qualname == item.name), None) if file else None
    if node is None or file is None:
        return 0
    body = [target for statement in node.node.body for target in targets_of(statement)]
    init = node.methods.get("__init__")
    made = [target for statement in init.body for target in targets_of(statement)] if init else []
    own = self_name(init) if init else ""
    if any(isinstance(target, ast.Name) and target.id == "dims" for target in body):
        return 2
    if any(is_self_attribute(target, "dims", own) for target in made):
        return 2
    stored = (each for each in walk(node.node) if isinstance(each, ast.Attribute) and each.attr == "dims")
    return int(any(not isinstance(each.ctx, ast.Load) for each in stored))


BEFORE = """\
from pytorch_lightning import LightningDataModule, Trainer


class Digits(LightningDataModule):
    def __init__(self):
        super().__init__()
        self.dims = (1, 28, 28)


dm = Digits()
width = dm.size(-1)
model = Model(*dm.size(), width=width)
Trainer().fit(model, dm)
"""
AFTER = BEFORE.replace("dm.size()", "dm.dims").replace("dm.size(-1)", "dm.dims[-1]")
MIXED = f"""{BEFORE}
print(dm.loaded.size(), torch.ones(3).size())
"""

OWN = BEFORE.replace("\n\n\ndm", "\n\n    def size(self, dim=None):\n        return self.dims[dim or 0]\n\n\ndm")

RULE = Rule(
    code="LIT232",
    name="data-module-size",
    summary="`size()` of a data module becomes its `dims`",
    why=(
        "`LightningDataModule.size(dim)` gave the `dims` of the data module, or one of them, and went in Lightning 1.7 "
        "with the property itself (guide row M074, pull request 8851). What the project sets as `self.dims` is there "
        "as before. Examples that build a model as `GAN(*dm.size())` were copied often."
    ),
    fix="safe",
    versions="written for Lightning < 1.7",
    triggers=(b".size(",),
    spelled=_speaks,
    collect=lambda file: _speaks(file.text) or None,
    context=lambda collected: (DATA.encode(),) if collected else (),
    check=_check,
    examples=(Example(BEFORE, AFTER), Example(MIXED, MIXED.replace(BEFORE, AFTER)), Example(OWN, OWN)),
    breaks_in="1.7.0",
    rows=lambda: ((ROW, "safe"),),
)
