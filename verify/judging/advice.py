"""What the owner of a project can do where nothing of it trained here."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from types import MappingProxyType

from packaging.utils import canonicalize_name

from verify.environments import naming
from verify.environments.baseline import LIGHTNING, requirement
from verify.environments.distributions import AMBIGUOUS, distribution, names_of
from verify.environments.manifests import manifests_in
from verify.evidence import Evidence, Fact, Failure, Recording
from verify.harness.pace import SLOW
from verify.judging.pasted import block
from verify.judging.proof_list import SETTINGS
from verify.reading.missing_files import missing_file
from verify.reading.sizes import smaller
from verify.reading.sources import Sources

_MISSING = re.compile(
    r"NotFoundError: No module named '(?P<name>[\w.]+)|PackageMissing: (?P<other>[\w.]+) is not installed"
)
_FOLDER = "fixer-data"
_DATA = f'`data = "{_FOLDER}"`'
_MORE_TIME = f'it had too little time: allow more with `budget = "30m"` {SETTINGS}'
_OUT_OF_TIME = re.compile(r"\bbudget of [^;:]* ended before")
_ENDED = re.compile(r"was ended before it trained: .*(?:budget of|ran longer|of memory)")
_SMALLER = "arguments that make what is trained smaller"
_MADE = "made-up files in place of data"
_OF_US = re.compile(r"/fixer-verify-")
_OF_RUN = re.compile(r"^.*/fixer-verify-[^/]+/[^/]+/(?:tree/[^/]+|home)/")
_ADVICE: tuple[tuple[str, str], ...] = (
    (
        r"arguments are required|Missing (?:option|argument|parameter)|required (?:option|flag)|must have a value",
        f'it needs arguments that only you know: write them as `script = "..."` and `args = [...]` {SETTINGS}',
    ),
    (
        r"mutable default <class '[\w.]+'> for field",
        "Python refuses this default since 3.11, with any Lightning: write `field(default_factory=...)` there, or name "
        "an interpreter of Python 3.10 that has the target's Lightning with `--python`",
    ),
    (
        r"No CUDA GPUs|not compiled with CUDA|Found no NVIDIA|Torch not linked|CUDA_HOME|requires? (?:a )?GPU",
        "it trains only on a GPU: run `fixer verify` on a machine that has one",
    ),
    (
        r"\b(?:NameNotFound|NamespaceNotFound|DependencyNotInstalled): |pip install \W?gym",
        "its environment comes with a package that nothing requires, as ale-py for Atari games or mujoco: name that "
        f"with `packages = [...]` {SETTINGS}, or a command on an environment that is here with `args = [...]`",
    ),
    (
        r"torch\.hub\.load asks GitHub for",
        "torch.hub takes code from GitHub, and the proof runs without network: load it once yourself, and let the "
        "proof read what torch keeps of it, with `--read ~/.cache/torch --env TORCH_HOME=$HOME/.cache/torch`",
    ),
    (
        r"gaierror|NameResolution|Max retries|Connection(?:Error|Refused)|URLError|couldn't connect|LocalEntryNotFound|"
        r"Network is unreachable|offline mode|Name or service not known|OfflineModeIsEnabled",
        "it downloads, and the proof runs without network: put what it would fetch into a folder, as it lies in the "
        f"project then, and name that with {_DATA} {SETTINGS}",
    ),
    (
        r"empty iterable|num_samples should be a positive",
        "its data set is empty here: put a few of its files into a folder, as they lie in the project, and name that "
        f"with {_DATA} {SETTINGS}",
    ),
    (
        r"MissingMandatoryValue|Missing mandatory value|InterpolationKeyError|You must specify",
        f"its configuration leaves values open: set them with `args = [...]` {SETTINGS}",
    ),
    (
        r"executed nothing of what was changed",
        f'name a command that does, with `script = "..."` and `args = [...]` {SETTINGS}',
    ),
    (
        r"module 'numpy' has no attribute|removed in the NumPy 2",
        "it uses a name that NumPy dropped, and no version with it goes with this Python",
    ),
)
_OF_CODE = frozenset({"ImportError", "ModuleNotFoundError", "NameError", "NotImplementedError", *SLOW})
_SAYS_CODE = re.compile(
    r"^(?:module|type object) '|\bTrainer\b|\b(?:un)?expected (?:keyword|positional) argument|required positional"
    r"|deprecated|no longer (?:accessible|supported)|\bCUDA\b"
)
"""What an error is of, and says, that is about code and its packages, and not about data."""
_REQUIRED = re.compile(r"arguments are required: ((?:--?[\w/-]+(?:,\s*)?)+)")
_NOTHING: Mapping[str, str] = MappingProxyType({})
_LONGEST = 120
_COMPILED = re.compile(r"(?:No module named '(?:\w+\.)*|cannot import name ')(\w+)'")


def advice(
    tried: Iterable[Evidence],
    sources: Sources,
    left: Mapping[str, str] = _NOTHING,
    installed: Mapping[str, str] = _NOTHING,
) -> tuple[Fact, ...]:
    """The one thing to do about the reasons for which nothing of a tree trained, the surest first; nothing where none
    is known.

    `left` are the packages that were not asked for, with the reasons, and `installed` what the environment holds.
    """
    found = list(tried)
    failures = [run.failure for item in found for run in _runs(item) if run.failure]
    texts = [text for item in found for text in (item.reason, *(fact.text for fact in item.facts))]
    texts += [f"{failure.type}: {failure.message}" for failure in failures]
    missing = [match for text in texts if (match := _MISSING.search(text))]
    told = [*_to_compile(texts, sources.root)]
    modules = [match["name"] or match["other"] for match in missing]
    for module in modules:
        told += _of_own(module, sources) or _of_missing(module, left, installed, sources)
    told += [*_of_time(found, sources), *_of_data(failures, sources), *_of_made(found)]
    told += [line for text in texts for line in _matching(text)]
    told += [_MORE_TIME for text in texts if _OUT_OF_TIME.search(text)]
    known = (_filled(line, failures, found) for line in told)
    return tuple(Fact("next", text, block(text, sources)) for text in itertools.islice(known, 1))


def last_resort(tried: Iterable[Evidence]) -> tuple[Fact, ...]:
    """What is left to say where nothing better is known: where a script stops."""
    for item in tried:
        failure = None if item.after is None or item.alone else item.after.failure
        if item.after is not None and failure is not None:
            said = " ".join(failure.said.split())[:_LONGEST]
            stops = f"stops at {failure.place}: fix that" if failure.place else f"ends with {said}: fix that"
            told = f"{item.after.script} {stops}, or name a command that gets through `fit`, "
            return (Fact("next", f'{told}with `script = "..."` and `args = [...]` {SETTINGS}'),)
    return ()


def _filled(text: str, failures: Iterable[Failure], tried: Iterable[Evidence]) -> str:
    """Advice with the script that was run and the arguments that it asked for, where those are known: settings that can
    be taken over as they stand."""
    scripts = (run.script for item in tried for run in (item.after,) if run is not None and not item.alone)
    if script := next((name for name in scripts if name.endswith(".py")), None):
        text = text.replace('script = "..."', f'script = "{script}"')
    asked = (match[1] for failure in failures if (match := _REQUIRED.search(failure.message)))
    words = [word for name in re.split(r",\s*", next(asked, "")) if name for word in (name.split("/")[-1], "...")]
    return text.replace("args = [...]", f"args = {json.dumps(words)}") if words else text


def _runs(item: Evidence) -> list[Recording]:
    return [run for run in (item.after, *(part.after for part in item.alone)) if run is not None]


def _to_compile(texts: Iterable[str], root: Path) -> Iterator[str]:
    for module in (name for text in texts for name in _COMPILED.findall(text)):
        if source := next(iter((*root.rglob(f"{module}.pyx"), *root.rglob(f"{module}/*.pyx"))), None):
            where = source.relative_to(root).as_posix()
            how = '["python setup.py build_ext --inplace"]' if (root / "setup.py").is_file() else "[...]"
            yield f"{where} has to be compiled first: name the command with `setup = {how}` and a `script` {SETTINGS}"


def _of_data(failures: Iterable[Failure], sources: Sources) -> Iterator[str]:
    """What to do about data that is not there: only what nothing in the project writes is not in the repository."""
    for failure in failures:
        missing = missing_file(failure, sources)
        if missing and _OF_US.search(_OF_RUN.sub("", missing.path)):
            continue
        if missing and missing.written:
            writer = missing.written.rpartition(":")[0]
            how = (
                "[...]"
                if failure.place and failure.place.startswith(f"{writer}:")
                else json.dumps([f"python {writer}"])
            )
            yield f"`{missing.path}` is written at {missing.written}: run that first, with `setup = {how}` {SETTINGS}"
        elif missing:
            yield (
                f"`{_OF_RUN.sub('', missing.path)}` is not in the repository: put a small one to "
                f"{_FOLDER}/{_kept_at(missing.path)}, "
                f"which need not be committed, and name that folder with {_DATA} {SETTINGS}"
            )


def _is_of_code(failure: Failure) -> bool:
    return failure.type in _OF_CODE or _SAYS_CODE.search(failure.message) is not None


def _kept_at(path: str) -> str:
    """Where a folder of data has a file: from the root, from the home, or from where it is on the machine."""
    own = _OF_RUN.sub("", path)
    if own != path:
        return f"HOME/{own}" if path[: len(path) - len(own)].endswith("/home/") else own
    return (
        f"HOME/{path[2:]}"
        if path.startswith("~/")
        else f"ROOT{path}"
        if path.startswith("/")
        else path.removeprefix("./")
    )


def _of_time(tried: Iterable[Evidence], sources: Sources) -> Iterator[str]:
    """What to do about a script whose training was too large, or was ended before its end: to make it smaller by its
    own options, unless it was already; else to allow more time."""
    for item in tried:
        run = item.after
        if run is None or item.alone or run.fitted:
            continue
        is_slow = run.failure is not None and run.failure.type in SLOW
        if not is_slow and not (run.failure is None and _ENDED.search(item.reason)):
            continue
        sizes = () if any(_SMALLER in fact.text for fact in item.facts) else smaller(run.script, sources)
        args = f"`script = {json.dumps(run.script)}` and `args = {json.dumps([*sizes[0]])}`" if sizes else ""
        yield f"it is too large for its time here: start it smaller, with {args} {SETTINGS}" if sizes else _MORE_TIME


def _of_made(tried: Iterable[Evidence]) -> Iterator[str]:
    """What to do about data that was made up and with which a script does not train."""
    for item in tried:
        failure = item.after.failure if item.after is not None and not item.after.fitted else None
        if failure is not None and not _is_of_code(failure) and any(_MADE in fact.text for fact in item.facts):
            yield (
                "the data that was made up for it does not work: `fixer report` says where its recordings are, whose "
                f"folder data has it; copy that to {_FOLDER}, fix it by hand, and name it with {_DATA} {SETTINGS}"
            )


def _matching(text: str) -> Iterator[str]:
    for pattern, told in _ADVICE:
        if match := re.search(pattern, text):
            names = match.groupdict()
            yield told.replace("{name}", (names.get("name") or names.get("other") or "").split(".")[0])


def _of_own(module: str, sources: Sources) -> list[str]:
    """What to do about a module of a package that is the project's own, which is not in the repository."""
    *folders, name = module.split(".")
    inside = "/".join(folders)
    above = {each.as_posix() for path in sources.paths() for each in PurePosixPath(path).parents} if inside else ()
    place = min((each for each in above if f"/{each}".endswith(f"/{inside}")), key=len, default=None)
    if place is None:
        return []
    return [
        f"`{place}/{name}.py` is imported and not in the repository: put it to {_FOLDER}/{place}/{name}.py, "
        f"which need not be committed, and name that folder with {_DATA} {SETTINGS}"
    ]


def _of_missing(module: str, left: Mapping[str, str], installed: Mapping[str, str], sources: Sources) -> list[str]:
    """What to do about a module that is not there: nobody named it, what brings it has no such module, only a package
    asks for it, or it did not install. Nothing for Lightning's own, and for what has the name of a project's own file.
    """
    package = module.split(".")[0]
    if package in left:
        return [naming.advice(package, left[package])]
    if package.replace("_", "-") in LIGHTNING or package in AMBIGUOUS:
        return []
    for name in sorted(names_of(package) & {*installed}):
        told = f"{name} {installed[name]} is installed and has no module {module}: name the release that has it in"
        return [f"{told} the project's requirements, or another distribution with `packages = [...]` {SETTINGS}"]
    brought = distribution(package)
    if brought is None and installed:
        return [naming.advice(package, "no manifest names it")]
    if brought and not _is_asked_for(package, sources):
        told = f"{package} is asked for by a package that does not bring it, and nothing of the project names it"
        return [f"{told}: install it too, with `packages = {json.dumps([brought])}` {SETTINGS}"]
    return [
        f"{package} could not be installed here: name an interpreter that has it, with torch and the target's "
        f"Lightning, with `--python`, and one for the old code with `baseline-python` {SETTINGS}"
    ]


def _is_asked_for(package: str, sources: Sources) -> bool:
    """Whether a file of the project imports a package, or one of its manifests names what brings it."""
    pins = filter(None, (requirement(pin.text) for pin in manifests_in(sources.root).pins))
    return not names_of(package).isdisjoint(canonicalize_name(pin.name) for pin in pins) or any(
        package in sources.packages(path) for path in sources.paths()
    )
