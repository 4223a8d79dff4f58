"""OPT002-OPT005: what goes, what is named, and what is left alone."""

from __future__ import annotations

import pytest

from codemods.rules.optimizers import opt002, opt003, opt005
from tests.codemods.support import refusals, rewritten, rule, run_rules
from tests.training import same, train

OPT002, OPT003, OPT004, OPT005 = (rule(f"OPT00{number}") for number in (2, 3, 4, 5))
DEAD = "optimizer_idx=None"


def dead(*replacements: tuple[str, str]) -> str:
    text = opt002.BEFORE
    for old, new in replacements:
        assert old in text
        text = text.replace(old, new)
    return text


KEPT = {
    "made by what is read": (
        dead((DEAD, "optimizer_idx=FIRST"), (".mean()", ".mean() + optimizer_idx")),
        "is always FIRST",
    ),
    "by name alone": (dead((DEAD, f"*, {DEAD}"), (".mean()", ".mean() * (optimizer_idx or 1)")), "by name alone"),
    "read, and unknown below": (
        "from other import made\n" + opt002.READ + "\n\nclass Child(Model):\n    def configure_optimizers(self):\n"
        "        return made(self)\n",
        "is always None",
    ),
    "required and read": (
        dead((DEAD, "optimizer_idx"), (".mean()", ".mean() + optimizer_idx")),
        "1.x gave no index then",
    ),
    "given by a caller": (dead() + "\n\nModel().training_step(1, 2, 3)\n", "may give the index"),
    "given by keyword": (dead() + "\n\nModel().training_step(1, 2, optimizer_idx=3)\n", "may give the index"),
    "unknown base": (dead(("(LightningModule)", "(made())")), "cannot be followed"),
    "relative with a step": (
        dead() + "\n\nclass Child(Model):\n    def training_step(self, batch, batch_idx):\n        return batch\n",
        "a base class or subclass, defines training_step",
    ),
}


@pytest.mark.parametrize("case", KEPT.values(), ids=KEPT.keys())
def test_index_of_one_optimizer_that_stays(case: tuple[str, str]) -> None:
    text, reason = case
    found = refusals({"train.py": text}, "OPT002")
    assert len(found) == 1
    assert reason in found[0]
    assert run_rules({"train.py": text}, rule("OPT001")).findings == ()


def test_index_goes_under_manual_optimization_and_from_a_whole_family() -> None:
    manual = dead(("    def training", "    automatic_optimization = False\n\n    def training"))
    assert "optimizer_idx" not in rewritten({"train.py": manual}, OPT002)["train.py"]
    child = "\n\nclass Child(Model):\n    def training_step(self, batch, batch_idx, optimizer_idx=0):\n"
    child += "        return batch\n\n    def configure_optimizers(self):\n"
    child += "        return torch.optim.Adam(self.parameters())\n"
    assert "optimizer_idx" not in rewritten({"train.py": dead() + child}, OPT002)["train.py"]


def test_index_that_is_read_stays_where_a_class_below_has_several_optimizers() -> None:
    child = "\n\nclass Child(Model):\n    def configure_optimizers(self):\n        return [first(), second()]\n"
    files = {"train.py": opt002.READ + child}
    assert run_rules(files, OPT002, unsafe=True).changes == ()
    assert {finding.code for finding in run_rules(files, rule("OPT001"), OPT002).findings} == {"OPT001"}


@pytest.mark.parametrize("default", ["None", "0", "2"])
def test_index_that_is_read_becomes_what_it_always_was(default: str) -> None:
    text = opt002.READ.replace("=None", f"={default}")
    after = rewritten({"train.py": text}, OPT002)["train.py"]
    assert f"def training_step(self, batch, batch_idx):\n        optimizer_idx = {default}\n" in after
    assert run_rules({"train.py": after}, OPT002).findings == ()


@pytest.mark.parametrize("given", [f"{DEAD}, /", "optimizer_idx, /"])
def test_index_goes_where_it_is_taken_by_place_alone(given: str) -> None:
    after = rewritten({"train.py": dead((DEAD, given))}, OPT002)["train.py"]
    assert "def training_step(self, batch, batch_idx, /):" in after


APART = """

class Child(Model):
    def training_step(self, batch, batch_idx, optimizer_idx=0):
        return self.layer(batch).sum() if optimizer_idx == 0 else OTHER

    def configure_optimizers(self):
        one = torch.optim.SGD(self.parameters(), lr=0.1)
        if self.both:
            plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(one)
            return [one, torch.optim.SGD(self.parameters(), lr=0.2)], [{"scheduler": plateau, "monitor": "loss"}]
        return {"optimizer": one}
"""


def test_index_goes_where_a_relative_reads_its_own_and_calls_no_step_of_the_base() -> None:
    text = dead((DEAD, "optimizer_idx=0")) + APART.replace("OTHER", "2 * self.layer(batch).sum()")
    after = rewritten({"train.py": text}, OPT002, unsafe=True)["train.py"]
    assert after == text.replace(", optimizer_idx=0", "", 1) != text


@pytest.mark.parametrize("called", ["super().training_step", "Model.training_step"])
def test_index_stays_where_a_relative_calls_the_step_of_the_base(called: str) -> None:
    given = "batch, batch_idx, optimizer_idx" if called.startswith("super") else "self, batch, batch_idx, optimizer_idx"
    files = {"train.py": dead((DEAD, "optimizer_idx=0")) + APART.replace("OTHER", f"{called}({given})")}
    assert run_rules(files, OPT002, unsafe=True).changes == ()


def test_index_goes_where_optimizers_cannot_be_counted_and_they_are_named() -> None:
    files = {"train.py": dead(("torch.optim.SGD(self.parameters(), lr=0.1)", "self.first, self.second"))}
    found = run_rules(files, OPT002).findings
    assert sorted(finding.fix for finding in found) == ["manual", "safe"]
    after = rewritten(files, OPT002)["train.py"]
    assert "optimizer_idx" not in after and after.count("def training_step(self, batch, batch_idx)") == 1
    [named] = [finding for finding in found if finding.fix == "manual"]
    assert "Model may have several optimizers" in named.message and "cannot tell how many it has" in named.reason
    assert files["train.py"].splitlines()[named.span.line - 1].strip() == "def configure_optimizers(self):"
    assert [finding.fix for finding in run_rules({"train.py": dead()}, OPT002).findings] == ["safe"]
    called = {"train.py": files["train.py"] + "\n\nModel().training_step(1, 2, 3)\n"}
    assert [finding.fix for finding in run_rules(called, OPT002).findings] == ["manual"]


def several(*replacements: tuple[str, str]) -> str:
    text = opt003.BEFORE
    for old, new in replacements:
        assert old in text
        text = text.replace(old, new)
    return text


def test_several_optimizers_without_index_are_named() -> None:
    old = several(("batch, batch_idx", "batch, batch_nb, optimizer_i"))
    assert "before 0.6 `optimizer_i` got the index" in refusals({"train.py": old}, "OPT003")[0]


ALONE = {
    "manual": opt003.MANUAL,
    "manual in its constructor": several(
        (
            "    def training",
            "    def __init__(self):\n        super().__init__()\n        self.automatic_optimization = False\n\n"
            "    def training",
        )
    ),
    "manual as a property": several(
        (
            "    def training",
            "    @property\n    def automatic_optimization(self):\n        return False\n\n    def training",
        )
    ),
    "manual by a base": several(
        (
            "class GAN(LightningModule):",
            "class Base(LightningModule):\n    automatic_optimization = False\n\n\nclass GAN(Base):",
        )
    ),
    "with an index": several(("batch, batch_idx", "batch, batch_idx, optimizer_idx")),
    "no module of Lightning": several(("(LightningModule)", "(torch.nn.Module)")),
    "one optimizer": several(
        ("return generator, torch.optim.Adam(self.discriminator.parameters())", "return generator")
    ),
}


@pytest.mark.parametrize("text", ALONE.values(), ids=ALONE.keys())
def test_optimizers_of_which_nothing_is_said(text: str) -> None:
    assert run_rules({"train.py": text}, OPT003).findings == ()


HOOK = "from pytorch_lightning import {kind}\n\n\nclass Model({kind}):\n    def {head}:\n        print({reads})\n"


def hook(head: str, reads: str = "1", kind: str = "LightningModule") -> str:
    return HOOK.format(head=head, reads=reads, kind=kind)


SHORTER = {
    "zero_grad": (
        "optimizer_zero_grad(self, epoch, batch_idx, optimizer, optimizer_idx)",
        "optimizer_zero_grad(self, epoch, batch_idx, optimizer)",
    ),
    "clipping": (
        "configure_gradient_clipping(self, optimizer, i, gradient_clip_val, gradient_clip_algorithm)",
        "configure_gradient_clipping(self, optimizer, gradient_clip_val, gradient_clip_algorithm)",
    ),
    "backward": ("backward(self, loss, optimizer, optimizer_idx)", "backward(self, loss)"),
    "scheduler": (
        "lr_scheduler_step(self, scheduler, optimizer_idx, metric)",
        "lr_scheduler_step(self, scheduler, metric)",
    ),
    "step, other names": (
        "optimizer_step(self, e, b, o, i, c, **kwargs)",
        "optimizer_step(self, e, b, o, c, **kwargs)",
    ),
    "step, what came by keyword": (
        "optimizer_step(self, epoch, batch_idx, optimizer, optimizer_closure, on_tpu, using_lbfgs=False)",
        "optimizer_step(self, epoch, batch_idx, optimizer, optimizer_closure)",
    ),
}


@pytest.mark.parametrize("case", SHORTER.values(), ids=SHORTER.keys())
def test_hooks_lose_the_index(case: tuple[str, str]) -> None:
    old, new = case
    assert rewritten({"train.py": hook(old)}, OPT004) == {"train.py": hook(new)}


def test_hook_of_a_callback_loses_it_too() -> None:
    old = hook("on_before_optimizer_step(self, trainer, pl_module, optimizer, opt_idx)", kind="Callback")
    assert "pl_module, optimizer):" in rewritten({"train.py": old}, OPT004)["train.py"]


UNTOUCHED = {
    "both versions": hook("on_before_optimizer_step(self, optimizer, optimizer_idx=None)"),
    "2.x": hook("optimizer_step(self, epoch, batch_idx, optimizer, optimizer_closure=None)"),
    "2.x with one more": hook("optimizer_step(self, epoch, batch_idx, optimizer, optimizer_closure=None, extra=None)"),
    "2.x backward": hook("backward(self, loss, *args, **kwargs)"),
    "backward with options": hook("backward(self, loss, retain=False, create=False)"),
    "whatever comes": hook("optimizer_step(self, *args, **kwargs)"),
    "no module of Lightning": hook("backward(self, loss, optimizer, optimizer_idx)").replace(
        "from pytorch_lightning import LightningModule", "from torch.nn import Module as LightningModule"
    ),
}


@pytest.mark.parametrize("text", UNTOUCHED.values(), ids=UNTOUCHED.keys())
def test_hooks_that_are_left_alone(text: str) -> None:
    made = run_rules({"train.py": text}, OPT004)
    assert made.changes == ()
    assert made.findings == ()


def test_hook_that_reads_the_index_is_named() -> None:
    text = hook("optimizer_zero_grad(self, epoch, batch_idx, optimizer, optimizer_idx)", "optimizer_idx")
    assert "reads `optimizer_idx`" in refusals({"train.py": text}, "OPT004")[0]


ONE = "\n    def configure_optimizers(self):\n        return torch.optim.SGD(self.parameters(), lr=0.1)\n"
STEPS = (
    "optimizer_step(self, epoch, batch_idx, optimizer, optimizer_idx, optimizer_closure, on_tpu=False)",
    "optimizer_step(self, epoch, batch_idx, optimizer, optimizer_closure)",
)


MANUAL = "\n    def __init__(self):\n        super().__init__()\n        self.automatic_optimization = False\n"


def of_one(head: str, reads: str = "optimizer_idx", below: str = "") -> str:
    return "import torch\n" + hook(head, reads) + ONE + below


@pytest.mark.parametrize("case", [STEPS, SHORTER["zero_grad"], SHORTER["backward"], SHORTER["scheduler"]])
def test_hook_of_one_optimizer_is_told_its_index(case: tuple[str, str]) -> None:
    old, new = case
    after = rewritten({"train.py": of_one(old)}, OPT004)["train.py"]
    assert after == of_one(new).replace("        print(", "        optimizer_idx = 0\n        print(")
    assert run_rules({"train.py": after}, OPT004).findings == ()


@pytest.mark.parametrize(
    "text",
    [
        of_one(STEPS[0], below="\n\nclass Child(Model):\n" + ONE.replace("return ", "return self.other, ")[1:]),
        "from made import optimizer\n"
        + of_one(STEPS[0]).replace("torch.optim.SGD(self.parameters(), lr=0.1)", "optimizer()"),
        of_one(STEPS[0], "optimizer_idx, on_tpu"),
        of_one(SHORTER["backward"][0], "optimizer, optimizer_idx"),
        of_one(SHORTER["backward"][0], below=MANUAL),
    ],
    ids=["several-below", "unknown", "another-is-read", "the-optimizer-is-read", "by-hand"],
)
def test_hook_that_reads_more_than_the_index_of_one_optimizer_is_left(text: str) -> None:
    assert "Not rewritten" in refusals({"train.py": text}, "OPT004")[0]


@pytest.mark.parametrize("reads", ["optimizer", "optimizer_idx"])
@pytest.mark.parametrize(
    ("call", "left"),
    [
        ("self.optimizer_zero_grad(0, 0, self.it, 1)", True),
        ("super().optimizer_zero_grad(0, 0, self.it, 1)", True),
        ("self.optimizer_zero_grad(*self.given)", True),
        ("self.optimizer_zero_grad(0, 0, optimizer=self.it, optimizer_idx=1)", True),
        ("self.optimizer_zero_grad(0, 0, self.it)", False),
    ],
)
def test_hook_that_something_else_may_give_the_index_is_left(reads: str, call: str, left: bool) -> None:
    text = of_one(SHORTER["zero_grad"][0], reads)
    below = f"class Child(Model):\n    def on_train_start(self):\n        {call}\n"
    for files in (
        {"train.py": f"{text}\n\n{below}"},
        {"train.py": text, "b.py": f"from train import Model\n\n\n{below}"},
    ):
        made = run_rules(files, OPT004)
        assert bool(made.changes) is not left
        assert ["perhaps with the index" in each.reason for each in made.findings] == [left]


@pytest.mark.parametrize(
    ("head", "kind", "told"),
    [
        ("(self, opt, optimizer_idx)", "LightningModule", "self.trainer.optimizers.index(opt)"),
        ("(self, trainer, module, optimizer, optimizer_idx)", "Callback", "trainer.optimizers.index(optimizer)"),
    ],
)
def test_hook_of_several_optimizers_is_told_how_to_find_the_index(head: str, kind: str, told: str) -> None:
    (reason,) = refusals({"train.py": hook(f"on_before_optimizer_step{head}", "optimizer_idx", kind)}, "OPT004")
    assert f"with several it is `{told}`." in reason


def test_index_that_keeps_its_default_and_is_read_is_named() -> None:
    text = hook("on_before_optimizer_step(self, optimizer, optimizer_idx=0)", "optimizer_idx")
    assert "reads `optimizer_idx`" in refusals({"train.py": text}, "OPT004")[0]


def test_toggling_of_an_optimizer_that_cannot_be_told_is_named() -> None:
    assert "cannot tell" in refusals({"train.py": opt005.UNKNOWN}, "OPT005")[0]
    swapped = opt005.BEFORE.replace("self.toggle_optimizer(generator, optimizer_idx=0)", "self.toggle(0)")
    assert refusals({"train.py": swapped}, "OPT005")


@pytest.mark.parametrize("at", ["0", "index"])
@pytest.mark.parametrize("order", ["optimizer=generator, optimizer_idx={}", "optimizer_idx={}, optimizer=generator"])
def test_toggling_by_keywords_tells_the_optimizer_from_its_index(order: str, at: str) -> None:
    text = opt005.BEFORE.replace("generator, optimizer_idx=0", order.format(at)).replace(
        "_optimizer(0)", f"_optimizer({at})"
    )
    after = rewritten({"train.py": text}, OPT005)["train.py"]
    assert "    self.toggle_optimizer(optimizer=generator)\n" in after
    assert "    self.untoggle_optimizer(generator)\n" in after
    given = text.replace(f"untoggle_optimizer({at})", "untoggle_optimizer(generator)")
    assert rewritten({"train.py": given}, OPT005)["train.py"] == after


TRAINED = """\
import torch
from pytorch_lightning import LightningModule, Trainer


class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 1)

    def training_step(self, batch, batch_idx, optimizer_idx=None):
        return self.layer(batch).pow(2).mean()

    def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_idx, optimizer_closure, on_tpu=False, **kwargs):
        for group in optimizer.param_groups:
            group["lr"] = 0.1 / (batch_idx + 1)
        optimizer.step(closure=optimizer_closure)

    def optimizer_zero_grad(self, epoch, batch_idx, optimizer, optimizer_idx):
        optimizer.zero_grad()

    def on_before_optimizer_step(self, optimizer, optimizer_idx):
        self.log("lr", optimizer.param_groups[0]["lr"])

    def configure_gradient_clipping(self, optimizer, optimizer_idx, gradient_clip_val, gradient_clip_algorithm):
        self.clip_gradients(optimizer, gradient_clip_val=gradient_clip_val)

    def backward(self, loss, optimizer, optimizer_idx):
        loss.backward()

    def lr_scheduler_step(self, scheduler, optimizer_idx, metric):
        scheduler.step()

    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=0.1, momentum=0.9)
        return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 1)]


def main():
    trainer = Trainer(max_epochs=2, gradient_clip_val=0.1)
    trainer.fit(Model(), torch.utils.data.DataLoader(torch.randn(6, 3), batch_size=2))


if __name__ == "__main__":
    main()
"""


def test_hooks_without_the_index_train_the_same() -> None:
    before = {"train.py": TRAINED}
    after = rewritten(before, OPT002, OPT004)
    old, _ = same(before, after)
    assert len(old.steps) == 6
    assert train(before).failure is not None
    assert "optimizer_idx" not in after["train.py"]


BASE = """\
from pytorch_lightning import LightningModule


class Base(LightningModule):
    def training_step(self, batch, batch_idx):
        return self.layer(batch).mean()
"""
BELOW = """\
import torch
from base import Base


def test_two():
    class Two(Base):
        def configure_optimizers(self):
            return [torch.optim.Adam(self.parameters()), torch.optim.Adam(self.parameters())], []
"""


def test_several_optimizers_for_a_step_that_is_inherited_are_named() -> None:
    [finding] = run_rules({"base.py": BASE, "a.py": BELOW}, rule("OPT003")).findings
    assert (finding.path, finding.fix) == ("a.py", "manual") and "several optimizers" in finding.message
    telling = BASE.replace("batch_idx):", "batch_idx, optimizer_idx):")
    manual = BASE.replace("    def", "    automatic_optimization = False\n\n    def")
    one = BELOW.replace(", torch.optim.Adam(self.parameters())]", "]")
    elsewhere = BELOW.replace("from base import", "from other import")
    for base in (telling, telling.replace("_idx):", "_idx, /):"), manual):
        assert run_rules({"base.py": base, "a.py": BELOW}, rule("OPT003")).findings == ()
    for text in (one, elsewhere):
        assert run_rules({"base.py": BASE, "a.py": text}, rule("OPT003")).findings == ()
