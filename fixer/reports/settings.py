"""The settings in force, and where each comes from."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from fixer.config import Config

_TABLES = ("per-file-ignores", "verify.env")
_HELD = ("verify", "pull_request", "given", "origin")


def table(config: Config, defaults: dict[str, str]) -> str:
    """One line a setting: its key, its value as TOML would have it, and where it was read.

    `defaults` says in words what a setting that was not given comes to.
    """
    rows = list(_rows(config, defaults))
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    return "".join(f"{key:<{widths[0]}}  {value:<{widths[1]}}  {origin}\n" for key, value, origin in rows)


def as_json(config: Config) -> str:
    """Each setting by its key, with its value (null where fixer chooses) and where it was read (null where nowhere)."""
    found = {
        key: {
            "value": dict(value) if key in _TABLES else value,
            "origin": config.origin if key in config.given else None,
        }
        for key, value in _settings(config)
    }
    return f"{json.dumps(found, indent=2)}\n"


def _rows(config: Config, defaults: dict[str, str]) -> Iterator[tuple[str, str, str]]:
    for key, value in _settings(config):
        given = key in config.given
        yield key, _shown(value) if given else defaults.get(key, _shown(value)), config.origin if given else "default"


def _settings(config: Config) -> Iterator[tuple[str, Any]]:
    for held, before in ((config, ""), (config.verify, "verify."), (config.pull_request, "pull-request.")):
        for one in fields(held):
            if one.name not in _HELD:
                yield f"{before}{one.name.replace('_', '-')}", getattr(held, one.name)


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return f"[{', '.join(map(_shown, value))}]"
    return "-" if value is None else f'"{value}"' if isinstance(value, str) else str(value)
