"""Lists in YAML that state requirements: conda's environments, with their part for pip, and pre-commit's hooks.

They are read line by line, as blocks: each item on its own line. What is written otherwise is not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from codemods.pins.lines import is_frozen
from codemods.pins.pin import Pin, read, read_conda

_ITEM = re.compile(r"(?P<indent> *)- +(?P<text>\S.*?)\s*$")
_KEY = re.compile(r"(?P<indent> *)(?:- +)?(?P<key>[A-Za-z_]+):\s*(?:#.*)?$")
_COMMENT = re.compile(r"\s#.*$")
_BUILT = re.compile(r"[^=]+=[^=]+=[^=]+")


def environment(text: str) -> Iterator[Pin]:
    """The requirements of a conda environment."""
    items = list(_items(text, ("dependencies", "pip")))
    conda = [stated for key, _, stated in items if key == "dependencies"]
    resolved = sum(bool(_BUILT.fullmatch(stated)) for stated in conda) > 4
    frozen = is_frozen([stated for key, _, stated in items if key == "pip"])
    for key, offset, stated in items:
        pin = read(stated, offset) if key == "pip" else read_conda(stated, offset)
        if pin and not pin.problem and (resolved or (frozen and key == "pip")):
            pin = replace(pin, problem="locked")
        if pin:
            yield pin


def hooks(text: str) -> Iterator[Pin]:
    """What pre-commit installs beside a hook, which checks types or runs tests with it."""
    for _, offset, stated in _items(text, ("additional_dependencies",)):
        pin = read(stated, offset)
        if pin:
            yield pin


def _items(text: str, keys: tuple[str, ...]) -> Iterator[tuple[str, int, str]]:
    """The plain or quoted items of the lists under some keys: key, place and text."""
    within: list[tuple[int, str]] = []
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
            within.append((deeper, match["key"]))
            continue
        if within and within[-1][1] in keys and (match := _ITEM.match(line)):
            stated = _COMMENT.sub("", match["text"])
            place = start + match.start("text")
            if stated[0] in "'\"" and stated[-1] == stated[0] and len(stated) > 1:
                stated, place = stated[1:-1], place + 1
            if stated[0] not in "[{&*!|>'\"":
                yield within[-1][1], place, stated
