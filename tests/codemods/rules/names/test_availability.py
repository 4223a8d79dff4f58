"""LIT001: flags of what is installed, which say the same by another name."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path

import pytest
from lightning.pytorch.accelerators import XLAAccelerator
from lightning_utilities.core.imports import RequirementCache, module_available, package_available

from codemods.rules.names.availability import FLAGS, HOLDS
from tests.codemods.support import refusals, rewritten, rule

GONE = Path(inspect.getfile(importlib.import_module("codemods.rules.names.lit001"))).with_name("gone.csv")
UTILITIES = "pytorch_lightning.utilities"


def after(text: str, unsafe: bool = False) -> str:
    return rewritten({"a.py": text}, rule("LIT001"), unsafe=unsafe)["a.py"]


def test_the_flags_are_names_that_went() -> None:
    lines = GONE.read_text(encoding="utf-8").splitlines()
    gone = {line.partition(",")[0].rpartition(".")[2] for line in lines}
    assert set(FLAGS) <= gone
    held = {name for name in gone if HOLDS.fullmatch(name)}
    assert {"_TORCH_GREATER_EQUAL_1_8", "_TORCH_GREATER_EQUAL_2_0", "_PYTHON_GREATER_EQUAL_3_8_0"} <= held


def test_tpus() -> None:
    text = f"from {UTILITIES}.xla_device import XLADeviceUtils\n\nTPU = XLADeviceUtils.tpu_device_exists()\n"
    made = after(text)
    assert made == (
        "from pytorch_lightning.accelerators import XLAAccelerator\n\nTPU = XLAAccelerator.is_available()\n"
    )
    assert after(made) == made
    assert XLAAccelerator.is_available() is False


def test_flags_are_asked_for_where_they_were_read() -> None:
    text = (
        "import pytest\n"
        f"from {UTILITIES} import _HOROVOD_AVAILABLE, _TPU_AVAILABLE\n"
        f"from {UTILITIES}.imports import _TORCHTEXT_AVAILABLE as TEXT, _TORCH_GREATER_EQUAL_1_8\n\n\n"
        "@pytest.mark.skipif(not _HOROVOD_AVAILABLE, reason='no horovod')\n"
        "def test(on=_TPU_AVAILABLE):\n    assert (TEXT or on) and _TORCH_GREATER_EQUAL_1_8\n"
    )
    made = after(text)
    assert made == (
        "import pytest\n"
        "from lightning_utilities.core.imports import module_available\n"
        "from pytorch_lightning.accelerators import XLAAccelerator\n"
        "from lightning_utilities.core.imports import package_available\n\n\n"
        "@pytest.mark.skipif(not module_available(\"horovod.torch\"), reason='no horovod')\n"
        'def test(on=XLAAccelerator.is_available()):\n    assert (package_available("torchtext") or on) and True\n'
    )
    assert after(made) == made
    assert module_available("horovod.torch") is False
    assert module_available("torch.nn") is True


def test_a_package_is_looked_for_without_importing_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the flags did in 1.5.10 and 1.6.5; module_available imports what it is asked for."""
    (tmp_path / "broken_at_import.py").write_text("raise ImportError\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert package_available("broken_at_import")
    assert not module_available("broken_at_import")
    assert bool(RequirementCache("lightning>=999")) is False


def test_several_flags_of_one_statement() -> None:
    text = f"from {UTILITIES}.imports import _DOCSTRING_PARSER_AVAILABLE, _TORCHTEXT_AVAILABLE\n\n"
    made = after(f"{text}BOTH = _DOCSTRING_PARSER_AVAILABLE and _TORCHTEXT_AVAILABLE\n")
    assert made == (
        "from lightning_utilities.core.imports import package_available\n\n"
        'BOTH = package_available("docstring_parser") and package_available("torchtext")\n'
    )
    assert after(made) == made


@pytest.mark.parametrize(
    ("flag", "asked"),
    [
        ("_APEX_AVAILABLE", 'module_available("apex.amp")'),
        ("_DEEPSPEED_AVAILABLE", 'package_available("deepspeed")'),
        ("_HYDRA_AVAILABLE", 'package_available("hydra")'),
        ("_NEPTUNE_AVAILABLE", 'package_available("neptune")'),
        ("_PSUTIL_AVAILABLE", 'package_available("psutil")'),
        ("_WANDB_AVAILABLE", 'package_available("wandb")'),
    ],
)
def test_a_flag_that_came_to_ask_for_a_distribution(flag: str, asked: str) -> None:
    text = f"from {UTILITIES}.imports import {flag}\n\nprint({flag})\n"
    assert after(text) == text
    made = after(text, unsafe=True)
    assert made.endswith(f"\n\nprint({asked})\n") and flag not in made
    assert after(made, unsafe=True) == made


@pytest.mark.parametrize("use", ["print(_JSONARGPARSE_AVAILABLE)\n", "CLI = not _JSONARGPARSE_AVAILABLE\n"])
def test_a_flag_that_came_to_ask_for_a_version(use: str) -> None:
    """1.5 asked for jsonargparse, 1.6 for a release of it; what else the statement imports goes along."""
    names = "_JSONARGPARSE_AVAILABLE, _TORCHVISION_AVAILABLE"
    text = f"from {UTILITIES} import {names}\n\n{use}assert _TORCHVISION_AVAILABLE\n"
    assert after(text) == text
    made = after(text, unsafe=True)
    assert made.startswith(
        "from lightning_utilities.core.imports import RequirementCache\n"
        f"from {UTILITIES}.imports import _TORCHVISION_AVAILABLE\n\n"
    )
    assert use.replace("_JSONARGPARSE_AVAILABLE", 'RequirementCache("jsonargparse>=4.7.1")') in made
    assert after(made, unsafe=True) == made


@pytest.mark.parametrize(
    "text",
    [
        f"from {UTILITIES} import _TPU_AVAILABLE\n\n__all__ = ['_TPU_AVAILABLE']\n",
        f"from {UTILITIES} import _APEX_AVAILABLE\n\n_APEX_AVAILABLE = bool(_APEX_AVAILABLE)\n",
        f"from {UTILITIES}.xla_device import XLADeviceUtils\n\nprint(XLADeviceUtils.xla_available())\n",
        f"from {UTILITIES} import _APEX_AVAILABLE\nfrom mine import module_available\n\nprint(_APEX_AVAILABLE)\n",
        f"from {UTILITIES} import _FAIRSCALE_AVAILABLE\n\nprint(_FAIRSCALE_AVAILABLE)\n",
    ],
    ids=["handed on", "bound again", "another question", "a name that is taken", "its system"],
)
def test_what_they_do_not_say_is_left(text: str) -> None:
    assert refusals({"a.py": text}, "LIT001")


@pytest.mark.parametrize("flag", ["_OMEGACONF_AVAILABLE", "_RICH_AVAILABLE", "_TORCHVISION_AVAILABLE"])
def test_a_flag_that_moved_is_taken_from_its_new_place(flag: str) -> None:
    made = after(f"from {UTILITIES} import {flag}\n\nprint({flag})\n")
    assert made == f"from {UTILITIES}.imports import {flag}\n\nprint({flag})\n"
    assert hasattr(importlib.import_module(f"{UTILITIES}.imports"), flag)


def test_what_another_file_takes_is_left() -> None:
    files = {
        "pkg/__init__.py": "",
        "pkg/flags.py": f"from {UTILITIES} import _APEX_AVAILABLE\n\nprint(_APEX_AVAILABLE)\n",
        "pkg/use.py": "from pkg.flags import _APEX_AVAILABLE\n\nprint(_APEX_AVAILABLE)\n",
    }
    assert refusals(files, "LIT001")
