"""The two environments: which versions they hold, and how they come to be."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import IO, Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version
from platformdirs import user_cache_dir

from verify.baseline import LIGHTNING, Choice, choose, named, requirement
from verify.containment import Containment
from verify.dates import as_of
from verify.distributions import distribution
from verify.evidence import Environment, Role
from verify.installer import Installer, interpreter
from verify.process import Limits, Stopped, scrubbed
from verify.releases import minor_of

TORCH = "2.13.0"
MARKER = "fixer-environment.json"
_BASE = ("torch", "pytorch-lightning", "lightning", "setuptools")
_BOUND_TO_TORCH = ("torchvision", "torchaudio")
_OF_TODAY = frozenset(
    {"torch", "torchvision", "torchaudio", "torchmetrics", "setuptools", "jsonargparse", "lightning-utilities"}
)
"""What belongs to torch and Lightning, which are those of today."""
LENT = {
    "torchvision": "import torch; nms = '(Tensor dets, Tensor scores, float iou_threshold) -> Tensor';"
    "[torch.library.define(f'torchvision::{name}', nms) for name in ('nms', 'qnms')]"
}
"""What has to be declared, as the harness does too, before a package loads without its compiled part."""
_NO_DAY = "2999-12-31"
_OURS = ("fixer", "codemods", "verify", "lightning-fabric")
_LOGGERS = {
    "TensorBoardLogger": ("tensorboard", "tensorboardx"),
    "WandbLogger": ("wandb",),
}
_QUERY = """
import importlib.metadata, json, sys
found = {d.metadata["Name"]: d.version for d in importlib.metadata.distributions() if d.metadata["Name"]}
folders = [sys.prefix, sys.base_prefix, sys.exec_prefix, *sys.path]
print(json.dumps({"python": "%d.%d.%d" % sys.version_info[:3], "packages": found, "folders": folders}))
"""


class Unavailable(Exception):
    """An environment that cannot be had, and what to do about it."""


@dataclass(frozen=True)
class Interpreter:
    """A Python that can be run, its version, what is installed in it, and the folders that it needs."""

    path: Path
    python: str
    packages: Mapping[str, str]
    folders: tuple[str, ...] = ()


@dataclass(frozen=True)
class Ready:
    """An environment that a tree can run in."""

    interpreter: Interpreter
    environment: Environment


@dataclass(frozen=True)
class Wanted:
    """What the executed files need: Lightning's distribution, other packages, the project's pins on those, and the ISO
    day on which the code was last written, None where that is not known."""

    lightning: str
    packages: frozenset[str]
    pins: tuple[str, ...] = ()
    written: str | None = None


@dataclass(frozen=True)
class Plan:
    """One environment to build: what it cannot be without, and what it should have besides, that as of an ISO day."""

    base: tuple[str, ...]
    overrides: tuple[str, ...]
    extras: tuple[str, ...]
    day: str | None = None


def inspect(python: Path) -> Interpreter:
    """Ask an interpreter what it is; raises Unavailable where it does not answer."""
    return _asked(python, [str(python), "-I", "-c", _QUERY], Path.cwd(), os.environ)


def inspect_named(python: Path, contained: Containment, own: Path) -> Interpreter:
    """Ask an interpreter that a project's settings may have named: it is shut in as the project's code is."""
    folders = [python.parent.parent, Path(os.path.realpath(python)).parent.parent]
    with contextlib.suppress(OSError, UnicodeDecodeError):
        for line in (folders[0] / "pyvenv.cfg").read_text(encoding="utf-8").splitlines():
            if line.partition("=")[0].strip() == "home":
                folders.append(Path(line.partition("=")[2].strip()).parent)
    needs = tuple(map(str, folders))
    own.mkdir(exist_ok=True)
    command = contained.command([str(python), "-I", "-c", _QUERY], own, needs, Limits(60, 2**31))
    return replace(_asked(python, command, own, scrubbed(own, 1)), folders=needs)


def _asked(python: Path, command: Sequence[str], folder: Path, variables: Mapping[str, str]) -> Interpreter:
    try:
        answer = subprocess.run(
            command, cwd=folder, env=variables, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
            check=True,
        )  # fmt: skip
        data: dict[str, Any] = json.loads(answer.stdout)
        packages = {str(canonicalize_name(name)): str(version) for name, version in data["packages"].items()}
        return Interpreter(python, str(data["python"]), packages, (str(python.parent), *map(str, data["folders"])))
    except (OSError, subprocess.SubprocessError, ValueError, KeyError, TypeError, AttributeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it does not answer as Python does"
        raise Unavailable(f"the interpreter {python} does not run: {why}; name another with --python") from error


def needs(packages: Iterable[str], names: Iterable[str]) -> frozenset[str]:
    """The distributions, besides torch and Lightning, for imported packages and the loggers among `names`."""
    found = {distribution(package) for package in packages} - {*_BASE, *_OURS}
    loggers = {extra for name in names for extra in _LOGGERS.get(name, ())}
    return frozenset(found | loggers | {"numpy"})


def target(
    wanted: Wanted,
    release: str,
    given: Interpreter | None,
    installer: Installer,
    cache: Path,
    progress: Callable[[str], None],
) -> Ready:
    """The environment for the tree after: a given interpreter, the one we run in, or one built for it."""
    if given is not None:
        _check_given(given, wanted, release)
        return _ready("target", given, wanted, "the interpreter that was asked for")
    here = inspect(Path(sys.executable))
    if _serves(here, wanted, release):
        return _ready("target", here, wanted, "the interpreter that fixer runs in has all that the project imports")
    torch = here.packages.get("torch", TORCH)
    base = (f"torch=={torch}", *_lightning(wanted.lightning, release), "setuptools<82")
    day = _day(wanted, here, installer)
    found, left = build(Plan(base, (), _extras(wanted, {}), day), Path(sys.executable), installer, cache, progress)
    return _ready("target", found, wanted, f"Lightning {release} on torch {torch}{_dated(day)}{_without(left)}")


def baseline(
    wanted: Wanted,
    pins: Iterable[str],
    below: str | None,
    after: Ready,
    release: str,
    installer: Installer,
    cache: Path,
    progress: Callable[[str], None],
    own_torch: bool = False,
) -> Ready:
    """The environment for the tree before: an older Lightning, all else as in the target, or with the project's own
    torch where that is asked for."""
    pins = tuple(pins)
    choice = choose(pins, below, release)
    minor = minor_of(choice.version)
    if minor and not minor.any_installer and not installer.any_metadata:
        raise Unavailable(f"Lightning {choice.version} ({choice.reason}) installs only with uv: `pip install uv`")
    same = after.interpreter.packages
    own = next((pin for pin in named(pins, ["torch"]) if pin.specifier), None) if own_torch else None
    if same.get(wanted.lightning) == str(choice.version) and not own:
        return _ready("baseline", after.interpreter, wanted, choice.reason)
    day = _day(wanted, after.interpreter, installer)
    plan = replace(baseline_plan(wanted, choice, same, f"torch{own.specifier}" if own else None), day=day)
    found, left = build(plan, after.interpreter.path, installer, cache, progress)
    mine = f", on the project's own torch ({own.specifier})" if own else ""
    return _ready("baseline", found, wanted, f"{choice.reason}{mine}{_dated(day)}{_without(left)}")


def baseline_plan(wanted: Wanted, choice: Choice, same: Mapping[str, str], torch: str | None) -> Plan:
    """What to build for the tree before, with what is the `same` as in the target; `torch` is the project's own."""
    minor = minor_of(choice.version)
    further = (*minor.needs, *(minor.together if wanted.lightning == "lightning" else ())) if minor else ()
    if "torchmetrics" in same and "torchmetrics" not in " ".join(further):
        further = (*further, f"torchmetrics=={same['torchmetrics']}")
    if torch and _knows_only_old_numpy(Requirement(torch)):
        further = (*further, "numpy<2")
    shared = {name: version for name, version in same.items() if not torch or name not in (*_BOUND_TO_TORCH, "numpy")}
    return Plan(
        (torch or f"torch=={same.get('torch', TORCH)}", *_lightning(wanted.lightning, str(choice.version)), *further),
        minor.overrides if minor else (),
        _extras(replace(wanted, packages=wanted.packages - {"torchmetrics"}), shared),
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


def given_baseline(found: Interpreter, wanted: Wanted, pins: Iterable[str]) -> Ready:
    """The environment for the tree before in an interpreter that was asked for."""
    version = found.packages.get(wanted.lightning)
    if version is None or "torch" not in found.packages:
        raise Unavailable(
            f"the interpreter that was asked for as baseline lacks {wanted.lightning} or torch: "
            f"run `{found.path} -m pip install torch {wanted.lightning}`"
        )
    refused = [pin for pin in named(pins, LIGHTNING) if not pin.specifier.contains(version, prereleases=True)]
    aside = f", although the pins ask for {refused[0]}" if refused else ""
    return _ready("baseline", found, wanted, f"the interpreter that was asked for, with Lightning {version}{aside}")


def _lightning(name: str, release: str) -> tuple[str, ...]:
    """Requirements on Lightning: the `lightning` distribution asks for any `pytorch-lightning`, so both are named."""
    if name == "lightning" and Version(release) >= Version("2.0"):
        return (f"lightning=={release}", f"pytorch-lightning=={release}")
    return (f"{name}=={release}",)


def _extras(wanted: Wanted, same: Mapping[str, str]) -> tuple[str, ...]:
    """The other distributions: as in the other environment, else as pinned, else any."""
    pinned = {canonicalize_name(pin.name): str(pin) for pin in map(requirement, wanted.pins) if pin and pin.specifier}
    lines = []
    for name in sorted(wanted.packages):
        plain = canonicalize_name(Requirement(name).name)
        lines.append(f"{name}=={same[plain]}" if plain in same else pinned.get(plain, name))
    return tuple(lines)


def _check_given(found: Interpreter, wanted: Wanted, release: str) -> None:
    lightning = f"{wanted.lightning}=={release}"
    version = found.packages.get(wanted.lightning)
    missing = [] if "torch" in found.packages else ["torch"]
    missing += [] if version and Version(version) == Version(release) else [lightning]
    if missing:
        held = f"has {wanted.lightning} {version}" if version else f"lacks {' and '.join(missing)}"
        command = f"{found.path} -m pip install {' '.join(missing)}"
        raise Unavailable(f"the interpreter that was asked for {held}: run `{command}`")


def _serves(here: Interpreter, wanted: Wanted, release: str) -> bool:
    """Whether the interpreter we run in can stand for the target."""
    held = here.packages.get("torch") and here.packages.get(wanted.lightning) == release
    return bool(held) and all(canonicalize_name(Requirement(name).name) in here.packages for name in wanted.packages)


def _ready(role: Role, found: Interpreter, wanted: Wanted, reason: str) -> Ready:
    shown = {"torch", "torchmetrics", *LIGHTNING, *(canonicalize_name(Requirement(n).name) for n in wanted.packages)}
    packages = tuple(sorted((name, version) for name, version in found.packages.items() if name in shown))
    return Ready(found, Environment(role, found.python, packages, reason))


def _day(wanted: Wanted, python: Interpreter, installer: Installer) -> str | None:
    """As of which day the other packages are installed, where the installer can tell their days."""
    others = wanted.packages - {"numpy"}
    return as_of(wanted.written, python.python, date.today()) if installer.any_metadata and others else None


def _dated(day: str | None) -> str:
    return f"; other packages as of {day}, when the code was written, where they install" if day else ""


def _without(left: tuple[str, ...]) -> str:
    return f"; without {', '.join(left)}, which cannot be installed or does not load beside this torch" if left else ""


def build(
    plan: Plan, python: Path, installer: Installer, cache: Path, progress: Callable[[str], None]
) -> tuple[Interpreter, tuple[str, ...]]:
    """The environment of a plan, from the cache where it is there; also what had to be left out."""
    base = inspect(python)
    lent = [name for name in _BOUND_TO_TORCH if any(line.startswith(name) for line in plan.extras)]
    asked = json.dumps(
        [base.python, sys.platform, plan.base, plan.overrides, plan.extras, *lent, *([plan.day] if plan.day else [])]
    )
    key = hashlib.sha256(asked.encode()).hexdigest()[:16]
    folder = cache / f"{plan.base[1].replace('==', '-')}-{key}"
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with locked(cache / f"{folder.name}.lock", installer):
            left = _cached(folder)
            if left is None:
                progress(f"building an environment with {plan.base[1]}")
                left = _fill(folder, plan, python, installer)
                (folder / MARKER).write_text(json.dumps({"asked": json.loads(asked), "left": left}), encoding="utf-8")
            (folder / MARKER).touch()
    except OSError as error:
        raise Unavailable(f"no environment can be kept in {cache}: {error}") from error
    return inspect(interpreter(folder)), left


def _cached(folder: Path) -> tuple[str, ...] | None:
    """What a finished environment was built without; None where there is none."""
    try:
        marker = json.loads((folder / MARKER).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return tuple(marker["left"]) if interpreter(folder).exists() else None


def _fill(folder: Path, plan: Plan, python: Path, installer: Installer) -> tuple[str, ...]:
    """Build an environment from nothing; the extras that do not install are returned."""
    shutil.rmtree(folder, ignore_errors=True)
    wrong = installer.create(folder, python)
    wrong = wrong or installer.install(folder, plan.base, plan.overrides)
    if wrong and "+" in plan.base[0]:
        public = (plan.base[0].split("+")[0], *plan.base[1:])
        wrong = installer.install(folder, public, plan.overrides)
    if wrong:
        shutil.rmtree(folder, ignore_errors=True)
        raise Unavailable(f"{plan.base[1]} cannot be installed: {wrong}")
    there = inspect(interpreter(folder)).packages
    held = tuple(f"{name}=={there[name]}" for name in _names(plan.base))
    dated = _flags(plan, there)
    for name in sorted(_of_the_day(plan) & set(there)):
        installer.remove(folder, name)
    left: tuple[str, ...] = ()
    if installer.install(folder, [*dated, *held, *plan.extras], plan.overrides):
        left = tuple(line for line in plan.extras if not _install_one(folder, held, line, plan, dated, installer))
    return left + _unfit(folder, installer)


def _unfit(folder: Path, installer: Installer) -> tuple[str, ...]:
    """Take out of an environment what was built for another torch than this one, which would keep Lightning itself from
    loading: the compiled part where the rest does without, the whole where it does not."""
    installed = inspect(interpreter(folder)).packages
    left = []
    for name in _BOUND_TO_TORCH:
        if name in installed and not installer.loads(folder, name):
            for path in folder.glob(f"[Ll]ib*/**/{name}/**/*.so"):
                path.unlink()
            if installer.loads(folder, name, LENT.get(name, "")):
                left.append(f"the compiled operators of {name}")
            else:
                installer.remove(folder, name)
                left.append(name)
    return tuple(left)


def _names(lines: Iterable[str]) -> list[str]:
    return [str(canonicalize_name(Requirement(line).name)) for line in lines]


def _flags(plan: Plan, there: Iterable[str]) -> tuple[str, ...]:
    """What tells uv the day: it holds for all but what is there already, unless the plan asks for that by name."""
    if plan.day is None:
        return ()
    free = sorted({*there, *_OF_TODAY} - _of_the_day(plan))
    return (f"--exclude-newer={plan.day}", *(f"--exclude-newer-package={name}={_NO_DAY}" for name in free))


def _of_the_day(plan: Plan) -> frozenset[str]:
    return frozenset(_names(plan.extras)) - _OF_TODAY if plan.day else frozenset()


def _install_one(
    folder: Path, held: tuple[str, ...], line: str, plan: Plan, dated: tuple[str, ...], installer: Installer
) -> bool:
    """Install one distribution as asked, or else in any version, without moving what is held; as of the plan's day, or
    else of today."""
    asked = [[*flags, *held, text] for flags in dict.fromkeys((dated, ())) for text in (line, Requirement(line).name)]
    tried = [given for number, given in enumerate(asked) if given not in asked[:number]]
    return any(not installer.install(folder, given, plan.overrides) for given in tried)


def cache_folder() -> Path:
    """Where environments are kept."""
    return Path(user_cache_dir("fixer")) / "environments"


@contextlib.contextmanager
def locked(path: Path, installer: Installer) -> Iterator[None]:
    """Hold a lock that ends with this process; where the system has none, nothing is held."""
    with path.open("w") as stream:
        if sys.platform != "win32":
            _wait(stream, installer)
        yield


def _wait(stream: IO[str], installer: Installer) -> None:
    if sys.platform != "win32":
        import fcntl

        while not installer.stop.is_set():
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            time.sleep(0.2)
        raise Stopped


def pins_in(root: Path) -> tuple[str, ...]:
    """The requirement lines of the requirement files at the top of a tree."""
    lines: list[str] = []
    for path in sorted(root.glob("requirements*.txt")):
        with contextlib.suppress(OSError, UnicodeDecodeError):
            lines += [line.split("#")[0].strip() for line in path.read_text(encoding="utf-8").splitlines()]
    return tuple(line for line in lines if line and requirement(line))
