"""Dotted names as the values of YAML, JSON and TOML files: `_target_`, `class_path` and their like."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from codemods.code.source import TextFile


def names_in(file: TextFile, packages: Iterable[str]) -> Iterator[tuple[int, int]]:
    """Where a file names something in one of the packages, but for its comments."""
    spelled = "|".join(re.escape(package) for package in sorted(packages))
    if not spelled:
        return
    pattern = rf"(?m)(?:^|[:=,\[{{-])[ \t]*[\"']?(?P<name>(?:{spelled})(?:\.\w+)+)(?=[\"']?[ \t]*(?:[,\]}}#]|\r?$))"
    for place in re.finditer(pattern, file.text):
        start, end = place.span("name")
        if "#" not in file.text[file.text.rfind("\n", 0, start) + 1 : start]:
            yield start, end
