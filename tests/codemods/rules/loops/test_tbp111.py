"""TBP111: a state that the module keeps on itself, from batch to batch and from chunk to chunk."""

from __future__ import annotations

import pytest

from codemods.rules.loops.tbp111 import BEFORE, PART, RULE
from tests.codemods.support import refusals, rewritten, run_rules
from tests.training import assert_same, train

PROGRAM = """\
import torch
import torch.nn.functional as F
from lightning.pytorch import LightningModule, Trainer
from torch import nn


class Model(LightningModule):
    def __init__(self):
        super().__init__()
FLAG        self.rnn = nn.LSTM(1, 4, batch_first=True)
        self.head = nn.Linear(4, 1)
        self.state = None

STEP
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


if __name__ == "__main__":
    data = torch.utils.data.TensorDataset(torch.randn(6, 10, 1), torch.randn(6, 10, 1))
    trainer = Trainer(max_epochs=2)
    trainer.fit(Model(), torch.utils.data.DataLoader(data, batch_size=2))
"""
MANUAL = "        self.automatic_optimization = False\n"
AUTOMATIC_STEP = """\
    def training_step(self, batch, batch_idx):
        x, y = batch
        out, self.state = self.rnn(x, self.state)
        return F.mse_loss(self.head(out), y)
"""
MANUAL_STEP = """\
    def training_step(self, batch, batch_idx):
        \"\"\"One step.\"\"\"
        x, y = batch
        optimizer = self.optimizers()
        out, self.state = self.rnn(x, self.state)
        optimizer.zero_grad()
        self.manual_backward(F.mse_loss(self.head(out), y))
        optimizer.step()
"""
FORWARD_STEP = """\
    def forward(self, x):
        out, state = self.rnn(x, self.state)
        self.state = state
        return self.head(out)

    def training_step(self, batch, batch_idx):
        x, y = batch
        return F.mse_loss(self(x), y)
"""
CHUNK_STEP = """\
    def training_step(self, batch, batch_idx):
        optimizer = self.optimizers()
        self.state = None
        for x, y in zip(batch[0].split(4, dim=1), batch[1].split(4, dim=1)):
            out, self.state = self.rnn(x, self.state)
            loss = F.mse_loss(self.head(out), y)
            optimizer.zero_grad()
            self.manual_backward(loss)
            optimizer.step()
"""
CHUNK_FORWARD_STEP = """\
    def forward(self, x):
        out, self.state = self.rnn(x, self.state)
        return self.head(out)

    def training_step(self, batch, batch_idx):
        optimizer = self.optimizers()
        self.state = None
        for x, y in zip(batch[0].split(4, dim=1), batch[1].split(4, dim=1)):
            optimizer.zero_grad()
            self.manual_backward(F.mse_loss(self(x), y))
            optimizer.step()
"""
PAIR_STEP = AUTOMATIC_STEP.replace(
    "out, self.state = self.rnn(x, self.state)", "out, (self.h, self.c) = self.rnn(x, (self.h, self.c))"
)
GRU = ("nn.LSTM", "nn.GRU")
ZEROS = (
    "self.state = None\n\n",
    "self.h, self.c = torch.zeros(1, 2, 4), torch.zeros(1, 2, 4)\n\n",
)
AT_START = "        self.state = tuple(part.detach() for part in self.state or ()) or None\n"
IN_LOOP = "            self.state = tuple(part.detach() for part in self.state)\n"


def program(step: str, *changes: tuple[str, str]) -> str:
    text = PROGRAM.replace("FLAG", MANUAL if "manual_backward" in step else "").replace("STEP\n", step + "\n")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return text


def started(step: str) -> str:
    """The step with the state cut at its start, by hand."""
    head, line, rest = step.partition("        x, y = batch\n")
    assert line
    return head + AT_START + line + rest


SHAPES = {
    "automatic optimization": (program(AUTOMATIC_STEP), program(started(AUTOMATIC_STEP))),
    "manual optimization": (program(MANUAL_STEP), program(started(MANUAL_STEP))),
    "through forward": (program(FORWARD_STEP), program(started(FORWARD_STEP))),
    "chunks": (program(CHUNK_STEP), program(CHUNK_STEP + IN_LOOP)),
    "chunks, the state goes on": (
        program(CHUNK_STEP, ("        self.state = None\n        for", "        for")),
        program(CHUNK_STEP + IN_LOOP, ("        self.state = None\n        for", "        for")),
    ),
    "chunks through forward": (program(CHUNK_FORWARD_STEP), program(CHUNK_FORWARD_STEP + IN_LOOP)),
    "a tensor": (
        program(AUTOMATIC_STEP, GRU),
        program(AUTOMATIC_STEP, GRU, ("(x, self.state)", "(x, None if self.state is None else self.state.detach())")),
    ),
    "chunks of a tensor": (
        program(CHUNK_STEP, GRU),
        program(CHUNK_STEP + "            self.state = self.state.detach()\n", GRU),
    ),
    "two attributes": (
        program(PAIR_STEP, ZEROS),
        program(
            PAIR_STEP.replace(
                "        x, y", "        self.h, self.c = self.h.detach(), self.c.detach()\n        x, y"
            ),
            ZEROS,
        ),
    ),
    "retain_graph": (
        program(CHUNK_STEP.replace("(loss)", "(loss, retain_graph=True)")),
        program(CHUNK_STEP + IN_LOOP),
    ),
}


@pytest.mark.parametrize(("text", "right"), SHAPES.values(), ids=SHAPES)
def test_what_failed_with_the_second_batch_or_chunk_trains(text: str, right: str) -> None:
    broken = train({"train.py": text})
    assert broken.failure is not None and broken.failure.type == "RuntimeError"
    after = rewritten({"train.py": text}, RULE)["train.py"]
    assert "retain_graph" not in after
    assert_same(train({"train.py": after}), train({"train.py": right}))


def test_the_lines_are_short_where_a_tensor_is_kept() -> None:
    after = rewritten({"train.py": program(CHUNK_STEP, GRU)}, RULE)["train.py"]
    assert after == program(CHUNK_STEP + "            self.state = self.state.detach()\n", GRU)


def test_a_docstring_stays_first() -> None:
    after = rewritten({"train.py": program(MANUAL_STEP)}, RULE)["train.py"]
    assert '"""One step."""\n        self.state = apply_to_collection(' in after


def changed(old: str, new: str, text: str = BEFORE) -> str:
    assert old in text
    return text.replace(old, new)


CALL = "        out, self.state = self.rnn(batch, self.state)\n"
HOOK = "    def configure_optimizers"
SILENT = {
    "set again for each batch": changed(CALL, f"        self.state = None\n{CALL}"),
    "set again by a method": changed(CALL, f"        self.reset()\n{CALL}")
    + "\n    def reset(self):\n        self.state = None\n",
    "set again in a hook": changed(
        HOOK, f"    def on_train_batch_start(self, *_):\n        self.state = None\n\n{HOOK}"
    ),
    "set by who holds the module": changed(HOOK, f"    def reset(self):\n        self.state = None\n\n{HOOK}"),
    "cut after the call": changed(CALL, f"{CALL}        self.state = tuple(h.detach() for h in self.state)\n"),
    "cut in a hook": changed(
        HOOK, f"    def on_train_batch_end(self, *_):\n        self.state = repackage(self.state)\n\n{HOOK}"
    ),
    "cut by a method": changed(CALL, f"        self.detach_states()\n{CALL}"),
    "without gradients": changed(CALL, f"        with torch.no_grad():\n    {CALL}"),
    "a decorated step": changed("    def training_step", "    @torch.no_grad()\n    def training_step"),
    "the state is not taken": changed("self.rnn(batch, self.state)", "self.rnn(batch)"),
    "the state is not kept": changed("out, self.state =", "out, state ="),
    "a layer that is not known": changed("torch.nn.LSTM(1, 8, batch_first=True)", "Memory(1, 8)"),
    "the environment's state": changed("self.rnn(batch, self.state)", "self.env.step(batch, self.state)"),
    "nothing goes backward": changed("        return out.pow(2).mean()\n", "        self.log('loss', out.mean())\n"),
    "Lightning's own chunks": changed("batch, batch_idx)", "batch, batch_idx, hiddens)"),
    "never trained": changed("def training_step", "def predict_step"),
    "no LightningModule": changed("(LightningModule)", "(torch.nn.Module)"),
    "chunks, set again for each": changed(
        "            out, self.state", "            self.state = None\n            out, self.state", program(CHUNK_STEP)
    ),
    "chunks, set again by a method": changed(
        "            out, self.state", "            self.reset()\n            out, self.state", program(CHUNK_STEP)
    ).replace(HOOK, f"    def reset(self):\n        self.state = None\n\n{HOOK}"),
}


@pytest.mark.parametrize("text", SILENT.values(), ids=SILENT)
def test_left_alone(text: str) -> None:
    made = run_rules({"train.py": text}, RULE, unsafe=True)
    assert (made.findings, made.changes, made.bugs) == ((), (), ())


def test_what_is_set_only_while_there_is_none_is_kept() -> None:
    lazy = "        if self.state is None:\n            self.state = torch.zeros(1, 2, 8), torch.zeros(1, 2, 8)\n"
    made = run_rules({"train.py": changed(CALL, f"{lazy}{CALL}")}, RULE)
    assert [finding.fix for finding in made.findings] == ["safe"]
    made = run_rules({"train.py": changed(CALL, f"{lazy}{CALL}".replace("is None", "is None or batch_idx"))}, RULE)
    assert made.findings == ()


def test_an_epoch_may_begin_anew() -> None:
    text = changed(HOOK, f"    def on_train_epoch_start(self):\n        self.reset()\n\n{HOOK}")
    text += "\n    def reset(self):\n        self.state = None\n"
    assert [finding.fix for finding in run_rules({"train.py": text}, RULE).findings] == ["safe"]


REFUSED = {
    "a subclass": (
        BEFORE + "\n\nclass Child(Model):\n    def on_train_batch_end(self, *_):\n        self.state = None\n",
        "Child (train.py), a base class or subclass",
    ),
    "another way to the next round": (
        changed(
            "            loss =",
            "            if x.mean() > 9:\n                continue\n            loss =",
            program(CHUNK_STEP),
        ),
        "several places",
    ),
    "a name that is taken": (BEFORE + "\n\napply_to_collection = 1\n", "`apply_to_collection`"),
    "statements on one line": (changed("        return out", "        note(out); return out"), "too complex"),
}


@pytest.mark.parametrize(("text", "why"), REFUSED.values(), ids=REFUSED)
def test_refused(text: str, why: str) -> None:
    (reason,) = refusals({"train.py": text}, "TBP111")
    assert why in reason


ENCODER = """\
class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(1, 4, batch_first=True)
        self.state = None

    def forward(self, x):
        out, self.state = self.rnn(x, self.state)
        return out


class Model"""
PARTED_STEP = """\
    def training_step(self, batch, batch_idx):
        x, y = batch
        return F.mse_loss(self.head(self.encoder(x)), y)
"""
PARTED_CHUNKS = """\
    def training_step(self, batch, batch_idx):
        optimizer = self.optimizers()
        self.encoder.reset()
        for x, y in zip(batch[0].split(4, dim=1), batch[1].split(4, dim=1)):
            loss = F.mse_loss(self.head(self.encoder(x)), y)
            optimizer.zero_grad()
            self.manual_backward(loss)
            optimizer.step()
"""
FORWARD_OF_PART = """\

    def forward(self, x):
        return self.head(self.encoder(x))
"""
RESETS = "        self.encoder.reset()\n"
HOLDS = ("self.rnn = nn.LSTM(1, 4, batch_first=True)\n        self.head", "self.encoder = Encoder()\n        self.head")


def parted(step: str, *changes: tuple[str, str]) -> str:
    return program(step, HOLDS, ("class Model", ENCODER), *changes)


def elsewhere(text: str) -> dict[str, str]:
    """The program with the part in a file of its own."""
    head, rest = text.split("class Encoder", 1)
    encoder, rest = rest.split("class Model", 1)
    return {
        "parts.py": f"import torch\nfrom torch import nn\n\n\nclass Encoder{encoder}",
        "train.py": f"{head.rstrip()}\n\nfrom parts import Encoder\n\n\nclass Model{rest}",
    }


PARTS = {
    "in the same file": (
        {"train.py": parted(PARTED_STEP)},
        {"train.py": parted(started(PARTED_STEP).replace("self.state", "self.encoder.state"))},
    ),
    "in another file": (
        elsewhere(parted(PARTED_STEP)),
        elsewhere(parted(started(PARTED_STEP).replace("self.state", "self.encoder.state"))),
    ),
    "called by a method": (
        {"train.py": parted(PARTED_STEP.replace("self.head(self.encoder(x))", "self(x)") + FORWARD_OF_PART)},
        {"train.py": parted(started(PARTED_STEP).replace("self.state", "self.encoder.state"))},
    ),
}


@pytest.mark.parametrize(("files", "right"), PARTS.values(), ids=PARTS)
def test_what_a_part_keeps_is_cut_where_the_module_trains(files: dict[str, str], right: dict[str, str]) -> None:
    broken = train(files)
    assert broken.failure is not None and "a second time" in broken.failure.message
    after = rewritten(files, RULE)
    assert "apply_to_collection(self.encoder.state, " in after["train.py"]
    assert_same(train(after), train(right))


RESET = "\n    def reset(self):\n        self.state = None\n"
WITH_RESET = PART.replace("        return out\n", f"        return out\n{RESET}")
CALLED = "        return self.encoder("
TENDED = {
    "set again for each batch": WITH_RESET.replace(CALLED, f"        self.encoder.reset()\n{CALLED}"),
    "set again by who builds it": WITH_RESET + "\n\ndef begin(model):\n    model.encoder.reset()\n",
    "set from outside": PART.replace(CALLED, f"        self.encoder.state = None\n{CALLED}"),
    "set again in its forward": PART.replace("        out, self", "        self.state = None\n        out, self"),
    "cut after the call": PART.replace(
        "        return out", "        self.state = self.state.detach()\n        return out"
    ),
    "called without gradients": PART.replace(
        CALLED, "        with torch.no_grad():\n            self.encoder(batch)\n" + CALLED
    ),
    "never called": PART.replace("self.encoder(batch)", "self.other(batch)"),
    "built in more than one way": PART.replace("= Encoder()", "= Encoder()\n        self.encoder = Other()"),
    "a part of nothing that trains": PART.replace("(LightningModule)", "(torch.nn.Module)"),
}


@pytest.mark.parametrize("text", TENDED.values(), ids=TENDED)
def test_a_part_that_somebody_tends_is_left_alone(text: str) -> None:
    assert text != PART
    made = run_rules({"train.py": text}, RULE, unsafe=True)
    assert (made.findings, made.changes, made.bugs) == ((), (), ())


def test_a_part_that_may_be_set_anew_by_somebody_is_named() -> None:
    (reason,) = refusals({"train.py": WITH_RESET}, "TBP111")
    assert "Encoder.reset sets it again, and fixer cannot tell whether that is called for each batch" in reason


def test_a_part_that_is_set_anew_once_an_epoch_is_cut() -> None:
    hook = "    def on_train_epoch_start(self):\n        self.encoder.reset()\n\n"
    made = run_rules({"train.py": WITH_RESET.replace(HOOK, hook + HOOK)}, RULE)
    assert [finding.fix for finding in made.findings] == ["safe"]


@pytest.mark.parametrize("reset", ["", "        self.encoder.reset()\n"], ids=["goes on", "set again for each batch"])
def test_chunks_of_a_part_are_cut_at_the_end_of_each_round(reset: str) -> None:
    loop = "            optimizer.step()\n"
    method = RESET if reset else ""
    text = parted(PARTED_CHUNKS.replace(RESETS, reset)).replace("        return out\n", f"        return out\n{method}")
    after = rewritten({"train.py": text}, RULE)["train.py"]
    assert f"{loop}            self.encoder.state = apply_to_collection(self.encoder.state, " in after
    broken = train({"train.py": text})
    assert broken.failure is not None and "a second time" in broken.failure.message
    cut = "            self.encoder.state = tuple(part.detach() for part in self.encoder.state)\n"
    assert_same(train({"train.py": after}), train({"train.py": text.replace(loop, loop + cut)}))


def test_chunks_of_a_part_that_is_set_anew_for_each_are_left_alone() -> None:
    text = parted(PARTED_CHUNKS.replace(RESETS, "").replace("            loss", f"    {RESETS}            loss"))
    made = run_rules({"train.py": text.replace("        return out\n", f"        return out\n{RESET}")}, RULE)
    assert (made.findings, made.changes) == ((), ())
