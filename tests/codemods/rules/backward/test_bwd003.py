"""BWD003: accumulation by hand told from a critic's turn, and the steps it makes before and after."""

from __future__ import annotations

import pytest

from codemods.rules.backward.bwd003 import AFTER, BEFORE, RULE
from tests.codemods.support import rewritten, rule, run_rules
from tests.training import train

TEST = "(batch_idx + 1) % self.window == 0"
TAIL = "self.trainer.is_last_batch"


def changed(old: str, new: str, text: str = BEFORE) -> str:
    assert old in text
    return text.replace(old, new)


TESTS = {
    "last of a window": (
        "batch_idx % self.window == self.window - 1",
        f"batch_idx % self.window == self.window - 1 or {TAIL}",
    ),
    "first of a window": ("batch_idx % self.window == 0", f"batch_idx % self.window == 0 or {TAIL}"),
    "literal": ("(batch_idx + 1) % 4 == 0", f"(batch_idx + 1) % 4 == 0 or {TAIL}"),
    "in parentheses": (f"({TEST})", f"({TEST}) or {TAIL}"),
}


@pytest.mark.parametrize("name", TESTS)
def test_spelling(name: str) -> None:
    before, after = TESTS[name]
    made = rewritten({"train.py": changed(TEST, before)}, RULE, unsafe=True)["train.py"]
    assert made == changed(TEST, after)


def test_named_condition() -> None:
    text = changed(f"        if {TEST}:", f"        full = {TEST}\n        if full:")
    assert (
        f"        full = {TEST} or {TAIL}\n        if full:"
        in rewritten({"train.py": text}, RULE, unsafe=True)["train.py"]
    )


def test_two_branches_of_one_window() -> None:
    text = changed(
        "            optimizer.step()\n",
        f"            optimizer.step()\n        if {TEST}:\n            optimizer.step()\n",
    )
    assert rewritten({"train.py": text}, RULE, unsafe=True)["train.py"].count(TAIL) == 2


UNDIVIDED = changed(" / self.window", "")


def test_a_loss_that_is_not_divided_is_unsafe() -> None:
    made = run_rules({"train.py": UNDIVIDED}, RULE)
    assert sorted(finding.fix for finding in made.findings) == ["unsafe", "unsafe"]
    after = rewritten({"train.py": UNDIVIDED}, RULE, unsafe=True)["train.py"]
    assert "self.manual_backward(loss / self.window)\n" in after
    raw = changed("self.manual_backward(loss)", "(loss + 1).backward()", UNDIVIDED)
    assert "((loss + 1) / self.window).backward()\n" in rewritten({"train.py": raw}, RULE, unsafe=True)["train.py"]


@pytest.mark.parametrize(
    "text",
    [
        UNDIVIDED,
        changed(
            f"        if {TEST}:", f"        if {TEST.replace('==', '!=')}:\n            pass\n        else:", UNDIVIDED
        ),
        changed(f"        if {TEST}:", f"        full = {TEST}\n        if full:", UNDIVIDED),
    ],
)
def test_a_loss_that_is_not_divided_is_named_where_the_last_batch_steps_too(text: str) -> None:
    after = rewritten({"train.py": text}, RULE, unsafe=True)["train.py"].replace(" / self.window", "")
    assert TAIL in after
    made = run_rules({"train.py": after}, RULE)
    assert [(finding.fix, finding.message) for finding in made.findings] == [
        ("unsafe", "accumulated losses are added up, not averaged")
    ]
    assert run_rules(rewritten({"train.py": after}, RULE, unsafe=True), RULE).findings == ()


LAST = "self.trainer.is_last_batch"
COUNTED = "batch_idx + 1 == self.trainer.num_training_batches"


@pytest.mark.parametrize(
    ("test", "told"),
    [
        (f"{LAST} or {TEST}", ["unsafe"]),
        (f"{TEST} or {COUNTED}", ["unsafe"]),
        (f"{TEST} or batch_idx + 1 == len(self.trainer.train_dataloader)", ["unsafe"]),
        (f"{TEST} or {LAST} or self.flush", []),
        (f"{TEST} or self.flush", []),
        (f"{TEST} or batch_idx + 1 < self.trainer.num_training_batches", []),
    ],
)
def test_a_tail_that_somebody_else_wrote(test: str, told: list[str]) -> None:
    made = run_rules({"train.py": changed(TEST, test, UNDIVIDED)}, RULE)
    assert [finding.fix for finding in made.findings if "added up" in finding.message] == told
    assert [finding for finding in made.findings if "added up" not in finding.message] == []


DIVIDED = {
    "in place": changed("        self.manual", "        loss /= self.window\n        self.manual", UNDIVIDED),
    "by a name of its own": changed(
        "        self.manual", "        loss = loss / self.parts\n        self.manual", UNDIVIDED
    ),
    "by a method": changed("        self.manual", "        loss = loss.div(n)\n        self.manual", UNDIVIDED),
    "in a helper": changed("self.net(batch).mean()", "self.loss(batch)", UNDIVIDED)
    + "\n    def loss(self, batch):\n        return self.net(batch).mean() / self.window\n",
}


@pytest.mark.parametrize("name", DIVIDED)
def test_a_loss_that_may_be_divided_is_left(name: str) -> None:
    assert [finding.fix for finding in run_rules({"train.py": DIVIDED[name]}, RULE).findings] == ["unsafe"]


CRITICS = {
    "step of one network alone": """\
        critic, generator = self.optimizers()
        self.manual_backward(self.net(batch).mean())
        critic.step()
        critic.zero_grad()
        if batch_idx % 5 == 0:
            generator.step()
            generator.zero_grad()
""",
    "one or the other": """\
        critic, generator = self.optimizers()
        self.manual_backward(self.net(batch).mean())
        if batch_idx % 2 == 0:
            critic.step()
            critic.zero_grad()
        else:
            generator.step()
            generator.zero_grad()
""",
    "forward, backward and step": """\
        critic, generator = self.optimizers()
        if batch_idx % 5 == 0:
            self.manual_backward(self.net(batch).mean())
            generator.step()
            generator.zero_grad()
""",
    "backward by turns": """\
        optimizer = self.optimizers()
        if batch_idx % 2:
            self.manual_backward(self.net(batch).mean())
        if (batch_idx + 1) % 4 == 0:
            optimizer.step()
            optimizer.zero_grad()
""",
    "scheduler by turns": """\
        optimizer = self.optimizers()
        optimizer.zero_grad()
        self.manual_backward(self.net(batch).mean())
        optimizer.step()
        if (batch_idx + 1) % 4 == 0:
            self.lr_schedulers().step()
""",
    "end handled by length": """\
        optimizer = self.optimizers()
        self.manual_backward(self.net(batch).mean() / 4)
        if (batch_idx + 1) % 4 == 0 or batch_idx + 1 == self.trainer.num_training_batches:
            optimizer.step()
            optimizer.zero_grad()
""",
    "counter of its own": """\
        optimizer = self.optimizers()
        self.manual_backward(self.net(batch).mean() / 4)
        self.seen += 1
        if self.seen % 4 == 0:
            optimizer.step()
            optimizer.zero_grad()
""",
    "window of one": """\
        optimizer = self.optimizers()
        self.manual_backward(self.net(batch).mean())
        if batch_idx % 1 == 0:
            optimizer.step()
            optimizer.zero_grad()
""",
    "optimizer of torch alone": """\
        self.manual_backward(self.net(batch).mean() / 4)
        if (batch_idx + 1) % 4 == 0:
            self.own.step()
            self.own.zero_grad()
""",
}
HEAD = BEFORE[: BEFORE.index("        optimizer = self.optimizers()")]


@pytest.mark.parametrize("name", CRITICS)
def test_what_is_no_accumulation_is_left_alone(name: str) -> None:
    made = run_rules({"train.py": HEAD + CRITICS[name]}, RULE, unsafe=True)
    assert made.findings == () and made.changes == ()


def test_automatic_optimization_is_left_alone() -> None:
    text = BEFORE.replace("    automatic_optimization = False\n", "")
    assert run_rules({"train.py": text}, RULE).findings == ()
    assert run_rules({"train.py": AFTER}, RULE).findings == ()


NAMED = {
    "zeroed on every batch": (
        changed("        self.manual", "        optimizer.zero_grad()\n        self.manual"),
        "those of the last batch alone",
    ),
    "counting steps": (
        changed("(batch_idx + 1)", "(self.global_step + 1)"),
        "Count batches: (batch_idx + 1) % self.window == 0.",
    ),
    "more than a window": (changed(TEST, f"batch_idx > 0 and {TEST}"), "more than a full window"),
}


@pytest.mark.parametrize("name", NAMED)
def test_named_and_left(name: str) -> None:
    text, reason = NAMED[name]
    made = run_rules({"train.py": text}, RULE, unsafe=True)
    assert made.changes == () and [finding.fix for finding in made.findings] == ["manual"]
    assert reason in made.findings[0].reason


PROGRAM = """\
import torch
from lightning.pytorch import LightningModule, Trainer


class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.net = torch.nn.Linear(3, 1)

    def training_step(self, batch, batch_idx):
        optimizer = self.optimizers()
        loss = self.net(batch[0]).pow(2).mean()
        self.manual_backward(loss)
        if (batch_idx + 1) % 3 == 0:
            optimizer.step()
            optimizer.zero_grad()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


if __name__ == "__main__":
    data = torch.utils.data.TensorDataset(torch.randn(10, 3))
    Trainer(max_epochs=2, accelerator="cpu").fit(Model(), torch.utils.data.DataLoader(data, batch_size=2))
"""


def test_counting_steps_never_steps() -> None:
    counted = train({"train.py": PROGRAM.replace("(batch_idx + 1)", "(self.global_step + 1)")})
    assert counted.failure is None and counted.global_step == 0


SCHEDULED = """\
import torch
from lightning.pytorch import LightningModule


class Model(LightningModule):
    automatic_optimization = False

    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 1)

    def training_step(self, batch, batch_idx):
        optimizer, scheduler = self.optimizers(), self.lr_schedulers()
        self.manual_backward(self.layer(batch[0]).mean() / 4)
        if (batch_idx + 1) % 4 == 0:
            optimizer.step()
            optimizer.zero_grad()
            scheduler.step()

    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=0.1)
        return [optimizer], [torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.1, total_steps=5)]
"""
RUN = """

if __name__ == "__main__":
    from lightning.pytorch import Trainer
    from torch.utils.data import DataLoader, TensorDataset

    Trainer(max_epochs=2, accelerator="cpu").fit(Model(), DataLoader(TensorDataset(torch.rand(10, 2))))
"""


def test_a_schedule_of_full_windows_ends_early() -> None:
    """Why the tail is not for everyone: it steps a scheduler more often than its steps were counted."""
    text = SCHEDULED + RUN
    [found] = run_rules({"train.py": text}, RULE).findings
    assert found.fix == "unsafe" and "raise its total_steps" in found.reason
    after = rewritten({"train.py": text}, RULE, unsafe=True)
    assert train({"train.py": text}).failure is None
    failure = train(after).failure
    assert failure is not None and "Tried to step 6 times" in failure.message


UNZEROED = "import torch\n" + BEFORE.replace(
    "            optimizer.zero_grad()\n",
    "\n    def configure_optimizers(self):\n        return torch.optim.SGD(self.net.parameters(), lr=0.1)\n",
)


def test_gradients_that_are_never_zeroed_are_accumulated_too() -> None:
    """The zero_grad that another rule puts in, and the tail, come in one run, behind which nothing is left to do."""
    made = run_rules({"a.py": UNZEROED}, rule("TBP104"), rule("BWD003"), unsafe=True)
    assert made.bugs == ()
    after = made.final()["a.py"].decode()
    assert "% self.window == 0 or self.trainer.is_last_batch:\n            optimizer.step()\n" in after
    assert after.count("optimizer.zero_grad()") == 1
    assert run_rules({"a.py": after}, rule("TBP104"), rule("BWD003")).changes == ()


@pytest.mark.parametrize(
    "more",
    [
        "    def on_train_batch_start(self, batch, batch_idx):\n        self.zero_grad()\n",
        "    def on_train_batch_end(self, *args):\n        self.net.weight.grad = None\n",
    ],
)
def test_gradients_that_somebody_else_zeroes_are_left_alone(more: str) -> None:
    assert run_rules({"a.py": f"{UNZEROED}\n{more}"}, rule("BWD003")).findings == ()


def test_a_loss_that_is_computed_line_by_line_is_followed_to_an_end() -> None:
    lines = "        x = batch\n" + "        x = torch.relu(self.net(x)) + x\n" * 40
    text = "import torch\n" + changed("        loss = self.net(batch).mean()", lines + "        loss = x.mean()")
    assert TAIL in rewritten({"train.py": text}, RULE, unsafe=True)["train.py"]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "            optimizer.zero_grad()\n",
            "            optimizer.zero_grad()\n\n    def on_train_epoch_end(self):\n"
            "        self.optimizers().step()\n",
            "`on_train_epoch_end` may make a step in line 21",
        ),
        (
            "            optimizer.zero_grad()\n",
            "            optimizer.zero_grad()\n\n    def finish(self):\n        self.optimizers().step()\n\n"
            "    def on_train_epoch_end(self):\n        self.finish()\n",
            "`on_train_epoch_end` may make a step in line 21",
        ),
        (
            "            optimizer.zero_grad()\n",
            "            optimizer.zero_grad()\n        elif self.trainer.is_last_batch:\n"
            "            optimizer.zero_grad()\n",
            "`is_last_batch` is asked for in line 19",
        ),
    ],
)
def test_an_end_of_the_epoch_that_is_seen_to_elsewhere_is_left(old: str, new: str, said: str) -> None:
    (found,) = run_rules({"train.py": changed(old, new)}, RULE, unsafe=True).findings
    assert found.fix == "manual" and said in found.reason


def test_a_scheduler_that_steps_at_the_end_of_an_epoch_does_not_matter() -> None:
    text = BEFORE + "\n    def on_train_epoch_end(self):\n        self.lr_schedulers().step()\n"
    assert TAIL in rewritten({"train.py": text}, RULE, unsafe=True)["train.py"]
