"""LIT213: classes below the one whose step returns what it logs, and hooks that read a part of it."""

from __future__ import annotations

import pytest

from tests.codemods.support import refusals, rewritten, rule, run_rules

LIT = rule("LIT213")
BASE = """\
from pytorch_lightning import LightningModule


class Base(LightningModule):
    def training_step(self, batch, batch_idx):
        loss = self(batch).mean()
        logs = {"train_loss": loss}
        return {"loss": loss, "log": logs}
"""
CHILD = """

class Child(Base):
    def training_step(self, batch, batch_idx):
        found = super().training_step(batch, batch_idx)
        @
        return found
"""
READING = [
    CHILD.replace("@", 'found["log"]["more"] = 1'),
    CHILD.replace("@", 'print(found["log"])'),
    CHILD.replace("@", 'found["log"] = {"other": 1}'),
    CHILD.replace("@", 'found.get("log").clear()').replace("super().training_step(", "Base.training_step(self, "),
    "\n\nclass Child(Base):\n    def training_epoch_end(self, outputs):\n        print(outputs[0]['log'])\n",
]


@pytest.mark.parametrize("child", READING[:-1])
def test_what_a_class_below_reads_is_kept(child: str) -> None:
    [reason] = refusals({"a.py": BASE + child}, "LIT213")
    assert "Child (a.py), a subclass, may read what training_step returns" in reason


def test_what_a_hook_below_reads_is_logged_and_kept() -> None:
    after = rewritten({"a.py": BASE + READING[-1]}, LIT)["a.py"]
    assert 'self.log_dict(logs)\n        return {"loss": loss, "log": logs}' in after


@pytest.mark.parametrize("child", READING)
def test_a_class_of_another_file_reads_it_too(child: str) -> None:
    files = {"a.py": BASE, "b.py": f"from a import Base\n{child}"}
    assert [each.fix for each in run_rules(files, LIT).findings if each.path == "a.py"] == ["manual"]


@pytest.mark.parametrize(
    "child",
    [
        CHILD.replace("@", 'found["more"] = 1'),
        "\n\nclass Child(Base):\n    def training_step(self, batch, batch_idx):\n        return self(batch).mean()\n",
        "\n\nclass Child(Base):\n    pass\n",
        READING[1].replace("(Base)", "(Another)"),
    ],
)
def test_a_class_below_that_does_not_read_it_is_no_reason(child: str) -> None:
    assert "self.log_dict(logs)" in rewritten({"a.py": BASE + child}, LIT)["a.py"]


def test_a_hook_that_reads_a_key_of_the_logs_has_them_still() -> None:
    reading = "print(outputs[0]['log']['train_loss'], outputs[0]['extra'])"
    text = BASE.replace("logs = {", "logs = self.more(batch)\n        more = {")
    text += f"\n    def training_epoch_end(self, outputs):\n        {reading}\n"
    after = rewritten({"a.py": text}, LIT, unsafe=True)["a.py"]
    assert 'return {"loss": loss, "log": logs, **logs}' in after
    only = text.replace(", outputs[0]['extra']", "")
    assert 'return {"loss": loss, "log": logs}' in rewritten({"a.py": only}, LIT, unsafe=True)["a.py"]
