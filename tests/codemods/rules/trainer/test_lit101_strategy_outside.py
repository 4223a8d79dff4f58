"""LIT101: `gpus=` beside an `accelerator=` that a command line or a configuration gives, and that names a strategy."""

from __future__ import annotations

import pytest

from tests.codemods.support import refusals, rewritten, rule, run_rules

SCRIPT = """\
import argparse
from pytorch_lightning import Trainer


def main(args):
    trainer = Trainer(gpus=2, accelerator=args.accelerator)


parser = argparse.ArgumentParser()
parser.add_argument("--accelerator"{})
main(parser.parse_args())
"""
HYDRA = """\
import hydra
from pytorch_lightning import Trainer


@hydra.main(config_path="conf", config_name="base")
def main(cfg):
    trainer = Trainer(gpus=2, accelerator=cfg.accelerator)


main()
"""


def test_an_option_that_is_ddp_by_default_is_taken_to_name_a_strategy() -> None:
    text = SCRIPT.format(', default="ddp", type=str')
    assert run_rules({"a.py": text}, rule("LIT101")).changes == ()
    new = 'Trainer(devices=2, strategy=args.accelerator, accelerator="gpu")'
    wanted = text.replace("Trainer(gpus=2, accelerator=args.accelerator)", new)
    assert rewritten({"a.py": text}, rule("LIT101"), unsafe=True)["a.py"] == wanted
    assert rewritten({"a.py": wanted}, rule("LIT101"), unsafe=True)["a.py"] == wanted


@pytest.mark.parametrize(
    "option",
    [
        "",
        ", type=str",
        ', default="x"',
        ', default="dp"',
        ", default=None",
        ', default="ddp", required=True',
        ", default=D",
    ],
)
def test_an_option_that_may_name_anything_is_left(option: str) -> None:
    text = SCRIPT.format(option)
    assert rewritten({"a.py": text}, rule("LIT101"), unsafe=True)["a.py"] == text
    [reason] = refusals({"a.py": text}, "LIT101")
    told = 'is "dp" by default' if 'dp"' in option and "ddp" not in option else "fixer cannot tell the value of"
    assert told in reason


@pytest.mark.parametrize(
    "more",
    [
        '    args.accelerator = "tpu"\n',
        "    args.accelerator = change(args)\n",
        "    setattr(args, 'accelerator', 1)\n",
    ],
)
def test_an_option_that_code_sets_is_left(more: str) -> None:
    text = SCRIPT.format(', default="ddp"').replace("    trainer = ", f"{more}    trainer = ")
    assert rewritten({"a.py": text}, rule("LIT101"), unsafe=True)["a.py"] == text


@pytest.mark.parametrize("value", ["ddp", "ddp_spawn"])
def test_what_every_configuration_says_is_a_strategy(value: str) -> None:
    files = {"a.py": HYDRA, "conf/base.yaml": f"accelerator: {value}\n", "conf/other.yaml": "accelerator: ddp\n"}
    after = rewritten(files, rule("LIT101"))
    assert 'Trainer(devices=2, strategy=cfg.accelerator, accelerator="gpu")' in after.pop("a.py")
    assert after == {path: text for path, text in files.items() if path != "a.py"}


def test_no_strategy_is_any() -> None:
    files = {"a.py": HYDRA, "conf/base.yaml": "accelerator: ddp\n", "conf/other.yaml": "accelerator: null\n"}
    assert 'strategy=cfg.accelerator or "auto"' in rewritten(files, rule("LIT101"))["a.py"]


@pytest.mark.parametrize("value", ["tpu", "dp", "null", "[ddp]"])
def test_a_configuration_that_says_something_else_is_left(value: str) -> None:
    files = {"a.py": HYDRA, "conf/base.yaml": f"accelerator: {value}\n"}
    assert rewritten(files, rule("LIT101"), unsafe=True) == files


def test_what_a_command_line_says_counts_too() -> None:
    files = {"a.py": HYDRA, "conf/base.yaml": "accelerator: ddp\n", "run.sh": "python a.py accelerator=null lr=3\n"}
    assert 'strategy=cfg.accelerator or "auto"' in rewritten(files, rule("LIT101"))["a.py"]
    files["README.md"] = 'Run `python a.py "trainer.accelerator=dp"`, or call `Trainer(accelerator="ddp")`.\n'
    assert rewritten(files, rule("LIT101"), unsafe=True) == files


NONE = SCRIPT.format(", default=None, type=str")
NAMED = 'Trainer(devices=2, strategy=args.accelerator or "auto", accelerator="gpu")'
OLD = ("pytorch-lightning==1.3.5",)


@pytest.mark.parametrize(
    ("text", "pins", "told"),
    [
        (NONE, OLD, "before 1.4, as the project asks for"),
        (NONE.replace("    trainer", '    ddp = args.accelerator == "ddp"\n    trainer'), (), '"ddp" is what'),
        (NONE.replace("type=str", 'choices=["ddp", "dp"]'), (), '"ddp" is one of its choices'),
    ],
)
def test_an_option_that_is_none_by_default_is_what_the_project_takes_it_for(
    text: str, pins: tuple[str, ...], told: str
) -> None:
    assert run_rules({"a.py": text}, rule("LIT101"), pins=pins).changes == ()
    made = run_rules({"a.py": text}, rule("LIT101"), unsafe=True, pins=pins)
    [found] = made.findings
    assert f"names a strategy that still exists, or is None: {told}" in found.reason
    after = made.final()["a.py"].decode()
    assert after == text.replace("Trainer(gpus=2, accelerator=args.accelerator)", NAMED)
    assert run_rules({"a.py": after}, rule("LIT101"), unsafe=True, pins=pins).changes == ()


@pytest.mark.parametrize(
    ("text", "pins"),
    [
        (NONE, ("pytorch-lightning>=1.3.5",)),
        (NONE, ("pytorch-lightning==1.4.0",)),
        (NONE, ("pytorch-lightning",)),
        (NONE.replace("    trainer", '    ddp = args.backend == "ddp"\n    trainer'), ()),
        (NONE.replace("    trainer", '    if args.accelerator in ("ddp", "tpu"): pass\n    trainer'), ()),
        (NONE.replace("type=str", 'choices=["ddp", "tpu"]'), OLD),
        (NONE.replace("type=str", "choices=NAMES"), ()),
        (NONE.replace("    trainer", '    args.accelerator = "cpu"\n    trainer'), OLD),
    ],
)
def test_an_option_that_is_none_by_default_and_may_be_hardware_is_left(text: str, pins: tuple[str, ...]) -> None:
    made = run_rules({"a.py": text}, rule("LIT101"), unsafe=True, pins=pins)
    assert made.changes == ()
    assert "fixer cannot tell the value of `accelerator=`" in made.findings[0].reason


def test_what_is_none_beside_it_is_named() -> None:
    text = SCRIPT.format(', default="x"').replace(
        "gpus=2, accelerator=args.accelerator", "gpus=find(), accelerator=None"
    )
    [found] = run_rules({"a.py": text.replace("find()", "args.n")}, rule("LIT101")).findings
    assert "accelerator=None, which let it decide, is an error in 2.x" in found.reason


TRAINED = """\
from pytorch_lightning import Trainer

import options


def main():
    config = options.parse_args()
    trainer = Trainer(gpus=config.gpus, accelerator=config.accelerator)
"""
DECLARED = """\
import argparse


def get_parser():
    parser = argparse.ArgumentParser()
    parser.add_argument("--accelerator", type=str, default="ddp")
    parser.add_argument("--gpus", type=int, default=1)
    return parser


def parse_args():
    return get_parser().parse_args()
"""


def test_an_option_of_another_file_is_taken_to_name_what_all_of_its_name_do_by_default() -> None:
    files = {"train.py": TRAINED, "options.py": DECLARED, "eval/options.py": DECLARED}
    assert run_rules(files, rule("LIT101")).changes == ()
    after = rewritten(files, rule("LIT101"), unsafe=True)["train.py"]
    assert "strategy=config.accelerator" in after and "devices=config.gpus or 1" in after
    assert rewritten(files | {"train.py": after}, rule("LIT101"), unsafe=True)["train.py"] == after


@pytest.mark.parametrize(
    "other",
    [
        DECLARED.replace('"ddp"', '"tpu"'),
        DECLARED.replace(', default="ddp"', ", default=BACKEND"),
        DECLARED.replace('default="ddp"', 'required=True, default="ddp"'),
        "def change(config):\n    config.accelerator = 'tpu'\n",
    ],
)
def test_an_option_of_other_files_that_may_name_anything_is_left(other: str) -> None:
    files = {"train.py": TRAINED, "options.py": DECLARED, "other.py": other}
    assert rewritten(files, rule("LIT101"), unsafe=True) == files
    assert "fixer cannot tell the value of `accelerator=`" in refusals(files, "LIT101")[0]
    own = TRAINED + "\n\ndef add(parser):\n    parser.add_argument('--accelerator', default=BACKEND)\n"
    assert rewritten(files | {"train.py": own}, rule("LIT101"), unsafe=True)["train.py"] == own


def test_a_configuration_that_names_nothing_names_strategies_where_releases_knew_no_hardware() -> None:
    files = {"a.py": HYDRA, "conf/base.yaml": "accelerator: ''\n"}
    pins = ("pytorch-lightning==1.2.7",)
    assert run_rules(files, rule("LIT101"), pins=pins).changes == ()
    new = 'Trainer(devices=2, strategy=cfg.accelerator or "auto", accelerator="gpu")'
    made = run_rules(files, rule("LIT101"), unsafe=True, pins=pins).final()["a.py"].decode()
    assert made == HYDRA.replace("Trainer(gpus=2, accelerator=cfg.accelerator)", new)
    assert run_rules(files, rule("LIT101"), unsafe=True, pins=("pytorch-lightning==1.6.0",)).changes == ()
