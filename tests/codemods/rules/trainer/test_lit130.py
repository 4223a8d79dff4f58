"""LIT130: what the functions for the argparse methods do on the newest Lightning, and what is left."""

from __future__ import annotations

import argparse
from typing import Any

import pytest
from lightning.pytorch import LightningDataModule, Trainer

from codemods.rules.trainer import helpers
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


def test_a_datamodule() -> None:
    class Data(LightningDataModule):
        def __init__(self, folder: str, batch_size: int = 4, **others: Any) -> None:
            super().__init__()
            self.given = folder, batch_size, others

    Data.__init__.__annotations__.update(folder=str, batch_size=int)
    add, build = functions()["add_arguments"], functions()["from_arguments"]
    parser = add(Data, argparse.ArgumentParser())
    parser.add_argument("--unrelated", default=1)
    args = parser.parse_args(["--folder", "here", "--batch_size", "8"])
    assert build(Data, args).given == ("here", 8, {})
    assert build(Data, args, batch_size=2, more=3).given == ("here", 2, {"more": 3})
    with pytest.raises(SystemExit):
        parser.parse_args([])


def test_an_instance_that_is_made_to_call_it_of_is_not_needed() -> None:
    text = (
        "from pytorch_lightning import LightningDataModule\n\n\nclass Data(LightningDataModule):\n"
        "    def __init__(self, folder):\n        self.folder = folder\n\n"
        "    def again(self):\n        return super()\n\n\n"
        "data = Data(args.folder).from_argparse_args(args)\nother = made(args).from_argparse_args(args)\n"
    )
    after = rewritten({"a.py": text}, rule("LIT130"))["a.py"]
    assert after.endswith("data = from_arguments(Data, args)\nother = made(args).from_argparse_args(args)\n")
    inside = text.replace("return super()", "return super().from_argparse_args(self)")
    assert "return super().from_argparse_args(self)" in rewritten({"a.py": inside}, rule("LIT130"))["a.py"]


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
        (("    args =", "    parser.set_defaults(weights_save_path=None)\n    args ="), "weights_save_path"),
        (("    args =", "    parser.set_defaults(**load('defaults.json'))\n    args ="), "a dictionary"),
        (
            ("    args =", "    all = {'weights_save_path': None}\n    parser.set_defaults(**all)\n    args ="),
            "weights_",
        ),
        (
            ("    args =", "    all = {'replace_sampler_ddp': 0}\n    parser.set_defaults(**all)\n    args ="),
            "use_dist",
        ),
        (("    args =", "    parser.add_argument('--barebones')\n    args ="), "--barebones"),
        (("Trainer.add_argparse_args(parser)", "Trainer.add_argparse_args(parser, use_argument_group=False)"), "usual"),
        (("def main", "def add_arguments():\n    pass\n\n\ndef main"), "the name add_arguments"),
        (("parser.parse_args(argv)", "Namespace(**found)"), "a dictionary"),
        (("    return", "    print(args.resume_from_checkpoint)\n    return"), "cannot find its `fit`"),
        (("    parser = Trainer.add_argparse_args(parser)\n", "    print('--gpus')\n"), "declared elsewhere"),
    ],
)
def test_left_whole(change: tuple[str, str], why: str) -> None:
    text = SCRIPT.replace(*change)
    assert text != SCRIPT
    reasons = refusals({"a.py": text}, "LIT130")
    assert reasons and all(why in reason and "LightningCLI" in reason for reason in reasons)


@pytest.mark.parametrize(
    ("argv", "accelerator", "devices"),
    [([], "CPUAccelerator", 1), (["--devices", "2"], "CPUAccelerator", 2), (["--accelerator", "auto"], None, None)],
)
def test_the_cpu_is_the_default_as_it_was(argv: list[str], accelerator: str | None, devices: int | None) -> None:
    trainer = run(SCRIPT, argv)
    assert accelerator in (None, type(trainer.accelerator).__name__)
    assert devices in (None, trainer.num_devices)


def test_the_default_that_the_script_sets_wins() -> None:
    text = SCRIPT.replace("    args =", "    parser.set_defaults(accelerator='auto')\n    args =")
    assert "add_arguments(Trainer, parser)\n" in rewritten({"a.py": text}, rule("LIT130"))["a.py"]
    named = SCRIPT.replace("logger=False", 'accelerator="gpu"')
    assert "add_arguments(Trainer, parser)\n" in rewritten({"a.py": named}, rule("LIT130"))["a.py"]


def test_defaults_of_a_dictionary() -> None:
    given = "    all = {'gpus': 0, 'max_epochs': 3}\n    parser.set_defaults(**all)\n    args ="
    trainer = run(SCRIPT.replace("    args =", given), [])
    assert (trainer.max_epochs, type(trainer.accelerator).__name__) == (3, "CPUAccelerator")
    text = rewritten({"a.py": SCRIPT.replace("    args =", given)}, rule("LIT130"))["a.py"]
    assert 'parser.add_argument("--gpus"' in text and "devices=args.gpus or args.devices" in text


ALONE = HEAD + "def build(args):\n    return Trainer.from_argparse_args(args, logger=False)\n"


def test_a_trainer_without_options_of_its_own_trains_on_the_cpu() -> None:
    after = rewritten({"a.py": ALONE}, rule("LIT130"))["a.py"]
    assert 'return from_arguments(Trainer, args, accelerator="cpu", logger=False)' in after
    others = {"a.py": ALONE, "b.py": "parser.add_argument('--accelerator')\n"}
    after = rewritten(others, rule("LIT130"))["a.py"]
    assert 'Trainer, args, accelerator=getattr(args, "accelerator", None) or "cpu", logger=False)' in after
    names: dict[str, Any] = {}
    exec(after.replace("pytorch_lightning", "lightning.pytorch"), names)
    for given in (argparse.Namespace(), argparse.Namespace(accelerator=None), argparse.Namespace(accelerator="cpu")):
        assert type(names["build"](given).accelerator).__name__ == "CPUAccelerator"
    declared = {"a.py": ALONE, "b.py": SCRIPT}
    assert "from_arguments(Trainer, args, logger=False)" in rewritten(declared, rule("LIT130"))["a.py"]


CHOSEN = """\
import argparse

from pytorch_lightning import LightningDataModule, Trainer


class One(LightningDataModule):
    pass


class Two(LightningDataModule):
    pass


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", default="one")
    known, _ = parser.parse_known_args()
    if known.data == "one":
        kind = One
    else:
        kind = Two
    parser = kind.add_argparse_args(parser)
    args = parser.parse_args()
    return kind.from_argparse_args(args)
"""


@pytest.mark.parametrize(
    ("old", "new", "level"),
    [
        ("", "", "safe"),
        ("kind = Two", "kind = Three", "unsafe"),
        ("kind = Two", "kind = choose()", "unsafe"),
        ("class Two(LightningDataModule)", "class Two(Base)", "unsafe"),
        ("def main():", "def main(kind):", "unsafe"),
        ("    else:\n        kind = Two\n", "    for kind in (One, Two):\n        pass\n", "unsafe"),
    ],
)
def test_a_class_that_is_chosen_among_the_projects_own(old: str, new: str, level: str) -> None:
    text = CHOSEN.replace(old, new) if old else CHOSEN
    found = run_rules({"a.py": text}, rule("LIT130")).findings
    assert [finding.fix for finding in found] == [level, level]


@pytest.mark.parametrize("argument", ["strategy='ddp'", "plugins=[]"])
def test_with_a_strategy_alone_the_cpu_is_the_default_as_it_was(argument: str) -> None:
    after = rewritten({"a.py": SCRIPT.replace("logger=False", argument)}, rule("LIT130"), unsafe=True)["a.py"]
    assert 'add_arguments(Trainer, parser, accelerator="cpu")' in after


def test_a_star_takes_no_name_of_the_modules_that_are_needed() -> None:
    script = SCRIPT.replace("import Trainer", "import *")
    assert "import inspect" in rewritten({"a.py": script}, rule("LIT130"), unsafe=True)["a.py"]


MADE = SCRIPT.replace("    parser = ArgumentParser()\n    parser = Trainer.add_argparse_args(parser)\n", "    {}\n")


def test_a_parser_that_a_call_makes_is_known_by_the_name_of_the_result() -> None:
    text = MADE.format("parser = Trainer.add_argparse_args(ArgumentParser())")
    assert run(text, ["--max_epochs", "3", "--accelerator", "cpu"]).max_epochs == 3
    kept = text.replace("return Trainer", "print(args.gpus)\n    return Trainer")
    after = rewritten({"a.py": kept}, rule("LIT130"))["a.py"]
    assert "parser = add_arguments(Trainer, ArgumentParser()" in after
    assert '    parser.add_argument("--gpus", type=plain_value, default=None)\n    args' in after


@pytest.mark.parametrize(
    "made",
    [
        "keep(parser := Trainer.add_argparse_args(ArgumentParser()))",
        "parsers[0] = Trainer.add_argparse_args(ArgumentParser())",
        "args = Trainer.add_argparse_args(ArgumentParser()).parse_args()",
    ],
)
def test_a_parser_without_a_name_is_for_a_person(made: str) -> None:
    assert "the parser is not in a variable" in refusals({"a.py": MADE.format(made)}, "LIT130")[0]


def test_a_trainer_that_is_made_to_call_the_method_alone() -> None:
    text = SCRIPT.replace("Trainer.from_argparse_args", "Trainer().from_argparse_args")
    assert run(text, ["--max_epochs", "3", "--accelerator", "cpu"]).max_epochs == 3
    after = rewritten({"a.py": text}, rule("LIT130"))["a.py"]
    assert after == rewritten({"a.py": SCRIPT}, rule("LIT130"))["a.py"]
    told = text.replace("Trainer()", "Trainer(max_epochs=1)")
    assert {item.fix for item in run_rules({"a.py": told}, rule("LIT130")).findings} == {"unsafe"}
