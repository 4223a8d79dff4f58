"""What two trees come to whose modules are trained alone."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.verify.judging.test_touched import READY
from tests.verify.said import said as told_of
from tests.verify.trees import tree
from verify.evidence import Fact, Failure, Recording
from verify.judging.proof_list import given
from verify.judging.record import RunRecord
from verify.module_training import ModuleTraining, Sides, _read, _replay, train
from verify.prove import prove
from verify.reading import modules
from verify.reading.sources import Sources
from verify.request import Bench, Pair, Request
from verify.sandbox.process import Outcome

HEAD = "import pytorch_lightning as pl\nimport torch\n\n\nclass Model(pl.LightningModule):\n"
BODY = """
    def __init__(self, width):
        super().__init__()
        self.net = torch.nn.Linear(width, 2)

    def training_step(self, batch, batch_idx):
        x, y = batch
        return torch.nn.functional.cross_entropy(self.net(x), y)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)
"""
REQUEST = Request("g", ("TBP001",), ("model.py",), "2.6.6", "2.0.0", ("pytorch-lightning>=1.5",), (), timeout=200)


def test_a_changed_module_is_trained_alone_in_both_trees(tmp_path: Path) -> None:
    before, after = (
        tree(tmp_path / "before", model=HEAD + BODY),
        tree(tmp_path / "after", model=HEAD + "    x = 1\n" + BODY),
    )
    evidence = prove(before, after, REQUEST, lambda text: None)
    assert (evidence.verdict, evidence.rung) == ("preserved", "same"), evidence.reason
    assert evidence.reason.startswith("Model, trained by itself on generated batches: 16 losses, ")
    assert "ran: Model(width=8), trained by itself on generated batches of (float32 4x8, int64 4)" in told_of(evidence)
    assert "also: no script got to `fit`: " in told_of(evidence)
    assert len(evidence.reason) <= 200
    (alone,) = evidence.alone
    assert alone.module == "model.py:Model"
    assert alone.before and len(alone.before.losses) == len(alone.after.losses) == 16
    assert alone.after.digest == alone.before.digest
    assert dict(alone.after.planned)["batches"] == 8
    assert all(norm > 0 for norm in alone.after.gradient_norms)


def test_a_trainer_that_a_module_makes_where_it_is_imported_is_in_nobodys_way(tmp_path: Path) -> None:
    made = "\n\ntrainer = pl.Trainer(enable_checkpointing=False, logger=False)\n"
    before = tree(tmp_path / "before", model=HEAD + BODY + made)
    after = tree(tmp_path / "after", model=HEAD + "    x = 1\n" + BODY + made)
    evidence = prove(before, after, REQUEST, lambda text: None)
    assert (evidence.verdict, evidence.rung) == ("preserved", "same"), evidence.reason


def test_a_loader_of_the_module_that_has_no_data_repairs_nothing(tmp_path: Path) -> None:
    """Releases of old ask it for its length where nothing is validated, too."""
    loader = "\n    def val_dataloader(self):\n        return torch.utils.data.DataLoader([])\n"
    step = "\n    def validation_step(self, batch, batch_idx):\n        raise ValueError('of our own data alone')\n"
    body = BODY + loader + step
    before, after = (
        tree(tmp_path / name, model=HEAD + more + body) for name, more in (("before", ""), ("after", "    x = 1\n"))
    )
    old = replace(REQUEST, baseline_below="1.5.0", before_pins=("pytorch-lightning<1.5",))
    evidence = prove(before, after, old, lambda text: None)
    assert (evidence.verdict, evidence.rung) == ("preserved", "same"), evidence.reason


def test_a_file_beside_a_module_hides_no_folder_of_that_name_above(tmp_path: Path) -> None:
    head = "from .utils import SIZE\nfrom utils.data import RATE\n"
    for name, more in (("before", ""), ("after", "    x = 1\n")):
        root = tree(tmp_path / name, train="print('no training')\n")
        for path, text in (
            ("models/net.py", head + HEAD + more + BODY.replace("width, 2", "width, SIZE").replace("0.1", "RATE")),
            ("models/utils.py", "SIZE = 2\n"),
            ("utils/data.py", "RATE = 0.1\n"),
        ):
            (root / path).parent.mkdir(exist_ok=True)
            (root / path).write_text(text)
    evidence = prove(
        tmp_path / "before", tmp_path / "after", replace(REQUEST, changed=("models/net.py",)), lambda text: None
    )
    assert (evidence.verdict, evidence.rung) == ("preserved", "same"), evidence


def record(fitted: bool = True, failure: Failure | None = None, losses: tuple[float, ...] = (1.0,)) -> RunRecord:
    weights = (("w", 1.0),)
    recording = Recording("m", fitted, failure, losses, (), ((0.1,),) * len(losses), len(losses), 1, 1, (), weights,
                          "cpu", "32", 1.0)  # fmt: skip
    return RunRecord(recording, loaded=("model.py",))


FOUND: dict[str, Any] = {
    "event": "recipe", "path": "model.py", "cls": "Model", "tries": 1, "arguments": {}, "batch": {}, "stubs": [],
    "skipped": [], "absent": [], "datamodule": False, "attributes": {}, "left": {}, "paths": ["."],
    "told": {"arguments": "", "batch": "b", "smaller": ""},
}  # fmt: skip


def judged(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    old: RunRecord,
    new: RunRecord,
    problems: tuple[str, ...] = (),
    again: RunRecord | None = None,
    changed: tuple[str, ...] = ("model.py",),
) -> tuple[str, str | None, str]:
    """What two recordings of one module come to, in short."""
    judgement = result(monkeypatch, tmp_path, old, new, problems, again, changed).judgement
    return judgement.verdict, judgement.rung, told_of(judgement)


def result(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    old: RunRecord,
    new: RunRecord,
    problems: tuple[str, ...] = (),
    again: RunRecord | None = None,
    changed: tuple[str, ...] = ("model.py",),
    told: dict[str, str] | None = None,
) -> ModuleTraining:
    """What two recordings of one module come to."""
    sources = Sources(tree(tmp_path / "tree", model=HEAD + BODY))
    recipe = {**FOUND, "told": {**FOUND["told"], **(told or {})}}
    monkeypatch.setattr("verify.module_training._search", lambda *_: ([recipe], (), True))
    monkeypatch.setattr(
        "verify.module_training._replay",
        lambda _, found, name: [(one, None, again or old) if name == "again" else (one, old, new) for one in found],
    )
    start = lambda *_: (Outcome(0, "", None, 0.0), tmp_path)  # noqa: E731
    sides = Sides(sources, sources, start, start, lambda jobs: [job() for job in jobs], tmp_path, 10)
    found = train(sides, changed, problems, missing="", per_batch=False)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("left", "slow", "is_shorter"),
    [
        (29.0, (False,), True),
        (31.0, (False,), False),
        (39.0, (False, True), True),
        (41.0, (False, True), False),
        (900.0, (True, True), True),
        (float("inf"), (False,), False),
    ],
)
def test_trainings_are_of_a_few_batches_all_of_them_where_little_time_is_left(
    left: float, slow: tuple[bool, ...], is_shorter: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    sources = Sources(tree(tmp_path / "tree", model=HEAD + BODY))
    asked: list[tuple[str, object]] = []

    def start(name: str, _: Sources, spec: Mapping[str, object]) -> tuple[Outcome, Path]:
        asked.append((name, spec.get("shorter")))
        return Outcome(0, "", None, 0.0), tmp_path

    monkeypatch.setattr(
        "verify.module_training._search", lambda *_: ([{**FOUND, "slow": each} for each in slow], (), True)
    )
    sides = Sides(sources, sources, start, start, lambda jobs: [job() for job in jobs], tmp_path, 10)
    train(replace(sides, left=lambda: left), ("model.py",), (), missing="", per_batch=False)
    assert {name for name, _ in asked} >= {"alone-after", "alone-before"}
    assert {told for _, told in asked} == {("batches",) if is_shorter else None}


def test_a_module_that_no_longer_trains_is_a_regression(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    broken = record(False, Failure("AttributeError", "no such thing", "model.py:3"))
    verdict, rung, reason = judged(monkeypatch, tmp_path, record(), broken)
    assert (verdict, rung) == ("regressed", "conforms")
    assert "no such thing" in reason


@pytest.mark.parametrize(
    "problem",
    [
        "model.py:7: Model.training_step(optimizer_idx), the target does not pass it",
        "model.py:7: Model.training_epoch_end, the target never calls it: use on_train_epoch_end",
    ],
)
def test_what_is_left_for_a_person_is_no_regression(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, problem: str
) -> None:
    broken = record(False, Failure("TypeError", "optimizer_idx", "model.py:3"))
    verdict, rung, reason = judged(monkeypatch, tmp_path, record(), broken, (problem,))
    assert (verdict, rung) == ("inconclusive", None)
    assert problem in reason


def test_a_made_up_batch_repairs_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    shape = record(False, Failure("ValueError", "not enough values to unpack (expected 3, got 2)", "model.py:3"))
    assert judged(monkeypatch, tmp_path, shape, record())[:2] == ("inconclusive", "trains")


def test_other_numbers_are_a_change(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    verdict, rung, reason = judged(monkeypatch, tmp_path, record(), record(losses=(2.0,)))
    assert (verdict, rung) == ("changed", "trains")
    assert "loss 1: 1 became 2" in reason


def test_a_module_that_differs_from_itself_is_not_said_to_have_changed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    verdict, _, reason = judged(monkeypatch, tmp_path, record(), record(losses=(2.0,)), again=record(losses=(3.0,)))
    assert verdict == "inconclusive"
    assert "two runs of the tree before differ" in reason


@pytest.mark.parametrize("alike", [True, False])
def test_a_module_that_fails_in_one_of_two_trainings_is_no_regression(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, alike: bool
) -> None:
    good, bad = record(), record(False, Failure("ValueError", "x", "model.py:3"))
    sources = Sources(tree(tmp_path / "tree", model=HEAD + BODY))
    recipes = [{**RECIPE, "cls": "Model"}]
    monkeypatch.setattr("verify.module_training._search", lambda *_: (recipes, (), True))
    trained = {"alone": (good, bad), "twice": (good, bad) if alike else (good, good)}
    monkeypatch.setattr(
        "verify.module_training._replay", lambda _, found, name: [(one, *trained[name]) for one in found]
    )
    start = lambda *_: (Outcome(0, "", None, 0.0), tmp_path)  # noqa: E731
    sides = Sides(sources, sources, None, start, lambda jobs: [job() for job in jobs], tmp_path, 10)
    found = train(sides, ("model.py",), (), missing="", per_batch=False)
    assert found is not None
    assert found.judgement.verdict == ("regressed" if alike else "inconclusive")
    assert ("two runs of the patched tree end differently" in found.judgement.reason) == (not alike)


def test_a_module_that_loads_nothing_changed_raises_no_rung(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    other = replace(record(), loaded=("other.py",))
    verdict, rung, reason = judged(monkeypatch, tmp_path, other, other)
    assert (verdict, rung) == ("inconclusive", "conforms")
    assert "it executed none of the changed files" in reason


def test_what_a_module_executed_that_tells_nothing_counts_as_not_executed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    good, bad = record(), replace(record(False, Failure("ValueError", "x", None)), loaded=("other.py",))
    sources = Sources(tree(tmp_path / "tree", model=HEAD + BODY, other=HEAD + BODY))
    recipes = [{**RECIPE, "path": f"{name}.py", "cls": "Model"} for name in ("model", "other")]
    monkeypatch.setattr("verify.module_training._search", lambda *_: (recipes, (), True))
    runs = [(recipes[0], good, good), (recipes[1], bad, bad)]
    monkeypatch.setattr("verify.module_training._replay", lambda *_: runs)
    start = lambda *_: (Outcome(0, "", None, 0.0), tmp_path)  # noqa: E731
    sides = Sides(sources, sources, None, start, lambda jobs: [job() for job in jobs], tmp_path, 10)
    found = train(sides, ("model.py", "other.py"), (), missing="", per_batch=False)
    assert found is not None
    assert [part.verdict for part in found.alone] == ["preserved", "inconclusive"]
    assert (found.judgement.verdict, found.unexecuted) == ("preserved", ("other.py",))


RECIPE = {
    "event": "recipe", "path": "model.py", "tries": 1, "arguments": {}, "batch": {}, "stubs": [], "skipped": [],
    "absent": [], "datamodule": False, "attributes": {}, "left": {},
    "told": {"arguments": "", "batch": "b", "attributes": "", "smaller": ""},
}  # fmt: skip


def test_a_module_that_nothing_was_left_for_is_said_to_be_not_begun(tmp_path: Path) -> None:
    """A slow one comes last; where the process ends in one, those behind it are not said to fail."""
    sources = Sources(tree(tmp_path / "tree", model=HEAD + BODY))
    found = [{**RECIPE, "cls": name, "slow": slow} for name, slow in (("Slow", True), ("Ends", False), ("Late", False))]

    def start(name: str, _: Sources, spec: Mapping[str, Any]) -> tuple[Outcome, Path]:
        events = tmp_path / f"{name}.jsonl"
        if spec["mode"] == "search":
            events.write_text("\n".join(json.dumps(event) for event in (*found, {"event": "end"})))
            return Outcome(0, "", None, 1.0), events
        assert [recipe["cls"] for recipe in spec["recipes"]] == ["Ends", "Late", "Slow"]
        Path(spec["recipes"][0]["record"]).write_text('{"event": "start", "versions": ["2.6.6"]}\n')
        return Outcome(-11, "", None, 1.0), events

    sides = Sides(sources, sources, None, start, lambda jobs: [job() for job in jobs], tmp_path, 10)
    judged = train(sides, ("model.py",), (), missing="none", per_batch=False)
    assert judged is not None
    ended, late, slow = (part.reason for part in judged.alone)
    assert "the process ended with status -11" in ended and "begun" not in ended
    for reason in (late, slow):
        assert "not begun, as the process ended with status -11 before" in reason


def test_the_tree_before_is_searched_for_the_files_that_it_has(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    before, after = tree(tmp_path / "before", a=HEAD + BODY), tree(tmp_path / "after", a=HEAD + BODY, b=HEAD + BODY)
    asked: list[tuple[str, list[str]]] = []

    def searched(*given: Any) -> tuple[list[Any], tuple[str, ...], bool]:
        asked.append((given[-1], [file.path for file in given[3]]))
        return [], ("a.py:Model: not found", "b.py:Model: not found"), True

    monkeypatch.setattr("verify.module_training._search", searched)
    start = lambda *_: (Outcome(0, "", None, 0.0), tmp_path)  # noqa: E731
    sides = Sides(Sources(before), Sources(after), start, start, lambda jobs: [job() for job in jobs], tmp_path, 10)
    train(sides, ("a.py", "b.py"), (), missing="", per_batch=False)
    assert asked == [("search", ["a.py", "b.py"]), ("search-before", ["a.py"])]


def test_where_changed_files_have_no_modules_those_that_they_train_are_tried(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    root = tree(
        tmp_path / "p", model=HEAD + BODY, cases="import unittest\nfrom model import Model\nclass T(unittest.X): ...\n"
    )
    asked: list[tuple[str, list[str]]] = []

    def searched(*given: Any) -> tuple[list[Any], tuple[str, ...], bool]:
        asked.append((given[-1], [file.path for file in given[3]]))
        return [], (), False

    monkeypatch.setattr("verify.module_training._search", searched)
    start = lambda *_: (Outcome(0, "", None, 0.0), tmp_path)  # noqa: E731
    sides = Sides(Sources(root), Sources(root), start, start, lambda jobs: [job() for job in jobs], tmp_path, 10)
    found = train(sides, ("cases.py",), (), missing="", per_batch=False)
    assert found and not found.alone and told_of(found.judgement).endswith("takes a training step")
    assert asked == [("search", ["cases.py"]), ("search1", ["model.py"])]


def test_what_is_installed_serves_the_modules_that_are_tried_next(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    root = tree(
        tmp_path / "p", model=HEAD + BODY, cases="import unittest\nfrom model import Model\nclass T(unittest.X): ...\n"
    )
    asked: list[list[str]] = []

    def environments(_: Sources, __: Sources, scripts: list[str], bench: Bench) -> Pair:
        asked.append(scripts)
        return Pair(None, READY, "", "none")

    monkeypatch.setattr("verify.prove.environments_for", environments)
    monkeypatch.setattr("verify.prove._conform", lambda *_: ((), ()))
    monkeypatch.setattr("verify.module_training.train", lambda *_, **__: None)
    prove(root, root, replace(REQUEST, changed=("cases.py",)), lambda text: None)
    assert asked[-1] == ["cases.py", "model.py"]


def test_changed_files_that_no_module_executed_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    found = result(monkeypatch, tmp_path, record(), record(), changed=("model.py", "far.py"))
    assert found.unexecuted == ("far.py",)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("f[1:]", "f[:1]"),
        ("lambda a: a", "lambda *, a: a"),
        ("{**a, b: c}", "{b: a, **c}"),
        ("f(g(1)(), 2)", "f(g(1, 2)())"),
    ],
)
def test_a_class_whose_code_is_nested_otherwise_is_another(tmp_path: Path, one: str, other: str) -> None:
    before, after = (
        tree(tmp_path / name, model=f"import lightning\n\n\nclass A(B):\n    x = 1\n\n\nclass Z(B):\n    x = {value}\n")
        for name, value in (("before", one), ("after", other))
    )
    (found,) = modules.chosen(Sources(before), Sources(after), ["model.py"])
    assert found.classes == ("Z", "A")


@pytest.mark.parametrize(("changed", "found"), [(["calls.py", "net.py"], ["task.py", "calls.py"]), (["calls.py"], [])])
def test_modules_that_load_what_changed_are_trained_where_no_changed_class_trains(
    tmp_path: Path, changed: list[str], found: list[str]
) -> None:
    task = (
        "import net\nimport lightning\n\n\nclass Task(lightning.LightningModule):\n    def training_step(self): ...\n"
    )
    calls = "import lightning\n\n\nclass Call(lightning.Callback): ...\n"
    sources = Sources(tree(tmp_path / "p", task=task, calls=calls, net="class Net(Module): ...\n"))
    assert [file.path for file in modules.chosen(sources, sources, changed)] == (found or ["calls.py"])


ODD = """

class Odd:
    def __init__(self):
        self.sides = {}

    def net(self):
        return torch.nn.Linear(self.sides["left"], self.sides["left"] - 9)
"""
STOPS = """
import pytorch_lightning as pl
from model import Model, Odd

odd = Odd()
odd.sides["left"] = 11
model = Model(odd)
trainer = pl.Trainer(max_epochs=1)
raise ValueError("of no data that anybody could make up")
trainer.fit(model)
"""


def test_a_module_is_built_as_the_script_builds_it_that_gets_no_further(tmp_path: Path) -> None:
    body = BODY.replace("width):", "odd):").replace("torch.nn.Linear(width, 2)", "odd.net()")
    before, after = (
        tree(tmp_path / name, train=STOPS, model=HEAD + more + body + ODD)
        for name, more in (("before", ""), ("after", "    x = 1\n"))
    )
    evidence = prove(before, after, REQUEST, lambda text: None)
    assert (evidence.verdict, evidence.rung) == ("preserved", "same"), evidence.reason
    (alone,) = evidence.alone
    assert alone.arguments == "odd=Odd{sides: {left: 11}}"


BASE = BODY.replace("self.net = torch.nn.Linear(width, 2)", "self.width = width")
OF_BASE = """
from base import Model


class Net(Model):
    def __init__(self, width):
        super().__init__(width)
        self.net = torch.nn.Linear(width, 2)
"""


def test_a_base_that_has_nothing_to_train_is_trained_by_what_derives_from_it(tmp_path: Path) -> None:
    before, after = (
        tree(tmp_path / name, base=HEAD + more + BASE, net="import torch\n" + OF_BASE)
        for name, more in (("before", ""), ("after", "    x = 1\n"))
    )
    evidence = prove(before, after, replace(REQUEST, changed=("base.py",)), lambda text: None)
    assert (evidence.verdict, evidence.rung) == ("preserved", "same"), evidence.reason
    assert evidence.reason.startswith("Net, trained by itself on generated batches: 16 losses, ")
    assert [alone.module for alone in evidence.alone] == ["net.py:Net"]


@pytest.mark.parametrize(
    ("files", "trained", "found"),
    [
        ({"net": OF_BASE}, set(), ["net.py"]),
        ({"net": OF_BASE}, {"base.py:Model"}, []),
        ({"net": OF_BASE.replace("from base", "from other")}, set(), []),
        ({"net": OF_BASE.replace("(Model)", "(Module)")}, set(), []),
        ({"net": OF_BASE, "deep": "from net import Net\n\n\nclass Deep(Net[int]): ...\n"}, set(), ["net.py"]),
        ({"a": OF_BASE, "b": OF_BASE, "c": OF_BASE, "d": OF_BASE}, set(), ["a.py", "b.py", "c.py"]),
    ],
)
def test_what_derives_from_a_base_is_found(
    files: dict[str, str], trained: set[str], found: list[str], tmp_path: Path
) -> None:
    sources = Sources(tree(tmp_path / "p", base=HEAD + BASE, **files))
    bases = modules.chosen(sources, sources, ["base.py"])
    assert [file.path for file in modules.heirs(sources, bases, trained)] == found


def test_what_was_lent_is_in_the_evidence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    old, new = (replace(record(), lent=lent) for lent in (("numpy.float to model",), ("numpy.Inf to model",)))
    (alone,) = result(monkeypatch, tmp_path, old, new).alone
    said = "old names and defaults that installed packages or Python no longer have: numpy.float to model, "
    assert f"provided by fixer: {said}numpy.Inf to model" in alone.notes
    assert given(old, new) == (Fact("provided", f"{said}numpy.Inf to model"),)


GIVEN: dict[str, Any] = {
    "lent": ("numpy.float to a", "numpy.Inf to shared", "numpy.bool to outside"),
    "moved": ("a", "shared"),
    "opened": ("a.yaml to a", "s.yaml to shared"),
}


def test_what_another_module_executed_is_not_what_this_one_did(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """One process trains them all: what is left by hand in a file that it does not load excuses no module."""
    files = {"a": "import shared\n" + HEAD + BODY, "b": "import shared\n" + HEAD + BODY, "shared": "x = 1\n"}
    sources = Sources(tree(tmp_path / "tree", **files))
    loaded = {"a": ("a.py", "named.py", "shared.py"), "b": ("a.py", "b.py", "late.py", "named.py", "shared.py")}
    broken = record(False, Failure("TypeError", "no such argument", "b.py:3"))

    def recorded(path: Path, label: str) -> RunRecord:
        raw = broken if path.parent.name.endswith("-after") and label[0] == "b" else record()
        return replace(raw, loaded=loaded[label[0]], **GIVEN)

    recipes = [{**RECIPE, "path": f"{name}.py", "cls": "Model", "paths": []} for name in "ab"]
    monkeypatch.setattr("verify.module_training._search", lambda *_: (recipes, (), True))
    monkeypatch.setattr("verify.module_training.read", recorded)
    start = lambda *_: (Outcome(0, "", None, 0.0), tmp_path)  # noqa: E731
    sides = Sides(sources, sources, start, start, lambda jobs: [job() for job in jobs], tmp_path, 10)
    by_hand = ("a.py:9: Trainer(x=...), the target has no such argument",)
    found = train(sides, ("a.py", "b.py"), by_hand, missing="", per_batch=False)
    assert found and [part.verdict for part in found.alone] == ["preserved", "regressed"]
    (_, _, first), (_, old, new) = _replay(sides, recipes, "alone")
    assert first.loaded == ("a.py", "named.py", "shared.py")
    assert old and old.loaded == new.loaded == ("b.py", "late.py", "shared.py")
    assert first.lent == ("numpy.float to a", "numpy.Inf to shared", "numpy.bool to outside")
    assert new.lent == ("numpy.Inf to shared", "numpy.bool to outside")
    assert (first.moved, first.opened) == (("a", "shared"), ("a.yaml to a", "s.yaml to shared"))
    assert (new.moved, new.held[len(new.loaded) :]) == (("shared",), ("s.yaml",))


def test_a_module_that_stops_at_an_import_left_by_hand_regresses_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    files = {"model": "import bolts.callbacks\n" + HEAD + BODY, "other": HEAD + BODY}
    sources = Sources(tree(tmp_path / "tree", **files))
    recipe = {**RECIPE, "path": "model.py", "cls": "Model", "paths": []}
    monkeypatch.setattr("verify.module_training._search", lambda *_: ([recipe], (), True))
    start = lambda *_: (Outcome(0, "", None, 0.0), tmp_path)  # noqa: E731
    sides = Sides(sources, sources, start, start, lambda jobs: [job() for job in jobs], tmp_path, 10)
    sides = replace(sides, by_hand=(("model.py", "`bolts` cannot be imported together with Lightning 2.x"),))
    for line, verdict in ((1, "inconclusive"), (2, "regressed")):
        broken = record(False, Failure("ImportError", "cannot import name 'Gone' from 'x.y'", f"model.py:{line}"))
        found_of = {"after": broken, "before": record()}
        monkeypatch.setattr(
            "verify.module_training.read",
            lambda path, _, found_of=found_of: replace(
                found_of[path.parent.name.rpartition("-")[2]], loaded=("model.py",)
            ),
        )
        found = train(sides, ("model.py",), (), missing="", per_batch=False)
        assert found and [part.verdict for part in found.alone] == [verdict]


@pytest.mark.parametrize(
    ("kind", "cut", "ended"),
    [
        ("SIGTERMException", "the budget of 10 min ended", "the budget of 10 min ended"),
        ("ValueError", "the budget of 10 min ended", None),
        ("SIGTERMException", None, None),
    ],
)
def test_a_training_that_lightning_ends_at_our_signal_was_ended(
    kind: str, cut: str | None, ended: str | None, tmp_path: Path
) -> None:
    """Its record has an end, since the process goes on to the next module until it is killed."""
    told = [{"event": "failure", "type": kind, "message": "", "place": None}, {"event": "end"}]
    (tmp_path / "0.jsonl").write_text("".join(json.dumps(event) + "\n" for event in told))
    raw = _read(tmp_path / "0.jsonl", "model.py: Model, trained by itself", Outcome(-15, "", cut, 9.0), RECIPE)
    assert raw.ended == ended
    assert raw.recording.failure is not None and raw.recording.failure.type == kind


def test_a_module_that_is_loaded_beside_a_changed_file_may_be_built_of_it(tmp_path: Path) -> None:
    step = (
        "import pytorch_lightning as pl\n\n\nclass Net(pl.LightningModule):\n    def training_step(self, batch): ...\n"
    )
    files = {
        "model.py": "class Inner(object):\n    pass\n",
        "net.py": step,
        "other.py": step,
        "run.py": "from model import Inner\nfrom net import Net\n",
        "runs.py": "from other import Net\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    sources = Sources(tmp_path)
    assert modules.chosen(sources, sources, ["model.py"]) == ()
    assert [file.path for file in modules.reached(sources, ["model.py"])] == ["net.py"]
