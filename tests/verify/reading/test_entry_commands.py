"""The commands by which a project says how its scripts are run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.verify.reading.test_entry import CLI, FIRE, FIT
from tests.verify.trees import tree
from verify.reading.commands import Command, parsed
from verify.reading.entry import Entry, entries
from verify.reading.sources import Sources


def test_arguments_come_from_the_first_command_whose_files_are_there(tmp_path: Path) -> None:
    tree(tmp_path / "p", train=FIT, cli=CLI)
    (tmp_path / "p" / "small.yaml").write_text("a: 1\n")
    (tmp_path / "p" / "README.md").write_text(
        "`python train.py --data /data/imagenet`\n\n```sh\npython train.py --config large.yaml\n"
        "CUDA_VISIBLE_DEVICES=0 python3 train.py --gpus <N>\n"
        "python train.py \\\n    --config small.yaml --out runs/x.pt && echo done\n```\n"
    )
    found = [entry.told for entry in entries(Sources(tmp_path / "p"), ["train.py"])]
    assert found == ["python train.py --config small.yaml --out runs/x.pt", "python train.py", "python cli.py fit"]


OPTIONS = """import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--data_dir", type=str)
parser.add_argument("--net", choices=list(NETS))
parser.add_argument("-r", "--rate", type=float)
parser.add_argument("--size", type=int, default=3)
parser.add_argument("--resume", default="")
args = parser.parse_args()
"""


@pytest.mark.parametrize(
    ("said", "args"),
    [
        ('--data_dir="{DATA}" --net=Wide -r -0.1', "--data_dir data --net Wide -r -0.1"),
        ("--net Wide --size <N> --resume /path/to/it --gpus 2", "--net Wide"),
        ("--net Wide --data_dir data/of_mine --size 4", "--net Wide --data_dir data --size 4"),
        ("--data_dir $DATA --size 4", None),
        ("--size <N>", None),
        ("<what> --net Wide", None),
        ("--net Wide --data_dir $DATA --mode eval", "--net Wide --data_dir data"),
    ],
)
def test_what_only_the_writer_of_a_command_knows_is_filled_in_where_the_rest_is_needed(
    said: str, args: str | None, tmp_path: Path
) -> None:
    """A command tells what no default of the code does; a value that fits stands in place of one that is not known."""
    tree(tmp_path / "p", a=OPTIONS + FIT)
    (tmp_path / "p" / "data").mkdir()
    (tmp_path / "p" / "README.md").write_text(f"python a.py {said}\n")
    found = [" ".join(entry.args) for entry in entries(Sources(tmp_path / "p"), [])]
    assert found == ([args, ""] if args else [""])


def test_a_command_that_is_known_as_a_whole_takes_the_place_of_others(tmp_path: Path) -> None:
    tree(tmp_path / "p", a=OPTIONS + FIT)
    (tmp_path / "p" / "README.md").write_text("python a.py --net Wide --data_dir $DATA\npython a.py --rate 1\n")
    assert [entry.args for entry in entries(Sources(tmp_path / "p"), [])] == [("--rate", "1"), ()]


@pytest.mark.parametrize(
    ("args", "trains"),
    [
        ("--max_epochs 0 --find_lr True", False),
        ("--epochs=0", False),
        ("trainer.max_steps=0", False),
        ("--num_workers 0 --warmup_epochs 0 --start_epoch 0 --num_sanity_val_steps 0 --log_every_n_steps=0", True),
    ],
)
def test_a_command_that_trains_no_epoch_is_not_the_first(args: str, trains: bool, tmp_path: Path) -> None:
    tree(tmp_path / "p", a=OPTIONS + FIT)
    (tmp_path / "p" / "README.md").write_text(f"python a.py {args}\npython a.py --rate 1\n")
    (first, *_) = entries(Sources(tmp_path / "p"), [])
    assert first.args == (tuple(args.split()) if trains else ("--rate", "1"))


def test_a_command_on_data_that_is_made_up_comes_first(tmp_path: Path) -> None:
    tree(tmp_path / "p", a=FIT)
    (tmp_path / "p" / "README.md").write_text(
        "python a.py task=lra\npython a.py task=lra2\npython a.py --data synthetic/x\n"
        "python a.py task=synthetics/recall\npython a.py task=toy\n"
    )
    found = [entry.args for entry in entries(Sources(tmp_path / "p"), [])]
    assert found == [("task=synthetics/recall",), ("task=lra",), ()]


@pytest.mark.parametrize(
    ("args", "is_last"),
    [
        ("--download_weights 1", True),
        ("--gpus 1 --test", True),
        ("test --batch 4", True),
        ("--mode eval", True),
        ("stage=predict seed=1", True),
        ("--test 0", False),
        ("--test data/test.csv", False),
        ("--test_batch_size 4", False),
        ("--name test", False),
        ("--do_train --do_eval", False),
        ("--download", False),
        ("train --test", False),
    ],
)
def test_a_command_for_something_else_than_a_training_comes_last(args: str, is_last: bool, tmp_path: Path) -> None:
    tree(tmp_path / "p", a=FIT)
    (tmp_path / "p" / "data").mkdir()
    (tmp_path / "p" / "data" / "test.csv").write_text("a\n1\n")
    (tmp_path / "p" / "README.md").write_text(f"python a.py {args}\n")
    found = [" ".join(entry.args) for entry in entries(Sources(tmp_path / "p"), [])]
    assert found == (["", args] if is_last else [args, ""])
    (tmp_path / "p" / "README.md").write_text(f"python a.py {args}\npython a.py --epochs 3\n")
    found = [" ".join(entry.args) for entry in entries(Sources(tmp_path / "p"), [])]
    assert found == ["--epochs 3" if is_last else args, ""]


def test_arguments_of_one_script_take_no_other_scripts_place(tmp_path: Path) -> None:
    tree(tmp_path / "p", a=FIT, b=FIT, c=FIT, d=FIT)
    (tmp_path / "p" / "README.md").write_text("python a.py --epochs 3\npython a.py --data synthetic\n")
    found = [entry.told for entry in entries(Sources(tmp_path / "p"), ["a.py", "b.py"])]
    several = ["python a.py --data synthetic", "python a.py --epochs 3", "python a.py"]
    assert found == [*several, "python b.py", "python c.py"]


def test_of_several_commands_the_one_that_says_train_comes_first(tmp_path: Path) -> None:
    sources = Sources(tree(tmp_path / "p", a=FIT))
    for said in ("save_idc", "prepare --all", "weight_average"):
        (tmp_path / "p" / "README.md").write_text(f"python a.py {said}\nCUDA_VISIBLE_DEVICES=0 python a.py train\n")
        assert entries(sources, ["a.py"])[0].args == ("train",)


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("train.py -x 1 | tee log", Command("train.py", None, ("-x", "1"))),
        ("-m pkg.train --fast  # quick", Command(None, "pkg.train", ("--fast",))),
        ("-u ./train.py 'a b'", Command("train.py", None, ("a b",))),
        ("train.py --data $DATA", Command("train.py", None, ("--data", "$DATA"), is_open=True)),
        ("train.py --data path/to/data", Command("train.py", None, ("--data", "path/to/data"), is_open=True)),
        ("$HOME/train.py --fast", None),
        ("-c 'print(1)'", None),
        ("--nproc_per_node=2 --nnodes 1 --standalone train.py -x 1", Command("train.py", None, ("-x", "1"))),
        ("--config_file x.yaml train.py", None),
        ("setup.py 'unclosed", None),
    ],
)
def test_command_lines_are_read_as_a_shell_does(line: str, command: Command | None) -> None:
    assert parsed(line) == command


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("README.rst", "   $ python train.py --x 1\n"),
        ("docs/use.md", "!python train.py --x 1\n"),
        ("Makefile", "train: data\n\t@python train.py --x 1\n"),
        ("Makefile", "train:\n\t$(PYTHON) train.py --x 1 > log\n"),
        ("scripts/run.sh", "CUDA_VISIBLE_DEVICES=0 srun python3 train.py --x 1 &\n"),
        ("run.sh", "uv run train.py --x 1\n"),
        ("run.sh", "uv run python train.py --x 1\n"),
        ("multi/run.sh", "torchrun --nproc_per_node 2 train.py --x 1\n"),
        ("tox.ini", "commands = python train.py --x 1\n"),
        (".github/workflows/ci.yml", '      - run: "python train.py --x 1"\n'),
        (".github/workflows/ci.yaml", "      - run: |\n          cd src && python train.py --x 1\n"),
        (".circleci/config.yml", "      - run: python train.py --x 1\n"),
        (".gitlab-ci.yml", "  script:\n    - python train.py --x 1\n"),
    ],
)
def test_command_lines_come_from_every_kind_of_file(tmp_path: Path, file: str, text: str) -> None:
    tree(tmp_path / "p", train=FIT)
    (tmp_path / "p" / file).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / "p" / file).write_text(text)
    assert [entry.args for entry in entries(Sources(tmp_path / "p"), [])] == [("--x", "1"), ()]


def test_a_configured_command_comes_with_variables_and_what_runs_first(tmp_path: Path) -> None:
    tree(tmp_path / "p" / "pkg", train=FIT, __init__="")
    (tmp_path / "p" / "pyproject.toml").write_text(
        '[tool.fixer.verify]\ncommand = "python -u -m pkg.train --steps 3"\nenv = {DATA = "here"}\n'
        'setup = ["python make.py data"]\n'
    )
    (found,) = entries(Sources(tmp_path / "p"), [])
    assert found == Entry("pkg/train.py", ("--steps", "3"), "pkg.train", (("DATA", "here"),), (("make.py", "data"),))
    assert found.told == "python -m pkg.train --steps 3"


@pytest.mark.parametrize(
    ("more", "args"),
    [
        ("", ("fit", "--config", "configs/a.yaml")),
        (", run=True", ("fit", "--config", "configs/a.yaml")),
        (", run=False", ("--config", "configs/a.yaml")),
    ],
)
def test_a_cli_that_is_to_run_nothing_gets_no_command(more: str, args: tuple[str, ...], tmp_path: Path) -> None:
    tree(tmp_path / "p", a=CLI.replace("(Model)", f"(Model{more})") + "cli.trainer.fit(cli.model)\n")
    (tmp_path / "p" / "configs").mkdir()
    (tmp_path / "p" / "configs" / "a.yaml").write_text("model:\n  width: 2\n")
    assert [entry.args for entry in entries(Sources(tmp_path / "p"), [])] == [args]
    asked = (
        CLI.replace("(Model)", f"(Model{more})") + "def add(parser):\n    parser.add_argument('--task', required=True,"
    )
    (tmp_path / "p" / "a.py").write_text(f"{asked} choices=['test', 'train'])\n")
    kept = ("--task", "train") if args[0] != "fit" else ()
    assert [entry.args for entry in entries(Sources(tmp_path / "p"), [])] == [(*kept, *args)]


def test_a_configuration_that_a_command_names_comes_before_the_smallest(tmp_path: Path) -> None:
    tree(tmp_path / "p", a=FIRE.replace(", steps: int", "") + FIT)
    for name in ("large", "small"):
        (tmp_path / "p" / f"config_{name}.yaml").write_text(name * (5 if name == "large" else 1))
    (tmp_path / "p" / "README.md").write_text("Run\n```\npython a.py --config config_large.yaml --data /data/x\n```\n")
    assert [entry.args for entry in entries(Sources(tmp_path / "p"), [])] == [("--config", "config_small.yaml")]
    (tmp_path / "p" / "README.md").write_text("Run\n```\npython a.py --config=config_large.yaml --data data/x\n```\n")
    assert [entry.args for entry in entries(Sources(tmp_path / "p"), [])] == [("--config", "config_large.yaml")]
