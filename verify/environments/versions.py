"""The two environments: which versions they hold, and how they come to be."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from types import MappingProxyType

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from verify.environments.baseline import LIGHTNING, Choice, choose, named, requirement
from verify.environments.building import BOUND_TO_TORCH, EnvironmentPlan, build
from verify.environments.dates import as_of
from verify.environments.installer import Installer
from verify.environments.interpreters import Interpreter, Unavailable, inspect
from verify.environments.naming import said
from verify.environments.origins import NOWHERE, Origins
from verify.environments.releases import minor_of
from verify.evidence import Environment, Role

TORCH = "2.13.0"
_NAMED = 5


@dataclass(frozen=True)
class ReadyEnvironment:
    """An environment that a tree can run in, which of the packages that it was to have did not install, and which are
    imported and were left out, with the reasons."""

    interpreter: Interpreter
    environment: Environment
    absent: frozenset[str] = frozenset()
    left: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class RequiredVersions:
    """What the executed files need: Lightning's distribution, other packages, the project's pins on those, and the ISO
    day on which the code was last written, None where that is not known.

    `left` are the imported packages that nothing names, with the reasons, and `origins` the places that the project
    names for the others; `told` says in words which of its places are asked and which are not. `locked` are the
    releases of a lock file, Lightning's among them, and `unused` what is installed and imported by no executed file.
    """

    lightning: str
    packages: frozenset[str]
    pins: tuple[str, ...] = ()
    written: str | None = None
    left: Mapping[str, str] = field(default_factory=dict)
    origins: Origins = NOWHERE
    told: str = ""
    locked: tuple[str, ...] = ()
    unused: frozenset[str] = frozenset()


def target(
    wanted: RequiredVersions,
    release: str,
    given: Interpreter | None,
    installer: Installer,
    cache: Path,
    progress: Callable[[str], None],
    solved: Mapping[str, str] = MappingProxyType({}),
    is_last: bool = True,
) -> ReadyEnvironment:
    """The environment for the tree after: a given interpreter, the one we run in, or one built for it; where that
    cannot be and this `is_last`, with nothing else to try, the one we run in as far as it goes. With releases that were
    `solved` it is built of these."""
    if given is not None:
        _check_given(given, wanted, release)
        told = _otherwise(_extras(wanted, {}), given)
        return _ready("target", given, wanted, f"the interpreter that was asked for{told}")
    here = inspect(Path(sys.executable))
    if not solved and _serves(here, wanted, release):
        told = _otherwise(_extras(wanted, {}), here)
        reason = f"the interpreter that fixer runs in has all that the project imports{told}"
        return _ready("target", here, wanted, reason)
    torch = solved.get("torch") or here.packages.get("torch", TORCH)
    tools = f"setuptools=={solved['setuptools']}" if "setuptools" in solved else "setuptools<82"
    base = (f"torch=={torch}", *_lightning(wanted.lightning, release), tools)
    day = _day(wanted, here, installer)
    all_of_it = replace(wanted, packages=wanted.packages | wanted.unused)
    held = tuple(f"{name}=={solved[name]}" for name in sorted(solved) if name not in _loose(all_of_it))
    origins = wanted.origins.needed_for(all_of_it.packages)
    plan = EnvironmentPlan(base, held, _extras(all_of_it, {}), day, origins, wanted.unused)
    try:
        found, left = build(plan, here, installer, cache, progress)
    except Unavailable as error:
        if not is_last or not _serves(here, replace(wanted, packages=frozenset()), release):
            raise
        absent = _absent(wanted, here)
        told = f"{error}{_otherwise(plan.extras, here)}{_without(tuple(sorted(absent)))}"
        reason = f"the interpreter that fixer runs in, as no other is available: {told}"
        return replace(_ready("target", here, wanted, reason), absent=absent)
    told = f"{_dated(day)}{_otherwise((*base, *plan.extras), found)}{_without(left)}"
    ready = _ready("target", found, wanted, f"Lightning {release} on torch {torch}{told}")
    return replace(ready, absent=_absent(wanted, found))


def baseline(
    wanted: RequiredVersions,
    pins: Iterable[str],
    below: str | None,
    after: ReadyEnvironment,
    release: str,
    installer: Installer,
    cache: Path,
    progress: Callable[[str], None],
    own_torch: bool = False,
) -> ReadyEnvironment:
    """The environment for the tree before: an older Lightning, all else as in the target, or with the project's own
    torch where that is asked for."""
    pins = tuple(pins)
    choice = _chosen(wanted, pins, below, release)
    minor = minor_of(choice.version)
    if minor and not minor.any_installer and not installer.any_metadata:
        raise Unavailable(f"Lightning {choice.version} ({choice.reason}) installs only with uv: `pip install uv`")
    same = after.interpreter.packages
    own = next((pin for pin in named(pins, ["torch"]) if pin.specifier), None) if own_torch else None
    absent = frozenset() if own else after.absent
    wanted = replace(wanted, packages=wanted.packages - absent)
    metrics = _own_metrics(wanted, after.interpreter)
    alike = same.get(wanted.lightning) == str(choice.version) and not own
    if alike and not metrics:
        return _ready("baseline", after.interpreter, wanted, choice.reason)
    day = _day(wanted, after.interpreter, installer)
    torch = f"torch{own.specifier}" if own else None
    plan = replace(baseline_plan(wanted, choice, same, torch, metrics), day=day)
    try:
        found, left = build(plan, after.interpreter, installer, cache, progress)
    except Unavailable:
        if not metrics:
            raise
        if alike:
            told = _otherwise([metrics], after.interpreter)
            return _ready("baseline", after.interpreter, wanted, f"{choice.reason}{told}")
        plan = replace(baseline_plan(wanted, choice, same, torch), day=day)
        found, left = build(plan, after.interpreter, installer, cache, progress)
    mine = f", on the project's own torch ({own.specifier})" if own else ""
    left = (*left, *(f"{name} (as in the target)" for name in sorted(absent)))
    moved = _otherwise((*plan.base, *plan.extras, *([metrics] if metrics else [])), found, same)
    return _ready("baseline", found, wanted, f"{choice.reason}{mine}{_dated(day)}{moved}{_without(left)}")


def _chosen(wanted: RequiredVersions, pins: tuple[str, ...], below: str | None, release: str) -> Choice:
    """The release for the tree before: the one that a lock file holds, where it can be had."""
    if held := named(wanted.locked, [wanted.lightning]):
        locked = choose((*pins, str(held[0])), below, release)
        if held[0].specifier.contains(locked.version, prereleases=True):
            return Choice(locked.version, f"{locked.version}, the release that the lock file holds")
    return choose(pins, below, release)


def _own_metrics(wanted: RequiredVersions, there: Interpreter) -> str | None:
    """The project's pin of torchmetrics, where its code imports that and the target has one that the pin keeps out: to
    another major release the same calls mean something else. `there` is the target's interpreter."""
    if "torchmetrics" not in wanted.packages:
        return None
    version = there.packages.get("torchmetrics", "0")
    python = {"python_version": there.python.rpartition(".")[0], "extra": ""}
    held = [
        pin for pin in named(wanted.pins, ["torchmetrics"])
        if pin.specifier and (pin.marker is None or pin.marker.evaluate(python))
    ]  # fmt: skip
    return next((str(pin) for pin in held if not pin.specifier.contains(version, prereleases=True)), None)


def baseline_plan(
    wanted: RequiredVersions, choice: Choice, same: Mapping[str, str], torch: str | None, metrics: str | None = None
) -> EnvironmentPlan:
    """What to build for the tree before, with what is the `same` as in the target; `torch` and `metrics` are the
    project's own."""
    minor = minor_of(choice.version)
    further = (*minor.needs, *(minor.together if wanted.lightning == "lightning" else ())) if minor else ()
    if metrics or ("torchmetrics" in same and "torchmetrics" not in " ".join(further)):
        further = (*further, metrics or f"torchmetrics=={same['torchmetrics']}")
    if torch and _knows_only_old_numpy(Requirement(torch)):
        further = (*further, "numpy<2")
    shared = {name: version for name, version in same.items() if not torch or name not in (*BOUND_TO_TORCH, "numpy")}
    return EnvironmentPlan(
        (torch or f"torch=={same.get('torch', TORCH)}", *_lightning(wanted.lightning, str(choice.version)), *further),
        minor.overrides if minor else (),
        _extras(replace(wanted, packages=wanted.packages - {"torchmetrics"}), shared),
        origins=wanted.origins.needed_for(wanted.packages),
    )


def _knows_only_old_numpy(torch: Requirement) -> bool:
    """Whether a pin admits nothing from torch 2.3 on, which was the first to be built for NumPy 2."""
    first = (2, 3)
    for clause in torch.specifier:
        release = Version(clause.version.removesuffix(".*")).release
        if clause.operator == "~=" or clause.version.endswith(".*"):
            prefix = release[:-1] if clause.operator == "~=" else release
            old = clause.operator != "!=" and prefix[:2] < first[: len(prefix)]
        else:
            old = clause.operator in ("==", "===", "<=", "<") and release < first
        if old or (clause.operator == "<" and release[:2] == first and not any(release[2:])):
            return True
    return False


def given_baseline(
    found: Interpreter, wanted: RequiredVersions, pins: Iterable[str], same: Mapping[str, str]
) -> ReadyEnvironment:
    """The environment for the tree before in an interpreter that was asked for; `same` is what the target has."""
    version = found.packages.get(wanted.lightning)
    if version is None or "torch" not in found.packages:
        raise Unavailable(
            f"the interpreter that was asked for as baseline lacks {wanted.lightning} or torch: "
            f"run `{found.path} -m pip install torch {wanted.lightning}`"
        )
    refused = [pin for pin in named(pins, LIGHTNING) if not pin.specifier.contains(version, prereleases=True)]
    aside = f", although the pins ask for {refused[0]}" if refused else ""
    told = f"with Lightning {version}{aside}{_otherwise(_extras(wanted, {}), found, same)}"
    return _ready("baseline", found, wanted, f"the interpreter that was asked for, {told}")


def _lightning(name: str, release: str) -> tuple[str, ...]:
    """Requirements on Lightning: the `lightning` distribution asks for any `pytorch-lightning`, so both are named."""
    if name == "lightning" and Version(release) >= Version("2.0"):
        return (f"lightning=={release}", f"pytorch-lightning=={release}")
    return (f"{name}=={release}",)


def _extras(wanted: RequiredVersions, same: Mapping[str, str]) -> tuple[str, ...]:
    """The other distributions: as in the other environment, else as pinned, else any."""
    pinned = {canonicalize_name(pin.name): pin for pin in map(requirement, wanted.pins) if pin and _holds(pin)}
    lines = []
    for name in sorted(wanted.packages):
        asked = Requirement(name)
        plain = canonicalize_name(asked.name)
        if plain in same and not asked.url:
            lines.append(f"{name}=={same[plain]}")
        elif plain in pinned and not asked.url:
            pin = pinned[plain]
            extras = ",".join(sorted(asked.extras | pin.extras))
            lines.append(f"{pin.name}{f'[{extras}]' if extras else ''}{pin.specifier}")
        else:
            lines.append(name)
    return tuple(lines)


def _holds(pin: Requirement) -> bool:
    """Whether a pin says which version to take on this Python: what is imported is installed on any."""
    return bool(pin.specifier) and (pin.marker is None or pin.marker.evaluate({"extra": ""}))


def _absent(wanted: RequiredVersions, found: Interpreter) -> frozenset[str]:
    """What was asked for by name and is not there; what an address brings may have another name."""
    asked = {name: Requirement(name) for name in wanted.packages}
    return frozenset(
        name for name, one in asked.items() if not one.url and canonicalize_name(one.name) not in found.packages
    )


def _check_given(found: Interpreter, wanted: RequiredVersions, release: str) -> None:
    lightning = f"{wanted.lightning}=={release}"
    version = found.packages.get(wanted.lightning)
    missing = [] if "torch" in found.packages else ["torch"]
    missing += [] if version and Version(version) == Version(release) else [lightning]
    if missing:
        held = f"has {wanted.lightning} {version}" if version else f"lacks {' and '.join(missing)}"
        command = f"{found.path} -m pip install {' '.join(missing)}"
        raise Unavailable(f"the interpreter that was asked for {held}: run `{command}`")


def _loose(wanted: RequiredVersions) -> frozenset[str]:
    """What is not held to solved releases by force: what is asked for by name anyway, and may be replaced where it does
    not load."""
    named = {canonicalize_name(Requirement(line).name) for line in wanted.packages}
    return frozenset({"numpy", "setuptools", "torch", *LIGHTNING, *named})


def _serves(here: Interpreter, wanted: RequiredVersions, release: str) -> bool:
    """Whether the interpreter we run in can stand for the target."""
    held = here.packages.get("torch") and here.packages.get(wanted.lightning) == release
    return bool(held) and all(canonicalize_name(Requirement(name).name) in here.packages for name in wanted.packages)


def _ready(role: Role, found: Interpreter, wanted: RequiredVersions, reason: str) -> ReadyEnvironment:
    shown = {"torch", "torchmetrics", *LIGHTNING, *(canonicalize_name(Requirement(n).name) for n in wanted.packages)}
    packages = tuple(sorted((name, version) for name, version in found.packages.items() if name in shown))
    told = reason + wanted.told + _unlocked(wanted, found) + said(wanted.left)
    return ReadyEnvironment(found, Environment(role, found.python, packages, told), left=wanted.left)


def _unlocked(wanted: RequiredVersions, found: Interpreter) -> str:
    """What of Lightning and torch a lock file holds in other releases, as the two go together."""
    held = named(wanted.locked, (*LIGHTNING, "torch", *BOUND_TO_TORCH))
    apart = [
        str(pin) for pin in held
        if (there := found.packages.get(canonicalize_name(pin.name))) and not _fits(pin, there)
    ]  # fmt: skip
    return f"; not as the lock file has it, since these move: {', '.join(apart)}" if apart else ""


def _day(wanted: RequiredVersions, python: Interpreter, installer: Installer) -> str | None:
    """As of which day the other packages are installed, where the installer can tell their days."""
    others = wanted.packages - {"numpy"}
    return as_of(wanted.written, python.python, date.today()) if installer.any_metadata and others else None


def _dated(day: str | None) -> str:
    return f"; other packages as of {day}, when the code was written, where they install" if day else ""


def _otherwise(asked: Iterable[str], found: Interpreter, same: Mapping[str, str] = MappingProxyType({})) -> str:
    """What has another version than was asked for, or than in the other environment, in words: it is installed where
    what was asked for does not install or load."""
    there = {canonicalize_name(name): version for name, version in found.packages.items()}
    lines = [one for one in map(Requirement, asked) if not one.url and canonicalize_name(one.name) in there]
    moved = {
        canonicalize_name(one.name): f"{one.name} {there[canonicalize_name(one.name)]} ({one})"
        for one in lines if not _fits(one, there[canonicalize_name(one.name)])
    }  # fmt: skip
    spared = {*moved, *LIGHTNING, "lightning-fabric", "torch"}
    apart = [
        f"{name} {version} ({same[name]})"
        for name, version in sorted(there.items()) if name in same and same[name] != version and name not in spared
    ]  # fmt: skip
    told = f"; of other versions than asked for: {', '.join(moved.values())}" if moved else ""
    more = f" and {len(apart) - _NAMED} more" if apart[_NAMED:] else ""
    return told + (f"; of other versions than in the target: {', '.join(apart[:_NAMED])}{more}" if apart else "")


def _fits(asked: Requirement, version: str) -> bool:
    try:
        return asked.specifier.contains(version, prereleases=True)
    except InvalidVersion:
        return not asked.specifier


def _without(left: tuple[str, ...]) -> str:
    return f"; without what cannot be installed or does not load beside this torch: {', '.join(left)}" if left else ""
