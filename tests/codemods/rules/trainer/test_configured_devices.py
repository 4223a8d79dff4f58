"""Devices and numbers that a Trainer is given from the project's own configuration files."""

from __future__ import annotations

import pytest

from tests.codemods.support import rewritten, rule, run_rules

SCRIPT = """\
import pytorch_lightning as pl
from omegaconf import OmegaConf


def build(cfg):
    return pl.Trainer(gpus=cfg.train.gpus)


build(OmegaConf.load("conf.yaml"))
"""
NEW = 'pl.Trainer(accelerator="gpu" if cfg.train.gpus else "cpu", devices=cfg.train.gpus or 1)'
CONF = "train:\n  gpus: 2\n"


def left(script: str, conf: str = CONF, more: str = "") -> bool:
    """Whether nothing is rewritten safely."""
    made = run_rules({"a.py": script, "conf.yaml": conf, "b.py": more}, rule("LIT101"))
    return made.changes == () and len(made.findings) == 1


@pytest.mark.parametrize("value", ["2", "-1", "[0, 1]", "'0,1'", "null", "0"])
def test_what_reads_alike_in_every_release_is_safe(value: str) -> None:
    files = {"a.py": SCRIPT, "conf.yaml": CONF.replace("2", value)}
    assert NEW in rewritten(files, rule("LIT101"))["a.py"]


@pytest.mark.parametrize("value", ["'1'", "'0'", "${count}", "auto", "true", "[a]", "{first: 1}"])
def test_another_value_is_not_safe(value: str) -> None:
    assert left(SCRIPT, CONF.replace("2", value))


def test_every_file_that_has_the_key_counts() -> None:
    made = run_rules({"a.py": SCRIPT, "conf.yaml": CONF, "other.yaml": "gpus: '0'\n"}, rule("LIT101"))
    assert made.changes == ()


@pytest.mark.parametrize(
    "more",
    ["def f(cfg):\n    cfg.train.gpus = '0'\n", "def f(cfg):\n    cfg['gpus'] = '0'\n", "setattr(cfg, 'gpus', '0')\n"],
)
def test_what_code_sets_is_not_safe(more: str) -> None:
    assert left(SCRIPT, more=more)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('build(OmegaConf.load("conf.yaml"))', "build(find())"),
        ('build(OmegaConf.load("conf.yaml"))', 'build(OmegaConf.load("conf.yaml"))\nbuild(find())'),
        ('build(OmegaConf.load("conf.yaml"))', ""),
        ("    return pl", "    cfg = find()\n    return pl"),
        ("OmegaConf.load", "Conf.load"),
    ],
)
def test_what_is_not_seen_to_be_a_configuration_is_not_safe(old: str, new: str) -> None:
    assert left(SCRIPT.replace(old, new))


@pytest.mark.parametrize(
    "merged",
    [
        'build(OmegaConf.merge(OmegaConf.load("conf.yaml"), OmegaConf.from_cli()))',
        "told = OmegaConf.from_cli()\nmade = OmegaConf.merge(OmegaConf.load(told.path), told)\nbuild(made)",
    ],
)
def test_a_configuration_may_be_merged_with_the_command_line(merged: str) -> None:
    text = SCRIPT.replace('build(OmegaConf.load("conf.yaml"))', merged)
    assert NEW in rewritten({"a.py": text, "conf.yaml": CONF}, rule("LIT101"))["a.py"]


@pytest.mark.parametrize(
    "merged",
    [
        "build(OmegaConf.merge(OmegaConf.from_cli()))",
        "build(OmegaConf.from_cli())",
        'build(OmegaConf.merge(OmegaConf.load("conf.yaml"), OmegaConf.from_dotlist(found())))',
        'build(OmegaConf.merge(OmegaConf.load("conf.yaml"), OmegaConf.from_cli(["train.gpus=\'1\'"])))',
        "build(OmegaConf.merge(find(), OmegaConf.from_cli()))",
        'told = find() or OmegaConf.from_cli()\nbuild(OmegaConf.merge(OmegaConf.load("conf.yaml"), told))',
    ],
)
def test_a_command_line_alone_and_what_is_not_seen_are_no_configuration(merged: str) -> None:
    assert left(SCRIPT.replace('build(OmegaConf.load("conf.yaml"))', merged))


@pytest.mark.parametrize(
    ("head", "call"),
    [
        ("import hydra\n\n\n@hydra.main(config_path='.')\n", ""),
        ("from omegaconf import DictConfig\n\n\n", "cfg: DictConfig"),
    ],
)
def test_what_hydra_hands_over_is_a_configuration(head: str, call: str) -> None:
    text = SCRIPT.replace("def build", f"{head}def build").replace('build(OmegaConf.load("conf.yaml"))', "")
    text = text.replace("build(cfg)", f"build({call})") if call else text
    assert NEW in rewritten({"a.py": text, "conf.yaml": CONF}, rule("LIT101"))["a.py"]


def test_a_number_of_a_configuration_is_no_none() -> None:
    text = SCRIPT.replace("gpus=cfg.train.gpus", 'progress_bar_refresh_rate=cfg["train"]["rate"]')
    after = rewritten({"a.py": text, "conf.yaml": "train:\n  rate: 20\n"}, rule("LIT110"))["a.py"]
    assert 'TQDMProgressBar(refresh_rate=cfg["train"]["rate"])' in after
    after = rewritten({"a.py": text, "conf.yaml": "train:\n  rate: 20\n---\nrate: null\n"}, rule("LIT110"))["a.py"]
    assert "is None" in after


OPTIONS = """\
import argparse
import pytorch_lightning as pl

parser = argparse.ArgumentParser()
parser.add_argument("--gpus", OPTION)
args = parser.parse_args()
trainer = pl.Trainer(gpus=args.gpus)
"""


@pytest.mark.parametrize(
    "option",
    ["nargs='+', type=int", "nargs='*', type=int, default=[0]", "nargs=2, type=int", "nargs='+', type=int, default=0"],
)
def test_an_option_of_several_numbers_is_safe(option: str) -> None:
    after = rewritten({"a.py": OPTIONS.replace("OPTION", option)}, rule("LIT101"))["a.py"]
    assert 'accelerator="gpu" if args.gpus else "cpu", devices=args.gpus or 1' in after


@pytest.mark.parametrize("option", ["nargs='+'", "nargs='+', type=str", "nargs='*', type=int, default=find()"])
def test_an_option_of_several_texts_is_not_safe(option: str) -> None:
    assert run_rules({"a.py": OPTIONS.replace("OPTION", option)}, rule("LIT101")).changes == ()


@pytest.mark.parametrize(
    ("value", "accelerator", "devices"),
    [
        ('None if args.kind == "None" else args.gpus', '"cpu" if {} or not args.gpus else "gpu"', "1 if {} else {}"),
        ('args.gpus if args.kind == "None" else 0', '"gpu" if {} and args.gpus else "cpu"', "{1} if {0} else 1"),
    ],
)
def test_the_cpu_or_what_a_value_asks_for(value: str, accelerator: str, devices: str) -> None:
    text = OPTIONS.replace("OPTION", "type=int").replace("gpus=args.gpus", f"gpus={value}")
    test, number = 'args.kind == "None"', "args.gpus or 1"
    new = f"accelerator={accelerator.format(test, number)}, devices={devices.format(test, number)}"
    after = rewritten({"a.py": text}, rule("LIT101"))["a.py"]
    assert new in after
    for kind in ("None", "some"):
        for gpus in (None, 0, 2):
            asked = eval(value, {"args": type("Args", (), {"kind": kind, "gpus": gpus})})
            made = eval(f"dict({new})", {"args": type("Args", (), {"kind": kind, "gpus": gpus})})
            assert made == {"accelerator": "gpu" if asked else "cpu", "devices": asked or 1}


def test_a_choice_whose_test_would_need_brackets_stays() -> None:
    text = OPTIONS.replace("OPTION", "type=int").replace("gpus=args.gpus", "gpus=None if a or b else args.gpus")
    assert run_rules({"a.py": text}, rule("LIT101")).changes == ()


@pytest.mark.parametrize(
    ("values", "safe"),
    [
        (("None", "2"), True),
        (("None", "2", "[0, 1]"), True),
        (("[int(v) for v in a.split(',')]", "[0]"), True),
        (("torch.cuda.device_count()", "0"), True),
        (("None", "'1'"), False),
        (("2", "find()"), False),
        (("[]", "['a']"), False),
    ],
)
def test_one_of_several_values(values: tuple[str, ...], safe: bool) -> None:
    lines = "".join(f"    if a == {index}:\n        n = {value}\n" for index, value in enumerate(values))
    text = f"import torch\nimport pytorch_lightning as pl\n\n\ndef build(a):\n{lines}    return pl.Trainer(gpus=n)\n"
    assert bool(run_rules({"a.py": text}, rule("LIT101")).changes) is safe


READING = """\
import yaml
import oyaml
from addict import Dict
from easydict import EasyDict as edict


def read(path):
    with open(path) as file:
        found = yaml.safe_load(file)
        return Dict(found)


def read_more(path, args):
    found = yaml.safe_load(open(path))
    found.update(vars(args))
    return found


def read_nothing(path):
    return Dict(find(path)) if path else None
"""


@pytest.mark.parametrize(
    ("value", "safe"),
    [
        ('read("conf.yaml")', True),
        ('edict(yaml.safe_load(open("conf.yaml")))', True),
        ('edict(oyaml.load(open("conf.yaml")))', True),
        ('edict(oyaml.dump(open("conf.yaml")))', False),
        ('edict({**read("conf.yaml"), **read("more.yaml")})', True),
        ('edict({**read("conf.yaml"), "train": args})', False),
        ("edict()", False),
        ("read_nothing(1)", False),
        ('read_more("conf.yaml", args)', False),
    ],
)
def test_what_a_function_or_a_mapping_with_attributes_gives_of_a_file(value: str, safe: bool) -> None:
    script = SCRIPT.replace("from omegaconf import OmegaConf\n", "from reading import *\n")
    script = script.replace('OmegaConf.load("conf.yaml")', value)
    files = {"a.py": script, "reading.py": READING, "conf.yaml": CONF}
    made = run_rules(files, rule("LIT101"))
    assert (NEW in made.final().get("a.py", b"").decode()) == safe
    assert [each.fix for each in made.findings] == ["safe" if safe else "unsafe"]
