"""Where this fixer was installed from, so that others can be told how to install the same."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, distribution

from fixer import __version__
from fixer.forge import without_user

_REMOTE = re.compile(r"(?:https?|ssh|git)://[^\s\"'`$\\]+")


def requirement(extras: str = "") -> str:
    """What pip takes for this fixer: by its address, or by its version from the package index."""
    name = f"fixer[{extras}]" if extras else "fixer"
    place = address()
    return f"{name} @ {place}" if place else f"{name}=={__version__}"


def address() -> str | None:
    """The address that pip took fixer from, where others reach it; None for a package index or a folder.

    Source: https://packaging.python.org/en/latest/specifications/direct-url/
    """
    found: object = None
    with suppress(PackageNotFoundError, OSError, ValueError):
        found = json.loads(distribution("fixer").read_text("direct_url.json") or "null")
    if not isinstance(found, dict) or not _REMOTE.fullmatch(url := without_user(str(found.get("url")))):
        return None
    vcs = found.get("vcs_info")
    if isinstance(vcs, dict):
        return f"{vcs.get('vcs')}+{url}@{vcs.get('commit_id')}"
    return url
