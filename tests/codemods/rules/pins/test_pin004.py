"""PIN004: what came along with Lightning 1.x, and the manifests that have to ask for it now."""

from __future__ import annotations

import re
from importlib import metadata

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from codemods.code.source import Source
from codemods.engine.plan import Plan, plan
from codemods.engine.scan import Options
from codemods.finding import Finding
from codemods.lightning.pins.brought import BY_EXTRAS, EXTRAS, brought
from codemods.rules.pins.pin001 import RULE as PINS
from codemods.rules.pins.pin002 import RULE as NONE
from codemods.rules.pins.pin004 import RULE
from codemods.rules.trainer.lit101 import RULE as GPUS
from fixer.files import kind_of

BOARD = """\
import pytorch_lightning as pl
from pytorch_lightning.loggers import TensorBoardLogger

trainer = pl.Trainer(gpus=1, logger=TensorBoardLogger("logs"))
"""
OLD = "import pytorch_lightning as pl\n\ntrainer = pl.Trainer(gpus=1)\n"
TORCH = OLD + "\nfrom torch.utils.tensorboard import SummaryWriter\n"
WRITES = """\
import pytorch_lightning as pl


class Model(pl.LightningModule):
    def training_step(self, batch, batch_idx):
        writer = self.logger.experiment
        writer.add_histogram("weights", self.weights)


trainer = pl.Trainer(gpus=1)
"""


def made(files: dict[str, str]) -> Plan:
    sources = [Source(path, kind_of(path) or "other", text.encode()) for path, text in files.items()]
    found = plan(sources, Options((GPUS, PINS, RULE), target="2.6.6"))
    assert found.bugs == ()
    return found


def after(path: str, text: str, code: str = BOARD, **more: str) -> str:
    """The manifest after the rules; a second run leaves all as it is."""
    files = {path: text, "train.py": code, **more}
    final = {**{name: item.encode() for name, item in files.items()}, **made(files).final()}
    again = {name: data.decode() for name, data in final.items()}
    assert made(again).changes == ()
    return again[path]


def told(files: dict[str, str]) -> list[Finding]:
    return [item for item in made(files).findings if item.code == "PIN004"]


@pytest.mark.parametrize("code", [BOARD, TORCH, WRITES, OLD + "import tensorboard as tb\n"])
def test_each_use_of_tensorboard_is_one(code: str) -> None:
    assert after("requirements.txt", "pytorch-lightning==1.8.0\n", code) == "pytorch-lightning==2.6.6\ntensorboard\n"


def test_a_project_of_1_9_lacks_it_as_well() -> None:
    """No release since 1.9.0 installs it: one that runs there was set up by hand."""
    assert after("requirements.txt", "pytorch-lightning==1.9.5") == "pytorch-lightning==2.6.6\ntensorboard"
    (found,) = told({"requirements.txt": "pytorch-lightning==1.9.5\n", "train.py": BOARD})
    assert found.fix == "safe" and "train.py:2 (tensorboard)" in found.reason and "since 1.9.0" in found.reason


@pytest.mark.parametrize(
    ("path", "before", "wanted"),
    [
        ("requirements.txt", "pytorch-lightning==1.8.0  # old\r\nrich\r\n",
         "pytorch-lightning==2.6.6  # old\r\ntensorboard\r\nrich\r\n"),
        ("pyproject.toml", '[project]\nname = "a"\ndependencies = [\n    "lightning==1.8.0",  # a\n    "rich"\n]\n',
         '[project]\nname = "a"\ndependencies = [\n    "tensorboard",\n    "lightning==2.6.6",  # a\n    "rich"\n]\n'),
        ("pyproject.toml", '[project]\nname = "a"\ndependencies = ["lightning==1.8.0"]\n',
         '[project]\nname = "a"\ndependencies = ["tensorboard", "lightning==2.6.6"]\n'),
        ("pyproject.toml", '[tool.poetry.dependencies]\npytorch-lightning = "1.8.0"\nrich = "*"\n',
         '[tool.poetry.dependencies]\npytorch-lightning = "2.6.6"\ntensorboard = "*"\nrich = "*"\n'),
        ("Pipfile", '[packages]\npytorch-lightning = "==1.8.0"\n',
         '[packages]\npytorch-lightning = "==2.6.6"\ntensorboard = "*"\n'),
        ("setup.py", 'from setuptools import setup\nsetup(install_requires=["pytorch-lightning==1.8.0"])\n',
         'from setuptools import setup\nsetup(install_requires=["tensorboard", "pytorch-lightning==2.6.6"])\n'),
        ("setup.cfg", "[options]\ninstall_requires =\n    pytorch-lightning==1.8.0\n    rich\n",
         "[options]\ninstall_requires =\n    pytorch-lightning==2.6.6\n    tensorboard\n    rich\n"),
        ("environment.yml", "dependencies:\n  - python=3.10\n  - pip:\n    - pytorch-lightning==1.8.0\n    - rich\n",
         "dependencies:\n  - python=3.10\n  - pip:\n    - pytorch-lightning==2.6.6\n    - tensorboard\n    - rich\n"),
        ("Dockerfile", "FROM python:3.10\nRUN pip install pytorch-lightning==1.8.0 rich && echo\n",
         "FROM python:3.10\nRUN pip install pytorch-lightning==2.6.6 tensorboard rich && echo\n"),
    ],
)  # fmt: skip
def test_it_is_written_in_the_style_of_each_manifest(path: str, before: str, wanted: str) -> None:
    assert after(path, before) == wanted


def test_all_that_is_lacking_comes_at_once() -> None:
    code = BOARD + "import pkg_resources\nfrom deprecate import deprecated\n"
    wanted = "pytorch-lightning==2.6.6\ntensorboard\npyDeprecate\nsetuptools<82\n"
    assert after("requirements.txt", "pytorch-lightning==1.6.0\n", code) == wanted
    docker = "FROM python:3.10\nRUN pip install pytorch-lightning==1.6.0\n"
    assert after("Dockerfile", docker, code).endswith("==2.6.6 tensorboard pyDeprecate 'setuptools<82'\n")


def test_the_distribution_lightning_brought_more() -> None:
    code = "import lightning.pytorch as pl\nimport rich, click\n\ntrainer = pl.Trainer(gpus=1)\n"
    assert after("requirements.txt", "lightning==1.9.0\n", code) == "lightning==2.6.6\nclick\nrich\n"
    other = "import pytorch_lightning as pl\nimport rich, click\n\ntrainer = pl.Trainer(gpus=1)\n"
    assert after("requirements.txt", "pytorch-lightning==1.9.0\n", other) == "pytorch-lightning==2.6.6\n"


@pytest.mark.parametrize(
    "beside",
    [
        "tensorboard", "tensorboard>=2.2", "TensorBoard==2.10", "tensorboardX", "tensorflow", "tb-nightly",
        "tensorboard; sys_platform == 'linux'",
    ],
)  # fmt: skip
def test_what_is_asked_for_is_left_alone(beside: str) -> None:
    text = f"pytorch-lightning==2.6.6\n{beside}\n"
    assert after("requirements.txt", text) == text
    assert not told({"requirements.txt": text, "train.py": BOARD})


def test_another_manifest_of_the_same_code_asks_for_it() -> None:
    before = '[project]\nname = "a"\ndependencies = ["pytorch-lightning==1.8.0"]\n'
    files = {"requirements.txt": "tensorboard\n"}
    assert "tensorboard" not in after("pyproject.toml", before, BOARD, **files)


def test_an_extra_of_its_own_does_not_bring_it_to_all() -> None:
    before = (
        '[project]\nname = "a"\ndependencies = ["pytorch-lightning==1.8.0"]\n'
        '[project.optional-dependencies]\nboard = ["tensorboard"]\n'
    )
    assert '["tensorboard", "pytorch-lightning==2.6.6"]' in after("pyproject.toml", before)


def test_what_an_extra_asks_for_is_perhaps_for_that_alone() -> None:
    """As an extra for a server does; of what Lightning itself wants, that is no reason."""
    before = (
        '[project]\nname = "a"\ndependencies = ["lightning>=2.0"]\n[project.optional-dependencies]\napi = ["fastapi"]\n'
    )
    code = "import fastapi\nimport lightning.pytorch as pl\n\npl.Trainer(gpus=1)\n"
    assert "fastapi" not in after("pyproject.toml", before, code).partition("[project.optional")[0]
    found = told({"pyproject.toml": before, "app.py": code})
    assert [item.reason.partition(": ")[2].rpartition(": ")[2] for item in found if item.fix == "manual"] == [
        "add fastapi here where it is used without that, too"
    ]
    alone = before.partition("[project.opt")[0]
    assert "fastapi" in after("pyproject.toml", alone, code)


def test_an_extra_of_lightning_brings_one() -> None:
    assert after("requirements.txt", "lightning[extra]==2.6.6\n") == "lightning[extra]==2.6.6\n"
    assert after("requirements.txt", "lightning[extra]==2.6.6\n", TORCH) == "lightning[extra]==2.6.6\ntensorboard\n"


@pytest.mark.parametrize(
    "code",
    [
        OLD,
        OLD + "try:\n    import tensorboard\nexcept ImportError:\n    tensorboard = None\n",
        OLD + "import typing\nif typing.TYPE_CHECKING:\n    from torch.utils.tensorboard import SummaryWriter\n",
        OLD + "# from torch.utils.tensorboard import SummaryWriter\nname = 'import tensorboard'\n",
        OLD + "class Logger:\n    def add_scalar(self): ...\n\nLogger().add_scalar()\n",
        OLD + "from pytorch_lightning.loggers import WandbLogger\n\nWandbLogger().experiment.log({})\n",
        OLD + "run.logger.experiment.add_tag('a')\n",
        OLD + "from .tensorboard import Writer\n",
        OLD + "import tensorboard_reader\n",
    ],
)
def test_what_does_not_use_it_asks_for_nothing(code: str) -> None:
    assert after("requirements.txt", "pytorch-lightning==1.8.0\n", code) == "pytorch-lightning==2.6.6\n"


def test_a_module_of_the_project_is_no_distribution() -> None:
    own = {"tensorboard/__init__.py": "", "pkg/deprecate.py": ""}
    code = OLD + "import tensorboard\n"
    assert after("requirements.txt", "pytorch-lightning==1.7.0\n", code, **own) == "pytorch-lightning==2.6.6\n"


def test_what_stays_on_a_release_that_brings_it_stays() -> None:
    code = "import pytorch_lightning as pl\nfrom pytorch_lightning.loggers import TensorBoardLogger\n"
    text = "pytorch-lightning==1.7.7\n"
    assert after("requirements.txt", text, code) == text
    assert not told({"requirements.txt": text, "train.py": code})


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("pytorch-lightning @ git+https://github.com/me/pytorch-lightning.git\n", "fixer cannot tell"),
        ("pytorch-lightning==1.8.0 --hash=sha256:00\n", "hashes"),
        ("[options]\ninstall_requires = pytorch-lightning==1.8.0\n", "could not be proven"),
    ],
)
def test_where_it_cannot_be_written_a_person_is_told_what_to_type(text: str, why: str) -> None:
    path = "setup.cfg" if text.startswith("[") else "requirements.txt"
    (found,) = told({path: text, "train.py": BOARD})
    assert (found.fix, found.applied) == ("manual", False)
    assert "write tensorboard next to it by hand" in found.reason and why in found.reason


def test_a_configuration_that_names_the_logger_uses_it() -> None:
    config = {"configs/logger.yaml": "logger:\n  _target_: pytorch_lightning.loggers.tensorboard.TensorBoardLogger\n"}
    assert after("requirements.txt", "pytorch-lightning==1.8.0\n", OLD, **config).endswith("tensorboard\n")
    commented = {"configs/logger.yaml": "# _target_: pytorch_lightning.loggers.TensorBoardLogger\na: 1\n"}
    assert not after("requirements.txt", "pytorch-lightning==1.8.0\n", OLD, **commented).endswith("tensorboard\n")


def test_where_no_manifest_asks_for_lightning_the_use_is_named() -> None:
    (found,) = told({"train.py": BOARD, "requirements.txt": "numpy\n"})
    assert (found.path, found.fix) == ("train.py", "manual") and "add tensorboard" in found.reason
    assert not told({"train.py": BOARD, "requirements.txt": "tensorboard\n"})


def test_a_project_without_requirements_is_told_once() -> None:
    code = BOARD.replace("gpus=1", "gpus=n")
    for more, end in (({}, "!=2.6.3` and `tensorboard`"), ({"requirements.txt": "tensorboard\n"}, "!=2.6.3`")):
        sources = [
            Source(path, kind_of(path) or "other", text.encode()) for path, text in {"a.py": code, **more}.items()
        ]
        findings = plan(sources, Options((GPUS, NONE, PINS, RULE), target="2.6.6")).findings
        (found,) = [item for item in findings if item.code.startswith("PIN")]
        assert found.code == "PIN002" and found.reason.endswith(end)


def test_an_ignored_requirement_is_left() -> None:
    text = "pytorch-lightning==2.6.6  # fixer: ignore[PIN004]\n"
    assert after("requirements.txt", text) == text


@pytest.mark.parametrize("metrics", ["==0.7.3", "==0.9.1", "==0.11.4", "<1", "<=0.11.4", "~=0.9.0", ">=0.9,<0.12"])
def test_a_torchmetrics_that_stays_old_needs_pkg_resources(metrics: str) -> None:
    text = f"pytorch-lightning==1.6.0\ntorchmetrics{metrics}\n"
    assert after("requirements.txt", text, OLD) == f"pytorch-lightning==2.6.6\nsetuptools<82\ntorchmetrics{metrics}\n"
    (found,) = told({"requirements.txt": text, "train.py": OLD})
    assert found.stops and "requirements.txt:2 (setuptools): torchmetrics before 1.0" in found.reason


@pytest.mark.parametrize("metrics", ["", ">=0.7", "==1.0.3", "<=1.2", "==0.5.1", "==0.6.2"])
def test_a_newer_torchmetrics_or_one_that_moves_does_without(metrics: str) -> None:
    assert "setuptools" not in after("requirements.txt", f"pytorch-lightning==1.6.0\ntorchmetrics{metrics}\n", OLD)


@pytest.mark.parametrize(
    "metrics",
    ["torchmetrics @ file:///build/torchmetrics_1669849697223/work", "torchmetrics @ git+https://x.org/torchmetrics"],
)
def test_a_torchmetrics_of_an_address_says_no_release(metrics: str) -> None:
    text = f"pytorch-lightning==1.7.7\n{metrics}\n"
    assert after("requirements.txt", text, OLD) == f"pytorch-lightning==2.6.6\n{metrics}\n"
    assert "could not check" not in "".join(item.message for item in made({"requirements.txt": text}).findings)


def test_setuptools_that_is_asked_for_stays_old_enough_for_an_old_torchmetrics() -> None:
    text = "pytorch-lightning==1.6.0\ntorchmetrics==0.9.1\nsetuptools{}\n"
    for before, wanted in (("", "<82"), (">=60", ">=60,<82"), ("==59.5.0", "==59.5.0"), ("<82", "<82")):
        made_of = after("requirements.txt", text.format(before), OLD)
        assert made_of == text.format(wanted).replace("1.6.0", "2.6.6")


@pytest.mark.parametrize("held", ["pandas==1.2.4", "pandas<2", "matplotlib~=3.4.1", "opencv-python-headless<=4.9.0.80"])
def test_what_is_built_for_numpy_1_keeps_the_newer_out(held: str) -> None:
    made_of = after("requirements.txt", f"pytorch-lightning==1.6.0\n{held}\n", OLD)
    assert made_of.startswith("pytorch-lightning==2.6.6\nnumpy<2\n")
    (found,) = told({"requirements.txt": f"pytorch-lightning==1.6.0\n{held}\n", "train.py": OLD})
    assert found.stops and "too new for what is built for NumPy 1" in found.message and "import" in found.reason


@pytest.mark.parametrize(
    "beside",
    [
        "pandas",
        "pandas>=1.2",
        "pandas==2.2.2",
        "pandas==1.5.3\nscipy==1.9.3",
        "pandas==1.5.3\nnumpy==1.23.5",
        "requests",
    ],
)
def test_newer_builds_and_what_asks_for_numpy_itself_do_without(beside: str) -> None:
    assert "numpy<2" not in after("requirements.txt", f"pytorch-lightning==1.6.0\n{beside}\n", OLD)


def test_a_numpy_that_is_asked_for_stays_old_enough_for_an_old_build() -> None:
    text = "pytorch-lightning==1.6.0\npandas==1.5.3\nnumpy{}\n"
    for before, wanted in (("", "<2"), (">=1.21.3", ">=1.21.3,<2"), ("==1.23.5", "==1.23.5"), ("<2", "<2")):
        made_of = after("requirements.txt", text.format(before), OLD)
        assert made_of == text.format(wanted).replace("1.6.0", "2.6.6")


def test_a_list_of_a_whole_environment_is_made_anew_with_another_torchmetrics() -> None:
    names = "absl-py aiohttp attrs certifi click filelock idna jinja2 markdown numpy pillow protobuf six tqdm urllib3"
    frozen = "".join(f"{name}==1.{number}.0\n" for number, name in enumerate(names.split()))
    text = f"{frozen}pytorch-lightning==1.6.0\ntorchmetrics==0.9.1\n"
    assert after("requirements.txt", text, OLD) == text
    assert not any("setuptools" in item.message for item in told({"requirements.txt": text, "train.py": OLD}))


def test_an_old_torchmetrics_of_another_manifest_counts() -> None:
    before = '[project]\nname = "a"\ndependencies = ["pytorch-lightning==1.8.0"]\n'
    made_of = after("pyproject.toml", before, OLD, **{"requirements.txt": "torchmetrics==0.11.4\n"})
    assert '"setuptools<82"' in made_of


def test_the_target_brings_none_of_the_table() -> None:
    """What is installed here says so itself: a row that comes back would be written for nothing."""
    for name in ("pytorch-lightning", "lightning"):
        asked = [Requirement(line) for line in metadata.requires(name) or ()]
        plain = {canonicalize_name(one.name) for one in asked if one.marker is None}
        assert not plain & {row.name for row in brought() if name in row.since}
    extra = [line for line in metadata.requires("pytorch-lightning") or () if re.search("extra == .extra.", line)]
    assert {canonicalize_name(Requirement(line).name) for line in extra} >= BY_EXTRAS
    assert "extra" in EXTRAS


REQUESTS = OLD + "import requests\n"


def test_a_part_that_knows_no_lightning_never_had_it_from_there() -> None:
    part = {"tools/requirements.txt": "numpy\n", "tools/log.py": "import tensorboardX\n"}
    assert after("requirements.txt", "pytorch-lightning==1.8.6\n", OLD, **part) == "pytorch-lightning==2.6.6\n"
    both = {**part, "tools/train.py": "import pytorch_lightning\n"}
    assert after("requirements.txt", "pytorch-lightning==1.8.6\n", OLD, **both).endswith("\ntensorboardX\n")


def test_a_manifest_further_inside_asks_for_it() -> None:
    inside = {"gan/requirements.txt": "tensorboard\n", "gan/train.py": BOARD}
    assert after("requirements.txt", "pytorch-lightning==1.8.0\n", OLD, **inside) == "pytorch-lightning==2.6.6\n"
    other = {**inside, "vae/train.py": BOARD}
    assert after("requirements.txt", "pytorch-lightning==1.8.0\n", OLD, **other).endswith("\ntensorboard\n")


@pytest.mark.parametrize(
    "beside", ["rouge-score", "ml-collections", "tensorflow-datasets", "tensorboard"],
)  # fmt: skip
def test_what_others_bring_is_not_asked_for(beside: str) -> None:
    text = f"pytorch-lightning==1.8.0\n{beside}\n"
    assert "absl-py" not in after("requirements.txt", text, OLD + "from absl import flags\n")


def test_code_that_runs_on_the_newest_lacks_nothing_there() -> None:
    """An open requirement installs 2.x today: what nothing had to be rewritten for has it from elsewhere."""
    new = 'import pytorch_lightning as pl\nimport requests\n\npl.Trainer(devices=1, accelerator="gpu")\n'
    assert "requests" not in after("requirements.txt", "pytorch-lightning>=1.6\n", new)
    assert after("requirements.txt", "pytorch-lightning>=1.6\n", REQUESTS).endswith("\nrequests\n")


def test_another_manifest_says_that_the_code_runs_on_2() -> None:
    setup = 'from setuptools import setup\nsetup(install_requires=["pytorch-lightning"])\n'
    files = {"requirements.txt": "pytorch-lightning>=2.0\n"}
    assert "requests" not in after("setup.py", setup, REQUESTS, **files)
    assert '["requests", "pytorch-lightning' in after("setup.py", setup, REQUESTS)


def test_what_tests_alone_use_is_no_requirement_of_the_package() -> None:
    files = {
        "pyproject.toml": '[project]\nname = "a"\ndependencies = ["pytorch-lightning==1.8.0"]\n',
        "train.py": OLD,
        "tests/test_it.py": "import pkg_resources\n",
    }
    (found,) = told(files)
    assert found.fix == "manual" and "only tests or examples need it, so ask for setuptools<82 where" in found.reason
    assert "setuptools<82\n" in after(
        "requirements.txt", "pytorch-lightning==1.8.0\n", OLD, **dict([*files.items()][2:])
    )


def test_a_configuration_is_of_the_environment_rather_than_of_the_package() -> None:
    config = {"configs/logger.yaml": "_target_: pytorch_lightning.loggers.TensorBoardLogger\n"}
    setup = 'from setuptools import setup\nsetup(install_requires=["pytorch-lightning==1.8.0"])\n'
    files = {**config, "requirements.txt": "pytorch-lightning==1.8.0\n"}
    assert "tensorboard" not in after("setup.py", setup, OLD, **files)
    assert after("requirements.txt", files["requirements.txt"], OLD, **config, **{"setup.py": setup}).endswith(
        "board\n"
    )
    assert '["tensorboard", ' in after("setup.py", setup, OLD, **config)


def test_the_reason_says_of_each_where_it_is_used_and_why_it_was_there() -> None:
    code = BOARD + "import pkg_resources\nfrom deprecate import deprecated\n"
    (found,) = told({"requirements.txt": "pytorch-lightning==1.6.0\n", "train.py": code})
    assert "tensorboard, pydeprecate and setuptools, which are used here" in found.message
    assert "train.py:6 (pydeprecate): Lightning up to 1.7 installed it; no release since 1.8.0 does" in found.reason
    assert "tensorboard, pyDeprecate and setuptools<82 are added next to Lightning" in found.reason


def test_writing_to_an_experiment_is_no_proof_where_another_logger_is_made() -> None:
    wandb = WRITES + "from pytorch_lightning.loggers import WandbLogger\n\nlogger = WandbLogger()\n"
    (found,) = told({"requirements.txt": "pytorch-lightning>=2.0\n", "train.py": wandb})
    assert found.fix == "manual" and "train.py:13 makes another logger" in found.reason
    assert after("requirements.txt", "pytorch-lightning==1.8.0\n", wandb).endswith("\ntensorboard\n")
    both = wandb + 'from pytorch_lightning.loggers import TensorBoardLogger\n\nboard = TensorBoardLogger("a")\n'
    assert after("requirements.txt", "pytorch-lightning==1.8.0\n", both).endswith("\ntensorboard\n")


def test_a_package_on_2_writes_to_the_logger_that_it_is_given() -> None:
    package = '[project]\nname = "a"\ndependencies = ["pytorch-lightning{}"]\n'
    files = {"pkg/model.py": WRITES.replace("gpus=1", ""), "examples/train.py": BOARD.replace("gpus=1, ", "")}
    (found,) = told({"pyproject.toml": package.format(">=2.1"), **files})
    assert found.fix == "manual" and "the logger that it is given" in found.reason
    assert '["tensorboard", ' in after("pyproject.toml", package.format("==1.8.0"), OLD, **files)


def test_an_example_asks_for_nothing_that_the_project_around_it_uses() -> None:
    around = {"requirements.txt": "torch\n", "pkg/log.py": "import tensorboardX\n"}
    path = "examples/a/requirements.txt"
    inside = {"examples/a/train.py": OLD, "train.py": ""}
    files = {path: "pytorch-lightning==1.8.6\n", **inside, **around}
    assert made(files).final()[path] == b"pytorch-lightning==2.6.6\n"


def test_a_fork_is_told_of_with_a_release() -> None:
    fork = "git+https://github.com/me/lightning@abc"
    found = told({"requirements.txt": f"{fork}\n", "train.py": BOARD})
    assert all("{}" not in item.reason for item in found)
    assert any("such as `" in item.reason for item in found)


@pytest.mark.parametrize(
    ("code", "needed"),
    [
        ("def show(logger):\n    return isinstance(logger, TensorBoardLogger)\n", False),
        ("def show(logger):\n    return isinstance(logger, (WandbLogger, TensorBoardLogger))\n", False),
        ("def show(logger: TensorBoardLogger) -> None: ...\n", False),
        ("def show(name):\n    return TensorBoardLogger(name)\n", True),
        ("def show(logger):\n    return isinstance(TensorBoardLogger('a'), Logger)\n", True),
        ("def show(logger):\n    return isinstance(logger, TensorBoardLogger) or TensorBoardLogger\n", True),
        ("class Board(TensorBoardLogger): ...\n", True),
    ],
)
def test_who_only_asks_for_the_logger_needs_no_tensorboard(code: str, needed: bool) -> None:
    code = f"from pytorch_lightning.loggers import Logger, TensorBoardLogger, WandbLogger\n\n\n{code}"
    assert bool(told({"requirements.txt": "pytorch-lightning>=2.1\n", "train.py": code})) is needed
    assert told({"requirements.txt": "pytorch-lightning==1.8.0\n", "train.py": f"{OLD}{code}"})
