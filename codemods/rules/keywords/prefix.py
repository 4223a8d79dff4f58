"""`ModelCheckpoint(prefix=...)`, which stood before the name of each file, with a dash behind it.

Read in 0.10.0, 1.0.8 and 1.2.10: the prefix is not formatted, and `last` had it too.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from codemods.code.source import PythonFile
from codemods.lightning.facts import literal
from codemods.rules.keywords.filepath import FilepathKeywords

JOINED = "The name of the files begins with it"
LAST = "; that of the last one, which is named by CHECKPOINT_NAME_LAST, does no more"
UNTOLD = "; the rest is what is written by default since 1.1, before without the step"
TAKEN = "; fixer assumes that it is text without braces"
DEFAULT = "{epoch}-{step}"
_QUOTES = "'\""


def prefixed(file: PythonFile, value: ast.expr, given: Mapping[str, ast.keyword]) -> FilepathKeywords | None:
    """The name that files get by a prefix; None where it is not seen what they are called."""
    named = given["filename"].value if "filename" in given else ast.Constant(DEFAULT)
    name = named.value if isinstance(named, ast.Constant) else None
    if "filepath" in given or not isinstance(name, str) or "\n" in file.source_of(value):
        return None
    known, prefix = literal(value)
    if known and not isinstance(prefix, str):
        return None
    text = file.source_of(named) if "filename" in given else f'"{DEFAULT}"'
    if text[0] not in _QUOTES or text[1:2] == text[0]:
        return None
    told = "filename" in given
    last = "save_last" in given and literal(given["save_last"].value)[1] not in (None, False)
    if known and not {"{", "}", "\\", *_QUOTES} & {*prefix}:
        new = f"{text[0]}{prefix}-{text[1:]}"
        reason = f"{JOINED}{LAST if last else ''}{'' if told else UNTOLD}."
        return FilepathKeywords((("filename", new),), "safe" if told and not last else "unsafe", reason)
    if known or not isinstance(value, ast.JoinedStr | ast.Name | ast.Attribute | ast.Subscript):
        return None
    own, dash = file.source_of(value), f"{text[0]}-{text[0]}"
    new = f"{own} + {text[0]}-{text[1:]}"
    if not isinstance(value, ast.JoinedStr):  # None and "" put nothing before the name
        new = f"({own} + {dash} if {own} else {text[0] * 2}) + {text}"
    return FilepathKeywords(
        (("filename", new),), "unsafe", f"{JOINED}{LAST if last else ''}{'' if told else UNTOLD}{TAKEN}."
    )
