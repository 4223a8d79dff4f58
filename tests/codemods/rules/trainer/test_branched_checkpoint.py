"""LIT112: a Trainer that resumes in one branch, beside one that starts anew in the other."""

from __future__ import annotations

import pytest

from tests.codemods.support import refusals, rewritten, rule

HEAD = "from pytorch_lightning import Trainer\n\n\n"
BRANCHES = """\
def run(args):
    if args.resume is not None:
        # Go on.
        trainer = Trainer(max_epochs=3, resume_from_checkpoint=args.resume)
    else:
        trainer = Trainer(max_epochs=3)
"""
KEPT = """\
def run(args):
    if args.resume is not None:
        # Go on.
        ckpt_path = args.resume
        trainer = Trainer(max_epochs=3)
    else:
        ckpt_path = None
        trainer = Trainer(max_epochs=3)
"""


def after(body: str) -> str:
    return rewritten({"a.py": HEAD + body}, rule("LIT112"))["a.py"][len(HEAD) :]


def test_the_checkpoint_of_the_branch_is_given_to_fit() -> None:
    fit = "    trainer.fit(build(args)%s)\n    trainer.test()\n"
    assert after(BRANCHES + fit % "") == KEPT + fit % ", ckpt_path=ckpt_path"


def test_the_branches_may_stand_the_other_way_round() -> None:
    turned = BRANCHES.replace("3, resume_from_checkpoint=args.resume", "1").replace(
        "else:\n        trainer = Trainer(max_epochs=3)",
        "else:\n        trainer = Trainer(max_epochs=3, resume_from_checkpoint=args.resume)",
    )
    text = after(f"{turned}    trainer.fit(build(args))\n")
    assert "        ckpt_path = None\n        trainer = Trainer(max_epochs=1)\n    else:\n" in text
    assert text.endswith(
        "        ckpt_path = args.resume\n        trainer = Trainer(max_epochs=3)\n"
        "    trainer.fit(build(args), ckpt_path=ckpt_path)\n"
    )


FIT = "    trainer.fit(build(args))\n"
NEW = "    else:\n        trainer = Trainer(max_epochs=3)\n"


@pytest.mark.parametrize(
    "body",
    [
        f"{BRANCHES}    use(trainer)\n{FIT}",
        f"{BRANCHES}    go = trainer.fit\n{FIT}",
        f"{BRANCHES}    trainer = Trainer()\n{FIT}",
        f"{BRANCHES}    trainer.fit(build(args), ckpt_path=args.other)\n",
        f"{BRANCHES}    trainer.fit(build(args), **args.fit)\n",
        f"{BRANCHES}    trainer.fit(*args.fit)\n",
        BRANCHES.replace(NEW, NEW.replace("else:", "elif args.new:")) + FIT,
        BRANCHES.replace(NEW, "    else:\n        trainer = make()\n") + FIT,
        BRANCHES.replace(NEW, f"{NEW}        trainer.fit(1)\n") + FIT,
        BRANCHES.replace(NEW, NEW.replace("=3)", "=3, resume_from_checkpoint=args.b)")) + FIT,
        BRANCHES.replace("run(args)", "run(args, ckpt_path, resume_path)") + FIT,
        BRANCHES.replace("    if", "    global trainer\n    if") + FIT,
        (BRANCHES + FIT).replace("def run(args):\n", "").replace("\n    ", "\n")[4:],
    ],
)
def test_a_trainer_that_may_be_fitted_otherwise_is_left(body: str) -> None:
    assert refusals({"a.py": HEAD + body}, "LIT112")


def test_a_function_that_has_the_name_keeps_it_by_another() -> None:
    taken = BRANCHES.replace("run(args)", "run(args, ckpt_path)") + FIT
    text = after(taken)
    assert text.count("resume_path = ") == 2 and "ckpt_path=resume_path)" in text


SCRIPT = """\
import torch
from pytorch_lightning import Trainer

model = build()
if torch.cuda.is_available():
    trainer = Trainer(max_epochs=1, devices=1)
else:
    trainer = Trainer(max_epochs=1)
trainer.fit(model)
trainer.test(model)

path = "last.ckpt"
if torch.cuda.is_available():
    trainer = Trainer(max_epochs=2, devices=1, resume_from_checkpoint=path)
else:
    trainer = Trainer(max_epochs=2, resume_from_checkpoint=path)
trainer.fit(model)
trainer.test(model)
"""


def test_trainers_of_a_script_that_may_be_fitted_at_one_place() -> None:
    first, last = SCRIPT.split("\npath")
    wanted = f"{first}\npath" + last.replace(", resume_from_checkpoint=path", "").replace(
        "fit(model", "fit(model, ckpt_path=path"
    )
    made = rewritten({"a.py": SCRIPT}, rule("LIT112"))["a.py"]
    assert made == wanted
    assert rewritten({"a.py": made}, rule("LIT112"))["a.py"] == made


@pytest.mark.parametrize("test", ["len(path) != 0", "path in seen", "seen == last"])
def test_what_an_object_holds_may_be_another_where_it_is_fitted(test: str) -> None:
    asked = SCRIPT.replace("=path", f"=path if {test} else None")
    assert len(refusals({"a.py": asked}, "LIT112")) == 2


CHOSEN = """\
from pytorch_lightning import Trainer


def train(model, runs, path):
    trainer = Trainer(resume_from_checkpoint=path if {test} else None)
    runs.append(path)
    trainer.fit(model)
"""


@pytest.mark.parametrize(
    "test",
    [
        "runs",
        "not runs",
        "len(runs) > 0",
        "path in runs",
        "runs == [path]",
        "path and runs",
        "path and not runs",
        "runs is not None",
        "len(runs) == 0 or not path",
    ],
)
def test_a_choice_by_what_a_list_holds_is_made_where_it_was(test: str) -> None:
    """Run before and after: the list is longer when the Trainer is fitted."""
    text = CHOSEN.format(test=test)
    after = rewritten({"a.py": text}, rule("LIT112")).get("a.py", text)
    for held in ([], ["a.ckpt"]):
        assert told_by(text, [*held]) == told_by(after, [*held])


def told_by(text: str, runs: list[str]) -> object:
    """The checkpoint that a training is resumed from, as it is given to the Trainer or to `fit`."""
    given: dict[str, object] = {}

    class Trainer:
        def __init__(self, resume_from_checkpoint: object = None) -> None:
            given["path"] = resume_from_checkpoint

        def fit(self, model: object, ckpt_path: object = None) -> None:
            given["path"] = given["path"] or ckpt_path

    space: dict[str, object] = {"Trainer": Trainer}
    exec(text.replace("from pytorch_lightning import Trainer\n", ""), space)
    train = space["train"]
    assert callable(train)
    train(None, runs, "a.ckpt")
    return given["path"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("max_epochs=2, resume_from_checkpoint=path", "max_epochs=2, resume_from_checkpoint='other'"),
        ("max_epochs=2, resume_from_checkpoint=path", "max_epochs=2"),
        ("    trainer = Trainer(max_epochs=2, resume_from_checkpoint=path)", "    trainer = make()"),
        ("    trainer = Trainer(max_epochs=2, resume_from_checkpoint=path)", "    pass"),
        ("path)\ntrainer.fit(model)", "path)\npath = find()\ntrainer.fit(model)"),
        ("path)\ntrainer.fit(model)", "path)\nuse(trainer)\ntrainer.fit(model)"),
        (
            "path)\ntrainer.fit(model)",
            "path)\ndef again():\n    trainer.fit(model)\nregister(again)\ntrainer.fit(model)",
        ),
        ("path)\ntrainer.fit(model)", "path)\ntrainer.fit(model, **more)"),
    ],
)
def test_trainers_that_are_not_alike_are_left(old: str, new: str) -> None:
    text = SCRIPT.replace(old, new)
    assert text != SCRIPT
    assert refusals({"a.py": text}, "LIT112")


def test_a_trainer_that_another_file_takes_is_left() -> None:
    assert refusals({"a.py": SCRIPT, "b.py": "from a import trainer\n\ntrainer.fit(1)\n"}, "LIT112")


CONDITIONS = """\
from pytorch_lightning import Trainer


def train(model, config):
    trainer = Trainer(max_epochs=config.epochs, resume_from_checkpoint={})
    if not config.test:
        trainer.fit(model)
"""


@pytest.mark.parametrize(
    "value",
    [
        "config.path if not config.tune and not config.warm else None",
        "config.path if config.mode == 'resume' else None",
        "config.path if config.path is not None else None",
        "config.path or None",
    ],
)
def test_a_choice_by_attributes_that_nothing_changes_moves_as_it_is(value: str) -> None:
    before = CONDITIONS.format(value)
    wanted = before.replace(f", resume_from_checkpoint={value}", "").replace(
        "fit(model", f"fit(model, ckpt_path={value}"
    )
    assert rewritten({"a.py": before}, rule("LIT112"))["a.py"] == wanted


@pytest.mark.parametrize("between", ["config.tune = True", "prepare(config)", "config.update(other)"])
def test_a_choice_by_attributes_that_may_change_is_made_where_it_was(between: str) -> None:
    value = "config.path if not config.tune else None"
    before = CONDITIONS.format(value).replace("    if not", f"    {between}\n    if not")
    after = rewritten({"a.py": before}, rule("LIT112"), unsafe=True)["a.py"]
    assert f"    ckpt_path = {value}\n    trainer = Trainer(" in after
    assert "trainer.fit(model, ckpt_path=ckpt_path)" in after
