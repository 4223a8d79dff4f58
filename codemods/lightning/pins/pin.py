"""A requirement as a manifest states it: its name, its specifier, and the place of both."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from codemods.lightning.pins.address import named
from codemods.lightning.pins.brought import names as brought_along
from codemods.lightning.pins.built import built
from codemods.lightning.pins.specifier import Language, pep440

LIGHTNING = ("lightning", "pytorch-lightning", "lightning-fabric")
NAMES = (*LIGHTNING, "torch", "torchmetrics")
COMPANIONS = ("numpy", "torchaudio", "transformers")
"""Packages of which rules ask which releases a project admits, besides."""
BESIDE = (
    "torchvision", "torchaudio", "torchtext", "numpy", "setuptools", "transformers", "jsonargparse", "wandb",
    "typing-extensions", "tqdm", "pyyaml", "fsspec", "packaging",
)  # fmt: skip

Problem = Literal["address", "invalid", "hashed", "locked", "unplaced", "variable", "ignored"]
UNREAD = ("address", "invalid", "variable")
"""The problems of requirements that do not say which releases they admit."""


@dataclass(frozen=True)
class Pin:
    """A requirement of a manifest.

    `start:end` are the characters of `specifier` (an empty range where there is none), `place` is where to
    point at. `requirement` is its PEP 508 text, empty where there is no such text. `problem` says why the
    specifier may not be edited. `repaired` is what an invalid specifier plainly means, `word` the place of a shell
    word without quotes that a specifier with `<`, `>` or `*` needs quotes in, `group` the extra or group that asks
    for it, beside what is asked for in any case. One that comes from an address has all of that for a specifier;
    `repaired` is then the release that the address names, `bare` says that the name of the distribution has to be
    written in front of it, and `fork` that what stands there may be another Lightning than the one of the index.
    """

    name: str
    requirement: str
    start: int
    end: int
    specifier: str
    place: int
    language: Language = "pep440"
    problem: Problem | None = None
    repaired: str = ""
    word: tuple[int, int] | None = None
    group: str = ""
    bare: bool = False
    fork: bool = False

    @property
    def is_address(self) -> bool:
        """Whether it asks for what stands at an address."""
        return self.problem == "address" or "://" in self.specifier

    @property
    def meant(self) -> str:
        """The specifier, repaired where it has to be."""
        return self.repaired or self.specifier

    def at(self, offset: int | None) -> Pin:
        """The same pin, found in a text that stands at `offset` in its file (None where that is not known)."""
        if offset is None:
            return replace(self, start=0, end=0, place=0, problem=self.problem or "unplaced")
        return replace(self, start=self.start + offset, end=self.end + offset, place=self.place + offset)


_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")
READ = frozenset((*NAMES, *BESIDE, *brought_along(), *built()))
"""Every name whose requirements are read."""
_NAMED = re.compile("lightning|torch|" + "|".join(re.sub("-", "[-_.]", name) for name in sorted(READ)), re.IGNORECASE)
_REPOSITORY = re.compile(r"[/:](pytorch[-_]lightning|lightning)(?:\.git)?(?:[@#/?]|$)", re.IGNORECASE)
_EGG = re.compile(r"#(?:.*&)?egg=([A-Za-z0-9._-]+)")
_BROKEN = re.compile(
    r"(?P<name>[A-Za-z0-9._-]*[A-Za-z0-9])(?P<extras>\[[^\]]*\])?\s*(?P<specifier>(?P<operator>[<>=!~]+)\s*"
    r"(?P<version>[0-9]+(?:\.[0-9]+)*(?P<star>\.\*)?))\s*(?P<marker>;.*)?"
)
_MEANT = {
    ">==": ">=",
    "=>": ">=",
    "=>=": ">=",
    "==>": ">=",
    "=": "==",
    "=<": "<=",
    "<==": "<=",
    "=~": "~=",
    "~==": "~=",
}


def leading_name(text: str) -> str:
    """The normal form of the name that a text begins with, "" where there is none."""
    match = _NAME.match(text)
    return canonicalize_name(match.group()) if match else ""


def read(text: str, offset: int = 0, start: int = 0) -> Pin | None:
    """The requirement on one of the names that `text[start:]` states, None for others.

    The first character of `text` stands at `offset` in its file.
    """
    stated = text[start:].rstrip()
    if not _NAMED.search(stated):
        return None
    place, end = offset + start, offset + start + len(stated)
    try:
        requirement = Requirement(stated)
    except InvalidRequirement:
        return _invalid(stated, place, end)
    name = canonicalize_name(requirement.name)
    if name not in READ:
        return None
    if requirement.url:
        return _addressed(requirement, stated, place)
    first, last = _specifier_range(stated, requirement)
    return Pin(
        name,
        str(requirement),
        place + first,
        place + last,
        stated[first:last],
        place,
        problem=None if _means(stated[first:last], requirement.specifier) else "unplaced",
    )


def _addressed(requirement: Requirement, stated: str, place: int) -> Pin:
    """A requirement `name @ address; marker`."""
    name, address = canonicalize_name(requirement.name), requirement.url or ""
    release = named(address) if name in LIGHTNING else None
    end = place + len(stated)
    if release is None:
        return Pin(name, "", place, end, stated, place, problem="address", fork=True)
    first = len(stated.partition("@")[0].rstrip())
    last = stated.index(address) + len(address)
    marker = f"; {requirement.marker}" if requirement.marker else ""
    asked = f"{name}{release.specifier}{marker}"
    specifier, meant = stated[first:last], release.specifier
    return Pin(name, asked, place + first, place + last, specifier, place, repaired=meant, fork=not release.sure)


def _invalid(stated: str, place: int, end: int) -> Pin | None:
    address = "://" in stated
    name = _name_of_address(stated) if address else leading_name(stated)
    if name not in (LIGHTNING if address else NAMES):
        return None
    if not address and re.search(r"[${]", stated):
        return Pin(name, "", place, end, stated, place, problem="variable")
    if address:
        release = named(stated)
        meant, asked = (release.specifier, f"{name}{release.specifier}") if release else ("", "")
        problem: Problem | None = None if release and not re.search(r"\s", stated) else "address"
        fork = not (release and release.sure)
        return Pin(name, asked, place, end, stated, place, problem=problem, repaired=meant, bare=True, fork=fork)
    broken = _BROKEN.fullmatch(stated)
    repaired = _repaired(broken) if broken else None
    if not broken or not repaired:
        return Pin(name, "", place, end, stated, place, problem="invalid")
    requirement = str(Requirement(f"{broken['name']}{broken['extras'] or ''}{repaired}{broken['marker'] or ''}"))
    first, last = broken.span("specifier")
    return Pin(name, requirement, place + first, place + last, broken["specifier"], place, repaired=repaired)


def _repaired(broken: re.Match[str]) -> str | None:
    """What a specifier with an operator that there is none of plainly means."""
    operator = _MEANT.get(broken["operator"], broken["operator"])
    version = broken["version"] if operator in ("==", "!=") else broken["version"].removesuffix(".*")
    try:
        SpecifierSet(operator + version)
        Requirement(f"a{operator}{version}{broken['marker'] or ''}")
    except ValueError:
        return None
    return operator + version


def _name_of_address(text: str) -> str:
    egg = _EGG.search(text)
    repository = _REPOSITORY.search(text.partition("#egg=")[0])
    return canonicalize_name(egg.group(1) if egg else repository.group(1) if repository else "")


def _specifier_range(stated: str, requirement: Requirement) -> tuple[int, int]:
    """Where the specifier of a valid requirement stands: behind name and extras, before `;`."""
    position = len(requirement.name)
    if requirement.extras:
        position = stated.index("]") + 1
    rest = stated[position:].partition(";")[0]
    inner = rest.strip()
    if not inner:
        return position, position
    position += rest.index(inner[0])
    if inner.startswith("(") and inner.endswith(")"):
        position, inner = position + 1, inner[1:-1]
        position += len(inner) - len(inner.lstrip())
        inner = inner.strip()
    return position, position + len(inner)


def _means(text: str, specifier: SpecifierSet) -> bool:
    try:
        return SpecifierSet(text) == specifier
    except ValueError:
        return False


_CONDA_NAMES = {"pytorch": "torch", "pytorch-gpu": "torch", "python": "python"}


def read_conda(stated: str, offset: int) -> Pin | None:
    """The requirement that an item of a conda environment states: `pytorch::pytorch=1.8.1=py3.8_cuda10.2_0`.

    One with a build belongs to a resolved environment.
    """
    rest = stated.rpartition("::")[2]
    name = leading_name(rest)
    known = _CONDA_NAMES.get(name, name)
    if known not in READ and known != "python":
        return None
    start = offset + len(stated) - len(rest)
    text = rest[len(_matched(rest)) :]
    first = start + len(rest) - len(text.lstrip())
    specifier = text.strip()
    build = re.fullmatch(r"(==?[^=<>,\s]+)[=\s](?=[^=<>,])([^=<>,]+)", specifier)
    specifier = build.group(1) if build else specifier
    end = first + len(specifier)
    try:
        requirement = f"{known}{pep440(specifier, 'conda')}"
    except ValueError:
        return Pin(known, "", first, end, specifier, offset, "conda", "invalid")
    return Pin(known, requirement, first, end, specifier, offset, "conda", "locked" if build else None)


def _matched(text: str) -> str:
    match = _NAME.match(text)
    return match.group() if match else ""
