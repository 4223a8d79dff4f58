"""OPT006: a rewritten step trains again, and what it must not touch."""

from __future__ import annotations

import pytest
import torch
from lightning.pytorch import LightningModule, Trainer
from lightning.pytorch.utilities.exceptions import MisconfigurationException

from tests.codemods.support import refusals, rewritten, rule, run_rules

HEAD = "from lightning.pytorch import LightningModule\n\n\nclass Model(LightningModule):\n"
WARM = """\
    def optimizer_step(self, epoch, batch_nb, optimizer, optimizer_i):
        for group in optimizer.param_groups:
            group["lr"] = 0.1 / (self.trainer.global_step + 1)
        optimizer.step()
        optimizer.zero_grad()
"""


def trained(text: str) -> float:
    """The weight that a model with the hook of that text ends with."""
    space: dict[str, type[LightningModule]] = {}
    exec(text, space)

    class Model(space["Model"]):  # type: ignore[name-defined, misc]
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.ones(1))

        def training_step(self, batch: torch.Tensor, batch_idx: int) -> torch.Tensor:
            return (self.weight * batch).sum()

        def configure_optimizers(self) -> torch.optim.Optimizer:
            return torch.optim.SGD(self.parameters(), lr=1.0)

    trainer = Trainer(
        max_epochs=1,
        accelerator="cpu",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    model = Model()
    trainer.fit(model, torch.utils.data.DataLoader(torch.ones(3, 1)))
    return model.weight.item()


def test_the_step_changes_weights_as_it_did_when_backward_came_first() -> None:
    text = rewritten({"a.py": HEAD + WARM}, rule("OPT006"), rule("OPT004"))["a.py"]
    assert "def optimizer_step(self, epoch, batch_nb, optimizer, optimizer_closure):" in text
    assert trained(text) == pytest.approx(1 - 0.1 - 0.05 - 0.1 / 3)


def test_the_old_text_fails_where_it_runs_now() -> None:
    with pytest.raises(MisconfigurationException, match="closure hasn't been executed"):
        trained(HEAD + WARM)


@pytest.mark.parametrize("codes", [("OPT006", "OPT004"), ("OPT004", "OPT006")])
def test_a_hook_without_a_closure_gets_one_in_the_place_of_the_index(codes: tuple[str, str]) -> None:
    old = "    def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_idx):\n        optimizer.step()\n"
    new = (
        "    def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_closure):\n"
        "        optimizer.step(closure=optimizer_closure)\n"
    )
    assert rewritten({"a.py": HEAD + old}, *map(rule, codes))["a.py"] == HEAD + new


def test_both_rules_together_leave_a_hook_of_today() -> None:
    old = (
        "    def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_idx, second_order_closure=None):\n"
        "        optimizer.step()\n"
    )
    new = (
        "    def optimizer_step(self, epoch, batch_idx, optimizer, second_order_closure=None):\n"
        "        optimizer.step(closure=second_order_closure)\n"
    )
    assert rewritten({"a.py": HEAD + old}, rule("OPT004"), rule("OPT006"))["a.py"] == HEAD + new


ALONE = [
    "        optimizer.step(closure=closure)\n",
    "        loss = closure()\n        optimizer.step()\n        return loss\n",
    "        super().optimizer_step(epoch, batch_idx, optimizer, closure)\n",
    "        if batch_idx % 2:\n            optimizer.step(closure)\n        else:\n            closure()\n",
    "        if batch_idx % 2:\n            closure()\n            return\n        optimizer.step(closure)\n",
    "        with self.profile():\n            optimizer.step(closure)\n",
    "        raise NotImplementedError\n",
]


@pytest.mark.parametrize("body", ALONE)
def test_a_hook_that_runs_its_closure_is_no_finding(body: str) -> None:
    text = f"{HEAD}    def optimizer_step(self, epoch, batch_idx, optimizer, closure):\n{body}"
    assert run_rules({"a.py": text}, rule("OPT006")).findings == ()


def test_hooks_that_lightning_does_not_call_are_no_finding() -> None:
    manual = (
        f"{HEAD}    def __init__(self):\n        super().__init__()\n        self.automatic_optimization = False\n\n"
        "    def optimizer_step(self, epoch, batch_idx, optimizer, closure):\n        optimizer.step()\n"
    )
    other = "class Model:\n    def optimizer_step(self, epoch, batch_idx, optimizer, closure):\n        pass\n"
    passed = f"{HEAD}    def optimizer_step(self, *args, **kwargs):\n        super().optimizer_step(*args, **kwargs)\n"
    for text in (manual, other, passed):
        assert run_rules({"a.py": text}, rule("OPT006")).findings == ()


LEFT = {
    "        if batch_idx % 2 == 0:\n            optimizer.step()\n": "every batch reaches",
    "        optimizer.step()\n        optimizer.step()\n": "every batch reaches",
    "        if batch_idx:\n            return\n        optimizer.step()\n": "every batch reaches",
    "        torch.nn.utils.clip_grad_norm_(self.parameters(), 1.0)\n        optimizer.step()\n": "uses gradients",
    "        print(self.weight.grad)\n        optimizer.step()\n": "uses gradients",
    "        if batch_idx % 2 == 0:\n            optimizer.step(closure)\n": "which batches skip it",
    "        if batch_idx:\n            optimizer.step(closure)\n        optimizer.step()\n": "run on some paths",
    "        super().optimizer_step(epoch, batch_idx, optimizer)\n": "every batch reaches",
}


@pytest.mark.parametrize(("body", "why"), LEFT.items())
def test_what_is_not_plain_is_left_with_the_reason(body: str, why: str) -> None:
    text = f"{HEAD}    def optimizer_step(self, epoch, batch_idx, optimizer, closure=None):\n{body}"
    (reason,) = refusals({"a.py": text}, "OPT006")
    assert why in reason


def test_an_index_that_is_read_gets_no_closure_and_is_not_dropped() -> None:
    text = (
        f"{HEAD}    def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_i):\n"
        "        if optimizer_i == 0:\n            optimizer.step()\n"
    )
    (reason,) = refusals({"a.py": text}, "OPT006")
    assert "every batch reaches" in reason
    assert run_rules({"a.py": text}, rule("OPT004")).findings == ()


def test_what_the_forward_pass_sets_is_read_too_early_then() -> None:
    text = (
        f"{HEAD}    def training_step(self, batch, batch_idx):\n        self.scale = batch.mean()\n\n"
        "    def optimizer_step(self, epoch, batch_idx, optimizer, closure=None):\n"
        '        optimizer.param_groups[0]["lr"] = self.scale\n        optimizer.step()\n'
    )
    made = run_rules({"a.py": text}, rule("OPT006"))
    assert [(finding.fix, "scale" in finding.reason) for finding in made.findings] == [("unsafe", True)]


def test_several_optimizers_get_no_loop_whose_backward_never_runs() -> None:
    text = (
        f"{HEAD}    def training_step(self, batch, batch_idx, optimizer_idx):\n        return batch.mean()\n\n"
        "    def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_idx, closure=None):\n"
        "        optimizer.step()\n        optimizer.zero_grad()\n\n"
        "    def configure_optimizers(self):\n"
        "        return [torch.optim.SGD(self.a.parameters(), 1), torch.optim.SGD(self.b.parameters(), 1)], []\n"
    )
    (reason,) = refusals({"a.py": "import torch\n" + text}, "OPT001")
    assert "does not run the closure" in reason


BY_HAND = (
    HEAD
    + """\
    def __init__(self):
        super().__init__()
        self.automatic_optimization = {}

    def training_step(self, batch, batch_idx):
        self.{}(batch)

    def {}(self, {}):
        {}
"""
)
CALLED = {
    "optimizer_step": "epoch, batch_idx, optimizer, optimizer_idx, optimizer_closure",
    "optimizer_zero_grad": "epoch, batch_idx, optimizer, optimizer_idx",
    "configure_gradient_clipping": "optimizer, optimizer_idx, gradient_clip_val, gradient_clip_algorithm",
    "lr_scheduler_step": "scheduler, optimizer_idx, metric",
}


@pytest.mark.parametrize("hook", CALLED)
def test_what_lightning_never_calls_under_manual_optimization_keeps_its_signature(hook: str) -> None:
    text = BY_HAND.format(False, hook, hook, CALLED[hook], "print(optimizer_idx)")
    assert run_rules({"a.py": text}, rule("OPT004"), rule("OPT006")).findings == ()
    for other in (
        BY_HAND.format(True, hook, hook, CALLED[hook], "print(optimizer_idx)"),
        BY_HAND.format(False, hook, hook, CALLED[hook], f"super().{hook}({CALLED[hook]}); print(optimizer_idx)"),
    ):
        assert "OPT004" in {item.code for item in run_rules({"a.py": other}, rule("OPT004")).findings}


@pytest.mark.parametrize(
    ("hook", "given"), [("on_before_optimizer_step", "optimizer, optimizer_idx"),
                        ("backward", "loss, optimizer, optimizer_idx")],
)  # fmt: skip
def test_what_lightning_calls_in_any_case_is_named(hook: str, given: str) -> None:
    text = BY_HAND.format(False, "manual_backward", hook, given, "print(optimizer_idx)")
    assert len(run_rules({"a.py": text}, rule("OPT004")).findings) == 1


SEVERAL = (
    HEAD
    + """\
    def training_step(self, batch, batch_idx, optimizer_idx):
        return self.loss(batch, optimizer_idx)

    def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_idx, optimizer_closure, on_tpu=False):
        if optimizer_idx == 0:
            optimizer.step(closure=optimizer_closure)
        elif optimizer_idx == 1:
            optimizer_closure()

    def configure_optimizers(self):
        return [torch.optim.SGD(self.a.parameters(), 1.0), torch.optim.SGD(self.b.parameters(), 1.0)], []
"""
)


def test_a_step_that_becomes_one_of_a_manual_loop_is_not_spoken_of() -> None:
    files = {"a.py": f"import torch\n{SEVERAL}"}
    made = run_rules(files, unsafe=True)
    assert {item.code for item in made.findings if not item.applied} == set()
    assert "self.optimizer_step(" in made.final()["a.py"].decode() and made.bugs == ()
    one = SEVERAL.replace("batch_idx, optimizer_idx):\n        return", "batch_idx):\n        return").replace(
        "loss(batch, optimizer_idx)", "loss(batch)"
    )
    assert "OPT006" in {item.code for item in run_rules({"a.py": f"import torch\n{one}"}, rule("OPT006")).findings}
