"""LIT223: seed_everything without a seed."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.code.scopes import ROOT
from codemods.code.source import PythonFile
from codemods.finding import Fix
from codemods.lightning.facts import Facts
from codemods.lightning.versions import reaches
from codemods.rule import Example, Match, Rule

NAME = "seed_everything"
SEEDERS = (f"{ROOT}.{NAME}", f"{ROOT}.utilities.seed.{NAME}", f"lightning.fabric.{NAME}", f"lightning_fabric.{NAME}")


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    for call in file.calls_near((NAME,)) if reaches(facts, "2.2.0") else ():
        given = [item for item in call.node.keywords if item.arg in (None, "seed")]
        if call.node.args or given or call.scope.resolve(call.node.func) not in SEEDERS:
            continue
        yield Match(
            file.span(call.node),
            f"`{NAME}()` uses the seed 0 since Lightning 2.2; before, it drew a random one",
            "manual",
            f"Not rewritten: every run now draws the same random numbers. Write `{_seeded(file, call.node)}`, with the "
            "seed that you want.",
            "G18846",
        )


def _seeded(file: PythonFile, call: ast.Call) -> str:
    """The call with a seed."""
    rest = "".join(f", {item.arg}={file.source_of(item.value)}" for item in call.keywords)
    return f"{file.source_of(call.func)}(42{rest})"


SEEDLESS = "from pytorch_lightning import seed_everything\n\nseed_everything()\n"
SEEDED = SEEDLESS.replace("()", "(7)")


def _rows() -> tuple[tuple[str, Fix], ...]:
    return (("G18846", "manual"),)


RULE = Rule(
    code="LIT223",
    name="seedless",
    summary="seed_everything() without a seed is named: it takes 0 now",
    why=(
        "Since Lightning 2.2 seed_everything() takes 0 where it drew a random number (pull request 18846). Runs that "
        "were meant to differ are all the same, without an error."
    ),
    fix="manual",
    versions="Lightning 2.2 and later",
    triggers=(NAME.encode(),),
    check=_check,
    examples=(Example(SEEDLESS, SEEDLESS), Example(SEEDED, SEEDED)),
    rows=_rows,
    references=("https://github.com/Lightning-AI/pytorch-lightning/pull/18846",),
)
