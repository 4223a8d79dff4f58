"""LIT118: documents that show a Trainer with arguments that were removed."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from codemods.code.source import TextFile
from codemods.lightning.arguments import current, once
from codemods.lightning.facts import TRAINER, Facts
from codemods.rule import Example, Match, Rule
from codemods.rules.trainer.argument_words import advice_for

_CALL = re.compile(
    r"(?<![\w.])((?:pl|ptl|L|pytorch_lightning|lightning(?:\.pytorch)?)\.(?:trainer\.)?)?Trainer(?:\.from_argparse_args)?\("
)
_PAST = re.compile(
    r"(?<![a-z])(?:change[-_ ]?log|history|release|migrat(?:ion|ing)|upgrad(?:e|ing))|^(?:changes|news)\.",
    re.IGNORECASE,
)
"""Documents of such a name show on purpose what is gone."""
_STRANGE = re.compile(r"^[ \t>.]*from (?!pytorch_lightning|lightning)\S+ import (?:.*\W)?Trainer\b", re.MULTILINE)
_OWN = re.compile(rb"^class Trainer\b", re.MULTILINE)
_NAMED = b"class Trainer"
_PROMPT = re.compile(r"^[ \t]*(?:>>>|\.\.\.)", re.MULTILINE)
_SPOKEN = (b"pytorch_lightning", b"lightning.pytorch", b"import lightning", b"from lightning")
"""One of these stands in the code of a project that uses Lightning."""
_CLOSING = re.compile(r"\)")
_MORE = re.compile(r",\s*(?:\.\.\.|…)\s*,?\s*\)$")
_LONG, _BRACKETS = 4000, 40
"""So many characters, and closing brackets, of a call are looked at."""


def _check(file: TextFile, facts: Facts) -> Iterator[Match]:
    told = (path for word in _SPOKEN for path in facts.mentions.get(word, ()))
    past = _PAST.search(PurePosixPath(file.path).name)
    if past or not any(facts.kinds.get(path) in ("python", "notebook") for path in told):
        return
    strange = _STRANGE.search(file.text) or _has_own(facts)
    places: dict[int, None] = {}
    names: dict[str, None] = {}
    spans = []
    for place in _CALL.finditer(file.text):
        call, end = _call_at(file.text, *place.span())
        gone = [item.arg for item in call.keywords if _is_gone(item)] if call else []
        if gone and (place[1] or not strange):
            spans.append(file.span(place.start(), end))
            names |= dict.fromkeys(name for name in gone if name)
            places[spans[-1].line] = None
    if spans:
        shown = ", ".join(f"`{name}`" for name in names)
        lines = ", ".join(map(str, places))
        advice = "; ".join(f"for {name}: {advice_for(name)}" for name in names)
        message = f"this document shows Trainer with {shown}, which Lightning 2.0 removed"
        where = f"in lines {lines}" if len(places) > 1 else f"in line {lines}"
        yield Match(spans[0], message, "manual", f"Not rewritten: it is text, {where}: {advice}.")


def _is_gone(item: ast.keyword) -> bool:
    """Whether an argument was removed; `gpus=...` speaks of one and shows none."""
    said = isinstance(item.value, ast.Constant) and item.value.value is ...
    return item.arg in once() - current() - {"args"} and not said


def _has_own(facts: Facts) -> bool:
    """Whether the project has a class `Trainer` that is none of Lightning's."""
    return any(
        facts.kinds[path] == "python" and _OWN.search(facts.sources[path].data) and not _is_lightnings(facts, path)
        for path in facts.mentions.get(_NAMED, ())
    )


def _is_lightnings(facts: Facts, path: str) -> bool:
    file = facts.open(path)
    found = [item for item in file.classes if item.qualname == "Trainer"] if file else []
    return any(item.scope.resolve(base) == TRAINER for item in found for base in item.node.bases)


def _call_at(text: str, start: int, inside: int) -> tuple[ast.Call | None, int]:
    """The call whose name stands at `start`, and where it ends: at the first bracket with which it is Python."""
    ends = [inside + place.end() for place in _CLOSING.finditer(text[inside : inside + _LONG])]
    for end in ends[:_BRACKETS]:
        if call := _parsed(text[start:end]):
            return call, end
    return None, start


def _parsed(text: str) -> ast.Call | None:
    """A call as it stands in a document, without prompts and dots for more arguments; None where it is no Python."""
    try:
        node = ast.parse(_MORE.sub(")", _PROMPT.sub("", text).replace("\r", "")), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return node if isinstance(node, ast.Call) else None


SHOWN = """\
# Training

```python
trainer = pl.Trainer(gpus=1, max_epochs=3)
```
"""
NEW = SHOWN.replace("gpus=1", 'accelerator="gpu"')
MODEL = ("model.py", "import pytorch_lightning as pl\n\n\nclass Model(pl.LightningModule):\n    pass\n")

RULE = Rule(
    code="LIT118",
    name="trainer-in-documents",
    summary="Documents that show a Trainer with arguments that were removed",
    why=(
        "Anyone who follows the README of a project that has moved gets a "
        "TypeError where it still shows `Trainer(gpus=1)`. "
        "Text is not rewritten: the text around the example may mention it too."
    ),
    fix="manual",
    versions="Lightning 2.0 and later",
    triggers=(b"Trainer(", b"Trainer.from_argparse_args("),
    kinds=("docs",),
    mentions=(*_SPOKEN, _NAMED),
    check=_check,
    examples=(Example(SHOWN, SHOWN, "README.md", (MODEL,)), Example(NEW, NEW, "README.md", (MODEL,))),
    warns=True,
)
