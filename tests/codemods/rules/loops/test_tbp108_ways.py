"""TBP108 finds what manual optimization refuses, whatever way the Trainer is built, handed on and given it."""

from __future__ import annotations

import pytest

from codemods.rules.loops.tbp108 import BEFORE
from tests.codemods.support import rule, run_rules

GIVEN = "    trainer = Trainer(max_epochs=2, gradient_clip_val=0.5)\n    trainer.fit(Model(), loader)\n"
MADE = "return Trainer(gradient_clip_val=0.5)\n"
FIT = "    trainer.fit(Model(), loader)\n"
WAYS = {
    "a dictionary": f"    options = {{'gradient_clip_val': 0.5}}\n    trainer = Trainer(**options)\n{FIT}",
    "a factory that is called twice": f"    build()\n    trainer = build()\n{FIT}\n\ndef build():\n    {MADE}",
    "a factory that passes on": f"    trainer = build(gradient_clip_val=0.5)\n{FIT}\n\ndef build(**given):\n"
    "    return Trainer(**given)\n",
    "an option": "    import argparse\n\n    parser = argparse.ArgumentParser()\n"
    "    parser.add_argument('--clip', type=float, default=0.5)\n    args = parser.parse_args()\n"
    f"    trainer = Trainer(gradient_clip_val=args.clip)\n{FIT}",
}
REWRITTEN = {
    "a factory": f"    trainer = build()\n{FIT}\n\ndef build():\n    {MADE}",
    "a factory with a name": f"    trainer = build()\n{FIT}\n\ndef build():\n"
    "    made = Trainer(gradient_clip_val=0.5)\n    return made\n",
    "a factory at once": f"    build().fit(Model(), loader)\n\n\ndef build():\n    {MADE}",
    "a dictionary there": f"    trainer = Trainer(**{{'gradient_clip_val': 0.5}})\n{FIT}",
    "a partial": "    from functools import partial\n\n    build = partial(Trainer, gradient_clip_val=0.5)\n"
    f"    trainer = build()\n{FIT}",
    "a subclass": f"    trainer = Own(gradient_clip_val=0.5)\n{FIT}\n\nclass Own(Trainer):\n    pass\n",
    "at once": "    Trainer(gradient_clip_val=0.5).fit(Model(), loader)\n",
    "a variable": f"    clip = 0.5\n    trainer = Trainer(gradient_clip_val=clip)\n{FIT}",
    "a second name": f"    T = Trainer\n    trainer = T(gradient_clip_val=0.5)\n{FIT}",
}


@pytest.mark.parametrize("way", WAYS)
def test_each_way_is_named(way: str) -> None:
    assert GIVEN in BEFORE
    made = run_rules({"train.py": BEFORE.replace(GIVEN, WAYS[way])}, rule("TBP108"), unsafe=True)
    assert made.changes == () and {item.fix for item in made.findings} == {"manual"}


@pytest.mark.parametrize("way", REWRITTEN)
def test_some_are_rewritten(way: str) -> None:
    made = run_rules({"train.py": BEFORE.replace(GIVEN, REWRITTEN[way])}, rule("TBP108"))
    assert made.bugs == ()
    after = made.final()["train.py"].decode()
    assert "on_before_optimizer_step" in after and "(gradient_clip_val" not in after


def test_a_factory_of_another_file() -> None:
    text = BEFORE.replace(GIVEN, f"    trainer = build()\n{FIT}").replace(", Trainer", "\nfrom make import build")
    files = {"train.py": text, "make.py": f"from lightning.pytorch import Trainer\n\n\ndef build():\n    {MADE}"}
    [finding] = run_rules(files, rule("TBP108"), unsafe=True).findings
    assert finding.path == "make.py" and finding.fix == "manual"


def test_a_factory_for_a_module_that_lightning_optimizes_is_left() -> None:
    text = BEFORE.replace(GIVEN, REWRITTEN["a factory"]).replace("        self.automatic_optimization = False\n", "")
    assert run_rules({"train.py": text}, rule("TBP108")).findings == ()
