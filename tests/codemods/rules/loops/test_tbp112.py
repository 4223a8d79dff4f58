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
    "cut after the loss": changed(
        ("            state = state.detach()\n", ""), (LOSS, f"{LOSS}            state = state.detach()\n"), text=BEFORE
    ),
}
STATE = "        state = None\n"
LOOP = """\
        for chunk in batch.split(4, dim=1):
            out, state = self.rnn(chunk, state)
            state = state.detach()
            loss = out.pow(2).mean()
"""
FOUND |= {
    "a state of the instance": BEFORE.replace("state", "self.state").replace(
        "out, self.state = ", "out, self.state = "
    ),
    "a second name of the loss": changed(("return loss", "result = loss\n        return result"), text=BEFORE),
    "a second name of the state": changed(
        ("out, state = ", "out, new = "), ("state = state.detach()", "state = new.detach()"), text=BEFORE
    ),
    "in a method": changed(
        ("    def training_step(self, batch, batch_idx):\n", "    def run(self, batch):\n"),
        (
            "    def configure_optimizers",
            "    def training_step(self, batch, batch_idx):\n        return self.run(batch)\n\n"
            "    def configure_optimizers",
        ),
        text=BEFORE,
    ),
    "in a method, whose result is logged": changed(
        ("    def training_step(self, batch, batch_idx):\n", "    def run(self, batch):\n"),
        (
            "    def configure_optimizers",
            "    def training_step(self, batch, batch_idx):\n        loss = self.run(batch)\n"
            '        self.log("loss", loss)\n        return {"loss": loss}\n\n'
            "    def configure_optimizers",
        ),
        text=BEFORE,
    ),
    "a method for a chunk": changed(
        (LOOP[LOOP.index("            out") :], "            loss, state = self.chunk(chunk, state)\n"),
        (
            "    def configure_optimizers",
            "    def chunk(self, chunk, state):\n        out, state = self.rnn(chunk, state)\n"
            "        return out.pow(2).mean(), state.detach()\n\n    def configure_optimizers",
        ),
        text=BEFORE,
    ),
    "between try and finally": changed(
        (LOOP, "        try:\n" + LOOP.replace("        ", "            ") + "        finally:\n            pass\n"),
        text=BEFORE.replace("            ", "            "),
    ),
}
RIGHT = {
    "a method for a chunk that keeps the history": FOUND["a method for a chunk"].replace("state.detach()", "state"),
    "a method that sums": FOUND["in a method"].replace("loss = out", "loss = loss + out"),
    "a state of the instance with its history": FOUND["a state of the instance"].replace(
        "            self.state = self.state.detach()\n", ""
    ),
    "a second name of all": FOUND["a second name of the loss"].replace("result = loss", "result = total + loss"),
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
    "made after the loop": changed((LOSS, ""), ("return loss", "loss = out.mean()\n        return loss"), text=BEFORE),
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
