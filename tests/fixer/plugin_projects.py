"""Projects that have rules of their own, for tests."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from tests.fixer.command import old_project

PLUGINS = Path(__file__).parent / "plugins"
INSTALLED = PLUGINS / "installed"
TRAIN = b"""\
import acme
from acme.training import FastTrainer

acme.fit(FastTrainer(n_gpus=2), half=True)
acme.seed(1)
"""
FIXED = b"""\
import acme
from acme.trainers import Trainer

acme.fit(Trainer(devices=2), precision="16-mixed")
acme.seed(1)
"""
BOTH = '[tool.fixer]\nplugins = ["tools/folder", "tools/renames.toml"]\n'
RULE = """\
from pathlib import Path

from codemods.api import Example, Rule, calls_of, finding

{before}


def check(file, facts):
    for call in calls_of(file, "acme.fit"):
        yield finding(file, call.node, "{message}", "look at it.")


TEXT = "import acme\\n\\nacme.fit(model)\\n"
OTHER = "import acme\\n\\nacme.seed(1)\\n"
RULE = Rule(
    code="{code}",
    name="fit",
    summary="calls of fit",
    why="they changed",
    fix="manual",
    versions="before acme 3.0",
    triggers=(b"acme",),
    check=check,
    examples=({examples}),
)
"""
MARK = "Path({place!r}).touch()"
EXAMPLES = "Example(TEXT, TEXT), Example(OTHER, OTHER)"


def written(code: str = "ACM301", message: str = "it changed", before: str = "", examples: str = EXAMPLES) -> str:
    return RULE.format(code=code, message=message, before=before, examples=examples)


def with_rules(made: Path) -> Path:
    """A repository that has rules of its own as Python and as rows."""
    shutil.copytree(PLUGINS, made / "tools")
    return old_project(made, {"train.py": TRAIN, "pyproject.toml": BOTH.encode()})


def planted_in(folder: Path) -> Path:
    """A repository whose rules say that they ran, by a file `ran` beside it."""
    text = written(before=MARK.format(place=str(folder.parent / "ran")))
    return one_rule(folder, text, TRAIN + b"x = 1  # fixer: ignore[ACM301]\n")


def one_rule(folder: Path, text: str, train: bytes = TRAIN) -> Path:
    """A repository with one Python file of rules."""
    files = {"train.py": train, "own.py": text.encode(), "pyproject.toml": b'[tool.fixer]\nplugins = ["own.py"]\n'}
    return old_project(folder, files)


def codes(said: Any) -> list[str]:
    return sorted({finding["code"] for finding in said.report()["findings"] if finding["code"].startswith("ACM")})
