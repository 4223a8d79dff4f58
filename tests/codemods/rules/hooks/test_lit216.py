"""LIT216: results of 0.9 and 0.10, whose steps log by the module; that has no release left to run beside."""

from __future__ import annotations

import pytest

from codemods.rules.hooks.lit216 import AFTER, BEFORE
from tests.codemods.support import rewritten, rule, run_rules
from tests.training import train

LIT = rule("LIT216")
RUN = """

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)

    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 1)


def load():
    return torch.utils.data.DataLoader(torch.randn(4, 2), batch_size=2)


pl.Trainer(max_epochs=1).fit(Model(), load(), load())
"""


def after(text: str) -> str:
    made = rewritten({"a.py": text}, LIT, unsafe=True)["a.py"]
    assert rewritten({"a.py": made}, LIT, unsafe=True)["a.py"] == made
    return made


def test_it_trains_and_logs_by_the_same_names() -> None:
    text = "import torch\n" + after(BEFORE) + RUN
    new = train({"train.py": text}, "2.6.6")
    assert {"train_loss", "val_loss", "checkpoint_on"} <= set(new.metrics)
    assert len(new.losses) == 2


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("pl.TrainResult(loss)", ""),
        ("pl.TrainResult(minimize=2 * loss)", "        result = 2 * loss\n"),
        ("pl.TrainResult(minimize=loss, early_stop_on=loss)", '        self.log("early_stop_on", loss)\n'),
    ],
)
def test_what_a_result_minimizes_is_returned(old: str, new: str) -> None:
    text = BEFORE.replace("pl.TrainResult(minimize=loss)", old)
    wanted = AFTER.replace('        self.log("train', f'{new}        self.log("train')
    wanted = wanted.replace("return loss", "return result") if "result =" in new else wanted
    assert after(text) == wanted


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("minimize=loss)", "minimize=loss, checkpoint_on=True)"),
        ("pl.EvalResult(checkpoint_on=loss)", "pl.EvalResult(early_stop_on=None)"),
    ],
)
def test_what_is_watched_by_true_and_false_is_no_metric(old: str, new: str) -> None:
    assert old in BEFORE
    made = after(BEFORE.replace(old, new))
    assert new in made and made.count("Result(") == 1


def test_a_loss_that_is_bound_again_is_kept_by_the_old_name() -> None:
    again = '        loss = loss.detach()\n        result.log("train'
    made = after(BEFORE.replace('        result.log("train', again))
    assert "        result = loss\n        loss = loss.detach()\n" in made and "        return result\n" in made


def test_an_early_end_returns_nothing() -> None:
    text = BEFORE.replace(
        '        result.log("val_loss"',
        '        if batch_idx:\n            return result\n        result.log("val_loss"',
    )
    assert "        if batch_idx:\n            return\n" in after(text)


def test_empty_lines_before_the_end_go_too() -> None:
    assert after(BEFORE.replace('("val_loss", loss)\n', '("val_loss", loss)\n\n')) == AFTER


TRAPS = {
    "it holds more": BEFORE.replace("        return result", "        result.more = 1\n        return result"),
    "it is handed on": BEFORE.replace("        return result", "        look(result)\n        return result"),
    "something else is returned": BEFORE.replace(
        "        return result", "        if batch_idx:\n            return loss\n        return result"
    ),
    "it logs otherwise": BEFORE.replace("loss, prog_bar=True)", "loss, reduce_fx=max)").replace(
        '"val_loss", loss)', '"v", loss, reduce_fx=max)'
    ),
    "hooks are given it": BEFORE + "\n    def validation_epoch_end(self, outputs):\n        return outputs\n",
    "it is no module": BEFORE.replace("pl.LightningModule", "object"),
    "it is another's": BEFORE.replace("pl.TrainResult", "ours.TrainResult").replace("pl.EvalResult", "ours.EvalResult"),
}


@pytest.mark.parametrize("text", TRAPS.values(), ids=TRAPS.keys())
def test_what_does_more_is_left(text: str) -> None:
    assert after(text) == text


def test_nothing_is_done_unasked() -> None:
    made = run_rules({"a.py": BEFORE}, LIT)
    assert not made.changes and {finding.fix for finding in made.findings} == {"unsafe"}
