"""What a person leaves out for good, written into `[tool.fixer]` beside what stands there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from codemods.code.source import BOM
from codemods.engine.offers import Offer
from codemods.finding import Finding
from fixer.config import Config, read_config
from fixer.errors import UsageError
from fixer.in_force import NAME


@dataclass(frozen=True)
class LeftOut:
    """A rule, or a row of it as `CODE:ROW`, that is left out everywhere or in the file at a path."""

    code: str
    path: str | None = None

    def holds(self, finding: Finding) -> bool:
        """Whether the setting leaves a finding out."""
        code, _, row = self.code.partition(":")
        return finding.code == code and row in ("", finding.row) and self.path in (None, finding.path)

    def stands_in(self, config: Config) -> bool:
        """Whether settings say so already."""
        return self.code in (config.ignore if self.path is None else config.ignored_in(self.path))

    def words(self) -> str:
        """The setting, as it is written."""
        if self.path is None:
            return f'ignore = ["{self.code}"]'
        return f'per-file-ignores: "{_pattern(self.path)}" = ["{self.code}"]'


def ways(offer: Offer) -> tuple[LeftOut, ...]:
    """How what is offered can be left out: in its files, by its row, and everywhere."""
    rows = {place.finding.row for place in offer.places}
    row = [LeftOut(f"{offer.rule.code}:{row}") for row in rows if row and len(rows) == 1]
    return (*(LeftOut(offer.rule.code, path) for path in offer.paths), *row, LeftOut(offer.rule.code))


def with_settings(data: bytes, settings: Sequence[LeftOut]) -> bytes:
    """A pyproject.toml, or an empty file, that leaves these out as well; all else stays as it is written. Raises
    UsageError where that cannot be written into it."""
    from tomlkit.exceptions import TOMLKitError

    try:
        new = _added(data.removeprefix(BOM).decode(), settings)
    except (TOMLKitError, ValueError, TypeError):
        new = ""
    config = read_config(new, NAME)
    if missing := next((one for one in settings if not one.stands_in(config)), None):
        raise UsageError(f"{NAME}: it is written in a way that fixer cannot add to; write yourself: {missing.words()}")
    return (BOM if data.startswith(BOM) else b"") + new.encode()


def _added(text: str, settings: Sequence[LeftOut]) -> str:
    """A TOML document with the settings. Raises ValueError, TypeError or an error of tomlkit for one that is none, that
    has another thing in their place, or of which tomlkit writes anything else otherwise."""
    import tomlkit

    document = tomlkit.parse(text)
    wanted = document.unwrap()
    for values in (document, wanted):
        _leave_out(values, settings)
    new = tomlkit.dumps(document)
    if "\r\n" in text and text.count("\r\n") == text.count("\n"):
        new = new.replace("\r\n", "\n").replace("\n", "\r\n")
    if tomlkit.parse(new).unwrap() != wanted:
        raise ValueError(new)
    return new


def _leave_out(document: Any, settings: Sequence[LeftOut]) -> None:
    """Adds settings to a TOML document, or to the plain values of one."""
    import tomlkit
    from tomlkit.items import InlineTable

    for setting in settings:
        keys = ["ignore"] if setting.path is None else ["per-file-ignores", _pattern(setting.path)]
        held = document
        for key in ("tool", "fixer", *keys):
            if key not in held:
                new_table = tomlkit.inline_table if isinstance(held, InlineTable) else tomlkit.table
                held[key] = tomlkit.array() if key == keys[-1] else new_table()
            held = held[key]
        if setting.code not in held:
            held.append(setting.code)


def _pattern(path: str) -> str:
    """The pattern that matches the file at a path alone."""
    return path if "/" in path else f"/{path}"
