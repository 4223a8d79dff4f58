"""What of Lightning's a module of the project hands on to others that import it from there."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codemods.code.scopes import BY_STAR, ROOT, canonical

if TYPE_CHECKING:
    from codemods.code.source import PythonFile
    from codemods.lightning.facts import Facts

_DEEP = 8
_PLAIN = (
    "torch.",
    "abc.",
    "typing.",
    "object",
    "enum.",
    "dataclasses.",
    "collections.",
    "unittest.",
    "Exception",
    "numpy.",
    "pandas.",
    "scipy.",
    "sklearn.",
    "matplotlib.",
    "PIL.",
    "cv2.",
    "tqdm.",
)
"""What no class of Lightning's comes from, nor any name that stands for one."""


@dataclass(frozen=True)
class Reexport:
    """What of Lightning's a name of the project stands for, and the file that takes it from there; `sure` says that
    nothing on the way may have another thing by that name."""

    name: str
    path: str
    sure: bool


def taken(facts: Facts, dotted: str, near: str) -> Reexport | None:
    """What of Lightning's a dotted name of a module of the project stands for, which imports it by itself, with its
    package or by a star, as far as that is followed."""
    sure = True
    for _ in range(_DEEP):
        step = _taken_by(facts, dotted.split("."), near)
        if step is None or step.name == dotted:
            return None
        dotted, near, sure = step.name, step.path, sure and step.sure
        if dotted.startswith(f"{ROOT}."):
            return Reexport(dotted, near, sure)
    return None


def _taken_by(facts: Facts, parts: Sequence[str], near: str) -> Reexport | None:
    """What the longest beginning of a name that is a module of the project has by the name behind it."""
    for end in range(len(parts) - 1, 0, -1):
        path = facts.path_of(".".join(parts[:end]), near)
        file = facts.open(path) if path else None
        if file is not None:
            name = parts[end]
            if name not in file.scope.bindings and (star := starred(facts, file, name)):
                return Reexport(".".join([star, *parts[end:]]), file.path, True)
            found = file.scope.lookup(name) or _by_lightnings_star(file, name)
            whole = canonical(".".join([found, *parts[end + 1 :]])) if found else None
            return Reexport(whole, file.path, not may_hide(facts, file, name)) if whole else None
    return None


def starred(facts: Facts, file: PythonFile, name: str, seen: frozenset[str] = frozenset()) -> str | None:
    """The module of the project that a file has a name from by a star, of which the last wins; None where one whose
    names cannot be seen may bring it too."""
    seen |= {file.path}
    for star in reversed(file.scope.stars):
        path = facts.path_of(star, file.path)
        if path in seen:
            continue
        other = facts.open(path) if path else None
        if other is None:
            if may_bring(facts, star, name, file.path):
                return None
        elif "__all__" in other.text:
            known = facts.files.get(other.path)
            if known is None or known.public is None:
                return None
            if name in known.public:
                return star
        elif not name.startswith("_") and _brings(facts, other, name, seen):
            return star
    return None


def _brings(facts: Facts, file: PythonFile, name: str, seen: frozenset[str]) -> bool:
    """Whether a module of the project has a name, be it by a star of its own."""
    own = name in file.scope.bindings or _by_lightnings_star(file, name) is not None
    return own or starred(facts, file, name, seen) is not None


def _by_lightnings_star(file: PythonFile, name: str) -> str | None:
    """What a name is that `from pytorch_lightning import *` brings, and perhaps another star too."""
    stars = file.scope.stars if name in BY_STAR and name not in file.scope.bindings else ()
    return f"{ROOT}.{name}" if any(canonical(star) == ROOT for star in stars) else None


def may_hide(facts: Facts, file: PythonFile, name: str) -> bool:
    """Whether a module may bind a name that it imports anew: by a class, or by a star of what is not Lightning."""
    stars = [star for star in file.scope.stars if not canonical(star).startswith(ROOT)]
    return any(item.qualname == name for item in file.classes) or any(
        may_bring(facts, star, name, file.path) for star in stars
    )


def may_bring(facts: Facts, star: str, name: str, near: str) -> bool:
    """Whether a star of a module may bring a name; one that is not seen may bring any."""
    if is_plain(f"{star}.") or star.partition(".")[0] in sys.stdlib_module_names:
        return False
    path = facts.path_of(star, near)
    file = facts.open(path) if path else None
    return file is None or name in file.scope.bindings or bool(file.scope.stars)


def is_plain(base: str | None) -> bool:
    """Whether a base from outside the project certainly is no Lightning class."""
    return base is not None and base.startswith(_PLAIN)
