"""LIT230: keyword arguments that callbacks, loggers, profilers, LightningCLI and `self.log` have no more."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING

from codemods.code.calls import method_around
from codemods.code.literals import literal
from codemods.code.scopes import ROOT
from codemods.code.source import CallNode, PythonFile, TextFile
from codemods.code.syntax import is_super_call, self_name
from codemods.finding import Fix
from codemods.lightning.facts import MODULE, Facts
from codemods.lightning.guards import guard_of
from codemods.lightning.keyword_flow import handed
from codemods.lightning.kinds import part_of_choice
from codemods.lightning.object_arguments import MONITORS, Keyword, is_class, keywords, of_modules, owner_of, wish
from codemods.lightning.objects import OTHERS
from codemods.lightning.possible_trainers import may_build
from codemods.lightning.trainer_subclasses import called, constructor_of, hands_on, kind_above, own_arguments
from codemods.lightning.trainers import last_part
from codemods.lightning.versions import LIGHTNING, admits_from
from codemods.rewrite.keywords import renamed, replaced, with_value
from codemods.rule import Example, Match, NodeEdit, Rule, best_levels, touches
from codemods.rules.keywords.configured import configured, spread_sections
from codemods.rules.keywords.data_parts import PARTS, UNREAD, is_plain, is_read_of_self, is_unread
from codemods.rules.keywords.default_name import SPOKEN, with_default_name
from codemods.rules.keywords.filepath import parted
from codemods.rules.keywords.monitors import AUTO, WATCHED, is_auto, is_open, monitored
from codemods.rules.keywords.other_values import said_otherwise
from codemods.rules.keywords.periods import shift
from codemods.rules.keywords.positions import PROFILERS, STANDARD, SUMMARY, by_position
from codemods.rules.keywords.prefix import dash_behind, prefixed

if TYPE_CHECKING:
    import libcst as cst

CODE = "LIT230"
MODES = tuple(f"mode={quote}{mode}{quote}" for mode in ("auto", "full", "top") for quote in "'\"")
TELLING = (*MODES, *sorted(f"{name}=" for owner, name in keywords() if is_class(owner) and name != "mode"))
"""What a file holds that gives such a keyword to a class by another name than Lightning's."""
ENTRIES = tuple(sorted({name.encode() for owner, name in keywords() if is_class(owner)}))
"""What a configuration holds of whose sections the code gives one to a class."""
UNWATCHED = (
    "It kept the best by val_loss; without `monitor=` it now keeps the newest: "
    'write monitor="val_loss", or the metric that it should watch.'
)
UNSAID = ("manual", "empty", "path", "flag", "depth", "report")
"""The levels of rows that do not say what a keyword becomes, whatever its value is."""
SAVED = ("TensorBoardLogger", "CSVLogger")
"""Loggers that want a folder, in every release."""
AVERAGING = "StochasticWeightAveraging"
RATE = "Not rewritten: 1.x took the learning rate of the optimizer by default. Write that, such as `swa_lrs=1e-3`."
FLAGGED = "fixer assumes that it is True or False: the best only, or every one."
EVERY_CHECK = "Below 1 it saved at every check, which is what happens at each validation without it."
NO_PERIOD = (
    "Below 1 it saved at every check before 1.0, and nothing from 1.0 "
    "on: fixer assumes that the former is meant, which is "
    "what happens at each validation without it."
)


def _check(file: PythonFile | TextFile, facts: Facts) -> Iterator[Match]:
    if isinstance(file, TextFile):
        yield from configured(file, facts.collected(CODE))
        return
    words = {keyword for _, keyword in keywords() if keyword in file.text} | {
        *MONITORS,
        *SAVED,
        *PROFILERS,
        SUMMARY,
        STANDARD,
        AVERAGING,
    }
    seen: set[int] = set()
    for call in file.calls_near(words):
        yield from _saved(file, call)
        owner = _owner(file, facts, call)
        if owner is None:
            yield from _perhaps(file, facts, call)
            continue
        yield from _handed_over(file, facts, call, owner, seen)
        if not _is_partial(call) and (found := by_position(file, facts, call, owner)):
            yield found
        given = {keyword.arg: keyword for keyword in call.node.keywords if keyword.arg}
        for name, keyword in sorted(given.items(), key=lambda each: each[0] == "prefix"):  # which goes to the others
            row = keywords().get((owner, name))
            guard = guard_of(file, facts, call, name, call.scope.resolve(call.node.func) or "") if row else "both"
            if row and name in PARTS and guard == "none" and is_super_call(call.node, "__init__"):
                yield from _of_data(file, facts, call, keyword, row)
            elif row and guard != "both":
                yield _match(facts, file, call, keyword, row, given, guard == "unclear")
        if last_part(owner) in MONITORS and not _is_partial(call):
            yield from monitored(file, facts, call, owner, given)


def _of_data(file: PythonFile, facts: Facts, call: CallNode, keyword: ast.keyword, row: Keyword) -> Iterator[Match]:
    """What a data module hands Lightning's own constructor: what nothing reads goes, and what the class reads of itself
    is kept where LIT250 tells of that."""
    name = str(keyword.arg)
    if is_plain(keyword.value) and is_unread(facts, name):
        drop = (NodeEdit(call.node, partial(_without, name=name)),)
        yield Match(file.span(keyword), _message(name, row), "safe", UNREAD, row.row, drop)
    elif not is_read_of_self(call, name):
        yield _match(facts, file, call, keyword, row, {}, False)


def _owner(file: PythonFile, facts: Facts, call: CallNode) -> str | None:
    function = call.node.func
    if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
        around = method_around(call)
        named = f"self.{function.attr}"
        if around and function.value.id == self_name(around[1]) and named in of_modules():
            return named if facts.kind_around(file, call.within) == MODULE else None
    if above := constructor_of(file, facts, call, OTHERS.is_one):
        return owner_of(above)
    dotted = (call.scope.resolve(function) or "").removesuffix(".__init__")
    return owner_of((call.scope.resolve(call.node.args[0]) or "") if _is_partial(call) else dotted)


def _handed_over(file: PythonFile, facts: Facts, call: CallNode, owner: str, seen: set[int]) -> Iterator[Match]:
    """What arrives by `**`, wherever it is set; places in `seen` have been named already."""
    for entry in handed(file, facts, call):
        row = keywords().get((owner, entry.name))
        auto = entry.name == "mode" and last_part(owner) in MONITORS and is_auto(entry.value)
        if (row is None and not auto) or id(entry.place) in seen:
            continue
        seen.add(id(entry.place))
        spread = next(item.value for item in call.node.keywords if item.arg is None)
        here = entry.file is file
        place = file.span(entry.place if here else spread)
        through = "a dictionary" if here else entry.where
        advice = wish(row) if row else 'write "max" if a higher value is better, "min" otherwise'
        reason = f"Not rewritten: it reaches {owner.rpartition('.')[2]} through {through}; {advice}."
        yield Match(place, _message(entry.name, row), "manual", reason, row.row if row else None)


def _perhaps(file: PythonFile, facts: Facts, call: CallNode) -> Iterator[Match]:
    """What is gone of a class that a call may be of, or of one that the called class of the project is below."""
    above = _above(file, facts, call)
    gone = _gone(call, _rows_of(file, owner_of(above) if above else None, bool(call.scope.resolve(call.node.func))))
    if above and gone:
        own = own_arguments(file, facts, call)
        kept = {item: row for item, row in gone.items() if own is not None and item.arg not in own}
        if not _is_plain(file, facts, call):
            where = f"it reaches {last_part(above)} through `{file.source_of(call.node.func)}`; {{}}"
            yield from _told(file, kept, where)
    elif through := may_build(file, facts, call, OTHERS) if gone else None:
        yield from _told(file, gone, f"`{through}` may be a class that has it no more; {{}}, where it is one")


def _rows_of(file: PythonFile, owner: str | None, imported: bool) -> Mapping[str, Keyword]:
    """What is gone, by its name: of one class, of any that an imported name may be, or of those that a file spells."""
    known: dict[object, Mapping[str, Keyword]] = file.memo.setdefault(f"{CODE}.rows", {})
    if (owner, imported) not in known:
        any_of = {owner} if owner else {each for each, _ in keywords() if imported or last_part(each) in file.text}
        known[owner, imported] = {name: row for (each, name), row in keywords().items() if each in any_of}
    return known[owner, imported]


def _above(file: PythonFile, facts: Facts, call: CallNode) -> str | None:
    """The class of Lightning's above the class of the project that a call builds."""
    dotted = called(file, call)
    fact = facts.find_class(dotted, file.path) if dotted else None
    return kind_above(facts, fact, OTHERS.is_one) if fact else None


def _is_plain(file: PythonFile, facts: Facts, call: CallNode) -> bool:
    """Whether a class of the project hands all on, so that its call is looked at as one of Lightning's."""
    dotted = called(file, call) if not is_super_call(call.node, "__init__") else None
    names = [item.arg for item in call.node.keywords if item.arg]
    return dotted is not None and all(hands_on(facts, dotted, file.path, [name], OTHERS.is_one) for name in names)


def _gone(call: CallNode, rows: Mapping[str, Keyword]) -> dict[ast.keyword, Keyword | None]:
    """What a call gives by these keywords, and a mode that is none any more."""
    gone: dict[ast.keyword, Keyword | None] = {}
    for item in call.node.keywords:
        if item.arg == "mode" and is_auto(item.value):
            gone[item] = None
        elif item.arg and item.arg in rows and (item.arg != "mode" or literal(item.value)[1] in ("full", "top")):
            gone[item] = rows[item.arg]
    return gone


def _told(file: PythonFile, gone: Mapping[ast.keyword, Keyword | None], reason: str) -> Iterator[Match]:
    for item, row in gone.items():
        advice = wish(row) if row else 'write "max" if a higher value is better, "min" otherwise'
        why = f"Not rewritten: {advice.join(reason.rsplit('{}', 1))}."  # the text of a call may hold braces, too
        yield Match(file.span(item), _message(str(item.arg), row), "manual", why, row.row if row else None)


def _message(name: str, row: Keyword | None) -> str:
    return f"`{name}=` was removed in Lightning {row.since}" if row else AUTO


def _is_partial(call: CallNode) -> bool:
    return call.scope.resolve(call.node.func) == "functools.partial" and bool(call.node.args)


def _match(
    facts: Facts,
    file: PythonFile,
    call: CallNode,
    keyword: ast.keyword,
    row: Keyword,
    given: Mapping[str, ast.keyword],
    guarded: bool,
) -> Match:
    message = _message(str(keyword.arg), row)
    if guarded:
        reason = "Not rewritten: it is inside a version check; if this code never runs on the newest release, leave it."
        return Match(file.span(keyword), message, "manual", reason, row.row)
    if _is_partial(call):
        reason = f"Not rewritten: {wish(row)}, here and everywhere else where it is called with it."
        return Match(file.span(keyword), message, "manual", reason, row.row)
    drop = (NodeEdit(call.node, partial(_without, name=str(keyword.arg))),)
    if row.level in ("drop", "doubt"):
        level: Fix = "safe" if row.level == "drop" else "unsafe"
        return Match(file.span(keyword), message, level, row.advice, row.row, drop)
    known, value = literal(keyword.value)
    if row.level == "empty" and known and not value:
        return Match(file.span(keyword), message, "safe", "It had no effect.", row.row, drop)
    if keyword.arg == "prefix" and (joined := prefixed(facts, file, call, keyword.value, given)):
        edit = NodeEdit(call.node, partial(_joined, new=joined.new))
        return Match(file.span(keyword), message, joined.level, joined.reason, row.row, (edit,))
    if (
        row.level == "path"
        and not {"dirpath", "filename"} & given.keys()
        and (path := parted(facts, file, call, keyword.value))
    ):
        path = path if "prefix" in given else with_default_name(facts, path)
        edit = NodeEdit(call.node, partial(replaced, name=str(keyword.arg), new=path.new))
        level, reason = path.level, path.reason
        if "prefix" in given and literal(given["prefix"].value) != (True, "") and dash_behind(facts, given, "")[1]:
            level, reason = "unsafe", f"{reason} It is rewritten with its prefix, which tells no more of the release."
        return Match(file.span(keyword), message, level, reason, row.row, (edit,), path.imports)
    if other := said_otherwise(file, row, keyword.value, given):
        edit = NodeEdit(call.node, partial(replaced, name=str(keyword.arg), new=other.new))
        return Match(file.span(keyword), message, other.level, other.reason, row.row, (edit,))
    if row.level == "flag" and isinstance(value, bool) and row.becomes not in given:
        new = ((row.becomes, "1" if value else "-1"),)
        edit = NodeEdit(call.node, partial(replaced, name=str(keyword.arg), new=new))
        if value and "monitor" not in given:
            return Match(file.span(keyword), message, "unsafe", UNWATCHED, row.row, (edit,))
        reason = f"It kept {'only the best' if value else 'every one'}."
        return Match(file.span(keyword), message, "safe", reason, row.row, (edit,))
    if row.level == "flag" and not known and row.becomes not in given:
        new = ((row.becomes, f"1 if {part_of_choice(file, keyword.value)} else -1"),)
        edit = NodeEdit(call.node, partial(replaced, name=str(keyword.arg), new=new))
        return Match(file.span(keyword), message, "unsafe", f"{FLAGGED} {UNWATCHED}", row.row, (edit,))
    below = known and row.becomes == "every_n_epochs" and isinstance(value, int) and value < 1
    if below:
        old = not admits_from(facts, LIGHTNING, "1.0.0")
        level = "safe" if old else "unsafe"
        return Match(file.span(keyword), message, level, EVERY_CHECK if old else NO_PERIOD, row.row, drop)
    if row.level in UNSAID or row.becomes in given:
        clash = f"`{row.becomes}=` is given too: keep one of the two"
        why = row.advice or clash
        return Match(file.span(keyword), message, "manual", f"Not rewritten: {why}.", row.row)
    edit = NodeEdit(keyword, partial(renamed, name=row.becomes))
    told = shift(facts, file, keyword.value) if keyword.arg == "period" else ""
    level = "unsafe" if told else "safe"
    return Match(file.span(keyword), message, level, f"It is `{row.becomes}=` now.{told}", row.row, (edit,))


def _saved(file: PythonFile, call: CallNode) -> Iterator[Match]:
    """A logger that is told no folder, and averaging of weights that is told no rate."""
    dotted = call.scope.resolve(call.node.func) or ""
    name = last_part(dotted)
    if name == AVERAGING and dotted.startswith(f"{ROOT}.callbacks.") and not call.node.args and not is_open(call.node):
        if not any(keyword.arg == "swa_lrs" for keyword in call.node.keywords):
            yield Match(file.span(call.node), f"`{name}` requires `swa_lrs=` since Lightning 1.7", "manual", RATE)
        return
    if name not in SAVED or not dotted.startswith(f"{ROOT}.loggers.") or call.node.args or is_open(call.node):
        return
    if not any(keyword.arg == "save_dir" for keyword in call.node.keywords):
        reason = 'Not rewritten: it is required in every release. Name a folder, such as save_dir="logs".'
        yield Match(file.span(call.node), f"`{name}` is built without `save_dir=`", "manual", reason)


@touches("arguments")
def _joined(node: cst.Call, *, new: tuple[tuple[str, str | None], ...]) -> cst.Call:
    """The call with another name for its files in the place of the old one, or of the prefix."""
    [(name, text)] = new
    if any(item.keyword and item.keyword.value == name for item in node.args):
        return with_value(replaced(node, "prefix", ()), name, text or "")
    return replaced(node, "prefix", new)


@touches("arguments")
def _without(node: cst.Call, *, name: str) -> cst.Call:
    from codemods.rewrite.edits import without_arguments

    return without_arguments(node, frozenset({name}))


BEFORE = """\
from pytorch_lightning import LightningModule
from pytorch_lightning.callbacks import EarlyStopping, ModelCheckpoint

callbacks = [
    ModelCheckpoint(monitor="val_acc", mode="auto", period=2),
    EarlyStopping(patience=3),
]


class Model(LightningModule):
    def validation_step(self, batch, batch_idx):
        self.log("val_loss", batch.mean(), sync_dist=True, sync_dist_op="sum")
"""
AFTER = """\
from pytorch_lightning import LightningModule
from pytorch_lightning.callbacks import EarlyStopping, ModelCheckpoint

callbacks = [
    ModelCheckpoint(monitor="val_acc", mode="max", every_n_epochs=2),
    EarlyStopping(monitor="val_loss", patience=3),
]


class Model(LightningModule):
    def validation_step(self, batch, batch_idx):
        self.log("val_loss", batch.mean(), sync_dist=True, reduce_fx="sum")
"""
OTHER = BEFORE.replace("pytorch_lightning", "somewhere_else")


def _rows() -> tuple[tuple[str, Fix], ...]:
    levels: list[tuple[str | None, Fix]] = [("M021", "safe")]
    lower: Mapping[str, Fix] = {"manual": "manual", "report": "unsafe", "doubt": "unsafe"}
    levels += [(row.row, lower.get(row.level, "safe")) for row in keywords().values()]
    return best_levels(levels)


RULE = Rule(
    code=CODE,
    name="keyword-argument",
    summary="Keyword arguments of callbacks, loggers, profilers and `self.log` that were renamed or removed",
    why=(
        "Lightning renamed or removed some sixty keyword arguments outside the Trainer between 1.0 and 2.0; each is a "
        "TypeError when the object is built (guide rows M003-M005, M010, M021, M022, M025, M026, M053, M059, M061, "
        "M096-M103, M112, M113). Where a configuration that names the "
        "class passes one on, it is a finding: other files "
        "and the command line may set the same."
    ),
    fix="safe",
    versions="written for Lightning < 2.0",
    triggers=(
        b"EarlyStopping",
        b"ModelCheckpoint",
        b"LambdaCallback",
        b"Profiler",
        b"LightningCLI",
        b"WandbLogger",
        *(name.encode() for name in (*SAVED, AVERAGING)),
        b"ProgressBar",
        b"DeviceStatsMonitor",
        b"ModelSummary",
        b"BackboneFinetuning",
        b"summarize",
        b"is_overridden",
        b"train_dataloader",
        b"sync_dist_op",
        b"tbptt_reduce_fx",
        b"tbptt_pad_token",
        b"all_gather(",
        b"LightningDataModule",
        b"_transforms",
        b"dims=",
        b"'dims'",
        b'"dims"',
        b"output_streams",
        b"nb=",
        b"CombinedLoader",
        STANDARD.encode(),
        *(name.encode() for name in TELLING),
    ),
    text_triggers=(b"pytorch_lightning.", b"lightning.pytorch.", *ENTRIES),
    check=_check,
    collect=spread_sections,
    kinds=("python", "yaml", "json", "toml"),
    examples=(Example(BEFORE, AFTER), Example(OTHER, OTHER)),
    breaks_in="2.0.0",
    needs="1.6.0",
    rows=_rows,
    mentions=(SPOKEN, *(f"{quote}{metric}{quote}".encode() for metric in WATCHED for quote in "\"'")),
)
