"""Addresses that Lightning is installed from: the release that a tag or a branch there names, and whose it is."""

from __future__ import annotations

import re
from dataclasses import dataclass

_REFERENCE = re.compile(
    r"git\+.+?://(?:[^/@]+@)?[^/@]+/[^@#]+@(?P<git>[^#;\s]+)"
    r"|/archive/(?:refs/(?:tags|(?P<heads>heads))/)?(?P<archive>[^#;\s]+?)\.(?:zip|tar\.gz)"
)
_OWN = re.compile(
    r"github\.com[/:](?:pytorchlightning|lightning-ai|williamfalcon)/(?:pytorch-lightning|lightning)(?:\.git)?(?:[@#/;\s]|$)",
    re.IGNORECASE,
)
_TAG = re.compile(r"v?([0-2](?:\.\d+){2}(?:\.post\d+|(?:a|b|rc)\d+)?)")
_NAMED = re.compile(r"(?:^|(?<=[/_-]))v?([0-2]\.\d+)(?:\.(\d+|x))?(?![\d.])")
_OTHERS = re.compile(r"(?:torch|cuda|cu|py|python)[/_-]v?$", re.IGNORECASE)


@dataclass(frozen=True)
class AddressRelease:
    """The release that an address names, as a specifier, and whether it is surely that release."""

    specifier: str
    sure: bool


def is_official(address: str) -> bool:
    """Whether what stands at an address is Lightning's own code, of whatever release."""
    return _OWN.search(address) is not None


def named(address: str, reference: str | None = None, tag: bool = True) -> AddressRelease | None:
    """The release that a tag or a branch names, which stands in the address or beside it; None where none does."""
    found = None if reference else _REFERENCE.search(address)
    name = reference or (found and (found["git"] or found["archive"]))
    if not name:
        return None
    exact = _TAG.fullmatch(name)
    if exact:
        own = tag and not (found and found["heads"]) and _OWN.search(address) is not None
        return AddressRelease(f"=={exact[1]}", own)
    for match in _NAMED.finditer(name):
        if not _OTHERS.search(name[: match.start(1)]):
            patch = match[2]
            return AddressRelease(f"=={match[1]}.{patch}" if patch and patch != "x" else f"=={match[1]}.*", False)
    return None
