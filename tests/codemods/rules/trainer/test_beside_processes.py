"""LIT101, LIT111 and LIT301: `gpus=` and `num_processes=` of one Trainer, of which one counted."""

from __future__ import annotations

import pytest

from tests.codemods.support import rule, run_rules

HEAD = "from pytorch_lightning import Trainer\n\n"
RULES = (rule("LIT101"), rule("LIT111"))
EARLY = ("pytorch-lightning==1.4.9",)
LATE = ("pytorch-lightning==1.8.6",)
ANY = ("pytorch-lightning>=1.2",)


def after(given: str, pins: tuple[str, ...], unsafe: bool = False) -> str:
    """What a call with those arguments becomes."""
    made = run_rules({"train.py": f"{HEAD}Trainer({given})\n"}, *RULES, unsafe=unsafe, pins=pins)
    text = made.final().get("train.py", f"{HEAD}Trainer({given})\n".encode()).decode()
    return text.removeprefix(f"{HEAD}Trainer(").removesuffix(")\n")


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("gpus=2, num_processes=4", 'accelerator="gpu", devices=2'),
        ("gpus=[1, 2], num_processes=2", 'accelerator="gpu", devices=[1, 2]'),
        (
            "gpus=2, num_processes=n, accelerator='ddp'",
            "devices=2, strategy='ddp', accelerator=\"gpu\"",
        ),
        ("gpus=2, num_processes=4, accelerator='gpu'", "devices=2, accelerator='gpu'"),
        ("gpus=2, num_processes=1", 'accelerator="gpu", devices=2'),
        ("gpus=2, num_processes=None", 'accelerator="gpu", devices=2'),
        ("gpus=int(n), num_processes=3", 'accelerator="gpu" if int(n) else "cpu", devices=int(n) or 3'),
        ("gpus=int(n), num_processes=m", 'accelerator="gpu" if int(n) else "cpu", devices=int(n) or m or 1'),
        (
            "gpus=int(n), num_processes=2 if m else 4",
            'accelerator="gpu" if int(n) else "cpu", devices=int(n) or (2 if m else 4) or 1',
        ),
        ("gpus=int(n), num_processes=int(n)", 'accelerator="gpu" if int(n) else "cpu", devices=int(n) or 1'),
    ],
)
def test_gpus_counted_before_1_6(given: str, wanted: str) -> None:
    assert after(given, EARLY) == wanted


@pytest.mark.parametrize("pins", [EARLY, LATE, ANY])
@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("gpus=0, num_processes=4", 'accelerator="cpu", devices=4'),
        ("gpus=None, num_processes=4", 'accelerator="cpu", devices=4'),
        ("gpus=0, num_processes=1", 'accelerator="cpu"'),
        ("gpus=None, num_processes=1", 'accelerator="cpu"'),
        ("num_processes=4, accelerator='ddp'", "devices=4, accelerator=\"cpu\", strategy='ddp'"),
        ("num_processes=n, accelerator='ddp_spawn'", "devices=n or 1, accelerator=\"cpu\", strategy='ddp_spawn'"),
        ("gpus=0, num_processes=4, accelerator='ddp'", "devices=4, accelerator=\"cpu\", strategy='ddp'"),
        ("gpus=2, num_processes=4, accelerator='ddp_cpu'", 'devices=4, accelerator="cpu", strategy="ddp_spawn"'),
        (
            "gpus=2, num_processes=4, distributed_backend='ddp_cpu'",
            'devices=4, accelerator="cpu", strategy="ddp_spawn"',
        ),
        ("num_processes=4, accelerator='gpu'", "devices=4, accelerator='gpu'"),
    ],
)
def test_processes_count_in_all_releases(pins: tuple[str, ...], given: str, wanted: str) -> None:
    assert after(given, pins) == wanted


@pytest.mark.parametrize(
    "given", ["gpus=2, num_processes=1", "gpus=2, num_processes=2", "gpus=int(n), num_processes=m"]
)
def test_what_went_by_the_release_is_assumed(given: str) -> None:
    assert after(given, ANY) == given
    assert 'accelerator="gpu"' in after(given, ANY, unsafe=True)
    assert "num_processes" not in after(given, ANY, unsafe=True)


@pytest.mark.parametrize(
    "argument", ["terminate_on_nan=True", "distributed_backend=None", "automatic_optimization=None"]
)
def test_arguments_tell_the_release(argument: str) -> None:
    told = argument != "terminate_on_nan=True"  # 1.6 took that one still
    assert ("num_processes" not in after(f"gpus=2, num_processes=3, {argument}", ANY)) == told


@pytest.mark.parametrize(
    ("given", "pins"),
    [
        ("gpus=2, num_processes=4", LATE),
        ("gpus=2, num_processes=4, accelerator='gpu'", LATE),
        ("gpus=n, num_processes=m", LATE),
        ("gpus=2, num_processes=4, strategy='ddp'", LATE),
        ("gpus=2, num_processes=4, inference_mode=True", ANY),
        ("gpus=2, num_processes=4, devices=2", EARLY),
        ("gpus=2, num_processes=4, accelerator='cpu'", EARLY),
        ("gpus=2, num_processes=4, tpu_cores=8", EARLY),
        ("gpus=2, num_processes=4, accelerator=which", EARLY),
        ("gpus=1 if n else 0, num_processes=m", EARLY),
        ("gpus=find(), num_processes=m", EARLY),
        ("num_processes=4, accelerator='dp'", EARLY),
        ("num_processes=4, accelerator='ddp', strategy='ddp'", EARLY),
        ("num_processes=4, accelerator='ddp', **more", EARLY),
    ],
)
def test_what_cannot_be_told_is_named_and_left(given: str, pins: tuple[str, ...]) -> None:
    made = run_rules({"train.py": f"{HEAD}Trainer({given})\n"}, *RULES, unsafe=True, pins=pins)
    assert made.changes == ()
    named = {item.message.split("`")[1] for item in made.findings if item.fix == "manual"}
    assert "num_processes=" in named
    assert "gpus=" in named or "gpus" not in given


def test_one_process_stays_beside_gpus_that_stay() -> None:
    made = run_rules({"train.py": f"{HEAD}Trainer(gpus=find(), num_processes=1)\n"}, *RULES, unsafe=True, pins=ANY)
    assert made.changes == ()
    assert {(item.code, item.fix) for item in made.findings} == {("LIT101", "manual"), ("LIT111", "manual")}


TARGET = "_target_: pytorch_lightning.Trainer\n"


@pytest.mark.parametrize(
    ("before", "pins", "wanted"),
    [
        ("gpus: 2\nnum_processes: 1\n", EARLY, "accelerator: gpu\ndevices: 2\n"),
        ("gpus: 2\nnum_processes: 4\n", EARLY, "accelerator: gpu\ndevices: 2\n"),
        ("gpus: 0\nnum_processes: 4\n", ANY, "accelerator: cpu\ndevices: 4\n"),
        ("gpus: 2\nnum_processes: 4\n", ANY, "gpus: 2\nnum_processes: 4\n"),
        ("gpus: 2\nnum_processes: 1\n", ANY, "gpus: 2\nnum_processes: 1\n"),
    ],
)
def test_configurations(before: str, pins: tuple[str, ...], wanted: str) -> None:
    files = {"conf/trainer/default.yaml": TARGET + before, "train.py": "import pytorch_lightning\n"}
    made = run_rules(files, rule("LIT301"), pins=pins)
    assert made.final().get("conf/trainer/default.yaml", (TARGET + before).encode()).decode() == TARGET + wanted
    assert {"`gpus`", "`num_processes`"} <= {item.message.split(" ")[0] for item in made.findings}


def test_processes_of_a_configuration_whose_gpus_another_one_takes_back() -> None:
    files = {
        "conf/trainer/default.yaml": f"{TARGET}gpus: 2\nnum_processes: 4\n",
        "conf/trainer/cpu.yaml": "defaults:\n  - default\ngpus: 0\n",
        "train.py": "import pytorch_lightning\n",
    }
    made = run_rules(files, rule("LIT301"), pins=EARLY, unsafe=True)
    assert b"num_processes: 4" in made.final().get("conf/trainer/default.yaml", b"num_processes: 4")
