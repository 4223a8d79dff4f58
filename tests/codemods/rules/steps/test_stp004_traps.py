"""STP004: what is not None, not seen to be, or not Lightning's."""

from __future__ import annotations

import pytest

from codemods.rules.steps.stp004 import RULE
from tests.codemods.rules.steps.test_stp004 import HEAD
from tests.codemods.support import run_rules


@pytest.mark.parametrize(
    "text",
    [
        "pl.Trainer(max_steps=-1)",
        "pl.Trainer(max_steps=100)",
        "pl.Trainer(max_steps=args.max_steps)",
        "pl.Trainer(max_steps=limit or -1)",
        "pl.Trainer(min_steps=None)",
        "pl.Trainer(max_steps=-1 if limit is None else limit)",
        "Trainer(max_steps=None)",
        "def train(max_steps=100):\n    pl.Trainer(max_steps=max_steps)",
        "def train(max_steps):\n    pl.Trainer(max_steps=max_steps)",
        "def train(max_steps=None):\n    max_steps = max_steps or 5\n    pl.Trainer(max_steps=max_steps)",
        "p.add_argument('--max_steps', default=-1)\npl.Trainer(max_steps=args.max_steps)",
        "p.add_argument('--max_steps')\nargs.max_steps = 3\npl.Trainer(max_steps=args.max_steps)",
        "limit = None\nlimit = 5\npl.Trainer(max_steps=limit)",
        "limit = 5 if small else None\nif limit is None:\n    limit = -1\npl.Trainer(max_steps=limit)",
        "def run():\n    limit = None\n    limit = limit or -1\n    pl.Trainer(max_steps=limit)",
        "limit = None\nif small:\n    limit = 5\nelse:\n    limit = 50\npl.Trainer(max_steps=limit)",
        "limit = None\nif small:\n    limit = 5\nelse:\n    raise SystemExit\npl.Trainer(max_steps=limit)",
        "limit = None\nif a:\n    limit = 5\nelif b:\n    limit = 6\nelse:\n    limit = 7\npl.Trainer(max_steps=limit)",
        "if __name__ == '__main__':\n    limit = None\n    limit = 5\n    pl.Trainer(max_steps=limit)",
        "limit = None\nif not limit:\n    limit = 5\nelse:\n    pass\npl.Trainer(max_steps=limit)",
        "limit = None\ntry:\n    limit = int(text)\nexcept ValueError:\n    limit = 5\npl.Trainer(max_steps=limit)",
        "limit = None\nwith lock:\n    limit = 5\npl.Trainer(max_steps=limit)",
        "limit = None\nmatch a:\n  case 1:\n    limit = 5\n  case _:\n    limit = 6\npl.Trainer(max_steps=limit)",
        "args.max_steps = None\nrun(args)",
        "args.min_steps = None\npl.Trainer.from_argparse_args(args)",
    ],
)
def test_left_alone(text: str) -> None:
    made = run_rules({"train.py": f"{HEAD}{text}\n"}, RULE)
    assert (made.findings, made.bugs) == ((), ())


@pytest.mark.parametrize(
    "text",
    [
        "max_steps: null\n",
        "optimizer:\n  max_steps: null\n",
        "trainer:\n  optimizer:\n    max_steps: null\n",
        "trainer:\n  _target_: pytorch_lightning.Trainer\nscheduler:\n  max_steps: null\n",
        "trainer:\n  _target_: pytorch_lightning.Trainer\n  max_steps: 100\n  min_steps: null\n",
        "trainer:\n  _target_: transformers.Trainer\n  loss:\n    max_steps:\n      - 1\n",
        "_target_: other.Trainer\nmax_steps: null\n",
        "# max_steps: null\n_target_: pytorch_lightning.Trainer\n",
    ],
)
def test_configurations_left_alone(text: str) -> None:
    assert run_rules({"conf.yaml": text, "train.py": "import pytorch_lightning\n"}, RULE).findings == ()
