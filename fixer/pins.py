"""`--check-pins`: whether what each manifest states in the end can be installed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from codemods.code.source import Source, TextFile, Unreadable
from codemods.lightning.pins.manifest import LIGHTNING, find_pins, states
from codemods.rules.pins.everything import asked_for


def check_pins(
    sources: Sequence[Source], final: Mapping[str, bytes], progress: Callable[[str], None]
) -> tuple[str, ...]:
    """What would be installed for each manifest that states Lightning, as it is after the rewrites."""
    from verify.environments.resolve import resolve

    said = []
    for source in sources:
        changed = Source(source.path, source.kind, final.get(source.path, source.data))
        try:
            text = TextFile.decode(changed).text
        except Unreadable:
            continue
        if not states(source.path, source.kind, text):
            continue
        if not any(pin.name in LIGHTNING for pin in find_pins(source.path, source.kind, text)):
            continue
        progress(f"resolving {source.path}")
        wanted, left_out = asked_for(source.path, source.kind, text)
        less = f" (without {left_out} that come from addresses or other files)" if left_out else ""
        said.append(f"{source.path}{less} {resolve(wanted)}")
    return tuple(said) or ("no manifest requires Lightning: there are no pins to check",)
