"""LIT112: Trainer(resume_from_checkpoint=...), which is an argument of fit now."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import partial

from codemods.code.calls import keyword, space_of
from codemods.code.literals import literal
from codemods.code.source import CallNode, PythonFile
from codemods.code.syntax import is_none
from codemods.finding import Fix
from codemods.lightning.calls import builds_trainer
from codemods.lightning.facts import Facts
from codemods.lightning.guards import guard_of
from codemods.lightning.invariant_expressions import is_steady, sets_by_name
from codemods.lightning.said_by_files import said_by
from codemods.lightning.trainer_variables import calls_of, escapes, is_only_given_back, kept_in
from codemods.rewrite.dictionaries import may_get
from codemods.rewrite.keywords import is_commented, replaced, with_keyword, with_value
from codemods.rule import Example, Match, NodeEdit, Rule, best_levels
from codemods.rules.trainer.branched_checkpoint import alike, branched
from codemods.rules.trainer.dictionary_checkpoint import KEY as NAME
from codemods.rules.trainer.dictionary_checkpoint import keyed
from codemods.rules.trainer.evaluated_checkpoint import evaluated
from codemods.rules.trainer.given_back import CallersFit, GivenBack, given_back
from codemods.rules.trainer.kept_checkpoint import NAME as KEPT
from codemods.rules.trainer.kept_checkpoint import keeping, keeping_on_instance, kept_name
from codemods.rules.trainer.resumed import Fit, fits_at_once, fits_elsewhere

SPOKEN = f"trainer.{NAME}"
MESSAGE = f"`{NAME}=` of Trainer was removed in Lightning 2.0"
ROW = "M168"
SAFE = "It is an argument of fit since 1.5."
ASSUMED = "fixer assumes that the arguments before it do not change it; it is worked out first now."
KEPT_BY_OTHERS = "fixer assumes that who gets the Trainer back does not fit it again."
PLAIN = (ast.Name, ast.Attribute, ast.Subscript, ast.Call)
"""What may stand beside `or`: fit's own argument won where it was anything (read in 1.5.10 to 1.9.5)."""


UNFOLLOWED = "fixer cannot follow where the Trainer is used"


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    for call in file.calls_near([NAME]):
        item = keyword(call.node, NAME)
        if item is None or not builds_trainer(call):
            continue
        guard = guard_of(file, facts, call, NAME)
        if guard == "both":
            continue
        dropped = NodeEdit(call.node, partial(replaced, name=NAME, new=()))
        if is_none(item.value) and guard == "none":
            yield Match(file.span(item), MESSAGE, "safe", "It had no effect.", ROW, (dropped,))
            continue
        whole = guard == "none" and not is_commented(file, call.node, item, beside=False)
        if whole and (edits := branched(file, call, item)):
            yield Match(file.span(item), MESSAGE, "safe", SAFE, ROW, (dropped, *edits))
            continue
        if whole and (given := alike(file, facts, call, item)) is not None:
            unit = f"{file.path}:{getattr(space_of(file, call), 'lineno', 0)}:{NAME}"
            yield Match(file.span(item), MESSAGE, "safe", SAFE, ROW, (dropped, *given), unit=unit)
            continue
        if whole and (tested := evaluated(file, facts, call, item)):
            yield Match(file.span(item), MESSAGE, tested.level, tested.reason, ROW, (dropped, *tested.edits))
            continue
        fits = _fits(file, facts, call, item) if guard == "none" else "it is inside a version check"
        if not isinstance(fits, str) and _is_half_seen(file, [home for home, _ in fits]):
            fits = UNFOLLOWED
        back = given_back(file, facts, call, item) if isinstance(fits, str) and whole else None
        if back and not _is_half_seen(file, [fit.file for fit in back.fits]):
            own = tuple(fit for fit in back.fits if fit.file.path == file.path)
            given = _said(own) if call.node is back.built[0] else ()
            unit = _unit_of(file, back)
            level, reason = _surely(facts, item)
            yield Match(file.span(item), MESSAGE, level, reason, ROW, (dropped, *given), unit=unit)
            continue
        back_again = _fitted_and_given_back(file, facts, call, item) if isinstance(fits, str) and whole else []
        fits = back_again or fits
        if isinstance(fits, str):
            text = file.source_of(item.value)
            advice = f"write `fit(..., ckpt_path={text})`"
            yield Match(file.span(item), MESSAGE, "manual", f"Not rewritten: {fits}; {advice}.", ROW)
            continue
        kept, text, assumed = _kept(file, facts, call, item, fits)
        edits = (dropped, *_given(file, fits, text))
        edits = (*edits, kept) if kept else edits
        unit = _unit(file, call) if any(home is not file for home, _ in fits) else ""
        doubts = [text for text, holds in ((ASSUMED, assumed), (KEPT_BY_OTHERS, back_again)) if holds]
        reason = " ".join([SAFE, *doubts])
        yield Match(file.span(item), MESSAGE, "unsafe" if doubts else "safe", reason, ROW, edits, unit=unit)
    for kept_by_key in keyed(file, facts):
        yield Match(file.span(kept_by_key.statement), MESSAGE, "safe", SAFE, ROW, kept_by_key.edits)
    yield from _of_others(file, facts)


def _is_half_seen(file: PythonFile, homes: Sequence[PythonFile]) -> bool:
    """Whether the normal form of a file says what another file's `fit` would get: that one reads it as it is written,
    and would be left without."""
    return file.plain and any(home.path != file.path for home in homes)


def _fitted_and_given_back(file: PythonFile, facts: Facts, call: CallNode, item: ast.keyword) -> list[Fit]:
    """The `fit` calls of a function that builds a Trainer, fits it and gives it back, where they all get no checkpoint
    so far and the one of the Trainer is the same there."""
    name = kept_in(file, call)
    if name is None or not is_only_given_back(facts, file, call, name, "fit"):
        return []
    here = calls_of(file, call, name, "fit")
    open_ended = any(other.arg in (None, "ckpt_path") for fit in here for other in fit.node.keywords)
    same = is_steady(file, call, item.value, here, facts) or keeping(file, call, item, assumed=True) is not None
    return [(file, fit) for fit in here] if same and not open_ended else []


def _kept(
    file: PythonFile, facts: Facts, call: CallNode, item: ast.keyword, fits: Sequence[Fit]
) -> tuple[NodeEdit | None, str, bool]:
    """The edit that keeps the checkpoint where that is needed, what `fit` is given, and whether that is assumed to be
    the same."""
    if _are_elsewhere(file, call, item, fits):
        uses = [fit for _, fit in fits]
        proven = keeping_on_instance(file, facts, call, item, uses)
        kept = proven or keeping_on_instance(file, facts, call, item, uses, assumed=True)
        return (kept[0], kept[1], proven is None) if kept else (None, file.source_of(item.value), True)
    if _is_same_at(file, facts, call, item, fits):
        return None, file.source_of(item.value), False
    known = keeping(file, call, item)
    text = kept_name(space_of(file, call), item) or KEPT
    return known or keeping(file, call, item, assumed=True), text, known is None


def _are_elsewhere(file: PythonFile, call: CallNode, item: ast.keyword, fits: Sequence[Fit]) -> bool:
    """Whether a value that is worked out is fitted with in another function than the one that builds the Trainer."""
    return not literal(item.value)[0] and any(space_of(home, fit) is not space_of(file, call) for home, fit in fits)


def _is_same_at(file: PythonFile, facts: Facts, call: CallNode, item: ast.keyword, fits: Sequence[Fit]) -> bool:
    """Whether the checkpoint is the same where the Trainer is fitted in the file that builds it."""
    return is_steady(file, call, item.value, [fit for home, fit in fits if home is file], facts)


def _given(file: PythonFile, fits: Sequence[Fit], text: str) -> tuple[NodeEdit, ...]:
    """The edits that give the checkpoint to those of the `fit` calls that are in a file."""
    own = [(home, fit, keyword(fit.node, "ckpt_path")) for home, fit in fits if home.path == file.path]
    return tuple(
        NodeEdit(fit.node, partial(with_keyword, name="ckpt_path", text=text))
        if item is None
        else NodeEdit(fit.node, partial(with_value, name="ckpt_path", text=f"{home.source_of(item.value)} or {text}"))
        for home, fit, item in own
        if item is None or home.source_of(item.value) != text
    )


def _unit(file: PythonFile, call: CallNode) -> str:
    return f"{file.path}:{call.node.lineno}:{NAME}"


def _surely(facts: Facts, item: ast.keyword) -> tuple[Fix, str]:
    """How sure it is that a caller reads what the function read which it called."""
    if isinstance(item.value, ast.Name) or not sets_by_name(facts):
        return "safe", SAFE
    return "unsafe", f"{SAFE} fixer assumes that code which sets attributes by names that are worked out leaves it."


def _unit_of(file: PythonFile, back: GivenBack) -> str:
    return f"{file.path}:{back.function.lineno}:{NAME}"


def _said(fits: Sequence[CallersFit]) -> tuple[NodeEdit, ...]:
    return tuple(NodeEdit(fit.call.node, partial(with_keyword, name="ckpt_path", text=fit.text)) for fit in fits)


def _of_others(file: PythonFile, facts: Facts) -> Iterator[Match]:
    """The `fit` calls of a file that get the checkpoint of a Trainer which another file builds."""
    if ".fit(" not in file.text:
        return
    if SPOKEN not in facts.of_sources:
        spoken = [path for path, source in facts.sources.items() if NAME.encode() in source.unescaped]
        facts.of_sources[SPOKEN] = sorted(spoken)
    for path in facts.of_sources[SPOKEN]:
        home = facts.open(path) if path != file.path and said_by(facts, path, _resumes) else None
        for call in home.calls_near([NAME]) if home else ():
            item = keyword(call.node, NAME)
            if home is None or item is None or is_none(item.value) or not builds_trainer(call):
                continue
            if guard_of(home, facts, call, NAME) == "none" and (found := _of_home(home, facts, call, item, file)):
                place, edits, unit = found
                level, reason = _surely(facts, item) if unit != _unit(home, call) else ("safe", SAFE)
                message = f"fit gets the checkpoint that the Trainer of {path} resumed from"
                yield Match(file.span(place.node), message, level, reason, ROW, edits, unit=unit)


def _resumes(file: PythonFile) -> bool:
    """Whether a call of a file gives a checkpoint under its old name."""
    return any(keyword(call.node, NAME) for call in file.calls_near([NAME]))


def _of_home(
    home: PythonFile, facts: Facts, call: CallNode, item: ast.keyword, file: PythonFile
) -> tuple[CallNode, tuple[NodeEdit, ...], str] | None:
    """The first `fit` of a file that gets the checkpoint of a Trainer of another, the edits that give it to all of
    them, and what these are part of."""
    fits = _fits(home, facts, call, item, file)
    if not isinstance(fits, str):
        own = [(file, fit) for other, fit in fits if other is file]
        return (own[0][1], _given(file, own, home.source_of(item.value)), _unit(home, call)) if own else None
    whole = not is_commented(home, call.node, item, beside=False)
    back = given_back(home, facts, call, item, file) if whole else None
    said = [fit for fit in back.fits if fit.file is file] if back and back.built[0] is call.node else []
    return (said[0].call, _said(said), _unit_of(home, back)) if back and said else None


def _fits(
    file: PythonFile, facts: Facts, call: CallNode, item: ast.keyword, newer: PythonFile | None = None
) -> list[Fit] | str:
    """The `fit` calls that take the checkpoint, each with its file, or why they cannot be told; `newer` is a file that
    may be newer than the facts."""
    if is_commented(file, call.node, item, beside=False):
        return "there is a comment next to it"
    name = kept_in(file, call)
    handed = name is not None and escapes(facts, file, call, name, "fit")
    here = calls_of(file, call, name, "fit") if name is not None and not handed else fits_at_once(file, call)
    if not is_steady(file, call, item.value, here, facts) and not (here and keeping(file, call, item, assumed=True)):
        return "its value may change before fit"
    fits: list[Fit] | str = [(file, fit) for fit in here]
    if not fits:
        fits = fits_elsewhere(facts, file, call, newer)
        if not literal(item.value)[0]:
            uses = [fit for home, fit in fits if home is file] if not isinstance(fits, str) else []
            if len(uses) != len(fits) or not keeping_on_instance(file, facts, call, item, uses, assumed=True):
                fits = UNFOLLOWED
    if isinstance(fits, str):
        if handed:
            return f"`{name}` is passed on, perhaps to another fit"
        return "fixer cannot find the `fit` that it is for" if name is not None else fits
    if any(may_get(home, facts, fit, ("ckpt_path",)) for home, fit in fits):
        return "fit may be given a checkpoint already"
    given = [other.value for _, fit in fits if (other := keyword(fit.node, "ckpt_path"))]
    plain = isinstance(item.value, PLAIN) and all(isinstance(value, PLAIN) for value in given)
    if given and not (plain and all(home is file for home, _ in fits)):
        return "fit is given a checkpoint already, which is to win where it is anything"
    return fits


_IMPORT = "from pytorch_lightning import Trainer\n\n\n"
BEFORE = (
    f"{_IMPORT}def train(args, model):\n"
    "    trainer = Trainer(max_epochs=3, resume_from_checkpoint=args.resume)\n    trainer.fit(model)\n"
)
AFTER = (
    f"{_IMPORT}def train(args, model):\n"
    "    trainer = Trainer(max_epochs=3)\n    trainer.fit(model, ckpt_path=args.resume)\n"
)
LEFT = f"{_IMPORT}def build(args):\n    return Trainer(resume_from_checkpoint=args.resume)\n"

RULE = Rule(
    code="LIT112",
    name="trainer-resume",
    summary="`Trainer(resume_from_checkpoint=...)` becomes `fit(ckpt_path=...)`",
    why=(
        "Lightning 1.5 gave fit the argument and 2.0 removed Trainer's (guide rows M050 and M168, pull requests "
        "9693 and 10061). It moves where every fit of the Trainer is seen and the value is still the same there."
    ),
    fix="safe",
    versions="Lightning 0.7 - 1.9 -> 2.0 and later",
    triggers=(NAME.encode(), b".fit("),
    check=_check,
    rows=partial(best_levels, (("M050", "safe"), ("M168", "safe"))),
    examples=(Example(BEFORE, AFTER), Example(LEFT, LEFT)),
    breaks_in="2.0.0",
    needs="1.5.0",
    references=("https://github.com/Lightning-AI/pytorch-lightning/pull/10061",),
)
