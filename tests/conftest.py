"""What tests of several folders need."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from hypothesis import settings

from codemods.rule import OthersRules, others_rules, take_others
from tests import warm
from verify.sandbox import process

settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")
"""However loaded a machine is, no example is too slow to be right."""


gc.set_threshold(200_000)
"""As in the process of fixer (`fixer.__main__`): syntax trees are many objects and hardly a cycle."""


def pytest_collection_finish() -> None:
    """All tests, torch and Lightning stay to the end: what there is by now need not be searched again and again."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One process more than there are cores: tests wait a good part of their time for what they started."""
    return (os.cpu_count() or 1) + 1


@pytest.fixture(autouse=True)
def loaded_already(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Proofs of this process run in children of processes that have loaded torch and Lightning (`tests.warm`), but
    for tests that are marked `cold`."""
    if request.node.get_closest_marker("cold") is None:
        starting = SimpleNamespace(**{**vars(subprocess), "Popen": warm.opened})
        monkeypatch.setattr(process, "subprocess", starting)


@pytest.fixture(autouse=True)
def own_rules_alone() -> Iterator[None]:
    """Leaves the next test the rules that are fixer's own, whatever this one loaded."""
    yield
    if others_rules().state:
        take_others(OthersRules())


@pytest.fixture
def interrupts() -> Iterator[None]:
    """Processes that are started take Ctrl-C, also where the tests run in the background of a shell, which ignores
    it for all that it starts there."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
