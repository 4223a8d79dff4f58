"""LIT213: results that go through other methods, hooks and files, and steps that log themselves."""

from __future__ import annotations

import pytest

from codemods.engine.plan import plan
from codemods.engine.scan import Options
from tests.codemods.rules.hooks.test_lit213 import LIT
from tests.codemods.support import refusals, rewritten, rule, run_rules, sources

HANDED = """\
from pytorch_lightning import LightningModule


class Model(LightningModule):
    def training_step(self, batch, batch_idx):
        if self.adversarial:
            return self.attacked(batch)
        return self.plain(batch)

    def attacked(self, batch):
        return self.plain(batch + 1)

    def plain(self, batch):
        loss = self(batch)
        logs = {"train_loss": loss}
        return {"loss": loss, "log": logs}
"""


def test_a_method_whose_result_a_step_returns_is_one() -> None:
    after = rewritten({"a.py": HANDED}, LIT)["a.py"]
    assert after.endswith('        self.log_dict(logs)\n        return {"loss": loss}\n')


@pytest.mark.parametrize(
    "more",
    [
        "\n    def other(self, batch):\n        return self.plain(batch)\n",
        "\n    def test_step(self, batch, batch_idx):\n        return self.plain(batch)['log']\n",
        "\n\nclass More(Model):\n    def training_step(self, batch, i):\n        return self.plain(batch)['loss']\n",
    ],
    ids=["another returns it", "another asks it", "a class below"],
)
def test_a_method_that_others_call_too_is_left(more: str) -> None:
    found = run_rules({"a.py": HANDED + more}, LIT).findings
    assert found and {each.fix for each in found} == {"manual"}


@pytest.mark.parametrize(
    ("returned", "left"),
    [
        ('{"loss": loss, "log": logs}', '{"loss": loss, **logs}'),
        ('{"loss": loss, "log": logs, "progress_bar": logs}', '{"loss": loss, **logs}'),
        ('{"loss": loss, "log": {"train_loss": loss}}', '{"loss": loss, "train_loss": loss}'),
    ],
)
def test_what_the_epoch_reads_as_0_7_gave_it_stays_a_key(returned: str, left: str) -> None:
    hook = "\n    def training_epoch_end(self, outputs):\n        print([x['train_loss'] for x in outputs])\n"
    text = HANDED.replace('{"loss": loss, "log": logs}', returned) + hook
    after = rewritten({"a.py": text}, LIT, rule("LIT201"))["a.py"]
    assert f"        return {left}\n" in after and "self.log_dict(" in after


def test_what_is_read_below_the_key_log_is_no_key_of_the_result() -> None:
    hook = "\n    def training_epoch_end(self, outputs):\n        print([x['log']['train_loss'] for x in outputs])\n"
    assert "**" not in rewritten({"a.py": HANDED + hook}, LIT)["a.py"]


def test_a_result_by_a_name_that_is_read_so_is_for_a_person() -> None:
    hook = "\n    def training_epoch_end(self, outputs):\n        print([x['train_loss'] for x in outputs])\n"
    text = HANDED.replace('return {"loss": loss, "log": logs}', 'out = {"loss": loss, "log": logs}\n        return out')
    assert "reads `train_loss`" in refusals({"a.py": text + hook}, "LIT213")[0]


SHARED = """\
import torch
from pytorch_lightning import LightningModule


class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 1)

    def validation_step(self, batch, batch_idx):
        return {"error": self.layer(batch).mean()}

    def test_step(self, batch, batch_idx):
        return {"error": self.layer(batch).mean()}

    def validation_epoch_end(self, outputs, prefix="val"):
        mean = torch.stack([each["error"] for each in outputs]).mean()
        print(prefix, mean)
        return {"avg": mean, "log": {"error": mean}}

    def test_epoch_end(self, outputs):
        return self.validation_epoch_end(outputs, prefix="test")
"""


def test_a_hook_that_another_one_returns_logs_under_its_new_name() -> None:
    made = plan(sources({"model.py": SHARED}), Options(rules=(rule("LIT201"), LIT)))
    text = made.changes[-1].after.decode()
    assert text.count("self.log_dict(") == 1
    hook = text.split("    def _validation_epoch_end(")[1].split("\n    def ")[0]
    assert 'self.log("avg", mean, logger=False)' in hook and 'self.log_dict({"error": mean})' in hook


def test_a_hook_whose_result_another_one_keeps_for_itself_is_left() -> None:
    text = SHARED.replace("return self.validation_epoch_end", "self.last = self.validation_epoch_end")
    assert "used by name" in refusals({"model.py": text}, "LIT213")[0]


def test_a_method_that_is_called_like_a_hook_by_nobody_logs_nothing() -> None:
    text = SHARED.replace("validation_epoch_end", "_validation_epoch_end").replace("test_epoch_end", "summary")
    assert run_rules({"model.py": text}, LIT).findings == ()


SUMMED = """\
from pytorch_lightning import LightningModule


class Model(LightningModule):
    def validation_epoch_end(self, outputs):
        results = self.summed(outputs, "val")
        self.best = results["val_loss"]
        return results

    def training_epoch_end(self, outputs):
        return self.summed(outputs, "train")

    def summed(self, outputs, stage):
        loss = sum(each["loss"] for each in outputs)
        return {f"{stage}_loss": loss, "log": {f"loss/{stage}": loss}}
"""


def test_what_a_method_of_the_class_makes_of_the_results_is_named() -> None:
    found = run_rules({"train.py": SUMMED}, LIT).findings
    assert [(each.span.line, each.fix) for each in found] == [(8, "manual"), (11, "manual")]
    assert all("not written out" in each.reason for each in found)
    assert run_rules({"train.py": SUMMED.replace('"log"', '"logs"')}, LIT).findings == ()


HANGING = """\
from pytorch_lightning import LightningModule


class Model(LightningModule):
    def validation_epoch_end(self, outputs):
        loss = self.mean(outputs)
        result = {
            'val_loss': loss,
            'log': {
                'val_loss': loss, 'half': loss / 2
            }
        }
        return result
"""


def test_a_dict_whose_lines_hang_keeps_hanging() -> None:
    after = rewritten({"train.py": HANGING}, LIT)["train.py"]
    assert "        self.log_dict({\n            'val_loss': loss, 'half': loss / 2\n        })\n" in after


SEVERAL = """\
from pytorch_lightning import LightningModule


class Model(LightningModule):
    def training_epoch_end(self, outputs):
        loss = sum(each["loss"] for each in outputs).numpy()
        return {"log": {"loss": loss}}

    def validation_epoch_end(self, outputs):
        loss = sum(each["loss"] for each in outputs)
        return {"log": {"val_loss": loss}}
"""


def test_each_hook_is_told_of_by_its_own_finding_when_it_has_another_name() -> None:
    made = plan(sources({"a.py": SEVERAL}), Options(rules=(rule("LIT201"), LIT)))
    told = [(each.span.line, each.fix, each.applied) for each in made.findings if each.code == "LIT213"]
    assert told == [(7, "manual", False), (11, "safe", True)]


LOGGING = """import torch
from pytorch_lightning import LightningModule


class Model(LightningModule):
    def training_step(self, batch, batch_idx):
        loss = self(batch)
        logs = {"train_loss": loss.item()}
        self.log("train_loss", loss.item(), prog_bar=True)
        return {"loss": loss, "log": logs, "progress_bar": logs}
"""
LEFT_OVER = LOGGING.replace('        logs = {"train_loss": loss.item()}\n', "").replace(
    ', "log": logs, "progress_bar": logs', ""
)


@pytest.mark.parametrize(
    ("old", "new", "pins", "level"),
    [
        ("", "", (), "safe"),
        ("prog_bar", "on_epoch", (), "unsafe"),
        ("prog_bar", "on_epoch", ("pytorch-lightning>=1.5",), "safe"),
        ('{"train_loss": loss.item()}', '{"train_loss": loss.item(), "more": loss}', (), "manual"),
        ('"train_loss", loss.item(), prog', '"train_loss", loss, prog', (), "manual"),
        ("        self.log(", "        if batch_idx:\n            self.log(", (), "manual"),
        ("        self.log(", "        loss = 2 * loss\n        self.log(", (), "manual"),
        ("        return", "        self.told = logs\n        return", (), "safe"),
        ("loss.item()}", "self.metric(batch)}", (), "manual"),
    ],
)
def test_what_a_step_has_logged_itself_goes_from_what_it_returns(
    old: str, new: str, pins: tuple[str, ...], level: str
) -> None:
    text = LOGGING.replace(old, new, 1)
    if "metric" in new:
        text = text.replace('"train_loss", loss.item()', '"train_loss", self.metric(batch)')
    made = run_rules({"train.py": text}, LIT, unsafe=True, pins=pins)
    assert [finding.fix for finding in made.findings] == [level]
    after = made.final().get("train.py", text.encode()).decode()
    kept = "self.told" in new
    expected = text if level == "manual" else (text if kept else LEFT_OVER.replace(old, new, 1))
    assert after == (expected.replace(', "log": logs, "progress_bar": logs', "") if kept else expected)


def test_what_a_step_logs_itself_stays_where_the_class_reads_it_in_what_is_returned() -> None:
    more = '\n    def look(self, batch):\n        return self.training_step(batch, 0)["log"]\n'
    assert "reads them itself" in refusals({"train.py": LOGGING + more}, "LIT213")[0]


RETURNING = (
    "from pytorch_lightning import LightningModule\n\n\nclass Model(LightningModule):\n"
    "    def training_step(self, batch, batch_idx):\n        loss = self(batch)\n"
    '        return {"loss": loss, "log": {"train": loss}}\n\n'
    "    def test_epoch_end(self, outputs):\n        mean = sum(outputs)\n"
    '        return {"log": {"test": mean}}\n'
)


@pytest.mark.parametrize(
    ("call", "left"),
    [
        ('shown = model.test_epoch_end(outputs)["log"]\n', "test_epoch_end"),
        ("kept(model.test_epoch_end)\n", "test_epoch_end"),
        ('shown = model.training_step(batch, 0)["log"]\n', "training_step"),
        ("result = model.training_step(batch, 0)\nshow(result.get('log'))\n", "training_step"),
        ('loss = model.training_step(batch, 0)["loss"]\n', None),
        ("class Other(Base):\n    def test_epoch_end(self, outputs):\n        super().test_epoch_end(outputs)\n", None),
    ],
)
def test_what_another_file_asks_a_module_for_stays(call: str, left: str | None) -> None:
    files = {"model.py": RETURNING, "script.py": call}
    made = run_rules(files, LIT)
    reasons = [finding.reason for finding in made.findings if finding.fix == "manual"]
    assert [f"{left} is used by name in script.py" in reason for reason in reasons] == ([True] if left else [])
    after = made.final()["model.py"].decode()
    assert after.count("self.log") == (1 if left else 2)
    assert not left or f'"log": {{"{"test" if left == "test_epoch_end" else "train"}"' in after


def test_names_that_lead_to_each_other_end() -> None:
    around = "        kept = logs\n        logs = other\n        other = kept\n"
    text = HANDED.replace('        logs = {"train_loss": loss}\n', around)
    [found] = run_rules({"a.py": text}, LIT).findings
    assert found.message == "Lightning ignores a returned `log` or `progress_bar` since 1.3"
