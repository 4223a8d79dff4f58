"""The configuration files of a project: its YAML and JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped, unused-ignore]

FILES = 400
_CONFIGS = (".yaml", ".yml", ".json")
_SIZE = 200_000
_DEPTH, _PARTS = 60, 100_000
_SKIPPED = frozenset({".git", ".github", "node_modules", "site-packages", ".venv", "venv", "docs", "doc"})


def configurations(root: Path) -> Iterator[tuple[str, Any]]:
    """The posix paths below `root` and the contents of its YAML and JSON files, those with short paths first: what
    does not parse, or is very large or deep, is left out."""
    found = [
        path
        for path in root.rglob("*")
        if path.suffix in _CONFIGS
        and not _SKIPPED & set(path.relative_to(root).parts)
        and path.is_file()
        and not path.is_symlink()
        and path.stat().st_size < _SIZE
    ]
    for path in sorted(found, key=lambda path: (len(path.parts), path.as_posix()))[:FILES]:
        try:
            text = path.read_text(encoding="utf-8")
            data = json.loads(text) if path.suffix == ".json" else yaml.load(text, Loader=_Loader)
        except (OSError, ValueError, AttributeError, LookupError, TypeError, yaml.YAMLError, RecursionError):
            continue
        if _is_readable(data):
            yield path.relative_to(root).as_posix(), data


def _is_readable(data: Any) -> bool:
    """Whether data is neither very deep nor very large, as seen by who follows each reference: YAML can name the same
    part again and again, and a part within itself."""
    seen, waiting = 0, [(data, 0)]
    while waiting:
        value, depth = waiting.pop()
        seen += 1
        inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        if depth > _DEPTH or seen + len(waiting) + len(inner) > _PARTS:
            return False
        waiting += [(each, depth + 1) for each in inner]
    return True


class _Loader(yaml.SafeLoader):  # type: ignore[misc, unused-ignore]
    """Reads `1e-4` as a number, as people mean it, and unknown tags as nothing."""


_Loader.add_implicit_resolver(  # type: ignore[no-untyped-call, unused-ignore]
    "tag:yaml.org,2002:float", re.compile(r"^[-+]?\d+(?:\.\d*)?[eE][-+]?\d+$"), list("-+0123456789")
)
_Loader.add_multi_constructor("!", lambda loader, tag, node: None)  # type: ignore[no-untyped-call, unused-ignore]
