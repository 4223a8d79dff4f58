"""What a row of a finding stands for in Lightning: the change in its upgrade guide, or the pull request."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

_GUIDE = "https://lightning.ai/docs/pytorch/stable/upgrade"
_PULLS = "https://github.com/Lightning-AI/pytorch-lightning/pull"
_RELEASES = ("1.4", "1.5", "1.6", "1.7", "1.8", "1.9", "2.0")
"""Those that the guide has a page for, which begins with the release that one comes from."""


@dataclass(frozen=True)
class UpstreamChange:
    """A change in Lightning: what was changed, the words of the link to it, and its address (None: it has none)."""

    what: str
    source: str
    url: str | None


@cache
def upstream_changes() -> Mapping[str, UpstreamChange]:
    """The changes by the ids of their rows."""
    text = resources.files("fixer.reports").joinpath("guide.csv").read_text(encoding="utf-8")
    rows = csv.DictReader(io.StringIO(text))
    return {row["id"]: _change(row["id"], row["release"], row["what"]) for row in rows}


def _change(row: str, release: str, what: str) -> UpstreamChange:
    pull = re.fullmatch(r"G(\d+)\w*", row)
    if pull:
        return UpstreamChange(what, f"pull request {pull[1]}", f"{_PULLS}/{pull[1]}")
    if row.startswith("M") and release in _RELEASES:
        page = f"{_GUIDE}/from_{release.replace('.', '_')}.html"
        return UpstreamChange(what, f"upgrade guide, from {release}", page)
    return UpstreamChange(what, "reported by users", None)
