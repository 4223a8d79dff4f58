"""Whether requirements that were rewritten fit the code and the release that it was run on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

_DISTRIBUTIONS = ("lightning", "pytorch-lightning")


def misfit(before: Sequence[str], after: Sequence[str], target: str, imported: Iterable[str]) -> str:
    """Why a tree does not run with its requirements although it ran here; empty where nothing says so.

    `imported` are packages that its files import; the distribution lightning brings pytorch_lightning along, not the
    other way round. Requirements that stand as they stood are not judged: nobody rewrote them.
    """
    old, new = list(_parsed(before)), list(_parsed(after))
    for requirement in new:
        if str(requirement) not in map(str, old) and not requirement.specifier.contains(target, prereleases=True):
            return f"`{requirement}` does not allow {target}"
    had, asked = ({canonicalize_name(requirement.name) for requirement in pins} for pins in (old, new))
    if asked and "lightning" in had - asked and "lightning" in imported:
        return "the files import lightning, which the requirements no longer ask for"
    return ""


def _parsed(pins: Sequence[str]) -> Iterable[Requirement]:
    for pin in pins:
        try:
            requirement = Requirement(pin)
        except InvalidRequirement:
            continue
        if canonicalize_name(requirement.name) in _DISTRIBUTIONS:
            yield requirement
