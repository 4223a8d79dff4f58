"""Trainers whose class, keywords or dictionary travel through functions, lambdas and files: none is passed over."""

from __future__ import annotations

import pytest

from tests.codemods.support import rule, run_rules

HEAD = "from pytorch_lightning import Trainer\n"
CODES = ("LIT101", "LIT110")


def told(files: dict[str, str]) -> list[tuple[str, int, str]]:
    """Where something is said of `gpus`, and how surely."""
    made = run_rules(files, *map(rule, CODES))
    assert made.bugs == ()
    found = [item for item in made.findings if "gpus" in item.message]
    return [(item.path, item.span.line, item.fix) for item in found]


@pytest.mark.parametrize(
    "text",
    [
        "class Own:\n    make = staticmethod(lambda **k: Trainer(max_epochs=1, **k))\nOwn.make(gpus=2)\n",
        "class Own:\n    def make(self, **k):\n        if k:\n            return Trainer(**k)\nOwn().make(gpus=2)\n",
        "def run(make=lambda **k: Trainer(**k)):\n    make(gpus=2)\n",
        "makers = {'a': lambda **k: Trainer(**k)}\nmakers['a'](gpus=2)\n",
        "makers = {'a': Trainer}\nmakers.get(name)(gpus=2)\n",
        "def run(factory):\n    factory(gpus=2)\nrun(Trainer)\n",
        "def run(n, *, factory):\n    factory(gpus=2)\nrun(3, factory=Trainer)\n",
        "def build(cls, **k):\n    return cls(**k)\nbuild(Trainer, gpus=2)\n",
        "from elsewhere import build\nbuild(Trainer, gpus=2)\n",
        "make = lambda cls, **k: cls(**k)\nmake(Trainer, gpus=2)\n",
        "class Own:\n    def __init__(self, cls=Trainer):\n        self.cls = cls\n"
        "    def go(self):\n        self.cls(gpus=2)\n",
        "class Own:\n    def __init__(self, cls):\n        self.cls = cls\n"
        "    def go(self):\n        self.cls(gpus=2)\nOwn(Trainer).go()\n",
        "classes = [Trainer]\nfor each in classes:\n    each(gpus=2)\n",
        "def which(x):\n    if x:\n        return Trainer\nwhich(x)(gpus=2)\n",
    ],
)
def test_a_class_that_travels(text: str) -> None:
    line = next(number for number, each in enumerate((HEAD + text).split("\n"), 1) if "gpus" in each)
    assert told({"train.py": HEAD + text}) == [("train.py", line, "manual")]


@pytest.mark.parametrize(
    "text",
    [
        "def run(factory):\n    factory(gpus=2)\nrun(Cluster)\nprint(Trainer)\n",
        "def run(factory):\n    factory(gpus=2)\nassert isinstance(x, Trainer)\n",
        "def run(factory, other):\n    factory(gpus=2)\nrun(Cluster, Trainer)\n",
        "class Own:\n    cls = Trainer\n    def go(self, cls):\n        cls(gpus=2)\n",
        "def cluster(**k):\n    Trainer()\n    return Cluster(**k)\ncluster(gpus=2)\n",
        "def which():\n    return Cluster\nx = Trainer\nwhich()(gpus=2)\n",
        "isinstance(cluster(gpus=2), Trainer)\n",
        "from unittest.mock import Mock\nMock(spec=Trainer, gpus=2)\n",
    ],
)
def test_what_is_no_trainer(text: str) -> None:
    assert told({"train.py": HEAD + text}) == []


@pytest.mark.parametrize(
    "text",
    [
        "from elsewhere import fix\nk = {'gpus': 2}\nTrainer(**fix(k))\n",
        "from elsewhere import fix\nTrainer(**fix(gpus=2))\n",
        "from elsewhere import fix\nk = {'gpus': 2}\nk = fix(k)\nTrainer(**k)\n",
        "from elsewhere import fix\nTrainer(**fix({'gpus': 2}).whole())\n",
        "k = {'gpus': 2}\nTrainer(**{name: value for name, value in k.items() if value})\n",
        "k = {'gpus': 2}\nTrainer(**dict((name, value) for name, value in k.items()))\n",
        "class Own:\n    def build(self, k):\n        return Trainer(**k)\n"
        "    def go(self):\n        self.build({'gpus': 2})\n",
    ],
)
def test_a_dictionary_that_goes_through_what_nobody_sees(text: str) -> None:
    line = next(number for number, each in enumerate((HEAD + text).split("\n"), 1) if "gpus" in each)
    assert told({"train.py": HEAD + text}) == [("train.py", line, "manual")]


@pytest.mark.parametrize(
    "text",
    [
        "from elsewhere import fix\nk = {'gpus': 2}\nTrainer(**fix(1))\n",
        "class Own:\n    gpus = 2\n    def go(self):\n        return Trainer(**read(self))\n",
        "class Own:\n    def build(self, k):\n        return Trainer(**k)\n"
        "class Other:\n    def build(self, k):\n        return 1\nOther().build({'gpus': 2})\n",
        "def build(k):\n    return Trainer(**k)\ndef other(k):\n    return k\nother({'gpus': 2})\n",
    ],
)
def test_a_dictionary_that_goes_elsewhere(text: str) -> None:
    assert told({"train.py": HEAD + text}) == []


BUILD = f"{HEAD}\n\ndef build(options):\n    return Trainer(**options)\n"


@pytest.mark.parametrize("given", ["{'gpus': 2}", "dict(gpus=2)", "options"])
def test_a_dictionary_that_another_file_gives(given: str) -> None:
    files = {"build.py": BUILD, "train.py": f"from build import build\noptions = {{'gpus': 2}}\nbuild({given})\n"}
    assert told(files) == [("build.py", 5, "manual")]


def test_a_function_of_that_name_that_another_file_has_of_its_own() -> None:
    own = "def build(options):\n    return 1\nbuild({'gpus': 2})\n"
    assert told({"build.py": BUILD, "train.py": own}) == []


def test_keywords_that_another_file_gives() -> None:
    home = f"{HEAD}\n\ndef build(**k):\n    if k:\n        return Trainer(**k)\n"
    files = {"home.py": home, "train.py": "from home import build\nbuild(gpus=2)\n"}
    assert told(files) == [("train.py", 2, "manual")]
