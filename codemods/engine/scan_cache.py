"""What earlier looks at a tree said of its files, used again for those of which all that was looked at is the same."""

from __future__ import annotations

import io
import pickle
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

import codemods
from codemods.code.parsed_files import Parsed
from codemods.code.source import Source
from codemods.engine.passes import Checked, FirstLook
from codemods.engine.workspace import Options
from codemods.lightning.facts import Facts
from codemods.lightning.linking import takers
from codemods.rule import others_rules

_SUFFIXES = frozenset({".py", ".csv", ".json", ".toml", ".txt"})
_BUILTINS = frozenset({"complex", "frozenset", "set", "slice", "range"})


@dataclass
class _CachedRecords:
    """Records by key; of first looks also by path, with the key of the content that first said so; and the content of
    the files that rules followed facts into."""

    reads: dict[str, tuple[bytes, bytes, bytes]] = field(default_factory=dict)
    checks: dict[bytes, bytes] = field(default_factory=dict)
    opened: dict[str, bytes] = field(default_factory=dict)


class Memory:
    """What looks at one tree said.

    A first look is used again where the file and the rules that look at it are the same; a second one where in
    addition the facts of all files, the options, every file that rules opened on the way, and those that are looked at
    together with it are the same. Nothing is
    used of another state of fixer's rules, or another Python. Made from what `dump` gave, or from nothing. `parsed`
    gives files that were parsed for other looks, as long as this process has them.
    """

    def __init__(self, kept: bytes = b"", parsed: Parsed | None = None) -> None:
        self.parsed = parsed
        self._result: Memory | None = None
        self._before = _loaded(kept)
        self._now = _CachedRecords()
        self._digests: dict[str, bytes] = {}
        self._facts = b""
        self._beside: dict[str, bytes] = {}

    def read(self, source: Source, codes: tuple[str, ...]) -> FirstLook | None:
        """What a first look by those rules said of a file."""
        key = self._key(source, codes)
        known = self._before.reads.get(source.path)
        if known is None or known[0] != key:
            return None
        found: FirstLook | None = _unpickled(known[2], FirstLook)
        if found is not None:
            self._now.reads[source.path] = known
        return found

    def keep_read(self, source: Source, codes: tuple[str, ...], read: FirstLook) -> None:
        """Remembers what a first look said; a file that could not be read may be readable elsewhere."""
        if read.error:
            return
        key = self._key(source, codes)
        known = self._before.reads.get(source.path)
        same = known is not None and _alike(_unpickled(known[2], FirstLook), read)
        self._now.reads[source.path] = (key, known[1], known[2]) if known and same else (key, key, pickle.dumps(read))

    def learn(self, facts: Facts, options: Options, sources: Mapping[str, Source]) -> None:
        """Takes the facts that second looks are made with from now on."""
        if any(path not in sources or self._digest(sources[path]) != was for path, was in self._before.opened.items()):
            self._before.checks.clear()
            self._before.opened.clear()
        said = sorted((path, known[1]) for path, known in self._now.reads.items())
        mentioned = sorted((text, sorted(paths)) for text, paths in facts.mentions.items())
        ignored = sorted(options.ignored_rows), sorted(options.left_out), sorted(options.ignored_in.items())
        unsafe = options.unsafe if isinstance(options.unsafe, bool) else sorted(options.unsafe)
        asked = [rule.code for rule in options.rules], unsafe, facts.pins, facts.forked, facts.target
        rest = sorted(facts.kinds.items()), sorted(facts.files), facts.namespace, sorted(facts.silenced)
        late = facts.planned, sorted(facts.served), sorted(facts.asked)
        self._facts = _digested(repr((said, mentioned, ignored, asked, rest, late)).encode(errors="surrogateescape"))
        self._beside = {}
        for path, others in takers(facts).items():
            for one, two in ((path, other) for other in others):
                self._beside[one] = self._beside.get(one, b"") + self._digest(sources[two])
                self._beside[two] = self._beside.get(two, b"") + self._digest(sources[one])

    def checked(self, source: Source, codes: tuple[str, ...]) -> Checked | None:
        """What a second look by those rules said of a file, with these facts."""
        key = self._key(source, codes, self._facts + self._beside.get(source.path, b""))
        blob = self._before.checks.get(key)
        found: Checked | None = _unpickled(blob, Checked) if blob is not None else None
        if blob is not None and found is not None:
            self._now.checks[key] = blob
        return found

    def keep_checked(self, source: Source, codes: tuple[str, ...], checked: Checked) -> None:
        """Remembers what a second look said."""
        key = self._key(source, codes, self._facts + self._beside.get(source.path, b""))
        self._now.checks[key] = pickle.dumps(checked)

    def keep_opened(self, sources: Iterable[Source]) -> None:
        """Remembers the files that rules followed facts into."""
        self._now.opened = self._before.opened | {source.path: self._digest(source) for source in sources}

    @property
    def learned(self) -> bool:
        """Whether the last scan made anything that was not remembered, or left out something that was."""
        return (self._now.reads, self._now.checks.keys()) != (self._before.reads, self._before.checks.keys())

    def keep_result(self, memory: Memory) -> None:
        """Remembers what there is to remember of a look at the result of a plan."""
        self._result = memory

    @property
    def of_result(self) -> Memory:
        """What there is to remember of the last look at the result of a plan, for another one."""
        return (self._result or self).again()

    def again(self) -> Memory:
        """What there is to remember of the last scan, for another one."""
        other = Memory(parsed=self.parsed)
        other._before = _CachedRecords(dict(self._now.reads), dict(self._now.checks), dict(self._now.opened))
        return other

    def dump(self) -> bytes:
        """What there is to remember of the last scan."""
        return pickle.dumps((stamp(), self._now.reads, self._now.checks, self._now.opened))

    def _key(self, source: Source, codes: tuple[str, ...], facts: bytes = b"") -> bytes:
        return _digested(self._digest(source) + repr(codes).encode() + facts)

    def _digest(self, source: Source) -> bytes:
        if source.path not in self._digests:
            head = f"{source.kind}\0{source.path}\0".encode(errors="surrogateescape")
            self._digests[source.path] = _digested(head + source.data)
        return self._digests[source.path]


def stamp() -> bytes:
    """The state of all rules, and the Python that they run on."""
    return _own_stamp() + others_rules().state


@cache
def _own_stamp() -> bytes:
    digest = blake2b(repr(sys.version_info).encode(), digest_size=16)
    root = Path(codemods.__file__).parent
    for path in sorted(path for path in root.rglob("*.*") if path.suffix in _SUFFIXES):
        data = path.read_bytes()
        digest.update(f"\0{path.relative_to(root)}\0{len(data)}\0".encode() + data)
    return digest.digest()


def _alike(one: Any, other: Any) -> bool:
    """Whether two records hold the same, fields that do not count when they are compared included."""
    if type(one) is not type(other):
        return False
    if is_dataclass(one):
        return all(_alike(getattr(one, each.name), getattr(other, each.name)) for each in fields(one))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_alike(value, other[key]) for key, value in one.items())
    if isinstance(one, tuple | list):
        return len(one) == len(other) and all(map(_alike, one, other))
    plain = not isinstance(one, frozenset | set) or not any(map(is_dataclass, one))
    return plain and bool(one == other)


def _digested(data: bytes) -> bytes:
    return blake2b(data, digest_size=16).digest()


def _loaded(kept: bytes) -> _CachedRecords:
    found = _unpickled(kept, tuple) if kept else None
    return _CachedRecords(*found[1:]) if found and found[0] == stamp() else _CachedRecords()


class _Unpickler(pickle.Unpickler):
    """Makes fixer's own records and plain values, and nothing else."""

    def find_class(self, module: str, name: str) -> Any:
        found = super().find_class(module, name) if module.startswith("codemods.") else None
        if isinstance(found, type) or (module == "builtins" and name in _BUILTINS):
            return found or super().find_class(module, name)
        raise pickle.UnpicklingError(f"{module}.{name} is no record of fixer's")


def _unpickled(data: bytes, kind: type[Any]) -> Any:
    """The record; None where it is not one, as in a file that was cut short."""
    try:
        found = _Unpickler(io.BytesIO(data)).load()
    except Exception:
        return None
    return found if isinstance(found, kind) else None
