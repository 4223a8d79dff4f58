"""Whether the `gpus` of a section of the configuration can go together with the code that reads or sets it."""

from __future__ import annotations

import re

from codemods.finding import Fix
from codemods.lightning.configurations.owners import ProjectConfiguration

DEVICES = b"devices:"
BESIDE = "other configurations give `devices` already: the code will turn these off too."


def follows_surely(project: ProjectConfiguration, name: str, key: str) -> bool:
    """Whether all that the code does with `gpus` of a section can be done by the new keys, and means the same."""
    return all_renamed(project, name, key) or all_switched(project, name, key)


def all_renamed(project: ProjectConfiguration, name: str, key: str) -> bool:
    """Whether every place that reads `gpus` can read `devices` in its stead, since it has the same value."""
    if not _moves(project, name, key):
        return False
    same = all(_is_devices(value) for value in project.values(name, key))
    return same and all(read.at is not None for _, read in project.reads(name, key))


def all_switched(project: ProjectConfiguration, name: str, key: str, beside: bool = False) -> bool:
    """Whether all that the code does with `gpus` is to ask for none, which the new keys can be told as well; with
    `beside` though configurations give `devices` already."""
    plain = all(value is None or value == 0 or _is_devices(value) for value in project.values(name, key))
    follow = all(read.off for _, read in project.reads(name, key)) and not project.interpolated(name, key)
    return _moves(project, name, key, beside) and plain and follow


def as_sure(project: ProjectConfiguration, name: str, level: Fix, reason: str) -> tuple[Fix, str]:
    """How sure a change of `gpus` in a section is, and why, where the code goes along: it may turn off other
    configurations too."""
    if follows_surely(project, name, "gpus"):
        return level, reason
    return "unsafe", f"{reason.rstrip('.')}; {BESIDE}"


def _moves(project: ProjectConfiguration, name: str, key: str, beside: bool = False) -> bool:
    """Whether all configurations can give up `gpus`, and, unless `beside` holds, none gives `devices`, which the code
    does not read so far."""
    alone = project.can_change(name, key) and (name, "devices") not in project.beside
    return key == "gpus" and alone and (beside or not _gives_devices(project, name))


def _gives_devices(project: ProjectConfiguration, name: str) -> bool:
    """Whether a configuration may set `devices` of a section: it stands in the group of that name, or speaks of it."""
    spoken = re.compile(rf"^\s*{re.escape(name)}\s*:".encode(), re.MULTILINE)
    facts = project.facts
    paths = [path for path in facts.mentions.get(DEVICES, ()) if facts.sources[path].kind == "yaml"]
    return bool(project.values(name, "devices")) or any(
        name in path.split("/")[:-1] or spoken.search(facts.sources[path].data) for path in paths
    )


def _is_devices(value: object) -> bool:
    """Whether a value of `gpus` is one of `devices` too."""
    if isinstance(value, list):
        return bool(value) and all(type(item) is int for item in value)
    return type(value) is int and (value > 0 or value == -1)


def moves_code(project: ProjectConfiguration, name: str) -> bool:
    """Whether code changes along with the `gpus` of a section."""
    both = follows_surely(project, name, "gpus") or all_switched(project, name, "gpus", beside=True)
    return bool(project.reads(name, "gpus") or project.interpolated(name, "gpus")) and both
