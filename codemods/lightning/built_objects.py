"""What is built of Lightning's classes, as far as it is told: the calls, and the arguments that reach them or may."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from codemods.code.literals import literal
from codemods.code.source import CallNode, PythonFile
from codemods.code.tree_copies import at
from codemods.lightning.facts import Facts
from codemods.lightning.key_values import around
from codemods.lightning.keyword_flow import HandedKeyword
from codemods.lightning.values import Constant, Constants, constants_of
from codemods.lightning.wanted import WantedClasses

SEEN_WHOLE = "a dictionary"
"""What stands between a call and a Trainer where all keys are seen that it gets by `**`."""
NOT_WHOLE = "not all that `**` brings is seen"
HIDDEN = "_not_read_here_"
"""The name that stands for a value which the place of a Trainer does not see."""


@dataclass(frozen=True)
class ReachingArgument:
    """An argument that reaches a Trainer, or another such object: its value as it is written, the call or the
    dictionary's key in which that is (None where it cannot be changed there), and what it may be where that is no
    literal."""

    name: str
    value: ast.expr
    home: ast.Call | HandedKeyword | None
    constants: Constants | None = None
    always: bool = True


@dataclass(frozen=True)
class BuiltObject:
    """A call that builds a Trainer, or an object of another class of Lightning's, `kind`: `how` says what stands
    between the two (None: nothing), `arguments` are those by keyword, `rest` what else it is given by position or by
    `**`. `own` is the dotted name of such a class of the project, `taken` are the keywords that what is called keeps
    for itself; `whole` says whether the call itself holds all arguments, by whatever name it calls the class, `fixed`
    why none can be changed there. `inside` is the dictionary that stands for the call where LightningCLI makes that.
    `perhaps` are arguments that it may get besides, by a `**` that is not seen whole; `unsure` says that the call may
    build something else."""

    call: CallNode
    kind: str
    arguments: tuple[ReachingArgument, ...]
    rest: tuple[ast.expr | ast.keyword, ...] = ()
    how: str | None = None
    own: str | None = None
    whole: bool = False
    fixed: str | None = None
    taken: frozenset[str] = frozenset()
    inside: ast.expr | None = None
    perhaps: tuple[ReachingArgument, ...] = ()
    unsure: bool = False

    @property
    def plain(self) -> bool:
        """Whether the call itself holds all arguments, and nothing else is known of them than what it says."""
        return self.how is None and not self.perhaps and all(item.constants is None for item in self.arguments)


@dataclass(frozen=True)
class FileLook:
    """A file that is looked at, with the facts and what is looked for."""

    file: PythonFile
    facts: Facts
    wanted: WantedClasses

    def constants(self, file: PythonFile, call: CallNode, kind: str, name: str, value: ast.expr) -> Constants | None:
        """What an argument of a call may be, where it is worth following and anything is found."""
        if literal(value)[0] or not self.wanted.matters(kind, name, None):
            return None
        found = constants_of(self.facts, file, call.within, value)
        return found if any(self.wanted.matters(kind, name, item.node) for item in found.found) else None

    def kind_of(self, file: PythonFile, call: CallNode, node: ast.expr) -> str | None:
        """The class of Lightning's, of those looked for, that an expression at a call stands for."""
        dotted = call.scope.resolve(node)
        return dotted if dotted and self.wanted.is_one(dotted) else None


def possible(at_: FileLook, call: CallNode, kind: str, keys: Sequence[HandedKeyword]) -> Iterator[ReachingArgument]:
    """The arguments that a class still has, and that a call may get by a `**` that is not seen whole."""
    hidden = ast.Name(HIDDEN, ast.Load())
    for name in dict.fromkeys(key.name for key in keys):
        mine = [key for key in keys if key.name == name]
        given = [(key, value) for key in mine if (value := key.value or key.default) is not None]
        if not given or not at_.wanted.matters(kind, name, None):
            continue
        every = [found for key, value in given for found in constants_of_key(at_, call, kind, key, value)]
        if every:
            unseen = Constants(tuple({ast.dump(item.node): item for item in every}.values()), NOT_WHOLE)
            yield ReachingArgument(name, at(hidden, call.node), mine[0], unseen, False)


def constants_of_key(at_: FileLook, call: CallNode, kind: str, key: HandedKeyword, value: ast.expr) -> list[Constant]:
    """The constants of a key of which a rule may say something, read where it is set, or at the call."""
    within = around(key.file, key) if key.value is not None or key.file is not at_.file else call.within
    found = constants_of(at_.facts, key.file, within, value).found
    return [item for item in found if at_.wanted.matters(kind, key.name, item.node)]
