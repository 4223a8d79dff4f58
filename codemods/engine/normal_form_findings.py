"""What a rule finds in the normal form of a file, and not, or not as well, in the file as it is written."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from codemods.code.nodes import every_node
from codemods.code.source import PythonFile
from codemods.engine.collected_of_form import CollectedOfForm
from codemods.engine.rule_failures import unseen
from codemods.engine.triggers import SaidInText
from codemods.engine.written_out_findings import seen_at_trainers
from codemods.lightning.class_answers import ClassAnswers
from codemods.lightning.facts import Facts, FileFacts
from codemods.lightning.file_memo import memo_of
from codemods.lightning.file_summary import collect_file
from codemods.lightning.instance_types import is_read_elsewhere
from codemods.rewrite.origin import Origin, around
from codemods.rewrite.respelling import torn as tangled_in
from codemods.rule import LEVELS, Match, NodeEdit, Rule, TextEdit

WRITTEN = "Not rewritten: it is written indirectly here, and a rewrite would have to change more than this."


def seen_through(rule: Rule, file: PythonFile, facts: Facts, found: Sequence[Match]) -> list[Match]:
    """What a rule finds in a file, where it found `found` in the file as it is written: these, or the same with a
    better level, and what it finds in the normal form alone.

    The normal form does what the file does, so that what a rule finds there is there, and what it may do there it
    may do here. An edit is made where it means the same in the text as it is; what else would be rewritten is left to
    a person.
    """
    every = _normally(rule, file, facts, found)
    return seen_at_trainers(rule, file, facts, every)


def _normally(rule: Rule, file: PythonFile, facts: Facts, found: Sequence[Match]) -> list[Match]:
    check: Any = rule.check
    try:
        if not is_spelled(rule, file) or (normal := file.normal) is None:
            return list(found)
        known = _apart(facts, file, normal)
        if not is_unlike(rule, file) and known is plainly(facts):
            return list(found)
        absent = rule.present is not None and not rule.present(normal)
        matches: list[Match] = [] if absent else list(check(normal, known))
    except Exception as error:  # a tree that no text gives may be one that a rule cannot take: the text's own is kept
        return [*found, unseen(rule, error)]
    return improved(found, carried(matches, file, normal, facts), file)


def improved(found: Sequence[Match], seen: Sequence[Match], file: PythonFile, owner: str = "") -> list[Match]:
    """What was found in a file, with what was seen in another form of it where that is more, or has a better level;
    `owner` is the file whose classes are put together in that, where it is another."""
    better = _better(found, seen, file)
    pairs = _paired(found, seen, file).items()
    told = {(own.unit, _class(file, own)) for match, own in pairs if own.unit and match.fix == "manual"}
    home = owner or file.path
    new = [
        match
        for match in _new(found, seen, file)
        if match not in better.values() and not _goes_along(match, told, file, home)
    ]
    return list(dict.fromkeys([*(better.get(match, match) for match in found), *new]))


def _goes_along(match: Match, told: Collection[tuple[str, object]], file: PythonFile, home: str) -> bool:
    """Whether what is left to a person changes with a class alone that is told of where it stands, and is left too."""
    if match.edits or not match.unit:
        return False
    if not match.unit.startswith(home):
        return True
    in_class = any(unit == match.unit and isinstance(place, int) for unit, place in told)
    return in_class and not isinstance(_class(file, match), int)


def _new(found: Sequence[Match], seen: Sequence[Match], file: PythonFile) -> list[Match]:
    """The matches of the normal form that are not of the text: on other lines, or besides all that the text has on a
    line, and more of a kind in a function or class than there."""
    there_too = {(match.span.line, match.message) for match in seen}
    lines = {match.span.line for match in found if (match.span.line, match.message) not in there_too}
    there = Counter(place for match in found for place in _places(file, match))
    every = Counter(place for match in seen for place in _places(file, match))
    return [
        match
        for match in seen
        if match.span.line not in lines and not any(0 < there[place] >= every[place] for place in _places(file, match))
    ]


def _better(found: Sequence[Match], carried: Sequence[Match], file: PythonFile) -> Mapping[Match, Match]:
    """The matches of the text for which the normal form has one of the same with a better level; of a class all that
    could have one, or none."""
    pairs: dict[Match, Match] = {}
    left: set[object] = set()
    same = _paired(found, carried, file)
    for match in found:
        own = same.get(match)
        if own and LEVELS.index(own.fix) > LEVELS.index(match.fix):
            pairs[match] = own
        elif match.fix == "manual":
            left.add(_class(file, match))
    return {match: own for match, own in pairs.items() if _class(file, match) not in left}


def _paired(found: Sequence[Match], carried: Sequence[Match], file: PythonFile) -> Mapping[Match, Match]:
    """The matches of the text, each with the one of the normal form that is of the same thing: at the same place, in
    the same line or function where there are as many of both, or in the line in other words."""
    pairs: dict[Match, Match] = {}
    taken: set[int] = set()
    for key in (_at_place, _in_line, _in_function, _of_another_row, _in_other_words):
        groups: dict[object, tuple[list[Match], list[Match]]] = {}
        for side, matches in enumerate((found, carried)):
            for match in matches:
                if match not in pairs if side == 0 else id(match) not in taken:
                    groups.setdefault(key(match, file), ([], []))[side].append(match)
        for mine, own in groups.values():
            for match, other in zip(mine, own, strict=True) if len(mine) == len(own) else ():
                pairs[match] = other
                taken.add(id(other))
    return pairs


def _at_place(match: Match, _: PythonFile) -> object:
    return match.message, match.row, match.span


def _in_line(match: Match, _: PythonFile) -> object:
    return match.message, match.row, match.span.line


def _in_function(match: Match, file: PythonFile) -> object:
    return match.message, match.row, max([node.lineno for node in around(file, match.span.line)], default=0)


def _of_another_row(match: Match, _: PythonFile) -> object:
    return match.message, match.span


def _in_other_words(match: Match, _: PythonFile) -> object:
    return match.row or match.message, match.span.line


def may_hold(rule: Rule, file: PythonFile) -> bool:
    """Whether the text of a file can hold a match of a rule, in whatever form it is written."""
    known: dict[str, bool] = file.memo.setdefault("may hold", {})
    if rule.spelled is not None and rule.code not in known:
        known[rule.code] = rule.spelled(file.text)
    return known.get(rule.code, True)


def is_spelled(rule: Rule, file: PythonFile) -> bool:
    """Whether a file may do what calls a rule, as it is written or in its normal form."""
    known: dict[str, bool] = file.memo.setdefault("spelled", {})
    if rule.code not in known:
        known[rule.code] = may_hold(rule, file) and _said(file, "text").spells(rule)
    return known[rule.code]


def is_unlike(rule: Rule, file: PythonFile) -> bool:
    """Whether a rule is called by what is not in normal form in a file."""
    known: dict[str, bool] = file.memo.setdefault("unlike", {})
    if rule.code not in known:
        known[rule.code] = file.unlike != "" and _said(file, "unlike").spells(rule)
    return known[rule.code]


def _said(file: PythonFile, part: str) -> SaidInText:
    """The text of a file, or of what is not in normal form in it."""
    name = f"said in {part}"
    if name not in file.memo:
        whole = None if part == "text" else _said(file, "text")
        file.memo[name] = SaidInText(getattr(file, part).encode(errors="surrogatepass"), whole)
    said: SaidInText = file.memo[name]
    return said


def _apart(facts: Facts, file: PythonFile, normal: PythonFile) -> Facts:
    """The facts as the normal form of a file has them, with a memory of their own: what rules keep there of a file's
    nodes are not those of its normal form."""
    known = plainly(facts)
    memo = memo_of(normal, known)
    if "apart" not in memo:
        own = facts.files.get(normal.path)
        said = collect_file(normal, _collected(file, normal, own)) if own else None
        memo["apart"] = known if said is None or said == own else known.having(said)
    apart: Facts = memo["apart"]
    return apart


def plainly(facts: Facts) -> Facts:
    """The facts for who opens files in their normal form."""
    if "normal" not in facts.memo:
        facts.memo["normal"] = replace(facts, trees=facts.trees.plain, of_classes=ClassAnswers())
    known: Facts = facts.memo["normal"]
    return known


def _collected(file: PythonFile, normal: PythonFile, own: FileFacts) -> Mapping[str, Any]:
    """What the rules that look at it collect of the normal form of a file, and the others of the file."""
    return CollectedOfForm(normal, lambda rule: is_unlike(rule, file), own.collected)


def _places(file: PythonFile, match: Match) -> Iterator[tuple[object, ...]]:
    """What a match says with its line, and with the innermost function or class around it: two matches that share one
    of them are one."""
    line = match.span.line
    yield match.message, line
    if inner := [node.lineno for node in around(file, line)]:
        yield match.message, "in", max(inner)


def carried(
    matches: Sequence[Match],
    file: PythonFile,
    normal: PythonFile,
    facts: Facts,
    owner: str = "",
) -> list[Match]:
    """The matches with edits of the text as it is written; those of a class or unit of which one has none are left to
    a person, and so is what has to be done together with other files. `owner` is the file whose classes are put
    together in the normal form, where it is another."""
    if not any(match.edits for match in matches):
        return list(matches)
    origin, home = _origin(file, normal, facts), owner or file.path
    own = [origin.match(match) if match.unit.startswith(home) or not match.unit else None for match in matches]
    others = _of_others(file, normal, facts) if any(own) else frozenset()
    own = [None if moved and any(_touches(edit, others) for edit in moved.edits) else moved for moved in own]
    every = [edit for moved in own if moved for edit in moved.edits]
    tangled = {id(every[index]) for index in tangled_in(every)}
    own = [None if moved and any(id(edit) in tangled for edit in moved.edits) else moved for moved in own]
    torn: set[object] = set()
    for match, moved in zip(matches, own, strict=True):
        if match.edits and moved is None:
            torn |= {_class(file, match), match.unit or None}
    return [
        match
        if not match.edits
        else moved
        if moved is not None and torn.isdisjoint({_class(file, match), match.unit})
        else replace(match, fix="manual", reason=f"{WRITTEN} {match.reason}", edits=(), imports=(), creates=())
        for match, moved in zip(matches, own, strict=True)
    ]


def _origin(file: PythonFile, normal: PythonFile, facts: Facts) -> Origin:
    """The way from a normal form of a file to the file, for all rules that find something to rewrite in it."""
    known: dict[int, Origin] = memo_of(file, facts).setdefault("origins", {})
    if id(normal) not in known:
        known[id(normal)] = Origin(file, normal, facts.sources)
    return known[id(normal)]


def _of_others(file: PythonFile, normal: PythonFile, facts: Facts) -> frozenset[int]:
    """The nodes of what a module's name stands for, which the normal form has where the name is read, and other files
    have too."""
    kept = {id(node) for node in normal.tree.body}
    values = [
        node.value
        for node in file.tree.body
        if id(node) not in kept
        and isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Call | ast.Lambda | ast.Dict | ast.List | ast.Tuple)
        and is_read_elsewhere(facts, file, node.targets[0].id)
    ]
    return frozenset(id(inner) for value in values for inner in every_node(value))


def _touches(edit: NodeEdit | TextEdit, nodes: Container[int]) -> bool:
    return isinstance(edit, NodeEdit) and id(edit.node) in nodes


def _class(file: PythonFile, match: Match) -> object:
    """The outermost class around a match, which of a class that is put together stands elsewhere, or its own place."""
    for first, last, line in _scattered(file):
        if first <= match.span.line <= last:
            return line
    classes = [node.lineno for node in around(file, match.span.line) if isinstance(node, ast.ClassDef)]
    return min(classes, default=match.span)


def _scattered(file: PythonFile) -> list[tuple[int, int, int]]:
    """The lines of what stands elsewhere than the class of the normal form that it is in, with the line of that."""
    if "scattered" not in file.memo:
        body: list[Any] = file.normal.tree.body if file.normal else []
        classes = [item for item in body if getattr(item, "scattered", False)]
        parts = (
            (int(each.lineno), int(each.end_lineno or 0), int(item.lineno)) for item in classes for each in item.body
        )
        file.memo["scattered"] = list(parts)
    known: list[tuple[int, int, int]] = file.memo["scattered"]
    return known
