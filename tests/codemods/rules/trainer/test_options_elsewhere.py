"""Options that another file declares, which speaks of no argument of Trainer."""

from __future__ import annotations

import pytest

from tests.codemods.support import rule, run_rules

OPT = (
    "import argparse\n\n\ndef get_opts():\n    parser = argparse.ArgumentParser()\n"
    "    parser.add_argument('--refresh_every', type=int, default=1)\n"
    "    parser.add_argument('--cards', type=int, default=1)\n    return parser.parse_args()\n"
)
TRAIN = "from pytorch_lightning import Trainer\nfrom opt import get_opts\n\nhparams = get_opts()\n"


@pytest.mark.parametrize(
    ("argument", "code", "after"),
    [
        (
            "progress_bar_refresh_rate=hparams.refresh_every",
            "LIT110",
            "callbacks=[TQDMProgressBar(refresh_rate=hparams.refresh_every)]",
        ),
        ("gpus=hparams.cards", "LIT101", 'accelerator="gpu" if hparams.cards else "cpu", devices=hparams.cards or 1'),
    ],
)
def test_a_number_is_told(argument: str, code: str, after: str) -> None:
    made = run_rules({"train.py": f"{TRAIN}Trainer({argument})\n", "opt.py": OPT}, rule(code))
    assert {finding.fix for finding in made.findings} == {"safe"}
    assert f"Trainer({after})\n" in made.final()["train.py"].decode()


@pytest.mark.parametrize(
    "opt",
    [
        OPT.replace("type=int", "type=str"),
        OPT.replace("type=int", "type=convert"),
        OPT + "\n\ndef other(hparams):\n    hparams.refresh_every = read()\n    hparams.cards = read()\n",
    ],
    ids=["text", "own-type", "set"],
)
def test_what_may_be_no_number_is_not_surely_rewritten(opt: str) -> None:
    for argument, code in (
        ("progress_bar_refresh_rate=hparams.refresh_every", "LIT110"),
        ("gpus=hparams.cards", "LIT101"),
    ):
        made = run_rules({"train.py": f"{TRAIN}Trainer({argument})\n", "opt.py": opt}, rule(code))
        assert {finding.fix for finding in made.findings} == {"unsafe"}


def test_options_of_one_name_that_differ_are_not_told_apart() -> None:
    files = {
        "train.py": f"{TRAIN}Trainer(gpus=hparams.cards)\n",
        "opt.py": OPT,
        "other.py": OPT.replace("=int", "=str"),
    }
    assert {finding.fix for finding in run_rules(files, rule("LIT101")).findings} == {"unsafe"}


@pytest.mark.parametrize(
    ("stored", "level"),
    [
        ("hparams.cards = 8\n", "safe"),
        ("hparams.cards = -1\n", "safe"),
        ("class Model:\n    def __init__(self, cards):\n        self.cards = cards\n\n\n", "safe"),
        ("hparams.cards = '1'\n", "unsafe"),
        ("hparams.cards = None\n", "unsafe"),
        ("hparams.cards = [0]\n", "unsafe"),
        ("hparams.cards = True\n", "unsafe"),
        ("hparams.cards /= 2\n", "unsafe"),
        ("hparams.cards, rest = read()\n", "unsafe"),
        ("hparams.cards = read()\n", "unsafe"),
        ("other.cards = read()\n", "unsafe"),
    ],
)
def test_an_option_that_is_set_to_a_literal_of_its_kind_stays_of_it(stored: str, level: str) -> None:
    files = {"train.py": f"{TRAIN}{stored}Trainer(gpus=hparams.cards)\n", "opt.py": OPT}
    assert {finding.fix for finding in run_rules(files, rule("LIT101")).findings} == {level}
