"""Arguments of modules that their callers, the project's configurations or errors tell."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.verify.harness.test_alone import search
from verify.harness.alone_arguments import by_name
from verify.reading.callers import NONE, settled
from verify.reading.hints import hints
from verify.reading.sources import Sources

CASES = Path(__file__).parent / "followed_cases"


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """What one search says of each class of the cases."""
    folder = tmp_path_factory.mktemp("followed")
    shutil.copytree(CASES, folder / "project")
    return search(folder, folder / "project", ("followed.py",))


@pytest.mark.parametrize(
    ("cls", "arguments"),
    [
        (
            "Followed",
            "net=kind_of(name='wide')(width=11, depth=2), loss=loss_of('absolute'), "
            "schedule=partial(rate, warm=4), inputs=2",
        ),
        ("Spread", "config={width: 14, heads: 7, blocks: 1}"),
        ("LookedUp", "size='tiny'"),
        ("Configured", "model=a small linear layer, backbone=a small linear layer"),
        ("Branching", "opt_type='Ranger'"),
        ("LookedUpElsewhere", "task='entailment'"),
        ("Functions", "criterion=a mean squared error, lr_factor=1.0 for any step"),
        ("Pictures", "image_size=[24, 40]"),
        ("Unsized", "actions=8"),
        ("Typed", "config=Settings()"),
        ("SetByKey", "taps=13"),
        ("Counted", "nparams=8"),
        ("Spaced", "hyper_params={number of taps: 17, learning rate: 0.25}"),
        ("Computed", "bottom_options=4"),
        ("BuildsItself", "optim={_target_: 'torch.optim.Adam', lr: 0.001}"),
    ],
)
def test_arguments_are_what_the_project_passes(searched: dict[str, Any], cls: str, arguments: str) -> None:
    assert searched[cls]["event"] == "recipe", searched[cls]["why"]
    assert searched[cls]["told"]["arguments"] == arguments


def test_what_is_called_becomes_a_function(searched: dict[str, Any]) -> None:
    assert searched["NotAFunction"]["event"] == "recipe", searched["NotAFunction"]["why"]
    assert searched["NotAFunction"]["arguments"]["gamma"]["@"] == "function"


def test_images_are_of_the_size_that_the_arguments_name(searched: dict[str, Any]) -> None:
    assert searched["Pictures"]["told"]["batch"].startswith("(float32 4x3x24x40")


def test_a_call_is_followed_through_the_assignments_before_it(tmp_path: Path) -> None:
    shutil.copytree(CASES, tmp_path / "project")
    found = hints(Sources(tmp_path / "project"), "followed.py")
    call = found.calls["Followed"][0]
    assert call["net"]["of"] == {"@": "call", "name": "parts.kind_of", "args": [], "kwargs": {"name": "wide"}}
    assert call["net"]["kwargs"] == {"width": 11, "depth": 2}
    assert call["schedule"]["partial"] is True
    assert {"width": 14, "heads": 7, "blocks": 1} in found.groups


def test_what_goes_by_an_unknown_name_is_left_out() -> None:
    call = {"@": "call", "name": "a.b", "args": [], "kwargs": {"x": {"@": "hint", "name": "x"}, "y": 1}}
    assert settled(call, {}) == {"@": "call", "name": "a.b", "args": [], "kwargs": {"y": 1}}
    assert settled(call, {"x": [2]})["kwargs"] == {"x": 2, "y": 1}
    assert settled([{"@": "hint", "name": "x"}], {}) is NONE


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("total_steps", 20), ("lr_decay_steps", 20), ("warmup_steps", 1), ("check_interval", 10),
        ("max_epochs", 2), ("lr_warmup_epochs", 2),
        ("eps", 1e-6), ("adam_eps", 1e-6), ("layer_norm_epsilon", 1e-6), ("lr", 1e-3), ("lr_encoder", 1e-3),
        ("num_params", 8), ("nparams", 8), ("n_heads", 2), ("hparams", {"@": "config", "values": {}}),
    ],
)  # fmt: skip
def test_a_name_says_what_is_likely(name: str, value: Any) -> None:
    assert by_name(name) == value
