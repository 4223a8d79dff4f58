"""The interpreters that cases are trained in: named by the environment, the one that runs the tests, or built."""

from __future__ import annotations

import os
import re
import sys
import threading
from pathlib import Path

from platformdirs import user_cache_dir

from verify.environments.installer import find
from verify.environments.versions import RequiredVersions, baseline, target

TARGET = "2.6.6"
WANTED = frozenset({"numpy"})


def release_of(name: str) -> str:
    """The release that a case asked for; `target` is the one that runs the tests."""
    return TARGET if name == "target" else name


def packages_of(release: str) -> tuple[str, ...]:
    """The packages under which a release of Lightning is imported."""
    return ("pytorch_lightning",) if release.startswith("1.") else ("pytorch_lightning", "lightning.pytorch")


def python_for(release: str) -> Path:
    """An interpreter with this release of Lightning; `1.9.5 with torchmetrics 0.10.3` asks for more.

    `FIXER_TEST_PYTHON_1_9_5` names one for 1.9.5, and so on (a blank is an underscore too); else it is built into
    fixer's cache, with the torch of the interpreter that runs the tests. Raises Unavailable where it can be neither
    found nor built.
    """
    if named := os.environ.get(f"FIXER_TEST_PYTHON_{re.sub('[. ]', '_', release).upper()}"):
        return Path(named)
    release, _, beside = release.partition(" with ")
    if release == TARGET:
        return Path(sys.executable)
    installer = find(threading.Event())
    cache = Path(user_cache_dir("fixer")) / "environments"
    name = "pytorch-lightning" if release.startswith("1.") else "lightning"
    held = (beside.replace(" ", "=="),) if beside else ()
    wanted = RequiredVersions(name, WANTED | {beside.split()[0]} if beside else WANTED, held)
    after = target(wanted, TARGET, None, installer, cache, _say_nothing)
    pins = (f"{name}=={release}",)
    return baseline(wanted, pins, None, after, TARGET, installer, cache, _say_nothing).interpreter.path


def _say_nothing(message: str) -> None:
    assert message
