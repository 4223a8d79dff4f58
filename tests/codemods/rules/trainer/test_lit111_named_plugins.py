"""Strategies that `plugins=` named, as it could in 1.4 and 1.5."""

from __future__ import annotations

import pytest
from lightning.pytorch import Trainer
from lightning.pytorch.strategies import StrategyRegistry
from lightning.pytorch.utilities.exceptions import MisconfigurationException

from codemods.lightning.strategies import PLUGGED
from tests.codemods.support import refusals, rewritten, rule, run_rules

HEAD = "from pytorch_lightning import Trainer\n\n"
NAME = "ddp_find_unused_parameters_false"


def test_what_2_makes_of_them() -> None:
    with pytest.raises(MisconfigurationException, match="Found invalid type for plugin"):
        Trainer(plugins=[NAME], accelerator="cpu", logger=False)
    strategy = Trainer(strategy=NAME, accelerator="cpu", devices=1, logger=False).strategy
    assert type(strategy).__name__ == "DDPStrategy"
    assert set(StrategyRegistry.available_strategies()) >= PLUGGED


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Trainer(plugins='deepspeed_stage_2', max_epochs=1)", "Trainer(strategy='deepspeed_stage_2', max_epochs=1)"),
        ("Trainer(plugins=['ddp_spawn'])", "Trainer(strategy='ddp_spawn')"),
        ("Trainer(plugins='deepspeed' if n > 1 else None)", "Trainer(strategy='deepspeed' if n > 1 else 'auto')"),
        ("Trainer(plugins='ddp' if n > 1 else 'ddp_spawn')", "Trainer(strategy='ddp' if n > 1 else 'ddp_spawn')"),
        ("options = dict(plugins='ddp')\nTrainer(**options)", "options = dict(strategy='ddp')\nTrainer(**options)"),
        ("Trainer(plugins='deepspeed', strategy='ddp', logger=a)", "Trainer(strategy='deepspeed', logger=a)"),
        ("Trainer(distributed_backend='ddp', plugins=['ddp_spawn'])", "Trainer(strategy='ddp_spawn')"),
        ("Trainer(plugins='ddp_spawn', distributed_backend='ddp')", "Trainer(strategy='ddp_spawn')"),
    ],
)
def test_a_strategy_is_named_by_its_own_argument(before: str, after: str) -> None:
    made = rewritten({"train.py": f"{HEAD}{before}\n"}, rule("LIT111"))
    assert made["train.py"] == f"{HEAD}{after}\n"
    assert run_rules({"train.py": made["train.py"]}, rule("LIT111")).changes == ()


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ("plugins=['deepspeed', environment]", "give that strategy as strategy="),
        ("plugins='native'", "plugins can no longer be given by name"),
        ("plugins='fsdp'", "plugins can no longer be given by name"),
        ("plugins='ddp' if n > 1 else 'fsdp_native'", "plugins can no longer be given by name"),
        ("plugins='deepspeed', strategy=other", "`strategy=` is given too"),
    ],
)
def test_what_is_left_to_a_person(arguments: str, why: str) -> None:
    [reason] = refusals({"train.py": f"{HEAD}Trainer({arguments})\n"}, "LIT111")
    assert why in reason


@pytest.mark.parametrize("plugins", ["None", "[]", "environment", "[environment, precision]"])
def test_what_names_none_stays(plugins: str) -> None:
    assert run_rules({"train.py": f"{HEAD}Trainer(plugins={plugins})\n"}, rule("LIT111")).findings == ()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Trainer(plugins='ddp_sharded')", "Trainer(strategy='ddp')"),
        ("Trainer(plugins=['ddp_sharded'])", "Trainer(strategy='ddp')"),
        ("Trainer(strategy='ddp_sharded')", "Trainer(strategy='ddp')"),
        ("Trainer(strategy='ddp_sharded_spawn')", "Trainer(strategy='ddp_spawn')"),
        (
            "Trainer(strategy='ddp_sharded_find_unused_parameters_false')",
            "Trainer(strategy='ddp_find_unused_parameters_false')",
        ),
        ("Trainer(strategy='ddp', plugins='ddp_sharded')", "Trainer(strategy='ddp')"),
    ],
)
def test_sharding_that_went_is_plain_ddp_for_who_accepts_that(before: str, after: str) -> None:
    made = run_rules({"train.py": f"{HEAD}{before}\n"}, rule("LIT111"))
    assert made.changes == ()
    [found] = made.findings
    assert found.fix == "unsafe" and "all of the optimizer's state" in found.reason
    assert rewritten({"train.py": f"{HEAD}{before}\n"}, rule("LIT111"), unsafe=True)["train.py"] == f"{HEAD}{after}\n"


def test_a_strategy_that_is_named_twice_alike_is_named_once() -> None:
    before = f"{HEAD}Trainer(distributed_backend='ddp', strategy=\"ddp\")\n"
    assert rewritten({"train.py": before}, rule("LIT111"))["train.py"] == f'{HEAD}Trainer(strategy="ddp")\n'


def test_sharding_beside_gpus_and_a_strategy_named_as_accelerator() -> None:
    before = f"{HEAD}Trainer(gpus=2, accelerator='ddp', plugins='ddp_sharded')\n"
    after = rewritten({"train.py": before}, rule("LIT101"), rule("LIT111"), unsafe=True)["train.py"]
    assert after == f"{HEAD}Trainer(devices=2, strategy='ddp', accelerator=\"gpu\")\n"


def test_sharding_beside_a_backend_waits_as_a_whole() -> None:
    before = f"{HEAD}Trainer(distributed_backend='ddp', plugins='ddp_sharded')\n"
    made = run_rules({"train.py": before}, rule("LIT111"))
    assert made.changes == () and [found.fix for found in made.findings] == ["unsafe", "unsafe"]
    assert (
        rewritten({"train.py": before}, rule("LIT111"), unsafe=True)["train.py"] == f"{HEAD}Trainer(strategy='ddp')\n"
    )
