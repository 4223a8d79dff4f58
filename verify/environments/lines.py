"""What one line of a requirement file says; the tables of other files are read as such lines too."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    canonicalize_name,
    parse_sdist_filename,
    parse_wheel_filename,
)

GIT = "git+https://"
"""The only kind of address that is installed from."""
NAMED_INDEX = "index:"
"""What stands in the place of an address where a package is to come from one index alone."""
_OPTIONS = {
    "-i": "index-url", "--index-url": "index-url", "--pypi-url": "index-url", "--extra-index-url": "extra-index-url",
    "-f": "find-links", "--find-links": "find-links", "--no-index": "no-index", "-e": "editable",
    "--editable": "editable", "-r": "file", "--requirement": "file",
}  # fmt: skip
_HASH = re.compile(r"\s--hash[=\s]\s*(\w+:[0-9a-fA-F]+)")
_OPTION = re.compile(r"\s--?[a-z]")
_COMMENT = re.compile(r"(^|\s)#.*")
_URL = re.compile(r"(?:\w+\+)?[A-Za-z][A-Za-z0-9.-]+://|git\+|git@|file:")
_ARCHIVE = re.compile(r"\.(?:whl|zip|tar\.\w+|tgz)$")
_SHORT = 3


@dataclass(frozen=True)
class Address:
    """A package that is taken from an address and not from an index: the address, what the package may be called, and
    the file that says so."""

    url: str
    names: frozenset[str]
    place: str = ""

    @property
    def told(self) -> str:
        """The address without the password in it, which is nobody's to read in a report."""
        return without_secret(self.url).removeprefix(NAMED_INDEX)

    @property
    def is_installed_from(self) -> bool:
        """Whether this kind of address is one to install from."""
        return self.url.startswith(GIT)

    def is_of(self, *called: str) -> bool:
        """Whether a package with these names has one that this address gives."""
        return not self.names.isdisjoint(map(canonicalize_name, called))

    def brings(self, package: str) -> bool:
        """Whether an imported package may be the one at this address: it has words of its name, or begins it."""
        own, begins = set(words(package)), "".join(words(package))
        if own <= {word for name in self.names for word in words(name)}:
            return True
        return len(begins) >= _SHORT and any("".join(words(name)).startswith(begins) for name in self.names)


@dataclass(frozen=True)
class Index:
    """A place to look for packages that a project names: the option of pip that would name it, and the place."""

    option: str
    place: str
    file: str = ""


@dataclass(frozen=True)
class IndexRequirement:
    """A requirement that is asked for on an index, with the hashes that its files may have."""

    text: str
    hashes: tuple[str, ...] = ()
    place: str = ""


@dataclass(frozen=True)
class IncludedFile:
    """Another file that belongs to this one."""

    path: str


Said = Address | Index | IndexRequirement | IncludedFile


def words(name: str) -> list[str]:
    """The words of a name."""
    return canonicalize_name(name).split("-")


def joined(text: str) -> Iterator[str]:
    """The lines of a requirement file, those that go on put together, without comments."""
    whole = re.sub(r"\\\r?\n", " ", text)
    yield from (line for raw in whole.splitlines() if (line := _COMMENT.sub("", raw).strip()))


def without_options(line: str) -> str:
    """A requirement without what its line asks of pip besides: `hydra-core --pre`."""
    return _OPTION.split(line)[0].strip()


def read_line(line: str, place: str = "") -> Said | None:
    """What a line says, None where that is nothing; `place` is the file that has it."""
    word, _, rest = line.replace("=", " ", 1).partition(" ") if line.startswith("--") else line.partition(" ")
    option = _OPTIONS.get(word) or (_OPTIONS.get(word[:2]) if not word.startswith("--") else None)
    if line.startswith("-") and not option:
        return None
    if option:
        value = _bare(rest if word in _OPTIONS else line[2:])
        if option == "file":
            return IncludedFile(value)
        return address(value, place) if option == "editable" else Index(option, value, place)
    hashes = tuple(_HASH.findall(line))
    text = without_options(_HASH.sub("", line))
    if text.startswith("git@"):
        return address(text, place)
    try:
        asked = Requirement(text)
    except InvalidRequirement:
        named = re.match(r"(?P<name>[\w.-]+)(?:\[[^\]]*\])?\s*@\s*(?P<url>\S+)", text)
        if named:
            return address(named["url"], place, named["name"])
        return address(text.split(" ")[0], place) if _URL.match(text) or text[0] in "./" else None
    return address(asked.url, place, asked.name) if asked.url else IndexRequirement(text, hashes, place)


def _bare(value: str) -> str:
    try:
        found = shlex.split(value)
    except ValueError:
        return value.strip()
    return found[0] if found else ""


def address(url: str, place: str = "", *called: str) -> Address:
    """The address that a file takes a package from: the package may have the name that it is given there, that of its
    egg, and that of the repository or the file at the address."""
    bare, _, fragment = url.partition("#")
    egg = re.search(r"(?:^|&)egg=([\w.-]+)", fragment)
    kept = "#" + fragment if "subdirectory=" in fragment else ""
    if bare.startswith(NAMED_INDEX):
        return Address(bare, frozenset(map(canonicalize_name, called)), place)
    path = re.sub(r"(\.git)?(@[^/@]*)?/?$", "", urlsplit(bare).path if "://" in bare else bare)
    archived = re.search(r"/([^/]+)/(?:-/)?(?:archive|releases|zipball|tarball)/", path)
    found = [*_named_by(PurePosixPath(unquote(path)).name), *(archived.groups() if archived else ())]
    told = [*called, *(egg.groups() if egg else ()), *found]
    return Address(bare + kept, frozenset(map(canonicalize_name, filter(None, told))), place)


def _named_by(file: str) -> list[str]:
    """The name of the package that a file, or a repository, has."""
    try:
        if file.endswith(".whl"):
            return [parse_wheel_filename(file)[0]]
        if file.endswith((".tar.gz", ".zip")):
            return [parse_sdist_filename(file)[0]]
    except (InvalidWheelFilename, InvalidSdistFilename):
        return [re.split(r"-\d", _ARCHIVE.sub("", file))[0]]
    return [_ARCHIVE.sub("", file).lstrip(".")]


def without_secret(url: str) -> str:
    """An address without the password in it."""
    return re.sub(r"(?<=://)([^/@:]*):[^/@]*@", r"\1@", url)
