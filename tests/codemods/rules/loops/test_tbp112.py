"""TBP112: the loss of the last chunk alone."""

from __future__ import annotations

import pytest

from codemods.rules.loops.tbp112 import BEFORE, WHOLE
from tests.codemods.loop_programs import changed
from tests.codemods.support import rule, run_rules

LOSS = "            loss = out.pow(2).mean()\n"
FOUND = {
    "by itself": BEFORE,
    "in a dictionary": changed(("return loss", 'return {"loss": loss}'), text=BEFORE),
    "logged on the way": changed((LOSS, f'{LOSS}            self.log("loss", loss)\n'), text=BEFORE),
    "with numbers kept": changed((LOSS, f"{LOSS}            losses.append(loss.item())\n"), text=BEFORE),
    "cut behind the loss": changed(
        ("            state = state.detach()\n", ""), (LOSS, f"{LOSS}            state = state.detach()\n"), text=BEFORE
    ),
}
RIGHT = {
    "a state with its history": WHOLE,
    "a sum": changed((LOSS, "            loss = loss + out.pow(2).mean()\n"), text=BEFORE),
    "a sum of another name": changed((LOSS, f"{LOSS}            total += loss\n"), text=BEFORE),
    "a list of all": changed((LOSS, f"{LOSS}            loss = sum(losses)\n"), text=BEFORE),
    "losses in a list that is summed": changed(
        (LOSS, f"{LOSS}            losses.append(loss)\n"), ("return loss", "return sum(losses)"), text=BEFORE
    ),
    "a manual loop": changed(
        (LOSS, f"{LOSS}            self.manual_backward(loss)\n"),
        ("super().__init__()\n", "super().__init__()\n        self.automatic_optimization = False\n"),
        text=BEFORE,
    ),
    "made behind the loop": changed((LOSS, ""), ("return loss", "loss = out.mean()\n        return loss"), text=BEFORE),
    "bound by a with": changed(
        (LOSS, "            with self.loss_of(out) as loss:\n                pass\n"), text=BEFORE
    ),
    "unpacked": changed((LOSS, "            [[loss], *more] = self.losses(out)\n"), text=BEFORE),
    "bound by a loop": changed(
        (LOSS, "            for loss in self.losses(out):\n                pass\n"), text=BEFORE
    ),
    "no module": changed(("(LightningModule)", "(Engine)"), text=BEFORE),
}


@pytest.mark.parametrize("text", FOUND.values(), ids=FOUND)
def test_is_named(text: str) -> None:
    made = run_rules({"train.py": text}, rule("TBP112"), unsafe=True)
    assert [item.fix for item in made.findings] == ["manual"] and made.changes == ()


@pytest.mark.parametrize("text", RIGHT.values(), ids=RIGHT)
def test_is_right(text: str) -> None:
    assert run_rules({"train.py": text}, rule("TBP112")).findings == ()
