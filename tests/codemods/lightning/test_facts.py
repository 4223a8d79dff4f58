"""Facts that differ in one file share what they say of the others, and say what they would by themselves."""

from __future__ import annotations

from dataclasses import replace

import pytest

from codemods.code.parsed_files import ParsedFiles
from codemods.lightning.class_answers import ClassAnswers
from codemods.lightning.facts import CALLBACK, MODULE, ClassFact, Facts, FileFacts


def _file(path: str, **collected: object) -> FileFacts:
    names = frozenset[str]()
    return FileFacts(path, path.removesuffix(".py"), {}, names, names, (), None, (), (), False, collected)


FACTS = Facts({item.path: item for item in (_file("a.py", A=1), _file("b.py", A=2, B=3), _file("c.py", B=4))})


@pytest.mark.parametrize(
    "own",
    [_file("b.py", A=2, B=3), _file("b.py", A=5, B=3), _file("b.py", A=2), _file("b.py"), _file("b.py", A=2, B=3, C=6)],
)
def test_what_rules_collected_is_the_same_as_of_facts_made_anew(own: FileFacts) -> None:
    made, alone = FACTS.having(own), replace(FACTS, files={**FACTS.files, "b.py": own})
    for code in "ABC":
        assert list(made.collected(code).items()) == list(alone.collected(code).items())


def test_what_others_collected_is_shared() -> None:
    assert FACTS.having(replace(FACTS.files["b.py"], stars=("d",))).collected("A") is FACTS.collected("A")


def _classes(path: str, bases: dict[str, tuple[str, ...]], **imports: str) -> FileFacts:
    made = tuple(ClassFact(name, path, above, frozenset()) for name, above in bases.items())
    names = frozenset({*bases, *imports})
    return replace(_file(path), exports=imports, bound=names, classes=made)


PROJECT = Facts({
    item.path: item
    for item in (
        _classes("base.py", {"Base": (MODULE,), "Lone": ("object",)}),
        _classes("mid.py", {"Mid": ("base.Base",)}, Again="base.Base", Base="base.Base"),
        _classes("leaf.py", {"Leaf": ("mid.Mid",), "Through": ("mid.Again",)}),
        _classes("apart.py", {"Callback": (CALLBACK,), "Below": ("apart.Callback",)}),
    )
})  # fmt: skip


@pytest.mark.parametrize(
    "own",
    [
        _classes("base.py", {"Base": ("object",), "Lone": ("object",)}),
        _classes("base.py", {"Base": (MODULE,)}),
        _classes("mid.py", {"Mid": ("object",)}, Again="base.Base"),
        _classes("mid.py", {"Mid": ("base.Base",)}, Again="apart.Below", Base="base.Base"),
        _classes("mid.py", {"Mid": ("base.Base",), "New": ("apart.Callback",)}, Again="base.Base"),
        _classes("leaf.py", {"Leaf": ("mid.Mid",), "Base": (MODULE,), "Through": ("leaf.Base",)}),
        _classes("apart.py", {"Callback": ("mid.Mid",), "Below": ("apart.Callback",)}),
        _classes("apart.py", {}),
    ],
)
def test_what_is_known_of_classes_is_the_same_as_of_facts_made_anew(own: FileFacts) -> None:
    before = replace(PROJECT, of_classes=ClassAnswers())
    _answers(before)
    made = before.having(own)
    alone = replace(PROJECT, files={**PROJECT.files, own.path: own}, of_classes=ClassAnswers())
    assert _answers(made) == _answers(alone)
    assert _answers(before) == _answers(replace(PROJECT, of_classes=ClassAnswers()))


def test_classes_that_have_nothing_to_do_with_a_file_keep_their_answers() -> None:
    before = replace(PROJECT, of_classes=ClassAnswers())
    _answers(before)
    made = before.having(_classes("leaf.py", {"Leaf": ("mid.Mid",), "New": ("mid.Again",)}))
    known = {item.name for item in made.of_classes.kinds}
    assert {"Callback", "Below", "Lone"} <= known and known.isdisjoint({"Leaf", "Through"})
    assert {"Base", "Mid"} <= {item.name for item in made.of_classes.ancestry}


def test_what_is_worked_out_of_other_trees_is_not_told_to_who_has_these() -> None:
    before = replace(PROJECT, of_classes=ClassAnswers())
    made = before.having(PROJECT.files["leaf.py"], ParsedFiles({}))
    assert _answers(made) == _answers(replace(PROJECT, of_classes=ClassAnswers()))
    assert made.trees is not before.trees and not before.of_classes.kinds


def _answers(facts: Facts) -> list[object]:
    return [
        (item, facts.kind(item), facts.ancestry(item), facts.lineage(item), list(facts.subclasses(item)))
        for item in facts.classes()
    ]
