"""How a rule declares itself, and how rules are found: a module named after a code that holds a `RULE`."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache, partial
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex, TypeVar

from codemods.finding import Fix, Span

if TYPE_CHECKING:
    import libcst as cst

    from codemods.code.source import PythonFile, TextFile
    from codemods.lightning.facts import Facts
    from codemods.lightning.wanted import WantedClasses


LEVELS: tuple[Fix, ...] = ("manual", "unsafe", "safe")
Change = TypeVar("Change", bound=Callable[..., Any])


@dataclass(frozen=True)
class NodeEdit:
    """A change to the LibCST node that stands where `node` stands; `change` gets it with inner edits done.

    With `line` it gets the line that begins with the simple statement `node`.
    """

    node: ast.AST
    change: Callable[[Any], cst.CSTNode | cst.FlattenSentinel[Any] | cst.RemovalSentinel]
    line: bool = False


Part = Literal["node", "whole", "head", "body", "arguments", "beside", "spelled"]


def touches(part: Part) -> Callable[[Change], Change]:
    """Marks a change of a node that does the same whatever else the node holds: it puts something in its place
    (`whole`) or in that of a function's `body`, or it touches one part alone, the `head` of a function (name,
    parameters, decorators, and what is around the values of its returns) or keyword `arguments` of a call; or one that
    adds lines `beside` it, or to a class, and leaves what is there. What is `spelled` is read, and put anew as one
    statement."""

    def mark(change: Change) -> Change:
        setattr(change, "part", part)  # noqa: B010
        return change

    return mark


def part_of(change: Callable[..., Any]) -> Part:
    """The part of a node that a change is marked to touch."""
    while isinstance(change, partial):
        change = change.func
    found: Part = getattr(change, "part", "node")
    return found


@dataclass(frozen=True)
class TextEdit:
    """A replacement of the characters `start:end` (0-based offsets into the file's text)."""

    start: int
    end: int
    replacement: str


@dataclass(frozen=True)
class Match:
    """A place that a rule names, and the edits that repair it (none where `fix` is `manual`).

    `imports` are (module, name or None) pairs that the edits need: `("torch", None)` is `import torch`. `binds` are
    names that they read and that other matches of its `unit` bind.
    Matches of one file with the same `unit` are rewritten together or not at all. `needs` is the oldest
    Lightning on which the rewritten place runs, `torchmetrics` the same of that, where it is not the rule's own.
    `creates` are files, as (path, text) pairs, that come into being with the edits where they are not there yet.
    `stops` says whether the place, left as it is, stops the program or its installation on the target; None where it is
    as the rule says. `seen` are the edits of the normal form of the file that `edits` stand for, where it was found
    there.
    """

    span: Span
    message: str
    fix: Fix
    reason: str
    row: str | None = None
    edits: tuple[NodeEdit | TextEdit, ...] = ()
    imports: tuple[tuple[str, str | None], ...] = ()
    unit: str = ""
    needs: str | None = None
    creates: tuple[tuple[str, str], ...] = ()
    stops: bool | None = None
    seen: tuple[NodeEdit | TextEdit, ...] = ()
    binds: tuple[str, ...] = ()
    torchmetrics: str | None = None


@dataclass(frozen=True)
class Example:
    """Code before and after a rule; `after` equal to `before` is a trap that the rule must leave alone.

    `files` holds what else the example's project has, as (path, text) pairs, `pins` its requirements.
    """

    before: str
    after: str
    path: str = "train.py"
    files: tuple[tuple[str, str], ...] = ()
    pins: tuple[str, ...] = ()


def best_levels(levels: Iterable[tuple[str | None, Fix]]) -> tuple[tuple[str, Fix], ...]:
    """Each row with the best of its levels, in order; entries without a row are left out."""
    best: dict[str, Fix] = {}
    for row, level in levels:
        if row and LEVELS.index(level) >= LEVELS.index(best.get(row, "manual")):
            best[row] = level
    return tuple(sorted(best.items()))


_RULE_MODULE = re.compile(r"codemods\.rules\.\w+\.[a-z]+[0-9]+")


@dataclass(frozen=True)
class Rule:
    """A codemod: one family of changes, one code, one commit.

    `fix` is the best level that a place can have; each match carries its own. `breaks_in` is the Lightning
    release in which the old code stopped working (None where it did not), `stops` says whether what it names, where it
    is left, stops the program on the target (None: where `breaks_in` says so), `warns` that it works there as it is (a
    deprecation, dead code, a document), `needs` the oldest one on which the rewritten code runs, `keeps` the oldest
    one on which files run that it collected something of and leaves as they are, `torch` and `torchmetrics` the oldest
    of those that the rewritten code needs. `triggers` are byte strings, one
    of which a file must hold to be parsed at all, for files of the `kinds` and those called one of `names`;
    `text_triggers` take their place for files that are not Python, where those hold others. Where there are `words`,
    the rule looks at those Python files alone that hold one of these whole words besides a trigger; of the others the
    facts are read all the same.

    `present` says, without facts, whether a file can hold a match, which spares it the look of the rule, `spelled` so
    of a text, be the program in it written one way or another; `among` names the Python files that can once all facts
    are known.
    `collect` returns what other files need to know of this one (picklable; None for nothing), read back by
    `Facts.collected`; `collect_text` does so of a file that is not Python, read back by `Facts.collected_texts`.
    `context` gets all that was collected by either, by path, and names byte strings: files that
    hold one are read for the facts too, and `Facts.mentions` tells which they are; it tells so of `mentions`
    as well, without reading the files.

    `rows` tells the rows of the upgrade guide and its supplements that the rule answers, each with the best level
    that a place of it can have. A rule with `last` sees
    in `Facts.planned` what the others found, and of Python files those alone in which they found something. One with
    `judges_ignores` comes behind these too, sees in `Facts.served` which comments served, and rewrites first.

    Calls that build one of the classes that are `wanted` are shown to the rule written out.
    """

    code: str
    name: str
    summary: str
    why: str
    fix: Fix
    versions: str
    triggers: tuple[bytes, ...]
    check: Callable[[PythonFile, Facts], Iterator[Match]] | Callable[[TextFile, Facts], Iterator[Match]]
    examples: tuple[Example, ...]
    breaks_in: str | None = None
    needs: str | None = None
    keeps: str | None = None
    torch: str | None = None
    torchmetrics: str | None = None
    collect: Callable[[PythonFile], Any] | None = None
    collect_text: Callable[[TextFile], Any] | None = None
    context: Callable[[Mapping[str, Any]], tuple[bytes, ...]] | None = None
    present: Callable[[PythonFile], bool] | None = None
    spelled: Callable[[str], bool] | None = None
    among: Callable[[Facts], Container[str]] | None = None
    mentions: tuple[bytes, ...] = ()
    kinds: tuple[str, ...] = ("python",)
    names: tuple[str, ...] = ()
    rows: Callable[[], tuple[tuple[str, Fix], ...]] = tuple
    last: bool = False
    judges_ignores: bool = False
    stops: bool | None = None
    warns: bool = False
    text_triggers: tuple[bytes, ...] = ()
    words: tuple[bytes, ...] = ()
    references: tuple[str, ...] = ()
    wanted: WantedClasses | None = None

    def __hash__(self) -> int:
        return hash(self.code)

    def __reduce_ex__(self, protocol: SupportsIndex) -> str | tuple[Any, ...]:
        """A rule goes to another process by its code, and is found there again: one of others where it came from."""
        if any(rule is self for rule in own_rules()):
            return rule_of, (self.code,)
        if self.code in _others.again and any(rule is self for rule in _others.rules):
            again, origin = _others.again[self.code]
            return again, (origin, self.code)
        return super().__reduce_ex__(protocol)


@dataclass(frozen=True, eq=False)
class OthersRules:
    """The rules that are not fixer's own. `again` says by code which function finds one in another process, and what
    it is given besides the code; `state` is what tells these rules from others, `left_out` what was not loaded."""

    rules: tuple[Rule, ...] = ()
    again: Mapping[str, tuple[Callable[[Any, str], Rule], Any]] = field(default_factory=dict)
    state: bytes = b""
    left_out: tuple[str, ...] = ()


_others = OthersRules()


def others_rules() -> OthersRules:
    """The rules in force that are not fixer's own."""
    return _others


def take_others(found: OthersRules) -> None:
    """Puts these in the place of the rules that were not fixer's own so far."""
    global _others
    _others = found


@cache
def own_rules() -> tuple[Rule, ...]:
    """Every rule of the package, in order.

    Modules that are not named like a rule (`codemods.rules.trainer.lit101`) are not imported: some load LibCST.
    """
    import codemods.rules

    rules = []
    for info in pkgutil.walk_packages(codemods.rules.__path__, "codemods.rules."):
        if _RULE_MODULE.fullmatch(info.name):
            rule = getattr(importlib.import_module(info.name), "RULE", None)
            if isinstance(rule, Rule):
                rules.append(rule)
    return _ordered(rules)


def _ordered(rules: Iterable[Rule]) -> tuple[Rule, ...]:
    return tuple(sorted(rules, key=lambda rule: (rule.judges_ignores, rule.last, rule.code)))


def all_rules() -> tuple[Rule, ...]:
    """Every rule, those of others too, in the order in which they look: by code, the `last` ones last."""
    return _with(_others)


@lru_cache(maxsize=4)
def _with(found: OthersRules) -> tuple[Rule, ...]:
    return _ordered((*own_rules(), *found.rules))


def all_rows() -> frozenset[str]:
    """The rows that rules answer. What one rule finds may have a row that stands in the table of another."""
    return _rows_with(_others)


@lru_cache(maxsize=4)
def _rows_with(found: OthersRules) -> frozenset[str]:
    return frozenset(row for rule in _with(found) for row, _ in rule.rows())


def rule_of(code: str) -> Rule:
    """The rule of that code."""
    return next(rule for rule in all_rules() if rule.code == code)


def select_rules(select: tuple[str, ...], ignore: tuple[str, ...]) -> tuple[Rule, ...]:
    """The rules whose code begins with one of `select` (all where empty) and with none of `ignore`.

    A code may be followed by a row (`LIT101:M164`); in `ignore` that leaves out the row alone, which the
    engine sees to. Raises ValueError naming the first that matches no rule, where all rules are loaded.
    """
    rules = all_rules()
    for wanted in (*select, *ignore):
        known = _others.left_out or any(rule.code.startswith(wanted.split(":")[0]) for rule in rules)
        if not known or not wanted:
            raise ValueError(wanted)
    return tuple(
        rule
        for rule in rules
        if (not select or rule.code.startswith(select))
        and not any(":" not in code and rule.code.startswith(code) for code in ignore)
    )
