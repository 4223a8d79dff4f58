"""LIT113: the tuner: auto_lr_find=, auto_scale_batch_size=, trainer.tune() and trainer.tuner."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from packaging.version import Version

from codemods.code.calls import keyword, space_of
from codemods.code.literals import literal
from codemods.code.nodes import walk
from codemods.code.source import CallNode, PythonFile
from codemods.finding import Span
from codemods.lightning.arguments import current, oldest
from codemods.lightning.calls import builds_trainer
from codemods.lightning.facts import Facts
from codemods.lightning.guards import guard_of
from codemods.lightning.invariant_expressions import is_steady
from codemods.lightning.kinds import is_repeatable, kind_of
from codemods.lightning.spelling import Spelled
from codemods.lightning.trainer_variables import escapes, is_trainer, kept_and_called
from codemods.lightning.versions import LIGHTNING, admits_below, is_open
from codemods.rewrite.keywords import is_commented, replaced
from codemods.rule import Example, Match, NodeEdit, Rule, best_levels
from codemods.rules.trainer.callbacks import spelled
from codemods.rules.trainer.idle_tune import GONE, is_off, without_tune
from codemods.rules.trainer.tuner_calls import FINDS, RENAMED, TUNER, by_hand

if TYPE_CHECKING:
    import libcst as cst

FLAGS = {"auto_scale_batch_size": ("M175", "scale_batch_size"), "auto_lr_find": ("M176", "lr_find")}
"""In the order in which `tune` obeyed them (run on 1.9.5)."""
MODES = ("power", "binsearch")
KWARGS = ("scale_batch_size_kwargs", "lr_find_kwargs")
TUNE = b".tune("
NEVER = {
    "safe": "Since 1.0 only `tune` obeyed it, which is not called.",
    "unsafe": (
        "Since 1.0 only `tune` obeyed it, which no code here calls; fixer cannot tell what others do with the Trainer."
    ),
}


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    told: set[ast.AST] = set()
    for call in file.calls_near(FLAGS):
        flags = [name for name in FLAGS if keyword(call.node, name)] if builds_trainer(call) else []
        guard = guard_of(file, facts, call, flags[0]) if flags else "both"
        if guard != "none":
            yield from _guarded(file, call, flags) if guard == "unclear" else ()
            continue
        off = [name for name in flags if (item := keyword(call.node, name)) and is_off(item.value)]
        yield from _unasked(file, call, off)
        if on := [name for name in flags if name not in off]:
            yield from _flags(file, facts, call, on)
        if on or call.node in file.made:  # what a value may be besides is looked at where it is written
            kept = kept_and_called(file, call, "tune")
            told.update(other.node for other in (kept[1] if kept else ()))
    yield from by_hand(file, facts)
    yield from _tuned(file, facts, told)


def _guarded(file: PythonFile, call: CallNode, flags: Sequence[str]) -> Iterator[Match]:
    for name in flags:
        reason = "Not rewritten: it is inside a version check; if this code never runs on 2.x, leave it."
        yield Match(_span(file, call, name), _gone(name), "manual", reason, FLAGS[name][0])


def _unasked(file: PythonFile, call: CallNode, flags: Sequence[str]) -> Iterator[Match]:
    """Flags that ask for nothing."""
    for name in flags:
        item = keyword(call.node, name)
        if item and is_commented(file, call.node, item, beside=False):
            reason = "Not rewritten: there is a comment next to it; delete both by hand."
            yield Match(file.span(item), _gone(name), "manual", reason, FLAGS[name][0])
        else:
            edit = NodeEdit(call.node, partial(replaced, name=name, new=()))
            yield Match(_span(file, call, name), _gone(name), "safe", "It had no effect.", FLAGS[name][0], (edit,))


def _span(file: PythonFile, call: CallNode, name: str) -> Span:
    item = keyword(call.node, name)
    assert item
    return file.span(item)


def _gone(name: str) -> str:
    return f"`{name}=` of Trainer was removed in Lightning 2.0"


def _flags(file: PythonFile, facts: Facts, call: CallNode, flags: list[str]) -> Iterator[Match]:
    asked = [_asked(file, facts, call, flag) for flag in flags]
    planned = _plan(file, facts, call, asked)
    items = [each.item for each in asked]
    dropped = tuple(NodeEdit(call.node, partial(replaced, name=flag, new=())) for flag in flags)
    commented = any(is_commented(file, call.node, item, beside=False) for item in items)
    for each, edit in zip(asked, dropped, strict=True):
        row, method = FLAGS[each.flag]
        message = _gone(each.flag)
        never = _is_never_tuned(file, facts, call) if isinstance(planned, str) and not commented else None
        if never:
            yield Match(file.span(each.item), message, never, NEVER[never], row, (edit,))
        elif isinstance(planned, str):
            advice = (
                f"before fit call `Tuner(trainer).{method}(model)`, with `from lightning.pytorch.tuner import Tuner`"
            )
            yield Match(file.span(each.item), message, "manual", f"Not rewritten: {planned}; {advice}.", row)
    if isinstance(planned, str):
        return
    statements, how = planned
    edits = [*dropped, *(NodeEdit(node, partial(_instead, text=text), line=True) for node, text in statements)]
    message = (
        f"{' and '.join(f'`{flag}=`' for flag in flags)} of Trainer {'was' if len(flags) == 1 else 'were'} removed"
    )
    reason = f"`tune` is {' and '.join(f'Tuner(trainer).{FLAGS[flag][1]}' for flag in flags)} since 2.0"
    found = "; ".join(FINDS[FLAGS[flag][1]] for flag in flags)
    assumed = "; fixer assumes that a value which is only known at run time is None, True or False"
    reason = f"{reason}; {found}{'' if all(each.sure for each in asked) else assumed}."
    row = FLAGS[flags[0]][0]
    yield Match(file.span(items[0]), f"{message} in Lightning 2.0", "unsafe", reason, row, tuple(edits), how.imports)


@dataclass(frozen=True)
class TunerFlag:
    """What a flag asks `tune` for: a condition on which it does, an argument of the tuner's method more (None where
    that is not known), and whether the value is sure to be one of those."""

    flag: str
    item: ast.keyword
    condition: str
    argument: str | None
    sure: bool = True


def _asked(file: PythonFile, facts: Facts, call: CallNode, flag: str) -> TunerFlag:
    item = keyword(call.node, flag)
    assert item
    value = item.value
    if isinstance(value, ast.IfExp) and (is_off(value.body) or is_off(value.orelse)):
        test = file.source_of(value.test)
        if is_off(value.body):
            test = test if isinstance(value.test, ast.Name | ast.Attribute | ast.Call) else f"({test})"
            return TunerFlag(flag, item, f"not {test}", _argument(flag, value.orelse))
        return TunerFlag(flag, item, test, _argument(flag, value.body))
    argument = _argument(flag, value)
    if argument is not None or literal(value)[0] or not is_repeatable(value):
        return TunerFlag(flag, item, "", argument)
    kind, text = kind_of(facts, file, call, value), file.source_of(value)
    name = {"auto_lr_find": "attr_name", "auto_scale_batch_size": "mode"}[flag]
    if kind == "str":
        return TunerFlag(flag, item, text, f", {name}={text}")
    return TunerFlag(flag, item, text, "", kind == "bool")


def _is_never_tuned(file: PythonFile, facts: Facts, call: CallNode) -> Literal["safe", "unsafe"] | None:
    """Whether no release that the project can be run with has a `fit` that obeyed the flags, and nothing calls `tune`:
    `safe` where nothing can, of this Trainer, `unsafe` where no code of the project does."""
    pinned = not is_open(facts, LIGHTNING) and not admits_below(facts, LIGHTNING, "1.0")
    if not pinned and oldest(_own_words(call)) < Version("1.0"):
        return None
    kept = kept_and_called(file, call, "tune")
    if kept and not kept[1] and not escapes(facts, file, call, kept[0], "tune"):
        return "safe"
    if kept and not file.calls_near([".tune"]):
        return "unsafe"
    for path in facts.mentions.get(TUNE, ()):
        kind = facts.kinds.get(path)
        other = facts.open(path) if kind == "python" else None
        calls = [call.node.func for call in other.calls_near([".tune"])] if other else []
        if kind == "notebook" or any(isinstance(node, ast.Attribute) and node.attr == "tune" for node in calls):
            return None
    return "unsafe" if pinned else None


def _own_words(call: CallNode) -> frozenset[str]:
    """The arguments of a call that tell for which release it was written: those of today other rules may have written
    into it by now."""
    return frozenset(item.arg for item in call.node.keywords if item.arg) - current()


def _plan(
    file: PythonFile, facts: Facts, call: CallNode, asked: Sequence[TunerFlag]
) -> tuple[list[tuple[ast.Expr, str]], Spelled] | str:
    """The `tune` statements with what is written for each, or why they cannot be told."""
    kept = kept_and_called(file, call, "tune")
    if kept is None:
        return "fixer cannot follow where the Trainer is used"
    if any(is_commented(file, call.node, each.item, beside=False) for each in asked):
        return "there is a comment next to it"
    if any(each.argument is None for each in asked):
        return "its value is only known when the program runs"
    name, calls = kept[0], {other.node: other for other in kept[1]}
    if escapes(facts, file, call, name, "tune") or not calls:
        return "fixer cannot find the call of `tune` that it was for"
    found = [
        (node, calls[node.value])
        for node in walk(space_of(file, call))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and node.value in calls
    ]
    if len(found) != len(calls) or any(keyword(other.node, word) for _, other in found for word in KWARGS):
        return "what `tune` returns is used, or it is given arguments for the tuner"
    if not all(is_steady(file, call, each.item.value, [other for _, other in found], facts) for each in asked):
        return "its value may change before `tune`"
    if any(";" in file.lines[node.lineno - 1] for node, _ in found):
        return "there is another statement on the line of `tune`"
    how = spelled(file, call, "tuner.Tuner")
    if isinstance(how, str):
        return how
    space = space_of(file, call)
    return [
        (node, _statements(file, other.node, how.text, name, _unanswered(space, node, asked))) for node, other in found
    ], how


def _unanswered(space: ast.AST, node: ast.Expr, asked: Sequence[TunerFlag]) -> list[TunerFlag]:
    """What flags ask for, without the conditions that a statement stands under already."""
    tests = [
        ast.unparse(part)
        for outer in walk(space)
        if isinstance(outer, ast.If) and any(node is each for item in outer.body for each in walk(item))
        for part in (outer.test.values if isinstance(outer.test, ast.BoolOp) else [outer.test])
        if not (isinstance(outer.test, ast.BoolOp) and isinstance(outer.test.op, ast.Or))
    ]
    known = {test.removesuffix(ending) for test in tests for ending in ("", " is True", " == True")}
    return [replace(each, condition="") if each.condition in known else each for each in asked]


def _statements(file: PythonFile, call: ast.Call, tuner: str, name: str, asked: Sequence[TunerFlag]) -> str:
    lines = []
    for each in asked:
        text = _written(file, call, tuner, name, FLAGS[each.flag][1], each.argument or "")
        lines.append(f"if {each.condition}:\n    {text}\n" if each.condition else f"{text}\n")
    return "".join(lines)


def _argument(flag: str, node: ast.expr) -> str | None:
    known, value = literal(node)
    if not known or not (value is True or isinstance(value, str)):
        return None
    if value is True:
        return ""
    if flag == "auto_lr_find":
        return f', attr_name="{value}"'
    return f', mode="{value}"' if value in MODES else None


def _written(file: PythonFile, call: ast.Call, tuner: str, name: str, method: str, extra: str) -> str:
    named = [f"{RENAMED.get(item.arg) or item.arg}={file.source_of(item.value)}" for item in call.keywords if item.arg]
    rest = [file.source_of(item) for item in call.keywords if not item.arg]
    parts = [*map(file.source_of, call.args), *named, *rest]
    return f"{tuner}({name}).{method}({', '.join(parts)}{extra})"


def _instead(node: cst.SimpleStatementLine, *, text: str) -> cst.FlattenSentinel[Any]:
    import libcst as cst

    from codemods.rewrite.edits import statements

    made: list[Any] = statements(text)
    above, behind = [*node.leading_lines], node.trailing_whitespace
    if isinstance(made[-1], cst.SimpleStatementLine):
        made[-1] = made[-1].with_changes(trailing_whitespace=behind)
    elif behind.comment:
        above.append(cst.EmptyLine(comment=behind.comment))
    made[0] = made[0].with_changes(leading_lines=above)
    return cst.FlattenSentinel(made)


def _tuned(file: PythonFile, facts: Facts, told: Container[ast.AST]) -> Iterator[Match]:
    """`trainer.tune(...)` of a Trainer that is not seen to be given a flag: a command line may give one."""
    for call in file.calls_near([".tune"]):
        function = call.node.func
        if not isinstance(function, ast.Attribute) or function.attr != "tune":
            continue
        if not (call.node.args or keyword(call.node, "model")):
            continue
        if call.node not in told and is_trainer(file, facts, call) is not False:
            if idle := without_tune(file, facts, call):
                yield idle
                continue
            reason = (
                "Not rewritten: fixer cannot tell what it obeyed; write `Tuner(trainer).scale_batch_size(model)` or "
                f"`Tuner(trainer).lr_find(model)`, with `{TUNER}`, or delete it if the Trainer "
                "was given neither flag."
            )
            yield Match(file.span(call.node), GONE, "manual", reason, "B15")


_IMPORT = "from pytorch_lightning import Trainer\n"
BEFORE = f"""\
{_IMPORT}
trainer = Trainer(max_epochs=3, auto_scale_batch_size="binsearch")
trainer.tune(model, datamodule=data)
trainer.fit(model, datamodule=data)
"""
AFTER = f"""\
{_IMPORT}from pytorch_lightning.tuner import Tuner

trainer = Trainer(max_epochs=3)
Tuner(trainer).scale_batch_size(model, datamodule=data, mode="binsearch")
trainer.fit(model, datamodule=data)
"""
HAND = f"{_IMPORT}\ntrainer = Trainer()\nfound = trainer.tuner.lr_find(model)\n"
TUNED = f"""\
{_IMPORT}from pytorch_lightning.tuner import Tuner

trainer = Trainer()
found = Tuner(trainer).lr_find(model, update_attr=False)
"""
IDLE = BEFORE.replace(', auto_scale_batch_size="binsearch"', "")
GONE_TOO = IDLE.replace("trainer.tune(model, datamodule=data)\n", "")
LEFT = f"{_IMPORT}\n\ndef build(find):\n    return Trainer(auto_lr_find=find)\n"

RULE = Rule(
    code="LIT113",
    name="trainer-tune",
    summary="`trainer.tune()` and the flags that it obeyed become calls of a `Tuner`",
    why=(
        "Lightning 2.0 removed auto_lr_find=, auto_scale_batch_size=, tune() and the tuner attribute (guide rows M174 "
        "to M176, breakage B15): a TypeError. The flags did nothing but tell tune() what to do, batch size first, and "
        "without one it did nothing. "
        "Called by hand, lr_find left the model's rate alone; a Tuner's own sets it unless told not to. What a search "
        "finds is not what 1.x found: sizes are no longer cut to the length of the data (2.0), end at 8192 and lose 5% "
        "in a binary search (2.6), and a rate is suggested by the loss over the rate (2.5.3)."
    ),
    fix="unsafe",
    versions="Lightning 0.7 - 1.9 -> 2.0 and later",
    triggers=(
        b"auto_lr_find",
        b"auto_scale_batch_size",
        b".tuner",
        b".tune(",
        b".lr_find(",
        b".scale_batch_size(",
    ),
    check=_check,
    rows=partial(best_levels, (("M174", "unsafe"), ("M175", "unsafe"), ("M176", "unsafe"), ("B15", "unsafe"))),
    examples=(Example(BEFORE, AFTER), Example(HAND, TUNED), Example(IDLE, GONE_TOO), Example(LEFT, LEFT)),
    mentions=(TUNE,),
    breaks_in="2.0.0",
    needs="2.0.0",
)
