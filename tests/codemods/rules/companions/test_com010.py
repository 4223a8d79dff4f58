"""COM010: modules of numpy.lib that are gone, against the NumPy that runs the tests."""

from __future__ import annotations

import importlib.util

import numpy
import pytest

from codemods.rules.companions.com010 import MODULES
from tests.codemods.support import refusals, rewritten, rule

COM = rule("COM010")


@pytest.mark.skipif(int(numpy.__version__.partition(".")[0]) < 2, reason="NumPy 1 has the modules")
@pytest.mark.parametrize("module", sorted(MODULES))
def test_each_module_is_gone_and_its_names_are_numpys(module: str) -> None:
    assert importlib.util.find_spec(module) is None
    assert [name for name in MODULES[module] if not hasattr(numpy, name)] == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("from numpy.lib.arraysetops import isin\n", "from numpy import isin\n"),
        (
            "from numpy.lib.function_base import (\n    average,  # of all\n)\n",
            "from numpy import (\n    average,  # of all\n)\n",
        ),
        ("if a:\n    from numpy.lib.shape_base import tile\n", "if a:\n    from numpy import tile\n"),
        ("from .numpy.lib.shape_base import tile\n", None),
        ("from numpy.lib.npyio import NpzFile\n", None),
        ("from numpy.lib.function_base import *\n", None),
        ("import numpy.lib.shape_base as shapes\n", None),
    ],
)
def test_rewritten(before: str, after: str | None) -> None:
    assert rewritten({"a.py": before}, COM) == {"a.py": after or before}
    assert rewritten({"a.py": after or before}, COM) == {"a.py": after or before}


@pytest.mark.parametrize(
    "text", ["from numpy.lib.utils import byte_bounds\n", "import numpy.lib.shape_base as shapes\n"]
)
def test_what_has_no_other_name_is_said(text: str) -> None:
    assert len(refusals({"a.py": text}, "COM010")) == 1


def test_the_result_runs_and_gives_the_same() -> None:
    before = {"a.py": "from numpy.lib.function_base import average\n\nmade = average([1, 2, 6])\n"}
    space: dict[str, object] = {}
    exec(rewritten(before, COM)["a.py"], space)
    assert space["made"] == 3
