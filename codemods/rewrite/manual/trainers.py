"""What the Trainers of one class give to its optimization, and would refuse to give to a manual one."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, replace

from codemods.code.nodes import every_node
from codemods.code.source import PythonFile
from codemods.code.syntax import speaks_of
from codemods.lightning.class_family import short_name
from codemods.lightning.facts import MODULE, TRAINER, ClassFact, Facts, TrainerFact, is_trainer_call
from codemods.rewrite.manual.argument_transfer import handed
from codemods.rewrite.manual.fit_sites import FileFits, FitStatement
from codemods.rewrite.manual.settings import TrainerSetting, only_setting

CLIP = ("gradient_clip_val", "gradient_clip_algorithm")
ACCUMULATE = "accumulate_grad_batches"
CLIPPING = "configure_gradient_clipping"
MOVED = (*CLIP, ACCUMULATE)
OFF = {CLIP[0]: "0.0", ACCUMULATE: "1"}
DECLARING = ("add_argparse_args", "add_arguments")
FULL_PRECISION = (32, 64, "32", "64", "32-true", "64-true", None)
ASKED = (b"Trainer", b"LightningCLI", *(name.encode() for name in MOVED))

Loose = tuple[tuple[str, int], ...]
Clip = tuple[str, str | None]


@dataclass(frozen=True)
class TrainerSettings:
    """What the Trainers of a class say of how it is optimized.

    `clip` is (value, algorithm or None) and `accumulate` the number of batches of a window, as source text, None
    where there is nothing to carry over; `accumulates` is the place of the Trainer that says so. `calls` are the
    Trainer calls (path, how many stand before it in the file) that give one of `MOVED` and have to lose it;
    `carried` are the arguments that differ from one to the other, or are known only when the program runs, and so
    have to be set on the model beside each Trainer. `clear_autocast` holds unless precision is known to be full.

    `handed` are those that come from where they cannot be moved, and that the model gets at `places`, where it is
    fitted; `settings` the (file, argument) pairs of which a configuration loses the entry.

    `refusal` says why nothing can be moved, `elsewhere` what may reach a Trainer from where it cannot be moved
    (manual optimization then fails with a MisconfigurationException, so this is never silent); `left` are the
    arguments that either is about.
    """

    refusal: str | None = None
    elsewhere: str | None = None
    left: tuple[str, ...] = ()
    clip: Clip | None = None
    accumulate: str | None = None
    accumulates: str = ""
    calls: tuple[tuple[str, int], ...] = ()
    carried: tuple[str, ...] = ()
    clear_autocast: bool = True
    handed: tuple[str, ...] = ()
    places: tuple[tuple[str, FitStatement], ...] = ()
    settings: tuple[tuple[str, str], ...] = ()

    @property
    def moved(self) -> frozenset[str]:
        """The arguments that the Trainer calls lose."""
        kept = {*self.handed, *(CLIP if CLIP[0] in self.handed else ())}
        return frozenset(MOVED) - kept


def gives(file: PythonFile, names: tuple[str, ...]) -> bool:
    """Whether a call of the file is given an argument of one of some names."""
    spoken = [name for name in names if name in file.text]
    return any(keyword.arg in spoken for call in file.calls_near(spoken) for keyword in call.node.keywords)


def loose(file: PythonFile) -> Loose:
    """Where one of the arguments that must move is spoken of other than in a Trainer's own call, from where it
    may reach one: (argument, line)."""
    if "trainers.loose" not in file.memo:
        file.memo["trainers.loose"] = tuple(
            (name, line) for name in (CLIP[0], ACCUMULATE) for line in _loose_lines(file, name)
        )
    known: Loose = file.memo["trainers.loose"]
    return known


def _loose_lines(file: PythonFile, name: str) -> list[int]:
    return sorted([*_declaring_lines(file), *_speaking_lines(file, name)])


def _declaring_lines(file: PythonFile) -> list[int]:
    """Where Trainer declares all its arguments as options of a command line, by its own method or the function that
    LIT130 puts in its place."""
    return [
        call.node.lineno
        for call in file.calls_near(DECLARING)
        for function in [call.node.func]
        if call.scope.resolve(function) == f"{TRAINER}.{DECLARING[0]}"
        or (getattr(function, "id", "") == DECLARING[1] and TRAINER in map(call.scope.resolve, call.node.args[:1]))
    ]


def _speaking_lines(file: PythonFile, name: str) -> list[int]:
    if name not in file.text:
        return []
    near = file.calls_near([name])
    given = [(keyword, call) for call in near for keyword in call.node.keywords if keyword.arg == name]
    direct = {id(keyword) for keyword, call in given if is_trainer_call(call) or _clips_itself(call.node)}
    if file.text.count(name) == len(direct):
        return []
    for item in file.classes:
        hook = item.methods.get(CLIPPING)
        direct |= {id(node) for node in every_node(hook)} if hook else set()
    return sorted(
        getattr(node, "lineno", 0)
        for node, _ in file.nodes_near([name])
        if speaks_of(node, name) and id(node) not in direct
    )


def _clips_itself(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr in ("clip_gradients", CLIPPING)


def read_trainers(
    facts: Facts,
    fact: ClassFact,
    spoken: Mapping[str, Loose],
    carrying: Container[tuple[str, int]] = (),
    fits: Mapping[str, FileFits] | None = None,
    movable: tuple[str, ...] = (CLIP[0], ACCUMULATE),
    settings: Mapping[str, tuple[TrainerSetting, ...]] | None = None,
) -> TrainerSettings:
    """What the Trainers that fit the class, or may, give to it. `spoken` is what `loose` returned, by path;
    `carrying` are the Trainer calls (path, how many stand before it) beside which the model can be given it, `fits`
    what `read_fits` returned, `settings` what `read_settings` did, by path, `movable` what the class can take there."""
    trainers = trainers_of(facts, fact)
    full = full_precision(facts, fact, trainers)
    elsewhere = dict(_elsewhere(facts, fact, trainers, spoken))
    carried = tuple(_carried(facts, trainers, carrying))
    refusals = dict(_refusals(facts, fact, trainers, carried))
    if settings and elsewhere and not refusals:
        found = _settled(facts, fact, settings, spoken, tuple(elsewhere))
        if found:
            return replace(found, clear_autocast=not full)
    stuck = elsewhere.keys() | refusals.keys()
    places = handed(facts, fact, fits, _everywhere(facts, fact)) if fits and stuck else ()
    handing = tuple(name for name in movable if places and name in stuck)
    if handing:
        carried = tuple(name for name in carried if name not in handing)
        elsewhere = {name: why for name, why in elsewhere.items() if name not in handing}
        refusals = {name: why for name, why in refusals.items() if name not in handing}
    else:
        elsewhere = {name: why for name, why in elsewhere.items() if name not in _documented(facts, spoken)}
    if refusals:
        names = tuple(sorted(refusals.keys() | elsewhere.keys()))
        return TrainerSettings(next(iter(refusals.values())), None, names, clear_autocast=not full)
    clipping = [trainer for trainer in trainers if _clips(trainer)]
    windows = [trainer for trainer in trainers if _accumulates(trainer)]
    given = TrainerSettings(
        None,
        next(iter(elsewhere.values()), None),
        tuple(elsewhere),
        (_value(clipping[0], CLIP[0], carried), _text(clipping[0], CLIP[1])) if clipping else None,
        _value(windows[0], ACCUMULATE, carried) if windows else None,
        f"{windows[0].path}:{windows[0].line}" if windows else "",
        carried=carried,
        clear_autocast=not full,
        handed=handing,
        places=places if handing else (),
    )
    moved = [trainer for trainer in trainers if any(trainer.argument(name) for name in given.moved)]
    return replace(
        given,
        clip=(OFF[CLIP[0]], None) if CLIP[0] in handing else given.clip,
        accumulate=OFF[ACCUMULATE] if ACCUMULATE in handing else given.accumulate,
        calls=tuple((trainer.path, _position(facts, trainer)) for trainer in moved),
    )


def _settled(
    facts: Facts,
    fact: ClassFact,
    settings: Mapping[str, tuple[TrainerSetting, ...]],
    spoken: Mapping[str, Loose],
    names: tuple[str, ...],
) -> TrainerSettings | None:
    """What one configuration file alone gives to the one module that a LightningCLI fits."""
    if not _fits_nothing_else(facts, fact):
        return None
    texts: dict[str, str] = {}
    places: list[tuple[str, str]] = []
    for name in (*names, CLIP[1]):
        speaking = {path for path, found in spoken.items() for word, _ in found if word == name}
        found = only_setting(facts, settings, name, speaking)
        if found:
            texts[name] = found[1]
            places.append((found[0], name))
        elif name in names or facts.mentions.get(name.encode()):
            return None
    clip = (texts[CLIP[0]], texts.get(CLIP[1])) if CLIP[0] in texts else None
    return TrainerSettings(
        clip=clip, accumulate=texts.get(ACCUMULATE), accumulates=places[0][0], settings=tuple(places)
    )


def trainers_of(facts: Facts, fact: ClassFact) -> tuple[TrainerFact, ...]:
    """The Trainers that fit the class or a subclass, or may: those of its own file, where there are any and no
    other file names the class."""
    known: dict[ClassFact, tuple[TrainerFact, ...]] = facts.memo.setdefault("trainers.of", {})
    if fact not in known:
        known[fact] = tuple(_trainers_of(facts, fact))
    return known[fact]


def _trainers_of(facts: Facts, fact: ClassFact) -> Iterator[TrainerFact]:
    heirs = {fact, *facts.subclasses(fact)}
    everywhere = _everywhere(facts, fact)
    for trainer in facts.trainers:
        if trainer.evaluates or (not everywhere and trainer.path != fact.path):
            continue
        known = [_fitted(facts, trainer, name) for name in trainer.fits]
        if not known or None in known or heirs & set(known):
            yield trainer


def _everywhere(facts: Facts, fact: ClassFact) -> bool:
    """Whether files other than the class's own may fit it."""
    return used_elsewhere(facts, fact) or all(trainer.path != fact.path for trainer in facts.trainers)


def naming(facts: Facts, fact: ClassFact) -> frozenset[str]:
    """The files that name the class; the rule's `context` has to ask for its name."""
    return facts.mentions.get(short_name(fact).encode(), frozenset())


def used_elsewhere(facts: Facts, fact: ClassFact) -> bool:
    """Whether a file other than the class's own names it."""
    return bool(naming(facts, fact) - {fact.path})


def full_precision(facts: Facts, fact: ClassFact, trainers: tuple[TrainerFact, ...]) -> bool:
    """Whether no Trainer of the class can mix precisions, so that autocast's cache is never used."""
    files = facts.files.values() if used_elsewhere(facts, fact) else [facts.files[fact.path]]
    if not trainers or any(file.indirect_trainers for file in files):
        return False
    for trainer in trainers:
        precision = trainer.argument("precision")
        if trainer.open_ended or trainer.argument("plugins"):
            return False
        if precision and not (precision.literal and precision.value in FULL_PRECISION):
            return False
    return True


def _position(facts: Facts, trainer: TrainerFact) -> int:
    return next(index for index, other in enumerate(facts.files[trainer.path].trainers) if other is trainer)


def _fitted(facts: Facts, trainer: TrainerFact, dotted: str | None) -> ClassFact | None:
    return facts.find_class(dotted, trainer.path) if dotted else None


def _text(trainer: TrainerFact, name: str) -> str | None:
    argument = trainer.argument(name)
    return argument.text if argument else None


def _value(trainer: TrainerFact, name: str, carried: tuple[str, ...]) -> str:
    return OFF[name] if name in carried else _text(trainer, name) or ""


def _carried(facts: Facts, trainers: tuple[TrainerFact, ...], carrying: Container[tuple[str, int]]) -> Iterator[str]:
    """The arguments that have to be, and can be, set beside each Trainer."""
    for name, gives in ((CLIP[0], _clips), (ACCUMULATE, _accumulates)):
        giving = [trainer for trainer in trainers if gives(trainer)]
        plain = all(_is_literal(trainer, name) for trainer in giving)
        same = len({_text(trainer, name) if gives(trainer) else None for trainer in trainers}) == 1
        ways = {_text(trainer, CLIP[1]) for trainer in giving} if name == CLIP[0] else {None}
        if (
            giving
            and not (plain and same)
            and all((trainer.path, _position(facts, trainer)) in carrying for trainer in giving)
            and len(ways) == 1
            and all(_is_literal(trainer, CLIP[1]) for trainer in giving)
        ):
            yield name


def _clips(trainer: TrainerFact) -> bool:
    argument = trainer.argument(CLIP[0])
    return argument is not None and not (argument.literal and not argument.value)


def _clip(trainer: TrainerFact) -> Clip:
    return _text(trainer, CLIP[0]) or "", _text(trainer, CLIP[1])


def _accumulates(trainer: TrainerFact) -> bool:
    argument = trainer.argument(ACCUMULATE)
    return argument is not None and not (argument.literal and argument.value in (1, None))


def _refusals(
    facts: Facts, fact: ClassFact, trainers: tuple[TrainerFact, ...], carried: tuple[str, ...]
) -> Iterator[tuple[str, str]]:
    """(argument, why it cannot be moved to the class)."""
    for trainer in trainers:
        place = f"{trainer.path}:{trainer.line}"
        window = trainer.argument(ACCUMULATE)
        counted = window is None or (window.literal and type(window.value) is int) or ACCUMULATE in carried
        if _accumulates(trainer) and not counted:
            yield (
                ACCUMULATE,
                f"the Trainer at {place} accumulates gradients over a number of batches that is not a literal",
            )
        if _clips(trainer) and CLIP[0] not in carried and not all(_is_literal(trainer, name) for name in CLIP):
            yield CLIP[0], f"the Trainer at {place} clips by a value that is not a literal"
        for name, given in ((CLIP[0], _clips(trainer)), (ACCUMULATE, _accumulates(trainer))):
            if given and not fits_only(facts, fact, trainer):
                verb = "clips" if name == CLIP[0] else "accumulates"
                yield name, f"the Trainer at {place} {verb} gradients, and may train other modules too"
    if CLIP[0] not in carried and len({_clip(trainer) if _clips(trainer) else None for trainer in trainers}) > 1:
        yield CLIP[0], "its Trainers clip gradients in different ways, or some of them do not"
    windows = {_text(trainer, ACCUMULATE) if _accumulates(trainer) else None for trainer in trainers}
    if ACCUMULATE not in carried and len(windows) > 1:
        yield ACCUMULATE, "its Trainers accumulate gradients over different numbers of batches"


def _is_literal(trainer: TrainerFact, name: str) -> bool:
    argument = trainer.argument(name)
    return argument is None or argument.literal


def fits_only(facts: Facts, fact: ClassFact, trainer: TrainerFact) -> bool:
    """Whether a Trainer trains nothing but the class and its family."""
    known = {_fitted(facts, trainer, name) for name in trainer.fits}
    if known and known <= {fact, *facts.subclasses(fact)}:
        return True
    return known <= {fact, None} and _fits_nothing_else(facts, fact)


def _fits_nothing_else(facts: Facts, fact: ClassFact) -> bool:
    """Whether the project has no module but the class and its family."""
    modules = [
        item
        for item in facts.classes()
        if (kind := facts.kind(item)) == MODULE or (kind is None and "training_step" in item.methods)
    ]
    family = {fact, *(facts.ancestry(fact) or ()), *facts.subclasses(fact)}
    return all(item in family for item in modules)


def _elsewhere(
    facts: Facts, fact: ClassFact, trainers: tuple[TrainerFact, ...], spoken: Mapping[str, Loose]
) -> Iterator[tuple[str, str]]:
    """(argument, from where else it may reach a Trainer): a configuration file, a dict or a function, from which
    it cannot be moved, and where it cannot be counted out."""
    everywhere = used_elsewhere(facts, fact) or not trainers or any(trainer.open_ended for trainer in trainers)
    for name in (ACCUMULATE, CLIP[0]):
        lines = {path: line for path, found in spoken.items() for word, line in reversed(found) if word == name}
        if everywhere:
            mentioned = facts.mentions.get(name.encode(), frozenset())
            paths = set(lines) | {path for path in mentioned if path not in facts.files}
        else:
            paths = {fact.path} & set(lines)
        if paths:
            place = min(paths)
            line = f" line {lines[place]}" if place in lines else ""
            yield name, f"{name} is also in {place}{line}, from where it may reach the Trainer"


def _documented(facts: Facts, spoken: Mapping[str, Loose]) -> set[str]:
    """The arguments of which documents alone speak: what they say reaches no Trainer by itself."""
    named = {word for found in spoken.values() for word, _ in found}
    return {
        name
        for name in (ACCUMULATE, CLIP[0])
        if name not in named
        and all(
            path in facts.files or facts.kinds.get(path) == "docs" for path in facts.mentions.get(name.encode(), ())
        )
    }
