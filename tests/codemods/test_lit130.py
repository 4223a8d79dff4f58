"""LIT130: what the functions for the argparse methods do on the newest Lightning, and what is left."""

from __future__ import annotations

import argparse
from typing import Any

import pytest
from lightning.pytorch import LightningDataModule, Trainer

from codemods.trainer import helpers
from tests.codemods.support import refusals, rewritten, rule, run_rules

HEAD = "from argparse import ArgumentParser\n\nfrom pytorch_lightning import Trainer\n\n\n"
SCRIPT = HEAD + (
    "def main(argv):\n    parser = ArgumentParser()\n    parser = Trainer.add_argparse_args(parser)\n"
    "    args = parser.parse_args(argv)\n    return Trainer.from_argparse_args(args, logger=False)\n"
)


def functions() -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec("import ast, inspect\n" + helpers.text(True, True), names)
    return names


def run(script: str, argv: list[str]) -> Trainer:
    text = rewritten({"a.py": script}, rule("LIT130"))["a.py"]
    names: dict[str, Any] = {}
    exec(text.replace("pytorch_lightning", "lightning.pytorch"), names)
    trainer = names["main"](argv)
    assert isinstance(trainer, Trainer)
    return trainer


def test_the_script_takes_its_options() -> None:
    argv = "--max_epochs 3 --accelerator cpu --devices 1 --fast_dev_run --limit_train_batches 0.5 --deterministic false"
    trainer = run(SCRIPT, argv.split())
    assert (trainer.max_epochs, trainer.fast_dev_run, trainer.logger) == (1, True, None)
    assert run(SCRIPT, ["--max_epochs", "3", "--accelerator", "cpu"]).max_epochs == 3
    with pytest.raises(SystemExit):
        run(SCRIPT, ["--weights_summary", "full"])


@pytest.mark.parametrize(
    ("text", "value"),
    [("3", 3), ("0.5", 0.5), ("-1", -1), ("true", True), ("False", False), ("None", None), ("0,1", "0,1"), ("a", "a")],
)  # fmt: skip
def test_values(text: str, value: object) -> None:
    found = functions()["plain_value"](text)
    assert found == value and type(found) is type(value)


def test_a_datamodule() -> None:
    class Data(LightningDataModule):
        def __init__(self, folder: str, batch_size: int = 4, **others: Any) -> None:
            super().__init__()
            self.given = folder, batch_size, others

    add, build = functions()["add_arguments"], functions()["from_arguments"]
    parser = add(Data, argparse.ArgumentParser())
    parser.add_argument("--unrelated", default=1)
    args = parser.parse_args(["--folder", "here", "--batch_size", "8"])
    assert build(Data, args).given == ("here", 8, {})
    assert build(Data, args, batch_size=2, more=3).given == ("here", 2, {"more": 3})
    with pytest.raises(SystemExit):
        parser.parse_args([])


def test_options_of_old_that_the_script_speaks_of_stay() -> None:
    script = HEAD + (
        "def main(argv):\n    parser = ArgumentParser()\n    Trainer.add_argparse_args(parser)\n"
        "    parser.set_defaults(gpus=0, replace_sampler_ddp=False)\n    args = parser.parse_args(argv)\n"
        "    trainer = Trainer.from_argparse_args(args, max_epochs=1)\n    return trainer\n"
    )
    text = rewritten({"a.py": script}, rule("LIT130"))["a.py"]
    assert 'parser.add_argument("--gpus", type=plain_value, default=None)\n' in text
    assert "set_defaults(gpus=0, use_distributed_sampler=False)" in text
    assert 'accelerator="gpu" if args.gpus else args.accelerator,\n        devices=args.gpus or args.devices,\n' in text
    assert run(script, ["--accelerator", "cpu"]).num_devices == 1


def test_a_checkpoint_goes_to_fit() -> None:
    script = HEAD + (
        "parser = ArgumentParser()\nparser = Trainer.add_argparse_args(parser)\nargs = parser.parse_args()\n"
        "print(args.resume_from_checkpoint)\ntrainer = Trainer.from_argparse_args(args)\ntrainer.fit(model)\n"
    )
    text = rewritten({"a.py": script}, rule("LIT130"))["a.py"]
    assert "trainer.fit(model, ckpt_path=args.resume_from_checkpoint)" in text
    assert 'parser.add_argument("--resume_from_checkpoint", default=None)\n' in text
    assert text.index("def add_arguments") < text.index("parser = ArgumentParser()")


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (("    args =", "    parser.set_defaults(weights_summary=None)\n    args ="), "weights_summary"),
        (("    args =", "    parser.add_argument('--barebones')\n    args ="), "--barebones"),
        (("Trainer.add_argparse_args(parser)", "Trainer.add_argparse_args(parser, use_argument_group=False)"), "usual"),
        (("def main", "def add_arguments():\n    pass\n\n\ndef main"), "the name add_arguments"),
        (("parser.parse_args(argv)", "Namespace(**found)"), "a dictionary"),
        (("    return", "    print(args.resume_from_checkpoint)\n    return"), "fit is not seen"),
        (("    parser = Trainer.add_argparse_args(parser)\n", "    print('--gpus')\n"), "declared elsewhere"),
    ],
)
def test_left_whole(change: tuple[str, str], why: str) -> None:
    text = SCRIPT.replace(*change)
    assert text != SCRIPT
    reasons = refusals({"a.py": text}, "LIT130")
    assert reasons and all(why in reason and "LightningCLI" in reason for reason in reasons)


@pytest.mark.parametrize(
    "text",
    [
        "from ray import Trainer\nparser = Trainer.add_argparse_args(parser)\n",
        HEAD + "class Data:\n    def add_argparse_args(self):\n        pass\n\n\nData.add_argparse_args(parser)\n",
        HEAD + "class D(B):\n    @classmethod\n    def add_argparse_args(c):\n        super().add_argparse_args(c)\n",
    ],
)  # fmt: skip
def test_not_spoken_of(text: str) -> None:
    assert run_rules({"a.py": text}, rule("LIT130")).findings == ()


@pytest.mark.parametrize("name", ["parse_argparser", "default_attributes", "match_env_arguments"])
def test_the_rest_is_found(name: str) -> None:
    [reason] = refusals({"a.py": f"{HEAD}Trainer.{name}(x)\n"}, "LIT130")
    assert "inspect.signature" in reason


def test_a_backend_names_the_strategy() -> None:
    text = SCRIPT.replace("    return", "    print(args.distributed_backend)\n    return")
    after = rewritten({"a.py": text}, rule("LIT130"))["a.py"]
    assert 'parser.add_argument("--distributed_backend", default=None)\n' in after
    assert "        strategy=args.distributed_backend or args.strategy,\n" in after
    assert run(text, ["--accelerator", "cpu", "--devices", "1"]).num_devices == 1


LICENSED = """\
# Licensed to someone.
from argparse import ArgumentParser

import pytorch_lightning as pl

parser = ArgumentParser()
parser = pl.Trainer.add_argparse_args(parser)
parser.add_argument("--root")
args = parser.parse_args()
trainer = pl.Trainer.from_argparse_args(args)
"""


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("--root", "--amp_level", "--amp_level of its own"),
        ("args(args)", "args(args, **more)", "come by `**`"),
        ("args(args)", "args(args, accelerator=args.accelerator, default_root_dir=args.gpus)", "read nowhere"),
    ],
)
def test_options_of_old_that_would_be_lost_are_left_to_a_person(old: str, new: str, said: str) -> None:
    text = LICENSED.replace(old, new)
    assert text != LICENSED
    reasons = refusals({"train.py": text}, "LIT130")
    assert reasons and said in reasons[0]


def test_imports_stand_behind_the_licence() -> None:
    after = rewritten({"train.py": LICENSED}, rule("LIT130"))["train.py"]
    assert after.splitlines()[:2] == ["# Licensed to someone.", "import ast"]


def test_an_option_that_would_stand_behind_a_return_is_left_to_a_person() -> None:
    text = LICENSED.replace(
        "parser = pl.Trainer.add_argparse_args(parser)",
        "\n\ndef options(parser):\n    return pl.Trainer.add_argparse_args(parser)\n\n\nparser = options(parser)",
    ).replace("args = parser", "print(parser.parse_args().gpus)\nargs = parser")
    text += "print(args.gpus)\n"
    reasons = refusals({"train.py": text}, "LIT130")
    assert reasons and all("behind a return" in reason for reason in reasons)
