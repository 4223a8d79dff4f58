"""Running rules on texts, as the tests do it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from codemods.code.source import Source
from codemods.engine.plan import Plan, plan
from codemods.engine.scan import Options
from codemods.rule import Rule, all_rules
from fixer.files import kind_of

KINDS = {
    ".py": "python",
    ".txt": "requirements",
    ".toml": "pyproject",
    ".yaml": "yaml",
    ".json": "json",
    ".ipynb": "notebook",
    ".sh": "shell",
    ".md": "docs",
}


def _kind(path: str) -> str:
    return KINDS.get(path[path.rfind(".") :]) or kind_of(path) or "other"


def sources(files: Mapping[str, str | bytes]) -> list[Source]:
    """The files as the engine takes them."""
    return [Source(path, _kind(path), text.encode() if isinstance(text, str) else text) for path, text in files.items()]


def cell(text: str, kind: str = "code", *, listed: bool = True, **behind: Any) -> dict[str, Any]:
    """A cell of a notebook, whose text is a list of lines or one string, with what stands behind the text."""
    made: dict[str, Any] = {"cell_type": kind, "metadata": {}}
    if kind == "code":
        made |= {"execution_count": None, "outputs": []}
    made["source"] = text.splitlines(keepends=True) if listed else text
    return {**{key: value for key, value in made.items() if key not in behind}, **behind}


def notebook(
    *cells: str | Mapping[str, Any],
    listed: bool = True,
    indent: int | None = 1,
    escaped: bool = False,
    **metadata: Any,
) -> str:
    """A notebook of some cells, or the texts of cells of code; `escaped` where it has no letters beyond ASCII."""
    made = [cell(item, listed=listed) if isinstance(item, str) else item for item in cells]
    whole = {"cells": made, "metadata": metadata, "nbformat": 4, "nbformat_minor": 4}
    return json.dumps(whole, indent=indent, ensure_ascii=escaped) + "\n"


def run_rules(
    files: Mapping[str, str | bytes], *rules: Rule, jobs: int = 1, unsafe: bool = False, pins: tuple[str, ...] = ()
) -> Plan:
    """The plan of these rules (all where none is given) over the files, with unsafe repairs if asked for."""
    made = plan(sources(files), Options(rules or all_rules(), jobs=jobs, unsafe=unsafe, pins=pins))
    assert not [why for _, why in made.skipped if "please report it" in why]
    return made


def rule(code: str) -> Rule:
    """The rule of that code."""
    return next(item for item in all_rules() if item.code == code)


def rewritten(files: Mapping[str, str], *rules: Rule, unsafe: bool = False) -> dict[str, str]:
    """The text of every file after the rules, which must not have been thrown away."""
    made = run_rules(files, *rules, unsafe=unsafe)
    assert made.bugs == ()
    final = made.final()
    return {path: final[path].decode() if path in final else text for path, text in files.items()}


def refusals(files: Mapping[str, str], code: str) -> list[str]:
    """The reasons for which a rule left the files alone; it must have changed nothing."""
    made = run_rules(files, rule(code))
    assert made.changes == ()
    assert made.bugs == ()
    return [finding.reason for finding in made.findings if finding.fix == "manual"]
