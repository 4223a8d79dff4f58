"""Which rules look at which files, going by their kinds and bytes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache

from codemods.code.search import Search, words_of
from codemods.code.source import Source
from codemods.lightning.arguments import once
from codemods.rule import Rule

_CALL = re.compile(rb"(?:\.?|def )([^\W_]\w*)(?:(?<=\w)\(\)?)")
_ASKING = re.compile(rb"[gs]etattr\((?<![.\w].{8})")
_DEFINED = re.compile(rb"def ([^\W_]\w*)")
_READ = re.compile(rb"\.([^\W_]\w*)")
_INDIRECT = re.compile(
    rb"Trainer\w*\((?:[^()]|\([^()]*\))*\*\*|partial\([\w.]*Trainer\b|\bTrainer\)|(?:\w+Trainer|Trainer\w+)\("
)
KEPT = 2048
"""So many answers about files are kept."""


def triggered(source: Source, rules: Sequence[Rule]) -> tuple[Rule, ...]:
    """The rules of whose triggers a file holds one."""
    return tuple(
        rule
        for rule in rules
        if _reads(rule, source)
        and (
            any(text in source.unescaped for text in _triggers(rule, source))
            or any(word in source.unescaped and _is_handed(word, source) for word in called_words(rule))
            or any(word in source.unescaped and _asks(source) for word in quoted_words(rule))
        )
    )


def awake(source: Source, rules: Sequence[Rule]) -> tuple[Rule, ...]:
    """The rules that look at a file: of those that a trigger calls, the ones that find their words in it."""
    called = triggered(source, rules)
    words = words_of(source) if any(rule.words for rule in called) else set()
    return tuple(rule for rule in called if not words.isdisjoint(rule.words) or not _wants_words(rule, source))


def rules_by_file(search: Search, sources: Mapping[str, Source], rules: Sequence[Rule]) -> dict[str, tuple[str, ...]]:
    """The codes of the rules that look at a file, for each file that holds a trigger of some; of those that look
    last, at files that are not Python."""
    found: dict[str, tuple[str, ...]] = {}
    handing: dict[bytes, frozenset[str]] = {}
    for rule in rules:
        holders = {text: paths for text in _every_word(rule) if (paths := search.holding(text))}
        if not holders:
            continue
        speaking = search.speaking(rule.words)
        for word in set(called_words(rule)) - handing.keys():
            handing[word] = frozenset(path for path in holders.get(word, ()) if _is_handed(word, sources[path]))
        for path in frozenset[str]().union(*holders.values()):
            source = sources[path]
            wanted = _reads(rule, source) and (
                any(path in holders.get(text, ()) for text in _triggers(rule, source))
                or any(path in handing[word] for word in called_words(rule))
                or any(path in holders.get(word, ()) and _asks(source) for word in quoted_words(rule))
            )
            early = source.kind != "python" or path.rpartition("/")[2] in rule.names
            if wanted and (early or not rule.last or rule.judges_ignores):
                looks = path in speaking or not _wants_words(rule, source)
                found[path] = (*found.get(path, ()), *((rule.code,) if looks else ()))
    return found


def _wants_words(rule: Rule, source: Source) -> bool:
    """Whether a rule looks at a file for its words alone: an argument of a Trainer may come from another file."""
    if not rule.words or sees_text(rule, source):
        return False
    return not (asks_of_trainers(rule) and is_indirect(source.unescaped))


@cache
def asks_of_trainers(rule: Rule) -> bool:
    """Whether a rule may ask for the arguments of Trainers."""
    words = {word.decode() for word in (*rule.triggers, *rule.words)}
    return any("Trainer" in word or word in once() for word in words)


@lru_cache(maxsize=KEPT)
def is_indirect(data: bytes) -> bool:
    """Whether a Trainer may be built by something else than its own name, or of what another file holds."""
    return b"Trainer" in data and _INDIRECT.search(data) is not None


@cache
def _every_word(rule: Rule) -> frozenset[bytes]:
    """All that a file may hold which calls a rule."""
    return frozenset((*rule.triggers, *rule.text_triggers, *called_words(rule), *quoted_words(rule)))


@cache
def called_words(rule: Rule) -> tuple[bytes, ...]:
    """The names in triggers that are calls or definitions, which Python may spell otherwise."""
    every = (_CALL.fullmatch(text) or _DEFINED.fullmatch(text) for text in rule.triggers)
    return tuple(found.group(1) for found in every if found)


@cache
def quoted_words(rule: Rule) -> tuple[bytes, ...]:
    """The names of attributes in triggers as strings, by which `getattr` and `setattr` ask for them."""
    names = [found.group(1) for text in rule.triggers if (found := _READ.fullmatch(text))]
    return tuple(b"%b%b%b" % (mark, name, mark) for name in names for mark in (b"'", b'"'))


def _asks(source: Source) -> bool:
    """Whether a file may ask for attributes by their names."""
    return source.kind in ("python", "notebook") and b"attr(" in source.unescaped


@cache
def called_by(rule: Rule) -> tuple[str, ...]:
    """What calls a rule, as text."""
    return tuple(item.decode() for item in (*rule.triggers, *called_words(rule), *quoted_words(rule)))


def calls(rule: Rule, text: str, known: dict[str, bool]) -> bool:
    """Whether a text calls a rule; `known` says of words whether they stand in it, and is added to."""
    for word in called_by(rule):
        if word not in known:
            known[word] = word in text
        if known[word]:
            return True
    return False


@cache
def _methods(rule: Rule) -> tuple[bytes, ...]:
    """The names in triggers that are called of something, or defined."""
    named = (text for text in rule.triggers if text.startswith((b".", b"def ")))
    every = (_CALL.fullmatch(text) or _DEFINED.fullmatch(text) for text in named)
    return tuple(found.group(1) for found in every if found)


@dataclass
class SaidInText:
    """A text, which may be a part of another, and what is known of words in it."""

    data: bytes
    whole: SaidInText | None = None
    held: dict[bytes, bool] = field(default_factory=dict)
    written: dict[bytes, bool] = field(default_factory=dict)

    def spells(self, rule: Rule) -> bool:
        """Whether the text may do what calls a rule, be it in its normal form: it holds a trigger, or hands on what
        one calls or defines; a method that it names in a string alone it has to ask for."""
        if any(map(self._holds, _plainly(rule))) or any(map(self._hands_on, _methods(rule))):
            return True
        return any(map(self._holds, quoted_words(rule))) and self._asks_by_name

    def _holds(self, word: bytes) -> bool:
        if word not in self.held:
            self.held[word] = (self.whole is None or self.whole._holds(word)) and word in self.data
        return self.held[word]

    def _hands_on(self, word: bytes) -> bool:
        if word not in self.written:
            self.written[word] = self._holds(word) and self._is_written_otherwise(word)
        return self.written[word]

    def _is_written_otherwise(self, word: bytes) -> bool:
        """Whether the text hands on what is called or defined by a name, or asks for it by that."""
        (_, asked), *forms = _handed(word)
        if self._asks_by_name and asked.search(self.data):
            return True
        return any(part.search(self.data) and form.search(self.data) for part, form in forms)

    @cached_property
    def _asks_by_name(self) -> bool:
        return b"etattr(" in self.data and _ASKING.search(self.data) is not None


@cache
def _plainly(rule: Rule) -> tuple[bytes, ...]:
    """The triggers of a rule, and the names in them that are called, but not of something."""
    return (*rule.triggers, *(word for word in called_words(rule) if word not in _methods(rule)))


def _is_handed(word: bytes, source: Source) -> bool:
    """Whether a file speaks of something that is called or defined elsewhere: by a string, an attribute, a partial call
    or another name."""
    if source.kind not in ("python", "notebook"):
        return False
    text = source.unescaped
    if b"partial(" not in text and not _uncalled(word).search(text):
        return False
    return any(part.search(text) and form.search(text) for part, form in _handed(word))


@cache
def _uncalled(word: bytes) -> re.Pattern[bytes]:
    """A word that is not called at once: all forms in which it is handed on hold it so, but for partial calls."""
    return re.compile(rb"%b(?:(?![(\w])|\(\s*#)" % word)


@cache
def _handed(word: bytes) -> tuple[tuple[re.Pattern[bytes], re.Pattern[bytes]], ...]:
    """The forms in which a word is handed on, behind a part of each that begins with plain text: such a one is found
    many times as fast."""
    chain = rb"(?:\w+\.)*" + word
    forms = (
        (rb"%b[\"']" % word, rb"[\"']%b[\"']" % word),
        (rb"\.%b\b(?!\s*[(.])" % word, rb"(?<!\w: )(?<!-> )\b\w+\.%b\b(?!\s*[(.])" % word),
        (rb"partial\(", rb"partial\(\s*%b\b" % chain),
        (rb"%b[,)]" % word, rb"\(\s*%b\s*[,)]" % chain),
        (rb"%b[ \t]*(?:#.*)?$" % word, rb"=\s*%b[ \t]*(?:#.*)?$" % chain),
        (rb"%b[ \t]" % word, rb"%b[ \t]+\(" % word),
        (rb"%b\(\s*#" % word, rb"%b\(\s*#" % word),
        (rb"%b" % word, rb"[\"']:\s*%b\s*[,}]" % chain),
        (rb"%b\s+as\s+\w" % word, rb"\b%b\s+as\s+\w" % word),
        (rb"%b =" % word, rb"^[ \t]*(?:\w+\.)?%b =" % word),
    )
    return tuple((re.compile(part, re.MULTILINE), re.compile(form, re.MULTILINE)) for part, form in forms)


def _triggers(rule: Rule, source: Source) -> tuple[bytes, ...]:
    return rule.text_triggers if rule.text_triggers and sees_text(rule, source) else rule.triggers


def _reads(rule: Rule, source: Source) -> bool:
    kinds = ("python", "notebook") if source.kind == "notebook" else (source.kind,)
    return any(kind in rule.kinds for kind in kinds) or source.path.rpartition("/")[2] in rule.names


def sees_text(rule: Rule, source: Source) -> bool:
    """Whether a rule is given a file as text, as all are where it is not Python; of a notebook it may ask for that."""
    return source.kind != "python" and (source.kind != "notebook" or "notebook" in rule.kinds)
