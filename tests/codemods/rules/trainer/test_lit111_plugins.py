"""LIT111: plugins, and what stands beside them."""

from __future__ import annotations

import pytest

from codemods.rule import all_rules
from tests.codemods.rules.trainer.test_lit111 import HEAD
from tests.codemods.support import refusals, rewritten, rule, run_rules

PLUGIN = HEAD + "from pytorch_lightning.plugins import DDPPlugin\n\n"


@pytest.mark.parametrize(
    ("before", "wanted"),
    [
        ("Trainer(plugins=DDPPlugin())", "Trainer(strategy=DDPStrategy())"),
        ("Trainer(plugins=[DDPPlugin(x=1)])", "Trainer(strategy=DDPStrategy(x=1))"),
        ("Trainer(strategy='ddp', plugins=[DDPPlugin()])", "Trainer(strategy=DDPStrategy())"),
        ("Trainer(plugins=[DDPPlugin(), env])", "Trainer(strategy=DDPStrategy(), plugins=[env])"),
        (
            "Trainer(num_nodes=2, plugins=DDPPlugin(num_nodes=2))",
            "Trainer(num_nodes=2, strategy=DDPStrategy())",
        ),
        ("Trainer(strategy=DDPPlugin() if n > 1 else None)", 'Trainer(strategy=DDPStrategy() if n > 1 else "auto")'),
        ("Trainer(plugins=None if one else DDPPlugin())", 'Trainer(strategy="auto" if one else DDPStrategy())'),
        ("Trainer(strategy='ddp' if n else None, plugins=[DDPPlugin()])", "Trainer(strategy=DDPStrategy())"),
        ("Trainer(strategy=name or 'auto', plugins=[DDPPlugin()])", "Trainer(strategy=DDPStrategy())"),
        (
            "Trainer(strategy=name or 'auto', plugins=DDPPlugin() if name == 'ddp' else None)",
            "Trainer(strategy=DDPStrategy() if name == 'ddp' else name or 'auto')",
        ),
        (
            "Trainer(plugins=None if one else DDPPlugin(), strategy='ddp' if n else 'auto')",
            "Trainer(strategy=('ddp' if n else 'auto') if one else DDPStrategy())",
        ),
        (
            "Trainer(plugins=DDPPlugin() if n > 1 else None, strategy='ddp' if n > 1 else None)",
            "Trainer(strategy=DDPStrategy() if n > 1 else 'auto')",
        ),
        (
            "Trainer(plugins=None if n else DDPPlugin(), strategy='ddp' if n else 'auto')",
            "Trainer(strategy='ddp' if n else DDPStrategy())",
        ),
        (
            "Trainer(plugins=DDPPlugin() if a else None, strategy='ddp' if n else None)",
            "Trainer(strategy=DDPStrategy() if a else 'ddp' if n else 'auto')",
        ),
        ("Trainer(plugins=DDPPlugin(num_nodes=n))", "Trainer(strategy=DDPStrategy(), num_nodes=n)"),
    ],
)
def test_plugins(before: str, wanted: str) -> None:
    after = rewritten({"a.py": f"{PLUGIN}{before}\n"}, rule("LIT111"))["a.py"]
    assert after == f"{HEAD}from pytorch_lightning.strategies import DDPStrategy\n\n{wanted}\n"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("plugin = DDPPlugin()\nTrainer(plugins=plugin)\n", "whether it is given to a Trainer"),
        ("Trainer(plugins=DDPPlugin())\nisinstance(x, DDPPlugin)\n", "used otherwise"),
        ("class Mine(DDPPlugin):\n    pass\n", "used otherwise"),
        ("Trainer(plugins=DDPPlugin(a))\n", "not all named"),
        ("Trainer(plugins=DDPPlugin(), strategy=other)\n", "given too"),
        ("Trainer(plugins=DDPPlugin() if a else None, strategy=other)\n", "given too"),
        ("Trainer(plugins=DDPPlugin(), strategy=other if n else 'ddp')\n", "given too"),
        ("Trainer(plugins=DDPPlugin(), strategy=other and 'auto')\n", "given too"),
        ("Trainer(plugins=DDPPlugin(num_nodes=2) if a else None)\n", "arguments of Trainer alone"),
        ("Trainer(plugins=DDPPlugin() if a else other)\n", "whether it is given to a Trainer"),
        ("Trainer(**config.trainer, plugins=[DDPPlugin()])\n", "may give the strategy too"),
    ],
)
def test_plugins_left_whole(text: str, why: str) -> None:
    reasons = refusals({"a.py": PLUGIN + text}, "LIT111")
    assert reasons and all(why in reason for reason in reasons)


def test_a_plugin_beside_a_dictionary_that_names_a_strategy_stays() -> None:
    text = f"{PLUGIN}given = {{'accelerator': 'ddp'}}\nTrainer(**given, plugins=[DDPPlugin()])\n"
    made = run_rules({"a.py": text}, rule("LIT111"))
    told = {item.message: item.reason for item in made.findings if item.fix == "manual"}
    assert len(told) == 2 and all("may give the strategy too" in reason for reason in told.values())
    after = made.final()["a.py"].decode()
    assert "given = {'accelerator': \"cpu\"}\nTrainer(strategy='ddp', **given, plugins=[DDPPlugin()])" in after


def test_a_plugin_beside_a_dictionary_that_names_no_strategy_becomes_one() -> None:
    text = f"{PLUGIN}given = {{'max_epochs': 3}}\nTrainer(**given, plugins=[DDPPlugin()])\n"
    assert "Trainer(**given, strategy=DDPStrategy())" in rewritten({"a.py": text}, rule("LIT111"))["a.py"]


def test_a_chosen_plugin_beside_a_strategy_is_left() -> None:
    text = f"{PLUGIN}Trainer(plugins=DDPPlugin() if a else None, accelerator='ddp' if a else None)\n"
    made = run_rules({"a.py": text}, rule("LIT111"))
    assert [item.fix for item in made.findings if "DDPPlugin" in item.message] == ["manual", "manual"]
    assert any("gives a strategy too" in item.reason for item in made.findings)


def test_names_are_spoken_of_once() -> None:
    both = run_rules({"a.py": f"{PLUGIN}Trainer(plugins=DDPPlugin())\n"}, rule("LIT001"), rule("LIT111"))
    assert {finding.code for finding in both.findings} == {"LIT111"}
    text = "import pytorch_lightning as pl\n\npl.Trainer(plugins=pl.plugins.DDPSpawnPlugin())\n"
    assert (
        'strategy=pl.strategies.DDPStrategy(start_method="spawn")'
        in rewritten({"a.py": text}, rule("LIT001"), rule("LIT111"))["a.py"]
    )


def test_with_gpus_and_all_rules() -> None:
    text = f"{PLUGIN}Trainer(gpus=2, accelerator='ddp', plugins=DDPPlugin(find_unused_parameters=False))\n"
    rules = [item for item in all_rules() if item.code.startswith("LIT1")]
    after = rewritten({"a.py": text}, *rules)["a.py"].splitlines()[-1]
    assert after == ('Trainer(devices=2, accelerator="gpu", strategy=DDPStrategy(find_unused_parameters=False))')


@pytest.mark.parametrize(
    "before",
    [
        "from pytorch_lightning.strategies import DDPStrategy, DDPSpawnStrategy\n",
        "from pytorch_lightning.strategies import DDPSpawnStrategy, DDPStrategy\n",
        "from pytorch_lightning.strategies import DDPStrategy\n"
        "from pytorch_lightning.strategies.ddp_spawn import DDPSpawnStrategy\n",
        "from pytorch_lightning.plugins import DDPPlugin\nfrom pytorch_lightning.strategies import DDPStrategy\n",
    ],
)
@pytest.mark.parametrize("call", ["DDPStrategy()", "DDPSpawnStrategy()"])
def test_a_successor_that_is_imported_already_is_not_imported_again(before: str, call: str) -> None:
    called = call if call[:-2] in before else "DDPStrategy()"
    after = rewritten({"a.py": f"{HEAD}{before}\nTrainer(strategy={called})\n"}, rule("LIT111"))["a.py"]
    assert after.startswith(
        f"{HEAD}from pytorch_lightning.strategies import DDPStrategy\n\nTrainer(strategy=DDPStrategy("
    )


def test_another_class_of_the_name_of_the_successor_stays() -> None:
    head = f"{HEAD}from own import DDPStrategy\nfrom pytorch_lightning.strategies import DDPSpawnStrategy\n\n"
    text = f"{head}Trainer(strategy=DDPSpawnStrategy())\n"
    assert any("uses the name `DDPStrategy` for something else" in why for why in refusals({"a.py": text}, "LIT111"))
