"""A plan that uses again what was looked at is the plan that is made from scratch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import codemods.engine.plan as planning
import codemods.engine.scan as scanning
from codemods.code.parsed_files import ParsedFiles, load
from codemods.code.source import Source
from codemods.engine.draft import Draft
from codemods.engine.plan import Plan, plan
from codemods.engine.scan import Options
from codemods.engine.scan_cache import Memory
from codemods.engine.triggers import sees_text
from codemods.lightning.facts import Facts
from codemods.lightning.pins.stated import pins_of
from codemods.rewrite import locate
from codemods.rule import Rule, all_rules
from fixer.files import kind_of
from fixer.stops import look_again as look_again_at
from tests.codemods.support import sources

FAMILIES = sorted({rule.code[:4] for rule in all_rules()})
"""By their hundred: what a plan from scratch takes grows with the square of a tree."""
EVERY = 6
"""Of the projects each so many-th is taken: a plan from scratch takes its time."""
PROJECTS = Path(__file__).parents[2] / "projects"


def examples_of(family: str) -> list[Source]:
    """The examples of a family's rules as one tree, each in a folder of its own."""
    texts: dict[str, str] = {}
    for rule in all_rules():
        for number, example in enumerate(rule.examples if rule.code.startswith(family) else ()):
            for path, text in {example.path: example.before, **dict(example.files)}.items():
                texts[f"{rule.code.lower()}_{number}/{path}"] = text
    return sources(texts)


def own_projects() -> Iterator[Source]:
    for folder in sorted(PROJECTS.iterdir())[::EVERY]:
        for path in sorted(folder.rglob("*")):
            name = path.relative_to(PROJECTS).as_posix()
            if path.is_file() and (kind := kind_of(name)):
                yield Source(name, kind, path.read_bytes())


def from_scratch(files: list[Source], options: Options, monkeypatch: pytest.MonkeyPatch) -> Plan:
    """A plan for which every rule looks at every file in its turn, parsed anew, and every look at the tree starts with
    nothing."""

    def opened(draft: Draft, rule: Rule, path: str, _: Facts) -> Any:
        return load(draft.now[path], sees_text(rule, draft.now[path]))

    with monkeypatch.context() as patched:
        patched.setattr(planning, "_is_settled", lambda _: False)
        patched.setattr(planning, "_can_wait", lambda *_: False)
        patched.setattr(Draft, "open", opened)
        patched.setattr(Draft, "parsed", lambda *_: None)
        patched.setattr(ParsedFiles, "known", lambda *_: None)
        patched.setattr(Memory, "again", lambda _: Memory())
        patched.setattr(locate, "parts_of", lambda *_: None)
        return plan(files, options)


def in_any_order(made: Plan) -> tuple[object, ...]:
    """A plan as what it says and does; a rule that comes late does the same at the end."""
    changed = sorted((change.code, change.path) for change in made.changes)
    return made.findings, made.final(), changed, made.skipped, made.bugs


@pytest.mark.parametrize("family", FAMILIES)
def test_a_plan_is_the_same_as_one_from_scratch(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    files = examples_of(family)
    options = Options(all_rules(), unsafe=True)
    made = plan(files, options)
    assert in_any_order(made) == in_any_order(from_scratch(files, options, monkeypatch))
    assert made.findings


def test_so_is_that_of_many_projects_in_one_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    files = list(own_projects())
    options = Options(all_rules(), unsafe=True)
    made = plan(files, options)
    assert in_any_order(made) == in_any_order(from_scratch(files, options, monkeypatch))
    assert made.changes


def test_no_rule_has_a_turn_at_a_file_in_which_nothing_is_to_be_rewritten(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at = planning._looked_at
    turns: set[str] = set()

    def watched(rule: Rule, path: str, *rest: Any) -> Any:
        turns.add(path)
        return looked_at(rule, path, *rest)

    monkeypatch.setattr(planning, "_looked_at", watched)
    still = "from pytorch_lightning import Trainer\n\ntrainer = Trainer(weights_summary=how())\n"
    moved = "from pytorch_lightning import Trainer\n\ntrainer = Trainer(gpus=1)\n"
    made = plan(sources({"still.py": still, "moved.py": moved}), Options(all_rules()))
    assert {finding.path for finding in made.findings} == {"still.py", "moved.py"}
    assert turns == {"moved.py"}


def test_no_rule_is_asked_of_what_others_made_where_it_found_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at = planning._looked_at
    turns: set[str] = set()

    def counted(rule: Rule, *more: Any) -> Any:
        turns.add(rule.code)
        return looked_at(rule, *more)

    monkeypatch.setattr(planning, "_looked_at", counted)
    text = "import pytorch_lightning as pl\n\ntrainer = pl.Trainer(gpus=1, max_steps=100)\n"
    rules = tuple(rule for rule in all_rules() if rule.code in ("LIT101", "STP001"))
    made = plan(sources({"train.py": text}), Options(rules))
    assert made.changes
    assert {finding.code for finding in made.findings} == turns == {"LIT101"}


def test_no_attempt_looks_for_what_one_before_it_found(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: Counter[tuple[str, str, str]] = Counter()
    attempts: list[Draft] = []
    rewrite, matches = planning._rewrite, planning.matches

    def started(draft: Draft, *rest: Any) -> None:
        attempts.append(draft)
        rewrite(draft, *rest)

    def watched(rule: Rule, file: Any, *rest: Any) -> Any:
        looks[rule.code, file.path, file.text] += rule.code not in attempts[-1].late
        return matches(rule, file, *rest)

    monkeypatch.setattr(planning, "_rewrite", started)
    monkeypatch.setattr(planning, "matches", watched)
    monkeypatch.setattr(planning, "_opened", lambda *_: set() if len(attempts) > 1 else {"LIT101"})
    plan(list(own_projects()), Options(all_rules(), unsafe=True))
    assert [*attempts[-1].late] == ["LIT101"]
    assert max(looks.values()) == 1


def test_the_last_look_knows_all_that_the_plan_saw_of_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, ...]] = []
    look_again, check = planning._look_again, scanning.check

    def started(draft: Draft, looked: Any, options: Options, memory: Memory) -> Any:
        asked.append(tuple(rule.code for rule in options.rules))
        return look_again(draft, looked, options, memory)

    monkeypatch.setattr(planning, "_look_again", started)
    monkeypatch.setattr(planning, "_eased", lambda *_: {"LIT101"})
    files, memory = list(own_projects()), Memory()
    options = Options(all_rules(), unsafe=True, pins=pins_of(files))
    made = plan(files, options, memory=memory)
    assert asked[-1] == ("LIT101",)
    anew: list[str] = []
    monkeypatch.setattr(scanning, "check", lambda space, item: anew.append(item[0]) or check(space, item))
    assert look_again_at(files, made, options, memory)
    assert not anew
