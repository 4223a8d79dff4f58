"""Whether what was installed can be imported, and what to install where it cannot."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from verify.environments.distributions import distribution, modules_of, names_of
from verify.environments.installer import Installer, installed_version
from verify.harness import HARNESS

ROUNDS = 5
_MARK = "fixer-loads "
_ENDED = "it ends the interpreter"
_IMPORTS = """
import importlib, importlib.metadata, json, os, re, sys
asked, lent, mark, ended = json.loads(sys.argv[1])
told = os.fdopen(os.dup(1), "w")
nowhere = os.open(os.devnull, os.O_WRONLY)
os.dup2(nowhere, 1), os.dup2(nowhere, 2)
def plain(name):
    return re.sub(r"[-_.]+", "-", name).lower()
brings = {}
for name, owners in importlib.metadata.packages_distributions().items():
    for owner in owners:
        brings.setdefault(plain(owner), []).append(name)
for line in lent:
    try:
        exec(line, {"__name__": "lent"})
    except Exception:
        pass
for dist, names in asked.items():
    for name in [name for name in brings.get(dist, []) if plain(name) == dist or name in names]:
        wrong = ""
        print(mark + json.dumps([dist, ended]), file=told, flush=True)
        try:
            importlib.import_module(name)
        except BaseException as error:
            wrong = type(error).__name__ + ": " + str(error)[:1000]
        print(mark + json.dumps([dist, wrong]), file=told, flush=True)
        if wrong:
            break
here = os.path.join(sys.prefix, "")
files = [getattr(module, "__file__", None) or "" for module in list(sys.modules.values())]
folders = {os.path.dirname(os.path.relpath(file, here)) for file in files if file.startswith(here)}
print(mark + json.dumps(["", sorted(folders)]), file=told, flush=True)
os._exit(0)
"""
_OLD_NAMES = (
    "import numpy, torch; numpy.Inf, torch.optim.lr_scheduler._LRScheduler = "
    "numpy.inf, torch.optim.lr_scheduler.LRScheduler"
)
OPERATORS = (
    "import torch; nms = '(Tensor dets, Tensor scores, float iou_threshold) -> Tensor';"
    "[torch.library.define(f'torchvision::{name}', nms) for name in ('nms', 'qnms')]"
)
_PYTHON = HARNESS.with_name("compat_shims.py").read_text(encoding="utf-8") + "\nlend_python({})"
"""What Python itself had: no other version of a package that asks for it may be there."""
_REMEDIES = (
    (r"module 'numpy' has no attribute '(?:complex|float|int|bool|object|str|long|unicode|typeDict)'", "numpy<1.24"),
    (r"numpy\.exceptions", "numpy>=1.25,<2"),
    (r"NumPy 2\.0|NumPy 1\.x|_ARRAY_API|numpy\.dtype size changed|numpy\.core|'numpy' has no attribute", "numpy<2"),
    (r"'pkg_resources'", "setuptools<82"),
    (r"sndfile", "soundfile>=0.12"),
)
LATE = ("soundfile",)
"""Packages that others load when they are used, not when they are imported, and whose releases do not all bring the
library that they need (soundfile does since 0.12, by the wheels for a platform)."""
_FORGETFUL = ("1.4.", "1.5.", "1.6.", "1.7.")
"""Releases that use names which NumPy and torch dropped since."""
_MISSING = re.compile(r"ModuleNotFoundError: No module named '(\w+)'")


@dataclass
class Repair:
    """What is tried, one after the other, for packages of one environment that do not load."""

    folder: Path
    installer: Installer
    held: tuple[str, ...]
    dated: tuple[str, ...]
    overrides: tuple[str, ...]
    loaded: set[str] = field(default_factory=set)
    """The folders of the environment that the packages load modules from, relative to it."""
    _tried: set[tuple[str, ...]] = field(default_factory=set)
    _others: list[str] = field(default_factory=list)

    def run(self, lines: Sequence[str], lightning: str) -> Mapping[str, str]:
        """Install other versions until all loads, or nothing is left to try; what does not load then is returned.

        `lightning` is the requirement on Lightning's release, which is tried as well.
        """
        names = [str(canonicalize_name(Requirement(line).name)) for line in (lightning, *lines)]
        names += [name for name in LATE if name not in names and installed_version(self.folder, name)]
        self._others = [name for name in names[1:] if name not in self._held_names]
        failing = unloadable(self.folder, self.installer, names, lightning, self.loaded)
        moved = False
        for _ in range(ROUNDS):
            tried = [self._try(name, error) for name, error in failing.items()]
            if not any(tried):
                break
            moved = True
            failing = unloadable(self.folder, self.installer, failing, lightning, self.loaded)
        return unloadable(self.folder, self.installer, names, lightning, self.loaded) if moved else failing

    def _try(self, name: str, error: str) -> bool:
        """Install the first thing that was not tried yet; whether anything was."""
        for asked in self._ideas(name, error):
            if (key := tuple(asked)) not in self._tried:
                self._tried.add(key)
                moved = canonicalize_name(Requirement(asked[-1]).name)
                kept = [line for line in self.overrides if canonicalize_name(Requirement(line).name) != moved]
                if not self.installer.install(self.folder, asked, kept):
                    return True
        return False

    def _ideas(self, name: str, error: str) -> Iterator[list[str]]:
        for pattern, line in _REMEDIES:
            if re.search(pattern, error):
                # with the others, of which some may need what is moved to be newer: SciPy is built for one NumPy
                others = [other for other in self._others if other != Requirement(line).name]
                for more in (others, []):
                    yield from ([*flags, *self._besides(line), *more, line] for flags in self._days())
        match = _MISSING.search(error)
        lacking = distribution(match[1]) if match and not self._is_elsewhere(match[1]) else None
        if lacking:
            yield from ([*flags, *self.held, lacking] for flags in self._days())
        if name not in self._held_names:
            yield from ([*flags, *self.held, f"--upgrade-package={name}", name] for flags in self._days())

    @property
    def _held_names(self) -> set[str]:
        return {str(canonicalize_name(Requirement(line).name)) for line in self.held}

    def _is_elsewhere(self, package: str) -> bool:
        """Whether the project takes a package from an address: no index is asked for it."""
        return not names_of(package).isdisjoint(self.installer.origins.barred(()))

    def _days(self) -> Iterable[tuple[str, ...]]:
        return dict.fromkeys((self.dated, ()))

    def _besides(self, line: str) -> list[str]:
        name = Requirement(line).name
        return [held for held in self.held if Requirement(held).name != name]


def unloadable(
    folder: Path, installer: Installer, names: Iterable[str], lightning: str, loaded: set[str]
) -> dict[str, str]:
    """Which of these distributions cannot be imported in an environment, and the exception of each. The folders that
    the others load modules from are added to `loaded`.

    What the harness lends to old packages is lent here too.
    """
    lent = [_PYTHON]
    lent += [_OLD_NAMES] if lightning.partition("==")[2].startswith(_FORGETFUL) else []
    if not list(folder.glob("[Ll]ib*/**/torchvision/_C*")):
        lent.append(OPERATORS)
    found: dict[str, str] = {}
    left = list(dict.fromkeys(names))
    while left:
        asked = json.dumps([{name: modules_of(name) for name in left}, lent, _MARK, _ENDED])
        said = installer.says(folder, _IMPORTS, asked).splitlines()
        told = list(_told(line.removeprefix(_MARK) for line in said if line.startswith(_MARK)))
        found |= {name: wrong for name, wrong in told if name in left and isinstance(wrong, str)}
        loaded.update(place for _, places in told if isinstance(places, list) for place in map(str, places))
        ended = next((name for name in left if found.get(name) == _ENDED), None)
        left = left[left.index(ended) + 1 :] if ended else []
    return {name: wrong for name, wrong in found.items() if wrong}


def _told(lines: Iterable[str]) -> Iterator[tuple[str, object]]:
    """What was said, by name: packages can print such lines too, and other ones."""
    for line in lines:
        with contextlib.suppress(ValueError, TypeError, RecursionError):
            name, said = json.loads(line)
            if isinstance(name, str):
                yield name, said
