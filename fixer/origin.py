"""Where this fixer was installed from, so that others can be told how to install the same."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, distribution, metadata
from typing import Any
from urllib.parse import urlsplit

from fixer import __version__
from fixer.forge import without_user

_REMOTE = re.compile(r"(?:https?|ssh|git)://[^\s\"'`$\\?#]+")
"""No query and no fragment, which may hold a secret."""
_HERE = re.compile(r"(?:.+\.)?localhost|127\.[\d.]+|0\.0\.0\.0|::1")
_FOLDER = re.compile(r"[\w./-]*")
_WORD = re.compile(r"[0-9A-Za-z]+")


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
        return _of(found) if isinstance(found, dict) else None
    return None


def rule_page(code: str) -> str | None:
    """The page of a rule in the documentation that the package names; None where it names none."""
    with suppress(PackageNotFoundError):
        for url in metadata("fixer").get_all("Project-URL") or ():
            label, _, place = url.partition(", ")
            if label.lower() == "documentation" and place.startswith("https://"):
                return f"{place.rstrip('/')}/rules/{code}.html"
    return None


def _of(found: Mapping[str, Any]) -> str | None:
    """The address that a record of it names, as pip takes it; None for one that does not serve elsewhere, or
    that may hold a secret. Raises ValueError for one that is no address."""
    url, folder = without_user(str(found.get("url"))), str(found.get("subdirectory") or "")
    if not _REMOTE.fullmatch(url) or _HERE.fullmatch(urlsplit(url).hostname or "") or not _FOLDER.fullmatch(folder):
        return None
    vcs = found.get("vcs_info")
    part = f"#subdirectory={folder}" if folder else ""
    if not isinstance(vcs, dict):
        return f"{url}{part}"
    name, commit = str(vcs.get("vcs")), str(vcs.get("commit_id", ""))
    return f"{name}+{url}@{commit}{part}" if _WORD.fullmatch(name) and _WORD.fullmatch(commit) else None
