"""LIT130: what a script sets on, and asks of, what was parsed under names that mean something else in 2.x."""

from __future__ import annotations

import json
from typing import Any

import pytest
from lightning.pytorch import Trainer
from lightning.pytorch.callbacks import ModelCheckpoint
from lightning.pytorch.strategies import DDPStrategy

from tests.codemods.support import refusals, rewritten, rule, run_rules

HEAD = "from argparse import ArgumentParser\n\nimport pytorch_lightning as pl\n\n\n"
PARSER = (
    "def options(argv):\n    backend = 'ddp'\n    parser = pl.Trainer.add_argparse_args(ArgumentParser())\n"
    "    parser.set_defaults(DEFAULTS)\n    args = parser.parse_args(argv)\n    SET\n    return args\n\n\n"
).replace("pl.Trainer.add_argparse_args(ArgumentParser())", "pl.Trainer.add_argparse_args(parser)").replace(
    "    backend", "    parser = ArgumentParser()\n    backend"
)  # fmt: skip
MAIN = (
    "def main(argv):\n    args = options(argv)\n    own = args.accelerator in ('ddp', 'ddp_cpu')\n"
    "    trainer = pl.Trainer.from_argparse_args(args, logger=False)\n    return trainer, own\n"
)
CHECKPOINT = "args.checkpoint_callback = pl.callbacks.ModelCheckpoint(monitor='loss', save_top_k=2)"


def script(defaults: str = "max_epochs=2", sets: str = "pass", main: str = MAIN) -> str:
    return HEAD + PARSER.replace("DEFAULTS", defaults).replace("SET", sets) + main


def run(before: str, argv: str) -> tuple[Trainer, bool]:
    after = rewritten({"a.py": before}, rule("LIT130"))["a.py"]
    assert rewritten({"a.py": after}, rule("LIT130"))["a.py"] == after != before
    names: dict[str, Any] = {}
    exec(after.replace("pytorch_lightning", "lightning.pytorch"), names)
    found: tuple[Trainer, bool] = names["main"](argv.split())
    return found


@pytest.mark.parametrize(
    ("argv", "ddp"), [("", True), ("--strategy auto", False), ("--strategy ddp --accelerator cpu", True)]
)
def test_a_default_that_names_a_strategy_is_one_of_strategy(argv: str, ddp: bool) -> None:
    trainer, own = run(script("accelerator=backend"), f"--devices 1 {argv}")
    assert isinstance(trainer.strategy, DDPStrategy) is ddp is own
    assert type(trainer.accelerator).__name__ == "CPUAccelerator"


def test_a_default_in_a_dictionary() -> None:
    more = "parser = ArgumentParser()\n    all = {'accelerator': 'ddp', 'devices': 1}\n    all.update(found or {})\n"
    before = (
        script("**all")
        .replace("parser = ArgumentParser()\n", more)
        .replace("options(argv):", "options(argv, found=None):")
    )
    trainer, own = run(before, "")
    assert isinstance(trainer.strategy, DDPStrategy) and own
    assert "a strategy" in refusals({"a.py": before.replace("    return args", "    save(all)")}, "LIT130")[0]
    assert "a strategy" in refusals({"a.py": before.replace("'devices'", "'strategy'")}, "LIT130")[0]


def test_nothing_said_of_the_hardware_is_the_cpu() -> None:
    trainer, own = run(script("accelerator=None"), "--devices 1")
    assert type(trainer.accelerator).__name__ == "CPUAccelerator" and not own


def test_a_checkpoint_callback_is_one_of_the_callbacks() -> None:
    trainer, _ = run(script(sets=CHECKPOINT), "--devices 1")
    (found,) = [item for item in trainer.callbacks if isinstance(item, ModelCheckpoint)]
    assert (found.monitor, found.save_top_k) == ("loss", 2)


def test_callbacks_of_the_call_come_behind_it() -> None:
    main = MAIN.replace("logger=False", "callbacks=[pl.callbacks.Timer()], logger=False")
    trainer, _ = run(script(sets=CHECKPOINT, main=main), "--devices 1")
    kinds = [type(item).__name__ for item in trainer.callbacks]
    assert kinds.count("ModelCheckpoint") == 1 and "Timer" in kinds


@pytest.mark.parametrize("value", [True, False])
def test_a_truth_value_is_enable_checkpointing(value: bool) -> None:
    trainer, _ = run(script(sets=f"args.checkpoint_callback = {value}"), "--devices 1")
    assert any(isinstance(item, ModelCheckpoint) for item in trainer.callbacks) is value


def test_several_lines_stand_in_the_list_as_they_did() -> None:
    sets = (
        "args.checkpoint_callback = pl.callbacks.ModelCheckpoint(\n        verbose=True,\n\n        mode='max',\n    )"
    )
    after = rewritten({"a.py": script(sets=sets)}, rule("LIT130"))["a.py"]
    assert (
        "    args.callbacks = [\n        pl.callbacks.ModelCheckpoint(\n            verbose=True,\n\n"
        "            mode='max',\n        ),\n    ]\n"
    ) in after


def test_either_of_two_trainers_resumes() -> None:
    main = (
        "def main(argv):\n    args = options(argv)\n    if args.max_epochs:\n"
        "        trainer = pl.Trainer.from_argparse_args(args, logger=False)\n    else:\n"
        "        trainer = pl.Trainer.from_argparse_args(args)\n"
        "    print(args.resume_from_checkpoint)\n    trainer.fit(model)\n"
    )
    after = rewritten({"a.py": script(main=main)}, rule("LIT130"))["a.py"]
    assert after.count("ckpt_path") == 1 and "trainer.fit(model, ckpt_path=args.resume_from_checkpoint)" in after
    other = main.replace("from_argparse_args(args)\n", "from_argparse_args(more)\n")
    assert "fixer cannot find its `fit`" in refusals({"a.py": script(main=other)}, "LIT130")[0]


@pytest.mark.parametrize(
    ("before", "why"),
    [
        (script("accelerator='dp'"), 'is "dp", which is gone'),
        (script("accelerator='ddp' if many else None"), "names a strategy by the default"),
        (script("accelerator='ddp', strategy=None"), "names a strategy by the default"),
        (script("accelerator='ddp'", "print(args.strategy)"), "names a strategy by the default"),
        (script("accelerator='ddp'", "print(args.accelerator)"), "names a strategy by the default"),
        (
            script("accelerator='ddp', gpus=2", "if args.gpus == 1:\n        args.accelerator = None"),
            "sets args.accelerator",
        ),
        (script(sets="args.accelerator = 'dp'"), "sets args.accelerator in line 12"),
        (script(sets="args.accelerator = 'gpu' if args.devices else None"), "sets args.accelerator"),
        (script("accelerator='ddp'", "args.accelerator = 'gpu'"), "sets args.accelerator"),
        (script(sets="del args.accelerator"), "sets args.accelerator"),
        (script(sets="args.accelerator = args.saved = None"), "sets args.accelerator"),
        (script(sets="args.accelerator = 'ddp'\n    args.accelerator = None"), "sets args.accelerator"),
        (script(sets="args.accelerator = 'ddp'\n    args.accelerator = 'gpu'"), "sets args.accelerator"),
        (script("accelerator='gpu'", "args.accelerator = 'ddp'"), "sets args.accelerator"),
        (script(sets="args.accelerator = 'ddp'\n    print(args.accelerator)"), "sets args.accelerator"),
        (script(sets="args.accelerator = None\n    print(args.accelerator is None)"), "sets args.accelerator"),
        (script(sets="args.accelerator = None\n    args.strategy = None"), "sets args.accelerator"),
        (script(sets="args.accelerator += 'ddp'"), "sets args.accelerator"),
        (script(sets="args.checkpoint_callback = made(args)"), "fixer cannot tell"),
        (script(sets="setup(args.checkpoint_callback)"), "fixer cannot follow"),
        (script(sets=f"{CHECKPOINT}\n    if args.fast_dev_run:\n        args.checkpoint_callback = False"), "either"),
        (script("checkpoint_callback=False", f"if args.fast_dev_run:\n        {CHECKPOINT}"), "the option checkpoint_"),
        (script("**{'checkpoint_callback': False}", CHECKPOINT), "the option checkpoint_"),
        (script(sets=f"{CHECKPOINT}\n    print('--checkpoint_callback')"), "the option checkpoint_"),
        (script(sets=f"{CHECKPOINT}\n    print(vars(args)['checkpoint_callback'])"), "the option checkpoint_"),
        (script(sets=f"{CHECKPOINT}\n    args.callbacks = [other]"), "callbacks of its own"),
        (script(sets=CHECKPOINT, main=MAIN.replace("logger=", "callbacks=own, logger=")), "would take the place"),
        (HEAD + PARSER.replace("DEFAULTS", "").replace("SET", CHECKPOINT), "in another file"),
        (script("checkpoint_callback=False"), "uses the option checkpoint_callback"),
    ],
)
def test_left_whole(before: str, why: str) -> None:
    reasons = refusals({"a.py": before}, "LIT130")
    assert reasons and all(why in reason for reason in reasons)


def test_a_file_that_is_handed_what_was_parsed_may_ask_for_the_accelerator() -> None:
    files = {"a.py": script("accelerator='ddp'"), "b.py": "def many(args):\n    return args.accelerator == 'ddp'\n"}
    assert "b.py asks for the accelerator" in refusals(files, "LIT130")[0]


def test_hardware_that_a_script_sets_stays() -> None:
    main = MAIN.replace("args.accelerator in ('ddp', 'ddp_cpu')", "args.accelerator == 'cpu'")
    trainer, own = run(script(sets="args.accelerator = 'cpu'", main=main), "--devices 1")
    assert type(trainer.accelerator).__name__ == "CPUAccelerator" and own


def test_a_strategy_that_a_script_sets_is_one_of_strategy() -> None:
    before = script(sets="if args.max_epochs:\n        args.accelerator = 'ddp'")
    trainer, own = run(before, "--devices 1")
    assert isinstance(trainer.strategy, DDPStrategy) and own
    assert type(trainer.accelerator).__name__ == "CPUAccelerator"


@pytest.mark.parametrize("argv", ["", "--accelerator ddp"])
def test_none_that_a_script_sets_is_the_cpu(argv: str) -> None:
    trainer, own = run(script(sets="args.accelerator = None"), f"--devices 1 {argv}")
    assert type(trainer.accelerator).__name__ == "CPUAccelerator" and not own
    assert not isinstance(trainer.strategy, DDPStrategy)


def test_gpus_go_before_none_that_a_script_sets() -> None:
    before = script("gpus=1", "args.accelerator = None")
    assert (
        'accelerator="gpu" if args.gpus and args.accelerator in ("cpu", "ddp") else args.accelerator,'
        in rewritten({"a.py": before}, rule("LIT130"))["a.py"]
    )


@pytest.mark.parametrize("to", ["None", "'ddp'"])
def test_a_file_that_is_handed_what_was_parsed_may_ask_for_what_is_set(to: str) -> None:
    files = {"a.py": script(sets=f"args.accelerator = {to}"), "b.py": "def many(args):\n    return args.accelerator\n"}
    assert "b.py asks for the accelerator" in refusals(files, "LIT130")[0]


def test_what_is_compared_with_hardware_stays() -> None:
    main = MAIN.replace("args.accelerator in ('ddp', 'ddp_cpu')", "args.accelerator in ('gpu', 'ddp')")
    after = run_rules({"a.py": script(main=main)}, rule("LIT130")).final()["a.py"].decode()
    assert "args.accelerator in ('gpu', 'ddp')" in after


KEPT_APART = "given = HOLDER\n    del given['tpu_cores']\n    args.saved = json.dumps(given, default=str)"


@pytest.mark.parametrize("holder", ["vars(args)", "args.__dict__", "dict(vars(args))", "vars(args).copy()"])
def test_an_option_that_is_only_deleted_goes_with_the_statement(holder: str) -> None:
    before = "import json\n" + script("max_epochs=3", KEPT_APART.replace("HOLDER", holder), MAIN)
    before = before.replace("own = args.accelerator in ('ddp', 'ddp_cpu')", "own = args.saved")
    trainer, saved = run(before, "--accelerator cpu --devices 1")
    assert trainer.max_epochs == 3
    assert isinstance(saved, str) and json.loads(saved)["max_epochs"] == 3


def test_what_is_deleted_alone_in_its_block() -> None:
    text = script("max_epochs=3", "if args.fast_dev_run:\n        del vars(args)['tpu_cores']")
    assert "if args.fast_dev_run:\n        pass\n" in rewritten({"a.py": text}, rule("LIT130"))["a.py"]
    both = text.replace("['tpu_cores']", "['tpu_cores']\n        del vars(args)['terminate_on_nan']")
    assert "if args.fast_dev_run:\n        pass\n" in rewritten({"a.py": both}, rule("LIT130"))["a.py"]


@pytest.mark.parametrize(
    "sets",
    [
        "del vars(args)['tpu_cores']\n    print(args.tpu_cores)",
        "given = vars(args)\n    print(given['tpu_cores'])\n    del given['tpu_cores']",
        "given = made(vars(args))\n    del given['tpu_cores']",
        "del vars(args)['tpu_cores'], vars(args)['gpus']",
        "vars(args).pop('tpu_cores')",
        "given = vars(args)\n    given.update({'tpu_cores': 1})\n    del given['tpu_cores']",
        "given = vars(args)\n    given.update(tpu_cores=1)\n    del given['tpu_cores']",
        "given = vars(args)\n    for given in others:\n        del given['tpu_cores']",
        "given = vars(args)\n\n    def less(given):\n        del given['tpu_cores']\n\n    less(made)",
    ],
    ids=[
        "read",
        "read-as-a-key",
        "of-something-else",
        "with-another",
        "popped",
        "put-in",
        "put-in-by-a-keyword",
        "of-others",
        "a-parameter-too",
    ],
)
def test_an_option_that_is_used_otherwise_stays(sets: str) -> None:
    assert "the option tpu_cores" in refusals({"a.py": script("max_epochs=3", sets)}, "LIT130")[0]


def test_a_key_is_deleted_still_where_another_file_declares_the_options() -> None:
    files = {"a.py": script("max_epochs=3", "pass", "").replace("import pytorch", "import json\nimport pytorch")}
    files["b.py"] = (
        "import pytorch_lightning as pl\n\nfrom a import options\n\nargs = options([])\ndel vars(args)['tpu_cores']\n"
        "trainer = pl.Trainer.from_argparse_args(args)\n"
    )
    assert "del vars(args)" in rewritten(files, rule("LIT130"))["b.py"]


OWN = (
    "def main(argv):\n    parser = ArgumentParser()\n    parser.add_argument('--gpus', type=int, default=0)\n"
    "    parser.add_argument('--lr', type=float, default=0.1)\n    args = parser.parse_args(argv)\n"
    "    trainer = pl.Trainer.from_argparse_args(args, logger=False, KEYWORDS)\n    return trainer, args.lr\n"
)


def test_an_own_option_that_the_call_reads_itself() -> None:
    before = HEAD + OWN.replace("KEYWORDS", "gpus=args.gpus, accelerator='ddp'")
    after = rewritten({"a.py": before}, rule("LIT101"), rule("LIT130"))["a.py"]
    assert "from_arguments(pl.Trainer, args, logger=False" in after and "gpus=" not in after.replace("--gpus", "")
    names: dict[str, Any] = {}
    exec(after.replace("pytorch_lightning", "lightning.pytorch"), names)
    trainer, rate = names["main"](["--lr", "0.5"])
    assert rate == 0.5 and isinstance(trainer.strategy, DDPStrategy)
    assert type(trainer.accelerator).__name__ == "CPUAccelerator"


@pytest.mark.parametrize("given", ["devices=2", "devices=other.gpus", "accelerator='gpu'"])
def test_an_own_option_that_the_call_does_not_read_is_left(given: str) -> None:
    assert "--gpus of its own" in refusals({"a.py": HEAD + OWN.replace("KEYWORDS", given)}, "LIT130")[0]


@pytest.mark.parametrize("line", ["import json as inspect\n", "ast = made()\n", "for inspect in names():\n    pass\n"])
def test_a_file_that_gives_a_module_its_name_is_left(line: str) -> None:
    text = script("max_epochs=3", "pass").replace("\n\n\ndef", f"\n{line}\n\ndef", 1)
    assert "uses the name" in refusals({"a.py": text}, "LIT130")[0]


def test_imports_are_put_behind_a_line_that_begins_with_something_else() -> None:
    for head in ("from __future__ import annotations; import os\n", '"""Told."""; import os\n'):
        after = rewritten({"a.py": head + script("max_epochs=3", "pass")}, rule("LIT130"))["a.py"]
        assert after.startswith(f"{head}import ast\nimport inspect\n")


DECLARED = """\
from argparse import ArgumentParser

from pytorch_lightning import Trainer

parser = ArgumentParser()
parser.add_argument("--gpus", type=int, default=0)
parser.add_argument("--max_epochs", type=int, default=2)
parser.add_argument("--resume_from_checkpoint", default=None)
args = parser.parse_args(argv)
trainer = Trainer.from_argparse_args(args, logger=False)
trainer.fit(model)
"""


def test_options_of_old_that_the_script_declares_itself_are_read() -> None:
    after = rewritten({"a.py": DECLARED}, rule("LIT130"))["a.py"]
    assert 'accelerator="gpu" if args.gpus else "cpu"' in after and "devices=args.gpus or 1" in after
    assert "trainer.fit(model, ckpt_path=args.resume_from_checkpoint)" in after
    assert after.count("add_argument(") == 3
    names: dict[str, Any] = {"argv": ["--max_epochs", "3"]}
    exec(after.replace("pytorch_lightning", "lightning.pytorch").rpartition("trainer.fit")[0], names)
    assert names["trainer"].max_epochs == 3 and type(names["trainer"].accelerator).__name__ == "CPUAccelerator"


def test_an_option_that_takes_the_place_of_trainers_own_is_read() -> None:
    text = DECLARED.replace(
        "parser.add_argument",
        "parser = Trainer.add_argparse_args(parser)\n"
        "parser = ArgumentParser(parents=[parser], conflict_handler='resolve', add_help=False)\nparser.add_argument",
        1,
    )
    after = rewritten({"a.py": text}, rule("LIT130"))["a.py"]
    names: dict[str, Any] = {"argv": ["--limit_val_batches", "3"]}
    exec(after.replace("pytorch_lightning", "lightning.pytorch").rpartition("trainer.fit")[0], names)
    assert names["trainer"].limit_val_batches == 3 and type(names["trainer"].accelerator).__name__ == "CPUAccelerator"
    assert "devices=args.gpus or args.devices" in after and after.count('"--gpus"') == 1


def test_devices_of_an_option_that_may_be_any_text_wait() -> None:
    text = DECLARED.replace("type=int, default=0", "default='0,1'")
    assert not run_rules({"a.py": text}, rule("LIT130")).changes
    assert 'devices=args.gpus or "auto"' in rewritten({"a.py": text}, rule("LIT130"), unsafe=True)["a.py"]


@pytest.mark.parametrize(
    ("old", "new", "option"),
    [
        ("--max_epochs", "--devices", "gpus"),
        ("type=int, default=0", "action='store_true'", "gpus"),
        ("logger=False", "accelerator='ddp'", "gpus"),
        ("args = parser", "parser.parse_args([])\nargs = parser", "gpus"),
        ("parser.add_argument", "parser = Trainer.add_argparse_args(parser)\nparser.add_argument", "gpus"),
        ("trainer.fit(model)", "run(trainer)", "resume_from_checkpoint"),
        ("(args, ", "(parser.parse_args(), ", "gpus"),
        ("--max_epochs", "--weights_summary", "weights_summary"),
    ],
)
def test_options_of_old_that_nothing_would_read_are_left(old: str, new: str, option: str) -> None:
    text = DECLARED.replace(old, new, 1)
    assert text != DECLARED
    reasons = refusals({"a.py": text}, "LIT130")
    assert reasons and all(f"--{option} of its own" in reason for reason in reasons)


def test_data_that_a_package_hands_on_is_lightnings() -> None:
    head = "# built by from_argparse_args\nfrom pytorch_lightning import LightningDataModule\n\n\n"
    script = "from data import Data\nfrom pytorch_lightning import Trainer\n\n"
    files = {
        "train.py": f"{script}data = Data.from_argparse_args(args)\n",
        "data/__init__.py": "from data.module import Data\n",
        "data/module.py": f"{head}class Data(LightningDataModule):\n    pass\n",
    }
    assert "data = from_arguments(Data, args)" in rewritten(files, rule("LIT130"))["train.py"]
    files["data/module.py"] = f"{head}class Data:\n    pass\n"
    assert not run_rules(files, rule("LIT130")).findings


ALWAYS = (
    "def main(args):\n    if args.slow:\n        args.accelerator = SLOW\n"
    "    return pl.Trainer.from_argparse_args(args)\n\n\nparser = ArgumentParser()\n"
    "parser.add_argument('--accelerator', DEFAULT)\nparser.add_argument('--slow', action='store_true')\n"
    "parser.add_argument('--gradient_clip_val', type=float, default=1.0)\nmain(parser.parse_args())\n"
)


@pytest.mark.parametrize(
    ("slow", "default", "always"),
    [
        ("'cpu'", "default='gpu'", True),
        ("'cpu'", "default=None", False),
        ("'cpu'", "type=str", False),
        ("'cpu'", "default=''", False),
    ],
)
def test_an_accelerator_that_the_script_always_says_needs_no_other(slow: str, default: str, always: bool) -> None:
    text = HEAD + ALWAYS.replace("SLOW", slow).replace("DEFAULT", default)
    after = rewritten({"a.py": text}, rule("LIT130"))["a.py"]
    assert ("from_arguments(pl.Trainer, args)" in after) is always
    assert ('getattr(args, "accelerator", None) or "cpu"' in after) is not always
