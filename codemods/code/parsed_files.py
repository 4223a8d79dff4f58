"""The parsed files of a tree, shared by all who look at it, kept while there is room for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from codemods.code.notebook import Notebook
from codemods.code.source import PythonFile, Source, TextFile, Unreadable

KEPT_BYTES = 8_000_000
Parsed = Callable[[Source], PythonFile | None]


def load(source: Source, as_text: bool = False) -> PythonFile | TextFile:
    """The file as rules see it; a notebook as its code, unless its text is asked for. Raises Unreadable."""
    if source.kind == "notebook" and not as_text:
        return Notebook.parse(source)
    return PythonFile.parse(source) if source.kind == "python" else TextFile.decode(source)


class ParsedFiles:
    """Python files, and notebooks as Python, by path. Those that are held stay; of the others those used last, as
    long as the text of all is no longer than `room`. Another process starts with none of them. `parsed` gives what
    others have parsed, with other facts. `memo` keeps what was worked out of the files alone."""

    are_plain = False
    """Whether files are in their normal form."""

    def __init__(self, sources: Mapping[str, Source], room: int = KEPT_BYTES, parsed: Parsed | None = None) -> None:
        self._sources, self._room, self._parsed = sources, room, parsed
        self._kept: dict[str, PythonFile] = {}
        self._held: dict[str, int] = {}
        self._broken: dict[str, str] = {}
        self._length = 0
        self.memo: dict[str, Any] = {}

    def __reduce__(self) -> tuple[Callable[..., ParsedFiles], tuple[Any, ...]]:
        return ParsedFiles, (self._sources, self._room)

    @property
    def sources(self) -> Mapping[str, Source]:
        """The files that it parses."""
        return self._sources

    @property
    def parsed(self) -> Parsed | None:
        """What others have parsed."""
        return self._parsed

    def open(self, path: str) -> PythonFile:
        """The file, the same as long as it is held. Raises Unreadable."""
        file = self._kept.pop(path, None)
        if file is not None:
            self._kept[path] = file
            return file
        file = self._kept[path] = self._parse(path)
        self._length += len(file.text)
        self._make_room(path)
        return file

    @property
    def plain(self) -> ParsedFiles:
        """The same files in their normal form."""
        return self.plain_beside()

    def plain_beside(self, *others: PythonFile) -> ParsedFiles:
        """The same files in their normal form, but for those that others stand for."""
        return _NormalForms(self, {file.path: file for file in others})

    def stands_beside(self, path: str) -> bool:
        """Whether another file is given in the place of one."""
        return False

    def known(self, source: Source) -> PythonFile | None:
        """A file, where it has been parsed and is the same here."""
        file = self._kept.get(source.path)
        return file if file and self._sources[source.path] == source else None

    def _parse(self, path: str) -> PythonFile:
        if path in self._broken:
            raise Unreadable(self._broken[path])
        source = self._sources[path]
        if self._parsed and (known := self._parsed(source)):
            return known.again()
        try:
            return Notebook.parse(source) if source.kind == "notebook" else PythonFile.parse(source)
        except Unreadable as error:
            self._broken[path] = str(error)
            raise

    def take(self, path: str, file: PythonFile | None) -> None:
        """Takes what a file is now, and forgets what it was; None where that has not been parsed."""
        self._broken.pop(path, None)
        self.memo.clear()
        if (gone := self._kept.pop(path, None)) is not None:
            self._length -= len(gone.text)
            gone.let_go()
        if file is not None:
            self._length += len(file.text)
            self._kept[path] = file
            self._make_room(path)

    def hold(self, path: str) -> None:
        """Keeps a file that was opened until it is released."""
        self._held[path] = len(self._kept[path].text)

    def release(self, path: str) -> None:
        """Lets a file go as soon as there is no room for it."""
        self._held.pop(path, None)
        self._make_room(path)

    @property
    def has_room(self) -> bool:
        """Whether what is held alone leaves room."""
        return sum(self._held.values()) < self._room // 2

    def _make_room(self, newest: str) -> None:
        if self._length <= self._room:
            return
        for path in [path for path in self._kept if path not in self._held and path != newest]:
            gone = self._kept.pop(path)
            gone.let_go()
            self._length -= len(gone.text)
            if self._length <= self._room:
                return


class _NormalForms(ParsedFiles):
    """The normal forms of files that others keep; `beside` are those that others stand for, by path."""

    are_plain = True

    def __init__(self, written: ParsedFiles, beside: Mapping[str, PythonFile]) -> None:
        super().__init__({})
        self._written, self._beside = written, beside

    def __reduce__(self) -> tuple[Callable[..., ParsedFiles], tuple[Any, ...]]:
        return _NormalForms, (self._written, self._beside)

    def stands_beside(self, path: str) -> bool:
        return path in self._beside

    def open(self, path: str) -> PythonFile:
        if path in self._beside:
            return self._beside[path]
        file = self._written.open(path)
        return file.normal or file
