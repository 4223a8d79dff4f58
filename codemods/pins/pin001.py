"""PIN001: requirements on Lightning that cannot run the rewritten code, or that admit malicious releases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from packaging.requirements import Requirement
from packaging.version import Version

from codemods.facts import Facts
from codemods.finding import Finding
from codemods.pins.manifest import LIGHTNING, Pin, Problem, read_pins
from codemods.pins.reach import MENTIONS, Area, area_of
from codemods.pins.specifier import MALICIOUS, admits, admits_from, guarded, only_refused, raised
from codemods.pins.toml import Unparsable
from codemods.rule import Example, Match, Rule, TextEdit, all_rules
from codemods.source import TextFile

ADVISORY = "GHSA-w37p-236h-pfx3"
PYTHONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
_PLATFORMS = (("linux", "Linux", "posix"), ("darwin", "Darwin", "posix"), ("win32", "Windows", "nt"))

# name: (the oldest release that Lightning 2.6 runs with, whether that one itself will do), compat.csv of the
# index metadata of pytorch-lightning 2.6.6
_BESIDE: Mapping[str, tuple[str, bool]] = {"torch": ("2.1.0", True), "torchmetrics": ("0.7.0", False)}

_ADVICE: Mapping[Problem | None, str] = {
    "hashed": "its hashes are those of the old release: renew the file with the tool that wrote it",
    "locked": "the file lists a whole environment, resolved together: renew it with the tool that wrote it",
    "unplaced": "its place in the file could not be proven: edit it by hand",
    "invalid": "no tool that follows the standard reads it: write it anew",
    "address": "fixer cannot tell which Lightning stands there: move the fork too, or ask for a release by number",
}


def check(file: TextFile, facts: Facts) -> Iterator[Match]:
    """The requirements of a manifest that have to move, and those that a person has to look at."""
    try:
        pins = read_pins(file.kind, file.text)
    except Unparsable as error:
        reason = f"it is no TOML ({error}); correct it, then look at its requirements on Lightning"
        yield Match(file.span(0, 0), "The requirements cannot be read", "manual", reason)
        return
    area = area_of(file.path, facts)
    moves = False
    for pin in pins:
        match = _lightning(file, pin, pins, area, facts.target) if pin.name in LIGHTNING else None
        if match:
            moves = moves or (bool(match.edits) and _fitting(pin, area, facts.target) is not None)
            yield match
    if moves:
        yield from _beside(file, pins, facts.target)


def _fitting(pin: Pin, area: Area, target: str) -> str | None:
    """The specifier that the rewritten code needs; None where it needs no other, or there is none."""
    moves = area.rewritten and not _stays(pin, area)
    return raised(pin.specifier, target, pin.poetry) if moves else None


def _stays(pin: Pin, area: Area) -> bool:
    """Whether what was rewritten runs on a release that the requirement admits, and nothing of it was for the
    target's sake, or other code still waits for a person and would break there."""
    rules = {rule.code: rule for rule in all_rules()}
    moved = [rules[item.code] for item in area.rewritten if item.code in rules]
    needs = [Version(item.needs or rules[item.code].needs or "1.0.0") for item in area.rewritten if item.code in rules]
    settled = _waiting(area) or not any(rule.breaks_in for rule in moved)
    return bool(settled and needs) and admits_from(pin.specifier, str(max(needs)), pin.poetry)


def _waiting(area: Area) -> tuple[Finding, ...]:
    """The places left to a person that break on the target."""
    breaking = {rule.code for rule in all_rules() if rule.breaks_in}
    return tuple(item for item in area.left if item.code in breaking)


def _lightning(file: TextFile, pin: Pin, pins: tuple[Pin, ...], area: Area, target: str) -> Match | None:
    if pin.problem in ("address", "invalid"):
        kind = "comes from an address" if pin.problem == "address" else "is not a valid requirement"
        needed = f"; the rewritten code needs {pin.name}{raised('', target)}" if area.rewritten else ""
        return _manual(file, pin, f"`{_shown(pin)}` {kind}", _ADVICE[pin.problem] + needed)
    dead = _is_dead(pin)
    if dead and not area.rewritten:
        return None
    problem = "it applies to no Python that Lightning 2.6 runs on: take it out" if dead else _ADVICE.get(pin.problem)
    fitting = _fitting(pin, area, target)
    wanted = fitting or guarded(pin.specifier, target, pin.poetry)
    short = None if fitting or admits(wanted or "", target, pin.poetry) else _short(pin, area, target)
    if wanted is None:
        return _manual(file, pin, f"`{_shown(pin)}` asks for a malicious release", f"ask for {pin.name}=={target}")
    if wanted == pin.specifier:
        return _manual(file, pin, short[0], "; ".join(filter(None, (short[1], problem)))) if short else None
    message, reason = _moved(pin, pins, area, target, wanted) if fitting else _malicious(pin, wanted)
    if problem:
        return _manual(file, pin, message, f"{problem}; wanted is {pin.name}{wanted}")
    reason += f"; {short[0]}: {short[1]}" if short else ""
    edit = TextEdit(pin.start, pin.end, wanted)
    return Match(file.span(pin.place, pin.end), message, "safe", reason, edits=(edit,))


def _moved(pin: Pin, pins: tuple[Pin, ...], area: Area, target: str, wanted: str) -> tuple[str, str]:
    if not admits(pin.specifier, target, pin.poetry):
        message = f"`{_shown(pin)}` does not admit Lightning {target}, which the rewritten code is for"
    else:
        message = f"`{_shown(pin)}` admits releases that the rewritten code does not run on"
    reason = f"the code now uses what exists since Lightning 2.0: {pin.specifier or 'any version'} becomes {wanted}"
    if pin.name == "pytorch-lightning" and only_refused(pin.specifier, pin.poetry):
        reason += "; pip 24.1 and later refuse to install what it asked for"
    if _admits_malicious(pin):
        reason += f"; it also admitted malicious releases ({ADVISORY})"
    if area.left:
        reason += f"; left for a person: {_listed(area.left)}"
    clashing = ", ".join(_shown(other) for other in pins if other.name in _BESIDE and _clashes(other))
    if clashing:
        reason += f"; it cannot be installed before {clashing} is raised too"
    return message, f"{reason}; renew the lock file, if one is made from it"


def _malicious(pin: Pin, wanted: str) -> tuple[str, str]:
    named = " and ".join(bad for bad in MALICIOUS if admits(pin.specifier, bad, pin.poetry))
    return (
        f"`{_shown(pin)}` admits {named}: malicious ({ADVISORY})",
        f"malicious releases must not be installed from an index that still has them: it becomes {wanted}",
    )


def _short(pin: Pin, area: Area, target: str) -> tuple[str, str]:
    """That a requirement does not admit the target, and why it stays so."""
    message = f"`{_shown(pin)}` does not admit Lightning {target}"
    if area.rewritten and not _stays(pin, area):
        why = "it excludes that release by name, asks for a newer one or contradicts itself: decide which you mean"
        return message, f"{why}; the rewritten code needs 2.0 or later"
    left = _waiting(area)
    advice = f"raise it when these places are done: {_listed(left)}" if left else "raise it when you want to move"
    return message, f"nothing that was rewritten needs it; {advice}"


def _beside(file: TextFile, pins: tuple[Pin, ...], target: str) -> Iterator[Match]:
    """Requirements beside a moved one that Lightning of the target cannot be installed with."""
    for pin in pins:
        if pin.name in _BESIDE and _clashes(pin):
            floor, inclusive = _BESIDE[pin.name]
            least = f"{pin.name}{'>=' if inclusive else '>'}{floor}"
            reason = f"Lightning {target} needs {least}; raise it, and run the code on it"
            yield _manual(file, pin, f"`{_shown(pin)}` cannot stand beside Lightning {target}", reason)
        elif (
            pin.name == "python"
            and pin.requirement
            and any(admits(pin.specifier, f"3.{minor}", pin.poetry) for minor in range(6, 10))
        ):
            reason = "raise the lower bound to 3.10; older Pythons get an older Lightning 2, or none"
            yield _manual(
                file, pin, f"`{pin.specifier}` admits Pythons that Lightning {target} does not run on", reason
            )


def _clashes(pin: Pin) -> bool:
    """Whether a requirement on torch or torchmetrics admits no release that Lightning 2.6 can be installed with."""
    floor, inclusive = _BESIDE[pin.name]
    return bool(pin.requirement) and not admits_from(pin.specifier, floor, pin.poetry, inclusive)


def _is_dead(pin: Pin) -> bool:
    """Whether the marker of a requirement holds on no Python that Lightning 2.6 runs on."""
    marker = Requirement(pin.requirement).marker
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


def _admits_malicious(pin: Pin) -> bool:
    return any(admits(pin.specifier, bad, pin.poetry) for bad in MALICIOUS)


def _shown(pin: Pin) -> str:
    if pin.problem in ("address", "invalid") and not pin.poetry:
        return pin.specifier
    return f"{pin.name}{' ' * pin.poetry}{pin.specifier}"


def _listed(findings: tuple[Finding, ...]) -> str:
    """How many, and where the first three are."""
    first = ", ".join(f"{item.path}:{item.span.line}" for item in findings[:3])
    return f"{len(findings)} ({first}{', ...' if len(findings) > 3 else ''})"


def _manual(file: TextFile, pin: Pin, message: str, reason: str) -> Match:
    return Match(file.span(pin.place, pin.end), message, "manual", reason)


_OLD = (("train.py", "from pytorch_lightning import Trainer\n\ntrainer = Trainer(gpus=1)\n"),)
_NEW = (("train.py", 'from pytorch_lightning import Trainer\n\ntrainer = Trainer(accelerator="gpu", devices=1)\n'),)

RULE = Rule(
    code="PIN001",
    name="pins",
    summary="requirements on Lightning admit the release that the code was rewritten for, and no malicious one",
    why=(
        "After a rewrite the old requirement installs a Lightning on which the code no longer runs. It is changed as "
        "little as will do, in its own style, for the code that the manifest is for. It waits while other places of "
        "that code break on the target and what was rewritten still runs on a release that it admits. Where nothing "
        f"was rewritten only the releases 2.6.2 and 2.6.3 are excluded, which were malicious ({ADVISORY}). "
        "Addresses, hashes, lock exports and invalid requirements are left to a person."
    ),
    fix="safe",
    versions="Lightning 1.x -> 2.0 and later; 2.6.2 and 2.6.3 in any case",
    triggers=MENTIONS,
    check=check,
    kinds=("requirements", "pyproject"),
    mentions=MENTIONS,
    last=True,
    examples=(
        Example(
            "pytorch-lightning==1.8.0  # strict\n", "pytorch-lightning==2.6.6  # strict\n", "requirements.txt", _OLD
        ),
        Example(
            "pytorch-lightning >1.7.0, <2.0.0\n",
            "pytorch-lightning >=2.0.0, <3.0.0, !=2.6.2, !=2.6.3\n",
            "requirements.txt",
            _OLD,
        ),
        Example(
            '[tool.poetry.dependencies]\npytorch-lightning = "^1.6"\n',
            '[tool.poetry.dependencies]\npytorch-lightning = "^2.0,!=2.6.2,!=2.6.3"\n',
            "pyproject.toml",
            _OLD,
        ),
        Example("lightning>=2.2\n", "lightning>=2.2,!=2.6.2,!=2.6.3\n", "requirements.txt", _NEW),
        Example("pytorch-lightning==1.8.0\n", "pytorch-lightning==1.8.0\n", "requirements.txt", _NEW),
        Example(
            "pytorch-lightning @ git+https://github.com/me/pytorch-lightning.git@fixes\n",
            "pytorch-lightning @ git+https://github.com/me/pytorch-lightning.git@fixes\n",
            "requirements.txt",
            _OLD,
        ),
    ),
    references=(
        "https://github.com/Lightning-AI/pytorch-lightning/security/advisories/GHSA-w37p-236h-pfx3",
        "https://github.com/Lightning-AI/pytorch-lightning/issues/21691",
    ),
)
