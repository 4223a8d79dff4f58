"""A training that is too slow for its time is run once more, on fewer batches, in both trees."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from tests.mutations.judging import recorded
from tests.training.interpreters import TARGET
from tests.verify.test_provided import REQUEST, failed
from tests.verify.trees import tree
from verify.evidence import Evidence
from verify.finished import keep
from verify.harness import measures, short
from verify.harness.pace import LargeTraining, SlowTraining, TrainingPace
from verify.judging.record import RunRecord, read
from verify.judging.verdict import judge
from verify.prove import prove
from verify.retried import otherwise
from verify.sandbox.process import Outcome

SLOW = """
import time
import lightning as L
import torch


class Module(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(2, 1)

    def training_step(self, batch, batch_idx):
        time.sleep(3)
        loss = self.net(batch).pow(2).mean()
        self.log("loss", loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


L.Trainer(max_epochs=9, logger=False).fit(Module(), torch.utils.data.DataLoader(torch.rand(64, 2)))
"""


def proven(folder: Path, spoiled: tuple[str, str]) -> tuple[Evidence, list[str]]:
    said: list[str] = []
    trees = tree(folder / "before", train=SLOW), tree(folder / "after", train=SLOW.replace(*spoiled))
    pins = ("lightning==2.6.6",)
    request = replace(REQUEST, before_pins=pins, after_pins=pins, baseline_below=None, timeout=30)
    return prove(*trees, request, said.append), said


def test_fewer_batches_show_what_differs(tmp_path: Path) -> None:
    evidence, said = proven(tmp_path, ("pow(2)", "pow(4)"))
    assert evidence.verdict == "changed", evidence.reason
    assert any("on fewer batches: a step takes 3 s" in line for line in said)
    assert evidence.before is not None and evidence.after is not None
    assert evidence.before.optimizer_steps == evidence.after.optimizer_steps == 2
    assert any("a shorter training" in fact.text and "2 batches of 1 epoch" in fact.text for fact in evidence.facts)


def test_a_pace_that_is_enough_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    now, said = [0.0], list[str]()
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    pace, free = (
        TrainingPace({"mode": "train", "seconds": 100}, lambda *_, **told: said.append(told["type"])),
        TrainingPace({"mode": "train", "seconds": 100, "shorter": ("x",)}, print),
    )
    for number, at in ((1, 30.0), (2, 34.0), (9, 62.0)):
        now[0] = at
        pace.at(number, 16)
    now[0] = 70.0
    free.at(2, 16)
    with pytest.raises(SlowTraining, match="a step takes 5 s, and 16 of them do not fit into 100 s"):
        pace.at(9, 16)
    assert said == ["SlowTraining"]


def test_what_a_project_answers_to_its_end_is_no_failure_of_its_own(tmp_path: Path) -> None:
    told = [{"event": "failure", "type": kind, "message": kind, "place": None}
            for kind in ("LargeTraining", "SystemExit")]  # fmt: skip
    for number, events in enumerate((told, [*reversed(told)])):
        (tmp_path / f"{number}.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events))
        raw = read(tmp_path / f"{number}.jsonl", "train.py")
        assert raw.recording.failure is not None and raw.recording.failure.type == "LargeTraining"
        assert raw.ended == "LargeTraining"
    trained = replace(raw, ended=None, recording=replace(raw.recording, fitted=True, failure=None))
    assert [judge(*trees, ()).verdict for trees in ((trained, raw), (raw, trained))] == ["inconclusive"] * 2


@pytest.fixture
def pace() -> Iterator[TrainingPace]:
    handler = signal.getsignal(signal.SIGALRM)
    try:
        yield TrainingPace({"mode": "train", "seconds": 100}, lambda *_, **told: None)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)


def test_a_timer_of_the_project_is_left_alone(pace: TrainingPace) -> None:
    pace.wait()
    assert 30 < signal.getitimer(signal.ITIMER_REAL)[0] <= 40
    pace.begun()
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0
    pace.late()
    pace.wait()
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    signal.alarm(90)
    pace.begun()
    assert signal.getitimer(signal.ITIMER_REAL)[0] > 80


def test_a_training_is_ended_once(pace: TrainingPace) -> None:
    pace.wait()
    with pytest.raises(LargeTraining, match="its second batch did not come in 40 s"):
        signal.raise_signal(signal.SIGALRM)
    signal.raise_signal(signal.SIGALRM)


def test_a_run_that_was_too_slow_is_not_taken_again(tmp_path: Path) -> None:
    for name, kind in (("slow", "SlowTraining"), ("wrong", "ValueError")):
        record = tmp_path / f"{name}.jsonl"
        record.write_text(json.dumps({"event": "failure", "type": kind, "message": "", "place": None}) + "\n")
        keep(tmp_path, name, Outcome(1, "", None, 1.0), [record], None)
    assert [(tmp_path / name).is_dir() for name in ("slow", "wrong")] == [False, True]


def test_fewer_batches_are_tried_once(tmp_path: Path) -> None:
    slow = failed(tmp_path, "a step takes 9 s")
    failure = slow.recording.failure
    assert failure and otherwise(None, slow, {}) is None
    slow = replace(slow, recording=replace(slow.recording, failure=replace(failure, type="SlowTraining")))
    again = otherwise(None, slow, {"made": ("{}",)})
    assert again == ({"made": ("{}",), "shorter": ("batches",)}, "on fewer batches: a step takes 9 s")
    assert otherwise(None, slow, again[0]) is None


def ended(
    folder: Path, kind: str = "LargeTraining", message: str = "its second batch did not come in 9 s"
) -> RunRecord:
    raw = failed(folder, message)
    failure = raw.recording.failure
    assert failure
    return replace(raw, recording=replace(raw.recording, failure=replace(failure, type=kind)))


SIZES = (("--dim=32", "--batch=8"), ("--batch=8",))


def test_what_is_too_large_is_trained_smaller_by_its_own_arguments(tmp_path: Path) -> None:
    raw = ended(tmp_path)
    first = otherwise(None, raw, {}, SIZES)
    assert first == ({"shorter": ("batches",), "smaller": SIZES[0]},
                     "with --dim=32 --batch=8, on fewer batches: its second batch did not come in 9 s")  # fmt: skip
    refused = ended(tmp_path, "RuntimeError", "shapes cannot be multiplied")
    assert otherwise(None, ended(tmp_path, "AttributeError"), first[0], SIZES) is None
    second = otherwise(None, refused, first[0], SIZES)
    assert second is not None and second[0]["smaller"] == SIZES[1]
    assert otherwise(None, refused, second[0], SIZES) is None
    without = otherwise(None, raw, {})
    why = "with at most 8 samples a batch, on fewer batches: its second batch did not come in 9 s"
    assert without == ({"shorter": ("batches",), "samples": ("8",)}, why)
    assert otherwise(None, refused, without[0]) is None
    both = otherwise(None, raw, {}, (("--dim=32",),))
    assert both is not None and (both[0]["smaller"], both[0]["samples"]) == (("--dim=32",), ("8",))
    memory = replace(failed(tmp_path, ""), ended="it used more than 9.4 GiB of memory")
    held = otherwise(None, replace(memory, recording=replace(memory.recording, failure=None)), {}, SIZES)
    assert held is not None and held[0]["smaller"] == SIZES[0]


def test_where_one_tree_trains_neither_gets_smaller(tmp_path: Path) -> None:
    raw = ended(tmp_path)
    trained = replace(raw, recording=replace(raw.recording, fitted=True, failure=None))
    assert otherwise(trained, raw, {"shorter": ("batches",)}, SIZES) is None
    known = {"shorter": ("batches",), "smaller": SIZES[0]}
    assert otherwise(trained, failed(tmp_path, "no such argument"), known, SIZES) is None


LARGE = (
    SLOW.replace("import time\n", "import argparse\nimport time\n")
    .replace("time.sleep(3)", "[time.sleep(1) for _ in range(GIVEN.depth * 5)]")
    .replace("class Module", "parser = argparse.ArgumentParser()\nparser.add_argument('--depth', default=90)\n"
             "parser.add_argument('--width', default=64, type=int)\n"
             "GIVEN = parser.parse_args()\nGIVEN.depth = int(GIVEN.depth) - 2\n\n\nclass Module")
    .replace("torch.nn.Linear(2, 1)", "torch.nn.Linear(2, GIVEN.width)")
    .replace("torch.rand(64, 2)", "torch.rand(64, 2), batch_size=16")
    .replace("\nL.Trainer", "\ntry:\n    L.Trainer")
) + "except BaseException:\n    raise SystemExit(1)\n"  # fmt: skip


@pytest.mark.parametrize(
    ("spoiled", "verdict"),
    [
        (("pow(2)", "abs().pow(2)"), "preserved"),
        (("pow(2)", "pow(4)"), "changed"),
        (("batch_size=16", "batch_size=32"), "changed"),
    ],
)
def test_a_large_training_shows_what_differs(spoiled: tuple[str, str], verdict: str, tmp_path: Path) -> None:
    said: list[str] = []
    trees = tree(tmp_path / "before", train=LARGE), tree(tmp_path / "after", train=LARGE.replace(*spoiled))
    pins = ("lightning==2.6.6",)
    request = replace(REQUEST, before_pins=pins, after_pins=pins, baseline_below=None, timeout=30)
    evidence = prove(*trees, request, said.append)
    assert evidence.verdict == verdict, evidence.reason
    how = "with --depth=2 --width=32 and at most 8 samples a batch, on fewer batches: its second batch did not come in"
    assert any(f"{how} 12 s" in line for line in said), said
    assert any("arguments that make what is trained smaller" in fact.text and "--depth=2" in fact.text
               for fact in evidence.facts)  # fmt: skip


@pytest.mark.parametrize(
    ("spoiled", "verdict"),
    [
        (("'--width', default=64", "'--width', default=128"), "changed"),
        (("'--width'", "'--hidden', dest='width'"), "preserved"),
    ],
)
def test_options_that_the_trees_declare_otherwise_make_none_smaller(
    spoiled: tuple[str, str], verdict: str, tmp_path: Path
) -> None:
    trees = tree(tmp_path / "before", train=LARGE), tree(tmp_path / "after", train=LARGE.replace(*spoiled))
    pins = ("lightning==2.6.6",)
    request = replace(REQUEST, before_pins=pins, after_pins=pins, baseline_below=None, timeout=30)
    evidence = prove(*trees, request, lambda _: None)
    assert evidence.verdict == verdict, evidence.reason
    assert not any("--width" in fact.text or "--hidden" in fact.text for fact in evidence.facts)


@pytest.mark.parametrize("release", ["1.4.9", "1.9.5", TARGET])
def test_how_many_samples_a_batch_was_to_have_is_recorded(release: str) -> None:
    text = SLOW.replace("time.sleep(3)", "pass").replace("lightning as L", "pytorch_lightning as L")
    text = text.replace("torch.rand(64, 2)", "torch.rand(64, 2), batch_size=16, shuffle=True")
    run = recorded({"train.py": text}, release, samples=("8",)).recording
    assert dict(run.planned)["samples"] == 16 and dict(run.planned)["batches"] == 8
    assert "samples" not in dict(recorded({"train.py": text}, release).recording.planned)


def test_loaders_put_few_samples_into_a_batch() -> None:
    loaders: Any = torch.utils.data.DataLoader
    plain = loaders.__init__
    try:
        short.few_samples(8)
        rows = list(range(20))
        made = [loaders(rows, 16), loaders(rows, batch_size=16, drop_last=True), loaders(rows, batch_size=2)]
        made += [loaders(rows, batch_size=None), loaders(rows, batch_sampler=[[1, 2, 3]])]
        assert [each.batch_size for each in made] == [8, 8, 2, None, None]
        assert [len(each) for each in made] == [3, 2, 10, 20, 1]
        trainer: Any = SimpleNamespace(train_dataloader={"one": made[0], "two": made[2], "plain": made[3]})
        assert measures._samples(trainer) == {"samples": 16}
    finally:
        loaders.__init__ = plain
