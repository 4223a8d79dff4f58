"""LIT114: arguments of fit and its like, and Trainer's by position, checked against the releases."""

from __future__ import annotations

import ast
import inspect

import pytest
from lightning.pytorch import Trainer

from codemods.lightning.arguments import signatures
from codemods.rules.trainer.lit114 import NEVER, RENAMED, names_by_position
from tests.codemods.support import rewritten, rule, run_rules

HEAD = "from pytorch_lightning import Trainer\n\n"


@pytest.mark.parametrize(("key", "new"), [(key, new) for key, (new, _) in RENAMED.items()])
def test_names(key: tuple[str, str], new: str) -> None:
    method, old = key
    releases = signatures()[method]
    assert any(old in names for names in releases.values())
    if method != "tune":
        taken = inspect.signature(getattr(Trainer, method)).parameters
        assert new in taken and old not in taken


def test_a_method_of_the_projects_own_trainer_takes_what_it_says() -> None:
    own = "class Mine(Trainer):\n    def fit(self, model, train_loader, val_dataloader=None):\n        pass\n\n\n"
    text = f"{HEAD}{own}t = Mine()\nt.fit(m, a, val_dataloader=b)\n"
    assert run_rules({"a.py": text}, rule("LIT114")).findings == ()


OVER = """\
from pytorch_lightning import Trainer


class Mine(Trainer):
    def fit(self, model, train_dataloader=None):
        return super().fit(model, train_dataloader=train_dataloader)


class Below(Mine):
    def fit(self, model, train_dataloader=None):
        return super(Below, self).fit(model, train_dataloader=train_dataloader)

    def tried(self, model, loader):
        return super().test(model, test_dataloaders=loader)


class Other(object):
    def fit(self, model):
        return super().fit(model, train_dataloader=model)
"""


def test_what_a_projects_own_trainer_hands_lightnings() -> None:
    after = OVER.replace("(model, train_dataloader=train", "(model, train_dataloaders=train", 1)
    after = after.replace("test_dataloaders=", "dataloaders=")
    assert rewritten({"a.py": OVER}, rule("LIT114"))["a.py"] == after


@pytest.mark.parametrize(("key", "new"), NEVER.items())
def test_what_no_release_took(key: tuple[str, str], new: str) -> None:
    method, old = key
    assert not any(old in names for names in signatures().get(method, {}).values())
    assert new in inspect.signature(getattr(Trainer, method)).parameters
    text = f"{HEAD}t = Trainer()\nt.{method}(m, {old}=a)\n"
    assert rewritten({"a.py": text}, rule("LIT114"))["a.py"] == text
    assert rewritten({"a.py": text}, rule("LIT114"), unsafe=True)["a.py"] == text.replace(f"{old}=", f"{new}=")
    use = f"trainer.{method}({old}=a)\n    b.{method}({old}=a)"
    unseen = f"import pytorch_lightning\n\n\ndef f(trainer, b):\n    {use}\n"
    assert run_rules({"a.py": unseen}, rule("LIT114")).findings == ()


@pytest.mark.parametrize(
    ("before", "wanted", "level"),
    [
        ("t = Trainer()\nt.fit(m, train_dataloader=a)\n", "t = Trainer()\nt.fit(m, train_dataloaders=a)\n", "safe"),
        ("Trainer().test(test_dataloaders=a)\n", "Trainer().test(dataloaders=a)\n", "safe"),
        ("t = Trainer()\nt.validate(val_dataloaders=a)\n", "t = Trainer()\nt.validate(dataloaders=a)\n", "safe"),
        (
            "def f(t: Trainer):\n    t.fit(m, train_dataloader=a)\n",
            "def f(t: Trainer):\n    t.fit(m, train_dataloaders=a)\n",
            "safe",
        ),
        (
            "def f(trainer):\n    trainer.fit(m, train_dataloader=a)\n",
            "def f(trainer):\n    trainer.fit(m, train_dataloaders=a)\n",
            "unsafe",
        ),
        ("Trainer(log, max_epochs=1)\n", "Trainer(logger=log, max_epochs=1)\n", "safe"),
        ("Trainer(log, True, enable_checkpointing=x)\n", "Trainer(log, True, enable_checkpointing=x)\n", "manual"),
        ("Trainer(*args)\n", "Trainer(*args)\n", "manual"),
    ],
)
def test_written(before: str, wanted: str, level: str) -> None:
    files = {"a.py": HEAD + before}
    made = run_rules(files, rule("LIT114"), unsafe=True)
    assert [finding.fix for finding in made.findings] == [level]
    assert rewritten(files, rule("LIT114"), unsafe=True)["a.py"] == HEAD + wanted


@pytest.mark.parametrize(
    "body",
    [
        "t = Trainer()\nt.fit(m, train_dataloaders=a, val_dataloaders=b)\n",
        "t = Engine()\nt.fit(m, train_dataloader=a)\n",
        "trainer = Engine()\ntrainer.fit(m, train_dataloader=a)\n",
        "Trainer()\nEngine(log)\n",
    ],
)
def test_not_spoken_of(body: str) -> None:
    assert run_rules({"a.py": HEAD + body}, rule("LIT114")).findings == ()


def named(text: str) -> list[str] | None:
    node = ast.parse(text, mode="eval").body
    assert isinstance(node, ast.Call)
    return names_by_position(node)


def test_the_keywords_tell_the_release() -> None:
    assert named("f(a)") == ["logger"]
    assert named("f(a, b)") is None
    assert named("f(a, b, max_nb_epochs=1)") == ["logger", "checkpoint_callback"]
    assert named("f(a, b, inference_mode=True)") == ["logger", "enable_checkpointing"]
    assert named("f(a, logger=b)") is None
    assert named("f(a, nothing=b)") is None


SEVERAL = (
    "def get_trainer(n):\n    if n:\n        t = Trainer(max_epochs=n)\n        return t\n"
    "    t = Trainer()\n    return t\n"
)
FACTORY = "def get_trainer(n):\n    t = Trainer(max_epochs=n)\n    return t\n"
BOTH = "def get_both(n):\n    t = Trainer(max_epochs=n)\n    return n, t\n"
UNPACKED = "m, runner = get_both(1)\nrunner.fit(m, train_dataloader=a)\n"
USE = "runner = get_trainer(1)\nrunner.fit(m, train_dataloader=a)\n"


@pytest.mark.parametrize(
    ("files", "level"),
    [
        ({"a.py": HEAD + FACTORY + USE}, "safe"),
        ({"a.py": HEAD + SEVERAL + USE}, "safe"),
        ({"a.py": HEAD + SEVERAL.replace("    t = Trainer()\n", "    t = n\n") + USE}, "manual"),
        ({"a.py": HEAD + SEVERAL.replace("        return t\n", "") + USE}, "safe"),
        ({"a.py": HEAD + SEVERAL.replace("    t = Trainer()\n", "    for t in n: pass\n") + USE}, "manual"),
        ({"a.py": "from lib import get_trainer\n" + USE, "lib.py": HEAD + FACTORY}, "safe"),
        ({"a.py": HEAD + "from pkg.lib import get_trainer\n" + USE, "pkg/lib.py": HEAD + FACTORY}, "safe"),
        ({"a.py": HEAD + FACTORY.replace("return t", "return t if n else None") + USE}, "manual"),
        ({"a.py": HEAD + "from elsewhere import get_trainer\n" + USE}, "manual"),
        ({"a.py": HEAD + "def run(t):\n    t.fit(m, train_dataloader=a)\n"}, "manual"),
        ({"a.py": HEAD + "class Own(Trainer):\n    pass\nt = Own()\nt.fit(m, train_dataloader=a)\n"}, "safe"),
        ({"a.py": HEAD + BOTH + UNPACKED}, "safe"),
        ({"a.py": "import lib\n" + UNPACKED.replace("= get", "= lib.get"), "lib.py": HEAD + BOTH}, "safe"),
        (
            {
                "a.py": "import lib\n" + UNPACKED.replace("= get", "= lib.get"),
                "lib/__init__.py": "from .api import *\n",
                "lib/api.py": HEAD + BOTH,
            },
            "safe",
        ),
        ({"a.py": HEAD + BOTH + UNPACKED.replace("m, runner", "runner, m")}, "manual"),
        ({"a.py": HEAD + BOTH + UNPACKED.replace("m, runner", "m, *runner")}, "manual"),
        ({"a.py": HEAD + BOTH.replace("return n, t", "return (n, t) if n else (n, None)") + UNPACKED}, "manual"),
        (
            {"a.py": HEAD + BOTH.replace("return n, t", "if n:\n        return t, n\n    return n, t") + UNPACKED},
            "manual",
        ),
        ({"a.py": HEAD + BOTH.replace("return n, t", "return both(n, t)") + UNPACKED}, "manual"),
        (
            {
                "a.py": HEAD
                + "class Own(Trainer):\n    def fit(s):\n        pass\nt = Own()\nt.fit(m, train_dataloader=a)\n"
            },
            None,
        ),
        ({"a.py": HEAD + "def run(t: Engine):\n    t.fit(m, train_dataloader=a)\n"}, None),
    ],
)
def test_a_trainer_from_elsewhere(files: dict[str, str], level: str | None) -> None:
    found = [item.fix for item in run_rules(files, rule("LIT114")).findings if item.path == "a.py"]
    assert found == ([level] if level else [])
