"""Texts as the engine takes them, and notebooks made of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from codemods.code.source import Source

KINDS = {
    ".py": "python",
    ".txt": "requirements",
    ".toml": "pyproject",
    ".yaml": "yaml",
    ".yml": "yaml",
    ".json": "json",
    ".ipynb": "notebook",
    ".sh": "shell",
    ".md": "docs",
    ".lock": "lock",
}


def sources(files: Mapping[str, str | bytes]) -> list[Source]:
    """The files as the engine takes them."""
    return [Source(path, _kind(path), text.encode() if isinstance(text, str) else text) for path, text in files.items()]


def _kind(path: str) -> str:
    name = PurePosixPath(path).name
    return "dockerfile" if name.startswith("Dockerfile") else KINDS.get(path[path.rfind(".") :], "other")


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
