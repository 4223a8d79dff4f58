"""What a requirement on Lightning has to become, and what is said of one that stays."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from packaging.requirements import Requirement
from packaging.version import Version

from codemods.finding import Finding, Fix
from codemods.lightning.pins.compat import MinorRelease, minors
from codemods.lightning.pins.pin import LIGHTNING, Pin, Problem
from codemods.lightning.pins.reach import Area, Manifest
from codemods.lightning.pins.specifier import (
    MALICIOUS,
    admits,
    admits_from,
    admits_older,
    clauses,
    guarded,
    only_refused,
    raised,
)

ADVISORY = "GHSA-w37p-236h-pfx3"
PYTHONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
_PLATFORMS = (("linux", "Linux", "posix"), ("darwin", "Darwin", "posix"), ("win32", "Windows", "nt"))
_RESOURCES = "it imports pkg_resources, which setuptools 82 removed: require `setuptools<82` too"

ADVICE: dict[Problem | None, str] = {
    "hashed": "its hashes are those of the old release: update the file with the tool that wrote it",
    "locked": "the file lists a whole resolved environment: update it with the tool that wrote it",
    "unplaced": "its place in the file could not be proven: edit it by hand",
    "invalid": "no tool that follows the standard reads it: rewrite it",
    "address": "fixer cannot tell which Lightning that is: move the fork too, or require a release, such as `{}`",
    "variable": "its release is in a variable: change it where the variable is set",
    "ignored": "a comment says not to change it",
}
_WHAT: dict[Problem | None, str] = {
    "address": "comes from an address",
    "invalid": "is not a valid requirement",
    "variable": "takes its release from elsewhere",
}


LEFT_BEHIND = (
    "it is installed from an address that is not one of Lightning's own releases: "
    "check whether the release has what was changed there"
)
_LOCK = "update the lock file, if one is made from it"
_FURTHER = {
    **dict.fromkeys(("requirements", "pyproject", "pipfile", "setup.py", "setup.cfg"), _LOCK),
    "dockerfile": "the base image brings Python and torch: check that they are new enough",
    "workflow": "check that its Python is new enough",
}


@dataclass(frozen=True)
class PinVerdict:
    """What is said of a requirement, what its specifier becomes (None: it stays), and whether the target cannot be
    installed with it as it is."""

    message: str
    fix: Fix
    reason: str
    wanted: str | None = None
    stops: bool = False


def fitting(pin: Pin, area: Area, target: str) -> str | None:
    """The specifier that the rewritten code needs; None where it needs no other, or there is none."""
    if pin.problem in _WHAT or not area.rewritten or _stays(pin, area):
        return None
    return raised(pin.meant, target, pin.language, str(max(area.needs, Version("2.0"))))


def moves(pin: Pin, area: Area, target: str) -> bool:
    """Whether a requirement on Lightning is changed for the rewritten code."""
    wanted = fitting(pin, area, target) if pin.name in LIGHTNING and not pin.problem else None
    return wanted is not None and wanted != pin.specifier and not is_dead(pin)


def after(own: Manifest, group: str, area: Area, target: str) -> list[MinorRelease]:
    """The minor releases that can be there in the end for a group of a manifest, going by its Lightning.

    A manifest that asks for none goes by the others of the area.
    """
    stated = [pin for pin in own.pins if pin.name in LIGHTNING and not pin.problem]
    together = [pin for pin in stated if pin.group in ("", group)]
    others = [pin for pin in area.pins if pin.name in LIGHTNING and not pin.problem]
    left = [minor for minor in minors() if Version(minor.name).release >= area.needs.release[:2]]
    for pin in together:
        left = [minor for minor in left if _admits(pin, minor, area, target)]
    if not together:
        left = [minor for minor in left if any(_admits(pin, minor, area, target) for pin in stated or others)]
    return left


def _admits(pin: Pin, minor: MinorRelease, area: Area, target: str) -> bool:
    text = fitting(pin, area, target) or pin.meant
    return any(admits(text, release, pin.language) for release in minor.admitted())


def _stays(pin: Pin, area: Area) -> bool:
    """Whether what was rewritten runs on a release that the requirement admits, and nothing of it was for the
    target's sake, or other code still waits for a person and would break there. Where it runs on 2.x alone, a
    requirement that admits older releases as well does not stay."""
    settled = area.waiting or not area.breaks
    if area.needs >= Version("2.0") and admits_older(pin.meant, pin.language):
        return False
    return bool(settled) and admits_from(pin.meant, str(area.needs), pin.language)


def advice_of(pin: Pin, target: str = "") -> str:
    """What is said of a requirement that cannot be changed, with the release that it should name where that is known;
    "" where nothing stands in the way."""
    advice = ADVICE.get(pin.problem, "")
    if pin.name not in LIGHTNING:
        advice = advice.replace("which Lightning that is", f"which {pin.name} that is")
    return advice.replace("{}", f"{pin.name}=={target}") if target else advice.replace(", such as `{}`", "")


def verdict(pin: Pin, own: Manifest, area: Area, target: str, unraised: tuple[Pin, ...]) -> PinVerdict | None:
    """What a requirement on Lightning has to become. `unraised` are those beside it that still keep it out."""
    if pin.problem in _WHAT:
        needed = f"; the rewritten code needs `{pin.name}{raised('', target)}`" if area.rewritten else ""
        said = f"`{shown(pin)}` {_WHAT[pin.problem]}"
        known = pin.problem == "address" and pin.repaired
        advice = f"it names {pin.name} {pin.meant}: require a release by number" if known else advice_of(pin, target)
        return PinVerdict(said, "manual", advice + needed, stops=area.breaks)
    dead = is_dead(pin)
    if dead and not area.rewritten:
        return None
    problem = "it applies to no Python that Lightning 2.6 runs on: remove it" if dead else ADVICE.get(pin.problem)
    fits = fitting(pin, area, target)
    wanted = fits or guarded(pin.meant, target, pin.language)
    if wanted is None:
        message = f"`{shown(pin)}` asks for a malicious release"
        return PinVerdict(message, "manual", f"ask for {pin.name}=={target}", stops=True)
    short = None if fits or admits(wanted, target, pin.language) else _short(pin, area, target)
    stops = not dead and bool(fits or not _stays(pin, area)) and not admits(pin.meant, target, pin.language)
    stops = stops and bool(area.rewritten)
    if wanted == pin.specifier or (pin.is_address and wanted == pin.meant):
        reason = "; ".join(filter(None, (short[1], problem))) if short else ""
        return PinVerdict(short[0], "manual", reason, stops=stops) if short else None
    if fits and fits != pin.meant:
        message, reason = _moved(pin, own, area, target, wanted, unraised)
    elif wanted != pin.meant:
        message, reason = _malicious(pin, wanted)
    else:
        message, reason = f"`{shown(pin)}` is not a valid requirement", f"it means {wanted}"
    if problem:
        return PinVerdict(message, "manual", f"{problem}; wanted is {pin.name}{wanted}", stops=stops)
    if pin.repaired and not pin.is_address and wanted != pin.meant:
        reason += f"; pip refuses to read it as it was, which meant {pin.meant}"
    reason += f"; {short[0]}: {short[1]}" if short else ""
    if pin.fork:
        return PinVerdict(message, "unsafe", f"{reason}; {LEFT_BEHIND}", wanted, stops)
    if pin.language == "conda" and any(clause.version == target for clause in clauses(wanted)):
        reason = f"{reason}; fixer cannot tell whether the channels have {target}"
        return PinVerdict(message, "unsafe", reason, wanted, stops)
    return PinVerdict(message, "safe", reason, wanted, stops)


def _moved(pin: Pin, own: Manifest, area: Area, target: str, wanted: str, unraised: tuple[Pin, ...]) -> tuple[str, str]:
    if not admits(pin.meant, target, pin.language):
        message = f"`{shown(pin)}` does not allow Lightning {target}, which the rewritten code needs"
    else:
        message = f"`{shown(pin)}` allows releases that the rewritten code does not run on"
    since, asked = max(area.needs, Version("2.0")), pin.specifier.strip() or "any version"
    reason = f"the rewritten code needs Lightning {since} or later: {asked} becomes {wanted}"
    if pin.name == "pytorch-lightning" and pin.language != "conda" and only_refused(pin.meant, pin.language):
        reason += "; pip 24.1 and later refused to install it"
    if admits_malicious(pin):
        reason += f"; it also allowed malicious releases ({ADVISORY})"
    if area.left:
        reason += f"; left to repair by hand: {listed(area.left)}"
    if unraised:
        reason += f"; it cannot be installed before {', '.join(map(shown, unraised))} is raised too"
    if area.elsewhere:
        reason += f"; other code of the repository has its own: {_elsewhere(area)}"
    if pin.word and re.search("[<>]", pin.specifier):
        reason += "; without quotes the shell took < and > for redirections and installed any version"
    return message, f"{reason}; {_FURTHER[own.kind]}" if own.kind in _FURTHER else reason


def _elsewhere(area: Area) -> str:
    pins = [(item.path, pin) for item in area.elsewhere for pin in item.pins if pin.name in LIGHTNING]
    shortened = ", ".join(f"{path} ({shown(pin)})" for path, pin in pins[:2])
    return shortened + (", ..." if len(pins) > 2 else "")


def _malicious(pin: Pin, wanted: str) -> tuple[str, str]:
    named = " and ".join(bad for bad in MALICIOUS if admits(pin.meant, bad, pin.language))
    return (
        f"`{shown(pin)}` allows {named}: malicious ({ADVISORY})",
        f"malicious releases must not be installed from an index that still has them: it becomes {wanted}",
    )


def _short(pin: Pin, area: Area, target: str) -> tuple[str, str]:
    """That a requirement does not admit the target, and why it stays so."""
    message = f"`{shown(pin)}` does not allow Lightning {target}"
    if area.rewritten and not _stays(pin, area):
        why = "it excludes that release by name, asks for a newer one or contradicts itself: keep one condition"
        return message, f"{why}; the rewritten code needs 2.0 or later"
    left = area.waiting
    wanted = shown(replace(pin, specifier=raised(pin.meant, target, pin.language) or raised("", target) or ""))
    advice = f"write `{wanted}` when "
    advice += f"these places are repaired: {listed(left)}" if left else "you want to move"
    old = [text for text in ("2.4.0", "2.5.0", "2.6.0") if admits_from(pin.meant, text, pin.language)]
    if not old and not any(other.name == "setuptools" for other in area.pins):
        advice += f"; until then {_RESOURCES}"
    if pin.name == "pytorch-lightning" and only_refused(pin.meant, pin.language):
        advice += "; pip 24.1 and later refuse to install it (uv does not)"
    code = "rewritten code" if area.rewritten else "code"
    return message, f"the {code} runs on the release that it requires; {advice}"


def is_dead(pin: Pin) -> bool:
    """Whether the marker of a requirement holds on no Python that Lightning 2.6 runs on."""
    marker = Requirement(pin.requirement).marker if pin.requirement else None
    if marker is None or "python" not in str(marker):
        return False
    return not any(
        marker.evaluate(
            {
                "python_version": python,
                "python_full_version": f"{python}.1",
                "sys_platform": platform,
                "platform_system": system,
                "os_name": name,
                "platform_machine": machine,
                "implementation_name": "cpython",
                "platform_python_implementation": "CPython",
                "extra": "",
            }
        )
        for python in PYTHONS
        for platform, system, name in _PLATFORMS
        for machine in ("x86_64", "arm64", "aarch64", "AMD64")
    )


def admits_malicious(pin: Pin) -> bool:
    """Whether a requirement lets a malicious release in."""
    return any(admits(pin.meant, bad, pin.language) for bad in MALICIOUS)


def shown(pin: Pin) -> str:
    """A requirement as a message names it."""
    if pin.bare or (pin.problem in _WHAT and pin.language == "pep440"):
        return pin.specifier
    name = "pytorch" if (pin.name, pin.language) == ("torch", "conda") else pin.name
    return f"{name}{' ' * (pin.language == 'poetry')}{pin.specifier}"


def listed(findings: tuple[Finding, ...]) -> str:
    """How many, and where the first three are."""
    places = list(dict.fromkeys(f"{item.path}:{item.span.line}" for item in findings))
    first = ", ".join(places[:3])
    return f"{len(findings)} ({first}{', ...' if len(places) > 3 else ''})"
