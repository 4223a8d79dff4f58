"""What is left out, or put there, when trees are run again because what we put in place of something failed."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from types import MappingProxyType

from verify.evidence import Failure
from verify.harness import standins
from verify.harness.pace import SLOW, LargeTraining
from verify.judging.record import RunRecord
from verify.reading.entry import MADE_UP, Entry
from verify.reading.sources import Sources

Watching = Mapping[str, tuple[str, ...]]
"""What a harness is told of stand-ins: those to be left out (`without`), what is to write nothing (`quiet`), missing
programs in whose place one is put that does nothing (`programs`), what is `chosen` of its configurations, which
packages are `absent` and may be imported all the same, whether weights that are not here stay random (`blank`) and
small models stand in for those of a hub (`hub`), what data is made up (`made`, each an entry of
verify.harness.made_data as JSON), whether a training is of fewer batches (`shorter`), with which arguments of its own
what it trains is `smaller`, and how many `samples` there are in a batch at most."""
_OF_SIZES = frozenset({"AssertionError", "IndexError", "RuntimeError", "SystemExit", "ValueError", "ZeroDivisionError"})
_FEW: Watching = MappingProxyType({"samples": ("8",)})
_PROGRAMS = (
    "ffmpeg",
    "ffprobe",
    "sox",
    "soxi",
    "espeak",
    "espeak-ng",
    "nvidia-smi",
    "java",
    "wget",
    "curl",
    "aws",
    "dot",
)
_LENT = {
    "weights": ("blank", "with random weights in place of those that are not here"),
    "hub": ("hub", "with small untrained models in place of those of the Hugging Face hub"),
}
"""What is lent where a run fails for the want of it: how a harness is told, and a person."""
_CHOICE = re.compile(
    r"(?:You must specify '(?P<group>[\w/-]+)', e\.g\S* \S+=<OPTION>|Could not find '(?P<other>[\w/-]+)/[^'/]+')"
    r"\s+Available options[^:]*:\s+(?P<options>[\w.-]+(?:\s+[\w.-]+(?=\s|$))*?)(?=\s+Config search path|\s*(?:…|$))"
)
"""What Hydra says where a group has no option, or another than its configuration names."""
_NO_MODULE = re.compile(r"No module named '(?P<name>[\w.]+)'")
_NO_NAME = re.compile(r"cannot import name '(?P<name>\w+)' from '(?P<package>[\w.]+)'")
_NEVER_ABSENT = frozenset({"pytorch_lightning", "lightning", "lightning_fabric", "torch", "torchmetrics", "numpy"})
"""Packages that no run does without."""
_NAMES_ONE = re.compile(rf"\b({'|'.join(_PROGRAMS)})\b")
_OF_COPY = re.compile(r"^.*/tree/[^/]+/")
_NAMED = re.compile(r"No such file or directory: '([^'\n]+)'")
_IS_MISSING = re.compile(
    r"No such file|not found|not installed|could not be found|couldn't find|command", re.IGNORECASE
)


def otherwise(
    old: RunRecord | None, new: RunRecord, watched: Watching, sizes: Sequence[tuple[str, ...]] = ()
) -> tuple[Watching, str] | None:
    """How both trees are to be watched when they are run again, and why in words; None where nothing is to be tried.
    `sizes` are arguments with which the script trains something smaller, the first ones first.

    The failure of a stand-in that a tree can do without is tried without it. Loggers that fail for the want of a
    network or an account write nothing then, unless the tree before trains with them. A program that is missing, as
    `ffmpeg` is where a package asks for it when it is imported, is stood in for by one that does nothing. Weights that
    a script loads from an address, or from a file that is not here, stay random. A training that is too slow is made
    of fewer batches, one that is too large besides by arguments of its own.
    """
    if made := _smaller(old, new, watched, sizes):
        return made
    if not watched.get("shorter") and (slow := _slow(old) or _slow(new)):
        return {**watched, "shorter": ("batches",)}, f"on fewer batches: {slow}"
    if chosen := _choice(old, new, watched.get("chosen", ())):
        return {**watched, "chosen": (*watched.get("chosen", ()), chosen)}, f"with {chosen}, as its configuration asks"
    if missing := _missing(old, new, watched.get("programs", ())):
        told = f"with a program that does nothing in place of {missing}, which is not installed"
        return {**watched, "programs": (*watched.get("programs", ()), missing)}, told
    lacks = {raw.lacks for raw in (old, new) if raw and not raw.recording.fitted}
    for lack, (key, told) in _LENT.items():
        if lack in lacks and not (old and old.recording.fitted) and not watched.get(key):
            return {**watched, key: (lack,)}, told
    found = {raw.stands_for for raw in (old, new) if raw and raw.stands_for} - {None}
    left = tuple(sorted(name for name in found if name and standins.STAND_INS[name].optional))
    left = tuple(name for name in left if name not in watched.get("without", ()))
    if left:
        told = f"without {', '.join(standins.named(name) for name in left)}, which failed"
        return {**watched, "without": (*watched.get("without", ()), *left)}, told
    if "loggers" in found and not watched.get("quiet") and not (old and old.stands_for != "loggers"):
        return {**watched, "quiet": ("loggers",)}, "with loggers that write nothing, as one needs what is not here"
    return None


def from_its_folder(
    old: RunRecord | None, new: RunRecord, watched: Watching, entry: Entry, root: Path
) -> tuple[Watching, str] | None:
    """The same for a script that reads files from where it lies, as one does that is started there: both trees end
    because a file is not here that is there, in the tree below `root`, or that would lie there and nowhere near here
    (`../../data/a.csv`)."""
    home = PurePosixPath(entry.script).parent
    told = [raw.recording.failure for raw in (old, new) if raw]
    if entry.module or home == PurePosixPath() or watched.get("home") or not all(told):
        return None
    if not all(failure and _lies_beside(failure, home, root) for failure in told):
        return None
    return {**watched, "home": (str(home),)}, f"from {home}, whose files it reads"


def without_package(
    old: RunRecord | None, new: RunRecord, watched: Watching, before: Sources
) -> tuple[Watching, str] | None:
    """The same where a package is not installed that the tree `before` imports, of which it may use nothing, or where
    both trees take a name from one that no longer has it: a further one each time."""
    lacks, put = _lacked(old or new), watched.get("absent", ())
    if lacks is None or lacks in put or new.recording.fitted or (":" in lacks and _lacked(new) != lacks):
        return None
    top, paths = re.split(r"[.:]", lacks)[0], before.paths()
    if top in _NEVER_ABSENT or any(top in (*path.parts[:-1], path.stem) for path in map(PurePosixPath, paths)):
        return None
    if old is None and (":" in lacks or not any(top in before.packages(path) for path in paths)):
        return None
    told = f"as if {lacks.replace(':', '.')}, which is not installed, were there until it is used"
    return {**watched, "absent": (*put, lacks)}, told


def _lacked(raw: RunRecord) -> str | None:
    """The package, or the name of one, whose import ended a run."""
    failure = raw.recording.failure
    if failure is None or raw.recording.fitted or failure.type not in ("ImportError", "ModuleNotFoundError"):
        return None
    if failure.type == "ModuleNotFoundError":
        return found["name"] if (found := _NO_MODULE.fullmatch(failure.message)) else None
    return f"{found['package']}:{found['name']}" if (found := _NO_NAME.match(failure.message)) else None


def _lies_beside(failure: Failure, home: PurePosixPath, root: Path) -> bool:
    """Whether a failure names a file that is there from a folder of the tree, and not from its root; or one in the tree
    from there that lies two folders above it from its root."""
    found = _NAMED.search(failure.message) if failure.type == "FileNotFoundError" else None
    if found is None:
        return False
    said = _OF_COPY.sub("", found[1])
    place = PurePosixPath(os.path.normpath(home / said))
    inside = not PurePosixPath(said).is_absolute() and place.parts[:1] != ("..",)
    is_far = os.path.normpath(said).startswith(os.path.join("..", ".."))  # noqa: PTH118
    return inside and (is_far or ((root / place).exists() and not (root / said).exists()))


def _slow(raw: RunRecord | None) -> str | None:
    """Why a run was too slow for its time; None for one that was not."""
    failure = raw.recording.failure if raw else None
    return failure.message if failure and failure.type in SLOW else None


def _smaller(
    old: RunRecord | None, new: RunRecord, watched: Watching, sizes: Sequence[tuple[str, ...]]
) -> tuple[Watching, str] | None:
    """How both trees train something smaller, where one is too large; and with less of that, where both fail so."""
    runs, ways = [raw for raw in (old, new) if raw], _ways(sizes)
    now = {name: watched[name] for name in ("smaller", "samples") if name in watched}
    told = next(filter(None, map(_large, runs)), None)
    if now:
        is_refused = all(map(_may_be_of_sizes, runs))
        told = "with more of that neither tree trains" if is_refused else None
    left = ways[ways.index(now) + 1 :] if now in ways else () if now else ways
    if told is None or not left or any(raw.recording.fitted for raw in runs):
        return None
    args, samples = left[0].get("smaller", ()), left[0].get("samples", ())
    words = " and ".join(filter(None, [shlex.join(args), *(f"at most {number} samples a batch" for number in samples)]))
    kept = {name: value for name, value in watched.items() if name not in now}
    return {**kept, "shorter": ("batches",), **left[0]}, f"with {words}, on fewer batches: {told}"


def _may_be_of_sizes(raw: RunRecord) -> bool:
    """Whether a run failed for something that other sizes may mend."""
    failure = raw.recording.failure
    return failure is not None and failure.type in _OF_SIZES and not raw.lacks


def _ways(sizes: Sequence[tuple[str, ...]]) -> list[Watching]:
    """How what a script trains can be made smaller, the most first: by its arguments, and by the samples of a batch,
    unless one of the arguments says these."""
    ways: list[Watching] = []
    for args in sizes:
        is_of_batches = any("batch" in arg or arg.startswith("--bs") for arg in args)
        ways.append({"smaller": args} if is_of_batches else {"smaller": args, **_FEW})
    return ways or [_FEW]


def _large(raw: RunRecord) -> str | None:
    """Why a run was of something too large to be trained here; None for any other."""
    failure = raw.recording.failure
    if failure and failure.type == LargeTraining.__name__:
        return failure.message
    return raw.ended if raw.ended and raw.ended.endswith("of memory") else None


def _choice(old: RunRecord | None, new: RunRecord, made: tuple[str, ...]) -> str | None:
    """The first option of a group of Hydra's configurations, where all runs end because none is chosen, or one that is
    not there; data that a program makes up goes before."""
    failures = [raw.recording.failure for raw in (old, new) if raw]
    found = [_CHOICE.search(failure.message) if failure else None for failure in failures]
    groups = {match["group"] or match["other"] for match in found if match}
    if None in found or len(groups) != 1 or any(each.startswith(f"{min(groups)}=") for each in made):
        return None
    options = [match["options"].split() for match in found if match][-1]
    return f"{min(groups)}={next(filter(MADE_UP.search, options), options[0])}"


def _missing(old: RunRecord | None, new: RunRecord, put: tuple[str, ...]) -> str | None:
    """A program that a run failed for the want of, and that nothing stands in for yet."""
    for failure in (raw.recording.failure for raw in (old, new) if raw):
        message = failure.message if failure and _IS_MISSING.search(failure.message) else ""
        for name in _NAMES_ONE.findall(message):  # several where one of them is missing: "ffmpeg or ffprobe"
            if name not in put and shutil.which(name) is None:
                return str(name)
    return None


def settled(old: RunRecord | None, new: RunRecord) -> RunRecord:
    """The run of the tree after: a logger that works in the tree before fails there for what the tree after does."""
    works = old is not None and old.stands_for != "loggers"
    return replace(new, stands_for=None) if new.stands_for == "loggers" and works else new
