"""Which statements spell a word: by the lines of the text, or by the tree where that is not the text's own."""

from __future__ import annotations

import ast
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate
from keyword import iskeyword
from typing import Any
from weakref import WeakKeyDictionary

from codemods.code.nodes import CHILD_FIELDS, SPELLING_FIELDS, STATEMENTS


class SpokenInText:
    """The lines of a text in which a word stands, counted as `ast` does."""

    def __init__(self, text: str) -> None:
        self._text = text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
        self._known: dict[str, list[int]] = {}

    def on(self, words: Iterable[str]) -> list[int]:
        """The lines in which one of some words stands."""
        wanted = set(words)
        for word in wanted - self._known.keys():
            self._known[word] = list(self._with(word))
        return sorted({line for word in wanted for line in self._known[word]})

    def holds(self, statement: Any, places: Sequence[int]) -> bool:
        """Whether one of some lines, in order, is one of a statement."""
        first = min([statement.lineno, *(item.lineno for item in getattr(statement, "decorator_list", ()))])
        place = bisect_left(places, first)
        return place < len(places) and places[place] <= int(statement.end_lineno)

    def _with(self, word: str) -> Iterator[int]:
        line, start = 1, 0
        place = self._text.find(word)
        while place >= 0:
            line += self._text.count("\n", start, place)
            yield line
            start, place = place, self._text.find(word, place + 1)


class SpokenInTree:
    """The statements of a module, numbered in the order in which they begin, and the words that each spells itself: its
    names, attributes, arguments and strings. What a statement of the module spells is worked out once for all trees
    that have it."""

    def __init__(self, tree: ast.Module) -> None:
        self._parts = [(statement, _spoken_in(statement)) for statement in tree.body]
        self._starts = [*accumulate((len(part.last) for _, part in self._parts), initial=1)]
        self._known: dict[str, list[int]] = {}

    def on(self, words: Iterable[str]) -> list[int]:
        """The numbers of the statements that spell one of some words, or may."""
        return sorted({number for word in words for number in self._with(word)})

    def _with(self, word: str) -> list[int]:
        """What is spelled by more than one node, as by a keyword or a chain of attributes, may be anywhere."""
        if not word.isidentifier() or iskeyword(word):
            return [*range(self._starts[-1])]
        if word not in self._known:
            self._known[word] = list(self._holding(word))
        return self._known[word]

    def _holding(self, word: str) -> Iterator[int]:
        found = self._spelled.find(word)
        while found >= 0:
            index = bisect_right(self._places, found) - 1
            part, place = self._parts[index][1], self._places[index]
            said = bisect_right(part.places, found - place)
            yield from (self._starts[index] + number for number in part.numbers[said - 1])
            found = self._spelled.find(word, place + part.places[said])

    @cached_property
    def _spelled(self) -> str:
        """All that is spelled, one behind the other."""
        return "".join(part.spelled for _, part in self._parts)

    @cached_property
    def _places(self) -> list[int]:
        """Where that of each part begins."""
        return [*accumulate((len(part.spelled) for _, part in self._parts), initial=0)]

    def statements(self, numbers: Sequence[int]) -> Iterator[ast.AST]:
        """The statements of some numbers."""
        for number in numbers:
            if number:  # the first is the module's
                index = bisect_right(self._starts, number) - 1
                statement, part = self._parts[index]
                inner = number - self._starts[index]
                yield part.below[inner - 1] if inner else statement

    def holds(self, statement: Any, places: Sequence[int]) -> bool:
        """Whether one of some numbers, in order, is that of a statement or of one inside it; of a statement that
        stands twice in the tree, or not at all, it is not known."""
        found = self._ranges.get(id(statement))
        if found is None:
            return True
        place = bisect_left(places, found[0])
        return place < len(places) and places[place] <= found[1]

    @cached_property
    def _ranges(self) -> dict[int, tuple[int, int] | None]:
        """The first and the last number of each statement, by its identity; None where it stands twice."""
        found: dict[int, tuple[int, int] | None] = {}
        for start, (statement, part) in zip(self._starts, self._parts, strict=False):
            for number, (node, last) in enumerate(zip((statement, *part.below), part.last, strict=True), start):
                found[id(node)] = (number, start + last) if id(node) not in found else None
        return found


class _SpokenInStatement:
    """The statements `below` one, numbered behind it in the order in which they begin, and the `last` number inside
    each; all words that are `spelled`, one behind the other, with the `places` where each begins, and the end, and the
    `numbers` of the statements that spell it themselves."""

    def __init__(self, statement: ast.stmt) -> None:
        self.below: list[ast.AST] = []
        self.last: list[int] = [0]
        self._at: dict[str, list[int]] = {}
        self._add(statement)
        self.spelled = "".join(f"{said}\0" for said in self._at)
        self.places = [*accumulate((len(said) + 1 for said in self._at), initial=0)]
        self.numbers = [*self._at.values()]

    def _add(self, statement: ast.stmt) -> None:
        stack: list[tuple[Any, int]] = [(statement, 0)]
        while stack:
            node, number = stack.pop()
            if node is None:
                self.last[number] = len(self.below)
                continue
            if type(node) in STATEMENTS:
                if node is not statement:
                    self.below.append(node)
                    number = len(self.below)
                    self.last.append(number)
                stack.append((None, number))
            self._say(node, number)
            for name in CHILD_FIELDS.get(type(node), ()):
                value = getattr(node, name)
                for child in reversed(value) if type(value) is list else (value,):
                    if type(child) is ast.Name:
                        self._at.setdefault(child.id, []).append(number)
                    elif child is not None:
                        stack.append((child, number))

    def _say(self, node: ast.AST, number: int) -> None:
        for name in SPELLING_FIELDS.get(type(node), ()):
            value = getattr(node, name, None)
            if type(value) is str:
                self._at.setdefault(value, []).append(number)
            elif type(value) is bytes:
                self._at.setdefault(value.decode(errors="replace"), []).append(number)
            elif type(value) is list and value and type(value[0]) is str:
                for word in value:
                    self._at.setdefault(word, []).append(number)


_SPOKEN: WeakKeyDictionary[ast.AST, _SpokenInStatement] = WeakKeyDictionary()


def _spoken_in(statement: ast.stmt) -> _SpokenInStatement:
    found = _SPOKEN.get(statement)
    if found is None:
        found = _SPOKEN[statement] = _SpokenInStatement(statement)
    return found
