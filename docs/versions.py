"""Writes what a folder of pages by version needs: `python docs/versions.py SITE` after `sphinx-build ... SITE/VERSION`.

switcher.json lists the versions, the newest first and `dev` last; index.html leads to the newest.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from packaging.version import InvalidVersion, Version

_INDEX = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>fixer</title>
<meta http-equiv="refresh" content="0; url={url}">
<a href="{url}">fixer {version}</a>
</html>
"""


def versions(site: Path) -> list[str]:
    """The folders that hold pages of a version: releases before those that are none, the newest first."""
    return sorted((index.parent.name for index in site.glob("*/index.html")), key=_order, reverse=True)


def _order(name: str) -> tuple[bool, bool, Version]:
    try:
        found = Version(name)
    except InvalidVersion:
        return False, False, Version("0")
    return True, not found.is_prerelease, found


def write(site: Path) -> None:
    """Writes both files."""
    found = versions(site)
    rows = [{"version": name, "url": f"{name}/"} for name in found]
    (site / "switcher.json").write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    if found:
        (site / "index.html").write_text(_INDEX.format(version=found[0], url=f"{found[0]}/"), encoding="utf-8")
    (site / ".nojekyll").touch()


if __name__ == "__main__":
    write(Path(sys.argv[1]))
