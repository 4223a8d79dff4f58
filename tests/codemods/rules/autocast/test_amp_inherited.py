"""AMP001 and AMP002 over several files: methods, layers and regions that a class inherits."""

from __future__ import annotations

import pytest

from codemods.engine.plan import Plan
from codemods.rules.autocast.amp001 import CLEARED
from codemods.rules.autocast.amp002 import CLEARED as RENEWED
from tests.codemods.support import rule, run_rules

CLEAR = f"torch.clear_autocast_cache()  # {CLEARED}"
FIT = "from pytorch_lightning import Trainer\nfrom model import Model\n\nTrainer(precision=16).fit(Model(), loader)\n"
HEAD = "import pytorch_lightning as pl\nimport torch\nfrom torch import nn\n\n\nclass Base(pl.LightningModule):\n"
INIT = "    def __init__(self):\n        super().__init__()\n        self.encoder = nn.Linear(8, 8)\n\n"
TARGETS = "    @torch.no_grad()\n    def targets(self, batch):\n        return self.encoder(batch)\n"
BLOCK = """    def targets(self, batch):
        with torch.no_grad():
            target = self.encoder(batch)
        return target
"""
STEP = """    def {name}(self, batch, batch_idx):
        target = self.targets(batch)
        return (self.encoder(batch) - target).pow(2).mean()
"""
DERIVED = "import torch\nfrom torch import nn\n\nfrom base import Base\n\n\nclass Model(Base):\n"
CLEARED_STEP = STEP.replace("batch)\n", f"batch)\n        {CLEAR}\n", 1)


def run(base: str, model: str, code: str = "AMP001", **other: str) -> Plan:
    files = {"base.py": base, "model.py": model, "fit.py": FIT}
    made = run_rules(files | {f"{name}.py": text for name, text in other.items()}, rule(code))
    assert made.bugs == ()
    return made


def after(base: str, model: str, code: str = "AMP001") -> tuple[str, str]:
    final = run(base, model, code).final()
    return final.get("base.py", base.encode()).decode(), final.get("model.py", model.encode()).decode()


@pytest.mark.parametrize("helper", [TARGETS, BLOCK])
def test_a_helper_of_another_file_is_followed(helper: str) -> None:
    base, step = HEAD + INIT + helper, STEP.format(name="training_step")
    assert after(base, DERIVED + step) == (base, DERIVED + CLEARED_STEP.format(name="training_step"))


@pytest.mark.parametrize("helper", [TARGETS, BLOCK])
def test_a_step_of_another_file_is_cleared_there(helper: str) -> None:
    step, model = STEP.format(name="training_step"), DERIVED + helper
    assert after(HEAD + INIT + step, model) == (HEAD + INIT + CLEARED_STEP.format(name="training_step"), model)


def test_layers_of_a_class_below_are_known() -> None:
    base = HEAD + TARGETS + "\n" + STEP.format(name="training_step")
    above = "    def training_step(self, batch, batch_idx):\n        return super().training_step(batch, batch_idx)\n"
    assert after(base, DERIVED + INIT + above)[0].count(CLEAR) == 1
    weightless = INIT.replace("nn.Linear(8, 8)", "nn.CrossEntropyLoss()")
    assert [finding.fix for finding in run(base, DERIVED + weightless + above).findings] == ["unsafe"]


def test_a_base_of_a_base_is_followed_through_a_package() -> None:
    root = (HEAD + INIT + TARGETS).replace("class Base", "class Root")
    middle = "from lib.root import Root\n\n\nclass Base(Root):\n    pass\n"
    model = DERIVED.replace("from base", "from lib") + STEP.format(name="training_step")
    files = {"lib/root.py": root, "lib/middle.py": middle, "lib/__init__.py": "from .middle import Base\n"}
    made = run_rules(files | {"model.py": model, "fit.py": FIT}, rule("AMP001"))
    assert CLEAR in made.final()["model.py"].decode()


MIXIN = "class Steps:\n" + STEP.format(name="shared")
MIXED = DERIVED.replace("from base import Base", "import pytorch_lightning as pl\n\nfrom base import Steps").replace(
    "(Base)", "(Steps, pl.LightningModule)"
)
CALLS = "    def training_step(self, batch, batch_idx):\n        return self.shared(batch, batch_idx)\n\n"


def test_a_block_is_cleared_behind_itself_where_its_caller_is_not_looked_at() -> None:
    made = after(MIXIN, MIXED + INIT + CALLS + BLOCK)
    assert made == (MIXIN, MIXED + INIT + CALLS + BLOCK.replace("        return", f"        {CLEAR}\n        return"))


def test_a_decorated_method_there_is_named() -> None:
    made = run(MIXIN, MIXED + INIT + CALLS + TARGETS)
    assert [(item.path, item.fix) for item in made.findings] == [("model.py", "manual")]
    assert "which base.py calls" in made.findings[0].reason


REGION = """    @torch.autocast("cuda")
    def loss(self, batch):
        target = self.targets(batch)
        return (self.encoder(batch) - target).pow(2).mean()
"""
PLAIN = HEAD.replace("pl.LightningModule", "nn.Module").replace("import pytorch_lightning as pl\n", "")


def test_a_region_of_the_base_meets_a_method_below() -> None:
    model = DERIVED + TARGETS
    assert after(PLAIN + INIT + REGION, model) == (
        PLAIN + INIT + REGION.replace("batch)\n        return", f"batch)\n        {CLEAR}\n        return"),
        model,
    )


TRAPS = {
    "a copy": (TARGETS.replace("encoder", "other"), INIT.rstrip("\n") + "\n        self.other = nn.Linear(8, 8)\n\n"),
    "frozen": (TARGETS, INIT.rstrip("\n") + "\n        self.encoder.requires_grad_(False)\n\n"),
    "with gradient": (TARGETS.replace("    @torch.no_grad()\n", ""), INIT),
    "cleared by hand": (BLOCK.replace("        return", "        torch.clear_autocast_cache()\n        return"), INIT),
}


@pytest.mark.parametrize("name", TRAPS)
def test_files_stay(name: str) -> None:
    helper, init = TRAPS[name]
    step = STEP.format(name="training_step")
    made = run(HEAD + init + helper + "\n    def decode(self):\n        torch.no_grad()\n", DERIVED + step)
    assert made.changes == () and made.findings == ()


def test_an_overridden_helper_is_not_the_base_s() -> None:
    own = "\n    def targets(self, batch):\n        return batch\n"
    made = run(HEAD + INIT + TARGETS, DERIVED + STEP.format(name="training_step") + own)
    assert made.findings == ()


GAN = """    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.net = nn.Linear(8, 1)

    def update(self, loss):
        opt = self.optimizers()
        opt.zero_grad()
        self.manual_backward(loss)
        opt.step()
"""
TWICE = """    def configure_optimizers(self):
        return torch.optim.SGD(self.net.parameters(), lr=0.1)

    def training_step(self, batch, batch_idx):
        self.update(self.net(batch).mean())
        self.update(self.net(batch).mean())
"""


def test_weights_that_an_inherited_method_steps_are_stale() -> None:
    base, model = after(HEAD + GAN, DERIVED + TWICE, "AMP002")
    assert base == HEAD + GAN.replace(
        "opt.step()\n", f"opt.step()\n        torch.clear_autocast_cache()  # {RENEWED}\n"
    )
    assert model == DERIVED + TWICE
    once = TWICE.replace("        self.update(self.net(batch).mean())\n", "", 1)
    assert run(HEAD + GAN, DERIVED + once, "AMP002").findings == ()
