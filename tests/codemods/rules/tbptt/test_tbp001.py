"""TBP001: the shapes that are rewritten, the traps that are left, and what is carried over."""

from __future__ import annotations

import pytest

from codemods.rules.tbptt.tbp001 import BEFORE
from tests.codemods.support import refusals, rewritten, rule, run_rules

TBP = rule("TBP001")
STEP = "    def training_step(self, batch, batch_idx, hiddens):\n"


def changed(*replacements: tuple[str, str]) -> dict[str, str]:
    text = BEFORE
    for old, new in replacements:
        assert old in text
        text = text.replace(old, new)
    return {"train.py": text}


REFUSED = {
    "dict batch": (("x, y = batch", 'x, y = batch["x"], batch["y"]'), "a dict"),
    "bare tensor": (("x, y = batch", "x = y = self.scale(batch)"), "as a whole"),
    "object batch": (("x, y = batch", "x, y = batch.x, batch.y"), "attributes"),
    "lengths": (
        ("x, y = batch", "x, y = batch\n        x = torch.nn.utils.rnn.pack_padded_sequence(x, y)"),
        "one dimension",
    ),
    "skipped chunk": (
        ("        loss = F", "        if x.max() > 9:\n            return None\n        loss = F"),
        "without",
    ),
    "no hiddens": (('"hiddens": hiddens}', '"state": hiddens}'), "does not clearly return"),
    "two optimizers": (
        (
            "return torch.optim.SGD(self.parameters(), lr=0.1)",
            "return [torch.optim.SGD(self.rnn.parameters()), torch.optim.SGD(self.head.parameters())]",
        ),
        "several optimizers, but training_step takes no `optimizer_idx`",
    ),
    "closure": (("torch.optim.SGD(self.parameters(), lr=0.1)", "torch.optim.LBFGS(self.parameters())"), "closure"),
    "optimizer index": (("batch_idx, hiddens)", "batch_idx, optimizer_idx, hiddens)"), "the state went to"),
    "optimizer index last": (("batch_idx, hiddens)", "batch_idx, hiddens, optimizer_idx)"), "third argument"),
    "no index of the batch": (("batch, batch_idx, hiddens)", "batch, hiddens)"), "in that order"),
    "everything by star": (("batch_idx, hiddens)", "batch_idx, *hiddens)"), "ordinary method"),
    "flag off": (("truncated_bptt_steps = 4", "truncated_bptt_steps = 0"), "0 or None"),
    "no flag": (("        self.truncated_bptt_steps = 4\n", ""), "does not set"),
    "accumulation": (("max_epochs=2", "max_epochs=2, accumulate_grad_batches=2"), "accumulates"),
    "clip by variable": (
        ("gradient_clip_val=0.5)\n    trainer.fit(Model()", "gradient_clip_val=loader.clip)\n    go(trainer"),
        "not a literal",
    ),
    "own split by the one of 1.x": (
        (STEP, "    def tbptt_split_batch(self, b, k):\n        return super().tbptt_split_batch(b[:2], k)\n\n" + STEP),
        "write the cut out",
    ),
    "manual already": (
        ("super().__init__()", "super().__init__()\n        self.automatic_optimization = False"),
        "set other than to True",
    ),
    "plateau without a metric": (
        (
            "return torch.optim.SGD(self.parameters(), lr=0.1)",
            "o = torch.optim.SGD(self.parameters(), lr=0.1)\n"
            "        return [o], [torch.optim.lr_scheduler.ReduceLROnPlateau(o)]",
        ),
        "ReduceLROnPlateau",
    ),
    "early flag": (
        ("super().__init__()", "self.automatic_optimization = True\n        super().__init__()"),
        "before `super",
    ),
    "called by hand": (
        (STEP, "    def warm(self, b):\n        return self.training_step(b, 0, None)\n\n" + STEP),
        "calls",
    ),
}


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED.keys())
def test_refused_with_the_reason(case: tuple[tuple[str, str], str]) -> None:
    replacement, reason = case
    found = refusals(changed(replacement), "TBP001")
    assert len(found) == 1
    assert reason in found[0]


def test_module_that_is_not_lightning_is_untouched() -> None:
    files = {"train.py": BEFORE.replace("Model(LightningModule)", "Model(torch.nn.Module)")}
    assert run_rules(files, TBP).changes == ()


def test_subclass_of_a_project_base_in_another_file_is_rewritten() -> None:
    base = "from lightning.pytorch import LightningModule\n\n\nclass Base(LightningModule):\n    pass\n"
    text = BEFORE.replace("(LightningModule)", "(Base)").replace(
        "import LightningModule, Trainer", "import Trainer\nfrom base import Base"
    )
    after = rewritten({"train.py": text, "base.py": base}, TBP)
    assert "def training_chunk(self, batch, batch_idx, hiddens):" in after["train.py"]


def test_base_that_has_a_step_of_its_own_forbids_it() -> None:
    base = (
        "from lightning.pytorch import LightningModule\n\n\nclass Base(LightningModule):\n"
        "    def training_step(self, batch, batch_idx, hiddens):\n        ...\n"
    )
    text = BEFORE.replace("(LightningModule)", "(Base)").replace(
        "import LightningModule, Trainer", "import Trainer\nfrom base import Base"
    )
    found = refusals({"train.py": text, "base.py": base}, "TBP001")
    assert any("Base (base.py), a base class or subclass, defines training_step" in reason for reason in found)


def test_clipping_moves_across_files() -> None:
    head, tail = BEFORE.split("\n\ndef main")
    main = "from pytorch_lightning import Trainer\nfrom model import Model\n\n\ndef main" + tail
    files = {"model.py": head.replace("LightningModule, Trainer", "LightningModule"), "main.py": main}
    after = rewritten(files, TBP)
    assert "    gradient_clip_val = 0.5\n" in after["model.py"]
    assert "gradient_clip_val=self.gradient_clip_val" in after["model.py"]
    assert "Trainer(max_epochs=2)" in after["main.py"]


def test_trainer_of_several_modules_keeps_its_clipping() -> None:
    other = "\n\nclass Other(LightningModule):\n    pass\n"
    text = BEFORE.replace("def main(loader):", other + "\n\ndef main(loader, model):").replace(
        "trainer.fit(Model(), loader)", "trainer.fit(model, loader)"
    )
    after = rewritten({"train.py": text}, TBP)["train.py"]
    assert "Trainer(max_epochs=2, gradient_clip_val=0.5)" in after
    assert 'if hasattr(model, "gradient_clip_val") and not model.automatic_optimization:\n' in after
    found = refusals(
        {"train.py": text.replace("trainer.fit(model", "self.trainer = trainer; trainer.fit(model")}, "TBP001"
    )
    assert "may train other modules too" in found[0]


def test_clipping_from_a_configuration_file_that_nobody_hands_over_forbids_it() -> None:
    text = BEFORE.replace("max_epochs=2, gradient_clip_val=0.5", "**config").replace(
        "trainer.fit(Model()", "go(trainer"
    )
    config = "trainer:\n  gradient_clip_val: 0.5\nmodel: train.Model\n"
    found = refusals({"train.py": text, "conf.yaml": config}, "TBP001")
    assert "conf.yaml" in found[0]


@pytest.mark.parametrize(
    ("trainer", "cleared"),
    [("", False), (", precision=32", False), (", precision=16", True), (", **options", True), (", plugins=[p]", True)],
)
def test_autocast_cache_is_cleared_unless_precision_is_known_to_be_full(trainer: str, cleared: bool) -> None:
    after = rewritten(changed(("gradient_clip_val=0.5", f"gradient_clip_val=0.5{trainer}")), TBP)["train.py"]
    assert ("torch.clear_autocast_cache()" in after) is cleared


def test_existing_hook_gets_the_clipping_at_its_end() -> None:
    hook = "    def on_before_optimizer_step(self, optimizer, optimizer_idx):\n        self.seen = True\n\n"
    after = rewritten(changed((STEP, hook + STEP)), TBP)["train.py"]
    assert (
        "    def on_before_optimizer_step(self, optimizer):\n        self.seen = True\n"
        "        self.clip_gradients(optimizer, gradient_clip_val=self.gradient_clip_val)\n"
    ) in after


@pytest.mark.parametrize(
    ("returned", "line"),
    [
        (
            '{"optimizer": o, "lr_scheduler": {"scheduler": s, "interval": "step"}}',
            "        self.lr_schedulers().step()\n",
        ),
        ("[o], [s]", "        if self.trainer.is_last_batch:\n            self.lr_schedulers().step()\n"),
    ],
)
def test_scheduler_is_stepped_where_automatic_optimization_did(returned: str, line: str) -> None:
    body = (
        "o = torch.optim.SGD(self.parameters(), lr=0.1)\n"
        "        s = torch.optim.lr_scheduler.StepLR(o, 1)\n"
        f"        return {returned}"
    )
    after = rewritten(changed(("return torch.optim.SGD(self.parameters(), lr=0.1)", body)), TBP)["train.py"]
    assert line in after


def test_layout_comments_and_line_endings_survive() -> None:
    text = BEFORE.replace(STEP, "    # the step\n" + STEP.rstrip("\n") + "  # note\n").replace("\n", "\r\n")
    after = run_rules({"train.py": text.encode()}, TBP).final()["train.py"]
    assert after.count(b"\r\n") == after.count(b"\n")
    assert b"    # the step\r\n    def training_step(self, batch, batch_idx):" in after


def test_ignore_comment_leaves_the_whole_change_alone() -> None:
    step = STEP.rstrip("\n")
    made = run_rules(changed((step, step + "  # fixer: ignore[TBP001]")), TBP)
    assert made.changes == ()
    made = run_rules(changed(("gradient_clip_val=0.5)", "gradient_clip_val=0.5)  # fixer: ignore[TBP001]")), TBP)
    assert made.changes == ()
    assert [finding.fix for finding in made.findings] == ["manual"]


@pytest.mark.parametrize("own", [True, False])
def test_a_split_of_the_class_that_nothing_calls_any_more_is_named(own: bool) -> None:
    split = "    def tbptt_split_batch(self, batch, split_size):\n        return [batch]\n\n"
    replacement, _ = REFUSED["called by hand"]
    old, new = replacement
    [reason] = refusals(changed((old, (split if own else "") + new)), "TBP001")
    assert ("`tbptt_split_batch` is no longer called" in reason) is own
