"""LIT001: imports of names that are gone and that nothing reads."""

from __future__ import annotations

import pytest

from tests.codemods.support import refusals, rewritten, rule

IMPORT = "from pytorch_lightning.overrides.data_parallel import LightningDistributedDataParallel\n"
TEXT = f"{IMPORT}import torch\n\nprint(torch)\n"
STAR = "from a import *\n\nprint(LightningDistributedDataParallel)\n"


@pytest.mark.parametrize("text", [TEXT, TEXT.replace("Parallel\n", "Parallel as Wrapper\n")])
def test_an_import_that_nothing_reads_goes(text: str) -> None:
    assert rewritten({"a.py": text}, rule("LIT001"))["a.py"] == "import torch\n\nprint(torch)\n"


@pytest.mark.parametrize(
    "files",
    [
        {"a.py": TEXT + "print(LightningDistributedDataParallel)\n"},
        {"a.py": TEXT + '__all__ = ["LightningDistributedDataParallel"]\n'},
        {"a.py": TEXT, "b.py": "from a import LightningDistributedDataParallel\n"},
        {"a.py": TEXT, "b.py": STAR},
        {"a.py": f"{TEXT}__all__ = []\n__all__ += given()\n", "b.py": STAR},
        {"a.py": f"{TEXT}__all__ = given()\n", "b.py": STAR},
        {"pkg/__init__.py": TEXT},
        {"a.py": IMPORT},
        {"a.py": TEXT.replace("Parallel\n", "Parallel  # noqa: F401\n")},
        {"a.py": f"try:\n    {IMPORT}except ImportError:\n    pass\n"},
    ],
)
def test_an_import_that_something_may_read_is_left(files: dict[str, str]) -> None:
    assert len(refusals(files, "LIT001")) == 1


def test_a_star_takes_what_the_module_lists_alone() -> None:
    text = TEXT + '__all__ = ["torch"]\n'
    assert rewritten({"a.py": text, "b.py": STAR}, rule("LIT001"))["a.py"] == text.removeprefix(IMPORT)
