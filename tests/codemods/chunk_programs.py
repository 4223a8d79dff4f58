"""Programs that train by truncated back-propagation as Lightning 1.x did it, and the parts of them."""

from __future__ import annotations

from tests.codemods.support import rewritten, rule, run_rules
from tests.training import Record, same

TBP = rule("TBP001")
IMPORTS = """\
import torch
import torch.nn.functional as F
from pytorch_lightning import LightningModule, Trainer
from torch.utils.data import DataLoader, TensorDataset


"""
NETWORK = """\
        self.rnn = torch.nn.GRU(1, 3, batch_first=True)
        self.head = torch.nn.Linear(3, 1)
"""
FLAG = """\
        super().__init__()
        self.truncated_bptt_steps = 4
"""
INIT = "    def __init__(self):\n" + FLAG + NETWORK
STEP = """
    def training_step(self, batch, batch_idx, hiddens):
        x, y = batch
        out, hiddens = self.rnn(x, hiddens)
        loss = F.mse_loss(self.head(out), y)
        self.log("loss", loss, on_step=True, on_epoch=True)
        return {"loss": loss, "hiddens": hiddens}
"""
SGD = """
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)
"""
LOADER = """

def loader():
    return DataLoader(TensorDataset(torch.rand(6, 10, 1), torch.rand(6, 10, 1)), batch_size=2)
"""
MAIN = """

if __name__ == "__main__":
    trainer = Trainer(max_epochs=2)
    trainer.fit(Model(), loader())
"""


def program(
    *parts: str, head: str = "class Model(LightningModule):\n", loader: str = LOADER, main: str = MAIN
) -> dict[str, str]:
    return {"train.py": IMPORTS + head + "".join(parts) + loader + main}


def optimizers(*lines: str) -> str:
    return "\n    def configure_optimizers(self):\n" + "".join(f"        {line}\n" for line in lines)


GAN_STEP = """
    def training_step(self, batch, batch_idx, optimizer_idx, hiddens):
        x, y = batch
        out, hiddens = self.rnn(x, hiddens)
        loss = F.mse_loss(self.head(out), y) * (optimizer_idx + 1)
        return {"loss": loss, "hiddens": hiddens}
"""
TWO = optimizers(
    "one = torch.optim.SGD(self.rnn.parameters(), lr=0.1)",
    "two = torch.optim.Adam(self.head.parameters(), lr=0.02)",
    "return [one, two]",
)
CLIPPED = MAIN.replace("max_epochs=2", "max_epochs=2, gradient_clip_val=0.05")
PLAIN = program(INIT, STEP, SGD)


def both(files: dict[str, str]) -> tuple[Record, Record]:
    """Old and new trained, which must be the same, and a second run of the rule finds nothing."""
    after = rewritten(files, TBP)
    assert after != files
    assert run_rules(after, TBP).findings == ()
    old, new = same(files, after)
    assert (old.automatic, new.automatic) == (True, False)
    assert len(old.steps) >= 18
    return old, new
