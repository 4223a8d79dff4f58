"""`ModelCheckpoint(prefix=...)`, which stood before the name of each file, with a dash behind it since 0.10.

Read in 0.7.6, 0.9.0, 0.10.0, 1.0.8 and 1.2.10: the prefix is not formatted, and `last` had it too.
"""

from __future__ import annotations

import ast
from collections.abc import Container, Mapping
from dataclasses import dataclass

from codemods.code.literals import literal
from codemods.code.source import CallNode, PythonFile
from codemods.finding import Fix
from codemods.lightning.facts import Facts
from codemods.lightning.versions import LIGHTNING, admits_below, admits_from, is_open
from codemods.rules.keywords.filepath import FilepathKeywords, parted

JOINED = "The name of the files begins with it"
LAST = "; that of the last one, which is named by CHECKPOINT_NAME_LAST, does no more"
UNTOLD = "; the rest is what is written by default since 1.1, before without the step"
TAKEN = "; fixer assumes that it is text without braces"
FULL = "; fixer assumes that it is text without braces, and not empty"
DASHED = "; fixer assumes a Lightning from 0.10 on, which puts a dash behind it"
UNDASHED = "; fixer assumes a Lightning before 0.10, which puts no dash behind it, since it ends in one"
LATER = ("dirpath", "filename")
"""Arguments that only a Lightning has that puts a dash there."""
ENDS = ("-", "_")
DEFAULT = '"{epoch}-{step}"'
FILEPATH = "filepath"
FIRM = (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.Constant, ast.JoinedStr)
"""What may stand beside `or` without brackets."""
_QUOTES = "'\""


@dataclass(frozen=True)
class FileName:
    """What the files are called besides: its text, whether that is one plain string, text for certain or what may be
    None or empty, and how sure it is."""

    text: str
    plain: bool
    certain: bool
    told: bool = True
    level: Fix = "safe"

    @property
    def added(self) -> str:
        """It as the last operand of a sum."""
        firm = isinstance(ast.parse(f"({self.text})", mode="eval").body, FIRM)
        return self.text if self.certain else f"({self.text if firm else f'({self.text})'} or {DEFAULT})"


def prefixed(
    facts: Facts, file: PythonFile, call: CallNode, value: ast.expr, given: Mapping[str, ast.keyword]
) -> FilepathKeywords | None:
    """The name that files get by a prefix; None where it is not seen what they are called."""
    name = _name(facts, file, call, given)
    known, prefix = literal(value)
    if name is None or "\n" in f"{file.source_of(value)}{name.text}" or (known and not isinstance(prefix, str)):
        return None
    last = "save_last" in given and literal(given["save_last"].value)[1] not in (None, False)
    quote = name.text[0] if name.plain else '"'
    dash, assumed = dash_behind(facts, given, prefix if known else "")
    reason = f"{JOINED}{LAST if last else ''}{'' if name.told else UNTOLD}{assumed}"
    if known and not {"{", "}", "\\", "\n", *_QUOTES} & {*prefix}:
        begun = f"{quote}{prefix}{dash}"
        text = f"{begun}{name.text[1:]}" if name.plain else f"{begun}{quote} + {name.added}"
        certain = name.told and name.certain and not last and not assumed and name.level == "safe"
        return FilepathKeywords((("filename", text),), "safe" if certain else "unsafe", f"{reason}.")
    if known or not isinstance(value, ast.JoinedStr | ast.Name | ast.Attribute | ast.Subscript | ast.Call):
        return None
    own, dashed = file.source_of(value), f"{quote}{dash}{quote}"
    if isinstance(value, ast.JoinedStr | ast.Call):
        rest = f"{quote}{dash}{name.text[1:]}" if name.plain else f"{dashed} + {name.added}" if dash else name.added
        taken = FULL if isinstance(value, ast.Call) else TAKEN
        return FilepathKeywords((("filename", f"{own} + {rest}"),), "unsafe", f"{reason}{taken}.")
    begun = f"{own} + {dashed} if {own} else {quote * 2}" if dash else f"{own} or {quote * 2}"
    return FilepathKeywords((("filename", f"({begun}) + {name.added}"),), "unsafe", f"{reason}{TAKEN}.")  # None is ""


def dash_behind(facts: Facts, given: Container[str], prefix: str) -> tuple[str, str]:
    """What stood behind the prefix, and what is assumed of the release for it."""
    if any(name in given for name in LATER) or not admits_below(facts, LIGHTNING, "0.10"):
        return "-", ""
    if not is_open(facts, LIGHTNING) and not admits_from(facts, LIGHTNING, "0.10"):
        return "", ""
    return ("", UNDASHED) if prefix.endswith(ENDS) else ("-", DASHED)


def _name(facts: Facts, file: PythonFile, call: CallNode, given: Mapping[str, ast.keyword]) -> FileName | None:
    """What the files are called by `filename=`, or by what becomes of `filepath=` beside the prefix."""
    if FILEPATH not in given:
        return _read(file.source_of(given["filename"].value)) if "filename" in given else _read(DEFAULT, told=False)
    if {"dirpath", "filename"} & given.keys():
        return None
    path = parted(facts, file, call, given[FILEPATH].value)
    if path is None:
        return None
    named = dict(path.new)
    text = named.get("filename") or (file.source_of(given[FILEPATH].value) if "filename" in named else None)
    return _read(text, level=path.level) if text else _read(DEFAULT, False, path.level)


def _read(text: str, told: bool = True, level: Fix = "safe") -> FileName:
    node = ast.parse(f"({text})", mode="eval").body
    plain = isinstance(node, ast.Constant) and isinstance(node.value, str)
    quoted = plain and text[0] in _QUOTES and text[1:2] != text[0]
    parts = node.values if isinstance(node, ast.JoinedStr) else [node]
    certain = any(isinstance(each, ast.Constant) and isinstance(each.value, str) and each.value for each in parts)
    return FileName(text, quoted, certain, told, level)
