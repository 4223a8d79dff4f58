"""The settings in force, and where each comes from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from fixer.config import Config

_HELD = ("verify", "pull_request", "given", "origin")


def table(config: Config, defaults: dict[str, str]) -> str:
    """One line a setting: its key, its value as TOML would have it, and where it was read.

    `defaults` says in words what a setting that was not given comes to.
    """
    rows = list(_rows(config, defaults))
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    return "".join(f"{key:<{widths[0]}}  {value:<{widths[1]}}  {origin}\n" for key, value, origin in rows)


def _rows(config: Config, defaults: dict[str, str]) -> Iterator[tuple[str, str, str]]:
    settings = [(one.name, getattr(config, one.name)) for one in fields(config) if one.name not in _HELD]
    settings += [(f"verify.{one.name}", getattr(config.verify, one.name)) for one in fields(config.verify)]
    pull = config.pull_request
    settings += [(f"pull-request.{one.name}", getattr(pull, one.name)) for one in fields(pull)]
    for name, value in settings:
        key = name.replace("_", "-")
        given = key in config.given
        yield key, _shown(value) if given else defaults.get(key, _shown(value)), config.origin if given else "default"


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return f"[{', '.join(map(_shown, value))}]"
    return "-" if value is None else f'"{value}"' if isinstance(value, str) else str(value)
