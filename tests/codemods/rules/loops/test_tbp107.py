"""TBP107: chunks by number, and loops over it."""

from __future__ import annotations

import pytest

from tests.codemods.loop_programs import ASKED, assert_refused, assert_rewritten, changed, step
from tests.codemods.support import rule, run_rules

CODE = "TBP107"
REWRITTEN = {
    "an annotated function of torch": (
        changed(("x.split(", "torch.chunk(x, "), ("y.split(", "torch.chunk(y, ")),
        "torch.split(x, self.truncated_bptt_steps, dim=1)",
    ),
}


@pytest.mark.parametrize(("text", "held"), REWRITTEN.values(), ids=REWRITTEN)
def test_is_rewritten(text: str, held: str) -> None:
    assert_rewritten(text, CODE, held)


REFUSED = {
    "chunks by keyword": (changed(("x.split(self", "x.chunk(chunks=self")), "by position"),
    "a loop over the number": (
        changed(
            ("for part, target in zip(xs, ys):\n", "for part in self.truncated_bptt_steps:\n            target = y\n")
        ),
        "for chunk in batch.split",
    ),
    "a loop over another number": (
        changed(
            ("truncated_bptt_steps", "pieces"),
            ("for part, target in zip(xs, ys):\n", "for part in self.pieces:\n            target = y\n"),
        ),
        "the file sets it to a whole number only",
    ),
    "the samples' axis": (
        step("""
optimizer = self.optimizers()
hiddens = None
for part in batch[0].split(4):
    out, hiddens = self.rnn(part, hiddens)
    optimizer.zero_grad()
    self.manual_backward(out.mean())
    optimizer.step()
    hiddens = tuple(state.detach() for state in hiddens)
"""),
        "dim=1",
    ),
}


@pytest.mark.parametrize(("text", "why"), REFUSED.values(), ids=REFUSED)
def test_is_left_to_a_person(text: str, why: str) -> None:
    assert_refused(text, CODE, why)


NUMBER = REFUSED["a loop over another number"][0]
PARTS = "self.pieces = x.split(4, dim=1)"
STORED = {
    "beside another name": PARTS.replace(" =", ", rest =") + ", None",
    "by a loop": "for self.pieces in [x.split(4, dim=1)]:\n            pass",
    "through another name": "me = self\n        me" + PARTS.removeprefix("self"),
    "by setattr": 'setattr(self, "pieces", x.split(4, dim=1))',
}


@pytest.mark.parametrize("line", STORED.values(), ids=STORED)
def test_a_number_that_becomes_chunks_is_not_named(line: str) -> None:
    files = {"train.py": changed((ASKED, f"{ASKED}        {line}\n"), text=NUMBER)}
    assert run_rules(files, rule(CODE)).findings == ()
