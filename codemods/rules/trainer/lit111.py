"""LIT111: how devices work together: strategies by their old names and keywords, and plugins that became strategies."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from codemods.code.calls import keywords
from codemods.code.literals import literal
from codemods.code.source import CallNode, PythonFile
from codemods.code.syntax import is_super_call
from codemods.lightning.arguments import removal
from codemods.lightning.calls import trainer_calls
from codemods.lightning.exclusive_use import HARDWARE
from codemods.lightning.facts import Facts
from codemods.lightning.guards import guard_of
from codemods.lightning.key_values import as_read
from codemods.lightning.keyword_flow import HandedKeyword, handed
from codemods.lightning.lightning_cli import DEFAULTS
from codemods.lightning.trainer_subclasses import is_lightnings, receivers
from codemods.rewrite.dictionaries import (
    NO_OTHER,
    ONE_PLACE,
    at_times,
    exchange,
    in_one_place,
    may_get,
    names_of,
)
from codemods.rewrite.keywords import is_commented, replaced
from codemods.rule import Example, Match, NodeEdit, Rule, best_levels
from codemods.rules.trainer import beside_processes, picked_devices
from codemods.rules.trainer.beside_tpus import TPUS
from codemods.rules.trainer.counted import ArgumentReplacement
from codemods.rules.trainer.device_plan import taken_along
from codemods.rules.trainer.ends import end_of, unset
from codemods.rules.trainer.plugins import CLASSES, check_plugins, is_named

CODE = "LIT111"
GONE = ("distributed_backend", "num_processes", "tpu_cores", "num_tpu_cores", "ipus", "auto_select_gpus")
KEPT = ("strategy", "accelerator", "devices", "plugins")
ROWS = {
    "distributed_backend": "M024",
    "num_processes": "M167",
    "tpu_cores": "M165",
    "num_tpu_cores": "M165",
    "ipus": "M166",
    "auto_select_gpus": "M169",
    "strategy": "B16",
    "accelerator": "M024",
    "devices": "G20399",
    "plugins": "M092",
}


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    seen: set[int] = set()
    for call in trainer_calls(file):
        for item, end in _ends(file, facts, call).items():
            if end is not None and isinstance(item, ast.keyword):
                yield from _match(file, facts, call, item, end)
    for call, built in receivers(file, facts):
        yield from _handed_over(file, facts, call, seen, built)
    for call in file.calls_near(["super"]):
        if is_super_call(call.node, "__init__") and is_lightnings(file, facts, call):
            for item in call.node.keywords:
                if end := unset(file, call, item, keywords(call.node)):
                    yield from _match(file, facts, call, item, end)
    yield from check_plugins(file, facts, CODE)


def _match(
    file: PythonFile, facts: Facts, call: CallNode, item: ast.keyword, end: ArgumentReplacement
) -> Iterator[Match]:
    name = item.arg or ""
    guard = guard_of(file, facts, call, name) if name in GONE else "none"
    if guard == "both":
        return
    if guard == "unclear":
        end = ArgumentReplacement(
            None, "manual", "it is inside a version check; if this code never runs on 2.x, leave it"
        )
    given = keywords(call.node)
    if name in (*TPUS, beside_processes.NAME) and guard == "none" and taken_along(file, facts, call) == name:
        return
    taken = next((word for word, _ in end.new or () if word in given and word != name), None)
    gone: tuple[str, ...] = ()
    if taken and _is_said(end, given[taken]):
        end = replace(end, new=())
    elif taken and name == "plugins" and is_named(given[taken]):
        gone = (taken,)
    elif taken:
        end = ArgumentReplacement(None, "manual", f"`{taken}=` is given too; keep one of the two", end.row)
    if end.new == () and is_commented(file, call.node, item, beside=False):
        end = ArgumentReplacement(None, "manual", "there is a comment next to it; delete both by hand", end.row)
    message = removal(name) if name in GONE else f"`{name}=` of Trainer no longer takes this value"
    row = ROWS[name] if end.row is None else end.row or None
    if end.new is None:
        yield Match(file.span(item), message, "manual", f"Not rewritten: {end.reason}.", row)
        return
    if end.new and end.level == "safe" and may_get(file, facts, call, {name, *(new for new, _ in end.new)}):
        end = replace(end, level="unsafe", reason=f"{end.reason}; fixer assumes that `**` does not give it too")
    edit = NodeEdit(call.node, partial(replaced, name=name, new=end.new or (), gone=gone))
    match = Match(file.span(item), message, end.level, f"{end.reason[:1].upper()}{end.reason[1:]}.", row, (edit,))
    picks = name == picked_devices.NAME and not may_get(file, facts, call, {*HARDWARE, name})
    yield picked_devices.picking(file, facts, call, given, match) if picks else match


def _is_said(end: ArgumentReplacement, value: ast.expr) -> bool:
    """Whether an argument that takes the place of one has that value already."""
    [*_, (_, text)] = end.new or (("", None),)
    return text is not None and literal(ast.parse(text, mode="eval").body) == literal(value) != (False, None)


def _handed_over(file: PythonFile, facts: Facts, call: CallNode, seen: set[int], built: bool) -> Iterator[Match]:
    """The same of what arrives by `**`, where it is set; places in `seen` have been named already."""
    every = handed(file, facts, call)
    names = [*names_of(every), *keywords(call.node)]
    ends = _ends(file, facts, call)
    for entry in every:
        if entry.file is not file or entry.name not in (*GONE, *KEPT) or id(entry.place) in seen:
            continue
        seen.add(id(entry.place))
        end = ends.get(entry)
        if end is None and entry.name in KEPT:
            continue
        if (why := at_times(entry, every)) and end is not None and end.new is not None:
            end = replace(end, new=None, level="manual", reason=why)
        if end is None or end.new is None:
            end = end or ArgumentReplacement(None, "manual", "its value is only known when the program runs")
            yield _found(file, entry, replace(end, reason=f"Not rewritten: {end.reason}; it is set in a dictionary"))
            continue
        taken = any(name in names and name != entry.name for name, _ in end.new)
        alike = [other for other in every if other.name == entry.name]
        edits = _edits(file, facts, call, alike, ends) if built and not taken else {}
        edit = edits.get(entry) if names.count(entry.name) == len(alike) else None
        if edit is None:
            asked = ", ".join(f"{name}={text or '...'}" for name, text in end.new)
            advice = f"write {asked} there" if end.new else "remove it there"
            yield _found(
                file,
                entry,
                ArgumentReplacement(None, "manual", f"It reaches Trainer through a dictionary: {advice}", end.row),
            )
        elif isinstance(entry.holder, ast.AnnAssign):
            yield _found(file, entry, replace(end, level="unsafe", reason=f"{end.reason}; {NO_OTHER}"), edit)
        else:
            if end.level == "safe" and not in_one_place(file, call, every, {*HARDWARE, entry.name}):
                end = replace(end, level="unsafe", reason=f"{end.reason}; {ONE_PLACE}")
            match = _found(file, entry, end, edit)
            yield replace(match, unit=f"{file.path}:{alike[0].place.lineno}") if len(alike) > 1 else match


def _edits(
    file: PythonFile,
    facts: Facts,
    call: CallNode,
    alike: Sequence[HandedKeyword],
    ends: Mapping[ast.keyword | HandedKeyword, ArgumentReplacement | None],
) -> dict[HandedKeyword, NodeEdit]:
    """What is edited where a key is set: at its one place, or in every arm of an `if`, where what it is without is
    spelled out; nothing where one of them stays."""
    found = {}
    words = frozenset[str]().union(*(_words(ends.get(entry)) for entry in alike))
    unset = tuple((word, '"auto"') for word in sorted(words)) if words <= AUTO else None
    for entry in alike:
        end = ends.get(entry)
        new = unset if end and end.new == () and words else end.new if end else None
        edit = exchange(file, facts, call, entry, new) if new is not None else None
        if edit and (entry.always or len(alike) == 1):
            found[entry] = edit
    return found if len(found) == len(alike) else {}


def _found(file: PythonFile, entry: HandedKeyword, end: ArgumentReplacement, edit: NodeEdit | None = None) -> Match:
    """A key of a dictionary, with what becomes of it."""
    name = entry.name
    message = removal(name, name) if name in GONE else f"`{name}` of Trainer no longer takes this value"
    reason = f"{end.reason[:1].upper()}{end.reason[1:]}."
    row = ROWS[entry.name] if end.row is None else end.row or None
    return Match(file.span(entry.place), message, end.level, reason, row, (edit,) if edit else ())


def _ends(
    file: PythonFile, facts: Facts, call: CallNode
) -> dict[ast.keyword | HandedKeyword, ArgumentReplacement | None]:
    """What becomes of the arguments of a call, and of the keys that it gets by `**` and can read. Those that only go
    count for nothing beside the others; where two are to become the same argument, or one is to become another that
    goes, both stay."""
    every = handed(file, facts, call)
    given = {entry.name: entry.value for entry in every if entry.value} | keywords(call.node)
    asked: dict[ast.keyword | HandedKeyword, ast.keyword] = {item: item for item in call.node.keywords}
    at: dict[ast.keyword | HandedKeyword, CallNode] = {}
    for entry in every:
        if entry.value and (there := as_read(file, call, entry, every)):
            asked[entry], at[entry] = ast.keyword(entry.name, entry.value), there
    asked = {place: item for place, item in asked.items() if item.arg in (*GONE, *KEPT)}
    items = [*asked.values()]
    calls = [at.get(place, call) for place in asked]
    idle: set[str | None] = set()
    ends: list[ArgumentReplacement | None] = []
    for _ in range(3):
        beside = [
            {word: given[word] for word in given if word == item.arg or word not in idle | _none_beside(item, given)}
            for item in items
        ]
        ends = [end_of(file, facts, *each) for each in zip(calls, items, beside, strict=True)]
        gone = {item.arg for item, end in zip(items, ends, strict=True) if end and end.new == ()}
        if gone == idle:
            break
        idle = gone
    made = Counter(
        word
        for name, words in {(item.arg, _words(end)) for item, end in zip(items, ends, strict=True)}
        for word in words - {name}
    )
    for index, (item, end) in enumerate(zip(items, ends, strict=True)):
        twice = [word for word in sorted(_words(end)) if made[word] > 1]
        if end and end.new == () and item.arg and item.arg in made:
            twice = [item.arg]
        if end and twice:
            why = f"another argument is to become `{twice[0]}=` too; write one of them"
            ends[index] = ArgumentReplacement(None, "manual", why, end.row)
    return dict(zip(asked, ends, strict=True))


def _none_beside(item: ast.keyword, given: Mapping[str, ast.expr]) -> set[str]:
    """`gpus`, where it asked for nothing; an accelerator that is None beside it is LIT101's."""
    if "gpus" not in given or (item.arg == "accelerator" and literal(item.value) == (True, None)):
        return set()
    known, value = literal(given["gpus"])
    processes = beside_processes.is_given(given) and "devices" not in given
    on_cpu = processes and ((known and value == 0 and not TPUS & given.keys()) or beside_processes.means_cpu(given))
    return {"gpus"} if on_cpu or (known and value is None) else set()


def _words(end: ArgumentReplacement | None) -> frozenset[str]:
    """The arguments that one becomes."""
    return frozenset(word for word, _ in end.new or ()) if end else frozenset()


AUTO = frozenset({"accelerator", "devices", "strategy"})
"""The arguments that are "auto" where nothing is given."""
_IMPORT = "from pytorch_lightning import Trainer\n"
BEFORE = f"""\
{_IMPORT}from pytorch_lightning.plugins import DDPPlugin

first = Trainer(accelerator="gpu", devices=2, strategy=DDPPlugin(find_unused_parameters=False))
second = Trainer(max_epochs=1, distributed_backend="ddp" if ranks > 1 else None)
third = Trainer(num_processes=4, strategy=None)
"""
AFTER = f"""\
{_IMPORT}from pytorch_lightning.strategies import DDPStrategy

first = Trainer(accelerator="gpu", devices=2, strategy=DDPStrategy(find_unused_parameters=False))
second = Trainer(max_epochs=1, strategy="ddp" if ranks > 1 else "auto")
third = Trainer(accelerator="cpu", devices=4, strategy="auto")
"""
LEFT = f'{_IMPORT}\ntrainer = Trainer(accelerator="gpu", devices=2, strategy="dp")\n'
NEW = f'{_IMPORT}\ntrainer = Trainer(accelerator="gpu", devices=[0], strategy="ddp")\n'
PICKED = f"{_IMPORT}\ntrainer = Trainer(gpus=2, auto_select_gpus=True)\n"
USABLE = f"""\
{_IMPORT}from pytorch_lightning.accelerators import find_usable_cuda_devices

trainer = Trainer(accelerator="gpu", devices=find_usable_cuda_devices(2))
"""

RULE = Rule(
    code=CODE,
    name="trainer-strategy",
    summary="Old names and keywords for strategies and devices become `strategy=`, `accelerator=` and `devices=`",
    why=(
        "`distributed_backend=` (M024), `num_processes=` (M167), `tpu_cores=` (M165) and strategies named by "
        "`accelerator=` or `plugins=` went by 2.0, None is no strategy, accelerator or number of devices there any "
        "more (run on 2.6.6), and the plugins for strategies became the strategies themselves (M092), without "
        "num_nodes and sync_batchnorm (M019, M020). `auto_select_gpus=True` (M169) beside a number of GPUs becomes "
        "find_usable_cuda_devices, which picks the first ones that a tensor can be put on, as releases up to 1.5 did. "
        "Strategies that are gone, as DataParallel is, are left to you."
    ),
    fix="safe",
    versions="Lightning 0.7 - 1.9 -> 2.0 and later",
    triggers=(
        *(b"Trainer", DEFAULTS.encode()),
        *(name.encode() for name in CLASSES),
        *(f"{name}=".encode() for name in KEPT),
    ),
    words=tuple(name.encode() for name in (*GONE, *KEPT, *CLASSES)),
    check=_check,
    rows=partial(
        best_levels,
        (
            ("M019", "safe"),
            ("M020", "safe"),
            ("M024", "safe"),
            ("M092", "safe"),
            ("M165", "safe"),
            ("M167", "safe"),
            ("M236", "safe"),
            ("B16", "safe"),
            ("G16490", "safe"),
            ("G20399", "safe"),
            ("M090", "manual"),
            ("M107", "manual"),
            ("M166", "manual"),
            ("M169", "manual"),
            ("M178", "manual"),
            ("M199", "manual"),
            ("M200", "unsafe"),
            ("M201", "unsafe"),
            ("M230", "manual"),
            ("M231", "manual"),
            ("G19445", "manual"),
            ("G21327", "manual"),
        ),
    ),
    examples=(
        Example(BEFORE, AFTER),
        Example(LEFT, LEFT),
        Example(NEW, NEW),
        Example(PICKED, USABLE, pins=("pytorch-lightning==1.4.9",)),
    ),
    breaks_in="2.0.0",
    needs="2.0.0",
)
