"""LIT303: arguments of Trainer on command lines."""

from __future__ import annotations

import pytest

from codemods.engine.plan import plan
from codemods.engine.scan import Options
from tests.codemods.support import refusals, rewritten, rule, run_rules, sources

CLI = {"main.py": "from pytorch_lightning.cli import LightningCLI\n\nLightningCLI()\n"}
HYDRA = {
    "main.py": "import hydra\n\ntrainer = hydra.utils.instantiate(cfg.trainer)\n",
    "conf/trainer/a.yaml": "_target_: pytorch_lightning.Trainer\ngpus: 0\n",
}
SHARED = {**HYDRA, "conf/trainer/a.yaml": "_target_: pytorch_lightning.Trainer\naccelerator: gpu\ndevices: 1\n"}
MANY = {**HYDRA, "conf/trainer/a.yaml": "_target_: pytorch_lightning.Trainer\naccelerator: gpu\ndevices: -1\n"}
OLD = {**HYDRA, "conf/trainer/a.yaml": "_target_: pytorch_lightning.Trainer\ngpus: -1\n"}
ARGPARSE = {
    "train.py": "import pytorch_lightning as pl\nfrom argparse import ArgumentParser\n\n"
    "args = pl.Trainer.add_argparse_args(ArgumentParser()).parse_args()\n"
    "trainer = pl.Trainer.from_argparse_args(args)\n"
}


@pytest.mark.parametrize(
    ("project", "before", "after"),
    [
        (CLI, "main.py fit --trainer.gpus 2", "main.py fit --trainer.accelerator gpu --trainer.devices 2"),
        (CLI, "main.py fit --trainer.gpus=0", "main.py fit --trainer.accelerator=cpu"),
        (MANY, "main.py trainer.gpus=0", "main.py trainer.accelerator=cpu trainer.devices=1"),
        (OLD, "main.py trainer.gpus=0", "main.py ++trainer.accelerator=cpu ++trainer.devices=1"),
        (OLD, "main.py trainer.gpus=null", "main.py ++trainer.accelerator=cpu ++trainer.devices=1"),
        (OLD, "main.py trainer.gpus=2", "main.py ++trainer.accelerator=gpu ++trainer.devices=2"),
        (SHARED, "main.py trainer.gpus=0", "main.py trainer.accelerator=cpu"),
        (HYDRA, "main.py trainer.gpus=0", "main.py ++trainer.accelerator=cpu"),
        (CLI, "main.py --trainer.weights_summary=null", "main.py --trainer.enable_model_summary=False"),
        (SHARED, "main.py trainer.gpus=2 lr=1", "main.py trainer.accelerator=gpu trainer.devices=2 lr=1"),
        (HYDRA, "main.py trainer.gpus=2", "main.py ++trainer.accelerator=gpu ++trainer.devices=2"),
        (SHARED, "main.py +trainer.tpu_cores=8", "main.py ++trainer.accelerator=tpu ++trainer.devices=8"),
    ],
)
def test_rewritten(project: dict[str, str], before: str, after: str) -> None:
    text = "#!/bin/sh\n# {}\npython {} \\\n    --seed 1\n"
    files = {**project, "run.sh": text.format("train", before)}
    assert rewritten(files, rule("LIT303"))["run.sh"] == text.format("train", after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("alias d='python main.py trainer.gpus=0'", "alias d='python main.py ++trainer.accelerator=cpu'"),
        (
            'bash -c "python main.py trainer.gpus=2"',
            'bash -c "python main.py ++trainer.accelerator=gpu ++trainer.devices=2"',
        ),
        (
            "python main.py 'trainer.gpus=[0,1]' a=1",
            "python main.py '++trainer.accelerator=gpu' '++trainer.devices=[0,1]' a=1",
        ),
        ('python main.py "trainer.gpus=0"', 'python main.py "++trainer.accelerator=cpu"'),
        ('python main.py trainer.gpus="0"', "python main.py ++trainer.accelerator=cpu"),
        ("python main.py trainer.gpus='0,1'", "python main.py trainer.gpus='0,1'"),
        ("python main.py -m trainer.gpus=1,2", "python main.py -m trainer.gpus=1,2"),
    ],
)
def test_quotes_and_words_are_kept(before: str, after: str) -> None:
    files = {**HYDRA, "run.sh": f"{before}\n"}
    assert rewritten(files, rule("LIT303"))["run.sh"] == f"{after}\n"


def test_a_list_of_words_stays_one() -> None:
    files = {**HYDRA, "Dockerfile": 'FROM own\nCMD ["python", "main.py", "trainer.gpus=2"]\n'}
    listed = '"++trainer.accelerator=gpu", "++trainer.devices=2"]'
    assert rewritten(files, rule("LIT303"))["Dockerfile"] == f'FROM own\nCMD ["python", "main.py", {listed}\n'


def test_a_list_for_lightning_cli_is_one_word() -> None:
    files = {**CLI, "run.sh": "python main.py fit --trainer.gpus 0,1 --seed 1\n"}
    text = "python main.py fit --trainer.accelerator gpu --trainer.devices [0,1] --seed 1\n"
    assert rewritten(files, rule("LIT303"))["run.sh"] == text


def test_docs_are_rewritten_as_well() -> None:
    files = {**CLI, "README.md": "Run `python main.py fit --trainer.gpus 2` on two.\n"}
    after = rewritten(files, rule("LIT303"))["README.md"]
    assert after == "Run `python main.py fit --trainer.accelerator gpu --trainer.devices 2` on two.\n"


@pytest.mark.parametrize(
    ("project", "line"),
    [
        (ARGPARSE, "docker run --gpus all image"),
        (ARGPARSE, "srun --gpus 2 hostname"),
        (ARGPARSE, "python other.py --gpus 2"),
        (ARGPARSE, "python train.py --gpus_per_node 2"),
        ({}, "python main.py fit --trainer.gpus 2"),
        (CLI, "python main.py --model.gpus 2"),
        (CLI, "python main.py trainer.gpus=2"),
        (HYDRA, "# python main.py trainer.gpus=2"),
        (HYDRA, "python main.py data.trainer.gpus=2"),
    ],
)
def test_left_alone(project: dict[str, str], line: str) -> None:
    assert run_rules({**project, "run.sh": f"{line}\n"}, rule("LIT303")).findings == ()


def test_an_option_that_the_code_goes_by_is_left() -> None:
    main = HYDRA["main.py"] + "print(cfg.trainer.gpus)\n"
    told = {"main.py": main, "conf/trainer/a.yaml": "_target_: pytorch_lightning.Trainer\ngpus: '2'\n"}
    [reason] = refusals({**told, "run.sh": "python main.py trainer.gpus=2\n"}, "LIT303")
    assert "main.py:4 reads or sets it" in reason
    moved = {**told, "conf/trainer/a.yaml": "_target_: pytorch_lightning.Trainer\ngpus: 2\n"}
    after = rewritten({**moved, "run.sh": "python main.py trainer.gpus=2\n"}, rule("LIT301"), rule("LIT303"))
    assert "cfg.trainer.devices" in after["main.py"] and "trainer.devices=2" in after["run.sh"]


def test_options_of_a_script_are_a_finding() -> None:
    (reason,) = refusals({**ARGPARSE, "run.sh": "python train.py \\\n  --max_epochs 3 --gpus 2\n"}, "LIT303")
    assert "train.py took it from Trainer's own arguments" in reason
    assert reason.endswith("write `--accelerator gpu --devices 2`.")


@pytest.mark.parametrize("value", ["${N}", "$N", '"$GPUS"'])
def test_a_variable_is_left(value: str) -> None:
    assert len(refusals({**CLI, "run.sh": f"python main.py fit --trainer.gpus {value}\n"}, "LIT303")) == 1


@pytest.mark.parametrize(
    ("other", "why"),
    [
        ("+trainer.accelerator='ddp'", "given too"),
        ("trainer.devices=2", "given too"),
        ("trainer.accelerator=cpu", "contradicts"),
    ],
)
def test_what_is_given_twice_is_left(other: str, why: str) -> None:
    (reason,) = refusals({**SHARED, "run.sh": f"python main.py trainer.gpus=4 {other}\n"}, "LIT303")
    assert why in reason


SCRIPT = (
    "from argparse import ArgumentParser\n\nimport pytorch_lightning as pl\n\nparser = ArgumentParser()\n"
    "parser = pl.Trainer.add_argparse_args(parser)\nargs = parser.parse_args()\n"
    "trainer = pl.Trainer.from_argparse_args(args)\n"
)


@pytest.mark.parametrize(
    ("script", "found"),
    [
        (SCRIPT, ["--amp_level"]),
        (SCRIPT.replace("(args)", "(args, devices=1)"), ["--gpus", "--amp_level"]),
        (SCRIPT.replace("args =", "parser.add_argument('--amp_level')\nargs ="), ["--gpus"]),
    ],
)
def test_options_that_the_script_keeps_or_declares_are_not_named(script: str, found: list[str]) -> None:
    files = {"train.py": script, "run.sh": "python train.py --gpus 2 --amp_level O2\n"}
    made = run_rules(files, rule("LIT303"))
    assert [item.message.partition("`: ")[0].lstrip("`") for item in made.findings] == found


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("--gpus 2 --accelerator dp", "DataParallel was removed"),
        ("--accelerator ddp --strategy fsdp", "write `--strategy ddp`"),
        ("--accelerator ddp_cpu", "write `--accelerator cpu --strategy ddp`"),
        ("--accelerator gpu", ""),
        ("--accelerator ddp_like", ""),
    ],
)
def test_an_accelerator_that_names_a_strategy_is_reported_on_the_command(given: str, said: str) -> None:
    script = SCRIPT.replace("args =", "parser.set_defaults(accelerator='ddp', gpus=2)\nargs =")
    made = run_rules({"train.py": script, "README.md": f"Run `python train.py {given}`.\n"}, rule("LIT303"))
    assert [item.path for item in made.findings if item.fix == "manual" and said in item.reason] == [
        "README.md"
    ] * bool(said)
    assert not made.changes


@pytest.mark.parametrize(
    ("given", "after"),
    [
        ("--gpus 2 --accelerator ddp --max_epochs 3", "--gpus 2 --strategy ddp --max_epochs 3"),
        ('--accelerator="ddp_spawn"', '--strategy="ddp_spawn"'),
        ("\\\n    --accelerator ddp", "\\\n    --strategy ddp"),
    ],
)
def test_a_strategy_on_the_command_is_named_by_its_own_option(given: str, after: str) -> None:
    files = {"train.py": SCRIPT, "run.sh": f"python train.py {given}\n"}
    assert rewritten(files, rule("LIT303"), unsafe=True)["run.sh"] == f"python train.py {after}\n"
    assert run_rules(files, rule("LIT303")).changes == ()


def test_an_accelerator_that_the_script_declares_is_its_own() -> None:
    script = SCRIPT.replace("args =", "parser.add_argument('--accelerator')\nargs =")
    files = {"train.py": script, "run.sh": "python train.py --accelerator dp\n"}
    assert run_rules(files, rule("LIT303")).findings == ()


def test_an_older_target_counts_cores_as_it_did() -> None:
    text = "_target_: pytorch_lightning.Trainer\ntpu_cores: [1]\nmax_epochs: 1\n"
    for target, core in (("2.6.6", 0), ("2.0.9", 1)):
        made = plan(sources({"trainer.yaml": text}), Options((rule("LIT301"),), target=target))
        assert f"devices: [{core}]\n" in made.final()["trainer.yaml"].decode()


def test_a_key_that_the_configuration_interpolates_is_left() -> None:
    line = "python main.py trainer.reload_dataloaders_every_epoch=True\n"
    data = "reload: ${trainer.reload_dataloaders_every_epoch}\n"
    assert "reload_dataloaders_every_n_epochs=1" in rewritten({**SHARED, "run.sh": line}, rule("LIT303"))["run.sh"]
    made = run_rules({**SHARED, "run.sh": line, "conf/data/b.yaml": data}, rule("LIT303"))
    assert [(item.fix, "conf/data/b.yaml reads" in item.reason) for item in made.findings] == [("manual", True)]
    assert not made.changes
