"""LIT119: None for what Trainer keeps."""

from __future__ import annotations

import pytest

from codemods.engine.plan import Plan
from tests.codemods.support import rule, run_rules

HEAD = "import pytorch_lightning as pl\n\n\n"
OLD = ("pytorch-lightning==1.8.6",)
NAMES = ("logger", "enable_checkpointing", "enable_progress_bar", "enable_model_summary")


def run(text: str, pins: tuple[str, ...] = OLD, **files: str) -> Plan:
    named = {f"{name}.py": content for name, content in files.items()}
    return run_rules({"train.py": HEAD + text, **named}, rule("LIT119"), unsafe=True, pins=pins)


def rewritten(text: str, pins: tuple[str, ...] = OLD, **files: str) -> str:
    made = run(text, pins, **files)
    assert not made.bugs
    return made.final().get("train.py", (HEAD + text).encode()).decode().removeprefix(HEAD)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("pins", "level"),
    [
        (OLD, "safe"),
        (("pytorch-lightning>=1.6,<2.0",), "safe"),
        (("pytorch-lightning>=1.6",), "unsafe"),
        ((), "unsafe"),
        (("lightning>=2.0",), None),
        (("pytorch-lightning==1.5.0", "lightning==2.0.1"), "unsafe"),
    ],
)
def test_the_pins_tell_what_none_meant(name: str, pins: tuple[str, ...], level: str | None) -> None:
    text = f"trainer = pl.Trainer(max_epochs=3, {name}=None)\n"
    found = run(text, pins).findings
    assert [item.fix for item in found] == ([level] if level else [])
    assert rewritten(text, pins) == (text.replace("None", "False") if level else text)


def test_code_of_1x_tells_it_too() -> None:
    text = "trainer = pl.Trainer(gpus=1, logger=None)\n"
    assert [item.fix for item in run(text, ()).findings] == ["safe"]
    assert [item.fix for item in run(text, ("pytorch-lightning==1.5.0", "lightning==2.0.1")).findings] == ["unsafe"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("def build(logger=None):\n    return pl.Trainer(logger=logger)\n", "logger=logger or False)"),
        ("def build(on):\n    return pl.Trainer(logger=L() if on else None)\n", "logger=L() if on else False)"),
        ("def build(on):\n    return pl.Trainer(logger=None if on else L())\n", "logger=False if on else L())"),
        ("logger = None\nif on:\n    logger = L()\ntrainer = pl.Trainer(logger=logger)\n", "logger=logger or False)"),
        ("logger = L() if on else None\ntrainer = pl.Trainer(logger=logger)\n", "logger=logger or False)"),
        (
            "def get():\n    if on:\n        return L()\n    return None\n\n\npl.Trainer(logger=get())\n",
            "get() or False)",
        ),
        (
            "def get():\n    if on:\n        return L()\n    return None\n\n\n"
            "logger = get()\npl.Trainer(logger=logger)\n",
            "logger=logger or False)",
        ),
        ("kwargs = dict(max_epochs=2, logger=None)\ntrainer = pl.Trainer(**kwargs)\n", "logger=False)\n"),
        (
            "class T(pl.Trainer):\n    def __init__(self, logger=None, **kw):\n"
            "        super().__init__(logger=logger, **kw)\n",
            "super().__init__(logger=logger or False, **kw)",
        ),
    ],
)
def test_every_way_to_give_it(before: str, after: str) -> None:
    made = rewritten(before)
    assert after in made and rewritten(made) == made


@pytest.mark.parametrize(
    "text",
    [
        "trainer = pl.Trainer(logger=False)\n",
        "trainer = pl.Trainer(logger=True)\n",
        "trainer = pl.Trainer(logger=L())\n",
        "trainer = pl.Trainer(profiler=None, callbacks=None, max_epochs=None, limit_train_batches=None)\n",
        "trainer = Engine(logger=None)\n",
        "def build(logger=None):\n    if logger is None:\n        logger = L()\n    return pl.Trainer(logger=logger)\n",
        "def build(logger=None):\n    logger = logger or L()\n    return pl.Trainer(logger=logger)\n",
        "logger = None\nlogger = L()\ntrainer = pl.Trainer(logger=logger)\n",
        "def get():\n    return L()\n\n\ntrainer = pl.Trainer(logger=get())\n",
        "def build(logger):\n    return pl.Trainer(logger=logger)\n",
    ],
)
def test_what_is_never_none_stays(text: str) -> None:
    made = run(text)
    assert made.findings == () and rewritten(text) == text


def test_under_an_open_version_check_it_is_left_to_a_person() -> None:
    text = "if pl.__version__ < limit:\n    trainer = pl.Trainer(logger=None)\n"
    [found] = run(text).findings
    assert found.fix == "manual" and "version check" in found.reason and rewritten(text) == text


def test_in_a_configuration() -> None:
    files = {
        "train.py": "from pytorch_lightning.cli import LightningCLI\nfrom model import M\n\nLightningCLI(M)\n",
        "model.py": "import pytorch_lightning as pl\n\n\nclass M(pl.LightningModule):\n    pass\n",
        "config.yaml": "trainer:\n  gpus: 1\n  logger: null\n",
    }
    made = run_rules(files, rule("LIT301"), pins=OLD).final()["config.yaml"].decode()
    assert made == "trainer:\n  accelerator: gpu\n  devices: 1\n  logger: false\n"
    made = run_rules(files, rule("LIT301"), pins=("lightning>=2.0",)).final()["config.yaml"].decode()
    assert "logger: null" in made


def test_what_other_rules_write_hides_nothing() -> None:
    made = run("pl.Trainer(logger=None, use_distributed_sampler=False)\n")
    assert [item.fix for item in made.findings] == ["unsafe"]


def test_beside_what_only_2_takes_none_is_the_default_already() -> None:
    assert run("pl.Trainer(logger=None, barebones=False)\n", ()).findings == ()
    files = {
        "train.py": "from lightning.pytorch.cli import LightningCLI\nfrom model import M\n\nLightningCLI(M)\n",
        "model.py": "import lightning.pytorch as pl\n\n\nclass M(pl.LightningModule):\n    pass\n",
        "config.yaml": "trainer:\n  enable_checkpointing: null\n  use_distributed_sampler: true\n",
    }
    assert run_rules(files, rule("LIT301"), pins=()).findings == ()
    older = {"config.yaml": "trainer:\n  enable_checkpointing: null\n  sync_batchnorm: true\n  gpus: 1\n"}
    assert [item.fix for item in run_rules(files | older, rule("LIT301"), pins=()).findings] == ["unsafe", "safe"]


def test_what_hydra_hands_on() -> None:
    text = "import hydra\n\n\ndef main(cfg):\n    logger = None\n    if cfg.log:\n        logger = L()\n"
    text += "    trainer = hydra.utils.instantiate(cfg.trainer, logger=logger)\n"
    assert [item.fix for item in run(text).findings] == ["unsafe"]
    assert "cfg.trainer, logger=logger or False)" in rewritten(text)
    assert run(text.replace("cfg.trainer", "cfg.model")).findings == ()
