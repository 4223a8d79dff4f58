"""LIT113: a call of `tune` that looked for nothing, which goes."""

from __future__ import annotations

import pytest

from tests.codemods.support import refusals, rewritten, rule, run_rules
from tests.training import same

HEAD = "import pytorch_lightning as pl\n\n"
FIT = "t.fit(m, datamodule=d)\n"


def fixes(body: str, **more: str) -> list[str]:
    made = run_rules({"a.py": HEAD + body, **more}, rule("LIT113"))
    return [finding.fix for finding in made.findings]


@pytest.mark.parametrize(
    ("build", "tune", "fit"),
    [
        ("pl.Trainer(max_epochs=3)", "t.tune(m, datamodule=d)", "t.fit(m, datamodule=d)"),
        ("pl.Trainer()", "t.tune(m, d)", "t.fit(m, datamodule=d)"),
        ("pl.Trainer()", "t.tune(model=m)", "t.fit(m, data, other)"),
        ("pl.Trainer()", "t.tune(m, a, b)", "t.fit(m, a, b, ckpt_path=last)"),
        ("pl.Trainer(callbacks=[c])", "t.tune(\n    m,\n    train_dataloaders=m.data,\n)", "t.fit(m, m.data)"),
    ],
)
def test_a_tune_that_looked_for_nothing_goes(build: str, tune: str, fit: str) -> None:
    body = f"t = {build}\n# train\n{tune}\n{fit}\n"
    after = rewritten({"a.py": HEAD + body}, rule("LIT113"))["a.py"]
    assert after == f"{HEAD}t = {build}\n# train\n{fit}\n"


def test_flags_that_are_off_ask_for_nothing() -> None:
    body = f"t = pl.Trainer(auto_lr_find=False, auto_scale_batch_size=None)\nt.tune(m)\n{FIT}"
    assert rewritten({"a.py": HEAD + body}, rule("LIT113"))["a.py"] == f"{HEAD}t = pl.Trainer()\n{FIT}"


@pytest.mark.parametrize("behind", ["t.fit(m)", "if a:\n    pass", "found = t.fit(m)"])
def test_lines_above_it_stay(behind: str) -> None:
    body = f"t = pl.Trainer()\n\n# train\n\n# for long\nt.tune(m)\n# here\n{behind}\n"
    after = rewritten({"a.py": HEAD + body}, rule("LIT113"), unsafe=True)["a.py"]
    assert after == HEAD + body.replace("t.tune(m)\n", "")


def test_it_goes_from_a_function() -> None:
    body = f"def main(m, d):\n    t = pl.Trainer()\n    t.logger.name = 3\n    t.tune(m, d)\n    {FIT}"
    after = rewritten({"a.py": HEAD + body}, rule("LIT113"))["a.py"]
    assert after == HEAD + body.replace("    t.tune(m, d)\n", "")


@pytest.mark.parametrize(
    "between",
    ["t.fit(m)\n", "print(t.datamodule)\n" + FIT, "t.fit(m, e)\n", "hand(t)\n" + FIT, "", "x = 1\n", "t.test(m, d)\n"],
)
def test_what_it_left_on_the_trainer_may_be_needed(between: str) -> None:
    body = f"t = pl.Trainer()\nt.tune(m, datamodule=d)\n{between}"
    assert fixes(body) == ["unsafe"]
    assert "t.tune" not in rewritten({"a.py": HEAD + body}, rule("LIT113"), unsafe=True)["a.py"]


def test_a_trainer_that_others_have_may_be_changed_by_them() -> None:
    assert fixes(f"t = pl.Trainer()\nregister(t)\nt.tune(m, d)\n{FIT}") == ["unsafe"]


@pytest.mark.parametrize(
    "body",
    [
        f"t = pl.Trainer(**given)\nt.tune(m)\n{FIT}",
        f"t = pl.Trainer(*given)\nt.tune(m)\n{FIT}",
        f"t = pl.Trainer.from_argparse_args(args)\nt.tune(m)\n{FIT}",
        f"t = pl.Trainer()\nt.auto_lr_find = True\nt.tune(m)\n{FIT}",
        f"t = pl.Trainer()\nsetattr(t, 'auto_lr_find', flag)\nt.tune(m)\n{FIT}",
        f"t = pl.Trainer()\nfound = t.tune(m)\n{FIT}",
        f"t = pl.Trainer()\nt.tune(make())\n{FIT}",
        f"t = pl.Trainer()\nt.tune(m, **given)\n{FIT}",
        f"t = pl.Trainer()\nif a:\n    t.tune(m)\n{FIT}",
        f"t = pl.Trainer()\nt.tune(m); {FIT}",
        f"t = pl.Trainer()\n# tuned first\nt.tune(m)\n{FIT}",
        f"t = pl.Trainer()\nt.tune(m)  # why\n{FIT}",
        f"t = pl.Trainer()\n{FIT}# the end\nt.tune(m)\n",
        f"t = pl.Trainer()\nt = pl.Trainer(**given) if a else t\nt.tune(m)\n{FIT}",
        f"t = pl.Trainer()\n\n\ndef tune(m):\n    t.tune(m)\n    {FIT}",
        f"class Mine(pl.Trainer):\n    pass\n\n\nt = Mine()\nt.tune(m)\n{FIT}",
        f"t = pl.Trainer()\nif pl.__version__ < '2':\n    t.tune(m)\n    {FIT}",
    ],
)
def test_a_tune_that_may_look_for_something_or_cannot_go_alone_stays(body: str) -> None:
    files = {"a.py": HEAD + body.replace("class Mine", "class mine").replace("Mine()", "mine()")}
    assert "t.tune(" in rewritten(files, rule("LIT113"), unsafe=True).get("a.py", body)
    assert all("neither" not in reason or "delete it" in reason for reason in refusals(files, "LIT113"))


def test_a_flag_that_another_file_sets_is_obeyed() -> None:
    body = f"t = pl.Trainer()\nt.tune(m)\n{FIT}"
    assert fixes(body, **{"b.py": "def change(trainer):\n    trainer.auto_lr_find = True\n"}) == ["manual"]
    assert fixes(body, **{"b.py": "def ask(trainer):\n    return trainer.auto_lr_find\n"}) == ["safe"]


def test_a_flag_of_another_trainer_changes_nothing() -> None:
    body = f"t = pl.Trainer()\nt.tune(m)\n{FIT}other = pl.Trainer(auto_lr_find=True)\nother.tune(m)\n"
    after = rewritten({"a.py": HEAD + body}, rule("LIT113"), unsafe=True)["a.py"]
    assert after == f"{HEAD}t = pl.Trainer()\n{FIT}other = pl.Trainer()\npl.tuner.Tuner(other).lr_find(m)\n"


TRAINED = """\
import torch
from pytorch_lightning import LightningModule, Trainer


class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 1)

    def prepare_data(self):
        self.noise = 0.1

    def training_step(self, batch, batch_idx):
        return (self.layer(batch) + self.noise * torch.randn(1)).pow(2).mean()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


torch.manual_seed(1)
model, data = Model(), torch.utils.data.DataLoader(torch.randn(8, 2), batch_size=2, shuffle=True)
trainer = Trainer(max_epochs=2, accelerator="cpu")
trainer.tune(model, data)
trainer.fit(model, data)
"""


def test_training_is_the_same_without_it() -> None:
    before = {"train.py": TRAINED}
    after = rewritten(before, rule("LIT113"))
    assert "tune" not in after["train.py"]
    same(before, after)


OPTION = """\
import argparse

parser = argparse.ArgumentParser()
parser.add_argument("--find", action="store_true")
args = parser.parse_args()
t = pl.Trainer(FLAG)
t.tune(m)
t.fit(m)
"""


@pytest.mark.parametrize("flag", ["auto_lr_find=True if args.find else False", "auto_lr_find=args.find"])
def test_a_flag_that_may_be_off_is_not_off(flag: str) -> None:
    [finding] = run_rules({"a.py": HEAD + OPTION.replace("FLAG", flag)}, rule("LIT113")).findings
    assert finding.fix == "unsafe" and "neither" not in finding.reason


@pytest.mark.parametrize("given", ["dict(auto_lr_find=args.find)", "{'auto_lr_find': args.find}", "vars(args)"])
def test_a_trainer_that_is_not_written_out_may_be_given_one(given: str) -> None:
    body = OPTION.replace("t = pl.Trainer(FLAG)", f"given = {given}\nt = pl.Trainer(**given)")
    found = run_rules({"a.py": HEAD + body}, rule("LIT113")).findings
    assert all("is given neither" not in finding.reason for finding in found)
    assert "manual" in {finding.fix for finding in found if finding.span.line == 10}
