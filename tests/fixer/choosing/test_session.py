"""Whatever is answered: what was refused is not there, what was taken is, the result parses, and a second run offers
what was refused alone."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codemods.code.source import Source
from codemods.engine.offers import OfferedChanges
from codemods.engine.plan import plan
from codemods.engine.refused import key_of
from codemods.engine.scan import Options
from codemods.engine.scan_cache import Memory
from codemods.lightning.pins.stated import pins_of
from fixer.choosing.session import Answer, ChangeQuestion, Chosen, choose
from fixer.choosing.settings_edit import LeftOut
from tests.codemods.support import notebook, rule, sources

MODEL = """\
import pytorch_lightning as pl
from pytorch_lightning.metrics import Accuracy


class Net(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.accuracy = Accuracy()

    def validation_epoch_end(self, outputs):
        self.log("loss", sum(o["loss"] for o in outputs))


class Other(pl.LightningModule):
    def test_epoch_end(self, outputs):
        self.log("y", 1.0)
"""
RUN = """\
import pytorch_lightning as pl
from model import Net, Other

trainer = pl.Trainer(gpus=0, weights_summary=None, progress_bar_refresh_rate=0, max_epochs=1)
trainer.fit(Net())
other = pl.Trainer(gpus=1, weights_summary="full", resume_from_checkpoint="a.ckpt")
other.fit(Other())
"""
FILES = {
    "model.py": MODEL,
    "run.py": RUN,
    "cast.py": rule("AMP001").examples[0].before,
    "hook.py": rule("LIT211").examples[3].before,
    "book.ipynb": notebook("import pytorch_lightning as pl", "a = pl.Trainer(gpus=0)", "b = pl.Trainer(gpus=1)"),
    "requirements.txt": "pytorch-lightning==1.5.0\ntorch==1.10\n",
}
RULES = tuple(map(rule, ("AMP001", "LIT001", "LIT101", "LIT110", "LIT112", "LIT201", "LIT211", "PIN001")))


@dataclass
class Scripted:
    """Answers from a list, then `rest`; a letter that is none of the answers is passed over."""

    answers: Iterator[str]
    rest: str = "q"
    asked: list[tuple[Answer, ChangeQuestion]] = field(default_factory=list)
    told: list[str] = field(default_factory=list)

    def answer(self, question: ChangeQuestion) -> Answer:
        for said in self._from_now_on():
            if found := next((one for one in question.answers if one == said), None):
                self.asked.append((found, question))
                question.offer.texts()
                return found
        raise AssertionError("no answer")

    def _from_now_on(self) -> Iterator[str]:
        yield from self.answers
        yield self.rest

    def explain(self, question: ChangeQuestion) -> None:
        self.told.append(f"explained {question.offer.rule.code}")

    def help(self, question: ChangeQuestion) -> None:
        self.told.append("helped")

    def setting(self, ways: Sequence[LeftOut]) -> LeftOut | None:
        return ways[ord(next(self.answers, "0")) % len(ways)]

    def tell(self, text: str) -> None:
        self.told.append(text)

    def codes(self, answer: str = "") -> list[str]:
        return [question.offer.rule.code for said, question in self.asked if answer in ("", said)]


def options(files: Sequence[Source], unsafe: bool = True) -> Options:
    return Options(RULES, unsafe=unsafe, pins=pins_of(files))


BASE = sources(FILES)
MEMORY = Memory()
WHOLE = plan(BASE, options(BASE), None, MEMORY)


def chosen(
    answers: str, *, unsafe: bool = True, rest: str = "q", problem: str | None = None
) -> tuple[Chosen, Scripted]:
    talk = Scripted(iter(answers), rest)
    changes = OfferedChanges(BASE, options(BASE), None, MEMORY.again())
    return choose(changes, talk, unsafe=unsafe, problem_of=lambda _: problem), talk


def after(made: Chosen, base: Sequence[Source] = BASE) -> list[Source]:
    final = made.plan.final()
    return [Source(one.path, one.kind, final.get(one.path, one.data)) for one in base]


def text(made: Chosen, path: str) -> str:
    return next(one.data for one in after(made) if one.path == path).decode()


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.sampled_from("yyynnnsssadAl012qe?"), max_size=40), st.sampled_from("yn"))
def test_any_answers(answers: list[str], rest: str) -> None:
    made, talk = chosen("".join(answers), rest=rest)
    now = after(made)
    for source in now:
        if source.kind == "python":
            ast.parse(source.data)
    assert made.plan.bugs == () and made.lost == 0
    found = {key_of(item): item.applied for item in made.plan.findings}
    for said, question in talk.asked:
        places = [place.finding for place in question.offer.places]
        if said in "ynd":
            told = {found[key_of(item)] for item in places if item.code[:3] != "PIN"}
            assert told <= {said == "y"}
    left = Counter((item.code, item.path) for item in made.plan.findings if not item.applied)
    again = plan(now, options(now))
    follows = [item for item in again.findings if item.applied and item.code[:3] != "PIN"]
    assert Counter((item.code, item.path) for item in follows) <= left


def test_yes_to_all_is_what_fix_does() -> None:
    made, talk = chosen("", rest="y")
    assert made.plan == WHOLE
    assert (made.left, made.taken) == (0, sum(len(question.offer.parts) for _, question in talk.asked))
    assert chosen("A")[0].plan == WHOLE


def test_no_to_all_and_quitting_at_once_change_nothing() -> None:
    for rest in "nq":
        made, talk = chosen("", rest=rest)
        assert made.plan.changes == ()
        assert not any(finding.applied for finding in made.plan.findings)
    assert len(talk.asked) == 1


def test_quitting_keeps_what_was_taken() -> None:
    made, talk = chosen("y")
    assert talk.codes("y") == ["AMP001"]
    assert {change.path for change in made.plan.changes} == {"cast.py"}
    assert made.taken == 1 and made.left > 5


def test_all_of_a_rule_and_none_of_another() -> None:
    made, talk = chosen("nada", rest="n")
    first, second, third = talk.codes()[1:4]
    assert talk.codes().count(first) == talk.codes().count(second) == 1
    codes = {change.code for change in made.plan.changes}
    assert first in codes and second not in codes and third in codes


def test_a_group_is_split() -> None:
    sure = "".join("s" if code == "LIT110" else "n" for code in chosen("", rest="n")[1].codes())
    made, talk = chosen(sure.partition("s")[0] + "syn", rest="n")
    assert talk.codes("s") == ["LIT110"]
    (_, group), (_, one), (_, two) = [item for item in talk.asked if item[1].offer.rule.code == "LIT110"][:3]
    assert len(group.offer.parts) > 1 and "s" in group.answers
    assert len(one.offer.parts) == len(two.offer.parts) == 1 and "s" not in one.answers
    assert "weights_summary=None" not in text(made, "run.py") and "progress_bar_refresh_rate=0" in text(made, "run.py")


def test_what_all_says_of_unsafe_changes() -> None:
    """It holds for what is as sure as what it was said of, unless unsafe changes were asked for."""
    made, talk = chosen("A", unsafe=False, rest="n")
    assert [(said, question.offer.fix) for said, question in talk.asked] == [("A", "safe"), ("n", "unsafe")]
    assert {item.applied for item in made.plan.findings if item.fix == "unsafe"} == {False}
    made, talk = chosen("A", unsafe=True, rest="n")
    assert len(talk.asked) == 1
    assert {item.applied for item in made.plan.findings if item.fix == "unsafe"} == {True}


def test_requirements_follow_what_was_taken() -> None:
    """They are offered where something that was taken needs them, and say how much was left that stops it."""
    _, none = chosen("", rest="n")
    assert not [code for code in none.codes() if code.startswith("PIN")]
    codes = chosen("", rest="y")[1].codes()
    _, some = chosen("n" * codes.index("LIT201"), rest="y")
    pins = [question for _, question in some.asked if question.offer.rule.code == "PIN001"]
    assert pins and all(question.stopping > 0 for question in pins)
    assert all(question.stopping == 0 for _, question in some.asked if not question.offer.rule.last)


def test_explaining_and_helping_ask_again() -> None:
    _, talk = chosen("e?")
    assert talk.told[:2] == ["explained AMP001", "helped"]
    assert talk.codes() == ["AMP001"] * 3
    assert {question.number for _, question in talk.asked} == {1}


def test_numbers_count_up_to_the_total() -> None:
    _, talk = chosen("", rest="y")
    numbers = [question.number for _, question in talk.asked]
    assert numbers == list(range(1, len(numbers) + 1))
    assert {question.total for _, question in talk.asked} == {len(numbers)}


@pytest.mark.parametrize("way", [0, 1])
def test_a_rule_is_left_out_for_good(way: int) -> None:
    codes = chosen("", rest="n")[1].codes()
    made, talk = chosen(f"{'n' * codes.index('LIT101')}l{way}", rest="n")
    question = next(question for said, question in talk.asked if said == "l")
    setting = LeftOut("LIT101", question.offer.paths[0]) if way == 0 else LeftOut("LIT101:M164")
    assert made.left_out == (setting,)
    later = [question for _, question in talk.asked if question.offer.rule.code == "LIT101"]
    assert not any(setting.holds(place.finding) for question in later[1:] for place in question.offer.places)


def test_settings_that_cannot_be_written_leave_the_question() -> None:
    made, talk = chosen("l0", problem="no", rest="q")
    assert (made.left_out, talk.told[0], talk.codes("q")) == ((), "no", ["AMP001"])


def test_what_needs_each_other_is_one_question() -> None:
    _, talk = chosen("", rest="n")
    units: Mapping[str, set[int]] = {}
    for number, (_, question) in enumerate(talk.asked):
        for place in question.offer.places:
            if place.match.unit:
                units = {**units, place.match.unit: {*units.get(place.match.unit, ()), number}}
    assert units and all(len(numbers) == 1 for numbers in units.values())
