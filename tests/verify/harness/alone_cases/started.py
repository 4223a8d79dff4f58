"""Modules that the project itself builds in several ways, one of which trains."""

import pytorch_lightning as pl
import torch
from torch import nn
from torch.hub import download_url_to_file, load_state_dict_from_url
from torch.nn import functional as F


class Net(nn.Sequential):
    def __init__(self, across: int):
        super().__init__(nn.Linear(across, 2))


class Smoked(pl.LightningModule):
    """Its first call is one that builds it without anything, to see whether it can be built."""

    def __init__(self, net, optimizer, scheduler):
        super().__init__()
        self.net = net
        self.optimizer = optimizer
        self.scheduler = scheduler

    def training_step(self, batch, batch_idx):
        x, y = batch
        return F.cross_entropy(self.net(x), y)

    def validation_step(self, batch, batch_idx):
        x, y = batch
        self.log("val_loss", F.cross_entropy(self.net(x), y))

    def configure_optimizers(self):
        optimizer = self.optimizer(params=self.parameters())
        scheduler = self.scheduler(optimizer=optimizer)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": scheduler, "monitor": "val_loss"}}


class Tuned(pl.LightningModule):
    """Begins with weights that nobody has here."""

    def __init__(self, weights_path="weights/first.pth"):
        super().__init__()
        self.net = nn.Linear(31, 2)
        held = torch.load(weights_path, map_location="cpu")["state_dict"]
        self.net.load_state_dict({name.removeprefix("net."): value for name, value in held.items()})
        self.body = nn.Linear(2, 2)
        self.body.load_state_dict(load_state_dict_from_url("http://localhost:9/second.pth"))
        download_url_to_file("http://localhost:9/third.pth", "third.pth")
        self.body.load_state_dict(torch.load("third.pth"))

    def training_step(self, batch, batch_idx):
        x, y = batch
        return F.cross_entropy(self.body(self.net(x)), y)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


class Asking(pl.LightningModule):
    """Takes its batch apart by a key that a variable holds, and options that it does not name."""

    def __init__(self, **options):
        super().__init__()
        self.key = "picture"
        self.net = nn.Linear(options["first_rounds"], 2)

    def taken(self, batch, key):
        return batch[key]

    def training_step(self, batch, batch_idx):
        return self.net(self.taken(batch, self.key)).mean()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=self.learning_rate)


class Spelling(pl.LightningModule):
    """Needs a list that lies in a file of its own."""

    def __init__(self, alphabet):
        super().__init__()
        self.blank = alphabet.index("_")
        self.net = nn.Linear(5, len(alphabet))

    def on_train_batch_start(self, batch, batch_idx):
        assert batch["sound"].shape[-1] == 5

    def training_step(self, batch, batch_idx):
        return self.net(batch["sound"]).mean()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


class Scaled(pl.LightningModule):
    """Can be trained once, on images whose channels come last."""

    def __init__(self):
        super().__init__()
        self.scale = None
        self.net = nn.Conv2d(3, 2, 3)

    def on_train_batch_start(self, batch, batch_idx):
        if batch_idx == 0 and self.current_epoch == 0:
            assert self.scale is None, "it has a scale already"
            self.scale = batch["photo"].std()

    def training_step(self, batch, batch_idx):
        return self.net(batch["photo"].permute(0, 3, 1, 2) / self.scale).mean()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


class Masked(pl.LightningModule):
    """Takes images with one share of each that counts."""

    def __init__(self):
        super().__init__()
        self.net = nn.Conv2d(1, 2, 3)

    def training_step(self, batch, batch_idx):
        images, shares = batch
        rows = [max(3, int(share.item() * 8)) for share in shares]
        return sum(self.net(image[None, :, :row]).mean() for image, row in zip(images, rows, strict=True))

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


class Packed(pl.LightningModule):
    """Takes rows of different lengths, which are shares of the longest one, that one first."""

    def __init__(self):
        super().__init__()
        self.net = nn.LSTM(3, 2, batch_first=True)

    def training_step(self, batch, batch_idx):
        sounds, shares = batch
        lengths = (shares * sounds.shape[1]).int()
        packed = nn.utils.rnn.pack_padded_sequence(sounds, [length.item() for length in lengths], batch_first=True)
        return self.net(packed)[0].data.mean()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


class Separating(pl.LightningModule):
    """Is given a network that answers with a dictionary, and what takes its batch apart."""

    def __init__(self, model, preprocessor, loss_function):
        super().__init__()
        self.model = model
        self.preprocessor = preprocessor
        self.loss_function = loss_function

    def training_step(self, batch, batch_idx):
        mixed, wanted = self.preprocessor(batch)
        answer = self.model(mixed)
        apart = answer["wave"]
        return self.loss_function(output=apart, target=wanted["wave"], mixed=mixed["wave"])

    def configure_optimizers(self):
        return torch.optim.SGD(self.model.parameters(), lr=0.1)


class Answering(pl.LightningModule):
    """Takes what its network answers by attributes."""

    def __init__(self, backbone):
        super().__init__()
        self.backbone = backbone

    def training_step(self, batch, batch_idx):
        x, y = batch
        answer = self.backbone(x)
        return F.cross_entropy(answer.logits, y) + answer.loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


class Unpacking(Answering):
    """Takes several answers of its network apart."""

    def training_step(self, batch, batch_idx):
        x, y = batch
        z, nll, logits = self.backbone(x)
        return nll.mean() + F.cross_entropy(logits, y) + z.square().mean()


if __name__ == "__main__":
    Smoked(None, None, None)
