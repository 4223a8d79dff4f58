"""What a training says of functions that it did not call: nothing, and that is told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.verify.judging.test_touched import REQUEST, TRAIN, raw
from tests.verify.said import said as told_of
from tests.verify.trees import tree, watched
from verify.evidence import Evidence, FileCoverage
from verify.prove import prove
from verify.reading.idle import Executed, executed
from verify.reading.idle import watched as changed_functions
from verify.reading.sources import Sources

MODEL = """
import pytorch_lightning as pl
import torch


class Model(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(4, 1)

    def training_step(self, batch, batch_idx):
        return self.net(batch).pow(2).mean()

    def test_step(self, batch, batch_idx):
        loss = self.net(batch).mean()
        self.log("tested", loss)
        return loss

    def predict_step(self, batch, batch_idx):
        return self.net(batch)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)
"""
ENDS_OLD = """
    def test_epoch_end(self, outputs):
        self.log("mean", torch.stack(outputs).mean())
"""
ENDS_NEW = """
    def on_test_epoch_start(self):
        self.outputs = []

    def on_test_batch_end(self, outputs, batch, batch_idx, dataloader_idx=0):
        self.outputs.append(outputs)

    def on_test_epoch_end(self):
        self.log("mean", torch.stack(self.outputs).mean())
"""


def trained(folder: Path, old: str, new: str) -> Evidence:
    """The proof of a script that loads `part.py`, which alone was changed."""
    script = TRAIN.replace("import torch", "import torch, part").replace("return self", "part.used(); return self")
    before, after = tree(folder / "before", train=script, part=old), tree(folder / "after", train=script, part=new)
    return prove(before, after, replace(REQUEST, changed=("part.py",)), lambda text: None)


def alone(folder: Path, old: str, new: str) -> Evidence:
    """The proof of a module of 1.9.5 that no script trains."""
    before, after = tree(folder / "before", model=old), tree(folder / "after", model=new)
    request = replace(REQUEST, changed=("model.py",), baseline_below="2.0.0", python=None, baseline_python=None,
                      before_pins=("pytorch-lightning>=1.5",))  # fmt: skip
    return prove(before, after, request, lambda text: None)


PART = "def used():\n    pass\n\n\ndef unused():\n    return 1\n"


def test_a_file_is_as_if_not_executed_where_no_changed_function_of_it_is_called(tmp_path: Path) -> None:
    evidence = trained(tmp_path, PART, PART.replace("return 1", "return 2"))
    assert evidence.after and evidence.after.fitted
    assert (evidence.verdict, evidence.rung) == ("inconclusive", "conforms"), evidence.reason
    assert evidence.reason == "train.py executed nothing of what was changed"
    assert evidence.unexecuted == ("part.py",)
    assert evidence.touched == (FileCoverage("part.py", "not called", (), ("unused",)),)


def test_changed_functions_that_are_not_called_are_named_beside_those_that_are(tmp_path: Path) -> None:
    evidence = trained(tmp_path, PART, PART.replace("return 1", "return 2").replace("pass", "return 3"))
    assert (evidence.verdict, evidence.rung) == ("preserved", "same"), evidence.reason
    assert "not executed: changed, but not called: unused (part.py)" in told_of(evidence)
    assert evidence.touched == (FileCoverage("part.py", "executed", ("used",), ("unused",)),)
    assert evidence.unexecuted == ()


def test_a_rewritten_end_of_tests_is_executed_where_a_module_is_trained_alone(tmp_path: Path) -> None:
    evidence = alone(tmp_path, MODEL + ENDS_OLD, MODEL + ENDS_NEW)
    assert (evidence.verdict, evidence.rung) == ("preserved", "same"), evidence.reason
    assert "not called" not in told_of(evidence)
    (part,) = evidence.alone
    assert part.before and dict(part.before.logged).keys() == dict(part.after.logged).keys() == {"tested", "mean"}


def test_an_evaluation_that_fails_since_is_a_regression(tmp_path: Path) -> None:
    wrong = ENDS_NEW.replace("self.outputs = []", "self.output = []")
    evidence = alone(tmp_path, MODEL + ENDS_OLD, MODEL + wrong)
    assert (evidence.verdict, evidence.rung) == ("regressed", "conforms"), evidence.reason
    assert "afterwards the patched tree fails: AttributeError: 'Model' object has no attribute 'outputs'" in (
        evidence.reason
    )


SAMPLED = """
    def validation_step(self, batch, batch_idx):
        return self.net(batch)

    def on_validation_end(self):
        next(iter(self.trainer.datamodule.test_dataloader()))
"""


def test_an_evaluation_that_fails_in_both_trees_is_left_out_and_named(tmp_path: Path) -> None:
    broken = MODEL.replace("loss = self.net(batch).mean()", "loss = self.nothing(batch)") + SAMPLED
    more = broken.replace("return self.net(batch)\n", "return 2 * self.net(batch)\n")
    evidence = alone(tmp_path, broken, more.replace(".pow(2)", ".square()"))
    assert (evidence.verdict, evidence.rung) == ("preserved", "same"), evidence.reason
    left = [note.partition(":")[0] for note in evidence.alone[0].notes if "left out" in note]
    assert left == [f"{step} fails on these batches (AttributeError" for step in ("validation_step", "test_step")]
    assert "not executed: changed, but not called: Model.predict_step (model.py)" in told_of(evidence)


# -- what was changed, and what was called


def told(folder: Path, old: str, new: str, *calls: str) -> Executed:
    """What a run says something about that executed `m.py` and called these functions, by their first lines."""
    before, after = Sources(tree(folder / "before", m=old)), Sources(tree(folder / "after", m=new))
    lines = [line.strip() for line in new.splitlines()]
    found = tuple(f"m.py:{lines.index(call) + 1}" for call in calls)
    return executed(before, after, ["m.py"], [replace(raw("m.py", ["m.py", "n.py"]), calls=found)])


CASES = {
    "a method that is not called": ("class A:\n def f(s): 1\n def g(s): 1", "class A:\n def f(s): 2\n def g(s): 2",
                                    ["def f(s): 2"], True, ["A.g (m.py)"]),
    "only it is changed": ("def f(): 1\ndef g(): 1", "def f(): 1\ndef g(): 2", ["def f(): 1"], False, []),
    "what stands outside changed too": ("x = 1\ndef g(): 1", "x = 2\ndef g(): 2", [], True, ["g (m.py)"]),
    "what stands in a class changed too": ("class A:\n x = 1\n def g(s): 1", "class A:\n x = 2\n def g(s): 2", [],
                                           True, ["A.g (m.py)"]),
    "a function within another": ("def f():\n def g(): 1", "def f():\n def g(): 2", ["def f():"], False, []),
    "a function around another": ("def f():\n def g(): 1\n 1", "def f():\n def g(): 1\n 2", ["def f():"], True, []),
    "a decorated one": ("@d\ndef f(): 1", "@d\ndef f(): 2", ["@d"], True, []),
    "a compiled one": ("@torch.jit.script\ndef f(): 1", "@torch.jit.script\ndef f(): 2", [], True, []),
    "an asynchronous one": ("async def f(): 1", "async def f(): 2", [], False, []),
    "one under a condition": ("if x:\n def f(): 1", "if x:\n def f(): 2", ["def f(): 2"], True, []),
    "another name": ("class A:\n def f(s): 1", "class A:\n def on_f(s): 1", [], False, []),
    "one that is gone": ("def f(): 1\ndef g(): 1", "def f(): 1", [], True, []),
    "one that is elsewhere": ("def f(): 1\ndef g(): 1", "def g(): 1\n\n\ndef f(): 1", [], True, []),
    "other words about it": ("def f():\n 'a'\n 1", "def f():\n 'b'\n 1", [], True, []),
    "other arguments": ("def f(a): 1", "def f(a, b=2): 1", [], False, []),
}  # fmt: skip


@pytest.mark.parametrize(("old", "new", "calls", "counts", "idle"), CASES.values(), ids=CASES)
def test_a_file_counts_by_what_of_its_changes_was_executed(
    tmp_path: Path, old: str, new: str, calls: list[str], counts: bool, idle: list[str]
) -> None:
    found = told(tmp_path, old, new, *calls)
    assert ("m.py" in found.held, list(found.idle)) == (counts, idle)
    assert "n.py" in found.held


def test_several_runs_count_together_and_one_that_does_not_know_counts_for_all(tmp_path: Path) -> None:
    before, after = Sources(tree(tmp_path / "a", m="def f(): 1")), Sources(tree(tmp_path / "b", m="def f(): 2"))
    one = replace(raw("m.py", ["m.py"]), calls=())
    for other, counts in ((("m.py:1",), True), ((), False), (None, True)):
        found = executed(before, after, ["m.py"], [one, replace(one, calls=other)])
        assert found == Executed(frozenset({"m.py"} if counts else ()), ())


# -- what sees the calls

CALLING = """
import threading, torch
def plain(): pass
@torch.no_grad()
def decorated(): pass
class Kept:
    def method(self): pass
    def never(self): pass
def threaded(): Kept().method()
plain(); decorated()
one = threading.Thread(target=threaded); one.start(); one.join()
"""


CALLED = ["t.py:3", "t.py:4", "t.py:7", "t.py:9"]
NEVER = "t.py:8"
TRACED = "import sys; sys.settrace(lambda *given: None)"
COMPILED = "torch.compile(lambda x: x + 1, backend='eager')(torch.ones(2))"


@pytest.mark.parametrize(
    ("more", "asked", "calls"),
    [
        ("", [*CALLED, NEVER], CALLED),
        ("", CALLED[1:3], CALLED[1:3]),
        ("", [NEVER], []),
        ("", [], []),
        (TRACED, [*CALLED, NEVER], None),
        (COMPILED, [*CALLED, NEVER], None),
        (TRACED + "\n" + COMPILED, CALLED, CALLED),
    ],
)
def test_calls_are_seen_unless_something_else_watches_or_compiles_them(
    tmp_path: Path, more: str, asked: list[str], calls: list[str] | None
) -> None:
    found = watched(tree(tmp_path / "project", t=CALLING + more), "t.py", asked).calls
    assert (None if found is None else list(found)) == calls


@pytest.mark.parametrize(("asked", "traced"), [(CALLED, "None"), ([*CALLED, NEVER], "<bound method Calls._trace")])
def test_watching_ends_with_the_last_function_that_is_looked_for(tmp_path: Path, asked: list[str], traced: str) -> None:
    more = "import sys; plain(); open('traced', 'w').write(str(sys.gettrace()))"
    watched(tree(tmp_path / "project", t=CALLING + more), "t.py", asked)
    assert (tmp_path / "project" / "traced").read_text().startswith(traced)


def test_the_changed_functions_of_the_tree_after_are_looked_for(tmp_path: Path) -> None:
    old = tree(tmp_path / "a", m="def f(): 1\ndef g(): 1", n="def f(): 1", o="def f(): 1")
    new = tree(tmp_path / "b", m="\ndef f(): 1\ndef g(): 2", n="def f(): 2", p="def f(): 1")
    changed = ["m.py", "o.py", "p.py", "pyproject.toml"]
    assert changed_functions(Sources(old), Sources(new), changed) == ["m.py:3"]
