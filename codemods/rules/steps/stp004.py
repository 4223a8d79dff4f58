"""STP004: max_steps=None, which is a TypeError."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from codemods.code.calls import space_of
from codemods.code.nodes import walk
from codemods.code.source import CallNode, PythonFile, TextFile
from codemods.code.syntax import is_none, own_nodes
from codemods.lightning.calls import builds_trainer
from codemods.lightning.facts import TRAINER, Facts, is_trainer_call
from codemods.lightning.kinds import part_of_choice
from codemods.rule import Example, Match, NodeEdit, Rule, TextEdit, best_levels, touches
from codemods.rules.steps.call_context import values_at
from codemods.rules.steps.modules import assigned
from codemods.rules.steps.trainers import gives_limit

if TYPE_CHECKING:
    import libcst as cst

MESSAGE = "`max_steps=None` is a TypeError: no limit is -1"
ROW = "M049"
SAFE = "None meant no limit, which is written -1 since 1.5."
_NULL = re.compile(r"^(?P<indent>[ ]*)max_steps:[ \t]*(?P<value>null|~|Null|NULL|None)?[ \t]*(?=#|\r?$)", re.MULTILINE)


def _present(file: PythonFile) -> bool:
    """Whether a Trainer gets a limit: by its name, or by what `**` brings."""
    return gives_limit(file) or "**" in file.text


def _check(file: PythonFile | TextFile, facts: Facts) -> Iterator[Match]:
    if isinstance(file, TextFile):
        yield from _yaml(file, facts)
        return
    for call in file.calls:
        keyword = next((item for item in call.node.keywords if item.arg == "max_steps"), None)
        if keyword and builds_trainer(call):
            text = _without_none(file, call, keyword.value)
            if text:
                edit = NodeEdit(keyword, partial(_with_value, text=text))
                yield Match(file.span(keyword), MESSAGE, "safe", SAFE, ROW, edits=(edit,))
    yield from _handed_on(file)


def _without_none(file: PythonFile, call: CallNode, node: ast.expr) -> str | None:
    """The value with -1 where it was None; None where it cannot be seen to be None."""
    if is_none(node):
        return "-1"
    if isinstance(node, ast.IfExp) and is_none(node.body) != is_none(node.orelse):
        other = node.orelse if is_none(node.body) else node.body
        test, rest = part_of_choice(file, node.test), part_of_choice(file, other)
        if is_none(node.body) and re.sub(r"\s", "", test) == re.sub(r"\s", "", rest) + "==-1":
            return rest
        return f"-1 if {test} else {rest}" if is_none(node.body) else f"{rest} if {test} else -1"
    text = file.source_of(node)
    if isinstance(node, ast.Name) and (_defaults_to_none(call, node.id) or _may_be_none(file, call, node.id)):
        return f"-1 if {text} is None else {text}"
    if (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and _argument_defaults_to_none(file, node.attr)
    ):
        return f"-1 if {text} is None else {text}"
    return None


def _defaults_to_none(call: CallNode, name: str) -> bool:
    """Whether a name is a parameter of the function around the call with the default None, and nothing else."""
    functions = [node for node in call.within if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    if not functions:
        return False
    arguments = functions[-1].args
    every = [*arguments.posonlyargs, *arguments.args]
    defaults = dict(
        zip([item.arg for item in every[len(every) - len(arguments.defaults) :]], arguments.defaults, strict=True)
    )
    defaults.update(
        {item.arg: value for item, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if value}
    )
    stored = any(
        isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store)
        for node in own_nodes(functions[-1])
    )
    return name in defaults and is_none(defaults[name]) and not stored


def _may_be_none(file: PythonFile, call: CallNode, name: str) -> bool:
    """Whether a name is None in one of several cases, and is not set to something else for good before the call."""
    values = values_at(file, call, name)
    cases = [part for value in values for part in _cases(value)]
    return len(cases) > 1 and any(map(is_none, cases)) and not _is_set(file, call, name)


def _cases(node: ast.expr) -> tuple[ast.expr, ...]:
    return (node.body, node.orelse) if isinstance(node, ast.IfExp) else (node,)


def _is_set(file: PythonFile, call: CallNode, name: str) -> bool:
    """Whether a name has a value on every way to a call: by the last line that sets it, or one for where it is None."""
    space: Any = space_of(file, call)
    return _set_after(_before(space.body, call.node), name, False)


def _before(lines: list[ast.stmt], call: ast.Call) -> list[ast.stmt]:
    """The statements that run before a call in the block of some statements, or in one of theirs, that it stands in."""
    for index, line in enumerate(lines):
        if any(inner is call for inner in walk(line)):
            blocks = [item.body for name in ("handlers", "cases") for item in getattr(line, name, ())]
            blocks += [getattr(line, name, []) for name in ("body", "orelse", "finalbody")]
            inside = (block for block in blocks if any(inner is call for item in block for inner in walk(item)))
            return [*lines[:index], *_before(next(inside, []), call)]
    return lines


def _set_after(lines: list[ast.stmt], name: str, there: bool) -> bool:
    """Whether a name has a value behind some statements, of which it had one before or not; so it has where these end
    what goes on."""
    for line in lines:
        there = _set_behind(line, name, there)
    return there or (bool(lines) and isinstance(lines[-1], ast.Raise | ast.Return | ast.Continue | ast.Break))


def _set_behind(line: ast.stmt, name: str, there: bool) -> bool:
    if isinstance(line, ast.If):
        fallback = ast.unparse(line.test) in (f"{name} is None", f"not {name}")
        return _set_after(line.body, name, there and not fallback) and _set_after(line.orelse, name, there or fallback)
    if isinstance(line, ast.Try):
        whole = _set_after([*line.body, *line.orelse], name, there)
        failed = there and not any(any(_nones(item, name)) for item in line.body)
        handled = all(_set_after(item.body, name, failed) for item in line.handlers)
        return _set_after(line.finalbody, name, whole and handled)
    if isinstance(line, ast.With | ast.AsyncWith):
        return _set_after(line.body, name, there)
    if isinstance(line, ast.Match):
        last = line.cases[-1]
        every = isinstance(last.pattern, ast.MatchAs) and last.pattern.pattern is None and last.guard is None
        return (every or there) and all(_set_after(case.body, name, there) for case in line.cases)
    nones = _nones(line, name)
    return there if not nones else not any(nones) and (there or isinstance(line, ast.Assign | ast.AnnAssign))


def _nones(line: ast.stmt, name: str) -> list[bool]:
    """Of each value that a statement gives a name, whether it is None in some case."""
    return [any(map(is_none, _cases(value))) for value in assigned(ast.Module([line], [])).get(name, [])]


def _argument_defaults_to_none(file: PythonFile, name: str) -> bool:
    """Whether the file's one command line argument of that name has the default None, and nobody assigns to it."""
    if any(isinstance(node.ctx, ast.Store) for node in file.attributes(name)):
        return False
    found = [
        call.node
        for call in file.calls
        if isinstance(call.node.func, ast.Attribute)
        and call.node.func.attr == "add_argument"
        and any(
            isinstance(item, ast.Constant) and item.value in (f"--{name}", f"--{name.replace('_', '-')}")
            for item in call.node.args
        )
    ]
    given = [item.value for item in found[0].keywords if item.arg == "default"] if len(found) == 1 else []
    return len(found) == 1 and (not given or is_none(given[0]))


def _handed_on(file: PythonFile) -> Iterator[Match]:
    """`args.max_steps = None` before the arguments make a Trainer."""
    for item in file.assignments:
        node = item.node
        if not isinstance(node, ast.Assign) or not is_none(node.value):
            continue
        target = node.targets[0]
        if (
            not isinstance(target, ast.Attribute)
            or target.attr != "max_steps"
            or not isinstance(target.value, ast.Name)
        ):
            continue
        if any(_takes(call, target.value.id) for call in file.calls if call.within == item.within):
            reason = f"Not rewritten: `{target.value.id}` is used elsewhere too; write -1, or delete the statement."
            yield Match(file.span(node), MESSAGE, "manual", reason, ROW)


def _takes(call: CallNode, name: str) -> bool:
    whole = call.scope.resolve(call.node.func) == f"{TRAINER}.from_argparse_args" and any(
        isinstance(item, ast.Name) and item.id == name for item in call.node.args
    )
    return whole or (
        is_trainer_call(call)
        and any(
            item.arg == "max_steps" and ast.unparse(item.value) == f"{name}.max_steps" for item in call.node.keywords
        )
    )


def _yaml(file: TextFile, facts: Facts) -> Iterator[Match]:
    """`max_steps: null` among the arguments of a Trainer that Hydra or LightningCLI builds."""
    for found in _NULL.finditer(file.text):
        indent = len(found["indent"])
        block = _block(file.text, found.start(), indent)
        target = re.search(
            r"^[ ]*_target_:[ \t]*[\"']?(pytorch_lightning|lightning(\.pytorch)?)(\.trainer)?\.Trainer\b",
            block,
            re.MULTILINE,
        )
        under = _parent(file.text, found.start(), indent) == "trainer" or (not indent and _is_group(file.path))
        if not target and not (under and facts.uses_lightning):
            continue
        start = found.start("value") if found["value"] else found.start() + indent + len("max_steps:")
        end = found.end("value") if found["value"] else start
        edit = TextEdit(start, end, "-1" if found["value"] else " -1")
        span = file.span(found.start() + indent, max(end, start))
        level: Any = "safe" if target else "unsafe"
        reason = SAFE if target else f"{SAFE} fixer assumes that the key is an argument of the Trainer."
        yield Match(span, MESSAGE, level, reason, ROW, edits=(edit,))


def _is_group(path: str) -> bool:
    """Whether a file is what Hydra puts in the place of the key `trainer`."""
    return path.split("/")[-2:-1] == ["trainer"]


def _block(text: str, at: int, indent: int) -> str:
    """The lines around a place that have its indentation, and what is nested in them."""
    lines = text.split("\n")
    here = text.count("\n", 0, at)
    first = last = here
    while first > 0 and _inside(lines[first - 1], indent):
        first -= 1
    while last + 1 < len(lines) and _inside(lines[last + 1], indent):
        last += 1
    own = [line for line in lines[first : last + 1] if len(line) - len(line.lstrip(" ")) == indent]
    return "\n".join(own)


def _inside(line: str, indent: int) -> bool:
    bare = line.strip()
    return not bare or bare.startswith("#") or len(line) - len(line.lstrip(" ")) >= indent


def _parent(text: str, at: int, indent: int) -> str | None:
    """The key of the mapping that a place stands in."""
    for line in reversed(text[:at].split("\n")[:-1]):
        bare = line.strip()
        if bare and not bare.startswith("#") and len(line) - len(line.lstrip(" ")) < indent:
            return (
                bare.partition(":")[0].strip("\"' ") if bare.partition(":")[2].partition("#")[0].strip() == "" else None
            )
    return None


@touches("arguments")
def _with_value(node: cst.Arg, *, text: str) -> cst.Arg:
    import libcst as cst

    return node.with_changes(value=cst.parse_expression(text))


_HEAD = "from pytorch_lightning import Trainer\n\n\n"
BEFORE = (
    _HEAD + "def train(max_epochs, max_steps=None):\n    return Trainer(max_epochs=max_epochs, max_steps=max_steps)\n"
)
AFTER = BEFORE.replace("max_steps=max_steps", "max_steps=-1 if max_steps is None else max_steps")
LITERAL = _HEAD + "trainer = Trainer(max_epochs=3, max_steps=None)\n"
NUMBER = _HEAD + "trainer = Trainer(max_epochs=3, max_steps=limit)\n"
YAML = "_target_: pytorch_lightning.Trainer\nmax_epochs: 1\nmax_steps: null  # no limit\nmin_steps: null\n"

RULE = Rule(
    code="STP004",
    name="max-steps-none",
    summary="`Trainer(max_steps=None)` becomes `-1`",
    why=(
        "Lightning 1.5 made -1 the value for no limit (guide row M049, pull request 9460): 1.8.6, 1.9.5 "
        "and 2.6.6 raise `'<' not supported between instances of 'NoneType' and 'int'` (run)."
    ),
    fix="safe",
    versions="Lightning 1.5 and later",
    triggers=(b"max_steps", b"Trainer("),
    text_triggers=(b"max_steps",),
    check=_check,
    rows=partial(best_levels, (("M049", "safe"),)),
    examples=(
        Example(BEFORE, AFTER),
        Example(LITERAL, LITERAL.replace("None", "-1")),
        Example(NUMBER, NUMBER),
        Example(YAML, YAML.replace("max_steps: null", "max_steps: -1"), path="conf/trainer.yaml"),
    ),
    breaks_in="1.6.0",
    needs="1.5.0",
    present=_present,
    kinds=("python", "yaml"),
    references=("https://github.com/Lightning-AI/pytorch-lightning/pull/9460",),
)
