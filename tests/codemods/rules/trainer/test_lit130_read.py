"""LIT130: options that code reads of what was parsed, in the script and where it is handed to."""

from __future__ import annotations

import pytest

from tests.codemods.support import rewritten, rule

SCRIPT = """\
from argparse import ArgumentParser

from model import Net
from pytorch_lightning import Trainer


def main(args):
    trainer = Trainer.from_argparse_args(args)
    trainer.fit(Net(args))


if __name__ == "__main__":
    main(Trainer.add_argparse_args(ArgumentParser()).parse_args())
""".replace("main(Trainer.add_argparse_args(ArgumentParser()).parse_args())", "parser = ArgumentParser()\n    "
            "parser = Trainer.add_argparse_args(parser)\n    main(parser.parse_args())")  # fmt: skip
MODEL = "class Net:\n    def __init__(self, args):\n        self.args = args\n        assert not READ\n"


@pytest.mark.parametrize(
    ("read", "kept", "defaults"),
    [
        ("args.move_metrics_to_cpu", 'add_argument("--move_metrics_to_cpu"', ()),
        ("self.args.track_grad_norm", 'add_argument("--track_grad_norm"', ()),
        ("self.args.precision > 16", "", ("precision=32",)),
        ("args.limit_val_batches < args.log_every_n_steps", "", ("limit_val_batches=1.0", "log_every_n_steps=50")),
        ("args.max_epochs", "", ()),
        ("other.move_metrics_to_cpu", "", ()),
    ],
)
def test_what_is_read_where_it_is_handed_to(read: str, kept: str, defaults: tuple[str, ...]) -> None:
    files = {"train.py": SCRIPT, "model.py": MODEL.replace("READ", read)}
    after = rewritten(files, rule("LIT130"))["train.py"]
    assert "add_argparse_args" not in after and kept in after
    assert kept or "move_metrics_to_cpu" not in after
    for name in ("precision=32", "limit_val_batches=1.0", "log_every_n_steps=50"):
        assert (name in after) is (name in defaults)


def test_what_the_script_reads_itself_and_what_it_says_a_default_of() -> None:
    text = SCRIPT.replace("    trainer =", "    print(args.precision + 1)\n    trainer =")
    assert "precision=32" in rewritten({"train.py": text}, rule("LIT130"))["train.py"]
    said = text.replace("    main(parser", "    parser.set_defaults(precision=16)\n    main(parser")
    assert "precision=32" not in rewritten({"train.py": said}, rule("LIT130"))["train.py"]


def test_a_file_that_declares_the_option_reads_its_own() -> None:
    own = "import argparse\n\nparser = argparse.ArgumentParser()\nparser.add_argument('--precision', default=1)\n"
    own += "args = parser.parse_args()\nprint(args.precision > 3)\n"
    assert "precision=32" not in rewritten({"train.py": SCRIPT, "other.py": own}, rule("LIT130"))["train.py"]


@pytest.mark.parametrize(
    ("default", "unset", "otherwise"),
    [("backend", "None, ", ' or "cpu"'), ("None", "None, ", ' or "cpu"'), ("'gpu'", "", "")],
)
def test_an_accelerator_whose_default_may_be_none(default: str, unset: str, otherwise: str) -> None:
    text = SCRIPT.replace("    main(parser", f"    parser.set_defaults(accelerator={default}, gpus=1)\n    main(parser")
    after = rewritten({"train.py": text}, rule("LIT130"), unsafe=True)["train.py"]
    asked = f'args.gpus and args.accelerator in ({unset}"cpu", "ddp")'
    assert f'accelerator="gpu" if {asked} else args.accelerator{otherwise},' in after


TOLD = SCRIPT.replace("Trainer.from_argparse_args(args)", "Trainer(max_epochs=args.max_epochs, accelerator='cpu')")


def test_a_default_that_no_trainer_takes_is_not_set() -> None:
    files = {"train.py": TOLD, "model.py": MODEL.replace("READ", "args.max_epochs")}
    assert "parser = add_arguments(Trainer, parser)\n" in rewritten(files, rule("LIT130"))["train.py"]


@pytest.mark.parametrize(
    ("old", "new", "more"),
    [
        ("max_epochs=args.max_epochs", "**vars(args)", ""),
        ("max_epochs=args.max_epochs", "**given(args)", ""),
        ("    trainer.fit", "    print(args.accelerator)\n    trainer.fit", ""),
        ("    trainer.fit", "    print(getattr(args, 'accelerator'))\n    trainer.fit", ""),
        ("    trainer.fit", "    print(vars(args)['accelerator'])\n    trainer.fit", ""),
        ("    trainer.fit", "    print(trainer)\n    trainer.fit", "def f(args):\n    return args.accelerator\n"),
        ("    trainer.fit", "    print(trainer)\n    trainer.fit", "def f(args):\n    return Trainer(**vars(args))\n"),
        (
            "    trainer.fit",
            "    print(trainer)\n    trainer.fit",
            "from pytorch_lightning import Trainer\ntrainer = Trainer.from_argparse_args(args)\n",
        ),
        ("Trainer(max_epochs=args.max_epochs, accelerator='cpu')", "build(args)", ""),
    ],
)
def test_a_default_that_something_may_take_is_set(old: str, new: str, more: str) -> None:
    files = {"train.py": TOLD.replace(old, new), "model.py": "class Net:\n    pass\n", "other.py": more}
    after = rewritten(files, rule("LIT130"), unsafe=True)["train.py"]
    assert 'add_arguments(Trainer, parser, accelerator="cpu")' in after
