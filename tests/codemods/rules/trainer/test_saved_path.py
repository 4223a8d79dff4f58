"""LIT120: `trainer.weights_save_path`, which is `default_root_dir` where nothing gives a Trainer another."""

from __future__ import annotations

import pytest

from tests.codemods.support import refusals, rewritten, rule, run_rules

HEAD = (
    "from pytorch_lightning import Callback\n\n\n"
    "class Saves(Callback):\n    def on_fit_end(self, trainer, pl_module):\n"
)
ASKED = (
    "        if trainer.logger is not None:\n"
    "            if trainer.weights_save_path != trainer.default_root_dir:\n"
    "                folder = trainer.weights_save_path\n"
    "            else:\n"
    "                # where the logger writes\n"
    "                folder = trainer.logger.save_dir\n"
    "                print(folder)\n"
    "        else:\n"
    "            folder = trainer.weights_save_path\n"
    "        print(folder)\n"
)
WITHOUT = (
    "        if trainer.logger is not None:\n"
    "            # where the logger writes\n"
    "            folder = trainer.logger.save_dir\n"
    "            print(folder)\n"
    "        else:\n"
    "            folder = trainer.default_root_dir\n"
    "        print(folder)\n"
)


def test_the_branch_of_another_path_goes() -> None:
    after = rewritten({"a.py": HEAD + ASKED}, rule("LIT120"))["a.py"]
    assert after == HEAD + WITHOUT
    assert rewritten({"a.py": after}, rule("LIT120"))["a.py"] == after


def test_a_branch_on_one_line_goes_too() -> None:
    text = HEAD + (
        "        if trainer.weights_save_path != trainer.default_root_dir: folder = 1\n        else: folder = 2\n"
    )
    assert rewritten({"a.py": text}, rule("LIT120")) == {"a.py": f"{HEAD}        folder = 2\n"}


@pytest.mark.parametrize(
    "more",
    [
        {"run.sh": "python main.py fit --trainer.weights_save_path /ckpts\n"},
        {"run.sh": "python main.py --weights_save_path=/ckpts\n"},
    ],
)
def test_a_command_line_that_gives_one_counts(more: dict[str, str]) -> None:
    files = {"a.py": HEAD + "        print(trainer.weights_save_path)\n", **more}
    assert rewritten(files, rule("LIT120"), unsafe=True) == files


@pytest.mark.parametrize("store", ["trainer.weights_save_path, y = 'a', 2", "for trainer.weights_save_path in x: pass"])
def test_what_stores_another_stays(store: str) -> None:
    files = {"a.py": f"{HEAD}        {store}\n"}
    assert rewritten(files, rule("LIT120"), unsafe=True) == files


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("print(f'{trainer.weights_save_path}/a')", "print(f'{trainer.default_root_dir}/a')"),
        (
            "if trainer.default_root_dir != trainer.weights_save_path:\n            a()\n"
            "        elif b:\n            c()",
            "if b:\n            c()",
        ),
        (
            "if trainer.weights_save_path != trainer.default_root_dir:  # why\n            a()\n"
            "        else:\n            c()",
            "if trainer.default_root_dir != trainer.default_root_dir:  # why\n            a()\n"
            "        else:\n            c()",
        ),
        (
            "if d:\n            a()\n        elif trainer.weights_save_path != trainer.default_root_dir:\n"
            "            b()\n        else:\n            c()",
            "if d:\n            a()\n        elif trainer.default_root_dir != trainer.default_root_dir:\n"
            "            b()\n        else:\n            c()",
        ),
        (
            "if trainer.weights_save_path != self.trainer.default_root_dir:\n            a()\n"
            "        else:\n            c()",
            "if trainer.default_root_dir != self.trainer.default_root_dir:\n            a()\n"
            "        else:\n            c()",
        ),
    ],
)
def test_what_is_read(before: str, after: str) -> None:
    assert rewritten({"a.py": f"{HEAD}        {before}\n"}, rule("LIT120"))["a.py"] == f"{HEAD}        {after}\n"


@pytest.mark.parametrize(
    "other",
    [
        {"b.py": "from pytorch_lightning import Trainer\n\nTrainer(weights_save_path='out')\n"},
        {"b.py": "options = {'weights_save_path': path}\n"},
        {"conf/trainer.yaml": "weights_save_path: out\n"},
        {"run.sh": "python a.py --weights_save_path out\n"},
        {"b.py": "def f(trainer):\n    trainer.weights_save_path = 'out'\n"},
        {"b.py": "def f(trainer):\n    trainer.weights_save_path: str = 'out'\n"},
        {"b.py": "def f(trainer):\n    trainer.weights_save_path += 'out'\n"},
        {"b.py": "def f(trainer):\n    setattr(trainer, 'weights_save_path', 'out')\n"},
        {"b.py": "def f(weights_save_path=None):\n    Trainer(weights_save_path=weights_save_path)\n"},
    ],
)
def test_a_path_that_may_be_given_is_left(other: dict[str, str]) -> None:
    files = {"a.py": HEAD + ASKED, **other}
    found = [item for item in run_rules(files, rule("LIT120")).findings if item.path == "a.py"]
    assert [item.fix for item in found] == ["manual"] * 3
    assert all("names it elsewhere" in item.reason for item in found)
    assert rewritten(files, rule("LIT120"), unsafe=True)["a.py"] == files["a.py"]


def test_one_that_is_said_to_be_none_counts_for_nothing() -> None:
    files = {"a.py": HEAD + ASKED, "conf/trainer.yaml": "max_epochs: 3\nweights_save_path: null\ngpus: 1\n"}
    assert rewritten(files, rule("LIT120"))["a.py"] == HEAD + WITHOUT


def test_setting_it_is_left() -> None:
    text = f"{HEAD}        trainer.weights_save_path = 'out'\n"
    assert len(refusals({"a.py": text}, "LIT120")) == 1
