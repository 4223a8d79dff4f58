"""Whether a tree runs in what its own manifests ask for, and what is said and claimed where it does not.

The versions come from solving all that the main manifests ask for; of these, what the executed files import is
installed. Where that cannot be had here, the tree runs in the environment that fixer chooses, and the evidence begins
with what was run instead.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import date
from functools import wraps
from pathlib import Path

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from verify.environments import versions
from verify.environments.baseline import LIGHTNING
from verify.environments.dates import as_of
from verify.environments.installer import Installer
from verify.environments.interpreters import Interpreter, Unavailable, inspect
from verify.environments.required import TreeRequirements, required
from verify.environments.solving import Solution, installed, solve
from verify.environments.versions import ReadyEnvironment, RequiredVersions
from verify.evidence import RUNGS, Evidence, RequirementFit, Rung
from verify.request import Request

NAMED = 5
_SERVE: Mapping[str, frozenset[str]] = {
    "faiss-cpu": frozenset({"faiss-gpu", "faiss-gpu-cu12"}),
    "opencv-python-headless": frozenset(
        {"opencv-python", "opencv-contrib-python", "opencv-contrib-python-headless", "opencv-python-headless"}
    ),
    "pillow": frozenset({"pillow-simd"}),
}
"""Distributions that bring the same package as the one that is installed for its import."""
_EITHER = frozenset({"tensorboard", "tensorboardx"})
"""What is wanted together where one of the two will do, as for Lightning's TensorBoardLogger."""
_BASE = frozenset({"torch", "setuptools", *LIGHTNING})
_FOR_GPUS = ("nvidia-", "triton", "cupy", "tensorrt")
_RUNNERS = frozenset({"pytest"})
"""What tests are run with here: the program itself runs without."""
_PREFACE = "No solution found when resolving dependencies "


def target(
    wanted: RequiredVersions,
    needed: Iterable[str],
    root: Path | None,
    release: str,
    given: Interpreter | None,
    installer: Installer,
    cache: Path,
    progress: Callable[[str], None],
) -> ReadyEnvironment:
    """The environment for the tree after at `root`: what its manifests ask for, as far as that can be had here.

    `needed` are the distributions that the tree after imports; `wanted` may hold those of the tree before too. Without
    manifests that name Lightning, without a root, and in an interpreter that was asked for, nothing is solved. Raises
    Unavailable.
    """

    def chosen() -> ReadyEnvironment:
        return versions.target(wanted, release, given, installer, cache, progress)

    stated = required(root) if root else None
    if stated is None:
        return chosen()
    if given is not None:
        return _compared(chosen(), stated, "the interpreter was asked for")
    here = inspect(Path(sys.executable))
    fits = _has_all(here, wanted, release) and not stated.bounds
    held = installed(stated.lines) if fits else None
    if held is not None:
        return _told(chosen(), stated, held, needed)
    progress(f"solving what {', '.join(stated.files)} ask for")
    found, why, free = _solved(stated, here, release, installer, cache)
    if not found:
        there = _compared(chosen(), stated, why, why if found.contradicts else "")
        return _lacking(there, stated, free, needed) if free else there
    exact = tuple(f"{name}=={version}" for name, version in sorted(found.releases.items()))
    plain = replace(wanted, pins=exact, written=None)

    def built(asked: RequiredVersions, tools: Installer, is_last: bool) -> ReadyEnvironment:
        return versions.target(asked, release, None, tools, cache, progress, found.releases, is_last)

    unused = _unused(stated, found.releases, plain)
    half = installer.left() / 2
    hurried = replace(installer, left=lambda: installer.left() - half) if unused else installer
    try:
        ready = built(replace(plain, unused=unused), hurried, not unused)
    except Unavailable:
        if not unused:
            raise
        ready = built(plain, installer, True)
    return _told(ready, stated, found.releases, needed, newest=True, unused=unused)


def _unused(stated: TreeRequirements, releases: Mapping[str, str], wanted: RequiredVersions) -> frozenset[str]:
    """What the manifests ask for and nothing that runs imports: Lightning and others load some of it where it is
    there. What only a GPU has a use for is left out."""
    here = {"extra": ""}
    asked = {canonicalize_name(one.name) for one in map(Requirement, stated.lines) if not _is_off(one, here)}
    known = {canonicalize_name(Requirement(line).name) for line in wanted.packages}
    return frozenset(name for name in asked - known - _BASE if name in releases and not name.startswith(_FOR_GPUS))


def _is_off(asked: Requirement, here: dict[str, str]) -> bool:
    return asked.marker is not None and not asked.marker.evaluate(here)


def _has_all(here: Interpreter, wanted: RequiredVersions, release: str) -> bool:
    """Whether the interpreter that fixer runs in can take the target's place."""
    names = {canonicalize_name(Requirement(line).name) for line in wanted.packages}
    there = here.packages
    return "torch" in there and there.get(wanted.lightning) == release and names <= set(there)


def _solved(
    stated: TreeRequirements, here: Interpreter, release: str, installer: Installer, cache: Path
) -> tuple[Solution, str, Mapping[str, str]]:
    """The releases that the manifests come to: with the torch that is here where they admit it, else with a build of
    their own torch that is like it. None with the reason where that cannot be, and what they come to elsewhere."""
    torch = here.packages.get("torch")
    bound = [*(f"{name}=={release}" for name in LIGHTNING), *stated.bounds]

    def tried(held: Iterable[str]) -> Solution:
        return solve(stated.lines, list(held), here, installer, cache)

    found = tried([*bound, *([f"torch=={torch}"] if torch else [])])
    if found or not torch:
        return found, found.why, {}
    free = tried(stated.bounds)
    if not free:
        return free, free.why, {}
    own, build = free.releases.get("torch", ""), Version(torch).local
    if not own or Version(own).public == Version(torch).public:
        return Solution({}, found.why), f"not with Lightning {release}: {found.why}", free.releases
    like = own if "+" in own or not build else f"{own}+{build}"
    again = tried([*bound, f"torch=={like}"])
    return again, again.why and f"torch {like} is not available here: {again.why}", free.releases


def _compared(ready: ReadyEnvironment, stated: TreeRequirements, why: str, excluded: str = "") -> ReadyEnvironment:
    """An environment that was chosen otherwise, beside what the manifests ask for line by line."""
    there = ready.interpreter.packages
    lines = [Requirement(line) for line in stated.lines]
    apart = {
        canonicalize_name(one.name): (one.name, _spelled(one), there[canonicalize_name(one.name)])
        for one in lines
        if canonicalize_name(one.name) in there
        and (one.marker is None or one.marker.evaluate({"extra": ""}))
        and not _admits(one.specifier, there[canonicalize_name(one.name)])
    }
    differs = (*_python(ready, stated), *apart.values())
    return _with(ready, RequirementFit(stated.files, differs, (), why, excluded))


def _told(
    ready: ReadyEnvironment,
    stated: TreeRequirements,
    releases: Mapping[str, str],
    needed: Iterable[str],
    newest: bool = False,
    unused: Iterable[str] = (),
) -> ReadyEnvironment:
    """An environment that was made of a solution: what is in it in another release, and what it does not hold."""
    there = ready.interpreter.packages
    apart = [
        (name, version, there[name])
        for name, version in sorted(releases.items())
        if name in there and _public(version) != _public(there[name])
    ]
    why = "the resolved packages do not install or load" if apart else ""
    differs = (*_python(ready, stated), *apart)
    missing = tuple(f"{name} {releases[name]}" for name in sorted(unused) if name not in there)
    asked = RequirementFit(stated.files, differs, (), why, newest=newest, missing=missing)
    return _lacking(_with(ready, asked), stated, releases, needed)


def _lacking(
    ready: ReadyEnvironment, stated: TreeRequirements, releases: Iterable[str], needed: Iterable[str]
) -> ReadyEnvironment:
    """An environment with what is in it and nothing brings that the manifests ask for."""
    there, asked = ready.interpreter.packages, ready.environment.asked
    names = sorted(name for name in _added(needed, {*releases, *stated.named}) if name in there)
    return _with(ready, replace(asked, added=tuple(f"{name} {there[name]}" for name in names))) if asked else ready


def _added(needed: Iterable[str], held: set[str]) -> Iterator[str]:
    """The distributions of an index that are needed and that nothing asked for brings."""
    names = {canonicalize_name(one.name) for one in map(Requirement, needed) if not one.url}
    for name in names - held - _RUNNERS:
        if name in _EITHER and names >= _EITHER and (held & _EITHER or name != "tensorboard"):
            continue
        if held.isdisjoint(_SERVE.get(name, ())):
            yield name


def _python(ready: ReadyEnvironment, stated: TreeRequirements) -> tuple[tuple[str, str, str], ...]:
    python = ready.environment.python
    fits = not stated.python or SpecifierSet(stated.python).contains(python, prereleases=True)
    return () if fits else (("Python", stated.python, python),)


def _with(ready: ReadyEnvironment, asked: RequirementFit) -> ReadyEnvironment:
    files = () if said(asked) else asked.files
    return replace(ready, environment=replace(ready.environment, asked=asked, manifests=files))


def _spelled(asked: Requirement) -> str:
    """A specifier as a sentence has it: an exact one is its version."""
    clauses = list(asked.specifier)
    return clauses[0].version if len(clauses) == 1 and clauses[0].operator == "==" else str(asked.specifier)


def _admits(specifier: SpecifierSet, version: str) -> bool:
    try:
        return specifier.contains(version, prereleases=True)
    except InvalidVersion:
        return not specifier


def _public(version: str) -> str:
    try:
        return Version(version).public
    except InvalidVersion:
        return version


# -- what is said, and what may be claimed


def said(asked: RequirementFit) -> str:
    """What was run instead of what the manifests ask for, in one line; empty where they are the same."""
    parts, files = [], " and ".join(asked.files)
    if asked.today:
        old = "ran with packages from when the code was written"
        parts.append(f"installed today as {files} ask, it does not train ({_short(asked.today)}); {old}")
    if asked.excluded:
        parts.append(f"the branch cannot be installed as it asks: {_short(asked.excluded)}")
    if asked.differs:
        ran = _listed(f"{name} {there}" for name, _, there in asked.differs)
        wants = _listed(f"{name} {wanted}" for name, wanted, _ in asked.differs)
        why = f" ({_short(asked.why)})" if asked.why and not asked.excluded else ""
        parts.append(f"Ran with {ran}; the branch asks for {wants}{why}")
    elif asked.why and not asked.excluded:
        parts.append(f"What was run fits {files}, which was not installed as a whole: {_short(asked.why)}")
    if asked.missing:
        parts.append(f"not installed here, and used by nothing that ran: {_listed(asked.missing)}")
    if asked.added:
        parts.append(f"not in the branch's requirements: {_listed(asked.added)}, without which it does not run: add it")
    return "; ".join(parts)


def most(asked: RequirementFit) -> Rung | None:
    """The highest rung that may be claimed: None where there is no bound.

    A branch that lacks something, or that nothing can be installed for, does not train as it is installed; one that
    ran in other releases trains in those, and is the same in none that it asks for.
    """
    if asked.excluded or asked.added or asked.today:
        return "conforms"
    return "trains" if asked.differs or asked.why else None


Proof = Callable[[Path, Path, Request, Callable[[str], None]], Evidence]


def bounded(proof: Proof) -> Proof:
    """A proof whose evidence begins with what was run instead of what the branch asks for, and claims no more.

    Where neither tree trains with the packages of today, which whoever installs the branch gets, both are tried with
    those of the day when the code was written.
    """

    @wraps(proof)
    def prove(before: Path, after: Path, request: Request, progress: Callable[[str], None]) -> Evidence:
        first = proof(before, after, request, progress)
        if not fails_today(first, request):
            return bound(first)
        progress("neither tree trains with the packages of today: trying those from when the code was written")
        second = proof(before, after, replace(request, as_asked=False), progress)
        return bound(_since(first, second) if second.verdict != "inconclusive" else first)

    return prove


def fails_today(evidence: Evidence, request: Request) -> bool:
    """Whether neither tree trains in releases that are newer than the code, for a reason that older ones may not have:
    none of them has what a use that is left by hand asks Lightning for."""
    there = next((one for one in evidence.environments if one.role == "target"), None)
    if there is None or there.asked is None or not there.asked.newest or evidence.verdict != "inconclusive":
        return False
    if evidence.stops_by_hand:
        return False
    ended = [
        run is not None and run.failure is not None and not run.fitted for run in (evidence.before, evidence.after)
    ]
    return all(ended) and as_of(request.written, there.python, date.today()) is not None


def _since(first: Evidence, second: Evidence) -> Evidence:
    """Evidence from older releases, with what became of the tree after in those of today."""
    asked = next(one.asked for one in first.environments if one.role == "target")
    failure = first.after.failure if first.after else None
    told = f"{failure.type}: {failure.said}" if failure else first.reason
    older = replace(asked, differs=(), newest=False, today=told) if asked else None
    there = tuple(replace(one, asked=older) if one.role == "target" else one for one in second.environments)
    return replace(second, environments=there)


def bound(evidence: Evidence) -> Evidence:
    """Evidence that claims no more than its environment allows, and says so first."""
    asked = next((one.asked for one in evidence.environments if one.role == "target"), None)
    ran = evidence.after is not None or bool(evidence.alone)
    if asked is None or not (text := said(asked)) or not (ran or asked.excluded):
        return evidence
    limit = most(asked)
    verdict = "inconclusive" if asked.excluded and evidence.verdict != "regressed" else evidence.verdict
    alone = tuple(replace(part, rung=_lower(part.rung, limit)) for part in evidence.alone)
    reason = f"{text}; {evidence.reason}"
    return replace(evidence, verdict=verdict, rung=_lower(evidence.rung, limit), reason=reason, alone=alone)


def _lower(rung: Rung | None, limit: Rung | None) -> Rung | None:
    return min(rung, limit, key=RUNGS.index) if rung and limit else rung


def _listed(items: Iterable[str]) -> str:
    names = list(items)
    more = f" and {len(names) - NAMED} more" if names[NAMED:] else ""
    shown = names[:NAMED]
    return f"{', '.join(shown)}{more}" if more or len(shown) < 3 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def _short(text: str) -> str:
    line = " ".join(text.split()).replace(_PREFACE, "").replace("error: ", "").replace("cause: ", "")
    return line if len(line) <= 240 else f"{line[:239]}…"
