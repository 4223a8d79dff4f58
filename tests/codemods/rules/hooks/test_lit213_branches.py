"""LIT213: dicts that each branch of a step names, logs by itself or changes before it returns them."""

from __future__ import annotations

import pytest

from tests.codemods.support import refusals, rewritten, rule

MODEL = """\
from pytorch_lightning import LightningModule


class GAN(LightningModule):
    def training_step(self, batch, batch_idx, optimizer_idx):
        if optimizer_idx == 0:
            g_loss = self(batch)
            shown = {"g_loss": g_loss}
            output = {"loss": g_loss, "progress_bar": shown, "log": shown}
            self.log("g_loss", g_loss, prog_bar=True)
            self.made = g_loss
            return output
        d_loss = self(batch)
        shown = {"d_loss": d_loss}
        output = {"loss": d_loss, "log": shown}
        self.log("d_loss", d_loss)
        return output
"""
AFTER = """\
from pytorch_lightning import LightningModule


class GAN(LightningModule):
    def training_step(self, batch, batch_idx, optimizer_idx):
        if optimizer_idx == 0:
            g_loss = self(batch)
            output = {"loss": g_loss}
            self.log("g_loss", g_loss, prog_bar=True)
            self.made = g_loss
            return output
        d_loss = self(batch)
        output = {"loss": d_loss}
        self.log("d_loss", d_loss)
        return output
"""
LOGGED = '            self.log("g_loss", g_loss, prog_bar=True)\n'


def test_what_each_branch_logs_itself_is_not_returned() -> None:
    assert rewritten({"a.py": MODEL}, rule("LIT213"))["a.py"] == AFTER


HANDED = """\
from pytorch_lightning import LightningModule


class GAN(LightningModule):
    def training_step(self, batch, batch_idx, optimizer_idx):
        if optimizer_idx == 0:
            return self.generate(batch)
        return self.judge(batch)

    def generate(self, batch):
        loss = self(batch)
        self.log("g_loss", loss)
        return {"loss": loss, "progress_bar": {"g_loss": loss}, "log": {"g_loss": loss}}

    def judge(self, batch):
        loss = self(batch)
        self.log("d_loss", loss)
        return {"loss": loss, "log": {"d_loss": loss}}
"""


def test_methods_of_which_a_step_gives_the_result_are_looked_at_too() -> None:
    after = rewritten({"a.py": HANDED}, rule("LIT213"))["a.py"]
    assert after.count('        return {"loss": loss}\n') == 2 and after.count("self.log(") == 2
    sums = HANDED.replace('        self.log("g_loss"', '        loss = loss + 1\n        self.log("g_loss"')
    assert rewritten({"a.py": sums}, rule("LIT213"))["a.py"].count('        return {"loss": loss}\n') == 2
    used = HANDED.replace("        return self.judge(batch)", '        return {"loss": self.judge(batch)["log"]}')
    assert (
        "self.generate(batch)" in used
        and '"log": {"d_loss": loss}' in rewritten({"a.py": used}, rule("LIT213"))["a.py"]
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (LOGGED, '            if batch_idx:\n                self.log("g_loss", g_loss)\n'),
        (LOGGED, '            self.log("d_loss", g_loss)\n'),
        (LOGGED, '            self.log("g_loss", g_loss * 2)\n'),
        (LOGGED, f'{LOGGED}            shown["more"] = batch\n'),
        (LOGGED, f"{LOGGED}            self.keep(shown)\n"),
        (LOGGED, f"{LOGGED}            g_loss = g_loss + 1\n"),
        (LOGGED, f"            g_loss = g_loss + 1\n{LOGGED}"),
        (LOGGED, f"{LOGGED}            for g_loss in batch:\n                pass\n"),
        (LOGGED, f'{LOGGED}            output["more"] = 1\n'),
        (LOGGED, f"{LOGGED}            for shown in batch:\n                pass\n"),
        ('            shown = {"g_loss": g_loss}\n', '            shown = {"g_loss": g_loss, **self.more}\n'),
    ],
)
def test_what_is_not_surely_the_same_is_left(old: str, new: str) -> None:
    assert old in MODEL
    assert refusals({"a.py": MODEL.replace(old, new)}, "LIT213")


BETWEEN = """\
from pytorch_lightning import LightningModule


class Model(LightningModule):
    def training_step(self, batch, batch_idx):
        loss = self(batch)
        output = {"loss": loss, "log": {"error": loss}}
        self.seen = batch_idx
        return output
"""


def test_a_dict_that_is_named_some_lines_before_is_logged_at_the_return() -> None:
    after = rewritten({"a.py": BETWEEN}, rule("LIT213"))["a.py"]
    assert after.endswith(
        '        output = {"loss": loss}\n        self.seen = batch_idx\n'
        '        self.log_dict({"error": loss})\n        return output\n'
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("self.seen = batch_idx", "loss += 1"),
        ("self.seen = batch_idx", "for loss in batch: pass"),
        ("self.seen = batch_idx", "output = dict(output)"),
        ("self.seen = batch_idx", "self.keep(output)"),
        ('{"error": loss}', '{"error": loss.item()}'),
        ('{"error": loss}', '{"error": self.loss}'),
    ],
)
def test_one_that_may_be_another_by_then_is_left(old: str, new: str) -> None:
    assert old in BETWEEN
    assert refusals({"a.py": BETWEEN.replace(old, new)}, "LIT213")


ENDS = """\
from pytorch_lightning import LightningModule


class Model(LightningModule):
    def validation_epoch_end(self, outputs):
        {}
"""
ONE, TWO = 'return {"log": {"a": 1}}', 'return {"log": {"b": 1}}'
LOGS = ('self.log_dict({"a": 1})', 'self.log_dict({"b": 1})')


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("if self.a:\n            {}\n        else:\n            {}",
         "if self.a:\n            {}\n        else:\n            {}"),
        ("if self.a:\n            {}\n        elif self.b:\n            {}",
         "if self.a:\n            {}\n        elif self.b:\n            {}"),
        ("with self.a:\n            if self.b:\n                {}\n            else:\n                {}",
         "with self.a:\n            if self.b:\n                {}\n            else:\n                {}"),
        ("if self.a:\n            {}\n        {}", "if self.a:\n            {}\n            return\n        {}"),
        ("if self.a:\n            {}\n        else:\n            print(1)\n        {}",
         "if self.a:\n            {}\n            return\n        else:\n            print(1)\n        {}"),
        ("for a in self.a:\n            {}\n        {}",
         "for a in self.a:\n            {}\n            return\n        {}"),
    ],
    ids=["either", "either or none", "with", "early", "not the last", "loop"],
)  # fmt: skip
def test_nothing_returns_where_the_hook_ends(body: str, wanted: str) -> None:
    text = ENDS.format(body.format(ONE, TWO))
    after = rewritten({"a.py": text}, rule("LIT213"))["a.py"]
    assert after == ENDS.format(wanted.format(*LOGS))
