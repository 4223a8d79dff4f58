"""Further ways in which an argument of Trainer is written, of which none may be silent.

`NAME` and `VALUE` stand for the argument and its value, `FILE` for the line behind which another file begins.
"""

from __future__ import annotations

import re

from tests.codemods.ways import Case, program

BUILD = "def main():\n    BEFORE\n    trainer = pl.Trainer(GIVEN)\n    trainer.fit(Net())\n\n\nmain()\n"
ONE = "max_epochs=1, NAME="
ENTRIES = "{'max_epochs': 1, 'NAME': VALUE}"
FIELDS = "class Config:\n    max_epochs: int = 1\n    NAME: object = VALUE\n\n\n"
PARSER = "parser = argparse.ArgumentParser()\n"
OPTIONS = "parser.add_argument('--max_epochs', default=1)\nparser.add_argument('--NAME', default=VALUE)\n"
RUN = "    def go(self):\n        trainer = pl.Trainer(GIVEN)\n        trainer.fit(Net())\n\n\n"


def _built(given: str, before: str = "pass") -> str:
    return BUILD.replace("BEFORE", before.replace("\n", "\n    ")).replace("GIVEN", given)


def _run(given: str) -> str:
    return RUN.replace("GIVEN", given)


HERE = {
    "options by vars": "import argparse\n" + PARSER + OPTIONS + _built("**vars(parser.parse_args())"),
    "options by __dict__": "import argparse\n" + PARSER + OPTIONS + _built("**parser.parse_args().__dict__"),
    "options chosen by name": "import argparse\n" + PARSER + OPTIONS + "args = parser.parse_args()\n"
    + _built("**{key: getattr(args, key) for key in ('max_epochs', 'NAME')}"),
    "options by default alone": "import argparse\n" + PARSER + "parser.set_defaults(NAME=VALUE)\n"
    + _built(ONE + "parser.parse_args().NAME"),
    "options asked for": "import argparse\n" + PARSER + OPTIONS + "args = parser.parse_args()\n"
    + _built(ONE + "getattr(args, 'NAME', VALUE)"),
    "options as a dictionary": "import argparse\n" + PARSER + OPTIONS + "args = vars(parser.parse_args())\n"
    + _built(ONE + "args['NAME']"),
    "options set behind": "import argparse\nargs = argparse.Namespace()\nargs.NAME = VALUE\n"
    + _built("**vars(args)"),
    "dataclass": "from dataclasses import dataclass\n\n\n@dataclass\n" + FIELDS + _built(ONE + "Config().NAME"),
    "dataclass as a dictionary": "from dataclasses import asdict, dataclass\n\n\n@dataclass\n" + FIELDS
    + _built("**asdict(Config())"),
    "field with a default": "from dataclasses import dataclass, field\n\n\n@dataclass\n"
    + FIELDS.replace("VALUE", "field(default=VALUE)") + _built(ONE + "config.NAME", "config = Config()"),
    "field that is made": "from dataclasses import dataclass, field\n\n\n@dataclass\nclass Config:\n"
    f"    options: dict = field(default_factory=lambda: {ENTRIES})\n\n\n" + _built("**Config().options"),
    "named tuple": "from typing import NamedTuple\n\n\n" + FIELDS.replace("Config", "Config(NamedTuple)")
    + _built("**Config()._asdict()"),
    "pydantic": "from pydantic import BaseModel\n\n\n" + FIELDS.replace("Config", "Config(BaseModel)")
    + _built("**Config().model_dump()"),
    "pydantic field": "from pydantic import BaseModel, Field\n\n\n"
    + FIELDS.replace("Config", "Config(BaseModel)").replace("VALUE", "Field(VALUE)") + _built("**Config().dict()"),
    "attrs": "import attr\n\n\n@attr.s\nclass Config:\n    NAME = attr.ib(default=VALUE)\n\n\n"
    + _built(ONE + "Config().NAME"),
    "namespace": "from types import SimpleNamespace\n" + _built("**vars(made)", "made = SimpleNamespace(NAME=VALUE)"),
    "proxy": "from types import MappingProxyType\n" + _built("**MappingProxyType(" + ENTRIES + ")"),
    "chain of mappings": "from collections import ChainMap\n" + _built("**ChainMap({'NAME': VALUE}, {})"),
    "ordered pairs": "from collections import OrderedDict\n" + _built("**OrderedDict([('NAME', VALUE)])"),
    "keys of one value": _built("max_epochs=1, **dict.fromkeys(['NAME'], VALUE)"),
    "two dictionaries": _built("**{**first, **second}", "first = {'max_epochs': 1}\nsecond = {'NAME': VALUE}"),
    "one filled by default": _built("**options", "options = {'max_epochs': 1}\noptions.setdefault('NAME', VALUE)"),
    "entries that are not None": _built("**{k: v for k, v in made.items() if v is not None}", f"made = {ENTRIES}"),
    "entries chosen by name": "KEYS = ['max_epochs', 'NAME']\n"
    + _built("**{key: made[key] for key in KEYS if key in made}", f"made = {ENTRIES}"),
    "part of a dictionary": _built("**made['trainer']", f"made = {{'trainer': {ENTRIES}}}"),
    "part that is taken out": _built("**made.pop('trainer')", f"made = {{'trainer': {ENTRIES}}}"),
    "one of several": f"KNOWN = {{'a': {ENTRIES}, 'b': {{}}}}\n\n\ndef main(name='a'):\n"
    "    trainer = pl.Trainer(**KNOWN[name])\n    trainer.fit(Net())\n\n\nmain()\n",
    "one of several values": "KNOWN = {'a': VALUE, 'b': VALUE}\n\n\ndef main(name='a'):\n"
    f"    trainer = pl.Trainer({ONE}KNOWN[name])\n    trainer.fit(Net())\n\n\nmain()\n",
    "taken out of a dictionary": _built(ONE + "made.pop('NAME')", f"made = {ENTRIES}"),
    "asked for with a default": "import os\n" + _built(ONE + "os.environ.get('NOWHERE', VALUE)"),
    "function that gives it": "def find(debug=False):\n    if debug:\n        return VALUE\n    return VALUE\n\n\n"
    + _built(ONE + "find()"),
    "method that gives it": "class Run:\n    def find(self):\n        return VALUE\n\n" + _run(ONE + "self.find()")
    + "Run().go()\n",
    "property": "class Run:\n    @property\n    def kept(self):\n        return VALUE\n\n" + _run(ONE + "self.kept")
    + "Run().go()\n",
    "attribute of a base": "class Base:\n    kept = VALUE\n\n\nclass Run(Base):\n" + _run(ONE + "self.kept")
    + "Run().go()\n",
    "object that is kept": "class Config:\n    def __init__(self):\n        self.NAME = VALUE\n\n\nclass Run:\n"
    "    def __init__(self):\n        self.config = Config()\n\n" + _run(ONE + "self.config.NAME") + "Run().go()\n",
    "constructor that hands on": "class Run:\n    def __init__(self, **given):\n"
    "        self.trainer = pl.Trainer(**given)\n\n\nRun(max_epochs=1, NAME=VALUE).trainer.fit(Net())\n",
    "constructor that keeps": "class Run:\n    def __init__(self, **given):\n        self.given = given\n\n"
    + _run("**self.given") + "Run(max_epochs=1, NAME=VALUE).go()\n",
    "constructor given a dictionary": "class Run:\n    def __init__(self, given):\n        self.given = given\n\n"
    + _run("**self.given") + f"Run({ENTRIES}).go()\n",
    "builder": "class Builder:\n    def __init__(self):\n        self.given = {}\n\n    def having(self, **more):\n"
    "        self.given.update(more)\n        return self\n\n    def build(self):\n"
    "        return pl.Trainer(**self.given)\n\n\nBuilder().having(max_epochs=1, NAME=VALUE).build().fit(Net())\n",
    "subclass with a default": "class Own(pl.Trainer):\n    def __init__(self, **given):\n"
    "        given.setdefault('NAME', VALUE)\n        super().__init__(**given)\n\n\nOwn(max_epochs=1).fit(Net())\n",
    "subclass that says it": "class Own(pl.Trainer):\n    def __init__(self, **given):\n"
    "        super().__init__(NAME=VALUE, **given)\n\n\nOwn(max_epochs=1).fit(Net())\n",
    "class that is chosen": "def main(own=None):\n    kind = own or pl.Trainer\n"
    f"    kind({ONE}VALUE).fit(Net())\n\n\nmain()\n",
    "class of a class": "class Run:\n    kind = pl.Trainer\n\n    def go(self):\n"
    f"        self.kind({ONE}VALUE).fit(Net())\n\n\nRun().go()\n",
    "partial called twice": "from functools import partial\n\nbuild = partial(pl.Trainer, NAME=VALUE)\nbuild()\n"
    "build(max_epochs=1).fit(Net())\n",
    "options of the old method": "import argparse\nargs = argparse.Namespace()\nargs.NAME = VALUE\n"
    "pl.Trainer.from_argparse_args(args).fit(Net())\n",
    "fixture": "import pytest\n\n\n@pytest.fixture\ndef given():\n    return " + ENTRIES
    + "\n\n\ndef test_it(given):\n    pl.Trainer(**given).fit(Net())\n",
    "cases of a test": "import pytest\n\n\n@pytest.mark.parametrize('given', [VALUE])\n"
    f"def test_it(given):\n    pl.Trainer({ONE}given).fit(Net())\n",
    "click": "import click\n\n\n@click.command()\n@click.option('--NAME', default=VALUE)\ndef main(**given):\n"
    "    pl.Trainer(**given).fit(Net())\n\n\nmain()\n",
    "flags": "from absl import flags\n\nFLAGS = flags.FLAGS\nflags.DEFINE_string('NAME', VALUE, 'what')\n"
    + _built(ONE + "FLAGS.NAME"),
    "trial": f"def objective(trial):\n    pl.Trainer({ONE}trial.suggest_categorical('x', [VALUE])).fit(Net())\n",
    "search": "from ray import tune\n\n\ndef train(config):\n"
    f"    pl.Trainer({ONE}config['NAME']).fit(Net())\n\n\ntune.run(train, config={{'NAME': VALUE}})\n",
    "tracked": f"import wandb\n\nwandb.init(config={{'NAME': VALUE}})\n{_built(ONE + 'wandb.config.NAME')}",
    "made of a dictionary": "from omegaconf import OmegaConf\n"
    + _built("**made.trainer", f"made = OmegaConf.create({{'trainer': {ENTRIES}}})"),
    "object of attributes": "from easydict import EasyDict\n\nmade = EasyDict()\nmade.trainer = EasyDict()\n"
    "made.trainer.NAME = VALUE\n" + _built(ONE + "made.trainer.NAME"),
}  # fmt: skip
BESIDE = {
    "dictionary of another file": ("from settings import MADE\n" + _built("**MADE"), "MADE = " + ENTRIES),
    "part of another file": ("import settings\n" + _built("**settings.MADE['trainer']"),
                             "MADE = {'trainer': " + ENTRIES + "}"),
    "function of another file": ("from settings import find\n" + _built(ONE + "find()"),
                                 "def find():\n    return VALUE"),
    "object of another file": ("from settings import made\n" + _built(ONE + "made.NAME"),
                               "from easydict import EasyDict\n\nmade = EasyDict()\nmade.NAME = VALUE"),
    "partial of another file": ("from settings import build\n\nbuild(max_epochs=1).fit(Net())\n",
                                "from functools import partial\nimport pytorch_lightning as pl\n\n"
                                "build = partial(pl.Trainer, NAME=VALUE)"),
}  # fmt: skip
"""Ways with a file of settings beside the script."""
WAYS = (*HERE, *BESIDE)


def files_of(way: str, case: Case) -> dict[str, str]:
    """The program that gives Trainer an argument in a way."""
    if way in HERE:
        return {"train.py": program(_filled(HERE[way], case))}
    text, settings = BESIDE[way]
    return {"train.py": program(_filled(text, case)), "settings.py": f"{_filled(settings, case)}\n"}


def _filled(text: str, case: Case) -> str:
    return re.sub(r"\bVALUE\b", case.value.replace("\\", r"\\"), re.sub(r"\bNAME\b", case.argument, text))
