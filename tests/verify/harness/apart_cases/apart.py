"""Modules whose batches are taken apart by what they hand them to, or from the end."""

from pathlib import Path

import pytorch_lightning as pl
import torch
from torch import nn
from torch.nn import functional as F


class Base(pl.LightningModule):
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01)


class FromTheEnd(Base):
    """A row of three, of which no line says so."""

    def __init__(self):
        super().__init__()
        self.left, self.right = nn.Linear(5, 3), nn.Linear(5, 3)

    def forward(self, both):
        return self.left(both[0]) + self.right(both[1])

    def training_step(self, batch, batch_idx):
        assert len(batch) == 3
        return F.cross_entropy(self(batch[:-1]), batch[-1].long())


class Net(nn.Module):
    """Finds by itself what it needs."""

    def __init__(self):
        super().__init__()
        self.words, self.head = nn.Embedding(11, 6), nn.Linear(6, 3)

    def forward(self, sample):
        words, mask = sample["input_ids"], sample["attention_mask"]
        assert words.shape == mask.shape
        return self.head((self.words(words) * mask[..., None]).mean(1))


class Inside(Base):
    def __init__(self):
        super().__init__()
        self.net = Net()

    def training_step(self, batch, batch_idx):
        return F.cross_entropy(self.net(batch), batch["kind"])


def compared(model, sample):
    pictures, answer = sample
    return F.mse_loss(model(pictures), answer)


class ByAFunction(Base):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(4, 2)

    def training_step(self, batch, batch_idx):
        return compared(self.net, batch)


class ByKeywords(Base):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(4, 2)

    def forward(self, features, answers, scale=1.0):
        assert scale == 1.0
        return F.mse_loss(self.net(features), answers)

    def training_step(self, batch, batch_idx):
        return self(**batch)


class AtOnce(Base):
    """Two things that are taken in one line."""

    def __init__(self):
        super().__init__()
        self.net = nn.Linear(4, 2)

    def training_step(self, batch, batch_idx):
        inputs, label = batch["inputs"].float(), batch["label"]
        return F.cross_entropy(self.net(inputs), label)


class AllButTheFirst(Base):
    """What comes behind a name that is not used."""

    def __init__(self):
        super().__init__()
        self.net = nn.Linear(4, 2)

    def training_step(self, batch, batch_idx):
        inputs, answers = batch[1:]
        assert len(batch) == 3
        return F.mse_loss(self.net(inputs), answers)


class Steps(Base):
    """A tensor of which pieces are taken, which is no row."""

    def __init__(self):
        super().__init__()
        self.net = nn.RNN(3, 3)

    def training_step(self, batch, batch_idx):
        assert batch.dim() == 3
        given, wanted = batch[:-1], batch[1:]
        return F.mse_loss(self.net(given)[0], wanted)


class Spoken(Base):
    """Spectra that are stretched to the length of a voice."""

    def __init__(self):
        super().__init__()
        self.longer, self.voice = nn.ConvTranspose1d(7, 5, 256, stride=256), nn.Conv1d(256, 5, 1)

    def training_step(self, batch, batch_idx):
        voice, spectra = batch
        return (self.voice(voice) * self.longer(spectra)).mean()


class Detected(Base):
    """Pictures that are halved and doubled again, and what is looked up in what comes of them."""

    def __init__(self):
        super().__init__()
        self.first, self.deep = nn.Conv2d(3, 5, 1), nn.Conv2d(5, 5, 3, stride=2, padding=1)

    def halved(self, held, times):
        return held + F.interpolate(self.halved(self.deep(held), times - 1), scale_factor=2) if times else held

    def training_step(self, batch, batch_idx):
        pictures, wanted = batch
        found = self.halved(self.first(pictures), 6)
        return heated(found, wanted["heat"]) + looked_up(found, wanted["places"], wanted["widths"])


def heated(found, heat):
    far = 1 - heat
    return ((found - heat) ** 2).mean() + far.mean()


def looked_up(found, places, widths):
    rows = found.flatten(2).transpose(1, 2)
    held = rows.gather(1, places.unsqueeze(2).expand(places.size(0), places.size(1), rows.size(2)))
    return (held - widths).abs().mean()


class Judged(Base):
    """A network that is asked by a method of its own."""

    def __init__(self, network):
        super().__init__()
        self.network = network

    def training_step(self, batch, batch_idx):
        return self.network.compute_loss(batch["sound"])


class Tokens:
    """What can be had with files of its own alone."""

    def __init__(self, path):
        self.words = Path(path).read_text().split()


class Settings(Base):
    """What its caller passes: a network of the settings, and words that cannot be read."""

    def __init__(self, net, words, args):
        super().__init__()
        assert isinstance(net, Sized) and args.heads == 3 and args.rate == 0.125
        self.net, self.args = net, args

    def training_step(self, batch, batch_idx):
        inputs, answers = batch
        return F.mse_loss(self.net(inputs), answers) * self.args.rate


class Sized(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.layer = nn.Linear(args.width, args.heads * args.factor)

    def forward(self, x):
        return self.layer(x)


def main(parser):
    parser.add_argument("--width", type=int, default=6)
    parser.add_argument("--heads", type=int, default=3)
    parser.add_argument("--rate", type=float, default=0.125)
    args = parser.parse_args()
    return Settings(Sized(args), Tokens("/nowhere/words.txt"), args)


class OneByOne(Base):
    """Takes one sample at a time, and says so by an assertion alone."""

    def __init__(self):
        super().__init__()
        self.net = nn.Linear(4, 2)

    def training_step(self, batch, batch_idx):
        inputs, answers = batch
        assert len(inputs) == 1
        return F.mse_loss(self.net(inputs), answers)


class Beside(Base):
    """Its caller builds its network of a file that takes more than is installed."""

    def __init__(self, network):
        super().__init__()
        assert isinstance(network, nn.Bilinear)
        self.network = network

    def training_step(self, batch, batch_idx):
        first, second = batch
        return self.network(first, second).mean()


def built_beside():
    import kept_beside

    return Beside(kept_beside.Both(3, 5, 2))


class Prepared(Base):
    """Its caller prepares it before it trains, and after that may ask it for more."""

    def __init__(self):
        super().__init__()
        self.net = nn.Linear(4, 2)

    def init_train(self, class_ratio, total_steps):
        chosen = [class_ratio[name] for name in ("a", "b")] if class_ratio else [1.0, 1.0]
        self.weights, self.steps = torch.tensor(chosen), range(total_steps)

    def report(self, path):
        self.report_path, self.seen = path, Path(path).read_text()

    def training_step(self, batch, batch_idx):
        inputs, kinds = batch
        return F.cross_entropy(self.net(inputs), kinds, weight=self.weights) / len(self.steps)


class Refused(Base):
    """Has a hook that Lightning 2 calls no more, which nothing that it is given changes."""

    def __init__(self, width, kind="plain"):
        super().__init__()
        self.net = nn.Linear(width, 2)

    def training_step(self, batch, batch_idx):
        inputs, answers = batch
        return F.mse_loss(self.net(inputs), answers)

    def validation_epoch_end(self, outputs):
        pass
