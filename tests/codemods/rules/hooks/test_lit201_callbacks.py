"""LIT201: a callback that reads what an epoch-end hook leaves sees the same on old releases and on the newest."""

from __future__ import annotations

import pytest

from tests.codemods.support import refusals, rewritten, rule, run_rules
from tests.training import same

SCRIPT = """\
import torch
from pytorch_lightning import Callback, LightningModule, Trainer


class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 1)
        self.best = None

    def training_step(self, batch, batch_idx):
        return self.layer(batch).mean()

    def validation_step(self, batch, batch_idx):
        return {"error": batch.mean() + self.global_step}

    def validation_epoch_end(self, outputs):
        self.best = torch.stack([output["error"] for output in outputs]).mean().item()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.1)


class Show(Callback):
    def __init__(self):
        self.seen = []

    def on_validation_epoch_end(self, trainer, pl_module):
        self.seen.append(pl_module.best)


def main():
    torch.manual_seed(1)
    show, data = Show(), torch.utils.data.DataLoader(torch.arange(8.0).reshape(4, 2), batch_size=2)
    trainer = Trainer(max_epochs=2, callbacks=[show])
    trainer.fit(Model(), data, data)
    trainer.validate(trainer.model, data)
    return show.seen
"""


def test_it_reads_what_it_read() -> None:
    before = {"train.py": SCRIPT}
    after = rewritten(before, rule("LIT201"), unsafe=True)
    assert "def on_validation_end(self, trainer, pl_module):" in after["train.py"]
    old, new = same(before, after, script=None, module="train", function="main", logged=False)
    assert old.failure is None and new.failure is None, (old.failure, new.failure)
    assert new.returned == old.returned
    assert len(old.returned) == 3 and len(set(old.returned)) == 2


READ = "self.seen.append(pl_module.best)"


@pytest.mark.parametrize(
    "body",
    [
        f"{READ}; pl_module.kept.clear()",
        f"{READ}; kept = pl_module.kept; kept[0].pop()",
        f"{READ}\n        for kept in pl_module.kept:\n            kept.size = 1",
        f"{READ}; self.clear(pl_module)\n\n    def clear(self, module):\n        module.kept.clear()",
    ],
)
def test_one_that_may_change_what_others_read_does_not_move(body: str) -> None:
    assert "calls it before" in refusals({"train.py": SCRIPT.replace(READ, body)}, "LIT201")[0]


@pytest.mark.parametrize(
    "body",
    [
        f"{READ}; pl_module.logger.experiment.add_text('best', '')",
        "self.seen.append(pl_module.best.item())",
        "self.seen.append(pl_module.kept.get('best', pl_module.best))",
    ],
)
def test_one_that_reads_or_writes_to_a_logger_moves(body: str) -> None:
    after = rewritten({"train.py": SCRIPT.replace(READ, body)}, rule("LIT201"), unsafe=True)["train.py"]
    assert "def on_validation_end(self, trainer, pl_module):" in after


CALLS = "from train import Show\n\n\ndef test_show():\n    Show().on_validation_epoch_end(None, None)\n"


@pytest.mark.parametrize("calls", [CALLS, CALLS.replace(".on_", ", 'on_").replace("(None", "', (None")])
def test_one_that_another_file_calls_does_not_move(calls: str) -> None:
    assert "calls it before" in refusals({"train.py": SCRIPT, "test_show.py": calls}, "LIT201")[0]


def test_what_another_class_calls_of_its_base_is_not_a_callback() -> None:
    other = (
        "from train import Show\n\n\nclass Other:\n    def on_validation_epoch_end(self):\n"
        "        super().on_validation_epoch_end()\n"
    )
    files = {"train.py": SCRIPT, "other.py": other, "notes.md": "Show.on_validation_epoch_end is called by Trainer\n"}
    assert "def on_validation_end(self, trainer" in rewritten(files, rule("LIT201"), unsafe=True)["train.py"]


METRICS = SCRIPT.replace(
    'self.best = torch.stack([output["error"] for output in outputs]).mean().item()',
    'self.log("best", torch.stack([output["error"] for output in outputs]).mean())',
).replace(
    "self.seen.append(pl_module.best)",
    "self.seen.append({name: value.item() for name, value in trainer.callback_metrics.items()})",
)


def test_it_reads_the_metrics_that_it_read() -> None:
    logging = '        loss = self.layer(batch).mean()\n        self.log("loss", loss)\n        return loss\n'
    script = METRICS.replace("        return self.layer(batch).mean()\n", logging)
    before = {"train.py": script.replace('return {"error"', 'self.log("each", batch.sum())\n        return {"error"')}
    after = rewritten(before, rule("LIT201"), unsafe=True)
    assert "def on_validation_end(self, trainer, pl_module):" in after["train.py"]
    old, new = same(before, after, script=None, module="train", function="main", logged=False)
    assert old.failure is None and new.failure is None, (old.failure, new.failure)
    assert new.returned == old.returned
    assert all("best" in seen and "each" in seen for seen in old.returned)


def test_what_the_logger_gets_is_there_only_then() -> None:
    text = METRICS.replace("callback_metrics", "logged_metrics")
    assert "asks for logged_metrics" in refusals({"train.py": text}, "LIT201")[0]


SHOWN = "self.seen.append({name: value.item() for name, value in trainer.callback_metrics.items()})"
OF = "self.of(trainer)[{}] = 1\n\n    def of(self, trainer):\n        return trainer.callback_metrics"


@pytest.mark.parametrize(
    "body",
    [
        "metrics: dict = trainer.callback_metrics; metrics['gap'] = 1",
        "(metrics := trainer.callback_metrics)['gap'] = 1",
        "metrics = trainer.callback_metrics if self.seen else {}; metrics['gap'] = 1",
        "metrics = trainer.callback_metrics; metrics |= {'gap': 1}",
        "for name, value in trainer.callback_metrics.items():\n            value.fill_(0)",
        "[value.fill_(0) for value in trainer.callback_metrics.values()]",
        "first, *rest = list(trainer.callback_metrics.values()); first.fill_(0)",
        "fill(trainer.callback_metrics)",
        OF.format("'gap'"),
    ],
)
def test_one_that_may_change_the_metrics_does_not_move(body: str) -> None:
    assert "calls it before" in refusals({"train.py": METRICS.replace(SHOWN, body)}, "LIT201")[0]


@pytest.mark.parametrize(
    "body",
    [
        "for name, value in trainer.callback_metrics.items():\n            print(name, float(value))",
        "seen = {name: value.item() for name, value in trainer.callback_metrics.items()}; seen['gap'] = 1",
        "best = trainer.callback_metrics['best'].item(); best += 1; self.seen.append(best)",
    ],
)
def test_one_that_changes_what_it_made_of_the_metrics_moves(body: str) -> None:
    after = rewritten({"train.py": METRICS.replace(SHOWN, body)}, rule("LIT201"), unsafe=True)["train.py"]
    assert "def on_validation_end(self, trainer, pl_module):" in after


TRAINED = (
    METRICS.replace("def on_validation_epoch_end(self, trainer", "def on_train_epoch_end(self, trainer")
    .replace("def validation_epoch_end", "def training_epoch_end")
    .replace('{"error": batch.mean() + self.global_step}', "batch.mean()")
    .replace("return self.layer(batch).mean()", 'return {"loss": self.layer(batch).mean(), "error": batch.sum() + 1}')
    .replace("[output[", "[self.current_epoch + output[")
    .replace("    trainer.validate(trainer.model, data)\n", "")
)
LATE = "reads callback_metrics in on_train_epoch_end, which 2.x calls before the module's own"


def test_one_that_reads_what_a_training_epoch_logs_sees_that_of_the_epoch_before() -> None:
    before = {"train.py": TRAINED}
    assert run_rules(before, rule("LIT201")).changes == ()
    made = run_rules(before, rule("LIT201"), unsafe=True)
    assert [finding.fix for finding in made.findings] == ["unsafe"] and LATE in made.findings[0].reason
    after = {"train.py": made.final()["train.py"].decode()}
    old, new = same(before, after, script=None, module="train", function="main", logged=False)
    assert old.failure is None and new.failure is None, (old.failure, new.failure)
    assert [seen.get("best") for seen in new.returned] == [None, old.returned[0]["best"]]


@pytest.mark.parametrize("body", ["trainer.callback_metrics['gap'] = 1", "pl_module.best = 1", "keep(trainer)"])
def test_one_that_does_more_with_a_training_epoch_is_told(body: str) -> None:
    text = TRAINED.replace(SHOWN, body).replace('self.log("best"', 'self.best = 1; self.log("best"')
    found = run_rules({"train.py": text}, rule("LIT201")).findings
    assert found and not any(LATE in finding.reason for finding in found)
