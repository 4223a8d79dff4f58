"""LIT101: `gpus=` that is text without a comma, by the releases that may have read it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from lightning.pytorch import Trainer
from lightning.pytorch.accelerators import CPUAccelerator

from codemods.rules.trainer.lit101 import RULE
from tests.codemods.support import run_rules

HEAD = "from pytorch_lightning import Trainer\n\n\ndef go(args, more):\n"
SOME = 'args.gpus and args.gpus != "0"'
COUNT = f'accelerator="gpu" if {SOME} else "cpu", devices=args.gpus if {SOME} else "auto"'
OLD = 'accelerator="gpu" if args.gpus else "cpu", devices=args.gpus or "auto"'


def found(call: str, *pins: str, before: str = "") -> tuple[str, str]:
    """The level of the one finding, and what the call is with all rewrites."""
    text = f"{HEAD}{before}    return {call}\n"
    result = run_rules({"train.py": text}, RULE, pins=pins, unsafe=True)
    assert not result.bugs
    (finding,) = result.findings
    after = result.final().get("train.py", text.encode()).decode()
    return finding.fix, after[len(HEAD + before) :].strip().removeprefix("return ")


@pytest.mark.parametrize(
    ("call", "pins"),
    [
        ("Trainer(gpus=args.gpus)", ("pytorch-lightning==1.5.0",)),
        ("Trainer(gpus=args.gpus)", ("pytorch-lightning>=1.6,<2",)),
        ("Trainer(gpus=args.gpus)", ("pytorch-lightning>=1.8",)),
    ],
)
def test_unknown_values_are_counts_where_the_pins_say_so(call: str, pins: tuple[str, ...]) -> None:
    assert found(call, *pins) == ("safe", f"Trainer({COUNT})")


def test_what_named_the_strategy_stands_beside_it() -> None:
    for accelerator in ("None", "'ddp'"):
        level, after = found(f"Trainer(gpus=args.gpus, accelerator={accelerator})", "pytorch-lightning==1.8.1")
        assert level == "safe" and f'accelerator="gpu" if {SOME} else "cpu"' in after


def test_a_key_of_a_dictionary_follows() -> None:
    text = f"{HEAD}    settings = dict(gpus=args.gpus, max_epochs=3)\n    return Trainer(**settings)\n"
    result = run_rules({"train.py": text}, RULE, pins=("pytorch-lightning==1.8.1",))
    assert [item.fix for item in result.findings] == ["safe"]
    assert COUNT in result.final()["train.py"].decode()


@pytest.mark.parametrize("old", ["checkpoint_callback=False", "weights_summary=None", "progress_bar_refresh_rate=0"])
def test_what_other_rules_write_tells_nothing(old: str) -> None:
    text = f"{HEAD}    return Trainer(gpus=args.gpus, {old})\n"
    made = run_rules({"train.py": text})
    assert [item.fix for item in made.findings if item.code == "LIT101"] == ["unsafe"]
    again = made.final()["train.py"].decode()
    assert "enable_" in again and "gpus=args.gpus" in again
    assert not run_rules({"train.py": again}).changes


@pytest.mark.parametrize(
    ("call", "pins"),
    [
        ("Trainer(gpus=args.gpus)", ()),
        ("Trainer(gpus=args.gpus)", ("pytorch-lightning",)),
        ("Trainer(gpus=args.gpus)", ("pytorch-lightning==1.4.9",)),
        ("Trainer(gpus=args.gpus)", ("pytorch-lightning>=1.4",)),
        ("Trainer(gpus=args.gpus)", ("pytorch-lightning==1.8.1", "pytorch-lightning==1.2.0")),
        ("Trainer(gpus=args.gpus)", ("pytorch-lightning==2.0.0",)),
        ("Trainer(gpus=args.gpus, log_every_n_steps=5)", ()),
        ("Trainer(gpus=args.gpus, enable_checkpointing=False)", ()),
        ("Trainer(gpus=args.gpus, strategy='ddp')", ()),
    ],
)
def test_they_may_name_a_device_elsewhere(call: str, pins: tuple[str, ...]) -> None:
    level, after = found(call, *pins)
    assert level == "unsafe" and OLD in after


@pytest.mark.parametrize("beside", ["accelerator='gpu'", "accelerator=more", "num_processes=more", "tpu_cores=more"])
def test_what_else_names_hardware_is_no_safer_by_it(beside: str) -> None:
    assert found(f"Trainer(gpus=args.gpus, {beside})", "pytorch-lightning==1.8.1")[0] != "safe"


def test_one_of_two_values_is_no_safer_by_it() -> None:
    level, _ = found("Trainer(gpus=args.gpus if more else 0)", "pytorch-lightning==1.8.1")
    assert level != "safe"


@pytest.mark.parametrize(
    ("text", "pins", "after"),
    [
        ("'1'", ("pytorch-lightning==1.5.10",), 'accelerator="gpu", devices=1'),
        ("'4'", ("pytorch-lightning>=1.6",), 'accelerator="gpu", devices=4'),
        ("'0'", ("pytorch-lightning==1.9.5",), 'accelerator="cpu"'),
        ("'1'", ("pytorch-lightning==1.4.9",), 'accelerator="gpu", devices=[1]'),
        ("'0'", ("pytorch-lightning>=1.0,<1.5",), 'accelerator="gpu", devices=[0]'),
    ],
)
def test_text_that_is_written_out_is_what_its_release_made_of_it(text: str, pins: tuple[str, ...], after: str) -> None:
    assert found(f"Trainer(gpus={text})", *pins) == ("safe", f"Trainer({after})")


@pytest.mark.parametrize(
    ("call", "after"),
    [
        (
            "Trainer(gpus='2', distributed_backend='ddp')",
            "Trainer(accelerator=\"gpu\", devices=[2], distributed_backend='ddp')",
        ),
    ],
)
def test_arguments_that_went_tell_it(call: str, after: str) -> None:
    assert found(call) == ("safe", after)


@pytest.mark.parametrize(
    ("text", "pins"),
    [
        ("'1'", ()),
        ("'1'", ("pytorch-lightning>=1.2",)),
        ("'1'", ("pytorch-lightning==1.8.1", "pytorch-lightning==1.2.0")),
        ("'auto'", ("pytorch-lightning==1.8.1",)),
        ("'1.0'", ("pytorch-lightning==1.8.1",)),
        ("'²'", ("pytorch-lightning==1.8.1",)),
        ("'-2'", ("pytorch-lightning==1.8.1",)),
        ("''", ("pytorch-lightning==1.8.1",)),
    ],
)
def test_other_text_is_left(text: str, pins: tuple[str, ...]) -> None:
    call = f"Trainer(gpus={text})"
    assert found(call, *pins) == ("manual", call)


@pytest.mark.parametrize(
    ("value", "ids"),
    [
        (None, None), (0, None), ("0", None), ("", None), ([], None), (1, [0]), (2, [0, 1]), (-1, [0, 1, 2, 3]),
        ("-1", [0, 1, 2, 3]), ("1", [0]), ("2", [0, 1]), ("0,1", [0, 1]), ("1,", [1]), ([0, 2], [0, 2]),
    ],
)  # fmt: skip
def test_the_new_trainer_takes_the_devices_of_1_9_5(
    monkeypatch: pytest.MonkeyPatch, value: object, ids: list[int] | None
) -> None:
    """`ids` are those that 1.9.5 took of four devices when it was run, none for the CPU."""
    monkeypatch.setattr("lightning.fabric.accelerators.cuda.num_cuda_devices", lambda: 4)
    monkeypatch.setattr("torch.cuda.device_count", lambda: 4)
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    built: Callable[..., Any] = lambda **given: Trainer(logger=False, enable_checkpointing=False, **given)  # noqa: E731
    _, after = found("Trainer(gpus=args.gpus)", "pytorch-lightning==1.8.1")
    trainer = eval(after, {"Trainer": built, "args": type("Given", (), {"gpus": value})})
    assert isinstance(trainer.accelerator, CPUAccelerator) == (ids is None)
    assert ids is None or trainer.device_ids == ids
