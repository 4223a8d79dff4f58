"""Batches by what a step, and what it hands them to, does with them; arguments that are taken as one."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.verify.harness.test_alone import search
from verify.harness.alone_batches import guesses, told
from verify.harness.alone_steps import taken_apart

CASES = Path(__file__).parent / "apart_cases"


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """What one search says of each class of the cases."""
    folder = tmp_path_factory.mktemp("apart")
    shutil.copytree(CASES, folder / "project")
    return search(folder, folder / "project", ("apart.py",))


@pytest.mark.parametrize(
    ("cls", "batch", "most"),
    [
        ("FromTheEnd", "(float32 4x5, float32 4x5, int64 4)", 8),
        ("Inside", "{input_ids: int64 4x12, attention_mask: int64 4x12 of 1, kind: int64 4}", 2),
        ("ByAFunction", "(float32 4x4, float32 4x2)", 3),
        ("ByKeywords", "{features: float32 4x4, answers: float32 4x2}", 2),
        ("AtOnce", "{label: int64 4, inputs: float32 4x4}", 1),
        ("AllButTheFirst", "(float32 4x4, float32 4x4, float32 4x2)", 2),
        ("OneByOne", "(float32 1x4, float32 1x2)", 6),
        ("Steps", "float32 12x4x3", 4),
        ("Spoken", "(float32 4x256x512, float32 4x7x2)", 9),
        ("Detected", "(float32 4x3x64x64, {heat: float32 4x5x64x64, places: int64 4x3, widths: float32 4x3x5})", 45),
        ("Judged", "{sound: float32 4x8}", 3),
    ],
)
def test_batches_are_as_what_they_are_handed_to_takes_them(
    searched: dict[str, Any], cls: str, batch: str, most: int
) -> None:
    assert searched[cls]["event"] == "recipe", searched[cls].get("why")
    assert searched[cls]["told"]["batch"] == batch
    assert searched[cls]["tries"] <= most


def test_a_network_is_asked_by_a_method_that_it_has_not(searched: dict[str, Any]) -> None:
    assert searched["Judged"]["told"]["arguments"] == "network=a small linear layer with compute_loss"


def test_what_is_passed_as_one_is_known_as_one_and_what_cannot_be_made_is_left(searched: dict[str, Any]) -> None:
    assert searched["Settings"]["event"] == "recipe", searched["Settings"].get("why")
    whole = "{width: 6, heads: 3, rate: 0.125, factor: 2}"
    assert searched["Settings"]["told"]["arguments"] == f"net=Sized({whole}), words=8, args={whole}"


class Asked(torch.nn.Module):
    """Would tell by an error that it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.net = torch.nn.Linear(3, 2)

    @property
    def helper(self) -> object:
        raise AssertionError("a property was asked")

    def training_step(self, batch: Any, batch_idx: int) -> Any:
        return self.helper.compute(batch)  # type: ignore[attr-defined]


def test_no_property_is_asked_for_what_is_called() -> None:
    assert taken_apart(Asked()) is None


class Images(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.net = torch.nn.Conv2d(3, 2, 3)

    def training_step(self, batch: Any, batch_idx: int) -> Any:
        return self.net(batch["photo"]) * batch["mask"]


def test_a_mask_of_images_has_their_sides() -> None:
    assert told(next(guesses(Images()))) == "{mask: float32 4x32x32, photo: float32 4x3x32x32}"


def test_a_class_that_lightning_refuses_is_tried_once(searched: dict[str, Any]) -> None:
    assert (searched["Refused"]["event"], searched["Refused"]["tries"]) == ("unfound", 1)
    assert "Support for `validation_epoch_end` has been removed in v2.0.0" in searched["Refused"]["why"]


def test_a_method_that_sets_what_the_step_asks_for_is_called_before(searched: dict[str, Any]) -> None:
    assert searched["Prepared"]["event"] == "recipe", searched["Prepared"].get("why")
    assert searched["Prepared"]["told"]["attributes"] == "init_train=called with (class_ratio=0, total_steps=20)"
    assert searched["Prepared"]["tries"] <= 60


def test_a_network_is_built_of_a_file_that_imports_what_is_not_installed(searched: dict[str, Any]) -> None:
    assert searched["Beside"]["event"] == "recipe", searched["Beside"].get("why")
    assert searched["Beside"]["told"]["arguments"] == "network=Both(3, 5, 2)"
    assert "surely_not_installed_plots" in searched["Beside"]["stubs"]
