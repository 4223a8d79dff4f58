"""TBP108: what a Trainer is given that manual optimization refuses."""

from __future__ import annotations

import pytest

from tests.codemods.loop_programs import RIGHT, SETUP, STEP, TRAINER, assert_refused, changed
from tests.codemods.support import rule, run_rules

CODE = "TBP108"
REFUSED = {
    "accumulation by the Trainer": (
        changed((TRAINER, "Trainer(accumulate_grad_batches=4)")),
        "is_last_batch",
    ),
    "hooks around the step": (
        changed(
            (TRAINER, "Trainer(gradient_clip_val=0.5)"),
            (SETUP, "    def on_before_optimizer_step(self, optimizer):\n        pass\n\n" + SETUP),
        ),
        "hooks of its own",
    ),
    "clipping on both sides": (
        changed(
            (TRAINER, "Trainer(gradient_clip_val=0.5)"),
            (STEP, "            self.clip_gradients(optimizer, 0.5)\n" + STEP),
        ),
        "clips gradients itself",
    ),
}


@pytest.mark.parametrize(("text", "why"), REFUSED.values(), ids=REFUSED)
def test_is_left_to_a_person(text: str, why: str) -> None:
    assert_refused(text, CODE, why)


def test_the_name_of_a_file_is_written_as_it_is() -> None:
    text = changed(
        (TRAINER, "Trainer(gradient_clip_val=limit)"),
        (STEP, "            self.clip_gradients(optimizer, 0.5)\n" + STEP),
        ("def main():", "def main(limit=0.5):"),
    )
    (found,) = run_rules({"train_it.py": text}, rule(CODE)).findings
    assert "train_it.py clips gradients itself" in found.reason


def test_the_clipping_of_a_trainer_in_another_file_moves_with_it() -> None:
    head, _, tail = RIGHT.partition("def main():")
    script = "import torch\nfrom lightning.pytorch import Trainer\nfrom model import Model\n\n\ndef main():" + tail
    files = {"model.py": head, "train.py": changed((TRAINER, "Trainer(gradient_clip_val=0.5)"), text=script)}
    made = run_rules(files, rule("TBP108"))
    assert made.bugs == ()
    assert b"gradient_clip_val" not in made.final()["train.py"]
    assert b"    gradient_clip_val = 0.5\n" in made.final()["model.py"]
