"""Values of every kind for every argument of Trainer, in many ways: no rule fails."""

from __future__ import annotations

import pytest

from codemods.lightning.arguments import current, once
from tests.codemods.support import run_rules

VALUES = ("[1]", '{1: [2], "a": {3}}', "{1, 2}", "([1], {2})", "...", "None", "True")
NAMES = sorted({*current(), *once()} - {"self", "kwargs"})
WAYS = {
    "direct": "from pytorch_lightning import Trainer\n\nt = Trainer({keywords})\nt.fit(model)\n",
    "subclass": (
        "from pytorch_lightning import Trainer\n\n\nclass Own(Trainer):\n    def __init__(self, **kwargs):\n"
        "        super().__init__({keywords}, **kwargs)\n\n\nOwn().fit(model)\n"
    ),
    "dictionary": "from pytorch_lightning import Trainer\n\no = {{{entries}}}\nt = Trainer(**o)\nt.fit(model)\n",
    "line by line": (
        "from pytorch_lightning import Trainer\n\no = {{}}\no[[1]] = o[{{2}}]\n{lines}\n"
        "t = Trainer(**o)\nt.fit(model)\n"
    ),
    "set on options": (
        "import argparse\n\nfrom pytorch_lightning import Trainer\n\nparser = argparse.ArgumentParser()\n"
        "parser = Trainer.add_argparse_args(parser)\nparser.set_defaults({keywords})\nargs = parser.parse_args()\n"
        "{stores}\nt = Trainer.from_argparse_args(args)\nt.fit(model)\n"
    ),
    "options by default": (
        "import argparse\n\nfrom pytorch_lightning import Trainer\n\nparser = argparse.ArgumentParser()\n{options}\n"
        "args = parser.parse_args()\nt = Trainer({read})\nt.fit(model)\n"
    ),
}


def text_of(way: str, value: str) -> str:
    """A program that gives every argument the same value in a way."""
    return WAYS[way].format(
        keywords=", ".join(f"{name}={value}" for name in NAMES),
        entries=", ".join(f'"{name}": {value}' for name in NAMES),
        lines="\n".join(f'o["{name}"] = {value}' for name in NAMES),
        stores="\n".join(f"args.{name} = {value}" for name in NAMES),
        options="\n".join(f'parser.add_argument("--{name}", default={value})' for name in NAMES),
        read=", ".join(f"{name}=args.{name}" for name in NAMES),
    )


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("way", WAYS)
def test_no_rule_fails(way: str, value: str) -> None:
    made = run_rules({"train.py": text_of(way, value)}, unsafe=True)
    failed = [f"{each.code}: {each.reason}" for each in made.findings if "please report it" in each.reason]
    assert made.findings
    assert not failed
    assert made.bugs == ()
