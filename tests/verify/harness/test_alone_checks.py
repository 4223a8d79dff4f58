"""Batches that checks of the project's ask for."""

from __future__ import annotations

import importlib.util
import linecache
import traceback
from pathlib import Path
from typing import Any

import pytest
import torch

from verify.harness.alone_batches import leaf, make
from verify.harness.alone_changes import Trouble, sane
from verify.harness.alone_checks import checked
from verify.harness.alone_tries import generator

SPEC = {"keys": {"video": leaf([4, 3, 32, 32]), "mask": leaf([4, 12])}, "kind": "dict"}


def trouble(folder: Path, lines: str) -> Trouble:
    """What code of a project raises that is given a batch."""
    script = folder / "step.py"
    script.write_text("K, WANTED = 7, (4, 5)\n\n\ndef step(batch, size=24):\n" + lines)
    linecache.checkcache(str(script))
    spec = importlib.util.spec_from_file_location("step", script)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    made = make(SPEC, generator(1))
    try:
        module.step(made)
    except Exception as error:
        frames = tuple(traceback.walk_tb(error.__traceback__))
        return Trouble(error, frames, SPEC, made, torch.nn.Linear(3, 1), str(folder))
    raise AssertionError("it raised nothing")


def shapes(spec: Any) -> tuple[list[int], list[int]]:
    return spec["keys"]["video"]["shape"], spec["keys"]["mask"]["shape"]


@pytest.mark.parametrize(
    ("lines", "video", "mask"),
    [
        ("    assert batch['video'].shape[1] == K\n", [4, 7, 32, 32], [4, 12]),
        ("    assert batch['video'].size(-1) == K, 'of another size'\n", [4, 3, 32, 7], [4, 12]),
        ("    x = batch['mask']\n    assert len(x.shape) == 2 and x.shape[1] == size\n", [4, 3, 32, 32], [4, 24]),
        ("    if batch['video'].shape[1] != K:\n        raise ValueError('no')\n", [4, 7, 32, 32], [4, 12]),
        ("    x = batch['mask']\n    if not x.ndim == 3:\n        raise ValueError\n", [4, 3, 32, 32], [4, 12, 12]),
        ("    x = batch['mask'] * 2\n    assert x.shape[-1] % K == 0\n", [4, 3, 32, 32], [4, 14]),
        ("    assert batch['mask'].shape[-1] > size\n", [4, 3, 32, 32], [4, 25]),
        ("    assert size <= batch['mask'].shape[-1] <= 99\n", [4, 3, 32, 32], [4, 24]),
        ("    assert batch['mask'].shape == WANTED\n", [4, 3, 32, 32], [4, 5]),
        ("    assert tuple(batch['video'].shape[-2:]) == (16, 24)\n", [4, 3, 16, 24], [4, 12]),
        ("    assert batch['mask'].shape == batch['video'].shape\n", [4, 3, 32, 32], [4, 3, 32, 32]),
        ("    n = batch['mask'].shape[1]\n    assert n in (8, 9)\n", [4, 3, 32, 32], [4, 8]),
    ],
)
def test_a_batch_becomes_what_a_check_compares(lines: str, video: list[int], mask: list[int], tmp_path: Path) -> None:
    found = list(sane(checked(trouble(tmp_path, lines))))
    assert found and shapes(found[0]) == (video, mask)


@pytest.mark.parametrize(
    "lines",
    [
        "    assert False, 'never'\n",
        "    assert batch['mask'].sum() < 0\n",
        "    assert batch['mask'].shape[1] == 'wide'\n",
        "    assert batch['mask'].shape[1] == -1\n",
        "    assert isinstance(batch, list)\n",
        "    if size == 24:\n        raise ValueError('of the arguments alone')\n",
        "    if batch['mask'].shape[1] == 12:\n        raise ValueError('anything but this')\n",
        "    batch['nothing']\n",
    ],
)
def test_what_compares_no_sizes_asks_for_no_batch(lines: str, tmp_path: Path) -> None:
    assert not list(sane(checked(trouble(tmp_path, lines))))
