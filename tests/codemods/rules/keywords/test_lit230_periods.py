"""LIT230: epochs after which `period=` saved."""

from __future__ import annotations

import pytest

from tests.codemods.support import rule, run_rules

HEAD = "from pytorch_lightning.callbacks import ModelCheckpoint\n\n"
LIT = rule("LIT230")
OF_0X = "from pytorch_lightning import Trainer\n\ntrainer = Trainer(max_nb_epochs=3)\n"


def found(value: str, pin: str, more: str = "") -> tuple[str, str]:
    pins = (f"pytorch-lightning{pin}",) if pin else ()
    text = f"{HEAD}ModelCheckpoint(period={value})\n{more}"
    [match] = [each for each in run_rules({"a.py": text}, LIT, pins=pins).findings if "period" in each.message]
    return match.fix, match.reason


@pytest.mark.parametrize(("value", "pin"), [("5", "==0.9.0"), ("n", "==0.7.6"), ("args.every", ">=0.8,<1.2")])
def test_the_first_epoch_was_saved_up_to_0_9(value: str, pin: str) -> None:
    level, reason = found(value, pin)
    assert level == "unsafe"
    assert f"since 0.10 after {value} epochs first" in reason


def test_a_file_of_0x_is_known_without_a_pin() -> None:
    assert found("5", "", OF_0X)[0] == "unsafe"
    assert found("5", "==1.2.0", OF_0X)[0] == "safe"


@pytest.mark.parametrize(("value", "pin"), [("1", "==0.9.0"), ("5", "==0.10.0"), ("n", "==1.2.10"), ("5", "")])
def test_the_same_epochs_are_saved(value: str, pin: str) -> None:
    assert found(value, pin) == ("safe", "It is `every_n_epochs=` now.")
