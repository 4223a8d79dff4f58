"""A hand-written truncated loop that is right, as the tests of the rules on manual loops break it."""

from __future__ import annotations

from pathlib import Path

from tests.codemods.support import rule, run_rules

RULES = tuple(rule(f"TBP{number}") for number in range(101, 112))

_LOOP = Path(__file__).parents[1] / "projects" / "loop_right" / "train.py"
RIGHT = _LOOP.read_text("utf-8").replace('    """Truncated back-propagation by hand, as it is right."""\n\n', "")
FLAG = "        self.automatic_optimization = False\n"
SUPER = "        super().__init__()\n"
ZERO = "            optimizer.zero_grad()\n"
BACKWARD = "            self.manual_backward(loss)\n"
STEP = "            optimizer.step()\n"
DETACH = "            hiddens = tuple(part.detach() for part in hiddens)\n"
CUT = "            hiddens = apply_to_collection(hiddens, torch.Tensor, torch.Tensor.detach)\n"
CLASS = "class Model(LightningModule):\n"
SETUP = "    def configure_optimizers(self):\n"
SGD = "        return torch.optim.SGD(self.parameters(), lr=0.1)\n"
TRAINER = "Trainer(max_epochs=2)"


def changed(*replacements: tuple[str, str], text: str = RIGHT) -> str:
    """The program with pieces replaced, each of which it has to hold."""
    for old, new in replacements:
        assert old in text, old
        text = text.replace(old, new)
    return text


HEAD = RIGHT[: RIGHT.index("    def training_step")]
TAIL = RIGHT[RIGHT.index(SETUP) :]
ASKED = "        optimizer = self.optimizers()\n"


def step(body: str, *more: tuple[str, str]) -> str:
    """The program with another training step, its lines indented by eight."""
    lines = "".join(f"        {line}\n" if line else "\n" for line in body.strip("\n").split("\n"))
    return changed(*more, text=f"{HEAD}    def training_step(self, batch, batch_idx):\n{lines}\n{TAIL}")


def assert_rewritten(text: str, code: str, held: str) -> None:
    """One rule alone finds something, and its safe rewrite holds some lines."""
    made = run_rules({"train.py": text}, *RULES)
    assert made.bugs == ()
    assert {(item.code, item.applied) for item in made.findings} == {(code, True)}
    assert held in made.final()["train.py"].decode()


def assert_refused(text: str, code: str, why: str) -> None:
    """A rule changes nothing, and gives a reason for each place."""
    made = run_rules({"train.py": text}, rule(code), unsafe=True)
    assert (made.changes, made.bugs) == ((), ())
    reasons = [item.reason for item in made.findings if item.fix == "manual"]
    assert len(reasons) == len(made.findings) > 0
    assert any(why in reason for reason in reasons)
