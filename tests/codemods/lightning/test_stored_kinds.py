"""Attributes that a program sets itself before a Trainer is given them, and what pytest hands a test."""

from __future__ import annotations

import pytest

from tests.codemods.support import rule, run_rules

HEAD = "import argparse\nimport pytest\nimport torch\nfrom pytorch_lightning import Trainer\n\n"
SCRIPT = f"""{HEAD}parser = argparse.ArgumentParser()
parser.add_argument("--gpus")
args = parser.parse_args()
args.gpus = torch.cuda.device_count()
Trainer(gpus=args.gpus)
"""
IN_FUNCTION = f"""{HEAD}
def main(args):
    args.gpus = torch.cuda.device_count()
    print(args.gpus)
    return Trainer(gpus=args.gpus)
"""
USED_LATER = f"""{HEAD}args = argparse.ArgumentParser().parse_args()
args.gpus = len([1])


class Run:
    def start(self):
        return Trainer(gpus=args.gpus)
"""


def levels(text: str, **others: str) -> list[str]:
    files = {"a.py": text, **{f"{name}.py": each for name, each in others.items()}}
    return [finding.fix for finding in run_rules(files, rule("LIT101")).findings]


@pytest.mark.parametrize("text", [SCRIPT, IN_FUNCTION, USED_LATER])
def test_what_is_set_in_front_of_it_is_known(text: str) -> None:
    made = run_rules({"a.py": text}, rule("LIT101"))
    assert [finding.fix for finding in made.findings] == ["safe"]
    written = 'Trainer(accelerator="gpu" if args.gpus else "cpu", devices=args.gpus or 1)'
    assert written in made.final()["a.py"].decode()


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        (SCRIPT, "torch.cuda.device_count()", "find()"),
        (SCRIPT, "args.gpus = torch", "if args:\n    args.gpus = torch"),
        (SCRIPT, "args.gpus = torch", "for args.gpus in '1', '2':\n    pass\nargs.gpus = torch"),
        (SCRIPT, "Trainer(", "args = parser.parse_args()\nTrainer("),
        (SCRIPT, "Trainer(", "args.gpus += '1'\nTrainer("),
        (SCRIPT, "Trainer(", "setattr(args, name, '1')\nTrainer("),
        (SCRIPT, "Trainer(", "vars(args).update(more)\nTrainer("),
        (SCRIPT, "Trainer(", "args.__dict__[name] = '1'\nTrainer("),
        (SCRIPT, "Trainer(", "parser.parse_args(namespace=args)\nTrainer("),
        (SCRIPT, "Trainer(gpus=args.gpus)", "def run(args):\n    Trainer(gpus=args.gpus)"),
        (SCRIPT, "args.gpus = torch", "other.gpus = torch"),
        (IN_FUNCTION, "    return", "    args = read()\n    return"),
        (
            IN_FUNCTION,
            "    return",
            "    def read():\n        nonlocal args\n        args = 1\n    go(read)\n    return",
        ),
        (USED_LATER, "args.gpus = len([1])\n", ""),
        (USED_LATER, "def start(self)", "def start(self, args)"),
        (USED_LATER, "        return", "        args = read()\n        return"),
    ],
)
def test_what_may_be_set_otherwise_is_not(text: str, old: str, new: str) -> None:
    assert old in text
    assert "safe" not in levels(text.replace(old, new))


def test_a_function_that_may_run_before_is_not_told_of() -> None:
    first = SCRIPT.replace("args.gpus = torch.cuda.device_count()\nTrainer(gpus=args.gpus)\n", "")
    function = "\n\ndef run():\n    Trainer(gpus=args.gpus)\n\n\nrun()\nargs.gpus = torch.cuda.device_count()\n"
    assert levels(first + function) == ["unsafe"]


def test_another_file_may_set_it_too() -> None:
    assert levels(SCRIPT, b="import a\n\na.args.gpus = '1'\n") == ["unsafe"]
    assert levels(SCRIPT, b="import a\n\nprint(a.args.gpus, self.__setattr__('gpu', 1))\n") == ["safe"]


@pytest.mark.parametrize(
    ("decorated", "level"),
    [
        ('"gpus", [0, 1]', "safe"),
        ('"gpus", [None, 2]', "safe"),
        ('"gpus", (0, pytest.param(2, marks=gpu)), ids=["cpu", "gpu"]', "safe"),
        ('"gpus, size", [(0, "1"), (1, "2")]', "safe"),
        ('["size", "gpus"], [("1", 0), pytest.param("2", 1)]', "safe"),
        ('"gpus", ["0", "1"]', "unsafe"),
        ('"gpus", [0, "1"]', "unsafe"),
        ('"gpus", [0, find()]', "unsafe"),
        ('"gpus", range(2)', "unsafe"),
        ('"gpus", [0, 1], indirect=True', "unsafe"),
        ('"size, gpus", [(0, "1"), (1, "2")]', "unsafe"),
        ('"size", [0, 1]', "unsafe"),
    ],
)
def test_what_pytest_hands_a_test(decorated: str, level: str) -> None:
    text = f"{HEAD}@pytest.mark.parametrize({decorated})\ndef test_it(gpus, size):\n    Trainer(gpus=gpus)\n"
    assert levels(text) == [level]


def test_a_test_that_gives_its_parameter_anew() -> None:
    test = "def test_it(gpus):\n    gpus = find()\n    Trainer(gpus=gpus)\n"
    assert levels(f'{HEAD}@pytest.mark.parametrize("gpus", [0, 1])\n{test}') == ["unsafe"]
