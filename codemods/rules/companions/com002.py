"""COM002: names that NumPy dropped in 1.24 and 2.0."""

from __future__ import annotations

import ast
import json
import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from codemods.code.nodes import walk
from codemods.code.source import PythonFile
from codemods.finding import Fix, Span
from codemods.lightning.facts import Facts
from codemods.lightning.versions import admits_from
from codemods.rule import Example, Match, Rule, TextEdit

RULES: Mapping[str, str] = {"NPY001": "1.24", "NPY201": "2.0"}
"""What ruff calls the names that NumPy dropped, and the release that did."""
LEVELS: Mapping[str, Fix] = {"safe": "safe", "unsafe": "unsafe"}
KEPT = frozenset(Path(__file__).with_name("numpy_names.txt").read_text(encoding="ascii").split())
"""Names of NumPy's that are there: a file that uses no other one is not worth a question."""
_USED = re.compile(r"\b(?:np|numpy)\.(\w+)")
_OTHERWISE = re.compile(r"\bfrom numpy\b|\bimport numpy as (?!np\b)")
SAME = "The new name means the same in every release of NumPy."
ASKED = "Not rewritten: the replacement may behave differently; {}."
_BREAK = re.compile(r"\r\n|\r|\n")


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    found = _told(file, facts)
    put_back = _put_back(file) if found else set()
    for told in found:
        start, end = (_offset(file, told[place]) for place in ("location", "end_location"))
        if file.text[start:end].rpartition(".")[2] in put_back:
            continue
        first, last = told["location"], told["end_location"]
        span = Span(first["row"], first["column"], last["row"], last["column"])
        message = f"`{file.text[start:end]}` was removed in NumPy {RULES[told['code']]}"
        fix = told["fix"]
        level = LEVELS.get(fix["applicability"], "manual") if fix else "manual"
        if level == "manual":
            yield Match(span, message, level, ASKED.format(told["message"].rstrip(".")))
            continue
        edits = tuple(
            TextEdit(_offset(file, edit["location"]), _offset(file, edit["end_location"]), edit["content"])
            for edit in fix["edits"]
        )
        yield Match(span, message, level, SAME if level == "safe" else f"{told['message'].rstrip('.')}.", edits=edits)


def _put_back(file: PythonFile) -> set[str]:
    """The names that a file gives NumPy itself, as `np.float = float` does for a library that still asks for them."""
    imports = (alias for node in file.imports if isinstance(node, ast.Import) for alias in node.names)
    names = {alias.asname or alias.name for alias in imports if alias.name == "numpy"}
    stored = (node for node in walk(file.tree) if isinstance(node, ast.Attribute) and type(node.ctx) is not ast.Load)
    return {node.attr for node in stored if isinstance(node.value, ast.Name) and node.value.id in names}


def _may(text: str) -> bool:
    """Whether a file names something of NumPy's that may be gone."""
    return _OTHERWISE.search(text) is not None or not KEPT.issuperset(_USED.findall(text))


def _told(file: PythonFile, facts: Facts) -> list[dict[str, Any]]:
    """What ruff says of a file, of the releases that the project's pins admit; it is asked where the file names
    something of NumPy that may be gone."""
    gone = {code for code, release in RULES.items() if admits_from(facts, ("numpy",), release)}
    if not gone or not _may(file.text):
        return []
    key = f"numpy.{file.text}"
    if key not in facts.of_sources:
        from ruff.__main__ import find_ruff_bin  # type: ignore[import-untyped]

        words = [
            "check",
            "--isolated",
            "--no-cache",
            "--ignore-noqa",
            f"--select={','.join(RULES)}",
            "--output-format=json",
            "-",
        ]
        asked = subprocess.run([find_ruff_bin(), *words], input=file.text.encode(), capture_output=True, check=False)
        if asked.returncode not in (0, 1):
            raise RuntimeError(f"ruff: {asked.stderr.decode(errors='replace').strip()[:200]}")
        facts.of_sources[key] = json.loads(asked.stdout)
    found: list[dict[str, Any]] = facts.of_sources[key]
    return [told for told in found if told["code"] in gone]


def _offset(file: PythonFile, place: Mapping[str, int]) -> int:
    """Where a row and a column of ruff's, which count from 1 and in characters, lie in the text."""
    starts: list[int] = file.memo.setdefault("numpy.rows", [0, *(each.end() for each in _BREAK.finditer(file.text))])
    return starts[place["row"] - 1] + place["column"] - 1


BEFORE = """\
import numpy as np


def targets(rows):
    mask = np.array([row.valid for row in rows], dtype=np.int)
    return np.where(mask, np.array(rows, dtype=np.float), np.Inf)
"""
AFTER = BEFORE.replace("np.int", "int").replace("np.float", "float").replace("np.Inf", "np.inf")
CURRENT = AFTER.replace("dtype=float", "dtype=np.float32").replace("dtype=int", "dtype=np.bool")

RULE = Rule(
    code="COM002",
    name="numpy-names",
    summary="Names that NumPy dropped become those that it has",
    why=(
        "NumPy 1.24 took out its second names of Python's own types (`np.float`, `np.int`, `np.object`), NumPy 2 "
        "another seventy (`np.Inf`, `np.float_`, `np.product`). A project that moves to a current Lightning gets a "
        "current NumPy with it, unless it pins one, and stops at the first of them. Which they are, and what each "
        "became, is ruff's: its rules NPY001 and NPY201 are asked, by their own levels."
    ),
    fix="safe",
    versions="NumPy 1.24 and later",
    triggers=(b"numpy",),
    check=_check,
    spelled=_may,
    examples=(
        Example(BEFORE, AFTER),
        Example(CURRENT, CURRENT),
        Example(BEFORE, BEFORE, pins=("numpy==1.21.6",)),
        Example(BEFORE, AFTER, pins=("numpy>=1.20",)),
        Example(BEFORE, AFTER.replace("np.inf", "np.Inf"), pins=("numpy<2",)),
    ),
    stops=True,
    references=(
        "https://numpy.org/doc/stable/numpy_2_0_migration_guide.html",
        "https://docs.astral.sh/ruff/rules/numpy2-deprecation/",
    ),
)
