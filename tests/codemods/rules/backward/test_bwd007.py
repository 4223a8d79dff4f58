"""BWD007: several backward passes before one step, on two processes."""

from __future__ import annotations

import pytest

from codemods.rules.backward.bwd007 import BEFORE, PARTIAL, RULE
from tests.codemods.support import rewritten, run_rules
from tests.training import Record, train

PROGRAM = """\
import torch
from lightning.pytorch import LightningModule, Trainer


class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.trunk = torch.nn.Linear(3, 3)
        self.a = torch.nn.Linear(3, 1)
        self.b = torch.nn.Linear(3, 1)

    def training_step(self, batch, batch_idx):
        optimizer = self.optimizers()
        x = batch[0] * (1 + self.global_rank)
        optimizer.zero_grad()
PASSES
        optimizer.step()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


if __name__ == "__main__":
    data = torch.utils.data.TensorDataset(torch.randn(8, 3))
    trainer = Trainer(max_epochs=1, accelerator="cpu", devices=2, strategy="ddp")
    trainer.fit(Model(), torch.utils.data.DataLoader(data, batch_size=2))
"""
BOTH = "(self.a(self.trunk(x)) + self.b(self.trunk(x))).pow(2).mean()"
ONE = "self.a(self.trunk(x)).pow(2).mean()"
OTHER = "self.b(self.trunk(x)).pow(2).mean()"
UNUSED = ('"ddp"', '"ddp_find_unused_parameters_true"')


def program(*lines: str) -> str:
    """The program with these lines between zero_grad and step."""
    return PROGRAM.replace("PASSES", "\n".join(f"        {line}" for line in lines))


def passes(*losses: str) -> str:
    return program(*(f"self.manual_backward({loss})" for loss in losses))


def repaired(text: str) -> str:
    after = rewritten({"train.py": text}, RULE)["train.py"]
    assert after != text
    return after


def on_two(text: str) -> Record:
    return train({"train.py": text}, processes=2)


def assert_together(record: Record, expected: Record) -> None:
    """Both ranks made the same steps, those of another program."""
    assert record.failure is None and expected.failure is None, record.failure
    (other,) = record.ranks
    assert other.failure is None
    assert [step.gradient for step in record.steps] == [step.gradient for step in other.steps]
    assert [step.gradient for step in record.steps] == pytest.approx([step.gradient for step in expected.steps], 1e-5)
    assert record.weights == other.weights
    for name, values in expected.weights.items():
        assert record.weights[name] == pytest.approx(values, abs=1e-6)


def test_an_earlier_pass_that_reaches_a_part_fails_before_and_trains_as_the_sum_after() -> None:
    text = passes(ONE, BOTH)
    broken = on_two(text)
    assert broken.failure is not None and "parameters that were not used" in broken.failure.message
    assert broken.steps == ()
    assert_together(on_two(repaired(text)), on_two(passes(f"{ONE} + {BOTH}")))


PART = BOTH.replace("(x)", "(part)")
LOOPS = {
    "whole passes": (f"self.manual_backward({BOTH})", f"self.manual_backward(2 * {BOTH})"),
    "a loop in front": (
        "for part in x.split(1):",
        f"    self.manual_backward({PART})",
        f"self.manual_backward({BOTH})",
    ),
    "a loop at the end": (
        f"self.manual_backward({BOTH})",
        "parts = x.split(1)",
        "for index, part in enumerate(parts):",
        f"    self.manual_backward({PART})",
    ),
}


@pytest.mark.parametrize("name", LOOPS)
def test_whole_passes_train_the_same_with_one_reduction(name: str) -> None:
    text = program(*LOOPS[name])
    after = repaired(text)
    assert after.count("toggle_model(sync_grad=") == text.count("manual_backward") - (name != "a loop at the end")
    assert_together(on_two(after), on_two(text))


def test_a_last_pass_that_reaches_a_part_lets_the_ranks_part_and_is_named() -> None:
    text = passes(BOTH, ONE)
    made = run_rules({"train.py": text}, RULE, unsafe=True)
    assert made.changes == ()
    (finding,) = made.findings
    assert "goes back to self.b, this one does not" in finding.reason and "train.py:27" in finding.reason
    apart = on_two(text)
    assert apart.failure is not None and "parameters that were not used" in apart.failure.message
    assert apart.steps[0].gradient != pytest.approx(apart.ranks[0].steps[0].gradient)


@pytest.mark.parametrize("losses", [(BOTH, ONE), (ONE, OTHER)])
def test_where_ddp_looks_for_unused_parameters_any_order_is_right(losses: tuple[str, str]) -> None:
    text = passes(*losses).replace(*UNUSED)
    expected = on_two(passes(" + ".join(losses)))
    assert_together(on_two(text), expected)
    assert_together(on_two(repaired(text)), expected)


def test_on_one_device_nothing_changes() -> None:
    text = passes(BOTH, ONE, BOTH)
    after = repaired(text)
    alone = 'devices=2, strategy="ddp"', "devices=1"
    old, new = train({"train.py": text.replace(*alone)}), train({"train.py": after.replace(*alone)})
    assert new.failure is None and new.weights == old.weights and new.losses == old.losses


def test_passes_side_by_side_share_one_with() -> None:
    after = repaired(passes(BOTH, ONE, BOTH))
    lines = "".join(f"            self.manual_backward({loss})\n" for loss in (BOTH, ONE))
    assert f"        with optimizer.toggle_model(sync_grad=False):\n{lines}" in after
    apart = passes(BOTH, ONE, BOTH).replace(f"({BOTH})\n", f"({BOTH})\n        # the head alone\n", 1)
    assert repaired(apart).count("with ") == 2
    assert "        # the head alone\n        with optimizer" in repaired(apart)


def test_the_optimizer_is_asked_for_where_it_is_not_known_yet() -> None:
    asked = "        optimizer = self.optimizers()\n"
    text = BEFORE.replace(asked, "").replace("        optimizer.zero_grad()\n", "")
    text = text.replace(
        "        optimizer.step()\n", f"{asked}        optimizer.step()\n        optimizer.zero_grad()\n"
    )
    assert "        with self.optimizers().toggle_model(sync_grad=False):\n" in repaired(text)


TRAINERS = (
    "Trainer(devices=2)",
    "Trainer(num_nodes=4)",
    "Trainer(gpus=[0, 1])",
    'Trainer(accelerator="ddp", gpus=2)',
    'Trainer(strategy="ddp_spawn", devices=count)',
)


@pytest.mark.parametrize("trainer", TRAINERS)
def test_other_trainers_that_use_ddp(trainer: str) -> None:
    text = BEFORE.replace('Trainer(devices=2, strategy="ddp")', trainer)
    assert text != BEFORE or trainer in BEFORE
    repaired(text)


def test_a_trainer_of_another_file_counts() -> None:
    head, _, tail = BEFORE.partition("\n\ntrainer = ")
    script = f"from lightning.pytorch import Trainer\nfrom model import Model\n\ntrainer = {tail}"
    made = run_rules({"model.py": head, "train.py": script}, RULE)
    assert [change.path for change in made.changes] == ["model.py"]


GIVEN = 'devices=2, strategy="ddp"'
BEHIND_NAMES = {
    "a name": ('kind = "ddp"\n', "strategy=kind"),
    "a choice of the module": ('kind = "ddp_spawn" if many else "auto"\n', "strategy=kind"),
    "a choice in the call": ("", 'strategy="ddp" if many else "auto"'),
    "a default": ("", 'strategy=given or "ddp"'),
    "an option": ('parser.add_argument("--the-strategy", default="ddp")\n', "strategy=args.the_strategy"),
    "an old argument": ('kind = "ddp"\n', "distributed_backend=kind"),
}


@pytest.mark.parametrize(("above", "given"), BEHIND_NAMES.values(), ids=BEHIND_NAMES)
def test_a_strategy_is_followed_through_names_and_options(above: str, given: str) -> None:
    text = BEFORE.replace(GIVEN, given).replace("\n\ntrainer =", f"\n\n{above}trainer =")
    assert "with optimizer.toggle_model(sync_grad=False):" in repaired(text)


MODEL, _, _ = BEFORE.partition("\n\ntrainer = ")
CLI = "from lightning.pytorch.cli import LightningCLI\nfrom model import Model\n\nLightningCLI(Model)\n"
OPEN = (
    "from lightning.pytorch import Trainer\nfrom model import Model\n\ntrainer = Trainer(GIVEN)\ntrainer.fit(Model())\n"
)
CONFIGURED = {
    "LightningCLI": (CLI, "trainer:\n  max_epochs: 2\n  strategy: ddp\n"),
    "a Trainer that Hydra builds": (
        OPEN.replace("GIVEN", "**config.trainer"),
        "_target_: lightning.pytorch.Trainer\nmax_epochs: 2\nstrategy: ddp\n",
    ),
}


@pytest.mark.parametrize(("script", "config"), CONFIGURED.values(), ids=CONFIGURED)
def test_a_strategy_is_read_from_a_configuration(script: str, config: str) -> None:
    files = {"model.py": MODEL, "train.py": script, "conf.yaml": config}
    assert [change.path for change in run_rules(files, RULE).changes] == ["model.py"]
    other = {**files, "conf.yaml": config.replace("ddp", "deepspeed")}
    assert run_rules(other, RULE).findings == ()


UNSURE = {
    "a file of constants": (OPEN.replace("GIVEN", "strategy=constants.KIND"), "constants.py", 'KIND = "ddp"\n'),
    "a script": (OPEN.replace("GIVEN", "**options"), "run.sh", "python train.py --strategy ddp\n"),
}


@pytest.mark.parametrize(("script", "path", "text"), UNSURE.values(), ids=UNSURE)
def test_a_strategy_that_may_come_from_elsewhere_is_named(script: str, path: str, text: str) -> None:
    made = run_rules({"model.py": MODEL, "train.py": script, path: text}, RULE, unsafe=True)
    assert made.changes == ()
    (found,) = made.findings
    assert found.fix == "manual"
    assert f"if {path}, which mentions it" in found.reason


def test_a_strategy_that_is_spelled_out_is_none_of_another_file() -> None:
    files = {"model.py": MODEL, "train.py": OPEN.replace("GIVEN", 'strategy="auto"'), "run.sh": "echo ddp\n"}
    assert run_rules(files, RULE).findings == ()


def changed(old: str, new: str, text: str = BEFORE) -> str:
    assert old in text
    return text.replace(old, new)


MAYBE = {
    "frozen": (
        "        optimizer.zero_grad()\n",
        "        self.b.requires_grad_(False)\n        optimizer.zero_grad()\n",
    ),
    "shared weights": ("        self.automatic", "        self.b.weight = self.a.weight\n        self.automatic"),
    "a word of freezing": ("    def configure", "    def unfreeze(self):\n        pass\n\n    def configure"),
    "through a method": (f"({ONE})", "(self.loss(x))"),
    "through forward": (f"({ONE})", "(self(x).mean())"),
}


@pytest.mark.parametrize(("name", "fix"), [*zip(MAYBE, ("manual", "manual", "manual", "safe", "safe"), strict=True)])
def test_a_last_pass_that_may_reach_all_is_not_said_to_miss_some(name: str, fix: str) -> None:
    """Where it goes through a method, each pass may: plain DDP has made sure of that by failing otherwise."""
    made = run_rules({"train.py": changed(*MAYBE[name], text=passes(BOTH, ONE))}, RULE)
    (found,) = made.findings
    assert found.fix == fix and found.message != PARTIAL


SECOND = "        self.manual_backward(self.net(batch[1]).pow(2).mean())\n"
SILENT = {
    "one device": changed('devices=2, strategy="ddp"', "devices=1"),
    "devices not seen": changed('devices=2, strategy="ddp"', "devices=count"),
    "another strategy": changed('"ddp"', '"fsdp"'),
    "a Trainer that trains something else": changed("fit(Model())", "fit(Other())"),
    "one pass": changed(SECOND, ""),
    "a step between": changed(SECOND, f"        optimizer.step()\n{SECOND}"),
    "a zero_grad between": changed(SECOND, f"        optimizer.zero_grad()\n{SECOND}"),
    "held back already": changed(SECOND, f"        with self.trainer.model.no_sync():\n    {SECOND}"),
    "automatic optimization": changed("        self.automatic_optimization = False\n", ""),
    "a step for each chunk": changed(
        "        optimizer.zero_grad()\n", "        for part in batch[0].split(4):\n            optimizer.zero_grad()\n"
    )
    .replace(SECOND, "")
    .replace("        self.manual", "            self.manual")
    .replace("        optimizer.step()", "            optimizer.step()"),
    "one graph, which becomes one pass": changed(
        "        self.manual_backward(self.net(batch[0]).mean())\n" + SECOND,
        "        out = self.net(batch[0])\n        a, b = out.mean(), out.pow(2).mean()\n"
        "        self.manual_backward(a, retain_graph=True)\n        self.manual_backward(b)\n",
    ),
}


@pytest.mark.parametrize("name", SILENT)
def test_left_alone(name: str) -> None:
    made = run_rules({"train.py": SILENT[name]}, RULE, unsafe=True)
    assert made.findings == () and made.changes == () and made.bugs == ()


REFUSED = {
    "a branch": (changed(SECOND, f"        if batch_idx:\n    {SECOND}"), "is in a branch"),
    "a loop over what has no length": (
        changed(SECOND, f"        for part in self.parts(batch):\n    {SECOND}"),
        "is in a loop",
    ),
    "a loop that is left early": (
        changed(
            SECOND,
            "        parts = batch[1].split(4)\n        for index, part in enumerate(parts):\n"
            f"    {SECOND}            if index > 2:\n                break\n",
        ),
        "is in a loop",
    ),
    "two optimizers": (
        changed("optimizer = self.optimizers()", "optimizer, _ = self.optimizers()"),
        "not one optimizer",
    ),
    "a raw pass": (
        changed(SECOND, "        self.net(batch[1]).pow(2).mean().backward()\n"),
        "not use self.manual",
    ),
    "weights left out": (
        changed("mean())\n        optimizer.step", "mean(), inputs=[self.net.weight])\n        optimizer.step"),
        "waits for the others",
    ),
    "gradients read": (changed(SECOND, f"        self.seen = self.net.weight.grad.norm()\n{SECOND}"), "looks at the"),
    "hooks on gradients": (
        changed("    def configure", "    def on_after_backward(self):\n        self.count()\n\n    def configure"),
        "looks at the gradients",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    text, why = REFUSED[name]
    made = run_rules({"train.py": text}, RULE, unsafe=True)
    assert made.changes == ()
    (finding,) = made.findings
    assert finding.fix == "manual" and why in finding.reason


def test_a_last_pass_that_misses_a_module_is_left_where_the_class_has_a_subclass() -> None:
    """The subclass may do it otherwise: neither is it said for sure, nor is anything rewritten."""
    text = passes(BOTH, ONE)
    assert [finding.message for finding in run_rules({"train.py": text}, RULE).findings] == [PARTIAL]
    below = f"{text}\n\nclass Child(Model):\n    pass\n"
    (found,) = run_rules({"train.py": below}, RULE).findings
    assert found.fix == "manual" and "may not go back to self.b" in found.reason
