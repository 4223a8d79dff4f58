"""The JSON Schema of `[tool.fixer]`, made of the settings themselves, for editors."""

from __future__ import annotations

import re
from dataclasses import MISSING, fields
from typing import Any, get_type_hints

from fixer.config import Config, PullRequestConfig, VerifyConfig
from fixer.settings import MALICIOUS
from fixer.timing import WRITTEN

_HELD = ("given", "origin")
_TEXTS = {"type": "array", "items": {"type": "string"}}
_CODES = {"type": "array", "items": {"type": "string", "pattern": "^[A-Z]+[0-9]*$"}}
_CODES_AND_ROWS = {"type": "array", "items": {"type": "string", "pattern": "^[A-Z]+[0-9]*(:[A-Za-z0-9]+)?$"}}
_TYPES: dict[Any, dict[str, Any]] = {
    bool: {"type": "boolean"},
    int: {"type": "integer", "minimum": 1},
    str: {"type": "string"},
    str | None: {"type": "string"},
    float | None: {"type": "number", "exclusiveMinimum": 0},
    tuple[str, ...]: _TEXTS,
    tuple[str, ...] | None: _TEXTS,
    tuple[tuple[str, str], ...]: {"type": "object", "additionalProperties": {"type": "string"}},
    tuple[tuple[str, tuple[str, ...]], ...]: {"type": "object", "additionalProperties": _CODES_AND_ROWS},
}
_MORE: dict[str, dict[str, Any]] = {
    "select": _CODES,
    "ignore": _CODES_AND_ROWS,
    "target": {
        "pattern": r"^[vV]?2(\.[0-9]+){0,2}$",
        "not": {"pattern": f"^[vV]?({'|'.join(map(re.escape, MALICIOUS))})$"},
    },
    "namespace": {"enum": ["lightning", "pytorch_lightning"]},
    "verify.budget": {
        "type": ["number", "string"],
        "pattern": f"^(?=.*[1-9]){WRITTEN.pattern}$",
        "exclusiveMinimum": 0,
    },
    "verify.torch": {"enum": ["target", "project"]},
    "verify.accelerator": {"enum": ["auto", "cpu"]},
}
"""What a setting asks for beyond its type."""
_SAID = {
    "": "Settings of fixer, which moves PyTorch Lightning projects to a current Lightning.",
    "select": "Only these rules: codes, or beginnings of codes. All rules where it is not given.",
    "ignore": "Not these rules: codes, beginnings of codes, or one row of a rule (LIT101:M016).",
    "target": "The Lightning release to move to, from 2.0.0 on; 2.5 is the newest of 2.5.",
    "namespace": "Import all of Lightning from there.",
    "unsafe-fixes": "Also make the changes that are only probably right.",
    "exclude": "Patterns of files in which nothing is reported or changed.",
    "per-file-ignores": "For a pattern of files, the codes or beginnings of codes that do not count in them.",
    "plugins": "Rules of others: folders, .py and .toml files. Python is loaded with --trust-plugins alone.",
    "verify": "What is run for the proof, and in what.",
    "verify.enabled": "Whether `fixer run` runs any of the project's code.",
    "verify.script": "The script that trains, from the project's root.",
    "verify.args": "Arguments of the script.",
    "verify.command": "A whole command line in the place of the script, such as `python -m pkg.train`.",
    "verify.env": "Variables that the script sees.",
    "verify.setup": "Python command lines that are run before it.",
    "verify.timeout": "Seconds for each tree.",
    "verify.budget": 'Minutes for the whole run, besides environments, or a time such as "90s", "15m" or "1h".',
    "verify.baseline-python": "The interpreter for the tree before.",
    "verify.target-python": "The interpreter for the tree after.",
    "verify.torch": "The torch of the tree before: that of the target, or the one that the project pins.",
    "verify.accelerator": "What both trees train on: whatever there is, or the CPU.",
    "verify.devices": "How many devices train a script together.",
    "verify.packages": "Requirements to install besides those of the project.",
    "verify.data": "A folder whose files both trees get as well where they have none of that name.",
    "pull-request": "Templates of the pull request.",
    "pull-request.title": "The template of its title, as a path from the project's root.",
    "pull-request.body": "The template of its text, as a path from the project's root.",
}


def schema() -> dict[str, Any]:
    """The JSON Schema of a pyproject.toml, of which it describes `[tool.fixer]` alone: `definitions.fixer`."""
    settings = {"type": "object", "properties": {"fixer": {"$ref": "#/definitions/fixer"}}}
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "pyproject.toml with [tool.fixer]",
        "type": "object",
        "properties": {"tool": settings},
        "definitions": {"fixer": _table(Config, "")},
    }


def _table(kind: type[Any], before: str) -> dict[str, Any]:
    hints = get_type_hints(kind)
    names = [one for one in fields(kind) if one.name not in _HELD]
    return {
        "description": _SAID[before.rstrip(".")],
        "type": "object",
        "additionalProperties": False,
        "properties": {
            (key := one.name.replace("_", "-")): _setting(f"{before}{key}", hints[one.name], one.default)
            for one in names
        },
    }


def _setting(key: str, kind: Any, default: object) -> dict[str, Any]:
    if kind in (VerifyConfig, PullRequestConfig):
        return _table(kind, f"{key}.")
    said = {"description": _SAID[key]} if key in _SAID else {}
    shown = {} if default in (None, (), MISSING) else {"default": default}
    return {**said, **_TYPES[kind], **_MORE.get(key, {}), **shown}
