"""Which statements spell a word: by the lines of the text, or by the tree where that is not the text's own."""

from __future__ import annotations

import ast
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate
from keyword import iskeyword
from typing import Any

from codemods.code.nodes import CHILD_FIELDS, STATEMENTS


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
    """The statements of a tree, numbered in the order in which they begin, and the words that each spells itself: its
    names, attributes, arguments and strings."""

    def __init__(self, tree: ast.AST) -> None:
        self._statements: list[ast.AST] = []
        self._last: list[int] = []
        self._first: dict[int, int] = {}
        self._at: dict[str, list[int]] = {}
        self._twice: set[int] = set()
        self._known: dict[str, list[int]] = {}
        self._add(tree)

    def on(self, words: Iterable[str]) -> list[int]:
        """The numbers of the statements that spell one of some words, or may."""
        return sorted({number for word in words for number in self._with(word)})

    def statements(self, numbers: Sequence[int]) -> Iterator[ast.AST]:
        """The statements of some numbers."""
        return (self._statements[number] for number in numbers)

    def holds(self, statement: Any, places: Sequence[int]) -> bool:
        """Whether one of some numbers, in order, is that of a statement or of one inside it; of a statement that
        stands twice in the tree, or not at all, it is not known."""
        first = self._first.get(id(statement))
        if first is None or id(statement) in self._twice:
            return True
        place = bisect_left(places, first)
        return place < len(places) and places[place] <= self._last[first]

    def _with(self, word: str) -> list[int]:
        """What is spelled by more than one node, as by a keyword or a chain of attributes, may be anywhere."""
        if not word.isidentifier() or iskeyword(word):
            return list(range(len(self._statements)))
        if word not in self._known:
            self._known[word] = list(self._holding(word))
        return self._known[word]

    def _holding(self, word: str) -> Iterator[int]:
        starts, places = self._starts
        found = self._spelled.find(word)
        while found >= 0:
            index = bisect_right(starts, found)
            yield from places[index - 1]
            found = self._spelled.find(word, starts[index]) if index < len(starts) else -1

    @cached_property
    def _spelled(self) -> str:
        """All that is spelled, one behind the other."""
        return "\0".join(self._at)

    @cached_property
    def _starts(self) -> tuple[list[int], list[list[int]]]:
        """Where each of it begins there, and where in the tree it stands."""
        return list(accumulate((len(said) + 1 for said in self._at), initial=0))[:-1], list(self._at.values())

    def _add(self, tree: ast.AST) -> None:
        stack: list[tuple[Any, int]] = [(tree, self._number(tree))]
        while stack:
            node, number = stack.pop()
            if node is None:
                self._last[number] = len(self._statements) - 1
                continue
            if type(node) in STATEMENTS:
                number = self._number(node)
                stack.append((None, number))
            self._say(node, number)
            for name in CHILD_FIELDS.get(type(node), ()):
                value = getattr(node, name)
                inside = reversed(value) if type(value) is list else (value,)
                stack.extend((child, number) for child in inside if isinstance(child, ast.AST))

    def _number(self, statement: ast.AST) -> int:
        number = len(self._statements)
        self._statements.append(statement)
        self._last.append(number)
        if self._first.setdefault(id(statement), number) != number:
            self._twice.add(id(statement))
        return number

    def _say(self, node: ast.AST, number: int) -> None:
        for name in node._fields:
            value = getattr(node, name, None)
            if type(value) is str:
                self._at.setdefault(value, []).append(number)
            elif type(value) is bytes:
                self._at.setdefault(value.decode(errors="replace"), []).append(number)
            elif type(value) is list and value and type(value[0]) is str:
                for word in value:
                    self._at.setdefault(word, []).append(number)
