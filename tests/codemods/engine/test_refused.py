"""Changes that are refused: they are not made, the others are, and what comes behind them sees the text so."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import replace

import pytest

from codemods.engine.offers import Offer, OfferedChanges, grouped
from codemods.engine.plan import Plan, plan
from codemods.engine.refused import Key
from codemods.engine.scan import Options
from codemods.rule import Rule, all_rules
from tests.codemods.support import notebook, rule, sources

TRAINERS = """\
import pytorch_lightning as pl

one = pl.Trainer(gpus=0, weights_summary=None, progress_bar_refresh_rate=0, max_epochs=1)
two = pl.Trainer(gpus=1, weights_summary=None)
"""
PARTIAL = {
    "train.py": """\
import pytorch_lightning as pl
from pytorch_lightning.metrics import Accuracy


class Net(pl.LightningModule):
    def validation_epoch_end(self, outputs):
        self.log("x", 1.0)

    def test_epoch_end(self, outputs):
        self.log("y", 1.0)


trainer = pl.Trainer(gpus=0, weights_summary=None, progress_bar_refresh_rate=0)
""",
    "requirements.txt": "pytorch-lightning==1.5.0\n",
}
IGNORED = re.compile(r"  # fixer: ignore\[[^\]]*\]")


def offered(files: Mapping[str, str], *rules: Rule, unsafe: bool = True) -> OfferedChanges:
    return OfferedChanges(sources(files), Options(rules or all_rules(), unsafe=unsafe))


def result(made: Plan, files: Mapping[str, str]) -> dict[str, str]:
    final = made.final()
    return {path: final[path].decode() if path in final else text for path, text in files.items()}


def without(files: Mapping[str, str], refused: Collection[Key], *rules: Rule) -> dict[str, str]:
    return result(offered(files, *rules).plan(refused)[0], files)


def at(offers: Collection[Offer], line: int, message: str = "") -> Offer:
    """The change of one place."""
    (found,) = (
        offer
        for offer in offers
        if any(place.finding.span.line == line and message in place.finding.message for place in offer.places)
    )
    return found


def test_nothing_refused_is_the_plan() -> None:
    made, offers = offered(PARTIAL).plan()
    assert made == plan(sources(PARTIAL), Options(all_rules(), unsafe=True))
    assert [offer.rule.code for offer in grouped(offers)] == ["LIT001", "LIT101", "LIT110", "LIT201", "PIN001"]


def test_everything_refused_changes_nothing() -> None:
    _, offers = offered(PARTIAL).plan()
    refused = {key for offer in offers for key in offer.keys}
    made, left = offered(PARTIAL).plan(refused)
    assert (made.changes, left, made.bugs) == ((), (), ())
    assert not any(finding.applied for finding in made.findings)


def test_two_of_a_kind_on_one_line_that_another_rule_changed() -> None:
    files = {"train.py": TRAINERS}
    _, offers = offered(files).plan()
    refused = at(offers, 3, "weights_summary").keys | at(offers, 4, "gpus").keys
    assert without(files, refused)["train.py"].splitlines()[2:] == [
        'one = pl.Trainer(accelerator="cpu", weights_summary=None, enable_progress_bar=False, max_epochs=1)',
        "two = pl.Trainer(gpus=1, enable_model_summary=False)",
    ]


def test_lines_that_other_rules_moved() -> None:
    """AMP001 brings a line, so that all below stands lower when its turn comes; what is refused stands where what is
    taken stood before."""
    text = rule("AMP001").examples[0].before + "from pytorch_lightning import Trainer\n\n" + "Trainer(gpus=1)\n" * 4
    lines = text.splitlines()
    first = lines.index("Trainer(gpus=1)") + 1
    files = {"train.py": text}
    _, offers = offered(files, rule("AMP001"), rule("LIT101")).plan()
    after = without(files, at(offers, first + 1).keys | at(offers, first + 3).keys, rule("AMP001"), rule("LIT101"))
    moved = 'Trainer(accelerator="gpu", devices=1)'
    assert len(after["train.py"].splitlines()) == len(lines) + 1
    assert after["train.py"].splitlines()[-4:] == [moved, lines[-1], moved, lines[-1]]


def test_a_class_is_taken_whole() -> None:
    _, offers = offered(PARTIAL).plan()
    offer = at(offers, 9)
    assert [place.finding.span.line for place in offer.places] == [6, 9]
    text = without(PARTIAL, offer.keys)["train.py"]
    assert "def validation_epoch_end(self, outputs):" in text and "def test_epoch_end(self, outputs):" in text


LINES = """\
import pytorch_lightning as pl

trainer = pl.Trainer(
    gpus=1,
    weights_summary=None,
    progress_bar_refresh_rate=0, checkpoint_callback=False,
    resume_from_checkpoint=None,
)
trainer.fit(None)
"""
CLASSES = """\
from pytorch_lightning import Trainer, LightningModule
from pytorch_lightning.core.lightning import LightningModule as LM
from pytorch_lightning.utilities.distributed import rank_zero_only


class A(LM):
    @rank_zero_only
    def a(self):
        print(self.trainer.gpus, self.trainer.num_gpus)

    def training_epoch_end(self, outputs):
        self.log("a", sum(o["loss"] for o in outputs))

    def validation_epoch_end(self, outputs):
        print(self.trainer.gpus)
        self.log("b", len(outputs))


class B(LightningModule):
    def training_epoch_end(self, outputs):
        pass


Trainer(gpus=[0], checkpoint_callback=False)
"""
PLAIN = "import pytorch_lightning as pl"
TWICE = "t = pl.Trainer(gpus=1, weights_summary=None)"
STRANGE = {
    "lines": {"a.py": LINES},
    "carriage returns": {"a.py": LINES.replace("\n", "\r\n")},
    "the same line again and again": {"a.py": f"{PLAIN}\n" + f"{TWICE}\n" * 5},
    "all on one line": {"a.py": f"{PLAIN}; {TWICE}; {TWICE}\n"},
    "the end of a file": {"a.py": f"{PLAIN}\n{TWICE}"},
    "classes": {"a.py": CLASSES},
    "cells": {"a.ipynb": notebook(PLAIN, f"{TWICE}\n{TWICE}", TWICE)},
    "a configuration": {"conf/a.yaml": "trainer:\n  gpus: 1\n  weights_summary: null\nother:\n  gpus: 1\n"},
}


@pytest.mark.parametrize("name", STRANGE)
def test_each_alone_is_left_and_no_other_one_with_it(name: str) -> None:
    changes = offered(STRANGE[name])
    _, offers = changes.plan()
    assert len(offers) > 1 or name == "a configuration"
    for offer in offers:
        made, left = changes.plan(offer.keys)
        there = {key for other in left for key in other.keys}
        assert made.bugs == () and not there & offer.keys
        others = (other for other in offers if other is not offer and not other.rule.last)
        assert {key for other in others for key in other.keys} <= there, offer.keys


@pytest.mark.parametrize("taken", range(5))
def test_one_of_many_that_are_alike(taken: int) -> None:
    """Which of them it is, their lines do not tell, and other rules changed some of those."""
    files = STRANGE["the same line again and again"]
    _, offers = offered(files).plan()
    of_gpus = [offer for offer in offers if offer.rule.code == "LIT101"]
    of_summary = [offer for offer in offers if offer.rule.code == "LIT110"]
    refused = of_gpus[taken].keys | {
        key for offer in of_summary if offer is not of_summary[taken] for key in offer.keys
    }
    lines = without(files, refused)["a.py"].splitlines()[1:]
    other = 't = pl.Trainer(accelerator="gpu", devices=1, weights_summary=None)'
    assert lines == [
        "t = pl.Trainer(gpus=1, enable_model_summary=False)" if number == taken else other for number in range(5)
    ]


def ignoring(text: str, lines: Mapping[int, str]) -> str:
    """The text with comments that have codes ignored on some lines."""
    told = enumerate(text.splitlines(), 1)
    return "\n".join(f"{line}  # fixer: ignore[{lines[n]}]" if n in lines else line for n, line in told) + "\n"


@pytest.mark.parametrize("line", [2, 6, 9, 13])
def test_it_is_as_if_a_comment_said_so(line: int) -> None:
    """The other way to leave out a place, which the text itself says."""
    _, offers = offered(PARTIAL).plan()
    mine = [offer for offer in offers if any(place.finding.span.line == line for place in offer.places)]
    of_python = [offer for offer in mine if offer.paths == ("train.py",)]
    refused = {key for offer in of_python for key in offer.keys}
    ignored = {**PARTIAL, "train.py": ignoring(PARTIAL["train.py"], {line: ",".join({o.rule.code for o in of_python})})}
    rules = [item for item in all_rules() if item.code != "IGN001"]
    silent = {path: IGNORED.sub("", text) for path, text in without(ignored, (), *rules).items()}
    assert without(PARTIAL, refused, *rules) == silent


def test_a_rule_behind_sees_the_text_without_it() -> None:
    """The requirement is raised for what was rewritten, and for nothing else."""
    _, offers = offered(PARTIAL).plan()
    refused = {key for offer in offers if offer.paths == ("train.py",) for key in offer.keys}
    assert without(PARTIAL, refused) == PARTIAL


def test_parts_of_one_change_over_files_are_one_offer() -> None:
    files = {
        "net.py": rule("OPT001").examples[0].before,
        "run.py": "import pytorch_lightning as pl\nfrom net import *\n\ntrainer = pl.Trainer(gpus=1)\n",
    }
    for example in rule("OPT001").examples:
        whole = {example.path: example.before, **dict(example.files)}
        _, offers = offered(whole, rule("OPT001")).plan()
        for offer in offers:
            units = {place.match.unit for place in offer.places if place.match.unit}
            others = [other for other in offers if other is not offer]
            assert not any(place.match.unit in units for other in others for place in other.places)
            assert without(whole, offer.keys, rule("OPT001")) != whole or not others
    assert offered(files).plan()[1]


def test_what_a_rule_finds_only_behind_others() -> None:
    """It has no place in the file as it came, and is refused by its rule and file."""
    files = {"train.py": "from pytorch_lightning.metrics import Accuracy\n\naccuracy = Accuracy()\n"}
    _, offers = offered(files).plan()
    brought = [offer for offer in offers if any(key[3] is None for key in offer.keys)]
    for offer in brought:
        made, left = offered(files).plan(offer.keys)
        assert not any(offer.keys & other.keys for other in left)
        assert made.bugs == ()


def test_notebooks_by_cell() -> None:
    book = notebook("import pytorch_lightning as pl", "a = pl.Trainer(gpus=0)", "b = pl.Trainer(gpus=0)")
    files = {"a.ipynb": book}
    _, offers = offered(files, rule("LIT101"), rule("LIT002")).plan()
    second = next(offer for offer in offers if offer.places[0].finding.cell == 2)
    text = without(files, second.keys)["a.ipynb"]
    assert 'a = pl.Trainer(accelerator=\\"cpu\\")' in text
    assert "b = pl.Trainer(gpus=0)" in text


def test_unsafe_changes_refused_are_the_plan_without_them() -> None:
    example = next(item for item in rule("GRD001").examples if item.before != item.after)
    files = {**PARTIAL, "other.py": example.before}
    changes, refused = offered(files), set[Key]()
    while more := {k for o in changes.plan(refused)[1] if o.fix == "unsafe" for k in o.keys} - refused:
        refused |= more
    assert changes.plan(refused)[0].changes == plan(sources(files), Options(all_rules())).changes


def test_an_offer_shows_what_it_makes_alone() -> None:
    files = {"train.py": TRAINERS}
    _, offers = offered(files, rule("LIT110")).plan()
    (whole,) = grouped(offers)
    assert whole.split() == offers and len(offers) == 3
    (texts,) = offers[0].texts()
    assert texts.after.decode() == TRAINERS.replace("weights_summary=None", "enable_model_summary=False", 1)
    (texts,) = whole.texts()
    assert texts.after.decode() == without(files, (), rule("LIT110"))["train.py"]


def test_a_file_that_a_change_brings() -> None:
    script = rule("LIT130").examples[0].before
    files = {"pkg/__init__.py": "", "pkg/models.py": ""}
    files |= {f"pkg/{name}.py": f"from pkg.models import Model\n{script}" for name in ("one", "two")}
    _, offers = offered(files, rule("LIT130")).plan()
    brought = [texts for offer in offers for texts in offer.texts() if texts.before is None]
    assert {texts.path for texts in brought} == {"pkg/trainer_arguments.py"}
    refused = {key for offer in offers for key in offer.keys}
    assert offered(files, rule("LIT130")).plan(refused)[0].changes == ()


@pytest.mark.parametrize("refused_at", [0, 1, 3])
def test_rules_behind_are_walked_as_the_plan_has_them(refused_at: int) -> None:
    """What is refused while one goes through the changes is left at once, and by what comes behind."""
    changes, refused = offered(PARTIAL), set[Key]()
    changes.plan()
    seen: dict[str, list[frozenset[Key]]] = {}
    for number, run in enumerate(changes.walk(refused)):
        seen[run[0].rule.code] = [offer.keys for offer in run]
        if number == refused_at:
            refused |= run[0].keys
    made, end = changes.plan(refused)
    assert [keys for own in seen.values() for keys in own if not keys & refused] == [offer.keys for offer in end]
    assert made == plan(sources(PARTIAL), replace(Options(all_rules(), unsafe=True), refused=frozenset(refused)))


def test_a_walk_without_refusals_is_the_plan() -> None:
    changes = offered(PARTIAL)
    _, planned = changes.plan()
    assert [offer for run in changes.walk(()) for offer in run] == [*planned]
