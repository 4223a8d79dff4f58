"""LIT119: None for what Trainer keeps, which switched it off in 1.x and is the default in 2.x."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from codemods.code.source import CallNode, PythonFile
from codemods.code.syntax import Function, is_none, returns
from codemods.finding import Fix
from codemods.lightning.arguments import later
from codemods.lightning.calls import trainer_calls
from codemods.lightning.eras import speaks_of_1x
from codemods.lightning.facts import Facts
from codemods.lightning.guards import asks_version
from codemods.lightning.instance_types import ReadingPlace, definition_of
from codemods.lightning.kinds import bound_to, part_of_choice
from codemods.lightning.trainer_subclasses import is_lightnings
from codemods.lightning.values import constants_of
from codemods.lightning.versions import LIGHTNING, admits_below, admits_from, demands
from codemods.rewrite.keywords import with_value
from codemods.rule import Example, Match, NodeEdit, Rule
from codemods.rules.trainer.lit117 import built_by_hydra

WHAT = {
    "logger": ("no logger", "the one by default"),
    "enable_checkpointing": ("no checkpoints", "a ModelCheckpoint"),
    "enable_progress_bar": ("no progress bar", "one"),
    "enable_model_summary": ("no summary", "one"),
}
"""The arguments, with what None meant in 1.x and what it means in 2.x."""
SINCE = "2.0.0"
LAST_OF_1X = "1.9.5"
WRITTEN = frozenset({"use_distributed_sampler"})
"""What other rules write for 1.x's arguments: it does not tell for which release the rest was written."""
BEFORE_IT = "where the project runs on 2.x already, leave it"
COUNTED = (b"def __len__", b"def __bool__")
"""What makes an object count as false at times."""


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    if not any(name in file.text for name in WHAT) or not admits_below(facts, LIGHTNING, SINCE):
        return
    spoken = speaks_of_1x(facts) and not demands(facts, LIGHTNING, SINCE)
    sure: Fix = "safe" if spoken or not admits_from(facts, LIGHTNING, SINCE) else "unsafe"
    above = (call for call in file.calls_near(["super"]) if is_lightnings(file, facts, call))
    by_hydra = list(built_by_hydra(file))
    for call in (*trainer_calls(file), *above, *by_hydra):
        newer = later(LAST_OF_1X).keys() & {item.arg for item in call.node.keywords}
        if newer - WRITTEN:
            continue  # it was written for 2.x, where None is the default
        level: Fix = "unsafe" if call in by_hydra or newer else sure
        for item in call.node.keywords:
            if item.arg in WHAT and (text := _without_none(file, facts, call, item.value)):
                yield _match(file, facts, call, item, text, level)


def _match(file: PythonFile, facts: Facts, call: CallNode, item: ast.keyword, text: str, level: Fix) -> Match:
    name = item.arg or ""
    then, now = WHAT[name]
    message = f"`{name}=None` of Trainer means the default since Lightning 2.0"
    reason = f"None meant {then} in 1.x, and means {now} in 2.x"
    if text.endswith("or False") and level == "safe" and (empty := _may_be_empty(facts)):
        level, reason = "unsafe", f"{reason}; a logger of {empty} may count as false"
    if asks_version(file, call.node, facts):
        why = f"it is inside a version check; if this code runs on 1.x, write {name}={text}"
        return Match(file.span(item), message, "manual", f"Not rewritten: {why}. {reason}.")
    reason += "." if level == "safe" or not admits_from(facts, LIGHTNING, SINCE) else f"; {BEFORE_IT}."
    edit = NodeEdit(call.node, partial(with_value, name=name, text=text))
    return Match(file.span(item), message, level, reason, edits=(edit,))


def _without_none(file: PythonFile, facts: Facts, call: CallNode, value: ast.expr) -> str | None:
    """A value with False in the place of None; None where it is not seen to be that ever."""
    if is_none(value):
        return "False"
    if isinstance(value, ast.IfExp) and (is_none(value.body) or is_none(value.orelse)):
        first, last = (
            _without_none(file, facts, call, arm) or part_of_choice(file, arm) for arm in (value.body, value.orelse)
        )
        return f"{first} if {part_of_choice(file, value.test)} else {last}"
    return f"{part_of_choice(file, value)} or False" if _may_be_none(file, facts, call, value) else None


def _may_be_none(file: PythonFile, facts: Facts, call: CallNode, value: ast.expr) -> bool:
    """Whether a value is seen to be None at times, or what a function gives that returns None."""
    if any(is_none(item.node) for item in constants_of(facts, file, call.within, value).found):
        return True
    values = [value, *(bound_to(facts, file, call, value.id) if isinstance(value, ast.Name) else ())]
    found = (
        definition_of(ReadingPlace.of(file, call), facts, item.func) for item in values if isinstance(item, ast.Call)
    )
    given = [node.value for item in found if item and isinstance(item[1], Function) for node in returns(item[1])]
    return any(node is None or is_none(node) for node in given)


def _may_be_empty(facts: Facts) -> str | None:
    """A file with a logger of the project that may say itself whether it counts as true."""
    paths = sorted({path for word in COUNTED for path in facts.mentions.get(word, ())})
    return next((path for path in paths if b"ogger" in facts.sources[path].unescaped), None)


_HEAD = "from pytorch_lightning import Trainer\nfrom pytorch_lightning.loggers import WandbLogger\n\n\n"
BEFORE = f"""\
{_HEAD}def build(args, logger=None):
    first = Trainer(gpus=1, logger=None)
    second = Trainer(gpus=1, logger=WandbLogger() if args.wandb else None)
    return first, second, Trainer(gpus=1, logger=logger)
"""
AFTER = (
    BEFORE.replace("logger=None)\n    second", "logger=False)\n    second")
    .replace("else None", "else False")
    .replace("logger=logger)", "logger=logger or False)")
)
NEW = f"{_HEAD}trainer = Trainer(logger=None)\n"

RULE = Rule(
    code="LIT119",
    name="trainer-none",
    summary="`Trainer(logger=None)` and its like, which switched off what is on by default now",
    why=(
        "Until 1.9 None was no logger, no checkpoints, no progress bar and no summary; since 2.0 it is as if nothing "
        "were said, without an error (run on 1.4.9 to 1.9.5, 2.1.4 and 2.6.6). False means the same in all of them. It "
        "is safe where the requirements or the code are those of 1.x, and asked for where they may be of 2.x too."
    ),
    fix="safe",
    versions="Lightning 1.x -> 2.0 and later",
    triggers=(b"Trainer(", b"from_argparse_args(", b"instantiate("),
    words=tuple(name.encode() for name in WHAT),
    check=_check,
    mentions=COUNTED,
    examples=(Example(BEFORE, AFTER), Example(NEW, NEW, pins=("pytorch-lightning>=2.0",))),
)
