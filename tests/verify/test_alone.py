"""Modules that are trained alone: how arguments and batches are found, what is refused, and what two trees come to."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.verify.trees import tree
from verify import modules
from verify.alone import _children, _climb
from verify.alone_arguments import Hints
from verify.alone_errors import is_about_inputs
from verify.alone_sizes import reduced, smaller
from verify.alone_tries import Attempt, Bench, State, TooLarge, TooSlow, _counting
from verify.apart import Result, Sides, _touches, train
from verify.bench import Request
from verify.evidence import Failure, Recording
from verify.hints import hints
from verify.process import Outcome
from verify.prove import _aside, prove
from verify.record import Raw
from verify.sources import Sources

CASES = Path(__file__).parent / "alone_cases"
FILES = ("shapes.py", "built.py", "needing.py", "started.py")


@pytest.fixture(scope="session")
def searched(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """What one search says of each class of the cases."""
    folder = tmp_path_factory.mktemp("alone")
    root = folder / "project"
    shutil.copytree(CASES, root)
    return search(folder, root, FILES)


def search(folder: Path, root: Path, files: tuple[str, ...], budget: float = 200) -> dict[str, dict[str, Any]]:
    sources = Sources(root)
    chosen = modules.chosen(sources, sources, files)
    spec = {
        "mode": "search", "paths": ["."], "namespaces": ["pytorch_lightning"], "trainer": {}, "budget": budget,
        "seed": 1, "memory": 2**33,
        "seconds": 250, "record": str(folder / "record.jsonl"), "scratch": str(folder), "limit_train_batches": 2,
        "limit_val_batches": 1, "max_epochs": 1,
        "modules": [modules.described(sources, one) for one in chosen],
    }  # fmt: skip
    (folder / "spec.json").write_text(json.dumps(spec))
    harness = Path(modules.__file__).with_name("harness.py")
    done = subprocess.run(
        [sys.executable, "-B", harness, folder / "spec.json"], cwd=root, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in (folder / "record.jsonl").read_text().splitlines()]
    return {event["cls"] or event["path"]: event for event in found if event["event"] in ("recipe", "unfound")}


@pytest.mark.parametrize(
    ("cls", "batch"),
    [
        ("Digits", "(float32 4x1x28x28, int64 4)"),
        ("Flattened", "{image: float32 4x1x64x64, label: int64 4}"),
        ("Words", "{label: float32 4x1, text: int64 4x12}"),
        ("Segments", "(float32 4x3x32x32, int64 4x32x32)"),
        ("Regression", "(float32 4x12x7, float32 4x12x6)"),
        ("Pair", "(float32 4x64, float32 4x3)"),
        ("Chunks", "(float32 4x12x2, float32 4x12x3)"),
        ("Example", "(float32 4x5x9, int64 4)"),
        ("Configured", "(float32 4x5, float32 4x17)"),
    ],
)
def test_batches_are_found_by_what_the_step_does_and_raises(searched: dict[str, Any], cls: str, batch: str) -> None:
    assert searched[cls]["event"] == "recipe", searched[cls].get("why")
    assert searched[cls]["told"]["batch"] == batch


@pytest.mark.parametrize(
    ("cls", "arguments"),
    [
        ("Hinted", "width=8, rate=0.1, name='x', body=a small linear layer, sizes=[8, 8]"),
        ("Options", "hparams={odd_width: 13, learning_rate: 0.001}"),
        ("Configured", "net=Linear(in_features=5, out_features=17), optimizer=partial(Adam, lr=0.01)"),
        ("Called", "table={a: {b: 23}}"),
        ("Choosing", "kind='wide', config={model: {depth: 2}}"),
    ],
)
def test_arguments_come_from_the_project_its_types_and_its_errors(
    searched: dict[str, Any], cls: str, arguments: str
) -> None:
    assert searched[cls]["event"] == "recipe", searched[cls].get("why")
    assert searched[cls]["told"]["arguments"] == arguments


@pytest.mark.parametrize(
    ("cls", "why"),
    [
        ("Trained", "optimizer got an empty parameter list at built.py:"),
        ("Reads", "No such file or directory: 'made-up' at built.py:"),
        ("NeverSteps", "`fit` ends, but there was no finite loss"),
        ("Using", "surely_not_installed.part has no loss here, or is not installed, and it is used at needing.py:"),
    ],
)
def test_what_cannot_be_trained_is_refused_with_the_reason(searched: dict[str, Any], cls: str, why: str) -> None:
    assert searched[cls]["event"] == "unfound"
    assert why in searched[cls]["why"]


def test_all_that_the_project_says_of_arguments_is_tried_before_one_of_them_is_followed(
    searched: dict[str, Any],
) -> None:
    assert searched["Smoked"]["event"] == "recipe", searched["Smoked"].get("why")
    assert searched["Smoked"]["told"]["arguments"].startswith("net=Net(across=29), optimizer=partial(SGD, lr=0.01)")


def test_a_schedule_that_watches_the_validation_gets_one(searched: dict[str, Any]) -> None:
    assert searched["Smoked"]["validates"] is True
    assert searched["Smoked"]["note"] == ""


def test_weights_that_are_not_here_stay_random_and_are_named(searched: dict[str, Any]) -> None:
    assert searched["Tuned"]["event"] == "recipe", searched["Tuned"].get("why")
    assert searched["Tuned"]["absent"] == [
        "weights/first.pth",
        "http://localhost:9/second.pth",
        "http://localhost:9/third.pth",
    ]


def test_keys_that_variables_hold_and_options_without_a_name_are_found(searched: dict[str, Any]) -> None:
    assert searched["Asking"]["event"] == "recipe", searched["Asking"].get("why")
    assert searched["Asking"]["told"]["batch"] == "{picture: float32 4x8}"
    assert searched["Asking"]["told"]["arguments"] == "first_rounds=8"
    assert searched["Asking"]["told"]["attributes"] == "learning_rate=0.001"


def test_a_module_that_remembers_its_first_batch_is_built_anew_for_the_next_try(searched: dict[str, Any]) -> None:
    assert searched["Scaled"]["event"] == "recipe", searched["Scaled"].get("why")
    assert searched["Scaled"]["told"]["batch"] == "{photo: float32 4x32x32x3}"


def test_one_number_a_sample_is_given_where_it_is_asked_for(searched: dict[str, Any]) -> None:
    assert searched["Masked"]["event"] == "recipe", searched["Masked"].get("why")
    assert searched["Masked"]["told"]["batch"] == "(float32 4x1x32x32, float32 4)"


@pytest.mark.parametrize(
    ("cls", "arguments", "batch"),
    [
        (
            "Separating",
            "model=a small linear layer that answers with {wave}",
            "({wave: float32 4x8}, {wave: float32 4x8})",
        ),
        ("Answering", "backbone=a small linear layer that answers with {logits, loss}", "(float32 4x8, int64 4)"),
    ],
)
def test_a_network_that_answers_with_names_gets_them(
    searched: dict[str, Any], cls: str, arguments: str, batch: str
) -> None:
    assert searched[cls]["event"] == "recipe", searched[cls].get("why")
    assert searched[cls]["told"]["arguments"].startswith(arguments)
    assert searched[cls]["told"]["batch"] == batch


def test_a_list_in_a_file_of_its_own_goes_by_the_name_of_the_file(searched: dict[str, Any]) -> None:
    assert searched["Spelling"]["event"] == "recipe", searched["Spelling"].get("why")
    assert searched["Spelling"]["told"]["arguments"] == "alphabet=['_', 'a', 'b', 'c']"


def test_a_try_that_holds_too_much_memory_is_ended_before_the_search_is() -> None:
    counter = _counting([0], 1.0)
    try:
        with pytest.raises(TooLarge, match=r"needs more than 0.* GiB of memory"):
            torch.nn.Linear(2, 2)(torch.rand(1, 2))
    finally:
        counter.remove()


def test_what_is_too_large_for_a_short_training_gets_fewer_channels_and_layers() -> None:
    unet = {"@": "call", "name": "unet.UNet", "kwargs": {"model_channels": 224, "image_size": 256}}
    given = {
        "unet": unet,
        "config": {"decoder": {"d_model": 512, "num_layers": 12, "dims": [128, 196, 3]}},
        "steps": 99,
    }
    first, second = smaller(given)
    assert first["unet"]["kwargs"] == {"model_channels": 32, "image_size": 256}
    assert first["config"] == {"decoder": {"d_model": 32, "num_layers": 2, "dims": [32, 32, 3]}}
    assert (first["steps"], second["config"]["decoder"]["d_model"]) == (99, 64)
    assert list(smaller(first)) == []
    said = "model_channels 32 for 224, d_model 32 for 512, num_layers 2 for 12, dims [32, 32, 3] for [128, 196, 3]"
    assert ", ".join(reduced(given, first)) == said
    assert list(reduced(given, {**given, "steps": 100, "more": 1})) == []


@pytest.mark.parametrize("error", [TooLarge("4 parameters"), TooSlow("a single try")])
def test_a_smaller_model_is_known_as_one_until_the_evidence(
    error: Exception, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    state = State({"width": 512, "rate": 0.1})
    (first, _), (second, _) = _children(Bench(None, ".", 1), torch.nn.Linear, state, Attempt(error), Hints({}))
    assert [first.arguments["width"], second.arguments["width"]] == [32, 64]
    known = replace(state, batch={"items": [], "kind": "list"})
    tried = _children(Bench(None, ".", 1), torch.nn.Linear, known, Attempt(error), Hints({}))
    assert [child.batch for child, _ in tried] == [known.batch, None] * 2
    assert first.full == State.of({**first.described}).full == state.arguments
    assert all(child.full == state.arguments for child, _ in _children(
        Bench(None, ".", 1), torch.nn.Linear, second, Attempt(error), Hints({})
    ))  # fmt: skip
    (alone,) = result(monkeypatch, tmp_path, record(), record(), told={"smaller": "width 32 for 512"}).alone
    assert "a smaller model, as it is too large or too slow here: width 32 for 512" in alone.notes


@pytest.mark.parametrize(("narrow", "width"), [(0.1, 32), (None, 512)])
def test_a_model_whose_steps_take_too_long_is_made_smaller_where_that_trains(
    narrow: float | None, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def attempt(_: object, __: object, state: State, *___: object, **____: object) -> Attempt:
        is_whole = state.arguments["width"] == 512
        error = None if is_whole or narrow else ValueError("it cannot be less")
        return Attempt(
            error, module=torch.nn.Linear(1, 1), spec={"items": []}, seconds=90.0 if is_whole else narrow or 0
        )

    monkeypatch.setattr("verify.alone.attempt", attempt)
    hints = Hints({}, ({"width": 512},))
    cls = type("Wide", (), {"__init__": lambda self, width: None})
    state, _, _ = _climb(Bench(None, ".", 1), cls, hints, {}, 100)
    assert state is not None and state.arguments == {"width": width}
    assert state.full == ({"width": 512} if width == 32 else None)


def test_what_was_lent_is_in_the_evidence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    old, new = (replace(record(), lent=lent) for lent in (("numpy.float to model",), ("numpy.Inf to model",)))
    (alone,) = result(monkeypatch, tmp_path, old, new).alone
    said = "lent, as an older numpy or Python has it: numpy.float to model, numpy.Inf to model"
    assert said in alone.notes
    assert said in _aside(REQUEST, old, new)


def test_hooks_that_need_data_and_packages_that_are_not_used_are_said(searched: dict[str, Any]) -> None:
    assert searched["Loads"]["skipped"] == ["setup"]
    assert searched["Without"]["stubs"] == ["surely_not_installed"]
    assert searched["Digits"]["validates"] is True
    assert searched["Words"]["validates"] is False


def test_the_same_search_finds_the_same(searched: dict[str, Any], tmp_path: Path) -> None:
    shutil.copytree(CASES, tmp_path / "project")
    again = search(tmp_path, tmp_path / "project", ("built.py",))
    assert again == {cls: searched[cls] for cls in again}
    assert again["Choosing"]["event"] == "recipe"


def test_what_there_is_no_time_for_is_named(tmp_path: Path) -> None:
    root = tree(tmp_path / "project", a_model=HEAD + BODY + HEAD.replace("Model", "Second") + BODY, z_model=HEAD + BODY)
    (root / "derived.py").write_text("import a_model\n\n\nclass Derived(a_model.Model):\n    rate = 1\n")
    (root / "callback.py").write_text("import pytorch_lightning as pl\n\n\nclass Told(pl.Callback):\n    pass\n")
    found = search(tmp_path, root, ("a_model.py", "callback.py", "derived.py", "z_model.py"), budget=-1)
    told = {name: event["why"] for name, event in found.items()}
    late = "there was no time to try it"
    assert told == {"a_model.py": late, "derived.py": late, "z_model.py": late}


# -- two trees

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
    assert "trained alone, on made-up batches: Model(width=8) on (float32 4x8, int64 4)" in evidence.reason
    assert "no script" in evidence.reason
    (alone,) = evidence.alone
    assert alone.module == "model.py:Model"
    assert alone.before and len(alone.before.losses) == len(alone.after.losses) == 16
    assert alone.after.digest == alone.before.digest
    assert dict(alone.after.planned)["batches"] == 8
    assert all(norm > 0 for norm in alone.after.gradient_norms)


def record(fitted: bool = True, failure: Failure | None = None, losses: tuple[float, ...] = (1.0,)) -> Raw:
    weights = (("w", 1.0),)
    recording = Recording("m", fitted, failure, losses, (), ((0.1,),) * len(losses), len(losses), 1, 1, (), weights,
                          "cpu", "32", 1.0)  # fmt: skip
    return Raw(recording, loaded=("model.py",))


def judged(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    old: Raw,
    new: Raw,
    problems: tuple[str, ...] = (),
    again: Raw | None = None,
    changed: tuple[str, ...] = ("model.py",),
) -> tuple[str, str | None, str]:
    """What two recordings of one module come to, in short."""
    judgement = result(monkeypatch, tmp_path, old, new, problems, again, changed).judgement
    return judgement.verdict, judgement.rung, judgement.reason


def result(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    old: Raw,
    new: Raw,
    problems: tuple[str, ...] = (),
    again: Raw | None = None,
    changed: tuple[str, ...] = ("model.py",),
    told: dict[str, str] | None = None,
) -> Result:
    """What two recordings of one module come to."""
    sources = Sources(tree(tmp_path / "tree", model=HEAD + BODY))
    recipe = {
        "event": "recipe", "path": "model.py", "cls": "Model", "tries": 1, "arguments": {}, "batch": {}, "stubs": [],
        "skipped": [], "absent": [], "datamodule": False, "attributes": {}, "note": "",
        "told": {"arguments": "", "batch": "b", "smaller": "", **(told or {})},
    }  # fmt: skip
    monkeypatch.setattr("verify.apart._search", lambda *_: ([recipe], (), True))
    monkeypatch.setattr(
        "verify.apart._replay",
        lambda _, found, name: [(one, None, again or old) if name == "again" else (one, old, new) for one in found],
    )
    start = lambda *_: (Outcome(0, "", None, 0.0), tmp_path)  # noqa: E731
    sides = Sides(sources, sources, start, start, lambda jobs: [job() for job in jobs], tmp_path, 10)
    found = train(sides, changed, problems, missing="", per_batch=False)
    assert found is not None
    return found


def test_a_module_that_no_longer_trains_is_a_regression(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    broken = record(False, Failure("AttributeError", "no such thing", "model.py:3"))
    verdict, rung, reason = judged(monkeypatch, tmp_path, record(), broken)
    assert (verdict, rung) == ("regressed", "conforms")
    assert "no such thing" in reason


def test_what_is_left_for_a_person_is_no_regression(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    broken = record(False, Failure("TypeError", "optimizer_idx", "model.py:3"))
    problem = "model.py:7: Model.training_step(optimizer_idx), the target does not pass it"
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


def test_a_module_that_loads_nothing_changed_raises_no_rung(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    other = replace(record(), loaded=("other.py",))
    verdict, rung, reason = judged(monkeypatch, tmp_path, other, other)
    assert (verdict, rung) == ("inconclusive", "conforms")
    assert "none of the changed files was executed" in reason


def test_the_tree_before_is_searched_for_the_files_that_it_has(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    before, after = tree(tmp_path / "before", a=HEAD + BODY), tree(tmp_path / "after", a=HEAD + BODY, b=HEAD + BODY)
    asked: list[tuple[str, list[str]]] = []

    def searched(*given: Any) -> tuple[list[Any], tuple[str, ...], bool]:
        asked.append((given[-1], [file.path for file in given[3]]))
        return [], ("a.py:Model: not found", "b.py:Model: not found"), True

    monkeypatch.setattr("verify.apart._search", searched)
    start = lambda *_: (Outcome(0, "", None, 0.0), tmp_path)  # noqa: E731
    sides = Sides(Sources(before), Sources(after), start, start, lambda jobs: [job() for job in jobs], tmp_path, 10)
    train(sides, ("a.py", "b.py"), (), missing="", per_batch=False)
    assert asked == [("search", ["a.py", "b.py"]), ("search-before", ["a.py"])]


def test_changed_files_that_no_module_executed_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    _, _, reason = judged(monkeypatch, tmp_path, record(), record(), changed=("model.py", "far.py"))
    assert reason.endswith("; changed but not executed by these modules: far.py")


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


def test_a_setup_file_that_says_requirements_alone_is_not_waited_for() -> None:
    raw = replace(record(), loaded=("model.py",))
    assert _touches(raw, ["requirements.txt", "setup.py"])
    assert not _touches(raw, ["setup.py", "other.py"])


def test_errors_about_inputs_are_told_from_others() -> None:
    assert is_about_inputs("RuntimeError: mat1 and mat2 shapes cannot be multiplied (8x10 and 784x128)")
    assert not is_about_inputs("AttributeError: 'Trainer' object has no attribute 'running_sanity_check'")


def test_hints_of_calls_options_and_configurations(tmp_path: Path) -> None:
    root = tree(tmp_path / "p", main="Net(3, rate=2 * 0.5)\nparser.add_argument('--top-k', type=int, default='4')\n")
    (root / "net.py").write_text("class Net(Base):\n    def __init__(self, size, rate, more=(1, 2)):\n        pass\n")
    (root / "conf.yaml").write_text(
        "model:\n  class_path: net.Net\n  init_args:\n    size: 9\n    ref: ${other}\nlr: 1e-4\n"
    )
    found = hints(Sources(root), "net.py")
    assert found.values["rate"] == [1.0]
    assert found.values["top_k"] == [4]
    assert found.values["more"] == [{"@": "tuple", "items": [1, 2]}]
    assert found.values["lr"] == [0.0001]
    assert "ref" not in found.values
    assert found.calls["Net"] == [{"size": 3, "rate": 1.0}, {"size": 9}]
