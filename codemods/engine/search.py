"""Looking for byte strings in many files at once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from codemods.code.source import Source

_WORD = re.compile(rb"\w+")
_APART = bytes(code if _WORD.fullmatch(bytes([code])) else ord(" ") for code in range(256))
"""Every byte that is no part of a word as a space."""


class Search:
    """Which files, of any kind, hold a byte string. The words of every file are listed once: a string is then looked
    for in the files that hold all of its words alone."""

    def __init__(self, sources: Mapping[str, Source]) -> None:
        self._sources = sources
        self._holders: dict[bytes, list[str]] = {}
        for path, source in sources.items():
            for word in words_of(source):
                self._holders.setdefault(word, []).append(path)
        self._words = b" ".join([b"", *self._holders, b""])
        self._parts: dict[bytes, frozenset[str]] = {}
        self._known: dict[bytes, frozenset[str]] = {}

    def holders(self, texts: set[bytes]) -> dict[bytes, frozenset[str]]:
        """The files that hold each of some texts."""
        return {text: self._holding(text) for text in sorted(texts)}

    def speaking(self, words: Iterable[bytes]) -> frozenset[str]:
        """The files that hold one of some whole words."""
        return frozenset(path for word in words for path in self._holders.get(word, ()))

    def _holding(self, text: bytes) -> frozenset[str]:
        if text not in self._known:
            found = list(_WORD.finditer(text))
            paths = frozenset(self._sources)
            for match in found:
                before, behind = b" " * (match.start() > 0), b" " * (match.end() < len(text))
                paths &= self._with_word(before + match.group() + behind)
            whole = len(found) == 1 and found[0].group() == text
            self._known[text] = (
                paths if whole else frozenset(path for path in paths if text in self._sources[path].unescaped)
            )
        return self._known[text]

    def _with_word(self, part: bytes) -> frozenset[str]:
        """The files that hold a word with that part; a space stands for the beginning or end of the word."""
        if part[:1] == part[-1:] == b" ":
            return frozenset(self._holders.get(part[1:-1], ()))
        if part not in self._parts:
            found: set[str] = set()
            place = self._words.find(part)
            while place >= 0:
                end = self._words.index(b" ", place + 1)
                found.update(self._holders[self._words[self._words.rindex(b" ", 0, place + 1) + 1 : end]])
                place = self._words.find(part, end)
            self._parts[part] = frozenset(found)
        return self._parts[part]


def words_of(source: Source) -> set[bytes]:
    """The words of a file."""
    return set(source.unescaped.translate(_APART).split())
