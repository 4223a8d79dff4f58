"""LIT303 and LIT130: options on the command lines of launch files, workflows, notebooks and the like."""

from __future__ import annotations

import json

import pytest

from codemods.code.source import Source
from codemods.engine.plan import Plan, plan
from codemods.engine.scan import Options
from fixer.files import kind_of
from tests.codemods.support import notebook, rule

SCRIPT = """\
from argparse import ArgumentParser

import pytorch_lightning as pl


def main(args):
    trainer = pl.Trainer.from_argparse_args(args)
    trainer.fit(Model())


if __name__ == "__main__":
    parser = ArgumentParser()
    parser = pl.Trainer.add_argparse_args(parser)
    main(parser.parse_args())
"""


def made(files: dict[str, str], unsafe: bool = False) -> Plan:
    """The plan of both rules over files of the kinds that their paths name."""
    every = [Source(path, kind_of(path) or "unread", text.encode()) for path, text in files.items()]
    found = plan(every, Options((rule("LIT130"), rule("LIT303")), jobs=1, unsafe=unsafe))
    assert found.bugs == ()
    return found


def written(path: str, *words: str) -> str:
    """A file that starts the script with some options."""
    command = " ".join(["python", "train.py", *words])
    listed = ["python", "train.py", *words]
    items = "".join(f"  - {word}\n" for word in listed)
    texts = {
        "run.sh": f"{command}\n",
        "README.md": f"```\npython train.py \\\n    {' '.join(words)}\n```\n",
        "Makefile": f"train:\n\t{command}\n",
        "job.slurm": f"srun {command}\n",
        "variable.sh": f'export ARGS="{" ".join(words)}"\npython train.py $ARGS\n',
        "array.sh": f'args=(\n  {" ".join(words)}\n)\npython train.py "${{args[@]}}"\n',
        "module.sh": f"python -m train {' '.join(words)}\n",
        "Dockerfile": f"FROM python\nCMD {json.dumps(listed)}\n",
        ".github/workflows/ci.yml": f"jobs:\n  a:\n    steps:\n      - run: {command}\n",
        "folded.yml": f"steps:\n  - run: >\n      python train.py\n      {' '.join(words)}\n",
        "job.yaml": f"command:\n{items}",
        ".vscode/launch.json": json.dumps(
            {"configurations": [{"args": [*words], "program": "${workspaceFolder}/train.py"}, {"args": ["--other"]}]},
            indent=2,
        ),
        "start.ipynb": notebook(f"!{command}\n"),
        "split.ipynb": notebook(f"!python train.py \\\n  {' '.join(words)}\n"),
        "launch.py": f"import os\n\nos.system({command!r})\n",
        "sub.py": f"import subprocess\n\nsubprocess.run({listed!r})\n",
    }
    return texts[path]


PATHS = (
    "run.sh", "README.md", "Makefile", "job.slurm", "variable.sh", "array.sh", "module.sh", "Dockerfile",
    ".github/workflows/ci.yml", "folded.yml", "job.yaml", ".vscode/launch.json", "start.ipynb", "split.ipynb",
    "launch.py", "sub.py",
)  # fmt: skip


@pytest.mark.parametrize("path", PATHS)
def test_an_option_that_went_is_named_where_it_is_given(path: str) -> None:
    found = made({"train.py": SCRIPT, path: written(path, "--amp_level", "O2", "--max_nb_epochs", "3")})
    told = [item.message.split("`")[1] for item in found.findings if item.path == path]
    assert told == ["--amp_level", "--max_nb_epochs"]


@pytest.mark.parametrize("path", PATHS)
def test_a_strategy_that_is_called_an_accelerator_is_named_and_can_be_rewritten(path: str) -> None:
    files = {"train.py": SCRIPT, path: written(path, "--accelerator", "ddp")}
    assert [item.fix for item in made(files).findings if item.path == path] == ["unsafe"]
    after = made(files, unsafe=True).final()[path].decode()
    assert after == files[path].replace("--accelerator", "--strategy")


@pytest.mark.parametrize("path", PATHS)
def test_options_that_a_command_gives_stay_and_reach_the_trainer(path: str) -> None:
    words = ("--gpus", "2", "--distributed_backend=ddp", "--resume_from_checkpoint", "a.ckpt")
    found = made({"train.py": SCRIPT, path: written(path, *words)})
    after = found.final()["train.py"].decode()
    assert [item for item in found.findings if item.path == path] == []
    for option in ("gpus", "distributed_backend", "resume_from_checkpoint"):
        assert f'parser.add_argument("--{option}"' in after
    assert "ckpt_path=args.resume_from_checkpoint" in after
    assert "strategy=args.distributed_backend or args.strategy" in after


@pytest.mark.parametrize("text", ["--gpus 2 --strategy dp", "--strategy=ddp_sharded --gpus 2"])
def test_a_strategy_that_is_gone_is_named(text: str) -> None:
    found = made({"train.py": SCRIPT, "run.sh": f"python train.py {text}\n"})
    [told] = [item for item in found.findings if item.path == "run.sh"]
    assert told.fix == "manual" and "no longer has such a strategy" in told.message


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("ci.yml", "steps:\n  - run: python train.py\n  - run: docker run --gpus all --tpu_cores 8 image\n"),
        ("ci.yml", "steps:\n  - run: python train.py\n  - name: x\n    run: other --tpu_cores 8\n"),
        (".vscode/launch.json", '{"a": {"program": "train.py", "args": []}, "b": {"args": ["--tpu_cores", "8"]}}\n'),
        ("run.sh", 'OTHER="--tpu_cores 8"\npython train.py $ARGS\nother $OTHER\n'),
        ("start.ipynb", notebook("# python train.py --tpu_cores 8\n")),
        ("start.ipynb", notebook("print('python train.py --tpu_cores 8')\n")),
        ("train2.py", "parser.add_argument('--tpu_cores')\n"),
        ("run.sh", "python train.py --tpu_cores_per_node 8\n"),
        ("run.sh", "python train2.py --tpu_cores 8\n"),
    ],
)
def test_what_is_given_to_something_else_is_left_alone(path: str, text: str) -> None:
    assert [item for item in made({"train.py": SCRIPT, path: text}).findings if item.path == path] == []


MAIN = "from train import main, parser\n\nmain(parser.parse_args())\n"


def test_a_script_that_takes_its_options_from_another_file_is_told_of() -> None:
    files = {"train.py": SCRIPT, "main.py": MAIN, "run.sh": "python main.py --gpus 2 --amp_level O2\n"}
    found = made(files)
    assert [item.message.split("`")[1] for item in found.findings if item.path == "run.sh"] == ["--amp_level"]
    assert 'parser.add_argument("--gpus"' in found.final()["train.py"].decode()


def test_an_option_of_its_own_is_no_option_of_the_other_file() -> None:
    main = f"{MAIN}parser.add_argument('--amp_level')\n"
    files = {"train.py": SCRIPT, "main.py": main, "run.sh": "python main.py --amp_level O2\n"}
    assert [item for item in made(files).findings if item.path == "run.sh"] == []


def test_of_two_scripts_of_a_name_the_one_beside_the_file_is_meant() -> None:
    own = SCRIPT.replace("    main(parser", "    parser.add_argument('--amp_level')\n    main(parser")
    files = {"a/train.py": own, "b/train.py": SCRIPT}
    for folder, named in (("a", 0), ("b", 1)):
        found = made({**files, f"{folder}/run.sh": "python train.py --amp_level O2\n"})
        assert len([item for item in found.findings if item.path.endswith("run.sh")]) == named
