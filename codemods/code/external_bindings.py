"""Whether a text may bind what an object, or the module of another file, has under a name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from codemods.code.scopes import module_name
from codemods.code.source import IMPORT, Source

_GIVEN = r"(?:[^()]|\([^()]*\))*?"
"""Some of what stands in the brackets of a call."""
_BY_NAME = (
    rf"(?:set|del)attr(?:__)?\({_GIVEN}[\"']{{0}}[\"']"
    rf"|\bpatch(?:\.\w+)*\({_GIVEN}(?:[\"'](?:[\w.]+\.)?{{0}}[\"']|\b{{0}}\s*=(?!=))"
    rf"|(?:__dict__|\bvars\({_GIVEN}\))\s*(?:\[\s*[\"']{{0}}[\"']|\.(?:update|setdefault)\({_GIVEN}\b{{0}}\b)"
)
"""How a name is bound by what says it: `setattr`, a patch of a test, the dictionary of an object."""
_TARGETS = r"(?:[\w.,* \t]|\[[^\]\n]*\])*"
_STORED = (
    r"(?<!\bself)\.{0}\s*(?::[^=\n]+)?[-+*/|&]?=(?!=)|\.{0}[\"']"
    rf"|^[ \t]*[(\[]?{_TARGETS}(?<!\bself)\.{{0}}\b{_TARGETS}[)\]]?[ \t]*=(?!=)"
    r"|\bfor\s(?:(?!\bin\b)[^\n:])*\.{0}\b|\bas\s+[(\[]?[\w.]*\.{0}\b"
)
"""How a text stores to an attribute, or says the dotted name of one, as tests do."""
_SAID = r"[\"']{0}[\"']|[(,]\s*{0}\s*=(?!=)"
_TAKEN = r"(?:\bmodules\[|import_module\(|__import__\()\s*[\"'](?:[\w.]*\.)?{0}[\"']"
"""How a text gets a module by what says it."""
_TAKING = (b"modules[", b"import_module(", b"__import__(")
"""What that begins with: plain text, which is found many times as fast."""
_CALLED = r"\b{0}\b(?:\s+as\s+(\w+))?"
_HANDED = r"(?<!getattr)(?<!hasattr)[(,=:\[]\s*(?:[\w.]+\.)?{0}[ \t]*(?:[,)\]}}#\n]|\Z)|\b{0}\.__dict__"
"""How a text does something with a module itself, not with what it has under a name."""


def bound_by_name(name: str) -> re.Pattern[bytes]:
    """What a text says that binds a name of some object by what says it."""
    return _pattern(_BY_NAME, name)


def is_bound_elsewhere(sources: Mapping[str, Source], path: str, name: str) -> bool:
    """Whether a file, of whatever kind, may bind a name of the module of another. Nothing imports a notebook."""
    if path in sources and sources[path].kind == "notebook":
        return False
    module = module_name(path).rpartition(".")[2]
    home, word = module.encode(), name.encode()
    for other, source in sources.items():
        text = source.unescaped
        if home in text and (word in text or source.filled) and other != path and _may_bind(source, module, name):
            return True
    return False


def _may_bind(source: Source, module: str, name: str) -> bool:
    """The same of a text that speaks of the module, and of the name or of what is filled. A text is asked once: an
    editor asks of the same files after each key that is pressed."""
    known: dict[tuple[str, str], bool] = source.memo.setdefault("bound", {})
    if (module, name) not in known:
        known[module, name] = _binds(source, module, name)
    return known[module, name]


def _binds(source: Source, module: str, name: str) -> bool:
    text, spoken = source.unescaped, name.encode() in source.unescaped
    called = _names(source, module) if module else set()
    taken = any(mark in text for mark in _TAKING) and _pattern(_TAKEN, module).search(text) is not None
    had = spoken and (called or taken or not module or _spelled(module, name).search(text))
    if had and (_stores(text, name) or bound_by_name(name).search(text)):
        return True
    said = spoken and _pattern(_SAID, name).search(text) is not None
    if taken:
        return said or bool(source.filled)
    if said and called:
        rest = IMPORT.sub(b"", text)
        return any(word in source.filled or _pattern(_HANDED, word.decode()).search(rest) for word in called)
    return not called.isdisjoint(source.filled)


def _stores(text: bytes, name: str) -> bool:
    return f".{name}".encode() in text and _pattern(_STORED, name).search(text) is not None


@cache
def _spelled(module: str, name: str) -> re.Pattern[bytes]:
    """A module as what another one has under its name, or its name with that of something in it."""
    return re.compile(rf"\.{module}\s*(?:[,)]|\.__dict__)|\b{module}\.{name}\b|\b{module}[\"']\s*,".encode())


def _names(source: Source, module: str) -> set[bytes]:
    """What a text that imports a module may call it."""
    home = module.encode()
    lines = (line for line in source.imported if home in line)
    spelled = [alias for line in lines for alias in _pattern(_CALLED, module).findall(line)]
    return {module.encode(), *filter(None, spelled)} if spelled else set()


@cache
def _pattern(form: str, name: str) -> re.Pattern[bytes]:
    return re.compile(form.format(name).encode(), re.MULTILINE | re.DOTALL)
