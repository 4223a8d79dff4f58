"""What has to move along with Lightning: torch and what is built for it, torchmetrics, transformers, jsonargparse,
wandb, setuptools, Python.

A requirement is changed only where no release of Lightning that is still admitted can be installed beside it: then
there is no way to have both. One that merely keeps Lightning back is left to a person.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from packaging.requirements import Requirement
from packaging.version import Version

from codemods.lightning.pins.brought import TransitiveDistribution, brought
from codemods.lightning.pins.built import PYTHON, built
from codemods.lightning.pins.compat import BESIDE, FAMILY, OWN, PLAIN, MinorRelease, minor_of
from codemods.lightning.pins.pin import LIGHTNING, UNREAD, Pin
from codemods.lightning.pins.reach import Area, Manifest
from codemods.lightning.pins.specifier import admits, admits_from, clauses, from_python, lifted
from codemods.rules.pins.environment import clashes
from codemods.rules.pins.lightning import ADVICE, PinVerdict, advice_of, after, is_dead, shown

_PYTHONS = tuple(f"3.{minor}.{patch}" for minor in range(5, 15) for patch in range(26))
_TORCH = (
    "Lightning {target} needs torch>={floor}, and no older Lightning that is still allowed "
    "runs with it; only a run can show what torch itself changed since then"
)
_ASKED = {
    "transformers": "Python 3.10, the oldest that Lightning {target} runs on,",
    "jsonargparse": "LightningCLI of Lightning {target}",
    "wandb": "WandbLogger of Lightning {target}",
}
_LOOKED_AT_BY = {"jsonargparse": "LightningCLI", "wandb": "WandbLogger"}
"""What Lightning looks at only where these start."""
NUMPY = "numpy"
_CAPPING = ("scipy<1.13", "numba<0.60")
"""Releases that ask for a NumPy below 2."""
_SINCE = {
    "torchmetrics": "its metrics changed in between (task= is asked for since 0.11): run the code on it",
    "transformers": "only a run can show what it changed in between",
    "jsonargparse": "only a run can show what it changed in between",
    "pyyaml": "since 6.0 yaml.load requires its Loader argument",
}


def beside(own: Manifest, area: Area, target: str, used: frozenset[str]) -> Iterator[tuple[Pin, PinVerdict]]:
    """What becomes of the other requirements of a manifest. `used` are the libraries that code uses."""
    if own.kind in ("notebook", "hooks", "shell", "listed") and not any(pin.name in LIGHTNING for pin in own.pins):
        return
    for group in sorted({pin.group for pin in own.pins}):
        yield from _of_group(group, own, area, target, used)


def _of_group(
    group: str, own: Manifest, area: Area, target: str, used: frozenset[str]
) -> Iterator[tuple[Pin, PinVerdict]]:
    """What becomes of one extra or group, or of what is asked for in any case."""
    left = after(own, group, area, target)
    newest = minor_of(target)
    libraries = [pin for pin in own.pins if pin.name in BESIDE and pin.requirement and pin.group == group]
    libraries = [pin for pin in libraries if pin.problem != "locked" and _matters(pin, area, used)]
    holding = [pin for pin in libraries if _holds_back(pin, area) and not _goes_anyhow(pin, left)]
    fits = [minor for minor in left if not any(clashes(pin, minor) for pin in holding)]
    exact = not fits and any(pin.name == "torch" and _is_exact(pin) and clashes(pin, newest) for pin in libraries)
    stuck = next((pin for pin in libraries if pin.name == "torch" and not fits and why_not(pin, own, area)), None)
    found: PinVerdict | None
    for pin in (pin for pin in own.pins if pin.group == group):
        if pin.problem == "invalid" and pin.name in BESIDE:
            need = minor_of(target).beside[pin.name].floor
            reason = f"{ADVICE[pin.problem]}; Lightning {target} needs `{pin.name}>={need}`"
            found = PinVerdict(f"`{shown(pin)}` is not a valid requirement", "manual", reason, stops=True)
        elif pin in libraries:
            alone = [minor for minor in left if not clashes(pin, minor)]
            with_it = alone if pin.name in PLAIN else fits or (alone if pin.name == "transformers" else [])
            found = _of_library(pin, own, area, with_it, target, used, exact, stuck)
        elif pin.problem == "locked" and pin.language != "conda":
            continue
        elif pin.name == "python" and pin.requirement:
            found = _of_python(pin, left or [newest], target)
        elif pin.name == "numpy" and pin.requirement:
            found = _of_numpy(pin, own, area, left or [newest], target)
        elif pin.name in built() and pin.requirement and pin.language != "conda":
            found = _of_built(pin, own, area, left or [newest], target, used)
        elif pin.name == "setuptools" and pin.requirement:
            found = _of_setuptools(pin, area, left or [newest], target)
        else:
            continue
        if found:
            yield pin, found


def clashing(own: Manifest, area: Area, target: str, used: frozenset[str]) -> tuple[Pin, ...]:
    """The requirements of a manifest that keep the target out and are not surely raised."""
    raised = {id(pin) for pin, found in beside(own, area, target, used) if found.fix == "safe"}
    newest = minor_of(target)
    return tuple(
        pin
        for pin in own.pins
        if pin.name in OWN and id(pin) not in raised and pin.requirement
        if _matters(pin, area, used) and clashes(pin, newest)
    )


def _matters(pin: Pin, area: Area, used: frozenset[str]) -> bool:
    """Whether Lightning asks for it here: jsonargparse is for LightningCLI, or for an extra, wandb for WandbLogger."""
    return _LOOKED_AT_BY.get(pin.name) in used or _holds_back(pin, area)


def _holds_back(pin: Pin, area: Area) -> bool:
    """Whether installers keep to what Lightning asks for: LightningCLI and WandbLogger look when they start."""
    return pin.name not in _LOOKED_AT_BY or _is_asked_by_extra(pin, area)


def _is_asked_by_extra(pin: Pin, area: Area) -> bool:
    return pin.name == "jsonargparse" and any(
        not {"extra", "all", "pytorch-extra", "pytorch-all"}.isdisjoint(Requirement(pin.requirement).extras)
        for pin in area.pins
        if pin.name in LIGHTNING and pin.requirement
    )


def _goes_anyhow(pin: Pin, left: list[MinorRelease]) -> bool:
    """Whether no Lightning that is still admitted runs with it, and it is raised whatever stands beside it."""
    return pin.name in PLAIN and all(clashes(pin, minor) for minor in left)


def _is_exact(pin: Pin) -> bool:
    return any(item.operator in ("==", "===", "=", "") and not item.wildcard for item in clauses(pin.meant))


def _of_library(
    pin: Pin,
    own: Manifest,
    area: Area,
    fits: list[MinorRelease],
    target: str,
    used: frozenset[str],
    exact: bool,
    stuck: Pin | None,
) -> PinVerdict | None:
    newest = minor_of(target)
    need = newest.beside[pin.name]
    follows = exact and pin.name in FAMILY and _is_exact(pin) and not admits(pin.meant, need.exact, pin.language)
    if not clashes(pin, newest) and not follows:
        return None
    message = f"`{shown(pin)}` cannot be installed with Lightning {target}"
    asked = f"{_ASKED.get(pin.name, 'Lightning {target}').format(target=target)} needs {pin.name}>={need.floor}"
    if fits and _holds_back(pin, area):
        reason = f"{asked}; with this, Lightning {fits[-1].name} is the newest that can be installed"
        return PinVerdict(message, "manual", f"{reason}: raise it, and run the code on it")
    goes_with = stuck is not None and (pin.name in FAMILY or pin.name == stuck.name)
    why = why_not(pin, own, area) or (f"raise it together with {shown(stuck)}" if stuck and goes_with else None)
    wanted = lifted(pin.meant, need.floor, need.exact, pin.language)
    if why or wanted is None:
        return PinVerdict(message, "manual", f"{asked}; {why or 'its conditions exclude each other then'}", stops=True)
    if pin.name in _SINCE:
        reason = f"{asked}, and nothing older works with it: {pin.specifier} becomes {wanted}"
        if pin.name in used:
            return PinVerdict(message, "unsafe", f"{reason}; {_SINCE[pin.name]}", wanted, stops=True)
        return PinVerdict(message, "safe", f"{reason}; no code here imports it", wanted, stops=True)
    if pin.name == "wandb":
        reason = f"{asked}; {pin.specifier} becomes {wanted}, with which it was run"
        return PinVerdict(message, "safe", reason, wanted, stops=True)
    if pin.name in PLAIN:
        reason = f"{asked}, and nothing older works with it: {pin.specifier} becomes {wanted}"
        return PinVerdict(message, "safe", reason, wanted, stops=True)
    reason = _TORCH.format(target=target, floor=newest.beside["torch"].floor) + f"; {pin.specifier} becomes {wanted}"
    if pin.name in FAMILY:
        reason = f"it is built for one torch, and has to fit the one that is required now: it becomes {wanted}"
    return PinVerdict(message, "safe", reason, wanted, stops=True)


def why_not(pin: Pin, own: Manifest, area: Area) -> str | None:
    """Why a requirement is not raised, though it has to be."""
    if pin.problem:
        return advice_of(pin) or "it must not be changed"
    if pin.language == "conda" and pin.name in PLAIN:
        return "raise it to a release that is in its channels"
    if pin.language == "conda":
        return "raise it together with the CUDA packages, channels and Python that belong to it"
    if "+" in pin.specifier:
        build = re.split(r"[^\w.]", pin.specifier.partition("+")[2])[0]
        return f"it names one build, `{build}`: choose the release and the build for the machine"
    if not any(other.name in LIGHTNING for other in own.pins) and own.kind != "dockerfile":
        fuller = [
            item
            for item in area.manifests
            if item is not own
            and {pin.name} <= {other.name for other in item.pins}
            and any(other.name in LIGHTNING for other in item.pins)
        ]
        if fuller:
            return (
                f"{fuller[0].path} requires another one, next to Lightning: "
                "check whether this file is for the same code"
            )
    return None


def _of_python(pin: Pin, left: list[MinorRelease], target: str) -> PinVerdict | None:
    if pin.language == "conda" and not pin.problem and _is_exact(pin):
        return None  # PIN005 sees what else the environment asks for
    floor = min((minor.python for minor in left), key=_number)
    if not any(_number(python) < _number(floor) and admits(pin.meant, python, pin.language) for python in _PYTHONS):
        return None
    said = pin.specifier if pin.specifier[:1].isdigit() or pin.language != "conda" else shown(pin)
    message = f"`{said}` allows Pythons that Lightning {target} does not run on"
    asked = f"the required Lightning needs Python {floor} or later"
    wanted = None if pin.problem or pin.language == "conda" else from_python(pin.meant, floor, pin.language)
    if wanted is None:
        return PinVerdict(message, "manual", f"{asked}: raise it, with the packages that are built for it", stops=True)
    reason = f"{asked}, so nothing could be installed on an older one: {pin.specifier} becomes {wanted}"
    return PinVerdict(message, "safe", reason, wanted)


def _number(python: str) -> tuple[int, ...]:
    return tuple(map(int, python.split(".")))


def _of_numpy(pin: Pin, own: Manifest, area: Area, left: list[MinorRelease], target: str) -> PinVerdict | None:
    """NumPy before 1.21.3 has no build for Python 3.10."""
    oldest = min(left, key=lambda minor: _number(minor.python))
    need = oldest.beside["numpy"]
    if admits_from(pin.meant, need.floor, pin.language):
        return _of_newer_numpy(pin, own, area, target)
    message = f"`{shown(pin)}` has no build for a Python that Lightning {target} runs on"
    asked = f"Python {oldest.python} is the oldest, NumPy {need.floor} the first built for it"
    after = Version(need.exact)
    wanted = lifted(pin.meant, need.floor, need.exact, pin.language, (after.major, after.minor + 1))
    why = why_not(pin, own, area)
    if why or wanted is None:
        return PinVerdict(message, "manual", f"{asked}: {why or 'raise it'}", stops=True)
    kept = f"{pin.specifier} becomes {wanted}, which still has what 1.20 deprecated, as np.int"
    return PinVerdict(message, "safe", f"{asked}: {kept}", wanted, stops=True)


def _of_newer_numpy(pin: Pin, own: Manifest, area: Area, target: str) -> PinVerdict | None:
    """NumPy 2, with which what is built for NumPy 1 does not import."""
    if pin.language == "conda" or pin.problem or not admits_from(pin.meant, "2.0.0", pin.language):
        return None
    held = next((each for row in brought() for each in built_for_one(row, area.pins, target)), None)
    if held is None or why_not(pin, own, area):
        return None
    wanted = f"{pin.specifier},<2" if pin.specifier.strip(" *") else "<2"
    reason = f"`{shown(held)}` is built for NumPy 1, and does not import with NumPy 2: it becomes {wanted}"
    message = f"`{shown(pin)}` allows what `{shown(held)}` does not import with"
    return PinVerdict(message, "safe", reason, wanted, stops=True)


def built_for_one(row: TransitiveDistribution, pins: Sequence[Pin], target: str) -> list[Pin]:
    """The requirements on releases of a row of the table that are built for NumPy 1, where nothing that is asked for
    beside them keeps NumPy below 2 by itself."""
    if row.name != NUMPY or any(held_below(each, pins, target) for each in _CAPPING):
        return []
    return [pin for pin in held_below(row.needed_by, pins, target) if pin.language != "conda"]


def _of_built(
    pin: Pin, own: Manifest, area: Area, left: list[MinorRelease], target: str, used: frozenset[str]
) -> PinVerdict | None:
    """What has no build for the oldest Python: nothing that is asked for beside it can be installed."""
    row, python = built()[pin.name], min((minor.python for minor in left), key=_number)
    if not pin.specifier.strip(" *") or is_dead(pin) or _number(python) < _number(PYTHON):
        return None
    if row.has_build(pin.meant, pin.language):
        return None
    message = f"`{shown(pin)}` has no build for a Python that Lightning {target} runs on"
    asked = f"Python {python} is the oldest, {pin.name} {row.first} the first built for it"
    why, wanted = why_not(pin, own, area), lifted(pin.meant, row.first, row.exact, pin.language)
    if why or wanted is None:
        return PinVerdict(message, "manual", f"{asked}: {why or 'raise it'}", stops=True)
    reason = f"{asked}: {pin.specifier} becomes {wanted}"
    if pin.name in used and row.is_of_another_major(pin.meant):
        return PinVerdict(
            message, "unsafe", f"{reason}; only a run can show what it changed in between", wanted, stops=True
        )
    return PinVerdict(message, "safe", reason, wanted, stops=True)


def held_below(needed_by: str, pins: Sequence[Pin], target: str) -> list[Pin]:
    """The requirements on some old releases (`torchmetrics<1`), where none of them has to leave these for the target,
    nor admits a newer one."""
    name, _, limit = needed_by.partition("<")
    need = minor_of(target).beside.get(name)
    said = [pin for pin in pins if pin.name == name and pin.problem not in ("locked", *UNREAD)]
    stated = [pin for pin in said if pin.specifier.strip(" *")]
    stays = need is None or all(admits_from(pin.meant, need.floor, pin.language) for pin in stated)
    return stated if stays and not any(admits_from(pin.meant, limit, pin.language) for pin in stated) else []


def _of_setuptools(pin: Pin, area: Area, left: list[MinorRelease], target: str) -> PinVerdict | None:
    if not admits(pin.meant, "82.0.0", pin.language) or pin.problem:
        return None
    row = next(row for row in brought() if row.name == "setuptools" and row.needed_by)
    held = held_below(row.needed_by, area.pins, target)
    who = f"Lightning {target}" if all(minor.resources for minor in left) else f"`{shown(held[0])}`" if held else ""
    if not who:
        return None
    wanted = f"{pin.specifier},<82" if pin.specifier.strip(" *") else "<82"
    reason = f"{who} imports pkg_resources, which setuptools 82 removed: it becomes {wanted}"
    return PinVerdict(f"`{shown(pin)}` allows what {who} does not import with", "safe", reason, wanted)
