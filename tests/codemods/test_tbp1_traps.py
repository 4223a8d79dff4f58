"""Manual loops that are right, or that only look like a broken one: each stays byte for byte, without a finding."""

from __future__ import annotations

import pytest

from codemods.plan import plan
from codemods.rule import Rule
from codemods.scan import Options
from tests.codemods.loop_programs import (
    BACKWARD,
    CLASS,
    DETACH,
    FLAG,
    RIGHT,
    SETUP,
    SGD,
    STEP,
    SUPER,
    TRAINER,
    ZERO,
    changed,
)
from tests.codemods.support import rule, run_rules, sources

RULES = tuple(rule(f"TBP{number}") for number in range(101, 111))
HEAD = RIGHT[: RIGHT.index("    def training_step")]
TAIL = RIGHT[RIGHT.index(SETUP) :]
ASKED = "        optimizer = self.optimizers()\n"


def step(body: str, *more: tuple[str, str]) -> str:
    """The program with another training step, its lines indented by eight."""
    lines = "".join(f"        {line}\n" if line else "\n" for line in body.strip("\n").split("\n"))
    return changed(*more, text=f"{HEAD}    def training_step(self, batch, batch_idx):\n{lines}\n{TAIL}")


TRAPS = {
    "the loop that is right": RIGHT,
    "zero_grad behind the step": changed((ZERO, ""), (STEP, STEP + ZERO)),
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
    "state cut in front of the call": changed(
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
    "flag behind the base class": changed((SUPER + FLAG, SUPER + FLAG + "        self.more = 1\n")),
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


FOUND = {
    "zero_grad in front of the step of a window": (
        step("""
optimizer = self.optimizers()
self.manual_backward(self.loss(batch) / 4)
if (batch_idx + 1) % 4 == 0:
    optimizer.zero_grad()
    optimizer.step()
"""),
        "TBP104",
        "    optimizer.step()\n            optimizer.zero_grad()\n",
    ),
    "zero_grad on both sides": (
        changed((BACKWARD + STEP, BACKWARD + ZERO + STEP)),
        "TBP104",
        BACKWARD + STEP,
    ),
    "optimizer asked for behind backward": (
        step("""
loss = self.loss(batch)
self.manual_backward(loss)
optimizer = self.optimizers()
optimizer.zero_grad()
optimizer.step()
"""),
        "TBP104",
        "        optimizer.step()\n        optimizer.zero_grad()\n",
    ),
    "clipping stays in front of the step": (
        changed((BACKWARD + STEP, BACKWARD + "            self.clip_gradients(optimizer, 0.5)\n")),
        "TBP105",
        "            self.clip_gradients(optimizer, 0.5)\n            optimizer.step()\n",
    ),
    "clipping goes into the loop with the step": (
        changed(
            (STEP, ""), (DETACH, DETACH + "        self.clip_gradients(optimizer, 0.5)\n        optimizer.step()\n")
        ),
        "TBP105",
        f"{BACKWARD}            self.clip_gradients(optimizer, 0.5)\n            optimizer.step()\n",
    ),
    "comments go along": (
        changed((ZERO + BACKWARD, BACKWARD + "            # start anew\n" + ZERO)),
        "TBP104",
        "            # start anew\n" + ZERO + BACKWARD,
    ),
    "a class without a constructor": (
        changed((HEAD[HEAD.index("    def __init__") :], "")),
        "TBP101",
        "    automatic_optimization = False\n\n    def training_step",
    ),
    "an annotated function of torch": (
        changed(("x.split(", "torch.chunk(x, "), ("y.split(", "torch.chunk(y, ")),
        "TBP107",
        "torch.split(x, self.truncated_bptt_steps, dim=1)",
    ),
}


@pytest.mark.parametrize(("text", "code", "held"), FOUND.values(), ids=FOUND)
def test_is_rewritten(text: str, code: str, held: str) -> None:
    made = run_rules({"train.py": text}, *RULES)
    assert made.bugs == ()
    assert {(item.code, item.applied) for item in made.findings} == {(code, True)}
    assert held in made.final()["train.py"].decode()


REFUSED = {
    "backward in a branch": (
        step(
            """
optimizer = self.optimizers()
if self.pretraining:
    return self.loss(batch)
else:
    optimizer.zero_grad()
    self.manual_backward(self.loss(batch))
    optimizer.step()
""",
            (FLAG, ""),
        ),
        "TBP101",
        "stands in a branch",
    ),
    "no super().__init__()": (changed((SUPER + FLAG, "")), "TBP101", "no plain `super().__init__(...)`"),
    "1.x parameters": (changed((FLAG, ""), ("batch_idx):", "batch_idx, optimizer_idx):")), "TBP101", "Lightning 1.x"),
    "a Trainer that clips": (
        changed((FLAG, ""), (TRAINER, "Trainer(gradient_clip_val=0.5)")),
        "TBP101",
        "gradient_clip_val",
    ),
    "two statements on a line": (
        changed((SUPER + FLAG, "        self.n = 1; self.automatic_optimization = False\n" + SUPER)),
        "TBP102",
        "share a line",
    ),
    "two statements on a line of the step": (
        changed((ZERO + BACKWARD, "            self.manual_backward(loss); optimizer.zero_grad()\n")),
        "TBP104",
        "not plain",
    ),
    "a window of batches": (
        step(
            """
optimizer = self.optimizers()
self.manual_backward(self.loss(batch))
if (batch_idx + 1) % 4 == 0:
    optimizer.step()
    optimizer.zero_grad()
""",
            (FLAG, ""),
        ),
        "TBP101",
        "some batches only",
    ),
    "several backward passes": (
        step(
            """
optimizer = self.optimizers()
optimizer.zero_grad()
first, second = self.losses(batch)
self.manual_backward(first, retain_graph=True)
self.manual_backward(second)
optimizer.step()
""",
            (SUPER + FLAG, FLAG + SUPER),
        ),
        "TBP102",
        "several times",
    ),
    "a lost flag that nothing answers": (
        changed((SUPER + FLAG, FLAG + SUPER), (ZERO + BACKWARD + STEP, ""), (SETUP, "        return loss\n\n" + SETUP)),
        "TBP102",
        "Lightning optimizes automatically as it is",
    ),
    "a missing optimizer among several": (
        step(
            """
self.optimizer.zero_grad()
self.manual_backward(self.loss(batch))
self.optimizer.step()
""",
            (
                SGD,
                "        first = torch.optim.SGD(self.rnn.parameters(), 0.1)\n"
                "        return first, torch.optim.SGD(self.head.parameters(), 0.1)\n",
            ),
        ),
        "TBP103",
        "several optimizers",
    ),
    "no zero_grad, two steps": (
        step("""
optimizer = self.optimizers()
self.manual_backward(self.loss(batch))
if batch_idx:
    optimizer.step()
else:
    optimizer.step()
"""),
        "TBP104",
        "not plain",
    ),
    "a returned loss that nobody uses": (
        step("return self.loss(batch)"),
        "TBP105",
        "Delete `automatic_optimization = False`",
    ),
    "no step and no zero_grad": (changed((ZERO + BACKWARD + STEP, BACKWARD)), "TBP105", "not plain"),
    "step behind a loop that carries nothing": (
        step("""
optimizer = self.optimizers()
for part in batch[0].split(4):
    optimizer.zero_grad()
    self.manual_backward(self.loss(part))
optimizer.step()
"""),
        "TBP105",
        "to sum the gradients of all chunks",
    ),
    "through all chunks, perhaps meant": (
        changed(
            ("truncated_bptt_steps", "length"),
            (BACKWARD, BACKWARD.replace("loss)", "loss, retain_graph=True)")),
            (STEP + DETACH, STEP[4:]),
            (ZERO, ""),
            ("        hiddens = None\n", "        hiddens = None\n        optimizer.zero_grad()\n"),
        ),
        "TBP106",
        "If that is not meant",
    ),
    "a name that is taken": (
        changed((DETACH, ""), ("def main():", "apply_to_collection = 1\n\n\ndef main():")),
        "TBP106",
        "apply_to_collection",
    ),
    "chunks by keyword": (changed(("x.split(self", "x.chunk(chunks=self")), "TBP107", "by position"),
    "a loop over the number": (
        changed(
            ("for part, target in zip(xs, ys):\n", "for part in self.truncated_bptt_steps:\n            target = y\n")
        ),
        "TBP107",
        "for chunk in x.split",
    ),
    "the samples' axis": (
        step("""
optimizer = self.optimizers()
hiddens = None
for part in batch[0].split(4):
    out, hiddens = self.rnn(part, hiddens)
    optimizer.zero_grad()
    self.manual_backward(out.mean())
    optimizer.step()
    hiddens = tuple(state.detach() for state in hiddens)
"""),
        "TBP107",
        "dim=1",
    ),
    "accumulation by the Trainer": (
        changed((TRAINER, "Trainer(accumulate_grad_batches=4)")),
        "TBP108",
        "is_last_batch",
    ),
    "hooks around the step": (
        changed(
            (TRAINER, "Trainer(gradient_clip_val=0.5)"),
            (SETUP, "    def on_before_optimizer_step(self, optimizer):\n        pass\n\n" + SETUP),
        ),
        "TBP108",
        "hooks of its own",
    ),
    "clipping on both sides": (
        changed(
            (TRAINER, "Trainer(gradient_clip_val=0.5)"),
            (STEP, "            self.clip_gradients(optimizer, 0.5)\n" + STEP),
        ),
        "TBP108",
        "clips gradients itself",
    ),
    "schedulers of several optimizers": (
        changed(
            (
                SGD,
                "        first = torch.optim.SGD(self.rnn.parameters(), lr=0.1)\n"
                "        second = torch.optim.SGD(self.head.parameters(), lr=0.1)\n"
                "        decay = torch.optim.lr_scheduler.StepLR(first, 1)\n"
                '        return {"optimizer": first, "lr_scheduler": decay}, {"optimizer": second}\n',
            )
        ),
        "TBP109",
        "Manual optimization leaves them to the module",
    ),
    "a plateau": (
        changed(
            (
                SGD,
                "        optimizer = torch.optim.SGD(self.parameters(), lr=0.1)\n"
                "        decay = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer)\n"
                '        return {"optimizer": optimizer, "lr_scheduler": decay, "monitor": "val_loss"}\n',
            )
        ),
        "TBP109",
        "steps on a monitored metric",
    ),
    "a frequency": (
        changed(
            (
                SGD,
                "        optimizer = torch.optim.SGD(self.parameters(), lr=0.1)\n"
                "        decay = torch.optim.lr_scheduler.StepLR(optimizer, 1)\n"
                '        return [optimizer], [{"scheduler": decay, "interval": "step", "frequency": 2}]\n',
            )
        ),
        "TBP109",
        "a frequency other than 1",
    ),
    "one scheduler or none": (
        changed(
            (
                SGD,
                "        optimizer = torch.optim.SGD(self.parameters(), lr=0.1)\n"
                "        if self.constant:\n            return optimizer\n"
                "        return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 1)]\n",
            )
        ),
        "TBP109",
        "in one way or another",
    ),
    "two optimizers": (
        changed(
            (
                SGD,
                "        optimizer = torch.optim.SGD(self.parameters(), lr=0.1)\n"
                "        other = torch.optim.SGD(self.parameters(), lr=0.1)\n"
                "        return [optimizer, other], [torch.optim.lr_scheduler.StepLR(optimizer, 1)]\n",
            )
        ),
        "TBP109",
        "several optimizers",
    ),
}


@pytest.mark.parametrize(("text", "code", "why"), REFUSED.values(), ids=REFUSED)
def test_is_left_to_a_person(text: str, code: str, why: str) -> None:
    made = run_rules({"train.py": text}, rule(code), unsafe=True)
    assert (made.changes, made.bugs) == ((), ())
    reasons = [item.reason for item in made.findings if item.fix == "manual"]
    assert len(reasons) == len(made.findings) > 0
    assert any(why in reason for reason in reasons)


UNSEEN = changed((DETACH, ""), ("self.rnn(part, hiddens)", "self.network(part, hiddens)"))


def test_a_state_of_unseen_origin_is_cut_only_when_asked_for() -> None:
    assert run_rules({"train.py": UNSEEN}, *RULES).changes == ()
    made = run_rules({"train.py": UNSEEN}, *RULES, unsafe=True)
    assert [item.fix for item in made.findings] == ["unsafe"]
    assert "apply_to_collection(hiddens," in made.final()["train.py"].decode()
    elsewhere = {"train.py": UNSEEN, "network.py": "def run(x, state):\n    return x, state.detach()\n"}
    assert run_rules(elsewhere, *RULES, unsafe=True).findings == ()


WIPED = changed((ZERO + BACKWARD, BACKWARD + ZERO), (DETACH, ""))


@pytest.mark.parametrize(("old", "new"), [("\n", "\r\n"), ("    ", "\t"), ("    ", "  ")])
def test_lines_are_laid_out_as_those_around_them(old: str, new: str) -> None:
    text = WIPED.replace(old, new)
    made = run_rules({"train.py": text}, *RULES)
    assert made.bugs == ()
    after = made.final()["train.py"].decode()
    assert "apply_to_collection(hiddens" in after
    assert after.count("\r") == (after.count("\n") if "\r" in text else 0)
    assert ("\n    " in after) == ("\n    " in text)
    assert after.index("zero_grad()") < after.index("manual_backward(loss)") < after.index("optimizer.step()")


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


def mixed(pin: str) -> list[str]:
    text = changed((TRAINER, 'Trainer(precision="bf16-mixed")'))
    used: tuple[Rule, ...] = (rule("TBP110"),)
    made = plan(sources({"train.py": text}), Options(used, pins=(pin,) if pin else ()))
    return [item.reason for item in made.findings if item.applied]


@pytest.mark.parametrize("pin", ["lightning==2.6.6", "lightning>=2.5.5", "lightning", ""])
def test_a_region_that_does_not_cache_needs_nothing(pin: str) -> None:
    assert mixed(pin) == []


@pytest.mark.parametrize("pin", ["lightning>=2.0", "lightning==2.5.4", "pytorch-lightning<2"])
def test_a_region_that_may_cache_is_cleared(pin: str) -> None:
    (reason,) = mixed(pin)
    assert "2.5.4" in reason


def test_the_flag_of_a_base_class_in_another_file_counts() -> None:
    base = (
        "from lightning.pytorch import LightningModule\n\n\nclass Base(LightningModule):\n    def __init__(self):\n"
        "        super().__init__()\n        self.automatic_optimization = False\n"
    )
    text = changed(
        (FLAG, ""),
        (CLASS, "class Model(Base):\n"),
        ("import LightningModule, Trainer", "import Trainer\nfrom base import Base"),
    )
    assert run_rules({"base.py": base, "train.py": text}, *RULES).findings == ()
    alone = base.replace("        self.automatic_optimization = False\n", "")
    found = run_rules({"base.py": alone, "train.py": text}, *RULES).findings
    assert {item.code for item in found} == {"TBP101"}


def test_an_optimizer_that_somebody_else_sets_is_there() -> None:
    text = changed((ASKED, ""), (ZERO, ZERO.replace("opt", "self.opt")), (STEP, STEP.replace("opt", "self.opt")))
    script = "from train import Model\n\nmodel = Model()\nmodel.optimizer = build(model)\n"
    assert run_rules({"train.py": text, "other.py": script}, *RULES).findings == ()
    assert run_rules({"train.py": text, "other.py": ""}, *RULES).findings != ()


def test_the_clipping_of_a_trainer_in_another_file_moves_with_it() -> None:
    head, _, tail = RIGHT.partition("def main():")
    script = "import torch\nfrom lightning.pytorch import Trainer\nfrom model import Model\n\n\ndef main():" + tail
    files = {"model.py": head, "train.py": changed((TRAINER, "Trainer(gradient_clip_val=0.5)"), text=script)}
    made = run_rules(files, rule("TBP108"))
    assert made.bugs == ()
    assert b"gradient_clip_val" not in made.final()["train.py"]
    assert b"    gradient_clip_val = 0.5\n" in made.final()["model.py"]
