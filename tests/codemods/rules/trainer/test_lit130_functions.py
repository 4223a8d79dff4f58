"""LIT130: what scripts get in the place of the methods, run."""

from __future__ import annotations

import argparse

import pytest

from codemods.code.source import PythonFile, Source
from codemods.lightning.argparse_options import spoken
from tests.codemods.rules.trainer.test_lit130 import HEAD, SCRIPT, functions, run
from tests.codemods.support import refusals, rewritten, rule, run_rules


def test_the_script_takes_its_options() -> None:
    argv = "--max_epochs 3 --accelerator cpu --devices 1 --fast_dev_run --limit_train_batches 0.5 --deterministic false"
    trainer = run(SCRIPT, argv.split())
    assert (trainer.max_epochs, trainer.fast_dev_run, trainer.logger) == (1, True, None)
    assert run(SCRIPT, ["--max_epochs", "3", "--accelerator", "cpu"]).max_epochs == 3
    with pytest.raises(SystemExit):
        run(SCRIPT, ["--weights_summary", "full"])


@pytest.mark.parametrize(
    ("text", "value"),
    [("3", 3), ("0.5", 0.5), ("-1", -1), ("true", True), ("False", False), ("None", None), ("0,1", "0,1"), ("a", "a")],
)  # fmt: skip
def test_values(text: str, value: object) -> None:
    found = functions()["plain_value"](text)
    assert found == value and type(found) is type(value)


@pytest.mark.parametrize(("text", "value"), [("no", False), ("On", True), ("3", 3), ("a", "a")])
def test_values_where_a_truth_value_is_meant(text: str, value: object) -> None:
    found = functions()["truth_or_value"](text)
    assert found == value and type(found) is type(value)


def test_a_word_stays_one_where_no_truth_value_is_meant() -> None:
    class Data:
        def __init__(self, lang: str | int = "en", shuffle: str | bool = "a") -> None:
            self.given = lang, shuffle

    Data.__init__.__annotations__.update(lang=str | int, shuffle=str | bool)
    parser = argparse.ArgumentParser()
    functions()["add_arguments"](Data, parser)
    found = parser.parse_args(["--lang", "no", "--shuffle", "no"])
    assert (found.lang, found.shuffle) == ("no", False)


def test_an_object_of_the_script_that_has_an_attribute_of_that_name_is_not_what_was_parsed() -> None:
    text = "print(model)\ntrainer = Trainer.from_argparse_args(args, devices=model.gpus)\n"
    for read_before in (False, True):
        file = PythonFile.parse(Source("a.py", "python", text.encode()))
        assert not read_before or len(file.calls) == 2
        assert spoken(file, frozenset({"gpus"})) == set()


def test_what_1x_made_no_option_of_is_none() -> None:
    """Only what is annotated as a number, a truth value or text has one; a class may take more by position."""

    class Data:
        def __init__(self, rows, *args, rate, name=None, shuffle=True, net=None, **kwargs):  # type: ignore[no-untyped-def]
            pass

    notes = {"rate": float, "args": int, "kwargs": str, "name": str | None, "shuffle": bool}
    Data.__init__.__annotations__.update(notes)
    parser = functions()["add_arguments"](Data, argparse.ArgumentParser())
    given = parser.parse_args(["--rate", "1e-3", "--name", "2021", "--shuffle", "no"])
    assert vars(given) == {"rate": 0.001, "name": "2021", "shuffle": False, "net": None}


@pytest.mark.parametrize(
    "text",
    [
        "from ray import Trainer\nparser = Trainer.add_argparse_args(parser)\n",
        HEAD + "class Data:\n    def add_argparse_args(self):\n        pass\n\n\nData.add_argparse_args(parser)\n",
        HEAD + "class D(B):\n    @classmethod\n    def add_argparse_args(c):\n        super().add_argparse_args(c)\n",
    ],
)  # fmt: skip
def test_not_spoken_of(text: str) -> None:
    assert run_rules({"a.py": text}, rule("LIT130")).findings == ()


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("parse_argparser", "write `parser.parse_args()`"),
        ("default_attributes", "inspect.signature"),
        ("match_env_arguments", "inspect.signature"),
    ],
)
def test_the_rest_is_found(name: str, told: str) -> None:
    [reason] = refusals({"a.py": f"{HEAD}Trainer.{name}(x)\n"}, "LIT130")
    assert told in reason


PARSED = "args = Trainer.parse_argparser(parser.parse_args(argv))"


def test_what_made_true_of_flags_is_left_out_with_the_options() -> None:
    text = SCRIPT.replace("args = parser.parse_args(argv)", PARSED)
    assert PARSED in text
    after = rewritten({"a.py": text}, rule("LIT130"))["a.py"]
    assert after == rewritten({"a.py": SCRIPT}, rule("LIT130"))["a.py"]
    assert run(text, ["--fast_dev_run", "--logger", "false"]).fast_dev_run == 1


@pytest.mark.parametrize(
    "given",
    ["parsed", "parser", "parser.parse_args(argv), more", "\n        parser.parse_args(argv)  # all\n    ", "*argv"],
)
def test_what_it_is_given_otherwise_is_for_a_person(given: str) -> None:
    text = SCRIPT.replace("args = parser.parse_args(argv)", f"args = Trainer.parse_argparser({given})")
    assert text != SCRIPT
    found = run_rules({"a.py": text}, rule("LIT130")).findings
    assert [item.fix for item in found if "parse_argparser" in item.message] == ["manual"]


def test_it_stays_where_the_options_stay() -> None:
    text = SCRIPT.replace("args = parser.parse_args(argv)", PARSED).replace(
        "def ", "def add_arguments(): ...\n\n\ndef ", 1
    )
    assert {item.fix for item in run_rules({"a.py": text}, rule("LIT130")).findings} == {"manual"}


def test_a_backend_names_the_strategy() -> None:
    text = SCRIPT.replace("    return", "    print(args.distributed_backend)\n    return")
    after = rewritten({"a.py": text}, rule("LIT130"))["a.py"]
    assert 'parser.add_argument("--distributed_backend", default=None)\n' in after
    assert "from_arguments(Trainer, args, strategy=args.distributed_backend or args.strategy, logger=False)" in after
    assert run(text, ["--accelerator", "cpu", "--devices", "1"]).num_devices == 1
