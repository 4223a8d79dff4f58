"""LIT130: options of 1.x that a script speaks of: which stay, which get another name, which are lost."""

from __future__ import annotations

import pytest

from tests.codemods.rules.trainer.test_lit130 import ALONE, HEAD, SCRIPT, run
from tests.codemods.support import refusals, rewritten, rule, run_rules

ASKED = 'args.gpus and args.accelerator in ("cpu", "ddp")'


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


def test_what_the_commands_of_the_project_give_stays_an_option() -> None:
    files = {"a.py": SCRIPT, "run.sh": "python src/a.py \\\n    --gpus 2 --max_epochs 3\n"}
    after = rewritten(files, rule("LIT130"))["a.py"]
    assert '    parser.add_argument("--gpus", type=plain_value, default=None)\n' in after
    assert 'accelerator="gpu" if args.gpus and args.accelerator in ("cpu", "ddp") else args.accelerator' in after
    for command in ("docker run --gpus all x python a.py\n", "python b.py --gpus 2\n"):
        assert "--gpus" not in rewritten({"a.py": SCRIPT, "run.sh": command}, rule("LIT130"))["a.py"]
    own = SCRIPT.replace("    args =", "    parser.add_argument('--gpus')\n    args =")
    assert refusals({"a.py": own, "run.sh": "python a.py --gpus 2\n"}, "LIT130")


DECLARING = SCRIPT.replace("    return Trainer.from_argparse_args(args, logger=False)", "    print(args.gpus)")


def test_an_option_of_one_file_is_read_for_the_trainer_of_another() -> None:
    files = {"a.py": ALONE, "b.py": DECLARING}
    assert rewritten(files, rule("LIT130")) == files
    made = rewritten(files, rule("LIT130"), unsafe=True)
    assert 'parser.add_argument("--gpus", type=plain_value, default=None)\n' in made["b.py"]
    assert 'accelerator="cpu")\n' in made["b.py"] and "from_arguments" not in made["b.py"]
    assert f'accelerator="gpu" if {ASKED} else args.accelerator,' in made["a.py"]
    assert "devices=args.gpus or args.devices," in made["a.py"] and "add_argument" not in made["a.py"]


@pytest.mark.parametrize(
    ("building", "declaring", "more"),
    [
        (ALONE, DECLARING.replace("args.gpus", "args.gpus, args.resume_from_checkpoint"), ""),
        (ALONE, DECLARING.replace("    args =", "    parser.set_defaults(accelerator='ddp')\n    args ="), ""),
        (ALONE, DECLARING.replace("    args =", "    parser.set_defaults(accelerator=None)\n    args ="), ""),
        (ALONE.replace("logger=", "accelerator='gpu', logger="), DECLARING, ""),
        (ALONE.replace("(args, logger", "(vars(args), logger"), DECLARING, ""),
        (ALONE.replace("logger=False", "**more"), DECLARING, ""),
        (ALONE + "\n\ndef from_arguments():\n    pass\n", DECLARING, ""),
        (ALONE, DECLARING, ALONE.replace("(args, logger", "(*args, logger")),
        (ALONE, DECLARING, DECLARING.replace("(parser)", "(parser, **more)")),
    ],
    ids=[
        "another option", "a strategy by default", "no default", "an accelerator", "no name",
        "more arguments", "a name that is taken", "a second Trainer", "a second parser",
    ],
)  # fmt: skip
def test_an_option_that_another_file_cannot_read_is_left_to_a_person(building: str, declaring: str, more: str) -> None:
    files = {"a.py": building, "b.py": declaring, "c.py": more}
    assert rewritten(files, rule("LIT130"), unsafe=True) == files
    assert len(refusals(files, "LIT130", unsafe=True)) >= 2


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
