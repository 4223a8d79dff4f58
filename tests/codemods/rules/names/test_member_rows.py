"""Rows of methods and attributes, and of keywords of methods: what they rewrite, and what they leave."""

from __future__ import annotations

import pytest

from codemods.engine.plan import Plan, plan
from codemods.engine.scan import Options
from codemods.rules.names.read_rows import RowsError, rules_of_rows
from codemods.testing.texts import sources

HEAD = '[rule]\ncode = "ACM101"\nkeyword-code = "ACM102"\nmember-code = "ACM103"\n'
ROWS = (
    HEAD
    + """
[[rename]]
old = "acme.training.FastTrainer"
new = "acme.trainers.Trainer"
since = "acme 3.0"

[[member]]
id = "A21"
of = "acme.trainers.Trainer"
old = "run"
new = "fit"
since = "acme 3.0"

[[member]]
of = "acme.trainers.Trainer"
old = "state"
why = "read `made.status()`, which counts otherwise"
since = "acme 3.0"

[[keyword]]
of = "acme.trainers.Trainer"
method = "fit"
old = "n_epochs"
new = "max_epochs"
since = "acme 3.0"

[[keyword]]
of = "acme.trainers.Trainer"
method = "fit"
old = "quiet"
why = "delete it: nothing is printed any more"
since = "acme 3.0"
"""
)
RULES = rules_of_rows(ROWS.encode())
NEW = "from acme.trainers import Trainer\n"
BELOW = f"{NEW}\n\nclass Own(Trainer):\n    pass\n\n\n"


def planned(files: dict[str, str] | str, *, unsafe: bool = False) -> Plan:
    made = plan(sources({"train.py": files} if isinstance(files, str) else files), Options(RULES, unsafe=unsafe))
    assert made.bugs == ()
    return made


def left(files: dict[str, str] | str) -> list[str]:
    """The reasons for which places are left, where nothing is changed even with unsafe edits."""
    made = planned(files, unsafe=True)
    assert made.changes == ()
    assert all(finding.fix == "manual" for finding in made.findings)
    return [finding.reason for finding in made.findings]


@pytest.mark.parametrize(
    "text",
    [
        f"{NEW}\nTrainer().run()\n",
        f"{NEW}\nmade = Trainer()\nmade.run(1)\n",
        f"{NEW}\nmade = Trainer()\nother = made\nstart = other.run\nstart(1)\n",
        f"{NEW}\nmade = Trainer()\n\n\ndef main():\n    made.run()\n",
        f"{NEW}\n\ndef main(made: Trainer):\n    made.run()\n",
        f'{NEW}\n\ndef main(made: "Trainer | None" = None):\n    if made is None:\n        made = Trainer()\n'
        "    made.run()\n",
        f"from typing import Optional\n\n{NEW}\n\ndef main(made: Optional[Trainer], *rest):\n    made.run(*rest)\n",
        f"{NEW}\nif print():\n    made = Trainer(1)\nelse:\n    made = Trainer(2)\nmade.run()\n",
        f"{BELOW}Own().run()\n",
        f"{NEW}\n\nclass Own(Trainer):\n    def go(self):\n        return [self.run(each) for each in range(3)]\n",
        f"{NEW}\n\nclass Own(Trainer):\n    def go(this):\n        def later():\n            this.run()\n\n"
        "        return later\n",
        f"{NEW}\n\nclass Own(Trainer):\n    def fresh(self):\n        return super().run()\n",
        f"{NEW}\n\nclass App:\n    def __init__(self):\n        self.made = Trainer()\n\n    def go(self):\n"
        "        self.made.run()\n",
        "import acme\n\nacme.trainers.Trainer.run(acme.trainers.Trainer())\n",
        "from acme import trainers as t\n\nmade = t.Trainer()\nprint(f'{made.run()}')\n",
    ],
)
def test_a_member_of_what_is_of_the_class_is_renamed(text: str) -> None:
    made = planned(text)
    assert made.final()["train.py"].decode() == text.replace("run(", "fit(").replace("other.run", "other.fit")
    assert not planned(made.final()["train.py"].decode()).changes


def test_the_class_may_go_by_its_older_name_and_both_are_rewritten() -> None:
    text = "from acme.training import FastTrainer\n\nmade = FastTrainer()\nmade.run(n_epochs=3)\n"
    assert planned(text).final()["train.py"].decode() == f"{NEW}\nmade = Trainer()\nmade.fit(max_epochs=3)\n"


def test_a_class_that_a_module_of_the_project_hands_on_is_known() -> None:
    files = {"app/__init__.py": NEW, "train.py": "from app import Trainer\n\nmade = Trainer()\nmade.run()\n"}
    assert planned(files).final()["train.py"].endswith(b"made.fit()\n")


@pytest.mark.parametrize(
    "text",
    [
        f"{NEW}\n\nclass Job:\n    def run(self):\n        pass\n\n\nprint(Trainer)\nJob().run()\n",
        f"{NEW}import subprocess\n\nprint(Trainer)\nsubprocess.run(['ls'])\n",
        "made = build()\nmade.run()\n",
        "from other.trainers import Trainer\n\nmade = Trainer()\nmade.run(n_epochs=2)\n",
        f"{NEW}\nmade = Trainer()\ntry:\n    made.fit()\nexcept AttributeError:\n    made.run()\n",
        f"{NEW}\nmade = Trainer()\ntry:\n    made.run()\nexcept AttributeError:\n    made.fit()\n",
        f"{NEW}\nmade = Trainer()\nif hasattr(made, 'fit'):\n    made.fit()\nelse:\n    made.run()\n",
        f"{NEW}import acme\n\nmade = Trainer()\nprint(made.run() if acme.__version__ < '3' else made.fit())\n",
        f"{NEW}from other import Job\n\nprint(Trainer)\nJob().run()\n",
        f"{NEW}\nprint(Trainer)\n'run it'.run\n",
        f"{NEW}\nTrainer().fit(epochs=3)\n",
    ],
)
def test_nothing_is_said_of_members_of_others(text: str) -> None:
    made = planned(text, unsafe=True)
    assert made.changes == () and made.findings == ()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f"{NEW}\n\ndef main(made):\n    made.run()\n\n\nmain(Trainer())\n", "If it is a Trainer, write `made.fit`"),
        (f"{NEW}\nmade = Trainer()\nmade = wrap(made)\nmade.run()\n", "fixer cannot tell what `made` is"),
        (f"{NEW}\nwith Trainer() as made:\n    made.run()\n", "fixer cannot tell what `made` is"),
        (f"{NEW}\nmade = Trainer()\nprint(lambda made: made.run())\n", "fixer cannot tell"),
        (f"{NEW}\nmade = Trainer()\nprint([made.run() for made in print()])\n", "fixer cannot tell"),
        (f"{NEW}\nmade = Trainer()\n\n\ndef main(*made):\n    made.run()\n", "fixer cannot tell"),
        (f"{NEW}\nmade = Trainer()\n\n\nclass A:\n    made = print()\n    made.run()\n", "fixer cannot tell"),
        (
            f"{NEW}\nmade = Trainer()\n\n\ndef main():\n    global made\n    made = 1\n\n\nmade.run()\n",
            "fixer cannot tell",
        ),
        (f"{NEW}\nmade = Trainer()\nmade.run = print\nmade.run()\n", "it is set here"),
        (f"{NEW}\nmade = Trainer()\nsetattr(made, 'run', print)\nmade.run()\n", "may set `run` by its name"),
        (f"{NEW}\nmade = Trainer()\nprint(getattr(made, 'run', None))\n", "it is asked for by its name here"),
        (f"{NEW}\nmade = Trainer()\nif hasattr(made, 'run'):\n    made.run()\n", "`hasattr`"),
        (f"{NEW}import acme\n\nif acme.__version__ < '3':\n    Trainer().run()\n", "version check"),
        (f"{NEW}\nprint(Trainer().state)\n", "read `made.status()`, which counts otherwise."),
        (
            f"{NEW}\n\nclass Own(Trainer):\n    def fit(self):\n        self.run()\n",
            "`Own` (train.py) has `fit` itself",
        ),
        (
            f"{NEW}from far import Far\n\n\nclass Own(Far, Trainer):\n    def go(self):\n        self.run()\n",
            "fixer cannot",
        ),
        (f"{NEW}\n\n@other\nclass Own(Trainer):\n    pass\n\n\nOwn().run()\n", "what `Own()` is"),
        (f"{NEW}\n\nclass Own(Trainer, metaclass=M):\n    pass\n\n\nOwn().run()\n", "what `Own()` is"),
        (
            f"{NEW}\n\nclass Own(Trainer):\n    def __new__(cls):\n        return 1\n\n\nOwn().run()\n",
            "what `Own()` is",
        ),
        (f"{NEW}\ntry:\n    made = Trainer()\nexcept OSError:\n    made = other()\nmade.run()\n", "what `made` is"),
        (f"{NEW}\nmade = None\nfor _ in range(3):\n    made = made or Trainer()\nmade.run()\n", "what `made` is"),
        (f"{NEW}\nTrainer = wrap(Trainer)\nTrainer().run()\n", "what `Trainer()` is"),
        (f"{NEW}\n\nclass Own(Trainer):\n    def go(self):\n        self = other()\n        self.run()\n", "`self`"),
        (f"{NEW}\n\ndef main():\n    class Trainer:\n        pass\n\n    Trainer().run()\n", "what `Trainer()` is"),
        (f"{NEW}\nTrainer().fit(max_epochs=1, n_epochs=2)\n", "`max_epochs=` is given too"),
        (f"{NEW}\nTrainer().fit(quiet=True)\n", "delete it: nothing is printed any more"),
        (f"{NEW}\n\ndef main(made):\n    made.fit(n_epochs=2)\n\n\nmain(Trainer())\n", "write `max_epochs=...`"),
        (f"{NEW}\ngiven = {{'n_epochs': 2}}\nTrainer().fit(**given)\n", "it reaches Trainer.fit by `**`"),
        (
            f"{NEW}\n\nclass App:\n    def __init__(self):\n        self.made = Trainer()\n\n    def go(self):\n"
            "        self.made.run()\n\n    def put(self, made):\n        self.made = made\n",
            "fixer cannot tell what `self.made` is",
        ),
        (
            f"{NEW}from lightning import LightningModule\n\n\nclass Net(LightningModule):\n    def setup(self):\n"
            "        self.trainer = Trainer()\n        self.trainer.run()\n",
            "fixer cannot tell what `self.trainer` is",
        ),
        *(
            (f"{NEW}\n\nclass App:\n    def __init__(self):\n        self.made = Trainer()\n\n    {method}\n",
             "fixer cannot tell what")
            for method in (
                "def go(self):\n        def later(self):\n            self.made.run()\n        return later",
                "def go(self, other):\n        self = other\n        self.made.run()",
                "def go(self, others):\n        for self in others:\n            self.made.run()",
                "def go(self, others):\n        return [self.made.run() for self in others]",
                "def go(self):\n        return lambda self: self.made.run()",
                "made = other()\n\n    def go(self):\n        self.made.run()",
            )
        ),
        (f"{NEW}\n\ndef make(app):\n    class App:\n        def __init__(self):\n            self.made = Trainer()\n\n"
         "        def go(self):\n            app.made.run()\n\n    return App\n", "fixer cannot tell what"),
    ],
)  # fmt: skip
def test_left_with_the_reason(text: str, reason: str) -> None:
    assert any(reason in told for told in left(text))


def test_an_override_is_told_and_what_may_meet_it_is_left() -> None:
    files = {
        "own.py": f"{NEW}\n\nclass Own(Trainer):\n    def run(self, steps):\n        return super().run()\n",
        "train.py": f"{NEW}\n\ndef main(made: Trainer):\n    made.run()\n",
    }
    told = left(files)
    assert any("`Own` overrides it" in each and "write `def fit(self, steps)`" in each for each in told)
    assert sum("`Own` (own.py) has `run` itself" in each for each in told) == 2


def test_requirements_that_admit_an_older_release_make_it_unsafe() -> None:
    files = {"requirements.txt": "acme>=2\n", "train.py": f"{NEW}\nTrainer().run()\n"}
    (found,) = planned(files).findings
    assert found.fix == "unsafe" and "before 3.0" in found.reason


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ('[[member]]\nof = "acme.Trainer"\nold = "run"\nsince = "acme 3"\n', "has no why, which says what to do"),
        ('[[member]]\nold = "run"\nnew = "fit"\nsince = "acme 3"\n', "[[member]] 1 has no of"),
        ('[[member]]\nof = "acme.T"\nold = "a.run"\nnew = "fit"\nsince = "acme 3"\n', "old must be a name"),
        ('[[member]]\nof = "acme.T"\nold = "r"\nnew = "f"\nsince = "acme 3"\n' * 2, "`r` has two rows"),
        ('[[keyword]]\nof = "acme.f"\nold = "a"\nsince = "acme 3"\n', "[[keyword]] 1 has no new"),
    ],
)
def test_rows_that_cannot_be_meant_are_told(row: str, told: str) -> None:
    with pytest.raises(RowsError) as error:
        rules_of_rows(f"{HEAD}{row}".encode())
    assert told in str(error.value)


def test_each_kind_needs_a_code_of_its_own() -> None:
    with pytest.raises(RowsError, match="member-code"):
        rules_of_rows(ROWS.replace('member-code = "ACM103"\n', "").encode())
