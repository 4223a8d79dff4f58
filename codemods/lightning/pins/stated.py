"""What the manifests of a project state of Lightning."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress

from codemods.code.source import Source, TextFile, Unreadable
from codemods.lightning.pins.address import is_official
from codemods.lightning.pins.manifest import (
    COMPANIONS,
    LIGHTNING,
    NAMES,
    find_pins,
    manifest_kind,
    read_pins,
    states,
)
from codemods.lightning.pins.toml import Unparsable

_NAMED = (b"lightning", b"Lightning", b"torch", *(name.encode() for name in COMPANIONS))


def pins_of(sources: Sequence[Source]) -> tuple[str, ...]:
    """Every requirement on Lightning, torch, torchmetrics and their companions that the manifests state, in path
    order."""
    return tuple(
        pin.requirement
        for source, text in _manifests(sources)
        for pin in find_pins(source.path, source.kind, text, (*NAMES, *COMPANIONS))
    )


def is_forked(sources: Sequence[Source]) -> bool:
    """Whether the project takes Lightning from addresses of others that name no release of it, and from nowhere
    else."""
    unnamed: set[bool] = set()
    for source, text in _manifests(sources):
        with suppress(Unparsable):
            kind = manifest_kind(source.path, source.kind, text) or ""
            pins = [pin for pin in read_pins(kind, text) if pin.name in LIGHTNING]
            unnamed |= {pin.fork and not (pin.repaired or is_official(pin.specifier)) for pin in pins}
    return unnamed == {True}


def _manifests(sources: Sequence[Source]) -> Iterator[tuple[Source, str]]:
    for source in sources:
        if source.path.endswith("setup.py") or source.kind not in ("python", "notebook", "dockerfile", "lock"):
            if not any(word in source.data for word in _NAMED):
                continue
            with suppress(Unreadable):
                text = TextFile.decode(source).text
                if states(source.path, source.kind, text):
                    yield source, text
