"""What moves along with Lightning, and what is only said."""

from __future__ import annotations

import pytest
from packaging.version import Version

from codemods.lightning.pins.compat import BESIDE, minor_of, minors
from tests.codemods.rules.pins.support import CODE, NOT, moved, told
from tests.codemods.support import notebook

USES = "import torchmetrics\nfrom pytorch_lightning import Trainer\nTrainer(gpus=1)\n"


def text_of(*lines: str) -> str:
    return "".join(f"{line}\n" for line in lines)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("torch==1.7.1", "torch==2.3.1"),
        ("torch==1.7.1  # why", "torch==2.3.1  # why"),
        ("torch>=1.11.0,<2", "torch>=1.11.0,<3"),
        ("torch>=1.8", "torch>=1.8"),
        ("torch", "torch"),
        ("torch==2.2.0", "torch==2.2.0"),
        ("torchvision==0.8.2", "torchvision==0.18.1"),
        ("torchaudio~=0.8.1", "torchaudio~=2.3.1"),
        ("torchmetrics==0.6.0", "torchmetrics==1.0.0"),
        ("torchmetrics==0.9.3", "torchmetrics==0.9.3"),
        ("setuptools==59.5.0", "setuptools==59.5.0"),
        ("transformers==4.3.1", "transformers==4.24.0"),
        ("transformers==4.16.2", "transformers==4.16.2"),
        ("transformers>=4.1", "transformers>=4.1"),
        ("sentence-transformers==0.3", "sentence-transformers==0.3"),
        ("jsonargparse[signatures]==3.19.4", "jsonargparse[signatures]==3.19.4"),
    ],
)
def test_what_cannot_stand_beside_an_exact_release_moves(before: str, after: str) -> None:
    text = text_of("pytorch-lightning==1.3.5", before)
    assert moved({"requirements.txt": text})["requirements.txt"] == text_of("pytorch-lightning==2.6.6", after)


def test_what_is_built_for_torch_follows_it() -> None:
    text = text_of("lightning==1.9", "torch==1.13.1", "torchvision==0.17.2", "torchaudio>=0.13", "torchtext==0.14.1")
    assert moved({"requirements.txt": text})["requirements.txt"] == text_of(
        "lightning==2.6.6", "torch==2.3.1", "torchvision==0.18.1", "torchaudio>=0.13", "torchtext==0.18.0"
    )
    kept = text_of("lightning==1.9", "torch==2.2.2", "torchvision==0.17.2")
    assert moved({"requirements.txt": kept})["requirements.txt"] == kept.replace("1.9", "2.6.6")


def test_what_only_holds_lightning_back_is_said() -> None:
    text = text_of("lightning>=1.8", "torch==1.13.1")
    assert moved({"requirements.txt": text})["requirements.txt"] == text.replace(">=1.8", f">=2.0,{NOT}")
    (said,) = [item for item in told({"requirements.txt": text}) if item[1] == 2]
    assert said[2] == "manual" and "Lightning 2.2 is the newest that can be installed" in said[3]


def test_together_they_may_leave_nothing() -> None:
    text = '[tool.poetry.dependencies]\nlightning = "^1.8"\ntorch = "^1.8.1"\ntorchvision = "^0.9.1"\n'
    after = moved({"pyproject.toml": text})["pyproject.toml"]
    assert after == (
        f'[tool.poetry.dependencies]\nlightning = "^2.0,{NOT}"\ntorch = "^2.1.0"\ntorchvision = "^0.18.1"\n'
    )


def test_metrics_that_code_uses_are_probable_only() -> None:
    files = {"requirements.txt": text_of("lightning==1.8", "torchmetrics==0.6.0")}
    assert moved(files, USES)["requirements.txt"] == text_of("lightning==2.6.6", "torchmetrics==0.6.0")
    assert moved(files, USES, unsafe=True)["requirements.txt"] == text_of("lightning==2.6.6", "torchmetrics==1.0.0")
    assert "before torchmetrics==0.6.0 is raised too" in next(item[3] for item in told(files, USES) if item[1] == 1)


CLI = (
    "from pytorch_lightning.utilities.cli import LightningCLI\nfrom pytorch_lightning import Trainer\nTrainer(gpus=1)\n"
)


def test_what_code_uses_of_transformers_is_probable_only() -> None:
    files = {"requirements.txt": text_of("lightning==1.8", "transformers==4.3.1")}
    uses = f"from transformers import BertModel\n{USES}"
    assert moved(files, uses)["requirements.txt"].endswith("transformers==4.3.1\n")
    assert moved(files, uses, unsafe=True)["requirements.txt"].endswith("transformers==4.24.0\n")
    assert moved(files, uses, target="2.5.6")["requirements.txt"].endswith("transformers==4.3.1\n")
    said = [item[3] for item in told(files, uses) if item[1] == 2]
    assert (
        len(said) == 1 and "Python 3.10, the oldest that Lightning 2.6.6 runs on, needs transformers>=4.16.0" in said[0]
    )
    assert not any(item[1] == 2 for item in told(files, uses, target="2.5.6"))


def test_what_a_notebook_uses_of_transformers_is_probable_only() -> None:
    cells = ("!pip install lightning==1.8\n!pip install transformers==4.3.1\n", f"import transformers\n{CODE}")
    files = {"a.ipynb": notebook(*cells)}
    assert "transformers==4.3.1" in moved(files)["a.ipynb"]
    assert "transformers==4.24.0" in moved(files, unsafe=True)["a.ipynb"]


def test_transformers_that_an_older_lightning_stands_beside() -> None:
    text = text_of("lightning>=1.8", "torch==1.7.1", "transformers==4.3.1")
    assert moved({"requirements.txt": text})["requirements.txt"].endswith("torch==2.3.1\ntransformers==4.3.1\n")
    (said,) = [item for item in told({"requirements.txt": text}) if item[1] == 3]
    assert said[2] == "manual" and "Lightning 2.5 is the newest that can be installed" in said[3]


@pytest.mark.parametrize(
    ("lightning", "before", "after", "target"),
    [
        ("==1.8", "==3.19.4", "==4.39.0", "2.6.6"),
        ("==1.8", ">4.0.0, <4.25.0", ">4.0.0, <5.0.0", "2.6.6"),
        (">=1.8", ">4.0.0, <4.25.0", ">4.0.0, <5.0.0", "2.6.6"),
        ("[extra]>=1.8", ">4.0.0, <4.25.0", ">4.0.0, <4.25.0", "2.6.6"),
        ("==1.8", "==4.27.7", "==4.39.0", "2.6.6"),
        ("==1.8", "==4.27.7", "==4.27.7", "2.4.0"),
        ("==1.8", "==4.40.0", "==4.40.0", "2.6.6"),
        ("==1.8", "==4.20.0", "==4.20.0", "2.0.9"),
        ("==1.8", "==4.20.0", "==4.26.1", "2.1.4"),
        (">=1.8", "==4.20.0", "==4.39.0", "2.6.6"),
    ],
)
def test_what_the_command_line_asks_for(lightning: str, before: str, after: str, target: str) -> None:
    text = text_of(f"lightning{lightning}", f"jsonargparse[signatures]{before}")
    changed = moved({"requirements.txt": text}, CLI, target)["requirements.txt"]
    assert changed.splitlines()[1] == f"jsonargparse[signatures]{after}"


LOGGER = f"{USES}from pytorch_lightning.loggers import WandbLogger\n\nlogger = WandbLogger()\n"


@pytest.mark.parametrize(
    ("before", "after", "target"),
    [
        ("==0.10.19", "==0.18.7", "2.6.6"),
        (">=0.10,<0.12", ">=0.10,<0.19", "2.6.6"),
        (">=0.10", ">=0.10", "2.6.6"),
        ("==0.13.0", "==0.13.0", "2.6.6"),
        ("==0.10.19", "==0.10.19", "2.0.9"),
    ],
)
def test_what_the_logger_of_wandb_asks_for(before: str, after: str, target: str) -> None:
    text = text_of("lightning==1.8", f"wandb{before}")
    assert moved({"requirements.txt": text}, LOGGER, target)["requirements.txt"].splitlines()[1] == f"wandb{after}"
    if before != after:
        (said,) = [item for item in told({"requirements.txt": text}, LOGGER) if item[1] == 2]
        assert said[2] == "safe" and "WandbLogger of Lightning 2.6.6 needs wandb>=0.12.10" in said[3]


def test_without_its_logger_wandb_stays() -> None:
    text = text_of("lightning==1.8", "wandb==0.10.19")
    assert "wandb==0.10.19" in moved({"requirements.txt": text}, f"import wandb\n{USES}")["requirements.txt"]


def test_command_line_that_holds_lightning_back_is_said() -> None:
    text = text_of("lightning[extra]>=1.8", "jsonargparse[signatures]==4.20.0")
    (said,) = [item for item in told({"requirements.txt": text}, CLI) if item[1] == 2]
    assert said[2] == "manual" and "Lightning 2.0 is the newest that can be installed" in said[3]
    parser = f"from jsonargparse import ArgumentParser\n{CLI}"
    exact = {"requirements.txt": text.replace(">=1.8", "==1.8")}
    assert [item[2] for item in told(exact, parser) if item[1] == 2] == ["unsafe"]


@pytest.mark.parametrize(
    ("files", "word"),
    [
        ({"requirements.txt": text_of("lightning==1.8", "torch==1.12.1+cu113")}, "CUDA"),
        ({"environment.yml": "dependencies:\n- pytorch=1.7.1\n- pip:\n  - lightning==1.8\n"}, "the channel pytorch"),
        ({"requirements.txt": "lightning==1.8\ntorch==2.2\n", "requirements_old.txt": "torch==1.7.1\n"}, "same"),
        ({"requirements.txt": text_of("lightning==1.8", "numpy==1.18.5 --hash=sha256:00")}, "hashes"),
        ({"environment.yml": "dependencies:\n- python=3.8.5\n- scipy=1.5\n- pip:\n  - lightning==1.8\n"}, "3.10"),
        ({"Pipfile": '[packages]\nlightning = "==1.8"\n[requires]\npython_version = "3.7"\n'}, "3.10"),
        ({"requirements.txt": text_of("lightning==1.8", "torch==1.7.1 --hash=sha256:00")}, "hashes"),
    ],
)
def test_left_to_a_person(files: dict[str, str], word: str) -> None:
    after = moved(files)
    assert "1.8" not in [line.partition("==")[2] for line in "".join(after.values()).splitlines()]
    said = [text for _, _, fix, text in told(files) if fix == "manual"]
    assert len(said) == 1 and word in said[0]


def test_extras_are_judged_with_what_is_asked_for_in_any_case() -> None:
    text = (
        '[project]\ndependencies = ["lightning>=1.8"]\n[project.optional-dependencies]\n'
        'old = ["torch==1.13.1"]\nexact = ["lightning==1.9.5", "torch==1.13.1"]\n'
    )
    after = moved({"pyproject.toml": text})["pyproject.toml"]
    assert 'old = ["torch==1.13.1"]' in after
    assert 'exact = ["lightning==2.6.6", "torch==2.3.1"]' in after


def test_a_split_of_files_is_one_project() -> None:
    files = {"requirements/base.txt": "lightning==1.8\n", "requirements/torch.txt": "torch==1.7.1\n"}
    assert moved(files)["requirements/torch.txt"] == "torch==2.3.1\n"
    apart = {"requirements.txt": "lightning==1.8\n", "b/requirements.txt": "torch==1.7.1\n", "b/x.py": "import torch\n"}
    assert moved(apart)["b/requirements.txt"] == "torch==1.7.1\n"


@pytest.mark.parametrize(
    ("lightning", "before", "after"),
    [
        ("==1.8", ">=3.7", ">=3.10"),
        (">=1.8", ">=3.7", ">=3.8"),
        (">=1.8", ">=3.8", ">=3.8"),
        ("==1.8", ">=3.11", ">=3.11"),
    ],
)
def test_python(lightning: str, before: str, after: str) -> None:
    text = f'[project]\nrequires-python = "{before}"\ndependencies = ["lightning{lightning}"]\n'
    assert f'requires-python = "{after}"' in moved({"pyproject.toml": text})["pyproject.toml"]


def test_older_targets_have_their_own_needs() -> None:
    text = text_of("lightning==1.8", "torch==1.13.1", "setuptools>=60")
    after = moved({"requirements.txt": text}, target="2.2.5")["requirements.txt"]
    assert after == text_of("lightning==2.2.5", "torch==1.13.1", "setuptools>=60,<82")
    after = moved({"requirements.txt": text}, target="2.3.3")["requirements.txt"]
    assert after == text_of("lightning==2.3.3", "torch==2.3.1", "setuptools>=60,<82")
    said = told({"requirements.txt": "lightning==1.8\n"}, target="2.0.9")
    assert any("add setuptools<82" in text for _, _, _, text in said)


def test_numpy_that_nobody_asks_for_comes_with_torchmetrics() -> None:
    code = "import numpy as np\nfrom pytorch_lightning import Trainer\nTrainer(gpus=1)\n"
    assert [item[2] for item in told({"requirements.txt": "lightning==1.8\n"}, code)] == ["safe"]


@pytest.mark.parametrize(
    ("before", "after", "target"),
    [
        ("numpy==1.18.5", "numpy==1.23.5", "2.6.6"),
        ("numpy ~= 1.19.2", "numpy ~= 1.23.5", "2.6.6"),
        ("numpy>=1.16,<1.20", "numpy>=1.16,<1.24", "2.6.6"),
        ("numpy<=1.20.3", "numpy<=1.23.5", "2.6.6"),
        ("numpy==1.18.5", "numpy==1.23.5", "2.5.6"),
        ("numpy==1.20.3", "numpy==1.20.3", "2.5.6"),
        ("numpy==1.18.5", "numpy==1.18.5", "2.4.0"),
        ("numpy==1.22.0", "numpy==1.22.0", "2.6.6"),
        ("numpy>=1.18", "numpy>=1.18", "2.6.6"),
        ("numpy", "numpy", "2.6.6"),
    ],
)
def test_numpy_that_has_no_build_for_the_python(before: str, after: str, target: str) -> None:
    text = text_of("lightning==1.8", before)
    assert moved({"requirements.txt": text}, target=target)["requirements.txt"].splitlines()[1] == after


def test_an_ignored_requirement_moves_nothing() -> None:
    text = text_of("lightning==1.8  # fixer: ignore[PIN001]", "torch==1.7.1")
    assert moved({"requirements.txt": text})["requirements.txt"] == text


def test_other_generations_are_named() -> None:
    new = "from pytorch_lightning import Trainer\nTrainer(accelerator='cpu')\n"
    files = {"requirements.txt": "lightning==1.8\n", "b/requirements.txt": "lightning==2.2.0\n", "b/train.py": new}
    assert moved(files)["b/requirements.txt"] == "lightning==2.2.0\n"
    assert any("b/requirements.txt (lightning==2.2.0)" in item[3] for item in told(files))


def test_the_table_covers_every_target() -> None:
    names = [minor.name for minor in minors()]
    assert names == ["2.0", "2.1", "2.2", "2.3", "2.4", "2.5", "2.6"]
    for minor in minors():
        assert set(minor.beside) == {*BESIDE, "numpy"}
        assert all(Version(need.floor) <= Version(need.exact) for need in minor.beside.values())
        assert minor_of(f"{minor.name}.1") is minor


def test_builds_of_one_release_move_together_or_not_at_all() -> None:
    marked = 'torch==1.13.1+cu117; platform_machine == "x86_64"', 'torch==1.13.1; platform_machine != "x86_64"'
    text = text_of("lightning==1.8", *marked, 'torchvision==0.14.1; platform_machine != "x86_64"')
    assert moved({"requirements.txt": text})["requirements.txt"] == text.replace("lightning==1.8", "lightning==2.6.6")
    said = {line: why for _, line, fix, why in told({"requirements.txt": text}) if fix == "manual"}
    assert "`cu117`" in said[2]
    assert all("raise it together with torch==1.13.1+cu117" in said[line] for line in (3, 4))


@pytest.mark.parametrize(
    ("before", "wanted"),
    [
        ("typing-extensions==3.7.4.3", "typing-extensions==4.6.0"),
        ("typing_extensions>=3.7,<4", "typing_extensions>=3.7,<5"),
        ("packaging==21.3", "packaging==23.0"),
        ("tqdm==4.46.0", "tqdm==4.57.0"),
        ("PyYAML==5.3.1", "PyYAML==6.0.1"),
        ("fsspec==2021.4.0", "fsspec==2022.5.0"),
        ("PyYAML==5.4.1", "PyYAML==5.4.1"),
        ("tqdm>=4.40", "tqdm>=4.40"),
        ("typing-extensions==4.6.0", "typing-extensions==4.6.0"),
    ],
)
def test_what_lightning_asks_for_besides_goes_along(before: str, wanted: str) -> None:
    text = text_of("pytorch-lightning==1.8.6", before)
    assert moved({"requirements.txt": text})["requirements.txt"].splitlines()[1] == wanted
    assert moved({"requirements.txt": text}, code="import pytorch_lightning\n")["requirements.txt"] == text


def test_what_lightning_asks_for_besides_stays_where_an_older_one_does() -> None:
    text = text_of("pytorch-lightning>=1.8", "packaging==21.3")
    assert moved({"requirements.txt": text})["requirements.txt"].splitlines()[1] == "packaging==21.3"
    said = [why for _, line, fix, why in told({"requirements.txt": text}) if (line, fix) == (2, "manual")]
    assert len(said) == 1 and "Lightning 2.5 is the newest that can be installed" in said[0]


def test_what_goes_along_in_any_case_raises_nothing_else() -> None:
    text = text_of("pytorch-lightning>=1.8", "torch==1.13.1", "tqdm==4.46.0")
    assert moved({"requirements.txt": text})["requirements.txt"].splitlines()[1:] == ["torch==1.13.1", "tqdm==4.57.0"]


def test_a_yaml_that_code_imports_is_raised_when_asked_to() -> None:
    text = text_of("pytorch-lightning==1.8.6", "PyYAML==5.3.1")
    code = f"import yaml\n{CODE}"
    assert moved({"requirements.txt": text}, code=code)["requirements.txt"].splitlines()[1] == "PyYAML==5.3.1"
    raised = moved({"requirements.txt": text}, code=code, unsafe=True)["requirements.txt"]
    assert raised.splitlines()[1] == "PyYAML==6.0.1"


@pytest.mark.parametrize("invalid", ["torch<1.9+cu111", "torch~=2"])
def test_a_torch_that_no_tool_reads_is_named(invalid: str) -> None:
    text = text_of("pytorch-lightning==1.8.6", invalid)
    assert moved({"requirements.txt": text})["requirements.txt"].splitlines()[1] == invalid
    (said,) = [why for _, line, _, why in told({"requirements.txt": text}) if line == 2]
    assert "is not a valid requirement" in said and "needs `torch>=2.1.0`" in said
    assert told({"requirements.txt": text}, code="import pytorch_lightning\n") == told(
        {"requirements.txt": text_of("pytorch-lightning==1.8.6")}, code="import pytorch_lightning\n"
    )


def test_requirements_of_conda_are_called_as_they_are_there() -> None:
    listed = "dependencies:\n  - pytorch=1.7.1\n  - python>=3.7\n  - pytorch-lightning=1.8.6\n"
    said = " ".join(why for *_, why in told({"environment.yml": listed}))
    assert "`pytorch=1.7.1`, `python>=3.7` cannot be installed with" in said and "`torch=" not in said


def test_what_goes_along_is_left_to_whoever_knows_the_channels() -> None:
    text = "dependencies:\n  - pytorch-lightning=1.8.6\n  - packaging=21.3\n"
    assert "packaging=21.3" in moved({"environment.yml": text}, unsafe=True)["environment.yml"]
    assert any("raise it to a release that is in its channels" in why for *_, why in told({"environment.yml": text}))


@pytest.mark.parametrize(
    ("build", "reason"),
    [
        ("cpu", "builds for the CPU: choose the build of the machine that it is for, with --extra-index-url https"),
        ("cu118", "builds for one CUDA: choose the build of the machine that it is for, with --extra-index-url https"),
        ("rocm4.2", "it names one build, `rocm4.2`"),
    ],
)
def test_a_build_that_is_named_is_left(build: str, reason: str) -> None:
    files = {"requirements.txt": text_of("lightning==1.8", f"torch==1.8.1+{build}")}
    (text,) = (text for *_, text in told(files) if text.startswith("`torch=="))
    assert reason in text
    assert f"torch==1.8.1+{build}" in moved(files)["requirements.txt"]


def test_a_build_that_an_image_names_is_told() -> None:
    image = "RUN pip install torch==1.8.1+cpu\nRUN pip install lightning==1.8\n"
    (text,) = (text for *_, text in told({"Dockerfile": image}) if text.startswith("`torch=="))
    assert "it names one build, `cpu`" in text
