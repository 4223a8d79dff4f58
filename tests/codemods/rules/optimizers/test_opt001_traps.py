"""OPT001: what is refused with the reason, what is left for a look, and what is left alone."""

from __future__ import annotations

import pytest

from codemods.engine.plan import Plan, plan
from codemods.engine.scan import Options
from codemods.rules.optimizers.opt001 import BEFORE
from tests.codemods.support import refusals, rewritten, rule, run_rules, sources

OPT = rule("OPT001")
STEP = "    def training_step(self, batch, batch_idx, optimizer_idx):\n"
SETUP = "    def configure_optimizers(self):\n"
TRAINER = "max_epochs=2, gradient_clip_val=0.5"
RETURN = "return [generator, discriminator], []"


def changed(*replacements: tuple[str, str]) -> str:
    text = BEFORE
    for old, new in replacements:
        assert old in text
        text = text.replace(old, new)
    return text


def unsafe(files: dict[str, str]) -> Plan:
    return plan(sources(files), Options((OPT,), unsafe=True))


def method(text: str) -> str:
    """The class with another method."""
    return changed((SETUP, "".join(f"    {line}\n" if line else "\n" for line in text.splitlines()) + "\n" + SETUP))


REFUSED = {
    "closure": (changed(("torch.optim.Adam(self.g", "torch.optim.LBFGS(self.g")), "LBFGS needs a closure"),
    "outputs by *args": (
        method("def on_train_batch_end(self, *args):\n    keep(args)"),
        "on_train_batch_end reads",
    ),
    "step end": (method("def training_step_end(self, output):\n    return output"), "no longer called"),
    "index in a hook of no fixed number of optimizers": (
        changed(
            (
                SETUP,
                f"    def on_before_optimizer_step(self, o, optimizer_idx):\n        keep(optimizer_idx)\n\n{SETUP}",
            ),
            ("return [generator, discriminator], []", "return generator if self.one else [generator, discriminator]"),
        ),
        "reads the index, which is not known",
    ),
    "step of a module that is a part": (
        changed(
            ("class GAN(LightningModule):", "class Steps(torch.nn.Module):"),
            ("def main", "class GAN(Steps, LightningModule):\n    pass\n\n\ndef main"),
        ),
        "takes its training_step from it, but it is not a LightningModule itself",
    ),
    "optimizer in backward": (
        method("def backward(self, loss, optimizer, optimizer_idx):\n    optimizer.scale(loss).backward()"),
        "reads `optimizer`",
    ),
    "scheduler's own step": (
        method("def lr_scheduler_step(self, scheduler, optimizer_idx, metric):\n    scheduler.step()"),
        "lr_scheduler_step",
    ),
    "another order": (
        changed((STEP, STEP.replace("batch_idx, optimizer_idx", "optimizer_idx, batch_idx"))),
        "ordinary method",
    ),
    "by keyword only": (changed((STEP, STEP.replace("optimizer_idx", "*, optimizer_idx"))), "ordinary method"),
    "decorated": (changed((STEP, "    @torch.enable_grad()\n" + STEP)), "decorated with `@torch.enable_grad()`."),
    "name of the loop": (changed((STEP, STEP.replace("batch,", "output,"))), "a parameter `output`"),
    "method of that name": (method("def training_step_for(self):\n    pass"), "already has a method"),
    "no configure_optimizers": (changed((SETUP, "    def optimizers_(self):\n")), "no configure_optimizers"),
    "optimizers that nobody can tell": (changed((RETURN, "return self.make(), self.more()")), "optimizers or lists"),
    "schedulers of two kinds, or none": (
        changed(
            (
                RETURN,
                "s = torch.optim.lr_scheduler.StepLR(generator, 1)\n        if self.warm:\n"
                '            return [generator, discriminator], [s, {"scheduler": s, "interval": "step"}]\n'
                f"        {RETURN}",
            )
        ),
        "different kinds",
    ),
    "scheduler every half epoch": (
        changed(
            (
                RETURN,
                "s = torch.optim.lr_scheduler.StepLR(generator, 1)\n"
                '        return [generator, discriminator], [{"scheduler": s, "interval": self.every}]',
            )
        ),
        "interval is not a literal",
    ),
    "turns with schedulers": (
        changed(
            (
                RETURN,
                "s = torch.optim.lr_scheduler.StepLR(generator, 1)\n"
                '        return [{"optimizer": generator, "frequency": 1, "lr_scheduler": s}, '
                '{"optimizer": discriminator, "frequency": 5}]',
            )
        ),
        "turns of their schedulers",
    ),
    "turns with accumulation": (
        changed(
            (
                RETURN,
                'return [{"optimizer": generator, "frequency": 1}, {"optimizer": discriminator, "frequency": 5}]',
            ),
            (TRAINER, "accumulate_grad_batches=2"),
        ),
        "have a frequency",
    ),
    "manual at times": (
        changed(("super().__init__()", "super().__init__()\n        self.automatic_optimization = not self.fast")),
        "set other than to True in __init__",
    ),
    "flag as a property": (
        method("@property\ndef automatic_optimization(self):\n    return True"),
        "automatic_optimization in its own way",
    ),
    "step used by name": (changed((SETUP, "    test_step = training_step\n\n" + SETUP)), "by name in line"),
    "step called on another": (BEFORE + "\n\nGAN().training_step(1, 0, 0)\n", "by name in line"),
    "two classes of a name": (BEFORE + "\n\n" + BEFORE.split("\n\n\n", 1)[1], "two classes"),
    "weights averaged": (changed((TRAINER, "callbacks=[StochasticWeightAveraging()]")), "replaces the schedulers"),
    "windows that grow": (changed((TRAINER, "callbacks=[GradientAccumulationScheduler({0: 2})]")), "refuses it"),
    "optimizers kept by the name of a method": (
        changed(
            (
                "        return [generator",
                "        self.optimizers = [generator, discriminator]\n        return [generator",
            )
        ),
        "hides the method that the loop calls",
    ),
    "schedulers kept by the name of a method": (
        changed(("super().__init__()", "super().__init__()\n        self.lr_schedulers = []")),
        "hides the method that the loop calls",
    ),
    "steps by hand": (
        changed((STEP, STEP + "        g, d = self.optimizers()\n        g.step()\n")),
        "optimizes by hand in line",
    ),
    "steps by hand, one of them": (changed((STEP, STEP + "        self.optimizers()[0].step()\n")), "by hand in line"),
    "default that is neither": (changed((STEP, STEP.replace("optimizer_idx)", "optimizer_idx=1)"))), "the index is 1"),
}


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED.keys())
def test_refused_with_the_reason(case: tuple[str, str]) -> None:
    text, reason = case
    found = refusals({"train.py": text}, "OPT001")
    assert found
    assert all(reason in item for item in found), found


MORE = {
    "callback that reads the outputs": (
        "from pytorch_lightning import Callback\n\n\nclass Show(Callback):\n"
        "    def on_train_batch_end(self, trainer, module, outputs, batch, batch_idx):\n        print(outputs)\n",
        "no longer gets the outputs",
    ),
    "callback that may read the outputs": (
        "from pytorch_lightning import Callback\n\n\nclass Show(Callback):\n"
        "    def on_train_batch_end(self, trainer, module, *args, **kwargs):\n        print(args[0])\n",
        "no longer gets the outputs",
    ),
    "callback of a hook that is not called": (
        "from pytorch_lightning import Callback\n\n\nclass Show(Callback):\n"
        "    def on_before_zero_grad(self, trainer, module, optimizer):\n        print(optimizer)\n",
        "does not call",
    ),
    "caller": ("from train import GAN\n\nGAN().training_step(None, 0, 1)\n", "called by name in more.py"),
    "subclass with a hook": (
        "from train import GAN\n\n\nclass Child(GAN):\n    def optimizer_step(self, *args):\n        ...\n",
        "Child (more.py), a base class or subclass, defines optimizer_step",
    ),
    "subclass that calls another's step": (
        "from train import GAN\n\n\nclass Child(GAN):\n    def training_step(self, batch, batch_idx, optimizer_idx):\n"
        "        return GAN.training_step(self, batch, batch_idx, optimizer_idx)\n",
        "defines training_step",
    ),
}


@pytest.mark.parametrize("case", MORE.values(), ids=MORE.keys())
def test_other_files_forbid_it(case: tuple[str, str]) -> None:
    text, reason = case
    found = refusals({"train.py": BEFORE, "more.py": text}, "OPT001")
    assert any(reason in item for item in found), found


@pytest.mark.parametrize("parameters", ["trainer, module, *args, **kwargs", "trainer, module, outputs, *rest"])
def test_a_callback_that_leaves_what_it_is_given_unread_does_not(parameters: str) -> None:
    text = f"""from pytorch_lightning import Callback


class Keep(Callback):
    def on_train_batch_end(self, {parameters}):
        if module.global_step % 10 == 0:
            trainer.save_checkpoint("latest.ckpt")
"""
    made = rewritten({"train.py": BEFORE, "more.py": text}, rule("OPT001"))
    assert "self.automatic_optimization = False" in made["train.py"] and made["more.py"] == text


LOOK = {
    "clipping from a configuration": (
        {
            "train.py": changed((TRAINER, "**config"), ("    trainer.fit", "    run.fit")),
            "conf.yaml": "gradient_clip_val: 0.5\nmodel: train.GAN\n",
        },
        "gradient_clip_val is also in conf.yaml",
        "    gradient_clip_val = 0.0\n",
    ),
    "accumulation from a function": (
        {"train.py": changed((TRAINER, "accumulate_grad_batches=windows(loader)"), ("    trainer.fit", "    run.fit"))},
        "not a literal",
        "    accumulate_grad_batches = 1\n",
    ),
    "optimizer of another library": (
        {"train.py": changed(("torch.optim.Adam(self.g", "self.made(self.g"))},
        "builds an optimizer",
        "",
    ),
    "a value of its own by the name of the Trainer's": (
        {"train.py": changed(("super().__init__()", "super().__init__()\n        self.gradient_clip_val = 5.0"))},
        "in which the loop keeps what the Trainer was given",
        "",
    ),
    "search for a learning rate": (
        {"train.py": BEFORE + "\n\ndef tune(tuner):\n    tuner.lr_find(GAN())\n"},
        "search for a learning rate",
        "",
    ),
    "None at mixed precision": (
        {
            "train.py": changed(
                ("        noise", "        if batch_idx == 3:\n            return None\n        noise"),
                (TRAINER, "precision=16"),
            )
        },
        "no longer counts in global_step",
        "if loss is not None:\n                self.manual_backward(loss)\n                optimizer.step()\n",
    ),
}


@pytest.mark.parametrize("case", LOOK.values(), ids=LOOK.keys())
def test_rewritten_only_after_a_look(case: tuple[dict[str, str], str, str]) -> None:
    files, reason, text = case
    assert run_rules(files, OPT).changes == ()
    made = unsafe(files)
    assert {finding.fix for finding in made.findings} == {"unsafe"}
    assert reason in made.findings[0].reason
    after = made.final()["train.py"].decode()
    assert text in after
    assert "def training_step_for(" in after


ALONE = {
    "no module of Lightning": changed(("GAN(LightningModule)", "GAN(torch.nn.Module)")),
    "by hand already": changed((STEP, STEP.replace(", optimizer_idx", ""))),
}


@pytest.mark.parametrize("text", ALONE.values(), ids=ALONE.keys())
def test_left_alone(text: str) -> None:
    made = unsafe({"train.py": text})
    assert made.changes == ()
    assert made.findings == ()


@pytest.mark.parametrize(
    ("given", "cleared"), [("", False), (", precision=16", True), (", **options", True), (", precision=64", False)]
)
def test_autocast_cache_is_cleared_unless_precision_is_known_to_be_full(given: str, cleared: bool) -> None:
    after = rewritten({"train.py": changed((TRAINER, TRAINER + given))}, OPT)["train.py"]
    assert ("torch.clear_autocast_cache()" in after) is cleared


def test_value_of_the_run_is_given_to_the_model_beside_the_trainer() -> None:
    text = changed(
        ("def main(loader):\n", "def main(loader, args):\n    gan = GAN()\n    # build it\n"),
        ("gradient_clip_val=0.5", "gradient_clip_val=args.clip"),
        ("trainer.fit(GAN()", "trainer.fit(gan"),
    )
    after = rewritten({"train.py": text}, OPT)["train.py"]
    assert "    gradient_clip_val = 0.0\n" in after
    assert "    # build it\n    trainer = Trainer(max_epochs=2)\n    gan.gradient_clip_val = args.clip\n" in after


def test_clipping_goes_into_a_hook_with_an_index_that_both_versions_leave_out() -> None:
    text = method("def on_before_optimizer_step(self, optimizer, optimizer_idx=None):\n    self.seen = optimizer")
    after = rewritten({"train.py": text}, OPT)["train.py"]
    assert "self.seen = optimizer\n        self.clip_gradients(optimizer, " in after


def test_subclass_in_another_file_follows() -> None:
    child = (
        "from train import GAN\n\n\nclass Child(GAN):\n    def __init__(self):\n        super().__init__()\n\n"
        "    def training_step(self, batch, batch_idx, optimizer_idx):\n"
        "        return super().training_step(batch, batch_idx, optimizer_idx) * 2\n"
    )
    after = rewritten({"train.py": BEFORE, "child.py": child}, OPT)
    assert "    automatic_optimization = False\n" in after["train.py"]
    assert "def training_step_for(self, batch, batch_idx, optimizer_idx):" in after["child.py"]
    assert "super().training_step_for(batch, batch_idx, optimizer_idx) * 2" in after["child.py"]


def test_helper_that_calls_the_step_follows() -> None:
    text = method("def validation_step(self, batch, batch_idx):\n    return self.training_step(batch, batch_idx, 0)")
    after = rewritten({"train.py": text}, OPT)["train.py"]
    assert "return self.training_step_for(batch, batch_idx, 0)" in after


def test_state_dict_keeps_its_keys_and_a_second_run_finds_nothing() -> None:
    after = rewritten({"train.py": BEFORE}, OPT)
    assert run_rules(after, OPT).findings == ()
    assert "register_buffer" not in after["train.py"]


def test_ignore_comment_leaves_the_whole_change_alone() -> None:
    step = STEP.rstrip("\n")
    made = run_rules({"train.py": changed((step, step + "  # fixer: ignore[OPT001]"))}, OPT)
    assert made.changes == ()


def test_layout_comments_and_line_endings_survive() -> None:
    text = changed((STEP, "    # one of two\n" + STEP.rstrip("\n") + "  # turn\n")).replace("\n", "\r\n")
    after = run_rules({"train.py": text.encode()}, OPT).final()["train.py"]
    assert after.count(b"\r\n") == after.count(b"\n")
    assert b"    # one of two\r\n    def training_step(self, batch, batch_idx):" in after
    assert b"optimizer_idx):  # turn\r\n" in after


def test_a_hook_finds_the_index_by_the_optimizer() -> None:
    hook = 'def on_before_optimizer_step(self, optimizer, opt_idx):\n    """Doc."""\n    print(opt_idx)'
    after = rewritten({"train.py": method(hook)}, OPT)["train.py"]
    assert (
        "    def on_before_optimizer_step(self, optimizer):\n"
        '        """Doc."""\n'
        "        opt_idx = [each.optimizer for each in self.optimizers()].index(optimizer)\n"
        "        print(opt_idx)\n"
        "        self.clip_gradients("
    ) in after


def test_a_class_that_trains_by_chunks_too_is_reported_once() -> None:
    step = "    def training_step(self, batch, batch_idx, optimizer_idx, memory):\n        return self.loss(batch)\n"
    text = "from pytorch_lightning import LightningModule\n\n\nclass Model(LightningModule):\n"
    files = {"train.py": f"{text}    truncated_bptt_steps = 4\n\n{step}"}
    found = [each.code for each in run_rules(files, OPT, rule("TBP001")).findings]
    assert found == ["TBP001"]
    assert [each.code for each in run_rules(files, OPT).findings] == ["OPT001"]


@pytest.mark.parametrize("pins", [["==2.6.6"], ["==1.3.8", ">=2.0"], ["==1.3.8", "==2.6.6"]])
def test_pins_that_tell_no_release_of_1_6_or_later_make_it_unsafe_where_steps_are_counted(pins: list[str]) -> None:
    text = BEFORE.replace('self.log("g_loss", loss)', "print(self.global_step)")
    options = Options((OPT,), pins=tuple(f"pytorch-lightning{pin}" for pin in pins))
    assert {finding.fix for finding in plan(sources({"train.py": text}), options).findings} == {"unsafe"}


UNASKED = "        loss, info = self.loss(batch, optimizer_idx)\n        return loss\n"


@pytest.mark.parametrize(
    ("body", "guarded"),
    [
        (UNASKED, True),
        (UNASKED.replace("self.loss(batch, optimizer_idx)", "None, {}"), True),
        (UNASKED.replace("optimizer_idx", "batch_idx"), False),
        ("        if optimizer_idx == 0:\n    " + UNASKED.replace("\n        r", "\n            r") + UNASKED, False),
        ("        if batch_idx == 0:\n    " + UNASKED.replace("\n        r", "\n            r") + UNASKED, True),
        (UNASKED.replace("self.loss", "self.own") + "\n    def own(self, a, b):\n        return None, {}\n", True),
        (UNASKED.replace("self.loss", "self.own") + "\n    def own(self, a, b):\n        return a, {}\n", False),
    ],
)
def test_whether_a_loss_may_be_none(body: str, guarded: bool) -> None:
    start = BEFORE.index(STEP) + len(STEP)
    text = BEFORE[:start] + body + "\n" + BEFORE[BEFORE.index(SETUP) :]
    after = unsafe({"train.py": text}).final()["train.py"].decode()
    assert ("if loss is not None:" in after) == guarded


def test_the_step_of_a_mixin_is_rewritten_as_that_of_the_class_it_is_mixed_into() -> None:
    mixed = changed(
        ("class GAN(LightningModule):", "class Steps:"),
        ("def main", "class GAN(Steps, LightningModule):\n    pass\n\n\ndef main"),
    )
    new = rewritten({"train.py": mixed}, OPT)["train.py"]
    below = "class GAN(Steps, LightningModule):\n    pass\n\n\n"
    assert below in new
    plain = new.replace(below, "").replace("class Steps:", "class GAN(LightningModule):")
    assert plain == rewritten({"train.py": BEFORE}, OPT)["train.py"]


MADE = (
    "        self.discriminator = ",
    "        self.criterion = torch.nn.BCEWithLogitsLoss()\n        self.discriminator = ",
)
GIVEN = (
    ("loss = F.softplus(-self.discriminator(self.generator(noise))).mean()", "loss = self.criterion(noise, batch)"),
    (
        "loss = F.softplus(self.discriminator(fake)).mean() + F.softplus(-self.discriminator(batch)).mean()",
        "loss = self.criterion(fake, batch)",
    ),
    ('            self.log("g_loss", loss)\n', ""),
    ('        self.log("d_loss", loss)\n', ""),
)


@pytest.mark.parametrize(("made", "plain"), [("torch.nn.BCEWithLogitsLoss()", True), ("Losses()", False)])
def test_what_a_loss_of_torch_gives_is_no_dict(made: str, plain: bool) -> None:
    text = changed(MADE, *GIVEN).replace("torch.nn.BCEWithLogitsLoss()", made)
    after = rewritten({"gan.py": text}, OPT)["gan.py"]
    assert ("loss = self.training_step_for(batch, batch_idx, optimizer_idx)\n" in after) is plain
    assert ("if isinstance(output, dict)" in after) is not plain


SEARCHING = [
    ("conf.yaml", "auto_lr_find: False\n", False),
    ("conf.yaml", "trainer:\n  auto_lr_find: null  # none\n", False),
    ("conf.yaml", "# auto_lr_find: True\n", False),
    ("run.py", "trainer = Trainer(auto_lr_find=False, max_epochs=1)\n# trainer.tuner.lr_find(model)\n", False),
    ("run.py", "Trainer(**{'auto_lr_find': False})\n", False),
    ("run.py", "if trainer.auto_lr_find:\n    trainer.tune(model)\n", False),
    ("run.py", "trainer.auto_lr_find = True\n", True),
    ("run.sh", "python train.py trainer.auto_lr_find=True\n", True),
    ("conf.yaml", "auto_lr_find: rate\n", True),
    ("conf.yaml", "auto_lr_find: ${find}\n", True),
    ("run.py", "trainer = Trainer(auto_lr_find=False or tuned)\n", True),
    ("run.py", "def fit(auto_lr_find=False):\n    return Trainer(auto_lr_find=auto_lr_find)\n", True),
    ("run.py", "parser.add_argument('--auto_lr_find', default=False)\n", True),
    ("run.py", "print('#'); trainer.tuner.lr_find(model)\n", True),
    ("run.py", "if trainer.auto_lr_find == False: pass\n", False),
]


@pytest.mark.parametrize(("path", "text", "told"), SEARCHING)
def test_a_search_that_is_off_is_none(path: str, text: str, told: bool) -> None:
    found = run_rules({"train.py": BEFORE, path: text}, OPT).findings
    assert any("search for a learning rate" in finding.reason for finding in found) is told
    assert {finding.fix for finding in found} == {"unsafe" if told else "safe"}


OTHER = """\
from train import GAN


class Agent:
    def training_step(self, size):
        return size


def main(model):
    agent = Agent()
    agent.training_step(4)
    return GAN()
"""


@pytest.mark.parametrize(
    ("old", "new", "free"),
    [
        ("agent", "agent", True),
        ("agent = Agent()", "agent = Agent().to(model.device).train()", True),
        ("agent = Agent()", "agent = GAN()", False),
        ("agent = Agent()", "agent = GAN().to(model.device)", False),
        ("agent = Agent()", "agent = Agent().best()", False),
        ("agent = Agent()", "agent = Agent() if model else GAN()", False),
        ("    agent.training_step", "    model.training_step", False),
        ("    agent.training_step", "    agent.model.training_step", False),
        ("class Agent:", "class Agent(GAN):", False),
    ],
)
def test_a_step_of_something_else_in_a_file_that_names_the_class(old: str, new: str, free: bool) -> None:
    assert old in OTHER
    made = run_rules({"train.py": BEFORE, "more.py": OTHER.replace(old, new)}, OPT)
    assert bool(made.changes) is free


@pytest.mark.parametrize(("line", "plain"), [("", True), ("        print(optimizer_idx)\n", False)])
def test_a_step_by_hand_that_leaves_the_index_unread_need_only_drop_it(line: str, plain: bool) -> None:
    head, tail = changed().split(STEP)[0], SETUP + changed().split(SETUP)[1]
    step = f"        for each in self.optimizers():\n            self.manual_backward(self(batch))\n{line}\n"
    [reason] = refusals({"train.py": head + STEP + step + tail}, "OPT001")
    assert ("Take out its parameter `optimizer_idx`" in reason) is plain
