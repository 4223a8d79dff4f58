"""OPT001: under DDP, an optimizer leaves the others' parameters unused, which the strategy has to go on looking for."""

from __future__ import annotations

import pytest

from codemods.engine.plan import Plan, plan
from codemods.engine.scan import Options
from codemods.rules.optimizers.opt001 import BEFORE
from tests.codemods.support import rewritten, rule, run_rules, sources

OPT = rule("OPT001")


def unsafe(files: dict[str, str]) -> Plan:
    return plan(sources(files), Options((OPT,), unsafe=True))


@pytest.mark.parametrize("given", ['strategy="ddp"', 'distributed_backend="ddp"', 'accelerator="ddp"'])
def test_ddp_keeps_looking_for_the_parameters_that_an_optimizer_leaves_unused(given: str) -> None:
    text = BEFORE.replace("gradient_clip_val=0.5", f"{given}, gpus=2")
    after = rewritten({"train.py": text, "requirements.txt": "pytorch-lightning==1.4.9\n"})["train.py"]
    assert "def training_step_for" in after
    assert 'strategy="ddp_find_unused_parameters_true"' in after


IMPORT = "from pytorch_lightning.strategies import DDPStrategy"
LOOKING = "ddp_find_unused_parameters_true"
STRATEGIES = {
    "one of two": ('strategy="ddp" if many else "auto"', "", f'strategy="{LOOKING}" if many else "auto"'),
    "by default": ("accelerator='gpu', devices=[0, 1]", "", f'devices=[0, 1], strategy="{LOOKING}")'),
    "by default on nodes": ("num_nodes=2, max_steps=9", "", f'num_nodes=2, max_steps=9, strategy="{LOOKING}")'),
    "by an object": ("strategy=DDPStrategy()", IMPORT, "strategy=DDPStrategy(find_unused_parameters=True)"),
    "by a name": ("strategy=chosen", 'chosen = "ddp"', f'chosen = "{LOOKING}"'),
}


@pytest.mark.parametrize("case", STRATEGIES.values(), ids=STRATEGIES.keys())
def test_a_strategy_that_is_not_in_the_call_is_followed(case: tuple[str, str, str]) -> None:
    given, line, expected = case
    text = BEFORE.replace("gradient_clip_val=0.5", given).replace("def main", f"{line}\n\n\ndef main")
    twice = text.replace("class GAN", "class First(LightningModule):\n    pass\n\n\nclass GAN")
    after = rewritten({"train.py": twice}, OPT)["train.py"]
    assert expected in after
    assert after.count(LOOKING) + after.count("find_unused_parameters=True") == 1


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("strategy=DDPStrategy(find_unused_parameters=False)", 0),
        ("strategy=args.strategy", 1),
        ("devices=1", 0),
        ("strategy='fsdp'", 0),
        ("accelerator='tpu', devices=8", 0),
    ],
)
def test_a_strategy_that_cannot_be_told_is_a_finding(given: str, found: int) -> None:
    text = BEFORE.replace("gradient_clip_val=0.5", given)
    made = run_rules({"train.py": text}, OPT)
    assert [finding.fix for finding in made.findings if finding.row == "B07"] == ["manual"] * found
    assert LOOKING not in made.final()["train.py"].decode()


def test_ddp_that_may_reach_the_trainer_is_a_finding() -> None:
    line = 'options = {"strategy": "ddp"}\nif kind == "ddp":\n    seed = 1\n'
    text = BEFORE.replace("gradient_clip_val=0.5", "**options").replace("def main", f"{line}\n\ndef main")
    found = [finding for finding in run_rules({"train.py": text}, OPT).findings if finding.row == "B07"]
    line_of = text[: text.index(': "ddp')].count("\n") + 1
    assert [(finding.fix, finding.span.line) for finding in found] == [("manual", line_of)]


def test_two_classes_of_one_trainer_change_it_once() -> None:
    second = BEFORE[BEFORE.index("class GAN") : BEFORE.index("def main")].replace("class GAN", "class Second")
    text = BEFORE.replace("def main", f"{second}def main").replace("gradient_clip_val=0.5", "devices=2")
    text = text.replace("trainer.fit(GAN(), loader)", "trainer.fit(build(), loader)")
    after = rewritten({"train.py": text}, OPT)["train.py"]
    assert after.count(LOOKING) == 1
    assert after.count("def training_step_for") == 2


def test_ddp_that_trains_something_else_stays() -> None:
    other = (
        "from pytorch_lightning import LightningModule, Trainer\n\n\nclass Other(LightningModule):\n    pass\n\n\n"
        'Trainer(strategy="ddp").fit(Other())\n'
    )
    after = rewritten({"train.py": BEFORE, "other.py": other}, rule("OPT001"))
    assert after["other.py"] == other


CLI = "from pytorch_lightning.cli import LightningCLI\nfrom train import GAN\n\nLightningCLI(GAN)\n"
SPREAD = "trainer:\n  max_epochs: 2\n  strategy: ddp  # two of them\n  devices: 2\n"
WITHOUT_MAIN = BEFORE[: BEFORE.index("\n\ndef main")]


def test_ddp_of_a_configuration_goes_on_looking_for_unused_parameters() -> None:
    files = {"train.py": WITHOUT_MAIN, "cli.py": CLI, "one.yaml": SPREAD, "two.yaml": SPREAD.replace("ddp", "auto")}
    after = rewritten(files, OPT)
    assert after["one.yaml"] == SPREAD.replace("ddp", "ddp_find_unused_parameters_true")
    assert after["two.yaml"] == files["two.yaml"]


@pytest.mark.parametrize(
    "more",
    [
        {
            "other.py": "from pytorch_lightning import LightningModule\n\n\nclass Other(LightningModule):\n"
            "    def training_step(self, batch, batch_idx):\n        return self.made\n\n"
            "    def configure_optimizers(self):\n        return self.optimizer\n"
        },
        {"conf.yaml": SPREAD.replace("trainer:", "trainer: &t") + "again: *t\n"},
    ],
    ids=["another module", "an alias"],
)
def test_ddp_that_may_be_of_others_is_named(more: dict[str, str]) -> None:
    made = unsafe({"train.py": WITHOUT_MAIN, "cli.py": CLI, "conf.yaml": SPREAD, **more})
    assert [path for path in made.final() if path.endswith(".yaml")] == []
    assert [finding.fix for finding in made.findings if finding.path == "conf.yaml"] == ["manual"]


def test_ddp_of_a_configuration_that_no_trainer_gets_is_left() -> None:
    made = unsafe({"train.py": BEFORE, "conf.yaml": SPREAD})
    assert [finding for finding in made.findings if finding.path == "conf.yaml"] == []
