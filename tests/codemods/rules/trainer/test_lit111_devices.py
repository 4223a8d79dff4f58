"""LIT111: what stands beside a strategy, which devices it takes and what it means that there are none."""

from __future__ import annotations

import pytest
from lightning.pytorch import Trainer
from lightning.pytorch.utilities.exceptions import MisconfigurationException

from codemods.rules.trainer.ends import NO_DEVICES
from tests.codemods.rules.trainer.test_lit111 import HEAD
from tests.codemods.support import refusals, rule, run_rules


@pytest.mark.parametrize("devices", ["devices=2", "gpus=n", "accelerator='gpu', devices=n"])
def test_the_first_devices_take_the_place_of_free_ones_unsafely(devices: str) -> None:
    text = f"{HEAD}Trainer(auto_select_gpus=True, {devices})\n"
    made = run_rules({"a.py": text}, rule("LIT111"), unsafe=True)
    assert made.final()["a.py"].decode() == f"{HEAD}Trainer({devices})\n"
    assert [(item.fix, "find_usable_cuda_devices" in item.reason) for item in made.findings] == [("unsafe", True)]


PICKS = "find_usable_cuda_devices"
PICKED = f"from pytorch_lightning import Trainer\nfrom pytorch_lightning.accelerators import {PICKS}\n"


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("gpus=1, auto_select_gpus=True", f'accelerator="gpu", devices={PICKS}(1)'),
        ("auto_select_gpus=True, max_epochs=3, gpus=2", f'max_epochs=3, accelerator="gpu", devices={PICKS}(2)'),
        ("accelerator='gpu', devices=2, auto_select_gpus=True", f"accelerator='gpu', devices={PICKS}(2)"),
        ("accelerator='cuda', auto_select_gpus=True, devices=4", f"accelerator='cuda', devices={PICKS}(4)"),
        ("gpus=2, strategy='ddp', auto_select_gpus=True", f"accelerator=\"gpu\", devices={PICKS}(2), strategy='ddp'"),
    ],
)
@pytest.mark.parametrize(
    ("pins", "level"),
    [(("pytorch-lightning==1.5.10",), "safe"), (("pytorch-lightning<1.6",), "safe"),
     (("pytorch-lightning==1.6.5",), "unsafe"), (("pytorch-lightning>=1.4",), "unsafe"), ((), "unsafe")],
)  # fmt: skip
def test_a_number_of_gpus_is_picked_as_before(given: str, wanted: str, pins: tuple[str, ...], level: str) -> None:
    text = f"{HEAD}Trainer({given})\n"
    made = run_rules({"a.py": text}, rule("LIT111"), pins=pins, unsafe=level == "unsafe")
    assert made.final()["a.py"].decode() == f"{PICKED}Trainer({wanted})\n"
    assert [item.fix for item in made.findings] == [level]
    assert ("used already" in made.findings[0].reason) == (level == "unsafe")


def test_the_number_of_another_rule_is_picked_too() -> None:
    text = f"{HEAD}Trainer(gpus=2, accelerator='ddp', auto_select_gpus=True)\n"
    made = run_rules({"a.py": text}, rule("LIT101"), rule("LIT111"), pins=("pytorch-lightning==1.4.9",))
    assert f"devices={PICKS}(2), strategy='ddp', accelerator=\"gpu\")" in made.final()["a.py"].decode()


@pytest.mark.parametrize(
    "given",
    ["gpus=1, **more", "gpus=1, devices=1", "devices=2, accelerator=kind", "devices=2, accelerator='cpu'"],
)
def test_where_more_may_be_given_none_is_picked(given: str) -> None:
    made = run_rules({"a.py": f"{HEAD}Trainer({given}, auto_select_gpus=True)\n"}, rule("LIT111"), unsafe=True)
    assert PICKS not in made.final().get("a.py", b"").decode()
    assert "safe" not in [item.fix for item in made.findings]


@pytest.mark.parametrize("given", ["distributed_backend='dp'", "strategy='dp'", "distributed_backend='ddp2'"])
def test_processes_take_the_place_of_dataparallel_unsafely(given: str) -> None:
    text = f"{HEAD}Trainer({given}, devices=2)\n"
    made = run_rules({"a.py": text}, rule("LIT111"), unsafe=True)
    assert "strategy='ddp'" in made.final()["a.py"].decode()
    assert [(item.fix, "a batch of its own" in item.reason) for item in made.findings] == [("unsafe", True)]
    assert run_rules({"a.py": text}, rule("LIT111")).changes == ()


@pytest.mark.parametrize("written", ["0", "'0'", "[]", "2 if torch.cuda.is_available() else 0"])
@pytest.mark.parametrize("way", ["Trainer(devices={})", "n = {}\nTrainer(devices=n)", "Trainer(**{{'devices': {}}})"])
def test_no_devices_are_named_whatever_the_accelerator(written: str, way: str) -> None:
    text = f"import torch\nfrom lightning.pytorch import Trainer\n\n{way.format(written)}\n"
    found = run_rules({"a.py": text}, rule("LIT111"))
    assert found.changes == ()
    level = "manual" if "else" in written or (written == "[]" and way.startswith("n =")) else "unsafe"
    assert [(item.fix, "an error since 1.6" in item.reason) for item in found.findings] == [(level, True)]


def test_the_newest_release_refuses_no_devices() -> None:
    for value in NO_DEVICES:
        with pytest.raises(MisconfigurationException, match="not a valid input"):
            Trainer(accelerator="cpu", devices=value, logger=False)


@pytest.mark.parametrize(
    ("before", "wanted"),
    [
        ("Trainer(devices=0, max_epochs=1)", 'Trainer(accelerator="cpu", devices=1, max_epochs=1)'),
        ("Trainer(accelerator='cpu', devices='0')", "Trainer(accelerator='cpu', devices=1)"),
        ("Trainer(devices=1 if c() else 0, accelerator='auto')", "Trainer(devices=1, accelerator='auto')"),
        (
            "Trainer(accelerator='auto', devices=0 if c() else [0, 1])",
            "Trainer(accelerator='auto', devices=1 if c() else [0, 1])",
        ),
    ],
)
def test_no_devices_are_the_cpu_where_nothing_says_otherwise(before: str, wanted: str) -> None:
    made = run_rules({"train.py": f"{HEAD}{before}\n"}, rule("LIT111"), unsafe=True)
    assert [item.fix for item in made.findings] == ["unsafe"]
    assert made.final()["train.py"].decode() == f"{HEAD}{wanted}\n"
    trainer = eval(wanted, {"Trainer": Trainer, "c": lambda: True})
    assert (trainer.num_devices, type(trainer.accelerator).__name__) == (1, "CPUAccelerator")


@pytest.mark.parametrize(
    "given",
    [
        "accelerator='gpu', devices=0",
        "accelerator=x, devices=0",
        "devices=0 if x else 1",
        "accelerator='auto', devices=0 if x else '0'",
    ],
)
def test_no_devices_beside_what_says_otherwise_are_left(given: str) -> None:
    [reason] = refusals({"train.py": f"{HEAD}Trainer({given})\n"}, "LIT111")
    assert "for the CPU too" in reason
