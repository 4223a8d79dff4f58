"""BWD002: passes through one graph made one, what is named, and the gradient before and after."""

from __future__ import annotations

import pytest
import torch

from codemods.finding import Finding
from codemods.rules.backward.bwd001 import RULE as RAW
from codemods.rules.backward.bwd002 import BEFORE, RULE
from codemods.rules.backward.bwd005 import RULE as NEEDLESS
from tests.codemods.support import rewritten, run_rules
from tests.training import assert_same, train

PAIR = "        self.manual_backward(fit, retain_graph=True)\n        self.manual_backward(0.1 * penalty)\n"


def changed(lines: str) -> str:
    assert PAIR in BEFORE
    return BEFORE.replace(PAIR, lines)


MERGED = {
    "three": (
        PAIR.replace("penalty)", "penalty, retain_graph=True)") + "        self.manual_backward(fit - penalty)\n",
        "        self.manual_backward(fit + 0.1 * penalty + (fit - penalty))\n",
    ),
    "graph that is kept on": (
        PAIR.replace("penalty)", "penalty, retain_graph=True)"),
        "        self.manual_backward(fit + 0.1 * penalty, retain_graph=True)\n",
    ),
    "conditional loss": (
        "        self.manual_backward(-fit, retain_graph=True)\n        self.manual_backward(penalty)\n",
        "        self.manual_backward((-fit) + penalty)\n",
    ),
    "raw": (
        "        fit.backward(retain_graph=True)\n        penalty.backward()\n",
        "        (fit + penalty).backward()\n",
    ),
    "in a branch": (
        "        if batch_idx:\n            self.manual_backward(fit, retain_graph=True)\n"
        "            self.manual_backward(penalty)\n",
        "        if batch_idx:\n            self.manual_backward(fit + penalty)\n",
    ),
}


@pytest.mark.parametrize("name", MERGED)
def test_merged(name: str) -> None:
    before, after = MERGED[name]
    assert rewritten({"train.py": changed(before)}, RULE)["train.py"] == changed(after)


def test_a_loop_over_kept_losses_is_unsafe_since_it_may_be_empty() -> None:
    text = changed(
        '        losses = {"fit": fit, "penalty": penalty}\n        for loss in losses.values():\n'
        "            self.manual_backward(loss, retain_graph=True)\n"
    )
    assert [finding.fix for finding in run_rules({"train.py": text}, RULE).findings] == ["unsafe"]
    after = rewritten({"train.py": text}, RULE, unsafe=True)["train.py"]
    assert "        self.manual_backward(sum(losses.values()), retain_graph=True)\n" in after


def test_raw_passes_become_one_manual_pass() -> None:
    text = changed(MERGED["raw"][0])
    after = rewritten({"train.py": text}, RAW, RULE, NEEDLESS)["train.py"]
    assert after == changed("        self.manual_backward(fit + penalty)\n")


def test_hooks_that_see_each_pass_make_it_unsafe() -> None:
    hooked = BEFORE + "\n    def on_after_backward(self):\n        self.count += 1\n"
    assert [finding.fix for finding in run_rules({"train.py": hooked}, RULE).findings] == ["unsafe"]
    watched = BEFORE + "\n    def setup(self, stage):\n        self.w.register_hook(self.note)\n"
    assert [finding.fix for finding in run_rules({"train.py": watched}, RULE).findings] == ["unsafe"]


KEPT = "            self.manual_backward(loss, retain_graph=True)\n"
LEFT = {
    "nothing shared": PAIR.replace(", retain_graph=True", ""),
    "logging between": PAIR.replace(
        "        self.manual_backward(0", '        self.log("a", fit)\n        self.manual_backward(0'
    ),
    "step between": PAIR.replace(
        "        self.manual_backward(0", "        optimizer.step()\n        self.manual_backward(0"
    ),
    "zero_grad between": PAIR.replace(
        "        self.manual_backward(0", "        optimizer.zero_grad()\n        self.manual_backward(0"
    ),
    "second loss computed by a module": PAIR.replace("0.1 * penalty", "self.penalty(batch)"),
    "second loss made of a gradient": PAIR.replace("0.1 * penalty", "self.w.grad.norm() * penalty"),
    "other arguments": PAIR.replace("True)", "True, create_graph=True)"),
    "forward passes in a loop": "        for part in batch:\n            self.manual_backward(self.net(part))\n",
    "losses made one by one": f"        for loss in self.losses(batch):\n{KEPT}",
    "loop variable read later": f'        for loss in (fit, penalty):\n{KEPT}        self.log("loss", loss)\n',
}


@pytest.mark.parametrize("name", LEFT)
def test_left_alone(name: str) -> None:
    made = run_rules({"train.py": changed(LEFT[name])}, RULE, unsafe=True)
    assert made.changes == () and made.findings == ()


def test_an_argument_that_is_not_seen_is_named() -> None:
    made = run_rules({"train.py": changed(PAIR.replace("True", "self.keep"))}, RULE, unsafe=True)
    assert made.changes == () and [finding.fix for finding in made.findings] == ["manual"]
    assert "fixer cannot tell whether `retain_graph` is True" in made.findings[0].reason


def test_a_pass_with_a_comment_of_its_own_is_left_to_a_person() -> None:
    line = "        self.manual_backward(0"
    made = run_rules({"train.py": changed(PAIR.replace(line, f"        # the penalty\n{line}"))}, RULE, unsafe=True)
    assert made.changes == ()
    assert [item.fix for item in made.findings] == ["manual"]


SECOND = "        self.manual_backward(0.1 * penalty)\n"
LONG = "        self.manual_backward(\n            fit,  # the first\n            retain_graph=True,\n        )\n"
LOOP = "        for loss in (fit, penalty):{}\n            self.manual_backward(loss, retain_graph=True)\n"


@pytest.mark.parametrize(
    "lines", [LONG + SECOND, PAIR.replace("True)", "True)  # first"), LOOP.format("  # all of them")]
)
def test_comments_of_the_first_pass_and_of_a_loop(lines: str) -> None:
    made = run_rules({"train.py": changed(lines)}, RULE, unsafe=True)
    assert made.changes == ()
    assert [item.fix for item in made.findings] == ["manual"]


def test_a_sign_in_a_text_is_no_comment() -> None:
    before = PAIR.replace("fit,", 'self.of["#"],').replace("0.1 * penalty", "penalty")
    assert 'self.manual_backward(self.of["#"] + penalty)' in rewritten({"train.py": changed(before)}, RULE)["train.py"]


def test_automatic_optimization_is_left_alone() -> None:
    text = BEFORE.replace("    automatic_optimization = False\n\n", "")
    assert run_rules({"train.py": text}, RULE, unsafe=True).findings == ()


GAN = """\
import torch
from lightning.pytorch import LightningModule


class GAN(LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.generator = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 3))
        self.critic = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))

    def training_step(self, batch, batch_idx):
        g, d = self.optimizers()
        fake = self.generator(batch[0])
        g.zero_grad()
        self.manual_backward(-self.critic(fake).mean(), retain_graph=True)
        g.step()
        judged = self.critic(fake)
        d_loss = judged.mean() - self.critic(batch[0]).mean()
        d.zero_grad()
        self.manual_backward(d_loss)
        d.step()

    def configure_optimizers(self):
        g = torch.optim.SGD(self.generator.parameters(), lr=0.1)
        d = torch.optim.SGD(self.critic.parameters(), lr=0.1)
        return [g, d], []
"""
RUN = """

if __name__ == "__main__":
    from lightning.pytorch import Trainer

    data = torch.utils.data.TensorDataset(torch.randn(8, 3))
    Trainer(max_epochs=1, accelerator="cpu").fit(MODEL(), torch.utils.data.DataLoader(data, batch_size=2))
"""


def stale(text: str) -> list[Finding]:
    made = run_rules({"train.py": text}, RULE, unsafe=True)
    assert made.changes == ()
    return list(made.findings)


CUT = GAN.replace("judged = self.critic(fake)", "judged = self.critic(fake.detach())")


def test_a_pass_through_weights_that_were_stepped_fails_before_and_ends_at_them_after() -> None:
    (finding,) = run_rules({"train.py": GAN}, RULE).findings
    assert (finding.span.line, finding.fix) == (21, "safe")
    assert "self.generator, whose weights the step in line 17" in finding.reason
    assert rewritten({"train.py": GAN}, RULE)["train.py"] == CUT
    run = RUN.replace("MODEL", "GAN")
    broken = train({"train.py": GAN + run})
    assert broken.failure is not None and "inplace operation" in broken.failure.message
    # what a torch without that check made of it: the critic's own gradient, and none that the generator's step saw
    meant = GAN.replace("backward(d_loss)", "backward(d_loss, inputs=list(self.critic.parameters()))")
    assert_same(train({"train.py": CUT + run}), train({"train.py": meant + run}))


NAMED = {
    "never zeroed": ("        g.zero_grad()\n", ""),
    "zeroed after the step": (
        "        g.zero_grad()\n",
        "",
        "        g.step()\n",
        "        g.step()\n        g.zero_grad()\n",
    ),
    "both steps behind": ("        d.step()\n", "        d.step()\n        g.step()\n"),
    "gradients read": ("        d.step()\n", '        d.step()\n        self.log("norm", self.w.grad.norm())\n'),
    "judged before the step, and never zeroed": (
        "        judged = self.critic(fake)\n",
        "",
        "        g.zero_grad()\n",
        "        judged = self.critic(fake)\n",
    ),
    "judged before the step, in a graph that is freed": (
        "        judged = self.critic(fake)\n",
        "",
        "        g.zero_grad()\n",
        "        judged = self.critic(fake)\n        g.zero_grad()\n",
        ", retain_graph=True",
        "",
    ),
    "no argument, and other weights too": (
        "judged.mean()",
        "(judged + fake).mean()",
        "self.critic.parameters()",
        "[*self.critic.parameters(), self.scale]",
    ),
    "nothing else is trained": ("judged = self.critic(fake)", "judged = torch.sum(fake)"),
}


@pytest.mark.parametrize("name", NAMED)
def test_a_pass_through_weights_that_were_stepped_is_named(name: str) -> None:
    text = GAN
    for old, new in zip(NAMED[name][::2], NAMED[name][1::2], strict=True):
        assert old in text
        text = text.replace(old, new)
    if name == "nothing else is trained":
        text = text.replace(" - self.critic(batch[0]).mean()", "")
    (finding,) = stale(text)
    assert f"`{'judged' if 'judged' in name else 'fake'}` was computed through self." in finding.reason


@pytest.mark.parametrize(
    ("head", "line"),
    [
        ("if batch_idx % 2:", 22),
        ("if batch_idx % 2:\n            pass\n        else:", 24),
        ("for _ in range(2):", 22),
        ("with self.seen:", 22),
    ],
)
def test_a_pass_that_some_batches_make_is_named(head: str, line: int) -> None:
    late = "        d.zero_grad()\n        self.manual_backward(d_loss)\n        d.step()\n"
    turn = f"        {head}\n" + late.replace("        ", "            ")
    text = GAN.replace(late, turn)
    (finding,) = stale(text)
    assert (finding.fix, finding.span.line) == ("manual", line)
    assert "`fake` was computed through self.generator before the step in line 17" in finding.reason
    anew = text.replace(
        "        judged = self.critic(fake)\n", "        judged = self.critic(self.generator(batch[0]))\n"
    )
    assert stale(anew) == []


JUDGED = GAN.replace("        judged = self.critic(fake)\n", "").replace(
    "        g.zero_grad()\n", "        judged = self.critic(fake)\n        g.zero_grad()\n"
)


def test_a_pass_that_was_judged_before_the_step_is_held_to_the_critic() -> None:
    held = JUDGED.replace("(d_loss)", "(d_loss, inputs=list(self.critic.parameters()))")
    assert [finding.fix for finding in run_rules({"train.py": JUDGED}, RULE).findings] == ["unsafe"]
    assert rewritten({"train.py": JUDGED}, RULE, unsafe=True)["train.py"] == held
    run = RUN.replace("MODEL", "GAN")
    broken = train({"train.py": JUDGED + run})
    assert broken.failure is not None and "inplace operation" in broken.failure.message
    # before its own step the critic judges both times alike
    assert_same(train({"train.py": held + run}), train({"train.py": CUT + run}))


@pytest.mark.parametrize("strategy", ["ddp", "ddp_find_unused_parameters_true"])
def test_ddp_waits_for_weights_that_a_pass_is_kept_from(strategy: str) -> None:
    run = RUN.replace("MODEL", "GAN").replace('"cpu"', f'"cpu", devices=2, strategy="{strategy}"')
    held = rewritten({"train.py": JUDGED}, RULE, unsafe=True)["train.py"]
    failure = train({"train.py": held + run}, processes=2).failure
    assert failure is not None and "parameters that were not used" in failure.message


FINE = {
    "held to the critic": ("(d_loss)", "(d_loss, inputs=list(self.critic.parameters()))"),
    "detached": ("judged = self.critic(fake)", "judged = self.critic(fake.detach())"),
    "computed again": ("judged = self.critic(fake)", "judged = self.critic(self.generator(batch[0]))"),
    "no gradient": (
        "        fake = self.generator(batch[0])\n",
        "        with torch.no_grad():\n            fake = self.generator(batch[0])\n",
    ),
    "shared through the other network alone": ("judged = self.critic(fake)", "judged = self.critic(batch[0])"),
    "stepped later": ("        g.step()\n        judged", "        judged"),
    "weights not seen": ("self.generator.parameters()", "self.weights()"),
}


@pytest.mark.parametrize("name", FINE)
def test_what_torch_accepts_or_cannot_be_told_is_not_named(name: str) -> None:
    old, new = FINE[name]
    assert old in GAN
    assert stale(GAN.replace(old, new)) == []


def test_a_shared_real_pass_does_train() -> None:
    text = GAN.replace(
        "fake = self.generator(batch[0])\n", "fake = self.generator(batch[0])\n        real = self.critic(batch[0])\n"
    )
    text = text.replace("-self.critic(fake).mean()", "real.mean() - self.critic(fake).mean()")
    text = text.replace("judged = self.critic(fake)", "judged = self.critic(fake.detach())")
    text = text.replace("self.critic(batch[0]).mean()\n        d.zero", "real.mean()\n        d.zero")
    assert stale(text) == []
    assert train({"train.py": text + RUN.replace("MODEL", "GAN")}).failure is None


HOOK = """\
from lightning.pytorch import LightningModule


class Keeps(LightningModule):
    def training_step(self, batch, batch_idx):
        return self.net(batch).mean()

    def backward(self, loss, *args):
        loss.backward(retain_graph=True)
"""


def test_a_hook_that_keeps_every_graph_is_named() -> None:
    made = run_rules({"train.py": HOOK}, RULE)
    assert [(finding.span.line, finding.fix) for finding in made.findings] == [(9, "manual")]
    assert run_rules({"train.py": HOOK.replace("retain_graph=True", "")}, RULE).findings == ()


PROGRAM = """\
import torch
from lightning.pytorch import LightningModule


class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))

    def training_step(self, batch, batch_idx):
        optimizer = self.optimizers()
        out = self.net(batch[0])
        fit, penalty = (out - 1).pow(2).mean(), out.abs().mean()
        optimizer.zero_grad()
        self.manual_backward(fit, retain_graph=True)
        self.manual_backward(0.1 * penalty)
        optimizer.step()

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=0.1)
"""


def test_one_pass_keeps_ranks_together() -> None:
    run = RUN.replace("MODEL", "Model").replace('"cpu"', '"cpu", devices=2, strategy="ddp"')
    before = {"train.py": PROGRAM + run}
    old, new = train(before, processes=2), train(rewritten(before, RULE), processes=2)
    assert new.failure is None and new.weights == new.ranks[0].weights
    for name, values in old.weights.items():
        assert new.weights[name] == pytest.approx(values, abs=1e-6)


def test_needless_retain_graph_goes_where_the_step_shows_everything() -> None:
    text = PROGRAM.replace("        self.manual_backward(0.1 * penalty)\n", "")
    after = rewritten({"train.py": text}, NEEDLESS)["train.py"]
    assert after == text.replace("self.manual_backward(fit, retain_graph=True)", "self.manual_backward(fit)")
    run = RUN.replace("MODEL", "Model")
    assert_same(train({"train.py": text + run}), train({"train.py": after + run}))


def test_sum_has_the_gradient_of_the_passes() -> None:
    torch.manual_seed(0)
    x, w = torch.randn(8, 3), torch.nn.Parameter(torch.randn(3, 1))
    out = (x @ w).tanh()
    fit, penalty = out.mean(), 0.1 * out.pow(2).mean()
    apart = [torch.autograd.grad(loss, w, retain_graph=True)[0] for loss in (fit, penalty)]
    assert torch.allclose(apart[0] + apart[1], torch.autograd.grad(fit + penalty, w)[0], atol=1e-6)
