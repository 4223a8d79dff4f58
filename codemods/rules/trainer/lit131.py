"""LIT131: arguments of LightningCLI that moved into its dictionaries, as rows of data."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from codemods.code.calls import keyword
from codemods.code.scopes import ROOT
from codemods.code.source import CallNode, PythonFile
from codemods.code.syntax import is_none
from codemods.lightning.built_objects import BuiltObject
from codemods.lightning.facts import Facts
from codemods.lightning.lightning_cli import DEFAULTS, is_cli_call
from codemods.lightning.trainers import built
from codemods.lightning.wanted import TRAINER_ALONE
from codemods.rewrite.advice import brief
from codemods.rewrite.keywords import is_commented, replaced, with_keyword
from codemods.rule import Example, Match, NodeEdit, Rule, best_levels
from codemods.rules.trainer.plugins import FULL

if TYPE_CHECKING:
    import libcst as cst

SEED = "seed_everything_default"


@dataclass(frozen=True)
class CliArgumentRow:
    """An argument that is a key of a dictionary now."""

    argument: str
    dictionary: str
    key: str
    row: str


ROWS = (
    CliArgumentRow("save_config_filename", "save_config_kwargs", "config_filename", "G16380"),
    CliArgumentRow("save_config_overwrite", "save_config_kwargs", "overwrite", "M202"),
    CliArgumentRow("save_config_multifile", "save_config_kwargs", "multifile", "M203"),
    CliArgumentRow("description", "parser_kwargs", "description", "G16380"),
    CliArgumentRow("env_prefix", "parser_kwargs", "env_prefix", "G16380"),
    CliArgumentRow("env_parse", "parser_kwargs", "default_env", "G16380"),
)


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    words = [*file.spellings("LightningCLI"), SEED, *(row.argument for row in ROWS)]
    for call in file.calls_near(words):
        if not is_cli_call(file, facts, call):
            continue
        seed = keyword(call.node, SEED)
        if seed and is_none(seed.value):
            edit = NodeEdit(call.node, partial(replaced, name=SEED, new=((SEED, "False"),)))
            message = f"`{SEED}=None` of LightningCLI is not taken since 1.8"
            yield Match(file.span(seed), message, "safe", "None meant no seed, which is False now.", "M147", (edit,))
        for dictionary in ("save_config_kwargs", "parser_kwargs"):
            found = [row for row in ROWS if row.dictionary == dictionary and keyword(call.node, row.argument)]
            yield from _moved(file, call, dictionary, found)
    for one in built(file, facts, TRAINER_ALONE) if DEFAULTS in file.text else ():
        for argument in one.arguments if one.inside is not None else ():
            if argument.name != "callbacks" and (name := _instance(file, facts, one, argument.value)):
                message = f"an instance of `{name}` as a default of `{argument.name}` fails with jsonargparse 4"
                reason = (
                    "Not rewritten: since 4.39, which Lightning 2.6 requires, LightningCLI takes a class path there. "
                    f'Write "{argument.name}": {{"class_path": "....{name}", "init_args": {{...}}}}, '
                    f"or lazy_instance({name}, ...) of jsonargparse."
                )
                yield Match(file.span(argument.value), message, "manual", reason)


def _instance(file: PythonFile, facts: Facts, one: BuiltObject, value: ast.expr) -> str | None:
    """The class that a value is an instance of, where it is made there."""
    dotted = one.call.scope.resolve(value.func) if isinstance(value, ast.Call) else None
    if dotted is None or dotted in FULL:
        return None
    name = dotted.rpartition(".")[2]
    made = facts.find_class(dotted, file.path) is not None or (dotted.startswith(f"{ROOT}.") and name[:1].isupper())
    return name if made else None


def _moved(file: PythonFile, call: CallNode, dictionary: str, found: Sequence[CliArgumentRow]) -> Iterator[Match]:
    """The arguments that go to one dictionary, all of them or none."""
    items = [(row, item) for row in found if (item := keyword(call.node, row.argument))]
    why = _refusal(file, call, dictionary, [item for _, item in items])
    entries = [f'"{row.key}": {file.source_of(item.value)}' for row, item in items]
    for row, item in items:
        message = f"`{row.argument}=` of LightningCLI was removed in Lightning 2.0"
        if why:
            kept = f"**{brief(file, given.value)}, " if (given := keyword(call.node, dictionary)) else ""
            entry = f'{kept}"{row.key}": {brief(file, item.value)}'
            reason = f"Not rewritten: {why}; write `{dictionary}={{{entry}}}`."
            yield Match(file.span(item), message, "manual", reason, row.row)
            continue
        last = row is items[-1][0]
        change = partial(
            _gathered, names=tuple(row.argument for row, _ in items), name=dictionary, entries=tuple(entries)
        )
        edits = (NodeEdit(call.node, change),) if last else ()
        unit = f"{file.path}:{call.node.lineno}:{dictionary}"
        yield Match(file.span(item), message, "safe", f"It is a key of {dictionary}.", row.row, edits, unit=unit)


def _refusal(file: PythonFile, call: CallNode, dictionary: str, items: Sequence[ast.keyword]) -> str | None:
    given = keyword(call.node, dictionary)
    if given and not (isinstance(given.value, ast.Dict) and None not in given.value.keys):
        return f"`{dictionary}=` is given too, and is not a plain dictionary"
    if any(is_commented(file, call.node, item, beside=False) for item in items):
        return "there is a comment next to it"
    return None


def _gathered(call: cst.Call, *, names: tuple[str, ...], name: str, entries: tuple[str, ...]) -> cst.Call:
    import libcst as cst

    old = next((item for item in call.args if item.keyword and item.keyword.value == name), None)
    text = "{" + ", ".join(entries) + "}"
    if old is not None:
        before = cst.ensure_type(old.value, cst.Dict)
        after = cst.ensure_type(cst.parse_expression(text), cst.Dict)
        kept = [
            *before.elements[:-1],
            *(
                item.with_changes(comma=cst.Comma(whitespace_after=cst.SimpleWhitespace(" ")))
                for item in before.elements[-1:]
            ),
        ]
        new = old.with_changes(value=before.with_changes(elements=[*kept, *after.elements]))
        call = call.with_changes(args=[new if item is old else item for item in call.args])
    for argument in names:
        call = replaced(call, argument, ())
    return call if old is not None else with_keyword(call, name, text)


BEFORE = """\
from pytorch_lightning.cli import LightningCLI

cli = LightningCLI(Model, save_config_overwrite=True, description="Trains it", seed_everything_default=None)
"""
AFTER = """\
from pytorch_lightning.cli import LightningCLI

cli = LightningCLI(Model, seed_everything_default=False, save_config_kwargs={"overwrite": True}, \
parser_kwargs={"description": "Trains it"})
"""
LEFT = """\
from pytorch_lightning.cli import LightningCLI

cli = LightningCLI(Model, save_config_overwrite=True, save_config_kwargs=options)
"""

RULE = Rule(
    code="LIT131",
    name="cli-arguments",
    summary="Arguments of LightningCLI that are keys of `save_config_kwargs` and `parser_kwargs` now",
    why=(
        "Lightning 2.0 moved them (guide rows M202 and M203, pull requests 14998 and 16380), 1.8 took "
        "seed_everything_default=None away (M147): the call is a TypeError."
    ),
    fix="safe",
    versions="Lightning 1.3 - 1.9 -> 2.0 and later",
    triggers=(
        b"LightningCLI",
        SEED.encode(),
        *(row.argument.encode() for row in ROWS if row.argument.startswith("save")),
    ),
    check=_check,
    rows=partial(best_levels, (("M147", "safe"), ("M202", "safe"), ("M203", "safe"), ("G16380", "safe"))),
    examples=(Example(BEFORE, AFTER), Example(LEFT, LEFT)),
    breaks_in="2.0.0",
    needs="2.0.0",
)
