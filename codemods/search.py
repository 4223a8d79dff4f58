"""Looking for byte strings in many files at once."""

from __future__ import annotations

import re
from collections.abc import Mapping

from codemods.source import Source

_WORD = re.compile(rb"\w+")


class Search:
    """Which files, of any kind, hold a byte string. The words of every file are listed once: a string is then looked
    for in the files that hold all of its words alone."""

    def __init__(self, sources: Mapping[str, Source]) -> None:
        self._sources = sources
        self._holders: dict[bytes, list[str]] = {}
        for path, source in sources.items():
            for word in set(_WORD.findall(source.data)):
                self._holders.setdefault(word, []).append(path)
        self._words = b" ".join([b"", *self._holders, b""])
        self._parts: dict[bytes, frozenset[str]] = {}
        self._known: dict[bytes, frozenset[str]] = {}

    def holders(self, texts: set[bytes]) -> dict[bytes, frozenset[str]]:
        """The files that hold each of some texts."""
        return {text: self._holding(text) for text in sorted(texts)}

    def _holding(self, text: bytes) -> frozenset[str]:
        if text not in self._known:
            paths = frozenset(self._sources)
            for match in _WORD.finditer(text):
                before, behind = b" " * (match.start() > 0), b" " * (match.end() < len(text))
                paths &= self._with_word(before + match.group() + behind)
            self._known[text] = frozenset(path for path in paths if text in self._sources[path].data)
        return self._known[text]

    def _with_word(self, part: bytes) -> frozenset[str]:
        """The files that hold a word with that part; a space stands for the beginning or end of the word."""
        if part not in self._parts:
            found: set[str] = set()
            place = self._words.find(part)
            while place >= 0:
                end = self._words.index(b" ", place + 1)
                found.update(self._holders[self._words[self._words.rindex(b" ", 0, place + 1) + 1 : end]])
                place = self._words.find(part, end)
            self._parts[part] = frozenset(found)
        return self._parts[part]
