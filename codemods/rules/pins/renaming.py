"""The distribution that a project asks for, where the user names the namespace that it is to take: `--namespace`."""

from __future__ import annotations

import re

from packaging.utils import canonicalize_name

from codemods.lightning.pins.pin import Pin
from codemods.lightning.pins.reach import Manifest
from codemods.lightning.pins.specifier import admits, admits_from, clauses, floored
from codemods.rule import TextEdit
from codemods.rules.pins.lightning import ADVICE, PinVerdict, shown

DISTRIBUTIONS = {"lightning": "lightning", "pytorch_lightning": "pytorch-lightning"}
_NAME = re.compile(r"(?<![\w.-])(?:pytorch[-_.]lightning|lightning)(?![\w-])", re.IGNORECASE)
_KEY = re.compile(r"(?:pytorch[-_.]lightning|lightning)(?=[\"']?\s*=[^=\n]*$)", re.IGNORECASE)


def renaming(
    text: str, pin: Pin, own: Manifest, namespace: str, wanted: str | None
) -> tuple[PinVerdict, TextEdit | None]:
    """What is said of a requirement on the other distribution, and the edit of its name; `wanted` is what its specifier
    becomes."""
    name = DISTRIBUTIONS[namespace]
    message = f"`{shown(pin)}` asks for {pin.name}, and the project is to take Lightning from `{namespace}`"
    specifier = pin.meant if wanted is None else wanted
    both = any(other.name == name and other.group in ("", pin.group) for other in own.pins)
    place = None if pin.problem else name_place(text, pin)
    why = ""
    if both:
        why = f"{name} is asked for too: remove this one"
    elif pin.problem:
        why = ADVICE.get(pin.problem, "it must not be changed")
    elif not admits_from(specifier, "2.0.0", pin.language):
        why = f"it allows no release since 2.0: raise it, and ask for {name}"
    elif place is None:
        why = f"its name is elsewhere: write {name} by hand"
    if why or place is None:
        return PinVerdict(message, "manual", why), None
    reason = f"--namespace asks for it: {name} has the same releases and extras"
    return PinVerdict(message, "safe", reason), TextEdit(*place, name)


def since_2(specifier: str, pin: Pin) -> str:
    """A specifier without the releases before 2.0 that it names a lower bound for: the packages of the two
    distributions have the same names since then."""
    bounded = any(clause.operator in (">", ">=") for clause in clauses(specifier))
    if not bounded or not admits(specifier, "1.9.5", pin.language):
        return specifier
    return floored(specifier, "2.0.0", pin.language) or specifier


def name_place(text: str, pin: Pin) -> tuple[int, int] | None:
    """Where the name of a requirement stands: before its specifier, or as the key of its line."""
    inside = text[pin.place : pin.start]
    found = [match for match in _NAME.finditer(inside) if canonicalize_name(match.group()) == pin.name]
    if found:
        return pin.place + found[-1].start(), pin.place + found[-1].end()
    line = text.rfind("\n", 0, pin.start) + 1
    key = _KEY.search(text[line : pin.start].split("=", 1)[0] + "=") if "=" in text[line : pin.start] else None
    if key and canonicalize_name(key.group()) == pin.name:
        return line + key.start(), line + key.end()
    return None
