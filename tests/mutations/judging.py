"""The proof's harness and its judge over texts, in processes that have loaded Lightning already."""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from tests.mutations.changes import BASELINE
from tests.mutations.lent import plan
from tests.training.cases import Case
from tests.training.interpreters import TARGET
from tests.training.processes import worker
from verify.judging.record import RunRecord, events, read
from verify.judging.requirements import misfit
from verify.judging.verdict import Judgement, judge, noise_of
from verify.reading import conform
from verify.reading.sources import NAMESPACES, Sources
from verify.reading.uses import Use, asked, uses
from verify.running import EPOCHS, SEED, TRAIN_BATCHES, VAL_BATCHES

SECONDS = 60.0
SHORT = {
    "seed": SEED,
    "seconds": SECONDS,
    "limit_train_batches": TRAIN_BATCHES,
    "limit_val_batches": VAL_BATCHES,
    "max_epochs": EPOCHS,
}

Files = Mapping[str, str]


def judged(before: Files, after: Files, release: str = BASELINE) -> tuple[Judgement, RunRecord]:
    """The verdict on two trees, the first on this release, and the run of the second. What is a change is held against
    a second run of the first, from weights that are a rounding away."""
    old, new, problems = recorded(before, release), recorded(after, TARGET), missing(after)
    judgement = judge(old, new, problems)
    if judgement.verdict == "changed":
        judgement = judge(old, new, problems, noise=noise_of(old, recorded(before, release, nudged=True)))
    return with_requirements(judgement, before, after), new


def with_requirements(judgement: Judgement, before: Files, after: Files) -> Judgement:
    """The verdict, where the requirements of the second tree do not fit what it imports and what it ran on."""
    pins = [tuple(files.get("requirements.txt", "").split()) for files in (before, after)]
    told = misfit(pins[0], pins[1], TARGET, _namespaces(after))
    return replace(judgement, verdict="regressed", reason=told) if told else judgement


def recorded(
    files: Files, release: str, devices: int = 1, nudged: bool = False, samples: tuple[str, ...] = ()
) -> RunRecord:
    """What the harness writes about `train.py` of these files on a release of Lightning; the same files are run once in
    a process."""
    return _recorded(tuple(sorted(files.items())), release, devices, nudged, samples)


@functools.cache
def _recorded(
    texts: tuple[tuple[str, str], ...], release: str, devices: int, nudged: bool, samples: tuple[str, ...]
) -> RunRecord:
    files = dict(texts)
    names = sorted("lightning.pytorch" if name == "lightning" else name for name in _namespaces(files))
    spec = {**SHORT, "mode": "train", "script": "train.py", "args": [], "module": None, "namespaces": names}
    spec |= {"devices": devices, "nudged": nudged, "samples": list(samples), "made": plan(files)}
    return _read(_asked(files, release, spec))


def missing(files: Files) -> tuple[str, ...]:
    """What the files use of Lightning and the target does not have."""
    found: list[Use] = []
    with tempfile.TemporaryDirectory() as folder:
        sources = _sources(files, Path(folder))
        for path in sources.paths():
            tree = sources.tree(path)
            if tree and sources.packages(path) & set(NAMESPACES):
                found += uses(path, tree)
    wanted = asked(found)
    told = _facts(tuple(wanted["names"]), tuple(map(tuple, wanted["methods"])))
    return conform.problems(iter(found), conform.facts(told))


@functools.cache
def _facts(names: tuple[str, ...], methods: tuple[tuple[str, ...], ...]) -> tuple[Mapping[str, Any], ...]:
    spec = {"mode": "facts", "uses": {"names": names, "methods": methods}, "seconds": SECONDS}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "record.jsonl"
        path.write_text(_asked({}, TARGET, spec)["record"], encoding="utf-8")
        return tuple(events(path))


def _asked(files: Files, release: str, spec: Mapping[str, Any]) -> dict[str, Any]:
    worker(release).ask(asdict(Case(files or {"empty.py": ""}, proof=spec, seconds=SECONDS)))
    answer: dict[str, Any] = worker(release).answer()[0]
    return answer


def _read(answer: Mapping[str, Any]) -> RunRecord:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "record.jsonl"
        path.write_text(answer.get("record", ""), encoding="utf-8")
        raw = read(path, "train.py")
    if "record" in answer:
        return raw
    return RunRecord(raw.recording, ended=f"it ran longer than {SECONDS:g} seconds")


def _namespaces(files: Files) -> set[str]:
    """The packages of Lightning that the script and what it loads import."""
    with tempfile.TemporaryDirectory() as folder:
        sources = _sources(files, Path(folder))
        reached = [sources.packages(path) for path in sources.reach("train.py")[0]]
    return set[str]().union(*reached) & set(NAMESPACES)


def _sources(files: Files, folder: Path) -> Sources:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return Sources(folder)
