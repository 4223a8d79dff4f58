"""Which releases requirements come to together: those that are here already, or those that uv finds on the index."""

from __future__ import annotations

import contextlib
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path
from tempfile import mkdtemp

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion

from verify.environments.installer import COMPILED, STORE, Installer
from verify.environments.interpreters import Interpreter

SECONDS = 120.0
_NOT_HERE = re.compile(
    r"was not found|no usable wheels|no wheels|no versions? of|only .{0,60} is available"
    r"|requires-python|requires python|python version|depends on python|current python|failed to|could not|couldn't"
    r"|not start|timed out|\bdns\b|\bnetwork\b|\bconnect|\boffline\b|building from source|more than \d+",
    re.IGNORECASE,
)
"""Words of an installer that tell of this machine, its Python or its index rather than of the requirements."""


@dataclass(frozen=True)
class Solution:
    """The releases by name; none with why that cannot be, and whether it is the requirements that exclude each
    other."""

    releases: Mapping[str, str]
    why: str = ""
    contradicts: bool = False

    def __bool__(self) -> bool:
        return not self.why


def installed(lines: Iterable[str]) -> Mapping[str, str] | None:
    """What of the interpreter that runs here meets requirements, with all that they need; None where it does not."""
    left = [(Requirement(line), "") for line in lines]
    found: dict[str, str] = {}
    seen: set[tuple[str, str]] = set()
    while left:
        asked, extra = left.pop()
        if asked.marker and not asked.marker.evaluate({"extra": extra}):
            continue
        name = canonicalize_name(asked.name)
        version = _version(name)
        if version is None or not _admits(asked, version):
            return None
        found[name] = version
        for each in ("", *sorted(asked.extras)):
            if (name, each) not in seen:
                seen.add((name, each))
                left += [(further, each) for further in _requires(name)]
    return found


def _version(name: str) -> str | None:
    with contextlib.suppress(metadata.PackageNotFoundError):
        return metadata.version(name)
    return None


def _requires(name: str) -> Iterator[Requirement]:
    for line in metadata.requires(name) or ():
        with contextlib.suppress(InvalidRequirement):
            yield Requirement(line)


def _admits(asked: Requirement, version: str) -> bool:
    try:
        return asked.specifier.contains(version, prereleases=True)
    except InvalidVersion:
        return False


def solve(
    lines: Sequence[str], held: Sequence[str], python: Interpreter, installer: Installer, cache: Path
) -> Solution:
    """The newest releases that meet requirements together on a Python, with what is `held` where it is asked for."""
    if not installer.uv:
        return Solution({}, "uv is not installed, which resolves them: `pip install uv`")
    store = cache.absolute() / STORE
    store.mkdir(parents=True, exist_ok=True)
    folder = Path(mkdtemp(prefix="solved-", dir=store))
    try:
        asked, kept, out = (folder / name for name in ("asked.txt", "held.txt", "solved.txt"))
        asked.write_text("\n".join(lines), encoding="utf-8")
        kept.write_text("\n".join(held), encoding="utf-8")
        command = [
            str(installer.uv), "pip", "compile", str(asked), "--constraint", str(kept), "--output-file", str(out),
            "--python", str(python.path), "--no-header", "--no-annotate", "--quiet", *installer.flags,
            *(f"--only-binary={name}" for name in COMPILED),
        ]  # fmt: skip
        whole = replace(installer, needs=(*python.folders, *installer.needs))
        wrong = whole.fetch(command, store, seconds=SECONDS)
        if wrong or not out.is_file():
            told = wrong or "it wrote nothing"
            return Solution({}, told, contradicts="conclude" in told and not _NOT_HERE.search(told))
        return Solution(dict(_releases(out.read_text(encoding="utf-8"))))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _releases(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        name, sign, version = line.partition(";")[0].strip().partition("==")
        if sign:
            yield str(canonicalize_name(name.split("[")[0])), version.strip()
