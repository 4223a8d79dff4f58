"""OPT001: what a command line may give to a Trainer that declares its options, and what is handed over anyway."""

from __future__ import annotations

import pytest

from codemods.rules.optimizers.opt001 import BEFORE
from tests.codemods.support import rewritten, rule, run_rules

MODULE = BEFORE[: BEFORE.index("\n\ndef main")]
MAIN = """

def main(args, loader):
    trainer = Trainer.from_argparse_args(args)
    trainer.fit(GAN(), loader)


if __name__ == "__main__":
    main(parser.parse_args(), None)
"""
DECLARED = """
from argparse import ArgumentParser

parser = ArgumentParser()
parser = Trainer.add_argparse_args(parser)
"""
OWN = DECLARED.replace("parser = Trainer.add_argparse_args(parser)", 'parser.add_argument("--gpus")')
HANDED = (
    "    model.accumulate_grad_batches, trainer.accumulate_grad_batches = trainer.accumulate_grad_batches, 1\n"
    "    model.gradient_clip_val, trainer.gradient_clip_val = trainer.gradient_clip_val, None\n"
)


@pytest.mark.parametrize("codes", [("OPT001",), ("LIT130", "OPT001")])
def test_options_that_trainer_declares_are_handed_over(codes: tuple[str, ...]) -> None:
    after = rewritten({"a.py": MODULE + DECLARED + MAIN}, *map(rule, codes))["a.py"]
    assert all(line in after for line in HANDED.splitlines())
    assert "self.clip_gradients(optimizer, gradient_clip_val=self.gradient_clip_val)" in after


def test_options_of_its_own_that_are_none_of_these_are_not() -> None:
    after = rewritten({"a.py": MODULE + OWN + MAIN}, rule("OPT001"))["a.py"]
    assert "clip_gradients" not in after and "self.automatic_optimization = False" in after


def test_a_method_of_that_name_of_something_else_declares_nothing() -> None:
    text = MODULE + DECLARED.replace("Trainer.add_argparse_args", "Other.add_argparse_args") + MAIN
    assert "clip_gradients" not in rewritten({"a.py": text}, rule("OPT001"))["a.py"]


OPTION = """

def main(args, loader):
    trainer = Trainer(gradient_clip_val=args.clip)
    trainer.fit(GAN(), loader)


if __name__ == "__main__":
    parser = ArgumentParser()
    parser.add_argument("--clip", type=float, default=0.5)
    main(parser.parse_args(), None)
"""


def test_what_is_handed_over_is_not_named_for_a_person_too() -> None:
    text = f"from argparse import ArgumentParser\n\n{MODULE}{OPTION}"
    found = run_rules({"a.py": text}, rule("OPT001")).findings
    assert {item.fix for item in found} == {"safe"}
    assert "model.gradient_clip_val, trainer.gradient_clip_val" in rewritten({"a.py": text}, rule("OPT001"))["a.py"]
