"""Where this fixer was installed from, so that others can be told how to install the same."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, distribution
from typing import Any

from fixer import __version__
from fixer.forge import without_user

_REMOTE = re.compile(r"(?:https?|ssh|git)://[^\s\"'`$\\?]+")
"""No query, which may be a secret."""
_COMMIT = re.compile(r"[0-9A-Za-z]+")


def requirement(extras: str = "") -> str:
    """What pip takes for this fixer: by its address, or by its version from the package index."""
    name = f"fixer[{extras}]" if extras else "fixer"
    place = address()
    return f"{name} @ {place}" if place else f"{name}=={__version__}"


def address() -> str | None:
    """The address that pip took fixer from, where others reach it; None for a package index or a folder.

    Source: https://packaging.python.org/en/latest/specifications/direct-url/
    """
    with suppress(PackageNotFoundError, OSError, ValueError):
        found = json.loads(distribution("fixer").read_text("direct_url.json") or "null")
        place = _of(found) if isinstance(found, dict) else None
        return place if place and _REMOTE.fullmatch(place.partition("+")[2] or place) else None
    return None


def _of(found: Mapping[str, Any]) -> str | None:
    """The address that a record of it names, as pip takes it. Raises ValueError for one that is no address."""
    url, folder, vcs = without_user(str(found.get("url"))), found.get("subdirectory"), found.get("vcs_info")
    part = f"#subdirectory={folder}" if folder else ""
    if not isinstance(vcs, dict):
        return f"{url}{part}"
    commit = str(vcs.get("commit_id", ""))
    return f"{vcs.get('vcs')}+{url}@{commit}{part}" if _COMMIT.fullmatch(commit) else None
