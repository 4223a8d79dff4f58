"""All that a manifest asks for, for a resolver: not only what the rules look at."""

from __future__ import annotations

from packaging.requirements import InvalidRequirement, Requirement

from codemods.lightning.pins import toml
from codemods.lightning.pins.lines import logical_lines
from codemods.lightning.pins.manifest import find_pins, manifest_kind, read_pins
from codemods.lightning.pins.toml import Unparsable


def asked_for(path: str, kind: str, text: str) -> tuple[tuple[str, ...], int]:
    """The requirements that a manifest states, and how many lines could not be taken along.

    Of requirement files and `project.dependencies` that is everything, of others Lightning, torch and what goes with
    them. Extras and groups are not asked for.
    """
    stated = manifest_kind(path, kind, text)
    if stated == "requirements":
        lines = [line.split(" --")[0].strip() for _, line in logical_lines(text)]
    elif stated == "pyproject" and (listed := _dependencies(text)):
        lines = listed
    else:
        lines = [pin.requirement for pin in read_pins(stated or "", text) if pin.requirement and pin.name != "python"]
    kept = tuple(line for line in lines if _plain(line))
    return kept or tuple(pin.requirement for pin in find_pins(path, kind, text)), len(lines) - len(kept)


def _dependencies(text: str) -> list[str]:
    try:
        found = toml.parse(text).get("project", {}).get("dependencies", [])
    except (Unparsable, AttributeError):
        return []
    return [item for item in found if isinstance(item, str)] if isinstance(found, list) else []


def _plain(line: str) -> bool:
    try:
        return Requirement(line).url is None
    except InvalidRequirement:
        return False
