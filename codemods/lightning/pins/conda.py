"""Lists in YAML that state requirements: conda's environments, with their part for pip, pre-commit's hooks, and those
of other tools.

They are read line by line, as blocks: each item on its own line. What is written otherwise is not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import groupby

from packaging.requirements import InvalidRequirement, Requirement

from codemods.lightning.pins.lines import is_frozen
from codemods.lightning.pins.pin import Pin, read, read_conda

LISTS = (
    "requirements",
    "dependencies",
    "pip",
    "pip_dependencies",
    "pip_packages",
    "pip_requirements",
    "python_dependencies",
    "python_packages",
    "python_requirements",
    "install_requires",
)
"""Keys under which tools of all sorts list requirements: Cog, Ray, builders of tutorials."""

_ITEM = re.compile(r"(?P<indent> *)- +(?P<text>\S.*?)\s*$")
_KEY = re.compile(r"(?P<indent> *)(?:- +)?(?P<key>[A-Za-z_]+):\s*(?:#.*)?$")
_BRACKETS = re.compile(r"^channels:\s*\[(?P<items>[^\]#\n]*)\]", re.MULTILINE)
_WORD = re.compile(r"['\"]?(?P<text>[^\s,'\"]+)['\"]?")
_COMMENT = re.compile(r"\s#.*$")
_BUILT = re.compile(r"[^=]+=[^=]+=[^=]+")


@dataclass(frozen=True)
class CondaItem:
    """An item of a list: the key of the list and where that stands, and the item's place and text."""

    key: str
    listed: int
    place: int
    stated: str


def environment(text: str) -> Iterator[Pin]:
    """The requirements of a conda environment."""
    items = list(items_of(text, ("dependencies", "pip")))
    conda = [item.stated for item in items if item.key == "dependencies"]
    resolved = sum(bool(_BUILT.fullmatch(stated)) for stated in conda) > 4
    frozen = is_frozen([item.stated for item in items if item.key == "pip"])
    for item in items:
        by_pip = item.key == "pip"
        pin = read(item.stated, item.place) if by_pip else read_conda(item.stated, item.place)
        if pin and not pin.problem and (resolved or (frozen and by_pip)):
            pin = replace(pin, problem="locked")
        if pin:
            yield pin


def hooks(text: str) -> Iterator[Pin]:
    """What pre-commit installs beside a hook, which checks types or runs tests with it."""
    for item in items_of(text, ("additional_dependencies",)):
        pin = read(item.stated, item.place)
        if pin:
            yield pin


def listed(text: str) -> Iterator[Pin]:
    """What a list in any YAML asks for, where all its items are requirements, and one of them says a release."""
    for _, group in groupby(items_of(text, LISTS), key=lambda item: item.listed):
        items = list(group)
        if any("=" in item.stated for item in items) and all(_is_requirement(item.stated) for item in items):
            yield from (pin for item in items if (pin := read(item.stated, item.place)))


def _is_requirement(stated: str) -> bool:
    if stated.startswith("-") or "://" in stated:
        return True
    try:
        Requirement(stated)
    except InvalidRequirement:
        return False
    return True


def channels_of(text: str) -> Iterator[CondaItem]:
    """The channels of an environment, on lines of their own or between brackets."""
    yield from items_of(text, ("channels",))
    for listed in _BRACKETS.finditer(text):
        for match in _WORD.finditer(listed["items"]):
            yield CondaItem("channels", listed.start(), listed.start("items") + match.start("text"), match["text"])


def items_of(text: str, keys: tuple[str, ...]) -> Iterator[CondaItem]:
    """The plain or quoted items of the lists under some keys."""
    within: list[tuple[int, str, int]] = []
    offset = 0
    for raw in text.splitlines(keepends=True):
        start, line = offset, raw.rstrip("\r\n")
        offset += len(raw)
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        indent = len(line) - len(line.lstrip())
        item = line.lstrip().startswith("- ")
        while within and (indent < within[-1][0] or (indent == within[-1][0] and not item)):
            within.pop()
        if match := _KEY.match(line):
            deeper = indent + 1 if line.lstrip().startswith("- ") else indent
            within = [entry for entry in within if entry[0] < deeper]
            within.append((deeper, match["key"], start))
            continue
        if within and within[-1][1] in keys and (match := _ITEM.match(line)):
            stated = _COMMENT.sub("", match["text"]).rstrip()
            place = start + match.start("text")
            if stated[0] in "'\"" and stated[-1] == stated[0] and len(stated) > 1:
                stated, place = stated[1:-1], place + 1
            if stated[0] not in "[{&*!|>'\"":
                yield CondaItem(within[-1][1], within[-1][2], place, stated)
