"""LIT122: several loggers, which are no logger of their own any more."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import partial

from codemods.code.calls import class_around
from codemods.code.nodes import walk
from codemods.code.source import PythonFile
from codemods.code.syntax import Function, self_name
from codemods.finding import Fix
from codemods.lightning.facts import CALLBACK, MODULE, Facts
from codemods.lightning.trainer_variables import reads_lightning
from codemods.rule import Example, Match, Rule, TextEdit, best_levels
from codemods.rules.trainer.owners import Within, attributes_within, is_trainers

LOGGER, EXPERIMENT, COLLECTION = "logger", "experiment", "LoggerCollection"
TAKING = frozenset({"enumerate", "iter", "len", "list", "reversed", "tuple", "zip"})
ALL = frozenset({"log_graph", "log_hyperparams", "log_image", "log_metrics", "log_text", "save"})
"""What a collection handed on to each of its loggers."""
LOGGERS = (b"Logger)", b"Logger,", b"LoggerBase)", b"LoggerBase,")
DEFINED = re.compile(rb"class\s+\w+\([^)]*Logger")
MODULES = ("pl_module", "module", "model", "lightning_module")
MESSAGE = "since Lightning 1.8 `{}` is only the first of several loggers"
KEY = "fixer assumes that the key is a number"
DOUBT = "fixer assumes that `{}` is a {}, by its name"


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    several = _has_several(facts)
    for node, within in attributes_within(file, frozenset({LOGGER})):
        if not isinstance(node.ctx, ast.Load) or not within:
            continue
        place, around = (within[-1], within[:-1]) if _is_experiment(within[-1], node) else (node, within)
        taken = _taken(file, place, around)
        sent = several and place is node and _is_sent_to_all(node, within)
        if not (taken or sent):
            continue
        certain, kind = _owner(file, facts, node, within)
        if certain is False or _is_set(file, facts, node, within) or _is_answered(within):
            continue
        if taken:
            doubt = DOUBT.format(file.source_of(node.value), kind) if not certain else ""
            doubt = doubt or ("" if _is_surely_number(place, around) else KEY)
            if not (doubt or several) and (own := _own_logger(facts)):
                doubt = f"a logger of {own} may be the only one, and answer for itself"
            yield _read(file, node, place, around, doubt)
        elif certain:
            advice = "give it to each of `loggers`, unless only the first should have it"
            yield Match(file.span(node), _message(file, node), "manual", f"Not rewritten: {advice}.", "M081")


def _is_experiment(parent: ast.AST, node: ast.Attribute) -> bool:
    return isinstance(parent, ast.Attribute) and parent.attr == EXPERIMENT and parent.value is node


def _message(file: PythonFile, node: ast.Attribute) -> str:
    return MESSAGE.format(file.source_of(node))


def _taken(file: PythonFile, node: ast.AST, within: Within) -> bool:
    """Whether something is read as what can be counted: by a number, by a loop, by several names, by `len` and its
    like."""
    parent = within[-1]
    if isinstance(parent, ast.Assign):
        return any(isinstance(target, ast.Tuple | ast.List) for target in parent.targets)
    if isinstance(parent, ast.Subscript):
        read = parent.value is node and isinstance(parent.ctx, ast.Load)
        return read and (_is_number(parent.slice) or (isinstance(node, ast.Attribute) and _counts(node, parent.slice)))
    if isinstance(parent, ast.For | ast.AsyncFor | ast.comprehension):
        return parent.iter is node
    if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and node in parent.args:
        return parent.func.id in TAKING and file.scope.lookup(parent.func.id) is None
    return False


def _is_number(node: ast.expr) -> bool:
    inner = node.operand if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) else node
    return isinstance(inner, ast.Constant) and type(inner.value) is int


def _counts(node: ast.Attribute, key: ast.expr) -> bool:
    """Whether a computed key is that of one of several loggers, none of which takes keys itself, and not of what one
    logs by: `logger.experiment[name]` is."""
    return node.attr == LOGGER and not isinstance(key, ast.Constant | ast.JoinedStr)


def _is_surely_number(node: ast.AST, within: Within) -> bool:
    """Whether what is read by a key is read by one that is seen to be a number or a slice, or without any."""
    parent = within[-1]
    if not isinstance(parent, ast.Subscript) or parent.value is not node or _is_number(parent.slice):
        return True
    called = parent.slice.func if isinstance(parent.slice, ast.Call) else None
    return isinstance(parent.slice, ast.Slice) or (isinstance(called, ast.Name) and called.id in ("int", "len"))


def _is_sent_to_all(node: ast.Attribute, within: Within) -> bool:
    """`self.logger.log_metrics(...)`: one statement for all loggers."""
    parent, call = within[-1], within[-2] if len(within) > 1 else None
    method = isinstance(parent, ast.Attribute) and parent.attr in ALL and parent.value is node
    return method and isinstance(call, ast.Call) and call.func is parent


def _has_several(facts: Facts) -> bool:
    """Whether the project gives a Trainer a list of loggers."""
    found = (trainer.argument(LOGGER) for trainer in facts.trainers)
    return any(_counts_several(each.text) for each in found if each)


def _own_logger(facts: Facts) -> str | None:
    """A file with a logger of the project, which may be read as what can be counted itself."""
    paths = sorted({path for word in LOGGERS for path in facts.mentions.get(word, ())})
    return next((path for path in paths if DEFINED.search(facts.sources[path].unescaped)), None)


def _counts_several(text: str) -> bool:
    try:
        value = ast.parse(text, mode="eval").body
    except SyntaxError:
        return False
    return isinstance(value, ast.List | ast.Tuple) and len(value.elts) > 1


def _owner(file: PythonFile, facts: Facts, asked: ast.Attribute, within: Within) -> tuple[bool | None, str]:
    """Whether an attribute is that of a Trainer or of a module, None where that is only called so; and which."""
    certain, node = is_trainers(file, facts, asked, within), asked.value
    if certain is not False:
        return certain, "Trainer"
    owner = class_around(file, within)
    fact = facts.of_class(file, owner)
    kind = facts.kind(fact) if fact else None
    functions = [item for item in within if isinstance(item, Function)]
    if functions and isinstance(node, ast.Name):
        if owner and node.id == self_name(functions[0]):
            return kind == MODULE, "module"
        given = [item.arg for item in functions[0].args.args]
        if kind == CALLBACK and node.id in given[2:3]:
            return True, "module"
        note = next((item.annotation for item in functions[-1].args.args if item.arg == node.id), None)
        if note is not None and file.scope.resolve(note) == MODULE:
            return True, "module"
    last = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return (None if last in MODULES and reads_lightning(file) else False), "module"


def _is_set(file: PythonFile, facts: Facts, node: ast.Attribute, within: Within) -> bool:
    """Whether the file sets such an attribute of its own, or a class above has it."""
    text = ast.unparse(node)
    owner = next((item for item in reversed(within) if isinstance(item, ast.ClassDef)), file.tree)
    return any(
        isinstance(item, ast.Attribute) and type(item.ctx) is ast.Store and ast.unparse(item) == text
        for item in walk(owner)
    ) or _has_its_own(file, facts, owner)


def _has_its_own(file: PythonFile, facts: Facts, owner: ast.AST) -> bool:
    """Whether a class, or one above it, has a `logger` of its own."""
    name = next((item.qualname for item in file.classes if item.node is owner), None)
    fact = facts.files[file.path].find(name) if name and file.path in facts.files else None
    return fact is not None and any(LOGGER in each.methods for each in (fact, *facts.ancestry(fact)))


def _is_answered(within: Within) -> bool:
    """Whether it stands under a question for the collection, with which LIT001 rewrites it."""
    return any(COLLECTION in ast.unparse(test) for test in _conditions(within))


def _conditions(within: Within) -> Iterator[ast.expr]:
    """The conditions around."""
    return (item.test for item in within if isinstance(item, ast.If | ast.IfExp))


def _asks(within: Within, text: str) -> bool:
    """Whether a condition around asks what something is, by `isinstance` and its like."""
    calls = (node for test in _conditions(within) for node in walk(test) if isinstance(node, ast.Call))
    asking = (call for call in calls if ast.unparse(call.func) in ("isinstance", "hasattr", "type") and call.args)
    return any(ast.unparse(call.args[0]) in (text, f"{text}.{EXPERIMENT}") for call in asking)


def _read(file: PythonFile, node: ast.Attribute, place: ast.AST, around: Within, doubt: str) -> Match:
    held = file.source_of(node.value)
    span = file.span(node)
    if _asks(around, ast.unparse(node)):
        why = f"a condition asks its type; read `{held}.loggers`, which is always a list"
        return Match(span, _message(file, node), "manual", f"Not rewritten: {why}.", "M081")
    parent = around[-1]
    if place is node:
        edit = TextEdit(*file.offsets(node), f"{held}.loggers")
    elif isinstance(parent, ast.Subscript):
        text = f"{held}.loggers[{file.source_of(parent.slice)}].{EXPERIMENT}"
        edit = TextEdit(*file.offsets(parent), text)
    else:
        assert isinstance(place, ast.Attribute)
        edit = TextEdit(*file.offsets(place), f"[logger.{EXPERIMENT} for logger in {held}.loggers]")
    level: Fix = "unsafe" if doubt else "safe"
    reason = f"`loggers` has had them all since 1.6{f'; {doubt}' if doubt else ''}."
    return Match(span, _message(file, node), level, reason, "M081", (edit,))


BEFORE = """\
from pytorch_lightning import LightningModule


class Model(LightningModule):
    def on_fit_start(self):
        self.logger.experiment[0].add_text("note", "begun")
        for writer in self.logger.experiment:
            print(writer)

    def on_fit_end(self):
        for logger in self.logger:
            logger.save()
        print(self.logger[-1].name)
"""
AFTER = """\
from pytorch_lightning import LightningModule


class Model(LightningModule):
    def on_fit_start(self):
        self.loggers[0].experiment.add_text("note", "begun")
        for writer in [logger.experiment for logger in self.loggers]:
            print(writer)

    def on_fit_end(self):
        for logger in self.loggers:
            logger.save()
        print(self.loggers[-1].name)
"""
ONE = """\
from pytorch_lightning import LightningModule


class Model(LightningModule):
    def on_fit_start(self):
        self.logger.experiment.add_text("note", "begun")
        self.logger.experiment["note"].log("begun")
"""

RULE = Rule(
    code="LIT122",
    name="several-loggers",
    summary="Several loggers are read from `loggers`, since `logger` is the first of them",
    why=(
        "A Trainer with a list of loggers had a LoggerCollection for `trainer.logger` and `self.logger`, which could "
        "be counted, whose `experiment` was a list, and which passed on what it was given to log. Since 1.8 (guide row "
        "M081) `logger` is the first of the list: an index or a loop fails, and the others get nothing that is logged "
        "by it, without an error. `loggers` is the list, of one logger too."
    ),
    fix="safe",
    versions="Lightning < 1.8",
    triggers=(b".logger",),
    check=_check,
    mentions=LOGGERS,
    examples=(Example(BEFORE, AFTER), Example(ONE, ONE)),
    breaks_in="1.8.0",
    needs="1.6.0",
    rows=partial(best_levels, (("M081", "safe"),)),
    references=("https://github.com/Lightning-AI/pytorch-lightning/pull/14283",),
)
