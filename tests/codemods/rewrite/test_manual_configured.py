"""What is read from `configure_optimizers`, and what is not."""

from __future__ import annotations

import pytest

from codemods.code.source import PythonFile, Source
from codemods.rewrite.manual.configured import ConfiguredOptimizers, Schedule, read_configured
from codemods.rewrite.manual.optimizers import NotPlain

HEAD = """\
import torch
from torch.optim import SGD, Adam
from torch.optim.lr_scheduler import ReduceLROnPlateau, StepLR
from elsewhere import Lion, warm

TIMES = 3


def make(parameters, kind, **more):
    if kind == "adam":
        built = Adam
    elif kind == "sgd":
        built = torch.optim.SGD
    else:
        raise ValueError(kind)
    return built(parameters, **more)


def find(kind):
    return Adam if kind else Lion()


def close(model):
    optimizer = torch.optim.LBFGS(model.parameters())
    return optimizer


class Model:
    def configure_optimizers(self):
        a = Adam(self.a.parameters())
        b = SGD(self.b.parameters(), lr=0.1)
"""
EVERY_EPOCH, EVERY_STEP = Schedule(), Schedule("step")


def read(body: str) -> ConfiguredOptimizers:
    text = HEAD + "".join(f"        {line}\n" for line in body.splitlines())
    file = PythonFile.parse(Source("model.py", "python", text.encode()))
    (item,) = file.classes
    return read_configured(item.methods["configure_optimizers"], item.scope)


KEPT = """\
self.both = []
self.one = Lion() if self.fast else None
self.one = Adam(self.a.parameters())
self.other = SGD(self.b.parameters(), lr=0.1)
"""

READ = {
    "of a function": ("return [make(self.a.parameters(), 'sgd', lr=1), b]", ConfiguredOptimizers(2, 2)),
    "attributes": (KEPT + "return [self.one, self.other]", ConfiguredOptimizers(2, 2)),
    "attributes on every way": (
        KEPT + "if self.slow:\n    self.one = SGD(self.a.parameters(), 1)\nreturn self.one",
        ConfiguredOptimizers(1, 1),
    ),
    "one": ("return a", ConfiguredOptimizers(1, 1)),
    "list": ("return [a, b]", ConfiguredOptimizers(2, 2)),
    "tuple": ("return a, b", ConfiguredOptimizers(2, 2)),
    "pair": ("return [a], [StepLR(a, 1)]", ConfiguredOptimizers(1, 1, (EVERY_EPOCH,))),
    "pair with a scheduler outside a list": ("return [a, b], StepLR(a, 1)", ConfiguredOptimizers(2, 2, (EVERY_EPOCH,))),
    "dict": (
        'return {"optimizer": a, "lr_scheduler": {"scheduler": StepLR(a, 1), "interval": "step", "frequency": 3}}',
        ConfiguredOptimizers(1, 1, (Schedule("step", 3),)),
    ),
    "monitor beside the scheduler": (
        'return {"optimizer": a, "lr_scheduler": ReduceLROnPlateau(a), "monitor": "loss"}',
        ConfiguredOptimizers(1, 1, (Schedule(monitor='"loss"'),)),
    ),
    "monitor of the instance": (
        'return [a, b], [StepLR(b, 1), {"scheduler": ReduceLROnPlateau(a), "monitor": self.hparams.watched}]',
        ConfiguredOptimizers(2, 2, (EVERY_EPOCH, Schedule(monitor="self.hparams.watched"))),
    ),
    "monitor worked out": (
        'm = f"{self.split}_{TIMES}"\nreturn [a], [{"scheduler": ReduceLROnPlateau(a), "monitor": m}]',
        ConfiguredOptimizers(1, 1, (Schedule(monitor='f"{self.split}_{TIMES}"'),)),
    ),
    "monitor by a method": (
        'p = self.hparams.get("split", "val")\n'
        'return [a], [{"scheduler": ReduceLROnPlateau(a), "monitor": "{}_loss".format(p)}]',
        ConfiguredOptimizers(1, 1, (Schedule(monitor="'{}_loss'.format(self.hparams.get('split', 'val'))"),)),
    ),
    "monitor put together": (
        'return [a], [{"scheduler": ReduceLROnPlateau(a), "monitor": self.split + "_loss"}]',
        ConfiguredOptimizers(1, 1, (Schedule(monitor="self.split + '_loss'"),)),
    ),
    "frequency worked out": (
        'n = max(1, self.each)\nreturn [a], [{"scheduler": StepLR(a, 1), "frequency": n}]',
        ConfiguredOptimizers(1, 1, (Schedule(frequency="max(1, self.each)"),)),
    ),
    "dicts with turns": (
        'return [{"optimizer": a, "frequency": 1}, dict(optimizer=b, frequency=self.times)]',
        ConfiguredOptimizers(2, 2, frequencies=("1", "self.times")),
    ),
    "turns by names": (
        'n = 5\nreturn [{"optimizer": a, "frequency": n}, {"optimizer": b, "frequency": TIMES}]',
        ConfiguredOptimizers(2, 2, frequencies=("5", "TIMES")),
    ),
    "interval and frequency by names": (
        'i, f = "step", 2\nreturn [a], [{"scheduler": StepLR(a, 1), "interval": i, "frequency": f}]',
        ConfiguredOptimizers(1, 1, (Schedule("step", 2),)),
    ),
    "names bound again": (
        "s = warm(1)\ns = [StepLR(a, s)]\nreturn [a, b], s",
        ConfiguredOptimizers(2, 2, (EVERY_EPOCH,)),
    ),
    "lists that grow": (
        "o = [a]\no.append(b)\ns = []\ns += [StepLR(a, 1)]\nreturn o, s",
        ConfiguredOptimizers(2, 2, (EVERY_EPOCH,)),
    ),
    "a list that may grow": ("o = [a]\nif self.b:\n    o.append(b)\nreturn o", ConfiguredOptimizers(None, 2)),
    "a list that grows in a loop": (
        "o = [a]\nfor x in self:\n    o.append(b)\nreturn o",
        ConfiguredOptimizers(None, None),
    ),
    "a comprehension": (
        "o = [a, b]\ns = [StepLR(each, 1) for each in o]\nreturn o, s",
        ConfiguredOptimizers(2, 2, (EVERY_EPOCH,), fixed=False),
    ),
    "one of two returns with a scheduler": (
        "if self.warm:\n    return [a, b], [StepLR(a, 1)]\nreturn [a, b]",
        ConfiguredOptimizers(2, 2, (EVERY_EPOCH,), fixed=False),
    ),
    "one or the other": ("o = a if self.first else b\nreturn o", ConfiguredOptimizers(1, 1)),
    "parts of a list": ("o = [a, b]\nreturn [o[0]], [StepLR(o[0], 1)]", ConfiguredOptimizers(1, 1, (EVERY_EPOCH,))),
}


@pytest.mark.parametrize("case", READ.values(), ids=READ.keys())
def test_what_is_read(case: tuple[str, ConfiguredOptimizers]) -> None:
    body, expected = case
    assert read(body) == expected


DOUBTED = {
    "a function that may give something else": (
        "return [find(1), b]",
        "fixer assumes that `find` builds an optimizer",
    ),
    "a function by another's name": (
        "make = warm\nreturn [make(1), b]",
        "fixer assumes that `make` builds an optimizer",
    ),
    "attribute that may be another's": (
        "if self.slow:\n    self.one = a\nreturn [self.one, b]",
        "fixer assumes that `self.one` builds an optimizer",
    ),
    "attribute that a method may change": (
        "self.one = a\nself.wrap()\nreturn [self.one, b]",
        "fixer assumes that `self.one` builds an optimizer",
    ),
    "attribute that something else may change": (
        "self.one = a\nwarm(self)\nreturn [self.one, b]",
        "fixer assumes that `self.one` builds an optimizer",
    ),
    "optimizer": ("return [Lion(self), b]", "fixer assumes that `Lion` builds an optimizer"),
    "scheduler": (
        "return [a], [warm(a)]",
        "fixer assumes that `warm` builds a scheduler that takes no metric, every epoch",
    ),
}


@pytest.mark.parametrize("case", DOUBTED.values(), ids=DOUBTED.keys())
def test_what_is_taken_for_granted_is_said(case: tuple[str, str]) -> None:
    body, doubt = case
    assert doubt in read(body).doubts[0]


NOT_READ = {
    "closure of a function": ("return close(self)", "LBFGS needs a closure"),
    "closure": ("return torch.optim.LBFGS(self.parameters())", "closure"),
    "whatever a function gives": ("return warm(self)", "which fixer cannot follow"),
    "two things from elsewhere": ("return self.made, self.more", "may be optimizers or lists"),
    "list passed on": ("o = [a]\nwarm(o)\nreturn o", "fixer cannot follow"),
    "list changed": ("o = [a]\no.insert(0, b)\nreturn o", "fixer cannot follow"),
    "dict changed": ('s = {"scheduler": StepLR(a, 1)}\ns["interval"] = "step"\nreturn [a], [s]', "fixer cannot tell"),
    "name of a loop": ("for o in self.all:\n    pass\nreturn o", "fixer cannot tell"),
    "interval worked out": ('return [a], [{"scheduler": StepLR(a, 1), "interval": self.each}]', "not a literal"),
    "frequency that may be anything": (
        'return [a], [{"scheduler": StepLR(a, 1), "frequency": warm(a)}]',
        "computes `warm`",
    ),
    "frequency that is no number": ('return [a], [{"scheduler": StepLR(a, 1), "frequency": 1.5}]', "not a number"),
    "monitor by a local function": (
        'def name():\n    return "x"\nreturn [a], [{"scheduler": ReduceLROnPlateau(a), "monitor": name()}]',
        "computes `name`",
    ),
    "monitor in two ways": (
        'm = "x" if self.x else "y"\nreturn [a], [{"scheduler": ReduceLROnPlateau(a), "monitor": m}]',
        "computes `m`",
    ),
    "scheduler in two ways": (
        's = StepLR(a, 1)\nif self.x:\n    s = {"scheduler": s, "interval": "step"}\nreturn [a], [s]',
        "in different ways",
    ),
    "plateau without a metric": ("return [a], [ReduceLROnPlateau(a)]", "without a metric"),
    "plateau that may go without": (
        'return [a], [{"scheduler": ReduceLROnPlateau(a), "monitor": "x", "strict": False}]',
        "not strict",
    ),
    "perhaps a plateau": ('return [a], [{"scheduler": warm(a), "monitor": "x"}]', "by a metric"),
    "unknown key": ('return [a], [{"scheduler": StepLR(a, 1), "opt_idx": 0}]', "opt_idx"),
    "turns worked out": (
        'n = 5 if self.x else 1\nreturn [{"optimizer": a, "frequency": n}, {"optimizer": b, "frequency": 1}]',
        "computes `n`",
    ),
    "turns for one alone": ('return [{"optimizer": a, "frequency": 1}, {"optimizer": b}]', "others none"),
    "unpacked": ("return [*self.all]", "unpacks"),
    "nothing": ("return None", "nothing"),
}


@pytest.mark.parametrize("case", NOT_READ.values(), ids=NOT_READ.keys())
def test_what_is_not_read(case: tuple[str, str]) -> None:
    body, reason = case
    with pytest.raises(NotPlain, match=reason):
        read(body)
