"""Building an environment, and keeping it for the next that asks for the same."""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import IO

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from platformdirs import user_cache_dir

from verify.environments.distributions import modules_of
from verify.environments.installer import NO_TIME, STORE, Installer, installed_version, interpreter
from verify.environments.interpreters import Interpreter, Unavailable, inspect_shut_in
from verify.environments.lines import GIT
from verify.environments.loading import OPERATORS, Repair
from verify.environments.origins import NOWHERE, Origins
from verify.sandbox.process import Stopped

MARKER = "fixer-environment.json"
BOUND_TO_TORCH = ("torchvision", "torchaudio")
_OF_TODAY = frozenset({
    "torch", "torchvision", "torchaudio", "torchmetrics", "setuptools", "jsonargparse", "lightning-utilities",
    "comet-ml", "docstring-parser", "mlflow", "tensorboard", "typeshed-client", "wandb",
})  # fmt: skip
"""What belongs to torch and Lightning, which are those of today: Lightning's loggers ask for much of theirs (2.6.6 for
comet-ml 3.44.4), LightningCLI for the extra `signatures` of jsonargparse, and no requirement says so."""
_OTHER_FILES = (
    "its files do not have the hashes that the project gives: it was changed, or another package has its name"
)
_NO_DAY = "2999-12-31"
_BUILT = 9
"""Goes up when the same plan comes to be built otherwise."""
_TOLD = 160
_UNREACHED = "the index that the project names for it is not reached"
_REFUSED = f"of addresses, only {GIT} ones are installed from"
_MISMATCH = re.compile(r"hash mismatch|do not match the hashes|mismatched hash", re.IGNORECASE)


@dataclass(frozen=True)
class EnvironmentPlan:
    """One environment to build: what it cannot be without, and what it should have besides, that as of an ISO day and
    from the project's own places too. `unused` are those of the latter that nothing imports: they need not load."""

    base: tuple[str, ...]
    overrides: tuple[str, ...]
    extras: tuple[str, ...]
    day: str | None = None
    origins: Origins = NOWHERE
    unused: frozenset[str] = frozenset()


def build(
    plan: EnvironmentPlan, base: Interpreter, installer: Installer, cache: Path, progress: Callable[[str], None]
) -> tuple[Interpreter, tuple[str, ...]]:
    """The environment of a plan, from the cache where it is there; also what had to be left out."""
    cache = cache.absolute()
    installer = replace(installer, needs=(*base.folders, *installer.needs))
    lent = [name for name in BOUND_TO_TORCH if any(line.startswith(name) for line in plan.extras)]
    places = [asdict(plan.origins)] if plan.origins != NOWHERE else []
    asked = json.dumps(
        [
            *(base.python, sys.platform, plan.base, plan.overrides, plan.extras, *lent, _BUILT),
            *filter(None, [plan.day, sorted(plan.unused)]),
            *places,
        ],
        default=sorted,
    )
    key = hashlib.sha256(asked.encode()).hexdigest()[:16]
    folder = cache / f"{plan.base[1].replace('==', '-')}-{key}"
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with locked(cache / f"{folder.name}.lock", installer):
            left = _cached(folder)
            if left is None:
                progress(f"building an environment with {plan.base[1]}")
                made = cache / STORE / folder.name
                made.parent.mkdir(exist_ok=True)
                left = _fill(made, plan, base.path, installer)
                if installer.left() <= 0:  # what failed to install may have lacked the time alone
                    raise Unavailable(f"{NO_TIME} before {plan.base[1]} and what the project needs were installed")
                _settle(made, folder, {"asked": json.loads(asked), "left": left})
            (folder / MARKER).touch()
    except OSError as error:
        raise Unavailable(f"no environment can be kept in {cache}: {error}") from error
    return _inside(folder, installer), left


def _inside(folder: Path, installer: Installer) -> Interpreter:
    return inspect_shut_in(interpreter(folder), installer.contained, (str(folder), *installer.needs))


def _settle(made: Path, folder: Path, told: object) -> None:
    """Put an environment where no installer can write to it any more, and say that it is finished."""
    shutil.rmtree(folder, ignore_errors=True)
    made.rename(folder)
    if folder.is_symlink():
        folder.unlink()
        raise FileNotFoundError(f"{made} was removed while it was built")
    written(folder / MARKER, json.dumps(told))


def written(path: Path, text: str) -> None:
    """Write a file of ours in a folder that others could write to, whatever they put in its place."""
    path.unlink(missing_ok=True)
    with path.open("x", encoding="utf-8") as stream:
        stream.write(text)


def _cached(folder: Path) -> tuple[str, ...] | None:
    """What a finished environment was built without; None where there is none."""
    try:
        left = tuple(map(str, json.loads((folder / MARKER).read_text(encoding="utf-8"))["left"]))
    except (OSError, ValueError, LookupError, TypeError):
        return None
    return left if interpreter(folder).exists() else None


def _fill(folder: Path, plan: EnvironmentPlan, python: Path, installer: Installer) -> tuple[str, ...]:
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
    there = _inside(folder, installer).packages
    held = tuple(f"{name}=={there[name]}" for name in _names(plan.base))
    dated = _flags(plan, there)
    removed = sorted(_of_the_day(plan) & set(there))
    for name in removed:
        installer.remove(folder, name)
    refused = {line: _REFUSED for line in plan.extras if not (Requirement(line).url or GIT).startswith(GIT)}
    plan = replace(plan, extras=tuple(line for line in plan.extras if line not in refused))
    installer = installer.for_project(plan.origins)
    alone, wrong_files, installer = _install_together(folder, held, plan, dated, installer)
    tried: dict[str, str | None] = dict.fromkeys(alone)
    for line in sorted(alone, key=lambda line: not plan.origins.hashes_of(line)):
        tried[line] = _install_one(folder, held, line, plan, dated, installer)
        if tried[line] == _OTHER_FILES:
            installer = installer.without(_names([line]))
    left = refused | wrong_files | {line: why for line, why in tried.items() if why}
    if gone := [f"{name}=={there[name]}" for name in removed if installed_version(folder, name) is None]:
        installer.install(folder, [*held, *gone], plan.overrides)
    unfit = _unfit(folder, installer)
    lines = [line for line in plan.extras if line not in left and plan.unused.isdisjoint(_names([line]))]
    repair = Repair(folder, installer, held, dated, plan.overrides)
    broken = repair.run(lines, plan.base[1])
    installer.compile(folder, repair.loaded)
    return (*(f"{line} ({_short(why)})" for line, why in left.items()), *unfit,
            *(f"{name} (it does not load: {_short(why)})" for name, why in broken.items()))  # fmt: skip


def _install_together(
    folder: Path, held: tuple[str, ...], plan: EnvironmentPlan, dated: tuple[str, ...], installer: Installer
) -> tuple[list[str], dict[str, str], Installer]:
    """Install all that an environment should have at once: without the version of what the installer gives as reason
    why that fails, and then without that itself. What is left to be installed by itself is returned, and what is not,
    as its files have other hashes than the project says: it is not taken in another version. The installer comes back
    without the places that cannot be read, and looks nowhere for what has other hashes. Where an index of the project
    is not reached, what only that may have is not looked for: another index may have a stranger's by its name."""
    lines = {line: _asked(line) for line in plan.extras}
    alone: list[str] = []
    refused: dict[str, str] = {}
    while lines and (wrong := installer.install(folder, [*dated, *held, *lines.values()], plan.overrides)):
        if (other := installer.without_unread(wrong)) is not None:
            if _has_indexes(installer) and not _has_indexes(other):
                refused |= {line: _UNREACHED for line in lines if not modules_of(_names([line])[0])}
            lines = {line: text for line, text in lines.items() if line not in refused}
            installer = other
            continue
        blamed = _blamed(wrong, lines)
        if blamed is None:
            return [line for line in plan.extras if line in lines or line in alone], refused, installer
        name = _of_any_version(blamed)
        if _MISMATCH.search(wrong):
            refused[blamed] = _OTHER_FILES
            installer = installer.without(_names([blamed]))
            del lines[blamed]
        elif Requirement(blamed).url or lines[blamed] == name:
            alone.append(blamed)
            del lines[blamed]
        else:
            lines[blamed] = name
    return alone, refused, installer


def _has_indexes(installer: Installer) -> bool:
    """Whether packages are looked for on an index that the project names."""
    return any(each.option != "find-links" for each in installer.origins.indexes)


def _blamed(wrong: str, lines: Iterable[str]) -> str | None:
    """The requirement that an installer's words name first."""
    text = canonicalize_name(wrong)
    found = {line: re.search(rf"(?<![a-z0-9-]){_names([line])[0]}(?![a-z0-9-]*[a-z])", text) for line in lines}
    return min(((match.start(), line) for line, match in found.items() if match), default=(0, None))[1]


def _asked(line: str) -> str:
    """What an installer is asked for: an address by itself, since what it brings may have another name."""
    return Requirement(line).url or line


def _of_any_version(line: str) -> str:
    """A requirement without its version, but with its extras: LightningCLI looks for those of jsonargparse."""
    asked = Requirement(line)
    return f"{asked.name}[{','.join(sorted(asked.extras))}]" if asked.extras else asked.name


def _short(text: str) -> str:
    if "was not found in the package registry" in text:
        return "no index has it"
    line = " ".join(text.split())
    return line if len(line) <= _TOLD else f"{line[: _TOLD - 1]}…"


def _unfit(folder: Path, installer: Installer) -> tuple[str, ...]:
    """Take out of an environment what was built for another torch than this one, which would keep Lightning itself from
    loading: the compiled part where the rest does without, the whole where it does not."""
    installed = _inside(folder, installer).packages
    left = []
    for name in BOUND_TO_TORCH:
        if name in installed and not installer.loads(folder, name):
            for path in folder.glob(f"[Ll]ib*/**/{name}/**/*.so"):
                if path.parent.resolve().is_relative_to(folder.resolve()):
                    path.unlink()
            if installer.loads(folder, name, OPERATORS if name == "torchvision" else ""):
                left.append(f"the compiled operators of {name}")
            else:
                installer.remove(folder, name)
                left.append(name)
    return tuple(left)


def _names(lines: Iterable[str]) -> list[str]:
    return [str(canonicalize_name(Requirement(line).name)) for line in lines]


def _flags(plan: EnvironmentPlan, there: Iterable[str]) -> tuple[str, ...]:
    """What tells uv the day: it holds for all but what is there already, unless the plan asks for that by name."""
    if plan.day is None:
        return ()
    free = sorted({*there, *_OF_TODAY} - _of_the_day(plan))
    return (f"--exclude-newer={plan.day}", *(f"--exclude-newer-package={name}={_NO_DAY}" for name in free))


def _of_the_day(plan: EnvironmentPlan) -> frozenset[str]:
    return frozenset(_names(plan.extras)) - _OF_TODAY if plan.day else frozenset()


def _install_one(
    folder: Path, held: tuple[str, ...], line: str, plan: EnvironmentPlan, dated: tuple[str, ...], installer: Installer
) -> str | None:
    """Install one distribution as asked, or else in any version, without moving what is held; as of the plan's day, or
    else of today. Why the first of these failed is returned where all do."""
    texts = (_asked(line), *([] if Requirement(line).url else [_of_any_version(line)]))
    asked = [[*flags, *held, text] for flags in dict.fromkeys((dated, ())) for text in texts]
    first = None
    for given in (given for number, given in enumerate(asked) if given not in asked[:number]):
        wrong = installer.install(folder, given, plan.overrides)
        if not wrong:
            return None
        if _MISMATCH.search(wrong):
            return _OTHER_FILES
        first = first or wrong
    return first


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
            if installer.left() <= 0:
                raise Unavailable(f"{NO_TIME} while another run made this environment; run fixer again once it has")
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            time.sleep(0.2)
        raise Stopped
