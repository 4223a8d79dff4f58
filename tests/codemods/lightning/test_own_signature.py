"""Arguments that a file chooses by Trainer's own signature, which leaves those of 1.x out without a word."""

from __future__ import annotations

import pytest

from tests.codemods.support import refusals, rule, run_rules

HEAD = "import inspect\nfrom pytorch_lightning import Trainer\n\n\n"
SETS = "def train(args):\n    args['checkpoint_callback'] = made()\n"
WAYS = {
    "pairs": (
        "    names = inspect.signature(Trainer.__init__).parameters\n"
        "    Trainer(**dict((name, args[name]) for name in names if name in args))\n"
    ),
    "a dictionary": "    Trainer(**{name: args[name] for name in inspect.signature(Trainer).parameters})\n",
    "by get": "    Trainer(**{n: args.get(n) for n in list(inspect.signature(Trainer).parameters)})\n",
    "kept": (
        "    names = list(inspect.getfullargspec(Trainer.__init__).args)\n"
        "    kept = {n: args[n] for n in names if n in args}\n    Trainer(**kept)\n"
    ),
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_what_would_be_left_out_is_told_where_it_is_set(way: str) -> None:
    found = run_rules({"train.py": f"{HEAD}{SETS}{way}"}, rule("LIT110")).findings
    assert [(item.fix, item.span.line) for item in found] == [("manual", 6)]


@pytest.mark.parametrize(
    "way",
    [
        WAYS["pairs"].replace("Trainer.__init__", "Model.__init__"),
        WAYS["a dictionary"].replace("signature(Trainer)", "signature(build)"),
        WAYS["a dictionary"].replace("name: args[name]", "name: other[name]"),
        WAYS["a dictionary"].replace("name: args[name]", "name: args[key]"),
        WAYS["a dictionary"].replace("inspect.signature(Trainer).parameters", "['max_epochs', 'gpus']"),
        WAYS["by get"].replace("args.get(n)", "args.get(other)"),
    ],
)
def test_what_does_not_come_from_there_is_left(way: str) -> None:
    assert run_rules({"train.py": f"{HEAD}{SETS}{way}"}, rule("LIT110")).findings == ()


MAIN = (
    "from argparse import ArgumentParser\n\nfrom pytorch_lightning import Trainer\n\nfrom build import train\n\n"
    "parser = ArgumentParser()\nparser = Trainer.add_argparse_args(parser)\ntrain(vars(parser.parse_args()))\n"
)
README = "```\npython main.py --gpus 4\n```\n"


def test_an_option_that_the_signature_would_leave_out_is_not_kept_in_vain() -> None:
    files = {"main.py": MAIN, "build.py": f"{HEAD}{SETS}{WAYS['pairs']}", "README.md": README}
    assert (
        "build.py gives Trainer what is in its own signature, where --gpus is no more" in refusals(files, "LIT130")[0]
    )


@pytest.mark.parametrize(
    ("build", "readme"),
    [
        (f"{HEAD}{SETS}{WAYS['pairs']}", ""),
        ("from pytorch_lightning import Trainer\n\n\ndef train(args):\n    Trainer(gpus=args['gpus'])\n", README),
        (f"{HEAD}def train(args):\n    inspect.signature(args)\n    Trainer(gpus=args['gpus'])\n", README),
    ],
    ids=["no such option", "given by name", "the signature of another"],
)
def test_other_scripts_are_rewritten(build: str, readme: str) -> None:
    found = run_rules({"main.py": MAIN, "build.py": build, "README.md": readme}, rule("LIT130")).findings
    assert [item.fix for item in found] == ["safe"]
