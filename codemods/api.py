"""What a rule of your own is made of, and the only module that it has to import from.

What stands here is promised: within a major version of fixer names stay, arguments are added with a default alone, and
what is to go is first told of for two minor versions. Everything else of `codemods` may change with each release; so
may the wording of findings, and what fixer's own rules find.

A rule is a `Rule` whose `check` looks at a file, asks what names stand for and yields a `Match` a place: by `finding`
where it is left to a person, by `rewrite` where it is repaired. It never matches by spelling, guesses nothing and stays
silent on nothing that it cannot tell.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator
from functools import partial
from pathlib import Path

from codemods.code.literals import literal as literal
from codemods.code.scopes import canonical
from codemods.code.source import CallNode as CallNode
from codemods.code.source import ClassNode as ClassNode
from codemods.code.source import PythonFile as PythonFile
from codemods.code.source import TextFile as TextFile
from codemods.finding import Fix as Fix
from codemods.finding import Span as Span
from codemods.lightning.built_objects import BuiltObject as BuiltObject
from codemods.lightning.built_objects import ReachingArgument as ReachingArgument
from codemods.lightning.facts import CALLBACK as CALLBACK
from codemods.lightning.facts import MODULE as MODULE
from codemods.lightning.facts import TRAINER as TRAINER
from codemods.lightning.facts import ClassFact as ClassFact
from codemods.lightning.facts import Facts as Facts
from codemods.lightning.trainers import built as built
from codemods.lightning.values import Constants as Constants
from codemods.lightning.values import constants_of as constants_of
from codemods.lightning.wanted import WantedClasses as WantedClasses
from codemods.lightning.written_out import TRAINERS as TRAINERS
from codemods.rewrite.keywords import renamed, replaced, with_keyword, with_value
from codemods.rule import Example as Example
from codemods.rule import Match as Match
from codemods.rule import NodeEdit as NodeEdit
from codemods.rule import Rule as Rule
from codemods.rule import TextEdit as TextEdit
from codemods.rule import touches as touches

Edit = NodeEdit | TextEdit
Node = ast.expr | ast.stmt | ast.arg | ast.keyword | ast.alias


def finding(file: PythonFile, node: Node, message: str, advice: str, row: str | None = None) -> Match:
    """A place that is left to a person: what is wrong there, and what to do."""
    return Match(file.span(node), message, "manual", f"Not rewritten: {advice}", row)


def rewrite(
    file: PythonFile,
    node: Node,
    message: str,
    *edits: Edit,
    reason: str,
    fix: Fix = "safe",
    row: str | None = None,
    unit: str = "",
) -> Match:
    """A place that is repaired by edits: what is wrong, and why the new code does the same. `safe` must hold for every
    program that looks so; what is probably right is `unsafe`. Places of one `unit` are rewritten together or not at
    all. The edits of a file are all of nodes (`rename_keyword` and its like) or all of text (`replace_source`)."""
    return Match(file.span(node), message, fix, reason, row, edits, unit=unit)


def calls_of(file: PythonFile, *dotted: str) -> Iterator[CallNode]:
    """The calls of functions and classes by their dotted names, however they are imported."""
    wanted = {canonical(name) for name in dotted}
    words = {word for name in wanted for word in file.spellings(name.rpartition(".")[2])}
    for call in file.calls_near(words) if words else ():
        if call.scope.resolve(call.node.func) in wanted:
            yield call


def classes_of(file: PythonFile, facts: Facts, base: str) -> Iterator[ClassNode]:
    """The classes of a file that are below one by its dotted name, through whichever classes of the project."""
    wanted = canonical(base)
    for item in file.classes:
        fact = facts.find_class(f"{file.module}.{item.qualname}", file.path)
        bases = [known for each in facts.ancestry(fact) for known in each.bases] if fact else []
        if any(known and canonical(known) == wanted for known in bases):
            yield item


def arguments_of(call: CallNode) -> dict[str, ast.keyword]:
    """The keywords that a call gives by name."""
    return {item.arg: item for item in call.node.keywords if item.arg}


def is_open(call: CallNode) -> bool:
    """Whether a call gets what it does not say: by `*` or `**`."""
    starred = any(isinstance(item, ast.Starred) for item in call.node.args)
    return starred or any(item.arg is None for item in call.node.keywords)


def written_out(code: str, dotted: Iterable[str], follow: Collection[str] = ()) -> WantedClasses:
    """What `Rule.wanted` takes: calls of these functions and classes are shown to the rule of that code with their
    arguments written out, whether they come by a variable, a dictionary, a partial or a class of the project; of the
    arguments in `follow` as the constants that they must be. The edits are made where the arguments are written."""
    known = frozenset(map(canonical, dotted))
    names = frozenset(name.rpartition(".")[2] for name in known)
    return WantedClasses(names, known.__contains__, lambda _, name, __: name in follow, code)


def replace_source(file: PythonFile, node: Node, text: str) -> TextEdit:
    """Other text where an expression or statement stands."""
    return TextEdit(*file.offsets(node), text)


def rename_keyword(item: ast.keyword, name: str) -> NodeEdit:
    """An argument by another name."""
    return NodeEdit(item, partial(renamed, name=name))


def replace_keyword(call: CallNode, name: str, *new: tuple[str, str | None]) -> NodeEdit:
    """Other keywords, as name and text, in the place of one; a text of None stands for the value that it had, and no
    keywords at all drop it."""
    return NodeEdit(call.node, partial(replaced, name=name, new=new))


def set_keyword(call: CallNode, name: str, text: str) -> NodeEdit:
    """A keyword with another value, or one more where the call has none of that name."""
    change = with_value if name in arguments_of(call) else with_keyword
    return NodeEdit(call.node, partial(change, name=name, text=text))


def rules_of_rows(path: Path) -> tuple[Rule, ...]:
    """The rules that a TOML file of rows is, for a package that brings such a file."""
    from codemods.rules.names.read_rows import rules_of_rows as read

    return read(path.read_bytes())
