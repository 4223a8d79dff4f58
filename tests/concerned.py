"""The tests that a change concerns: `python -m tests.concerned [BASE] [OPTIONS OF PYTEST]`.

What changed since BASE, a commit (`HEAD` where none is named), and what git does not know yet. A file concerns the
tests that import it, themselves or through other files of tests, those that are named after it, and those that hold
its whole folder. What reaches further, only the whole run tells.
"""

from __future__ import annotations

import ast
import functools
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = {
    "codemods/rules/": ("tests/codemods/test_examples.py", "tests/test_docs.py"),
    **dict.fromkeys(("codemods/", "verify/", "fixer/"), ("tests/codemods/test_rooms.py",)),
    "verify/harness/": ("tests/verify/test_prove.py", "tests/warm/test_warm.py"),
    "docs/": ("tests/test_docs.py", "tests/test_docs_commands.py"),
    "README.md": ("tests/test_docs.py", "tests/test_docs_commands.py"),
    "CONTRIBUTING.md": ("tests/test_contributing.py",),
    "tests/projects/": ("tests/training/test_shapes.py", "tests/verify/test_provided.py", "tests/test_projects.py"),
    "tests/mutations/": ("tests/verify/test_mutations.py",),
    "tests/migrations/": ("tests/migrations/test_migrations.py",),
    "tests/training/": ("tests/training/test_training.py",),
    "tests/warm/": ("tests/warm/test_warm.py",),
}
"""The tests of whole folders, whose files are found by path and not imported."""
EVERYTHING = ("tests/conftest.py", "pyproject.toml", "constraints.txt")
"""What concerns every test."""


def changed(base: str) -> list[str]:
    """The files that differ from a commit, and those that git does not know yet."""
    commands = (["diff", "--name-only", "--no-renames", base], ["ls-files", "--others", "--exclude-standard"])
    found = (
        subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True) for words in commands
    )
    return sorted({line for done in found for line in done.stdout.splitlines()})


def concerned(paths: Iterable[str]) -> list[str]:
    """The files of tests that changes of these files concern, or the folder of all."""
    paths = list(paths)
    if any(path in EVERYTHING for path in paths):
        return ["tests"]
    files = {path.relative_to(ROOT).as_posix(): path for path in sorted((ROOT / "tests").rglob("*.py"))}
    imports = {name: _imported(path) for name, path in files.items()}
    found: set[str] = set()
    for path in paths:
        reached, modules = {path} & files.keys(), {_module(path)}
        while more := {name for name in files if imports[name] & modules} - reached:
            reached, modules = reached | more, {_module(name) for name in more}
        named = (f"test_{Path(path).stem}.py", f"test_{Path(path).stem}_")
        found |= reached | {name for name in files if Path(name).name.startswith(named)}
        found |= {test for folder, tests in FOLDERS.items() if path.startswith(folder) for test in tests}
    return sorted(name for name in found if Path(name).name.startswith("test_") and (ROOT / name).exists())


def _module(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


@functools.cache
def _imported(path: Path) -> set[str]:
    """The modules that a file imports; of a package those that may be meant by a name of it, too."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def main(words: list[str]) -> int:
    base, options = (words[0], words[1:]) if words and not words[0].startswith("-") else ("HEAD", words)
    tests = concerned(changed(base))
    if not tests:
        print(f"no tests are concerned by what changed since {base}")
        return 0
    return pytest.main([*options, *tests])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
