"""What the steps of a batch returned reaches on_train_batch_end as on Lightning 1.8 and 1.9, executed."""

from __future__ import annotations

import pytest

from codemods.engine.plan import Plan, plan
from codemods.engine.scan import Options
from codemods.rule import Rule
from tests.codemods import chunk_programs, gan_programs
from tests.codemods.support import refusals, rule, sources
from tests.training import same

OPT, TBP = rule("OPT001"), rule("TBP001")
PIN = "pytorch-lightning>=1.8,<2"
PAIR = """\
def on_train_batch_end(self, outputs, batch, batch_idx):
    \"\"\"Said.\"\"\"
    assert [set(each) for each in outputs] == [KEYS, KEYS]
    assert not outputs[0]["loss"].requires_grad
    self.third.weight.data += outputs[0]["loss"] - outputs[1]["loss"]
"""
TENSORS, DICTS = PAIR.replace("KEYS", '{"loss"}'), PAIR.replace("KEYS", '{"loss", "fake"}')
EPOCH = """
def training_epoch_end(self, outputs):
    self.log("mean", sum(each["loss"] for batch in outputs for each in batch) / len(outputs))
"""
PAIRS = {
    "tensors": gan_programs.program(more=TENSORS),
    "dicts": gan_programs.program(gan_programs.SHARED, more=DICTS),
    "windows": gan_programs.program(gan_programs.SHARED, more=DICTS, trainer="accumulate_grad_batches=2"),
    "of the epoch too": gan_programs.program(more=TENSORS + EPOCH),
    "schedulers": gan_programs.program(
        configure=gan_programs.configured(f"[g, d], [{gan_programs.STEPPED}]"), more=TENSORS
    ),
}
LIST = """
    def on_train_batch_end(self, outputs, batch, batch_idx, unused=0):
        assert [set(chunk) for chunk in outputs] == [{"loss", "mean"}] * 3
        self.head.bias.data += sum(chunk["loss"] + chunk["mean"] for chunk in outputs)
"""
ALONE = """
    def on_train_batch_end(self, outputs, batch, batch_idx):
        self.head.bias.data += outputs["loss"]
"""
STEP = chunk_programs.STEP.replace('"hiddens": hiddens}', '"mean": out.mean(), "hiddens": hiddens}')
CHUNKS = {
    "chunks": chunk_programs.program(chunk_programs.INIT, STEP, chunk_programs.SGD, LIST),
    "one chunk, which was no list": chunk_programs.program(
        chunk_programs.INIT.replace("= 4", "= 40"), STEP, chunk_programs.SGD, ALONE
    ),
}


def made(files: dict[str, str], code: Rule, pin: str = PIN) -> Plan:
    return plan(sources(files), Options((code,), unsafe=True, pins=(pin,)))


def after(files: dict[str, str], code: Rule) -> dict[str, str]:
    """The files after the rule, all of whose findings must be safe where the pins ask for 1.8 or 1.9."""
    found = made(files, code)
    assert found.bugs == ()
    assert {finding.fix for finding in found.findings} == {"safe"}
    return {path: text.decode() for path, text in found.final().items()}


@pytest.mark.parametrize("name", PAIRS)
def test_the_batch_gets_what_each_optimizers_step_returned(name: str) -> None:
    old, new = same(PAIRS[name], after(PAIRS[name], OPT), logged=name != "windows")
    assert (old.automatic, new.automatic) == (True, False)


@pytest.mark.parametrize("name", CHUNKS)
@pytest.mark.parametrize("release", ["1.9.5", "1.8.6"])
def test_the_batch_gets_what_each_chunk_returned(name: str, release: str) -> None:
    old, new = same(CHUNKS[name], after(CHUNKS[name], TBP), old=release)
    assert (old.automatic, new.automatic) == (True, False)


@pytest.mark.parametrize(
    ("files", "code"), [(PAIRS["tensors"], OPT), (CHUNKS["chunks"], TBP)], ids=["OPT001", "TBP001"]
)
def test_older_pins_take_a_look_and_a_second_run_finds_nothing(files: dict[str, str], code: Rule) -> None:
    found = made(files, code, "pytorch-lightning<2")
    assert {finding.fix for finding in found.findings} == {"unsafe"}
    assert "it may have been in more lists" in found.findings[0].reason
    again = {path: text.decode() for path, text in found.final().items()}
    assert made(again, code).findings == ()


LEFT_OUT = "the steps' outputs, and some batches have none for some optimizers"
ONE_EACH = "the step's outputs, which were a list of one for each optimizer"
REFUSED = {
    "not an ordinary method": (
        PAIRS["tensors"],
        "(self, outputs, batch, batch_idx)",
        "(self, outputs, *rest)",
        "OPT001",
        ONE_EACH,
    ),
    "a step left out": (gan_programs.program(gan_programs.SKIPPED, more=TENSORS), "", "", "OPT001", LEFT_OUT),
    "turns": (
        PAIRS["tensors"],
        "return [g, d], []",
        'return {"optimizer": g, "frequency": 1}, {"optimizer": d, "frequency": 1}',
        "OPT001",
        LEFT_OUT,
    ),
    "a step of its own": (
        PAIRS["tensors"],
        "    def on_train_batch_end",
        "    def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_idx, closure):\n"
        "        optimizer.step(closure)\n\n    def on_train_batch_end",
        "OPT001",
        ONE_EACH,
    ),
    "several optimizers with chunks": (
        chunk_programs.program(chunk_programs.INIT, chunk_programs.GAN_STEP, chunk_programs.TWO, LIST),
        "",
        "",
        "TBP001",
        "the chunks' outputs, which were lists of one for each optimizer too",
    ),
}


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED.keys())
def test_refused_with_the_reason(case: tuple[dict[str, str], str, str, str, str]) -> None:
    files, old, new, code, expected = case
    (reason,) = refusals({"train.py": files["train.py"].replace(old, new, 1)}, code)
    assert f"on_train_batch_end reads {expected}" in reason


CHILD = """

class Child(NAME):
    def on_train_batch_end(self, GIVEN):
        self.keep(READ)


if __name__"""


@pytest.mark.parametrize(
    ("given", "read", "found"),
    [
        ("outputs, batch, batch_idx", "outputs", True),
        ("*args", "args", True),
        ("*args, **kwargs", "self", False),
        ("outputs, batch, batch_idx", "batch", False),
    ],
)
@pytest.mark.parametrize(("code", "name"), [("OPT001", "GAN"), ("TBP001", "Model")])
def test_a_relative_that_reads_the_outputs_forbids_it(code: str, name: str, given: str, read: str, found: bool) -> None:
    files = gan_programs.program() if name == "GAN" else chunk_programs.PLAIN
    child = CHILD.replace("NAME", name).replace("GIVEN", given).replace("READ", read)
    text = files["train.py"].replace("\n\nif __name__", child, 1)
    reasons = [finding.reason for finding in made({"train.py": text}, rule(code)).findings if finding.fix == "manual"]
    assert any("a base class or subclass, reads the outputs" in reason for reason in reasons) is found
