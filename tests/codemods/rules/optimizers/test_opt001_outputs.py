"""OPT001 where training_epoch_end reads what the steps of all optimizers returned."""

from __future__ import annotations

import pytest

from codemods.rule import Rule
from tests.codemods.gan_programs import SHARED, SKIPPED, configured, program
from tests.codemods.rules.optimizers.test_opt001_trained import SHAPES
from tests.codemods.support import refusals, rewritten, rule, run_rules
from tests.training import same

PIN = ("pytorch-lightning==1.9.5",)
OPT = rule("OPT001")
MEANS = """\
def training_epoch_end(self, outputs):
    self.log("batches", float(len(outputs)))
    self.log("mean", sum(each["loss"] for batch in outputs for each in batch) / len(outputs))
    assert not any(value.requires_grad for batch in outputs for each in batch for value in each.values())
    assert type(outputs[0][0]) is dict
"""
FAKES = MEANS.replace('each["loss"]', 'each["fake"].mean()')
HANDED_ON = """\
def mean(self, parts):
    return sum(part[-1]["loss"] for part in parts)

def training_epoch_end(self, parts):
    self.log("mean", self.mean(parts))
"""


def reading(hook: str, files: dict[str, str]) -> dict[str, str]:
    body = "".join(f"    {line}\n" if line else "\n" for line in hook.splitlines())
    return {
        "train.py": files["train.py"].replace("    def configure_optimizers", f"{body}\n    def configure_optimizers")
    }


def made(files: dict[str, str], *rules: Rule) -> dict[str, str]:
    """The files after the rules, by what was written for 1.9.5."""
    plan = run_rules(files, *rules, pins=PIN)
    assert plan.bugs == ()
    return {path: plan.final()[path].decode() if path in plan.final() else text for path, text in files.items()}


TURNS = configured('({"optimizer": g, "frequency": 1}, {"optimizer": d, "frequency": 2})')
READ = {
    "tensors": (MEANS, program()),
    "dicts": (FAKES, program(SHARED)),
    "a step left out": (MEANS, program(SKIPPED)),
    "turns": (MEANS, program(configure=TURNS)),
    "three of them": (MEANS, SHAPES["three of them"]),
    "passed on": (HANDED_ON, program()),
    "windows": (MEANS, program(trainer="accumulate_grad_batches=2")),
    "windows of dicts": (FAKES, program(SHARED, trainer="accumulate_grad_batches=2")),
}


@pytest.mark.parametrize(("hook", "files"), READ.values(), ids=READ)
def test_the_hook_gets_what_it_got(hook: str, files: dict[str, str]) -> None:
    before = reading(hook, files)
    after = made(before, OPT)
    assert "training_epoch_end" not in after["train.py"]
    windows = "accumulate" in files["train.py"]
    old, new = same(before, after, logged=not windows)
    assert (old.automatic, new.automatic) == (True, False)
    assert "mean" in new.metrics


def test_all_rules_together_leave_nothing_of_it() -> None:
    validates = "\ndef validation_epoch_end(self, outputs):\n    self.log('seen', float(len(outputs)))\n"
    before = reading(MEANS + validates, program())
    text = made(before)["train.py"]
    assert "training_epoch_end" not in text and "validation_epoch_end(self, outputs)" not in text
    findings = run_rules(before, pins=PIN).findings
    assert {finding.code for finding in findings} >= {"LIT201", "OPT001"}
    assert all(finding.applied for finding in findings if finding.code in ("LIT201", "OPT001"))


def test_where_the_release_is_not_known_the_order_of_the_lists_is_doubted() -> None:
    before = reading(MEANS, program())
    (found,) = run_rules(before, OPT).findings
    assert (found.fix, found.applied) == ("unsafe", False)
    assert "a list for each batch, as on 1.8 and 1.9" in found.reason
    assert "training_epoch_end" not in rewritten(before, OPT, unsafe=True)["train.py"]


def test_before_1_8_the_lists_were_others() -> None:
    made = run_rules(reading(MEANS, program()), OPT, pins=("pytorch-lightning<1.8",), unsafe=True)
    assert made.changes == ()
    assert "which until 1.8.0 were a list for each optimizer, of all batches" in made.findings[0].reason


WATCHER = "from pytorch_lightning import Callback\n\n\nclass C(Callback):\n"
WATCHER += "    def on_train_epoch_end(self, *_):\n        ...\n"
CALLER = "from train import GAN\n\nGAN().training_epoch_end([])\n"
CHILD = "from train import GAN\n\n\nclass Child(GAN):\n    def on_train_epoch_end(self):\n        ...\n"
FLAT = MEANS.replace("batch in outputs for each in batch", "each in outputs")
PLATEAU = 'return [g, d], [{"scheduler": torch.optim.lr_scheduler.ReduceLROnPlateau(g), "monitor": "mean"}]'
REFUSED: dict[str, tuple[dict[str, str], str]] = {
    "flat": (reading(FLAT, program()), "takes each of the outputs for a dict"),
    "flat by number": (
        reading(MEANS.replace("outputs[0][0]", "outputs[0]['loss']"), program()),
        "takes each of the outputs for a dict",
    ),
    "more than the outputs": (reading(MEANS.replace("outputs)", "*outputs)", 1), program()), "not an ordinary method"),
    "another hook there": (
        reading(f"{MEANS}\ndef on_train_epoch_end(self):\n    ...\n", program()),
        "has on_train_epoch_end too",
    ),
    "called": (
        reading(f"{MEANS}\ndef test(self):\n    self.training_epoch_end([])\n", program()),
        "by name",
    ),
    "called in another file": ({**reading(MEANS, program()), "more.py": CALLER}, "by name in more.py"),
    "a callback after it": ({**reading(MEANS, program()), "more.py": WATCHER}, "calls before the module's"),
    "a base class or subclass": ({**reading(MEANS, program()), "more.py": CHILD}, "a base class or subclass"),
    "its list's name": (
        reading(f"{MEANS}\ndef test(self):\n    return self.training_step_outputs\n", program()),
        "already uses",
    ),
    "one optimizer, or two": (
        reading(MEANS, SHAPES["a number that varies"]),
        "no lists where there is one optimizer",
    ),
    "results of two kinds": (reading(MEANS, SHAPES["default None, results of two kinds"]), "fixer cannot tell"),
    "a plateau": (
        reading(MEANS, {"train.py": program()["train.py"].replace("return [g, d], []", PLATEAU)}),
        "ReduceLROnPlateau",
    ),
    "its own step": (
        reading(
            f"{MEANS}\ndef optimizer_step(self, epoch, batch_idx, optimizer, optimizer_idx, optimizer_closure, "
            "on_tpu=False, using_native_amp=False, using_lbfgs=False):\n    optimizer.step(optimizer_closure)\n",
            program(),
        ),
        "overridden optimizer_step",
    ),
}


@pytest.mark.parametrize(("files", "reason"), REFUSED.values(), ids=REFUSED)
def test_refused_with_the_reason(files: dict[str, str], reason: str) -> None:
    found = refusals(files, "OPT001")
    assert found and reason in found[0], found
