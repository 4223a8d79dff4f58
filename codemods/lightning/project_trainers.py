"""The Trainers of a project with what reaches them, by whatever way they are built."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from codemods.lightning.facts import Facts, TrainerFact
from codemods.lightning.lightning_cli import DEFAULTS
from codemods.lightning.trainers import makers
from codemods.lightning.written_out import BY_PATH, TRAINERS, Ways, views_of


def project_trainers(facts: Facts, *, perhaps: bool = False) -> tuple[TrainerFact, ...]:
    """Every Trainer of the files that were read, as it is written; and behind those of a file, where one is given what
    is written elsewhere, the same with this written out. With `perhaps` what it may be given is, too."""
    known: dict[bool, tuple[TrainerFact, ...]] = facts.memo.setdefault("project trainers", {})
    if perhaps not in known:
        every = (_ways_in(facts, path)[perhaps] for path in sorted(facts.files))
        known[perhaps] = tuple(trainer for ways in every for trainer in ways)
    return known[perhaps]


def trainers_given(facts: Facts, names: Sequence[str]) -> Iterator[TrainerFact]:
    """Those of them that may be given one of some arguments: the Trainers of a file that spells none of these, and
    takes none from elsewhere, are not written out for that."""
    for path in sorted(facts.files):
        if _may_give(facts, path, names):
            yield from trainers_in_file(facts, path)


def trainers_in_file(facts: Facts, path: str) -> tuple[TrainerFact, ...]:
    """Those of them that one file builds."""
    return _ways_in(facts, path)[False]


def _may_give(facts: Facts, path: str, names: Sequence[str]) -> bool:
    """Whether a file spells one of some arguments, or builds a Trainer of what stands elsewhere."""
    origin = facts.origin_of(path)
    if origin is not facts:
        return _may_give(origin, path, names)
    source = None if facts.is_changed else facts.sources.get(path)
    words = (*names, "**", DEFAULTS, *makers(facts, TRAINERS))
    return source is None or any(word.encode() in source.unescaped for word in words)


def _ways_in(facts: Facts, path: str) -> Ways:
    """The Trainers of a file without and with what they may be given."""
    made: dict[str, Ways] = facts.memo.setdefault(BY_PATH, {})
    if path not in made:
        origin = facts.origin_of(path)
        made[path] = _ways_in(origin, path) if origin is not facts else _kept(facts, path)
    return made[path]


def _kept(facts: Facts, path: str) -> Ways:
    """The same of a file as its text, or its normal form, has it: once for all facts of these texts."""
    if facts.is_changed:
        return _written_out(facts, path)
    made: dict[tuple[str, bool], Ways] = facts.of_sources.setdefault(BY_PATH, {})
    asked = path, facts.trees.are_plain
    if asked not in made:
        made[asked] = _written_out(facts, path)
    return made[asked]


def _written_out(facts: Facts, path: str) -> Ways:
    plain, source = facts.files[path].trainers, facts.sources.get(path)
    words = {"Trainer", *makers(facts, TRAINERS)}
    file = facts.open(path) if source and any(word.encode() in source.unescaped for word in words) else None
    views = views_of(file, facts, TRAINERS) if file else None
    if views is None:
        return plain, plain
    sure, some = ([item for view in found for item in view.facts.files[path].trainers] for found in views.both)
    certain = (*plain, *(item for item in sure if item not in plain))
    return certain, (*certain, *(item for item in some if item not in certain))
