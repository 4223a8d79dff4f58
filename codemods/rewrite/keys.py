"""What becomes of a Trainer's arguments in a configuration: the rules for `Trainer(...)`, run on a call with the same
arguments, and their result read back."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

from codemods.code.nodes import walk
from codemods.code.source import PythonFile, Source
from codemods.finding import Fix
from codemods.lightning.arguments import removal
from codemods.lightning.configurations.mappings import UNSEEN, MappingEntry
from codemods.lightning.facts import Facts
from codemods.rule import Match, NodeEdit, Rule, all_rules

FAMILY = "LIT11"
GPUS = "LIT101"
NOTED = "B07"
"""The row of what is said of an argument beside what becomes of it."""
_UNSEEN = "unseen_"


@dataclass(frozen=True)
class KeyVerdict:
    """What becomes of the entry `key`: `new` are the keys that take its place, with their values (the Python text of
    a literal, or None for the value as it stands); `values` are other keys that get another value. Where `new` is
    None nothing is rewritten, for the reason given; `callbacks` are then what the callbacks should hold. `along` are
    keys that go with it."""

    key: str
    message: str
    level: Fix
    reason: str
    row: str | None
    new: tuple[tuple[str, str | None], ...] | None = None
    values: tuple[tuple[str, str], ...] = ()
    callbacks: str = ""
    along: tuple[str, ...] = ()


@cache
def _rules() -> tuple[Rule, ...]:
    return tuple(rule for rule in all_rules() if rule.code == GPUS or rule.code.startswith(FAMILY))


def verdicts(entries: tuple[MappingEntry, ...], facts: Facts) -> Iterator[KeyVerdict]:
    """What the rules say, in a project with those pins and that release to move to, of each entry of which they say
    something: once what becomes of it, and once what there is to know of it."""
    names = {item.key: _text(item, index) for index, item in enumerate(entries) if item.key.isidentifier()}
    lines = "".join(f"    {name}={text},\n" for name, text in names.items())
    code = f"from pytorch_lightning import Trainer\n\ntrainer = Trainer(\n{lines})\n"
    try:
        file = PythonFile.parse(Source("config.py", "python", code.encode()))
    except Exception:
        return
    spoken: set[tuple[str, bool]] = set()
    for rule in _rules():
        check = rule.check
        for match in check(file, Facts({}, pins=facts.pins, target=facts.target)):  # type: ignore[arg-type]
            key = _key_at(file, match)
            if key and (key, match.row == NOTED) not in spoken:
                spoken.add((key, match.row == NOTED))
                told = replace(match, reason=re.sub(rf"{_UNSEEN}\d+", "...", match.reason))
                made = _verdict(file, told, key)
                yield made
                for other in made.along:
                    spoken.add((other, False))
                    yield replace(made, key=other, message=removal(other), row=None, new=(), values=(), along=())


def _text(item: MappingEntry, index: int) -> str:
    """A value as Python writes it; a name where the file does not tell it."""
    return f"{_UNSEEN}{index}" if item.value is UNSEEN or _holds_unseen(item.value) else repr(item.value)


def _holds_unseen(value: object) -> bool:
    text = repr(value)
    try:
        ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return True
    return False


def _key_at(file: PythonFile, match: Match) -> str | None:
    """The argument whose line a match stands on."""
    line = file.lines[match.span.line - 1]
    return line.strip().partition("=")[0] if line.startswith("    ") else None


def _verdict(file: PythonFile, match: Match, key: str) -> KeyVerdict:
    left = KeyVerdict(key, match.message, "manual", match.reason, match.row)
    if match.fix == "manual" or not match.edits:
        return left
    from codemods.rewrite.locate import apply_node_edits

    edits = [edit for edit in match.edits if isinstance(edit, NodeEdit)]
    after = _arguments(apply_node_edits(file, edits, match.imports))
    before = _arguments(file.text)
    changed = {name: text for name, text in after.items() if before.get(name) != text}
    if "callbacks" in changed:
        return KeyVerdict(key, match.message, "manual", match.reason, match.row, callbacks=changed["callbacks"])
    own = before[key]
    new = [(name, None if text == own else text) for name, text in changed.items() if name not in before or name == key]
    values = tuple((name, text) for name, text in changed.items() if name in before and name != key)
    if not all(_is_literal(text) for _, text in (*new, *values) if text is not None):
        seen = "" if own.startswith(_UNSEEN) else match.reason
        wanted = " and ".join(f"{name}=" for name, _ in new)
        reason = seen or f"Not rewritten: its value is not known from the file; give it by {wanted}."
        return KeyVerdict(key, match.message, "manual", reason, match.row)
    along = tuple(name for name in before if name not in after and name != key)
    return KeyVerdict(key, match.message, match.fix, match.reason, match.row, tuple(new), values, along=along)


def _arguments(code: str) -> dict[str, str]:
    """The keywords of the call, in the canonical spelling of their values."""
    call = next(node for node in walk(ast.parse(code)) if isinstance(node, ast.Call) and _is_trainer(node))
    return {item.arg: ast.unparse(item.value) for item in call.keywords if item.arg}


def _is_trainer(node: ast.Call) -> bool:
    return isinstance(node.func, ast.Name) and node.func.id == "Trainer"


def _is_literal(text: str) -> bool:
    try:
        ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return False
    return True
