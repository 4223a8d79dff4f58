"""PIN003: requirements on transformers that admit releases without the names that the code imports."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from packaging.version import Version

from codemods.code.source import PythonFile, TextFile
from codemods.finding import Span
from codemods.lightning.facts import Facts
from codemods.lightning.pins.manifest import manifest_kind, read_pins
from codemods.lightning.pins.pin import Pin
from codemods.lightning.pins.reach import home_of
from codemods.lightning.pins.specifier import admits, admits_from, clauses
from codemods.lightning.pins.toml import Unparsable
from codemods.lightning.said_by_files import said_by
from codemods.rule import Example, Match, Rule, TextEdit
from codemods.rules.pins.lightning import advice_of, shown

CODE = "PIN003"
IMPORTS = b"from transformers"
REWRITTEN_BY = ("COM004", "GRD007")
GONE = (
    (re.compile(r"transformers\.(?:optimization\.)?AdamW"), "4.50.0"),
    (re.compile(r"transformers\.(?:TF|Flax)[A-Z]\w*"), "5.0.0"),
)
"""Names, and the first release without them: read in the wheels of 4.49.0, 4.50.3, 4.57.6 and 5.0.0."""


@dataclass(frozen=True)
class Imported:
    """A name that some release has no more: where it is imported, and that release."""

    span: Span
    name: str
    release: str


def check(file: PythonFile | TextFile, facts: Facts) -> Iterator[Match]:
    """The requirements on transformers that have to end before such a release, and imports that nothing holds."""
    text = file if isinstance(file, TextFile) else TextFile(file.path, "python", file.text)
    if manifest_kind(text.path, text.kind, text.text):
        yield from _of_manifest(text, facts)
    elif isinstance(file, PythonFile) and file.path in facts.mentions.get(IMPORTS, ()) and not _is_stated(facts):
        for item in _imported(facts).get(file.path, ()):
            message = f"transformers has no {item.name} since {_short(item.release)}"
            reason = f"no manifest requires transformers: add `transformers<{_short(item.release)}`, or stop using it"
            yield Match(item.span, message, "manual", reason, stops=True)


def _imported(facts: Facts) -> dict[str, tuple[Imported, ...]]:
    """What each file imports that fails with the newest transformers, but for what is rewritten."""
    if CODE not in facts.memo:
        rewritten = {item.path for item in facts.planned if item.code in REWRITTEN_BY and item.applied}
        paths = sorted(facts.mentions.get(IMPORTS, frozenset()) - rewritten)
        facts.memo[CODE] = {path: found for path in paths if (found := said_by(facts, path, _of_code))}
    known: dict[str, tuple[Imported, ...]] = facts.memo[CODE]
    return known


def _of_code(file: PythonFile) -> tuple[Imported, ...]:
    """The imports of a file that are meant; those in a `try` have a fallback."""
    return tuple(
        Imported(file.span(node), alias.name, release)
        for node, within in file.nodes_near(["transformers"])
        if isinstance(node, ast.ImportFrom) and not node.level and not any(isinstance(item, ast.Try) for item in within)
        for alias in node.names
        for pattern, release in GONE
        if pattern.fullmatch(f"{node.module}.{alias.name}")
    )


def _is_stated(facts: Facts) -> bool:
    read = (*facts.collected_texts("PIN001").values(), *facts.collected("PIN001").values())
    return any(pin.name == "transformers" for manifest in read for pin in manifest.pins)


def _of_manifest(text: TextFile, facts: Facts) -> Iterator[Match]:
    try:
        pins = read_pins(manifest_kind(text.path, text.kind, text.text) or "", text.text)
    except Unparsable:
        return
    pins = tuple(pin for pin in pins if pin.name == "transformers" and pin.requirement)
    home = home_of(text.path, facts)
    mine = [
        (path, item)
        for path, items in (_imported(facts) if pins else {}).items()
        for item in items
        if not home or path.startswith(f"{home}/")
    ]
    if mine:
        path, first = min(mine, key=lambda entry: Version(entry[1].release))
        for pin in pins:
            if admits_from(pin.meant, first.release, pin.language):
                yield _match(text, pin, path, first)


def _match(text: TextFile, pin: Pin, path: str, item: Imported) -> Match:
    place = text.span(pin.place, pin.end)
    message = f"`{shown(pin)}` allows releases without {item.name}, which {path} imports"
    asked = f"transformers has no {item.name} since {_short(item.release)}"
    capped = _capped(pin, item.release)
    if pin.problem or capped is None:
        stop = f"nothing older is asked for: remove `from transformers import {item.name}` from {path}"
        why = advice_of(pin) if pin.problem else stop
        return Match(place, message, "manual", f"{asked}; {why}", stops=True)
    reason = (
        f"{asked}: {pin.specifier or 'any version'} becomes {capped}; remove the limit when the code no longer uses it"
    )
    if pin.word:
        start, end = pin.word
        whole = f"'{text.text[start : pin.start]}{capped}{text.text[pin.end : end]}'"
        return Match(place, message, "safe", reason, edits=(TextEdit(start, end, whole),))
    return Match(place, message, "safe", reason, edits=(TextEdit(pin.start, pin.end, capped),))


def _capped(pin: Pin, release: str) -> str | None:
    """The specifier with nothing from a release on; None where that leaves nothing, or nothing that is known."""
    parts = [part for part in clauses(pin.meant) if part.version != "*"]
    limit = _short(release)
    upper = next(
        (part for part in parts if part.operator in ("<", "<=") and Version(part.version) > Version(limit)), None
    )
    if upper:
        parts[parts.index(upper)] = replace(upper, operator="<", version=limit)
    text = ",".join(map(str, parts))
    if not upper:
        comma = ", " if "," in pin.meant and ", " in pin.meant else ","
        text = f"{text}{comma}<{limit}" if text else f"<{limit}"
    below = (f"{major}.{minor}.{patch}" for major in (2, 3, 4) for minor in range(60) for patch in range(4))
    left = any(Version(old) < Version(release) and admits(text, old, pin.language) for old in below)
    return text if left and not admits_from(text, release, pin.language) else None


def _short(release: str) -> str:
    return release.removesuffix(".0")


_CODE = """\
import torch
from lightning.pytorch import LightningModule
from transformers import AdamW


class Model(LightningModule):
    def configure_optimizers(self):
        return AdamW(self.parameters(), lr=2e-5)
"""
_FALLBACK = "try:\n    from transformers import AdamW\nexcept ImportError:\n    from torch.optim import AdamW\n"

RULE = Rule(
    code=CODE,
    name="transformers-pin",
    summary="a requirement on transformers ends before the release without a name that the code imports",
    why=(
        "A move to another Lightning installs everything again, and an open requirement then brings the newest "
        "transformers: 4.50 has no AdamW, 5.0 no models for TensorFlow and Flax any more, and their import fails. The "
        "requirement is kept below that release, which is what the code ran on; the optimizer of torch decays weights "
        "at another moment, so it does not take its place by itself."
    ),
    fix="safe",
    versions="any",
    triggers=(b"transformers",),
    check=check,
    names=("setup.py",),
    mentions=(IMPORTS,),
    kinds=("python", "requirements", "pyproject", "yaml", "dockerfile", "notebook", "shell", "other"),
    last=True,
    examples=(
        Example(
            "tqdm\ntransformers>=4.1\n",
            "tqdm\ntransformers>=4.1,<4.50\n",
            "requirements.txt",
            (("train.py", _CODE),),
        ),
        Example(
            "transformers>=4.1, <6  # models\n",
            "transformers>=4.1, <4.50  # models\n",
            "requirements.txt",
            (("train.py", _CODE),),
        ),
        Example("transformers==4.24.0\n", "transformers==4.24.0\n", "requirements.txt", (("train.py", _CODE),)),
        Example("transformers>=4.1\n", "transformers>=4.1\n", "requirements.txt", (("train.py", _FALLBACK),)),
        Example("transformers>=4.51\n", "transformers>=4.51\n", "requirements.txt", (("train.py", _CODE),)),
    ),
    references=("https://github.com/huggingface/transformers/releases/tag/v4.50.0",),
)
