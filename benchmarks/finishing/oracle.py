"""All that the installed Lightning refuses or ignores in a project."""

from __future__ import annotations

from pathlib import Path

from benchmarks.finishing.calls import calls, names
from benchmarks.finishing.files import Violation, files
from benchmarks.finishing.hooks import hooks
from benchmarks.finishing.members import attributes
from benchmarks.finishing.program import Program
from benchmarks.finishing.required import asks_for_tasks

CHECKS = (names, calls, attributes, hooks)


def violations(root: Path, required_by: Path | None = None) -> list[Violation]:
    """Those of a tree, with what the requirements of it, or of another, install beside Lightning."""
    program = Program(list(files(root)), asks_for_tasks(required_by or root))
    found = {each for file in program.files for check in CHECKS for each in check(program, file)}
    return sorted(found, key=lambda each: (each.path, each.cell or 0, each.line, each.kind, each.what))
