"""Modules that tell only by their errors what their batches are."""

import pytorch_lightning as pl
import torch
from torch import nn
from torch.nn import functional as F


class Base(pl.LightningModule):
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01)


class Digits(Base):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(28 * 28, 16), nn.Linear(16, 10)

    def forward(self, x):
        batch, channels, height, width = x.size()
        return self.last(torch.relu(self.first(x.view(batch, channels * height * width))))

    def training_step(self, batch, batch_idx):
        x, y = batch
        return F.cross_entropy(self(x), y)

    def validation_step(self, batch, batch_idx):
        x, y = batch
        self.log("val_loss", F.cross_entropy(self(x), y))


class Flattened(Base):
    def __init__(self):
        super().__init__()
        self.conv, self.head = nn.Conv2d(1, 4, 3, stride=2), nn.Linear(4 * 31 * 31, 3)

    def training_step(self, batch, batch_idx):
        image, label = batch["image"], batch["label"]
        return F.nll_loss(self.head(self.conv(image).flatten(1)).log_softmax(-1), label)


class Words(Base):
    def __init__(self):
        super().__init__()
        self.words, self.lstm, self.head = nn.Embedding(11, 6), nn.LSTM(6, 5, batch_first=True), nn.Linear(5, 1)

    def training_step(self, batch, batch_idx):
        hidden, _ = self.lstm(self.words(batch.text))
        return F.binary_cross_entropy_with_logits(self.head(hidden[:, -1]), batch.label)


class Segments(Base):
    def __init__(self):
        super().__init__()
        self.net = nn.Conv2d(3, 4, 3, padding=1)

    def training_step(self, batch, batch_idx):
        return self.shared(batch)

    def shared(self, batch):
        image, mask = batch
        return F.cross_entropy(self.net(image), mask)


class Regression(Base):
    def __init__(self):
        super().__init__()
        self.body, self.norm = nn.GRU(7, 6, batch_first=True), nn.LayerNorm(6)

    def training_step(self, batch, batch_idx):
        x = batch[0]
        y = batch[1]
        out, _ = self.body(x)
        return {"loss": F.mse_loss(self.norm(out), y)}


class Pair(Base):
    """Two optimizers, stepped by hand, on images alone."""

    def __init__(self, size: int = 3):
        super().__init__()
        self.automatic_optimization = False
        self.make, self.judge = nn.Linear(size, 64), nn.Linear(64, 1)

    def training_step(self, batch, batch_idx):
        images, _ = batch
        first, second = self.optimizers()
        noise = torch.randn(images.shape[0], 3)
        for optimizer, sign in ((first, -1), (second, 1)):
            loss = sign * self.judge(self.make(noise)).mean() + self.judge(images.view(images.shape[0], 64)).mean()
            optimizer.zero_grad()
            self.manual_backward(loss)
            optimizer.step()

    def configure_optimizers(self):
        return [torch.optim.SGD(part.parameters(), lr=0.01) for part in (self.make, self.judge)]


class Chunks(Base):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.lstm = nn.LSTM(2, 3, batch_first=True)

    def training_step(self, batch, batch_idx):
        hiddens, optimizer = None, self.optimizers()
        for x, y in zip(*(part.split(3, dim=1) for part in batch), strict=True):
            out, hiddens = self.lstm(x, hiddens)
            loss = F.mse_loss(out, y)
            optimizer.zero_grad()
            self.manual_backward(loss)
            optimizer.step()
            hiddens = tuple(part.detach() for part in hiddens)


class Example(Base):
    def __init__(self):
        super().__init__()
        self.example_input_array = torch.rand(1, 5, 9)
        self.net = nn.Linear(45, 2)

    def training_step(self, batch, batch_idx):
        x, y = batch
        assert x.shape[1:] == (5, 9)
        return F.cross_entropy(self.net(x.flatten(1)), y)


class Speech(Base):
    """Pieces of a voice and of its spectra, cut at the same random places."""

    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.words, self.spectra = nn.Embedding(9, 4), nn.Conv1d(5, 4, 1)
        self.voice, self.judge = nn.ConvTranspose1d(4, 1, 8, 8), nn.Conv1d(1, 1, 3)

    def training_step(self, batch, batch_idx):
        optimizer = self.optimizers()
        loss = self.compared(batch)
        optimizer.zero_grad()
        self.manual_backward(loss)
        optimizer.step()

    def compared(self, batch):
        words, word_lengths, real = batch.words, batch.word_lengths, batch.voices
        spectra, spectrum_lengths = batch.spectra, batch.spectra_lengths
        known = torch.arange(words.shape[1])[None] < word_lengths[:, None]
        told = (self.words(words) * known[:, :, None]).mean(1)
        hidden = self.spectra(spectra) + told[:, :, None]
        starts = (torch.rand(len(spectra)) * (spectrum_lengths - 24 + 1)).long()
        made = self.voice(cut(hidden, starts, 24))
        real = cut(real, starts * 8, 24 * 8)
        return F.mse_loss(self.judge(made), self.judge(real))


def cut(whole, starts, size):
    pieces = torch.zeros_like(whole[:, :, :size])
    for number, start in enumerate(starts):
        pieces[number] = whole[number, :, start : start + size]
    return pieces
