"""Which code a manifest is for: what lies under its folder and under no nearer manifest's."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from packaging.version import Version

from codemods.finding import Finding
from codemods.lightning.facts import Facts
from codemods.lightning.pins.manifest import COMMANDS
from codemods.lightning.pins.pin import LIGHTNING, Pin
from codemods.rule import all_rules

MENTIONS = (b"lightning", b"Lightning")
_MANIFEST = re.compile(
    r"(?:pyproject\.toml|setup\.py|setup\.cfg|Pipfile|(?:environment|conda)[^/]*\.ya?ml"
    r"|[^/]*(?i:requirements|constraints)[^/]*\.(?:txt|in))"
)


@dataclass(frozen=True)
class Manifest:
    """What a file states: its kind and requirements, or why it cannot be read."""

    path: str
    kind: str
    pins: tuple[Pin, ...]
    error: str = ""


@dataclass(frozen=True)
class Area:
    """What was planned for the code that some manifests are for, and those manifests.

    `rewritten` are the findings that are applied, `left` those that wait for a person, `kept` the releases that code
    needs which stays as it is, `elsewhere` the manifests of other code that state Lightning.
    """

    home: str
    rewritten: tuple[Finding, ...]
    left: tuple[Finding, ...]
    manifests: tuple[Manifest, ...]
    elsewhere: tuple[Manifest, ...]
    kept: tuple[str, ...] = ()

    @property
    def pins(self) -> tuple[Pin, ...]:
        """The requirements of all its manifests."""
        return tuple(pin for manifest in self.manifests for pin in manifest.pins)

    @property
    def needs(self) -> Version:
        """The oldest Lightning that the rewritten code runs on."""
        rules = {rule.code: rule for rule in all_rules()}
        known = [item for item in self.rewritten if item.code in rules]
        asked = [item.needs or rules[item.code].needs or "1.0.0" for item in known]
        return max(map(Version, (*asked, *self.kept)), default=Version("1.0"))

    @property
    def waiting(self) -> tuple[Finding, ...]:
        """The places left to a person that break on the target."""
        breaking = {rule.code for rule in all_rules() if rule.breaks_in}
        return tuple(item for item in self.left if item.code in breaking)

    @property
    def breaks(self) -> bool:
        """Whether something was rewritten because the old code breaks on the target."""
        codes = {item.code for item in self.rewritten}
        return any(rule.breaks_in for rule in all_rules() if rule.code in codes)


def area_of(own: Manifest, others: Mapping[str, Manifest], facts: Facts) -> Area:
    """The code that a manifest is for, and the manifests that are for the same.

    Manifests are the files that by name are one and mention Lightning, and those that state it. Code with no manifest
    above it goes to the only one that there is. Commands (of a Dockerfile, a workflow, a notebook) belong to the
    manifest above them.
    """
    known = {**others, own.path: own}
    named = {item for text in MENTIONS for item in facts.mentions.get(text, frozenset()) if is_manifest(item)}
    named |= {path for path, item in known.items() if item.kind not in COMMANDS and _states_lightning(item)}
    kinds = {path: item.kind for path, item in known.items()}
    homes = {home_of(item, facts) for item in named if kinds.get(item) not in COMMANDS}
    if own.kind not in COMMANDS:
        homes.add(home_of(own.path, facts))

    def belongs(path: str) -> str:
        if kinds[path] in COMMANDS:
            above = nearest(path, homes)
            return above if above is not None else next(iter(homes)) if len(homes) == 1 else ""
        return home_of(path, facts)

    home = belongs(own.path)
    alone = len(homes | {home}) == 1

    def is_its_code(path: str) -> bool:
        return alone or nearest(path, homes | {home}) == home

    found = [item for item in facts.planned if is_its_code(item.path)]
    found.sort(key=lambda item: (item.path, item.cell or 0, item.span, item.code))
    return Area(
        home,
        tuple(item for item in found if item.applied),
        tuple(item for item in found if not item.applied),
        tuple(item for path, item in sorted(known.items()) if belongs(path) == home),
        tuple(item for path, item in sorted(known.items()) if belongs(path) != home and _states_lightning(item)),
        tuple(rule.keeps for rule in all_rules() if rule.keeps and any(map(is_its_code, facts.collected(rule.code)))),
    )


def home_of(path: str, facts: Facts) -> str:
    """The folder that a manifest is for: its own, or, where that holds no code, the one around it."""
    folder = _above(path)
    while folder and ("requirements" in folder.rpartition("/")[2] or not _holds_code(folder, facts)):
        folder = _above(folder)
    return folder


def _states_lightning(manifest: Manifest) -> bool:
    return any(pin.name in LIGHTNING for pin in manifest.pins)


def is_manifest(path: str) -> bool:
    """Whether a file is a manifest by its name."""
    folder, _, name = path.rpartition("/")
    in_folder = folder.rpartition("/")[2] == "requirements" and name.endswith(".txt")
    return in_folder or _MANIFEST.fullmatch(name) is not None


def _holds_code(folder: str, facts: Facts) -> bool:
    if "pins.folders" not in facts.memo:
        folders: set[str] = set()
        for path, kind in facts.kinds.items():
            above = _above(path) if kind == "python" and not path.endswith("/setup.py") else ""
            while above and above not in folders:
                folders.add(above)
                above = _above(above)
        facts.memo["pins.folders"] = folders
    known: set[str] = facts.memo["pins.folders"]
    return folder in known


def nearest(path: str, homes: set[str]) -> str | None:
    """The first of some folders that holds a path, from the inside out."""
    folder = _above(path)
    while folder not in homes:
        if not folder:
            return None
        folder = _above(folder)
    return folder


def _above(path: str) -> str:
    return path.rpartition("/")[0]
