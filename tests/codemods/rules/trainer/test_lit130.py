"""LIT130: what the functions for the argparse methods do on the newest Lightning, and what is left."""

from __future__ import annotations

import argparse
from typing import Any

import pytest
from lightning.pytorch import LightningDataModule, Trainer

from codemods.code.source import PythonFile, Source
from codemods.lightning.argparse_options import spoken
from codemods.rules.trainer import helpers
from tests.codemods.support import refusals, rewritten, rule, run_rules

ASKED = 'args.gpus and args.accelerator in ("cpu", "ddp")'
HEAD = "from argparse import ArgumentParser\n\nfrom pytorch_lightning import Trainer\n\n\n"
SCRIPT = HEAD + (
    "def main(argv):\n    parser = ArgumentParser()\n    parser = Trainer.add_argparse_args(parser)\n"
    "    args = parser.parse_args(argv)\n    return Trainer.from_argparse_args(args, logger=False)\n"
)


def functions() -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec("import ast, inspect\n" + helpers.text(True, True), names)
    return names


def run(script: str, argv: list[str]) -> Trainer:
    text = rewritten({"a.py": script}, rule("LIT130"))["a.py"]
    names: dict[str, Any] = {}
    exec(text.replace("pytorch_lightning", "lightning.pytorch"), names)
    trainer = names["main"](argv)
    assert isinstance(trainer, Trainer)
    return trainer


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


def test_a_datamodule() -> None:
    class Data(LightningDataModule):
        def __init__(self, folder: str, batch_size: int = 4, **others: Any) -> None:
            super().__init__()
            self.given = folder, batch_size, others

    Data.__init__.__annotations__.update(folder=str, batch_size=int)
    add, build = functions()["add_arguments"], functions()["from_arguments"]
    parser = add(Data, argparse.ArgumentParser())
    parser.add_argument("--unrelated", default=1)
    args = parser.parse_args(["--folder", "here", "--batch_size", "8"])
    assert build(Data, args).given == ("here", 8, {})
    assert build(Data, args, batch_size=2, more=3).given == ("here", 2, {"more": 3})
    with pytest.raises(SystemExit):
        parser.parse_args([])


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


def test_an_instance_that_is_made_to_call_it_of_is_not_needed() -> None:
    text = (
        "from pytorch_lightning import LightningDataModule\n\n\nclass Data(LightningDataModule):\n"
        "    def __init__(self, folder):\n        self.folder = folder\n\n"
        "    def again(self):\n        return super()\n\n\n"
        "data = Data(args.folder).from_argparse_args(args)\nother = made(args).from_argparse_args(args)\n"
    )
    after = rewritten({"a.py": text}, rule("LIT130"))["a.py"]
    assert after.endswith("data = from_arguments(Data, args)\nother = made(args).from_argparse_args(args)\n")
    inside = text.replace("return super()", "return super().from_argparse_args(self)")
    assert "return super().from_argparse_args(self)" in rewritten({"a.py": inside}, rule("LIT130"))["a.py"]


def test_options_of_old_that_the_script_speaks_of_stay() -> None:
    script = HEAD + (
        "def main(argv):\n    parser = ArgumentParser()\n    Trainer.add_argparse_args(parser)\n"
        "    parser.set_defaults(gpus=0, replace_sampler_ddp=False)\n    args = parser.parse_args(argv)\n"
        "    trainer = Trainer.from_argparse_args(args, max_epochs=1)\n    return trainer\n"
    )
    text = rewritten({"a.py": script}, rule("LIT130"))["a.py"]
    assert 'parser.add_argument("--gpus", type=plain_value, default=None)\n' in text
    assert "set_defaults(gpus=0, use_distributed_sampler=False)" in text
    assert f'accelerator="gpu" if {ASKED} else args.accelerator,\n        devices=args.gpus or args.devices,\n' in text
    assert run(script, ["--accelerator", "cpu"]).num_devices == 1


OLDEST = HEAD + (
    "def main(argv):\n    parser = ArgumentParser()\n    Trainer.add_argparse_args(parser)\n"
    "    parser.set_defaults(row_log_interval=128, max_nb_epochs=2)\n    args = parser.parse_args(argv)\n"
    "    return Trainer.from_argparse_args(args, max_steps=1)\n"
)


def test_defaults_of_before_1_0_get_the_names_of_today() -> None:
    text = rewritten({"a.py": OLDEST}, rule("LIT130"))["a.py"]
    assert "set_defaults(log_every_n_steps=128, max_epochs=2)" in text
    assert run(OLDEST, ["--accelerator", "cpu"]).max_epochs == 2


@pytest.mark.parametrize(
    "change",
    [
        ("    return", "    print(args.row_log_interval)\n    return"),
        ("    args =", "    parser.set_defaults(log_every_n_steps=3)\n    args ="),
        ("    args =", "    parser.set_defaults(**{'log_every_n_steps': 3})\n    args ="),
    ],
)
def test_an_old_name_of_which_a_script_says_more_leaves_it(change: tuple[str, str]) -> None:
    (*_, reason) = refusals({"a.py": OLDEST.replace(*change)}, "LIT130")
    assert "row_log_interval" in reason


def test_a_checkpoint_goes_to_fit() -> None:
    script = HEAD + (
        "parser = ArgumentParser()\nparser = Trainer.add_argparse_args(parser)\nargs = parser.parse_args()\n"
        "print(args.resume_from_checkpoint)\ntrainer = Trainer.from_argparse_args(args)\ntrainer.fit(model)\n"
    )
    text = rewritten({"a.py": script}, rule("LIT130"))["a.py"]
    assert "trainer.fit(model, ckpt_path=args.resume_from_checkpoint)" in text
    assert 'parser.add_argument("--resume_from_checkpoint", default=None)\n' in text
    assert text.index("def add_arguments") < text.index("parser = ArgumentParser()")


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (("    args =", "    parser.set_defaults(weights_save_path=None)\n    args ="), "weights_save_path"),
        (("    args =", "    parser.set_defaults(**load('defaults.json'))\n    args ="), "a dictionary"),
        (
            ("    args =", "    all = {'weights_save_path': None}\n    parser.set_defaults(**all)\n    args ="),
            "weights_",
        ),
        (
            ("    args =", "    all = {'replace_sampler_ddp': 0}\n    parser.set_defaults(**all)\n    args ="),
            "use_dist",
        ),
        (("    args =", "    parser.add_argument('--barebones')\n    args ="), "--barebones"),
        (("Trainer.add_argparse_args(parser)", "Trainer.add_argparse_args(parser, use_argument_group=False)"), "usual"),
        (("def main", "def add_arguments():\n    pass\n\n\ndef main"), "the name add_arguments"),
        (("parser.parse_args(argv)", "Namespace(**found)"), "a dictionary"),
        (("    return", "    print(args.resume_from_checkpoint)\n    return"), "cannot find its `fit`"),
        (("    parser = Trainer.add_argparse_args(parser)\n", "    print('--gpus')\n"), "declared elsewhere"),
    ],
)
def test_left_whole(change: tuple[str, str], why: str) -> None:
    text = SCRIPT.replace(*change)
    assert text != SCRIPT
    reasons = refusals({"a.py": text}, "LIT130")
    assert reasons and all(why in reason and "LightningCLI" in reason for reason in reasons)


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


@pytest.mark.parametrize("name", ["parse_argparser", "default_attributes", "match_env_arguments"])
def test_the_rest_is_found(name: str) -> None:
    [reason] = refusals({"a.py": f"{HEAD}Trainer.{name}(x)\n"}, "LIT130")
    assert "inspect.signature" in reason


def test_a_backend_names_the_strategy() -> None:
    text = SCRIPT.replace("    return", "    print(args.distributed_backend)\n    return")
    after = rewritten({"a.py": text}, rule("LIT130"))["a.py"]
    assert 'parser.add_argument("--distributed_backend", default=None)\n' in after
    assert "from_arguments(Trainer, args, strategy=args.distributed_backend or args.strategy, logger=False)" in after
    assert run(text, ["--accelerator", "cpu", "--devices", "1"]).num_devices == 1


LICENSED = """\
# Licensed to someone.
from argparse import ArgumentParser

import pytorch_lightning as pl

parser = ArgumentParser()
parser = pl.Trainer.add_argparse_args(parser)
parser.add_argument("--root")
args = parser.parse_args()
trainer = pl.Trainer.from_argparse_args(args)
"""


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("--root", "--amp_level", "--amp_level of its own"),
        ("args(args)", "args(args, accelerator=args.accelerator, default_root_dir=args.gpus)", "read nowhere"),
    ],
)
def test_options_of_old_that_would_be_lost_are_left_to_a_person(old: str, new: str, said: str) -> None:
    text = LICENSED.replace(old, new)
    assert text != LICENSED
    reasons = refusals({"train.py": text}, "LIT130")
    assert reasons and said in reasons[0]


def test_imports_stand_behind_the_licence() -> None:
    after = rewritten({"train.py": LICENSED}, rule("LIT130"))["train.py"]
    assert after.splitlines()[:2] == ["# Licensed to someone.", "import ast"]


def test_an_option_that_would_stand_behind_a_return_is_left_to_a_person() -> None:
    text = LICENSED.replace(
        "parser = pl.Trainer.add_argparse_args(parser)",
        "\n\ndef options(parser):\n    return pl.Trainer.add_argparse_args(parser)\n\n\nparser = options(parser)",
    ).replace("args = parser", "print(parser.parse_args().gpus)\nargs = parser")
    text += "print(args.gpus)\n"
    reasons = refusals({"train.py": text}, "LIT130")
    assert reasons and all("after a return" in reason for reason in reasons)


@pytest.mark.parametrize(
    ("argv", "accelerator", "devices"),
    [([], "CPUAccelerator", 1), (["--devices", "2"], "CPUAccelerator", 2), (["--accelerator", "auto"], None, None)],
)
def test_the_cpu_is_the_default_as_it_was(argv: list[str], accelerator: str | None, devices: int | None) -> None:
    trainer = run(SCRIPT, argv)
    assert accelerator in (None, type(trainer.accelerator).__name__)
    assert devices in (None, trainer.num_devices)


def test_the_default_that_the_script_sets_wins() -> None:
    text = SCRIPT.replace("    args =", "    parser.set_defaults(accelerator='auto')\n    args =")
    assert "add_arguments(Trainer, parser)\n" in rewritten({"a.py": text}, rule("LIT130"))["a.py"]
    named = SCRIPT.replace("logger=False", 'accelerator="gpu"')
    assert "add_arguments(Trainer, parser)\n" in rewritten({"a.py": named}, rule("LIT130"))["a.py"]


def test_defaults_of_a_dictionary() -> None:
    given = "    all = {'gpus': 0, 'max_epochs': 3}\n    parser.set_defaults(**all)\n    args ="
    trainer = run(SCRIPT.replace("    args =", given), [])
    assert (trainer.max_epochs, type(trainer.accelerator).__name__) == (3, "CPUAccelerator")
    text = rewritten({"a.py": SCRIPT.replace("    args =", given)}, rule("LIT130"))["a.py"]
    assert 'parser.add_argument("--gpus"' in text and "devices=args.gpus or args.devices" in text


ALONE = HEAD + "def build(args):\n    return Trainer.from_argparse_args(args, logger=False)\n"


def test_a_trainer_without_options_of_its_own_trains_on_the_cpu() -> None:
    after = rewritten({"a.py": ALONE}, rule("LIT130"))["a.py"]
    assert 'return from_arguments(Trainer, args, accelerator="cpu", logger=False)' in after
    others = {"a.py": ALONE, "b.py": "parser.add_argument('--accelerator')\n"}
    after = rewritten(others, rule("LIT130"))["a.py"]
    assert 'Trainer, args, accelerator=getattr(args, "accelerator", None) or "cpu", logger=False)' in after
    names: dict[str, Any] = {}
    exec(after.replace("pytorch_lightning", "lightning.pytorch"), names)
    for given in (argparse.Namespace(), argparse.Namespace(accelerator=None), argparse.Namespace(accelerator="cpu")):
        assert type(names["build"](given).accelerator).__name__ == "CPUAccelerator"
    declared = {"a.py": ALONE, "b.py": SCRIPT}
    assert "from_arguments(Trainer, args, logger=False)" in rewritten(declared, rule("LIT130"))["a.py"]


def test_what_the_commands_of_the_project_give_stays_an_option() -> None:
    files = {"a.py": SCRIPT, "run.sh": "python src/a.py \\\n    --gpus 2 --max_epochs 3\n"}
    after = rewritten(files, rule("LIT130"))["a.py"]
    assert '    parser.add_argument("--gpus", type=plain_value, default=None)\n' in after
    assert 'accelerator="gpu" if args.gpus and args.accelerator in ("cpu", "ddp") else args.accelerator' in after
    for command in ("docker run --gpus all x python a.py\n", "python b.py --gpus 2\n"):
        assert "--gpus" not in rewritten({"a.py": SCRIPT, "run.sh": command}, rule("LIT130"))["a.py"]
    own = SCRIPT.replace("    args =", "    parser.add_argument('--gpus')\n    args =")
    assert refusals({"a.py": own, "run.sh": "python a.py --gpus 2\n"}, "LIT130")


def test_options_that_stay_in_one_file_for_a_trainer_in_another_are_left_to_a_person() -> None:
    declaring = SCRIPT.replace("    return Trainer.from_argparse_args(args, logger=False)", "    print(args.gpus)")
    found = refusals({"a.py": ALONE, "b.py": declaring}, "LIT130")
    assert len(found) == 2 and "is declared in b.py" in found[0] and "is built in a.py" in found[1]


def test_options_that_one_file_reads_are_declared_in_each_that_parses_for_it() -> None:
    train = (
        "def train(args):\n    trainer = Trainer.from_argparse_args(args)\n    trainer.fit(args.model)\n"
        "    print(args.resume_from_checkpoint)\n\n\ndef main(argv):\n"
    )
    script = SCRIPT.replace("def main(argv):\n", train)
    script = script.replace("    return Trainer.from_argparse_args(args, logger=False)", "    train(args)")
    test = HEAD + (
        "def test_train():\n    parser = ArgumentParser()\n    parser = Trainer.add_argparse_args(parser)\n"
        "    args = parser.parse_args([])\n    args.gpus = 1\n    train(args)\n"
    )
    after = rewritten({"train.py": script, "test_train.py": test}, rule("LIT130"))
    for text in after.values():
        assert 'add_argument("--gpus"' in text and 'add_argument("--resume_from_checkpoint"' in text
    assert "devices=args.gpus or args.devices" in after["train.py"]


@pytest.mark.parametrize("taken", ["settings = args.__dict__", "settings = vars(args)"])
def test_an_option_that_is_taken_by_its_key_is_spoken_of(taken: str) -> None:
    gone = SCRIPT.replace("    return", f"    {taken}\n    print(settings['tpu_cores'])\n    return")
    assert all("tpu_cores" in reason for reason in refusals({"a.py": gone}, "LIT130"))
    kept = SCRIPT.replace("    return", f"    {taken}\n    print(settings['gpus'])\n    return")
    assert '"--gpus"' in rewritten({"a.py": kept}, rule("LIT130"))["a.py"]


@pytest.mark.parametrize(
    "given",
    [
        "\n        args, logger=None, callbacks=[])",
        "\n        args,\n        logger=None,\n        callbacks=[],\n    )",
    ],
)
def test_each_argument_stands_in_a_line_of_its_own(given: str) -> None:
    text = SCRIPT.replace("args, logger=False)", given.lstrip(" ")).replace(
        "    return", "    print(args.gpus)\n    return"
    )
    after = rewritten({"a.py": text}, rule("LIT130"))["a.py"]
    wanted = (
        "    return from_arguments(\n        Trainer,\n        args,\n"
        f'        accelerator="gpu" if {ASKED} else args.accelerator,\n        devices=args.gpus or args.devices,\n'
        "        logger=None,\n        callbacks=[],\n    )\n"
    )
    assert after.endswith(wanted)


def test_an_option_that_went_and_that_a_command_alone_gives_is_parsed_still() -> None:
    files = {"a.py": SCRIPT, "run.sh": "python a.py --auto_select_gpus=true\n"}
    assert '    parser.add_argument("--auto_select_gpus"' in rewritten(files, rule("LIT130"))["a.py"]
    assert any("`--auto_select_gpus`" in item.message for item in run_rules(files, rule("LIT130")).findings)


CHOSEN = """\
import argparse

from pytorch_lightning import LightningDataModule, Trainer


class One(LightningDataModule):
    pass


class Two(LightningDataModule):
    pass


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", default="one")
    known, _ = parser.parse_known_args()
    if known.data == "one":
        kind = One
    else:
        kind = Two
    parser = kind.add_argparse_args(parser)
    args = parser.parse_args()
    return kind.from_argparse_args(args)
"""


@pytest.mark.parametrize(
    ("old", "new", "level"),
    [
        ("", "", "safe"),
        ("kind = Two", "kind = Three", "unsafe"),
        ("kind = Two", "kind = choose()", "unsafe"),
        ("class Two(LightningDataModule)", "class Two(Base)", "unsafe"),
        ("def main():", "def main(kind):", "unsafe"),
        ("    else:\n        kind = Two\n", "    for kind in (One, Two):\n        pass\n", "unsafe"),
    ],
)
def test_a_class_that_is_chosen_among_the_projects_own(old: str, new: str, level: str) -> None:
    text = CHOSEN.replace(old, new) if old else CHOSEN
    found = run_rules({"a.py": text}, rule("LIT130")).findings
    assert [finding.fix for finding in found] == [level, level]


@pytest.mark.parametrize("argument", ["strategy='ddp'", "plugins=[]"])
def test_with_a_strategy_alone_the_cpu_is_the_default_as_it_was(argument: str) -> None:
    after = rewritten({"a.py": SCRIPT.replace("logger=False", argument)}, rule("LIT130"), unsafe=True)["a.py"]
    assert 'add_arguments(Trainer, parser, accelerator="cpu")' in after


def test_a_star_takes_no_name_of_the_modules_that_are_needed() -> None:
    script = SCRIPT.replace("import Trainer", "import *")
    assert "import inspect" in rewritten({"a.py": script}, rule("LIT130"), unsafe=True)["a.py"]


LISTED = HEAD + (
    "class Net:\n    def __init__(self, size, **more):\n        self.kept = [more[name] for name in (\n"
    "            'size_of_all', 'gpus', 'distributed_backend', 'precision'\n        )]\n\n\n"
    "def main(argv):\n    parser = ArgumentParser()\n    parser.add_argument('--size', default=1)\n"
    "    parser.add_argument('--size_of_all', default=1)\n    parser = Trainer.add_argparse_args(parser)\n"
    "    args = parser.parse_args(argv)\n    net = Net(**vars(args))\n"
    "    trainer = Trainer.from_argparse_args(args, max_steps=1)\n    trainer.net = net\n    return trainer\n"
)


def test_options_that_the_script_names_in_a_list_stay() -> None:
    text = rewritten({"a.py": LISTED}, rule("LIT130"))["a.py"]
    for option in ("gpus", "distributed_backend"):
        assert f'parser.add_argument("--{option}"' in text
    trainer = run(LISTED, ["--accelerator", "cpu", "--devices", "2"])
    assert trainer.net.kept == [1, None, None, None] and trainer.num_devices == 2  # type: ignore[attr-defined]


def test_hardware_that_the_call_gives_too_leaves_them() -> None:
    given = LISTED.replace("args, max_steps=1", "args, accelerator='cpu', devices=2, max_steps=1")
    (*_, reason) = refusals({"a.py": given}, "LIT130")
    assert "read nowhere" in reason


MADE = SCRIPT.replace("    parser = ArgumentParser()\n    parser = Trainer.add_argparse_args(parser)\n", "    {}\n")


def test_a_parser_that_a_call_makes_is_known_by_the_name_of_the_result() -> None:
    text = MADE.format("parser = Trainer.add_argparse_args(ArgumentParser())")
    assert run(text, ["--max_epochs", "3", "--accelerator", "cpu"]).max_epochs == 3
    kept = text.replace("return Trainer", "print(args.gpus)\n    return Trainer")
    after = rewritten({"a.py": kept}, rule("LIT130"))["a.py"]
    assert "parser = add_arguments(Trainer, ArgumentParser()" in after
    assert '    parser.add_argument("--gpus", type=plain_value, default=None)\n    args' in after


@pytest.mark.parametrize(
    "made",
    [
        "keep(parser := Trainer.add_argparse_args(ArgumentParser()))",
        "parsers[0] = Trainer.add_argparse_args(ArgumentParser())",
        "args = Trainer.add_argparse_args(ArgumentParser()).parse_args()",
    ],
)
def test_a_parser_without_a_name_is_for_a_person(made: str) -> None:
    assert "the parser is not in a variable" in refusals({"a.py": MADE.format(made)}, "LIT130")[0]


def test_a_trainer_that_is_made_to_call_the_method_alone() -> None:
    text = SCRIPT.replace("Trainer.from_argparse_args", "Trainer().from_argparse_args")
    assert run(text, ["--max_epochs", "3", "--accelerator", "cpu"]).max_epochs == 3
    after = rewritten({"a.py": text}, rule("LIT130"))["a.py"]
    assert after == rewritten({"a.py": SCRIPT}, rule("LIT130"))["a.py"]
    told = text.replace("Trainer()", "Trainer(max_epochs=1)")
    assert {item.fix for item in run_rules({"a.py": told}, rule("LIT130")).findings} == {"unsafe"}
