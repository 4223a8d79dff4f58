"""Torch and what is built for it as wheels for one CUDA, `torch==1.12.1+cu113`: they move together, with the index."""

from __future__ import annotations

import re

from codemods.lightning.pins.compat import FAMILY, minor_of
from codemods.lightning.pins.pin import Pin
from codemods.lightning.pins.reach import Area, Manifest
from codemods.lightning.pins.specifier import admits
from codemods.rule import TextEdit
from codemods.rules.pins.environment import Conflict, clashes, is_settled
from codemods.rules.pins.lightning import after, shown

_CUDA = "cu118"
"""The oldest CUDA that torch 2.1 to 2.3 have wheels for, which runs on the drivers of every CUDA 11."""
_SAME_DRIVERS = "runs on the drivers of CUDA 11.1 and later (NVIDIA's minor version compatibility, from 450.80.02 on)"
_BUILD = re.compile(r"(?P<sign>===?)(?P<space>\s*)[0-9.]+\+(?P<build>cu1[01]\d|cpu)")
_EXACT = re.compile(r"(?P<sign>===?)(?P<space>\s*)[0-9.]+")
_INDEX = re.compile(r"download\.pytorch\.org/whl/(?P<build>cu1[01]\d)(?![\w])")
_ANY_INDEX = re.compile(r"download\.pytorch\.org/whl/(?:cpu|cu\d+|torch_stable\.html)")


def builds(text: str, own: Manifest, area: Area, target: str) -> Conflict | None:
    """The wheels of a requirement file that cannot be installed beside its Lightning, as one."""
    if own.kind != "requirements" or not is_settled(area, target):
        return None
    stated = [pin for pin in own.pins if pin.name in ("torch", *FAMILY) and pin.requirement and not pin.problem]
    left, newest = after(own, "", area, target), minor_of(target)
    torch = [pin for pin in stated if pin.name == "torch"]
    if len(torch) != 1 or not _BUILD.fullmatch(torch[0].specifier) or not left:
        return None
    if not all(clashes(torch[0], minor) for minor in left):
        return None
    gone = [pin for pin in stated if pin.name == "torch" or not admits(pin.meant, newest.beside[pin.name].exact)]
    wanted = [(pin, _renewed(pin, newest.beside[pin.name].exact)) for pin in gone]
    names = "`, `".join(shown(pin) for pin in gone)
    message = f"`{names}` cannot be installed with Lightning {target}"
    together = ", ".join(f"{pin.name}{new or '==' + newest.beside[pin.name].exact}" for pin, new in wanted)
    reason = (
        f"Lightning {target} needs torch>={newest.beside['torch'].floor}, and these releases work together: {together}"
    )
    if not all(new for _, new in wanted) or not _ANY_INDEX.search(text):
        wheels = "the CPU" if torch[0].specifier.endswith("+cpu") else "one CUDA"
        index = _index("cpu" if wheels == "the CPU" else _CUDA)
        way = f"choose the build of the machine that it is for, with --extra-index-url {index}"
        return Conflict(tuple(gone), message, "manual", f"{reason}; it names builds for {wheels}: {way}")
    edits = [TextEdit(pin.start, pin.end, new) for pin, new in wanted if new]
    edits += [TextEdit(*match.span("build"), _CUDA) for match in _INDEX.finditer(text)]
    built = {match["build"] for pin in gone if (match := _BUILD.fullmatch(pin.specifier))}
    built |= {match["build"] for match in _INDEX.finditer(text)}
    if all(build == "cpu" or "cu111" <= build <= _CUDA for build in built):
        return Conflict(tuple(gone), message, "safe", f"{reason}; {_CUDA} {_SAME_DRIVERS}", tuple(edits))
    reason = f"{reason}; fixer cannot tell what the machine that it is for has"
    return Conflict(tuple(gone), message, "unsafe", reason, tuple(edits))


def _renewed(pin: Pin, exact: str) -> str | None:
    """The specifier with the release that works with the others, and a build of it."""
    if found := _BUILD.fullmatch(pin.specifier):
        build = "cpu" if found["build"] == "cpu" else _CUDA
        return f"{found['sign']}{found['space']}{exact}+{build}"
    plain = _EXACT.fullmatch(pin.specifier)
    return f"{plain['sign']}{plain['space']}{exact}" if plain else None


def _index(build: str) -> str:
    return f"https://download.pytorch.org/whl/{build}"
