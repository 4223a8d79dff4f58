"""LIT110: `checkpoint_callback=None`, which meant another thing up to 1.3 than from 1.5 on."""

from __future__ import annotations

import pytest

from tests.codemods.support import rule, run_rules

HEAD = (
    "from pytorch_lightning import Callback, Trainer\n"
    "from pytorch_lightning.callbacks import EarlyStopping, ModelCheckpoint\n\n\n"
    "class Show(Callback):\n    pass\n\n\nclass Saver(ModelCheckpoint):\n    pass\n\n\n"
)
OLD, LATE = ("pytorch-lightning==1.3.8",), ("pytorch-lightning>=1.5,<1.7",)
OFF = "enable_checkpointing=False"


def made(arguments: str, pins: tuple[str, ...], lines: str = "") -> tuple[str, str]:
    """The level of what is found, and the arguments of Trainer afterwards."""
    files = {"a.py": f"{HEAD}{lines}Trainer({arguments})\n"}
    done = run_rules(files, rule("LIT110"), pins=pins, unsafe=True)
    [found] = done.findings
    final = done.final()
    text = final["a.py"].decode() if "a.py" in final else files["a.py"]
    return found.fix, text.splitlines()[-1].removeprefix("Trainer(").removesuffix(")")


@pytest.mark.parametrize(
    ("pins", "level", "after"),
    [
        (OLD, "safe", OFF),
        (("pytorch-lightning<1.4",), "safe", OFF),
        (LATE, "safe", ""),
        (("pytorch-lightning>=1.2",), "unsafe", OFF),
        ((), "unsafe", OFF),
    ],
    ids=["1.3", "before 1.4", "1.5", "both", "open"],
)
def test_the_pins_say_what_it_meant(pins: tuple[str, ...], level: str, after: str) -> None:
    assert made("checkpoint_callback=None", pins) == (level, after)


@pytest.mark.parametrize("pins", [OLD, LATE, ()])
@pytest.mark.parametrize("saver", ["ModelCheckpoint()", "Saver()", "saver"])
def test_a_checkpoint_among_the_callbacks_saves(pins: tuple[str, ...], saver: str) -> None:
    given = f"callbacks=[Show(), {saver}]"
    assert made(f"checkpoint_callback=None, {given}", pins, "saver = ModelCheckpoint()\n") == ("safe", given)


@pytest.mark.parametrize("given", ["callbacks=[EarlyStopping('a'), Show(), stop]", "callbacks=[]", "callbacks=None"])
def test_others_do_not(given: str) -> None:
    lines = "stop = EarlyStopping('a')\n"
    level, after = made(f"checkpoint_callback=None, {given}", OLD, lines)
    assert level == "safe" and set(after.split(", ")) == {*given.split(", "), OFF}


@pytest.mark.parametrize("given", ["found", "[Show(), *found]", "[Show(), found]", "[build()]", "[Show()] + found"])
def test_callbacks_that_may_save_are_left_to_a_person(given: str) -> None:
    text = f"checkpoint_callback=None, callbacks={given}"
    assert made(text, OLD) == ("manual", text)


def test_an_argument_that_went_in_1_5_tells_the_release_too() -> None:
    level, after = made("checkpoint_callback=None, distributed_backend='ddp'", ())
    assert level == "safe" and OFF in after


def test_what_another_rule_writes_does_not() -> None:
    for beside in ("gpus=1", "weights_summary=None"):
        text = f"{HEAD}Trainer(checkpoint_callback=None, {beside})\n"
        done = run_rules({"a.py": text})
        assert [item.fix for item in done.findings if "checkpoint_callback" in item.message] == ["unsafe"]
        assert "checkpoint_callback=None" in done.final()["a.py"].decode()
