"""LIT130: scripts that share a module of functions, and those that get them themselves."""

from __future__ import annotations

import argparse
import ast
from typing import Any

import pytest
from lightning.pytorch import Trainer

from codemods.lightning.argparse_options import IDLE
from codemods.lightning.arguments import current, once
from codemods.rules.trainer import helpers
from tests.codemods.rules.trainer.test_lit130 import SCRIPT, run
from tests.codemods.support import rewritten, rule, run_rules


def created(files: dict[str, str]) -> dict[str, str]:
    made = run_rules(files, rule("LIT130"))
    assert made.bugs == ()
    return {path: data.decode() for path, data in made.final().items()}


@pytest.mark.parametrize(
    ("imports", "home", "name"),
    [
        ("from pkg.models import Model", "src/pkg/trainer_arguments.py", "pkg.trainer_arguments"),
        ("import pkg", "src/pkg/trainer_arguments.py", "pkg.trainer_arguments"),
        ("from .data import Data", "src/pkg/trainer_arguments.py", ".trainer_arguments"),
        ("from extras import helper", "src/pkg/trainer_arguments.py", "trainer_arguments"),
        ("from inner.parts import helper", "src/pkg/trainer_arguments.py", "trainer_arguments"),
    ],
)
def test_scripts_share_a_module_where_they_import_from_one_place(imports: str, home: str, name: str) -> None:
    text = SCRIPT.replace(
        "from pytorch_lightning import Trainer\n", f"from pytorch_lightning import Trainer\n{imports}\n"
    )
    files = {
        "src/pkg/__init__.py": "",
        "src/pkg/models.py": "",
        "src/pkg/data.py": "",
        "src/pkg/extras.py": "",
        "src/pkg/inner/parts.py": "",
        "src/pkg/one.py": text,
        "src/pkg/two.py": text,
    }
    after = created(files)
    assert set(after) == {"src/pkg/one.py", "src/pkg/two.py", home}
    assert after[home] == helpers.module_text()
    assert f"from {name} import add_arguments, from_arguments\n" in after["src/pkg/one.py"]
    assert "def add_arguments" not in after["src/pkg/one.py"]


def test_a_file_alone_or_one_that_imports_nothing_of_the_project_gets_the_functions_itself() -> None:
    text = SCRIPT.replace("Trainer\n", "Trainer\nfrom pkg.models import Model\n", 1)
    for files in ({"a.py": text}, {"a.py": SCRIPT, "b.py": SCRIPT}, {"a.py": text, "b.py": SCRIPT}):
        after = created({"pkg/__init__.py": "", "pkg/models.py": "", **files})
        assert set(after) == set(files) and all("def add_arguments" in text for text in after.values())
    guarded = SCRIPT.replace("\n\n\n", "\n\ntry:\n    from pkg import models\nexcept ImportError:\n    pass\n\n\n", 1)
    files = {"pkg/__init__.py": "", "pkg/models.py": "", "a.py": guarded, "b.py": guarded}
    assert set(created(files)) == {"a.py", "b.py"}


def test_scripts_outside_a_package_share_a_module_of_it() -> None:
    text = SCRIPT.replace("Trainer\n", "Trainer\nfrom pkg.models import Model\n", 1)
    files = {"pkg/__init__.py": "", "pkg/models.py": "", "examples/a/a.py": text, "examples/b/b.py": text}
    after = created(files)
    assert set(after) == {"examples/a/a.py", "examples/b/b.py", "pkg/trainer_arguments.py"}
    assert "from pkg.trainer_arguments import add_arguments" in after["examples/b/b.py"]
    del files["pkg/__init__.py"]
    assert set(created(files)) == {"examples/a/a.py", "examples/b/b.py"}


GUARDED = SCRIPT + '\n\nif __name__ == "__main__":\n    main([])\n'


def test_scripts_of_a_folder_share_a_module_beside_them() -> None:
    after = created({"jobs/a.py": GUARDED, "jobs/b.py": GUARDED})
    assert set(after) == {"jobs/a.py", "jobs/b.py", "jobs/trainer_arguments.py"}
    assert "\nfrom trainer_arguments import add_arguments, from_arguments\n" in after["jobs/a.py"]
    for more in (
        {"jobs/__init__.py": ""},
        {"tests/test_a.py": "from jobs.a import main\n"},
        {"run.sh": "python -m jobs.a\n"},
        {"tests/test_a.py": "from jobs import a\n"},
        {"tests/test_a.py": "from ..jobs import a\n"},
    ):
        after = created({"jobs/a.py": GUARDED, "jobs/b.py": GUARDED, **more})
        assert "def add_arguments" in after["jobs/a.py"]


def test_scripts_that_are_found_from_a_folder_above_share_nothing() -> None:
    files = {"src/jobs/a.py": GUARDED, "src/jobs/b.py": GUARDED}
    assert "src/jobs/trainer_arguments.py" in created(files)
    for taken in ("from jobs import a\n", "from jobs.a import main\n", "from src.jobs import b, a\n"):
        assert set(created({**files, "tests/test_a.py": taken})) == set(files)


@pytest.mark.parametrize(
    "command", ["python -m jobs.a --gpus 1", "python3 -m a --gpus=1", "torchrun jobs/a.py --gpus 1"]
)
def test_options_that_are_given_to_a_module(command: str) -> None:
    after = rewritten({"jobs/a.py": GUARDED, "run.sh": f"{command}\n"}, rule("LIT130"))["jobs/a.py"]
    assert '"--gpus", type=plain_value' in after
    other = command.replace("a --", "b --").replace("a.py", "b.py")
    assert '"--gpus"' not in rewritten({"jobs/a.py": GUARDED, "run.sh": f"{other}\n"}, rule("LIT130"))["jobs/a.py"]


@pytest.mark.parametrize(
    ("given", "value"),
    [("", False), ("--auto_lr_find", True), ("--auto_lr_find False", False), ("--auto_lr_find lr", "lr")],
)
def test_an_option_that_went_is_given_as_on_1x(given: str, value: object) -> None:
    after = rewritten({"a.py": GUARDED, "run.sh": "python a.py --auto_lr_find\n"}, rule("LIT130"))["a.py"]
    space: dict[str, object] = {"__name__": "a"}
    exec(after.replace("    return from_arguments", "    return args\n    return from_arguments"), space)
    assert space["main"](given.split()).auto_lr_find == value  # type: ignore[operator]


def test_a_parser_that_is_given_by_name() -> None:
    named = SCRIPT.replace("add_argparse_args(parser)", "add_argparse_args(parent_parser=parser)")
    assert named != SCRIPT
    assert created({"a.py": named}) == created({"a.py": SCRIPT})


@pytest.mark.parametrize("option", IDLE)
def test_an_option_that_went_is_no_reason_to_leave_the_rest(option: str) -> None:
    assert option in once() - current()
    text = SCRIPT.replace("    args =", f"    parser.set_defaults({option}=True)\n    args =")
    after = rewritten({"a.py": text}, rule("LIT130"), unsafe=True)["a.py"]
    assert f'"--{option}", type=plain_value, nargs="?", const=True, default={IDLE[option]})\n' in after
    assert "argparse_args" not in after
    assert rewritten({"a.py": text}, rule("LIT130"))["a.py"] == text
    (left,) = [item for item in run_rules({"a.py": text}, rule("LIT130")).findings if item.fix == "manual"]
    assert f"`--{option}`: Trainer no longer has such an argument" in left.message


def test_a_module_of_that_name_is_not_overwritten_and_one_of_an_earlier_run_is_used() -> None:
    text = SCRIPT.replace("Trainer\n", "Trainer\nfrom pkg.models import Model\n", 1)
    files = {"pkg/__init__.py": "", "pkg/models.py": "", "a.py": text, "b.py": text}
    assert set(created(files)) == {"a.py", "b.py", "trainer_arguments.py"}
    other = {"trainer_arguments.py": "x = 1\n", "pkg/trainer_arguments.py": "x = 1\n"}
    assert set(created({**files, **other})) == {"a.py", "b.py"}
    ours = {**files, "trainer_arguments.py": helpers.module_text()}
    del ours["b.py"]
    after = created(ours)
    assert set(after) == {"a.py"} and "from trainer_arguments import" in after["a.py"]


def test_a_shared_module_holds_what_is_needed_alone() -> None:
    builds = """\
from pytorch_lightning import Trainer
from pkg.models import Model


def main(options):
    Trainer.from_argparse_args(options, max_epochs=2).fit(Model())
"""
    files = {"pkg/__init__.py": "", "pkg/models.py": "", "a.py": builds, "b.py": builds}
    after = created(files)
    assert after["trainer_arguments.py"] == helpers.module_text(adds=False)
    assert (
        "def add_arguments" not in after["trainer_arguments.py"] and "import ast" not in after["trainer_arguments.py"]
    )
    adding = SCRIPT.replace("Trainer\n", "Trainer\nfrom pkg.models import Model\n", 1)
    assert created({**files, "c.py": adding})["trainer_arguments.py"] == helpers.module_text()
    later = {**files, "c.py": adding, "trainer_arguments.py": helpers.module_text(adds=False)}
    made = created(later)
    assert "def add_arguments" in made["c.py"] and "from trainer_arguments import" in made["a.py"]


def test_the_shared_module_runs() -> None:
    names: dict[str, Any] = {}
    exec(helpers.module_text(), names)
    parser = names["add_arguments"](Trainer, argparse.ArgumentParser(), accelerator="cpu")
    trainer = names["from_arguments"](Trainer, parser.parse_args(["--max_epochs", "2"]), logger=False)
    assert (trainer.max_epochs, type(trainer.accelerator).__name__) == (2, "CPUAccelerator")


def test_what_was_parsed_may_be_named() -> None:
    text = SCRIPT.replace("Trainer.from_argparse_args(args, ", "Trainer.from_argparse_args(args=args, ")
    assert "from_arguments(Trainer, args=args, logger=False)" in rewritten({"a.py": text}, rule("LIT130"))["a.py"]
    assert run(text, ["--max_epochs", "3"]).max_epochs == 3
    turned = SCRIPT.replace("(args, logger=False)", "(logger=False, args=args)").replace(
        "return", "print(args.gpus)\n    return"
    )
    assert (
        "from_arguments(Trainer, logger=False, args=args, accelerator="
        in rewritten({"a.py": turned}, rule("LIT130"))["a.py"]
    )
    assert run_rules({"a.py": text}, rule("LIT110")).findings == ()


@pytest.mark.parametrize("unit", ["\t", "  ", "    "])
def test_the_functions_are_indented_as_the_script_is(unit: str) -> None:
    script = (
        f"from pytorch_lightning import Trainer\n\n\ndef main(args):\n{unit}return Trainer.from_argparse_args(args)\n"
    )
    after = rewritten({"a.py": script}, rule("LIT130"), unsafe=True)["a.py"]
    (added,) = [node for node in ast.parse(after).body if getattr(node, "name", "") == "from_arguments"]
    lines = after.splitlines()[added.lineno : added.end_lineno]
    assert all(line.startswith(unit) and not line.removeprefix(unit).startswith((" ", "\t")) for line in lines if line)
