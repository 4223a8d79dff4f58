"""Programs with several optimizers under automatic optimization as Lightning 1.x had them, and the parts of them."""

from __future__ import annotations

from codemods.engine.plan import plan
from codemods.engine.scan import Options
from tests.codemods.support import rule, sources
from tests.training import Record, same

PROGRAM = """\
import torch
import torch.nn.functional as F
from pytorch_lightning import LightningModule, Trainer


class GAN(LightningModule):
    def __init__(self):
        super().__init__()
        self.generator = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Dropout(0.2), torch.nn.Linear(4, 3))
        self.discriminator = torch.nn.Linear(3, 1)
        self.third = torch.nn.Linear(3, 1)

    def g_loss(self, batch):
        noise = torch.randn(len(batch), 3)
        return F.softplus(-self.discriminator(self.generator(noise))).mean()

    def d_loss(self, batch):
        fake = self.generator(torch.randn(len(batch), 3)).detach()
        return F.softplus(self.discriminator(fake)).mean() + F.softplus(-self.discriminator(batch)).mean()

    # STEP

    # CONFIGURE

    # MORE


def main():
    data = torch.randn(10, 3)
    trainer = Trainer(max_epochs=2, TRAINER)
    loader = torch.utils.data.DataLoader(data, batch_size=2, shuffle=True)
    trainer.fit(GAN(), loader, VALIDATION)


if __name__ == "__main__":
    main()
"""
STEP = """\
def training_step(self, batch, batch_idx, optimizer_idx):
    if optimizer_idx == 0:
        loss = self.g_loss(batch)
        self.log("g_loss", loss, on_step=True, on_epoch=True)
        return loss
    elif optimizer_idx == 1:
        loss = self.d_loss(batch)
        self.log("d_loss", loss)
        return loss
"""
PAIR = """\
g = torch.optim.Adam(self.generator.parameters(), lr=0.05)
d = torch.optim.SGD(self.discriminator.parameters(), lr=0.1, momentum=0.9)
"""
CONFIGURE = f"def configure_optimizers(self):\n{PAIR}return [g, d], []\n"


def configured(returned: str, made: str = "") -> str:
    body = "".join(f"    {line}\n" for line in (PAIR + made + f"return {returned}").splitlines())
    return f"def configure_optimizers(self):\n{body}"


def indented(text: str) -> str:
    return "\n".join(f"    {line}" if line else line for line in text.splitlines()).strip()


def program(
    step: str = STEP, configure: str = "", more: str = "", trainer: str = "", validation: str = ""
) -> dict[str, str]:
    text = PROGRAM.replace("# STEP", indented(step))
    text = text.replace("# CONFIGURE", indented(configure or configured("[g, d], []")))
    text = text.replace("    # MORE\n", f"    {indented(more)}\n" if more else "")
    text = text.replace("max_epochs=2, TRAINER", f"max_epochs=2, {trainer}" if trainer else "max_epochs=2")
    return {"train.py": text.replace(", VALIDATION", validation)}


def changed(files: dict[str, str], level: str = "safe") -> dict[str, str]:
    """The files after OPT001, all of whose findings must be of that level."""
    made = plan(sources(files), Options((rule("OPT001"),), unsafe=True))
    assert made.bugs == ()
    assert {finding.fix for finding in made.findings} == {level}, [finding.reason for finding in made.findings]
    return {path: made.final()[path].decode() if path in made.final() else text for path, text in files.items()}


def both(
    files: dict[str, str], level: str = "safe", windows: bool = False, release: str = "1.9.5"
) -> tuple[Record, Record]:
    """Old and new trained, which must be the same; with `windows` of several batches, loggers count otherwise."""
    old, new = same(files, changed(files, level), old=release, logged=not windows)
    assert old.automatic
    assert new.automatic is False
    assert len(old.steps) >= 4
    return old, new


SHARED = """\
def training_step(self, batch, batch_idx, optimizer_idx):
    fake = self.generator(torch.randn(len(batch), 3))
    if optimizer_idx in (0,):
        loss = F.softplus(-self.discriminator(fake)).mean()
        self.log("loss", loss, on_step=True, on_epoch=True)
        return {"loss": loss, "fake": fake.detach()}
    loss = F.softplus(self.discriminator(fake.detach())).mean() - self.discriminator(batch).mean()
    self.log("loss", loss, on_step=True, on_epoch=True)
    return {"loss": loss, "fake": fake.detach()}
"""
SKIPPED = """\
def training_step(self, batch, batch_idx, optimizer_idx):
    if optimizer_idx == 1 and batch_idx % 2 == 0:
        return None
    return self.g_loss(batch) if optimizer_idx == 0 else self.d_loss(batch)
"""
THREE = """\
def training_step(self, batch, batch_idx, optimizer_idx):
    if optimizer_idx == 2:
        return self.third(batch).pow(2).mean()
    return self.g_loss(batch) if optimizer_idx == 0 else self.d_loss(batch)
"""
WITH_THIRD = "t = torch.optim.RMSprop(self.third.parameters(), lr=0.01)\n"
STEPPED = "torch.optim.lr_scheduler.StepLR(g, 1, gamma=0.8)"
OTHER = "torch.optim.lr_scheduler.ExponentialLR(d, gamma=0.9)"
PLUGIN = "from pytorch_lightning.plugins.precision import MixedPrecision\n"
SCALER = "plugins=MixedPrecision('16-mixed', 'cpu', scaler=torch.amp.GradScaler('cpu', init_scale=256.0))"
