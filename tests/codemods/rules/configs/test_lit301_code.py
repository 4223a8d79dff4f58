"""LIT301: code that asks for and sets a Trainer's arguments in a configuration."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tests.codemods.support import rewritten, rule, run_rules

TARGET = "_target_: pytorch_lightning.Trainer\n"
SWITCH = """\
import hydra


def extras(cfg):
    if cfg.trainer.get("gpus"):
        cfg.trainer.gpus = 0
    return hydra.utils.instantiate(cfg.trainer)
"""
GROUP = {
    "conf/trainer/default.yaml": f"{TARGET}gpus: 0\nmax_epochs: 3\n",
    "conf/trainer/big.yaml": "defaults:\n  - default\n\ngpus: 4\nmax_epochs: 5\n",
}


@pytest.mark.parametrize(
    ("old", "new", "body"),
    [
        ("", "", '        cfg.trainer.accelerator = "cpu"\n        cfg.trainer.devices = 1\n'),
        ("trainer.gpus = 0", 'trainer["gpus"] = None', 'trainer["accelerator"] = "cpu"\n'),
        ('trainer.get("gpus")', 'trainer["gpus"]', 'if cfg.trainer["devices"]:'),
        ('trainer.get("gpus")', "trainer.gpus", "if cfg.trainer.devices:"),
    ],
)
def test_code_that_switches_the_gpus_off_says_so_by_the_new_keys(old: str, new: str, body: str) -> None:
    assert old in SWITCH
    after = rewritten({"m.py": SWITCH.replace(old, new) if old else SWITCH, **GROUP}, rule("LIT301"))
    assert body in after["m.py"] and "gpus" not in "".join(after.values())
    assert after["conf/trainer/default.yaml"] == f"{TARGET}accelerator: cpu\ndevices: 1\nmax_epochs: 3\n"
    assert "accelerator: gpu\ndevices: 4\n" in after["conf/trainer/big.yaml"]


def test_code_that_switched_the_gpus_off_does_so_after() -> None:
    after = rewritten({"m.py": SWITCH, **GROUP}, rule("LIT301"))["m.py"].replace("import hydra\n", "")
    space: dict[str, Any] = {"hydra": SimpleNamespace(utils=SimpleNamespace(instantiate=lambda given: given))}
    exec(after, space)

    class Config(dict):  # type: ignore[type-arg]
        __getattr__ = dict.get
        __setattr__ = dict.__setitem__

    for given in ({"accelerator": "gpu", "devices": 4}, {"accelerator": "cpu", "devices": 1}):
        assert space["extras"](SimpleNamespace(trainer=Config(given))) == {"accelerator": "cpu", "devices": 1}
    assert space["extras"](SimpleNamespace(trainer=Config())) == {}


@pytest.mark.parametrize("store", ["cfg.trainer.gpus = 0", 'cfg.trainer["gpus"] = None', "kept.gpus = 0"])
def test_code_that_asks_for_no_gpus_among_others_says_so_by_the_new_keys(store: str) -> None:
    head = "    kept = cfg.trainer\n" if store.startswith("kept") else ""
    body = f"{head}    if cfg.debug:\n        {store}  # no GPUs\n        cfg.workers = 0\n"
    text = SWITCH.replace('    if cfg.trainer.get("gpus"):\n        cfg.trainer.gpus = 0\n', body)
    after = rewritten({"m.py": text, **GROUP}, rule("LIT301"))
    first, second = (
        store.replace("gpus", name).partition("=")[0] + f"= {value}"
        for name, value in (("accelerator", '"cpu"'), ("devices", "1"))
    )
    assert f"        {first}\n        {second}  # no GPUs\n        cfg.workers = 0\n" in after["m.py"]
    assert "gpus" not in after["conf/trainer/default.yaml"] + after["conf/trainer/big.yaml"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("        cfg.trainer.gpus = 0\n", "        cfg.trainer.gpus = 1\n"),
        ("        cfg.trainer.gpus = 0\n", "        cfg.trainer.gpus = 0\n        cfg.loader.pin = False\n"),
        ("        cfg.trainer.gpus = 0\n", "        cfg.other.trainer.gpus = 0\n"),
        ("        cfg.trainer.gpus = 0\n", "        cfg.trainer.gpus = 0\n    else:\n        cfg.seed = 1\n"),
        ("    return", "    print(cfg.trainer.gpus)\n    return"),
        ('("gpus"):\n       ', '("gpus"):'),
    ],
)
def test_code_that_does_more_with_the_gpus_keeps_them(old: str, new: str) -> None:
    assert old in SWITCH
    made = run_rules({"m.py": SWITCH.replace(old, new), **GROUP}, rule("LIT301"))
    assert not {"m.py", "conf/trainer/big.yaml"} & made.final().keys()
    assert any("reads or sets it" in finding.reason for finding in made.findings)


@pytest.mark.parametrize(
    "held", ["cfg.trainer", "cfg['trainer']", "dict(cfg.trainer)", "OmegaConf.to_container(cfg.trainer)"]
)
def test_code_that_reads_the_gpus_by_a_name_for_the_section(held: str) -> None:
    code = SWITCH.replace('if cfg.trainer.get("gpus"):', f"options = {held}\n    if options['gpus'] > 1:")
    code = code.replace("cfg.trainer.gpus = 0", "print(options['gpus'])")
    files = {"m.py": code, **GROUP, "conf/trainer/default.yaml": f"{TARGET}gpus: 1\n"}
    after = run_rules(files, rule("LIT301")).final()
    assert after["m.py"].decode() == code.replace("'gpus'", "'devices'")
    added = "options.update(more)\n        print(options.gpus, options.get('gpus', 3))"
    made = run_rules({**files, "m.py": code.replace("print(options['gpus'])", added)}, rule("LIT301"))
    assert "conf/trainer/default.yaml" not in made.final() and any(
        "reads or sets it" in each.reason for each in made.findings
    )


NEW = "defaults:\n  - default\n\naccelerator: gpu\ndevices: 4\nmax_epochs: 5\n"


@pytest.mark.parametrize(
    ("read", "path", "text"),
    [
        ('if cfg.trainer.get("gpus"):', "conf/experiment/a.yaml", "batch: ${trainer.gpus}\n"),
        ("if cfg.trainer.gpus > 1:", "conf/trainer/new.yaml", NEW),
    ],
    ids=["interpolated", "read-by-the-new-name-elsewhere"],
)
def test_code_keeps_the_gpus_where_a_configuration_keeps_them_or_has_the_devices(
    read: str, path: str, text: str
) -> None:
    code = SWITCH.replace('if cfg.trainer.get("gpus"):', read).replace("cfg.trainer.gpus = 0", "print(cfg)")
    files = {"m.py": SWITCH if "get" in read else code, **GROUP, "conf/trainer/default.yaml": f"{TARGET}gpus: 1\n"}
    assert "m.py" in run_rules(files, rule("LIT301")).final()
    made = run_rules({**files, path: text}, rule("LIT301"))
    assert made.changes == ()
    assert {"m.py", "conf/trainer/big.yaml"} <= {finding.path for finding in made.findings if finding.fix == "manual"}


def test_a_key_that_is_asked_for_through_a_name_goes_where_it_is_empty() -> None:
    code = (
        "import hydra\n\npath = cfg.trainer.get('resume_from_checkpoint')\nif path and not path.startswith('/'):\n"
        "    cfg.trainer.resume_from_checkpoint = '/root/' + path\ntrainer = hydra.utils.instantiate(cfg.trainer)\n"
    )
    text = f"{TARGET}resume_from_checkpoint: null\nmax_epochs: 3\n"
    made = run_rules({"m.py": code, "conf/trainer/a.yaml": text}, rule("LIT301"))
    assert made.final() == {"conf/trainer/a.yaml": f"{TARGET}max_epochs: 3\n".encode()}
    assert [finding.path for finding in made.findings if finding.fix == "manual"] == ["m.py"]
    again = code.replace("if path", "path = path or other\nif path")
    assert run_rules({"m.py": again, "conf/trainer/a.yaml": text}, rule("LIT301")).changes == ()


def test_code_elsewhere_that_reads_the_strategy_keeps_it_where_it_is() -> None:
    files = {
        "m.py": "from pytorch_lightning import Trainer\n\nTrainer(**config.training.options)\n",
        "parts.py": 'def sharded(config):\n    return config.training.options.get("accelerator") == "ddp"\n',
        "conf/training/a.yaml": "options:\n  gpus: -1\n  accelerator: ddp\n  max_epochs: 4\n",
    }
    made = run_rules(files, rule("LIT301"))
    assert made.changes == ()
    assert any("parts.py:2 reads or sets `accelerator`" in finding.reason for finding in made.findings)
    free = {**files, "parts.py": files["parts.py"].replace("accelerator", "backend")}
    assert "devices: -1" in rewritten(free, rule("LIT301"))["conf/training/a.yaml"]


def test_a_group_that_code_of_its_own_builds() -> None:
    code = "import hydra\n\n\nclass Maker:\n    def make(self, cfg):\n        return self.instantiate(cfg['trainer'])\n"
    after = rewritten({"m.py": code, "n.py": "gpus = cfg['gpus']\n", **GROUP}, rule("LIT301"))
    assert after["conf/trainer/default.yaml"] == f"{TARGET}accelerator: cpu\ndevices: 1\nmax_epochs: 3\n"
    assert "accelerator: gpu\ndevices: 4\n" in after["conf/trainer/big.yaml"]


def test_what_the_call_gives_beside_the_section_is_not_written_into_it() -> None:
    code = "from pytorch_lightning import Trainer\n\nTrainer(accelerator='gpu', **config.trainer)\n"
    text = "trainer:\n  gpus: 2\n  max_epochs: 4\n  replace_sampler_ddp: false\n"
    made = run_rules({"m.py": code, "a.yaml": text}, rule("LIT301"))
    assert made.final()["a.yaml"].decode() == text.replace("replace_sampler_ddp", "use_distributed_sampler")
    assert any("beside it in code" in finding.reason for finding in made.findings)


def test_an_override_in_a_string_is_named() -> None:
    code = "def test_fast():\n    run(['train.py', 'trainer.max_epochs=1', '++trainer.gpus=1', 'other.gpus=1'])\n"
    made = run_rules({"m.py": SWITCH, "tests/test_run.py": code, **GROUP}, rule("LIT301"))
    [finding] = [finding for finding in made.findings if finding.path == "tests/test_run.py"]
    assert finding.fix == "manual" and "`trainer.gpus`" in finding.message and finding.span.line == 2


SUBMIT = """\
import os

\"\"\"Say trainer.gpus=1 here, or not.\"\"\"
rate = 0  # trainer.gpus=1 too
args = f"experiment=one " \\
       f"trainer.progress_bar_refresh_rate={rate} " \\
       f"trainer.gpus=0 "
os.system(f"sbatch run.sh \\"{args}\\"")
os.system("python run.py trainer.gpus=2 other.gpus=1 trainer.max_epochs=3")
os.system("python run.py trainer.gpus=[0,1]")
"""


def test_overrides_among_the_words_of_a_string_are_named() -> None:
    made = run_rules({"m.py": SWITCH, "submit.py": SUBMIT, **GROUP}, rule("LIT301"))
    found = [finding for finding in made.findings if finding.path == "submit.py"]
    assert [(finding.span.line, finding.span.column) for finding in found] == [(6, 10), (7, 10), (9, 26), (10, 26)]
    assert [finding.message.split("`")[1] for finding in found] == [
        "trainer.progress_bar_refresh_rate",
        *["trainer.gpus"] * 3,
    ]
    assert "`trainer.accelerator=gpu trainer.devices=[0,1]`" in found[3].reason
    assert "`trainer.accelerator=gpu trainer.devices=2`" in found[2].reason
    assert "`trainer.devices=` for it, with `trainer.accelerator=gpu`" in found[1].reason


def test_a_section_that_names_trainer_by_another_key_is_one() -> None:
    code = "import pytorch_lightning\nfrom helpers import object_from_dict\n\nobject_from_dict(hparams['trainer'])\n"
    text = "trainer:\n  type: pytorch_lightning.Trainer\n  gpus: 4\n  max_epochs: 3\n"
    made = run_rules({"m.py": code, "a.yaml": text}, rule("LIT301"))
    assert made.final()["a.yaml"].decode() == text.replace("gpus: 4", "accelerator: gpu\n  devices: 4")
    mixed = text + "  lr: 0.1\n  width: 3\n"
    made = run_rules({"m.py": code, "a.yaml": mixed}, rule("LIT301"))
    assert not made.changes and {finding.fix for finding in made.findings} == {"manual"}


def test_where_others_have_the_devices_both_change_where_the_doubt_is_accepted() -> None:
    files = {"m.py": SWITCH, **GROUP, "conf/trainer/default.yaml": f"{TARGET}gpus: 1\n", "conf/trainer/new.yaml": NEW}
    made = run_rules(files, rule("LIT301"))
    assert made.changes == ()
    doubted = {finding.path for finding in made.findings if "give `devices` already" in finding.reason}
    assert {"m.py", "conf/trainer/big.yaml"} <= doubted
    assert {finding.fix for finding in made.findings} == {"unsafe"}
    after = rewritten(files, rule("LIT301"), unsafe=True)
    assert 'if cfg.trainer.get("devices"):' in after["m.py"]
    assert 'cfg.trainer.accelerator = "cpu"' in after["m.py"]
    assert not any("gpus" in text for text in after.values())
    assert rewritten(after, rule("LIT301"), unsafe=True) == after


def test_one_that_asks_for_none_goes_without_asking() -> None:
    files = {"m.py": SWITCH, **GROUP, "conf/trainer/idle.yaml": f"{TARGET}gpus: null\nmax_epochs: 2\n"}
    files["conf/trainer/new.yaml"] = NEW
    made = run_rules(files, rule("LIT301"))
    assert "gpus" not in made.final()["conf/trainer/idle.yaml"].decode()
    assert "m.py" not in made.final()


def test_a_command_line_goes_along_with_the_code_alone() -> None:
    files = {"m.py": SWITCH, **GROUP, "conf/trainer/default.yaml": f"{TARGET}gpus: 1\n", "conf/trainer/new.yaml": NEW}
    files["README.md"] = "```\npython m.py trainer.gpus=2\n```\n"
    assert "README.md" not in run_rules(files, rule("LIT301"), rule("LIT303")).final()
    after = rewritten(files, rule("LIT301"), rule("LIT303"), unsafe=True)
    assert after["README.md"] == "```\npython m.py ++trainer.accelerator=gpu ++trainer.devices=2\n```\n"
