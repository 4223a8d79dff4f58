"""The set of releases that a conda environment is to hold: Python, torch and what is built for it, and NumPy, which
move together or not at all."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from packaging.version import Version

from codemods.finding import Fix
from codemods.lightning.pins.compat import FAMILY, MinorRelease, built_for, minor_of
from codemods.lightning.pins.conda import CondaItem, channels_of, items_of
from codemods.lightning.pins.pin import LIGHTNING, Pin
from codemods.lightning.pins.reach import Area, Manifest
from codemods.lightning.pins.specifier import admits, admits_from, admits_older, from_python, lifted
from codemods.rule import TextEdit
from codemods.rules.pins.lightning import after, fitting, moves, shown

_BUILT = ("torch", *FAMILY, "numpy")
_NAME = re.compile(r"(?:[\w.-]+::)?(?P<name>[\w.-]+)")
_EXACT_PYTHON = re.compile(r"==?3\.\d+(?:\.\d+|\.\*)?")
_PYTHONS = tuple(f"3.{minor}.{patch}" for minor in range(5, 10) for patch in (0, 5, 99))
_OLD_PIP = re.compile(r"pip==?(?P<version>\d+(?:\.\d+)*)(?:\.\*)?")
_PIP_FOR_310 = "21.2.4"
"""The first pip that the default channel has a build of for Python 3.10."""
_UNBOUND = frozenset({
    "cmake", "cpuonly", "cudatoolkit", "ffmpeg", "gcc", "git", "gxx", "lightning", "make", "mkl", "ninja", "nodejs",
    "openblas-devel", "pip", "python", "pytorch", "pytorch-lightning", "torchmetrics", *_BUILT,
})  # fmt: skip
"""Packages of conda's whose builds are for no Python, and those that the set names."""
_BESIDE_TORCH = re.compile(r"torch|pyg|dgl|xformers|kaolin|detectron|mmcv|flash|cudnn", re.IGNORECASE)
"""What is built for one torch, where the Python stays as it is."""
_SEEN = "fixer cannot tell what the channels hold"


@dataclass(frozen=True)
class Conflict:
    """The requirements of an environment that cannot stay, the first of them in front, what is said of them, and the
    edits that put a set in their place which works together."""

    pins: tuple[Pin, ...]
    message: str
    fix: Fix
    reason: str
    edits: tuple[TextEdit, ...] = ()


@dataclass(frozen=True)
class _ItemChange:
    """What becomes of an item, as text; and the edits for it."""

    said: str
    edits: tuple[TextEdit, ...]


def conflict(text: str, own: Manifest, area: Area, target: str) -> Conflict | None:
    """What of a conda environment cannot be installed beside its Lightning; None where a person finds nothing, or the
    Python alone, to do."""
    if own.kind != "conda" or not is_settled(area, target):
        return None
    left = after(own, "", area, target)
    stated = [pin for pin in own.pins if pin.language == "conda" and not pin.group and pin.requirement]
    built = [pin for pin in stated if pin.name in _BUILT]
    if not left or any(not any(clashes(pin, minor) for pin in built) for minor in left):
        return None
    if any(pin.problem for pin in stated if pin.name in (*_BUILT, "python")):
        return None
    newest = minor_of(target)
    gone = [pin for pin in built if clashes(pin, newest) or _follows(pin, built, newest)]
    gone += [pin for pin in stated if pin.name == "python" and pin.specifier and _is_old(pin)]
    gone.sort(key=lambda pin: pin.place)
    if not any(pin.name in _BUILT and clashes(pin, newest) for pin in gone):
        return None
    return _solved(text, gone, newest, target)


def is_settled(area: Area, target: str) -> bool:
    """Whether no Lightning before 2.0 will be admitted."""
    pins = [pin for pin in area.pins if pin.name in LIGHTNING and pin.requirement]
    if any(moves(pin, area, target) for pin in pins):
        return True
    return bool(pins) and not any(admits_older(fitting(pin, area, target) or pin.meant, pin.language) for pin in pins)


def clashes(pin: Pin, minor: MinorRelease) -> bool:
    return not admits_from(pin.meant, minor.beside[pin.name].floor, pin.language)


def _follows(pin: Pin, built: Sequence[Pin], newest: MinorRelease) -> bool:
    """Whether an exact release is built for the exact torch that goes."""
    torch = next((other for other in built if other.name == "torch"), None)
    moving = torch is not None and clashes(torch, newest)
    return moving and pin.name in FAMILY and not admits(pin.meant, newest.beside[pin.name].exact, pin.language)


def _is_old(pin: Pin) -> bool:
    """Whether a requirement admits a Python that the target does not run on."""
    return any(admits(pin.meant, python, pin.language) for python in _PYTHONS)


def _solved(text: str, gone: Sequence[Pin], newest: MinorRelease, target: str) -> Conflict:
    items = [item for item in items_of(text, ("dependencies",)) if item.key == "dependencies"]
    channels = list(channels_of(text))
    torch = any(pin.name == "torch" for pin in gone)
    steps = [_renewed(pin, newest) for pin in gone]
    steps += _along(text, items, channels, torch, any(pin.name == "python" for pin in gone), newest)
    names = "`, `".join(shown(pin) for pin in gone)
    message = f"`{names}` cannot be installed with Lightning {target}"
    together = ", ".join(step.said for step in steps)
    reason = f"Lightning {target} needs Python {newest.python} and torch>={newest.beside['torch'].floor}, "
    reason += f"and these releases work together: {together}"
    if why := _why_not(gone, items, channels, torch):
        return Conflict(tuple(gone), message, "manual", f"{reason}; not rewritten: {why}")
    edits = tuple(edit for step in steps for edit in step.edits)
    return Conflict(tuple(gone), message, "unsafe", f"{reason}; {_SEEN}", edits)


def _renewed(pin: Pin, newest: MinorRelease) -> _ItemChange:
    """A requirement as it works with the others."""
    if pin.name == "python":
        open_end = None if _EXACT_PYTHON.fullmatch(pin.specifier) else from_python(pin.meant, newest.python, "conda")
        wanted = open_end or f"={newest.python}"
    else:
        need = newest.beside[pin.name]
        wanted = lifted(pin.meant, need.floor, need.exact, pin.language) or f"={need.exact}"
    name = "pytorch" if pin.name == "torch" else pin.name
    return _ItemChange(f"{name}{wanted}", (TextEdit(pin.start, pin.end, wanted),))


def _along(
    text: str,
    items: Sequence[CondaItem],
    channels: Sequence[CondaItem],
    torch: bool,
    python: bool,
    newest: MinorRelease,
) -> Iterator[_ItemChange]:
    """What goes with them: the CUDA packages of torch, and a pip that has a build for the Python."""
    known = built_for(newest.beside["torch"].exact)
    cuda, mkl = known["conda_cuda"], known["conda_beside"]
    for item in items:
        if torch and _name(item) == "cudatoolkit":
            yield _ItemChange(f"{cuda} in place of {item.stated}", (_instead(item, cuda),))
            if all(channel.stated != "nvidia" for channel in channels):
                yield _ItemChange("the channel nvidia", tuple(_below(text, _channel(channels, "pytorch"), "nvidia")))
        old = _OLD_PIP.fullmatch(item.stated)
        if python and old and Version(old["version"]) < Version(_PIP_FOR_310):
            yield _ItemChange(f"pip in place of {item.stated}", (_instead(item, "pip"),))
    beside = next((item for item in items if _name(item) == "pytorch"), None)
    if torch and _channel(channels, "pytorch") and beside and all(_name(item) != "mkl" for item in items):
        yield _ItemChange(mkl, tuple(_below(text, beside, mkl)))


def _instead(item: CondaItem, stated: str) -> TextEdit:
    return TextEdit(item.place, item.place + len(item.stated), stated)


def _below(text: str, item: CondaItem | None, stated: str) -> Iterator[TextEdit]:
    """The edit that puts an item on a line below another one, as that is written, or behind it between brackets."""
    if item:
        start = text.rfind("\n", 0, item.place) + 1
        end = re.compile(r"\r?\n|\Z").search(text, item.place)
        dash = re.match(r"\s*-\s+", text[start:])
        if end and dash:
            yield TextEdit(end.start(), end.start(), f"{_end_of_line(text)}{dash.group()}{stated}")
        elif not dash:
            behind = item.place + len(item.stated)
            behind += text[behind : behind + 1] in ("'", '"')
            yield TextEdit(behind, behind, f", {stated}")


def _end_of_line(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _why_not(gone: Sequence[Pin], items: Sequence[CondaItem], channels: Sequence[CondaItem], torch: bool) -> str:
    """Why the set is not written; "" where nothing is in the way."""
    moved = {pin.place for pin in gone}
    python = any(pin.name == "python" for pin in gone)
    others = [item.stated for item in items if item.place not in moved and _is_bound(item)]
    others = [stated for stated in others if python or _BESIDE_TORCH.search(stated)]
    if others:
        what = "that Python" if python else "that torch"
        return f"fixer cannot tell whether a build for {what} is there of {', '.join(others[:3])}"
    if not torch or _channel(channels, "pytorch"):
        return ""
    if any(_name(item) == "cudatoolkit" for item in items) or not _channel(channels, "conda-forge"):
        return "the channel pytorch is not named, which has these builds"
    return ""


def _is_bound(item: CondaItem) -> bool:
    """Whether an item names a release that may be built for one Python or one torch."""
    conditions = _NAME.sub("", item.stated, count=1)
    return (
        re.search(r"[=<~]|\d", conditions) is not None
        and conditions.strip()[:2] != ">="
        and _name(item) not in _UNBOUND
    )


def _channel(channels: Sequence[CondaItem], name: str) -> CondaItem | None:
    return next((item for item in channels if item.stated == name), None)


def _name(item: CondaItem) -> str:
    match = _NAME.match(item.stated)
    return match["name"].lower() if match else ""
