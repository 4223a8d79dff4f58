"""OPT001 where the step, the networks and the optimizers stand in different classes and files, executed."""

from __future__ import annotations

import pytest

from tests.codemods.support import refusals, rewritten, rule, run_rules
from tests.training import same

OPT = rule("OPT001")
BASE = """\
import torch
from pytorch_lightning import LightningModule


class Base(LightningModule):
    def __init__(self):
        super().__init__()
        self.generator = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Dropout(0.2), torch.nn.Linear(4, 3))
        self.discriminator = torch.nn.Linear(3, 1)

    # BODY
"""
SCRIPT = """\
import torch
import torch.nn.functional as F
from pytorch_lightning import Trainer

from base import Base


class GAN(Base):
    # BODY


def main():
    trainer = Trainer(max_epochs=2, gradient_clip_val=0.2)
    trainer.fit(GAN(), torch.utils.data.DataLoader(torch.randn(10, 3), batch_size=2))


if __name__ == "__main__":
    main()
"""
STEP = """\
def training_step(self, batch, batch_idx, optimizer_idx):
    import torch.nn.functional as F
    fake = self.generator(torch.randn(len(batch), 3))
    if optimizer_idx == 0:
        return F.softplus(-self.discriminator(fake)).mean()
    if optimizer_idx == 1:
        return F.softplus(self.discriminator(fake.detach())).mean() + F.softplus(-self.discriminator(batch)).mean()
"""
LOUDER = """\
def training_step(self, batch, batch_idx, optimizer_idx):
    return 2 * super().training_step(batch, batch_idx, optimizer_idx)
"""
CALLING = STEP.replace("    fake", "    super().training_step(batch, 1)\n    fake", 1)
SINGLE = """\
def training_step(self, batch, batch_idx):
    return self.discriminator(batch).pow(2).mean()
"""
OPTIMIZERS = """\
def configure_optimizers(self):
    g = torch.optim.Adam(self.generator.parameters(), lr=0.05)
    d = torch.optim.SGD(self.discriminator.parameters(), lr=0.1)
    return [g, d], [torch.optim.lr_scheduler.StepLR(d, 1, 0.5)]
"""
ABSTRACT = "def configure_optimizers(self):\n    raise NotImplementedError\n"


def program(base: str, child: str) -> dict[str, str]:
    def body(text: str) -> str:
        return "\n".join(f"    {line}" if line else line for line in (text or "pass").splitlines()).lstrip()

    return {"base.py": BASE.replace("# BODY", body(base)), "train.py": SCRIPT.replace("# BODY", body(child))}


PLACES = {
    "optimizers of the base": (OPTIMIZERS, STEP),
    "step of the base": (STEP, OPTIMIZERS),
    "step of the base, which asks for optimizers": (f"{STEP}\n{ABSTRACT}", OPTIMIZERS),
    "all in the base": (f"{STEP}\n{OPTIMIZERS}", "pass"),
    "all in the base, and a step that extends it": (f"{STEP}\n{OPTIMIZERS}", LOUDER),
    "another step in the base": (f"{SINGLE}\n{OPTIMIZERS}", STEP),
}


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES.keys())
def test_step_and_optimizers_are_found_in_whatever_class(place: tuple[str, str]) -> None:
    before = program(*place)
    after = rewritten(before, OPT)
    assert "gradient_clip_val=0.2)" not in after["train.py"]
    old, new = same(before, after)
    assert (old.automatic, new.automatic, old.global_step) == (True, False, 20)


def test_subclasses_with_other_optimizers_share_the_loop() -> None:
    other = OPTIMIZERS.replace("return [g, d], [torch.optim.lr_scheduler.StepLR(d, 1, 0.5)]", "return [g, d]")
    files = program(STEP, other)
    one = "class One(Base):\n    def configure_optimizers(self):\n        return torch.optim.SGD(self.parameters())\n"
    text = files["train.py"].replace("\n\ndef main", f"\n\n{one}\n\ndef main")
    files["train.py"] = text.replace(", gradient_clip_val=0.2", "")
    after = rewritten(files, OPT)
    assert "optimizers if isinstance(optimizers, list) else [optimizers]" in after["base.py"]
    old, new = same(files, after)
    assert new.automatic is False
    assert old.global_step == 20


SCALED = STEP.replace("optimizer_idx)", "optimizer_idx, **kwargs)").replace("    fake", "    k = kwargs['k']\n    fake")
SCALED = SCALED.replace("return F", "return k * F")
PASSING = """\
def training_step(self, *args):
    loss = super().training_step(*args, k=torch.rand(1) + 1)
    return loss
"""


def test_a_step_that_hands_on_whatever_it_gets_follows_its_base() -> None:
    before = program(f"{SCALED}\n{OPTIMIZERS}", "pass")
    child = PASSING.replace("\n", "\n    ").rstrip()
    text = before["base.py"].rstrip() + f"\n\n\nclass Child(Base):\n    {child}\n"
    script = before["train.py"].replace("import Base", "import Child").replace("(Base)", "(Child)")
    before = {"base.py": text, "train.py": script}
    after = rewritten(before, OPT)
    assert "def training_step(self, batch, batch_idx):\n" in after["base.py"]
    assert "def training_step_for(self, batch, batch_idx, optimizer_idx, **kwargs):\n" in after["base.py"]
    assert "super().training_step_for(*args, k=" in after["base.py"]
    old, new = same(before, after)
    assert (old.automatic, new.automatic, old.global_step) == (True, False, 20)


HANDING_ON = f"{SCALED}\n{OPTIMIZERS}"
ELSEWHERE = {
    "reads what it gets": PASSING.replace("    loss", "    print(args)\n    loss"),
    "calls another step": PASSING.replace("*args, k", "args[0], 0, k"),
    "takes an index of its own": PASSING.replace("*args):", "*args, optimizer_idx=None):"),
}


@pytest.mark.parametrize("step", ELSEWHERE.values(), ids=ELSEWHERE.keys())
def test_a_step_that_does_more_than_hand_on_forbids_it(step: str) -> None:
    before = program(HANDING_ON, "pass")
    child = step.replace("\n", "\n    ").rstrip()
    before["base.py"] = before["base.py"].rstrip() + f"\n\n\nclass Child(Base):\n    {child}\n"
    assert refusals(before, "OPT001")


def test_a_step_that_hands_on_to_no_loop_is_left_without_a_word() -> None:
    child = PASSING.replace("\n", "\n    ").rstrip()
    text = BASE.replace("# BODY", SINGLE.replace("\n", "\n    ")) + f"\n\nclass Child(Base):\n    {child}\n"
    assert refusals({"base.py": f"# no optimizer_idx\n{text}"}, "OPT001") == []


@pytest.mark.parametrize(
    ("base", "child", "reason"),
    [
        (f"{STEP}\n{ABSTRACT}", "pass", "nor a relative that has one"),
        (f"{STEP}\n{OPTIMIZERS}", OPTIMIZERS.replace("(d, 1, 0.5)", "(d, 1), warm"), "uses `warm`"),
        (f"{STEP}\n{OPTIMIZERS}", OPTIMIZERS.replace(", [torch.optim.lr_scheduler.StepLR(d, 1, 0.5)]", ""), "share"),
        (
            f"{SINGLE}\n{OPTIMIZERS}",
            STEP.replace("    fake", "    super().training_step(batch, 1)\n    fake"),
            "by name",
        ),
    ],
)
def test_what_cannot_be_told_of_the_relatives_is_refused(base: str, child: str, reason: str) -> None:
    found = refusals(program(base, child), "OPT001")
    assert any(reason in each for each in found), found


WAITING = """\
import torch
from pytorch_lightning import LightningModule


class Base(LightningModule):
    def training_step(self, batch, batch_idx, optimizer_idx):
        return self(batch).mean() * optimizer_idx

    def configure_optimizers(self):
        return [torch.optim.SGD(self.parameters(), 0.1), torch.optim.Adam(self.parameters())]


class Single(Base):
    def training_step(self, batch, batch_idx):
        return self(batch).mean()
"""
HEIR = """\
import torch

from base import Base


class Heir(Base):
    def configure_optimizers(self):
        return [torch.optim.SGD(self.parameters(), 0.2), torch.optim.Adam(self.parameters(), 0.2)]
"""


def found_in(files: dict[str, str], path: str) -> list[str]:
    return [each.message for each in run_rules(files, OPT).findings if each.path == path]


def test_a_class_that_inherits_the_step_of_one_that_is_left_is_named() -> None:
    files = {"base.py": WAITING, "heir.py": HEIR}
    assert found_in(files, "heir.py") == [
        "Heir inherits a training_step with `optimizer_idx`, which Lightning 2.0 removed"
    ]
    below = f"{HEIR}\n\nclass Below(Heir):\n    def configure_optimizers(self):\n        return None\n"
    assert len(found_in({**files, "heir.py": below}, "heir.py")) == 2


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Base", "Single"),
        (
            "    def configure",
            "    def training_step(self, batch, batch_idx):\n        return None\n\n    def configure",
        ),
        ("configure_optimizers", "optimizers_of"),
        ("from base import Base", "from elsewhere import Base"),
    ],
)
def test_other_classes_are_not(old: str, new: str) -> None:
    heir = HEIR.replace(old, new)
    assert heir != HEIR
    assert found_in({"base.py": WAITING, "heir.py": heir}, "heir.py") == []
