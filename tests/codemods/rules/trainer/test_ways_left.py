"""Trainers that something stands before, which may do other than hand on what it is given: they are told, and stay;
and what is written where a value may be None after all."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.codemods.support import rewritten, rule, run_rules

HEAD = "from pytorch_lightning import Trainer\nfrom pytorch_lightning.callbacks import EarlyStopping\n"


def levels(text: str, code: str) -> list[tuple[int, str]]:
    """The lines behind the head and the levels of what is found, of which nothing may be rewritten."""
    made = run_rules({"train.py": HEAD + text}, rule(code))
    assert (made.bugs, made.changes) == ((), ())
    return [(item.span.line - HEAD.count("\n"), item.fix) for item in made.findings]


FACTORY = "def make({}, **rest):\n    return Trainer(**rest)\nmake({})\n"


@pytest.mark.parametrize(
    ("own", "given", "code"),
    [
        ("enable_checkpointing=None", "checkpoint_callback=False", "LIT110"),
        ("*, enable_checkpointing=None", "checkpoint_callback=False", "LIT110"),
        ("use_distributed_sampler=True", "replace_sampler_ddp=False", "LIT110"),
        ("accelerator=None", "gpus=2", "LIT101"),
        ("devices=None", "gpus=2", "LIT101"),
    ],
)
def test_a_function_that_keeps_the_new_name_for_itself(own: str, given: str, code: str) -> None:
    assert levels(FACTORY.format(own, given), code) == [(3, "manual")]


@pytest.mark.parametrize(
    ("given", "new", "code"),
    [
        ("checkpoint_callback=False", "enable_checkpointing=False", "LIT110"),
        ("replace_sampler_ddp=False", "use_distributed_sampler=False", "LIT110"),
        ("gpus=2", 'accelerator="gpu", devices=2', "LIT101"),
    ],
)
def test_a_function_that_keeps_another_name_for_itself(given: str, new: str, code: str) -> None:
    text = HEAD + FACTORY.format("seed=None", given)
    assert rewritten({"train.py": text}, rule(code))["train.py"] == text.replace(given, new)


GIVEN = ["progress_bar_refresh_rate=5", "weights_summary=None"]


@pytest.mark.parametrize("given", [", ".join(GIVEN), ", ".join(reversed(GIVEN))])
def test_what_a_class_cannot_hand_on_is_told_beside_what_it_can(given: str) -> None:
    own = "class Own(Trainer):\n    def __init__(self, **rest):\n"
    own += f"        super().__init__(callbacks=[EarlyStopping('x')], **rest)\nOwn({given})\n"
    made = run_rules({"train.py": HEAD + own}, rule("LIT110"))
    found = {item.message.split("=")[0].strip("`"): item.fix for item in made.findings}
    assert found == {"progress_bar_refresh_rate": "manual", "weights_summary": "safe"}
    assert "weights_summary=None" not in made.final()["train.py"].decode()


PARTIAL = HEAD + "from functools import partial\nmake = partial(Trainer, weights_summary=None)\nmake()\n"


def test_a_partial_that_another_file_calls_too() -> None:
    other = "from pytorch_lightning import Trainer\nfrom a import make\nmake(weights_summary='top')\n"
    made = run_rules({"a.py": PARTIAL, "b.py": other}, rule("LIT110"))
    assert (made.bugs, made.changes) == ((), ())
    assert [(item.path, item.span.line, item.fix) for item in made.findings] == [
        ("a.py", 4, "manual"),
        ("b.py", 3, "manual"),
    ]


def test_a_partial_that_no_other_file_has() -> None:
    other = "def make():\n    from a import trainer\n"
    after = rewritten({"a.py": PARTIAL, "b.py": other}, rule("LIT110"))
    assert after["a.py"] == PARTIAL.replace("weights_summary=None", "enable_model_summary=False")


OPTIONS = HEAD + "import argparse\nparser = argparse.ArgumentParser()\nDECLARED\nargs = parser.parse_args()\n"
SUMMARY = OPTIONS + "OTHERWISE\nTrainer(weights_summary=args.ws)\n"
TOP = "parser.add_argument('--ws', default='top')"
GUARD = "enable_model_summary=args.ws is not None"


def summary(declared: str, otherwise: str = "", others: Mapping[str, str] = {}) -> str:
    """What becomes of the Trainer that gets an option for its summary."""
    text = SUMMARY.replace("DECLARED", declared).replace("OTHERWISE", otherwise)
    after = rewritten({"train.py": text, **others}, rule("LIT110"))["train.py"]
    assert "weights_summary" not in after
    return after


@pytest.mark.parametrize(
    "declared",
    [
        "parser.add_argument('--ws', default='top', nargs='?')",
        "parser.add_argument('--ws', default='top', nargs=N)",
        "parser.add_argument('--ws', type=none_or_str, default='top')",
        "parser.add_argument('--ws', type=lambda text: None if text == 'no' else text, default='top')",
        "parser.add_argument('--ws', type=lambda text: text or None, default='top')",
        "parser.add_argument('--ws', choices=['top', 'full', None], default='top')",
        "parser.add_argument('--ws', action='store_const', const=None, default='top')",
        "parser.add_argument('--ws', default=WS)",
        "parser.add_argument('--ws', **WS)",
        "parser.add_argument('--ws', required=False)",
        f"{TOP}\nparser.set_defaults(ws=None)",
        f"{TOP}\nparser.set_defaults(run=build(1), ws=None)",
        f"{TOP}\nparser.set_defaults(**WS)",
        f"{TOP}\nif QUICK:\n    parser.add_argument('--ws')",
    ],
)
def test_an_option_that_may_be_none(declared: str) -> None:
    assert GUARD in summary(declared)


@pytest.mark.parametrize(
    "otherwise",
    [
        "setattr(args, 'ws', None)",
        "for name in WS:\n    setattr(args, name, WS[name])",
        "vars(args)['ws'] = None",
        "vars(args).update(WS)",
        "vars(args).update(ws=None)",
        "args.__dict__.update(WS)",
        "args.__dict__[WS] = 1",
        "args.__dict__['ws'] = None",
    ],
)
def test_an_option_that_is_set_to_something_else(otherwise: str) -> None:
    assert GUARD in summary(TOP, otherwise)


@pytest.mark.parametrize(
    "other",
    [
        "def change(args):\n    setattr(args, 'ws', None)\n",
        "def change(args):\n    args.ws = None\n",
        "def change(parser):\n    parser.set_defaults(ws=None)\n",
    ],
)
def test_an_option_that_another_file_sets(other: str) -> None:
    assert GUARD in summary(TOP, others={"other.py": other})


@pytest.mark.parametrize(
    "declared",
    [
        TOP,
        "parser.add_argument('--ws', type=str, default='top', help='none')",
        "parser.add_argument('--ws', choices=['top', 'full'], default='top')",
        "parser.add_argument('--ws', required=True)",
        "parser.add_argument('ws')",
        f"{TOP}\nparser.set_defaults(ws='full', lr=None)",
    ],
)
def test_an_option_that_is_always_given(declared: str) -> None:
    other = "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--ws')\n"
    other += "args = parser.parse_args()\nargs.lr = 1\nsetattr(args, 'lr', None)\nself.ws = 1\n"
    assert "enable_model_summary" not in summary(declared, "setattr(args, 'lr', 1)", {"other.py": other})


def test_a_namespace_that_another_file_parses() -> None:
    text = OPTIONS.replace("DECLARED", TOP) + "def run(args):\n    return Trainer(weights_summary=args.ws)\n"
    other = "import argparse\nfrom train import run\nparser = argparse.ArgumentParser()\n"
    files = {"train.py": text, "other.py": other + "parser.add_argument('--ws')\nrun(parser.parse_args())\n"}
    assert GUARD in rewritten(files, rule("LIT110"))["train.py"]
    files["other.py"] = other + TOP + "\nrun(parser.parse_args())\n"
    assert "enable_model_summary" not in rewritten(files, rule("LIT110"))["train.py"]


def test_a_namespace_that_is_parsed_into() -> None:
    text = SUMMARY.replace("DECLARED", TOP).replace("parse_args()", "parse_args(ARGV, KNOWN)")
    assert GUARD in rewritten({"train.py": text.replace("OTHERWISE", "")}, rule("LIT110"))["train.py"]


@pytest.mark.parametrize(
    ("taken", "given", "becomes", "code"),
    [
        ("n: float", "val_percent_check=n", "limit_val_batches=1.0 if n is None else float(n)", "LIT110"),
        ("n: float = 0.5", "val_percent_check=n", "limit_val_batches=1.0 if n is None else float(n)", "LIT110"),
        ("*, n: int = 1", "val_percent_check=n", "limit_val_batches=1.0 if n is None else float(n)", "LIT110"),
        ("n: int", "process_position=n", "process_position=n or 0", "LIT110"),
        ("n: int", "num_processes=n", "devices=n or 1", "LIT111"),
        ("n: int", "tpu_cores=n", "devices=n or 1", "LIT111"),
        ("n: int = 1", "num_processes=n", "devices=n or 1", "LIT111"),
    ],
)
def test_a_parameter_may_be_none_whatever_its_annotation_says(taken: str, given: str, becomes: str, code: str) -> None:
    text = f"{HEAD}def run({taken}):\n    return Trainer({given})\n"
    assert becomes in rewritten({"train.py": text}, rule(code))["train.py"]


def test_a_name_that_is_worked_out_is_never_none() -> None:
    text = f"{HEAD}def run(n: int):\n    count = int(n)\n    return Trainer(num_processes=count)\n"
    assert "devices=count)" in rewritten({"train.py": text}, rule("LIT111"))["train.py"]
