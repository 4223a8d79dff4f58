"""LIT301: arguments of Trainer that were removed, in YAML, JSON and TOML files."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from codemods.code.nodes import every_node
from codemods.code.source import PythonFile, TextFile
from codemods.finding import Fix
from codemods.lightning.arguments import removal
from codemods.lightning.configurations.evidence import CHANGED, REMOVED, FileEvidence, is_trainer, read_evidence
from codemods.lightning.configurations.mappings import Malformed, MappingEntry
from codemods.lightning.configurations.owners import (
    LIGHTNING,
    READ,
    ConfigurationSummary,
    OwnedMapping,
    Owner,
    ProjectConfiguration,
    interpolations,
    owned,
    project_of,
    seen,
)
from codemods.lightning.facts import Facts
from codemods.rewrite.keys import NOTED, KeyVerdict, verdicts
from codemods.rewrite.splice import dropped, has_comment, replaced, valued
from codemods.rule import Example, Match, Rule, TextEdit
from codemods.rules.configs.layers import spelled_out, why_not
from codemods.rules.configs.moved_gpus import (
    BESIDE,
    DEVICES,
    all_renamed,
    all_switched,
    as_sure,
    follows_surely,
    moves_code,
)

CODE = "LIT301"
HARDWARE = frozenset({
    "accelerator", "auto_select_gpus", "devices", "distributed_backend", "gpus", "ipus", "num_processes",
    "num_tpu_cores", "strategy", "tpu_cores",
})  # fmt: skip
"""Arguments that say together what a Trainer runs on."""
SHOWN = frozenset({"process_position", "progress_bar_refresh_rate", "weights_summary"})
"""Arguments that say what is shown on the screen."""
QUOTES = "'\""
OVERRIDE = re.compile(
    rf"(?P<before>[\"'\s])(?P<word>(?:\+\+?|--)?(?P<section>\w+)"
    rf"\.(?P<key>{'|'.join(sorted(REMOVED, key=len, reverse=True))})(?:=(?P<value>[^\s\"'{{}}]*)|(?=[\"'])))"
)
_SOME = re.compile(r"[1-9]\d*|-1|\[[^\[\]]+\]")
"""Values of `gpus` that ask for devices, and that `devices` takes as they are."""
TRIGGERS = tuple(sorted(word.encode() for word in REMOVED))
OWN = "check what its constructor does with it, and delete the key in both places where it does nothing"


def _check(file: PythonFile | TextFile, facts: Facts) -> Iterator[Match]:
    project = project_of(facts, CODE)
    if isinstance(file, PythonFile):
        yield from _reads(file, project)
        yield from _overrides(file, project)
        return
    try:
        found = list(owned(file))
    except Malformed as error:
        yield from _unread(file, project, str(error))
        return
    yield from _interpolated(file, project)
    owners = [(item, project.owner(item, file.path)) for item in found]
    done: set[tuple[MappingEntry, ...]] = set()
    for item, owner in sorted(owners, key=lambda pair: pair[1].how != "proven"):
        places = tuple(replace(entry, value=None) for entry in item.arguments)
        if owner.how != "no" and places not in done:
            done.add(places)
            yield from _section(file, project, item, owner)


def _context(collected: Mapping[str, FileEvidence | ConfigurationSummary]) -> tuple[bytes, ...]:
    """The classes that configurations name: the files that hold one lead to what it is. And the functions that may be
    given a section, and how code and configurations may speak of those arguments that Trainer takes to this day."""
    items = [item for told in collected.values() if isinstance(told, ConfigurationSummary) for item in told.items]
    targets = {item.target.rpartition(".")[2] for item in items if item.target and not is_trainer(item.target)}
    takers = {name for told in collected.values() if isinstance(told, FileEvidence) for name in told.takers}
    classes = {name for told in collected.values() if isinstance(told, FileEvidence) for name in told.trainers}
    trainers = {name.rpartition(".")[2] for name in classes}
    named = (name.encode() for name in targets | trainers | (takers if items else set()))
    return tuple(sorted({*named, *((*READ, DEVICES) if items else ())}))


def _unread(file: TextFile, project: ProjectConfiguration, why: str) -> Iterator[Match]:
    """A file that cannot be read, where it names arguments that only Trainer ever had."""
    words = "|".join(sorted(REMOVED - {"gpus", "num_processes", "use_amp", "amp_level"}))
    place = re.search(rf"^[ \t\"']*({words})[\"']?[ \t]*[:=]", file.text, re.MULTILINE)
    if place and project.uses_lightning:
        reason = f"Not rewritten: the file cannot be read ({why}); take removed arguments of Trainer out by hand."
        yield Match(file.span(*place.span(1)), removal(place[1], place[1]), "manual", reason)


def _section(file: TextFile, project: ProjectConfiguration, item: OwnedMapping, owner: Owner) -> Iterator[Match]:
    told = list(verdicts(item.arguments, project.facts))
    notes = {verdict.key: verdict for verdict in told if verdict.row == NOTED}
    found = {**notes, **{verdict.key: verdict for verdict in told if verdict.row != NOTED}}
    for entry in item.arguments:
        if entry.key in REMOVED and entry.key not in found:
            found[entry.key] = _unspoken(entry.key, entry.value)
    if owner.how != "proven":
        found = {key: verdict for key, verdict in found.items() if key in REMOVED}
    if owner.how == "perhaps":
        found = {key: verdict for key, verdict in found.items() if not project.is_read(key)}
    found = {key: _settled(file, project, item, owner, verdict) for key, verdict in found.items()}
    found = {key: _final(project, item, found, verdict) for key, verdict in found.items()}
    yield from _matches(file, project, item, found)
    for entry in item.arguments:
        if owner.how == "proven" and entry.key in notes and found[entry.key].row != NOTED:
            note = notes[entry.key]
            yield Match(file.span(*entry.key_at), note.message, "manual", note.reason, note.row, stops=False)


def _unspoken(key: str, value: object) -> KeyVerdict:
    """The end of an argument of which the rules for calls say nothing."""
    message = removal(key)
    if value in (None, False):
        return KeyVerdict(key, message, "safe", "It had no effect.", None, ())
    advice = {
        "resume_from_checkpoint": "give it to fit(ckpt_path=...) in the code",
        "truncated_bptt_steps": "the module has to cut its sequences itself now",
    }.get(key, "use lightning.pytorch.tuner.Tuner in the code" if key.startswith("auto_") else "see the upgrade guide")
    return KeyVerdict(key, message, "manual", f"Not rewritten: {advice}.", None)


def _settled(
    file: TextFile, project: ProjectConfiguration, item: OwnedMapping, owner: Owner, verdict: KeyVerdict
) -> KeyVerdict:
    """The verdict as this file and the other files of the project let it stand."""
    key, name = verdict.key, item.name
    advice = _wish(verdict)
    if verdict.callbacks:
        advice = f"add {_callback(project, item, verdict.callbacks)} to the callbacks, and delete the key"
    if owner.how != "proven":
        advice = f"{owner.why}; {OWN}" if owner.how == "own" else f"{owner.why}; if it is, {advice}"
    if owner.how != "proven" or (verdict.callbacks and key not in SHOWN):
        return _left(verdict, advice)
    if verdict.callbacks:
        keep = f"only what is shown changes; to keep it, {advice.removesuffix(', and delete the key')}"
        verdict = replace(verdict, level="unsafe", reason=f"{keep[:1].upper()}{keep[1:]}.", new=(), callbacks="")
    if verdict.new is None:
        return verdict
    if item.section.shared:
        return _left(verdict, f"an alias or a merge key brings the mapping to other places; {advice}")
    if why := why_not(project, file.path, item, verdict, advice):
        return _left(verdict, why)
    follows = follows_surely(project, name, key) or all_switched(project, name, key, beside=True)
    if not follows and (by := project.interpolated(name, key)):
        return _left(verdict, f"{by} interpolates it; {advice}")
    if ("", key) in project.interpolations.get(file.path, ()):
        return _left(verdict, f"{file.path} interpolates a key of that name; {advice}")
    touched = [*([] if follows else [key]), *(word for word, _ in verdict.values)]
    idle = key in REMOVED and item.section.get(key) in (None, 0, False)
    reads = [found for word in touched for found in project.reads(name, word)]
    if bad := next(((path, read) for path, read in reads if not (read.harmless and idle)), None):
        what = "it" if bad[1].key == key else f"`{bad[1].key}`"
        return _left(verdict, f"{bad[0]}:{bad[1].span.line} reads or sets {what}; {advice}, and change both")
    level: Fix = "unsafe" if owner.loose and verdict.level == "safe" else verdict.level
    reason = verdict.reason + (" The section holds keys that Trainer never took." if owner.loose else "")
    alone = idle and all(read.harmless for _, read in project.reads(name, key))
    if follows and not alone:
        level, reason = as_sure(project, name, level, reason)
    new = spelled_out(project, file.path, item, verdict)
    if twice := next((word for word, _ in new if word != key and (name, word) in project.beside), None):
        return _left(verdict, f"`{twice}=` is given beside it in code; {advice}, in one of the two")
    if not new and has_comment(file, next(entry for entry in item.arguments if entry.key == key)):
        level, reason = "unsafe", f"{reason} The comment next to it is removed as well."
    return replace(verdict, level=level, reason=reason, new=new)


def _final(
    project: ProjectConfiguration, item: OwnedMapping, found: dict[str, KeyVerdict], verdict: KeyVerdict
) -> KeyVerdict:
    """A verdict on the hardware, which is left where what the others make of the mapping would change again."""
    if verdict.key not in HARDWARE or verdict.new is None:
        return verdict
    again = {other.key for other in verdicts(_applied(item, found), project.facts) if other.new is not None} & HARDWARE
    if not again:
        return verdict
    return _left(verdict, f"the rest of `{sorted(again)[0]}` has to change with it; {_wish(verdict)}")


def _applied(item: OwnedMapping, found: dict[str, KeyVerdict]) -> tuple[MappingEntry, ...]:
    """The arguments as the verdicts make them."""
    values = {name: text for verdict in found.values() for name, text in verdict.values if verdict.new is not None}
    entries: list[MappingEntry] = []
    for entry in item.arguments:
        verdict = found.get(entry.key)
        new = ((entry.key, values.get(entry.key)),) if verdict is None or verdict.new is None else verdict.new
        entries += [
            replace(entry, key=name, value=entry.value if text is None else ast.literal_eval(text))
            for name, text in new
        ]
    return tuple({entry.key: entry for entry in entries}.values())


def _left(verdict: KeyVerdict, why: str) -> KeyVerdict:
    return replace(verdict, level="manual", reason=f"Not rewritten: {why}.", new=None)


def _wish(verdict: KeyVerdict) -> str:
    """What would be written."""
    if verdict.new is None:
        return verdict.reason.removeprefix("Not rewritten: ").rstrip(".") or "delete it"
    if not verdict.new:
        return "delete it"
    pairs = [
        name if value is None else f"{name}: {value.strip(QUOTES)}" for name, value in (*verdict.values, *verdict.new)
    ]
    return f"write {' and '.join(pairs)}"


def _callback(project: ProjectConfiguration, item: OwnedMapping, text: str) -> str:
    """A callback as the configuration spells it, from the Python text `[Name(argument=value)]`."""
    name, _, rest = text.strip("[]").partition("(")
    arguments = ", ".join(part.strip().replace("=", ": ", 1) for part in rest.rstrip(")").split(",") if part.strip())
    dotted = f"lightning.pytorch.callbacks.{name}"
    if item.target is None and project.cli:
        return f"`class_path: {dotted}`" + (f" with `init_args: {{{arguments}}}`" if arguments else "")
    if item.target is not None:
        return f"`_target_: {dotted}`" + (f" with `{arguments}`" if arguments else "")
    return f"{name}({rest}"


def _matches(
    file: TextFile, project: ProjectConfiguration, item: OwnedMapping, found: dict[str, KeyVerdict]
) -> Iterator[Match]:
    section = item.section
    gone = {key for key, verdict in found.items() if verdict.new == ()}
    written: set[str] = set()
    for entry in item.arguments:
        verdict = found.get(entry.key)
        if verdict is None:
            continue
        span = file.span(*entry.key_at)
        message = verdict.message.replace("=`", "`", 1)
        names = {name for name, _ in (*(verdict.new or ()), *verdict.values)}
        edits: tuple[TextEdit, ...] | None = None
        if verdict.new is None:
            why = verdict.reason
        elif len(gone) == len(section.entries):
            why = "Not rewritten: nothing would be left of the mapping; delete it."
        elif names & written:
            why = "Not rewritten: another key of the mapping becomes the same; keep one of the two."
        else:
            why = "Not rewritten: something else is on its line; delete it by hand."
            new = verdict.new
            edits = replaced(file, section, entry, new) if new else dropped(file, section, entry, gone)
        if edits is None:
            reason = why if why.startswith("Not rewritten") else f"Not rewritten: {why}"
            stops = False if verdict.row == NOTED else None
            yield Match(span, message, "manual", reason, verdict.row, stops=stops)
            continue
        written |= names
        others = {other.key: other for other in section.entries}
        edits += tuple(valued(file, others[name], text) for name, text in verdict.values)
        goes_along = follows_surely(project, item.name, "gpus") or BESIDE in verdict.reason
        together = entry.key == "gpus" and goes_along and moves_code(project, item.name)
        unit = f"{item.name}.gpus" if together else ""
        yield Match(span, message, verdict.level, verdict.reason, verdict.row, edits, unit=unit)


def _reads(file: PythonFile, project: ProjectConfiguration) -> Iterator[Match]:
    """The places of the code that read a key of the configuration which Trainer takes no more, where they stand now:
    other rules may have moved them."""
    known = read_evidence(file)
    done, switched = set(), set()
    for read in known.reads if known else ():
        sections = sorted(name for name in project.sections if project.meant(file.path, read.base, name))
        name = next((name for name in sections if read.key in REMOVED and project.values(name, read.key)), None)
        if name is None or read.span in done:
            continue
        done.add(read.span)
        message = f"{removal(read.key, read.key)}, and is read from its configuration here"
        if all_renamed(project, name, read.key) and read.at:
            reason = "Every configuration gives it a number or a list, which is `devices` now."
            edit = TextEdit(*read.at, "devices")
            yield Match(read.span, message, "safe", reason, "M164", (edit,), unit=f"{name}.gpus")
        elif all_switched(project, name, read.key, beside=True):
            if read.off not in switched:
                switched.add(read.off)
                surely = all_switched(project, name, read.key)
                now = "It asks for the CPU, which `accelerator` and `devices` do now"
                reason = f"{now}." if surely else f"{now}; {BESIDE}"
                level: Fix = "safe" if surely else "unsafe"
                yield Match(read.span, message, level, reason, "M164", read.off, unit=f"{name}.gpus")
        elif read.stores or not read.harmless:
            reason = "Not rewritten: read its replacement, together with the configuration."
            yield Match(read.span, message, "manual", reason)


def _interpolated(file: TextFile, project: ProjectConfiguration) -> Iterator[Match]:
    """The interpolations that read `gpus` of a section, where all of them can read `devices` in its stead."""
    for name, key, start in interpolations(file.text):
        if name in project.sections and project.values(name, key) and all_renamed(project, name, key):
            message = f"{removal(key, key)}, and is interpolated here"
            reason = "Every configuration gives it a number or a list, which is `devices` now."
            edit = TextEdit(start, start + len(key), "devices")
            yield Match(
                file.span(start, start + len(key)), message, "safe", reason, "M164", (edit,), unit=f"{name}.gpus"
            )


def _overrides(file: PythonFile, project: ProjectConfiguration) -> Iterator[Match]:
    """The words in strings of the code that set a removed key of a section for Hydra or LightningCLI, as a test's
    command line or a script that submits jobs does, and defaults of a parser."""
    if not OVERRIDE.search(file.text):
        return
    said = [node for node in every_node(file.tree) if isinstance(node, ast.Expr)]
    notes = {id(node.value) for node in said}
    inside = [
        file.offsets(node)
        for node in every_node(file.tree)
        if isinstance(node, ast.JoinedStr | ast.Constant) and id(node) not in notes
    ]
    for found in OVERRIDE.finditer(file.text):
        start, end = found.span("word")
        alone = not found["before"].isspace()
        if found["section"] not in project.sections or not (alone or found["value"] is not None):
            continue
        if any(first < start < last for first, last in inside):
            message = f"`{found['section']}.{found['key']}`: Trainer no longer has such an argument"
            reason = f"Not rewritten: {_override(found, alone and file.text[end] in QUOTES)}."
            yield Match(TextFile(file.path, "python", file.text).span(start, end), message, "manual", reason)


def _override(found: re.Match[str], alone: bool) -> str:
    """What to write in the place of a word that sets a removed key, which may be a string of its own."""
    if found["value"] is None:
        return "give its replacement in its place"
    apart = ", as strings of their own" if alone else ""
    named = found["word"].partition(".")[0]
    if found["key"] == "gpus" and _SOME.fullmatch(found["value"]):
        both = f"{named}.accelerator=gpu", f"{named}.devices={found['value']}"
        return f'write "{both[0]}" and "{both[1]}"{apart}' if alone else f"write `{' '.join(both)}`"
    if found["key"] == "gpus":
        words = f"`{named}.devices=` for it, with `{named}.accelerator=gpu`, or `{named}.accelerator=cpu` for 0"
        return f"write {words}{apart}"
    return f"give its replacement{apart}"


def _present(file: PythonFile) -> bool:
    known = read_evidence(file)
    read = known and any(read.key in REMOVED for read in known.reads)
    return bool(read or OVERRIDE.search(file.text))


_HEAD = "_target_: pytorch_lightning.Trainer\n\n"
BEFORE = f"""\
{_HEAD}# hardware
gpus: [0, 1]  # both
num_nodes: 1

max_epochs: 10
progress_bar_refresh_rate: 0
replace_sampler_ddp: ${{sampler}}
terminate_on_nan: False
amp_backend: 'native'
"""
AFTER = f"""\
{_HEAD}# hardware
accelerator: gpu
devices: [0, 1]  # both
num_nodes: 1

max_epochs: 10
enable_progress_bar: False
use_distributed_sampler: ${{sampler}}
"""
CALLBACK = f"{_HEAD}max_epochs: 10\nweights_summary: full\n"
OTHER = "_target_: cluster.Trainer\ngpus: 2\nmax_epochs: 3\nweights_summary: full\n"
_CLI = "from pytorch_lightning.cli import LightningCLI\n\nLightningCLI()\n"
_JSON = '{\n  "trainer": {"gpus": 2, "max_epochs": 3, "weights_summary": "top"},\n  "seed": 1\n}\n'
_JSON_AFTER = '{\n  "trainer": {"accelerator": "gpu", "devices": 2, "max_epochs": 3},\n  "seed": 1\n}\n'

RULE = Rule(
    code=CODE,
    name="config-trainer-arguments",
    summary="Removed arguments of Trainer in YAML, JSON and TOML files",
    why=(
        "What Hydra, LightningCLI or `Trainer(**config)` hand to Trainer meets the same end as the arguments of a "
        "call: the rules of calls decide over them, so that both are always the same. A mapping "
        "counts as a Trainer's where it names Trainer as its class, or where "
        "the code gives a section of its name to Trainer, "
        "LightningCLI or Hydra; where only its keys speak for it, it is a finding. Nothing but the entry is touched: "
        "comments, order, quotes and indentation stay. Callbacks are left to you."
    ),
    fix="safe",
    versions="Lightning 0.7 - 1.9 -> 2.0 and later",
    triggers=(*TRIGGERS, *(name.encode() for name in CHANGED), b"Trainer", b"LightningCLI", b"instantiate"),
    check=_check,
    collect=read_evidence,
    collect_text=seen,
    context=_context,
    present=_present,
    mentions=LIGHTNING,
    kinds=("python", "yaml", "json", "toml"),
    breaks_in="2.0.0",
    needs="2.0.0",
    examples=(
        Example(BEFORE, AFTER, path="configs/trainer/default.yaml"),
        Example(CALLBACK, CALLBACK, path="configs/trainer/callback.yaml"),
        Example(OTHER, OTHER, path="configs/trainer/other.yaml"),
        Example(_JSON, _JSON_AFTER, path="config.json", files=(("main.py", _CLI),)),
        Example(_JSON, _JSON, path="config.json", files=(("main.py", "import yaml\n"),)),
    ),
    references=("https://lightning.ai/docs/pytorch/stable/upgrade/migration_guide.html",),
)
