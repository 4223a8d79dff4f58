"""STP004: `max_steps=None`, in calls and configurations."""

from __future__ import annotations

import pytest

from codemods.rules.steps.stp004 import RULE
from tests.codemods.support import rewritten, run_rules

HEAD = "import pytorch_lightning as pl\nfrom argparse import ArgumentParser\n\n\n"


def changed(text: str) -> str:
    return rewritten({"train.py": HEAD + text}, RULE)["train.py"].removeprefix(HEAD)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("None", "-1"),
        ("None if not args.debug else 1", "-1 if not args.debug else 1"),
        ("1 if args.debug else None", "1 if args.debug else -1"),
        ("None if args.max_steps == -1 else args.max_steps", "args.max_steps"),
        ("(1 if args.a else 2) if args.b else None", "(1 if args.a else 2) if args.b else -1"),
        ("None if (a if b else c) else 2", "-1 if (a if b else c) else 2"),
    ],
)
def test_values(before: str, after: str) -> None:
    assert (
        changed(f"pl.Trainer(max_epochs=1, max_steps={before})\n") == f"pl.Trainer(max_epochs=1, max_steps={after})\n"
    )


@pytest.mark.parametrize("head", ["max_steps=None", "*, max_steps: int | None = None", "a, max_steps=None, b=1"])
def test_parameters(head: str) -> None:
    text = f"def train({head}):\n    return pl.Trainer(max_steps={{}})\n"
    assert changed(text.format("max_steps")) == text.format("-1 if max_steps is None else max_steps")


@pytest.mark.parametrize("default", ["", ", default=None", ", type=int, default=None"])
def test_arguments(default: str) -> None:
    text = f'parser = ArgumentParser()\nparser.add_argument("--max-steps"{default})\nargs = parser.parse_args()\n'
    text += "pl.Trainer(max_steps={})\n"
    assert changed(text.format("args.max_steps")) == text.format("-1 if args.max_steps is None else args.max_steps")


def test_names_that_may_be_none() -> None:
    text = "steps = config['steps'] if 'steps' in config else None\npl.Trainer(max_steps={})\n"
    assert changed(text.format("steps")) == text.format("-1 if steps is None else steps")


def test_names_that_are_none_until_something_is_known() -> None:
    text = "steps = None\nif config:\n    steps = 100\npl.Trainer(max_steps={})\n"
    assert changed(text.format("steps")) == text.format("-1 if steps is None else steps")


@pytest.mark.parametrize(
    "set_to",
    [
        "limit = 5\nif small:\n    limit = None\n",
        "limit = None\nif limit is None and small:\n    limit = 5\n",
        "limit = None\nif small:\n    limit = 5\nelse:\n    print('all')\n",
        "limit = 5\nif small:\n    limit = 6\nelse:\n    limit = None\n",
        "limit = None\ntry:\n    limit = int(text)\nexcept ValueError:\n    print('all')\n",
        "limit = 5\ntry:\n    limit = None\n    limit = int(text)\nexcept ValueError:\n    print('all')\n",
        "limit = None\nmatch size:\n    case 1:\n        limit = 5\n",
        "limit = None if small else 5\nfor item in items:\n    limit = 5\n",
    ],
)
def test_names_that_become_none_or_stay_it(set_to: str) -> None:
    text = f"{set_to}pl.Trainer(max_steps={{}})\n"
    assert changed(text.format("limit")) == text.format("-1 if limit is None else limit")


def test_a_name_that_is_set_behind_the_call() -> None:
    text = "if __name__ == '__main__':\n    limit = None\n    pl.Trainer(max_steps={})\n    limit = 5\n"
    assert changed(text.format("limit")) == text.format("-1 if limit is None else limit")


def test_arguments_that_make_a_trainer_elsewhere_are_named() -> None:
    text = HEAD + "if args.max_steps == -1:\n    args.max_steps = None\ntrainer = pl.Trainer.from_argparse_args(args)\n"
    made = run_rules({"train.py": text}, RULE)
    assert made.changes == ()
    assert [(finding.fix, finding.span.line) for finding in made.findings] == [("manual", 6)]


@pytest.mark.parametrize("null", ["null", "~", "", "None"])
@pytest.mark.parametrize(
    "target", ["pytorch_lightning.Trainer", "lightning.pytorch.trainer.Trainer", '"lightning.Trainer"']
)
def test_configurations(null: str, target: str) -> None:
    text = (
        f"trainer:\n  _target_: {target}\n  callbacks:\n    - a: 1\n\n  max_steps: {null}  # none\n  min_steps: null\n"
    )
    made = run_rules({"conf.yaml": text}, RULE)
    assert made.bugs == ()
    after = made.final()["conf.yaml"].decode()
    assert after.splitlines()[5].split() == ["max_steps:", "-1", "#", "none"]
    assert [line for line in after.splitlines() if "max_steps" not in line] == [
        line for line in text.splitlines() if "max_steps" not in line
    ]


def test_a_key_of_the_trainer_without_its_class_is_unsafe() -> None:
    files = {"conf.yaml": "trainer:\n  max_steps: null\n", "train.py": HEAD}
    files["train.py"] += "pl.Trainer(max_steps=config.max_steps)\n"
    assert [finding.fix for finding in run_rules(files, RULE).findings] == ["unsafe"]
