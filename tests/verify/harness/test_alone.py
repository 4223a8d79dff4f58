"""Modules that are trained alone: how arguments and batches are found, what is refused, and what two trees come to."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import traceback
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

from tests import warm
from tests.verify.test_module_training import BODY, HEAD, record, result
from tests.verify.trees import tree
from verify.harness import HARNESS
from verify.harness.alone_arguments import ArgumentHints
from verify.harness.alone_batches import guesses, leaf, make, told
from verify.harness.alone_changes import Trouble
from verify.harness.alone_climb import Climb, children
from verify.harness.alone_data import Offers
from verify.harness.alone_errors import following, is_about_inputs
from verify.harness.alone_sizes import reduced, smaller
from verify.harness.alone_tries import (
    ONE_TRY_S,
    Attempt,
    NothingLearned,
    RepeatedBatches,
    TooLarge,
    TooSlow,
    TryBench,
    TryState,
    _check,
    _score,
    _StepCounter,
    generator,
)
from verify.reading import modules
from verify.reading.hints import hints
from verify.reading.sources import Sources

CASES = Path(__file__).parent / "alone_cases"
FILES = ("shapes.py", "built.py", "needing.py", "started.py")


@pytest.fixture(scope="session")
def searched(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """What one search says of each class of the cases."""
    folder = tmp_path_factory.mktemp("alone")
    root = folder / "project"
    shutil.copytree(CASES, root)
    return search(folder, root, FILES)


def search(
    folder: Path,
    root: Path,
    files: tuple[str, ...],
    budget: float = 200,
    memory: int = 2**33,
    most: int | None = None,
    paths: tuple[str, ...] = (),
) -> dict[str, dict[str, Any]]:
    """What a search says of each class of some files, in a process that may set aside `most` bytes."""
    sources = Sources(root)
    chosen = modules.chosen(sources, sources, files)
    spec = {
        "mode": "search", "paths": [*paths, "."], "namespaces": ["pytorch_lightning"], "trainer": {}, "budget": budget,
        "seed": 1, "memory": memory,
        "seconds": 250, "record": str(folder / "record.jsonl"), "scratch": str(folder), "limit_train_batches": 2,
        "limit_val_batches": 1, "max_epochs": 1,
        "modules": [modules.described(sources, one) for one in chosen],
    }  # fmt: skip
    (folder / "spec.json").write_text(json.dumps(spec))
    done = bounded(folder / "spec.json", root, most) if most else warm.run(folder / "spec.json", root)
    assert done.returncode == 0, done.stdout
    found = [json.loads(line) for line in (folder / "record.jsonl").read_text().splitlines()]
    return {event["cls"] or event["path"]: event for event in found if event["event"] in ("recipe", "unfound")}


def bounded(spec: Path, folder: Path, most: int) -> subprocess.CompletedProcess[str]:
    """What the harness does in a process that may set aside no more than this from its start on."""
    limit = f"import resource; resource.setrlimit(resource.RLIMIT_DATA, ({most},) * 2)"
    start = f"{limit}; import os, sys; os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
    command = [sys.executable, "-c", start, "-B", str(HARNESS), str(spec)]
    return subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def test_files_of_one_name_in_several_folders_are_told_apart(tmp_path: Path) -> None:
    for name in ("first", "second"):
        (tmp_path / "project" / name).mkdir(parents=True)
        text = HEAD.replace("Model", name.title()) + BODY
        (tmp_path / "project" / name / "model.py").write_text(text)
    found = search(tmp_path, tmp_path / "project", ("first/model.py", "second/model.py"), paths=("first", "second"))
    assert {name: event["path"] for name, event in found.items()} == {
        "First": "first/model.py", "Second": "second/model.py"
    }  # fmt: skip
    assert found["Second"]["event"] == "recipe", found["Second"]["why"]


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
        ("Speech", "{words: int64 4x12, word_lengths: int64 4 of 12, voices: float32 4x1x384, spectra: float32 4x5x48, "
                   "spectra_lengths: int64 4 of 48}"),
    ],
)  # fmt: skip
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
        ("Fetches", "ConnectionError: hub does not answer at built.py:"),
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
    assert searched["Smoked"]["left"] == {}


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
        ("Unpacking", "backbone=a small linear layer that answers with 3 tensors", "(float32 4x8, int64 4)"),
        ("Answering", "backbone=a small linear layer that answers with {logits, loss}", "(float32 4x8, int64 4)"),
    ],
)
def test_a_network_that_answers_with_names_gets_them(
    searched: dict[str, Any], cls: str, arguments: str, batch: str
) -> None:
    assert searched[cls]["event"] == "recipe", searched[cls].get("why")
    assert searched[cls]["told"]["arguments"].startswith(arguments)
    assert searched[cls]["told"]["batch"] == batch


def test_lengths_that_have_to_be_sorted_are_all_the_same(searched: dict[str, Any]) -> None:
    assert searched["Packed"]["event"] == "recipe", searched["Packed"].get("why")
    assert searched["Packed"]["told"]["batch"] == "(float32 4x12x3, float32 4 of 1)"


def test_a_training_whose_loss_is_nothing_is_none_and_lengths_may_be_why() -> None:
    seen = _StepCounter()
    for event, given in (("batch", {}), ("loss", {"value": 0.0}), ("step", {})):
        seen(event, **given)
    with pytest.raises(NothingLearned, match="its loss is 0") as raised:
        _check(seen)
    spec = {"items": [leaf([4, 3]), leaf([4], "int64", -32)], "kind": "list"}
    trouble = Trouble(raised.value, (), spec, make(spec, generator(1)), torch.nn.Linear(3, 1), "/nowhere")
    assert next(following(trouble))[0]["items"][1]["high"] == -1
    seen("loss", value=0.5)
    _check(seen)


def test_what_a_step_does_to_its_batch_is_not_left_for_the_next_epoch() -> None:
    first = torch.ones(2)
    handed = RepeatedBatches([{"x": first}])
    assert handed[0]["x"] is first
    first.mul_(3)
    for _ in range(2):
        assert handed[0]["x"].tolist() == [1.0, 1.0]
        handed[0]["x"].mul_(3)


def test_a_list_in_a_file_of_its_own_goes_by_the_name_of_the_file(searched: dict[str, Any]) -> None:
    assert searched["Spelling"]["event"] == "recipe", searched["Spelling"].get("why")
    assert searched["Spelling"]["told"]["arguments"] == "alphabet=['_', 'a', 'b', 'c']"


def test_what_is_too_large_for_a_short_training_gets_fewer_channels_and_layers() -> None:
    unet = {"@": "call", "name": "unet.UNet", "kwargs": {"model_channels": 224, "image_size": 256}}
    given = {
        "unet": unet,
        "config": {"decoder": {"d_model": 512, "num_layers": 12, "dims": [128, 196, 3], "n_heads": 24}},
        "steps": 99,
    }
    first, second = smaller(given, {})
    assert first["unet"]["kwargs"] == {"model_channels": 32, "image_size": 256}
    assert first["config"] == {"decoder": {"d_model": 32, "num_layers": 2, "dims": [32, 32, 3], "n_heads": 4}}
    assert (first["steps"], second["config"]["decoder"]["d_model"]) == (99, 64)
    assert list(smaller(first, {})) == []
    said = "model_channels 32 for 224, d_model 32 for 512, num_layers 2 for 12, dims [32, 32, 3] for [128, 196, 3]"
    said += ", n_heads 4 for 24"
    assert ", ".join(reduced(given, first)) == said
    assert list(reduced(given, {**given, "steps": 100, "more": 1})) == []


@pytest.mark.parametrize("error", [TooLarge("4 parameters"), TooSlow("a single try")])
def test_a_smaller_model_is_known_as_one_until_the_evidence(
    error: Exception, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    state = TryState({"width": 512, "rate": 0.1})
    (first, _), (second, _) = children(
        TryBench(None, ".", 1), torch.nn.Linear, state, Attempt(error), ArgumentHints({})
    )
    assert [first.arguments["width"], second.arguments["width"]] == [32, 64]
    known = replace(state, batch={"items": [], "kind": "list"})
    tried = children(TryBench(None, ".", 1), torch.nn.Linear, known, Attempt(error), ArgumentHints({}))
    assert [child.batch for child, _ in tried] == [known.batch, None] * 2
    assert first.full == TryState.of({**first.described}).full == state.arguments
    assert all(child.full == state.arguments for child, _ in children(
        TryBench(None, ".", 1), torch.nn.Linear, second, Attempt(error), ArgumentHints({})
    ))  # fmt: skip
    (alone,) = result(monkeypatch, tmp_path, record(), record(), told={"smaller": "width 32 for 512"}).alone
    assert "a smaller model, since it is too large or too slow here: width 32 for 512" in alone.notes


@pytest.mark.parametrize(("narrow", "width"), [(0.1, 32), (None, 512)])
def test_a_model_whose_steps_take_too_long_is_made_smaller_where_that_trains(
    narrow: float | None, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def attempt(_: object, __: object, state: TryState, *___: object, **____: object) -> Attempt:
        is_whole = state.arguments["width"] == 512
        error = None if is_whole or narrow else ValueError("it cannot be less")
        return Attempt(
            error, module=torch.nn.Linear(1, 1), spec={"items": []}, seconds=90.0 if is_whole else narrow or 0
        )

    monkeypatch.setattr("verify.harness.alone_climb.attempt", attempt)
    hints = ArgumentHints({}, ({"width": 512},))
    cls = type("Wide", (), {"__init__": lambda self, width: None})
    bench = TryBench(None, ".", 1)
    state, _, _ = Climb(bench, cls, hints, {}, 100, Offers(bench, lambda *_: ModuleType("none"), ())).run()
    assert state is not None and state.arguments == {"width": width}
    assert state.full == ({"width": 512} if width == 32 else None)
    assert state.slow is (width == 512)


@pytest.mark.parametrize("wide", [True, False])
def test_a_try_that_takes_long_waits_for_what_takes_less(wide: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Less is made where there is less; else what took long gets its time once nothing else is left."""
    seen = []

    def attempt(_: object, __: object, state: TryState, *___: object, most: float, **____: object) -> Attempt:
        seen.append((state.arguments["width"], most))
        is_long = (state.arguments["width"] > 32 or not wide) and most < ONE_TRY_S
        error = TooSlow("it takes long") if is_long else None
        return Attempt(error, (), 1.0, torch.nn.Linear(1, 1), {"items": []}, seconds=0.1)

    monkeypatch.setattr("verify.harness.alone_climb.attempt", attempt)
    if not wide:
        monkeypatch.setattr("verify.harness.alone_climb.children", lambda *_: iter(()))
    cls, bench = type("Wide", (), {"__init__": lambda self, width: None}), TryBench(None, ".", 1)
    offers = Offers(bench, lambda *_: ModuleType("none"), ())
    state, _, _ = Climb(bench, cls, ArgumentHints({}, ({"width": 512},)), {}, 60, offers).run()
    assert state is not None and state.arguments["width"] == (32 if wide else 512)
    assert seen[0] == (512, 10.0) and seen[-1] == ((32, 10.0) if wide else (512, ONE_TRY_S))


def _searched(monkeypatch: pytest.MonkeyPatch, attempt: Any, following: Any) -> tuple[TryState | None, int]:
    """What a search of 60 seconds for a class with a width finds, and in how many tries."""
    monkeypatch.setattr("verify.harness.alone_climb.attempt", attempt)
    monkeypatch.setattr("verify.harness.alone_errors.following", following)
    cls, bench = type("Wide", (), {"__init__": lambda self, width: None}), TryBench(None, ".", 1)
    offers = Offers(bench, lambda *_: ModuleType("none"), ())
    return Climb(bench, cls, ArgumentHints({}, ({"width": 512},)), {}, 60, offers).run()[:2]


@pytest.mark.parametrize("works", [32, 512])
def test_what_learns_nothing_and_is_slow_at_that_is_followed_on_a_smaller_one(
    works: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On itself only where the smaller ones do not train."""
    seen = []

    def attempt(_: object, __: object, state: TryState, *___: object, **____: object) -> Attempt:
        width, spec = state.arguments["width"], state.batch or leaf([4, 8])
        if width != 8:  # what is guessed where the project passes nothing
            seen.append(width)
        learns = spec["high"] < 0 and width == works
        error = None if learns else NothingLearned("`fit` ends, but its loss is 0")
        score, took = 3e6 + width / 32, 5.0 if width == 512 and not learns else 0.1
        return Attempt(error, (), score, torch.nn.Linear(1, 1), spec, None, took)

    state, _ = _searched(
        monkeypatch, attempt, lambda trouble: iter([({**leaf([4, 8]), "high": -number}, 0.0) for number in range(3)])
    )
    assert state is not None and state.arguments["width"] == works and state.batch is not None
    assert seen[:2] == [512, 32] and (512 in seen[1:]) is (works == 512)


def test_what_was_put_off_is_not_tried_once_something_trains_that_is_too_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would take the time of the smaller ones."""
    widths = []

    def attempt(_: object, __: object, state: TryState, *___: object, **____: object) -> Attempt:
        widths.append(state.arguments["width"])
        if len(widths) == 2:
            monkeypatch.setattr("verify.harness.alone_climb.LAST", 1)
        error = TooSlow("it takes long") if len(widths) == 1 else None
        return Attempt(error, (), 1.0, None, leaf([4, 8]), None, 0.1 if widths[-1] == 32 else 5.0)

    def following(_: object, __: object, state: TryState, *___: object) -> Any:
        less = {"width": 256} if len(widths) == 1 else {"width": 32}
        return iter([(replace(state, arguments=less), 0.0)])

    monkeypatch.setattr("verify.harness.alone_climb.children", following)
    state, _ = _searched(monkeypatch, attempt, lambda _: iter(()))
    assert widths == [512, 256, 32] and state is not None and not state.slow


STRETCHED = """def heard(parts):
    longer = parts[1].repeat(1, 256)
    return met(parts[0], longer)


def met(one, other):
    return one.cos() + other
"""


@pytest.mark.parametrize("text", [STRETCHED, STRETCHED.replace("0", "'a'").replace("parts[1]", "parts['b']")])
def test_what_is_made_of_a_part_is_what_was_stretched(text: str, tmp_path: Path) -> None:
    (tmp_path / "heard.py").write_text(text)
    held: dict[str, Any] = {}
    exec(compile(text, str(tmp_path / "heard.py"), "exec"), held)
    leaves = [leaf([4, 64]), leaf([4, 64])]
    spec = {"items": leaves, "kind": "list"} if text == STRETCHED else {"keys": dict(zip("ab", leaves, strict=True))}
    made = make({"kind": "dict", **spec}, generator(1))
    with pytest.raises(RuntimeError) as raised:
        held["heard"](made)
    frames = tuple(traceback.walk_tb(raised.value.__traceback__))
    trouble = Trouble(raised.value, frames, {"kind": "dict", **spec}, made, torch.nn.Linear(3, 1), str(tmp_path))
    first, _ = next(following(trouble))
    assert told(first) in ("(float32 4x512, float32 4x2)", "{a: float32 4x512, b: float32 4x2}")


def test_a_much_larger_size_is_tried_first_where_it_costs_least() -> None:
    keys = {"ids": leaf([4, 12], "int64"), "wide": leaf([4, 50, 12]), "sound": leaf([4, 1, 12])}
    error = RuntimeError(
        "The size of tensor a (12) must match the size of tensor b (3072) at non-singleton dimension 2"
    )
    spec = {"keys": keys, "kind": "dict"}
    found = following(Trouble(error, (), spec, make(spec, generator(1)), torch.nn.Linear(3, 1), "/nowhere"))
    changes = [name for each, _ in found for name in keys if each["keys"][name]["shape"][-1] == 3072]
    assert changes[:3] == ["sound", "wide", "ids"]


@pytest.mark.parametrize(
    ("shape", "others"),
    [
        ([4, 2, 32, 32, 32], [[4, 2, 64, 64, 64], [4, 2, 32, 32, 64]]),
        ([4, 32, 32, 32], [[4, 32, 64, 64], [4, 32, 32, 64]]),
        ([4, 2, 32, 16], [[4, 2, 64, 16]]),
        ([4, 8, 32], [[4, 8, 64]]),
    ],
)
def test_all_sides_of_a_picture_or_a_volume_become_another_size_first(
    shape: list[int], others: list[list[int]]
) -> None:
    error = RuntimeError("The size of tensor a (32) must match the size of tensor b (64) at non-singleton dimension 3")
    spec = leaf(shape)
    found = following(Trouble(error, (), spec, make(spec, generator(1)), torch.nn.Linear(3, 1), "/nowhere"))
    tried = [each["shape"] for each, _ in found]
    places = [tried.index(other) for other in others]
    assert places == sorted(places)


class Annotated:
    words: torch.LongTensor
    sounds: torch.FloatTensor
    ids: torch.LongTensor | None = None


class Takes(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.net = torch.nn.Embedding(9, 2)

    def training_step(self, batch: Annotated, batch_idx: int) -> object:
        return batch.words, batch.sounds, batch.ids


def test_tensors_are_of_what_the_class_of_a_batch_says() -> None:
    assert told(next(guesses(Takes()))) == "{words: int64 4x12, sounds: float32 4x12, ids: int64 4x12}"


def test_a_model_that_is_too_large_came_further_than_arguments_that_build_none() -> None:
    large, wrong = TooLarge("400,000,001 parameters"), ValueError("no")
    assert _score(large, (), 0, None, _StepCounter()) > _score(wrong, (), 0, None, _StepCounter())
    assert _score(large, (), 0, None, _StepCounter()) < _score(wrong, (), 0, torch.nn.Linear(1, 1), _StepCounter())


def test_a_width_that_nobody_gives_is_made_smaller_too() -> None:
    cls = type("Wide", (), {"__init__": lambda self, rate, width=512, seed=99, flag_dim=True: None})
    state = TryState({"rate": 0.1})
    slow = Attempt(TooSlow("the steps take too long"))
    first, second = (child for child, _ in children(TryBench(None, ".", 1), cls, state, slow, ArgumentHints({})))
    assert (first.arguments, second.arguments) == ({"rate": 0.1, "width": 32}, {"rate": 0.1, "width": 64})
    assert list(reduced(first.full, first.arguments)) == ["width 32 for 512"]


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


def test_files_of_the_project_are_not_taken_for_what_lightning_imports(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "tqdm.py").write_text("from pytorch_lightning import Callback\n")
    spec = {
        "mode": "replay", "paths": ["parts", "."], "recipes": [], "namespaces": ["pytorch_lightning"], "seed": 1,
        "seconds": 100, "record": str(tmp_path / "record.jsonl"), "scratch": str(tmp_path),
    }  # fmt: skip
    (tmp_path / "spec.json").write_text(json.dumps(spec))
    # anew: what has loaded Lightning imports tqdm no more
    subprocess.run([sys.executable, HARNESS, tmp_path / "spec.json"], cwd=tmp_path, check=False, timeout=200)
    told = [json.loads(line)["event"] for line in (tmp_path / "record.jsonl").read_text().splitlines()]
    assert told == ["start", "end"]


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


def test_a_batch_size_is_that_of_the_batches_that_are_made() -> None:
    group = {"batch_size": 256, "layers": 6, "nested": {"eval_batch_size": 64}}
    made = ArgumentHints(
        {"batch_size": [128, 2], "size": [9]}, ({"batch_size": 32, "width": 7},), (group,)
    ).of_batches()
    assert made.values == {"batch_size": [4, 2], "size": [9]}
    assert made.calls == ({"batch_size": 4, "width": 7},)
    assert made.groups == ({"batch_size": 4, "layers": 6, "nested": {"eval_batch_size": 4}},)


SIZED = """import argparse

import pytorch_lightning as pl
import torch


class Pairs(pl.LightningModule):
    def __init__(self, args):
        super().__init__()
        self.args = args
        self.net = torch.nn.Linear(8, 2)

    def training_step(self, batch, batch_idx):
        x, y = batch
        return self.net(x).view(self.args.batch_size, -1).pow(2).mean()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


parser = argparse.ArgumentParser()
parser.add_argument("--batch_size", type=int, default=256)
"""


def test_a_module_that_counts_on_its_batch_size_is_trained(tmp_path: Path) -> None:
    found = search(tmp_path, tree(tmp_path / "project", model=SIZED), ("model.py",), budget=60)["Pairs"]
    assert found["event"] == "recipe", found
    assert "batch_size: 4" in found["told"]["arguments"]


def test_channels_are_what_a_layer_takes_as_its_features_before_pictures_are_of_other_sizes() -> None:
    error = RuntimeError("mat1 and mat2 shapes cannot be multiplied (4096x3 and 1x16)")
    spec = leaf([4, 3, 32, 32])
    found = following(Trouble(error, (), spec, make(spec, generator(1)), torch.nn.Linear(3, 1), "/nowhere"))
    assert next(found)[0]["shape"] == [4, 1, 32, 32]


def test_what_was_not_said_before_is_followed_first_and_the_latest_of_it_before_the_rest() -> None:
    climb = Climb.__new__(Climb)
    climb.heard = set()
    first, again, other = (climb._news(text) for text in ("(4096x3 and 1x16)", "(1296x3 and 1x16)", "of another type"))
    assert again == 0 < first < other < 0.5


@pytest.mark.parametrize(
    ("weight", "shape", "first"),
    [
        ("[128, 3, 3, 3]", [4, 12, 128], [4, 3, 32, 32]),
        ("[128, 3, 3, 3]", [4, 128], [4, 3, 32, 32]),
        ("[128, 3, 3, 3]", [4, 4, 32, 32], [4, 3, 32, 32]),
        ("[128, 3, 5]", [4, 12, 128], [4, 3, 128]),
    ],
)
def test_pictures_are_given_to_a_layer_of_pictures(weight: str, shape: list[int], first: list[int]) -> None:
    error = RuntimeError(
        f"Given groups=1, weight of size {weight}, expected input[1, 4, 12, 128] to have 3 channels, but got "
        f"{shape[1] if len(shape) > 2 else 4} channels instead"
    )
    spec = leaf(shape)
    found = following(Trouble(error, (), spec, make(spec, generator(1)), torch.nn.Linear(3, 1), "/nowhere"))
    assert next(found)[0]["shape"] == first
