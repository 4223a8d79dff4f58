"""LIT101: `accelerator=` that an option, a field or a configuration in code gives, beside `gpus=`."""

from __future__ import annotations

import pytest

from tests.codemods.support import rule, run_rules

RULES = (rule("LIT101"), rule("LIT111"))
EARLY = ("pytorch-lightning==1.5.10",)
HEAD = "from pytorch_lightning import Trainer\n\n\n"
READ = f"{HEAD}def train(config):\n    Trainer(gpus=config.training.gpus, accelerator=config.training.accelerator)\n"
STRATEGY = "strategy=config.training.accelerator"
OR_NONE = 'strategy=config.training.accelerator or "auto"'
OR_GPU = 'strategy="auto" if config.training.accelerator == "gpu" else config.training.accelerator'


def after(stated: str, kind: str = "py", unsafe: bool = True) -> str:
    """The Trainer of a script beside another file."""
    made = run_rules({"train.py": READ, f"settings.{kind}": stated}, *RULES, unsafe=unsafe, pins=EARLY)
    assert made.bugs == ()
    return made.final().get("train.py", READ.encode()).decode().splitlines()[-1].strip()


@pytest.mark.parametrize(
    ("stated", "wanted"),
    [
        ("training.accelerator = 'ddp'\n", STRATEGY),
        ("training.accelerator = None if training.gpus == 1 else 'ddp'\n", OR_NONE),
        ("class Training:\n    accelerator: str = 'ddp_spawn'\n", STRATEGY),
        ("class Training:\n    accelerator: str = field(default='ddp')\n    gpus: int = 1\n", STRATEGY),
        ("Training(accelerator='ddp')\nTraining(accelerator=None)\n", OR_NONE),
        ("def make(accelerator='ddp'):\n    return Training(accelerator=accelerator)\n", STRATEGY),
        ("TRAINING = {'accelerator': 'ddp'}\n", STRATEGY),
        ("class A:\n    accelerator = 'ddp'\n\n\nclass B(A):\n    accelerator = 'gpu'\n", OR_GPU),
        ("t.accelerator = 'ddp'\nif t.accelerator == 'gpu':\n    print()\n", OR_GPU),
        ("parser.add_argument('--accelerator', default='ddp', choices=['ddp', 'gpu'])\n", OR_GPU),
    ],
)
def test_what_the_project_gives_the_name_is_assumed(stated: str, wanted: str) -> None:
    text = after(stated)
    assert f" {wanted}," in text and 'accelerator="gpu" if config.training.gpus else "cpu"' in text
    assert after(stated, unsafe=False) == READ.splitlines()[-1].strip()


def test_what_is_assumed_is_said() -> None:
    made = run_rules({"train.py": READ, "s.py": "t.accelerator = None if t.gpus else 'ddp'\n"}, *RULES, pins=EARLY)
    [finding] = made.findings
    assert finding.reason.endswith(
        'fixer assumes that config.training.accelerator is what the project gives that name: "ddp", None'
    )


@pytest.mark.parametrize(
    "stated",
    [
        "",
        "training.accelerator = None\n",
        "training.accelerator = find()\n",
        "training.accelerator = 'ddp' if x else find()\n",
        "training.accelerator = 'dp'\n",
        "training.accelerator = 'ddp'\ntraining.accelerator = 'tpu'\n",
        "training.accelerator = 'ddp'\ntraining.accelerator += '_spawn'\n",
        "training.accelerator = 'ddp'\nfor training.accelerator in how():\n    pass\n",
        "training.accelerator, other = 'ddp', 1\n",
        "training.accelerator = 'ddp'\nsetattr(training, 'accelerator', how)\n",
        "training.accelerator = 'ddp'\nmake(accelerator=how())\n",
        "training.accelerator = 'ddp'\nTRAINING = {'accelerator': how}\n",
        "training.accelerator = 'ddp'\ntraining['accelerator'] = how\n",
        "training.accelerator = 'ddp'\nflags.DEFINE_string('accelerator', 'ddp', 'how')\n",
        "parser.add_argument('--accelerator', default='ddp', choices=['ddp', 'dp'])\n",
        "parser.add_argument('--accelerator', default='ddp')\nif a.accelerator == 'dp':\n    print()\n",
        "parser.add_argument('--accelerator', default='ddp', required=True)\n",
        "training.accelerator = 'ddp'\nif training.accelerator in ('ddp', 'tpu'):\n    print()\n",
    ],
)
def test_what_may_be_something_else_is_left(stated: str) -> None:
    assert after(stated) == READ.splitlines()[-1].strip()


@pytest.mark.parametrize(("value", "wanted"), [("null", OR_NONE), ("gpu", OR_GPU), ("dp", ""), ("tpu", "")])
def test_configurations_count_too(value: str, wanted: str) -> None:
    files = {"train.py": READ, "s.py": "t.accelerator = 'ddp'\n", "c.yaml": f"accelerator: {value}\n"}
    made = run_rules(files, *RULES, unsafe=True, pins=EARLY).final()
    assert wanted in made["train.py"].decode() if wanted else not made


@pytest.mark.parametrize(
    ("default", "wanted"),
    [
        ("'gpu'", 'devices=args.gpus or "auto", accelerator=args.accelerator'),
        ("'auto'", 'devices=args.gpus or "auto", accelerator=args.accelerator'),
        ("None", "gpus=args.gpus, accelerator=args.accelerator"),
        ("'gpu', choices=['gpu', 'dp']", "gpus=args.gpus, accelerator=args.accelerator"),
    ],
)
def test_options_that_name_hardware_stay(default: str, wanted: str) -> None:
    text = (
        "import argparse\nfrom pytorch_lightning import Trainer\n\nparser = argparse.ArgumentParser()\n"
        f"parser.add_argument('--accelerator', default={default})\n"
        "parser.add_argument('--gpus', type=int, default=1)\n"
        "args = parser.parse_args()\nTrainer(gpus=args.gpus, accelerator=args.accelerator)\n"
    )
    made = run_rules({"train.py": text}, *RULES, unsafe=True, pins=("pytorch-lightning==1.8.6",))
    assert made.final().get("train.py", text.encode()).decode().splitlines()[-1] == f"Trainer({wanted})"


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("gpus=2, accelerator='ddp', distributed_backend='ddp'", "devices=2, strategy='ddp', accelerator=\"gpu\""),
        ("gpus=2, accelerator='ddp', distributed_backend=None", "devices=2, strategy='ddp', accelerator=\"gpu\""),
        ("gpus=2, accelerator='ddp', distributed_backend='dp'", ""),
        ("gpus=2, accelerator=how(), distributed_backend=how()", ""),
    ],
)
def test_a_strategy_that_is_named_twice(given: str, wanted: str) -> None:
    text = f"{HEAD}Trainer({given})\n"
    made = run_rules({"train.py": text}, *RULES, pins=("pytorch-lightning==1.4.9",))
    assert made.final().get("train.py", b"").decode() == (f"{HEAD}Trainer({wanted})\n" if wanted else "")
