"""What is told of findings that other rules' repairs changed the ground of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import libcst as cst
import pytest

from codemods.engine.plan import Plan, plan
from codemods.engine.reconcile import told
from codemods.engine.scan import Options
from codemods.finding import Finding, Span
from codemods.lightning.facts import Facts
from codemods.rule import Match, NodeEdit, Rule
from tests.codemods.engine.test_engine import breaking
from tests.codemods.support import rule, run_rules, sources

FILL = breaking(lambda node: node.with_changes(args=[cst.Arg(cst.Integer("2"))]), "AAA001")
NAME = breaking(lambda node: cst.Name("done"), "BBB001")


def bare(rule: Rule) -> Iterator[Any]:
    """A rule that finds the calls without arguments alone."""

    def check(file: Any, facts: Facts) -> Iterator[Match]:
        yield from filter(is_bare, rule.check(file, facts))

    yield replace(rule, check=check)


def is_bare(match: Match) -> bool:
    (edit,) = match.edits
    return isinstance(edit, NodeEdit) and not getattr(edit.node, "args", ())


def said(made: Plan) -> list[tuple[str, int, str, bool, str]]:
    assert made.bugs == ()
    return [(item.code, item.span.line, item.fix, item.applied, item.reason) for item in made.findings]


@pytest.mark.parametrize("changes", [{"message": "it is given something"}, {"row": "M2"}])
def test_what_a_rule_says_by_other_words_when_its_turn_comes_is_told(changes: dict[str, Any]) -> None:
    def named(file: Any, facts: Facts) -> Iterator[Match]:
        for match in NAME.check(file, facts):
            yield match if is_bare(match) else replace(match, fix="manual", reason="by hand", edits=(), **changes)

    made = run_rules({"a.py": "target()\n"}, *bare(FILL), replace(NAME, check=named))
    assert said(made) == [("AAA001", 1, "safe", True, "r"), ("BBB001", 1, "manual", False, "by hand")]
    (found,) = (item for item in made.findings if item.code == "BBB001")
    assert (found.message, found.row) == (changes.get("message", "m"), changes.get("row"))


def test_what_a_rule_rewrites_under_another_name_is_told_of_the_first() -> None:
    def named(file: Any, facts: Facts) -> Iterator[Match]:
        for match in NAME.check(file, facts):
            yield match if is_bare(match) else replace(match, fix="unsafe", message="target of two", reason="probably")

    made = run_rules({"a.py": "target()\n"}, *bare(FILL), replace(NAME, check=named), unsafe=True)
    assert made.final() == {"a.py": b"done\n"}
    assert said(made) == [("AAA001", 1, "safe", True, "r"), ("BBB001", 1, "unsafe", True, "probably")]
    assert {item.message for item in made.findings} == {"m"}


def test_a_finding_is_answered_by_itself_where_its_rule_rewrote_others() -> None:
    def first(file: Any, facts: Facts) -> Iterator[Match]:
        yield from (match for match in FILL.check(file, facts) if is_bare(match) and match.span.line == 1)

    made = run_rules({"a.py": "target()\n\n\ntarget()\ndone\n"}, replace(FILL, check=first), *bare(NAME))
    assert made.final() == {"a.py": b"target(2)\n\n\ndone\ndone\n"}
    assert said(made) == [
        ("AAA001", 1, "safe", True, "r"),
        ("BBB001", 1, "safe", True, "The repair of AAA001 answers it."),
        ("BBB001", 4, "safe", True, "r"),
    ]


@pytest.mark.parametrize(
    ("level", "reason"),
    [("safe", "What AAA002 rewrote takes care of it."), ("manual", "by hand")],
)
def test_a_repair_elsewhere_answers_nothing(level: str, reason: str) -> None:
    def far(file: Any, facts: Facts) -> Iterator[Match]:
        for call in file.calls:
            if getattr(call.node.func, "id", "") == "far":
                edits = (NodeEdit(call.node, lambda node: cst.Name("gone")),)
                yield Match(file.span(call.node), "m", "safe", "r", edits=edits)

    def until(file: Any, facts: Facts) -> Iterator[Match]:
        for match in NAME.check(file, facts):
            if "far" in file.text:
                yield match
            elif level == "manual":
                yield replace(match, fix="manual", message="other", reason="by hand", edits=())

    rules = (replace(FILL, code="AAA002", check=far), replace(NAME, check=until))
    made = run_rules({"a.py": "target()\n" + "\n" * 50 + "far()\n"}, *rules)
    assert said(made)[0] == ("BBB001", 1, level, level == "safe", reason)


def found(code: str, line: int, message: str, cell: int | None = None) -> Finding:
    span = Span(line, 1, line, 9)
    return Finding(code, "a.ipynb", span, message, "safe", "r", None, cell, applied=True)


def test_all_that_a_repair_led_to_is_told_at_its_cell() -> None:
    seen = {("BBB001", "a.ipynb"): [found("BBB001", 2, "one", 3), found("BBB001", 3, "two", 3)]}
    first = found("AAA001", 2, "m", 3)
    changed = {("AAA001", "a.ipynb"), ("BBB001", "a.ipynb")}
    every = told([first], (), changed, seen, {})
    assert [(item.message, item.span, item.cell) for item in every] == [(m, first.span, 3) for m in ("m", "one", "two")]
    alone = told([], (), changed, seen, {})
    assert [(item.message, item.cell) for item in alone] == [("one", 3), ("two", 3)]


LEFT = Finding("AAA001", "a.py", Span(1, 5, 1, 8), "old went", "manual", "by hand", "M001")
MADE = Finding("BBB001", "a.py", Span(1, 1, 1, 2), "x", "safe", "r", "M002", applied=True)
OLD = b"x = old\nsee(old)\n"


@pytest.mark.parametrize(
    ("finding", "after", "again", "answered"),
    [
        (LEFT, "y = new\nsee(old)\n", None, True),
        (LEFT, "y = new\nsee(old)\n", LEFT.message, False),
        (LEFT, "y = new\nsee(old)\n", "the same in other words", False),
        (LEFT, "y = old\nsee(old)\n", None, False),
        (LEFT, "y = new.old\nsee(old)\n", None, False),
        (LEFT, "x = old\nsee(new)\n", None, False),
        (replace(LEFT, row=None), "y = new\nsee(old)\n", None, False),
        (replace(LEFT, row=None, stops=True), "y = new\nsee(old)\n", None, True),
        (replace(LEFT, row=None, stops=True), "y = new\nsee(old)\n", LEFT.message, False),
        (replace(LEFT, row="B01"), "y = new\nsee(old)\n", None, False),
        (replace(LEFT, cell=0), "y = new\nsee(old)\n", None, False),
        (replace(LEFT, code="BBB001"), "y = new\nsee(old)\n", None, False),
    ],
)
def test_what_took_the_text_of_a_finding_away_answers_it(
    finding: Finding, after: str, again: str | None, answered: bool
) -> None:
    """Where nothing went, a finding speaks of what follows from the move, which a rewrite of its place does not
    answer."""
    left = {(finding.code, finding.path, again, finding.row)} if again else set()
    first, _ = told([finding, MADE], left, {("BBB001", "a.py")}, {}, {"a.py": (OLD, after.encode())})
    assert first.applied is answered
    assert first.reason == ("The repair of BBB001 answers it." if answered else "by hand")


@pytest.mark.parametrize("above", [b"\x0c", "'\u2028'\n".encode(), b"'\x85'\n"])
def test_lines_are_those_of_python(above: bytes) -> None:
    """What breaks a line for `str.splitlines` alone moves no finding to the line of another."""
    before, after = above + OLD, above + OLD.replace(b"x = old", b"x = new")
    line = 2 + above.count(b"\n")
    kept = replace(LEFT, span=Span(line, 5, line, 8))
    first, _ = told([kept, MADE], (), {("BBB001", "a.py")}, {}, {"a.py": (before, after)})
    assert not first.applied


def test_a_name_that_only_moved_is_left() -> None:
    """The rule of the other name changes what stands before it; the message says what stands there now."""
    text = (
        "import pytorch_lightning\n\nx = pytorch_lightning.utilities.parsing.str_to_bool_or_str\n"
        "trainer = pytorch_lightning.Trainer(max_epochs=1)\n"
    )
    rules = (rule("LIT001"), rule("LIT002"))
    made = plan(sources({"a.py": text}), Options(rules, jobs=1, namespace="lightning"))
    assert "lightning.pytorch.utilities.parsing.str_to_bool_or_str" in made.final()["a.py"].decode()
    assert [item.applied for item in made.findings if item.code == "LIT001"] == [False]


def test_the_rule_that_replaced_the_place_is_the_one_that_answers() -> None:
    text = (
        "from pytorch_lightning import LightningModule\n\n\nclass Model(LightningModule):\n"
        "    @property\n"
        "    def num_training_steps(self):\n        if self.trainer.max_steps:\n"
        "            return self.trainer.max_steps\n        batches = len(self.trainer.datamodule.train_dataloader())\n"
        "        devices = max(1, self.trainer.num_gpus, self.trainer.num_processes)\n"
        "        if self.trainer.num_tpu_cores:\n            devices = max(devices, self.trainer.num_tpu_cores)\n"
        "        effective = self.trainer.accumulate_grad_batches * devices\n"
        "        return (batches // effective) * self.trainer.max_epochs\n"
    )
    made = run_rules({"a.py": text}, unsafe=True)
    assert "estimated_stepping_batches" in made.final()["a.py"].decode()
    found = [(item.applied, item.reason) for item in made.findings if item.row == "M108"]
    assert found == [(True, "The repair of STP002 answers it.")] * 2
