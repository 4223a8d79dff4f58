"""LIT101: `Trainer(gpus=...)` was removed in Lightning 2.0 (guide rows M164 and M016)."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from codemods.code.calls import keyword, keywords
from codemods.code.literals import literal
from codemods.code.source import CallNode, PythonFile
from codemods.finding import Fix
from codemods.lightning.calls import builds_trainer
from codemods.lightning.exclusive_use import HARDWARE
from codemods.lightning.facts import TRAINER, Facts
from codemods.lightning.guards import guard_of
from codemods.lightning.key_values import as_read
from codemods.lightning.keyword_flow import UNSEEN, HandedKeyword, Place, handed
from codemods.lightning.strategies import ONE
from codemods.lightning.trainer_subclasses import (
    between,
    called,
    hands_on,
    is_lightnings,
    own_arguments,
    receivers,
    replaced_below,
)
from codemods.rewrite.dictionaries import (
    NO_OTHER,
    ONE_PLACE,
    at_times,
    exchange,
    in_one_place,
    may_bring,
    may_get,
    names_of,
)
from codemods.rewrite.fields import structured
from codemods.rewrite.keywords import is_commented, replaced, with_value
from codemods.rule import Example, Match, NodeEdit, Rule, best_levels, touches
from codemods.rules.trainer.device_plan import COUNTS_OTHERS, Rewrite, is_whole, plan_rewrite, planned_of
from codemods.rules.trainer.gpu_texts import by_release
from codemods.rules.trainer.gpus import CPU, Devices, devices_asked

if TYPE_CHECKING:
    import libcst as cst

MESSAGE = "`gpus=` of Trainer was removed in Lightning 2.0"
NONE_GIVEN = "accelerator=None, which let it decide, is an error in 2.x"
KEYS = 'write "accelerator" and "devices" keys for it'


def check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    """Every place where `gpus` is given to Lightning's Trainer, or to what passes it on."""
    seen: set[int] = set()
    for field in structured(file, facts):
        if field.name == "gpus":
            yield _manual(
                file, field.place, "Hydra passes it to Trainer", 'write the fields "accelerator" and "devices"'
            )
    for call in file.calls_near({"gpus", *file.spellings("Trainer")}):
        dotted = called(file, call)
        given = keyword(call.node, "gpus")
        if builds_trainer(call):
            guard = guard_of(file, facts, call, "gpus") if given else "none"
            if given and guard == "unclear":
                yield _manual(file, given, "it is inside a version check", "if this code never runs on 2.x, leave it")
            elif given and guard == "none":
                yield _trainer_call(file, facts, call, given)
        elif given and (is_lightnings(file, facts, call) or (dotted and _is_handed_on(file, facts, call, dotted))):
            yield _trainer_call(file, facts, call, given)
        elif given and (through := between(file, facts, call)) and not _is_taken(file, facts, call):
            why = f"it reaches Trainer through {through}"
            seen.add(id(given))
            yield _manual(file, given, why, 'give accelerator="gpu", devices=... instead')
    for call, built in receivers(file, facts):
        yield from _handed_over(file, facts, call, seen, built)


def _is_handed_on(file: PythonFile, facts: Facts, call: CallNode, dotted: str) -> bool:
    """Whether a Trainer of the project hands the new keywords on to Lightning's as it gets them."""
    whole = not call.node.args and replaced_below(file, facts, call) is None
    return whole and hands_on(facts, dotted, file.path, ("accelerator", "devices"))


def _is_taken(file: PythonFile, facts: Facts, call: CallNode) -> bool:
    """Whether a Trainer of the project takes `gpus` itself, beside what it hands on."""
    return "gpus" in (own_arguments(file, facts, call) or ())


def _trainer_call(file: PythonFile, facts: Facts, call: CallNode, given: ast.keyword) -> Match:
    arguments = keywords(call.node)
    if not is_whole(call):
        why = "the call also takes arguments by position or `*`, which may hold `accelerator` or `devices`"
        return _manual(file, given, why, 'if they do not, write accelerator="gpu", devices=... for gpus=')
    asked = by_release(facts, file, given.value, devices_asked(facts, file, call, given.value), arguments)
    if asked is None:
        return _unreadable(file, given, arguments)
    planned = planned_of(file, facts, call, asked)
    if isinstance(planned, tuple):
        return _manual(file, given, *planned, row=asked.row)
    if not planned.instead and is_commented(file, call.node, given):
        return _manual(file, given, "it has no effect any more, but there is a comment next to it", "delete it by hand")
    level, reason = asked.level, _reason(asked, arguments, planned)
    accelerator = arguments.get("accelerator")
    if accelerator is not None and literal(accelerator) == (True, None) and planned.values:
        reason = f"{reason}; {NONE_GIVEN}"
    if planned.doubt:
        level = "unsafe"
    if may_get(file, facts, call, HARDWARE):
        level, reason = "unsafe", f"{reason}; fixer assumes that `**` gives neither accelerator nor devices"
    edit = NodeEdit(call.node, partial(apply, planned=planned))
    return Match(file.span(given), MESSAGE, level, reason, asked.row, (edit,))


def _reason(asked: Devices, arguments: Mapping[str, ast.expr], planned: Rewrite) -> str:
    if planned.why and not planned.instead:
        return planned.why
    if asked is CPU:
        if not planned.instead and not planned.values:
            return "it was the default and changed nothing"
        return "1.x trained on the CPU here; without accelerator= 2.x takes every accelerator it finds"
    reason = "the same devices, with the keywords of 1.7 and later"
    if planned.doubt:
        return f"{reason}; {planned.doubt}"
    if "accelerator" in arguments and literal(arguments["accelerator"])[1] == "dp":
        return f"{reason}; {ONE}"
    if any(name == "strategy" for name, _ in planned.instead):
        reason += "; strategy= names what `accelerator` did"
        if "plugins" not in arguments:
            reason += "; it no longer looks for unused parameters by itself"
    elif asked.several and not {"strategy", "distributed_backend", "plugins"} & set(arguments):
        reason += '; several devices start by "ddp" since 2.0 (1.x: strategy="ddp_spawn")'
    return "; ".join(filter(None, (asked.why, reason, planned.why)))


def _unreadable(file: PythonFile, given: ast.keyword, arguments: Mapping[str, ast.expr]) -> Match:
    known, value = literal(given.value)
    if known:
        why = f"gpus={value!r} does not mean the same in every 1.x release"
        return _manual(
            file,
            given,
            why,
            'write `accelerator="gpu", devices=...` with a number, or a list of ids such as `devices=[0, 1]`',
            "M016",
        )
    text = file.source_of(given.value)
    short = text if len(text) <= 60 and "\n" not in text else "n"
    if not isinstance(given.value, ast.Name | ast.Attribute | ast.Call | ast.Subscript) and short != "n":
        short = f"({short})"
    advice = f'write `accelerator="gpu" if {short} else "cpu", devices={short} or "auto"`'
    if short == "n":
        advice += ", where n is that value"
    if "accelerator" in arguments:
        advice = f"write `devices={short}`, the hardware as `accelerator=...`, and the strategy as `strategy=...`"
    return _manual(file, given, "its value is only known when the program runs", advice)


def _handed_over(file: PythonFile, facts: Facts, call: CallNode, seen: set[int], built: bool) -> Iterator[Match]:
    """The keys `gpus` that a Trainer gets by `**`: all of them follow, or none; places in `seen` have been named
    already."""
    every = [entry for entry in handed(file, facts, call) if id(entry.place) not in seen]
    mine = [entry for entry in every if entry.name == "gpus"]
    seen |= {id(entry.place) for entry in mine}
    here = [entry for entry in mine if entry.file is file]
    why = next((told for entry in mine if (told := at_times(entry, every))), may_bring(file, call, every))
    made = _exchanged(file, facts, call, mine, every) if built and not why and len(here) == len(mine) else ()
    if made:
        yield from made
        return
    for entry in here:
        through = "it reaches Trainer through a dictionary"
        yield _manual(file, entry.place, f"{through}, and {why}" if why else through, KEYS)


def _exchanged(
    file: PythonFile,
    facts: Facts,
    call: CallNode,
    mine: Sequence[HandedKeyword],
    every: Sequence[HandedKeyword],
) -> list[Match]:
    """The matches that put other keys in the place of `gpus`, none where one of the keys stays."""
    arguments = {entry.name: entry.value for entry in every if entry.value} | keywords(call.node)
    open_ended = any(entry.name == UNSEEN for entry in every)
    found = []
    for entry in mine:
        at = as_read(file, call, entry, every)
        asked = _asked(facts, file, at, entry, arguments) if at else None
        others = [name for name in names_of(every) if name in ("accelerator", "devices", *COUNTS_OTHERS)]
        if asked is None or entry.value is None or (others and (len(mine) > 1 or len(others) > len(set(others)))):
            return []
        planned = plan_rewrite(file, facts, asked, entry.value, {**arguments, "gpus": entry.value})
        if isinstance(planned, tuple) or planned.doubt or planned.along:
            return []
        new = planned.instead
        if asked is CPU and len(mine) > 1:
            new = (("accelerator", '"cpu"'), ("devices", "1"))
        edits = [exchange(file, facts, call, entry, new)]
        for name, text in planned.values:
            edits += [exchange(file, facts, call, other, ((name, text),)) for other in every if other.name == name]
        if None in edits or len(edits) != 1 + len(planned.values):
            return []
        if any(other.name in dict(planned.values) and other.holder is not entry.holder for other in every):
            return []
        level, reason = _surely(mine, entry, asked, _reason(asked, arguments, planned), open_ended)
        if level == "safe" and not in_one_place(file, call, every, HARDWARE):
            level, reason = "unsafe", f"{reason}; {ONE_PLACE}"
        unit = f"{file.path}:{mine[0].place.lineno}" if len(mine) > 1 else ""
        kept = tuple(edit for edit in edits if edit is not None)
        found.append(Match(file.span(entry.place), MESSAGE, level, reason, asked.row, kept, unit=unit))
    return found


def _asked(
    facts: Facts, file: PythonFile, call: CallNode, entry: HandedKeyword, arguments: Mapping[str, ast.expr]
) -> Devices | None:
    """What a key asks for, given the keywords that it comes with."""
    if entry.value is None:
        return None
    return by_release(facts, file, entry.value, devices_asked(facts, file, call, entry.value), arguments)


def _surely(
    mine: Sequence[HandedKeyword], entry: HandedKeyword, asked: Devices, reason: str, open_ended: bool
) -> tuple[Fix, str]:
    if isinstance(entry.holder, ast.AnnAssign):
        return "unsafe", f"{reason}; {NO_OTHER}"
    if open_ended:
        return "unsafe", f"{reason}; fixer assumes that the rest of the dictionary has none of these"
    if not any(other.always for other in mine):
        return "unsafe", f"{reason}; where it is not set, 2.x takes every accelerator that it finds (1.x: the CPU)"
    return asked.level, reason


def _manual(file: PythonFile, place: Place, why: str, advice: str, row: str = "M164") -> Match:
    return Match(file.span(place), MESSAGE, "manual", f"{why}; {advice}", row)


@touches("arguments")
def apply(call: cst.Call, *, planned: Rewrite) -> cst.Call:
    """The call with its new keywords, laid out like the one that they replace."""
    for name, text in planned.values:
        call = with_value(call, name, text)
    if planned.along:
        call = replaced(call, planned.along, ())
    return replaced(call, "gpus", planned.instead)


def _calls(file: PythonFile) -> list[CallNode]:
    """The calls with the keyword."""
    return [call for call in file.calls_near(["gpus"]) if keyword(call.node, "gpus")]


def collect(file: PythonFile) -> tuple[str, ...] | None:
    """The names by which a file calls what may be the project's own Trainer."""
    dotted = {call.scope.resolve(call.node.func) for call in _calls(file)} - {TRAINER, None}
    return tuple(sorted(name.rpartition(".")[2] for name in dotted if name)) or None


def context(collected: Mapping[str, tuple[str, ...]]) -> tuple[bytes, ...]:
    """Files that hold one of those names are read, so that its class is found."""
    return tuple(sorted({name.encode() for names in collected.values() for name in names}))


def present(file: PythonFile) -> bool:
    """Whether `gpus` is a keyword of a call or a string of the file, or may be a key or field of it."""
    spoken = ('"gpus"', "'gpus'", "**", "_target_", "TrainerConf")
    return any(text in file.text for text in spoken) or bool(_calls(file))


_IMPORT = "import pytorch_lightning as pl\n\n"

RULE = Rule(
    code="LIT101",
    name="trainer-gpus",
    summary="`Trainer(gpus=...)` becomes `accelerator=` and `devices=`",
    why=(
        "Lightning 1.7 deprecated `gpus=` and 2.0 removed it: the call is a TypeError (guide row M164, pull request "
        "16171). None and 0 asked for the CPU, which 1.x also took by default and 2.x does not, so they become "
        '`accelerator="cpu"`. Strings with a comma were ids (M016, pull request 6388); a string without one was an id '
        "before 1.5 and is a count since, which is rewritten where the pins, or the other arguments of the call, tell "
        "which of the two ran it. A value that is known only when the program runs becomes "
        '`accelerator="gpu" if value else "cpu", devices=value or 1`: safely where it is certainly a number, as an '
        "option with `type=int` is, or where text is a count, and unsafely where it may be other text. Beside GPUs "
        "`num_processes=` counted nothing up to 1.5, and 1.6 to 1.9 took it alone (run on 1.4.9 to 1.9.5): it goes "
        "safely where the project's Lightning is one before 1.6."
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
    rows=partial(best_levels, (("M016", "safe"), ("M164", "safe"), ("B02", "safe"))),
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
            f"{_IMPORT}import torch\n\ntrainer = pl.Trainer(gpus=1 if torch.cuda.is_available() else 0)\n",
            f"{_IMPORT}import torch\n\n"
            'trainer = pl.Trainer(accelerator="gpu" if torch.cuda.is_available() else "cpu", devices=1)\n',
        ),
        Example(
            f"{_IMPORT}def build(gpus: int = 0):\n    return pl.Trainer(gpus=gpus, accelerator='ddp')\n",
            f"{_IMPORT}def build(gpus: int = 0):\n"
            '    return pl.Trainer(devices=gpus or 1, strategy=\'ddp\', accelerator="gpu" if gpus else "cpu")\n',
        ),
        Example(
            f"{_IMPORT}trainer = pl.Trainer(gpus=find_gpus())\n",
            f"{_IMPORT}trainer = pl.Trainer(gpus=find_gpus())\n",
        ),
        Example(
            f"{_IMPORT}trainer = pl.Trainer(gpus=2, num_processes=2, max_epochs=3)\n",
            f'{_IMPORT}trainer = pl.Trainer(accelerator="gpu", devices=2, max_epochs=3)\n',
            pins=("pytorch-lightning==1.4.9",),
        ),
        Example(
            f"{_IMPORT}def build(n: int):\n    return pl.Trainer(gpus=n, accelerator='cpu' if n == 0 else 'ddp')\n",
            f"{_IMPORT}def build(n: int):\n"
            "    return pl.Trainer(devices=n or 1, strategy='auto' if n == 0 else 'ddp', "
            'accelerator="gpu" if n else "cpu")\n',
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
