"""LIT111: strategies that may be None, as nobody gave them or an option has no default."""

from __future__ import annotations

import pytest

from tests.codemods.rules.trainer.test_lit111 import HEAD
from tests.codemods.support import refusals, rewritten, rule, run_rules


def test_a_parameter_that_defaults_to_none() -> None:
    text = HEAD + "def build(strategy=None):\n    return Trainer(strategy=strategy)\n"
    assert 'strategy=strategy or "auto"' in rewritten({"a.py": text}, rule("LIT111"))["a.py"]
    text = text.replace("=None", '="ddp"')
    assert run_rules({"a.py": text}, rule("LIT111")).findings == ()


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("devices=n", 'devices="auto" if n is None else n'),
        ("accelerator=n", 'accelerator=n or "cpu"'),
        ("strategy=n", 'strategy=n or "auto"'),
    ],
)
def test_what_may_be_none_as_nobody_gave_it(given: str, wanted: str) -> None:
    built = f"{HEAD}def build(n=None):\n    return Trainer({given})\n"
    own = f"{HEAD}class Mine(Trainer):\n    def __init__(self, n=None):\n        super().__init__({given})\n"
    for text in (built, own):
        assert rewritten({"a.py": text}, rule("LIT111"))["a.py"] == text.replace(given, wanted)
        for other in (text.replace("=None", "=1"), text.replace("(n=None):", "(n=None):\n    n = find()")):
            assert run_rules({"a.py": other.replace("self, n=None):", "self, n=1):")}, rule("LIT111")).findings == ()
    mixed = own.replace("(Trainer)", "(Foreign, Trainer)").replace(HEAD, f"{HEAD}from x import Foreign\n")
    assert run_rules({"a.py": mixed}, rule("LIT111")).findings == ()


@pytest.mark.parametrize("given", ["accelerator=n, gpus=2", "max_epochs=n", "logger=n"])
def test_what_may_be_none_and_counts(given: str) -> None:
    own = f"{HEAD}class Mine(Trainer):\n    def __init__(self, n=None):\n        super().__init__({given})\n"
    for text in (own, f"{HEAD}def build(n=None):\n    return Trainer({given})\n"):
        assert run_rules({"a.py": text}, rule("LIT111")).findings == ()


@pytest.mark.parametrize(
    ("lines", "wanted"),
    [
        ("way = None\nif several:\n    way = 'ddp'\n", 'way or "auto"'),
        ("way = 'ddp' if several else None\n", 'way or "auto"'),
        ("way = build() if several else None\n", "way"),
        ("way = 'ddp'\nif one:\n    way = 'auto'\n", "way"),
    ],
)
def test_a_variable_that_may_be_none(lines: str, wanted: str) -> None:
    text = rewritten({"a.py": f"{HEAD}{lines}Trainer(strategy=way)\n"}, rule("LIT111"))["a.py"]
    assert text == f"{HEAD}{lines}Trainer(strategy={wanted})\n"


def test_a_variable_that_names_a_strategy_that_is_gone() -> None:
    [reason] = refusals({"a.py": f"{HEAD}way = 'dp' if several else None\nTrainer(strategy=way)\n"}, "LIT111")
    assert "DataParallel was removed" in reason


OPTIONS = """\
from argparse import ArgumentParser
from pytorch_lightning import Trainer

parser = ArgumentParser()
parser.add_argument("--kind", {})
args = parser.parse_args()
Trainer({})
"""


@pytest.mark.parametrize(
    ("option", "given", "wanted"),
    [
        ("type=str", "strategy=args.kind", 'strategy=args.kind or "auto"'),
        ("default=None", "distributed_backend=args.kind", None),
        (
            "type=int, default=None",
            "accelerator='gpu', devices=args.kind",
            '"auto" if args.kind is None else args.kind',
        ),
    ],
)
def test_an_option_that_is_none_by_default(option: str, given: str, wanted: str | None) -> None:
    text = OPTIONS.format(option, given)
    after = rewritten({"train.py": text}, rule("LIT111"))["train.py"]
    assert (wanted in after) if wanted else (after == text)


@pytest.mark.parametrize(
    ("option", "given", "said"),
    [
        ('default="dp"', "distributed_backend=args.kind", 'its option is "dp" by default'),
        ('default="dp"', "strategy=args.kind", 'its option is "dp" by default'),
        ('type=str, default="ddp"', "accelerator=args.kind", "give it as strategy="),
    ],
)
def test_an_option_that_is_gone_by_default_is_left(option: str, given: str, said: str) -> None:
    (reason,) = refusals({"train.py": OPTIONS.format(option, given)}, "LIT111")
    assert said in reason


@pytest.mark.parametrize("option", ["required=True", 'default="ddp"', 'action="store_true"', "default=find()"])
def test_an_option_that_is_never_none_is_left(option: str) -> None:
    text = OPTIONS.format(option, "strategy=args.kind")
    assert run_rules({"train.py": text}, rule("LIT111")).findings == ()


def test_a_positional_argument_is_never_left_out() -> None:
    text = OPTIONS.format("type=int", "devices=args.kind").replace('"--kind"', '"kind"')
    assert run_rules({"train.py": text}, rule("LIT111")).findings == ()


OPTION = (
    f"import argparse\n{HEAD}parser = argparse.ArgumentParser()\nparser.add_argument('--devices', default=None)\n"
    "args = parser.parse_args()\nTrainer(accelerator='gpu', devices=VALUE)\n"
)


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("args.devices", True),
        ("args.devices if args.devices is None else 1", True),
        ("-1 if args.many else args.devices", True),
        ("-1 if args.devices is None else args.devices", False),
        ("args.devices if args.devices is not None else -1", False),
        ("args.devices if args.devices else -1", False),
    ],
)
def test_none_that_a_choice_leaves_out_is_not_told(value: str, told: bool) -> None:
    found = run_rules({"a.py": OPTION.replace("VALUE", value)}, rule("LIT111")).findings
    assert [True for item in found if "None" in item.reason] == [True] * told


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ("if n:\n        way = 'ddp'\n    else:\n        way = None", "it may be 'ddp'"),
        ("way = 'ddp_cpu' if n else None", "it may be 'ddp_cpu' if n else None"),
        ("way = 'gpu' if n else 'cpu'", ""),
    ],
)
def test_a_strategy_in_a_variable_beside_options(lines: str, told: str) -> None:
    text = f"{HEAD}\n\ndef go(n, args):\n    {lines}\n    return Trainer.from_argparse_args(args, accelerator=way)\n"
    found = refusals({"train.py": text}, "LIT111")
    assert [reason.startswith(f"Not rewritten: {told}, which names a strategy") for reason in found] == [True] * bool(
        told
    )


@pytest.mark.parametrize(("guard", "found"), [("if gpus:", 0), ("if gpus is not None:", 0), ("if ready:", 1)])
def test_a_default_that_a_condition_keeps_out_is_no_device(guard: str, found: int) -> None:
    text = f"""{HEAD}

def make(gpus=None):
    {guard}
        devices = gpus
    else:
        devices = 1
    return Trainer(accelerator="gpu", devices=devices)
"""
    assert len(run_rules({"train.py": text}, rule("LIT111")).findings) == found
