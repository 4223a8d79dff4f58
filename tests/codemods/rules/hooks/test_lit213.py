"""LIT213: what is logged in place of returned dicts, run, and the returns that are left."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from pytorch_lightning import Trainer
from torch.utils.data import DataLoader, TensorDataset

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
    ("line", "what"),
    [
        ("shown = torchvision.utils.make_grid(batch)", "an image"),
        ("shown, axes = matplotlib.pyplot.subplots()", "an object of matplotlib"),
        ("shown = plotly.express.imshow(batch)", "an object of plotly"),
    ],
)
def test_pictures_that_a_name_holds_are_left(line: str, what: str) -> None:
    package = line.partition(" = ")[2].partition(".")[0]
    text = STEP.replace("        return", f"        {line}\n        return", 1).replace('{"a": loss}', '{"a": shown}')
    found = refusals({"train.py": f"import {package}.utils\nimport {package}\n{text}"}, "LIT213")
    assert f"`shown` is {what}, which self.log refuses" in found[0]


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


SHARED = """\
from pytorch_lightning import LightningModule


class Model(LightningModule):
    def training_step(self, batch, batch_idx):
        loss, acc = self(batch), self.rate(batch)
        bar = {bar}
        logs = {log}
        return {{"loss": loss, "log": logs, "progress_bar": bar}}
"""
WITHIN = """\
        for name, value in logs.items():
            self.log(name, value, prog_bar=name in bar)
"""
BESIDE = """\
        for name, value in {**bar, **logs}.items():
            self.log(name, value, prog_bar=name in bar, logger=name in logs)
"""


@pytest.mark.parametrize(
    ("bar", "log", "level", "loop"),
    [
        ('{"loss": loss}', '{"loss": loss, "acc": acc}', "safe", WITHIN),
        ('{"loss": loss, "acc": acc}', '{"loss": loss, "n": 1}', "safe", BESIDE),
        ('{"loss": loss.mean()}', '{"loss": loss.mean(), "acc": acc}', "unsafe", WITHIN),
        ('{"loss": loss}', '{"loss": acc, "n": 1}', "manual", ""),
    ],
)
def test_what_only_some_of_both_hold_is_logged_in_turn(bar: str, log: str, level: str, loop: str) -> None:
    text = SHARED.format(bar=bar, log=log)
    assert [item.fix for item in run_rules({"a.py": text}, LIT).findings] == [level]
    after = rewritten({"a.py": text}, LIT, unsafe=True)["a.py"]
    ending = '        return {"loss": loss, "log": logs, "progress_bar": bar}\n'
    assert after == (text.replace(ending, f'{loop}        return {{"loss": loss}}\n') if loop else text)
    assert rewritten({"a.py": after}, LIT, unsafe=True)["a.py"] == after


def test_names_that_the_method_has_are_not_taken() -> None:
    text = SHARED.format(bar='{"a": loss}', log='{"a": loss, "b": acc}').replace("self(batch)", "self(name)")
    assert "        for key, number in logs.items():\n" in rewritten({"a.py": text}, LIT)["a.py"]


def test_dicts_that_are_written_out_are_logged_in_parts() -> None:
    text = STEP.replace(
        '{"a": loss}, "progress_bar": {"b": loss}', '{"a": loss, "c": 1}, "progress_bar": {"b": 2, "a": loss}'
    )
    after = rewritten({"train.py": text}, LIT)["train.py"]
    assert (
        '        self.log_dict({"b": 2}, prog_bar=True, logger=False)\n'
        '        self.log_dict({"a": loss}, prog_bar=True)\n'
        '        self.log_dict({"c": 1})\n'
        '        return {"loss": loss}\n'
    ) in after


def test_a_comment_behind_the_return_of_a_hook_stands_in_front_of_the_loop() -> None:
    text = SHARED.format(bar='{"a": loss}', log='{"a": loss, "b": acc}')
    text = text.replace("training_step(self, batch, batch_idx)", "test_epoch_end(self, batch)")
    text = text.replace('"loss": loss, "log": logs, "progress_bar": bar}', '"log": logs, "progress_bar": bar}  # both')
    after = rewritten({"a.py": text}, LIT)["a.py"]
    assert after.endswith(f"        # both\n{WITHIN}")


def test_each_of_both_goes_where_it_went() -> None:
    """Run on the newest release: what is logged, and what the progress bar shows."""
    text = SHARED.format(bar='{"loss": loss, "acc": acc}', log='{"loss": loss, "n": 1.0}')
    text = text.replace("        loss, acc =", "        batch = batch[0]\n        loss, acc =")
    text += (
        "\n    def forward(self, x):\n        return self.layer(x).mean()\n\n"
        "    def rate(self, x):\n        return x.mean()\n\n"
        "    def configure_optimizers(self):\n        return torch.optim.SGD(self.parameters(), 0.1)\n"
    )
    space: dict[str, Any] = {"torch": torch}
    exec(rewritten({"a.py": text}, LIT)["a.py"], space)
    module = space["Model"]()
    module.layer = torch.nn.Linear(2, 1)
    loader = DataLoader(TensorDataset(torch.ones(2, 2)))
    trainer = Trainer(
        max_epochs=1, logger=False, enable_checkpointing=False, enable_model_summary=False, accelerator="cpu"
    )
    trainer.fit(module, loader)
    assert trainer.logged_metrics.keys() == {"loss", "n"}
    assert trainer.progress_bar_metrics.keys() == {"loss", "acc"}


@pytest.mark.parametrize(
    ("more", "level"),
    [
        ("validation_step(self, batch, batch_idx):\n        return self.training_step(batch, 0)['loss']", "unsafe"),
        ("warm_up(self, batch):\n        print(self.training_step(batch, 0))", "unsafe"),
        ("validation_step(self, batch, batch_idx):\n        return self.trainer.training_step(batch, 0)", "safe"),
        ("validation_step(self, batch, batch_idx):\n        return self(batch)", "safe"),
    ],
)
def test_a_step_that_is_called_for_another_stage_would_log_there_too(more: str, level: str) -> None:
    found = run_rules({"train.py": f"{STEP}\n    def {more}\n"}, LIT).findings
    assert [finding.fix for finding in found] == [level]
    assert ("calls training_step too" in found[0].reason) == (level == "unsafe")
