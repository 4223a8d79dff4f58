"""Options of a Trainer that code reads of what was parsed, and what they were by default in 1.x."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from codemods.code.nodes import walk
from codemods.code.source import PythonFile
from codemods.lightning.argparse_calls import WORDS
from codemods.lightning.argparse_options import defaults_of, own_options, parsed_names
from codemods.lightning.facts import Facts
from codemods.lightning.namespace_uses import COMMON, on_parsed
from codemods.lightning.said_by_files import said_by
from codemods.rules.trainer.argparse_scripts import ArgparseScript

DEFAULTS = {
    "precision": "32",
    "limit_train_batches": "1.0",
    "limit_val_batches": "1.0",
    "limit_test_batches": "1.0",
    "limit_predict_batches": "1.0",
    "val_check_interval": "1.0",
    "log_every_n_steps": "50",
    "num_sanity_val_steps": "2",
    "enable_checkpointing": "True",
    "enable_progress_bar": "True",
    "enable_model_summary": "True",
}
"""What an argument was by default that is None by default now, and means the same (read in 1.9.5 and 2.6.6)."""


def read_defaults(file: PythonFile, facts: Facts) -> Iterator[str]:
    """The keywords by which options that code reads are by default what they were."""
    said = {name for name, _ in defaults_of(file) or ()} | own_options(file)
    for name, default in DEFAULTS.items():
        here = on_parsed(file, name, parsed_names(file)) if name not in said else []
        if name not in said and (_are_read(here) or is_read_elsewhere(file, facts, name)):
            yield f"{name}={default}"


def is_read_elsewhere(file: PythonFile, facts: Facts, name: str) -> bool:
    """Whether another file, which parses nothing of Lightning's itself, reads an option of what it is handed."""
    others = (path for path, source in facts.holding(name) if path != file.path and source.kind == "python")
    return any(said_by(facts, path, _reads, name) for path in others)


def _reads(file: PythonFile, name: str) -> bool:
    """Whether a file reads an option of what it is handed."""
    strange = bool(file.calls_near(WORDS)) or name in own_options(file)
    return not strange and _are_read(on_parsed(file, name, COMMON))


def reaches_no_trainer(facts: Facts, name: str, scripts: Iterable[ArgparseScript]) -> bool:
    """Whether every Trainer of the project says its arguments itself, so that it takes no option that was parsed, and
    nothing reads that option either."""
    if not facts.trainers or any(trainer.open_ended for trainer in facts.trainers):
        return False
    if any(script.builds for script in scripts) or any("**" in file.text for file in _holding(facts, "Trainer")):
        return False
    return not any(_speaks_of(file, name) for file in _holding(facts, name))


def _holding(facts: Facts, word: str) -> Iterator[PythonFile]:
    opened = (facts.open(path) for path, source in facts.holding(word) if source.kind in ("python", "notebook"))
    return (file for file in opened if file is not None)


def _speaks_of(file: PythonFile, name: str) -> bool:
    """Whether a file reads an attribute of that name, or spells it as a text."""
    return _are_read(file.attributes(name)) or any(
        isinstance(node, ast.Constant) and node.value in (name, f"--{name}") for node in walk(file.tree)
    )


def _are_read(nodes: list[ast.Attribute]) -> bool:
    return any(isinstance(node.ctx, ast.Load) for node in nodes)
