"""LIT230: the name that a ModelCheckpoint gives its files by default, which has the step in it since 1.1."""

from __future__ import annotations

import pytest
from lightning.pytorch.callbacks import ModelCheckpoint

from codemods.engine.plan import Plan
from tests.codemods.support import rule, run_rules

FOLDER = "import os\nfrom pytorch_lightning.callbacks import ModelCheckpoint\n\nModelCheckpoint(filepath=os.getcwd())\n"
LIT = rule("LIT230")


def made(text: str, pin: str, said: dict[str, str], unsafe: bool = False) -> Plan:
    pins = (f"pytorch-lightning{pin}",) if pin else ()
    return run_rules({"train.py": text, **said}, LIT, pins=pins, unsafe=unsafe)


@pytest.mark.parametrize("pin", ["==0.7.6", "==1.0.8", "<1.1"])
@pytest.mark.parametrize("said", [{}, {"test.py": "load('epoch=3.ckpt')\n"}])
def test_the_name_is_kept(pin: str, said: dict[str, str]) -> None:
    plan = made(FOLDER, pin, said)
    assert [found.fix for found in plan.findings] == ["safe"]
    assert 'ModelCheckpoint(dirpath=os.getcwd(), filename="{epoch}")' in plan.final()["train.py"].decode()
    new = ModelCheckpoint(dirpath=".", filename="{epoch}")
    assert new.format_checkpoint_name({"epoch": 3, "step": 40}).endswith("/epoch=3.ckpt")  # type: ignore[dict-item]


@pytest.mark.parametrize("pin", ["", ">=1.0", "<1.3"])
@pytest.mark.parametrize(
    "text",
    [
        "load('epoch=3.ckpt')\n",
        "load(f'a/epoch={number}.ckpt')\n",
        "load('epoch={}.ckpt'.format(3))\n",
        "load('epoch=%d.ckpt' % 3)\n",
        "re.match(r'epoch=(\\d+)\\.ckpt', name)\n",
    ],
)
def test_a_name_that_is_read_is_told_of(pin: str, text: str) -> None:
    if "re.match" in text:
        text = text.replace("\\.ckpt", ".ckpt")
    [found] = made(FOLDER, pin, {"test.py": text}).findings
    assert found.fix == "unsafe"
    assert "since then epoch=3-step=40.ckpt; test.py names the former." in found.reason


@pytest.mark.parametrize(
    "said",
    [
        {},
        {"test.py": "glob('epoch=*.ckpt')\n"},
        {"test.py": "load('epoch=3-step=40.ckpt')\n"},
        {"test.py": "fit(epoch=3, path='a.ckpt')\n"},
        {"README.md": "Load epoch=3.ckpt.\n"},
    ],
)
def test_a_name_that_nobody_reads_is_said_alone(said: dict[str, str]) -> None:
    plan = made(FOLDER, "", said)
    assert [found.fix for found in plan.findings] == ["safe"]
    assert "Up to 1.0 its files were called epoch=3.ckpt by default" in plan.findings[0].reason
    assert "ModelCheckpoint(dirpath=os.getcwd())" in plan.final()["train.py"].decode()


@pytest.mark.parametrize("pin", ["==1.1.8", ">=1.1"])
def test_a_name_that_had_the_step_is_not_spoken_of(pin: str) -> None:
    plan = made(FOLDER, pin, {"test.py": "load('epoch=3.ckpt')\n"})
    assert [found.fix for found in plan.findings] == ["safe"]
    assert "step=40" not in plan.findings[0].reason


@pytest.mark.parametrize("given", ["None", "'a/{epoch}'", "os.path.join(root, 'x-{epoch}')", "os.getcwd(), prefix='x'"])
def test_what_is_named_or_has_no_folder_is_left_so(given: str) -> None:
    after = made(FOLDER.replace("os.getcwd()", given), "==1.0.8", {}, unsafe=True).final()["train.py"].decode()
    assert 'filename="{epoch}"' not in after
    assert after.count("filename=") <= 1


def test_a_name_without_fields_was_another_up_to_0_9() -> None:
    text = FOLDER.replace("os.getcwd()", "'a/best'")
    for pin, told in (("==0.9.0", True), ("==1.0.8", False), ("", False)):
        [found] = made(text, pin, {}).findings
        assert (found.fix, "_ckpt_epoch_3.ckpt" in found.reason) == ("unsafe", told)
