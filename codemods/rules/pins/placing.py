"""Where a further requirement goes in a manifest: beside that on Lightning, in the same list and style.

A place is proven before it is handed out: read again, the text with it asks for that one distribution more, for the
same installation, and for all else as before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from packaging.utils import canonicalize_name

from codemods.lightning.pins.manifest import read_pins
from codemods.lightning.pins.pin import Pin, leading_name
from codemods.lightning.pins.toml import Unparsable
from codemods.rule import TextEdit

_WORDS = ("dockerfile", "shell", "workflow", "notebook")


def beside(text: str, kind: str, pin: Pin, asks: tuple[str, ...]) -> TextEdit | None:
    """The edit that asks for distributions beside a requirement; None where its place could not be proven."""
    if pin.problem:
        return None
    return next((edit for edit in _tried(text, kind, pin, asks) if _holds(text, kind, pin, asks, edit)), None)


def _tried(text: str, kind: str, pin: Pin, asks: tuple[str, ...]) -> Iterator[TextEdit]:
    if kind in _WORDS:
        yield from _as_words(text, pin, asks)
    elif pin.language == "poetry":
        yield from _as_lines(text, pin, tuple(f'{_key(ask)} = "{_rest(ask) or "*"}"' for ask in asks))
    else:
        yield from _as_items(text, pin, asks)
        yield from _as_lines(text, pin, asks)


def _as_words(text: str, pin: Pin, asks: tuple[str, ...]) -> Iterator[TextEdit]:
    """Further words of an installer's command."""
    end = pin.word[1] if pin.word else pin.end + (text[pin.end : pin.end + 1] in ("'", '"'))
    words = [f"'{ask}'" if re.search("[<>*]", ask) else ask for ask in asks]
    yield TextEdit(end, end, "".join(f" {word}" for word in words))


def _as_items(text: str, pin: Pin, asks: tuple[str, ...]) -> Iterator[TextEdit]:
    """Further strings of a list, in front of its own: what follows that, a comma or a comment, stays with it."""
    opening = len(text[: pin.place].rstrip())
    quote = text[opening - 1 : opening]
    if quote not in ("'", '"'):
        return
    line = text.rfind("\n", 0, opening - 1) + 1
    indent = text[line : opening - 1]
    gap = " " if indent.strip() else f"{_end_of_line(text)}{indent}"
    yield TextEdit(opening - 1, opening - 1, "".join(f"{quote}{ask}{quote},{gap}" for ask in asks))


def _as_lines(text: str, pin: Pin, asks: tuple[str, ...]) -> Iterator[TextEdit]:
    """Further lines below its own, which begin as that does."""
    start = text.rfind("\n", 0, pin.place) + 1
    opening = re.match(r"\s*(?:-\s+)?", text[start:])
    end = re.compile(r"\r?\n|\Z").search(text, pin.end)
    if opening and end:
        added = "".join(f"{_end_of_line(text)}{opening.group()}{ask}" for ask in asks)
        yield TextEdit(end.start(), end.start(), added)


def _end_of_line(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _key(ask: str) -> str:
    return re.split("[<>=!~]", ask)[0]


def _rest(ask: str) -> str:
    return ask[len(_key(ask)) :]


def _holds(text: str, kind: str, pin: Pin, asks: tuple[str, ...], edit: TextEdit) -> bool:
    trial = text[: edit.start] + edit.replacement + text[edit.end :]
    try:
        old, new = read_pins(kind, text), read_pins(kind, trial)
    except Unparsable:
        return False
    wanted = {canonicalize_name(leading_name(ask)) for ask in asks}
    added = [item for item in new if item.name in wanted and item.group == pin.group and not item.problem]
    rest = [_told(item) for item in new if item not in added]
    return {item.name for item in added} == wanted and len(added) == len(wanted) and rest == list(map(_told, old))


def _told(pin: Pin) -> tuple[str, str, str, str | None]:
    return pin.name, pin.requirement, pin.group, pin.problem
