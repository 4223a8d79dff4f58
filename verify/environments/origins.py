"""Where the packages of one environment may come from, besides the places that this machine's settings name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from verify.environments.lines import Address, Index, without_secret
from verify.environments.manifests import Manifests
from verify.environments.naming import GO_WITH_TORCH

_MAIN = "pypi.org"
_FOR_ONE_TORCH = (
    "download.pytorch.org", "data.pyg.org", "pytorch-geometric.com", "download.openmmlab.com", "dl.fbaipublicfiles.com",
    "nvidia-kaolin.s3.us-east-2.amazonaws.com",
)  # fmt: skip
_NEAR = re.compile(r"localhost|127(\.\d+){3}|\[::1\]")
_USERS = ("UV_DEFAULT_INDEX", "UV_INDEX_URL", "UV_NO_INDEX", "PIP_INDEX_URL", "PIP_NO_INDEX")


@dataclass(frozen=True)
class Origins:
    """The addresses that packages are taken from, whose names are asked for on no index; the indexes that the project
    names; and the hashes that files of a release may have, by `name==version`."""

    addresses: tuple[Address, ...] = ()
    indexes: tuple[Index, ...] = ()
    hashes: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def barred(self, requirements: Sequence[str]) -> list[str]:
        """The names that are looked for on no index, not even for what other packages need, where these requirements
        are installed."""
        found = (each.names for each in self.addresses if each.url not in requirements)
        return sorted(set[str]().union(*found) - GO_WITH_TORCH)

    def hashes_of(self, line: str) -> tuple[str, ...]:
        """The hashes that the files of a requirement on one release may have; none where nobody said."""
        asked = Requirement(line) if self.hashes and not line.startswith(("-", "git+")) else None
        clauses = list(asked.specifier) if asked else []
        if asked is None or len(clauses) != 1 or clauses[0].operator != "==":
            return ()
        return dict(self.hashes).get(f"{canonicalize_name(asked.name)}=={clauses[0].version}", ())

    def needed_for(self, packages: Iterable[str]) -> Origins:
        """What of this concerns some distributions: environments that differ in nothing else are one."""
        names = {str(canonicalize_name(Requirement(one).name)) for one in packages}
        kept = tuple((key, value) for key, value in self.hashes if key.partition("==")[0] in names)
        return replace(self, hashes=kept)


NOWHERE = Origins()


def origins(manifests: Manifests, environment: Mapping[str, str], added: Iterable[str] = ()) -> tuple[Origins, str]:
    """Where the packages of a project come from, and in words what it names and is not asked. `environment` has the
    settings of this machine's installers; what the user `added` by name may come from an index."""
    mine = {str(canonicalize_name(Requirement(line).name)) for line in added}
    kept: list[Index] = []
    refused: dict[str, str] = {}
    for index in manifests.indexes:
        if why := _refused(index, environment):
            refused[without_secret(index.place) or f"--{index.option}"] = f"{index.file}: {why}"
        elif urlsplit(index.place).hostname != _MAIN:
            kept.append(replace(index, file=""))
    theirs = (replace(each, names=each.names - mine, place="") for each in manifests.addresses)
    addresses = tuple(sorted(dict.fromkeys(theirs), key=_by_url))
    found = Origins(addresses, tuple(dict.fromkeys(kept)), tuple(sorted(manifests.hashes.items())))
    told = f"; looked on {', '.join(without_secret(index.place) for index in found.indexes)} too" if kept else ""
    if refused:
        told += "; not looked on " + ", ".join(f"{place} ({why})" for place, why in refused.items())
    return found, told


def _by_url(address: Address) -> tuple[str, list[str]]:
    return address.url, sorted(address.names)


def _refused(index: Index, environment: Mapping[str, str]) -> str:
    """Why an index that a project names is not asked; empty where it is."""
    place = urlsplit(index.place)
    if index.option == "no-index":
        return "it keeps installers to folders of its own"
    if place.hostname == _MAIN:
        return ""
    if place.hostname in _FOR_ONE_TORCH:
        return "what is there was built for other releases of torch"
    if any(environment.get(name) for name in _USERS) or "index" in _uv_settings(environment):
        return "the settings of this machine name the index to ask"
    if "$" in index.place:
        return "its address is filled in from variables, which no project gets: name it in pip's settings"
    if place.scheme == "https" or (place.scheme == "http" and _NEAR.fullmatch(place.hostname or "")):
        return ""
    return "only https:// ones are asked"


def _uv_settings(environment: Mapping[str, str]) -> str:
    """The text of the file that uv is configured with."""
    try:
        return Path(environment["UV_CONFIG_FILE"]).read_text(encoding="utf-8", errors="replace")
    except (KeyError, OSError):
        return ""
