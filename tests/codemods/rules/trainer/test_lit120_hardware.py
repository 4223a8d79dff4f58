"""LIT120: what is asked of a Trainer about what it runs on."""

from __future__ import annotations

import pytest
from lightning.pytorch import strategies

from tests.codemods.rules.trainer.test_lit120 import HEAD, HOOK
from tests.codemods.support import rewritten, rule, run_rules

DDP = "isinstance(trainer.strategy, DDPStrategy)"
ASKED = [
    ("if trainer.use_ddp: x()", f"if {DDP}: x()", "strategies", "DDPStrategy"),
    (
        "x = trainer.on_gpu",
        "x = isinstance(trainer.accelerator, CUDAAccelerator)",
        "accelerators",
        "CUDAAccelerator",
    ),
    (
        "x = not trainer.use_tpu",
        "x = not isinstance(trainer.accelerator, XLAAccelerator)",
        "accelerators",
        "XLAAccelerator",
    ),
    (
        "n = max(1, trainer.num_gpus)",
        "n = max(1, trainer.num_devices if isinstance(trainer.accelerator, CUDAAccelerator) else 0)",
        "accelerators",
        "CUDAAccelerator",
    ),
    (
        "if n and trainer.tpu_cores: x()",
        "if n and (trainer.num_devices if isinstance(trainer.accelerator, XLAAccelerator) else 0): x()",
        "accelerators",
        "XLAAccelerator",
    ),
    (
        "for n in trainer.data_parallel_device_ids or []: x(n)",
        "for n in (trainer.device_ids if isinstance(trainer.accelerator, CUDAAccelerator) else None) or []: x(n)",
        "accelerators",
        "CUDAAccelerator",
    ),
    *(
        (
            before.format("trainer.num_gpus"),
            before.format("trainer.num_devices if isinstance(trainer.accelerator, CUDAAccelerator) else 0"),
            "accelerators",
            "CUDAAccelerator",
        )
        for before in (
            "x = [1, {}]",
            "x = 1, {}",
            "x: int = {}",
            "x = {{1: {}}}",
            "x = {{{}, 1}}",
            "x = f'{{{}}} GPUs'",
        )
    ),
    *(
        (
            before.format("trainer.num_gpus"),
            before.format("(trainer.num_devices if isinstance(trainer.accelerator, CUDAAccelerator) else 0)"),
            "accelerators",
            "CUDAAccelerator",
        )
        for before in ("x = a[:{} + 1]", "x = 2 * {}", "x = [*a, -{}]", "x = {} if a else b", "x = f'{{{} + 1}}'")
    ),
    ("x = a or trainer.use_dp", "x = a or False", "", ""),
    ("x = a and trainer.use_native_amp", "x = a and True", "", ""),
]


@pytest.mark.parametrize("test", ["trainer.use_dp", "trainer.use_dp or trainer.use_ddp2"])
def test_what_is_entered_for_nothing_goes(test: str) -> None:
    text = f"{HEAD}{HOOK}x(1)\n\n        # in DP mode\n        if {test}:\n            x(2)\n"
    assert rewritten({"a.py": text}, rule("LIT120"))["a.py"] == f"{HEAD}{HOOK}x(1)\n"


@pytest.mark.parametrize(
    ("before", "wanted"),
    [
        ("if trainer.use_dp:\n            x()\n", "if False:"),
        ("x()\n        if trainer.use_dp:\n            x()\n        else:\n            y()\n", "if False:"),
        ("x()\n        if a:\n            x()\n        elif trainer.use_dp:\n            y()\n", "elif False:"),
        ("x()\n        if trainer.use_dp or a:\n            y()\n", "if False or a:"),
        ("x()\n        if trainer.use_dp and trainer.use_ddp2:\n            y()\n", "if False and False:"),
        ("x()\n        while trainer.use_dp:\n            y()\n", "while False:"),
    ],
)
def test_what_has_more_to_it_stays(before: str, wanted: str) -> None:
    after = rewritten({"a.py": HEAD + HOOK + before}, rule("LIT120"))["a.py"]
    assert wanted in after and "x()" in after


@pytest.mark.parametrize("namespace", ["pytorch_lightning", "lightning.pytorch"])
@pytest.mark.parametrize(("before", "wanted", "module", "name"), ASKED)
def test_what_the_trainer_runs_on(before: str, wanted: str, module: str, name: str, namespace: str) -> None:
    text = (HEAD + HOOK).replace("pytorch_lightning", namespace)
    made = run_rules({"a.py": f"{text}{before}\n"}, rule("LIT120"))
    assert [item.fix for item in made.findings] == ["safe"]
    after = made.changes[0].after.decode()
    assert after.endswith(f"        {wanted}\n")
    assert not name or f"from {namespace}.{module} import {name}\n" in after


@pytest.mark.parametrize(
    ("files", "wanted"),
    [
        ({"run.sh": "python a.py --accelerator tpu\n"}, f"{DDP} and not isinstance(trainer.strategy, XLAStrategy)"),
        (
            {"b.py": "backends = ['xla', 'deepspeed']\n"},
            f"{DDP} and not isinstance(trainer.strategy, (DeepSpeedStrategy, XLAStrategy))",
        ),
        ({"b.py": "output = inputs\nOUTPUT = 1\n"}, DDP),
    ],
)
def test_ddp_is_none_of_the_strategies_below_it_that_the_project_speaks_of(files: dict[str, str], wanted: str) -> None:
    after = rewritten({"a.py": f"{HEAD}{HOOK}x = trainer.use_ddp\n", **files}, rule("LIT120"))["a.py"]
    assert after.endswith(f"        x = {wanted}\n")
    after = rewritten({"a.py": f"{HEAD}{HOOK}x = not trainer.use_ddp\n", **files}, rule("LIT120"))["a.py"]
    assert after.endswith(f"        x = not {f'({wanted})' if ' and ' in wanted else wanted}\n")


def test_what_the_trainer_runs_on_as_the_file_spells_lightning() -> None:
    text = (
        "import pytorch_lightning as pl\n\n\nclass Model(pl.LightningModule):\n    def step(self):\n        return {}\n"
    )
    after = rewritten({"a.py": text.format("self.trainer.use_ddp")}, rule("LIT120"))["a.py"]
    assert after == text.format("isinstance(self.trainer.strategy, pl.strategies.DDPStrategy)")


@pytest.mark.parametrize(
    ("pin", "statement", "level"),
    [
        ("1.6.5", "print(trainer.tpu_cores)", "safe"),
        ("1.5.10", "print(trainer.tpu_cores)", "unsafe"),
        ("1.5.10", "if trainer.tpu_cores is None: x()", "unsafe"),
        ("1.5.10", "if trainer.tpu_cores: x()", "safe"),
        ("1.5.10", "x = trainer.tpu_cores > 1", "safe"),
        ("1.5.10", "print(trainer.num_gpus)", "safe"),
    ],
)
def test_what_was_given_is_not_how_many_there_are(pin: str, statement: str, level: str) -> None:
    pins = (f"pytorch-lightning=={pin}",)
    made = run_rules({"a.py": f"{HEAD}{HOOK}{statement}\n"}, rule("LIT120"), pins=pins)
    assert [item.fix for item in made.findings] == [level]


@pytest.mark.parametrize(
    ("head", "statement"),
    [("", "trainer.use_ddp = True"), ("from mine import DDPStrategy\n", "print(trainer.use_ddp)")],
    ids=["set", "name taken"],
)
def test_what_the_trainer_runs_on_is_left(head: str, statement: str) -> None:
    made = run_rules({"a.py": f"{head}{HEAD}{HOOK}{statement}\n"}, rule("LIT120"))
    assert [finding.fix for finding in made.findings] == ["manual"]


def test_which_strategies_are_below_ddp() -> None:
    below = {item for item in vars(strategies).values() if isinstance(item, type)}
    below = {item for item in below if issubclass(item, strategies.DDPStrategy)} - {strategies.DDPStrategy}
    assert {item.__name__ for item in below} == {"DeepSpeedStrategy", "XLAStrategy"}
