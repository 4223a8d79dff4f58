from __future__ import annotations

from pathlib import Path

import pytest

from verify.environments.baseline import choose
from verify.environments.eras import older_than, oldest
from verify.environments.releases import MINORS, NEVER
from verify.reading.sources import Sources


@pytest.mark.parametrize(
    ("pins", "below", "version", "said"),
    [
        (("pytorch-lightning==1.8.0",), "2.0.0", "1.8.6", "1.8.0 no longer installs"),
        (("pytorch-lightning==1.8.4",), "2.0.0", "1.8.4", "the requirements allow (==1.8.4)"),
        (("pytorch-lightning>=1.5",), "2.0.0", "1.9.5", "older than 2.0.0"),
        (("pytorch-lightning~=1.7.2",), "2.0.0", "1.7.7", "the requirements allow"),
        (("pytorch-lightning==1.6.1",), "2.0.0", "1.6.5", "1.6.1 no longer installs"),
        (("pytorch-lightning<1.5.4,>=1.5",), "2.0.0", "1.5.10", "1.5.3 no longer installs"),
        (("pytorch_lightning==1.2.10",), "2.0.0", "1.4.9", "the oldest that does"),
        (("pytorch-lightning",), "2.0.0", "1.9.5", "the open requirements allow"),
        (("torch==1.13", "lightning>=2.0"), "2.0.0", "1.9.5", "the newest the old code can run on"),
        ((), "1.7.0", "1.6.5", "older than 1.7.0"),
        ((), None, "2.6.6", "the open requirements allow"),
        (("lightning<2.4",), None, "2.3.3", "the requirements allow (<2.4)"),
        (("lightning<=2.6.3",), None, "2.6.1", "the requirements allow"),
        (("not a requirement ==", "pytorch-lightning==1.9.*"), "2.0.0", "1.9.5", "the requirements allow"),
    ],
)
def test_the_newest_release_that_installs_and_is_admitted(
    pins: tuple[str, ...], below: str | None, version: str, said: str
) -> None:
    choice = choose(pins, below, "2.6.6")
    assert str(choice.version) == version
    assert said in choice.reason


def test_malicious_releases_are_never_known() -> None:
    known = {str(version) for minor in MINORS for version in minor.versions}
    assert not known & NEVER
    assert {"1.9.5", "2.6.6"} <= known


OLD = "from pytorch_lightning.utilities.cli import CALLBACK_REGISTRY\n"
OLDEST = "from pytorch_lightning import data_loader\n"
HOOK = "from pytorch_lightning import {0}\nclass Own({0}):\n    def on_epoch_end(self, *given): ...\n"
REACHED = "import pytorch_lightning as pl\nclass Own(pl.core.lightning.LightningModule): ...\n"
LASTED = {
    "utilities.cli.CALLBACK_REGISTRY": "1.8.6", "data_loader": "0.10.0", "LightningModule.on_epoch_end": "1.7",
}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "pins", "below", "limit"),
    [
        (OLD, [], "2.0.0", "1.9.0"),
        (OLD, [], "1.6.0", "1.6.0"),
        (OLD, ["pytorch-lightning>=1.9"], "2.0.0", "2.0.0"),
        (OLD, ["pytorch-lightning>=1.8.4"], "2.0.0", "1.9.0"),
        (OLDEST, [], "2.0.0", "2.0.0"),
        (f"try:\n    {OLD}except ImportError: ...\n", [], "2.0.0", "2.0.0"),
        (HOOK.format("LightningModule"), [], "2.0.0", "1.8.0"),
        (HOOK.format("LightningModule"), ["pytorch-lightning>=1.8"], "2.0.0", "2.0.0"),
        (HOOK.format("LightningDataModule"), [], "2.0.0", "2.0.0"),
        ("from pytorch_lightning import Trainer\n", [], "2.0.0", "2.0.0"),
        (REACHED, [], "2.0.0", "1.7.0"),
        (REACHED.replace("core.lightning", "core"), [], "2.0.0", "2.0.0"),
        (f"from pytorch_lightning.core.lightning import LightningModule\n{REACHED}", [], "2.0.0", "2.0.0"),
        (REACHED, ["pytorch-lightning>=1.8"], "2.0.0", "2.0.0"),
        (
            f"import pytorch_lightning.profiler.base\n{REACHED.replace('core.lightning', 'profiler')}",
            [],
            "2.0.0",
            "2.0.0",
        ),
    ],
)
def test_the_old_code_gets_a_release_that_has_its_names(
    tmp_path: Path, text: str, pins: list[str], below: str, limit: str
) -> None:
    (tmp_path / "a.py").write_text(text)
    assert older_than(Sources(tmp_path), below, pins, LASTED) == limit


@pytest.mark.parametrize(
    ("limits", "pins", "limit"),
    [
        (["2.0.0", "1.3.0"], [], "1.3.0"),
        (["2.0.0", "1.3.0"], ["pytorch-lightning>1.7.0,<2.0.0"], "2.0.0"),
        (["2.0.0", "1.3.0", "1.8.0"], ["pytorch-lightning>=1.5"], "1.8.0"),
        (["2.0.0", "1.3.0"], ["pytorch-lightning==1.2.10"], "1.3.0"),
        (["2.0.0", "1.6.0"], ["pytorch-lightning>=2.1"], "1.6.0"),
        (["1.10.0", "1.9.0"], [], "1.9.0"),
        ([], ["pytorch-lightning"], None),
    ],
)
def test_what_no_admitted_release_ran_with_decides_no_baseline(
    limits: list[str], pins: list[str], limit: str | None
) -> None:
    assert oldest(limits, pins) == limit
