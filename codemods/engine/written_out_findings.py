"""What a rule finds where every Trainer, callback or logger is written out, and not in the file as it is written."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

from codemods.code.calls import value_of
from codemods.code.nodes import walk
from codemods.code.source import PythonFile
from codemods.code.syntax import is_none
from codemods.engine.rule_failures import unseen
from codemods.engine.triggers import asks_of_trainers
from codemods.lightning.arguments import current
from codemods.lightning.built_objects import SEEN_WHOLE, BuiltObject
from codemods.lightning.exclusive_use import HARDWARE
from codemods.lightning.facts import TRAINER, Facts
from codemods.lightning.keyword_flow import HandedKeyword
from codemods.lightning.object_arguments import class_names
from codemods.lightning.objects import OTHERS
from codemods.lightning.wanted import WantedClasses
from codemods.lightning.written_out import TRAINERS, View, WrittenOutTrainer, views_of
from codemods.rewrite.carrying import Delta, carried, delta_of, edits_of_call, made_of_call
from codemods.rewrite.dictionaries import ONE_PLACE, in_one_place, names_of
from codemods.rule import LEVELS, Match, NodeEdit, Rule, TextEdit

LEFT = "Not rewritten"
THROUGH = "it depends on an argument of a Trainer, which is written indirectly"
TOGETHER = "it changes together with other places"
MAY = "it may be "
UNLIKE = "not all values that it may have become the same"


@dataclass(frozen=True)
class ViewMatch:
    """A match in a view, the Trainer and the argument that it names."""

    match: Match
    shown: WrittenOutTrainer
    name: str | None


Carried = tuple[Match, ViewMatch]
"""A match as it is told of the text, and as it was found in the view."""


@cache
def _wanted(rule: Rule) -> tuple[WantedClasses, ...]:
    """What is written out for a rule."""
    words = {word.decode() for word in rule.triggers}
    others = (OTHERS,) if not words.isdisjoint(class_names()) and rule.kinds[0] == "python" else ()
    return (*((TRAINERS,) if asks_of_trainers(rule) else ()), *others, *((rule.wanted,) if rule.wanted else ()))


def seen_at_trainers(rule: Rule, file: PythonFile, facts: Facts, found: Sequence[Match]) -> list[Match]:
    """What a rule finds in a file, where it found `found` so far: these, and what it finds with every Trainer written
    out."""
    try:
        looks = [look for wanted in _wanted(rule) if (look := _of_views(rule, file, facts, wanted, found))]
        joined = _joined(found, [item for look in looks for item in look.named])
        return [*joined, *_new(joined, [item for look in looks for item in look.beside])]
    except Exception as error:  # a tree that no text gives may be one that a rule cannot take: the text's own is kept
        return [*found, unseen(rule, error)]


@dataclass(frozen=True)
class LookAtViews:
    """What a rule finds in the views of a file: at Trainers, each with the one and the argument that it is about, and
    `beside` them."""

    named: list[tuple[Match, ViewMatch]]
    beside: list[Match]


def _of_views(
    rule: Rule, file: PythonFile, facts: Facts, wanted: WantedClasses, found: Sequence[Match]
) -> LookAtViews | None:
    views = views_of(file, facts, wanted)
    if views is None:
        return None
    beside: list[Match] = []
    first, *others = [_said(rule, view, beside) for view in views.certain]
    made = [(_carried(file, facts, said, others, views.certain), said) for said in first if not _is_beside(said)]
    made = _units([(match, said) for match, said in made if match.edits or said.name], beside, views.certain[0])
    known = {(item.match.span, item.match.message) for item in first}
    made += [
        (_some(item), item)
        for said in others
        for item in said
        if (item.match.span, item.match.message) not in known and not _is_beside(item)
    ]
    for view in views.perhaps:
        told = [] if any(one.built.unsure for one in view.shown.values()) else beside
        may_be = [said for said in _said(rule, view, told) if not _is_answered(said, found)]
        made += [(match, said) for said in may_be if (match := _perhaps(said, view))]
    last = len(file.lines)
    if any(_has_own_methods(facts, file, shown.built) for shown in views.certain[0].shown.values()):
        beside = []
    return LookAtViews(made, [_left(match, THROUGH) for match in beside if match.span.end_line <= last])


def _is_answered(said: ViewMatch, found: Sequence[Match]) -> bool:
    """Whether a change that was found speaks of an argument, and goes by the value that the Trainer has by then."""
    word = re.compile(rf"\b{said.name}\b(?!=)")
    made = (match for match in found if match.edits and match.unit and match.row == said.match.row)
    return said.name is not None and any(word.search(match.message) for match in made)


def _has_own_methods(facts: Facts, file: PythonFile, built: BuiltObject) -> bool:
    """Whether a class of the project that stands for a Trainer does something else where that is asked for it."""
    own = facts.find_class(built.own, file.path) if built.own else None
    return own is not None and not own.methods <= {"__init__"}


def _said(rule: Rule, view: View, beside: list[Match]) -> list[ViewMatch]:
    """What a rule finds at the Trainers of a view; what else it finds goes to `beside`."""
    check: Any = rule.check
    found = []
    for match in check(view.file, view.facts):
        said = _named(match, view)
        if said is None:
            beside.append(match)
        else:
            found.append(said)
    return found


def _new(found: Sequence[Match], beside: Sequence[Match]) -> list[Match]:
    """What is found beside Trainers, once a line, where nothing was found that says the same there."""
    told = {(match.message, match.span.line) for match in found} | {(match.row or "", match.span) for match in found}
    new = {(match.message, match.span.line): match for match in reversed(beside)}
    return [
        match
        for match in reversed(new.values())
        if told.isdisjoint({(match.message, match.span.line), (match.row or "", match.span)})
    ]


def _named(match: Match, view: View) -> ViewMatch | None:
    """A match with the Trainer that it is about; None where it is about none."""
    for shown in view.shown.values():
        own = {shown.call, *shown.call.keywords}
        touched = any(isinstance(edit, NodeEdit) and edit.node in own for edit in match.edits)
        spans = ((item, view.file.span(item), view.file.span(item.value)) for item in shown.call.keywords)
        here = [str(item.arg) for item, *places in spans if match.span in places]
        if here:
            return ViewMatch(match, shown, next((name for name in here if name in match.message), here[0]))
        if touched:
            return ViewMatch(match, shown, None)
    return None


def _is_beside(said: ViewMatch) -> bool:
    """Whether a match is about an argument that may stay, beside one that is gone: what it becomes by the values of
    that, the rule says that takes that away."""
    shown, name = said.shown, said.name
    gone = any(other not in current() for other in shown.filled) and shown.built.kind == TRAINER
    return gone and name in current() and name not in shown.filled


def _carried(
    file: PythonFile, facts: Facts, said: ViewMatch, others: Sequence[Sequence[ViewMatch]], views: Sequence[View]
) -> Match:
    """A match with edits of the text, where all views agree on it."""
    match = said.match
    if not match.edits:
        return match
    if match.unit and others:
        return _left(match, TOGETHER)
    delta: list[Delta | None] | None = None
    least = match
    for other, view in zip(others, views[1:], strict=True):
        same = next(
            (item for item in other if (item.match.span, item.match.message) == (match.span, match.message)), None
        )
        if same is None or not same.match.edits:
            return _left(match, UNLIKE, "one of them")
        delta = _deltas(said, views[0]) if delta is None else delta
        if _deltas(same, view) != delta or _beside(same, view) != _beside(said, views[0]):
            return _left(match, UNLIKE, "one of them")
        least = min(least, same.match, key=lambda item: LEVELS.index(item.fix))
    edits: list[NodeEdit | TextEdit] = []
    names = [*match.binds, *(name or module for module, name in match.imports)]
    for edit in match.edits:
        if not isinstance(edit, NodeEdit):
            return _left(match, "it is not written at this place")
        about = edits_of_call(edit, views[0].shown)
        if about is None and edit.node in views[0].file.made:
            return _left(match, "it is not written at this place")
        if match.unit and (about is None or ((alone := delta_of(about[1], about[0])) and alone.other)):
            return _left(match, TOGETHER)
        own = carried(file, facts, about[1], about[0], names) if about else (edit,)
        if isinstance(own, str):
            return _left(match, own)
        edits += own
    sure = replace(match, fix=least.fix, reason=least.reason, edits=tuple(edits))
    return _explained(file, facts, sure, said)


def _units(made: Sequence[Carried], beside: list[Match], view: View) -> list[Carried]:
    """What was carried, with the imports `beside` Trainers that change together with it, all of them or none."""
    kept = list(made)
    for unit in dict.fromkeys(match.unit for match in (*(said.match for _, said in made), *beside) if match.unit):
        mine = [(match, said) for match, said in made if said.match.unit == unit]
        others = [match for match in beside if match.unit == unit]
        if not mine:
            continue
        kept = [item for item in kept if item not in mine]
        rest = [_given(said, view) for match, said in made if match.edits and said.match.unit != unit]
        apart = set().union(*(_given(said, view) for _, said in mine)).isdisjoint(set().union(*rest))
        if apart and all(match.edits for match, _ in mine) and all(map(_is_import, others)):
            beside[:] = [match for match in beside if match not in others]
            mine += [(match, ViewMatch(match, mine[0][1].shown, None)) for match in others]
            fix = min((match.fix for match, _ in mine), key=LEVELS.index)
            kept += [(replace(match, fix=fix), said) for match, said in mine]
        else:
            kept += [(_left(match, TOGETHER), said) for match, said in mine]
    return kept


def _given(said: ViewMatch, view: View) -> set[tuple[int, str]]:
    """The arguments that a match gives a Trainer."""
    deltas = [delta for delta in _deltas(said, view) if delta]
    return {(id(said.shown), name) for delta in deltas for name, _ in (*delta.new, *delta.other)}


def _is_import(match: Match) -> bool:
    """Whether all edits of a match are of imports."""
    nodes = [edit.node for edit in match.edits if isinstance(edit, NodeEdit)]
    whole = bool(nodes) and len(nodes) == len(match.edits)
    return whole and all(isinstance(node, ast.Import | ast.ImportFrom) for node in nodes)


def _deltas(said: ViewMatch, view: View) -> list[Delta | None]:
    return [
        delta_of(about[1], about[0])
        for edit in said.match.edits
        if isinstance(edit, NodeEdit) and (about := edits_of_call(edit, view.shown))
    ]


def _beside(said: ViewMatch, view: View) -> list[tuple[object, ...]]:
    """What the edits of a match do elsewhere than in the call of the Trainer."""
    return [
        (getattr(edit.node, "lineno", 0), getattr(edit.node, "col_offset", 0), *_spelled(edit.change))
        if isinstance(edit, NodeEdit)
        else (edit.start, edit.end, edit.replacement)
        for edit in said.match.edits
        if not (isinstance(edit, NodeEdit) and edits_of_call(edit, view.shown))
    ]


def _spelled(change: Callable[..., Any]) -> Iterator[object]:
    """What a change is made of, as far as it can be compared."""
    while isinstance(change, partial):
        yield from (*map(repr, change.args), *(f"{name}={value!r}" for name, value in sorted(change.keywords.items())))
        change = change.func
    yield change


def _overriding(facts: Facts, name: str | None) -> str | None:
    """A file that may hold arguments of a Trainer that win over what LightningCLI has as defaults: a configuration, or
    a document or script with a command line."""
    words = [word.encode() for word in (HARDWARE if name in HARDWARE else {name or ""})]
    others = (source for source in facts.sources.values() if source.kind not in ("python", "notebook"))
    return next((each.path for each in others if any(word in each.data for word in words)), None)


def _explained(file: PythonFile, facts: Facts, match: Match, said: ViewMatch) -> Match:
    """A match that says what was read for what is written."""
    shown, name = said.shown, said.name
    argument = shown.argument(name) if shown and name else None
    if argument is None or shown is None:
        return match
    reason = match.reason.rstrip(".")
    fix = match.fix
    if name in shown.filled and argument.constants:
        values = " or ".join(
            dict.fromkeys(f"{ast.unparse(item.node)} ({item.where})" for item in argument.constants.found)
        )
        reason += f"; `{ast.unparse(argument.value)}` is {values}"
        if argument.constants.called and fix == "safe":
            fix, reason = "unsafe", f"{reason}, as every call in this project has it"
    homes = [item.home for item in shown.built.arguments if isinstance(item.home, HandedKeyword)]
    if homes and fix == "safe" and not in_one_place(file, shown.built.call, homes, names_of(homes)):
        fix, reason = "unsafe", f"{reason}; {ONE_PLACE}"
    if shown.built.inside is not None and fix == "safe" and (other := _overriding(facts, name)):
        fix, reason = "unsafe", f"{reason}; {other} may give other values, which win"
    if any(not item.always for item in shown.built.arguments):
        return _left(match, "the other arguments that reach Trainer are not always set")
    return replace(match, fix=fix, reason=f"{reason}.")


def _left(match: Match, why: str, value: str = "") -> Match:
    """A match that is left; where it is about `value` alone, that is said of what it would have become."""
    said = f"; for {value}, {match.reason[:1].lower()}{match.reason[1:]}" if value else f". {match.reason}"
    told = match.reason.removeprefix(f"{LEFT}: ")
    if told != match.reason and why.startswith(MAY):
        said = f". {_begun(told)}"
    elif told != match.reason:
        return replace(match, fix="manual", edits=(), imports=(), creates=(), unit="")
    reason = f"{LEFT}: {why}{said}"
    return replace(match, fix="manual", reason=reason, edits=(), imports=(), creates=(), unit="")


def _begun(told: str) -> str:
    """A reason as a sentence of its own; the path or name that it may begin with stays as it is."""
    return told if re.match(r"\S*[._/]\w", told) else f"{told[:1].upper()}{told[1:]}"


def _perhaps(said: ViewMatch, view: View) -> Match | None:
    """A match about an argument that a view shows as it may be."""
    item = next(
        (each for each in view.perhaps if each in said.shown.call.keywords and each.arg == said.name),
        None,
    )
    argument = said.shown.argument(said.name) if said.name else None
    if item is None or argument is None or argument.constants is None:
        return None
    if said.shown.built.unsure:
        return _left(said.match, f"it reaches Trainer through {said.shown.built.how}")
    value = ast.unparse(item.value)
    where = next((each.where for each in argument.constants.found if ast.unparse(each.node) == value), "")
    return _left(said.match, f"{MAY}{value} ({where}), or something else: {argument.constants.unknown}")


def _some(said: ViewMatch) -> Match:
    """A match that one of several values gives, and another does not."""
    shown = said.shown
    value = shown.filled.get(said.name or "")
    if value is None:
        return _left(said.match, "it has this value in some cases")
    return _left(said.match, f"{MAY}{ast.unparse(value)}", "that value")


def _joined(found: Sequence[Match], made: Sequence[tuple[Match, ViewMatch]]) -> list[Match]:
    """What was found, and what was made of the views: a rewrite takes the place of what was left to a person there, be
    it of other arguments too: what the views left of these is told behind it."""
    kept: list[Match] = list(found)
    added: list[Match] = []
    for match, one in sorted(made, key=lambda pair: not pair[0].edits):
        if not match.edits and _is_rewritten(one, found):
            continue
        if any(item.span == match.span and (not match.edits or item.message == match.message) for item in added):
            continue
        here = [item for item in kept if item not in added and _is_same(item, match, one)]
        told = match.edits or not one.match.edits  # what the rule says there, and not that its edit cannot be carried
        if here and not (told and all((match.edits or item.edits) and _is_weaker(item, one) for item in here)):
            continue
        place = kept.index(here[0]) if here else len(kept)
        kept = [item for item in kept if item not in here]
        kept.insert(min(place, len(kept)), match)
        added.append(match)
    return list(dict.fromkeys(kept))


def _is_rewritten(said: ViewMatch, found: Sequence[Match]) -> bool:
    """Whether the value that an argument may have is written in the call itself, and is not there any more once the
    rule has rewritten that."""
    call, name = said.shown.built.call.node, said.name or ""
    value = next((ast.unparse(item.value) for item in said.shown.call.keywords if item.arg == name), "")
    written = next((ast.unparse(item.value) for item in call.keywords if item.arg == name), "")
    edits = [edit for match in found for edit in match.edits if isinstance(edit, NodeEdit) and edit.node is call]
    for edit in edits if edits and value in _parts(written) else ():
        before, after = (texts.get(name, "") for texts in made_of_call(edit, call) or ({}, {}))
        if value in _parts(before) and value not in _parts(after):
            return True
    return False


def _parts(text: str) -> set[str]:
    """The expressions that a text is made of."""
    tree = ast.parse(f"({text})" if text else "")
    return {ast.unparse(node) for node in walk(tree) if isinstance(node, ast.expr)}


def _is_same(item: Match, match: Match, said: ViewMatch) -> bool:
    """Whether two matches name the same thing."""
    if item.span.line != match.span.line:
        return False
    through = said.shown.built.how is not None
    named = said.name
    return (
        item.message == match.message
        or item.span == match.span
        or (item.row is not None and item.row == match.row)
        or (through and named is not None and named in f"{item.message} {item.reason}")
    )


def _is_weaker(item: Match, said: ViewMatch) -> bool:
    """Whether a match may give way to one that knows more: it leaves its place to a person, or guesses at what a
    dictionary brings, at a value that is None, or of which another class than Trainer makes something else."""
    if item.fix == "unsafe" and said.shown.built.how == SEEN_WHOLE:
        return True
    if not item.edits or (said.shown.built.kind != TRAINER and said.name in said.shown.filled):
        return True
    value = value_of(said.shown.call, said.name or "")
    return item.fix == "unsafe" and value is not None and is_none(value)
