"""LIT101: `Trainer(gpus=...)` was removed in Lightning 2.0 (guide rows M164 and M016)."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from codemods.facts import TRAINER, Facts, literal
from codemods.rule import Example, Match, NodeEdit, Rule
from codemods.source import CallNode, PythonFile
from codemods.syntax import is_super_call
from codemods.trainer.guards import guard_of

if TYPE_CHECKING:
    import libcst as cst

MESSAGE = "`gpus=` of Trainer was removed in Lightning 2.0"
COUNTS_OTHERS = ("num_processes", "tpu_cores", "ipus", "hpus")
GPU_NAMES = ("gpu", "cuda")
NEW_ACCELERATORS = (*GPU_NAMES, "auto", "cpu", "tpu", "hpu", "ipu", "mps")


@dataclass(frozen=True)
class Devices:
    """What a literal `gpus=` asks for. `devices` is its new text (None: as written, `""`: no such keyword)."""

    accelerator: str
    devices: str | None
    several: bool = False
    row: str = "M164"


CPU = Devices("cpu", "")


@dataclass(frozen=True)
class Rewrite:
    """What becomes of a call: keywords that take the place of `gpus=` (their text, None for its value), and
    keywords that get another value where they stand."""

    instead: tuple[tuple[str, str | None], ...]
    values: tuple[tuple[str, str], ...] = ()


def check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    """Every place where `gpus` is given to Lightning's Trainer, or to what passes it on."""
    for call in file.calls:
        dotted = call.scope.resolve(call.node.func)
        keyword = _keyword(call.node, "gpus")
        if dotted == TRAINER:
            guard = guard_of(file, call, "gpus") if keyword else "none"
            if keyword and guard == "unclear":
                yield _manual(file, keyword, "it stands under a version check", "if 2.x never gets here, leave it")
            elif keyword and guard == "none":
                yield _trainer_call(file, call, keyword)
            yield from _expanded(file, call)
        elif keyword and (through := _passed_on(file, call, dotted, facts)):
            yield _manual(file, keyword, *through)


def _trainer_call(file: PythonFile, call: CallNode, keyword: ast.keyword) -> Match:
    arguments = {item.arg: item.value for item in call.node.keywords if item.arg}
    if call.node.args or any(item.arg is None for item in call.node.keywords):
        why = "the call also takes arguments by position, `*` or `**`, which may hold `accelerator` or `devices`"
        return _manual(file, keyword, why, 'if they do not, write accelerator="gpu", devices=... for gpus=')
    asked = read_gpus(keyword.value)
    if asked is None:
        return _unreadable(file, keyword, arguments)
    planned = plan_rewrite(asked, keyword.value, arguments)
    if isinstance(planned, tuple):
        return _manual(file, keyword, *planned, row=asked.row)
    if not planned.instead and _commented(file, call.node, keyword):
        return _manual(file, keyword, "it says nothing any more, but a comment stands beside it", "delete it by hand")
    return Match(
        file.span(keyword),
        MESSAGE,
        "safe",
        _reason(asked, arguments, planned),
        asked.row,
        (NodeEdit(call.node, partial(apply, planned=planned)),),
    )


def read_gpus(node: ast.expr) -> Devices | None:
    """What a literal asked of Lightning 1.x, None where it is no literal or not the same in every 1.x.

    Run on 1.9.5 with four devices: None and 0 are the CPU, n the first n, -1 and "-1" all, "0,1" and [0, 1]
    those two. "1" was an id before 1.4 and is a count since (M016), and "0" was both.
    """
    known, value = literal(node)
    if not known:
        return None
    if value is None or (type(value) is int and value == 0):
        return CPU
    if type(value) is int:
        return Devices("gpu", None, value != 1) if value > 0 or value == -1 else None
    if isinstance(value, str):
        return _read_text(value)
    if isinstance(value, list | tuple) and _are_ids(list(value)):
        return Devices("gpu", None, len(value) > 1)
    return None


def _read_text(value: str) -> Devices | None:
    if value.strip() == "-1":
        return Devices("gpu", "-1", True)
    parts = [part.strip() for part in value.split(",") if part.strip()]
    if "," not in value or not all(part.isascii() and part.isdigit() for part in parts):
        return None
    ids = [int(part) for part in parts]
    return Devices("gpu", str(ids), len(ids) > 1, "M016") if _are_ids(ids) else None


def _are_ids(ids: list[Any]) -> bool:
    return bool(ids) and all(type(item) is int and item >= 0 for item in ids) and len(set(ids)) == len(ids)


def plan_rewrite(asked: Devices, value: ast.expr, arguments: Mapping[str, ast.expr]) -> Rewrite | tuple[str, str]:
    """The rewrite, or why there is none and what to do, given the call's other keywords."""
    others = [name for name in COUNTS_OTHERS if name in arguments and literal(arguments[name]) != (True, None)]
    given = arguments.get("accelerator")
    known, accelerator = literal(given) if given else (True, None)
    if literal(value) == (True, None) and (others or (given and accelerator is not None) or not known):
        return Rewrite(())
    if others:
        return f"`{others[0]}=` is given too, and which of the two counts differs by version", "keep the one you mean"
    if "devices" in arguments:
        return "`devices=` is given too; 1.x let `gpus=` win where it was set", "keep the one you mean"
    if not known or not (accelerator is None or isinstance(accelerator, str)):
        return "`accelerator=` is no literal", "say by it which hardware to use, and give the number as devices="
    if accelerator is None:
        return _without_accelerator(asked, given is not None)
    if asked.accelerator == "gpu" and accelerator in GPU_NAMES:
        return Rewrite((("devices", asked.devices),))
    if asked is CPU and accelerator == "cpu":
        return Rewrite(())
    if accelerator in NEW_ACCELERATORS:
        return (
            f'it contradicts accelerator="{accelerator}"',
            "keep the hardware you mean, and give its number as devices=",
        )
    return (
        f'accelerator="{accelerator}" is how older releases named the strategy',
        f'write strategy="{accelerator}", accelerator="{asked.accelerator}"'
        + (", devices=..." if asked.devices != "" else ""),
    )


def _without_accelerator(asked: Devices, spelled: bool) -> Rewrite:
    accelerator = ("accelerator", f'"{asked.accelerator}"')
    devices = (("devices", asked.devices),) if asked.devices != "" else ()
    return Rewrite(devices, (accelerator,)) if spelled else Rewrite((accelerator, *devices))


def _reason(asked: Devices, arguments: Mapping[str, ast.expr], planned: Rewrite) -> str:
    if asked is CPU:
        if not planned.instead and not planned.values:
            return "it was the default and changed nothing"
        return "1.x trained on the CPU here; without accelerator= 2.x takes every accelerator it finds"
    reason = "the same devices, under the keywords that 1.7 and later have for them"
    if asked.several and not {"strategy", "distributed_backend"} & set(arguments):
        reason += '; several devices start by "ddp" since 2.0 (1.x: strategy="ddp_spawn")'
    return reason


def _unreadable(file: PythonFile, keyword: ast.keyword, arguments: Mapping[str, ast.expr]) -> Match:
    known, value = literal(keyword.value)
    if known:
        why = f"what gpus={value!r} asks for is not the same in every 1.x release, or nothing"
        return _manual(file, keyword, why, 'write accelerator="gpu", devices=n (a number) or [i, j] (ids)', "M016")
    text = file.source_of(keyword.value)
    short = text if len(text) <= 60 and "\n" not in text else "n"
    if not isinstance(keyword.value, ast.Name | ast.Attribute | ast.Call | ast.Subscript) and short != "n":
        short = f"({short})"
    advice = f'write accelerator="gpu" if {short} else "cpu", devices={short} or "auto"'
    if short == "n":
        advice += ", where n is that value"
    if "accelerator" in arguments:
        advice = "give the number as devices=, the hardware as accelerator=, and how they work together as strategy="
    return _manual(file, keyword, "its value is not known before the program runs", advice)


def _expanded(file: PythonFile, call: CallNode) -> Iterator[Match]:
    """A `"gpus"` key in the dictionary that a Trainer gets by `**`."""
    for item in call.node.keywords:
        if item.arg is not None:
            continue
        given = _bound_once(call, item.value.id, file) if isinstance(item.value, ast.Name) else item.value
        key = _key(given, call) if given else None
        if key is not None:
            advice = 'write "accelerator" and "devices" keys for it'
            yield _manual(file, key, "it reaches Trainer through a dictionary", advice)


def _bound_once(call: CallNode, name: str, file: PythonFile) -> ast.expr | None:
    """The value of a name that the call's own scope binds by one assignment, None otherwise."""
    space = next((item for item in reversed(call.within) if not isinstance(item, ast.ClassDef)), file.tree)
    stores = [
        node
        for node in ast.walk(space)
        if isinstance(node, ast.Name) and node.id == name and type(node.ctx) is ast.Store
    ]
    values = [
        node.value
        for node in ast.walk(space)
        if isinstance(node, ast.Assign | ast.AnnAssign)
        and node.value is not None
        and any(isinstance(target, ast.Name) and target.id == name for target in _targets(node))
    ]
    return values[0] if len(stores) == len(values) == 1 else None


def _targets(node: ast.Assign | ast.AnnAssign) -> list[ast.expr]:
    return node.targets if isinstance(node, ast.Assign) else [node.target]


def _key(node: ast.expr, call: CallNode) -> ast.expr | ast.keyword | None:
    if isinstance(node, ast.Dict):
        return next((key for key in node.keys if isinstance(key, ast.Constant) and key.value == "gpus"), None)
    is_dict = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "dict"
    hidden = call.scope.lookup("dict") is not None
    return _keyword(node, "gpus") if is_dict and not hidden and isinstance(node, ast.Call) else None


def _passed_on(file: PythonFile, call: CallNode, dotted: str | None, facts: Facts) -> tuple[str, str] | None:
    """Why a call that is no `Trainer(...)` still hands `gpus=` to one, and what to do."""
    by_hand = 'give accelerator="gpu", devices=... instead'
    if dotted == "functools.partial" and call.node.args and call.scope.resolve(call.node.args[0]) == TRAINER:
        return "a partial may get other arguments later", by_hand
    if dotted in (f"{TRAINER}.from_argparse_args", f"{TRAINER}.__init__"):
        return f"it reaches Trainer through `{dotted.rpartition('.')[2]}`", by_hand
    if is_super_call(call.node, "__init__"):
        owner = next((item for item in reversed(call.within) if isinstance(item, ast.ClassDef)), None)
        name = next((item.qualname for item in file.classes if item.node is owner), None)
        dotted = f"{file.module}.{name}" if name else None
    item = facts.find_class(dotted, file.path) if dotted else None
    if item and facts.kind(item) == TRAINER:
        return f"`{item.name}` is a Trainer of this project, with a constructor of its own perhaps", by_hand
    return None


def _manual(file: PythonFile, place: ast.keyword | ast.expr, why: str, advice: str, row: str = "M164") -> Match:
    return Match(file.span(place), MESSAGE, "manual", f"{why}; {advice}", row)


def _keyword(call: ast.Call, name: str) -> ast.keyword | None:
    return next((item for item in call.keywords if item.arg == name), None)


def _commented(file: PythonFile, call: ast.Call, keyword: ast.keyword) -> bool:
    """Whether a comment stands between the neighbours of an argument, which goes with it when it is deleted."""
    index = call.keywords.index(keyword)
    first = call.keywords[index - 1].value if index else call.func
    last = call.keywords[index + 1].lineno - 1 if index + 1 < len(call.keywords) else call.end_lineno
    between = file.lines[(first.end_lineno or 1) - 1 : last]
    return any("#" in line for line in between)


def apply(call: cst.Call, *, planned: Rewrite) -> cst.Call:
    """The call with its new keywords, laid out like the one that they replace."""
    import libcst as cst

    from codemods.edits import without_arguments

    values = dict(planned.values)
    args = [
        item.with_changes(value=cst.parse_expression(values[item.keyword.value]))
        if item.keyword and item.keyword.value in values
        else item
        for item in call.args
    ]
    if not planned.instead:
        return without_arguments(call.with_changes(args=args), frozenset({"gpus"}))
    index = next(i for i, item in enumerate(args) if item.keyword and item.keyword.value == "gpus")
    old = args[index]
    new = [
        old.with_changes(
            keyword=cst.Name(name),
            value=old.value if text is None else cst.parse_expression(text),
            comma=cst.Comma(whitespace_after=_between(call, index)),
            whitespace_after_arg=cst.SimpleWhitespace(""),
        )
        for name, text in planned.instead
    ]
    new[-1] = new[-1].with_changes(comma=old.comma, whitespace_after_arg=old.whitespace_after_arg)
    return call.with_changes(args=[*args[:index], *new, *args[index + 1 :]])


def _between(call: cst.Call, index: int) -> cst.BaseParenthesizableWhitespace:
    """What separates two arguments at that place: a line break where each argument has a line of its own."""
    import libcst as cst

    def space(position: int) -> cst.BaseParenthesizableWhitespace | None:
        if position < 0:
            return call.whitespace_before_args
        comma = call.args[position].comma
        return comma.whitespace_after if isinstance(comma, cst.Comma) else None

    before, after = space(index - 1), space(index) if index + 1 < len(call.args) else None
    breaks = [item for item in (before, after) if isinstance(item, cst.ParenthesizedWhitespace)]
    alone_before = index == 0 or isinstance(before, cst.ParenthesizedWhitespace)
    alone_after = index + 1 == len(call.args) or isinstance(after, cst.ParenthesizedWhitespace)
    if not breaks or not alone_before or not alone_after:
        return cst.SimpleWhitespace(" ")
    first_line = cst.TrailingWhitespace(newline=breaks[0].first_line.newline)
    return breaks[0].with_changes(first_line=first_line, empty_lines=[])


def _calls(file: PythonFile) -> list[CallNode]:
    """The calls with the keyword."""
    return [call for call in file.calls_near(["gpus"]) if _keyword(call.node, "gpus")]


def collect(file: PythonFile) -> tuple[str, ...] | None:
    """The names by which the file calls what may be the project's own Trainer."""
    dotted = {call.scope.resolve(call.node.func) for call in _calls(file)} - {TRAINER, None}
    return tuple(sorted(name.rpartition(".")[2] for name in dotted if name)) or None


def context(collected: Mapping[str, Any]) -> tuple[bytes, ...]:
    """Files that hold one of those names are read, so that its class is found."""
    return tuple(sorted({name.encode() for names in collected.values() for name in names}))


def present(file: PythonFile) -> bool:
    """Whether `gpus` is a keyword of a call or a string of the file."""
    return '"gpus"' in file.text or "'gpus'" in file.text or bool(_calls(file))


_IMPORT = "import pytorch_lightning as pl\n\n"

RULE = Rule(
    code="LIT101",
    name="trainer-gpus",
    summary="`Trainer(gpus=...)` becomes `accelerator=` and `devices=`",
    why=(
        "Lightning 1.7 deprecated `gpus=` and 2.0 removed it: the call is a TypeError (guide row M164, pull request "
        "16171). None and 0 asked for the CPU, which 1.x also took by default and 2.x does not, so they become "
        '`accelerator="cpu"`. Strings with a comma were ids (M016, pull request 6388); a string without one was an id '
        "before 1.4 and a count after, and is left to a person, as is every value that is known only when the program "
        "runs."
    ),
    fix="safe",
    versions="Lightning 1.x -> 2.0 and later",
    triggers=(b"gpus",),
    check=check,
    collect=collect,
    context=context,
    present=present,
    breaks_in="2.0.0",
    needs="1.7.0",
    examples=(
        Example(
            f"{_IMPORT}trainer = pl.Trainer(max_epochs=3, gpus=1)\n",
            f'{_IMPORT}trainer = pl.Trainer(max_epochs=3, accelerator="gpu", devices=1)\n',
        ),
        Example(
            f"{_IMPORT}trainer = pl.Trainer(\n    gpus=[0, 1],  # both\n    strategy='ddp',\n)\n",
            f"{_IMPORT}trainer = pl.Trainer(\n"
            "    accelerator=\"gpu\",\n    devices=[0, 1],  # both\n    strategy='ddp',\n)\n",
        ),
        Example(
            f'{_IMPORT}trainer = pl.Trainer(gpus="0,1", accelerator="gpu")\n',
            f'{_IMPORT}trainer = pl.Trainer(devices=[0, 1], accelerator="gpu")\n',
        ),
        Example(
            f"{_IMPORT}trainer = pl.Trainer(gpus=0)\n",
            f'{_IMPORT}trainer = pl.Trainer(accelerator="cpu")\n',
        ),
        Example(
            f"{_IMPORT}trainer = pl.Trainer(gpus=args.gpus)\n",
            f"{_IMPORT}trainer = pl.Trainer(gpus=args.gpus)\n",
        ),
        Example(
            "from cluster import Trainer\n\ntrainer = Trainer(gpus=1)\n",
            "from cluster import Trainer\n\ntrainer = Trainer(gpus=1)\n",
        ),
    ),
    references=(
        "https://lightning.ai/docs/pytorch/stable/upgrade/from_1_9.html",
        "https://github.com/Lightning-AI/pytorch-lightning/pull/16171",
    ),
)
