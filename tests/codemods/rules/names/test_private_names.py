"""Private names that a project imported: named where they are gone, and moved where they do the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests import warm
from tests.codemods.support import rewritten, rule, run_rules
from tests.training.interpreters import python_for

LOGGER = "pytorch_lightning.utilities.logger"
ASKED = """\
import json
from argparse import Namespace

import numpy
from {module} import _add_prefix, _convert_params, _sanitize_params

told = [
    _add_prefix({{"loss": 1.0}}, "train", "-"),
    _add_prefix({{"loss": 1.0}}, "", "-"),
    _convert_params(Namespace(a=1)),
    _convert_params(None),
    _convert_params({{"a": 1}}),
    _sanitize_params({{"a": 1, "b": None, "c": [1], "d": numpy.float64(2), "e": numpy.bool_(True)}}),
    _sanitize_params({{"f": Namespace(x=1)}}),
]
open("told.json", "w").write(json.dumps(told))
"""


@pytest.mark.parametrize("name", ["_add_prefix", "_convert_params", "_sanitize_params"])
def test_helpers_of_loggers_that_do_the_same_are_moved(name: str) -> None:
    before = f"from {LOGGER} import {name}\n\nprint({name})\n"
    after = before.replace(LOGGER, "lightning_fabric.utilities.logger")
    assert rewritten({"a.py": before}, rule("LIT001"))["a.py"] == after


def test_they_gave_the_same(tmp_path: Path) -> None:
    told = []
    for release, module in (("1.8.6", LOGGER), ("2.6.6", "lightning_fabric.utilities.logger")):
        (tmp_path / "ask.py").write_text(ASKED.format(module=module))
        done = warm.program(tmp_path / "ask.py", folder=tmp_path, python=python_for(release))
        assert done.returncode == 0, done.stdout
        told.append(json.loads((tmp_path / "told.json").read_text()))
    assert told[0] == told[1]
    assert told[0][0] == {"train-loss": 1.0}


@pytest.mark.parametrize(
    ("name", "level"),
    [
        ("utilities.logger._flatten_dict", "unsafe"),  # goes into dataclasses and lists of dicts now
        ("utilities.logger._sanitize_callable_params", "unsafe"),  # makes no instance of a class now
        ("utilities.cli._get_short_description", "unsafe"),  # private, and may do something else
        ("loops.utilities._get_active_optimizers", "manual"),
        ("tuner.tuning._run_lr_finder_internally", "manual"),
        ("accelerators.gpu._get_gpu_id", "manual"),
    ],
)
def test_what_is_gone_or_may_be_another_is_named(name: str, level: str) -> None:
    module, _, last = name.rpartition(".")
    text = f"from pytorch_lightning.{module} import {last}\n\nprint({last})\n"
    [found] = run_rules({"a.py": text}, rule("LIT001")).findings
    assert found.fix == level
    assert last in found.message


DERIVED = "from pytorch_lightning.accelerators import GPUAccelerator\n\n\nclass Mine(GPUAccelerator):\n    pass\n"


def test_an_accelerator_that_a_class_is_made_of_is_for_a_person() -> None:
    """Its members are the strategy's since 1.6: under a new name alone the class would still do nothing."""
    [reason] = [item.reason for item in run_rules({"a.py": DERIVED}, rule("LIT001"), unsafe=True).findings]
    assert "a class is made of it" in reason
    asked = DERIVED.replace("class Mine(GPUAccelerator):\n    pass", "print(isinstance(a, GPUAccelerator))")
    assert "CUDAAccelerator)" in rewritten({"a.py": asked}, rule("LIT001"))["a.py"]
