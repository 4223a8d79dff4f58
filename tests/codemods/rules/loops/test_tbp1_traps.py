"""Manual loops that are right, or that only look like a broken one: each stays byte for byte, without a finding."""

from __future__ import annotations

import pytest

from tests.codemods.loop_programs import (
    ASKED,
    BACKWARD,
    CLASS,
    DETACH,
    FLAG,
    RIGHT,
    RULES,
    SETUP,
    SGD,
    STEP,
    SUPER,
    TRAINER,
    ZERO,
    changed,
    step,
)
from tests.codemods.support import run_rules

TRAPS = {
    "the loop that is right": RIGHT,
    "zero_grad after the step": changed((ZERO, ""), (STEP, STEP + ZERO)),
    "two optimizers": step("""
g, d = self.optimizers()
d.zero_grad()
self.manual_backward(self.d_loss(batch))
d.step()
g.zero_grad()
self.manual_backward(self.g_loss(batch))
g.step()
"""),
    "two optimizers, toggled": step("""
g, d = self.optimizers()
self.toggle_optimizer(g)
self.manual_backward(self.g_loss(batch))
g.step()
g.zero_grad()
self.untoggle_optimizer(g)
with d.toggle_model():
    self.manual_backward(self.d_loss(batch))
    d.step()
    d.zero_grad()
"""),
    "critic loop": step("""
g, c = self.optimizers()
for _ in range(5):
    c.zero_grad()
    self.manual_backward(self.critic_loss(batch))
    c.step()
g.zero_grad()
self.manual_backward(self.g_loss(batch))
g.step()
"""),
    "gradient accumulation": step("""
optimizer = self.optimizers()
loss = self.loss(batch)
self.manual_backward(loss / 4)
if (batch_idx + 1) % 4 == 0:
    optimizer.step()
    optimizer.zero_grad()
"""),
    "gradients of all chunks in one step": step("""
optimizer = self.optimizers()
optimizer.zero_grad()
for part in batch[0].split(4):
    self.manual_backward(self.loss(part))
optimizer.step()
"""),
    "several backward passes, one step": step("""
optimizer = self.optimizers()
optimizer.zero_grad()
first, second = self.losses(batch)
self.manual_backward(first, retain_graph=True)
self.manual_backward(second)
optimizer.step()
"""),
    "nested loops that carry nothing": step("""
optimizer = self.optimizers()
total = torch.zeros([1])
for layer in self.layers:
    features = layer(batch).detach()
    for index in range(4):
        optimizer.zero_grad()
        loss = self.decode(features[index])
        self.manual_backward(loss.mean())
        optimizer.step()
        total += loss.sum()
return {"loss": total}
"""),
    "gradients projected by hand": step("""
optimizer = self.optimizers()
found = []
for loss in self.losses(batch):
    optimizer.zero_grad()
    self.manual_backward(loss, retain_graph=True)
    found.append([p.grad.clone() for p in self.parameters()])
for parameter, gradient in zip(self.parameters(), self.project(found)):
    parameter.grad = gradient
optimizer.step()
"""),
    "gradients set between zero_grad and step": step("""
optimizer = self.optimizers()
self.manual_backward(self.loss(batch))
found = self.project([p.grad.clone() for p in self.parameters()])
optimizer.zero_grad()
self.set_gradients(found)
optimizer.step()
"""),
    "plain SGD by hand": step("""
self.manual_backward(self.loss(batch))
for parameter in self.parameters():
    parameter.data.sub_(0.1 * parameter.grad)
    parameter.grad.zero_()
"""),
    "helper that goes backward": step(
        """
optimizer = self.optimizers()
optimizer.zero_grad()
self.propagate(batch)
optimizer.step()
""",
        (SETUP, "    def propagate(self, batch):\n        self.manual_backward(self.loss(batch))\n\n" + SETUP),
    ),
    "helper that zeroes": step(
        """
optimizer = self.optimizers()
self.clear(optimizer)
self.manual_backward(self.loss(batch))
optimizer.step()
""",
        (SETUP, "    def clear(self, optimizer):\n        optimizer.zero_grad()\n\n" + SETUP),
    ),
    "function that does all": step("""
optimizer = self.optimizers()
self.manual_backward(self.loss(batch))
finish(optimizer)
"""),
    "zero_grad of the module": step("""
optimizer = self.optimizers()
self.zero_grad()
self.manual_backward(self.loss(batch))
optimizer.step()
"""),
    "closure": step("""
optimizer = self.optimizers()

def closure():
    optimizer.zero_grad()
    loss = self.loss(batch)
    self.manual_backward(loss)
    return loss

optimizer.step(closure)
"""),
    "optimizer that the class keeps": step(
        """
self.optimizer.zero_grad()
self.manual_backward(self.loss(batch))
self.optimizer.step()
""",
        (SGD, SGD.replace("return", "self.optimizer =") + "        return self.optimizer\n"),
    ),
    "optimizer that a base class may keep": step(
        """
self.optimizer.zero_grad()
self.manual_backward(self.loss(batch))
self.optimizer.step()
""",
        ("(LightningModule)", "(Base)"),
        ("import LightningModule, Trainer", "import Trainer\nfrom library import Base"),
    ),
    "inner loop with an optimizer of its own": changed(
        (FLAG, ""),
        (
            RIGHT[RIGHT.index("        x, y = batch") : RIGHT.index(SETUP)],
            """\
        model, loss = self.copy(), 0
        inner = torch.optim.SGD(model.parameters(), lr=0.1)
        for part in batch:
            inner.zero_grad()
            model.loss(part).backward()
            inner.step()
        return model.loss(batch)

""",
        ),
    ),
    "steps that leave no gradient to Lightning's own": changed(
        (FLAG, ""), (BACKWARD, "            loss.backward()\n"), (ZERO, ""), (STEP, STEP + ZERO)
    ),
    "epochs over a rollout": step("""
optimizer = self.optimizers()
observations, state = self.rollout(batch)
for _ in range(4):
    for part in torch.randperm(16).chunk(4):
        optimizer.zero_grad()
        self.manual_backward(self.ppo_loss(observations[part]))
        optimizer.step()
"""),
    "environment whose state goes on": step("""
optimizer = self.optimizers()
state = self.env.reset()
for _ in range(8):
    reward, state = self.env.step(state)
    loss = -self.head(state).mean()
    optimizer.zero_grad()
    self.manual_backward(loss)
    optimizer.step()
"""),
    "total that goes on": changed(
        ("        hiddens = None\n", "        hiddens = None\n        total_state = 0.0\n"),
        (STEP, STEP + "            total_state = torch.add(total_state, loss.detach())\n"),
    ),
    "state cut before the call": changed(
        (DETACH, ""),
        (
            "            out, hiddens = self.rnn(part, hiddens)\n",
            "            if hiddens is not None:\n"
            "                hiddens = tuple(state.detach() for state in hiddens)\n"
            "            out, hiddens = self.rnn(part, hiddens)\n",
        ),
    ),
    "state cut by a function": changed((DETACH, "            hiddens = repackage_hidden(hiddens)\n")),
    "state cut in the model": changed(
        (DETACH, ""),
        ("self.rnn(part, hiddens)", "self.run(part, hiddens)"),
        (
            SETUP,
            "    def run(self, x, hiddens):\n        out, (h, c) = self.rnn(x, hiddens)\n"
            "        return out, (h.detach(), c.detach())\n\n" + SETUP,
        ),
    ),
    "states that the model keeps": step("""
optimizer = self.optimizers()
self.model.reset_states()
optimizer.zero_grad()
for start in range(0, 16, 4):
    loss = self.loss(self.model(batch[:, start : start + 4]))
    self.manual_backward(loss)
    optimizer.step()
    self.model.detach_states()
    optimizer.zero_grad()
"""),
    "a number of chunks": changed(
        ("x.split(self.truncated_bptt_steps", "x.tensor_split(self.n_chunks"),
        ("y.split(self.truncated_bptt_steps", "y.tensor_split(self.n_chunks"),
    ),
    "chunk(2) of gates": changed(("self.rnn(part, hiddens)", "self.rnn(part.chunk(2, dim=-1)[0], hiddens)")),
    "indices, not lengths": changed(("x.split(self.truncated_bptt_steps", "x.tensor_split((4, 8)")),
    "range over a length": changed(
        (
            "for part, target in zip(xs, ys):\n",
            "for index in range(len(xs)):\n            part, target = xs[index], ys[index]\n",
        )
    ),
    "schedulers stepped in a hook": changed(
        (
            SGD,
            "        optimizer = torch.optim.SGD(self.parameters(), lr=0.1)\n"
            "        return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 1)]\n\n"
            "    def on_train_epoch_end(self):\n        self.lr_schedulers().step()\n",
        ),
    ),
    "schedulers stepped by a callback": changed(
        (
            SGD,
            "        optimizer = torch.optim.SGD(self.parameters(), lr=0.1)\n"
            "        return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 1)]\n\n\n"
            "class Stepping(Callback):\n    def on_train_epoch_end(self, trainer, module):\n"
            "        module.lr_schedulers().step()\n",
        ),
        ("import LightningModule", "import Callback, LightningModule"),
    ),
    "Trainer that trains something else": changed(
        ("    trainer = ", "    Trainer(gradient_clip_val=0.5).fit(other(), data)\n    trainer = ")
    ),
    "Trainer that clips by nothing": changed((TRAINER, "Trainer(gradient_clip_val=0, accumulate_grad_batches=1)")),
    "no autocast": changed(("        x, y = batch\n", "        x, y = batch\n        torch.clear_autocast_cache()\n")),
    "region without a cache": changed(
        (
            "            out, hiddens",
            '            with torch.autocast("cpu", cache_enabled=False):\n                pass\n'
            "            out, hiddens",
        )
    ),
    "region for each chunk": changed(
        (
            "            out, hiddens = self.rnn(part, hiddens)\n",
            '            with torch.autocast("cpu"):\n                out, hiddens = self.rnn(part, hiddens)\n',
        )
    ),
    "flag set by who builds it": changed(
        (FLAG, ""),
        (
            "    trainer.fit(Model(), ",
            "    model = Model()\n    model.automatic_optimization = False\n    trainer.fit(model, ",
        ),
    ),
    "flag that depends": changed((FLAG, FLAG.replace("False", "not manual"))),
    "both kinds in one step": changed(
        (FLAG, ""),
        (
            "        x, y = batch\n",
            "        if self.automatic_optimization:\n            return self.loss(batch)\n        x, y = batch\n",
        ),
    ),
    "flag after the base class": changed((SUPER + FLAG, SUPER + FLAG + "        self.more = 1\n")),
    "automatic optimization": changed(
        (FLAG, ""),
        (ZERO + BACKWARD + STEP, "            losses.append(loss)\n"),
        (SETUP, "        return sum(losses)\n\n" + SETUP),
    ),
    "plain PyTorch": changed(
        ("(LightningModule)", "(nn.Module)"), (BACKWARD, "            loss.backward()\n"), (DETACH, "")
    ),
    "Fabric": changed(
        (CLASS, "class Model(nn.Module):\n"),
        ("self.manual_backward(loss)", "self.fabric.backward(loss)"),
        (FLAG, ""),
        (ASKED, "        optimizer = self.optimizer\n"),
    ),
    "a class of another library": changed(
        ("from lightning.pytorch import LightningModule, Trainer", "from cluster import LightningModule, Trainer"),
        (ZERO + BACKWARD, BACKWARD + ZERO),
    ),
    "training step of a validation": changed(
        ("def training_step", "def validation_step"), (ZERO + BACKWARD, BACKWARD + ZERO)
    ),
    "optimizers handled in a loop": step("""
for optimizer in self.optimizers():
    self.manual_backward(self.loss(batch))
    optimizer.step()
    optimizer.zero_grad()
"""),
    "scaler of its own": step("""
optimizer = self.optimizers()
self.scaler.scale(self.loss(batch)).backward()
self.scaler.step(optimizer)
self.scaler.update()
optimizer.zero_grad()
"""),
    "a loss that somebody else uses": step("return self.agent.update(self, batch)"),
    "nothing to optimize": step("return self.loss(batch)", (SGD, "        return None\n")),
    "super does the rest": changed(
        (ZERO, ""),
        ("        x, y = batch\n", "        super().training_step(batch, batch_idx)\n        x, y = batch\n"),
    ),
}


@pytest.mark.parametrize("text", TRAPS.values(), ids=TRAPS)
def test_stays_without_a_finding(text: str) -> None:
    compile(text, "train.py", "exec")
    made = run_rules({"train.py": text}, *RULES, unsafe=True)
    assert made.bugs == ()
    assert [f"{item.code} {item.message}" for item in made.findings] == []
    assert made.changes == ()


WITH_ALL = {
    "no flag": changed((FLAG, ""), (BACKWARD, "            loss.backward()\n")),
    "no flag, self.backward": changed((FLAG, ""), ("manual_backward", "backward")),
    "no flag, retain_graph": changed((FLAG, ""), (BACKWARD, BACKWARD.replace("loss)", "loss, retain_graph=True)"))),
    "nothing is right": changed(
        (FLAG, ""),
        (ASKED, ""),
        (
            ZERO + BACKWARD + STEP + DETACH,
            "            self.backward(loss)\n            self.optimizer.step()\n"
            "            self.optimizer.zero_grad()\n",
        ),
        ("x.split", "x.tensor_split"),
        ("y.split", "y.tensor_split"),
    ),
    "lost flag, raw backward": changed((SUPER + FLAG, FLAG + SUPER), (BACKWARD, "            loss.backward()\n")),
    "wiped, raw and retained": changed(
        (ZERO + BACKWARD, "            loss.backward(retain_graph=True)\n" + ZERO), (DETACH, "")
    ),
}


@pytest.mark.parametrize("text", WITH_ALL.values(), ids=WITH_ALL)
def test_goes_with_all_other_rules(text: str) -> None:
    made = run_rules({"train.py": text})
    assert made.bugs == ()
    after = made.final()["train.py"].decode()
    assert "self.manual_backward(loss" in after
    assert after.count("automatic_optimization = False") == 1
    assert after.index(SUPER) < after.index(FLAG)
