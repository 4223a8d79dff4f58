from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.verify.trees import tree
from verify.reading.entry import Entry, EntrySettings, conftests, entries, run_by_pytest
from verify.reading.outlines import outline
from verify.reading.sources import Sources, words
from verify.reading.starts import trains

IN_MAIN = "from pytorch_lightning import Trainer\ndef main():\n    Trainer().fit(None)\n"
FIT = "from pytorch_lightning import Trainer\nTrainer().fit(None)\n"


@pytest.mark.parametrize(
    "text",
    [
        FIT,
        "import pytorch_lightning as pl\nif __name__ == '__main__':\n    pl.Trainer().fit(1)\n",
        "import lightning.pytorch as pl\ndef go():\n    pl.Trainer().fit(1)\ndef main():\n    go()\nmain()\n",
        "from lightning import pytorch as pl\nclass Run:\n    def go(self):\n        pl.Trainer().fit(1)\nRun().go()\n",
        "import lightning as L\ntrainer = L.Trainer()\nwith open('x'):\n    trainer.fit(1)\n",
        "import pytorch_lightning\npytorch_lightning.Trainer.from_argparse_args(1).fit(2)\n",
        f"{IN_MAIN}fire.Fire(main)\n",
        "import pytorch_lightning as pl\ntrainer = made_of(config.trainer)\ntrainer.fit(pl.LightningModule())\n",
        f"{IN_MAIN}if __name__ == '__main__':\n    app.run(main)\n",
        IN_MAIN.replace("def main", "@click.command()\n@click.option(1)\ndef main"),
    ],
)
def test_scripts_that_train(text: str) -> None:
    assert trains(outline(ast.parse(text)))


@pytest.mark.parametrize(
    "text",
    [
        "from pytorch_lightning import Trainer\ndef main():\n    Trainer().fit(1)\n",
        "from mine import Trainer\nTrainer().fit(1)\n",
        "import pytorch_lightning as pl\npl.Trainer().test(1)\n",
        "from sklearn import svm\nsvm.SVC().fit(1)\n",
        "import torch\ntrainer = made_of(config.trainer)\ntrainer.fit(1)\n",
        "import pytorch_lightning as pl\nscaler = made_of(config.scaler)\nscaler.fit(1)\n",
        "",
    ],
)
def test_files_that_do_not(text: str) -> None:
    assert not trains(outline(ast.parse(text)))


def test_changed_files_come_first_then_those_that_load_them(tmp_path: Path) -> None:
    tree(tmp_path / "p", a=FIT, b="import model\n" + FIT, c=FIT, model="", broken="def (")
    found = entries(Sources(tmp_path / "p"), ["c.py", "model.py"])
    assert [entry.script for entry in found] == ["c.py", "b.py", "a.py"]


def test_configuration_names_the_script(tmp_path: Path) -> None:
    tree(tmp_path / "p", a=FIT, b="print()")
    (tmp_path / "p" / "pyproject.toml").write_text('[tool.fixer.verify]\nscript = "b.py"\nargs = ["--steps", 3]\n')
    assert entries(Sources(tmp_path / "p"), []) == (Entry("b.py", ("--steps", "3")),)


def test_what_is_asked_for_wins_over_what_the_tree_says(tmp_path: Path) -> None:
    tree(tmp_path / "p", a=FIT, b="print()")
    (tmp_path / "p" / "pyproject.toml").write_text('[tool.fixer.verify]\nscript = "b.py"\nargs = ["--steps", 3]\n')
    found = Sources(tmp_path / "p")
    assert entries(found, [], EntrySettings(command="python -u -m a --x", args=("1",))) == (
        Entry("a.py", ("--x", "1"), "a"),
    )
    assert entries(found, [], EntrySettings()) == (Entry("a.py"),)


def test_variables_and_what_comes_first_go_with_scripts_that_are_found(tmp_path: Path) -> None:
    """They were read and left out where no script was named."""
    tree(tmp_path / "p", a=FIT, b=FIT)
    asked = EntrySettings(variables=(("DATA", "tiny"),), setup=("python make.py 1",))
    (tmp_path / "p" / "pyproject.toml").write_text(
        '[tool.fixer.verify]\nsetup = ["python make.py 1"]\nenv = {DATA = "tiny"}\n'
    )
    wanted = [Entry(f"{name}.py", (), None, asked.variables, (("make.py", "1"),)) for name in "ab"]
    assert list(entries(Sources(tmp_path / "p"), [], asked)) == wanted
    assert list(entries(Sources(tmp_path / "p"), [])) == wanted


@pytest.mark.parametrize("script", ["../b.py", "/b.py", "missing.py"])
def test_a_configured_script_that_is_not_in_the_tree_is_said(tmp_path: Path, script: str) -> None:
    tree(tmp_path / "p", a=FIT)
    (tmp_path / "p" / "pyproject.toml").write_text(f'[tool.fixer.verify]\nscript = "{script}"\n')
    with pytest.raises(ValueError, match="which is not in the project"):
        entries(Sources(tmp_path / "p"), [])


def test_a_script_with_relative_imports_runs_as_a_module(tmp_path: Path) -> None:
    tree(tmp_path / "p" / "pkg", train="from . import model\n" + FIT, model="", __init__="")
    assert entries(Sources(tmp_path / "p"), []) == (Entry("pkg/train.py", (), "pkg.train"),)


def test_what_a_script_loads_and_needs(tmp_path: Path) -> None:
    tree(tmp_path / "p", train="import model, os\nfrom pkg.part import x\nimport numpy\n")
    (tmp_path / "p" / "model.py").write_text(
        "try:\n    import apex\nexcept ImportError:\n    apex = None\nimport yaml\n"
    )
    tree(tmp_path / "p" / "pkg", part="from .other import y\n", other="import sklearn.svm\n", __init__="", alone="")
    files, outside = Sources(tmp_path / "p").reach("train.py")
    assert sorted(files) == ["model.py", "pkg/__init__.py", "pkg/other.py", "pkg/part.py", "train.py"]
    assert outside == {"numpy", "yaml", "sklearn"}


@pytest.mark.parametrize("packages", [(), ("examples/one",)])
def test_what_lies_beside_a_script_in_some_folder_above_is_found(tmp_path: Path, packages: tuple[str, ...]) -> None:
    root = tmp_path / "p"
    one = root / "examples" / "one"
    tree(one, train="from parts.net import Net\n", types="", datasets="")
    tree(one / "parts", net="import parts.inner.deep, types, datasets\n", __init__="")
    tree(one / "parts" / "inner", deep="import yaml\n", __init__="")
    for package in packages:
        (root / package / "__init__.py").write_text("")
    files, outside = Sources(root).reach("examples/one/train.py")
    found = {path.removeprefix("examples/one/") for path in files}
    if packages:
        assert found == {"train.py", "parts/net.py", "parts/__init__.py"} and outside == {"parts", "datasets"}
    else:
        assert {"parts/inner/deep.py", "datasets.py"} < found and "types.py" not in found and outside == {"yaml"}


def test_a_module_that_is_called_like_its_package_hides_no_other(tmp_path: Path) -> None:
    root = tree(tmp_path / "p", train="from utils.loggers import Own\nfrom utils.utils import name\n")
    (root / "utils").mkdir()
    (root / "utils" / "utils.py").write_text("def name():\n    pass\n")
    (root / "utils" / "loggers.py").write_text("from utils.plotting import drawn\n")
    (root / "utils" / "plotting.py").write_text("import matplotlib\n")
    files, outside = Sources(root).reach("train.py")
    assert set(files) == {"train.py", "utils/loggers.py", "utils/plotting.py", "utils/utils.py"}
    assert outside == {"matplotlib"}


@pytest.mark.parametrize(
    ("handler", "needed"),
    [
        ("except ImportError:\n    yaml = None\n", False),
        ("except:\n    print('no yaml')\n", False),
        ("except:\n    print('no yaml')\n    sys.exit(-1)\n", True),
        ("except ImportError:\n    exit()\n", True),
        ("except ImportError as error:\n    raise RuntimeError('no yaml') from error\n", True),
    ],
)
def test_an_import_without_which_a_file_gives_up_is_needed(tmp_path: Path, handler: str, needed: bool) -> None:
    tree(tmp_path / "p", train=f"import sys\ntry:\n    import yaml\n{handler}")
    assert Sources(tmp_path / "p").reach("train.py")[1] == ({"yaml"} if needed else set())


CLI = "from lightning.pytorch.cli import LightningCLI\nLightningCLI(Model)\n"
HYDRA = "import hydra\nimport pytorch_lightning as pl\n\n@hydra.main()\ndef go(cfg):\n    build(cfg).fit(1)\n"
TYPER = "import pytorch_lightning as pl\napp = Typer()\n\n@app.command()\ndef go():\n    pl.Trainer().fit(1)\n\napp()\n"


@pytest.mark.parametrize("text", [CLI, HYDRA, TYPER])
def test_scripts_that_hand_over_to_a_command_line_train(text: str) -> None:
    assert trains(outline(ast.parse(text)))


def test_hydra_without_lightning_does_not() -> None:
    assert not trains(outline(ast.parse(HYDRA.replace("import pytorch_lightning as pl\n", ""))))


def test_tests_that_train_what_changed_come_after_scripts_the_smallest_first(tmp_path: Path) -> None:
    fit = "import model\nfrom pytorch_lightning import Trainer\ndef test_it():\n    Trainer().fit(1)\n"
    tree(tmp_path / "p", model="", other="", test_long=fit + "# long\n" * 9, test_short=fit)
    (tmp_path / "p" / "test_other.py").write_text(fit.replace("model", "other"))
    found = entries(Sources(tmp_path / "p"), ["model.py"])
    assert [entry.script for entry in found] == ["test_short.py", "test_long.py"]
    assert found[0].told == "python -m pytest -x -q -p no:cacheprovider test_short.py"


LIBRARY = (
    "from pytorch_lightning import Trainer\nclass Model:\n    def train(self, n):\n        trainer = Trainer()\n"
    "        trainer.fit(self)\n"
)
CALLS = "from lib import Model\ndef test_it():\n    Model().{}\n"


@pytest.mark.parametrize("call", ["train(1)", "train(max_epochs=2)", "fit([1])"])
def test_tests_that_call_what_of_the_project_trains_are_found(tmp_path: Path, call: str) -> None:
    tree(tmp_path / "p", lib=LIBRARY, test_lib=CALLS.format(call))
    assert [entry.script for entry in entries(Sources(tmp_path / "p"), ["lib.py"])] == ["test_lib.py"]


@pytest.mark.parametrize("call", ["train()", "train(False)", "train(mode=True)", "test(1)"])
def test_tests_that_only_switch_a_mode_are_not(tmp_path: Path, call: str) -> None:
    tree(tmp_path / "p", lib=LIBRARY, test_lib=CALLS.format(call))
    assert not entries(Sources(tmp_path / "p"), ["lib.py"])


def test_tests_of_what_trains_elsewhere_are_not(tmp_path: Path) -> None:
    tree(tmp_path / "p", lib="class Model: ...\n", other=LIBRARY, test_lib=CALLS.format("train(1)"))
    assert not entries(Sources(tmp_path / "p"), ["lib.py"])


@pytest.mark.parametrize(
    ("changed", "found"),
    [(["pyproject.toml"], ["test_lib.py"]), (["other.py"], []), (["a.ipynb"], []), (["conf/x.yaml"], [])],
)
def test_requirements_alone_change_what_every_test_does(tmp_path: Path, changed: list[str], found: list[str]) -> None:
    tree(tmp_path / "p", lib=LIBRARY, other="", test_lib=CALLS.format("train(1)"))
    assert [entry.script for entry in entries(Sources(tmp_path / "p"), changed)] == found


def test_what_pytest_loads_with_a_test_is_known(tmp_path: Path) -> None:
    root = tmp_path / "p"
    for place in ("", "tests", "tests/a", "tests/b", "src"):
        tree(root / place, conftest="", test_it="", train="")
    found = conftests(Sources(root), ["tests/a/test_it.py", "src/train.py"])
    assert found == ["tests/a/conftest.py", "tests/conftest.py", "conftest.py"]


ARGPARSE = """import argparse
parser = argparse.ArgumentParser()
parser.add_argument("where", nargs="?")
parser.add_argument("kind", choices=["small", "large"])
parser.add_argument("-c", "--config", required=True)
parser.add_argument("--run-name", type=str, required=True)
parser.add_argument("--epochs", type=int, required=True)
parser.add_argument("--verbose", action="store_true")
parser.parse_args()
"""
CLICK = """import click
@click.command()
@click.option("--depth", type=click.Choice(["18", "50"]), required=True)
@click.option("--rate", default=0.1)
@click.argument("out_dir")
def main(depth, rate, out_dir): ...
"""
FIRE = "import fire\ndef main(config, steps: int, rate=0.1): ...\nfire.Fire(main)\n"
TYPED = (
    "import typer\nfrom typing import Annotated\napp = typer.Typer()\n@app.command()\n"
    "def main(config: Path, steps: int, depth: Annotated[int, typer.Option()], rate: float = 0.1,\n"
    "         run_name: str = typer.Option(..., '-n', '--name'), out_dir: Path = typer.Option(...),\n"
    "         free: str = typer.Option('x'), last: str = typer.Argument(None)): ...\napp()\n"
)
TYPER_ARGS = ("configs/b.yaml", "1", "--depth", "1", "--name", "fixer", "--out-dir", "fixer-output")
ASKS = "import argparse\nargparse.ArgumentParser().add_argument("
ABSL = "from absl import flags\nflags.DEFINE_string('config', None, '')\nflags.mark_flag_as_required('config')\n"


@pytest.mark.parametrize(
    ("text", "args"),
    [
        (ARGPARSE, ("small", "--config", "configs/b.yaml", "--run-name", "fixer", "--epochs", "1")),
        (CLICK, ("fixer-output", "--depth", "18")),
        (FIRE, ("--config", "configs/b.yaml", "--steps", "1")),
        (ABSL, ("--config", "configs/b.yaml")),
        (TYPED, TYPER_ARGS),
        (TYPED.replace("@app.command()\n", "").replace("app()", "typer.run(main)"), TYPER_ARGS),
        (TYPED.replace("config: Path", "data: Path"), (".", *TYPER_ARGS[1:])),
        (TYPED.replace("config: Path", "checkpoint: Path"), ()),
        (TYPED.replace("app()\n", "@app.command()\ndef other(): ...\napp()\n"), ()),
        ("import argparse\nargparse.ArgumentParser().add_argument('--data', required=True)\n", ("--data", ".")),
        ("import argparse\nargparse.ArgumentParser().add_argument('--secret', required=True)\n", ()),
        ("from absl import flags\nflags.DEFINE_string('dataroot', None, '', required=True)\n", ("--dataroot", ".")),
        (f"{ASKS}'--train_filepath', required=True)\n", ("--train_filepath", "data/train_filepath.csv")),
        (f"{ASKS}'--dev-json', type=str, required=True)\n", ("--dev-json", "data/dev_json.json")),
        (f"{ASKS}'--model_file', required=True)\n", ()),
        (f"{ASKS}'--vocab-file', required=True)\n", ()),
        (f"{ASKS}'--workspace', required=True)\n", ("--workspace", "fixer-output")),
        (f"{ASKS}'gpus', type=str)\n", ("1",)),
        (f"{ASKS}'--gpu_model', required=True)\n", ()),
        (
            "import argparse\nadd = ArgumentParser().add_argument\nadd('-c', '--config_path', required=True)\n",
            ("--config_path", "configs/b.yaml"),
        ),
        ("import argparse\nadd = other.add_option\nadd('-c', '--config_path', required=True)\n", ()),
        (f"{ASKS}'--subcmd', choices=['test', 'fit'], required=True)\n", ("--subcmd", "fit")),
        (f"{ASKS}'--mode', required=True)\nif args.mode == 'test':\n    pass\n", ()),
        (f"{ASKS}'--mode', type=int, required=True)\nif args.mode == 'train':\n    pass\n", ("--mode", "1")),
        (f"{ASKS}'--mode', required=True)\nif args.other == 'train' or 'train' == args.mode:\n    pass\n", ()),
        (f"{ASKS}'--action', required=True)\nif action in ('test', 'learn'):\n    pass\n", ("--action", "learn")),
        (f"{ASKS}'--do_train', action='store_true')\n", ("--do_train",)),
        (f"{ASKS}'-t', '--train', type=bool, default=False)\n", ("--train", "True")),
        (f"{ASKS}'--train', type=str, default=None)\n", ()),
        (f"{ASKS}'--train_file', action='store_true')\n", ()),
        (f"{ASKS}'--mode', default='test', choices=['test', 'train'])\n", ("--mode", "train")),
        (f"{ASKS}'--mode', default='train', choices=['test', 'fit', 'train'])\n", ()),
        (f"{ASKS}'--split', default='val', choices=['val', 'train'])\n", ()),
        (
            f"from transformers import T5Model\n{ASKS}'--model_name_or_path', required=True)\n",
            ("--model_name_or_path", "t5-small"),
        ),
        (f"import transformers\n{ASKS}'--tokenizer', required=True)\n", ("--tokenizer", "bert-base-uncased")),
        ("from absl import flags\nflags.DEFINE_integer('steps', None, '', required=True)\n", ("--steps", "1")),
        ("from absl import flags\nflags.DEFINE_string('dataroot', None, '')\n", ()),
        ("print('nothing')\n", ()),
    ],
)
def test_what_a_script_requires_is_filled_from_the_project(tmp_path: Path, text: str, args: tuple[str, ...]) -> None:
    tree(tmp_path / "p", a=text + FIT)
    (tmp_path / "p" / "package.json").write_text("{}")
    configs = tmp_path / "p" / "configs"
    configs.mkdir()
    (configs / "a.yaml").write_text("large: 1\nlayers: 2\n")
    (configs / "b.yaml").write_text("x: 1\n")
    (configs / "empty.yaml").write_text("")
    assert [entry.args for entry in entries(Sources(tmp_path / "p"), [])] == [args]


OPTIONS = """import argparse
class Model:
    @staticmethod
    def add_model_args(parser):
        parser.add_argument("--run-name", required=True)
class Other:
    @staticmethod
    def add_other_args(parser):
        parser.add_argument("--exp-name", required=True)
def main():
    argparse.ArgumentParser().add_argument("--nothing", required=True)
def parsed():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data-dir", required=True)
    Model.add_model_args(parser)
    parser.add_argument("--train", action="store_true")
    return parser.parse_args()
"""


def test_what_is_required_in_another_file_is_filled_where_it_is_called(tmp_path: Path) -> None:
    uses = f"from options import Other, parsed\ndef main():\n    args = parsed()\nmain()\n{FIT}"
    tree(tmp_path / "a", options=OPTIONS, a=uses)
    found = [entry.args for entry in entries(Sources(tmp_path / "a"), [])]
    assert found == [("--run-name", "fixer", "--data-dir", ".", "--train"), ()]
    loaded = f"{ASKS}'--root', required=True)\nif __name__ == '__main__':\n    add_argument('--x', required=True)\n"
    tree(tmp_path / "b", options=loaded, a=f"from options import args\n{FIT}")
    assert [entry.args for entry in entries(Sources(tmp_path / "b"), [])] == [("--root", "."), ()]


def test_scripts_that_are_called_as_what_trains_come_first(tmp_path: Path) -> None:
    tree(tmp_path / "p", **dict.fromkeys(("attrain", "hp_search", "model", "train", "train_big"), FIT))
    assert [entry.script for entry in entries(Sources(tmp_path / "p"), [])] == [
        "train.py",
        "train_big.py",
        "attrain.py",
    ]


TRAINING = "from pytorch_lightning import Trainer\ndef make(): return Trainer()\ndef train(): make().fit(1)\n"
CLASS = "from lightning.pytorch.cli import LightningCLI\nclass Mine(LightningCLI): ...\ndef main(): Mine(run=True)\n"
MAIN = "if __name__ == '__main__':\n    "


def test_what_trains_in_functions_of_other_files_is_started_by_who_calls_them(tmp_path: Path) -> None:
    tree(
        tmp_path / "p", training=TRAINING, calls=f"from training import train as go\n{MAIN}go()\n",
        makes=f"from training import make\n{MAIN}make().fit(None)\n",
        other=f"from training import make\n{MAIN}make()\n",
        fits=f"from sklearn import svm\n{MAIN}svm.SVC().fit(1)\n", loads="from training import train\n",
    )  # fmt: skip
    assert [entry.script for entry in entries(Sources(tmp_path / "p"), [])] == ["calls.py", "makes.py"]


@pytest.mark.parametrize(
    ("script", "starts"),
    [
        (f"import training\n{MAIN}training.train()\n", True),
        (f"import training as t\n{MAIN}t.train()\n", True),
        (f"import deep.training\n{MAIN}deep.training.train()\n", True),
        (f"from deep import training\n{MAIN}training.train()\n", True),
        (f"from deep import training as t\n\n\ndef main():\n    t.train()\n\n\n{MAIN}main()\n", True),
        (f"from deep import training, other\n{MAIN}other.train()\n", False),
        (f"import training\n{MAIN}training.make()\n", False),
        (f"import training\n{MAIN}model.train()\n", False),
        (f"import deep\n{MAIN}deep.train()\n", False),
        ("import training\ntraining.train()\n", False),
    ],
)
def test_what_a_module_trains_of_which_a_function_is_called(script: str, starts: bool, tmp_path: Path) -> None:
    root = tree(tmp_path / "p", run=script, training=TRAINING)
    (root / "deep").mkdir()
    for name, text in (("training", TRAINING), ("other", "def train(): ...\n"), ("__init__", "")):
        (root / "deep" / f"{name}.py").write_text(text)
    assert [entry.script for entry in entries(Sources(root), [])] == ["run.py"] * starts


def test_a_cli_of_ones_own_gets_a_configuration_of_its_kind(tmp_path: Path) -> None:
    tree(tmp_path / "p", cli=CLASS, run=f"from cli import main\n{MAIN}main()\n")
    assert entries(Sources(tmp_path / "p"), []) == (Entry("run.py", ("fit",)),)
    (tmp_path / "p" / "conf").mkdir()
    (tmp_path / "p" / "conf" / "a.yaml").write_text("x: 1\n")
    (tmp_path / "p" / "conf" / "b.yaml").write_text("model:\n  width: 3\ntrainer: {}\n")
    assert entries(Sources(tmp_path / "p"), []) == (Entry("run.py", ("fit", "--config", "conf/b.yaml")),)


def test_the_words_of_a_module_are_what_it_imports_and_what_it_takes_of_something(tmp_path: Path) -> None:
    text = "import pytorch_lightning as pl\nfrom a import B as C\nlogger = pl.loggers.WandbLogger(name=x.y)\n"
    assert words(Sources(tree(tmp_path / "t", m=text)), "m.py") == {"B", "WandbLogger", "loggers", "y"}


def test_a_script_that_trains_is_no_test_whatever_it_is_called(tmp_path: Path) -> None:
    trained = "import pytorch_lightning as pl\npl.Trainer().fit(model)\n"
    root = tree(tmp_path / "p", net_test=trained, test_net="def test_it():\n    pass\n", conftest="")
    sources, scripts = Sources(root), ["net_test.py", "test_net.py"]
    assert run_by_pytest(sources, scripts) == ["test_net.py"]
    assert (conftests(sources, scripts), conftests(sources, ["net_test.py"])) == (["conftest.py"], [])


def test_the_files_that_load_one_are_those_that_reach_it(tmp_path: Path) -> None:
    sources = Sources(tree(tmp_path / "t", a="import b\n", b="import c\n", c="import b\n", d="from a import x\n", e=""))
    for path in sources.paths():
        assert sources.loaders(path) == {other for other in sources.paths() if path in sources.reach(other)[0]}
    assert sources.loaders("c.py") == {"a.py", "b.py", "c.py", "d.py"}


@pytest.mark.parametrize(
    ("line", "needed"),
    [
        ("from torch.utils.tensorboard import SummaryWriter", True),
        ("from torch.utils import tensorboard", True),
        ("import torch.utils.tensorboard", True),
        ("from torch.utils.data import DataLoader", False),
        ("from own.utils import tensorboard", False),
    ],
)
def test_writers_of_tensorboard_need_its_package(line: str, needed: bool, tmp_path: Path) -> None:
    outside = Sources(tree(tmp_path / "p", train=f"{line}\n")).reach("train.py")[1]
    assert ("tensorboard" in outside) is needed
