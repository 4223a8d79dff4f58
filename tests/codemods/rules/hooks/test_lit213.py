"""LIT213: what is logged in place of returned dicts, run, and the returns that are left."""

from __future__ import annotations

import pytest

from codemods.engine.plan import plan
from codemods.engine.scan import Options
from tests.codemods.support import refusals, rewritten, rule, run_rules, sources
from tests.training import differences, train

LIT = rule("LIT213")
PROGRAM = """\
from collections import OrderedDict

import torch
from pytorch_lightning import LightningModule, Trainer
from torch.utils.data import DataLoader, TensorDataset


class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 1)
        self.means = []

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)

    def training_step(self, batch, batch_idx):
        loss = self.layer(batch[0]).pow(2).mean()
        logs = {"train_loss": loss.detach() * 2}
        bar = logs
        output = OrderedDict({"loss": loss, "log": logs, "progress_bar": bar})
        return output

    def validation_step(self, batch, batch_idx):
        return {"error": self.layer(batch[0]).mean(), "log": {"never": 1}}

    def validation_epoch_end(self, outputs):
        mean = torch.stack([each["error"] for each in outputs]).mean()
        self.means.append(float(mean))
        if not outputs:
            return {"log": {"none": mean}}  # nothing
        logs = {"error": mean}
        logs["more"] = mean * 2
        return {"avg_error": mean, "log": logs,
                "progress_bar": {"bar": mean,
                                 "bar2": mean}}


def main():
    model = Model()
    trainer = Trainer(max_epochs=2)
    loader = DataLoader(TensorDataset(torch.arange(12.0).view(6, 2) / 10), batch_size=2)
    trainer.fit(model, loader, loader)
    return [model.means[-1], sorted(trainer.progress_bar_metrics), sorted(trainer.logged_metrics)]
"""
STEP = """\
from pytorch_lightning import LightningModule


class Model(LightningModule):
    def training_step(self, batch, batch_idx):
        loss = self(batch)
        return {"loss": loss, "log": {"a": loss}, "progress_bar": {"b": loss}}
"""


def test_what_was_returned_is_logged() -> None:
    before = {"train.py": PROGRAM}
    old = train(before, on="1.9.5", script=None, module="train", function="main")
    assert old.failure is None
    assert old.metrics == {}
    new = train(rewritten(before, LIT, rule("LIT201")), script=None, module="train", function="main")
    assert new.failure is None, new.failure
    mean, bar, logged = new.returned
    assert new.metrics["error"] == pytest.approx(mean)
    assert new.metrics["more"] == pytest.approx(mean * 2)
    assert {"train_loss", "error", "more", "avg_error", "bar", "bar2"} == set(new.metrics)
    assert bar == ["bar", "bar2", "train_loss"]
    assert logged == ["error", "more", "train_loss"]
    assert [line.split(":")[0] for line in differences(old, new, logged=False)] == ["metrics"]


def test_layout() -> None:
    after = rewritten({"train.py": PROGRAM}, LIT)["train.py"]
    assert (
        '            self.log_dict({"none": mean})\n            return  # nothing\n'
        '        logs = {"error": mean}\n        logs["more"] = mean * 2\n'
        '        self.log("avg_error", mean, logger=False)\n'
        '        self.log_dict({"bar": mean,\n                       "bar2": mean}, prog_bar=True, logger=False)\n'
        "        self.log_dict(logs)\n\n\ndef main"
    ) in after
    assert "                return" not in after


def test_results_that_are_read_keep_their_keys() -> None:
    text = STEP + '\n    def training_epoch_end(self, outputs):\n        print([each["log"] for each in outputs])\n'
    after = rewritten({"train.py": text}, LIT)["train.py"]
    assert '        return {"loss": loss, "log": {"a": loss}, "progress_bar": {"b": loss}}\n' in after
    assert '        self.log_dict({"a": loss})\n' in after


def test_a_return_annotation_follows() -> None:
    text = STEP.replace("training_step(self, batch, batch_idx)", "test_epoch_end(self, batch) -> dict")
    assert "def test_epoch_end(self, batch) -> None:\n" in rewritten({"train.py": text}, LIT)["train.py"]


def test_what_callbacks_could_monitor_is_said_where_it_cannot_be_told() -> None:
    text = STEP.replace("training_step(self, batch, batch_idx)", "test_epoch_end(self, batch)").replace(
        '"loss": loss,', '"names": self.names,'
    )
    made = run_rules({"train.py": text}, LIT)
    assert [finding.fix for finding in made.findings] == ["unsafe"]


LEFT = {
    "dict from elsewhere": ('{"loss": loss, "log"', '{**self.more, "loss": loss, "log"', "not written out"),
    "built before": (
        'return {"loss": loss, "log": {"a": loss}, "progress_bar": {"b": loss}}',
        "result = dict(loss=loss, log={})\n        result['b'] = 1\n        return result",
        "not written out",
    ),
    "built by another": (
        'return {"loss": loss, "log": {"a": loss}, "progress_bar": {"b": loss}}',
        'return Result({"loss": loss, "log": {"a": loss}, "progress_bar": {"b": loss}})',
        "not written out",
    ),
    "bound in a branch": (
        'return {"loss": loss, "log": {"a": loss}, "progress_bar": {"b": loss}}',
        "result = {'loss': loss, 'log': {}}\n        if loss:\n            result = None\n        return result",
        "not written out",
    ),
    "keys in both": ('{"b": loss}', '{"a": loss * 2}', "share keys"),
    "keys that are not known": ('{"b": loss}', "self.bar", "neither a name nor a dict"),
    "a name in both of which little is known": (
        '{"a": loss}, "progress_bar": {"b": loss}',
        'batch, "progress_bar": {"b": 1}',
        "may be in both",
    ),
    "logs by itself": ("        loss =", '        self.log("c", 1)\n        loss =', "logs by itself"),
    "an attribute of that name": ("        loss =", "        self.log = []\n        loss =", "of its own"),
    "a method of that name": ("    def ", "    def log(self, text):\n        ...\n\n    def ", "of its own"),
    "decorated": ("    def ", "    @torch.no_grad()\n    def ", "not an ordinary method"),
    "an array of NumPy": ("loss =", "loss = batch.mean().numpy()\n        batch =", "an array of NumPy"),
    "an array of NumPy that is written out": ('{"a": loss}', '{"a": loss.detach().numpy()}', "an array of NumPy"),
    "pictures": (
        '{"a": loss}',
        '{"a": [picture(batch)]}',
        "a list of several things, which self.log refuses. Give that",
    ),
    "pictures by a name": ("loss =", "loss = [picture(x) for x in batch]\n        batch =", "a list of several things"),
    "a text": ('{"a": loss}', '{"a": f"{loss}"}', "a text"),
    "called by name": (
        "training_step(self, batch, batch_idx)",
        "test_epoch_end(self, batch):\n        ...\n\n    def f(self, x):\n        return self.test_epoch_end(x)\n\n"
        "    def test_epoch_end(self, batch)",
        "used by name",
    ),
}


@pytest.mark.parametrize("case", LEFT.values(), ids=LEFT.keys())
def test_left_with_the_reason(case: tuple[str, str, str]) -> None:
    old, new, reason = case
    assert old in STEP
    assert reason in refusals({"train.py": STEP.replace(old, new, 1)}, "LIT213")[0]


@pytest.mark.parametrize(
    ("head", "shown"),
    [("import wandb\n", "wandb.Histogram(loss)"), ("from wandb import Image as Shown\n", "Shown(batch)")],
)
def test_what_a_logger_alone_can_show_is_left(head: str, shown: str) -> None:
    text = head + STEP.replace('{"a": loss}', '{"a": ' + shown + "}")
    assert f"`{shown}` is an object of wandb, which self.log refuses" in refusals({"train.py": text}, "LIT213")[0]


@pytest.mark.parametrize(
    "text",
    [
        STEP.replace("(LightningModule)", "(torch.nn.Module)"),
        STEP.replace("training_step(", "validation_step("),
        STEP.replace('"log": {"a": loss}, "progress_bar": {"b": loss}', '"logs": 1'),
    ],
    ids=["no module", "a validation step", "another key"],
)
def test_untouched(text: str) -> None:
    assert run_rules({"train.py": text}, LIT).findings == ()


RETURN = 'return {"loss": loss, "log": {"a": loss}, "progress_bar": {"b": loss}}'


@pytest.mark.parametrize(
    ("made", "left"),
    [
        ('OrderedDict({"loss": loss, "log": logs})', 'OrderedDict({"loss": loss})'),
        ("OrderedDict(loss=loss, log=logs)", "OrderedDict(loss=loss)"),
        ("dict(loss=loss, log=logs)", "dict(loss=loss)"),
        ('dict({"x": 1, "loss": loss, "log": logs})', 'dict({"x": 1, "loss": loss})'),
    ],
)
def test_dicts_that_a_call_makes(made: str, left: str) -> None:
    text = "from collections import OrderedDict\n" + STEP.replace(RETURN, f"return {made}")
    after = rewritten({"train.py": text}, LIT)["train.py"]
    assert f"        self.log_dict(logs)\n        return {left}\n" in after
    named = text.replace(f"return {made}", f"output = {made}\n        return output")
    after = rewritten({"train.py": named}, LIT)["train.py"]
    assert f"        output = {left}\n        self.log_dict(logs)\n        return output\n" in after


def test_a_dict_of_several_branches_is_logged_in_each() -> None:
    body = 'if batch:\n            out = {"loss": 1, "log": a}\n            return out\n'
    body += '        out = {"loss": 2, "log": b}\n        return out'
    after = rewritten({"train.py": STEP.replace(RETURN, body)}, LIT)["train.py"]
    assert 'out = {"loss": 1}\n            self.log_dict(a)\n            return out\n' in after
    assert 'out = {"loss": 2}\n        self.log_dict(b)\n        return out\n' in after


def test_a_dict_of_which_nothing_is_left_goes_with_its_name() -> None:
    hook = STEP.replace("training_step(self, batch, batch_idx)", "test_epoch_end(self, batch)")
    text = hook.replace(RETURN, 'out = {"log": {"a": loss}}\n        return out')
    assert rewritten({"train.py": text}, LIT)["train.py"].endswith('        self.log_dict({"a": loss})\n')
    told = text.replace("        out =", "        # for later\n        out =")
    assert "there is a comment next to" in refusals({"train.py": told}, "LIT213")[0]


def test_what_both_hold_is_logged_once() -> None:
    text = STEP.replace('{"b": loss}', '{"a": loss}')
    assert 'self.log_dict({"a": loss}, prog_bar=True)\n' in rewritten({"train.py": text}, LIT)["train.py"]
    named = STEP.replace(RETURN, 'bar = {"a": loss}\n        return {"log": {"a": loss}, "progress_bar": bar}')
    assert 'self.log_dict({"a": loss}, prog_bar=True)\n' in rewritten({"train.py": named}, LIT)["train.py"]
    again = named.replace("        return {", "        loss = loss * 2\n        return {")
    assert "share keys" in refusals({"train.py": again}, "LIT213")[0]


def test_parts_of_the_batch_are_no_single_numbers() -> None:
    text = STEP.replace("        loss =", "        x, y = batch\n        loss =", 1).replace('{"a": loss}', '{"a": y}')
    assert "`y` is a part of the batch" in refusals({"train.py": text}, "LIT213")[0]
    again = text.replace("        loss =", "        y = y.mean()\n        loss =", 1)
    assert b'self.log_dict({"a": y})' in run_rules({"train.py": again}, LIT).final()["train.py"]


@pytest.mark.parametrize(
    ("pin", "level"),
    [("==1.2.9", "safe"), (">=1.0", "safe"), ("", "safe"), ("==1.3.0", "unsafe"), (">=1.5,<2", "unsafe")],
)
def test_what_the_required_lightning_ignores_is_not_logged_without_being_asked_for(pin: str, level: str) -> None:
    made = plan(sources({"train.py": STEP}), Options((LIT,), pins=(f"pytorch-lightning{pin}",)))
    assert [item.fix for item in made.findings] == [level]
    assert bool(made.changes) == (level == "safe")


@pytest.mark.parametrize(("pin", "level"), [("pytorch-lightning==1.4.0", "unsafe"), ("pytorch-lightning<2", "safe")])
def test_keys_that_the_class_reads_where_lightning_never_did(pin: str, level: str) -> None:
    text = STEP + '\n    def training_epoch_end(self, outputs):\n        print([each["log"] for each in outputs])\n'
    made = plan(sources({"train.py": text}), Options((LIT,), pins=(pin,)))
    assert [item.fix for item in made.findings] == [level]


@pytest.mark.parametrize(
    ("more", "kept"),
    [
        ("validation_epoch_end(self, outputs):\n        print([each['log'] for each in outputs])", False),
        ("validation_end(self, outputs):\n        print([each['log'] for each in outputs])", False),
        ("test_epoch_end(self, outputs):\n        print(self.all(outputs)['log'])", False),
        ("show(self, outputs):\n        print(outputs['log'])", True),
        ("on_train_batch_end(self, outputs, batch, i):\n        print(outputs['log'])", True),
        (
            "validation_step(self, batch, batch_idx):\n        return self.training_step(batch, batch_idx)\n\n"
            "    def validation_epoch_end(self, outputs):\n        print([each['log'] for each in outputs])",
            True,
        ),
    ],
)
def test_what_another_stage_reads_of_its_results_is_none_of_a_training_step(more: str, kept: bool) -> None:
    text = f"{STEP}\n    def {more}\n"
    made = plan(sources({"train.py": text}), Options((LIT,), pins=("pytorch-lightning>=1.7,<2",), unsafe=True))
    assert [finding.reason.startswith("The class reads them") for finding in made.findings] == [kept]
    assert ('"log": ' in made.final()["train.py"].decode()) == kept


@pytest.mark.parametrize("more", ["**kwargs", "**_"])
def test_a_step_that_takes_whatever_else_is_given(more: str) -> None:
    text = STEP.replace("batch, batch_idx)", f"batch, batch_idx, {more})", 1)
    after = rewritten({"train.py": STEP}, LIT)["train.py"].replace("batch_idx)", f"batch_idx, {more})", 1)
    assert text != STEP and rewritten({"train.py": text}, LIT)["train.py"] == after
    for other in ("*args", "*, stage=None"):
        assert "not an ordinary method" in refusals({"train.py": text.replace(more, other)}, "LIT213")[0]


ENDS = (
    "from pytorch_lightning import LightningModule\n\n\nclass Model(LightningModule):\n"
    "    def {0}(self, {1}):\n        logs = {{'loss': self.rate}}\n        return {2}\n"
)
TWICE = "{**logs, 'log': logs, 'progress_bar': logs}"


def test_a_dict_that_is_logged_and_spread_beside_is_logged_once() -> None:
    after = rewritten({"train.py": ENDS.format("test_epoch_end", "outputs", TWICE)}, LIT)["train.py"]
    assert after == ENDS.format("test_epoch_end", "outputs", TWICE).replace(
        f"return {TWICE}", "self.log_dict(logs, prog_bar=True)"
    )


@pytest.mark.parametrize(
    ("name", "given", "made"),
    [
        ("test_epoch_end", "outputs", "{**self.more, 'log': logs}"),
        ("test_epoch_end", "outputs", "{**more, 'log': logs, 'progress_bar': logs}"),
        ("training_step", "batch, batch_idx", "{**logs, 'log': logs}"),
    ],
)
def test_what_is_spread_for_others_stays(name: str, given: str, made: str) -> None:
    [reason] = refusals({"train.py": ENDS.format(name, given, made)}, "LIT213")
    assert "not written out as a dict" in reason


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
