"""The environments of a proof: what the files that run need in both trees, and the two that are made for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from verify.environments import as_asked, installer, naming, versions
from verify.environments.baseline import named, requirement
from verify.environments.eras import older_than
from verify.environments.extras import spared
from verify.environments.installer import Installer
from verify.environments.interpreters import Unavailable
from verify.environments.local_packages import local_packages
from verify.environments.manifests import manifests_in
from verify.environments.origins import origins
from verify.environments.versions import ReadyEnvironment, RequiredVersions, given_baseline
from verify.reading.entry import conftests, run_by_pytest
from verify.reading.sources import NAMESPACES, Sources, words
from verify.reading.targets import READ_BY, asked_for, hydra_plugins, named_classes, targets
from verify.request import Bench, Pair, Request
from verify.running import together


def environments_for(before: Sources, after: Sources, scripts: Sequence[str], bench: Bench) -> Pair:
    """The environments in which some scripts of both trees run: those of an earlier call where they hold what is
    needed, else two new ones. Raises Unavailable where there is none for the tree after."""
    request = bench.request
    tools = tools_of(bench)
    old = wanted_by(before, scripts, request.before_pins, request, tools)
    new = wanted_by(after, scripts, request.after_pins, request, tools)
    if any("lightning" in after.packages(path) for path in after.paths()):
        new = replace(new, lightning="lightning")
    needed, both = new.packages, old.packages | new.packages
    old, new = (replace(one, packages=both, written=request.written) for one in (old, new))

    for one, other, pair in bench.pairs:
        held = both <= one.packages and {*old.left, *new.left} <= {*one.left, *other.left}
        if (one.lightning, other.lightning) == (old.lightning, new.lightning) and held:
            return pair

    def build() -> Pair:
        given = bench.named(request.python)
        at = after.root if request.as_asked else None
        ready = as_asked.target(new, needed, at, request.target, given, tools, bench.cache, bench.progress)
        try:
            base = _baseline(old, before, ready, tools, bench)
        except Unavailable as error:
            return Pair(None, ready, bench.contained.said, str(error))
        return Pair(base, ready, bench.contained.said)

    doing, bench.known.doing = bench.known.doing, "making the environments"
    with bench.clock.paused():
        built = together([build], bench.stop)[0]
    bench.known.doing = doing
    bench.pairs.append((old, new, built))
    return built


def tools_of(bench: Bench) -> Installer:
    """What installs, for as long as the budget leaves."""
    return replace(installer.find(bench.stop, bench.contained), left=bench.clock.installing_left)


def _baseline(
    wanted: RequiredVersions, before: Sources, after: ReadyEnvironment, tools: Installer, bench: Bench
) -> ReadyEnvironment:
    request = bench.request
    pins, below = request.before_pins, request.baseline_below
    if given := bench.named(request.baseline_python):
        return given_baseline(given, wanted, pins, after.interpreter.packages)
    below = older_than(before, below, pins, request.lasted) if below else None
    return versions.baseline(
        wanted, pins, below, after, request.target, tools, bench.cache, bench.progress, request.own_torch
    )


def wanted_by(
    sources: Sources, scripts: Sequence[str], pins: tuple[str, ...], request: Request, tools: Installer
) -> RequiredVersions:
    """What the files that the scripts may load need; without a script, only Lightning."""
    run = [*scripts, *conftests(sources, scripts)]
    reached = [sources.reach(script) for script in run if sources.tree(script)]
    loaded = {path for files, _ in reached for path in files}
    outside = {package for _, packages in reached for package in packages} - spared(sources, run, loaded)
    outside |= sources.compiled(loaded)
    manifests = manifests_in(sources.root)
    held = tuple(dict.fromkeys(pin.text for pin in manifests.pins))
    if outside & READ_BY:
        files, packages = targets(sources, scripts)
        reached += [sources.reach(path) for path in files]
        outside |= asked_for(packages, held).union(*(found for _, found in reached))
        outside |= asked_for(naming.needed_by(named_classes(sources)), held) if held else frozenset()
    names = {name for files, _ in reached for path in files for name in sources.once(words, path)}
    lightning = "lightning" if "lightning" in outside else "pytorch-lightning"
    if not outside & set(NAMESPACES):
        lightning = "lightning" if named(pins, ["lightning"]) else "pytorch-lightning"
    others = tuple(str(pin) for pin in named(pins, ["torchmetrics"]))
    if run_by_pytest(sources, scripts):
        outside |= {"pytest"}
    plugins = hydra_plugins(sources.root) if "hydra" in outside else frozenset()
    if "hydra" in outside:
        outside |= {pin.name for line in held if (pin := requirement(line)) and pin.name.startswith("hydra-")}
    told = naming.KnownDistributions(manifests, local_packages(sources), request.packages)
    asked = naming.named(outside - set(NAMESPACES), names, told, plugins)
    origin, places = origins(manifests, tools.environment, request.packages)
    locked = tuple(manifests.agreed)
    return RequiredVersions(
        lightning,
        asked.packages,
        (*held, *locked, *others, *request.packages),
        left=asked.left,
        origins=origin,
        told=places,
        locked=locked,
    )
