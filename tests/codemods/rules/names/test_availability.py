"""LIT001: flags of what is installed, which say the same by another name."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path

import pytest
from lightning.pytorch.accelerators import XLAAccelerator
from lightning_utilities.core.imports import module_available

from codemods.rules.names.availability import HOLDS, MODULES
from tests.codemods.support import refusals, rewritten, rule

GONE = Path(inspect.getfile(importlib.import_module("codemods.rules.names.lit001"))).with_name("gone.csv")
UTILITIES = "pytorch_lightning.utilities"


def after(text: str, **others: str) -> str:
    files = {"a.py": text, **{f"{name}.py": other for name, other in others.items()}}
    return rewritten(files, rule("LIT001"))["a.py"]


def test_the_flags_are_names_that_went() -> None:
    lines = GONE.read_text(encoding="utf-8").splitlines()
    gone = {line.partition(",")[0].rpartition(".")[2] for line in lines}
    assert MODULES.keys() <= gone
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
        f"from {UTILITIES} import _APEX_AVAILABLE, _TPU_AVAILABLE\n"
        f"from {UTILITIES}.imports import _HYDRA_AVAILABLE as HYDRA, _TORCH_GREATER_EQUAL_1_8\n\n\n"
        "@pytest.mark.skipif(not _APEX_AVAILABLE, reason='no apex')\n"
        "def test(on=_TPU_AVAILABLE):\n    assert (HYDRA or on) and _TORCH_GREATER_EQUAL_1_8\n"
    )
    made = after(text)
    assert made == (
        "import pytest\n"
        "from lightning_utilities.core.imports import module_available\n"
        "from pytorch_lightning.accelerators import XLAAccelerator\n\n\n"
        "@pytest.mark.skipif(not module_available(\"apex.amp\"), reason='no apex')\n"
        'def test(on=XLAAccelerator.is_available()):\n    assert (module_available("hydra") or on) and True\n'
    )
    assert after(made) == made
    assert module_available("apex.amp") is False
    assert module_available("torch.nn") is True


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


def test_a_flag_that_moved_is_taken_from_its_new_place() -> None:
    made = after(f"from {UTILITIES} import _RICH_AVAILABLE\n\nprint(_RICH_AVAILABLE)\n")
    assert made == f"from {UTILITIES}.imports import _RICH_AVAILABLE\n\nprint(_RICH_AVAILABLE)\n"
    assert hasattr(importlib.import_module(f"{UTILITIES}.imports"), "_RICH_AVAILABLE")


def test_what_another_file_takes_is_left() -> None:
    files = {
        "pkg/__init__.py": "",
        "pkg/flags.py": f"from {UTILITIES} import _APEX_AVAILABLE\n\nprint(_APEX_AVAILABLE)\n",
        "pkg/use.py": "from pkg.flags import _APEX_AVAILABLE\n\nprint(_APEX_AVAILABLE)\n",
    }
    assert refusals(files, "LIT001")
