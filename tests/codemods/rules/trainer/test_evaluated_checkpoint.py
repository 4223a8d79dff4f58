"""LIT112: Trainers that resume from a checkpoint and are never fitted."""

from __future__ import annotations

import pytest

from tests.codemods.support import rewritten, rule, run_rules

TEXT = """\
from pytorch_lightning import Trainer


def main(path, model, loader):
    trainer = Trainer(gpus=1, resume_from_checkpoint=path)
    trainer.test(model, test_dataloaders=loader)
    print(trainer.callback_metrics)
"""
WANTED = TEXT.replace(", resume_from_checkpoint=path", "").replace("=loader)", "=loader, ckpt_path=path)")


def test_what_is_tested_gets_it_where_the_doubt_is_accepted() -> None:
    made = run_rules({"a.py": TEXT}, rule("LIT112"))
    assert made.changes == ()
    assert [item.fix for item in made.findings] == ["unsafe"]
    assert rewritten({"a.py": TEXT}, rule("LIT112"), unsafe=True)["a.py"] == WANTED
    assert rewritten({"a.py": WANTED}, rule("LIT112"), unsafe=True)["a.py"] == WANTED


def test_a_lightning_that_loaded_it_to_fit_alone_did_nothing_with_it() -> None:
    made = run_rules({"a.py": TEXT}, rule("LIT112"), pins=("pytorch-lightning==1.7.7",))
    assert [item.fix for item in made.findings] == ["safe"]
    assert made.final()["a.py"].decode() == TEXT.replace(", resume_from_checkpoint=path", "")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("print(trainer.callback_metrics)", "trainer.fit(model)"),
        ("print(trainer.callback_metrics)", "run(trainer)"),
        ("print(trainer.callback_metrics)", "getattr(trainer, path)(model)"),
        ("test_dataloaders=loader", "loader, 'best'"),
        ("test_dataloaders=loader", "**loader"),
        ("test_dataloaders=loader", "ckpt_path='best'"),
        ("    trainer.test(", "    path = find()\n    trainer.test("),
        ("trainer.test(model, test_dataloaders=loader)", "print(model, loader)"),
    ],
)
def test_what_may_be_fitted_or_has_one_is_not_taken_for_tested(old: str, new: str) -> None:
    text = TEXT.replace(old, new, 1)
    assert text != TEXT
    after = rewritten({"a.py": text}, rule("LIT112"), unsafe=True)["a.py"]
    assert ".test(model, test_dataloaders=loader, ckpt_path=path)" not in after


def test_one_that_a_function_builds() -> None:
    text = (
        "from pytorch_lightning import Trainer\n\n\ndef build():\n    return Trainer(resume_from_checkpoint='a')\n\n\n"
    )
    after = rewritten({"a.py": f"{text}t = build()\nt.test(m)\n"}, rule("LIT112"), unsafe=True)["a.py"]
    wanted = text.replace("resume_from_checkpoint='a'", "")
    assert after == f"{wanted}t = build()\nt.test(m, ckpt_path='a')\n"
