"""LIT233: data modules whose constructor leaves out `super().__init__()`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.code.nodes import walk
from codemods.code.scopes import ROOT, canonical
from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import Function
from codemods.lightning.facts import ClassFact, Facts
from codemods.rule import Example, Match, Rule, TextEdit

DATA = f"{ROOT}.LightningDataModule"
MESSAGE = "a data module without `super().__init__()` in its constructor fails since Lightning 1.6"
REASON = "Lightning 1.5 made that call itself; since 1.6 training ends with an AttributeError."
WRITE = "write `super().__init__()` as the first line of its constructor"
DATACLASSES = ("dataclasses.dataclass", "pydantic.dataclasses.dataclass")


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    for item in file.classes:
        fact = facts.of_class(file, item)
        if fact is None or not _is_data_module(facts, fact):
            continue
        init = item.methods.get("__init__")
        if init is not None and not _begins(init):
            yield _match(file, facts, fact, init)
        elif init is None and _is_dataclass(item) and not _has_post_init(facts, fact):
            advice = "give it `def __post_init__(self):` with `super().__init__()`"
            yield Match(file.head(item.node), MESSAGE, "manual", f"Not rewritten: {advice}. {REASON}")


def _match(file: PythonFile, facts: Facts, fact: ClassFact, init: Function) -> Match:
    why = _why_not(facts, fact, init)
    edit = None if why else _call_first(file, init)
    if edit is None:
        return Match(file.head(init), MESSAGE, "manual", f"Not rewritten: {why or 'it is one line'}; {WRITE}. {REASON}")
    return Match(file.head(init), MESSAGE, "safe", REASON, edits=(edit,))


def _is_data_module(facts: Facts, fact: ClassFact) -> bool:
    return any(canonical(base) == DATA for member in facts.ancestry(fact) for base in member.bases if base)


def _begins(init: Function) -> bool:
    """Whether a constructor calls another, or may by `super`."""
    called = (getattr(node, "attr", None) or getattr(node, "id", None) for node in walk(init))
    return not {"__init__", "super"}.isdisjoint(called)


def _is_dataclass(item: ClassNode) -> bool:
    """Whether a constructor is made for a class."""
    made = [each.func if isinstance(each, ast.Call) else each for each in item.node.decorator_list]
    asked = [word.arg for each in item.node.decorator_list if isinstance(each, ast.Call) for word in each.keywords]
    return "init" not in asked and any(item.scope.resolve(each) in DATACLASSES for each in made)


def _has_post_init(facts: Facts, fact: ClassFact) -> bool:
    return any("__post_init__" in member.methods for member in facts.ancestry(fact))


def _why_not(facts: Facts, fact: ClassFact, init: Function) -> str:
    """What `super().__init__()` may call besides the constructor of LightningDataModule."""
    if not (init.args.posonlyargs or init.args.args) or init.decorator_list:
        return "its constructor is an unusual one"
    above = facts.ancestry(fact)
    if any(len(member.bases) != 1 for member in above):
        return "it has several bases, whose constructors may ask for arguments"
    if other := next((member for member in above if member != fact and "__init__" in member.methods), None):
        return f"`{other.name}` above it has a constructor of its own, which is not called either"
    return ""


def _call_first(file: PythonFile, init: Function) -> TextEdit | None:
    """The edit that puts the call before the first statement behind the docstring; None where all is in one line."""
    text = "super().__init__()"
    first, rest = init.body[0], init.body[1:]
    told = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
    place = rest[0] if told and rest else first
    decorated = getattr(place, "decorator_list", [])
    line = file.lines[(decorated[0] if decorated else place).lineno - 1]
    indent = line.encode()[: place.col_offset].decode()
    if indent.strip():
        return None
    start, end = file.offsets(place)
    start -= len("".join(file.lines[decorated[0].lineno - 1 : place.lineno - 1])) if decorated else 0
    newline = "\r\n" if "\r\n" in file.text else "\n"
    if told and not rest:
        return TextEdit(end, end, f"{newline}{indent}{text}")
    return TextEdit(start, start, f"{text}{newline}{indent}")


BEFORE = """\
import pytorch_lightning as pl


class Digits(pl.LightningDataModule):
    def __init__(self, folder):
        self.folder = folder
"""
AFTER = BEFORE.replace("        self.folder", "        super().__init__()\n        self.folder")
DERIVED = f"""{AFTER}

class Letters(Digits):
    def __init__(self, folder):
        self.folder = folder
"""

RULE = Rule(
    code="LIT233",
    name="data-module-constructor",
    summary="A data module's constructor calls `super().__init__()`",
    why=(
        "Lightning 1.5 called LightningDataModule.__init__ for classes that did not (`__new__` of 1.5.10), and "
        "before, prepare_data() and setup() made up for it where they were called by hand. Since 1.6 `fit` ends with "
        "`'Digits' object has no attribute 'prepare_data_per_node'` (run on 1.5.10, 1.6.5, 1.9.5 and 2.6.6)."
    ),
    fix="safe",
    versions="Lightning 1.0 - 1.5 -> 1.6 and later",
    triggers=(b"DataModule", b"_dataloader("),
    check=_check,
    examples=(Example(BEFORE, AFTER), Example(DERIVED, DERIVED)),
    breaks_in="1.6.0",
)
