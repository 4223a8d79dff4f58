import torch
import torch.nn.functional as F


class Adversarial(torch.nn.Module):
    """Reconstruction, and from a step on an adversary."""

    def __init__(self, start):
        super().__init__()
        self.start = start
        self.discriminator = torch.nn.Linear(3, 1)

    def forward(self, x, made, optimizer_idx, global_step):
        weight = 1.0 if global_step >= self.start else 0.0
        if optimizer_idx == 0:
            loss = F.l1_loss(made, x) - weight * self.discriminator(made).mean()
            return loss, {"total": loss.detach()}
        if optimizer_idx == 1:
            loss = F.relu(1 - self.discriminator(x.detach())).mean()
            loss = weight * (loss + F.relu(1 + self.discriminator(made.detach())).mean())
            return loss, {"disc": loss.detach()}
