"""Packages that a project brings along itself: in a folder of its own, as a git submodule, or under its own name.

No index is asked for these: what has such a name there is another package.
"""

from __future__ import annotations

import configparser
import contextlib
from pathlib import Path, PurePosixPath

from packaging.utils import canonicalize_name

from verify.environments.manifests import own_distribution
from verify.reading.sources import Sources

_SIZE = 100_000


def local_packages(sources: Sources) -> dict[str, str]:
    """The names, as an index would have them, and where each lies, in words."""
    found: dict[str, str] = {}
    if own := own_distribution(sources.root):
        found[str(canonicalize_name(own[0]))] = "is the project's own distribution"
    for name, place in _folders(sources).items():
        found[name] = f"is in the project, in {place}"
    for name, place in _submodules(sources.root).items():
        found[name] = f"is a git submodule of the project ({place}), whose files are not there"
    return found


def _folders(sources: Sources) -> dict[str, str]:
    """The packages that stand in no other package: whoever adds the folder that one lies in to the path finds it."""
    inits = {PurePosixPath(path).parent for path in sources.paths() if path.endswith("__init__.py")}
    found = {}
    for folder in sorted(inits, reverse=True):
        if folder.name and folder.parent not in inits:
            found[str(canonicalize_name(folder.name))] = folder.as_posix()
    return found


def _submodules(root: Path) -> dict[str, str]:
    file = root / ".gitmodules"
    parser = configparser.RawConfigParser(strict=False)
    with contextlib.suppress(OSError, ValueError, configparser.Error):
        if file.is_file() and not file.is_symlink() and file.stat().st_size <= _SIZE:
            text = file.read_text(encoding="utf-8")
            parser.read_string("\n".join(line.strip() for line in text.splitlines()))
    found = {}
    for section in parser.sections():
        path, url = parser.get(section, "path", fallback=""), parser.get(section, "url", fallback="")
        for place in (path, url.removesuffix("/").removesuffix(".git")):
            if name := place.rpartition("/")[2]:
                found[str(canonicalize_name(name))] = path or url
    return found
