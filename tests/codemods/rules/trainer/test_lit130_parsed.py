"""LIT130: what a script sets on, and asks of, what was parsed under names that mean something else in 2.x."""

from __future__ import annotations

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


def test_what_is_compared_with_hardware_stays() -> None:
    main = MAIN.replace("args.accelerator in ('ddp', 'ddp_cpu')", "args.accelerator in ('gpu', 'ddp')")
    after = run_rules({"a.py": script(main=main)}, rule("LIT130")).final()["a.py"].decode()
    assert "args.accelerator in ('gpu', 'ddp')" in after
