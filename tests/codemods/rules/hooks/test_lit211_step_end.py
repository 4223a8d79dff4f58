"""LIT211: hooks that end a step, which Lightning called behind it."""

from __future__ import annotations

import pytest
import torch

from tests.codemods.support import refusals, rewritten, rule, run_rules
from tests.training import same

HEAD = "from lightning.pytorch import Callback, LightningDataModule, LightningModule\n\n\n"


STEP_END = """\
from pytorch_lightning import LightningModule


class Model(LightningModule):
    def training_step(self, batch, batch_idx):
        return {"guess": self(batch)}

    def training_step_end(self, output):
        return self.loss(output["guess"])
"""
UNSURE = {
    "step end that may give nothing of what it was given": (
        "        return self.loss(",
        "        output = self.loss(output)\n        if output:\n            return (",
        "may return None",
    ),
    "step end that deletes what it was given": (
        "        return self.loss(output",
        "        self.loss(output)\n        del output\n        (self.layer",
        "may return None",
    ),
    "step end that chooses nothing": (
        "        return self.loss(",
        "        return None if self.training else self.loss(",
        "may return None",
    ),
    "step that may give nothing": ("        return {", "        if batch:\n            return {", "may return None"),
    "step called by name": (
        "    def training_step_end",
        "    test_step = training_step\n\n    def training_step_end",
        "by name",
    ),
    "step with hidden states": ("batch, batch_idx", "batch, batch_idx, hiddens", "hidden states"),
    "no step": ("training_step(", "predict_step(", "no simple training_step"),
    "decorated step": ("    def training_step(", "    @run\n    def training_step(", "no simple training_step"),
    "step of the base class": (
        "return {",
        "return super().training_step(batch, batch_idx) or {",
        "no simple training_step",
    ),
}


@pytest.mark.parametrize("case", UNSURE.values(), ids=UNSURE.keys())
def test_a_step_end_is_left_where_its_call_would_differ(case: tuple[str, str, str]) -> None:
    old, new, reason = case
    assert old in STEP_END
    assert reason in refusals({"model.py": STEP_END.replace(old, new, 1)}, "LIT211")[0]


QUIET = {
    "logs": ("        return self.loss(", "        self.log('l', ", "        return output\n"),
    "returns early": (
        "        return self.loss(",
        "        if not self.training:\n            return\n        self.log('l', ",
        "            return output\n        self.log('l', output[\"guess\"])\n        return output\n",
    ),
    "returns at times": (
        "        return self.loss(",
        "        if self.training:\n            return self.loss(",
        '            return self.loss(output["guess"])\n        return output\n',
    ),
    "returns None": (
        '        return self.loss(output["guess"])',
        "        self.log('l', output[\"guess\"])\n        return None",
        "        return output\n",
    ),
}


@pytest.mark.parametrize("case", QUIET.values(), ids=QUIET)
def test_a_step_end_without_a_value_gives_back_what_it_was_given(case: tuple[str, str, str]) -> None:
    old, new, held = case
    files = {"model.py": STEP_END.replace(old, new, 1)}
    after = rewritten(files, rule("LIT211"))["model.py"]
    assert 'return self.training_step_end({"guess": self(batch)})' in after and after.endswith(held)
    assert "None" not in after and run_rules({"model.py": after}, rule("LIT211")).findings == ()


def test_a_step_end_that_another_one_calls_is_still_for_lightning() -> None:
    text = f"{STEP_END}\n    def validation_step_end(self, output):\n        return self.training_step_end(output)\n"
    found = refusals({"model.py": text}, "LIT211")
    assert any("used by name" in reason for reason in found)


ENDS = """\
import torch
from pytorch_lightning import LightningModule, Trainer

SEEN, COUNTED = [], []


class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 1)

    def training_step(self, batch, batch_idx):
        return {"loss": self.layer(batch).pow(2).mean()}

    def training_step_end(self, output):
        SEEN.append(float(output["loss"]))
        self.log("loss", output["loss"])

    def validation_step(self, batch, batch_idx):
        return {"val": self.layer(batch).sum()}

    def validation_step_end(self, output):
        COUNTED.append(1)
        if len(COUNTED) % 2:
            return {"val": output["val"] * 2}
        SEEN.append(float(output["val"]))

    def validation_epoch_end(self, outputs):
        SEEN.append([float(output["val"]) for output in outputs])

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


def main():
    torch.manual_seed(1)
    loader = torch.utils.data.DataLoader(torch.arange(12.0).view(6, 2) / 10, batch_size=2)
    Trainer(max_epochs=2, logger=False, enable_checkpointing=False, enable_progress_bar=False).fit(
        Model(), loader, loader
    )
    return SEEN
"""


STARRED = ENDS.replace("batch, batch_idx)", "batch, batch_idx, *args, **kwargs)").replace("output):", "output, *more):")
SEVERAL = (
    STARRED.replace("loader, loader", "loader, [loader, loader]")
    .replace('{"val": self.layer(batch).sum()}', '{"val": self.layer(batch).sum() + sum(args)}')
    .replace("for output in outputs]", "for each in outputs for output in each]")
)


@pytest.mark.parametrize("text", [ENDS, STARRED, SEVERAL], ids=["plain", "starred", "several loaders"])
def test_it_runs_as_it_did(text: str) -> None:
    after = rewritten({"train.py": text}, rule("LIT201"), rule("LIT211"))
    assert "return output\n" in after["train.py"] and "def validation_epoch_end" not in after["train.py"]
    old, new = same({"train.py": text}, after, script=None)
    assert old.returned == new.returned and len(old.returned) > 10


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("batch, batch_idx", "batch, batch_idx, *, more=1", "no simple training_step"),
        ("batch, batch_idx", "batch, batch_idx, hiddens, *more", "hidden states"),
        ("self, output", "self, output, more=1, **rest", "may return None"),
        ("self, output", "self, *output", "may return None"),
    ],
)
def test_other_arguments_of_a_step_and_its_end(old: str, new: str, reason: str) -> None:
    assert reason in refusals({"model.py": STEP_END.replace(old, new, 1)}, "LIT211")[0]


def test_a_step_end_of_a_subclass_is_called_by_the_inherited_step() -> None:
    child = (
        "from model import Model\n\n\nclass Child(Model):\n    def training_step_end(self, output):\n"
        "        return output\n"
    )
    after = rewritten({"model.py": STEP_END, "child.py": child}, rule("LIT211"))
    assert 'return self.training_step_end({"guess": self(batch)})' in after["model.py"]
    assert after["child.py"] == child
    assert len(run_rules({"model.py": STEP_END, "child.py": child}, rule("LIT211")).findings) == 1
    unsure = child.replace("        return output\n", "        print(output)\n")
    assert any("Child" in reason for reason in refusals({"model.py": STEP_END, "child.py": unsure}, "LIT211"))


def test_a_step_of_a_subclass_without_the_call_forbids_it() -> None:
    child = "from model import Model\n\n\nclass Child(Model):\n    def training_step(self, batch, i):\n        ...\n"
    assert "Child" in refusals({"model.py": STEP_END, "child.py": child}, "LIT211")[0]


def test_what_a_step_returns_without_parentheses_stays_one_value() -> None:
    text = STEP_END.replace('{"guess": self(batch)}', "batch, 1")
    assert "return self.training_step_end((batch, 1))\n" in rewritten({"model.py": text}, rule("LIT211"))["model.py"]


WORKING = """\
from pytorch_lightning import LightningModule


class Model(LightningModule):
    def training_step(self, batch, batch_idx):
        return {"guess": self.layer(batch)}

    def training_step_end(self, output):
        '''What the step is for.'''
        self.seen = torch.is_autocast_enabled("cpu")
        return self.layer(output["guess"].float()).sum()
"""
OUTSIDE = """\
from pytorch_lightning import LightningModule
import torch


class Model(LightningModule):
    def training_step(self, batch, batch_idx):
        return self.training_step_end({"guess": self.layer(batch)})

    def training_step_end(self, output):
        '''What the step is for.'''
        with torch.autocast(self.device.type, enabled=False):  # as Lightning 1.x called it
            self.seen = torch.is_autocast_enabled("cpu")
            return self.layer(output["guess"].float()).sum()
"""


@pytest.mark.parametrize(
    ("path", "said", "leaves"),
    [
        ("t.yaml", "precision: 16\n", True),
        ("t.yaml", "precision: 32  # 16 for half precision\n", False),
        ("t.json", '{"precision": "32-true"}\n', False),
        ("t.py", "Trainer(precision=32 if full else 16)\n", True),
        ("t.py", "Trainer(precision=32, devices=16)\n", False),
        ("t.sh", "python train.py --precision 16\n", True),
        (".codecov.yaml", "precision: 2\n", False),
    ],
)
def test_a_step_end_leaves_the_autocast_region_of_its_step(path: str, said: str, leaves: bool) -> None:
    files = {"a.py": WORKING, path: said}
    [finding] = run_rules(files, rule("LIT211")).findings
    assert finding.fix == "safe" and ("after the autocast region" in finding.reason) == leaves
    text = rewritten(files, rule("LIT211"))["a.py"]
    assert (text == OUTSIDE) == leaves and ("autocast(" in text) == leaves
    assert run_rules({"a.py": text, path: said}, rule("LIT211")).findings == ()


def test_what_ends_a_step_runs_outside_of_autocast() -> None:
    spaces: dict[str, type[torch.nn.Module]] = {"torch": torch}  # type: ignore[dict-item]
    exec(OUTSIDE.replace("pytorch_lightning", "lightning.pytorch"), spaces)
    model = spaces["Model"]()
    model.layer = torch.nn.Linear(3, 3)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        result = model.training_step(torch.ones(2, 3), 0)
    assert model.seen is False and result.dtype == torch.float32


@pytest.mark.parametrize(
    "body",
    [
        "return output['guess'].mean()",
        "self.log('a', output['guess'] * 2 + 1)\n        return output",
        "loss = output['guess'] / self.steps\n        return {'loss': loss}",
    ],
)
def test_a_step_end_that_is_the_same_in_autocast_stays_as_it_is(body: str) -> None:
    text = STEP_END.replace('return self.loss(output["guess"])', body)
    for said in ("Trainer(precision=16)\n", "Trainer(strategy='dp', precision=16)\n"):
        [finding] = run_rules({"a.py": text, "t.py": said}, rule("LIT211")).findings
        assert finding.fix == "safe"
        assert "autocast" not in rewritten({"a.py": text, "t.py": said}, rule("LIT211"))["a.py"]


@pytest.mark.parametrize(
    "body", ["return output['guess'] @ self.w", "return 1 / output['guess']", "return output['guess'].mean(0)"]
)
def test_what_may_differ_in_autocast_leaves_it(body: str) -> None:
    text = STEP_END.replace('return self.loss(output["guess"])', body)
    after = rewritten({"a.py": text, "t.py": "Trainer(precision=16)\n"}, rule("LIT211"))["a.py"]
    assert f"            {body}\n" in after


def test_a_torch_of_its_own_leaves_a_doubt() -> None:
    text = "from mine import torch\n" + WORKING
    [finding] = run_rules({"a.py": text, "t.py": "Trainer(precision=16)\n"}, rule("LIT211")).findings
    assert finding.fix == "unsafe" and "sets a precision" in finding.reason


HALF = "Trainer(precision=16)\n"
CHILD = """\
from a import Model


class Child(Model):
    def training_step_end(self, output):
        return self.layer(output["guess"]).sum()
"""


def test_a_step_end_that_an_inherited_step_calls_leaves_the_region_too() -> None:
    files = {"a.py": WORKING, "b.py": CHILD, "t.py": "Trainer(precision=16)\n"}
    made = rewritten(files, rule("LIT211"))
    assert made["a.py"] == OUTSIDE
    region = "with torch.autocast(self.device.type, enabled=False):  # as Lightning 1.x called it\n"
    assert f"        {region}            return" in made["b.py"]
    assert run_rules(made, rule("LIT211")).findings == ()


def test_a_step_end_of_an_inherited_step_is_as_unsure_as_that() -> None:
    files = {"a.py": "from mine import torch\n" + WORKING, "b.py": CHILD.replace("Child", "torch"), "t.py": HALF}
    found = {finding.path: finding for finding in run_rules(files, rule("LIT211")).findings}
    assert found["a.py"].fix == "unsafe" and found["b.py"].fix == "manual"
    assert "of Model (a.py) calls it with unsafe rewrites alone" in found["b.py"].reason
    plain = run_rules({**files, "b.py": CHILD}, rule("LIT211")).findings
    assert [(finding.path, finding.fix) for finding in plain] == [("a.py", "unsafe"), ("b.py", "unsafe")]
    alone = run_rules({**files, "t.py": ""}, rule("LIT211")).findings
    assert [(finding.path, finding.fix) for finding in alone] == [("a.py", "safe")]


@pytest.mark.parametrize(
    ("path", "said", "ended", "level"),
    [
        ("t.py", "Trainer(strategy='dp')\n", "sum(output) / len(output)", "manual"),
        ("t.py", "Trainer(strategy='dp')\n", "torch.stack([x for x in output['guess']]).mean()", "manual"),
        ("t.py", "Trainer(strategy='dp')\n", "output['guess'].mean()", "safe"),
        ("t.py", "Trainer(strategy='dp')\n", "output['guess'].sum()", "safe"),
        ("t.yaml", "trainer:\n  accelerator: dp\n", "output['guess'].sum()", "safe"),
        ("t.sh", "python train.py --distributed_backend dp\n", "output['guess'].sum()", "safe"),
        ("t.py", "Trainer(strategy='ddp')\n", "sum(output) / len(output)", "safe"),
        ("t.py", "mesh = ('dp', 'tp')\n", "sum(output) / len(output)", "safe"),
    ],
)
def test_what_joined_the_copies_of_data_parallel_is_left(path: str, said: str, ended: str, level: str) -> None:
    body = "    def training_step(self, batch, batch_idx):\n        return {'guess': batch}\n\n"
    body += f"    def training_step_end(self, output):\n        return {ended}\n"
    text = f"import torch\n{HEAD}class A(LightningModule):\n{body}"
    [finding] = run_rules({"a.py": text, path: said}, rule("LIT211")).findings
    assert finding.fix == level
    assert ("DataParallel" in finding.reason) == ("dp" in said and "ddp" not in said and "mesh" not in said)
    assert ("move the rest of its code into training_step." in finding.reason) == (level == "manual"), finding.reason
