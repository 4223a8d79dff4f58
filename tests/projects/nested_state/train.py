import torch
import torch.nn.functional as F
from pytorch_lightning import LightningModule, Trainer
from torch.utils.data import DataLoader, TensorDataset


class Pair(LightningModule):
    def __init__(self, k):
        super().__init__()
        self.fast = torch.nn.LSTM(1, 4, batch_first=True)
        self.slow = torch.nn.GRU(1, 4, batch_first=True)
        self.head = torch.nn.Linear(8, 1)
        self.truncated_bptt_steps = k
        self.norms = []

    def on_before_optimizer_step(self, optimizer, optimizer_idx):
        self.norms.append(sum(float(p.grad.norm()) for p in self.parameters() if p.grad is not None))
        self.log("seen_norm", self.norms[-1])

    def training_step(self, batch, batch_idx, hiddens):
        x, y = batch
        if hiddens is None:
            fast = slow = None
        else:
            (fast, slow), _ = hiddens
        a, fast = self.fast(x, fast)
        b, slow = self.slow(x, slow)
        loss = F.l1_loss(self.head(torch.cat([a, b], dim=-1)), y)
        if batch_idx % 2:
            return {"loss": loss * 0.5, "hiddens": ((fast, slow), None)}
        return dict(loss=loss, hiddens=((fast, slow), None))

    def configure_optimizers(self):
        return {"optimizer": torch.optim.AdamW(self.parameters(), lr=0.02)}


model = Pair(5)
trainer = Trainer(max_epochs=2, gradient_clip_val=0.05)
trainer.fit(model, DataLoader(TensorDataset(torch.randn(12, 13, 1), torch.randn(12, 13, 1)), batch_size=4))
