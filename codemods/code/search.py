"""Looking for byte strings in many files at once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from copy import copy
from functools import cache

from codemods.code.source import Source

_WORD = re.compile(rb"\w+")
_APART = bytes(code if _WORD.fullmatch(bytes([code])) else ord(" ") for code in range(256))
"""Every byte that is no part of a word as a space."""
NOWHERE = frozenset[str]()


class Search:
    """Which files, of any kind, hold a byte string. The words of every file are listed once: a string is then looked
    for in the files that hold all of its words alone."""

    def __init__(self, sources: Mapping[str, Source]) -> None:
        self._sources = sources
        self._holders: dict[bytes, list[str]] = {}
        for path, source in sources.items():
            for word in words_of(source):
                self._holders.setdefault(word, []).append(path)
        self._words = _listed(self._holders)
        self._parts: dict[bytes, frozenset[str]] = {}
        self._known: dict[bytes, frozenset[str]] = {}

    def having(self, source: Source) -> Search:
        """The same with another text of one file."""
        made = copy(self)
        made._sources = {**self._sources, source.path: source}
        made._holders, made._parts, made._known = dict(self._holders), {}, {}
        before = words_of(self._sources[source.path]) if source.path in self._sources else set()
        now = words_of(source)
        for word in before - now:
            made._holders[word] = [path for path in self._holders[word] if path != source.path]
            if not made._holders[word]:
                del made._holders[word]
        for word in now - before:
            made._holders[word] = [*self._holders.get(word, ()), source.path]
        made._words = _listed(made._holders)
        return made

    def holders(self, texts: Iterable[bytes]) -> dict[bytes, frozenset[str]]:
        """The files that hold each of some texts."""
        return {text: self.holding(text) for text in sorted(texts)}

    def speaking(self, words: Iterable[bytes]) -> frozenset[str]:
        """The files that hold one of some whole words."""
        return frozenset(path for word in words for path in self._holders.get(word, ()))

    def holding(self, text: bytes) -> frozenset[str]:
        """The files that hold a text."""
        if text not in self._known:
            self._known[text] = self._found(text)
        return self._known[text]

    def _found(self, text: bytes) -> frozenset[str]:
        parts = _parts_of(text)
        paths: frozenset[str] | None = None
        for part in parts:
            held = self._with_word(part)
            paths = held if paths is None else paths & held
            if not paths:
                return NOWHERE
        if parts == (text,) and b" " not in text:
            return self._with_word(text)
        return frozenset(path for path in paths or self._sources if text in self._sources[path].unescaped)

    def _with_word(self, part: bytes) -> frozenset[str]:
        """The files that hold a word with that part; a space stands for the beginning or end of the word."""
        if part not in self._parts:
            self._parts[part] = frozenset(self._holders_of(part))
        return self._parts[part]

    def _holders_of(self, part: bytes) -> Iterable[str]:
        if part[:1] == part[-1:] == b" ":
            return self._holders.get(part[1:-1], ())
        found: set[str] = set()
        place = self._words.find(part)
        while place >= 0:
            end = self._words.index(b" ", place + 1)
            found.update(self._holders[self._words[self._words.rindex(b" ", 0, place + 1) + 1 : end]])
            place = self._words.find(part, end)
        return found


def _listed(words: Iterable[bytes]) -> bytes:
    """Words behind one another, with a space around each."""
    return b" ".join([b"", *words, b""])


@cache
def _parts_of(text: bytes) -> tuple[bytes, ...]:
    """The words, or parts of such, in a text, with a space where one begins or ends in it."""
    every = _WORD.finditer(text)
    return tuple(b" " * (each.start() > 0) + each.group() + b" " * (each.end() < len(text)) for each in every)


def words_of(source: Source) -> set[bytes]:
    """The words of a file."""
    return set(source.unescaped.translate(_APART).split())
