"""Memory that the tries of a search may hold: what asks for too much fails alone, and nothing of it is kept."""

from __future__ import annotations

import subprocess
import sys
import traceback
import weakref
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from torch import nn

from tests.verify.harness.test_alone import search
from verify.harness import alone_climb, alone_memory
from verify.harness.alone_arguments import ArgumentHints
from verify.harness.alone_climb import Climb
from verify.harness.alone_data import Offers
from verify.harness.alone_memory import is_refused, tidy
from verify.harness.alone_tries import STEP_SCORE, Attempt, TooLarge, TryBench, TryState, _counting

WIDE = """
import pytorch_lightning as pl
import torch
from torch import nn
from torch.nn import functional as F


class Wide(pl.LightningModule):
    def __init__(self, hidden_dim: int = 8_000):
        super().__init__()
        self.net = nn.Linear(hidden_dim, hidden_dim)

    def training_step(self, batch, batch_idx):
        x, y = batch
        return F.mse_loss(self.net(x), y)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=0.01)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not bound what a process sets aside")
def test_a_training_without_enough_memory_is_one_that_is_too_large(tmp_path: Path) -> None:
    """The weights have room, what Adam adds has none: no layer is called any more when that shows."""
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "wide.py").write_text(WIDE)
    found = search(tmp_path, tmp_path / "project", ("wide.py",), memory=5 * 2**28, most=2**31)
    assert found["Wide"]["event"] == "recipe", found["Wide"].get("why")
    assert found["Wide"]["told"]["smaller"] == "hidden_dim 32 for 8000"


def test_a_try_that_holds_too_much_memory_is_ended_before_the_search_is() -> None:
    counter = _counting([0], 1.0)
    try:
        with pytest.raises(TooLarge, match=r"needs more than 0.* GiB of memory"):
            torch.nn.Linear(2, 2)(torch.rand(1, 2))
    finally:
        counter.remove()


BOUNDED = """
from verify.harness.alone_memory import bounded, held, is_refused
import numpy

def allocate():
    try:
        return numpy.ones(2**27).nbytes
    except MemoryError as error:
        assert is_refused(error)

before = held()
with bounded(before + 2**29):
    print(allocate())
with bounded(float("inf")):
    print(allocate())
print(allocate())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not bound what a process sets aside")
@pytest.mark.parametrize(("most", "said"), [(8 * 2**30, [None, 2**30, 2**30]), (None, [2**30] * 3)])
def test_an_allocation_fails_where_the_process_is_bounded_already(most: int | None, said: list[int | None]) -> None:
    set_limit = f"import resource\nresource.setrlimit(resource.RLIMIT_DATA, ({most},) * 2)\n" if most else ""
    done = subprocess.run(
        [sys.executable, "-c", set_limit + BOUNDED],
        cwd=Path(alone_memory.__file__).parents[2],
        capture_output=True,
        text=True,
    )
    assert done.stdout.split() == [str(one) for one in said], done.stderr


@pytest.mark.parametrize(
    ("error", "refused"),
    [
        (MemoryError(), True),
        (RuntimeError("[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory: you "
                      "tried to allocate 4000000000000 bytes. Error code 12 (Cannot allocate memory)"), True),
        (RuntimeError("[enforce fail at alloc_cpu.cpp:117] data. DefaultCPUAllocator: not enough memory: you tried to "
                      "allocate 400000000000 bytes."), True),
        (RuntimeError("std::bad_alloc"), True),
        (OSError(12, "Cannot allocate memory"), True),
        (torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 MiB"), True),
        (RuntimeError("mat1 and mat2 shapes cannot be multiplied (4x3 and 5x6)"), False),
        (ValueError("the memory of this cell cannot allocate memory"), False),
        (KeyError("memory"), False),
    ],
)  # fmt: skip
def test_errors_of_memory_are_told_from_others(error: Exception, refused: bool) -> None:
    assert is_refused(error) is refused


class Large(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Linear(2, 2)

    def forward(self) -> Attempt:
        try:
            raise ValueError(len(list(self.parameters())))
        except ValueError as error:
            frames = tuple(traceback.walk_tb(error.__traceback__))
            return Attempt(error, frames, STEP_SCORE, self, {"items": []}, torch.ones(2))


def test_a_search_holds_one_module_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[weakref.ref[Large]] = []

    def attempt(_: object, __: object, state: TryState, module: Any, *___: object, **____: object) -> Attempt:
        tidy(0)
        assert module is None and all(one() is None for one in built)
        model = Large()
        built.append(weakref.ref(model))
        return replace(model(), score=STEP_SCORE + len(built))

    def children(_: object, __: object, state: TryState, *___: object) -> Iterator[tuple[TryState, float]]:
        if len(built) < 5:
            yield TryState({"width": len(built)}), 0

    monkeypatch.setattr(alone_climb, "attempt", attempt)
    monkeypatch.setattr(alone_climb, "children", children)
    bench = TryBench(None, ".", 1)
    offers = Offers(bench, lambda *_: ModuleType("none"), ())
    cls = type("Any", (), {"__init__": lambda self, width=0: None})
    state, tries, furthest = Climb(bench, cls, ArgumentHints({}), {}, 100, offers).run()
    assert (state, tries, furthest) == (None, len(built), "ValueError: 2")
    assert len(built) == 5
