"""LIT116: hardware that a Trainer takes where nothing says so."""

from __future__ import annotations

import pytest

from codemods.engine.plan import Plan, plan
from codemods.engine.scan import Options
from tests.codemods.support import notebook, rule, sources

HEAD = "from pytorch_lightning import Trainer\n\n"


def run(text: str, pin: str, path: str = "train.py", target: str = "2.6.6") -> Plan:
    options = Options((rule("LIT116"),), unsafe=True, target=target, pins=(pin,) if pin else ())
    return plan(sources({path: text}), options)


@pytest.mark.parametrize("pin", ["pytorch-lightning==1.9.5", "pytorch-lightning>=1.6,<2.0"])
def test_the_cpu_that_1x_took_is_written_where_asked_for(pin: str) -> None:
    made = run(f"{HEAD}Trainer(max_epochs=1)\nTrainer()\n", pin)
    assert [(item.fix, item.row) for item in made.findings] == [("unsafe", "G16847")] * 2
    wanted = f'{HEAD}Trainer(max_epochs=1, accelerator="cpu")\nTrainer(accelerator="cpu")\n'
    assert made.final()["train.py"].decode() == wanted


@pytest.mark.parametrize("pin", ["", "pytorch-lightning>=1.9", "lightning==2.6.6"])
def test_code_that_may_be_of_2x_is_left(pin: str) -> None:
    assert run(f"{HEAD}Trainer(max_epochs=1)\n", pin).findings == ()


@pytest.mark.parametrize(
    "call",
    [
        "Trainer(gpus=1)",
        "Trainer(devices=1)",
        "Trainer(accelerator='auto')",
        "Trainer(strategy='ddp')",
        "Trainer(tpu_cores=8)",
        "Trainer(**params)",
        "Trainer(*params)",
        "Trainer.from_argparse_args(args)",
        "Engine()",
    ],
)
def test_what_says_it_is_left(call: str) -> None:
    assert run(f"{HEAD}{call}\n", "pytorch-lightning==1.9.5").findings == ()


@pytest.mark.parametrize(
    "way",
    [
        "def main(cfg):\n    cfg.trainer.limit_train_batches = 0\n    Trainer(**cfg.trainer)\n",
        "def main(cfg):\n    cfg.trainer['limit_train_batches'] = 0\n    Trainer(**cfg.trainer)\n",
        "def main(cfg):\n    cfg.trainer.update(max_epochs=1)\n    Trainer(**cfg.trainer)\n",
        "import settings\n\nsettings.trainer['max_epochs'] = 1\nTrainer(**settings.trainer)\n",
        "from settings import params\n\nparams['max_epochs'] = 1\nTrainer(**params)\n",
    ],
)
def test_what_is_set_in_a_dictionary_from_elsewhere_is_not_all_that_it_holds(way: str) -> None:
    assert run(f"{HEAD}{way}", "pytorch-lightning==1.9.5").findings == ()


@pytest.mark.parametrize(
    "way",
    [
        "params = {}\nparams['max_epochs'] = 1\nTrainer(**params)\n",
        "def main(cfg):\n    cfg.trainer = dict(max_epochs=1)\n    Trainer(**cfg.trainer)\n",
    ],
)
def test_a_dictionary_that_is_made_here_is_seen_through(way: str) -> None:
    assert [item.fix for item in run(f"{HEAD}{way}", "pytorch-lightning==1.9.5").findings] == ["unsafe"]


@pytest.mark.parametrize("path", ["tests/run.py", "test_train.py", "pkg/test/a.py", "conftest.py"])
def test_tests_are_left(path: str) -> None:
    assert run(f"{HEAD}Trainer(max_epochs=1)\n", "pytorch-lightning==1.9.5", path).findings == ()


@pytest.mark.parametrize(
    ("call", "pin", "target", "rows"),
    [
        ("accelerator='tpu', devices=[2]", "", "2.6.6", ["M309"]),
        ("accelerator='tpu', devices=[2]", "lightning>=2.1", "2.6.6", []),
        ("accelerator='tpu', devices=[2]", "", "2.0.9", []),
        ("accelerator='tpu', devices=[0]", "", "2.6.6", []),
        ("accelerator='gpu', devices=[2]", "", "2.6.6", []),
        ("accelerator='gpu', devices='auto'", "", "2.6.6", []),
    ],
)
def test_cores_of_a_tpu(call: str, pin: str, target: str, rows: list[str]) -> None:
    assert [item.row for item in run(f"{HEAD}Trainer({call})\n", pin, target=target).findings] == rows


def test_devices_of_a_notebook() -> None:
    text = notebook(f"{HEAD}Trainer(accelerator='gpu', devices='auto')")
    [found] = run(text, "", "a.ipynb").findings
    assert (found.row, found.fix) == ("M314", "manual") and "devices=-1" in found.reason
