"""The command line as a user calls it, in a process of its own or in this one, and a project to call it on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from fixer.cli import start
from fixer.reports.json_report import each_place, schema
from tests.support import commit_all

ROOT = Path(__file__).resolve().parents[2]
_SCHEMA = jsonschema.Draft202012Validator(schema())

OLD = b"""import pytorch_lightning as pl

trainer = pl.Trainer(gpus=0, max_epochs=1)
"""
NEW = OLD.replace(b"gpus=0", b'accelerator="cpu"')


@dataclass(frozen=True)
class Said:
    """What a command left: its exit code, standard output and standard error."""

    code: int
    out: str
    err: str

    def report(self) -> Any:
        """Standard output as a JSON report; it must hold one valid report and nothing else."""
        document = json.loads(self.out)
        _SCHEMA.validate(document)
        return document

    def places(self) -> list[dict[str, Any]]:
        """The findings of that report, one for each place."""
        return each_place(self.report())

    def complaint(self) -> str:
        """The one line of an error of use, without traceback and with exit code 2."""
        assert self.code == 2, self
        lines = [line for line in self.err.splitlines() if line.startswith("fixer: ")]
        assert len(lines) == 1, self.err
        assert "Traceback" not in self.err
        return lines[0]


Ask = Callable[..., Said]


def asking(capture: pytest.CaptureFixture[bytes]) -> Ask:
    """Calls the command line in this process."""

    def ask(*arguments: str | Path) -> Said:
        capture.readouterr()
        code = start([str(argument) for argument in arguments])
        out, err = capture.readouterr()
        return Said(code, out.decode(errors="replace"), err.decode())

    return ask


def process(folder: Path, *arguments: str | Path, options: tuple[str, ...] = (), **env: str) -> Said:
    """Calls the command line in a process of its own."""
    command = [sys.executable, *options, "-m", "fixer", *map(str, arguments)]
    done = subprocess.run(command, cwd=folder, env=environment(env), capture_output=True)
    return Said(done.returncode, done.stdout.decode(), done.stderr.decode())


def environment(more: Mapping[str, str]) -> dict[str, str]:
    """The variables of a process that runs this fixer."""
    return {**os.environ, "PYTHONPATH": str(ROOT), **more}


def old_project(folder: Path, files: Mapping[str, bytes] | None = None) -> Path:
    """A repository with one commit of files that a rule changes."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in (files or {"train.py": OLD}).items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    commit_all(folder)
    return folder
