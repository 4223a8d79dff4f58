import torch
import torch.nn.functional as F
import pytorch_lightning as pl


class Forecaster(pl.LightningModule):
    """A GRU whose hidden state is one tensor."""

    truncated_bptt_steps = 4

    def __init__(self):
        super().__init__()
        self.rnn = torch.nn.GRU(2, 6, batch_first=True)
        self.head = torch.nn.Linear(6, 1)

    # one chunk of the sequence
    def training_step(self, batch, batch_idx, hiddens=None):
        out, state = self.rnn(batch[0], hiddens)
        loss = F.mse_loss(self.head(out), batch[1])
        result = {"loss": loss, "hiddens": state}
        return result

    def configure_optimizers(self):
        opt = torch.optim.SGD(self.parameters(), lr=0.1, momentum=0.9)
        return [opt], [torch.optim.lr_scheduler.ExponentialLR(opt, 0.5)]
