"""LIT230: what a ModelCheckpoint watched that was told nothing."""

from __future__ import annotations

import pytest

from tests.codemods.support import rule, run_rules

HEAD = "from pytorch_lightning.callbacks import ModelCheckpoint\n\n"
LIT = rule("LIT230")
LOGGING = {"model.py": "self.log('val_loss', loss)\n"}


def after(call: str, pin: str, more: dict[str, str] = LOGGING) -> str:
    pins = (f"pytorch-lightning{pin}",) if pin else ()
    made = run_rules({"a.py": f"{HEAD}{call}\n", **more}, LIT, pins=pins, unsafe=True)
    assert made.bugs == ()
    told = [each for each in made.findings if "keeps the newest" in each.message]
    assert [each.fix for each in told] in ([], ["unsafe"])
    text = made.final()["a.py"].decode() if "a.py" in made.final() else f"{HEAD}{call}\n"
    assert bool(told) == (text.count("monitor=") > call.count("monitor="))
    return text.removeprefix(HEAD).strip()


@pytest.mark.parametrize(
    ("call", "pin", "wanted"),
    [
        ("ModelCheckpoint()", "==1.3.8", 'ModelCheckpoint(monitor="val_loss")'),
        ("ModelCheckpoint(dirpath='a')", "==1.0.8", "ModelCheckpoint(monitor=\"val_loss\", dirpath='a')"),
        ("ModelCheckpoint(save_top_k=None)", "<1.4", 'ModelCheckpoint(monitor="val_loss", save_top_k=None)'),
        ("ModelCheckpoint(save_top_k=1)", "==0.9.0", 'ModelCheckpoint(monitor="val_loss", save_top_k=1)'),
        (
            "ModelCheckpoint(filepath='a/{epoch}')",
            "==0.8.5",
            "ModelCheckpoint(monitor=\"val_loss\", dirpath='a', filename='{epoch}')",
        ),
    ],
)
def test_it_keeps_the_best_still(call: str, pin: str, wanted: str) -> None:
    assert after(call, pin) == wanted
    assert after(wanted, pin) == wanted


@pytest.mark.parametrize(
    ("call", "pin", "more"),
    [
        ("ModelCheckpoint()", "==1.4.0", LOGGING),
        ("ModelCheckpoint()", ">=1.2", LOGGING),
        ("ModelCheckpoint()", "", LOGGING),
        ("ModelCheckpoint()", "==1.3.8", {}),
        ("ModelCheckpoint()", "==1.3.8", {"README.md": "'val_loss'\n"}),
        ("ModelCheckpoint(monitor='loss')", "==1.3.8", LOGGING),
        ("ModelCheckpoint(**options)", "==1.3.8", LOGGING),
        ("ModelCheckpoint(save_top_k=-1)", "==1.3.8", LOGGING),
        ("ModelCheckpoint(save_top_k=0)", "==1.3.8", LOGGING),
        ("ModelCheckpoint(save_top_k=1)", "==1.3.8", LOGGING),
        ("ModelCheckpoint(save_top_k=n)", "==1.3.8", LOGGING),
    ],
)
def test_what_kept_the_newest_or_is_told_is_left(call: str, pin: str, more: dict[str, str]) -> None:
    assert after(call, pin, more) == call
