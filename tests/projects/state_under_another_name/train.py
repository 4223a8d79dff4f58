import torch
import torch.nn.functional as F
from pytorch_lightning import LightningModule, Trainer
from torch.utils.data import DataLoader, TensorDataset


class Tagger(LightningModule):
    """A GRU that calls its state `memory` and cuts its graph itself."""

    truncated_bptt_steps = 2

    def __init__(self):
        super().__init__()
        self.rnn = torch.nn.GRU(3, 4, batch_first=True)
        self.head = torch.nn.Linear(4, 5)

    def training_step(self, batch, batch_idx, memory):
        tokens, tags = batch
        if memory is not None:
            memory = memory.detach()
        out, memory = self.rnn(tokens, memory)
        loss = F.cross_entropy(self.head(out).transpose(1, 2), tags)
        return {"loss": loss, "hiddens": memory}

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.3, momentum=0.5)


def main():
    data = TensorDataset(torch.randn(7, 5, 3), torch.randint(5, (7, 5)))
    trainer = Trainer(max_epochs=2)
    trainer.fit(Tagger(), DataLoader(data, batch_size=2))


if __name__ == "__main__":
    main()
