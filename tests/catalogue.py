"""Everything that fixer can say, to be read from top to bottom: `python -m tests.catalogue [--written] [FOLDER ...]`.

What the rules report on their own examples, and in FOLDERs, stands as it is reported: each message once a rule, with
names and numbers left out of the comparison. With `--written` follow the messages as they are written in the source,
where `{...}` is filled in.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from codemods.finding import Finding
from codemods.rule import all_rules
from tests.codemods.support import run_rules

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("codemods", "fixer", "verify")
_NAMES = re.compile(r"`[^`]*`|[\w./]*[\d_./][\w./]*|\b[A-Z]\w*[A-Z]\w*")
_OPEN = re.compile(r"\{[a-z_]+(?:\.[a-z_]+)*\}")
_SIGNS = re.compile(r"\\[bdsSw]|\(\?|[=;]$|^\W|\b(?:SELECT|INSERT|UPDATE|DELETE)\b")


@dataclass(frozen=True)
class Raised:
    """A finding, and the text of the file that it is in (empty where only the finding is known)."""

    code: str
    fix: str
    message: str
    reason: str
    text: str = ""

    @property
    def kind(self) -> tuple[str, ...]:
        """What tells it from another, apart from names and numbers."""
        return (self.code, self.fix, _NAMES.sub("", self.message), _NAMES.sub("", self.reason))


@dataclass(frozen=True)
class Written:
    """A message in the source, with `{...}` where something is filled in."""

    path: str
    line: int
    text: str


def raised() -> Iterator[Raised]:
    """What the rules report on the examples of all rules."""
    for rule in all_rules():
        for example in rule.examples:
            files = {example.path: example.before, **dict(example.files)}
            used = all_rules() if rule.last else (rule,)
            for finding in run_rules(files, *used, unsafe=rule.fix == "unsafe", pins=example.pins).findings:
                yield _raised(finding, files.get(finding.path, ""))


def _raised(finding: Finding, text: str) -> Raised:
    return Raised(finding.code, finding.fix, finding.message, finding.reason, text)


def raised_in(folder: str) -> Iterator[Raised]:
    """What `fixer check` reports in a folder."""
    command = [sys.executable, "-m", "fixer", "check", folder, "--output-format", "json"]
    report = json.loads(subprocess.run(command, capture_output=True, text=True, cwd=ROOT).stdout)
    for finding in report["findings"]:
        for place in finding["places"]:
            yield Raised(finding["code"], finding["fix"], place["message"], place["reason"])


def once(found: Iterable[Raised]) -> list[Raised]:
    """The first of each kind, by rule and level."""
    kinds: dict[tuple[str, ...], Raised] = {}
    for item in found:
        kinds.setdefault(item.kind, item)
    return sorted(kinds.values(), key=lambda item: (item.code, item.fix, item.message, item.reason))


def written() -> Iterator[Written]:
    """The strings of the source that are sentences or parts of one: of three words and more, neither docstrings nor
    code, patterns or SQL."""
    for path, tree in _trees():
        apart = set(_apart(tree))
        for node in ast.walk(tree):
            text = None if id(node) in apart else _text(node)
            if text is not None and _is_said(text):
                yield Written(path, getattr(node, "lineno", 0), text)


def unfilled() -> Iterator[Written]:
    """The messages inside functions that have a `{name}` which nothing fills in."""
    for path, tree in _trees():
        if path.startswith("codemods/testing/"):  # whose templates are code
            continue
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
        inside = {id(node): node for function in functions for node in ast.walk(function)}
        filled = {id(node.value) for node in inside.values() if isinstance(node, ast.Attribute)}
        apart = filled | set(_apart(tree))
        for node in inside.values():
            text = _text(node) if isinstance(node, ast.Constant) and id(node) not in apart else None
            if text is not None and _OPEN.search(text) and _is_said(text):
                yield Written(path, getattr(node, "lineno", 0), text)


def _trees() -> Iterator[tuple[str, ast.Module]]:
    """Every file of the packages."""
    for path in (path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))):
        if "demo_project" not in path.parts:
            yield path.relative_to(ROOT).as_posix(), ast.parse(path.read_text(encoding="utf-8"))


def _apart(tree: ast.AST) -> Iterator[int]:
    """Docstrings, and the parts of formatted strings."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr):
            yield id(node.value)
        if isinstance(node, ast.JoinedStr):
            yield from (id(part) for part in ast.walk(node) if part is not node and isinstance(part, ast.Constant))


def _text(node: ast.AST) -> str | None:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        parts = (str(part.value) if isinstance(part, ast.Constant) else "{...}" for part in node.values)
        return "".join(parts)
    return None


def _is_said(text: str) -> bool:
    return (
        "\n" not in text and len(re.findall(r"[a-z]{2,}", text)) > 2 and text.count(" ") > 1 and not _SIGNS.search(text)
    )


def catalogue(folders: Iterable[str], source: bool) -> str:
    """The whole of it as one text."""
    page = io.StringIO()
    found = [*raised(), *(item for folder in folders for item in raised_in(folder))]
    code = ""
    for item in once(found):
        if item.code != code:
            code = item.code
            page.write(f"\n{code}\n")
        page.write(f"  [{item.fix}] {item.message}\n")
        page.write(f"      {item.reason}\n" if item.reason else "")
    if source:
        path = ""
        for one in written():
            if one.path != path:
                path = one.path
                page.write(f"\n{path}\n")
            page.write(f"  {one.line}: {one.text}\n")
    return page.getvalue()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.catalogue", description="Print what fixer can say.")
    parser.add_argument("folders", nargs="*", metavar="FOLDER", help="look there for more, besides the examples")
    parser.add_argument("--written", action="store_true", help="add the messages as they are written in the source")
    given = parser.parse_args()
    sys.stdout.write(catalogue(given.folders, given.written))


if __name__ == "__main__":
    main()
