import torch
from pytorch_lightning import LightningModule


class GAN(LightningModule):
    """Goes back through weights that a step has changed."""

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


if __name__ == "__main__":
    from pytorch_lightning import Trainer

    data = torch.utils.data.TensorDataset(torch.randn(8, 3))
    Trainer(max_epochs=1, accelerator="cpu").fit(GAN(), torch.utils.data.DataLoader(data, batch_size=2))
